/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors that wait for the other parts: of flows that are made. */
#include "flow/op_delay_kit.h"

/* --- Flows that are made -------------------------------------------------- */

static struct {
	struct weir_flow *flows[PLAYED_MAX]; /* until they are made */
	enum weir_directive directive;
} makes = {.directive = WEIR_DIRECTIVE_STOP};

/* Of 1 and 2 the flows `b` and `c`; of 9 none. */
static struct weir_flow *make_tap(void *item, void *context)
{
	intptr_t value = number(item);
	struct weir_flow *flow;

	item_drop(item, NULL);
	if (value == 9)
		return NULL;
	assert_in_range(value, 1, 2);
	flow = makes.flows[value];
	makes.flows[value] = NULL;
	return flow;
}

static enum weir_directive decide(struct weir_error *error, void *context)
{
	return makes.directive;
}

/* Frees what was never made. */
static void forget_flows(void)
{
	size_t i;

	for (i = 1; i < PLAYED_MAX; i++) {
		weir_flow_free(makes.flows[i]);
		makes.flows[i] = NULL;
	}
}

static struct weir_flow *begin_makes(struct weir_flow *const *taps)
{
	forget_flows();
	tell_apart(taps, makes.flows);
	return makes.flows[0];
}

static struct weir_flow *made(struct weir_flow *flow)
{
	flow = delayed(weir_flow_items(flow, &counted_items));
	return weir_flow_supervise(flow, decide, NULL);
}

static struct weir_flow *flat_map_of(struct weir_flow *const *taps)
{
	return made(weir_flow_flat_map(begin_makes(taps), 2, make_tap, NULL));
}

static struct weir_flow *flat_map_of_one(struct weir_flow *const *taps)
{
	return made(weir_flow_flat_map(begin_makes(taps), 1, make_tap, NULL));
}

static struct weir_flow *ordered_of(struct weir_flow *const *taps)
{
	return made(weir_flow_flat_map_ordered(begin_makes(taps), 2, 4,
					       make_tap, NULL));
}

static struct weir_flow *switch_map_of(struct weir_flow *const *taps)
{
	return made(weir_flow_switch_map(begin_makes(taps), make_tap, NULL));
}

static void a_made_flow_that_fails_has_ended(void **state)
{
	assert_played(flat_map_of, "a1 +b a2 +c b5 5 b! c6 6 a| c7 7 c| !33");
	assert_played(flat_map_of, "a1 +b b! a2 +c c6 6 c! a| !33");
	assert_played(flat_map_of_one, "a1 +b a2 b5 5 b! +c c6 6 c| a| !33");
	assert_played(ordered_of, "a1 +b a2 +c c6 b5 5 b! 6 c7 7 c| a| !33");
	assert_played(switch_map_of, "a1 +b b5 5 b! a2 +c c6 6 c| a| !33");
	forget_flows();
}

static void when_upstream_fails_the_made_flows_go_on(void **state)
{
	assert_played(flat_map_of, "a1 +b a2 +c a! b5 5 b| c6 6 c| !");
	assert_played(flat_map_of, "a1 +b a! b5 5 b! !");
	assert_played(flat_map_of, "a! !");
	assert_played(ordered_of, "a1 +b a2 +c a! c6 b5 5 b! 6 c| !");
	assert_played(switch_map_of, "a1 +b a! b5 5 b| !");
	forget_flows();
}

static void when_none_is_made_those_that_were_go_on(void **state)
{
	assert_played(flat_map_of, "a1 +b a9 -a b5 5 b! !22");
	assert_played(flat_map_of, "a9 -a !22");
	assert_played(flat_map_of_one, "a1 +b a9 b5 5 b| -a !22");
	assert_played(ordered_of, "a1 +b a9 -a b5 5 b| !22");
	/* the one before it is cancelled, as for any item */
	assert_played(switch_map_of, "a1 +b a9 -a -b !22");
	makes.directive = WEIR_DIRECTIVE_RESUME;
	assert_played(flat_map_of, "a1 +b a9 b5 5 b! a2 +c c| a| !33");
	/* what has come is kept, and those that are open are not */
	makes.directive = WEIR_DIRECTIVE_RESTART;
	assert_played(flat_map_of, "a1 +b b! a2 +c a9 -c a| !33");
	makes.directive = WEIR_DIRECTIVE_STOP;
	forget_flows();
}

static void a_flow_that_was_left_for_another_cannot_fail(void **state)
{
	assert_played(switch_map_of, "a1 +b a2 -b +c c6 6 a| c| |");
	forget_flows();
}

/* What needs an actor of its own cannot be made of 2. */
static struct weir_flow *unfit_for_2(void *item, void *context)
{
	if ((intptr_t)item == 2)
		return weir_flow_buffer(weir_flow_single(item), 4,
					WEIR_OVERFLOW_FAIL);
	return weir_flow_concat((struct weir_flow *[]){weir_flow_single(item),
						       weir_flow_never()},
				2);
}

static void a_made_flow_that_cannot_run_ends_it_at_once(void **state)
{
	struct heard heard = {0};
	struct weir_flow *flow =
		weir_flow_flat_map(weir_flow_range(1, 2), 2, unfit_for_2, NULL);
	struct weir_error *error = error_of(heard_by(flow, &heard));

	assert_int_equal(error->code, -ENOTSUP);
	weir_error_unref(error);
	ASSERT_HEARD(&heard, -ENOTSUP);
}

/* --- Parts of a stream ---------------------------------------------------- */

static int not_bad(void **item, void *context)
{
	return (intptr_t)*item == *(const intptr_t *)context ? -EPROTO : 0;
}

static struct weir_flow *compose(struct weir_flow *up, void *context)
{
	return weir_flow_map(up, not_bad, context);
}

static struct weir_flow *compose_for(struct weir_flow *up, uintptr_t key,
				     void *context)
{
	return compose(up, context);
}

static struct weir_flow *none_behind_4(struct weir_flow *up, void *context)
{
	intptr_t *n = context;

	if (*n < 2) {
		++*n;
		return up;
	}
	*n = 0;
	weir_flow_free(up);
	return NULL;
}

static int parity(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)item % 2;
	return 0;
}

static int is_third(void *item, void *context)
{
	return (intptr_t)item % 3 == 0;
}

static struct weir_flow *window_by_of(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return delayed(weir_flow_window_by(taps[0], taps[1], as_it_is, NULL));
}

static void a_boundary_that_fails_has_ended(void **state)
{
	assert_played(window_by_of, "a1 1 b! a2 2 a| !");
}

static void a_part_of_the_stream_that_fails_has_ended(void **state)
{
	static const struct weir_flow_window_options threes = {.n = 3};
	intptr_t bad = 2, n = 0;
	struct weir_flow *flow;

	flow = weir_flow_group_by(weir_flow_range(1, 6), 2, parity, compose_for,
				  &bad, NULL);
	ASSERT_FLOW(delayed(flow), -EPROTO, 1, 3, 5);
	flow = weir_flow_split_after(weir_flow_range(1, 7), is_third, compose,
				     &bad);
	ASSERT_FLOW(delayed(flow), -EPROTO, 1, 4, 5, 6, 7);
	flow = weir_flow_split_when(weir_flow_range(1, 7), is_third, compose,
				    &bad);
	ASSERT_FLOW(delayed(flow), -EPROTO, 1, 3, 4, 5, 6, 7);
	flow = weir_flow_window(weir_flow_range(1, 7), &threes, compose, &bad);
	ASSERT_FLOW(delayed(flow), -EPROTO, 1, 4, 5, 6, 7);
	flow = weir_flow_split_after(weir_flow_range(1, 7), is_third,
				     none_behind_4, &n);
	ASSERT_FLOW(delayed(flow), -EINVAL, 1, 2, 3, 4, 5, 6);
}

static void an_error_from_upstream_ends_the_parts_well(void **state)
{
	static const struct weir_flow_window_options threes = {.n = 3};
	intptr_t bad = 3, never = 0;
	struct weir_flow *flow =
		weir_flow_map(weir_flow_range(1, 6), not_bad, &bad);
	struct heard heard = {0};

	flow = weir_flow_window(flow, &threes, compose, &never);
	ASSERT_FLOW(weir_flow_count(weir_flow_complete_on_error(
			    heard_by(flow, &heard), NULL, NULL)),
		    0, 2);
	assert_true(heard.n > 0);
}

static int parity_but_of_3(void *item, uintptr_t *key, void *context)
{
	return (intptr_t)item == 3 ? -EDOM : parity(item, key, context);
}

static size_t n_groups_failed;

static void group_failed(struct weir_error *error, void *context)
{
	assert_int_equal(error->code, -EDOM);
	n_groups_failed++;
}

static struct weir_flow *compose_heard(struct weir_flow *up, uintptr_t key,
				       void *context)
{
	static const struct weir_flow_peek_functions hooks = {
		.failed = group_failed,
	};

	return weir_flow_peek(up, &hooks, NULL);
}

static struct weir_flow *without_key(void)
{
	return weir_flow_group_by(weir_flow_range(1, 5), 2, parity_but_of_3,
				  compose_heard, NULL, NULL);
}

static void an_error_of_its_own_is_that_of_its_parts_and_told_once(void **state)
{
	struct heard heard = {0}, around = {0};
	struct weir_flow *both[] = {heard_by(without_key(), &heard),
				    without_key()};
	struct weir_flow *flow = heard_by(weir_flow_concat(both, 2), &around);

	n_groups_failed = 0;
	weir_error_unref(error_of(flow));
	ASSERT_HEARD(&heard, -EDOM);
	ASSERT_HEARD(&around, -EDOM, -EDOM);
	assert_int_equal(n_groups_failed, 4);
}

/* --- Beginning again ------------------------------------------------------ */

static struct weir_flow *seven(struct weir_error *error, void *context)
{
	return weir_flow_single((void *)7);
}

static void a_part_that_begins_again_has_not_failed(void **state)
{
	struct heard heard = {0};
	struct weir_flow *flows[] = {
		weir_flow_resume_with(failure(-EIO), seven, NULL),
		weir_flow_range(1, 2),
	};

	ASSERT_FLOW(heard_by(weir_flow_concat(flows, 2), &heard), 0, 7, 1, 2);
	assert_int_equal(heard.n, 0);
}

static struct weir_flow *failing_and_two(void *context)
{
	struct weir_flow *flows[] = {failure(-EIO), weir_flow_range(1, 2)};

	return delayed(weir_flow_concat(flows, 2));
}

static void what_is_below_begins_again_behind_all_items(void **state)
{
	static const struct weir_limit twice = {.max = 2,
						.within_ns = 1000000000};
	const struct weir_flow_restart_options options = {.limit = &twice};

	ASSERT_FLOW(weir_flow_resume_with(failing_and_two(NULL), seven, NULL),
		    0, 1, 2, 7);
	ASSERT_FLOW(weir_flow_restart(failing_and_two, NULL, &options), -EIO, 1,
		    2, 1, 2, 1, 2);
}

static struct weir_flow *beside_a_failure(struct weir_flow *up, void *context)
{
	struct weir_flow *flows[] = {failure(-EIO), up};

	return delayed(weir_flow_merge(flows, 2));
}

/* The error comes behind upstream's end, and is final. */
static void made_around_upstream_it_is_made_once(void **state)
{
	ASSERT_FLOW(weir_flow_restart_around(weir_flow_range(1, 3),
					     beside_a_failure, NULL, NULL),
		    -EIO, 1, 2, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_made_flow_that_fails_has_ended),
		cmocka_unit_test(when_upstream_fails_the_made_flows_go_on),
		cmocka_unit_test(when_none_is_made_those_that_were_go_on),
		cmocka_unit_test(a_flow_that_was_left_for_another_cannot_fail),
		cmocka_unit_test(a_made_flow_that_cannot_run_ends_it_at_once),
		cmocka_unit_test(a_boundary_that_fails_has_ended),
		cmocka_unit_test(a_part_of_the_stream_that_fails_has_ended),
		cmocka_unit_test(an_error_from_upstream_ends_the_parts_well),
		cmocka_unit_test(
			an_error_of_its_own_is_that_of_its_parts_and_told_once),
		cmocka_unit_test(a_part_that_begins_again_has_not_failed),
		cmocka_unit_test(what_is_below_begins_again_behind_all_items),
		cmocka_unit_test(made_around_upstream_it_is_made_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
