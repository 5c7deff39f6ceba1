/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that make up a slice need of each other. */
#ifndef WEIR_ACTOR_SLICE_H
#define WEIR_ACTOR_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/actor.h>

/*
 * Publishes what the last run did and, when a slice has found nothing (`count`
 * is not NULL), arms: one full fence for both (rules 2 and 3), also for what
 * earlier slices owe. *count is what the last swap has to add. Owner.
 */
void weir__slice_settle(struct weir_actor *actor, int32_t *count);

/* Pays what is owed to peers (rule 2), by a slice that does not arm. Owner. */
void weir__slice_pay(struct weir_actor *actor);

/*
 * The slice is over: what is certain is so no more. After a run publishing has
 * seen to that for ports with one link. Owner.
 */
void weir__slice_rest(struct weir_actor *actor, bool published);

/*
 * Learns from what took `ns` how many turns fit into publish_ns: `done` of them,
 * or 0, less than the `n` that might have been, which shows at most that fewer
 * fit. Where turns may block it is one, as somebody may wait for what it has put
 * before the next one returns. Owner.
 */
void weir__slice_learn(struct weir_actor *actor, uint32_t done, uint32_t n,
		       uint64_t ns);

#endif
