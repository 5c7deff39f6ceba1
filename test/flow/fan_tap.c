/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows beside another one, which get its items, too. */
#include "flow/parts.h"

/* What the flow beside has got. */
static struct got beside;

static int note(void *item, void *context)
{
	return got_one(item, &beside);
}

static struct weir_flow *noting(struct weir_flow *up, void *context)
{
	return weir_flow_for_each(up, note, NULL);
}

static struct weir_flow *noting_two(struct weir_flow *up, void *context)
{
	return weir_flow_for_each(weir_flow_take(up, 2), note, NULL);
}

/* Its own items are others, and are dropped. */
static struct weir_flow *counting(struct weir_flow *up, void *context)
{
	return weir_flow_collect(up, 0);
}

static struct weir_flow *no_flow(struct weir_flow *up, void *context)
{
	weir_flow_free(up);
	return NULL;
}

static int note_but_three(void *item, void *context)
{
	if (((struct item *)item)->value == 3)
		return -EDOM;
	return note(item, NULL);
}

static struct weir_flow *noting_but_three(struct weir_flow *up, void *context)
{
	return weir_flow_for_each(up, note_but_three, NULL);
}

static struct weir_semaphore permits;

/* It takes an item when it is let. */
static struct weir_flow *noting_when_let(struct weir_flow *up, void *context)
{
	return noting(weir_flow_acquire(up, &permits), NULL);
}

typedef struct weir_flow *operator_of(
	struct weir_flow *flow,
	struct weir_flow *(*side)(struct weir_flow *upstream, void *context),
	void *context, size_t capacity);

static struct got main_one;

/* Of counted items; what the run says, and both have got. */
static void run(operator_of *put_upon, struct weir_flow *flow,
		struct weir_flow *(*side)(struct weir_flow *up, void *context),
		uint64_t seed, size_t unfused)
{
	int64_t live = n_live;

	main_one = beside = (struct got){.counted = true};
	flow = into(put_upon(counted(flow), side, NULL, 4), &main_one);
	main_one.code = run_on_sim(flow, seed, unfused);
	weir_flow_free(flow);
	assert_int_equal(n_live, live);
}

static const intptr_t first[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static operator_of *const both[] = {weir_flow_also_to, weir_flow_wire_tap};

static void the_flow_beside_gets_the_items_too(void **state)
{
	for_each_seed(seed, test_count(40)) {
		run(weir_flow_also_to, weir_flow_range(1, 9), noting, seed,
		    seed % 3);
		assert_got(&main_one, first, 9, 0);
		assert_got(&beside, first, 9, 0);
		/* as many as there is room for come to the tap as well */
		run(weir_flow_wire_tap, weir_flow_range(1, 4), noting, seed,
		    seed % 3);
		assert_got(&main_one, first, 4, 0);
		assert_got(&beside, first, 4, 0);
	}
}

static void the_flow_beside_may_end_first(void **state)
{
	for_each_seed(seed, test_count(40)) {
		run(both[seed % 2], weir_flow_range(1, 9), noting_two, seed,
		    seed % 3);
		assert_got(&main_one, first, 9, 0);
		assert_got(&beside, first, 2, 0);
	}
}

static void what_it_emits_is_dropped(void **state)
{
	for_each_seed(seed, test_count(40)) {
		run(both[seed % 2], weir_flow_range(1, 9), counting, seed,
		    seed % 3);
		assert_got(&main_one, first, 9, 0);
	}
}

static void without_a_flow_beside_it_is_refused(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_also_to(weir_flow_empty(), no_flow, NULL, 0),
		weir_flow_wire_tap(weir_flow_empty(), no_flow, NULL, 0),
		weir_flow_also_to(weir_flow_empty(), NULL, NULL, 0),
		weir_flow_wire_tap(weir_flow_empty(), NULL, NULL, 0),
		weir_flow_also_to(weir_flow_empty(), noting, NULL, 3),
		weir_flow_wire_tap(weir_flow_empty(), noting, NULL,
				   WEIR_CAPACITY_MAX + 1),
		weir_flow_also_to(NULL, noting, NULL, 0),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

/* --- How they fail -------------------------------------------------------- */

static void an_error_reaches_both(void **state)
{
	for_each_seed(seed, test_count(40)) {
		run(both[seed % 2], failing(), noting, seed, seed % 3);
		assert_got(&main_one, first, 4, -EPROTO);
		assert_got(&beside, first, 4, 0);
	}
}

static void a_flow_that_fails_beside_fails_the_operator(void **state)
{
	for_each_seed(seed, test_count(40)) {
		run(weir_flow_also_to, weir_flow_range(1, 1000),
		    noting_but_three, seed, seed % 3);
		assert_int_equal(main_one.code, -EDOM);
		assert_got(&beside, first, 2, 0);
	}
}

static void a_tap_that_fails_ends_alone(void **state)
{
	for_each_seed(seed, test_count(40)) {
		run(weir_flow_wire_tap, weir_flow_range(1, 9), noting_but_three,
		    seed, seed % 3);
		assert_got(&main_one, first, 9, 0);
		assert_got(&beside, first, 2, 0);
	}
}

/* --- Who is slow ---------------------------------------------------------- */

static struct weir_flow_run *start(struct weir_sim *sim, operator_of *put_upon,
				   struct weir_flow **flow)
{
	struct weir_flow_run *made;

	assert_int_equal(weir_semaphore_init(&permits, 0), 0);
	main_one = beside = (struct got){.counted = true};
	*flow = put_upon(counted(weir_flow_range(1, 99)), noting_when_let, NULL,
			 4);
	*flow = into(*flow, &main_one);
	assert_int_equal(
		weir_flow_start(*flow, weir_sim_executor(sim), NULL, &made), 0);
	weir_sim_run(sim);
	return made;
}

static void finish(struct weir_sim *sim, struct weir_flow_run *made,
		   struct weir_flow *flow, int code)
{
	struct weir_error *error;

	weir_sim_run(sim);
	assert_int_equal(weir_flow_run_wait(made, 0, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, code);
	weir_error_unref(error);
	weir_flow_run_free(made);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
	assert_int_equal(n_live, 0);
}

static void a_slow_flow_beside_sets_the_pace(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_flow *flow;
	struct weir_flow_run *made = start(sim, weir_flow_also_to, &flow);

	/* what its outlet has room for, and one that waits for a permit */
	assert_in_range(main_one.n, 4, 5);
	assert_int_equal(weir_semaphore_release(&permits, 99), 0);
	finish(sim, made, flow, 0);
	assert_int_equal(main_one.n, 99);
	assert_int_equal(beside.n, 99);
}

static void a_slow_tap_misses_items(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_flow *flow;
	struct weir_flow_run *made = start(sim, weir_flow_wire_tap, &flow);
	size_t i;

	assert_int_equal(main_one.n, 99);
	assert_int_equal(beside.n, 0);
	/* and takes the first ones then */
	assert_int_equal(weir_semaphore_release(&permits, 99), 0);
	finish(sim, made, flow, 0);
	assert_in_range(beside.n, 4, 5);
	for (i = 0; i < beside.n; i++)
		assert_int_equal(beside.values[i], i + 1);
}

static struct weir_flow *noting_soon(struct weir_flow *up, void *context)
{
	up = weir_flow_acquire(up, &permits);
	return noting(weir_flow_idle_timeout(up, 1000), NULL);
}

static void a_stuck_tap_that_gives_up_holds_nothing_back(void **state)
{
	for_each_seed(seed, test_count(40)) {
		assert_int_equal(weir_semaphore_init(&permits, 2), 0);
		run(weir_flow_wire_tap, weir_flow_range(1, 9), noting_soon,
		    seed, seed % 3);
		assert_got(&main_one, first, 9, 0);
		assert_got(&beside, first, 2, 0);
	}
}

static struct weir_flow *putting(struct weir_flow *up, void *hub)
{
	return weir_flow_into_hub(up, hub);
}

/* The buffer has what the tap does not take in time. */
static void a_tap_in_a_run_of_its_own_holds_nothing_back(void **state)
{
	const struct weir_hub_options options = {.idle = WEIR_HUB_IDLE_GO_ON};
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_flow *flow, *tap;
	struct weir_flow_run *made, *tapping;
	struct weir_hub *hub;

	assert_int_equal(weir_semaphore_init(&permits, 2), 0);
	main_one = beside = (struct got){.counted = true};
	assert_int_equal(weir_hub_new(&hub, &counted_items, &options, NULL), 0);
	tap = weir_flow_buffer(weir_flow_from_hub(hub), 4,
			       WEIR_OVERFLOW_DROP_NEW);
	tap = noting_when_let(tap, NULL);
	assert_int_equal(weir_flow_start(tap, executor, NULL, &tapping), 0);
	weir_sim_run(sim);
	flow = weir_flow_also_to(counted(weir_flow_range(1, 99)), putting, hub,
				 4);
	flow = into(flow, &main_one);
	assert_int_equal(weir_flow_start(flow, executor, NULL, &made), 0);
	weir_sim_run(sim);
	assert_true(weir_completion_done(weir_flow_run_over(made)));
	assert_int_equal(main_one.n, 99);
	assert_got(&beside, first, 2, 0);
	/* it takes what it has to its end */
	assert_int_equal(weir_semaphore_release(&permits, 99), 0);
	weir_sim_run(sim);
	assert_true(weir_completion_done(weir_flow_run_over(tapping)));
	assert_in_range(beside.n, 6, 7);
	weir_flow_run_free(tapping);
	weir_flow_free(tap);
	assert_int_equal(weir_hub_free(hub), 0);
	finish(sim, made, flow, 0);
}

static void a_cancel_drops_what_waits_for_a_tap(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		struct weir_sim *sim = sim_new(1);
		struct weir_flow *flow;
		struct weir_flow_run *made = start(sim, both[i], &flow);

		weir_flow_run_stop(made, NULL);
		finish(sim, made, flow, -ECANCELED);
	}
}

static void downstream_ends_both(void **state)
{
	for_each_seed(seed, test_count(40)) {
		struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));

		beside = main_one = (struct got){.counted = true};
		flow = both[seed % 2](flow, noting, NULL, 4);
		flow = into(weir_flow_take(flow, 2), &main_one);
		main_one.code = run_on_sim(flow, seed, seed % 3);
		weir_flow_free(flow);
		assert_got(&main_one, first, 2, 0);
		assert_int_equal(n_live, 0);
	}
}

/* --- then ----------------------------------------------------------------- */

static void then_drops_the_items_before(void **state)
{
	struct weir_flow *flow = weir_flow_then(counted(weir_flow_range(1, 9)),
						weir_flow_range(11, 12));

	ASSERT_FLOW(flow, 0, 11, 12);
	assert_int_equal(n_live, 0);
	flow = weir_flow_then(weir_flow_range(1, 9),
			      counted(weir_flow_range(1, 3)));
	assert_flow(flow, true, first, 3, 0);
}

static void then_does_not_go_on_behind_an_error(void **state)
{
	assert_flow(weir_flow_then(failing(), weir_flow_range(11, 12)), false,
		    first, 0, -EPROTO);
	assert_flow(weir_flow_then(weir_flow_range(1, 2), failing()), false,
		    first, 4, -EPROTO);
}

static void then_needs_both(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_then(NULL, weir_flow_empty()),
		weir_flow_then(weir_flow_empty(), NULL),
	};

	assert_refused_all(flows, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_flow_beside_gets_the_items_too),
		cmocka_unit_test(the_flow_beside_may_end_first),
		cmocka_unit_test(what_it_emits_is_dropped),
		cmocka_unit_test(without_a_flow_beside_it_is_refused),
		cmocka_unit_test(an_error_reaches_both),
		cmocka_unit_test(a_flow_that_fails_beside_fails_the_operator),
		cmocka_unit_test(a_tap_that_fails_ends_alone),
		cmocka_unit_test(a_slow_flow_beside_sets_the_pace),
		cmocka_unit_test(a_slow_tap_misses_items),
		cmocka_unit_test(a_stuck_tap_that_gives_up_holds_nothing_back),
		cmocka_unit_test(a_tap_in_a_run_of_its_own_holds_nothing_back),
		cmocka_unit_test(a_cancel_drops_what_waits_for_a_tap),
		cmocka_unit_test(downstream_ends_both),
		cmocka_unit_test(then_drops_the_items_before),
		cmocka_unit_test(then_does_not_go_on_behind_an_error),
		cmocka_unit_test(then_needs_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
