/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of death watch: watch.c (the watches of a system), watching.c (the
 * watches of one actor), watcher.c (watchers that are not actors) and pending.c
 * (pending messages, which come behind tokens: see position.h).
 *
 * Rule numbers like C11 are those of docs/conformance/supervision.md.
 */
#ifndef WEIR_SUPERVISION_WATCH_H
#define WEIR_SUPERVISION_WATCH_H

#include "supervision/cell.h"

/* A watch by an actor. It is in the list of the watched actor, and after that
 * one's end in the list of the watcher's notices. */
struct weir__watch {
	struct weir__watch *next, **link; /* the list it is in now */
	struct weir__watch *left, *right; /* tree of all the watcher's
					   * watches */
	struct weir_actor_id who, watcher;
	void *token;
	struct weir_error *error; /* a reference, once it has ended */
	struct weir_actor *actor; /* that has ended: compared, never touched */
	bool ended, existed;
	bool of_parent; /* for `child_ended`; the user has not asked for it */
};

/* --- watch.c -------------------------------------------------------------- */

/* The cell's own record, or NULL. Under the lock. */
static inline struct weir__record *weir__record_own(
	const struct weir__cell *cell)
{
	struct weir__record *record = weir__record_of(cell);

	return record->slot == WEIR__NO_CELL ? NULL : record;
}

/*
 * The actor of the cell has ended, with `error` (borrowed): its watchers get
 * their notices. Takes the lock itself, and calls weir_watcher functions
 * without it. The cell is out of the tree.
 */
void weir__watch_ended(struct weir_system *system, struct weir__cell *cell,
		       struct weir_actor_id who, struct weir_error *error);

/*
 * Adds a watch for the `child_ended` hook of the parent. Its notice comes
 * before those of other watches of the same end. 0 or -ENOMEM. Under the lock.
 */
int weir__watch_child(struct weir_system *system, struct weir__cell *parent,
		      struct weir__cell *cell);

/* Removes the watch for a child that could not start. Under the lock. */
void weir__watch_forget(struct weir_system *system, struct weir__cell *cell);

/* Removes all watches and notices of the actor. Owner; no lock held. */
void weir__watch_none(struct weir_actor *actor);

/* Removes the actor's watches of its children (C11). Owner; no lock held. */
void weir__watch_no_children(struct weir_actor *actor);

/* Ends a watch: takes it out of all lists. The caller frees it without the
 * lock. */
void weir__watch_take(struct weir__record *watcher, struct weir__watch *watch);
void weir__watch_free(const struct weir_system *system,
		      struct weir__watch *watch);

/* --- watching.c ----------------------------------------------------------- */

/* The watch with the key's `who` and `of_parent`, or NULL. */
struct weir__watch *weir__watching_find(struct weir__watch *tree,
					const struct weir__watch *key);
/* The first watch behind the key, or NULL. */
struct weir__watch *weir__watching_after(struct weir__watch *tree,
					 const struct weir__watch *key);
/* weir__watching_add(): the watch is in no tree. _remove(): it is in
 * this tree. */
void weir__watching_add(struct weir__watch **tree, struct weir__watch *watch);
void weir__watching_remove(struct weir__watch **tree,
			   struct weir__watch *watch);

/* --- watcher.c ------------------------------------------------------------ */

/* The actor of the record has ended: tells its watchers that are not actors. No
 * lock held. */
void weir__watchers_tell(struct weir_system *system,
			 const struct weir__record *record,
			 struct weir_error *error);

/* --- pending.c ------------------------------------------------------------ */

/* As in struct weir__child_ops. */
uint32_t weir__pending_handle(struct weir_actor *actor, uint32_t turns);

/* ORDER_LOOK has come: looks for messages. Owner; no lock held. */
void weir__pending_check(struct weir_actor *actor);

#endif
