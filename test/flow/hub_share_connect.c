/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that are shared: how many subscribers start a run, and how long it
 * stays when they have left. */
#include "flow/hub_share_kit.h"

#define LINGER 10

/* --- As many as it takes -------------------------------------------------- */

static void as_many_as_it_takes_start_the_run(void **state)
{
	share_of_many(share_source(9), 3, 0);
	share_subscribe(&first);
	share_subscribe_on(&second, elsewhere, MANY);
	share_feed(2);
	assert_int_equal(n_started, 0);
	share_subscribe(&late);
	assert_int_equal(n_started, 1);
	/* it goes on with fewer */
	share_leave(&first);
	share_leave(&second);
	share_feed(7);
	assert_share_over(&late, 1, 9, 0);
	/* and for the next one as many are needed again */
	share_subscribe(&first);
	share_subscribe(&second);
	share_feed(9);
	assert_int_equal(n_started, 1);
	share_subscribe(&late);
	assert_share_over(&first, 1, 9, 0);
	assert_share_over(&second, 1, 9, 0);
	assert_share_over(&late, 1, 9, 0);
}

static void who_leaves_before_the_run_starts_is_not_counted(void **state)
{
	share_of_many(share_source(3), 2, 0);
	share_subscribe(&first);
	share_leave(&first);
	assert_int_equal(weir_executor_alive(executor), 0);
	share_subscribe(&first);
	assert_int_equal(n_started, 0);
	share_subscribe(&second);
	assert_int_equal(n_started, 1);
	share_leave(&first);
	share_feed(3);
	assert_share_over(&second, 1, 3, 0);
}

static void no_more(struct weir_ending *ending)
{
}

static void stop_executor(void)
{
	static struct weir_ending ending;

	ending = (struct weir_ending){.done = no_more};
	assert_int_equal(
		weir_executor_stop_async(executor, &ending, WEIR_FOREVER), 0);
	share_settle();
}

static void all_who_waited_hear_that_it_cannot_start(void **state)
{
	share_of_many(share_source(3), 2, 0);
	share_subscribe_on(&first, elsewhere, MANY);
	stop_executor();
	share_subscribe_on(&second, elsewhere, MANY);
	assert_share_over(&first, 1, 0, -ESHUTDOWN);
	assert_share_over(&second, 1, 0, -ESHUTDOWN);
	assert_int_equal(n_over, 0);
}

static void who_waits_for_others_may_be_drained(void **state)
{
	share_of_many(share_source(3), 2, 0);
	share_subscribe(&first);
	weir_flow_run_end(first.run.run);
	share_settle();
	assert_share_over(&first, 1, 0, 0);
	share_subscribe(&second);
	assert_int_equal(n_started, 0);
	share_leave(&second);
}

/* --- Lingering ------------------------------------------------------------ */

static void who_comes_soon_finds_the_run_that_others_left(void **state)
{
	share_of_many(share_source(9), 1, LINGER);
	share_subscribe(&first);
	share_feed(2);
	share_leave(&first);
	share_pass(LINGER - 1);
	assert_int_equal(n_ended, 0);
	/* nothing is taken for nobody, and what was kept is there */
	share_feed(7);
	share_subscribe(&late);
	assert_share_over(&late, 2, 9, 0);
	assert_int_equal(n_started, 1);
}

static void a_run_that_nobody_comes_back_to_is_cancelled(void **state)
{
	share_of_many(share_source(9), 1, LINGER);
	share_subscribe(&first);
	share_feed(2);
	share_leave(&first);
	share_pass(LINGER);
	assert_int_equal(n_cancelled, 1);
	assert_int_equal(n_over, 1);
	assert_int_equal(n_live, 0);
	share_subscribe(&late);
	assert_int_equal(n_started, 2);
	share_feed(9);
	assert_share_over(&late, 1, 9, 0);
}

static void each_time_that_all_have_left_counts_anew(void **state)
{
	share_of_many(share_source(9), 1, LINGER);
	share_subscribe(&first);
	share_leave(&first);
	share_pass(LINGER - 1);
	share_subscribe(&first);
	share_pass(LINGER);
	share_leave(&first);
	share_pass(LINGER - 1);
	assert_int_equal(n_ended, 0);
	share_pass(1);
	assert_int_equal(n_ended, 1);
}

/* The run has not been asked since: it is not the time of the first leaving
 * that counts. */
static void who_looked_in_meanwhile_counts_too(void **state)
{
	share_of_many(share_source(9), 1, LINGER);
	share_subscribe(&first);
	share_leave(&first);
	share_pass(LINGER - 1);
	hub_subscriber_take(&second, weir_flow_from_share(share),
			    weir_sim_executor(elsewhere), MANY);
	(void)weir_sim_run(elsewhere);
	weir_flow_run_stop(second.run.run, NULL);
	(void)weir_sim_run(elsewhere);
	assert_int_equal(hub_subscriber_fini(&second), -ECANCELED);
	share_pass(1);
	assert_int_equal(n_ended, 0);
	share_pass(LINGER);
	assert_int_equal(n_ended, 1);
}

static void fewer_than_it_takes_join_a_run_that_lingers(void **state)
{
	share_of_many(share_source(9), 2, LINGER);
	share_subscribe(&first);
	share_leave(&first);
	/* who has not started it is not waited for */
	assert_int_equal(weir_executor_alive(executor), 0);
	share_subscribe(&first);
	share_subscribe(&second);
	share_leave(&first);
	share_leave(&second);
	share_subscribe(&late);
	share_feed(9);
	assert_share_over(&late, 1, 9, 0);
	assert_int_equal(n_started, 1);
}

static void a_run_may_fail_while_it_lingers(void **state)
{
	struct weir_flow *flow =
		weir_flow_idle_timeout(weir_flow_never(), LINGER / 2);

	share_of_many(weir_flow_peek(flow, &share_hooks, NULL), 1, LINGER);
	share_subscribe(&first);
	share_leave(&first);
	share_pass(LINGER / 2);
	assert_int_equal(n_failed, 1);
	assert_int_equal(n_over, 1);
	share_subscribe(&late);
	assert_int_equal(n_started, 2);
	share_pass(LINGER / 2);
	assert_share_over(&late, 1, 0, -ETIMEDOUT);
}

static void a_run_may_complete_while_it_lingers(void **state)
{
	struct weir_flow *flow = weir_flow_take_within(
		counted(weir_flow_acquire(weir_flow_range(1, 9), &fed)),
		LINGER / 2);

	share_of_many(weir_flow_peek(flow, &share_hooks, NULL), 1, LINGER);
	share_subscribe(&first);
	share_feed(1);
	share_leave(&first);
	share_pass(LINGER / 2);
	assert_int_equal(n_completed, 1);
	assert_int_equal(n_over, 1);
	/* nothing is left of it, and the next one is another */
	assert_int_equal(n_live, 0);
	share_subscribe(&late);
	assert_int_equal(n_started, 2);
	share_pass(LINGER / 2);
	assert_share_over(&late, 1, 0, 0);
}

static void a_run_that_lingers_keeps_the_share(void **state)
{
	share_of_many(share_source(9), 1, LINGER);
	share_subscribe(&first);
	share_leave(&first);
	weir_flow_share_free(share);
	share = NULL;
	assert_int_equal(n_over, 0);
	share_pass(LINGER);
	assert_int_equal(n_over, 1);
}

static void a_run_that_lingers_may_be_stopped(void **state)
{
	share_of_many(share_source(9), 1, LINGER);
	share_subscribe(&first);
	share_leave(&first);
	stop_executor();
	assert_int_equal(n_over, 1);
	share_subscribe_on(&late, elsewhere, MANY);
	assert_share_over(&late, 1, 0, -ESHUTDOWN);
}

/* --- What it needs -------------------------------------------------------- */

static int refuse(struct weir_executor *own, struct weir_task *task)
{
	return -ESHUTDOWN;
}

static uint64_t no_time(struct weir_executor *own)
{
	return 0;
}

static int no_memory(struct weir_executor *own, struct weir_timer *timer,
		     uint64_t at_ns)
{
	return -ENOMEM;
}

static bool not_armed(struct weir_executor *own, struct weir_timer *timer)
{
	return false;
}

static int share_on(const struct weir_executor_ops *ops)
{
	const struct weir_flow_share_options options = {.linger_ns = LINGER};
	struct weir_executor own;
	int rc;

	assert_int_equal(weir_executor_init(&own, ops, NULL), 0);
	rc = weir_flow_share_new(&share, share_source(1), &own, &options);
	weir_flow_share_free(share);
	share = NULL;
	assert_int_equal(weir_executor_fini(&own), 0);
	return rc;
}

static void to_linger_takes_an_executor_with_timers(void **state)
{
	assert_int_equal(share_on(&(struct weir_executor_ops){.submit = refuse,
							      .now = no_time}),
			 -ENOTSUP);
	assert_int_equal(share_on(&(struct weir_executor_ops){
				 .submit = refuse,
				 .now = no_time,
				 .timer_arm = no_memory,
				 .timer_cancel = not_armed}),
			 0);
}

/* Its timers are out of memory. */
static void a_run_that_cannot_linger_fails(void **state)
{
	struct weir_executor_ops ops = *executor->ops;
	const struct weir_executor_ops *simulated = executor->ops;

	share_of_many(share_source(9), 1, LINGER);
	share_subscribe(&first);
	ops.timer_arm = no_memory;
	executor->ops = &ops;
	share_leave(&first);
	executor->ops = simulated;
	assert_int_equal(n_cancelled, 1);
	assert_int_equal(n_over, 1);
	share_subscribe(&late);
	assert_int_equal(n_started, 2);
	share_leave(&late);
	share_pass(LINGER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(as_many_as_it_takes_start_the_run),
		TEST(who_leaves_before_the_run_starts_is_not_counted),
		TEST(all_who_waited_hear_that_it_cannot_start),
		TEST(who_waits_for_others_may_be_drained),
		TEST(who_comes_soon_finds_the_run_that_others_left),
		TEST(a_run_that_nobody_comes_back_to_is_cancelled),
		TEST(each_time_that_all_have_left_counts_anew),
		TEST(who_looked_in_meanwhile_counts_too),
		TEST(fewer_than_it_takes_join_a_run_that_lingers),
		TEST(a_run_may_fail_while_it_lingers),
		TEST(a_run_may_complete_while_it_lingers),
		TEST(a_run_that_lingers_keeps_the_share),
		TEST(a_run_that_lingers_may_be_stopped),
		TEST(to_linger_takes_an_executor_with_timers),
		TEST(a_run_that_cannot_linger_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
