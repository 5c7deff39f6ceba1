/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs, as their islands see them. */
#ifndef WEIR_FLOW_ENGINE_RUN_H
#define WEIR_FLOW_ENGINE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/actor.h>
#include <weir/completion.h>
#include <weir/flow.h>

#include "base/lock.h"

struct exit;
struct weir__island;

struct weir_flow_run {
	/*
	 * The actor by which the run's end is reported: `executor` runs it
	 * once, for `done`. It is in no queue before that, but counts as alive
	 * from before the first island is started until `done` has returned.
	 */
	struct weir_actor actor;
	const struct weir_allocator *allocator;
	struct weir_executor *executor;
	struct weir_flow_run_options options;
	struct weir_flow *flow;
	struct weir__island *islands; /* while it is made */
	struct weir__lock lock;	      /* for `live` */
	struct weir__island *live;    /* islands that have not stopped */
	struct exit *exits; /* under `lock`: links to ports that are not the
			     * run's */
	struct weir_completion over;
	struct weir_error *error; /* atomic: the first counts */
	void *result;
	const struct weir_items *result_items;
	bool has_result;
	uint32_t refs;	   /* atomic: the handle, and the islands together */
	uint32_t n_alive;  /* atomic: islands */
	uint32_t draining; /* atomic */
	uint32_t n_fans;   /* while it is made */
	uint32_t
		failed; /* atomic: bits of fans, before their outlets are told */
	bool begun;	/* an island of it runs, or is about to */
	bool kept;	/* its executor counts `actor` as alive */
};

/* A run without islands; NULL: no memory. */
struct weir_flow_run *weir__run_new(
	struct weir_flow *flow, struct weir_executor *executor,
	const struct weir_flow_run_options *options);

/* The run's executor counts it as alive from here on, until it is over. 0 or a
 * negative errno. */
int weir__run_keep(struct weir_flow_run *run);
/* Takes that back, of a run that never was. */
void weir__run_unkeep(struct weir_flow_run *run);

/* The error of a run that was cancelled, and of its actors; static. */
extern struct weir_error weir__run_cancelled;
/* The run fails with `error` (borrowed), unless it has failed before. Any
 * thread. */
void weir__run_fail(struct weir_flow_run *run, struct weir_error *error);
/* An island stops: it is taken off `live`, so no call reaches it any more.
 * Owner. */
void weir__run_island_stopped(struct weir_flow_run *run,
			      struct weir__island *island);
/*
 * An island was released. Any thread; the caller must not touch the run after
 * this. When the last island is released, the run is over, and its own actor is
 * submitted.
 */
void weir__run_island_released(struct weir_flow_run *run);

#endif
