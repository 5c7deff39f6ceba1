/* SPDX-License-Identifier: BSD-2-Clause */
/* Blueprints, runs, fusing and boundaries; with the plainest operators. */
#include "flow/kit.h"

#include <poll.h>
#include <unistd.h>

#include "base/costs.h"

static int add_ten(void **item, void *context)
{
	*item = (void *)((intptr_t)*item + 10);
	return 0;
}
WEIR_FLOW_MAP(add_ten)

static int is_even(void *item, void *context)
{
	return (intptr_t)item % 2 == 0;
}

static int item_is_even(void *item, void *context)
{
	return ((struct item *)item)->value % 2 == 0;
}

static int fails_on_3(void **item, void *context)
{
	return (intptr_t)*item == 3 ? -EDOM : 0;
}

static void a_range_goes_through_a_map_and_a_filter(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 6);

	flow = weir_flow_map(flow, add_ten, NULL);
	flow = weir_flow_filter(flow, is_even, NULL);
	ASSERT_FLOW(flow, 0, 12, 14, 16);
}

static void a_map_over_arrays_does_the_same(void **state)
{
	ASSERT_FLOW(weir_flow_map_n(weir_flow_range(1, 3), add_ten_n, NULL), 0,
		    11, 12, 13);
}

static void items_left_out_are_dropped(void **state)
{
	static const intptr_t expected[] = {2, 4};
	struct weir_flow *flow = counted(weir_flow_range(1, 5));

	flow = weir_flow_filter(flow, item_is_even, NULL);
	assert_flow(flow, true, expected, 2, 0);
}

static void an_error_comes_behind_the_items_before_it(void **state)
{
	ASSERT_FLOW(weir_flow_map(weir_flow_range(1, 5), fails_on_3, NULL),
		    -EDOM, 1, 2);
}

static void a_boundary_changes_nothing(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 1000);
	static intptr_t expected[1000];
	int i;

	for (i = 0; i < 1000; i++)
		expected[i] = i + 21;
	flow = weir_flow_async(weir_flow_map(flow, add_ten, NULL), 4, NULL);
	flow = weir_flow_async(weir_flow_map(flow, add_ten, NULL), 16, NULL);
	assert_flow(flow, false, expected, 1000, 0);
}

static void the_result_is_the_last_item(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 7);
	struct weir_sim *sim;
	void *result;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(weir_flow_run(flow, weir_sim_executor(sim), &result),
			 0);
	assert_int_equal((intptr_t)result, 7);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void a_flow_upon_nothing_fails_and_says_where(void **state)
{
	struct weir_flow *flow = weir_flow_map(NULL, add_ten, NULL);
	const char *origin, *message;

	flow = weir_flow_filter(flow, is_even, NULL);
	assert_int_equal(weir_flow_check(flow, &origin, &message), -EINVAL);
	assert_string_equal(origin, "map");
	assert_int_equal(run_on_sim(flow, 1, 0), -EINVAL);
	weir_flow_free(flow);
}

static void a_flow_that_is_anothers_stays_so(void **state)
{
	struct weir_flow *up = weir_flow_range(1, 3);
	struct weir_flow *flow = weir_flow_map(up, add_ten, NULL);
	struct weir_flow *failed = weir_flow_map(up, add_ten, NULL);

	assert_int_equal(weir_flow_check(failed, NULL, NULL), -EBUSY);
	weir_flow_free(failed);
	failed = weir_flow_supervise(up, NULL, NULL);
	assert_int_equal(weir_flow_check(failed, NULL, NULL), -EBUSY);
	weir_flow_free(failed);
	ASSERT_FLOW(flow, 0, 11, 12, 13);
}

/* Also one that stands several times where nothing comes of it. */
static void a_flow_that_is_given_several_times_goes_once(void **state)
{
	struct weir_flow *up = counted(weir_flow_range(1, 3));
	struct weir_flow *other = weir_flow_map(up, add_ten, NULL);
	struct weir_flow *own = counted(weir_flow_range(1, 3));
	struct weir_flow *flows[] = {own, own, up, NULL, up, own};
	struct weir_flow *failed = weir_flow_merge(flows, 6);

	assert_int_equal(weir_flow_check(failed, NULL, NULL), -EBUSY);
	own = counted(weir_flow_range(1, 3));
	flows[0] = own;
	flows[1] = failed;
	flows[2] = up;
	flows[4] = failed;
	flows[5] = own;
	assert_ptr_equal(weir_flow_merge(flows, 6), failed);
	weir_flow_free(failed);
	weir_flow_free(other);
}

static void a_run_that_is_cancelled_ends_so(void **state)
{
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct weir_error *error;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	int i;

	flow = weir_flow_async(flow, 16, NULL);
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, &run), 0);
	for (i = 0; i < 100; i++)
		weir_sim_step(sim);
	weir_flow_run_stop(run, NULL);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	assert_int_equal(error->code, -ECANCELED);
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
	assert_int_equal(n_live, 0);
}

static void a_flow_that_nothing_can_end_is_cancelled(void **state)
{
	struct weir_flow *flow = weir_flow_never();
	struct weir_sim *sim;
	void *result = flow;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(weir_flow_run(flow, weir_sim_executor(sim), &result),
			 -EDEADLK);
	assert_null(result);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* Called by who drives a loop or a simulator, or another thread. */
struct caller {
	struct weir_timer timer;
	struct weir_watch watch;
	struct weir_flow *flow;
	struct weir_executor *executor;
	void *result;
	int rc;
};

static void run_it(struct caller *caller)
{
	caller->rc =
		weir_flow_run(caller->flow, caller->executor, &caller->result);
}

static void run_at_fire(struct weir_timer *timer)
{
	run_it(weir_container_of(timer, struct caller, timer));
}

static void run_when_ready(struct weir_watch *watch, short events)
{
	run_it(weir_container_of(watch, struct caller, watch));
}

static struct caller caller_of(struct weir_executor *executor)
{
	return (struct caller){
		.timer = {.fire = run_at_fire},
		.watch = {.fire = run_when_ready},
		.flow = weir_flow_count(weir_flow_range(1, 9)),
		.executor = executor,
		.result = &executor,
		.rc = 1,
	};
}

/* Nothing was started, or the executor would know it. */
static void assert_nothing_runs(struct caller *caller)
{
	assert_int_equal(caller->rc, -EDEADLK);
	assert_null(caller->result);
	assert_int_equal(weir_executor_alive(caller->executor), 0);
	weir_flow_free(caller->flow);
}

static void a_timer_or_a_watch_cannot_run_a_flow(void **state)
{
	struct weir_executor *executor;
	struct weir_loop *loop;
	struct weir_sim *sim;
	struct caller caller;
	int fds[2];

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	executor = weir_loop_executor(loop);
	caller = caller_of(executor);
	assert_int_equal(weir_timer_arm(executor, &caller.timer, 0), 0);
	while (caller.rc == 1)
		assert_true(weir_loop_wait(loop, 1, WEIR_FOREVER) >= 0);
	assert_nothing_runs(&caller);

	caller = caller_of(executor);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "", 1), 1);
	caller.watch.fd = fds[0];
	caller.watch.events = POLLIN;
	assert_int_equal(executor->ops->watch_arm(executor, &caller.watch), 0);
	while (caller.rc == 1)
		assert_true(weir_loop_wait(loop, 1, WEIR_FOREVER) >= 0);
	assert_nothing_runs(&caller);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(weir_loop_free(loop), 0);

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	executor = weir_sim_executor(sim);
	caller = caller_of(executor);
	assert_int_equal(weir_timer_arm(executor, &caller.timer, 9), 0);
	weir_sim_run_until(sim, 10, UINT64_MAX);
	assert_nothing_runs(&caller);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* It looks at descriptors now and then, once in 16 slices. */
static void a_loop_whose_owner_waits_for_runs_makes_few_system_calls(
	void **state)
{
	struct weir__costs costs = {0};
	struct weir_flow *flow;
	struct weir_loop *loop;
	void *result;
	int i;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	flow = weir_flow_map(weir_flow_range(1, 1), add_ten, NULL);
	weir__costs = &costs;
	for (i = 0; i < 80; i++) {
		assert_int_equal(weir_flow_run(flow, weir_loop_executor(loop),
					       &result),
				 0);
		assert_ptr_equal(result, (void *)11);
	}
	weir__costs = NULL;
	assert_in_range(costs.kernel_calls, 1, 20);
	weir_flow_free(flow);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void a_run_that_is_drained_ends_well(void **state)
{
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct weir_error *error;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	int i;

	flow = weir_flow_async(flow, 16, NULL);
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, &run), 0);
	for (i = 0; i < 100; i++)
		weir_sim_step(sim);
	weir_flow_run_end(run);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	assert_null(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
	assert_int_equal(n_live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_goes_through_a_map_and_a_filter),
		cmocka_unit_test(a_map_over_arrays_does_the_same),
		cmocka_unit_test(items_left_out_are_dropped),
		cmocka_unit_test(an_error_comes_behind_the_items_before_it),
		cmocka_unit_test(a_boundary_changes_nothing),
		cmocka_unit_test(the_result_is_the_last_item),
		cmocka_unit_test(a_flow_upon_nothing_fails_and_says_where),
		cmocka_unit_test(a_flow_that_is_anothers_stays_so),
		cmocka_unit_test(a_flow_that_is_given_several_times_goes_once),
		cmocka_unit_test(a_run_that_is_cancelled_ends_so),
		cmocka_unit_test(a_flow_that_nothing_can_end_is_cancelled),
		cmocka_unit_test(a_timer_or_a_watch_cannot_run_a_flow),
		cmocka_unit_test(
			a_loop_whose_owner_waits_for_runs_makes_few_system_calls),
		cmocka_unit_test(a_run_that_is_drained_ends_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
