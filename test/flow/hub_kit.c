/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/hub_kit.h"

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
