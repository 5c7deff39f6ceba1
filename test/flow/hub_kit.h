/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of hubs share: producers that are fed by hand, and subscribers
 * that are asked by hand, each with a run of its own.
 */
#ifndef WEIR_TEST_FLOW_HUB_KIT_H
#define WEIR_TEST_FLOW_HUB_KIT_H

#include "flow/kit.h"

/* A run, and the flow that it is of. */
struct hub_run {
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

/* Takes the flow over. */
void hub_run_start(struct hub_run *run, struct weir_flow *flow,
		   struct weir_executor *executor);
/* False: it is not over. */
bool hub_run_is_over(const struct hub_run *run);
/* It is over: what its end was; frees it. */
int hub_run_fini(struct hub_run *run);

/* What is queued goes into the hub. */
struct hub_producer {
	struct hub_run run;
	struct weir_flow_queue *queue;
};

void hub_producer_start(struct hub_producer *producer, struct weir_hub *hub,
			struct weir_executor *executor,
			const struct weir_items *items);
/* Counted items; as many as were accepted. */
void hub_producer_offer(struct hub_producer *producer, intptr_t first,
			intptr_t last);
/* What its end was; it is over. */
int hub_producer_fini(struct hub_producer *producer);

/* It takes an item for each permit. */
struct hub_subscriber {
	struct hub_run run;
	struct weir_semaphore permits;
	struct got got;
};

/* Of counted items. */
void hub_subscriber_start(struct hub_subscriber *subscriber,
			  struct weir_hub *hub, struct weir_executor *executor,
			  int64_t permits);
/* The same of a flow, which it takes over. */
void hub_subscriber_take(struct hub_subscriber *subscriber,
			 struct weir_flow *flow, struct weir_executor *executor,
			 int64_t permits);
int hub_subscriber_fini(struct hub_subscriber *subscriber);
/* It has the items first to last, one after the other, and no others. */
void hub_subscriber_has(const struct hub_subscriber *subscriber, intptr_t first,
			intptr_t last);

/* --- A scene -------------------------------------------------------------- */

/* A hub on a simulator, with those that may take part. */
extern struct hub_scene {
	struct weir_sim *sim;
	struct weir_executor *executor;
	struct weir_hub *hub;
	struct hub_producer producer, other;
	struct hub_subscriber first, second, late;
} scene;

/* Of each test. */
int scene_set_up(void **state);
int scene_tear_down(void **state);
/* All that can be done now; a wait that spins is found here. So do the others. */
void scene_settle(void);
/* Of counted items. */
void scene_hub(const struct weir_hub_options *options);
void scene_produce(struct hub_producer *which);
void scene_offer(struct hub_producer *which, intptr_t from, intptr_t to);
void scene_subscribe(struct hub_subscriber *which, int64_t permits);
void scene_allow(struct hub_subscriber *which, int64_t permits);
void scene_leave(struct hub_subscriber *which);
/* The producer ends well. */
void scene_end(struct hub_producer *which);
/* The subscriber has, so. */
void scene_ended(struct hub_subscriber *which, int code);

#endif
