/* SPDX-License-Identifier: BSD-2-Clause */
/* What an actor's ops say of its life, in lifecycle.c. Any thread. */
#ifndef WEIR_SUPERVISION_LIFECYCLE_H
#define WEIR_SUPERVISION_LIFECYCLE_H

#include <weir/actor.h>
#include <weir/supervision.h>

/* The hooks and the strategy of an actor; never NULL: if it has none, a struct
 * with no field set. */
const struct weir_lifecycle *weir__lifecycle(const struct weir_actor *actor);
const struct weir_strategy *weir__strategy(const struct weir_actor *actor);

#endif
