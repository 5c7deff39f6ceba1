/* SPDX-License-Identifier: BSD-2-Clause */
/* One flow made several, of which something fails; and all. */
#include "flow/fan_outlets.h"

static int fails_on_3(void **item, void *context)
{
	return (intptr_t)*item == 3 ? -EDOM : 0;
}

/* --- Runs --------------------------------------------------------------------- */

static void an_error_above_reaches_all_outlets(void **state)
{
	struct weir_flow *outlets[2], *flow;
	int64_t live = n_live;

	flow = weir_flow_map(weir_flow_range(1, 5), fails_on_3, NULL);
	assert_int_equal(weir_flow_broadcast(counted(flow), 2, outlets, NULL),
			 0);
	flow = sinks(outlets, gots, 2);
	assert_int_equal(run_on_sim(flow, 1, 0), -EDOM);
	weir_flow_free(flow);
	assert_int_equal(n_live, live);
}

static void items_that_cannot_be_shared_are_refused(void **state)
{
	static const struct weir_items unshared = {.drop = item_drop};
	struct weir_flow *outlets[2], *flow;

	flow = weir_flow_items(counted(weir_flow_range(1, 7)), &unshared);
	weir_flow_broadcast(flow, 2, outlets, NULL);
	flow = sinks(outlets, gots, 2);
	assert_int_equal(run_on_sim(flow, 1, 0), -ENOTSUP);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
}

static int share_all_but_3(void *memory, void *context)
{
	struct item *item = memory;

	return item->value == 3 ? -ENOBUFS : item_share(memory, NULL);
}

static void a_failure_to_share_ends_the_broadcast(void **state)
{
	static const struct weir_items items = {.drop = item_drop,
						.share = share_all_but_3};
	struct weir_flow *outlets[3], *flow;

	flow = weir_flow_items(counted(weir_flow_range(1, 7)), &items);
	weir_flow_broadcast(flow, 3, outlets, NULL);
	flow = sinks(outlets, gots, 3);
	assert_int_equal(run_on_sim(flow, 1, 0), -ENOBUFS);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
}

static void a_partition_to_nowhere_fails(void **state)
{
	struct weir_flow *outlets[3], *flow = counted(weir_flow_range(97, 200));

	weir_flow_partition(flow, 3, by_three, NULL, outlets, NULL);
	flow = sinks(outlets, gots, 3);
	for_each_seed(seed, 5) {
		assert_int_equal(run_on_sim(flow, seed, 0), -ERANGE);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

static void a_failure_to_choose_is_supervised(void **state)
{
	struct weir_flow *outlets[3], *flow;
	int fails;

	flow = counted(weir_flow_range(1, 10));
	weir_flow_partition(flow, 3, by_three, &fails, outlets, NULL);
	flow = sinks(outlets, gots, 3);
	assert_int_equal(run_on_sim(flow, 1, 0), -EDOM);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
}

static void all_fails_as_the_first_one_does(void **state)
{
	struct weir_flow *ups[2];
	struct tap tap = {0};

	ups[0] = counted(tap_flow(&tap));
	ups[1] = weir_flow_map(weir_flow_range(1, 5), fails_on_3, NULL);
	assert_flow(weir_flow_all(ups, 2), false, NULL, 0, -EDOM);
}

/* --- Blueprints ---------------------------------------------------------------- */

static void an_outlet_that_is_missing_is_told(void **state)
{
	struct weir_flow *outlets[2], *above[2], *flow;
	const char *origin = "", *message = NULL;

	weir_flow_broadcast(weir_flow_range(1, 3), 2, above, NULL);
	weir_flow_balance(above[0], 2, outlets, NULL);
	flow = weir_flow_merge(outlets, 2);
	assert_int_equal(weir_flow_check(flow, &origin, &message), -EINVAL);
	assert_string_equal(origin, "broadcast");
	assert_non_null(strstr(message, "outlet"));
	assert_int_equal(weir_flow_check(above[1], &origin, NULL), -EINVAL);
	flow = weir_flow_all((struct weir_flow *[]){flow, above[1]}, 2);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), 0);
	weir_flow_free(flow);
}

static void an_outlet_that_is_not_used_is_an_error(void **state)
{
	struct weir_flow *outlets[2], *flow;

	weir_flow_broadcast(weir_flow_range(1, 3), 2, outlets, NULL);
	flow = into(outlets[0], &gots[0]);
	assert_int_equal(run_on_sim(flow, 1, 0), -EINVAL);
	assert_int_equal(run_on_sim(outlets[1], 1, 0), -EINVAL);
	weir_flow_free(outlets[1]);
	assert_int_equal(run_on_sim(flow, 1, 0), -EINVAL);
	weir_flow_free(flow);
}

static void a_fan_of_a_failed_flow_has_failed_outlets(void **state)
{
	struct weir_flow_fan_options bad = {.capacity = 3};
	struct weir_flow *outlets[3], *flow;
	const char *origin;

	assert_int_equal(weir_flow_broadcast(NULL, 3, outlets, NULL), -EINVAL);
	flow = weir_flow_merge(outlets, 3);
	assert_int_equal(weir_flow_check(flow, &origin, NULL), -EINVAL);
	assert_string_equal(origin, "broadcast");
	weir_flow_free(flow);
	assert_int_equal(weir_flow_balance(weir_flow_range(1, 3), 3, outlets,
					   &bad),
			 -EINVAL);
	weir_flow_free(weir_flow_merge(outlets, 3));
	assert_int_equal(weir_flow_partition(weir_flow_range(1, 3), 3, NULL,
					     NULL, outlets, NULL),
			 -EINVAL);
	weir_flow_free(weir_flow_merge(outlets, 3));
	assert_int_equal(weir_flow_balance(weir_flow_range(1, 3), 3, NULL,
					   NULL),
			 -EINVAL);
	assert_int_equal(weir_flow_balance(weir_flow_range(1, 3), 0, outlets,
					   NULL),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_above_reaches_all_outlets),
		cmocka_unit_test(items_that_cannot_be_shared_are_refused),
		cmocka_unit_test(a_failure_to_share_ends_the_broadcast),
		cmocka_unit_test(a_partition_to_nowhere_fails),
		cmocka_unit_test(a_failure_to_choose_is_supervised),
		cmocka_unit_test(all_fails_as_the_first_one_does),
		cmocka_unit_test(an_outlet_that_is_missing_is_told),
		cmocka_unit_test(an_outlet_that_is_not_used_is_an_error),
		cmocka_unit_test(a_fan_of_a_failed_flow_has_failed_outlets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
