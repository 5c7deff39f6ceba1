/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch inside: watch.c (who watches whom), watching.c (whom one
 * watches), graceful.c (those who are no actors), letters.c (what comes behind
 * tokens) and place.c (behind which).
 *
 * Rule numbers like C11 are those of docs/conformance/supervision.md.
 */
#ifndef WEIR_SUPERVISION_WATCH_H
#define WEIR_SUPERVISION_WATCH_H

#include "supervision/cell.h"

/* One who watches; in the list of the watched, then in that of its notices. */
struct weir__watch {
	struct weir__watch *next, **link; /* the list it is in now */
	struct weir__watch *left, *right; /* all of the watcher's */
	struct weir_actor_id who, watcher;
	void *token;
	struct weir_error *error; /* a reference, once it has ended */
	struct weir_actor *actor; /* who has ended: to compare, not to touch */
	bool ended, existed;
	bool of_parent; /* for `child_ended`, and not asked for by anybody */
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
 * The cell has ended, with `error` (borrowed): its watchers get their notices.
 * Takes the lock itself; calls weir_watcher functions without it. The cell is
 * out of the tree.
 */
void weir__watch_ended(struct weir_system *system, struct weir__cell *cell,
		       struct weir_actor_id who, struct weir_error *error);

/*
 * The parent has a `child_ended` hook: it is to be called when the cell's actor
 * has ended, before what other watches bring. 0 or -ENOMEM. Under the lock.
 */
int weir__watch_child(struct weir_system *system, struct weir__cell *parent,
		      struct weir__cell *cell);

/* A child that could not start is forgotten. Under the lock. */
void weir__watch_forget(struct weir_system *system, struct weir__cell *cell);

/* It watches nobody any more, and gets no notices. Owner; no lock held. */
void weir__watch_none(struct weir_actor *actor);

/* It does not watch its children any more (C11). Owner; no lock held. */
void weir__watch_no_children(struct weir_actor *actor);

/* The watch is over: out of all lists; to be freed without the lock. */
void weir__watch_take(struct weir__record *watcher, struct weir__watch *watch);
void weir__watch_free(const struct weir_system *system,
		      struct weir__watch *watch);

/* --- watching.c ----------------------------------------------------------- */

/* The key's `who` and `of_parent` say which: that one, or NULL. */
struct weir__watch *weir__watching_find(struct weir__watch *tree,
					const struct weir__watch *key);
/* The first one behind it, or NULL. */
struct weir__watch *weir__watching_after(struct weir__watch *tree,
					 const struct weir__watch *key);
/* It is in no tree; it is in this one. */
void weir__watching_add(struct weir__watch **tree, struct weir__watch *watch);
void weir__watching_remove(struct weir__watch **tree,
			   struct weir__watch *watch);

/* --- graceful.c ----------------------------------------------------------- */

/* Whose record it is has ended: its watchers are told. No lock held. */
void weir__watchers_tell(struct weir_system *system,
			 const struct weir__record *record,
			 struct weir_error *error);

/* --- place.c -------------------------------------------------------------- */

/* For cell->letters of one who is given a letter now. Under the lock. */
uint32_t weir__place_now(const struct weir_actor *actor);
/* The actor hears of it. Owner, under the lock; so are the rest. */
void weir__place_settle(const struct weir_actor *actor,
			struct weir__cell *cell);
/* How many tokens come before the letters that turns may take. */
uint32_t weir__place_before(const struct weir_actor *actor,
			    const struct weir__cell *cell);
/* Turns that take no more than `before`, and at least one. */
uint32_t weir__place_turns(const struct weir_actor *actor, uint32_t before);
/* `before` are too few for a turn, and with what came later they are not. */
bool weir__place_cuts(const struct weir_actor *actor, uint32_t before);

/* --- letters.c ------------------------------------------------------------ */

/* As in struct weir__child_ops. */
uint32_t weir__letters(struct weir_actor *actor, uint32_t turns);

/* ORDER_LOOK has come: are there letters? Owner; no lock held. */
void weir__letters_look(struct weir_actor *actor);

/* A letter has come: a flag of the cell's. Under the lock, entered. */
void weir__letter_came(struct weir__cell *cell, uint16_t flag);

#endif
