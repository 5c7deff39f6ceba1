/* SPDX-License-Identifier: BSD-2-Clause */
/* Items of two flows that are open at the same time: join. */
#include "flow/fan_kit.h"
#include "flow/marbles_kit.h"

#define HOUR_NS UINT64_C(3600000000000)

static intptr_t number(void *item)
{
	return ((struct item *)item)->value;
}

/* 7 fails, 8 breaks the contract, and 9 makes no pairs. */
static int digits(void *left, void *right, void **result, void *context)
{
	intptr_t a = number(left), b = number(right);

	if (a == 7 || b == 7)
		return -EDOM;
	if (a == 8 || b == 8)
		return 2;
	if (a == 9 || b == 9)
		return 0;
	*result = item_new(10 * a + b);
	return 1;
}

static const struct weir_flow_join_options for_ever = {.left_ns = WEIR_FOREVER,
						       .right_ns = WEIR_FOREVER,
						       .left_max = 512,
						       .right_max = 512},
					   two_of_left = {.left_ns =
								  WEIR_FOREVER,
							  .right_ns =
								  WEIR_FOREVER,
							  .left_max = 2,
							  .right_max = 4},
					   two_of_right = {
						   .left_ns = WEIR_FOREVER,
						   .right_ns = WEIR_FOREVER,
						   .left_max = 4,
						   .right_max = 2};

static struct weir_flow *joined_with(struct weir_flow *const *taps,
				     const struct weir_flow_join_options *how)
{
	weir_flow_free(taps[2]);
	return weir_flow_items(weir_flow_join(taps[0], taps[1], digits, NULL,
					      how),
			       &counted_items);
}

static struct weir_flow *of_all(struct weir_flow *const *taps)
{
	return joined_with(taps, &for_ever);
}

static struct weir_flow *of_two_left(struct weir_flow *const *taps)
{
	return joined_with(taps, &two_of_left);
}

static struct weir_flow *of_two_right(struct weir_flow *const *taps)
{
	return joined_with(taps, &two_of_right);
}

/* --- Pairs ---------------------------------------------------------------- */

static void each_item_meets_those_that_are_open_in_their_order(void **state)
{
	assert_played(of_all, "a1 b5 15 a2 25 b6 16 26 a3 35 36 b4 14 24 34");
	assert_played(of_all, "b5 b6 a1 15 16");
}

static void several_items_at_once_meet_all_that_are_open(void **state)
{
	assert_played(of_all, "a1-3 b4-5 14 24 34 15 25 35");
	assert_played(of_all, "b4-5 a1-3 14 15 24 25 34 35");
}

static void the_function_may_make_nothing_of_a_pair(void **state)
{
	assert_played(of_all, "a1 a9 a2 b5 15 25 b9 b6 16 26 a| b| |");
	assert_played(of_all, "a9 b9 b9 a| b| |");
}

static size_t n_calls;

static int digits_counted(void *left, void *right, void **result, void *context)
{
	n_calls++;
	return digits(left, right, result, context);
}

/* 500 with 400, of which the last makes results. */
static struct weir_flow *of_many_nines(void)
{
	struct weir_flow *left, *right;
	static void *nines[400];
	size_t i;

	for (i = 0; i < 400; i++)
		nines[i] = (void *)(intptr_t)(i < 399 ? 9 : 1);
	left = counted(weir_flow_range(100, 599));
	right = counted(weir_flow_array(nines, 400));
	return weir_flow_items(weir_flow_join(left, right, digits_counted, NULL,
					      &for_ever),
			       &counted_items);
}

static void many_pairs_that_make_nothing_let_the_others_come(void **state)
{
	struct got got = {.counted = true};
	struct weir_flow *flow;

	for_each_seed(seed, 6) {
		got.n = 0;
		flow = into(of_many_nines(), &got);
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		weir_flow_free(flow);
		assert_int_equal(got.n, 500);
		assert_int_equal(n_live, 0);
	}
}

/* A slice of one turn calls the function as often as a turn has items, or some
 * times that: an island may go on at once. */
static void a_turn_calls_the_function_no_more_often_than_a_batch(void **state)
{
	const struct weir_executor_options one = {.budget_turns = 1};
	struct weir_flow *flow = weir_flow_ignore(of_many_nines());
	size_t n_before = 0, most = 0;
	struct weir_flow_run *run;
	struct weir_sim *sim;

	n_calls = 0;
	assert_int_equal(weir_sim_new(&sim, 1, &one), 0);
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, &run), 0);
	do {
		most = n_calls - n_before > most ? n_calls - n_before : most;
		n_before = n_calls;
	} while (weir_sim_step(sim));
	assert_int_equal(n_calls, 200000);
	assert_in_range(most, 1, 4 * WEIR_FLOW_BATCH);
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

static enum weir_directive go_on(struct weir_error *error, void *context)
{
	return *(enum weir_directive *)context;
}

static enum weir_directive resume = WEIR_DIRECTIVE_RESUME;
static enum weir_directive restart = WEIR_DIRECTIVE_RESTART;

static struct weir_flow *resumed(struct weir_flow *const *taps)
{
	return weir_flow_supervise(of_all(taps), go_on, &resume);
}

static struct weir_flow *restarted(struct weir_flow *const *taps)
{
	return weir_flow_supervise(of_all(taps), go_on, &restart);
}

static void a_pair_for_which_it_fails_makes_nothing(void **state)
{
	assert_played(of_all, "a1 a7 a2 b5 15 -a -b !33");
	assert_played(of_all, "a1 b8 -a -b !22");
	assert_played(resumed, "a1 a7-8 a2 b5 15 25 b7 b6 16 26");
	assert_played(restarted, "a1 a7-8 a2 b5 15 25 b7 b6 16 26");
}

/* --- The end -------------------------------------------------------------- */

static void it_ends_when_both_have(void **state)
{
	assert_played(of_all, "a1 b5 15 a| b6 16 b| |");
	assert_played(of_all, "a1 b5 15 b| a2 25 a| |");
}

static void it_ends_when_one_has_and_none_of_its_items_is_open(void **state)
{
	assert_played(of_all, "a| -b |");
	assert_played(of_all, "a1 b| -a |");
}

static void it_fails_as_soon_as_one_does(void **state)
{
	assert_played(of_all, "a1 b5 15 a! -b !");
	assert_played(of_all, "a1 b! -a !");
	assert_played(of_all, "a1 b5 15 b| a! !");
}

/* What can still come are items of the other flow. */
static void when_one_has_ended_no_item_of_the_other_stays(void **state)
{
	struct weir_flow *taps[3];
	static struct tap hands[3];
	struct trial trial;
	size_t i;

	memset(hands, 0, sizeof(hands));
	for (i = 0; i < 3; i++)
		taps[i] = counted(tap_flow(&hands[i]));
	begin(&trial, weir_flow_ignore(of_two_left(taps)), 1, 0);
	tap_give(&hands[0], 1, 2);
	tap_give(&hands[1], 3, 4);
	rest(&trial);
	assert_int_equal(n_live, 4);
	tap_end(&hands[1], 0);
	/* more than were ever open at once, and no overflow */
	tap_give(&hands[0], 11, 15);
	rest(&trial);
	assert_int_equal(n_live, 2);
	assert_false(is_over(&trial));
	assert_int_equal(end(&trial), -ECANCELED);
	assert_int_equal(n_live, 0);
}

/* --- Bounds --------------------------------------------------------------- */

static void one_more_than_may_be_open_for_ever_is_an_error(void **state)
{
	assert_played(of_two_left, "a1-2 b5 15 25 a3 -a -b !75");
	assert_played(of_two_left, "a1-3 -a -b !75");
	assert_played(of_two_right, "b1-2 b3 -a -b !75");
	assert_played(of_two_left, "a1-2 a| b5 15 25 b| |");
}

static void the_error_says_which_are_too_many(void **state)
{
	struct weir_flow *taps[] = {counted(weir_flow_range(1, 5)),
				    counted(weir_flow_never()),
				    weir_flow_empty()};
	struct weir_error *error =
		error_of(weir_flow_ignore(of_two_left(taps)));

	assert_int_equal(error->code, -EOVERFLOW);
	assert_string_equal(error->origin, "join");
	assert_string_equal(error->message,
			    "more than left_max items are open");
	weir_error_unref(error);
}

/* --- Time ----------------------------------------------------------------- */

static int pair(void *left, void *right, void **result, void *context)
{
	*result = joined(left, right);
	return 1;
}

/* Items stay open for 30 ms, and for 20. */
static const struct weir_flow_join_options wide = {.left_ns = 30 * MS,
						   .right_ns = 20 * MS,
						   .left_max = 4,
						   .right_max = 4},
					   one_left = {.left_ns = 30 * MS,
						       .right_ns = WEIR_FOREVER,
						       .left_max = 1,
						       .right_max = 8};

COMPOSE(open, weir_flow_join(flow, other, pair, NULL, &for_ever))
COMPOSE(wide, weir_flow_join(flow, other, pair, NULL, &wide))
COMPOSE(one_left, weir_flow_join(flow, other, pair, NULL, &one_left))

static void items_meet_that_are_open_at_the_same_time(void **state)
{
	static const struct picture pictures[] = {
		/* a until 40, b until 50: what closes at 40 is closed then */
		{.compose = compose_wide,
		 .in = {"1@0 2@40 |@100", "a@20 b@30 c@55 |@60"},
		 .out = {"1a@20 2b@40 2c@55 |@75"}},
		/* the right one first: 20 ms, and not 30 */
		{.compose = compose_wide,
		 .in = {"1@19 2@25 |@30", "a@0 b@24 |@200"},
		 .out = {"1a@19 1b@24 2b@25 |@55"}},
	};

	assert_pictures(pictures, 2);
}

static void it_ends_when_the_last_item_of_the_one_that_ended_closes(
	void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_wide,
		 .in = {"1@0 |@5", "a@10"},
		 .out = {"1a@10 |@30"}},
		{.compose = compose_wide,
		 .in = {"1@10", "a@0 |@5"},
		 .out = {"1a@10 |@20"}},
		{.compose = compose_wide,
		 .in = {"1@0 |@5", "a@10 |@15"},
		 .out = {"1a@10 |@15"}},
	};

	assert_pictures(pictures, 3);
}

static void each_side_is_asked_in_its_turn(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_open,
		 .in = {"1@0 2@0 3@0 |@90", "a@0 b@0 |@90"},
		 .asked = {"x@0 x@10 x@20 x@30 x@40 x@50"},
		 .out = {"1a@0 2a@10 1b@20 2b@30 3a@40 3b@50 |@90"}},
	};

	assert_picture(pictures);
}

/* 2 waits until 1 closes, and 3 until 2 does. */
static void a_full_side_is_asked_when_its_oldest_item_closes(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_one_left,
		 .in = {"1@0 2@5 3@10 |@70", "a@20 b@40"},
		 .out = {"1a@20 2a@30 2b@40 3a@60 3b@60 |@90"}},
	};

	assert_picture(pictures);
}

/* 1 and 2 are open when b comes, and would close at 30 and 31. Nothing else
 * comes until all are made. */
static void what_was_open_is_met_however_long_downstream_waits(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_wide,
		 .in = {"1@0 2@1 3@50 |@90", "a@10 b@61 |@90"},
		 .asked = {"x@0 x@60 x@61 x@62"},
		 .out = {"1a@10 2a@60 3b@61 |@90"}},
	};

	assert_picture(pictures);
}

/* Downstream asks for none behind the last. */
static void the_end_is_told_behind_the_last_pair(void **state)
{
	static const struct picture pictures[] = {
		/* both have ended while a pair waited */
		{.compose = compose_wide,
		 .in = {"1@0 2@0 |@5", "a@10 |@15"},
		 .asked = {"x@0 x@20"},
		 .out = {"1a@10 2a@20 |@20"}},
		/* one has, and its items were due while a pair waited */
		{.compose = compose_wide,
		 .in = {"1@0 2@0 |@5", "a@10"},
		 .asked = {"x@0 x@40"},
		 .out = {"1a@10 2a@40 |@40"}},
		/* nothing waits, and they close */
		{.compose = compose_wide,
		 .in = {"1@0 |@5", "a@10"},
		 .asked = {"x@0"},
		 .out = {"1a@10 |@30"}},
		/* an error does not wait for pairs */
		{.compose = compose_wide,
		 .in = {"1@0 2@0", "a@10 !EIO@15"},
		 .asked = {"x@0"},
		 .out = {"1a@10 !EIO@15"}},
	};
	size_t i;

	for (i = 0; i < 4; i++)
		assert_picture(&pictures[i]);
}

/* Also while downstream asks for nothing. */
static void items_are_dropped_when_they_close(void **state)
{
	static const struct weir_flow_join_options timed = {
		.left_ns = 30, .right_ns = 50, .left_max = 4, .right_max = 4};
	struct weir_flow *taps[3], *flow;
	static struct tap hands[3], stop;
	struct trial trial;
	size_t i;

	memset(hands, 0, sizeof(hands));
	memset(&stop, 0, sizeof(stop));
	for (i = 0; i < 3; i++)
		taps[i] = counted(tap_flow(&hands[i]));
	flow = joined_with(taps, &timed);
	begin(&trial, weir_flow_ignore(flow), 1, 0);
	tap_give(&hands[0], 1, 3);
	tap_give(&hands[1], 4, 5);
	weir_sim_run_until(trial.sim, 29, UINT64_MAX);
	assert_int_equal(n_live, 5);
	weir_sim_run_until(trial.sim, 30, UINT64_MAX);
	assert_int_equal(n_live, 2);
	weir_sim_run_until(trial.sim, 50, UINT64_MAX);
	assert_int_equal(n_live, 0);
	assert_false(is_over(&trial));
	assert_int_equal(end(&trial), -ECANCELED);
}

/* It runs what it is given at once, and has no timers. */
static int submit(struct weir_executor *executor, struct weir_task *task)
{
	weir_task_run(task);
	return 0;
}

static uint64_t no_time(struct weir_executor *executor)
{
	return 0;
}

static int run_without_timers(uint64_t open_ns)
{
	static const struct weir_executor_ops ops = {.submit = submit,
						     .now = no_time};
	const struct weir_flow_join_options options = {.left_ns = open_ns,
						       .right_ns = open_ns,
						       .left_max = 4,
						       .right_max = 4};
	struct weir_executor executor = {0};
	struct weir_flow *flow;
	int rc;

	assert_int_equal(weir_executor_init(&executor, &ops, NULL), 0);
	flow = weir_flow_join(counted(weir_flow_range(1, 3)),
			      counted(weir_flow_range(1, 3)), digits, NULL,
			      &options);
	flow = weir_flow_ignore(weir_flow_items(flow, &counted_items));
	rc = weir_flow_run(flow, &executor, NULL);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&executor), 0);
	assert_int_equal(n_live, 0);
	return rc;
}

static void only_what_closes_needs_timers(void **state)
{
	assert_int_equal(run_without_timers(WEIR_FOREVER), 0);
	assert_int_equal(run_without_timers(HOUR_NS), -ENOTSUP);
}

/* --- What it needs -------------------------------------------------------- */

static struct weir_flow *with_options(struct weir_flow_join_options options)
{
	return weir_flow_join(weir_flow_range(1, 2), weir_flow_range(1, 2),
			      digits, NULL, &options);
}

static void it_needs_flows_a_function_times_and_bounds(void **state)
{
	const struct weir_flow_join_options good = {
		.left_ns = 1, .right_ns = 1, .left_max = 1, .right_max = 1};
	struct weir_flow_join_options wrong[] = {good, good, good, good,
						 good, good, good};
	struct weir_flow *flows[11];
	size_t i;

	wrong[0].left_ns = 0;
	wrong[1].right_ns = 0;
	wrong[2].left_max = 0;
	wrong[3].right_max = 0;
	wrong[4].left_max = (size_t)WEIR_CAPACITY_MAX + 1;
	wrong[5].right_max = SIZE_MAX;
	wrong[6].reserved[3] = 1;
	for (i = 0; i < 7; i++)
		flows[i] = with_options(wrong[i]);
	flows[7] = weir_flow_join(NULL, weir_flow_range(1, 2), digits, NULL,
				  &good);
	flows[8] = weir_flow_join(weir_flow_range(1, 2), NULL, digits, NULL,
				  &good);
	flows[9] = weir_flow_join(weir_flow_range(1, 2), weir_flow_range(1, 2),
				  NULL, NULL, &good);
	flows[10] = weir_flow_join(weir_flow_range(1, 2), weir_flow_range(1, 2),
				   digits, NULL, NULL);
	assert_refused_all(flows, 11);
}

static void it_says_which_option_is_wrong(void **state)
{
	struct weir_flow_join_options options = {
		.left_ns = 1, .right_ns = 1, .left_max = 1};
	struct weir_flow *flow = with_options(options);
	const char *message;

	assert_int_equal(weir_flow_check(flow, NULL, &message), -EINVAL);
	assert_string_equal(message,
			    "left_max or right_max is 0, or too large");
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_item_meets_those_that_are_open_in_their_order),
		cmocka_unit_test(several_items_at_once_meet_all_that_are_open),
		cmocka_unit_test(the_function_may_make_nothing_of_a_pair),
		cmocka_unit_test(
			many_pairs_that_make_nothing_let_the_others_come),
		cmocka_unit_test(
			a_turn_calls_the_function_no_more_often_than_a_batch),
		cmocka_unit_test(a_pair_for_which_it_fails_makes_nothing),
		cmocka_unit_test(it_ends_when_both_have),
		cmocka_unit_test(
			it_ends_when_one_has_and_none_of_its_items_is_open),
		cmocka_unit_test(it_fails_as_soon_as_one_does),
		cmocka_unit_test(when_one_has_ended_no_item_of_the_other_stays),
		cmocka_unit_test(
			one_more_than_may_be_open_for_ever_is_an_error),
		cmocka_unit_test(the_error_says_which_are_too_many),
		cmocka_unit_test(items_meet_that_are_open_at_the_same_time),
		cmocka_unit_test(
			it_ends_when_the_last_item_of_the_one_that_ended_closes),
		cmocka_unit_test(each_side_is_asked_in_its_turn),
		cmocka_unit_test(
			a_full_side_is_asked_when_its_oldest_item_closes),
		cmocka_unit_test(
			what_was_open_is_met_however_long_downstream_waits),
		cmocka_unit_test(the_end_is_told_behind_the_last_pair),
		cmocka_unit_test(items_are_dropped_when_they_close),
		cmocka_unit_test(only_what_closes_needs_timers),
		cmocka_unit_test(it_needs_flows_a_function_times_and_bounds),
		cmocka_unit_test(it_says_which_option_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
