/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of cells. Chunks of cells never move, and are not given back before
 * the system is freed. So the address of a cell is valid for the actor's life,
 * and its number for ever. All under the system's lock.
 *
 * Free cells are a stack, linked through `next`. A cell gets its next
 * generation when it is freed; so from then on the id of the actor that was
 * there is not found.
 */
#include "supervision/cell.h"

#include <assert.h>
#include <errno.h>

#include "actor/firing.h"
#include "base/memory.h"
#include "supervision/limit.h"
#include "supervision/position.h"

_Static_assert(sizeof(void *) != 8 || sizeof(struct weir__cell) == 56,
	       "what an actor of a system costs");

#define CHUNK_SIZE (WEIR__CHUNK_CELLS * sizeof(struct weir__cell))

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
	return ((size_t)64 << block) * sizeof(struct weir__cell *);
}

/* Where the address of that chunk stands. */
static struct weir__cell **chunk_at(const struct weir_system *system,
				    uint32_t chunk)
{
	uint32_t index, block = block_of(chunk, &index);

	return &system->blocks[block][index];
}

struct weir__cell *weir__cell_at(const struct weir_system *system,
				 uint32_t slot)
{
	assert(slot < system->n_cells);
	return *chunk_at(system, slot / WEIR__CHUNK_CELLS) +
	       slot % WEIR__CHUNK_CELLS;
}

struct weir__cell *weir__cell_find(const struct weir_system *system,
				   struct weir_actor_id id)
{
	struct weir__cell *cell;

	/*
	 * WEIR_ACTOR_ID_NONE has generation 0; the slot of an id of another
	 * system may be too large.
	 */
	if (!id.generation || id.slot >= system->n_cells)
		return NULL;
	cell = weir__cell_at(system, id.slot);
	if (cell->generation != id.generation || !cell->actor ||
	    cell->state == WEIR__CELL_SPAWNED)
		return NULL;
	return cell;
}

int weir__cell_find_mortal(const struct weir_system *system,
			   struct weir_actor_id id, struct weir__cell **cell)
{
	*cell = weir__cell_find(system, id);
	if (!*cell)
		return -ESRCH;
	return (*cell)->guardian ? -EPERM : 0;
}

uint32_t weir__cell_slot(const struct weir_system *system,
			 const struct weir__cell *cell)
{
	/* A cell does not know its own number: its neighbour does. */
	uint32_t slot = weir__cell_at(system, cell->prev)->next;

	assert(weir__cell_at(system, slot) == cell);
	return slot;
}

struct weir_actor_id weir__cell_ref(const struct weir_system *system,
				    const struct weir__cell *cell)
{
	return (struct weir_actor_id){weir__cell_slot(system, cell),
				      cell->generation};
}

/* Adds a chunk of free cells. False: no memory. */
static bool grow(struct weir_system *system)
{
	const struct weir_allocator *allocator = system->options.allocator;
	uint32_t first = system->n_cells, index, i;
	uint32_t block = block_of(first / WEIR__CHUNK_CELLS, &index);
	struct weir__cell *cells;

	if (block >= WEIR__CHUNK_BLOCKS)
		return false;
	/* not zeroed, which is a lot of work under the lock: of n_cells each is
	 * set, and the rest is not read */
	if (!system->blocks[block])
		system->blocks[block] =
			allocator->alloc(block_size(block), allocator->context);
	if (!system->blocks[block])
		return false;
	cells = weir__alloc(allocator, CHUNK_SIZE);
	if (!cells)
		return false;
	system->blocks[block][index] = cells;
	system->n_cells += WEIR__CHUNK_CELLS;
	/* so that the first cell is taken first */
	for (i = WEIR__CHUNK_CELLS; i-- > 0;) {
		cells[i].generation = 1;
		cells[i].next = system->free;
		system->free = first + i;
	}
	return true;
}

struct weir__cell *weir__cell_new(struct weir_system *system)
{
	struct weir__cell *cell;
	uint32_t slot;

	if (system->free == WEIR__NO_CELL && !grow(system))
		return NULL;
	slot = system->free;
	cell = weir__cell_at(system, slot);
	assert(cell->state == WEIR__CELL_FREE);
	system->free = cell->next;
	system->used++;
	*cell = (struct weir__cell){
		.child.aside = &system->none.aside,
		.generation = cell->generation,
		.parent = WEIR__NO_CELL,
		.first = WEIR__NO_CELL,
		.next = slot,
		.prev = slot,
		.work = WEIR__NO_CELL,
		.work_prev = WEIR__NO_CELL,
	};
	(void)weir__cell_step(cell, WEIR__LIFE_SPAWN);
	return cell;
}

void weir__cell_order(struct weir__cell *cell, uint8_t orders)
{
	assert(orders);
	/* an actor that has ended takes no orders, and may be gone */
	if (!cell->actor)
		return;
	/* before the signal, which has a release: its slice finds them then */
	ck_pr_or_8(&cell->orders, orders);
	weir__actor_signal(cell->actor, WEIR__SIGNAL_SYSTEM);
}

void weir__cell_message(struct weir__cell *cell, uint8_t message)
{
	if (!(cell->messages & (WEIR__CELL_POISONED | WEIR__CELL_KILLED)))
		cell->position = weir__position_now(cell->actor);
	cell->messages |= message;
	weir__cell_order(cell, WEIR__ORDER_LOOK);
}

bool weir__cell_step(struct weir__cell *cell, enum weir__life_event event)
{
	struct weir__step step = weir__life_step(cell->state, event);
	bool changed = step.state != cell->state;

	/* there is nothing to do but for the actor itself, see change.c */
	assert(step.possible && !step.deeds);
	cell->state = step.state;
	if (step.orders)
		weir__cell_order(cell, step.orders);
	return changed;
}

static void record_free(struct weir_system *system, struct weir__record *record)
{
	const struct weir_allocator *allocator = system->options.allocator;

	assert(!record->family.n_stopping && !record->family.n_seen);
	assert(!record->timer && !record->name && !record->watchers &&
	       !record->watched && !record->watching && !record->notices &&
	       !record->cause);
	weir__restarts_free(record->each, allocator);
	weir__restarts_free(record->all, allocator);
	weir__free(allocator, record, sizeof(*record));
}

void weir__cell_unname(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);

	if (!record->name)
		return;
	weir__names_remove(&system->names, record->name);
	record->name = NULL;
}

void weir__cell_free(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);
	uint32_t slot = weir__cell_slot(system, cell);

	/* the cell is in no list, and has no children */
	assert(cell->next == slot && cell->first == WEIR__NO_CELL);
	assert(cell->work == WEIR__NO_CELL);
	assert(system->used > 0);
	if (record != &system->none)
		record_free(system, record);
	cell->child.aside = NULL;
	cell->actor = NULL;
	(void)weir__cell_step(cell, cell->state == WEIR__CELL_ENDED
					    ? WEIR__LIFE_RELEASE
					    : WEIR__LIFE_REFUSE);
	/* generation 0 is never used, also if the count wraps */
	if (++cell->generation == 0)
		cell->generation = 1;
	cell->next = system->free;
	system->free = slot;
	system->used--;
}

void weir__cells_fini(struct weir_system *system)
{
	uint32_t chunk, block;

	for (chunk = 0; chunk < system->n_cells / WEIR__CHUNK_CELLS; chunk++)
		weir__free(system->options.allocator, *chunk_at(system, chunk),
			   CHUNK_SIZE);
	for (block = 0; block < WEIR__CHUNK_BLOCKS; block++)
		weir__free(system->options.allocator, system->blocks[block],
			   block_size(block));
}

struct weir__record *weir__record_make(struct weir_system *system,
				       struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);

	if (record != &system->none)
		return record;
	record = weir__alloc(system->options.allocator, sizeof(*record));
	if (!record)
		return NULL;
	/* The actor reads stats and functions without the lock: so whole
	 * records are exchanged, and the shared record is never written. */
	record->aside = system->none.aside;
	record->system = system;
	record->slot = weir__cell_slot(system, cell);
	record->notices_end = &record->notices;
	record->family = system->none.family;
	/* release: the record's fields; pairs with the acquire in
	 * weir__child_aside() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&cell->child.aside, &record->aside);
	return record;
}
