/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/forkmark.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void *weir__forkmark_page(void)
{
	void *page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	(void)madvise(page, page_size(), MADV_WIPEONFORK);
	return page;
}

const uint32_t *weir__forkmark_new(void)
{
	uint32_t *mark = weir__forkmark_page();

	if (mark)
		*mark = 1;
	return mark;
}

void weir__forkmark_free(const uint32_t *mark)
{
	if (mark)
		(void)munmap((void *)(uintptr_t)mark, page_size());
}
