/* SPDX-License-Identifier: BSD-2-Clause */
/* How actors come into a system, in spawn.c. No lock is held. */
#ifndef WEIR_SUPERVISION_SPAWN_H
#define WEIR_SUPERVISION_SPAWN_H

#include "supervision/cell.h"

#define WEIR__DEPTH_MAX 4096u

/* True: weir_system_spawn() accepts the options. */
bool weir__spawn_options_valid(const struct weir_spawn_options *options);

/* Who is told of the end of an actor that is spawned; 0: its parent's
 * `child_ended`. */
struct weir__spawn_watch {
	/* Added before the actor can run, as by weir_watcher_add(); not on an
	 * error. NULL: none. */
	struct weir_watcher *watcher;
	void *token; /* of the notice that the parent's `child_ended` gets */
	/* NULL: none. Else it is told, and not the parent's `child_ended`. */
	struct weir__crew *crew;
};

/* As weir_system_spawn(). */
int weir__spawn_watched(struct weir_system *system, struct weir_actor_id parent,
			struct weir_actor *actor,
			const struct weir_spawn_options *options,
			const struct weir__spawn_watch *watch,
			struct weir_actor_id *id);

/* As weir_system_spawn(); parent WEIR_ACTOR_ID_NONE: the root. */
int weir__spawn_guardian(struct weir_system *system,
			 struct weir_actor_id parent, struct weir_actor *actor,
			 const char *name, struct weir_actor_id *id);

#endif
