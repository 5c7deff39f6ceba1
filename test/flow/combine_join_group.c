/* SPDX-License-Identifier: BSD-2-Clause */
/* Each item of a flow with all of another that it has met: group_join. */
#include "flow/fan_kit.h"
#include "flow/marbles_kit.h"

#include <inttypes.h>

#include "base/random.h"

static intptr_t number(void *item)
{
	return ((struct item *)item)->value;
}

static size_t n_calls;

/* 7 fails, 8 breaks the contract, and 9 makes nothing. */
static int digits(void *left, void *const *rights, size_t n, void **result,
		  void *context)
{
	intptr_t value = number(left);
	size_t i;

	n_calls++;
	if (value == 7)
		return -EDOM;
	if (value == 8)
		return 2;
	if (value == 9)
		return 0;
	for (i = 0; i < n; i++)
		value = 10 * value + number(rights[i]);
	*result = item_new(value);
	return 1;
}

static const struct weir_flow_join_options for_ever = {.left_ns = WEIR_FOREVER,
						       .right_ns = WEIR_FOREVER,
						       .left_max = 16,
						       .right_max = 16},
					   few = {.left_ns = WEIR_FOREVER,
						  .right_ns = 1,
						  .left_max = 2,
						  .right_max = 3};

static struct weir_flow *grouped_with(struct weir_flow *const *taps,
				      const struct weir_flow_join_options *how)
{
	weir_flow_free(taps[2]);
	return weir_flow_items(weir_flow_group_join(taps[0], taps[1], digits,
						    NULL, how),
			       &counted_items);
}

static struct weir_flow *of_all(struct weir_flow *const *taps)
{
	return grouped_with(taps, &for_ever);
}

static struct weir_flow *of_few(struct weir_flow *const *taps)
{
	return grouped_with(taps, &few);
}

/* --- What an item has met ------------------------------------------------- */

static void each_item_comes_with_those_before_and_behind_it(void **state)
{
	assert_played(of_all, "b5 a1 b6 a2-3 b4 b| 1564 2564 3564");
}

static void one_may_have_met_none(void **state)
{
	assert_played(of_all, "a1 b| 1 a2-3 2 3 a| |");
}

static void behind_the_end_of_the_other_each_closes_at_once(void **state)
{
	assert_played(of_all, "b5-6 b| a1 156 a2-4 256 356 456 a| |");
}

static void the_function_may_make_nothing(void **state)
{
	assert_played(of_all, "a1 a9 a2 b5 b| 15 25 a9 a| |");
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

static void an_item_for_which_it_fails_makes_nothing(void **state)
{
	assert_played(of_all, "a1 a7 a2 b5 b| 15 -a !33");
	assert_played(of_all, "a8 b| -a !22");
	assert_played(resumed, "a1 a7-8 a2 b5 b| 15 25 a3 35");
	assert_played(restarted, "a1 a7-8 a2 b5 b| 15 25 a3 35");
}

/* --- The end, and bounds -------------------------------------------------- */

static void it_ends_when_left_has_and_all_its_items_are_out(void **state)
{
	assert_played(of_all, "a| -b |");
	assert_played(of_all, "a1 a| b5 b| 15 |");
	assert_played(of_all, "b5 a| -b |");
}

static void it_fails_as_soon_as_one_does(void **state)
{
	n_calls = 0;
	assert_played(of_all, "a1 b5 a! -b !");
	assert_played(of_all, "a1 b5 b! -a !");
	assert_int_equal(n_calls, 0);
}

/* Those of the right close at once; what an open left one met stays. */
static void one_more_than_there_will_be_room_for_is_an_error(void **state)
{
	assert_played(of_few, "a1-3 -a -b !75");
	assert_played(of_few, "b1-9 a1 b1-3 b4 -a -b !75");
	assert_played(of_few, "b1-9 a1-2 b1-3 b| 1123 2123 a3-6 3 4 5 6 a| |");
}

/* --- Time ----------------------------------------------------------------- */

static int join_labels(void *left, void *const *rights, size_t n, void **result,
		       void *context)
{
	char *label = joined(left, "");
	size_t i;

	for (i = 0; i < n; i++)
		label = joined(label, rights[i]);
	*result = label;
	return 1;
}

/* Items stay open for 30 ms, and for 20. */
static const struct weir_flow_join_options wide = {.left_ns = 30 * MS,
						   .right_ns = 20 * MS,
						   .left_max = 4,
						   .right_max = 4},
					   two_right = {.left_ns = 30 * MS,
							.right_ns = 20 * MS,
							.left_max = 4,
							.right_max = 2};

COMPOSE(wide, weir_flow_group_join(flow, other, join_labels, NULL, &wide))
COMPOSE(two_right,
	weir_flow_group_join(flow, other, join_labels, NULL, &two_right))

static void a_group_is_what_was_open_and_what_came(void **state)
{
	static const struct picture pictures[] = {
		/* a until 20, b until 32, c until 55; 1 until 30, 2 until 45,
		 * and 3 until 90 */
		{.compose = compose_wide,
		 .in = {"1@0 2@15 3@60 |@70", "a@0 b@12 c@35"},
		 .out = {"1ab@30 2abc@45 3@90 |@90"}},
		/* what closes when another comes is not met */
		{.compose = compose_wide,
		 .in = {"1@0 |@5", "a@30"},
		 .out = {"1@30 |@30"}},
		{.compose = compose_wide,
		 .in = {"1@20 |@25", "a@0"},
		 .out = {"1@50 |@50"}},
	};

	assert_pictures(pictures, 3);
}

/* c waits until 1 closes, though the time of a and b is over before. */
static void a_full_side_is_asked_when_none_has_met_its_oldest(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_two_right,
		 .in = {"1@5 2@40 |@45", "a@6 b@7 c@8"},
		 .out = {"1ab@35 2c@70 |@70"}},
	};

	assert_picture(pictures);
}

/* 1 and 2 close at 30; 2 waits, and so do c and the end. */
static void what_is_due_waits_and_nothing_comes_meanwhile(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_wide,
		 .in = {"1@0 2@0 3@50 |@51", "a@10 c@40"},
		 .asked = {"x@0 x@60 x@61"},
		 .out = {"1a@30 2a@60 3c@91 |@91"}},
	};

	assert_picture(pictures);
}

/* Behind an item that waits. */
static void an_error_does_not_wait_for_what_is_due(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_wide,
		 .in = {"1@0 2@0", "a@10 !EIO@40"},
		 .asked = {"x@0"},
		 .out = {"1a@30 !EIO@40"}},
		{.compose = compose_wide,
		 .in = {"1@0 2@0 !EIO@40", "a@10"},
		 .asked = {"x@0"},
		 .out = {"1a@30 !EIO@40"}},
	};

	assert_picture(&pictures[0]);
	assert_picture(&pictures[1]);
}

static size_t n_rights;

static int count_rights(void *left, void *const *rights, size_t n,
			void **result, void *context)
{
	n_calls++;
	n_rights += n;
	return 0;
}

/* More close at once than a turn has calls: an item that comes meanwhile has
 * met none of them. */
static void many_that_close_make_nothing_and_let_others_come(void **state)
{
	static const struct weir_flow_join_options timed = {.left_ns = 30,
							    .right_ns = 30,
							    .left_max = 4096,
							    .right_max = 4};
	const struct weir_executor_options one = {.budget_turns = 1};
	struct weir_flow *left[] = {weir_flow_range(1, 4000),
				    weir_flow_never()};
	static struct tap hand;
	struct trial trial = {0};

	memset(&hand, 0, sizeof(hand));
	n_calls = n_rights = 0;
	trial.flow = weir_flow_group_join(weir_flow_concat(left, 2),
					  tap_flow(&hand), count_rights, NULL,
					  &timed);
	trial.flow = weir_flow_ignore(trial.flow);
	assert_int_equal(weir_sim_new(&trial.sim, 1, &one), 0);
	assert_int_equal(weir_flow_start(trial.flow,
					 weir_sim_executor(trial.sim), NULL,
					 &trial.run),
			 0);
	weir_sim_run_until(trial.sim, 29, UINT64_MAX);
	assert_int_equal(n_calls, 0);
	while (n_calls == 0)
		assert_true(weir_sim_step(trial.sim));
	assert_in_range(n_calls, 1, 3999);
	tap_give(&hand, 1, 1);
	rest(&trial);
	assert_int_equal(n_calls, 4000);
	assert_int_equal(n_rights, 0);
	assert_int_equal(end(&trial), -ECANCELED);
}

/* What comes with the end of the other finds room. */
static void a_full_side_looks_for_the_end_of_the_other(void **state)
{
	struct weir_flow *taps[3];
	static struct tap hands[3];
	struct trial trial;
	size_t i;

	memset(hands, 0, sizeof(hands));
	for (i = 0; i < 3; i++)
		taps[i] = counted(tap_flow(&hands[i]));
	begin(&trial, weir_flow_ignore(of_few(taps)), 1, 0);
	tap_give(&hands[0], 1, 2);
	rest(&trial);
	tap_give(&hands[1], 3, 3); /* the left one is asked next */
	rest(&trial);
	assert_int_equal(n_live, 3);
	tap_end(&hands[1], 0);
	tap_give(&hands[0], 3, 6);
	rest(&trial);
	assert_int_equal(n_live, 0);
	assert_false(is_over(&trial));
	assert_int_equal(end(&trial), -ECANCELED);
}

static void right_items_are_dropped_when_none_open_has_met_them(void **state)
{
	static const struct weir_flow_join_options timed = {
		.left_ns = 30, .right_ns = 10, .left_max = 4, .right_max = 4};
	struct weir_flow *taps[3], *flow;
	static struct tap hands[3];
	struct trial trial;
	size_t i;

	memset(hands, 0, sizeof(hands));
	for (i = 0; i < 3; i++)
		taps[i] = counted(tap_flow(&hands[i]));
	flow = grouped_with(taps, &timed);
	begin(&trial, weir_flow_ignore(flow), 1, 0);
	tap_give(&hands[1], 4, 5);
	weir_sim_run_until(trial.sim, 5, UINT64_MAX);
	tap_give(&hands[0], 1, 1);
	weir_sim_run_until(trial.sim, 29, UINT64_MAX);
	assert_int_equal(n_live, 3);
	tap_give(&hands[0], 2, 2);
	weir_sim_run_until(trial.sim, 30, UINT64_MAX);
	assert_int_equal(n_live, 4);
	weir_sim_run_until(trial.sim, 35, UINT64_MAX);
	assert_int_equal(n_live, 1);
	weir_sim_run_until(trial.sim, 59, UINT64_MAX);
	assert_int_equal(n_live, 0);
	tap_give(&hands[1], 6, 7);
	weir_sim_run_until(trial.sim, 68, UINT64_MAX);
	assert_int_equal(n_live, 2);
	weir_sim_run_until(trial.sim, 69, UINT64_MAX);
	assert_int_equal(n_live, 0);
	assert_int_equal(end(&trial), -ECANCELED);
}

/* Against a list that says it plainly: items come at times from a seed, and
 * downstream always asks. The deques go round many times. */
#define MANY 60

static struct {
	uint64_t at_ns[2][MANY];
	char out[MANY * 64];
	char expected[MANY * 64];
} many;

static void add_to(char *text, intptr_t value)
{
	size_t n = strlen(text);

	assert_true(n + 24 < sizeof(many.out));
	(void)snprintf(text + n, 24, " %jd", (intmax_t)value);
}

static int name_group(void *left, void *const *rights, size_t n, void **result,
		      void *context)
{
	size_t i;

	add_to(many.out, -number(left));
	for (i = 0; i < n; i++)
		add_to(many.out, number(rights[i]));
	return 0;
}

/* Left ones stay open for 50, right ones for 30. */
static void expect_groups(void)
{
	uint64_t from, to;
	size_t l, r;

	for (l = 0; l < MANY; l++) {
		add_to(many.expected, -(intptr_t)(l + 1));
		from = many.at_ns[0][l];
		to = from + 50;
		for (r = 0; r < MANY; r++)
			if (many.at_ns[1][r] < to &&
			    many.at_ns[1][r] + 30 > from)
				add_to(many.expected, (intptr_t)(r + 1));
	}
}

/* No two come at the same time, nor when another closes. */
static void draw_times(uint64_t seed)
{
	uint64_t at_ns[2] = {1, 2};
	size_t i, side;

	memset(&many, 0, sizeof(many));
	for (i = 0; i < MANY; i++)
		for (side = 0; side < 2; side++) {
			at_ns[side] += 4 * (weir__splitmix(&seed) % 10);
			many.at_ns[side][i] = at_ns[side];
		}
}

static void give_until_the_end(struct trial *trial, struct tap *hands)
{
	uint64_t now_ns;
	size_t n[2] = {0}, side;

	for (now_ns = 0; now_ns < 4 * MANY * 10; now_ns++) {
		weir_sim_run_until(trial->sim, now_ns, UINT64_MAX);
		for (side = 0; side < 2; side++)
			for (; n[side] < MANY &&
			       many.at_ns[side][n[side]] == now_ns;
			     n[side]++)
				tap_give(&hands[side], (intptr_t)n[side] + 1,
					 (intptr_t)n[side] + 1);
	}
	tap_end(&hands[0], 0);
}

static void each_group_is_what_its_times_say(void **state)
{
	static const struct weir_flow_join_options timed = {
		.left_ns = 50,
		.right_ns = 30,
		.left_max = 13,
		.right_max = 17,
	};
	struct weir_flow *flow;
	static struct tap hands[2];
	struct trial trial;

	for_each_seed(seed, 40) {
		draw_times(seed);
		expect_groups();
		memset(hands, 0, sizeof(hands));
		flow = weir_flow_group_join(counted(tap_flow(&hands[0])),
					    counted(tap_flow(&hands[1])),
					    name_group, NULL, &timed);
		flow = weir_flow_items(flow, &counted_items);
		begin(&trial, weir_flow_ignore(flow), seed, 0);
		give_until_the_end(&trial, hands);
		assert_int_equal(end(&trial), 0);
		assert_string_equal(many.out, many.expected);
		assert_int_equal(n_live, 0);
	}
}

/* --- What it needs -------------------------------------------------------- */

static void it_needs_flows_a_function_times_and_bounds(void **state)
{
	const struct weir_flow_join_options no_time = {.left_max = 1,
						       .right_max = 1};
	struct weir_flow *flows[] = {
		weir_flow_group_join(weir_flow_range(1, 2),
				     weir_flow_range(1, 2), NULL, NULL,
				     &for_ever),
		weir_flow_group_join(NULL, weir_flow_range(1, 2), digits, NULL,
				     &for_ever),
		weir_flow_group_join(weir_flow_range(1, 2), NULL, digits, NULL,
				     &for_ever),
		weir_flow_group_join(weir_flow_range(1, 2),
				     weir_flow_range(1, 2), digits, NULL, NULL),
		weir_flow_group_join(weir_flow_range(1, 2),
				     weir_flow_range(1, 2), digits, NULL,
				     &no_time),
	};

	assert_refused_all(flows, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_item_comes_with_those_before_and_behind_it),
		cmocka_unit_test(one_may_have_met_none),
		cmocka_unit_test(
			behind_the_end_of_the_other_each_closes_at_once),
		cmocka_unit_test(the_function_may_make_nothing),
		cmocka_unit_test(an_item_for_which_it_fails_makes_nothing),
		cmocka_unit_test(
			it_ends_when_left_has_and_all_its_items_are_out),
		cmocka_unit_test(it_fails_as_soon_as_one_does),
		cmocka_unit_test(
			one_more_than_there_will_be_room_for_is_an_error),
		cmocka_unit_test(a_group_is_what_was_open_and_what_came),
		cmocka_unit_test(
			a_full_side_is_asked_when_none_has_met_its_oldest),
		cmocka_unit_test(what_is_due_waits_and_nothing_comes_meanwhile),
		cmocka_unit_test(an_error_does_not_wait_for_what_is_due),
		cmocka_unit_test(
			many_that_close_make_nothing_and_let_others_come),
		cmocka_unit_test(a_full_side_looks_for_the_end_of_the_other),
		cmocka_unit_test(
			right_items_are_dropped_when_none_open_has_met_them),
		cmocka_unit_test(each_group_is_what_its_times_say),
		cmocka_unit_test(it_needs_flows_a_function_times_and_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
