/* SPDX-License-Identifier: BSD-2-Clause */
/* A source whose connection is cut, or loses what the server says. */
#include "nats/kit.h"

#include <string.h>

#define MESSAGES 2000u
#define WINDOW 64u
#define CUTS 20u

struct seen {
	uint8_t times[MESSAGES + 1];
	uint32_t n; /* different ones */
};

static int see(void **item, void *context)
{
	struct seen *seen = context;
	uint64_t number = number_of(*item);

	assert_in_range(number, 1, MESSAGES);
	if (seen->times[number]++ == 0)
		__atomic_fetch_add(&seen->n, 1, __ATOMIC_RELEASE);
	return 0;
}

struct goal {
	struct seen *seen;
	uint32_t n;
};

static bool is_reached(void *context)
{
	struct goal *goal = context;

	return __atomic_load_n(&goal->seen->n, __ATOMIC_ACQUIRE) >= goal->n;
}

static void await_seen(struct seen *seen, uint32_t n)
{
	struct goal goal = {seen, n};

	await(is_reached, &goal);
}

static struct weir_flow *seeing(struct nats_world *world, struct seen *seen,
				struct weir_nats_source_options options)
{
	struct weir_flow *flow = nats_source(world, options);

	flow = weir_flow_same_items(weir_flow_map(flow, see, seen));
	return weir_flow_ignore(weir_flow_nats_done(flow));
}

/* Test 3. */
static void across_cuts_as_many_come_as_were_asked_for(void **state)
{
	static struct seen seen;
	struct weir_nats_stats stats;
	struct weir_flow_run *run;
	struct nats_world world;
	struct weir_flow *flow;
	uint32_t i;

	memset(&seen, 0, sizeof(seen));
	nats_begin_behind(&world);
	server_stream(&world.server, "S");
	/* what a cut has lost comes again soon */
	server_consumer(&world.server, "S", (int64_t)SECOND / 2, -1);
	flow = seeing(&world, &seen,
		      (struct weir_nats_source_options){.window = WINDOW,
							.no_hold = true});
	run = nats_start(&world, flow);
	for (i = 0; i < CUTS; i++) {
		server_publish(&world.server, "S", i * (MESSAGES / CUTS) + 1,
			       (i + 1) * (MESSAGES / CUTS));
		await_seen(&seen, i * (MESSAGES / CUTS) + MESSAGES / CUTS / 2);
		proxy_cut(&world.proxy);
	}
	await_seen(&seen, MESSAGES);
	/* whose settling was lost comes again */
	await(nothing_unsettled, &world.server);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_true(stats.reconnects >= CUTS / 2);
	assert_int_equal(stats.asked,
			 stats.received + stats.expired + stats.lost);
	assert_int_equal(stats.received, stats.done);
	/* no more is asked for than the window, for each connection */
	assert_true(stats.lost <= (stats.reconnects + 1) * WINDOW);
	nats_end(&world);
}

struct asking {
	struct weir_nats *nats;
	uint64_t requests;
};

static bool has_asked(void *context)
{
	struct asking *asking = context;
	struct weir_nats_stats stats;

	assert_int_equal(weir_nats_stats(asking->nats, &stats), 0);
	return stats.requests >= asking->requests;
}

/* Test 8. */
static void a_lost_408_delays_nothing(void **state)
{
	static struct seen seen;
	struct weir_nats_stats stats;
	struct weir_flow_run *run;
	struct nats_world world;
	struct weir_flow *flow;
	struct asking asking;

	memset(&seen, 0, sizeof(seen));
	nats_begin_behind(&world);
	server_stream(&world.server, "S");
	server_consumer(&world.server, "S", 30 * (int64_t)SECOND, -1);
	proxy_eat(&world.proxy);
	flow = seeing(&world, &seen,
		      (struct weir_nats_source_options){.window = WINDOW,
							.expires_ns = SECOND});
	run = nats_start(&world, flow);
	asking = (struct asking){world.nats, 2};
	await(has_asked, &asking);
	assert_true(__atomic_load_n(&world.proxy.eaten, __ATOMIC_ACQUIRE) > 0);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_int_equal(stats.expired, 0);
	assert_int_equal(stats.lost, (stats.requests - 1) * WINDOW);
	server_publish(&world.server, "S", 1, 10);
	await_seen(&seen, 10);
	weir_flow_run_end(run);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(across_cuts_as_many_come_as_were_asked_for),
		cmocka_unit_test(a_lost_408_delays_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
