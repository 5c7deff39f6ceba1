/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation through a struct weir_allocator: memory zeroed, memory that is not,
 * and memory that starts on a cache line of its own.
 */
#ifndef WEIR_BASE_MEMORY_H
#define WEIR_BASE_MEMORY_H

#include <assert.h>

#include <weir/allocator.h>

#define WEIR__LINE 64u

/* Zeroed, or NULL. */
void *weir__alloc(const struct weir_allocator *allocator, size_t size);

/*
 * Not zeroed, or NULL. For arrays that may be long and are filled from the
 * beginning: of long ones from malloc() the kernel is asked to use large pages.
 */
void *weir__alloc_room(const struct weir_allocator *allocator, size_t size);

/* NULL is fine. `size` as at weir__alloc. */
void weir__free(const struct weir_allocator *allocator, void *memory,
		size_t size);

/* Zeroed and aligned to WEIR__LINE, or NULL. */
void *weir__alloc_lines(const struct weir_allocator *allocator, size_t size);

/* NULL is fine. `size` as at weir__alloc_lines. */
void weir__free_lines(const struct weir_allocator *allocator, void *memory,
		      size_t size);

/* The end of something that nobody can be using: what it has said is 0. */
static inline void weir__not_refused(int rc)
{
	assert(rc == 0);
	(void)rc;
}

#endif
