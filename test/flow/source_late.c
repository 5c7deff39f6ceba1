/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that begin when they are first asked: lazy, defer. */
#include "flow/fan_kit.h"

/* --- lazy ----------------------------------------------------------------- */

static struct weir_flow *lazy_concat(struct weir_flow *const *taps)
{
	struct weir_flow *parts[] = {taps[0], weir_flow_lazy(taps[1]),
				     weir_flow_lazy(taps[2])};

	return weir_flow_concat(parts, 3);
}

static struct weir_flow *lazy_prepend(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_prepend(weir_flow_lazy(taps[1]), taps[0]);
}

static struct weir_flow *lazy_or_else(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_or_else(taps[0], weir_flow_lazy(taps[1]));
}

static struct weir_flow *lazy_merge(struct weir_flow *const *taps)
{
	struct weir_flow *parts[] = {taps[0], weir_flow_lazy(taps[1])};

	weir_flow_free(taps[2]);
	return weir_flow_merge(parts, 2);
}

static void a_lazy_part_begins_when_its_turn_comes(void **state)
{
	assert_played(lazy_concat, "a1 1 a| +b b2 2 b| +c c3-4 3 4 c| |");
	assert_played(lazy_prepend, "a1 1 a| +b b2 2 b| |");
	assert_played(lazy_or_else, "a| +b b2 2 b! !");
}

static void it_does_not_begin_if_its_turn_does_not_come(void **state)
{
	assert_played(lazy_concat, "a1 1 a! !");
	assert_played(lazy_concat, "a1 1 a| +b b! !");
	assert_played(lazy_or_else, "a1 1 a| |");
}

static void a_part_that_is_asked_at_once_begins_with_the_run(void **state)
{
	assert_played(lazy_merge, "b2 2 a1 1 a| b| |");
}

#define SECOND_NS UINT64_C(1000000000)

/* A timeout of a second in the second part, the first part takes five. */
static struct weir_flow *with_timeout(bool lazy)
{
	struct weir_flow *parts[2];

	parts[0] =
		weir_flow_delay(weir_flow_single((void *)1), 5 * SECOND_NS, 1);
	parts[1] =
		weir_flow_delay(weir_flow_single((void *)2), SECOND_NS / 2, 1);
	parts[1] = weir_flow_initial_timeout(parts[1], SECOND_NS);
	parts[1] = weir_flow_completion_timeout(parts[1], SECOND_NS);
	if (lazy)
		parts[1] = weir_flow_lazy(parts[1]);
	return weir_flow_concat(parts, 2);
}

static void timers_of_a_lazy_part_start_with_it(void **state)
{
	ASSERT_FLOW(with_timeout(true), 0, 1, 2);
}

/* Why there is lazy. */
static void timers_of_other_parts_start_with_the_run(void **state)
{
	static struct got got;
	struct weir_flow *flow;

	got = (struct got){0};
	flow = into(with_timeout(false), &got);
	assert_int_equal(run_on_sim(flow, 1, 0), -ETIMEDOUT);
	weir_flow_free(flow);
}

static struct weir_flow *lazies_upon_each_other(struct weir_flow *const *taps)
{
	struct weir_flow *inner[] = {taps[1], weir_flow_lazy(taps[2])};
	struct weir_flow *outer[] = {
		taps[0], weir_flow_lazy(weir_flow_concat(inner, 2))};

	return weir_flow_lazy(weir_flow_concat(outer, 2));
}

/* The tap `a` is open since the run was first driven. */
static void lazy_parts_may_have_lazy_parts(void **state)
{
	assert_played(lazies_upon_each_other,
		      "a1 1 a| +b b2 2 b| +c c3 3 c| |");
}

/* A part that is asked begins also if nothing is taken of it. */
static void an_empty_part_ends_without_demand(void **state)
{
	assert_flow(weir_flow_lazy(weir_flow_empty()), false, NULL, 0, 0);
}

static void what_it_emits_is_dropped_as_items_of_the_flow(void **state)
{
	static const intptr_t expected[] = {2, 3};
	struct weir_flow *flow = weir_flow_lazy(counted(weir_flow_range(1, 3)));

	assert_flow(weir_flow_drop(flow, 1), true, expected, 2, 0);
}

static int zero(void **result, void *context)
{
	*result = item_new(0);
	return 0;
}

static int add_up(void **result, void *item, void *context)
{
	((struct item *)*result)->value += (intptr_t)item;
	return 0;
}

/* The result is dropped by the fold, which is inside. */
static void items_said_of_it_are_those_of_the_flow(void **state)
{
	static const struct weir_flow_fold_functions sum = {zero, add_up};
	struct weir_flow *parts[] = {weir_flow_range(1, 3),
				     weir_flow_fail(-EIO, "behind them")};
	struct weir_flow *flow =
		weir_flow_fold(weir_flow_concat(parts, 2), &sum, NULL);

	flow = weir_flow_items(weir_flow_lazy(flow), &counted_items);
	assert_flow(flow, true, NULL, 0, -EIO);
}

/* Though there is a boundary in it, there is none between it and the concat. */
static void a_boundary_within_does_not_begin_it(void **state)
{
	struct tap taps[2] = {0};
	struct weir_flow *parts[] = {tap_flow(&taps[0]),
				     weir_flow_async(tap_flow(&taps[1]), 2,
						     NULL)};
	static struct got got;
	struct trial trial;

	got = (struct got){0};
	parts[1] = weir_flow_take(weir_flow_lazy(parts[1]), 5);
	begin(&trial, into(weir_flow_concat(parts, 2), &got), 1, 0);
	assert_non_null(taps[0].op);
	assert_null(taps[1].op);
	tap_end(&taps[0], 0);
	rest(&trial);
	assert_non_null(taps[1].op);
	assert_int_equal(end(&trial), -ECANCELED);
}

/* An actor of its own could not be added to a run. */
static void what_needs_an_actor_cannot_be_lazy(void **state)
{
	struct weir_flow *outlet = NULL, *flow;

	(void)weir_flow_broadcast(weir_flow_range(1, 3), 1, &outlet, NULL);
	flow = weir_flow_ignore(weir_flow_lazy(outlet));
	assert_int_equal(weir_flow_check(flow, NULL, NULL), 0);
	assert_int_equal(run_on_sim(flow, 1, 0), -ENOTSUP);
	weir_flow_free(flow);
	ASSERT_FLOW(
		weir_flow_lazy(weir_flow_async(weir_flow_range(1, 3), 2, NULL)),
		0, 1, 2, 3);
}

/* --- defer ---------------------------------------------------------------- */

struct making {
	intptr_t n; /* how often */
	struct weir_flow *(*make)(intptr_t n);
};

static struct weir_flow *make(void *context)
{
	struct making *making = context;

	return making->make(++making->n);
}

static struct weir_flow *up_to_n(intptr_t n)
{
	return counted(weir_flow_range(1, n));
}

static struct weir_flow *none(intptr_t n)
{
	return NULL;
}

static struct weir_flow *bad(intptr_t n)
{
	return weir_flow_grouped(weir_flow_range(1, n), 0);
}

static struct weir_flow *failing(intptr_t n)
{
	return weir_flow_fail(-EIO, "made so");
}

static struct weir_flow *plain(intptr_t n)
{
	return weir_flow_range(1, n);
}

static struct weir_flow *with_an_actor(intptr_t n)
{
	return weir_flow_buffer(up_to_n(n), 1, WEIR_OVERFLOW_BACK_PRESSURE);
}

static void a_flow_is_made_for_each_run(void **state)
{
	struct making making = {0, up_to_n};
	struct weir_flow *flow = weir_flow_defer(make, &making);
	static struct got got;
	intptr_t i;

	flow = into(weir_flow_items(flow, &counted_items), &got);
	for (i = 1; i <= 3; i++) {
		got = (struct got){.counted = true};
		assert_int_equal(run_on_sim(flow, 1, 0), 0);
		assert_int_equal(got.n, i);
		assert_int_equal(making.n, i);
	}
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
}

static struct got got;

/* A tap, and behind its end what is made then. */
static void begin_behind(struct tap *tap, struct making *making,
			 struct trial *trial)
{
	struct weir_flow *made = weir_flow_defer(make, making);
	struct weir_flow *parts[] = {
		counted(tap_flow(tap)),
		weir_flow_items(made, &counted_items),
	};

	got = (struct got){.counted = true};
	begin(trial, into(weir_flow_concat(parts, 2), &got), 1, 0);
}

static void it_is_made_when_its_turn_comes(void **state)
{
	struct making making = {0, up_to_n};
	struct tap tap = {0};
	struct trial trial;

	begin_behind(&tap, &making, &trial);
	assert_int_equal(making.n, 0);
	tap_end(&tap, 0);
	rest(&trial);
	assert_int_equal(making.n, 1);
	assert_int_equal(end(&trial), 0);
	assert_int_equal(got.n, 1);
}

/* From a drain on nothing begins. */
static void a_drain_keeps_parts_from_beginning(void **state)
{
	struct making making = {0, up_to_n};
	struct tap tap = {0};
	struct trial trial;

	begin_behind(&tap, &making, &trial);
	tap_give(&tap, 1, 2);
	rest(&trial);
	weir_flow_run_end(trial.run);
	rest(&trial);
	assert_true(is_over(&trial));
	assert_int_equal(got.n, 2);
	assert_int_equal(making.n, 0);
	assert_int_equal(end(&trial), 0);
}

static void assert_not_made(struct weir_flow *(*one)(intptr_t n), int code)
{
	struct making making = {0, one};
	struct weir_flow *flow = weir_flow_defer(make, &making);

	flow = weir_flow_ignore(weir_flow_items(flow, &counted_items));
	assert_int_equal(run_on_sim(flow, 1, 0), code);
	assert_int_equal(making.n, 1);
	weir_flow_free(flow);
}

static void what_cannot_be_made_fails_the_stream(void **state)
{
	assert_not_made(none, -EINVAL);
	assert_not_made(bad, -EINVAL);
	assert_not_made(failing, -EIO);
	assert_not_made(plain, -EINVAL);
	assert_not_made(with_an_actor, -ENOTSUP);
}

static void a_flow_and_a_function_are_needed(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_defer(NULL, NULL),
		weir_flow_lazy(NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lazy_part_begins_when_its_turn_comes),
		cmocka_unit_test(it_does_not_begin_if_its_turn_does_not_come),
		cmocka_unit_test(
			a_part_that_is_asked_at_once_begins_with_the_run),
		cmocka_unit_test(timers_of_a_lazy_part_start_with_it),
		cmocka_unit_test(timers_of_other_parts_start_with_the_run),
		cmocka_unit_test(lazy_parts_may_have_lazy_parts),
		cmocka_unit_test(an_empty_part_ends_without_demand),
		cmocka_unit_test(what_it_emits_is_dropped_as_items_of_the_flow),
		cmocka_unit_test(items_said_of_it_are_those_of_the_flow),
		cmocka_unit_test(a_boundary_within_does_not_begin_it),
		cmocka_unit_test(what_needs_an_actor_cannot_be_lazy),
		cmocka_unit_test(a_flow_is_made_for_each_run),
		cmocka_unit_test(it_is_made_when_its_turn_comes),
		cmocka_unit_test(a_drain_keeps_parts_from_beginning),
		cmocka_unit_test(what_cannot_be_made_fails_the_stream),
		cmocka_unit_test(a_flow_and_a_function_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
