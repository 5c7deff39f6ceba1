/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Line-aligned memory is a larger block with the start of that block stored
 * in the word before the aligned address.
 */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE ((uintptr_t)2 << 20) /* bytes of a large page, or more of them */

static void *default_alloc(size_t size, void *context)
{
	(void)context;
	return malloc(size);
}

static void default_free(void *memory, size_t size, void *context)
{
	(void)size;
	(void)context;
	free(memory);
}

static const struct weir_allocator default_allocator = {
	.alloc = default_alloc,
	.free = default_free,
};

const struct weir_allocator *weir_allocator_default(void)
{
	return &default_allocator;
}

void *weir__alloc(const struct weir_allocator *allocator, size_t size)
{
	void *memory = allocator->alloc(size, allocator->context);

	if (memory)
		memset(memory, 0, size);
	return memory;
}

void *weir__alloc_room(const struct weir_allocator *allocator, size_t size)
{
	void *memory = allocator->alloc(size, allocator->context);
	uintptr_t from = ((uintptr_t)memory + HUGE - 1) & ~(HUGE - 1);
	uintptr_t to = ((uintptr_t)memory + size) & ~(HUGE - 1);

	/* Advice: it is as well if the kernel has none. What a user's allocator
	 * gives may be of an arena that the user has other plans for. */
	if (allocator == &default_allocator && memory && to > from)
		(void)madvise((void *)from, to - from, MADV_HUGEPAGE);
	return memory;
}

void weir__free(const struct weir_allocator *allocator, void *memory,
		size_t size)
{
	if (memory)
		allocator->free(memory, size, allocator->context);
}

static size_t block_size(size_t size)
{
	return size + WEIR__LINE + sizeof(void *);
}

void *weir__alloc_lines(const struct weir_allocator *allocator, size_t size)
{
	char *block = weir__alloc(allocator, block_size(size));
	uintptr_t lines;

	if (!block)
		return NULL;
	lines = (uintptr_t)block + sizeof(void *) + WEIR__LINE - 1;
	lines &= ~(uintptr_t)(WEIR__LINE - 1);
	((void **)lines)[-1] = block;
	return (void *)lines;
}

void weir__free_lines(const struct weir_allocator *allocator, void *memory,
		      size_t size)
{
	if (memory)
		weir__free(allocator, ((void **)memory)[-1], block_size(size));
}
