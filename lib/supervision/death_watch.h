/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch in a system: death_watch.c (watches by actors), watcher.c
 * (watchers that are not actors) and pending.c (pending messages, which come
 * behind tokens: see position.h). The watches themselves: watch.h, watching.h.
 *
 * Rule numbers like C11 are those of docs/conformance/supervision.md.
 */
#ifndef WEIR_SUPERVISION_DEATH_WATCH_H
#define WEIR_SUPERVISION_DEATH_WATCH_H

#include "supervision/cell.h"

/* --- death_watch.c ------------------------------------------------------- */

/* The cell's own record, or NULL. Under the lock. */
static inline struct weir__record *weir__record_own(
	const struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);

	return record->slot == WEIR__NO_CELL ? NULL : record;
}

/*
 * The actor of the cell has ended, which is out of the tree and has a record of
 * its own: actors that watch it get their notices. Under the lock, which it
 * lends; by weir__enter().
 */
void weir__watch_ended(struct weir_system *system, struct weir__cell *cell,
		       const struct weir__death *death);

/*
 * Adds a watch for the `child_ended` hook of the parent. Its notice comes
 * before those of other watches of the same end. 0 or -ENOMEM. Under the lock.
 */
int weir__watch_child(struct weir_system *system, struct weir__cell *parent,
		      struct weir__cell *cell, void *token);

/* Removes the watch for a child that could not start. Under the lock. */
void weir__watch_forget(struct weir_system *system, struct weir__cell *cell);

/* Removes all watches and notices of the actor. Owner; no lock held. */
void weir__watch_none(struct weir_actor *actor);

/* The same, and then takes the lock: what weir__enter() returns. */
bool weir__watch_none_and_enter(struct weir_actor *actor);

/* Removes the actor's watches of its children (C11). Owner; no lock held. */
void weir__watch_no_children(struct weir_actor *actor);

/* --- watcher.c ------------------------------------------------------------ */

/* Adds a watcher of an actor whose spawn is under way. 0 or -ENOMEM. Under the
 * lock. */
int weir__watcher_join(struct weir_system *system, struct weir__cell *cell,
		       struct weir_watcher *watcher);
/* Removes the watcher of an actor that could not start. Under the lock. */
void weir__watcher_forget(struct weir__cell *cell);

/* The actor of the record has ended: tells its watchers that are not actors. No
 * lock held. */
void weir__watchers_tell(struct weir_system *system,
			 const struct weir__record *record,
			 const struct weir__death *death);

/* --- pending.c ------------------------------------------------------------ */

/* As in struct weir__child_ops. */
uint32_t weir__pending_handle(struct weir_actor *actor, uint32_t turns);

/* ORDER_LOOK has come: looks for messages. Owner; no lock held. */
void weir__pending_check(struct weir_actor *actor);

#endif
