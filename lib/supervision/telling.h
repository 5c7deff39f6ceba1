/* SPDX-License-Identifier: BSD-2-Clause */
/* What a system tells its user, in telling.c. No lock is held. */
#ifndef WEIR_SUPERVISION_TELLING_H
#define WEIR_SUPERVISION_TELLING_H

#include "supervision/cell.h"

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

#endif
