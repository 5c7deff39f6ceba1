/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators and sinks that are made again when they have failed. */
#include "flow/memory.h"
#include "flow/world.h"

static const struct weir_backoff doubling = {
	.min_ns = 10 * MS,
	.max_ns = 40 * MS,
};
static const struct weir_flow_restart_options after_backoff = {
	.backoff = &doubling,
};

/* What is composed upon upstream; the context of all functions here. */
struct made {
	struct weir_flow *(*compose)(struct weir_flow *up, struct made *made);
	bool counted;
	intptr_t fails_on; /* this value, and each multiple */
	intptr_t n;	   /* so often it was made */
};

static intptr_t value_of(const struct made *made, void *item)
{
	return made->counted ? ((struct item *)item)->value : (intptr_t)item;
}

static bool fails(const struct made *made, void *item)
{
	return made->fails_on && value_of(made, item) % made->fails_on == 0;
}

static int map_or_fail(void **item, void *context)
{
	return fails(context, *item) ? -EDOM : 0;
}

static struct weir_flow *map(struct weir_flow *up, struct made *made)
{
	return weir_flow_map(up, map_or_fail, made);
}

static struct weir_flow *make(struct weir_flow *up, void *context)
{
	struct made *made = context;

	made->n++;
	return made->compose(up, made);
}

static struct weir_flow *around(struct weir_flow *up, struct made *made,
				const struct weir_flow_restart_options *options)
{
	if (!made->compose)
		made->compose = map;
	return weir_flow_restart_around(up, make, made, options);
}

/* --- What comes out ------------------------------------------------------------ */

static void what_failed_is_left_out_and_the_next_item_goes_on(void **state)
{
	struct made made = {.fails_on = 3}, counts = {.fails_on = 3};

	counts.counted = true;
	ASSERT_FLOW(around(weir_flow_range(1, 9), &made, NULL), 0, 1, 2, 4, 5,
		    7, 8);
	assert_flow(around(counted(weir_flow_range(1, 9)), &counts, NULL), true,
		    (const intptr_t[]){1, 2, 4, 5, 7, 8}, 6, 0);
	assert_flow(around(counted(weir_flow_range(1, 9)), &counts,
			   &after_backoff),
		    true, (const intptr_t[]){1, 2, 4, 5, 7, 8}, 6, 0);
}

static int add_index(void **item, uint64_t index, void *context)
{
	if (fails(context, *item))
		return -EDOM;
	*item = (void *)((intptr_t)*item + 100 * (intptr_t)index);
	return 0;
}

static struct weir_flow *index_them(struct weir_flow *up, struct made *made)
{
	return weir_flow_index(up, add_index, made);
}

static void each_begins_with_fresh_state(void **state)
{
	struct made made = {.compose = index_them, .fails_on = 3};

	ASSERT_FLOW(around(weir_flow_range(1, 7), &made, NULL), 0, 1, 102, 4,
		    105, 7);
}

static struct weir_flow *two(struct weir_flow *up, struct made *made)
{
	return weir_flow_take(index_them(up, made), 2);
}

static void one_that_ends_early_is_the_end_unless_that_is_not_wanted(
	void **state)
{
	struct weir_flow_restart_options options = {.when_ended = true};
	struct made made = {.compose = two};

	ASSERT_FLOW(around(weir_flow_range(1, 7), &made, NULL), 0, 1, 102);
	ASSERT_FLOW(around(weir_flow_range(1, 7), &made, &options), 0, 1, 102,
		    3, 104, 5, 106, 7);
	/* the fourth of these is told that there is nothing left */
	made.n = 0;
	ASSERT_FLOW(weir_flow_take(
			    around(weir_flow_range(1, 6), &made, &options), 7),
		    0, 1, 102, 3, 104, 5, 106);
	assert_int_equal(made.n, 4 * 20);
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_RESUME;
}

static void what_is_supervised_is_not_made_again(void **state)
{
	struct made made = {.compose = index_them, .fails_on = 3};
	struct weir_flow *flow = around(weir_flow_range(1, 5), &made, NULL);

	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0, 1, 102, 304,
		    405);
	assert_int_equal(made.n, 20);
}

/* --- What is final --------------------------------------------------------------- */

static intptr_t the_4 = 4;

static int fails_above(void **item, void *context)
{
	return (intptr_t)*item == *(intptr_t *)context ? -EPROTO : 0;
}

static int put_99(struct weir_error *error, void **item, void *context)
{
	assert_int_equal(error->code, -EPROTO);
	*item = (void *)99;
	return 1;
}

static struct weir_flow *recover(struct weir_flow *up, struct made *made)
{
	return weir_flow_recover(up, put_99, NULL);
}

static void an_error_from_upstream_goes_through_it_and_is_final(void **state)
{
	struct weir_flow_restart_options options = {.when_ended = true};
	struct made made = {.n = 0};

	ASSERT_FLOW(around(weir_flow_map(weir_flow_range(1, 9), fails_above,
					 &the_4),
			   &made, &options),
		    -EPROTO, 1, 2, 3);
	assert_int_equal(made.n, 20);
	made.compose = recover;
	ASSERT_FLOW(around(weir_flow_map(weir_flow_range(1, 9), fails_above,
					 &the_4),
			   &made, &options),
		    0, 1, 2, 3, 99);
	assert_int_equal(made.n, 40);
}

static int step(void **state, void **item, void *context)
{
	return 1;
}

static int no_flush(void **state, void **item, void *context)
{
	return -EDOM;
}

static struct weir_flow *fail_at_end(struct weir_flow *up, struct made *made)
{
	static const struct weir_flow_state functions = {
		.step = step,
		.flush = no_flush,
	};

	return weir_flow_stateful_map(up, &functions, NULL);
}

static void a_failure_behind_the_end_of_upstream_is_final(void **state)
{
	struct made made = {.compose = fail_at_end};

	ASSERT_FLOW(around(weir_flow_range(1, 3), &made, NULL), -EDOM, 1, 2, 3);
	assert_int_equal(made.n, 20);
}

static bool not_edom(struct weir_error *error, void *context)
{
	return error->code != -EDOM;
}

static void an_error_that_is_not_meant_stands(void **state)
{
	struct weir_flow_restart_options options = {.restart_on = not_edom};
	struct made made = {.fails_on = 3};

	ASSERT_FLOW(around(weir_flow_range(1, 9), &made, &options), -EDOM, 1,
		    2);
}

static void at_most_so_many_within_a_time(void **state)
{
	struct weir_limit limit = {.max = 2, .within_ns = 100 * MS};
	struct weir_flow_restart_options options = {
		.backoff = &doubling,
		.limit = &limit,
	};
	struct made made = {.fails_on = 3};

	ASSERT_FLOW(around(weir_flow_range(1, 12), &made, &options), -EDOM, 1,
		    2, 4, 5, 7, 8);
	/* the third is 30 ms behind the first */
	limit.within_ns = 25 * MS;
	ASSERT_FLOW(around(weir_flow_range(1, 12), &made, &options), 0, 1, 2, 4,
		    5, 7, 8, 10, 11);
}

/* --- What cannot be made ----------------------------------------------------------- */

static struct weir_flow *none(struct weir_flow *up, struct made *made)
{
	weir_flow_free(up);
	return NULL;
}

static struct weir_flow *every_other(struct weir_flow *up, struct made *made)
{
	return made->n % 2 ? none(up, made) : map(up, made);
}

static struct weir_flow *others(struct weir_flow *up, struct made *made)
{
	weir_flow_free(up);
	return weir_flow_range(70, 71);
}

static void one_that_cannot_be_made_counts_as_failed(void **state)
{
	struct weir_limit limit = {.max = 3, .within_ns = WEIR_FOREVER};
	struct weir_flow_restart_options options = {.limit = &limit};
	struct made made = {.compose = none};

	assert_flow(around(weir_flow_range(1, 9), &made, &options), false,
		    (const intptr_t[]){0}, 0, -EINVAL);
	assert_int_equal(made.n, 4 * 20);
	/* no item is lost by that */
	made = (struct made){.compose = every_other, .fails_on = 3};
	ASSERT_FLOW(around(weir_flow_range(1, 6), &made, NULL), 0, 1, 2, 4, 5);
}

static void upstream_need_not_be_used(void **state)
{
	struct made made = {.compose = others};

	ASSERT_FLOW(around(weir_flow_range(1, 9), &made, NULL), 0, 70, 71);
	assert_flow(weir_flow_items(around(counted(weir_flow_range(1, 9)),
					   &made, NULL),
				    NULL),
		    false, (const intptr_t[]){70, 71}, 2, 0);
}

/* It belongs to the actor around it. */
static struct weir_flow *run_it(struct weir_flow *up, struct made *made)
{
	struct weir_flow *flow = weir_flow_map(up, map_or_fail, made);
	struct weir_flow_run *run;
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(weir_flow_start(flow, weir_sim_executor(sim), NULL,
					 &run),
			 -EINVAL);
	assert_int_equal(weir_sim_free(sim), 0);
	return flow;
}

static void upstream_cannot_be_run_by_itself(void **state)
{
	struct made made = {.compose = run_it};

	ASSERT_FLOW(around(weir_flow_range(1, 3), &made, NULL), 0, 1, 2, 3);
}

/* --- Sinks ---------------------------------------------------------------------- */

struct taken {
	struct made made; /* first */
	struct got got;
};

static int take_or_fail(void *item, void *context)
{
	struct taken *taken = context;

	return fails(&taken->made, item) ? -EDOM : got_one(item, &taken->got);
}

static int take_n_or_fail(void *const *items, size_t n, size_t *done,
			  void *context)
{
	int rc;

	for (*done = 0; *done < n; ++*done) {
		rc = take_or_fail(items[*done], context);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static struct weir_flow *each(struct weir_flow *up, struct made *made)
{
	return weir_flow_for_each(up, take_or_fail, made);
}

static struct weir_flow *each_n(struct weir_flow *up, struct made *made)
{
	return weir_flow_for_each_n(up, take_n_or_fail, made);
}

static void a_sink_takes_all_but_what_it_fails_on(void **state)
{
	static const size_t unfused[] = {0, 1, 16};
	static struct taken taken;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < 6; i++) {
		memset(&taken, 0, sizeof(taken));
		taken.got.counted = taken.made.counted = true;
		taken.made.fails_on = 3;
		taken.made.compose = i % 2 ? each : each_n;
		flow = around(counted(weir_flow_range(1, 10)), &taken.made,
			      &after_backoff);
		assert_int_equal(run_on_sim(flow, i, unfused[i / 2]), 0);
		assert_got(&taken.got, (const intptr_t[]){1, 2, 4, 5, 7, 8, 10},
			   7, 0);
		assert_int_equal(taken.made.n, 4);
		assert_int_equal(n_live, 0);
		weir_flow_free(flow);
	}
}

static struct weir_flow *count(struct weir_flow *up, struct made *made)
{
	return weir_flow_count(map(up, made));
}

static void a_result_is_that_of_the_last_one_made(void **state)
{
	struct made made = {.compose = count, .fails_on = 5};

	ASSERT_FLOW(around(weir_flow_range(1, 13), &made, &after_backoff), 0,
		    3);
	ASSERT_FLOW(around(weir_flow_range(1, 10), &made, NULL), 0, 0);
}

/* --- Time ------------------------------------------------------------------------ */

static struct world world;

static void world_around(struct made *made,
			 const struct weir_flow_restart_options *options,
			 size_t open)
{
	made->counted = true;
	world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = around(world.flow, made, options);
	world_start(&world, open);
}

static void it_waits_longer_each_time(void **state)
{
	static const uint64_t at_ms[] = {0, 10, 30, 70, 110};
	struct made made = {.fails_on = 2};
	size_t i;

	world_around(&made, &after_backoff, OPEN);
	offer(&world, 1, 9);
	until(&world, 200 * MS);
	ASSERT_OUT(&world, 1, 3, 5, 7, 9);
	for (i = 0; i < 5; i++)
		assert_int_equal(world.at_ns[i], at_ms[i] * MS);
	assert_int_equal(made.n, 5);
	world_end(&world, 0);
}

/* Takes up to three, and puts each out 5 ms later. */
static struct weir_flow *late(struct weir_flow *up, struct made *made)
{
	return map(weir_flow_delay(up, 5 * MS, 3), made);
}

static void what_it_held_back_is_lost_with_it(void **state)
{
	struct made made = {.compose = late, .fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	offer(&world, 1, 3);
	until(&world, 4 * MS);
	offer(&world, 5, 7);
	until(&world, 100 * MS);
	/* 2 fails with 3 behind it, and 6 with 7 */
	ASSERT_OUT(&world, 1, 5);
	assert_int_equal(world.at_ns[1], (5 + 10 + 5) * MS);
	world_end(&world, 0);
}

static void nothing_runs_while_it_waits_and_a_cancel_ends_that(void **state)
{
	struct made made = {.fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	offer(&world, 1, 5);
	until(&world, 5 * MS);
	assert_int_equal(made.n, 1);
	assert_int_equal(weir_sim_run_until(world.sim, 9 * MS, 1000), 0);
	weir_flow_run_cancel(world.run, NULL);
	until(&world, 100 * MS);
	assert_int_equal(made.n, 1);
	ASSERT_OUT(&world, 1);
	world_end(&world, -ECANCELED);
}

static void upstream_may_end_while_it_waits(void **state)
{
	struct made made = {.fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	offer(&world, 1, 2);
	until(&world, 5 * MS);
	world_end(&world, 0);
	assert_int_equal(made.n, 1);
}

static void upstream_may_fail_while_it_waits(void **state)
{
	struct made made = {.fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	offer(&world, 1, 2);
	until(&world, 5 * MS);
	assert_int_equal(
		weir_flow_queue_close(world.queue, weir_error_of(-EPROTO)), 0);
	until(&world, 6 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	world_end(&world, -EPROTO);
	assert_int_equal(made.n, 1);
}

static void a_drain_lets_what_is_under_way_flow_through(void **state)
{
	struct made made = {.counted = true, .fails_on = 2};

	world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_async(world.flow, 8, NULL);
	world.flow = around(world.flow, &made, &after_backoff);
	world_start(&world, OPEN);
	offer(&world, 1, 5);
	until(&world, 5 * MS);
	weir_flow_run_drain(world.run);
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 1, 3, 5);
	assert_int_equal(world.at_ns[2], 30 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	world_end(&world, 0);
}

static void a_drain_with_nothing_under_way_ends_the_wait(void **state)
{
	struct made made = {.fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	offer(&world, 1, 2);
	until(&world, 5 * MS);
	weir_flow_run_drain(world.run);
	until(&world, 6 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	assert_int_equal(made.n, 1);
	world_end(&world, 0);
}

static void it_takes_no_more_than_is_asked_for(void **state)
{
	struct made made = {.fails_on = 2};

	world_around(&made, NULL, 0);
	offer(&world, 1, 1023);
	until(&world, 0);
	assert_int_equal(weir_flow_queue_offer(world.queue, item_new(1024)), 0);
	let_pass(&world, 1);
	ASSERT_OUT(&world, 1);
	/* one was taken, so there is room for one */
	assert_int_equal(weir_flow_queue_offer(world.queue, item_new(1)), 0);
	weir_flow_run_cancel(world.run, NULL);
	world_end(&world, -ECANCELED);
}

/* --- The rest --------------------------------------------------------------------- */

static void a_cancel_drops_all_that_is_held(void **state)
{
	struct weir_flow_run_options options = {0};
	struct made made = {.counted = true, .fails_on = 3, .compose = late};
	struct weir_flow *flow;
	struct weir_flow_run *run;
	uint64_t seed, i;

	flow = around(counted(weir_flow_range(1, INT64_MAX / 100)), &made,
		      &after_backoff);
	for (seed = 1; seed <= 200; seed++) {
		options.unfused = (size_t)1 << seed % 3;
		assert_int_equal(weir_sim_new(&world.sim, seed, NULL), 0);
		assert_int_equal(weir_flow_start(flow,
						 weir_sim_executor(world.sim),
						 &options, &run),
				 0);
		for (i = weir_sim_random(world.sim, 50); i > 0; i--)
			weir_sim_step(world.sim);
		weir_flow_run_cancel(run, NULL);
		weir_sim_run(world.sim);
		weir_flow_run_free(run);
		assert_int_equal(weir_sim_free(world.sim), 0);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

static bool not_enomem(struct weir_error *error, void *context)
{
	return error->code != -ENOMEM;
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_limit limit = {.max = 6, .within_ns = WEIR_FOREVER};
	struct weir_flow_restart_options options = {
		.backoff = &doubling,
		.limit = &limit,
		.restart_on = not_enomem,
	};
	struct made made = {.counted = true, .fails_on = 3};
	struct weir_flow *flow =
		around(counted(weir_flow_range(1, 9)), &made, &options);

	flow = into(flow, &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	struct weir_backoff bad_backoff = {.min_ns = 0};
	struct weir_limit bad_limit = {.max = WEIR_RESTARTS_MAX + 1};
	struct weir_flow_restart_options options[] = {
		{.backoff = &bad_backoff},
		{.limit = &bad_limit},
		{.reserved = {1}},
	};
	struct weir_flow *flows[] = {
		weir_flow_restart_around(NULL, make, NULL, NULL),
		weir_flow_restart_around(weir_flow_range(1, 2), NULL, NULL,
					 NULL),
		weir_flow_restart_around(weir_flow_range(1, 2), make, NULL,
					 &options[0]),
		weir_flow_restart_around(weir_flow_range(1, 2), make, NULL,
					 &options[1]),
		weir_flow_restart_around(weir_flow_range(1, 2), make, NULL,
					 &options[2]),
	};
	size_t i;

	for (i = 0; i < sizeof(flows) / sizeof(*flows); i++) {
		assert_int_equal(weir_flow_check(flows[i], NULL, NULL),
				 -EINVAL);
		weir_flow_free(flows[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_failed_is_left_out_and_the_next_item_goes_on),
		cmocka_unit_test(each_begins_with_fresh_state),
		cmocka_unit_test(
			one_that_ends_early_is_the_end_unless_that_is_not_wanted),
		cmocka_unit_test(what_is_supervised_is_not_made_again),
		cmocka_unit_test(
			an_error_from_upstream_goes_through_it_and_is_final),
		cmocka_unit_test(a_failure_behind_the_end_of_upstream_is_final),
		cmocka_unit_test(an_error_that_is_not_meant_stands),
		cmocka_unit_test(at_most_so_many_within_a_time),
		cmocka_unit_test(one_that_cannot_be_made_counts_as_failed),
		cmocka_unit_test(upstream_need_not_be_used),
		cmocka_unit_test(upstream_cannot_be_run_by_itself),
		cmocka_unit_test(a_sink_takes_all_but_what_it_fails_on),
		cmocka_unit_test(a_result_is_that_of_the_last_one_made),
		cmocka_unit_test(it_waits_longer_each_time),
		cmocka_unit_test(what_it_held_back_is_lost_with_it),
		cmocka_unit_test(
			nothing_runs_while_it_waits_and_a_cancel_ends_that),
		cmocka_unit_test(upstream_may_end_while_it_waits),
		cmocka_unit_test(upstream_may_fail_while_it_waits),
		cmocka_unit_test(a_drain_lets_what_is_under_way_flow_through),
		cmocka_unit_test(a_drain_with_nothing_under_way_ends_the_wait),
		cmocka_unit_test(it_takes_no_more_than_is_asked_for),
		cmocka_unit_test(a_cancel_drops_all_that_is_held),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
