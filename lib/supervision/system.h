/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A system as a whole: events for the user, its guardians and its end. No lock
 * is held, unless a function says otherwise.
 */
#ifndef WEIR_SUPERVISION_SYSTEM_H
#define WEIR_SUPERVISION_SYSTEM_H

#include "supervision/cell.h"

/* --- system.c ------------------------------------------------------------- */

/* Calls options.event, if there is one. */
void weir__event(struct weir_system *system,
		 enum weir_supervision_event_kind what,
		 struct weir_actor_id supervisor, struct weir_actor_id child,
		 const char *name, struct weir_error *error,
		 enum weir_directive directive);

/* Counts a dead message and calls options.dead_letter; the caller drops the
 * item. */
void weir__dead_letter(struct weir_system *system, struct weir_actor_id to,
		       void *item);

/* Uniform over 64 bits, from the system's seed. Under the lock. */
uint64_t weir__random(struct weir_system *system);

/* system->used has become 0. The system may be freed in it. */
void weir__system_unused(struct weir_system *system);

/* --- spawn.c -------------------------------------------------------------- */

#define WEIR__DEPTH_MAX 4096u

/* True: weir_system_spawn() accepts the options. */
bool weir__spawn_options_valid(const struct weir_spawn_options *options);

/* As weir_system_spawn(); parent WEIR_ACTOR_ID_NONE: the root. */
int weir__spawn_guardian(struct weir_system *system,
			 struct weir_actor_id parent, struct weir_actor *actor,
			 const char *name, struct weir_actor_id *id);

#endif
