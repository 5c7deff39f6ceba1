/* SPDX-License-Identifier: BSD-2-Clause */
/* All watches of one actor, in watching.c. Under the lock. */
#ifndef WEIR_SUPERVISION_WATCHING_H
#define WEIR_SUPERVISION_WATCHING_H

#include <stdbool.h>

#include <weir/error.h>
#include <weir/supervision.h>

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
	struct weir__path *path;  /* that it had, or NULL; a reference */
	uint8_t how;		  /* enum weir_end */
	bool ended, existed;
	bool of_parent; /* for `child_ended`; the user has not asked for it */
};

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

#endif
