/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows inside of a flow, several at once, whose items come in order. */
#include "flow/memory_kit.h"
#include "flow/parts.h"

/* 1 -> 10, 11, 12 and so on. */
static struct weir_flow *three(void *item, void *context)
{
	intptr_t x = (intptr_t)item * 10;

	return weir_flow_range(x, x + 2);
}

static struct weir_flow *three_counted(void *memory, void *context)
{
	struct item *item = memory;
	intptr_t x = item->value * 10;

	item_drop(item, NULL);
	return counted(weir_flow_range(x, x + 2));
}

static struct weir_flow *no_items(void *item, void *context)
{
	return weir_flow_empty();
}

static struct weir_flow *ordered(struct weir_flow *flow, size_t breadth,
				 size_t prefetch,
				 struct weir_flow *(*of)(void *item,
							 void *context))
{
	return weir_flow_flat_map_ordered(flow, breadth, prefetch, of, NULL);
}

/* --- Order ---------------------------------------------------------------- */

static void items_come_as_if_one_ran_after_the_other(void **state)
{
	static const intptr_t expected[] = {10, 11, 12, 20, 21, 22};

	ASSERT_FLOW(ordered(weir_flow_range(1, 3), 2, 2, three), 0, 10, 11, 12,
		    20, 21, 22, 30, 31, 32);
	ASSERT_FLOW(ordered(weir_flow_range(1, 3), 9, 1, three), 0, 10, 11, 12,
		    20, 21, 22, 30, 31, 32);
	ASSERT_FLOW(ordered(weir_flow_range(1, 3), 1, 9, three), 0, 10, 11, 12,
		    20, 21, 22, 30, 31, 32);
	assert_flow(weir_flow_items(ordered(counted(weir_flow_range(1, 2)), 2,
					    2, three_counted),
				    &counted_items),
		    true, expected, 6, 0);
}

static void empty_flows_are_passed_over(void **state)
{
	static const intptr_t nothing[] = {0};

	assert_flow(ordered(weir_flow_range(1, 1000), 3, 1, no_items), false,
		    nothing, 0, 0);
	assert_flow(ordered(weir_flow_empty(), 3, 1, three), false, nothing, 0,
		    0);
}

/* Its items come 10 ms later, that of an odd item 30. */
static struct weir_flow *late(void *item, void *context)
{
	return weir_flow_delay(three(item, NULL),
			       ((intptr_t)item % 2 ? 30 : 10) * MS, 8);
}

static void they_run_at_once(void **state)
{
	static struct flow_world timed;

	flow_world_init(&timed, NULL);
	timed.flow = ordered(timed.flow, 4, 8, late);
	world_start(&timed, OPEN);
	flow_offer(&timed, 1, 4);
	until(&timed, 29 * MS);
	assert_int_equal(timed.got.n, 0);
	until(&timed, 30 * MS);
	ASSERT_OUT(&timed, 10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42);
	flow_world_end(&timed, 0);
}

static intptr_t n_open, n_asked[9];

static void asked_for(void *item, void *context)
{
	n_asked[(intptr_t)item / 10]++;
}

static struct weir_flow *noted(void *item, void *context)
{
	static const struct weir_flow_peek_functions hooks = {
		.item = asked_for};

	n_open++;
	if ((intptr_t)item == 1)
		return weir_flow_never();
	return weir_flow_peek(three(item, NULL), &hooks, NULL);
}

static void no_more_wait_than_prefetch(void **state)
{
	static struct flow_world waiting;

	n_open = 0;
	memset(n_asked, 0, sizeof(n_asked));
	flow_world_init(&waiting, NULL);
	waiting.flow = ordered(waiting.flow, 3, 2, noted);
	world_start(&waiting, OPEN);
	flow_offer(&waiting, 1, 8);
	until(&waiting, 0);
	assert_int_equal(n_open, 3);
	assert_int_equal(n_asked[2], 2);
	assert_int_equal(n_asked[3], 2);
	assert_int_equal(waiting.got.n, 0);
	weir_flow_run_stop(waiting.run, NULL);
	flow_world_end(&waiting, -ECANCELED);
}

/* --- Failures ------------------------------------------------------------- */

static int fails_on_21(void **item, void *context)
{
	return (intptr_t)*item == 21 ? -EDOM : 0;
}

static struct weir_flow *three_failing(void *item, void *context)
{
	return weir_flow_map(three(item, NULL), fails_on_21, NULL);
}

static void a_nested_failure_comes_behind_the_items_before_it(void **state)
{
	ASSERT_FLOW(ordered(weir_flow_range(1, 4), 4, 8, three_failing), -EDOM,
		    10, 11, 12, 20);
}

static void so_does_an_error_of_upstream(void **state)
{
	ASSERT_FLOW(ordered(failing(), 2, 1, three), -EPROTO, 10, 11, 12, 20,
		    21, 22, 30, 31, 32, 40, 41, 42);
}

static struct weir_flow *not_3(void *item, void *context)
{
	intptr_t value = (intptr_t)item;

	return value == 3 ? NULL : weir_flow_range(value, value);
}

static void an_item_without_a_flow_is_decided_upon(void **state)
{
	struct weir_flow *flow = ordered(weir_flow_range(1, 5), 2, 2, not_3);

	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0, 1, 2, 4, 5);
	ASSERT_FLOW(ordered(weir_flow_range(1, 5), 1, 2, not_3), -EINVAL, 1, 2);
}

static struct weir_flow *in_front(void *item, void *context)
{
	return weir_flow_buffer(three(item, NULL), 2, WEIR_OVERFLOW_DROP_HEAD);
}

static void what_needs_an_actor_is_named(void **state)
{
	struct weir_flow *flow = ordered(weir_flow_range(1, 2), 2, 2, in_front);
	struct weir_error *error = error_of(weir_flow_ignore(flow));

	assert_int_equal(error->code, -ENOTSUP);
	assert_string_equal(error->origin, "buffer");
	weir_error_unref(error);
}

/* --- Ends ----------------------------------------------------------------- */

static void what_waits_is_dropped_at_a_cancel(void **state)
{
	struct weir_flow *flow = weir_flow_flat_map_ordered(
		counted(weir_flow_range(1, 9)), 4, 2, three_counted, NULL);

	flow = weir_flow_take(weir_flow_items(flow, &counted_items), 4);
	assert_flow(flow, true, (const intptr_t[]){10, 11, 12, 20}, 4, 0);
}

static void it_ends_with_the_last_item(void **state)
{
	assert_ends_without_demand(ordered(weir_flow_range(1, 3), 2, 2, three),
				   9);
}

static void without_memory_it_fails(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow =
		ordered(counted(weir_flow_range(1, 5)), 3, 2, three_counted);

	flow = into(weir_flow_items(flow, &counted_items), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void bad_arguments_are_refused(void **state)
{
	struct weir_flow *flows[] = {
		ordered(weir_flow_empty(), 0, 1, three),
		ordered(weir_flow_empty(), 1, 0, three),
		ordered(weir_flow_empty(), WEIR_CAPACITY_MAX + 1, 1, three),
		ordered(weir_flow_empty(), 1, SIZE_MAX, three),
		ordered(weir_flow_empty(), 1, 1, NULL),
	};

	assert_refused_all(flows, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_as_if_one_ran_after_the_other),
		cmocka_unit_test(empty_flows_are_passed_over),
		cmocka_unit_test(they_run_at_once),
		cmocka_unit_test(no_more_wait_than_prefetch),
		cmocka_unit_test(
			a_nested_failure_comes_behind_the_items_before_it),
		cmocka_unit_test(so_does_an_error_of_upstream),
		cmocka_unit_test(an_item_without_a_flow_is_decided_upon),
		cmocka_unit_test(what_needs_an_actor_is_named),
		cmocka_unit_test(what_waits_is_dropped_at_a_cancel),
		cmocka_unit_test(it_ends_with_the_last_item),
		cmocka_unit_test(without_memory_it_fails),
		cmocka_unit_test(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
