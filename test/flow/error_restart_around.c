/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators and sinks that are made again when they have failed. */
#include "flow/error_restart.h"

#include <fcntl.h>
#include <unistd.h>

/* --- What comes out ------------------------------------------------------- */

static void what_failed_is_left_out_and_the_next_item_goes_on(void **state)
{
	struct parts made = {.fails_on = 3};
	struct parts counts = {.fails_on = 3, .counted = true};

	ASSERT_FLOW(around(weir_flow_range(1, 9), &made, NULL), 0, 1, 2, 4, 5,
		    7, 8);
	assert_flow(around(counted(weir_flow_range(1, 9)), &counts, NULL), true,
		    (const intptr_t[]){1, 2, 4, 5, 7, 8}, 6, 0);
	assert_flow(around(counted(weir_flow_range(1, 9)), &counts,
			   &after_backoff),
		    true, (const intptr_t[]){1, 2, 4, 5, 7, 8}, 6, 0);
}

static void each_begins_with_fresh_state(void **state)
{
	struct parts made = {.compose = index_them, .fails_on = 3};

	ASSERT_FLOW(around(weir_flow_range(1, 7), &made, NULL), 0, 1, 102, 4,
		    105, 7);
}

static void one_that_ends_early_is_the_end_unless_that_is_not_wanted(
	void **state)
{
	struct weir_flow_restart_options options = {.when_ended = true};
	struct parts made = {.compose = first_two};

	ASSERT_FLOW(around(weir_flow_range(1, 7), &made, NULL), 0, 1, 102);
	ASSERT_FLOW(around(weir_flow_range(1, 7), &made, &options), 0, 1, 102,
		    3, 104, 5, 106, 7);
	/* the fourth of these is told that there is nothing left */
	made.n_made = 0;
	ASSERT_FLOW(weir_flow_take(
			    around(weir_flow_range(1, 6), &made, &options), 7),
		    0, 1, 102, 3, 104, 5, 106);
	assert_int_equal(made.n_made, 4 * 20);
}

static void it_ends_with_the_last_item(void **state)
{
	struct parts made = {.fails_on = 3};

	assert_ends_without_demand(around(weir_flow_range(1, 4), &made, NULL),
				   3);
}

static void what_is_supervised_is_not_made_again(void **state)
{
	struct parts made = {.compose = index_them, .fails_on = 3};
	struct weir_flow *flow = around(weir_flow_range(1, 5), &made, NULL);

	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0, 1, 102, 304,
		    405);
	assert_int_equal(made.n_made, 20);
}

/* --- What is final -------------------------------------------------------- */

static void an_error_from_upstream_goes_through_it_and_is_final(void **state)
{
	struct weir_flow_restart_options options = {.when_ended = true};
	struct parts made = {.n_made = 0};

	ASSERT_FLOW(around(failing(), &made, &options), -EPROTO, 1, 2, 3, 4);
	assert_int_equal(made.n_made, 20);
	made.compose = recover;
	ASSERT_FLOW(around(failing(), &made, &options), 0, 1, 2, 3, 4, 99);
	assert_int_equal(made.n_made, 40);
}

static int step(void **state, void **item, void *context)
{
	return 1;
}

static int no_flush(void **state, void **item, void *context)
{
	return -EDOM;
}

static struct weir_flow *fail_at_end(struct weir_flow *up, struct parts *made)
{
	static const struct weir_flow_stateful_map_functions functions = {
		.step = step,
		.flush = no_flush,
	};

	return weir_flow_same_items(
		weir_flow_stateful_map(up, &functions, NULL));
}

static void a_failure_behind_the_end_of_upstream_is_final(void **state)
{
	struct parts made = {.compose = fail_at_end};

	ASSERT_FLOW(around(weir_flow_range(1, 3), &made, NULL), -EDOM, 1, 2, 3);
	assert_int_equal(made.n_made, 20);
}

static bool not_edom(struct weir_error *error, void *context)
{
	return error->code != -EDOM;
}

static void an_error_that_is_not_meant_stands(void **state)
{
	struct weir_flow_restart_options options = {.restart_on = not_edom};
	struct parts made = {.fails_on = 3};

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
	struct parts made = {.fails_on = 3};

	ASSERT_FLOW(around(weir_flow_range(1, 12), &made, &options), -EDOM, 1,
		    2, 4, 5, 7, 8);
	/* the third is 30 ms behind the first */
	limit.within_ns = 25 * MS;
	ASSERT_FLOW(around(weir_flow_range(1, 12), &made, &options), 0, 1, 2, 4,
		    5, 7, 8, 10, 11);
}

/* --- What cannot be made -------------------------------------------------- */

static struct weir_flow *every_other(struct weir_flow *up, struct parts *made)
{
	return made->n_made % 2 ? none(up, made) : map(up, made);
}

static void one_that_cannot_be_made_counts_as_failed(void **state)
{
	struct weir_limit limit = {.max = 3, .within_ns = WEIR_FOREVER};
	struct weir_flow_restart_options options = {.limit = &limit};
	struct parts made = {.compose = none};

	assert_flow(around(weir_flow_range(1, 9), &made, &options), false,
		    (const intptr_t[]){0}, 0, -EINVAL);
	assert_int_equal(made.n_made, 4 * 20);
	/* no item is lost by that */
	made = (struct parts){.compose = every_other, .fails_on = 3};
	ASSERT_FLOW(around(weir_flow_range(1, 6), &made, NULL), 0, 1, 2, 4, 5);
}

static struct weir_flow *with_an_actor(struct weir_flow *up, struct parts *made)
{
	return weir_flow_buffer(up, 4, WEIR_OVERFLOW_BACK_PRESSURE);
}

static void one_that_does_not_fit_is_not_made_again(void **state)
{
	struct parts made = {.compose = with_an_actor};

	assert_flow(around(weir_flow_range(1, 9), &made, NULL), false,
		    (const intptr_t[]){0}, 0, -ENOTSUP);
	assert_int_equal(made.n_made, 20);
}

static void upstream_need_not_be_used(void **state)
{
	struct parts made = {.compose = others};

	ASSERT_FLOW(around(weir_flow_range(1, 9), &made, NULL), 0, 70, 71);
	assert_flow(weir_flow_items(around(counted(weir_flow_range(1, 9)),
					   &made, NULL),
				    NULL),
		    false, (const intptr_t[]){70, 71}, 2, 0);
}

/* It belongs to the actor around it. */
static struct weir_flow *run_it(struct weir_flow *up, struct parts *made)
{
	struct weir_flow *flow =
		weir_flow_same_items(weir_flow_map(up, map_or_fail, made));
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
	struct parts made = {.compose = run_it};

	ASSERT_FLOW(around(weir_flow_range(1, 3), &made, NULL), 0, 1, 2, 3);
}

/* --- Sinks ---------------------------------------------------------------- */

struct taken {
	struct parts made; /* first */
	struct got got;
};

static int take_or_fail(void *item, void *context)
{
	struct taken *taken = context;

	return fails(&taken->made, value_of(&taken->made, item))
		       ? -EDOM
		       : got_one(item, &taken->got);
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

static struct weir_flow *each(struct weir_flow *up, struct parts *made)
{
	return weir_flow_for_each(up, take_or_fail, made);
}

static struct weir_flow *each_n(struct weir_flow *up, struct parts *made)
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
		assert_int_equal(taken.made.n_made, 4);
		assert_int_equal(n_live, 0);
		weir_flow_free(flow);
	}
}

static void a_result_is_that_of_the_last_one_made(void **state)
{
	struct parts made = {.compose = count, .fails_on = 5};

	ASSERT_FLOW(around(weir_flow_range(1, 13), &made, &after_backoff), 0,
		    3);
	ASSERT_FLOW(around(weir_flow_range(1, 10), &made, NULL), 0, 0);
}

/* The first descriptor is none, the next one a pipe. */
static int descriptor;

static struct weir_flow *write_it(struct weir_flow *up, struct parts *made)
{
	return weir_flow_write(up, made->n_made == 1 ? 1000 : descriptor);
}

static int next_letter(void **state, void **item, void *context)
{
	uintptr_t i = (uintptr_t)*state;
	struct weir_flow_bytes *bytes;

	if (i == 6)
		return 0;
	assert_int_equal(weir_flow_bytes_new(&bytes, 1, NULL), 0);
	bytes->data[0] = "abcdef"[i];
	*state = (void *)(i + 1);
	*item = bytes;
	return 1;
}

static void a_write_that_fails_goes_on_with_another_descriptor(void **state)
{
	/* each is written by itself, and lost with that write */
	const struct weir_flow_rate one_a_second = {.n = 1,
						    .per_ns = 1000000000};
	struct parts made = {.compose = write_it};
	struct weir_flow *flow = weir_flow_unfold(NULL, next_letter, NULL);
	struct got got = {.n = 0};
	char written[7] = "";
	int fds[2];

	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	descriptor = fds[1];
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_throttle(flow, &one_a_second);
	flow = around(flow, &made, &after_backoff);
	/* what it puts out is a number */
	flow = into(weir_flow_items(flow, NULL), &got);
	got.code = run_on_sim(flow, 1, 0);
	assert_got(&got, (const intptr_t[]){5}, 1, 0);
	assert_int_equal(read(fds[0], written, sizeof(written)), 5);
	assert_string_equal(written, "bcdef");
	weir_flow_free(flow);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

/* --- The rest ------------------------------------------------------------- */

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
	struct parts made = {.counted = true, .fails_on = 3};
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

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_failed_is_left_out_and_the_next_item_goes_on),
		cmocka_unit_test(each_begins_with_fresh_state),
		cmocka_unit_test(
			one_that_ends_early_is_the_end_unless_that_is_not_wanted),
		cmocka_unit_test(it_ends_with_the_last_item),
		cmocka_unit_test(what_is_supervised_is_not_made_again),
		cmocka_unit_test(
			an_error_from_upstream_goes_through_it_and_is_final),
		cmocka_unit_test(a_failure_behind_the_end_of_upstream_is_final),
		cmocka_unit_test(an_error_that_is_not_meant_stands),
		cmocka_unit_test(at_most_so_many_within_a_time),
		cmocka_unit_test(one_that_cannot_be_made_counts_as_failed),
		cmocka_unit_test(one_that_does_not_fit_is_not_made_again),
		cmocka_unit_test(upstream_need_not_be_used),
		cmocka_unit_test(upstream_cannot_be_run_by_itself),
		cmocka_unit_test(a_sink_takes_all_but_what_it_fails_on),
		cmocka_unit_test(a_result_is_that_of_the_last_one_made),
		cmocka_unit_test(
			a_write_that_fails_goes_on_with_another_descriptor),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
