/* SPDX-License-Identifier: BSD-2-Clause */
/* What a stream does, as items. */
#include "flow/memory_kit.h"
#include "flow/parts.h"

/* The item; or 1000 for an end, 2000 for an error. */
static int to_number(void **item, void *context)
{
	struct weir_flow_signal *signal = *item;
	intptr_t number = 1000;

	if (signal->kind == WEIR_FLOW_SIGNAL_NEXT)
		number = ((struct item *)signal->item)->value;
	if (signal->kind == WEIR_FLOW_SIGNAL_FAIL) {
		assert_int_equal(signal->error->code, -EPROTO);
		number = 2000;
	}
	weir_flow_signal_free(signal);
	*item = (void *)number;
	return 0;
}

static struct weir_flow *numbers(struct weir_flow *flow)
{
	flow = weir_flow_materialize(counted(flow));
	return weir_flow_items(weir_flow_map(flow, to_number, NULL), NULL);
}

static void the_end_is_the_last_item(void **state)
{
	ASSERT_FLOW(numbers(weir_flow_range(1, 3)), 0, 1, 2, 3, 1000);
	ASSERT_FLOW(numbers(weir_flow_empty()), 0, 1000);
	ASSERT_FLOW(numbers(failing()), 0, 1, 2, 3, 4, 2000);
	assert_int_equal(n_live, 0);
}

static void nobody_has_to_take_them(void **state)
{
	ASSERT_FLOW(weir_flow_count(weir_flow_materialize(
			    counted(weir_flow_range(1, 9)))),
		    0, 10);
	ASSERT_FLOW(weir_flow_count(weir_flow_take(
			    weir_flow_materialize(counted(failing())), 2)),
		    0, 2);
	assert_int_equal(n_live, 0);
}

static struct weir_flow *there_and_back(struct weir_flow *flow)
{
	flow = weir_flow_dematerialize(weir_flow_materialize(counted(flow)));
	return weir_flow_items(flow, &counted_items);
}

static void there_and_back_nothing_has_changed(void **state)
{
	static const intptr_t all[] = {1, 2, 3, 4};

	assert_flow(there_and_back(weir_flow_range(1, 4)), true, all, 4, 0);
	assert_flow(there_and_back(failing()), true, all, 4, -EPROTO);
	assert_flow(weir_flow_take(there_and_back(failing()), 2), true, all, 2,
		    0);
}

/* Signals that stand behind an end. */
static void the_first_end_counts(void **state)
{
	static const intptr_t all[] = {1, 2};
	struct weir_flow *flows[] = {
		weir_flow_materialize(counted(weir_flow_range(1, 2))),
		weir_flow_materialize(counted(weir_flow_range(3, 9))),
	};
	struct weir_flow *flow = weir_flow_concat(flows, 2);

	flow = weir_flow_dematerialize(flow);
	assert_flow(weir_flow_items(flow, &counted_items), true, all, 2, 0);
}

static int no_end(void *item, void *context)
{
	return ((struct weir_flow_signal *)item)->kind == WEIR_FLOW_SIGNAL_NEXT;
}

static void without_one_it_ends_with_upstream(void **state)
{
	static const intptr_t all[] = {1, 2, 3, 4};
	struct weir_flow *flow = weir_flow_materialize(counted(failing()));

	flow = weir_flow_filter(flow, no_end, NULL);
	flow = weir_flow_dematerialize(flow);
	assert_flow(weir_flow_items(flow, &counted_items), true, all, 4, 0);
}

/* And dropped, but for the end, which has none. */
static int take_out(void **item, void *context)
{
	struct weir_flow_signal *signal = *item;

	if (signal->kind != WEIR_FLOW_SIGNAL_NEXT)
		return 0;
	item_drop(weir_flow_signal_take(signal), NULL);
	return 0;
}

static void an_item_may_be_taken_out(void **state)
{
	struct weir_flow *flow = weir_flow_materialize(counted(failing()));

	flow = weir_flow_same_items(weir_flow_map(flow, take_out, NULL));
	flow = weir_flow_items(weir_flow_dematerialize(flow), NULL);
	assert_flow(flow, false, (const intptr_t[]){0}, 0, -EPROTO);
	assert_int_equal(n_live, 0);
}

/* Signals do not say of what kind their items are. */
static void what_comes_out_must_be_said(void **state)
{
	struct weir_flow *flow = weir_flow_materialize(weir_flow_range(1, 2));

	assert_misfit(weir_flow_dematerialize(flow), "dematerialize",
		      "takes signals: say by weir_flow_items() what it emits, "
		      "or by weir_flow_same_items() that it is the same");
}

static void other_items_are_refused(void **state)
{
	struct weir_flow *flow = weir_flow_dematerialize(weir_flow_range(1, 2));

	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
}

static void without_memory_it_fails(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow =
		into(there_and_back(weir_flow_range(1, 4)), &got);

	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
	/* the signal has let go of its error, too */
	flow = into(there_and_back(failing()), &got);
	(void)assert_short_of_memory(flow, &got, -EPROTO);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_is_the_last_item),
		cmocka_unit_test(nobody_has_to_take_them),
		cmocka_unit_test(there_and_back_nothing_has_changed),
		cmocka_unit_test(the_first_end_counts),
		cmocka_unit_test(without_one_it_ends_with_upstream),
		cmocka_unit_test(an_item_may_be_taken_out),
		cmocka_unit_test(what_comes_out_must_be_said),
		cmocka_unit_test(other_items_are_refused),
		cmocka_unit_test(without_memory_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
