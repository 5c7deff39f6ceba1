/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Minimum and maximum of what is asked for: what upstream is asked for, and how
 * far it runs ahead.
 */
#include "flow/rate_limit_kit.h"

#include <weir/testkit.h>

/* A source that counts what it has made, and what was taken. */
struct counting {
	size_t max, made;
	const size_t *taken;
};

static int make_next(void **state, void **item, void *context)
{
	struct counting *counting = context;

	*item = (void *)(intptr_t)counting->made++;
	assert_true(counting->made <= *counting->taken + counting->max);
	return 1;
}

/* Behind each item, what was made is what must have been asked for. */
static void assert_asks(struct setting setting, uint64_t seed, size_t unfused)
{
	static struct flow_world world;
	struct counting counting = {setting.max, 0, &world.got.n};
	struct weir_flow *flow = weir_flow_unfold(NULL, make_next, &counting);
	struct consumer consumer;
	size_t left, i;

	flow = weir_flow_limit_rate(flow, setting.max, setting.min);
	start_at_gate(&world, flow, seed, unfused);
	assert_int_equal(counting.made, 0);
	consumer_init(&consumer, setting.max, setting.min);
	left = next_batch(&consumer);
	for (i = 0; i < 3 * setting.max; i++) {
		/* who comes back for more has taken the batch */
		if (left == 0) {
			ask_behind(&consumer);
			left = next_batch(&consumer);
		}
		take(&world, 1);
		left--;
		assert_int_equal(world.got.n, i + 1);
		assert_int_equal(counting.made, consumer.asked);
	}
	end_at_gate(&world);
}

static void upstream_makes_what_is_asked_for_and_no_more(void **state)
{
	size_t i;

	for (i = 0; i < n_settings; i++) {
		assert_asks(settings[i], i + 1, 0);
		assert_asks(settings[i], i + 1, 2);
	}
}

/* It is told of the boundary that is there, which has no say any more. */
static void a_boundary_right_above_is_not_cut_again(void **state)
{
	static struct flow_world world;
	struct counting counting = {20, 0, &world.got.n};
	struct weir_flow *flow = weir_flow_unfold(NULL, make_next, &counting);

	flow = weir_flow_limit_rate(weir_flow_async(flow, 4, NULL), 20, 10);
	start_at_gate(&world, flow, 1, 0);
	take(&world, 10);
	assert_int_equal(counting.made, 20);
	take(&world, 1);
	assert_int_equal(counting.made, 30);
	end_at_gate(&world);
}

static void send(struct weir_publisher_probe *probe, size_t n)
{
	while (n-- > 0)
		assert_int_equal(weir_publisher_probe_send(probe, item_new(1)),
				 0);
}

static void assert_requests(struct setting setting, size_t unfused)
{
	struct weir_flow_run_options options = {.unfused = unfused};
	struct weir_publisher_probe *probe;
	struct weir_test_env env;
	struct consumer consumer;
	struct weir_sim *sim;
	struct weir_flow *flow;
	struct weir_flow_run *run;
	static struct got got;
	size_t asked = 0, n = 0, i;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	env = weir_test_env_sim(sim);
	assert_int_equal(weir_publisher_probe_new(&probe, &env, &counted_items),
			 0);
	flow = weir_flow_from_publisher(weir_publisher_probe_base(probe), 3, 1);
	flow = weir_flow_limit_rate(flow, setting.max, setting.min);
	flow = weir_flow_items(flow, &counted_items);
	got.counted = true;
	got.n = 0;
	flow = into(flow, &got);
	assert_int_equal(weir_flow_start(flow, weir_sim_executor(sim), &options,
					 &run),
			 0);
	consumer_init(&consumer, setting.max, setting.min);
	for (i = 0; i < 12; i++) {
		assert_true(weir_publisher_probe_expect_request(
			probe, (int64_t)(consumer.asked - asked)));
		asked = consumer.asked;
		assert_int_equal(got.n, n);
		got.n = 0;
		n = next_batch(&consumer);
		send(probe, n - 1);
		assert_true(weir_publisher_probe_expect_request(probe, 0));
		send(probe, 1);
		ask_behind(&consumer);
	}
	assert_int_equal(weir_publisher_probe_complete(probe), 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
	assert_int_equal(weir_sim_free(sim), 0);
	assert_int_equal(n_live, 0);
}

static void a_publisher_gets_just_these_requests(void **state)
{
	size_t i;

	for (i = 0; i < n_settings; i++) {
		assert_requests(settings[i], 0);
		assert_requests(settings[i], 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(upstream_makes_what_is_asked_for_and_no_more),
		cmocka_unit_test(a_boundary_right_above_is_not_cut_again),
		cmocka_unit_test(a_publisher_gets_just_these_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
