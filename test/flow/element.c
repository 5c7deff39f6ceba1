/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators over single items. */
#include "flow/kit.h"

static int is_odd(void *item, void *context)
{
	return (intptr_t)item % 2;
}

static int halve(void **item, void *context)
{
	if ((intptr_t)*item % 2)
		return 0;
	*item = (void *)((intptr_t)*item / 2);
	return 1;
}

static int below_4(void *item, void *context)
{
	return (intptr_t)item < 4;
}

static int item_below_4(void *item, void *context)
{
	return ((struct item *)item)->value < 4;
}

static int plus_index(void **item, uint64_t index, void *context)
{
	*item = (void *)((intptr_t)*item * 100 + (intptr_t)index);
	return 0;
}

static int tens(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)item / 10;
	return 0;
}

static int no_threes(void **item, void *context)
{
	return (intptr_t)*item == 3 ? -EDOM : 0;
}

static int no_threes_asked(void *item, void *context)
{
	return (intptr_t)item == 3 ? -EDOM : 1;
}

static int no_item_threes(void *item, void *context)
{
	return ((struct item *)item)->value == 3 ? -EDOM : 1;
}

/* --- One or none ---------------------------------------------------------- */

static void filter_asks_for_what_it_drops_again(void **state)
{
	struct weir_flow *flow =
		weir_flow_filter(weir_flow_range(1, 9), is_odd, NULL);

	ASSERT_FLOW(weir_flow_take(flow, 3), 0, 1, 3, 5);
}

static void filter_map_does_both(void **state)
{
	ASSERT_FLOW(weir_flow_filter_map(weir_flow_range(1, 6), halve, NULL), 0,
		    1, 2, 3);
}

static void index_counts_from_0_in_each_run(void **state)
{
	ASSERT_FLOW(weir_flow_index(weir_flow_range(7, 9), plus_index, NULL), 0,
		    700, 801, 902);
}

static void distinct_until_changed_compares_with_the_one_before(void **state)
{
	static void *const items[] = {(void *)11, (void *)12, (void *)21,
				      (void *)11, (void *)11};
	struct weir_flow *flow = weir_flow_array(items, 5);

	ASSERT_FLOW(weir_flow_distinct_until_changed(flow, NULL, NULL), 0, 11,
		    12, 21, 11);
	flow = weir_flow_array(items, 5);
	ASSERT_FLOW(weir_flow_distinct_until_changed(flow, tens, NULL), 0, 11,
		    21, 11);
}

/* --- The first, the rest -------------------------------------------------- */

static void take_cancels_on_the_nth(void **state)
{
	ASSERT_COUNTED_FLOW(weir_flow_take(weir_flow_range(1, INT64_MAX), 3), 0,
			    1, 2, 3);
}

static void take_0_completes_though_upstream_never_does(void **state)
{
	assert_flow(weir_flow_take(weir_flow_never(), 0), false, NULL, 0, 0);
}

static void take_more_than_there_is_takes_all(void **state)
{
	ASSERT_FLOW(weir_flow_take(weir_flow_range(1, 2), 5), 0, 1, 2);
	ASSERT_FLOW(weir_flow_take(weir_flow_range(1, 2), SIZE_MAX), 0, 1, 2);
	ASSERT_FLOW(weir_flow_limit(weir_flow_range(1, 2), SIZE_MAX), 0, 1, 2);
}

static void drop_leaves_the_rest(void **state)
{
	static const intptr_t rest[] = {4, 5};
	struct weir_flow *flow = counted(weir_flow_range(1, 5));

	assert_flow(weir_flow_drop(flow, 3), true, rest, 2, 0);
	assert_flow(weir_flow_drop(weir_flow_range(1, 5), 5), false, NULL, 0,
		    0);
	assert_flow(weir_flow_drop(weir_flow_range(1, 5), SIZE_MAX), false,
		    NULL, 0, 0);
	ASSERT_FLOW(weir_flow_drop(weir_flow_range(1, 2), 0), 0, 1, 2);
}

static void take_while_ends_with_the_first_that_is_not_wanted(void **state)
{
	static const intptr_t first[] = {1, 2, 3}, inclusive[] = {1, 2, 3, 4};
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));

	flow = weir_flow_take_while(flow, item_below_4, NULL, false);
	assert_flow(flow, true, first, 3, 0);
	flow = counted(weir_flow_range(1, INT64_MAX));
	flow = weir_flow_take_while(flow, item_below_4, NULL, true);
	assert_flow(flow, true, inclusive, 4, 0);
}

static void drop_while_asks_no_more_once_it_has_found_one(void **state)
{
	static void *const items[] = {(void *)1, (void *)5, (void *)2};
	struct weir_flow *flow = weir_flow_array(items, 3);

	ASSERT_FLOW(weir_flow_drop_while(flow, below_4, NULL), 0, 5, 2);
}

static void limit_fails_beyond_it(void **state)
{
	static const intptr_t all[] = {1, 2, 3};
	struct weir_flow *flow = counted(weir_flow_range(1, 4));

	assert_flow(weir_flow_limit(flow, 3), true, all, 3, -EMSGSIZE);
	flow = counted(weir_flow_range(1, 3));
	assert_flow(weir_flow_limit(flow, 3), true, all, 3, 0);
}

static uint64_t weight(void *item, void *context)
{
	return (uint64_t)((struct item *)item)->value;
}

static void limit_weighted_fails_beyond_the_weight(void **state)
{
	static const intptr_t all[] = {1, 2, 3};
	struct weir_flow *flow = counted(weir_flow_range(1, 4));

	flow = weir_flow_limit_weighted(flow, 9, weight, NULL);
	assert_flow(flow, true, all, 3, -EMSGSIZE);
	flow = counted(weir_flow_range(1, 3));
	flow = weir_flow_limit_weighted(flow, 6, weight, NULL);
	assert_flow(flow, true, all, 3, 0);
	flow = counted(weir_flow_range(-1, 3));
	flow = weir_flow_limit_weighted(flow, 6, weight, NULL);
	assert_flow(flow, true, all, 0, -EMSGSIZE);
}

/* --- Several for one, and state ------------------------------------------- */

static int times(void *item, uint64_t i, void **out, void *context)
{
	*out = item;
	return i < (uint64_t)(uintptr_t)item;
}

static int item_times(void *memory, uint64_t i, void **out, void *context)
{
	struct item *item = memory;

	if (i >= (uint64_t)item->value)
		return 0;
	*out = item_new(item->value);
	return 1;
}

static int times_to_last(void *item, uint64_t i, void **out, void *context)
{
	int rc = times(item, i, out, context);

	return rc == 1 && i + 1 == (uint64_t)(uintptr_t)item ? WEIR_NEXT_LAST
							     : rc;
}

static void the_last_of_several_may_be_said_to_be(void **state)
{
	ASSERT_FLOW(weir_flow_map_concat(weir_flow_range(0, 3), times_to_last,
					 NULL),
		    0, 1, 2, 2, 3, 3, 3);
}

static void expand_keeps_what_is_left_until_it_is_asked_for(void **state)
{
	ASSERT_FLOW(weir_flow_map_concat(weir_flow_range(0, 3), times, NULL), 0,
		    1, 2, 2, 3, 3, 3);
}

static void expand_drops_what_it_is_made_of(void **state)
{
	static const intptr_t expected[] = {1, 2, 2, 3};
	struct weir_flow *flow = counted(weir_flow_range(0, 9));

	flow = weir_flow_items(weir_flow_map_concat(flow, item_times, NULL),
			       &counted_items);
	assert_flow(weir_flow_take(flow, 4), true, expected, 4, 0);
}

static int n_states;

static int create(void **self, void *context)
{
	n_states++;
	*self = (void *)0;
	return 0;
}

/* Puts out every second item, added to the one before it. */
static int pair(void **self, void **item, void *context)
{
	intptr_t before = (intptr_t)*self;

	if ((intptr_t)*item == 66)
		return -EDOM;
	if (!before) {
		*self = *item;
		return 0;
	}
	*item = (void *)(before * 10 + (intptr_t)*item);
	*self = NULL;
	return 1;
}

static int last_one(void **self, void **item, void *context)
{
	*item = *self;
	*self = NULL;
	return *item != NULL;
}

static void destroy(void *self, void *context)
{
	n_states--;
}

static const struct weir_flow_stateful_map_functions pairs = {
	create, pair, last_one, destroy};

static void a_state_is_made_for_each_run_and_flushed(void **state)
{
	ASSERT_FLOW(weir_flow_stateful_map(weir_flow_range(1, 5), &pairs, NULL),
		    0, 12, 34, 5);
	ASSERT_FLOW(weir_flow_stateful_map(weir_flow_range(1, 4), &pairs, NULL),
		    0, 12, 34);
	assert_int_equal(n_states, 0);
}

static void a_state_is_destroyed_when_it_fails(void **state)
{
	ASSERT_FLOW(weir_flow_stateful_map(weir_flow_range(64, 70), &pairs,
					   NULL),
		    -EDOM, 64 * 10 + 65);
	assert_int_equal(n_states, 0);
}

/* --- Supervision ---------------------------------------------------------- */

static enum weir_directive say(struct weir_error *error, void *context)
{
	assert_int_equal(error->code, -EDOM);
	return *(enum weir_directive *)context;
}

static enum weir_directive stop = WEIR_DIRECTIVE_STOP,
			   resume = WEIR_DIRECTIVE_RESUME,
			   restart = WEIR_DIRECTIVE_RESTART;

/* 1..5, 1..5, of which 3 fails. */
static struct weir_flow *twice(void)
{
	static void *const items[] = {(void *)1, (void *)2, (void *)3,
				      (void *)4, (void *)5, (void *)1,
				      (void *)2, (void *)3, (void *)4,
				      (void *)5};

	return weir_flow_array(items, 10);
}

static void a_failure_is_decided_upon(void **state)
{
	struct weir_flow *flow = weir_flow_map(twice(), no_threes, NULL);

	ASSERT_FLOW(weir_flow_supervise(flow, say, &stop), -EDOM, 1, 2);
	flow = weir_flow_map(twice(), no_threes, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, say, &resume), 0, 1, 2, 4, 5, 1,
		    2, 4, 5);
	flow = weir_flow_filter(twice(), no_threes_asked, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, say, &restart), 0, 1, 2, 4, 5, 1,
		    2, 4, 5);
}

static void the_innermost_decision_counts(void **state)
{
	struct weir_flow *flow = weir_flow_map(twice(), no_threes, NULL);

	flow = weir_flow_supervise(flow, say, &resume);
	flow = weir_flow_filter(flow, is_odd, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, say, &stop), 0, 1, 5, 1, 5);
}

static void a_restart_makes_the_state_anew(void **state)
{
	static void *const items[] = {(void *)1, (void *)66, (void *)2,
				      (void *)3};
	struct weir_flow *flow = weir_flow_array(items, 4);

	flow = weir_flow_stateful_map(flow, &pairs, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, say, &restart), 0, 23);
	flow = weir_flow_array(items, 4);
	flow = weir_flow_stateful_map(flow, &pairs, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, say, &resume), 0, 12, 3);
	assert_int_equal(n_states, 0);
}

static void what_fails_is_dropped_once(void **state)
{
	static const intptr_t expected[] = {1, 2, 4, 5};
	struct weir_flow *flow = counted(weir_flow_range(1, 5));

	flow = weir_flow_filter(flow, no_item_threes, NULL);
	assert_flow(weir_flow_supervise(flow, say, &resume), true, expected, 4,
		    0);
	flow = counted(weir_flow_range(1, 5));
	flow = weir_flow_filter(flow, no_item_threes, NULL);
	assert_flow(flow, true, expected, 2, -EDOM);
}

/* --- peek ----------------------------------------------------------------- */

struct seen {
	int started, requests, items, completed, failed, cancelled, ended;
};

static void see_start(void *context)
{
	((struct seen *)context)->started++;
}

static void see_request(size_t n, void *context)
{
	assert_true(n > 0);
	((struct seen *)context)->requests++;
}

static void see_item(void *item, void *context)
{
	((struct seen *)context)->items++;
}

static void see_complete(void *context)
{
	((struct seen *)context)->completed++;
}

static void see_failure(struct weir_error *error, void *context)
{
	assert_int_equal(error->code, -EDOM);
	((struct seen *)context)->failed++;
}

static void see_cancel(void *context)
{
	((struct seen *)context)->cancelled++;
}

static void see_end(void *context)
{
	((struct seen *)context)->ended++;
}

static const struct weir_flow_peek_functions hooks = {
	see_start,   see_request, see_item, see_complete,
	see_failure, see_cancel,  see_end,
};

static void peek(struct weir_flow *flow, struct seen *seen, int64_t n)
{
	*seen = (struct seen){0};
	flow = weir_flow_take(weir_flow_peek(flow, &hooks, seen), n);
	flow = weir_flow_ignore(flow);
	(void)run_on_sim(flow, 1, 0);
	weir_flow_free(flow);
	assert_int_equal(seen->started, 1);
	assert_int_equal(seen->ended, 1);
	assert_true(seen->requests > 0);
}

static void peek_tells_how_a_stream_ends(void **state)
{
	struct seen seen;

	peek(weir_flow_range(1, 5), &seen, 100);
	assert_int_equal(seen.items, 5);
	assert_int_equal(seen.completed, 1);
	assert_int_equal(seen.failed + seen.cancelled, 0);
	peek(weir_flow_map(weir_flow_range(1, 5), no_threes, NULL), &seen, 100);
	assert_int_equal(seen.items, 2);
	assert_int_equal(seen.failed, 1);
	assert_int_equal(seen.completed + seen.cancelled, 0);
	peek(weir_flow_range(1, 5), &seen, 2);
	assert_int_equal(seen.items, 2);
	assert_int_equal(seen.cancelled, 1);
	assert_int_equal(seen.completed + seen.failed, 0);
}

static void functions_are_needed(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_map(weir_flow_empty(), NULL, NULL),
		weir_flow_map_n(weir_flow_empty(), NULL, NULL),
		weir_flow_index(weir_flow_empty(), NULL, NULL),
		weir_flow_filter(weir_flow_empty(), NULL, NULL),
		weir_flow_filter_map(weir_flow_empty(), NULL, NULL),
		weir_flow_limit_weighted(weir_flow_empty(), 1, NULL, NULL),
		weir_flow_take_while(weir_flow_empty(), NULL, NULL, false),
		weir_flow_drop_while(weir_flow_empty(), NULL, NULL),
		weir_flow_map_concat(weir_flow_empty(), NULL, NULL),
		weir_flow_stateful_map(weir_flow_empty(), NULL, NULL),
		weir_flow_peek(weir_flow_empty(), NULL, NULL),
		weir_flow_supervise(weir_flow_empty(), NULL, NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filter_asks_for_what_it_drops_again),
		cmocka_unit_test(filter_map_does_both),
		cmocka_unit_test(index_counts_from_0_in_each_run),
		cmocka_unit_test(
			distinct_until_changed_compares_with_the_one_before),
		cmocka_unit_test(take_cancels_on_the_nth),
		cmocka_unit_test(take_0_completes_though_upstream_never_does),
		cmocka_unit_test(take_more_than_there_is_takes_all),
		cmocka_unit_test(drop_leaves_the_rest),
		cmocka_unit_test(
			take_while_ends_with_the_first_that_is_not_wanted),
		cmocka_unit_test(drop_while_asks_no_more_once_it_has_found_one),
		cmocka_unit_test(limit_fails_beyond_it),
		cmocka_unit_test(limit_weighted_fails_beyond_the_weight),
		cmocka_unit_test(the_last_of_several_may_be_said_to_be),
		cmocka_unit_test(
			expand_keeps_what_is_left_until_it_is_asked_for),
		cmocka_unit_test(expand_drops_what_it_is_made_of),
		cmocka_unit_test(a_state_is_made_for_each_run_and_flushed),
		cmocka_unit_test(a_state_is_destroyed_when_it_fails),
		cmocka_unit_test(a_failure_is_decided_upon),
		cmocka_unit_test(the_innermost_decision_counts),
		cmocka_unit_test(a_restart_makes_the_state_anew),
		cmocka_unit_test(what_fails_is_dropped_once),
		cmocka_unit_test(peek_tells_how_a_stream_ends),
		cmocka_unit_test(functions_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
