/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cells of a system, in a table of slots. A cell gets its next generation
 * when it is freed; so from then on the id of the actor that was there is not
 * found. All under the system's lock.
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

_Static_assert(offsetof(struct weir__cell, kin) == 0, "cast to its cell");

struct weir__cell *weir__cell_find(const struct weir_system *system,
				   struct weir_actor_id id)
{
	struct weir__cell *cell;

	/*
	 * WEIR_ACTOR_ID_NONE has generation 0; an id of another system has
	 * generations that are far from ours, and perhaps a slot that is too
	 * large.
	 */
	if (!id.generation || id.slot >= system->slots.n)
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

struct weir_actor_id weir__cell_ref(const struct weir_system *system,
				    const struct weir__cell *cell)
{
	return (struct weir_actor_id){weir__cell_slot(system, cell),
				      cell->generation};
}

struct weir__cell *weir__cell_new(struct weir_system *system,
				  struct weir__crew *crew)
{
	struct weir__kin *kin = weir__slots_take(&system->slots);
	struct weir__cell *cell = weir__cell_of_kin(kin);

	if (!cell)
		return NULL;
	assert(cell->state == WEIR__CELL_FREE);
	system->lock.used++;
	*cell = (struct weir__cell){
		.kin = *kin,
		.child.aside = crew ? &crew->record.aside : &system->none.aside,
		.generation = cell->generation ? cell->generation
					       : system->first_generation,
		.work = WEIR__NO_CELL,
		.work_prev = WEIR__NO_CELL,
	};
	(void)weir__cell_step(cell, WEIR__LIFE_SPAWN);
	if (crew)
		crew->used++;
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
	ck_pr_store_8(&cell->state, step.state);
	if (step.orders)
		weir__cell_order(cell, step.orders);
	return changed;
}

static void record_free(struct weir_system *system, struct weir__record *record)
{
	const struct weir_allocator *allocator = system->options.allocator;

	assert(!record->family.n_stopping && !record->family.n_seen);
	assert(!record->timer && !record->name && !record->cause &&
	       weir__watch_lists_none(&record->watches));
	weir__restarts_free(record->each, allocator);
	weir__restarts_free(record->all, allocator);
	weir__free(allocator, record, sizeof(*record));
}

/* --- Crews ---------------------------------------------------------------- */

struct weir__crew *weir__crew_new(struct weir_system *system,
				  uint64_t shutdown_ns,
				  void (*ended)(void *context), void *context)
{
	struct weir__crew *crew =
		weir__alloc(system->options.allocator, sizeof(*crew));

	if (!crew)
		return NULL;
	*crew = (struct weir__crew){
		.record = system->none,
		.used = 1,
		.ended = ended,
		.context = context,
	};
	crew->record.shutdown_ns = shutdown_ns;
	crew->record.crew = crew;
	return crew;
}

/* One cell, or who has made it, less. Under the lock. */
static void crew_drop(struct weir_system *system, struct weir__crew *crew)
{
	assert(crew->used > 0);
	if (--crew->used == 0)
		weir__free(system->options.allocator, crew, sizeof(*crew));
}

void weir__crew_leave(struct weir_system *system, struct weir__crew *crew)
{
	weir__lock(&system->lock.plain);
	crew->ended = NULL;
	crew_drop(system, crew);
	weir__unlock(&system->lock.plain);
}

/* --- Cells that go -------------------------------------------------------- */

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
	struct weir__crew *crew = record->crew;

	assert(cell->work == WEIR__NO_CELL);
	assert(system->lock.used > 0);
	if (record->slot != WEIR__NO_CELL)
		record_free(system, record);
	if (crew)
		crew_drop(system, crew);
	cell->child.aside = NULL;
	cell->actor = NULL;
	(void)weir__cell_step(cell, cell->state == WEIR__CELL_ENDED
					    ? WEIR__LIFE_RELEASE
					    : WEIR__LIFE_REFUSE);
	/* 0 is never used, also if the count wraps */
	if (++cell->generation == 0)
		cell->generation = 1;
	weir__slots_give_back(&system->slots, &cell->kin);
	system->lock.used--;
}

struct weir__record *weir__record_make(struct weir_system *system,
				       struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);
	const struct weir__record *shared = record;

	if (record->slot != WEIR__NO_CELL)
		return record;
	record = weir__alloc(system->options.allocator, sizeof(*record));
	if (!record)
		return NULL;
	/* The actor reads stats and functions without the lock: so whole
	 * records are exchanged, and a shared record is never written. */
	record->aside = shared->aside;
	record->system = system;
	record->slot = weir__cell_slot(system, cell);
	record->crew = shared->crew;
	record->shutdown_ns = shared->shutdown_ns;
	weir__watch_lists_init(&record->watches);
	record->family = shared->family;
	/* release: the record's fields; pairs with the acquire in
	 * weir__child_aside() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&cell->child.aside, &record->aside);
	return record;
}
