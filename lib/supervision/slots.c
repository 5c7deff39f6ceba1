/* SPDX-License-Identifier: BSD-2-Clause */
/* Free elements are a stack, linked through `next`. */
#include "supervision/slots.h"

#include <assert.h>
#include <stdbool.h>

#include "base/memory.h"

static size_t chunk_size(const struct weir__slots *slots)
{
	return WEIR__CHUNK_SLOTS * slots->size;
}

/* Of the table of chunks: block i has 64 << i of them. */
static uint32_t block_of(uint32_t chunk, uint32_t *index)
{
	uint32_t block = 31u - (uint32_t)__builtin_clz(chunk / 64u + 1u);

	*index = chunk - 64u * ((1u << block) - 1u);
	assert(*index < 64u << block);
	return block;
}

static size_t block_size(uint32_t block)
{
	return ((size_t)64 << block) * sizeof(void *);
}

/* Where the address of that chunk stands. */
static void **chunk_at(const struct weir__slots *slots, uint32_t chunk)
{
	uint32_t index, block = block_of(chunk, &index);

	return &slots->blocks[block][index];
}

static struct weir__kin *in_chunk(const struct weir__slots *slots, void *chunk,
				  uint32_t i)
{
	void *element = (char *)chunk + i * slots->size;

	return element;
}

static inline struct weir__kin *at(const struct weir__slots *slots,
				   uint32_t slot)
{
	uint32_t chunk = slot / WEIR__CHUNK_SLOTS;

	assert(slot < slots->n);
	/* mostly in the first block */
	return in_chunk(slots,
			WEIR_LIKELY(chunk < 64) ? slots->blocks[0][chunk]
						: *chunk_at(slots, chunk),
			slot % WEIR__CHUNK_SLOTS);
}

struct weir__kin *weir__slots_at(const struct weir__slots *slots, uint32_t slot)
{
	return at(slots, slot);
}

uint32_t weir__slot_of(const struct weir__slots *slots,
		       const struct weir__kin *kin)
{
	/* An element does not know its own number: its neighbour does. */
	uint32_t slot = at(slots, kin->prev)->next;

	assert(at(slots, slot) == kin);
	return slot;
}

void weir__slots_init(struct weir__slots *slots, size_t size,
		      const struct weir_allocator *allocator)
{
	*slots = (struct weir__slots){
		.allocator = allocator,
		.size = size,
		.free = WEIR__NO_CELL,
	};
}

void weir__slots_fini(struct weir__slots *slots)
{
	uint32_t chunk, block;

	for (chunk = 0; chunk < slots->n / WEIR__CHUNK_SLOTS; chunk++)
		weir__free(slots->allocator, *chunk_at(slots, chunk),
			   chunk_size(slots));
	for (block = 0; block < WEIR__CHUNK_BLOCKS; block++)
		weir__free(slots->allocator, slots->blocks[block],
			   block_size(block));
}

/* Adds a chunk of free elements. False: no memory. */
static bool grow(struct weir__slots *slots)
{
	const struct weir_allocator *allocator = slots->allocator;
	uint32_t first = slots->n, index, i;
	uint32_t block = block_of(first / WEIR__CHUNK_SLOTS, &index);
	void *chunk;

	if (block >= WEIR__CHUNK_BLOCKS)
		return false;
	/* not zeroed, which is a lot of work under the lock: of those of `n`
	 * elements each is set, and the rest is not read */
	if (!slots->blocks[block])
		slots->blocks[block] =
			allocator->alloc(block_size(block), allocator->context);
	if (!slots->blocks[block])
		return false;
	chunk = weir__alloc(allocator, chunk_size(slots));
	if (!chunk)
		return false;
	slots->blocks[block][index] = chunk;
	slots->n += WEIR__CHUNK_SLOTS;
	/* so that the first element is taken first */
	for (i = WEIR__CHUNK_SLOTS; i-- > 0;) {
		in_chunk(slots, chunk, i)->next = slots->free;
		slots->free = first + i;
	}
	return true;
}

struct weir__kin *weir__slots_take(struct weir__slots *slots)
{
	struct weir__kin *kin;
	uint32_t slot;

	if (slots->free == WEIR__NO_CELL && !grow(slots))
		return NULL;
	slot = slots->free;
	kin = at(slots, slot);
	slots->free = kin->next;
	*kin = (struct weir__kin){
		.parent = WEIR__NO_CELL,
		.first = WEIR__NO_CELL,
		.next = slot,
		.prev = slot,
	};
	return kin;
}

void weir__slots_give_back(struct weir__slots *slots, struct weir__kin *kin)
{
	uint32_t slot = kin->next; /* it is alone */

	assert(at(slots, slot) == kin);
	assert(kin->first == WEIR__NO_CELL);
	kin->next = slots->free;
	slots->free = slot;
}
