/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an actor's time goes, for those that have counters attached. */
#ifndef WEIR_ACTOR_STATS_H
#define WEIR_ACTOR_STATS_H

#include <ck_pr.h>

#include <weir/actor.h>

/* A slice begins, ends. Owner; `stats` are the actor's. */
void weir__stats_begin(struct weir_actor *actor, struct weir_stats *stats);
void weir__stats_end(struct weir_actor *actor, struct weir_stats *stats);

/* Adds to a counter that others may read. Owner. */
static inline void weir__stats_add(uint64_t *counter, uint64_t n)
{
	/* relaxed: a figure of its own; only the owner writes */
	ck_pr_store_64(counter, *counter + n);
}

#endif
