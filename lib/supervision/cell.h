/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cells of a system and their lock. Every actor of the system has a cell.
 * Cells live in chunks of the system, have a number (slot) and never move; so
 * an id (slot, generation) can be looked up as long as the system lives.
 *
 * One lock of the system guards all cells. Actors are signalled, suspended and
 * submitted while it is held; weir__enter() and weir__leave() keep an executor
 * that runs tasks inside submit from running a task meanwhile. No hook, decider
 * or handler of a user's is ever called under the lock.
 *
 * 1. A child is in its parent's list from its spawn until it has ended, and its
 *    parent ends after it. So parents outlive their children, and `parent` does
 *    not change while the cell is in use. The exception is a parent that its
 *    executor refuses: its own parent gets its children (orphan() in
 *    branch.c).
 * 2. suspends == own + the parent's suspends. `own` is set if the actor has
 *    failed, restarts, or is ordered to restart. The gate bit SUSPENDED_PARENT
 *    is set iff suspends > 0 or the state is DRAINING or STOPPING. A suspended
 *    actor runs no turns and no handlers except those of its start, restart
 *    and end; signals and pending messages are kept for later.
 * 3. `state` is changed as life.h says, under the lock. What an actor itself
 *    has to do is done by its own slice: other threads put *orders* into the
 *    cell and signal the actor. Orders are flags, not messages: so giving an
 *    order never needs memory, and giving it twice has the effect of giving it
 *    once.
 */
#ifndef WEIR_SUPERVISION_CELL_H
#define WEIR_SUPERVISION_CELL_H

#include <assert.h>
#include <stdbool.h>

#include <ck_pr.h>

#include <weir/system.h>

#include "actor/child_ops.h"
#include "base/random.h"
#include "supervision/cell_timer.h"
#include "supervision/life.h"
#include "supervision/names.h"
#include "supervision/part.h"
#include "supervision/slots.h"
#include "supervision/system_lock.h"
#include "supervision/tree.h"
#include "supervision/walk.h"
#include "supervision/watch.h"

/* cell->messages: pending messages that have come. */
enum {
	WEIR__CELL_POISONED = 1u << 0,
	WEIR__CELL_KILLED = 1u << 1,
	WEIR__CELL_NOTICES = 1u << 2,
};

/* cell->drain, which only grows. */
enum weir__drain {
	WEIR__DRAIN_NONE,
	WEIR__DRAIN_BEGUN, /* its executor drains, or its parent does */
	WEIR__DRAIN_ALONE, /* and it ends when its last child has */
};

/* cell->started */
enum weir__started {
	WEIR__STARTED_NEVER,
	WEIR__STARTED_BEFORE, /* an earlier start went well */
	WEIR__STARTED_UP,     /* its last start did: its post_stop is due */
};

/* 56 bytes: all that an actor costs that is never watched and never fails. */
struct weir__cell {
	struct weir__kin kin;	  /* first */
	struct weir__child child; /* aside is a struct weir__record */
	struct weir_actor *actor; /* NULL once ended */
	uint32_t generation;	  /* of the actor in the cell, or of the next;
				   * 0: there was none yet */
	/* links of the list of its parent's record that it is in, if any; a
	 * circle */
	uint32_t work, work_prev;
	uint32_t position; /* their position among the tokens, see position.c */
	uint16_t suspends;
	uint8_t messages : 3;
	uint8_t guardian : 1;
	uint8_t drain : 2;
	uint8_t part : 4; /* enum weir__part */
	uint8_t own : 1;  /* it has a reason of its own to be suspended */
	/* enum weir_failure_kind of its failure, or below. The owner writes it
	 * under the lock, and reads it without */
	uint8_t kind;
	uint8_t state; /* enum weir__cell_state; atomic: the owner reads it */
	uint8_t started : 2; /* as kind */
	uint8_t restart : 2; /* enum weir_restart_type; constant */
	uint8_t orders;	     /* atomic */
};

/* cell->kind: a permanent actor has finished; a drain has ended it; it was
 * stopped without being asked, or was asked and did not end in time. */
#define WEIR__FINISHED 63u
#define WEIR__DRAINED 62u
#define WEIR__FORCED 61u

/* The heads of lists of children, linked through `work`. A child is in at most
 * one of them. */
struct weir__family {
	uint32_t failed; /* children that wait for a verdict, oldest first */
	uint32_t
		halting; /* those in line, the last spawned first; siblings.c */
	uint32_t halted; /* those to go, from the last verdict */
	uint32_t going;	 /* those to go, from earlier verdicts: they go
			   * first */
	uint32_t escalated;  /* the last child with whose failure it has failed;
			     * for looks */
	uint32_t n_stopping; /* children that are to stop or to halt */
	uint32_t n_seen;     /* children that are not SPAWNED */
	uint32_t depth;	     /* of the parent; root's is 1 */
};

struct weir__restarts; /* limit.h */
struct weir__crew;     /* below */

/* The part of a cell that few actors need; made when first needed. An actor
 * with children has one. */
struct weir__record {
	struct weir__aside aside; /* first */
	struct weir_system *system;
	uint32_t slot; /* of its cell; WEIR__NO_CELL: a shared record */
	struct weir__crew *crew; /* NULL: none */
	struct weir__name *name; /* NULL: none */
	/* limit.h: restarts of this child; of all its children */
	struct weir__restarts *each, *all;
	uint64_t restarted; /* how often */
	uint32_t backoff_count;
	uint64_t backoff_ns; /* when it last restarted or failed */
	struct weir__cell_timer *timer;
	uint64_t shutdown_ns;
	struct weir__watch_lists watches;
	/* why a group of its children restarts; a reference */
	struct weir_error *cause;
	struct weir__family family;
};

/*
 * Children that share a record as long as they need none of their own, and of
 * whose ends one function is told. So nobody has to watch them. Under the lock.
 */
struct weir__crew {
	struct weir__record record;
	size_t used; /* by cells, and by who has made it */
	/* Before a child leaves the tree, in its slice; it must not take the
	 * lock. NULL: who has made it asks no more. */
	void (*ended)(void *context);
	void *context;
};

struct weir_system {
	/*
	 * Guards all fields but the constant ones. The system is used by the
	 * cells that are not free, timers that are set, graceful stops that are
	 * not done and questions whose timer may fire, and once more while
	 * answers are missing.
	 */
	struct weir__system_lock lock;
	/* constant */
	size_t size; /* of its memory */
	struct weir_executor *executor;
	struct weir_system_options options;
	struct weir__cell_timers timers;
	/* The shared record, of cells that have none of their own. */
	struct weir__record none;
	struct weir__slots slots; /* the cells */
	struct weir__walks walks;
	struct weir__names names;
	/* system.c, termination.c */
	struct weir_actor_id root, user, system; /* each set before it runs */
	struct weir_system_hook *before_end, *at_termination;
	size_t n_answers;      /* hooks that /system waits for before it
			        * stops */
	bool stopping;	       /* no actor can be spawned any more */
	bool abandoned;	       /* it could not be made: the last cell frees
				* all */
	uint64_t dead_letters; /* atomic */
	uint64_t random;       /* the seed at first */
	/* of each cell; constant */
	uint32_t first_generation;
	struct weir_completion terminated;
};

/* Uniform over 64 bits, from the system's seed. Under the lock. */
static inline uint64_t weir__random(struct weir_system *system)
{
	return weir__splitmix(&system->random);
}

static inline struct weir__record *weir__record_of(
	const struct weir__cell *cell)
{
	return (struct weir__record *)cell->child.aside;
}

/* NULL for NULL. */
static inline struct weir__cell *weir__cell_of_kin(struct weir__kin *kin)
{
	return (struct weir__cell *)(void *)kin;
}

/* A start went well that nothing has ended yet. */
static inline bool weir__cell_up(const struct weir__cell *cell)
{
	return cell->started == WEIR__STARTED_UP;
}

static inline struct weir__cell *weir__cell_of(const struct weir_actor *actor)
{
	assert(actor->flags & WEIR__ACTOR_CHILD);
	return weir_container_of(actor->u.child, struct weir__cell, child);
}

/* Without the lock: only fields that are constant for the record's life. */
static inline const struct weir__record *weir__record_now(
	const struct weir_actor *actor)
{
	return (const struct weir__record *)weir__child_aside(actor);
}

static inline struct weir_system *weir__system_of(
	const struct weir_actor *actor)
{
	return weir__record_now(actor)->system;
}

/* --- cell.c: the table. All under the lock. ------------------------------- */

static inline struct weir__cell *weir__cell_at(const struct weir_system *system,
					       uint32_t slot)
{
	return weir__cell_of_kin(weir__slots_at(&system->slots, slot));
}

/* The cell of an id; NULL: the actor has ended, or never existed. Cells that
 * are SPAWNED are not found. */
struct weir__cell *weir__cell_find(const struct weir_system *system,
				   struct weir_actor_id id);

/* The cell of an actor that may be ended, in *cell: 0, -ESRCH, or -EPERM: a
 * guardian. */
int weir__cell_find_mortal(const struct weir_system *system,
			   struct weir_actor_id id, struct weir__cell **cell);

/*
 * The event has come, which changes the state of the cell as life.h says and
 * needs nothing else but an order. False: the state is as it was. Other events:
 * weir__cell_change() (change.h).
 */
bool weir__cell_step(struct weir__cell *cell, enum weir__life_event event);

static inline uint32_t weir__cell_slot(const struct weir_system *system,
				       const struct weir__cell *cell)
{
	return weir__slot_of(&system->slots, &cell->kin);
}

struct weir_actor_id weir__cell_ref(const struct weir_system *system,
				    const struct weir__cell *cell);

/* A cell in no list, SPAWNED, of that crew (NULL: none); NULL: no memory. */
struct weir__cell *weir__cell_new(struct weir_system *system,
				  struct weir__crew *crew);
/* Frees the cell's name, if it has one. */
void weir__cell_unname(struct weir_system *system, struct weir__cell *cell);
/* Puts the cell on the free list, and frees its record, which has no name. */
void weir__cell_free(struct weir_system *system, struct weir__cell *cell);

/*
 * Keeps the cause for which others restart. Returns the cause kept before, to
 * be dropped without the lock, because dropping it may call a function of the
 * user's.
 */
static inline struct weir_error *weir__record_keep(struct weir__record *record,
						   struct weir_error *cause)
{
	struct weir_error *old = record->cause;

	record->cause = weir_error_ref(cause);
	return old;
}

/* NULL: no memory. No lock held, nor for weir__crew_leave(), by which who has
 * made it leaves it: it stays as long as there are cells. */
struct weir__crew *weir__crew_new(struct weir_system *system,
				  uint64_t shutdown_ns,
				  void (*ended)(void *context), void *context);
void weir__crew_leave(struct weir_system *system, struct weir__crew *crew);

/* A record of its own; NULL: no memory. */
struct weir__record *weir__record_make(struct weir_system *system,
				       struct weir__cell *cell);

/* Claim 3. */
void weir__cell_order(struct weir__cell *cell, uint8_t orders);

/* One of cell->messages has come, behind the tokens that there are. Under the
 * lock, by weir__enter(). */
void weir__cell_message(struct weir__cell *cell, uint8_t message);

#endif
