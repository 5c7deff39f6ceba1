/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints a snapshot with something of everything: "json" or "dot". */
#include "inspect/kit.h"

#include "actor/kit.h"

static void print(const struct weir_snapshot *snapshot, bool json)
{
	static char text[65536];
	size_t n = json ? weir_snapshot_json(snapshot, text, sizeof(text))
			: weir_snapshot_dot(snapshot, text, sizeof(text));

	assert_in_range(n, 1, sizeof(text) - 1);
	(void)fputs(text, stdout);
}

int main(int argc, char **argv)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	static struct node source, map, sink, taker;
	static struct weir_semaphore semaphore;
	static struct weir_completion completion;
	static struct weir_completion_port done;
	static struct weir_channel *channel;
	static struct weir_channel_out putter;
	static struct weir_reactive_out publisher;
	static struct weir_reactive_in subscriber;
	static struct outsider outsider;
	struct weir_snapshot *snapshot;
	struct weir_flow_run *run;
	struct weir_flow *flow =
		weir_flow_async(weir_flow_range(1, 9), 4, NULL);

	flow = weir_flow_ignore(weir_flow_delay(flow, 1000, 4));
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
	node_init(&source, executor, "a \"source\" \\ \t\xc3\xa4", 0, 1);
	node_init(&map, executor, "map", 1, 1);
	node_init(&sink, executor, "sink", 2, 0);
	node_init(&taker, executor, "taker", 1, 0);
	node_waits(&sink);
	assert_int_equal(weir_semaphore_init(&semaphore, 1), 0);
	assert_int_equal(weir_completion_init(&completion), 0);
	assert_int_equal(weir_channel_new(&channel, 2, NULL, NULL), 0);
	assert_int_equal(weir_semaphore_port_init(&taker.permit, &taker.actor,
						  &semaphore),
			 0);
	assert_int_equal(
		weir_completion_port_init(&done, &taker.actor, &completion), 0);
	assert_int_equal(weir_channel_out_init(&putter, &taker.actor, channel),
			 0);
	outsider_init(&outsider);
	node_link(&source, 0, &map, 0);
	assert_int_equal(weir_reactive_out_init(&publisher, &map.outs[0], NULL),
			 0);
	assert_int_equal(weir_publisher_subscribe(&publisher.publisher,
						  &outsider.subscriber),
			 0);
	assert_int_equal(weir_reactive_in_init(&subscriber, &sink.ins[1], NULL),
			 0);
	node_start(&source);
	node_start(&map);
	node_start(&sink);
	node_start(&taker);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	outsider_request(&outsider, INT64_MAX);
	weir_actor_suspend(&source.actor);
	snapshot = taken(executor);
	print(snapshot, argc > 1 && strcmp(argv[1], "json") == 0);
	weir_snapshot_free(snapshot);
	return 0;
}
