/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Am I a child of the process that made this? A word in a page of its own that
 * the kernel clears in a child (MADV_WIPEONFORK), so that asking is one load:
 * no process id, no pthread_atfork handler. The page is mapped, not taken
 * from the allocator. A kernel without that (before 4.14) gives a mark that
 * always says no.
 */
#ifndef WEIR_BASE_FORKMARK_H
#define WEIR_BASE_FORKMARK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* A new mark, to be freed, or NULL: no memory. */
const uint32_t *weir__forkmark_new(void);

/* A page of zeros, which it is again in a child; to be freed as a mark. NULL: no
 * memory. */
void *weir__forkmark_page(void);

/* NULL is fine. In a child too. */
void weir__forkmark_free(const uint32_t *mark);

/* Whether fork() lies between making the mark and here. Any thread. */
static inline bool weir__forkmark_child(const uint32_t *mark)
{
	/* plain: only the kernel changes it, where no other thread is left */
	return *mark == 0;
}

/*
 * The same question, for an object that is asked once, at its end, since a mark
 * costs some 20 us to make. `made` is what getpid() returned when the object
 * was made.
 */
static inline bool weir__forked_since(pid_t made)
{
	return getpid() != made;
}

#endif
