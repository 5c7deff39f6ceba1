/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways from a source of the numbers 1 to N, as counted items, over what flows
 * are joined to, to a sink that takes them down.
 */
#ifndef WEIR_TEST_FLOW_BRIDGE_H
#define WEIR_TEST_FLOW_BRIDGE_H

#include "flow/kit.h"

/* An actor of the user's: puts 1 to N into its out-port, or takes from in. */
struct hand {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_in in;
	struct bridge *bridge;
	intptr_t next;
	uint32_t there; /* not released; any thread */
};

struct bridge {
	struct weir_executor *executor;
	const struct weir_allocator *allocator; /* of channels */
	struct weir_flow *flows[2];
	struct weir_flow_run *runs[2];
	struct weir_flow_publisher *publisher;
	struct weir_channel *channel;
	struct weir_semaphore acks;
	bool acknowledges;
	struct hand maker, taker;
	intptr_t first; /* that is to come */
	struct got got;
};

/* One way from a source to a sink. 0, or why it could not be started. */
struct bridge_way {
	const char *name;
	int (*start)(struct bridge *bridge);
};

/* --- The ways ------------------------------------------------------------- */

int bridge_start(struct bridge *bridge, int i);
extern const struct bridge_way bridge_ways[];
extern const size_t n_bridge_ways;

/* --- Its end -------------------------------------------------------------- */

void bridge_cancel(struct bridge *bridge);

/* The actors go when they have ended. */
void bridge_let_go(struct bridge *bridge);

/* Waits for the runs, and frees what is there; how the first has ended. */
int bridge_reap(struct bridge *bridge);

/* All has come to rest. */
void bridge_check(struct bridge *bridge);
size_t bridge_all(const struct bridge *bridge);

#endif
