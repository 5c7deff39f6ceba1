/* SPDX-License-Identifier: BSD-2-Clause */
/* A source that is made again when it has failed, after a while. */
#include "flow/kit.h"
#include "flow/memory_kit.h"
#include "kit/world.h"

#define MS UINT64_C(1000000)
#define TIMES_MAX 64

/* A made flow puts out `items` numbers and then fails, or ends. */
struct restart_world {
	struct world base;
	intptr_t items;
	intptr_t fails_till; /* so many fail, the others end; negative: all */
	intptr_t n_made;
	uint64_t times_ns[TIMES_MAX];
};

static int fails_behind(void **item, void *context)
{
	struct restart_world *world = context;

	return (intptr_t)*item > world->items ? -EDOM : 0;
}

static struct weir_flow *make(void *context)
{
	struct restart_world *world = context;
	struct weir_executor *executor = world->base.executor;
	bool fails = world->fails_till < 0 || world->n_made < world->fails_till;

	if (world->n_made < TIMES_MAX)
		world->times_ns[world->n_made] = weir_executor_now(executor);
	world->n_made++;
	return weir_flow_map(weir_flow_range(1, world->items + fails),
			     fails_behind, world);
}

static struct weir_flow *make_none(void *context)
{
	weir_flow_free(make(context));
	return NULL;
}

static int run_to_end(struct restart_world *world, struct weir_flow *flow,
		      struct got *got)
{
	struct weir_error *error;
	struct weir_flow_run *run;
	int rc;

	flow = into(flow, got);
	got->n = 0;
	world_init(&world->base, 1, 0);
	assert_int_equal(
		weir_flow_start(flow, world->base.executor, NULL, &run), 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	rc = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	world_fini(&world->base);
	return rc;
}

static struct got got;

static const struct weir_backoff doubling = {
	.min_ns = 10 * MS,
	.max_ns = 50 * MS,
};

static void assert_waits(const struct restart_world *world,
			 const uint64_t *waits_ms, intptr_t n)
{
	intptr_t i;

	assert_int_equal(world->n_made, n + 1);
	for (i = 0; i < n; i++)
		assert_int_equal(world->times_ns[i + 1] - world->times_ns[i],
				 waits_ms[i] * MS);
}

static void a_failed_flow_begins_again_and_waits_longer(void **state)
{
	static const uint64_t waits_ms[] = {10, 20, 40, 50, 50};
	struct weir_flow_restart_options options = {.backoff = &doubling};
	struct restart_world world = {.items = 1, .fails_till = 5};

	assert_int_equal(run_to_end(&world,
				    weir_flow_restart(make, &world, &options),
				    &got),
			 0);
	assert_waits(&world, waits_ms, 5);
	assert_got(&got, (const intptr_t[]){1, 1, 1, 1, 1, 1}, 6, 0);
}

static void the_wait_has_a_random_part(void **state)
{
	struct weir_backoff backoff = {
		.min_ns = 100 * MS,
		.max_ns = 100 * MS,
		.random_factor = 0.5,
	};
	struct weir_flow_restart_options options = {.backoff = &backoff};
	struct restart_world world = {.items = 1, .fails_till = 20};
	uint64_t wait_ns, differ = 0;
	intptr_t i;

	assert_int_equal(run_to_end(&world,
				    weir_flow_restart(make, &world, &options),
				    &got),
			 0);
	for (i = 0; i < 20; i++) {
		wait_ns = world.times_ns[i + 1] - world.times_ns[i];
		assert_in_range(wait_ns, 100 * MS, 150 * MS);
		differ += wait_ns != world.times_ns[1] - world.times_ns[0];
	}
	assert_true(differ > 15);
}

static void at_most_so_many_within_a_time(void **state)
{
	struct weir_limit limit = {.max = 3, .within_ns = WEIR_FOREVER};
	struct weir_flow_restart_options options = {
		.backoff = &doubling,
		.limit = &limit,
	};
	struct restart_world world = {.items = 1, .fails_till = -1};

	assert_int_equal(run_to_end(&world,
				    weir_flow_restart(make, &world, &options),
				    &got),
			 -EDOM);
	assert_int_equal(world.n_made, 4);
	limit.max = 0;
	world.n_made = 0;
	assert_int_equal(run_to_end(&world,
				    weir_flow_restart(make, &world, &options),
				    &got),
			 -EDOM);
	assert_int_equal(world.n_made, 1);
}

static void only_the_window_counts(void **state)
{
	/* of restarts every 50 ms three fit into 100 ms */
	struct weir_backoff backoff = {.min_ns = 50 * MS, .max_ns = 50 * MS};
	struct weir_limit limit = {.max = 3, .within_ns = 100 * MS};
	struct weir_flow_restart_options options = {
		.backoff = &backoff,
		.limit = &limit,
	};
	struct restart_world world = {.items = 1, .fails_till = 30};

	assert_int_equal(run_to_end(&world,
				    weir_flow_restart(make, &world, &options),
				    &got),
			 0);
	world.n_made = 0;
	limit.max = 2;
	assert_int_equal(run_to_end(&world,
				    weir_flow_restart(make, &world, &options),
				    &got),
			 -EDOM);
}

static bool not_edom(struct weir_error *error, void *context)
{
	return error->code != -EDOM;
}

static void an_error_that_is_not_meant_stands(void **state)
{
	struct weir_flow_restart_options options = {.restart_on = not_edom};
	struct restart_world world = {.items = 2, .fails_till = -1};

	got.code = run_to_end(&world, weir_flow_restart(make, &world, &options),
			      &got);
	assert_got(&got, (const intptr_t[]){1, 2}, 2, -EDOM);
}

static void one_that_ends_begins_again_if_that_is_wanted(void **state)
{
	struct weir_limit limit = {.max = 2, .within_ns = WEIR_FOREVER};
	struct weir_flow_restart_options options = {
		.limit = &limit,
		.when_ended = true,
	};
	struct restart_world world = {.items = 1};

	got.code = run_to_end(&world, weir_flow_restart(make, &world, &options),
			      &got);
	assert_got(&got, (const intptr_t[]){1, 1, 1}, 3, 0);
}

static void a_flow_that_cannot_be_made_counts_as_failed(void **state)
{
	struct weir_limit limit = {.max = 3, .within_ns = WEIR_FOREVER};
	struct weir_flow_restart_options options = {
		.backoff = &doubling,
		.limit = &limit,
	};
	static const uint64_t waits_ms[] = {10, 20, 40};
	struct restart_world world = {.items = 1, .fails_till = -1};

	assert_int_equal(
		run_to_end(&world,
			   weir_flow_restart(make_none, &world, &options),
			   &got),
		-EINVAL);
	assert_waits(&world, waits_ms, 3);
}

static struct weir_flow *of_bytes(struct weir_flow *flow)
{
	return weir_flow_lines(flow, 16);
}

static struct weir_flow *with_an_actor(struct weir_flow *flow)
{
	return weir_flow_buffer(flow, 4, WEIR_OVERFLOW_BACK_PRESSURE);
}

static struct weir_flow *too_deep(struct weir_flow *flow)
{
	uint32_t n;

	/* as deep as may be, upon a range and a map */
	for (n = 2; n < WEIR_FLOW_DEPTH_MAX; n++)
		flow = weir_flow_take(flow, 9);
	return flow;
}

static struct weir_flow *of_other_items(struct weir_flow *flow)
{
	return weir_flow_items(flow, weir_flow_bytes_items());
}

static struct weir_flow *(*misfit)(struct weir_flow *flow);

static struct weir_flow *make_misfit(void *context)
{
	return misfit(make(context));
}

static void one_that_does_not_fit_is_not_made_again(void **state)
{
	static const struct {
		struct weir_flow *(*misfit)(struct weir_flow *flow);
		int rc;
	} rows[] = {
		{of_bytes, -EINVAL},
		{with_an_actor, -ENOTSUP},
		{too_deep, -E2BIG},
		{of_other_items, -EINVAL},
	};
	struct restart_world world = {.items = 1};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		misfit = rows[i].misfit;
		world.n_made = 0;
		assert_int_equal(
			run_to_end(&world,
				   weir_flow_restart(make_misfit, &world, NULL),
				   &got),
			rows[i].rc);
		assert_int_equal(world.n_made, 1);
	}
}

/* --- While it waits ------------------------------------------------------- */

static void nothing_runs_while_it_waits_and_a_cancel_ends_that(void **state)
{
	struct weir_flow_restart_options options = {.backoff = &doubling};
	struct restart_world world = {.items = 1, .fails_till = -1};
	struct weir_flow *flow;
	struct weir_flow_run *run;

	flow = into(weir_flow_restart(make, &world, &options), &got);
	got.n = 0;
	world_init(&world.base, 1, 0);
	assert_int_equal(weir_flow_start(flow, world.base.executor, NULL, &run),
			 0);
	assert_true(weir_sim_run_until(world.base.sim, 5 * MS, 1000) < 100);
	assert_int_equal(world.n_made, 1);
	assert_int_equal(weir_sim_run_until(world.base.sim, 9 * MS, 1000), 0);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(world.base.sim);
	assert_true(weir_completion_done(weir_flow_run_over(run)));
	assert_int_equal(world.n_made, 1);
	/* nor is the timer waited for */
	assert_int_equal(world_now(&world.base), 9 * MS);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	world_fini(&world.base);
}

static void a_drain_ends_it_well(void **state)
{
	struct weir_flow_restart_options options = {.backoff = &doubling};
	struct restart_world world = {.items = 1, .fails_till = -1};
	struct weir_error *error;
	struct weir_flow *flow;
	struct weir_flow_run *run;

	flow = into(weir_flow_restart(make, &world, &options), &got);
	got.n = 0;
	world_init(&world.base, 1, 0);
	assert_int_equal(weir_flow_start(flow, world.base.executor, NULL, &run),
			 0);
	(void)weir_sim_run_until(world.base.sim, 5 * MS, 1000);
	weir_flow_run_end(run);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	assert_null(error);
	assert_int_equal(world.n_made, 1);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	world_fini(&world.base);
}

/* Items come for so long, and then it fails. */
static uint64_t lasts_ns;

static int passes_time(void **item, void *context)
{
	struct restart_world *world = context;

	if (world->n_made == 3)
		lasts_ns = world_now(&world->base);
	return fails_behind(item, context);
}

/* The third one lasts: it begins a flow that waits for longer than 10 ms. */
static struct weir_flow *make_lasting(void *context)
{
	struct restart_world *world = context;
	static struct restart_world inner;
	static const struct weir_backoff quiet = {
		.min_ns = 15 * MS,
		.max_ns = 15 * MS,
	};
	static const struct weir_limit once = {
		.max = 1,
		.within_ns = WEIR_FOREVER,
	};
	struct weir_flow_restart_options options = {
		.backoff = &quiet,
		.limit = &once,
	};
	struct weir_flow *flow = make(context);

	if (world->n_made != 3)
		return flow;
	weir_flow_free(flow);
	inner = (struct restart_world){
		.base.executor = world->base.executor,
		.items = 1,
		.fails_till = -1,
	};
	return weir_flow_map(weir_flow_restart(make, &inner, &options),
			     passes_time, world);
}

static void the_count_begins_anew_after_a_quiet_time(void **state)
{
	static const uint64_t waits_ms[] = {10, 20, 15 + 10, 20, 40};
	struct weir_flow_restart_options options = {.backoff = &doubling};
	struct restart_world world = {.items = 1, .fails_till = 5};

	assert_int_equal(
		run_to_end(&world,
			   weir_flow_restart(make_lasting, &world, &options),
			   &got),
		0);
	assert_waits(&world, waits_ms, 5);
	assert_int_equal(lasts_ns, (10 + 20 + 15) * MS);
}

/* --- The rest ------------------------------------------------------------- */

static struct weir_flow *make_counted(void *context)
{
	return counted(make(context));
}

static void without_memory_nothing_is_lost(void **state)
{
	struct weir_limit limit = {.max = 6, .within_ns = WEIR_FOREVER};
	struct weir_flow_restart_options options = {.limit = &limit};
	struct restart_world world = {.items = 1, .fails_till = -1};
	struct weir_flow *flow;

	/* of the clock alone */
	world_init(&world.base, 1, 0);
	got.counted = true;
	flow = weir_flow_restart(make_counted, &world, &options);
	flow = into(weir_flow_items(flow, &counted_items), &got);
	(void)assert_short_of_memory(flow, &got, -EDOM);
	weir_flow_free(flow);
	got.counted = false;
	world_fini(&world.base);
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
	struct weir_flow *flow = weir_flow_restart(NULL, NULL, NULL);
	size_t i;

	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		flow = weir_flow_restart(make, NULL, &options[i]);
		assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
		weir_flow_free(flow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_flow_begins_again_and_waits_longer),
		cmocka_unit_test(the_wait_has_a_random_part),
		cmocka_unit_test(at_most_so_many_within_a_time),
		cmocka_unit_test(only_the_window_counts),
		cmocka_unit_test(an_error_that_is_not_meant_stands),
		cmocka_unit_test(one_that_ends_begins_again_if_that_is_wanted),
		cmocka_unit_test(a_flow_that_cannot_be_made_counts_as_failed),
		cmocka_unit_test(one_that_does_not_fit_is_not_made_again),
		cmocka_unit_test(
			nothing_runs_while_it_waits_and_a_cancel_ends_that),
		cmocka_unit_test(a_drain_ends_it_well),
		cmocka_unit_test(the_count_begins_anew_after_a_quiet_time),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
