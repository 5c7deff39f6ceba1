/* SPDX-License-Identifier: BSD-2-Clause */
/* Test 12: a sink in strict order whose connection is cut. */
#include "nats/kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MESSAGES 2000u
#define CUTS 20u

static int text_of_number(void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRIdPTR, (intptr_t)*item);
	int rc = weir_flow_bytes_new(&bytes, (size_t)n, NULL);

	if (rc < 0)
		return rc;
	memcpy(bytes->data, text, (size_t)n);
	*item = bytes;
	return 0;
}

struct goal {
	struct weir_nats *nats;
	uint64_t published;
};

static bool is_reached(void *context)
{
	struct weir_nats_stats stats;
	struct goal *goal = context;

	assert_int_equal(weir_nats_stats(goal->nats, &stats), 0);
	return stats.published >= goal->published;
}

static void expect_ascending(struct server *server)
{
	char text[24];
	natsMsg *msg;
	uint64_t i;

	assert_int_equal(server_count(server, "T"), MESSAGES);
	for (i = 1; i <= MESSAGES; i++) {
		assert_int_equal(js_GetMsg(&msg, server->js, "T", i, NULL,
					   NULL),
				 NATS_OK);
		memset(text, 0, sizeof(text));
		memcpy(text, natsMsg_GetData(msg),
		       (size_t)natsMsg_GetDataLength(msg));
		natsMsg_Destroy(msg);
		assert_int_equal(strtoull(text, NULL, 10), i);
	}
}

static void each_is_stored_once_in_order_across_cuts(void **state)
{
	const struct weir_nats_sink_options options = {.subject = "T"};
	struct weir_nats_stats stats;
	struct weir_flow_run *run;
	struct nats_world world;
	struct weir_flow *flow;
	struct goal goal;
	void *result;
	uint64_t i;

	nats_begin_behind(&world);
	server_stream(&world.server, "T");
	flow = weir_flow_map(weir_flow_range(1, MESSAGES), text_of_number,
			     NULL);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_into_nats(flow, world.nats, &options);
	run = nats_start(&world, flow);
	for (i = 0; i < CUTS; i++) {
		goal = (struct goal){world.nats, i * (MESSAGES / CUTS / 2)};
		await(is_reached, &goal);
		proxy_cut(&world.proxy);
	}
	assert_int_equal(nats_wait(run, &result), 0);
	weir_flow_free(flow);
	assert_int_equal((uintptr_t)result, MESSAGES);
	expect_ascending(&world.server);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_true(stats.reconnects > 0);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_stored_once_in_order_across_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
