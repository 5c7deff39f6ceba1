/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run takes as many turns as fit into publish_ns by what the actor's turns
 * have cost: the first run is one turn; runs are timed while that number may
 * still change, and now and then when it has reached the maximum.
 */
#ifndef WEIR_ACTOR_FIT_H
#define WEIR_ACTOR_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/actor.h>

#include "actor/gate.h"
#include "executor/thread.h"

#define WEIR__FIT_LOG2_MAX 8u

/*
 * The power of 2 of the number of turns that fit into publish_ns, by what they
 * last cost.
 */
static inline uint32_t weir__actor_fit_log2(const struct weir_actor *actor)
{
	return actor->flags / WEIR__ACTOR_RUN;
}

static inline void weir__actor_set_fit(struct weir_actor *actor, uint32_t log2)
{
	weir__actor_clear(actor, UINT16_MAX & ~(WEIR__ACTOR_RUN - 1u));
	weir__actor_set(actor, log2 * WEIR__ACTOR_RUN);
}

#define WEIR__CLOCK_NS 20u /* of a timed run: reading the clock */

static inline uint32_t weir__log2_floor(uint64_t x)
{
	return 63u - (uint32_t)__builtin_clzll(x | 1);
}

/*
 * Learns from a run that took `ns` how many turns fit into publish_ns. The run
 * had `done` turns; with `done` 0 it had fewer than `n`, and shows at most that
 * fewer fit. Where turns may block one turn fits: another thread may wait for
 * what a turn has put before the next turn returns. Owner.
 */
static inline void weir__actor_learn_fit(struct weir_actor *actor,
					 uint32_t done, uint32_t n, uint64_t ns)
{
	uint64_t publish_ns = actor->executor->options.publish_ns;
	uint64_t net_ns = ns > WEIR__CLOCK_NS ? ns - WEIR__CLOCK_NS : 1;
	uint32_t fit =
		weir__log2_floor((done ? done : n) * publish_ns / net_ns);

	if (weir__thread.may_block ||
	    (!done && fit > weir__actor_fit_log2(actor)))
		return;
	weir__actor_set_fit(
		actor, fit < WEIR__FIT_LOG2_MAX ? fit : WEIR__FIT_LOG2_MAX);
}

/*
 * Whether to time a run of several turns: always while the longest run is not
 * known to fit; then now and then, and when the executor says so.
 */
static inline bool weir__actor_times_run(const struct weir_actor *actor)
{
	if (weir__actor_fit_log2(actor) < WEIR__FIT_LOG2_MAX)
		return true;
	if (WEIR_LIKELY(++weir__thread.runs < WEIR__TIMED_RUNS))
		return false;
	weir__thread.runs = 0;
	return true;
}

#endif
