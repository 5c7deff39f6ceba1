/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scenarios about flows are made of: one run of a flow on the executor
 * of scene.h, whose islands are the others there. All memory, that of
 * blueprints as well, is the explorer's.
 */
#ifndef CROSSING_H
#define CROSSING_H

#include <weir/flow_operator.h>

#include "flow/engine/op.h"
#include "scene.h"

struct crossing {
	struct scene scene; /* first */
	struct weir_flow *flow, *inner;
	struct weir_flow_run *run;
	struct weir_flow_queue *queue;
	struct weir__op *op;	   /* held by a thread */
	struct weir_operator *own; /* the same, of the user's */
	struct token *given;
	uint32_t said[2]; /* atomic */
	uint64_t due;	  /* atomic */
	uint32_t rung;	  /* pulls that have found a time has come */
	uint32_t delivered;
	uint32_t over; /* atomic */
	int code;      /* of the run, before that */
};

extern struct crossing crossing;

/* In a setup: this first. */
struct crossing *crossing_open(void *context);
/* Tokens 0 to n - 1 from a queue that is open, or has ended. */
struct weir_flow *crossing_queue(struct crossing *c, uint32_t n);
struct weir_flow *crossing_items(struct crossing *c, uint32_t n);
/* Upon `flow`: takes items, which are tokens. */
struct weir_flow *crossing_sink(struct crossing *c, struct weir_flow *flow);
/* Runs it; the handle is kept. */
void crossing_start(struct crossing *c, struct weir_flow *flow);
/* A token that is somebody's now. */
struct token *crossing_token(struct crossing *c, uint32_t i);

/* Of the islands, that which was queued as this one of the others. */
struct weir_actor *crossing_island(const struct crossing *c, uint32_t i);

/* What threads do: slices of the last island, or of that above it, or both,
 * until it is not queued; with those the run's own, the last one of all. */
void work_below(void *context);
void work_above(void *context);
void work_both(void *context);
void cancel(void *context);
void drain_run(void *context);
void let_go(void *context);

/* All is told, and all memory free. */
void crossing_is_over(void *context);
/* The same, and all went well and was delivered. */
void crossing_went_well(void *context);

#define CROSSING(...) \
	{ \
		.context = &crossing, .context_size = sizeof(crossing), \
		__VA_ARGS__ \
	}

extern const struct scene_group op_timers, calls, queues, pipes, runs, wakes,
	shares;
extern const struct scene_group flow_subscribers;
extern const struct scene_group op_timers, calls, queues, pipes, runs;
extern const struct scene_group flow_subscribers, flow_exits, switches, fans,
	graphs;
/* For `./dev soak`: the same with more threads. */
extern const struct scene_group long_feeds, long_exits, long_switches,
	long_fans, long_graphs;

#endif
