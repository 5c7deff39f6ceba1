/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether an actor at rest is as it should be. */
#ifndef WEIR_ACTOR_CHECK_H
#define WEIR_ACTOR_CHECK_H

#include <stdbool.h>

#include <weir/actor.h>

/*
 * For tests: with the actor at rest and nobody touching it, the count is the
 * number of blocked ports, and a blocked port is one that takes part.
 */
bool weir__actor_check(struct weir_actor *actor);

#endif
