/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/hub_kit.h"

#include "actor/kit.h"

void hub_run_start(struct hub_run *run, struct weir_flow *flow,
		   struct weir_executor *executor)
{
	run->flow = flow;
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run->run), 0);
}

bool hub_run_is_over(const struct hub_run *run)
{
	return weir_completion_done(weir_flow_run_over(run->run));
}

int hub_run_fini(struct hub_run *run)
{
	struct weir_error *error;
	int code;

	assert_int_equal(weir_flow_run_wait(run->run, 0, NULL, &error), 0);
	code = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(run->run);
	weir_flow_free(run->flow);
	run->run = NULL;
	return code;
}

void hub_producer_start(struct hub_producer *producer, struct weir_hub *hub,
			struct weir_executor *executor,
			const struct weir_items *items)
{
	struct weir_flow *flow;

	assert_int_equal(weir_flow_queue_new(&producer->queue, 1024,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     items),
			 0);
	flow = weir_flow_from_queue(producer->queue);
	hub_run_start(&producer->run, weir_flow_into_hub(flow, hub), executor);
}

void hub_producer_offer(struct hub_producer *producer, intptr_t first,
			intptr_t last)
{
	for (; first <= last; first++)
		assert_int_equal(weir_flow_queue_offer(producer->queue,
						       item_new(first)),
				 0);
}

int hub_producer_fini(struct hub_producer *producer)
{
	weir_flow_queue_free(producer->queue);
	return hub_run_fini(&producer->run);
}

void hub_subscriber_start(struct hub_subscriber *subscriber,
			  struct weir_hub *hub, struct weir_executor *executor,
			  int64_t permits)
{
	hub_subscriber_take(subscriber, weir_flow_from_hub(hub), executor,
			    permits);
}

void hub_subscriber_take(struct hub_subscriber *subscriber,
			 struct weir_flow *flow, struct weir_executor *executor,
			 int64_t permits)
{
	memset(subscriber, 0, sizeof(*subscriber));
	subscriber->got.counted = true;
	assert_int_equal(weir_semaphore_init(&subscriber->permits, permits), 0);
	flow = weir_flow_acquire(flow, &subscriber->permits);
	flow = weir_flow_for_each(flow, got_one, &subscriber->got);
	hub_run_start(&subscriber->run, flow, executor);
}

int hub_subscriber_fini(struct hub_subscriber *subscriber)
{
	return hub_run_fini(&subscriber->run);
}

void hub_subscriber_has(const struct hub_subscriber *subscriber, intptr_t first,
			intptr_t last)
{
	const struct got *got = &subscriber->got;
	size_t i;

	assert_int_equal(got->n, last - first + 1);
	for (i = 0; i < got->n; i++)
		assert_int_equal(got->values[i], first + (intptr_t)i);
}

/* --- A scene -------------------------------------------------------------- */

struct hub_scene scene;

int scene_set_up(void **state)
{
	n_live = 0;
	scene.sim = sim_new(1);
	scene.executor = weir_sim_executor(scene.sim);
	return 0;
}

int scene_tear_down(void **state)
{
	assert_int_equal(weir_hub_free(scene.hub), 0);
	scene.hub = NULL;
	sim_free(scene.sim);
	assert_int_equal(n_live, 0);
	return 0;
}

void scene_settle(void)
{
	assert_true(weir_sim_run_until(scene.sim,
				       weir_executor_now(scene.executor),
				       100000) < 100000);
}

void scene_hub(const struct weir_hub_options *options)
{
	assert_int_equal(
		weir_hub_new(&scene.hub, &counted_items, options, NULL), 0);
}

void scene_produce(struct hub_producer *which)
{
	hub_producer_start(which, scene.hub, scene.executor, &counted_items);
	scene_settle();
}

void scene_offer(struct hub_producer *which, intptr_t from, intptr_t to)
{
	hub_producer_offer(which, from, to);
	scene_settle();
}

void scene_subscribe(struct hub_subscriber *which, int64_t permits)
{
	hub_subscriber_start(which, scene.hub, scene.executor, permits);
	scene_settle();
}

void scene_allow(struct hub_subscriber *which, int64_t permits)
{
	assert_int_equal(weir_semaphore_release(&which->permits, permits), 0);
	scene_settle();
}

void scene_leave(struct hub_subscriber *which)
{
	weir_flow_run_stop(which->run.run, NULL);
	scene_settle();
	assert_int_equal(hub_subscriber_fini(which), -ECANCELED);
}

void scene_end(struct hub_producer *which)
{
	(void)weir_flow_queue_end(which->queue, NULL);
	scene_settle();
	assert_int_equal(hub_producer_fini(which), 0);
}

void scene_ended(struct hub_subscriber *which, int code)
{
	scene_settle();
	assert_true(hub_run_is_over(&which->run));
	assert_int_equal(hub_subscriber_fini(which), code);
}
