/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/forkmark.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

const uint32_t *weir__forkmark_new(void)
{
	uint32_t *mark = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mark == MAP_FAILED)
		return NULL;
	(void)madvise(mark, page_size(), MADV_WIPEONFORK);
	*mark = 1;
	return mark;
}

void weir__forkmark_free(const uint32_t *mark)
{
	if (mark)
		(void)munmap((void *)(uintptr_t)mark, page_size());
}
