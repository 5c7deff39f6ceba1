/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager as a subscriber: what it requests, and that any publisher can
 * feed it, also with a processor between. Rules A4.3, A4.5, A4.10, A7.1, A7.2,
 * A7.7 and E1. Rule numbers like A4.3 are those of
 * docs/conformance/process_manager.md.
 */
#include "process/kit.h"

#include <weir/reactive.h>
#include <weir/death_watch.h>
#include <weir/testkit.h>

static struct process_world world;
static struct weir_test_env env;
static struct weir_publisher_probe *probe;

/* Lets happen what happens now. */
static int settle(void *context)
{
	(void)context;
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	return 0;
}

static void let_pass(uint64_t ns)
{
	weir_sim_run_until(world.base.sim, world_now(&world.base) + ns,
			   UINT64_MAX);
}

/* A manager without a publisher. */
static void manager_new(uint32_t max, uint32_t batch, size_t n_tasks)
{
	struct weir_process_manager_options options;

	process_world_init(&world, 1);
	tasks_new(&world, n_tasks, SECOND);
	options = job_options(&world, max, 0);
	options.batch = batch;
	manager_init(&world, &options);
}

static void probe_new(const struct weir_items *items)
{
	env = (struct weir_test_env){.settle = settle};
	assert_int_equal(weir_publisher_probe_new(&probe, &env, items), 0);
}

/* And one that has subscribed to a probe. */
static void probed(uint32_t max, uint32_t batch, size_t n_tasks)
{
	manager_new(max, batch, n_tasks);
	probe_new(weir_command_items());
	assert_int_equal(
		weir_publisher_subscribe(
			weir_publisher_probe_base(probe),
			weir_process_manager_subscriber(&world.manager)),
		0);
	manager_spawn(&world, 0);
	settle(NULL);
}

static void probed_fini(void)
{
	process_world_fini(&world);
	env.settle = NULL; /* there is nothing left to be settled */
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

static void send(size_t first, size_t n)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		world.tasks[i].taken = true;
		assert_int_equal(weir_publisher_probe_send(
					 probe, &world.tasks[i].command),
				 0);
	}
}

static void expect_request(int64_t n)
{
	if (!weir_publisher_probe_expect_request(probe, n))
		fail_msg("%s", weir_publisher_probe_failure(probe));
}

static void a7_1_it_requests_max_and_starts_one_for_each(void **state)
{
	(void)state;
	probed(10, 3, 10);
	expect_request(10);
	send(0, 10);
	settle(NULL);
	assert_int_equal(world.running, 10);
	expect_request(0);
	assert_int_equal(counts(&world).accepted, 10);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 10);
	/* all but what is no batch yet */
	assert_true(
		weir_publisher_probe_expect_request_min(probe, 10 - 2, NULL));
	probed_fini();
}

static void a4_5_a7_2_it_asks_when_a_batch_is_free(void **state)
{
	size_t i;

	(void)state;
	probed(10, 3, 13);
	for (i = 0; i < 13; i++)
		world.tasks[i].work_ns = (i + 1) * SECOND;
	expect_request(10);
	send(0, 10);
	let_pass(2500 * MS);
	assert_int_equal(world.running, 8);
	expect_request(0);
	let_pass(SECOND);
	expect_request(3);
	send(10, 3);
	settle(NULL);
	assert_int_equal(world.running, 10);
	expect_request(0);
	probed_fini();
}

static void e1_the_queue_counts(void **state)
{
	(void)state;
	probed(6, 2, 6);
	expect_request(6);
	send(0, 5);
	/* received and not started, for the manager has not run */
	assert_int_equal(counts(&world).queue, 5);
	assert_int_equal(counts(&world).processing, 0);
	assert_int_equal(counts(&world).accepted, 5);
	/* suspended it does not start them, and does not ask for others */
	weir_actor_suspend(&world.manager.actor);
	expect_request(0);
	assert_int_equal(counts(&world).queue, 5);
	weir_actor_resume(&world.manager.actor);
	settle(NULL);
	assert_int_equal(counts(&world).queue, 0);
	assert_int_equal(counts(&world).processing, 5);
	send(5, 1);
	probed_fini();
}

static void e1_with_a_strategy_of_ones_own_all_places_are_used(void **state)
{
	struct weir_process_manager_options options;
	size_t i;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 4, SECOND);
	options = job_options(&world, 4, 0);
	options.demand = weir_demand_one_by_one;
	manager_init(&world, &options);
	probe_new(weir_command_items());
	(void)weir_publisher_subscribe(
		weir_publisher_probe_base(probe),
		weir_process_manager_subscriber(&world.manager));
	manager_spawn(&world, 0);
	for (i = 0; i < 4; i++) {
		expect_request(1);
		send(i, 1);
	}
	settle(NULL);
	assert_int_equal(world.running, 4);
	expect_request(0);
	probed_fini();
}

/* Requested and not received, queue and processing are never above max. */
static void a4_3_a7_7_it_never_asks_for_more_than_it_can_start(void **state)
{
	struct weir_publisher_probe_counts sent;
	struct weir_process_counts c;
	size_t next, i;

	(void)state;
	for_each_seed(seed, 100) {
		probed(1 + seed % 9, 1 + seed % 5, 60);
		for (i = 0; i < 60; i++) {
			world.tasks[i].work_ns =
				weir_sim_random(world.base.sim, 20) * MS;
			world.tasks[i].how = (enum how)weir_sim_random(
				world.base.sim, CRASHES + 1);
		}
		for (next = 0; next < 60;) {
			weir_sim_run_until(world.base.sim,
					   world_now(&world.base) + MS,
					   weir_sim_random(world.base.sim, 30));
			c = counts(&world);
			sent = weir_publisher_probe_counts(probe);
			assert_in_range((uint64_t)(sent.requested - sent.sent) +
						c.queue + c.processing,
					0, world.manager.options.max);
			if (sent.requested > sent.sent &&
			    weir_sim_random(world.base.sim, 2))
				send(next++, 1);
		}
		weir_sim_run(world.base.sim);
		probed_fini();
	}
}

static void a7_3_a_refused_command_is_asked_for_again(void **state)
{
	size_t i;

	(void)state;
	probed(2, 2, 9);
	for (i = 0; i < 8; i++)
		world.tasks[i].how = NOT_SET_UP;
	expect_request(2);
	for (i = 0; i < 8; i += 2) {
		send(i, 2);
		expect_request(2);
	}
	send(8, 1);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_REFUSED), 8);
	assert_reply(&world, 8, WEIR_OUTCOME_DONE, 0);
	probed_fini();
}

static void a4_10_at_the_end_it_finishes_behind_its_processes(void **state)
{
	(void)state;
	probed(3, 1, 3);
	send(0, 3);
	assert_int_equal(weir_publisher_probe_complete(probe), 0);
	settle(NULL);
	assert_int_equal(world.running, 3);
	assert_true(weir_system_is_alive(world.base.system, world.ref));
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 3);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	probed_fini();
}

static int ended_with;

static void note_end(struct weir_watcher *watcher,
		     const struct weir_terminated *notice)
{
	(void)watcher;
	ended_with = notice->error ? notice->error->code : 0;
}

static void a4_10_with_an_error_it_finishes_with_that(void **state)
{
	struct weir_watcher watcher = {.terminated = note_end};

	(void)state;
	probed(3, 1, 3);
	ended_with = 1;
	assert_int_equal(
		weir_watcher_add(world.base.system, world.ref, &watcher), 0);
	send(0, 3);
	assert_int_equal(
		weir_publisher_probe_error(probe, weir_error_of(-EXDEV)), 0);
	settle(NULL);
	assert_int_equal(world.running, 3);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 3);
	assert_int_equal(ended_with, -EXDEV);
	probed_fini();
}

static void a4_10_closed_it_cancels(void **state)
{
	(void)state;
	probed(3, 1, 3);
	expect_request(3);
	send(0, 2);
	settle(NULL);
	send(2, 1);
	weir_process_manager_end(&world.manager);
	settle(NULL);
	assert_true(weir_publisher_probe_expect_cancel(probe));
	assert_int_equal(world.tasks[2].replies, world.running == 2);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	probed_fini();
}

static void a4_10_items_that_are_no_commands_are_refused(void **state)
{
	static const struct weir_items others;

	(void)state;
	manager_new(3, 1, 0);
	probe_new(&others);
	(void)weir_publisher_subscribe(
		weir_publisher_probe_base(probe),
		weir_process_manager_subscriber(&world.manager));
	manager_spawn(&world, 0);
	/* the owner's call, and it has an owner now */
	assert_null(weir_process_manager_subscriber(&world.manager));
	weir_sim_run(world.base.sim);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	probed_fini();
}

static void a_subscriber_takes_no_offers(void **state)
{
	(void)state;
	probed(3, 1, 1);
	assert_int_equal(offer(&world, 0), -EISCONN);
	probed_fini();
}

static void who_was_offered_a_command_does_not_subscribe(void **state)
{
	(void)state;
	manager_new(3, 1, 1);
	assert_int_equal(offer(&world, 0), 0);
	assert_null(weir_process_manager_subscriber(&world.manager));
	manager_spawn(&world, 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

/* A command that never came is refused, and counts at no manager. */
static void dropped_on_its_way_a_command_counts_nowhere(void **state)
{
	const struct weir_items *items = weir_command_items();

	(void)state;
	probed(2, 1, 2);
	send(0, 1);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	/* used again, it still knows its last manager */
	world.tasks[0].replies = 0;
	items->drop(&world.tasks[0].command, items->context);
	assert_reply(&world, 0, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(counts(&world).outcomes[WEIR_OUTCOME_REFUSED], 0);
	world.tasks[0].outcome = WEIR_OUTCOME_DONE;
	probed_fini();
}

static int decide_restart(struct weir_actor *supervisor,
			  const struct weir_failure *failure, void *context)
{
	(void)supervisor;
	(void)failure;
	(void)context;
	return WEIR_DIRECTIVE_RESTART;
}

static void restarted_it_keeps_its_publisher(void **state)
{
	static const struct weir_strategy strategy = {.decide = decide_restart};
	struct weir_process_manager_options options;
	struct weir_publisher *publisher;

	(void)state;
	process_world_init_under(&world, 1, &strategy);
	tasks_new(&world, 6, SECOND);
	options = job_options(&world, 3, 0);
	options.batch = 1;
	manager_init(&world, &options);
	probe_new(weir_command_items());
	publisher = weir_publisher_probe_base(probe);
	assert_int_equal(weir_publisher_subscribe(
				 publisher, weir_process_manager_subscriber(
						    &world.manager)),
			 0);
	manager_spawn(&world, 0);
	expect_request(3);
	send(0, 2);
	settle(NULL);
	assert_int_equal(world.running, 2);
	assert_int_equal(weir_system_kill(world.base.system, world.ref), 0);
	settle(NULL);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	assert_reply(&world, 0, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_reply(&world, 1, WEIR_OUTCOME_STOPPED, -ECANCELED);
	/* one is still requested, the two places are */
	expect_request(2);
	send(2, 3);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 3);
	probed_fini();
}

/* --- Publishers and processors that are actors ---------------------------- */

/* Sends all commands of the table, as fast as they are wanted. */
struct sender {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_reactive_out reactive;
	size_t next;
};

static inline int sender_turn(struct weir_actor *actor)
{
	struct sender *self = weir_container_of(actor, struct sender, actor);
	struct task *task = &world.tasks[self->next++];

	task->taken = true;
	assert_int_equal(weir_out_put(&self->out, &task->command), 0);
	return self->next == world.n_tasks ? WEIR_TURN_END : 0;
}
WEIR_TURN(sender_turn)

static const struct weir_actor_ops sender_ops = {
	.name = "sender",
	.turns = sender_turn_n,
};

static void sender_init(struct sender *self)
{
	memset(self, 0, sizeof(*self));
	assert_int_equal(weir_actor_init(&self->actor, &sender_ops,
					 world.base.executor),
			 0);
	assert_int_equal(weir_out_init(&self->out, &self->actor,
				       weir_command_items()),
			 0);
	assert_int_equal(
		weir_reactive_out_init(&self->reactive, &self->out, NULL), 0);
}

/* Lets one command pass every 100 ms. */
struct limiter {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_delay delay;
	struct weir_reactive_in reactive_in;
	struct weir_reactive_out reactive_out;
};

static inline int limiter_turn(struct weir_actor *actor)
{
	struct limiter *self = weir_container_of(actor, struct limiter, actor);
	int rc = weir_out_put(&self->out, weir_in_take(&self->in));

	return rc ? rc : weir_delay_for(&self->delay, 100 * MS);
}
WEIR_TURN(limiter_turn)

static const struct weir_actor_ops limiter_ops = {
	.name = "limiter",
	.turns = limiter_turn_n,
};

static void limiter_init(struct limiter *self)
{
	int rc;

	memset(self, 0, sizeof(*self));
	rc = weir_actor_init(&self->actor, &limiter_ops, world.base.executor);
	assert_int_equal(rc, 0);
	rc |= weir_in_init(&self->in, &self->actor, 4, weir_command_items());
	rc |= weir_out_init(&self->out, &self->actor, weir_command_items());
	rc |= weir_delay_init(&self->delay, &self->actor);
	rc |= weir_delay_until(&self->delay, 0);
	rc |= weir_reactive_in_init(&self->reactive_in, &self->in, NULL);
	rc |= weir_reactive_out_init(&self->reactive_out, &self->out, NULL);
	assert_int_equal(rc, 0);
}

static void any_publisher_can_feed_it(void **state)
{
	struct sender sender;

	(void)state;
	for_each_seed(seed, 50) {
		manager_new(1 + seed % 7, seed % 4, 40);
		sender_init(&sender);
		assert_int_equal(weir_publisher_subscribe(
					 &sender.reactive.publisher,
					 weir_process_manager_subscriber(
						 &world.manager)),
				 0);
		manager_spawn(&world, 0);
		assert_int_equal(weir_actor_start(&sender.actor), 0);
		weir_sim_run(world.base.sim);
		assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 40);
		assert_int_equal(world.peak, world.manager.options.max);
		assert_false(
			weir_system_is_alive(world.base.system, world.ref));
		process_world_fini(&world);
	}
}

static void a_processor_can_sit_between(void **state)
{
	struct sender sender;
	struct limiter limiter;

	(void)state;
	manager_new(20, 5, 50);
	sender_init(&sender);
	limiter_init(&limiter);
	assert_int_equal(
		weir_publisher_subscribe(&sender.reactive.publisher,
					 &limiter.reactive_in.subscriber),
		0);
	assert_int_equal(
		weir_publisher_subscribe(
			&limiter.reactive_out.publisher,
			weir_process_manager_subscriber(&world.manager)),
		0);
	manager_spawn(&world, 0);
	assert_int_equal(weir_actor_start(&limiter.actor), 0);
	assert_int_equal(weir_actor_start(&sender.actor), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 50);
	/* ten a second, for a second each */
	assert_in_range(world.peak, 10, 11);
	assert_int_equal(world_now(&world.base), 49 * 100 * MS + SECOND);
	process_world_fini(&world);
}

static void a_manager_that_closes_stops_those_before_it(void **state)
{
	struct sender sender;
	struct limiter limiter;

	(void)state;
	manager_new(2, 1, 50);
	sender_init(&sender);
	limiter_init(&limiter);
	assert_int_equal(
		weir_publisher_subscribe(&sender.reactive.publisher,
					 &limiter.reactive_in.subscriber),
		0);
	assert_int_equal(
		weir_publisher_subscribe(
			&limiter.reactive_out.publisher,
			weir_process_manager_subscriber(&world.manager)),
		0);
	manager_spawn(&world, 0);
	assert_int_equal(weir_actor_start(&limiter.actor), 0);
	assert_int_equal(weir_actor_start(&sender.actor), 0);
	let_pass(1500 * MS);
	weir_process_manager_end(&world.manager);
	weir_sim_run(world.base.sim);
	assert_true(count_outcome(&world, WEIR_OUTCOME_DONE) >= 3);
	/* those upstream were dropped, and count at no manager */
	assert_true(count_outcome(&world, WEIR_OUTCOME_REFUSED) > 0);
	assert_int_equal(counts(&world).outcomes[WEIR_OUTCOME_REFUSED], 0);
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a7_1_it_requests_max_and_starts_one_for_each),
		cmocka_unit_test(a4_5_a7_2_it_asks_when_a_batch_is_free),
		cmocka_unit_test(e1_the_queue_counts),
		cmocka_unit_test(
			e1_with_a_strategy_of_ones_own_all_places_are_used),
		cmocka_unit_test(
			a4_3_a7_7_it_never_asks_for_more_than_it_can_start),
		cmocka_unit_test(a7_3_a_refused_command_is_asked_for_again),
		cmocka_unit_test(
			a4_10_at_the_end_it_finishes_behind_its_processes),
		cmocka_unit_test(a4_10_with_an_error_it_finishes_with_that),
		cmocka_unit_test(a4_10_closed_it_cancels),
		cmocka_unit_test(a4_10_items_that_are_no_commands_are_refused),
		cmocka_unit_test(a_subscriber_takes_no_offers),
		cmocka_unit_test(who_was_offered_a_command_does_not_subscribe),
		cmocka_unit_test(dropped_on_its_way_a_command_counts_nowhere),
		cmocka_unit_test(restarted_it_keeps_its_publisher),
		cmocka_unit_test(any_publisher_can_feed_it),
		cmocka_unit_test(a_processor_can_sit_between),
		cmocka_unit_test(a_manager_that_closes_stops_those_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
