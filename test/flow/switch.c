/* SPDX-License-Identifier: BSD-2-Clause */
/* Kill switches, of one flow and shared. */
#include "flow/fan_kit.h"

static struct weir_flow_switch *a_switch(void)
{
	struct weir_flow_switch *swtch;

	assert_int_equal(weir_flow_switch_new(&swtch), 0);
	return swtch;
}

static void a_switch_not_thrown_changes_nothing(void **state)
{
	struct weir_flow_switch *swtch = a_switch();
	struct weir_flow *flow;

	flow = weir_flow_kill_switch(counted(weir_flow_range(1, 4)), swtch);
	weir_flow_switch_free(swtch);
	{
		static const intptr_t expected[] = {1, 2, 3, 4};

		assert_flow(flow, true, expected, 4, 0);
	}
}

/* Cancels up, and completes or fails down; the first throw counts. */
static void a_throw_ends_the_flow(bool aborts)
{
	static struct got got;
	struct weir_flow_switch *swtch;
	struct trial trial;
	struct tap tap;
	size_t unfused;
	int64_t live = n_live;

	for (unfused = 0; unfused <= 4; unfused = unfused ? unfused * 2 : 1) {
		memset(&tap, 0, sizeof(tap));
		swtch = a_switch();
		got.n = 0;
		got.counted = true;
		begin(&trial,
		      into(weir_flow_kill_switch(counted(tap_flow(&tap)),
						 swtch),
			   &got),
		      1, unfused);
		tap_give(&tap, 1, 3);
		rest(&trial);
		assert_int_equal(got.n, 3);
		assert_false(is_over(&trial));
		if (aborts)
			assert_int_equal(weir_flow_switch_stop(
						 swtch, weir_error_of(-EDOM)),
					 0);
		else
			assert_int_equal(weir_flow_switch_end(swtch), 0);
		assert_int_equal(weir_flow_switch_stop(swtch, NULL), -EALREADY);
		assert_int_equal(weir_flow_switch_end(swtch), -EALREADY);
		rest(&trial);
		assert_true(is_over(&trial));
		assert_null(tap.op);
		assert_int_equal(end(&trial), aborts ? -EDOM : 0);
		weir_flow_switch_free(swtch);
		assert_int_equal(n_live, live);
	}
}

static void a_shutdown_completes_the_flow(void **state)
{
	a_throw_ends_the_flow(false);
}

static void an_abort_fails_the_flow(void **state)
{
	a_throw_ends_the_flow(true);
}

/* It waits for room, and is not pulled for items. */
static void a_flow_that_is_held_up_is_ended_too(void **state)
{
	struct weir_flow_switch *swtch = a_switch();
	struct weir_flow *ups[2], *flow;
	struct tap taps[2] = {0};
	static struct got got;
	struct trial trial;

	tap_give(&taps[1], 1, 100);
	flow = weir_flow_kill_switch(tap_flow(&taps[1]), swtch);
	ups[0] = tap_flow(&taps[0]);
	ups[1] = weir_flow_async(flow, 4, NULL);
	got.n = 0;
	got.counted = false;
	begin(&trial, into(weir_flow_concat(ups, 2), &got), 1, 0);
	assert_int_equal(taps[1].at, 4);
	assert_int_equal(weir_flow_switch_end(swtch), 0);
	rest(&trial);
	assert_null(taps[1].op);
	tap_end(&taps[0], 0);
	rest(&trial);
	assert_true(is_over(&trial));
	assert_int_equal(end(&trial), 0);
	assert_int_equal(got.n, 4);
	weir_flow_switch_free(swtch);
}

static void a_shared_switch_ends_all_and_those_that_come_later(void **state)
{
	struct weir_flow_switch *swtch = a_switch();
	struct tap taps[3] = {0};
	struct trial trials[3];
	int i;

	for (i = 0; i < 2; i++)
		begin(&trials[i],
		      weir_flow_kill_switch(tap_flow(&taps[i]), swtch), 1, 0);
	assert_int_equal(weir_flow_switch_stop(swtch, NULL), 0);
	begin(&trials[2], weir_flow_kill_switch(tap_flow(&taps[2]), swtch), 1,
	      0);
	weir_flow_switch_free(swtch);
	for (i = 0; i < 3; i++) {
		rest(&trials[i]);
		assert_true(is_over(&trials[i]));
		assert_int_equal(end(&trials[i]), -ECANCELED);
	}
	assert_int_equal(taps[2].at, 0);
}

static void bad_arguments_are_refused(void **state)
{
	struct weir_flow_switch *swtch = a_switch();
	struct weir_flow *flow;

	assert_int_equal(weir_flow_switch_new(NULL), -EINVAL);
	assert_int_equal(weir_flow_switch_end(NULL), -EINVAL);
	assert_int_equal(weir_flow_switch_stop(NULL, NULL), -EINVAL);
	weir_flow_switch_free(NULL);
	flow = weir_flow_kill_switch(weir_flow_range(1, 2), NULL);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	flow = weir_flow_kill_switch(NULL, swtch);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	weir_flow_switch_free(swtch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_not_thrown_changes_nothing),
		cmocka_unit_test(a_shutdown_completes_the_flow),
		cmocka_unit_test(an_abort_fails_the_flow),
		cmocka_unit_test(a_flow_that_is_held_up_is_ended_too),
		cmocka_unit_test(
			a_shared_switch_ends_all_and_those_that_come_later),
		cmocka_unit_test(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
