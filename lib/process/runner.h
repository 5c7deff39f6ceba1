/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are calls. The manager queues commands for runners, a few
 * actors that are its children. A runner that is free takes commands, and makes
 * the calls one after the other. runner.c is the runner, runners.c the
 * manager's side.
 *
 * A runner takes its share of the commands that are there, at most
 * WEIR__TAKE_MAX, and at most as many as its slice has time for: few, because
 * the commands it has taken wait behind one another. It keeps the results of
 * its calls (places, and commands that were offered in replies) until the run
 * of calls is over, or another runner parks.
 */
#ifndef WEIR_PROCESS_RUNNER_H
#define WEIR_PROCESS_RUNNER_H

#include <weir/process_manager.h>

#include "actor/port.h"
#include "process/call_queue.h"

#define WEIR__TAKE_MAX 16u

struct weir__runner {
	struct weir_actor actor;
	struct weir__other_port awake; /* unblocked unless it is parked */
	struct weir_process_manager *manager;
	bool calls;	/* its slice makes calls */
	bool replies;	/* it is in a reply, inside a call */
	uint32_t most;	/* most to take next; few at first */
	uint32_t refs;	/* of the manager, in stock */
	uint32_t ended; /* ended since it told the manager */
	/* commands that it has taken, and how many of them it has begun */
	uint32_t n_taken, n_begun;
	void *taken[WEIR__TAKE_MAX];
	/* commands offered while it calls */
	uint32_t n_offered;
	void *offered[WEIR__TAKE_MAX];
	/* read by any thread */
	uint64_t made, done, failed;
	uint32_t parked __attribute__((aligned(WEIR__LINE))); /* atomic */
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

/*
 * Wakes up to `n` runners that are parked, for items stored before. Any thread.
 */
void weir__runners_wake(struct weir__runners *all, uint64_t n);

/*
 * Keeps a command that has a credit, if it was offered in the reply to a call
 * of a runner. True: that runner will put it. Any thread.
 */
bool weir__runners_keep(struct weir_process_manager *manager,
			struct weir_command *command);

#endif
