/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are calls. The manager queues commands for a few actors, its
 * children, the runners, which take them, whoever is free, and make the calls
 * one after the other. runner.c is what a runner does, runners.c the manager's
 * side.
 *
 * A runner takes its part of what there is, no more than WEIR__TAKE_MAX, and no
 * more than its slice lets it make: few, for fairness, since they wait behind
 * one another. What its calls bring, places and commands that were offered in
 * replies, it keeps until the run of calls is over, or another runner rests.
 */
#ifndef WEIR_PROCESS_RUNNER_H
#define WEIR_PROCESS_RUNNER_H

#include "actor/port.h"
#include "process/manager.h"
#include "process/queue.h"

#define WEIR__TAKE_MAX 16u

struct weir__runner {
	struct weir_actor actor;
	struct weir__other_port awake; /* unblocked unless it rests */
	struct weir_process_manager *manager;
	bool calls;	/* its slice makes calls */
	bool replies;	/* and has to tell that one has ended */
	uint32_t most;	/* to take next: it begins with few */
	uint32_t refs;	/* of the manager, in stock */
	uint32_t ended; /* since it told the manager */
	/* those that it has taken, and how many of them it has begun */
	uint32_t n_taken, n_begun;
	void *taken[WEIR__TAKE_MAX];
	/* offered while it calls */
	uint32_t n_offered;
	void *offered[WEIR__TAKE_MAX];
	/* read by any thread */
	uint64_t made, done, failed;
	uint32_t rests __attribute__((aligned(WEIR__LINE))); /* atomic */
} __attribute__((aligned(WEIR__LINE)));

struct weir__runners {
	struct weir__queue queue;
	uint32_t n_left; /* runners that were not stopped; atomic */
	uint32_t n;
	struct weir__runner runner[];
};

/* 0 or a negative errno. Whoever sets it up. */
int weir__runner_init(struct weir_process_manager *manager,
		      struct weir__runner *self);

/* `n` calls have ended, for which this is the time to say so. Any thread. */
void weir__runners_ended(struct weir_process_manager *manager, uint32_t n);

/* Replies that the call is not made. Any thread. */
void weir__call_refuse(struct weir_process_manager *manager,
		       struct weir_command *command);

/* Wakes up to `n` that rest, for what was stored before. Any thread. */
void weir__runners_wake(struct weir__runners *all, uint64_t n);

#endif
