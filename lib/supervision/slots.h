/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of elements that have a number, their slot. They come in chunks that
 * never move, and are not given back before the end. So the address of an
 * element is valid as long as it is in use, and its number for ever. Under the
 * lock of who has the table.
 */
#ifndef WEIR_SUPERVISION_SLOTS_H
#define WEIR_SUPERVISION_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include <weir/allocator.h>

#define WEIR__NO_CELL UINT32_MAX /* in links */

/* Each element begins with its links, which are slots (tree.h). */
struct weir__kin {
	uint32_t parent;
	uint32_t first; /* child */
	/*
	 * siblings, a circle in order of spawning. Alone or in no list: the
	 * element itself, so that at(prev)->next is always its own slot. If
	 * free: the next free element
	 */
	uint32_t next, prev;
};

#define WEIR__CHUNK_SLOTS 64u
#define WEIR__CHUNK_BLOCKS 20u

struct weir__slots {
	const struct weir_allocator *allocator;
	size_t size; /* of an element */
	/* chunk table: block i has 64 << i chunk pointers */
	void **blocks[WEIR__CHUNK_BLOCKS];
	uint32_t n;
	uint32_t free; /* list of free elements, or WEIR__NO_CELL */
};

void weir__slots_init(struct weir__slots *slots, size_t size,
		      const struct weir_allocator *allocator);
/* None of the elements is touched. */
void weir__slots_fini(struct weir__slots *slots);

struct weir__kin *weir__slots_at(const struct weir__slots *slots,
				 uint32_t slot);
/* The slot of an element that is in use: the `next` of its previous sibling. */
uint32_t weir__slot_of(const struct weir__slots *slots,
		       const struct weir__kin *kin);

/* An element that was free, alone. All behind its links is as it was left, or
 * 0. NULL: no memory. */
struct weir__kin *weir__slots_take(struct weir__slots *slots);
/* The element is in no list, and has no children. */
void weir__slots_give_back(struct weir__slots *slots, struct weir__kin *kin);

#endif
