/* SPDX-License-Identifier: BSD-2-Clause */
/* What a slice does, for those that end an actor and that drive operators. */
#ifndef WEIR_ACTOR_FIRING_H
#define WEIR_ACTOR_FIRING_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/actor.h>

/*
 * Publishes what the last run did. If `count` is not NULL, the slice has found
 * nothing and arms: one full fence serves for publishing, for arming and for
 * what earlier slices owe (rules 2 and 3). *count is the number that the last
 * swap has to add. Owner.
 */
void weir__slice_settle(struct weir_actor *actor, int32_t *count);

/* Pays what is owed to peers (rule 2), by a slice that does not arm. Owner. */
void weir__slice_pay(struct weir_actor *actor);

/*
 * The slice is over: no port lets takes or puts find anything until the next
 * look. `published`: for ports with one link publishing has seen to that.
 * Owner.
 */
void weir__slice_invalidate(struct weir_actor *actor, bool published);

/*
 * Learns from a run that took `ns` how many turns fit into publish_ns. The run
 * had `done` turns; with `done` 0 it had fewer than `n`, and shows at most that
 * fewer fit. Where turns may block one turn fits: another thread may wait for
 * what a turn has put before the next turn returns. Owner.
 */
void weir__slice_learn(struct weir_actor *actor, uint32_t done, uint32_t n,
		       uint64_t ns);

#endif
