/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers that stay: check-outs and check-ins, who waits for a worker, and what
 * becomes of all that when workers, holders, the pair or the pool end. A worker
 * has one holder at a time, and whoever asks is told once. Numbers are those of
 * the rules in docs/conformance/worker_pool.md.
 */
#include "process/pool_loans.h"

/* --- D5.1, D5.2: who has which -------------------------------------------- */

static void d5_1_workers_are_there_from_the_start(struct loans *loans)
{
	loans_members(loans, 3, 5);
	assert_int_equal(loans->world.started, 3);
	assert_members(loans, 2, 3, 0);
	assert_int_equal(pool_counts(&loans->world).started, 3);
}

static void d5_1_a_pool_whose_worker_cannot_be_made_does_not_start(
	struct loans *loans)
{
	loans->world.options.limit = 2;
	loans->world.options.stay = 2;
	loans->make_rc = -ENOLINK;
	assert_int_equal(weir_pool_start(loans->world.pools,
					 &loans->world.options),
			 -ENOLINK);
	pool_settle(&loans->world);
	assert_int_equal(loans_try(loans, 0), -ENOENT);
	loans->make_rc = 0;
	loans_members(loans, 2, 2);
	assert_members(loans, 0, 2, 0);
}

static void d5_2_each_worker_has_one_holder(struct loans *loans)
{
	loans_members(loans, 2, 2);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_try(loans, 1), 0);
	assert_false(weir_actor_id_equal(loans_worker(loans, 0),
					 loans_worker(loans, 1)));
	assert_int_equal(loans_try(loans, 2), -EAGAIN);
	assert_members(loans, 0, 0, 0);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_members(loans, 0, 1, 0);
	assert_int_equal(loans_try(loans, 2), 0);
	assert_same(loans_worker(loans, 2), loans_worker(loans, 0));
	assert_int_equal(loans->world.made, 2);
}

static void d5_3_others_are_made_up_to_the_limit_and_leave(struct loans *loans)
{
	size_t i;

	loans_members(loans, 1, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(loans_try(loans, i), 0);
	assert_int_equal(loans_try(loans, 3), -EAGAIN);
	assert_int_equal(loans->world.made, 3);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_int_equal(loans_check_in(loans, 1), 0);
	assert_members(loans, 2, 0, 0);
	assert_int_equal(loans->world.released, 2);
	assert_int_equal(loans_check_in(loans, 2), 0);
	assert_members(loans, 2, 1, 0);
	assert_int_equal(loans->world.made, 3);
}

static void d5_3_one_too_many_stays_while_somebody_waits(struct loans *loans)
{
	loans_members(loans, 1, 2);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_try(loans, 1), 0);
	assert_int_equal(loans_ask(loans, 2), 0);
	assert_int_equal(loans_check_in(loans, 1), 0);
	assert_same(loans_worker(loans, 2), loans_worker(loans, 1));
	assert_int_equal(loans->world.made, 2);
}

static void d5_4_the_last_or_the_first_is_next(struct loans *loans)
{
	bool fifo = weir_sim_random(loans->world.base.sim, 2);

	loans->world.options.order = fifo ? WEIR_POOL_ORDER_FIFO
					  : WEIR_POOL_ORDER_LIFO;
	loans_members(loans, 3, 3);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_try(loans, 1), 0);
	assert_int_equal(loans_try(loans, 2), 0);
	assert_int_equal(loans_check_in(loans, 1), 0);
	assert_int_equal(loans_check_in(loans, 2), 0);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_int_equal(loans_try(loans, 3), 0);
	assert_same(loans_worker(loans, 3), loans_worker(loans, fifo ? 1 : 0));
	assert_int_equal(loans_try(loans, 4), 0);
	assert_same(loans_worker(loans, 4), loans_worker(loans, 2));
}

/* --- D5.5: waiting -------------------------------------------------------- */

static void d5_5_who_waits_is_served_in_order(struct loans *loans)
{
	size_t i;

	loans_members(loans, 1, 1);
	assert_int_equal(loans_ask(loans, 0), 0);
	assert_int_equal(loans->asks[0].told, 1);
	for (i = 1; i < 5; i++)
		assert_int_equal(loans_ask_as(loans, i,
					      i == 3 ? loans_holder(loans, 0)
						     : WEIR_ACTOR_ID_NONE),
				 0);
	assert_members(loans, 0, 0, 4);
	assert_int_equal(loans_try(loans, 9), -EAGAIN);
	assert_true(loans_forget(loans, 3));
	assert_false(loans_forget(loans, 3));
	for (i = 0; i < 5; i++) {
		if (i == 3)
			continue;
		assert_int_equal(loans->asks[i].n, i < 3 ? i + 1 : i);
		assert_int_equal(loans_check_in(loans, i), 0);
		assert_false(loans_forget(loans, i));
	}
	assert_int_equal(loans->asks[3].told, 0);
	assert_members(loans, 0, 1, 0);
}

static void in_timer(struct weir_timer *timer)
{
	(void)timer;
	assert_int_equal(weir_pool_check_in(the_loans.world.pools,
					    &the_loans.asks[0].request.worker),
			 0);
	loans_is_back(&the_loans.asks[0]);
}

static void d5_5_a_thread_waits_for_so_long(struct loans *loans)
{
	struct weir_timer timer = {.fire = in_timer};

	loans_members(loans, 1, 1);
	assert_int_equal(loans_wait(loans, 0, WEIR_FOREVER), 0);
	assert_int_equal(loans_wait(loans, 1, 0), -ETIMEDOUT);
	assert_int_equal(loans_wait(loans, 1, 3 * MS), -ETIMEDOUT);
	assert_int_equal(world_now(&loans->world.base), 3 * MS);
	assert_members(loans, 0, 0, 0);
	assert_int_equal(
		weir_timer_arm(loans->world.base.executor, &timer, 5 * MS), 0);
	assert_int_equal(loans_wait(loans, 1, SECOND), 0);
	assert_int_equal(world_now(&loans->world.base), 5 * MS);
	/* on the simulator, where nothing is left that could end the wait */
	assert_int_equal(loans_wait(loans, 2, WEIR_FOREVER), -EDEADLK);
}

static void d5_5_who_waits_is_told_at_its_deadline(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask_until(loans, 1, 2 * MS), 0);
	assert_int_equal(loans_ask_until(loans, 2, 5 * MS), 0);
	assert_int_equal(loans_ask_until(loans, 3, 9 * MS), 0);
	assert_int_equal(loans_ask(loans, 4), 0);
	world_advance(&loans->world.base, 5 * MS - 1);
	assert_int_equal(loans->asks[1].rc, -ETIMEDOUT);
	assert_int_equal(loans->asks[2].told, 0);
	assert_members(loans, 0, 0, 3);
	world_advance(&loans->world.base, 1);
	assert_int_equal(loans->asks[2].rc, -ETIMEDOUT);
	/* and its turn is another's, whose time does not come any more */
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_true(loans->asks[3].has);
	world_advance(&loans->world.base, SECOND);
	assert_int_equal(loans->asks[3].told, 1);
	assert_int_equal(loans->asks[4].told, 0);
	assert_false(loans_forget(loans, 1));
	assert_false(loans_forget(loans, 3));
}

static void d5_5_a_deadline_that_has_passed_is_told(struct loans *loans)
{
	world_advance(&loans->world.base, SECOND);
	loans_members(loans, 1, 1);
	/* but one that is idle is had */
	assert_int_equal(loans_ask_until(loans, 0, MS), 0);
	assert_true(loans->asks[0].has);
	assert_int_equal(loans_ask_until(loans, 1, MS), 0);
	pool_settle(&loans->world);
	assert_int_equal(loans->asks[1].rc, -ETIMEDOUT);
	assert_members(loans, 0, 0, 0);
}

static void d5_5_cancelled_its_deadline_does_not_come(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask_until(loans, 1, MS), 0);
	assert_true(loans_forget(loans, 1));
	world_advance(&loans->world.base, SECOND);
	assert_int_equal(loans->asks[1].told, 0);
	/* the struct is free */
	memset(&loans->asks[1].request, 0, sizeof(loans->asks[1].request));
	assert_int_equal(loans_ask_until(loans, 1, 2 * SECOND), 0);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_true(loans->asks[1].has);
	world_advance(&loans->world.base, 2 * SECOND);
	assert_int_equal(loans->asks[1].told, 1);
}

static void ask_until_again(struct ask *ask)
{
	ask->loans->in_done = NULL;
	assert_int_equal(ask->rc, -ETIMEDOUT);
	assert_int_equal(loans_ask_until(ask->loans, 1, 3 * MS), 0);
}

static void d5_5_who_is_too_late_may_ask_again_at_once(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	loans->in_done = ask_until_again;
	assert_int_equal(loans_ask_until(loans, 1, MS), 0);
	world_advance(&loans->world.base, MS);
	assert_int_equal(loans->asks[1].told, 1);
	assert_members(loans, 0, 0, 1);
	world_advance(&loans->world.base, 2 * MS);
	assert_int_equal(loans->asks[1].told, 2);
	assert_int_equal(loans->asks[1].rc, -ETIMEDOUT);
}

/* The holder of one that came too late may end: nothing is left of it. */
static void d5_5_too_late_it_is_no_holder(struct loans *loans)
{
	struct weir_actor_id who = loans_holder(loans, 0);
	struct ask *ask = &loans->asks[1];

	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask_as_until(loans, 1, who, MS), 0);
	world_advance(&loans->world.base, MS);
	assert_int_equal(ask->rc, -ETIMEDOUT);
	loans_holder_end(loans, 0);
	assert_int_equal(ask->told, 1);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_members(loans, 0, 1, 0);
}

static void d5_5_an_end_of_the_pool_is_before_the_deadline(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask_until(loans, 1, SECOND), 0);
	if (weir_sim_random(loans->world.base.sim, 2)) {
		assert_int_equal(stop_pool(&loans->world), 0);
		pool_settle(&loans->world);
		assert_int_equal(loans->asks[1].rc, -ESHUTDOWN);
	} else {
		crash(&loans->world, WORKERS);
		assert_int_equal(loans->asks[1].rc, -ECANCELED);
	}
	world_advance(&loans->world.base, 2 * SECOND);
	assert_int_equal(loans->asks[1].told, 1);
}

static void d5_5_so_many_may_wait_until_their_deadlines(struct loans *loans)
{
	loans->world.options.queue_max = 1;
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask_until(loans, 1, MS), 0);
	assert_int_equal(loans_ask_until(loans, 2, MS), -ENOBUFS);
	world_advance(&loans->world.base, SECOND);
	assert_int_equal(loans->asks[1].rc, -ETIMEDOUT);
	assert_int_equal(loans->asks[2].told, 0);
	assert_int_equal(loans_ask_until(loans, 2, 2 * SECOND), 0);
}

static void d5_5_without_timers_there_is_no_deadline(struct loans *loans)
{
	struct weir_executor *executor = loans->world.base.executor;
	const struct weir_executor_ops *timed = executor->ops;
	struct weir_executor_ops untimed = *timed;

	untimed.timer_arm = NULL;
	untimed.timer_cancel = NULL;
	loans_members(loans, 1, 1);
	executor->ops = &untimed;
	/* one that need not wait needs none */
	assert_int_equal(loans_ask_until(loans, 0, MS), 0);
	assert_int_equal(loans_ask_until(loans, 1, MS), -ENOTSUP);
	assert_members(loans, 0, 0, 0);
	assert_int_equal(loans_ask(loans, 1), 0);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_true(loans->asks[1].has);
	executor->ops = timed;
}

static void d5_5_so_many_may_wait(struct loans *loans)
{
	loans->world.options.queue_max = 2;
	loans_members(loans, 0, 0);
	loans->world.options.name = "a";
	assert_int_equal(loans_ask(loans, 0), -ENOTSUP);
	assert_int_equal(stop_pool(&loans->world), 0);
	pool_settle(&loans->world);
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask(loans, 1), 0);
	assert_int_equal(loans_ask(loans, 2), 0);
	assert_int_equal(loans_ask(loans, 3), -ENOBUFS);
	assert_int_equal(loans_wait(loans, 3, SECOND), -ENOBUFS);
	assert_int_equal(loans->asks[3].told, 0);
}

static void d5_5_beyond_that_the_oldest_or_the_new_one_is_told(
	struct loans *loans)
{
	bool head = weir_sim_random(loans->world.base.sim, 2);

	loans->world.options.queue_max = 2;
	loans->world.options.overflow = head ? WEIR_OVERFLOW_DROP_HEAD
					     : WEIR_OVERFLOW_DROP_NEW;
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask(loans, 1), 0);
	assert_int_equal(loans_ask_as(loans, 2, loans_holder(loans, 0)), 0);
	assert_int_equal(loans_ask_as(loans, 3, loans_holder(loans, 1)), 0);
	assert_int_equal(loans->asks[head ? 1 : 3].rc, -ENOBUFS);
	assert_members(loans, 0, 0, 2);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_true(loans->asks[head ? 2 : 1].has);
}

/* --- D5.6: workers end ---------------------------------------------------- */

static void d5_6_a_worker_that_ends_is_replaced(struct loans *loans)
{
	struct weir_actor_id before;

	loans_members(loans, 2, 2);
	assert_int_equal(loans_try(loans, 0), 0);
	before = loans_worker(loans, 0);
	loans_worker_end(loans, before);
	assert_false(weir_system_is_alive(loans->world.base.system, before));
	assert_int_equal(loans->world.started, 3);
	assert_members(loans, 0, 2, 0);
	assert_int_equal(loans_check_in(loans, 0), -ESRCH);
	assert_members(loans, 0, 2, 0);
	/* also one that is idle, and was of use once */
	assert_int_equal(loans_try(loans, 1), 0);
	assert_int_equal(loans_check_in(loans, 1), 0);
	loans_worker_end(loans, loans_worker(loans, 1));
	assert_int_equal(loans->world.started, 4);
	assert_members(loans, 0, 2, 0);
}

static void d5_6_its_place_goes_to_who_waits(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask(loans, 1), 0);
	loans_worker_end(loans, loans_worker(loans, 0));
	assert_int_equal(loans->asks[1].told, 1);
	assert_true(weir_system_is_alive(loans->world.base.system,
					 loans_worker(loans, 1)));
	assert_int_equal(loans->world.started, 2);
}

/* The queue has a hole where it was. */
static void d5_6_a_replacement_is_not_for_who_has_cancelled(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask(loans, 1), 0);
	assert_true(loans_forget(loans, 1));
	loans_worker_end(loans, loans_worker(loans, 0));
	assert_int_equal(loans->asks[1].told, 0);
	assert_members(loans, 0, 1, 0);
}

static void d5_6_one_too_many_that_ends_is_not_replaced(struct loans *loans)
{
	loans_members(loans, 1, 2);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_try(loans, 1), 0);
	loans_worker_end(loans, loans_worker(loans, 0));
	assert_members(loans, 1, 0, 0);
	assert_int_equal(loans->world.started, 2);
}

/* Else this would never come to rest. */
static void d5_6_workers_that_cannot_start_do_not_spin(struct loans *loans)
{
	loans->crash = UINT32_MAX;
	loans_members(loans, 2, 2);
	assert_int_equal(loans->world.started, 2);
	assert_members(loans, 2, 0, 0);
	/* who asks gets one, and sees it end; it was of use, and is replaced */
	assert_int_equal(loans_ask(loans, 0), 0);
	pool_settle(&loans->world);
	assert_true(loans->asks[0].has);
	assert_false(weir_system_is_alive(loans->world.base.system,
					  loans_worker(loans, 0)));
	assert_int_equal(loans->world.started, 4);
	loans->crash = 0;
	assert_int_equal(loans_try(loans, 1), 0);
	pool_settle(&loans->world);
	assert_true(weir_system_is_alive(loans->world.base.system,
					 loans_worker(loans, 1)));
}

static void d5_6_one_that_cannot_be_made_is_an_error(struct loans *loans)
{
	loans_members(loans, 1, 2);
	assert_int_equal(loans_try(loans, 0), 0);
	loans->make_rc = -ENOLINK;
	assert_int_equal(loans_try(loans, 1), -ENOLINK);
	assert_int_equal(loans_ask(loans, 1), -ENOLINK);
	assert_int_equal(loans_wait(loans, 1, SECOND), -ENOLINK);
	assert_members(loans, 1, 0, 0);
	/* a replacement that nobody waits for is counted */
	loans_worker_end(loans, loans_worker(loans, 0));
	assert_int_equal(pool_counts(&loans->world).failed, 1);
	assert_members(loans, 2, 0, 0);
	loans->make_rc = 0;
	assert_int_equal(loans_try(loans, 1), 0);
}

static void d5_6_who_waits_is_told_that_none_can_be_made(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask_as(loans, 1, loans_holder(loans, 0)), 0);
	loans->make_rc = -ENOLINK;
	loans_worker_end(loans, loans_worker(loans, 0));
	assert_int_equal(loans->asks[1].rc, -ENOLINK);
	assert_members(loans, 1, 0, 0);
}

/* --- D5.7: holders end ---------------------------------------------------- */

static void d5_7_the_end_of_a_holder_checks_its_workers_in(struct loans *loans)
{
	loans_members(loans, 2, 2);
	assert_int_equal(loans_try_as(loans, 0, loans_holder(loans, 0)), 0);
	assert_int_equal(loans_ask_as(loans, 1, loans_holder(loans, 0)), 0);
	assert_int_equal(loans_ask(loans, 2), 0);
	assert_int_equal(loans->asks[2].told, 0);
	loans_holder_end(loans, 0);
	assert_int_equal(loans->asks[2].told, 1);
	assert_members(loans, 0, 1, 0);
	assert_int_equal(loans_check_in(loans, 0), -EALREADY);
	assert_int_equal(loans_check_in(loans, 1), -EALREADY);
	assert_members(loans, 0, 1, 0);
	assert_int_equal(loans_check_in(loans, 2), 0);
}

static void d5_7_what_was_checked_in_is_not_checked_in_again(
	struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try_as(loans, 0, loans_holder(loans, 0)), 0);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_int_equal(loans_try(loans, 1), 0);
	loans_holder_end(loans, 0);
	assert_members(loans, 0, 0, 0);
	assert_int_equal(loans_check_in(loans, 1), 0);
}

static void d5_7_a_holder_that_has_ended_gets_none(struct loans *loans)
{
	struct weir_actor_id gone = loans_holder(loans, 0);

	loans_members(loans, 1, 1);
	assert_int_equal(loans_ask(loans, 0), 0);
	assert_int_equal(loans_ask_as(loans, 1, gone), 0);
	assert_int_equal(loans_ask(loans, 2), 0);
	loans_holder_end(loans, 0);
	assert_int_equal(loans->asks[1].told, 0);
	assert_int_equal(loans_try_as(loans, 3, gone), -ESRCH);
	assert_int_equal(loans_ask_as(loans, 3, gone), -ESRCH);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_int_equal(loans->asks[1].rc, -ESRCH);
	assert_true(loans->asks[2].has);
}

static void d5_7_nobody_of_another_system_is_a_holder(struct loans *loans)
{
	struct weir_actor_id stranger;
	struct weir_system *there;

	assert_int_equal(
		weir_system_new(&there, loans->world.base.executor, NULL), 0);
	stranger = weir_system_lookup(there, "/user");
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try_as(loans, 0, stranger), -ESRCH);
	assert_int_equal(loans_ask_as(loans, 0, stranger), -ESRCH);
	assert_members(loans, 0, 1, 0);
	weir_system_stop(there);
	pool_settle(&loans->world);
	assert_int_equal(weir_system_free(there), 0);
}

/* It ends while a worker is made for it. */
static void d5_7_a_worker_made_in_vain_is_idle(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_ask_as(loans, 1, loans_holder(loans, 0)), 0);
	loans_holder_end(loans, 0);
	loans_worker_end(loans, loans_worker(loans, 0));
	assert_int_equal(loans->asks[1].rc, -ESRCH);
	assert_members(loans, 0, 1, 0);
}

/* --- D5.8: check-ins ------------------------------------------------------ */

static void d5_8_a_check_in_counts_once(struct loans *loans)
{
	struct weir_pool_worker none = {.id = WEIR_ACTOR_ID_NONE};

	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(loans_check_in(loans, 0), 0);
	assert_int_equal(loans_check_in(loans, 0), -EALREADY);
	assert_int_equal(loans_try(loans, 1), 0);
	/* it is the same worker, and the other's */
	assert_same(loans_worker(loans, 0), loans_worker(loans, 1));
	assert_int_equal(loans_check_in(loans, 0), -EALREADY);
	assert_members(loans, 0, 0, 0);
	assert_int_equal(weir_pool_check_in(loans->world.pools, &none),
			 -EINVAL);
	assert_int_equal(weir_pool_check_in(loans->world.pools, NULL), -EINVAL);
	assert_int_equal(loans_check_in(loans, 1), 0);
}

static void d5_8_a_worker_of_other_pools_is_not_there(struct loans *loans)
{
	struct weir_pools_options options = {.name = "others"};
	struct weir_pools *others;

	assert_int_equal(
		weir_pools_new(&others, loans->world.base.system, &options), 0);
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try(loans, 0), 0);
	assert_int_equal(weir_pool_check_in(others,
					    &loans->asks[0].request.worker),
			 -ENOENT);
	assert_int_equal(loans_check_in(loans, 0), 0);
	weir_pools_stop(others);
	pool_settle(&loans->world);
	assert_int_equal(weir_pools_free(others), 0);
}

/* --- D5.9: the end -------------------------------------------------------- */

static void d5_9_a_stop_tells_who_waits(struct loans *loans)
{
	loans_members(loans, 1, 1);
	assert_int_equal(loans_try_as(loans, 0, loans_holder(loans, 0)), 0);
	assert_int_equal(loans_ask(loans, 1), 0);
	assert_int_equal(loans_ask_as(loans, 2, loans_holder(loans, 1)), 0);
	assert_int_equal(stop_pool(&loans->world), 0);
	assert_int_equal(loans_try(loans, 3), -ESHUTDOWN);
	assert_int_equal(loans_ask(loans, 3), -ESHUTDOWN);
	pool_settle(&loans->world);
	assert_int_equal(loans->asks[1].rc, -ESHUTDOWN);
	assert_int_equal(loans->asks[2].rc, -ESHUTDOWN);
	assert_int_equal(loans->world.stops, 1);
	assert_int_equal(loans_check_in(loans, 0), -ENOENT);
	assert_int_equal(loans_try(loans, 3), -ENOENT);
	/* the next of that name does not know it either */
	loans_members(loans, 1, 1);
	assert_in_range(loans_check_in(loans, 0) + 4096, 4096 - ESRCH - 1,
			4095);
	assert_members(loans, 0, 1, 0);
	loans_holder_end(loans, 0);
	assert_members(loans, 0, 1, 0);
}

static void d5_9_the_pair_begins_anew_with_other_workers(struct loans *loans)
{
	static const char *const paths[] = {SERVER, WORKERS, "/user/pools/a"};

	loans_members(loans, 2, 2);
	assert_int_equal(loans_try_as(loans, 0, loans_holder(loans, 0)), 0);
	assert_int_equal(loans_try(loans, 1), 0);
	assert_int_equal(loans_ask(loans, 2), 0);
	crash(&loans->world, paths[weir_sim_random(loans->world.base.sim, 3)]);
	assert_int_equal(loans->asks[2].rc, -ECANCELED);
	assert_int_equal(loans->world.started, 4);
	assert_members(loans, 0, 2, 0);
	assert_int_equal(loans_check_in(loans, 0), -ESRCH);
	loans_holder_end(loans, 0);
	assert_members(loans, 0, 2, 0);
}

static void ask_again(struct ask *ask)
{
	ask->loans->in_done = NULL;
	assert_int_equal(weir_pool_check_in(ask->loans->world.pools,
					    &ask->request.worker),
			 0);
	loans_is_back(ask);
	assert_int_equal(loans_ask(ask->loans, 0), 0);
}

static void d5_9_a_request_can_be_used_again_when_told(struct loans *loans)
{
	loans_members(loans, 1, 1);
	loans->in_done = ask_again;
	assert_int_equal(loans_ask(loans, 0), 0);
	pool_settle(&loans->world);
	assert_int_equal(loans->asks[0].told, 2);
	assert_int_equal(loans_check_in(loans, 0), 0);
}

static void bad_input_is_an_error(struct loans *loans)
{
	struct weir_pool_options o = loans->world.options;
	struct weir_pools *pools = loans->world.pools;
	struct weir_pool_check_out request = {.done = NULL};
	struct weir_pool_worker out;
	struct weir_pool_result result;

	o.limit = 1;
	o.stay = 2;
	assert_int_equal(weir_pool_start(pools, &o), -EINVAL);
	o.stay = 1;
	o.order = WEIR_POOL_ORDER_FIFO + 1;
	assert_int_equal(weir_pool_start(pools, &o), -EINVAL);
	loans_members(loans, 1, 1);
	assert_int_equal(weir_pool_try_check_out(pools, "a", WEIR_ACTOR_ID_NONE,
						 NULL),
			 -EINVAL);
	assert_int_equal(weir_pool_try_check_out(pools, "b", WEIR_ACTOR_ID_NONE,
						 &out),
			 -ENOENT);
	assert_int_equal(weir_pool_check_out_async(pools, "a", NULL,
						   WEIR_FOREVER),
			 -EINVAL);
	assert_int_equal(weir_pool_check_out_async(pools, "a", &request,
						   WEIR_FOREVER),
			 -EINVAL);
	assert_int_equal(weir_pool_check_out_wait(pools, NULL,
						  WEIR_ACTOR_ID_NONE, 0, &out),
			 -EINVAL);
	assert_false(weir_pool_cancel_check_out(pools, NULL));
	assert_false(weir_pool_cancel_check_out(NULL, &request));
	assert_int_equal(weir_pool_run(pools, "a", NULL, NULL), -ENOTSUP);
	assert_int_equal(weir_pool_queue(pools, "a", NULL), -ENOTSUP);
	assert_int_equal(weir_pool_queue_wait(pools, "a", NULL, 0, NULL),
			 -ENOTSUP);
	assert_int_equal(weir_pool_run_wait(pools, "a", NULL, 0, &result),
			 -ENOTSUP);
	assert_members(loans, 0, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d5_1_workers_are_there_from_the_start),
		RULE(d5_1_a_pool_whose_worker_cannot_be_made_does_not_start),
		RULE(d5_2_each_worker_has_one_holder),
		RULE(d5_3_others_are_made_up_to_the_limit_and_leave),
		RULE(d5_3_one_too_many_stays_while_somebody_waits),
		RULE(d5_4_the_last_or_the_first_is_next),
		RULE(d5_5_who_waits_is_served_in_order),
		RULE(d5_5_a_thread_waits_for_so_long),
		RULE(d5_5_who_waits_is_told_at_its_deadline),
		RULE(d5_5_a_deadline_that_has_passed_is_told),
		RULE(d5_5_cancelled_its_deadline_does_not_come),
		RULE(d5_5_who_is_too_late_may_ask_again_at_once),
		RULE(d5_5_too_late_it_is_no_holder),
		RULE(d5_5_an_end_of_the_pool_is_before_the_deadline),
		RULE(d5_5_so_many_may_wait_until_their_deadlines),
		RULE(d5_5_without_timers_there_is_no_deadline),
		RULE(d5_5_so_many_may_wait),
		RULE(d5_5_beyond_that_the_oldest_or_the_new_one_is_told),
		RULE(d5_6_a_worker_that_ends_is_replaced),
		RULE(d5_6_its_place_goes_to_who_waits),
		RULE(d5_6_a_replacement_is_not_for_who_has_cancelled),
		RULE(d5_6_one_too_many_that_ends_is_not_replaced),
		RULE(d5_6_workers_that_cannot_start_do_not_spin),
		RULE(d5_6_one_that_cannot_be_made_is_an_error),
		RULE(d5_6_who_waits_is_told_that_none_can_be_made),
		RULE(d5_7_the_end_of_a_holder_checks_its_workers_in),
		RULE(d5_7_what_was_checked_in_is_not_checked_in_again),
		RULE(d5_7_a_holder_that_has_ended_gets_none),
		RULE(d5_7_nobody_of_another_system_is_a_holder),
		RULE(d5_7_a_worker_made_in_vain_is_idle),
		RULE(d5_8_a_check_in_counts_once),
		RULE(d5_8_a_worker_of_other_pools_is_not_there),
		RULE(d5_9_a_stop_tells_who_waits),
		RULE(d5_9_the_pair_begins_anew_with_other_workers),
		RULE(d5_9_a_request_can_be_used_again_when_told),
		RULE(bad_input_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
