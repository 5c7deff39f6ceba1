/* SPDX-License-Identifier: BSD-2-Clause */
/* Actors that do nothing, under a name, and what is asked about them. */
#ifndef WEIR_TEST_SUPERVISION_NAMING_H
#define WEIR_TEST_SUPERVISION_NAMING_H

#include "actor/kit.h"

#include <weir/system.h>

#include "supervision/cell.h"

/* An actor that does nothing, under a name. */
struct child {
	struct weir_actor actor;
	struct weir_actor_id ref, self;
	struct fate fate;
};

void child_init(struct child *child, struct weir_sim *sim);
struct weir_system *system_new(struct weir_sim *sim,
			       const struct weir_allocator *allocator);
void system_end(struct weir_system *system, struct weir_sim *sim);
int spawn_named(struct weir_system *system, struct weir_actor_id parent,
		struct child *child, const char *name);
void spawn_new(struct weir_system *system, struct weir_sim *sim,
	       struct weir_actor_id parent, struct child *child,
	       const char *name);
void assert_is(struct weir_actor_id a, struct weir_actor_id b);
void assert_path(struct weir_system *system, struct weir_actor_id ref,
		 const char *path);

/* Every question about somebody who is not there any more. */
void assert_dead(struct weir_system *system, struct weir_actor_id ref);

#endif
