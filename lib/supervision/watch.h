/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches between actors, which are ids here, and the watchers that are not
 * actors. All under the lock of who has them, but for the freeing.
 *
 * A watch by an actor is in two lists. One has all watches of the watcher. The
 * other is the list of watchers of the watched actor, or, after that actor's
 * end, the list of notices of the watcher. The watch is moved there without
 * allocating: so either the watch or the end comes first, and exactly one
 * notice follows.
 */
#ifndef WEIR_SUPERVISION_WATCH_H
#define WEIR_SUPERVISION_WATCH_H

#include <weir/allocator.h>
#include <weir/death_watch.h>

#include "supervision/watching.h"

/* The path that an actor had when it ended, which notices of its end share. */
struct weir__path {
	uint32_t refs;
	uint32_t size; /* of its memory */
	char text[];
};

/* What one actor has of watches. */
struct weir__watch_lists {
	struct weir_watcher *watchers; /* of it; watchers that are not actors */
	struct weir__watch *watched;   /* of it, by actors */
	struct weir__watch *watching;  /* all watches by it, a tree */
	struct weir__watch *notices, **notices_end;
};

/* How an actor has ended. All is borrowed. */
struct weir__death {
	struct weir_actor_id who;
	struct weir_error *error;
	enum weir_end how;
	struct weir__path *path; /* NULL: nobody watches, or no memory */
};

/* All are 0 before. */
void weir__watch_lists_init(struct weir__watch_lists *watches);
/* True: it watches nobody, is watched by nobody, and has no notices. */
bool weir__watch_lists_none(const struct weir__watch_lists *watches);

/*
 * A new watch with the `who`, `watcher`, `token`, `actor` and `of_parent` of
 * `like`. Notices of a parent's come before those of other watches of the same
 * end. `watched` NULL: that one has ended. Returns NULL if there is no memory.
 */
struct weir__watch *weir__watch_new(struct weir__watch_lists *watcher,
				    struct weir__watch_lists *watched,
				    const struct weir__watch *like,
				    const struct weir_allocator *allocator);
/* The watch on `who` that the user has asked for, or NULL. */
struct weir__watch *weir__watch_find(const struct weir__watch_lists *watcher,
				     struct weir_actor_id who);
/* The watched actor has ended: the watch is the last of the watcher's notices.
 * `death` NULL: it was before the watch. */
void weir__watch_notify(struct weir__watch_lists *watcher,
			struct weir__watch *watch,
			const struct weir__death *death);
/* Ends a watch: takes it out of all lists. The caller frees it without the
 * lock. */
void weir__watch_take(struct weir__watch_lists *watcher,
		      struct weir__watch *watch);
/* NULL is fine. */
void weir__watch_free(struct weir__watch *watch,
		      const struct weir_allocator *allocator);

/* NULL is fine. */
struct weir__path *weir__path_ref(struct weir__path *path);
void weir__path_unref(struct weir__path *path,
		      const struct weir_allocator *allocator);

static inline const char *weir__path_text(const struct weir__path *path)
{
	return path ? path->text : NULL;
}

void weir__watcher_add(struct weir__watch_lists *watched,
		       struct weir_watcher *watcher);
/* Takes a watcher out of its list. False: it is in none. */
bool weir__watcher_take(struct weir_watcher *watcher);

#endif
