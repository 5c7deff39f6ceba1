/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager as a processor: commands in, results out. What is not taken keeps
 * its place, each result comes once, and each command is replied to once,
 * whatever ends. Rule numbers like A4.10 are those of
 * docs/conformance/process_manager.md.
 */
#include "process/kit.h"

#include <weir/reactive.h>
#include <weir/testkit.h>

static struct process_world world;
static struct weir_test_env env;
static struct weir_subscriber_probe *probe;
static struct weir_publisher_probe *source;

static int settle(void *context)
{
	(void)context;
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	check_counts(&world);
	return 0;
}

static void let_pass(uint64_t ns)
{
	weir_sim_run_until(world.base.sim, world_now(&world.base) + ns,
			   UINT64_MAX);
	check_counts(&world);
}

static void probe_new(bool drops)
{
	struct weir_subscriber_probe_options options = {.drops = drops};

	env = (struct weir_test_env){.settle = settle};
	assert_int_equal(weir_subscriber_probe_new(&probe, &env, &options), 0);
	assert_int_equal(weir_publisher_subscribe(
				 weir_process_manager_publisher(&world.manager),
				 weir_subscriber_probe_base(probe)),
			 0);
}

/* A manager with results; nobody takes them yet. */
static void results_new_on(uint64_t seed, uint32_t max, uint32_t buffer,
			   size_t n)
{
	struct weir_process_manager_options options;

	process_world_init_under(&world, seed, &restarting);
	tasks_new(&world, n, SECOND);
	options = job_options(&world, max, buffer);
	options.results = true;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	settle(NULL);
}

/* And one who takes them. */
static void results_new(uint32_t max, uint32_t buffer, size_t n)
{
	results_new_on(1, max, buffer, n);
	probe_new(false);
	settle(NULL);
}

static void request(int64_t n)
{
	weir_subscriber_probe_request(probe, n);
	settle(NULL);
}

/* The probe drops what it has: with that all are replied to. */
static void probe_fini(void)
{
	assert_int_equal(weir_subscriber_probe_free(probe), 0);
	probe = NULL;
}

static void expect_next(size_t i)
{
	struct weir_command *command = &world.tasks[i].command;

	if (!weir_subscriber_probe_expect_next(probe, command))
		fail_msg("%s", weir_subscriber_probe_failure(probe));
	/* it is in the stream, and not replied to */
	assert_int_equal(world.tasks[i].replies, 0);
}

static void expect_nothing(void)
{
	if (!weir_subscriber_probe_expect_nothing(probe))
		fail_msg("%s", weir_subscriber_probe_failure(probe));
}

static void a_result_comes_when_its_process_has_ended(void **state)
{
	const struct weir_command *command = NULL;

	(void)state;
	results_new(2, 2, 3);
	world.tasks[1].how = FAILS;
	world.tasks[1].work_ns = 2 * SECOND;
	assert_int_equal(offer_all(&world, 0, 2), 2);
	request(5);
	assert_true(weir_subscriber_probe_expect_subscription(probe));
	expect_nothing();
	let_pass(SECOND);
	expect_next(0);
	command = &world.tasks[0].command;
	assert_int_equal(command->outcome, WEIR_OUTCOME_DONE);
	assert_null(command->error);
	let_pass(SECOND);
	expect_next(1);
	command = &world.tasks[1].command;
	assert_int_equal(command->outcome, WEIR_OUTCOME_CRASHED);
	assert_int_equal(command->error->code, -EIO);
	/* who has taken it is done with it */
	probe_fini();
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 1, WEIR_OUTCOME_CRASHED, -EIO);
	process_world_fini(&world);
}

static void what_nobody_takes_keeps_its_place(void **state)
{
	(void)state;
	results_new(2, 2, 5);
	assert_int_equal(offer_all(&world, 0, 4), 4);
	let_pass(10 * SECOND);
	assert_int_equal(counts(&world).processing, 2);
	assert_int_equal(counts(&world).waiting, 2);
	assert_int_equal(world.running, 0);
	assert_int_equal(offer(&world, 4), -ENOBUFS);
	request(1);
	assert_int_equal(world.running, 1);
	assert_int_equal(offer(&world, 4), 0);
	let_pass(10 * SECOND);
	assert_int_equal(counts(&world).processing, 2);
	request(10);
	let_pass(10 * SECOND);
	assert_int_equal(counts(&world).processing, 0);
	if (!weir_subscriber_probe_expect_next_n(probe, 5))
		fail_msg("%s", weir_subscriber_probe_failure(probe));
	probe_fini();
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 5);
	process_world_fini(&world);
}

static void its_id_is_free_when_it_has_ended(void **state)
{
	(void)state;
	results_new(2, 0, 2);
	world.tasks[0].command.id = world.tasks[1].command.id = "same";
	assert_int_equal(offer(&world, 0), 0);
	let_pass(SECOND);
	assert_int_equal(weir_process_manager_cancel(&world.manager, "same"),
			 -ESRCH);
	assert_int_equal(offer(&world, 1), 0);
	settle(NULL);
	assert_int_equal(world.running, 1);
	request(2);
	let_pass(SECOND);
	expect_next(0);
	expect_next(1);
	probe_fini();
	process_world_fini(&world);
}

static void what_never_ran_is_no_result(void **state)
{
	(void)state;
	results_new(1, 3, 4);
	world.tasks[0].how = NOT_SET_UP;
	world.tasks[2].command.id = "x";
	assert_int_equal(offer_all(&world, 0, 4), 4);
	assert_int_equal(weir_process_manager_cancel(&world.manager, "x"), 0);
	request(5);
	assert_reply(&world, 0, WEIR_OUTCOME_REFUSED, -ENOLINK);
	assert_reply(&world, 2, WEIR_OUTCOME_REFUSED, -ECANCELED);
	let_pass(3 * SECOND);
	expect_next(1);
	expect_next(3);
	expect_nothing();
	probe_fini();
	process_world_fini(&world);
}

static void the_stream_ends_behind_the_last_result(void **state)
{
	(void)state;
	results_new(3, 0, 3);
	assert_int_equal(offer_all(&world, 0, 3), 3);
	settle(NULL);
	weir_process_manager_end(&world.manager);
	let_pass(2 * SECOND);
	/* they wait to be taken */
	assert_true(weir_system_is_alive(world.base.system, world.ref));
	request(2);
	assert_true(weir_system_is_alive(world.base.system, world.ref));
	request(1);
	if (!weir_subscriber_probe_expect_next_n(probe, 3) ||
	    !weir_subscriber_probe_expect_complete(probe))
		fail_msg("%s", weir_subscriber_probe_failure(probe));
	settle(NULL);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	probe_fini();
	process_world_fini(&world);
}

static void a4_10_cancelled_it_ends_and_replies(void **state)
{
	(void)state;
	results_new(3, 3, 7);
	world.tasks[1].work_ns = world.tasks[2].work_ns = 5 * SECOND;
	assert_int_equal(offer_all(&world, 0, 6), 6);
	let_pass(SECOND);
	/* one waits to be taken, three run, and two wait */
	weir_subscriber_probe_cancel(probe);
	settle(NULL);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_reply(&world, 5, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world.tasks[1].replies, 0);
	assert_int_equal(offer(&world, 6), -ESHUTDOWN);
	let_pass(5 * SECOND);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 2, WEIR_OUTCOME_DONE, 0);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	probe_fini();
	process_world_fini(&world);
}

static void stopped_it_replies_to_what_was_not_taken(void **state)
{
	(void)state;
	results_new(2, 1, 3);
	world.tasks[1].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 3), 3);
	let_pass(SECOND);
	weir_actor_stop(&world.manager.actor);
	settle(NULL);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 1, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_reply(&world, 2, WEIR_OUTCOME_REFUSED, -ECANCELED);
	if (!weir_subscriber_probe_expect_error(probe, -ECANCELED))
		fail_msg("%s", weir_subscriber_probe_failure(probe));
	probe_fini();
	process_world_fini(&world);
}

static void results_outlive_a_restart(void **state)
{
	(void)state;
	results_new(2, 2, 4);
	world.tasks[1].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 2), 2);
	let_pass(SECOND);
	assert_int_equal(weir_system_kill(world.base.system, world.ref), 0);
	settle(NULL);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	request(5);
	expect_next(0);
	expect_next(1);
	assert_int_equal(offer_all(&world, 2, 2), 2);
	let_pass(SECOND);
	if (!weir_subscriber_probe_expect_next_n(probe, 2))
		fail_msg("%s", weir_subscriber_probe_failure(probe));
	probe_fini();
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 1, WEIR_OUTCOME_STOPPED, -ECANCELED);
	process_world_fini(&world);
}

static void without_the_option_there_are_none(void **state)
{
	(void)state;
	process_world_new(&world, 1, 1, 0, 0, SECOND);
	assert_null(weir_process_manager_publisher(&world.manager));
	assert_null(weir_process_manager_publisher(NULL));
	process_world_fini(&world);
}

/* --- Calls ---------------------------------------------------------------- */

static int call(struct weir_command *command, void *context)
{
	struct task *task = task_of(command);

	(void)context;
	if (task->how == GOES_ON)
		return WEIR_RUN_LATER;
	return task->how == FAILS ? -EIO : 0;
}

static void calls_have_results_too(void **state)
{
	struct weir_process_manager_options options = {
		.context = &world,
		.run = call,
		.runners = 2,
		.max = 3,
		.buffer = 3,
		.results = true,
		.released = manager_released,
	};
	size_t i;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 6, 0);
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	probe_new(false);
	world.tasks[1].how = FAILS;
	world.tasks[2].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 6), 6);
	settle(NULL);
	/* two wait to be taken */
	assert_int_equal(counts(&world).started, 3);
	assert_int_equal(counts(&world).processing, 3);
	weir_command_end(&world.tasks[2].command, 0);
	settle(NULL);
	assert_int_equal(counts(&world).started, 3);
	request(2);
	assert_int_equal(counts(&world).started, 5);
	request(9);
	for (i = 0; i < 6; i++)
		assert_int_equal(world.tasks[i].replies, 0);
	if (!weir_subscriber_probe_expect_next_n(probe, 6))
		fail_msg("%s", weir_subscriber_probe_failure(probe));
	assert_int_equal(counts(&world).processing, 0);
	probe_fini();
	assert_reply(&world, 1, WEIR_OUTCOME_CRASHED, -EIO);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 5);
	process_world_fini(&world);
}

/* --- A processor ---------------------------------------------------------- */

static void send(size_t i)
{
	world.tasks[i].taken = true;
	assert_int_equal(
		weir_publisher_probe_send(source, &world.tasks[i].command), 0);
}

static void processor_new(uint64_t seed, uint32_t max, size_t n)
{
	struct weir_process_manager_options options;

	process_world_init(&world, seed);
	tasks_new(&world, n, SECOND);
	options = job_options(&world, max, 0);
	options.results = true;
	options.batch = 1;
	manager_init(&world, &options);
	probe_new(false);
	assert_int_equal(weir_publisher_probe_new(&source, &env,
						  weir_command_items()),
			 0);
	assert_int_equal(
		weir_publisher_subscribe(
			weir_publisher_probe_base(source),
			weir_process_manager_subscriber(&world.manager)),
		0);
	manager_spawn(&world, 0);
	settle(NULL);
}

static void processor_fini(void)
{
	probe_fini();
	process_world_fini(&world);
	env.settle = NULL; /* there is nothing left to be settled */
	assert_int_equal(weir_publisher_probe_free(source), 0);
}

/* Whatever happens: what is requested, queued, processed and not taken is at
 * most `max`, and a result is sent for a request only. */
static void demand_goes_through_it(void **state)
{
	struct weir_publisher_probe_counts sent;
	struct weir_process_counts c;
	size_t next, i;

	(void)state;
	for_each_seed(seed, 100) {
		processor_new(seed, 1 + seed % 7, 40);
		for (i = 0; i < 40; i++) {
			world.tasks[i].work_ns =
				weir_sim_random(world.base.sim, 20) * MS;
			world.tasks[i].how = (enum how)weir_sim_random(
				world.base.sim, CRASHES + 1);
		}
		for (next = 0; next < 40;) {
			weir_sim_run_until(world.base.sim,
					   world_now(&world.base) + MS,
					   weir_sim_random(world.base.sim, 30));
			check_counts(&world);
			c = counts(&world);
			sent = weir_publisher_probe_counts(source);
			assert_in_range((uint64_t)(sent.requested - sent.sent) +
						c.queue + c.processing,
					0, world.manager.options.max);
			if (sent.requested > sent.sent &&
			    weir_sim_random(world.base.sim, 2))
				send(next++);
			if (weir_sim_random(world.base.sim, 3) == 0)
				weir_subscriber_probe_request(
					probe, 1 + (int64_t)weir_sim_random(
							   world.base.sim, 3));
		}
		assert_int_equal(weir_publisher_probe_complete(source), 0);
		weir_subscriber_probe_request(probe, 40);
		weir_sim_run(world.base.sim);
		if (!weir_subscriber_probe_expect_next_n(probe, 40) ||
		    !weir_subscriber_probe_expect_complete(probe))
			fail_msg("%s", weir_subscriber_probe_failure(probe));
		processor_fini();
	}
}

static void an_error_goes_through_it(void **state)
{
	(void)state;
	processor_new(1, 2, 1);
	send(0);
	assert_int_equal(
		weir_publisher_probe_error(source, weir_error_of(-EXDEV)), 0);
	let_pass(SECOND);
	request(1);
	expect_next(0);
	if (!weir_subscriber_probe_expect_error(probe, -EXDEV))
		fail_msg("%s", weir_subscriber_probe_failure(probe));
	processor_fini();
}

static void a_cancel_goes_through_it(void **state)
{
	(void)state;
	processor_new(1, 2, 0);
	weir_subscriber_probe_cancel(probe);
	settle(NULL);
	assert_true(weir_publisher_probe_expect_cancel(source));
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	processor_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_comes_when_its_process_has_ended),
		cmocka_unit_test(what_nobody_takes_keeps_its_place),
		cmocka_unit_test(its_id_is_free_when_it_has_ended),
		cmocka_unit_test(what_never_ran_is_no_result),
		cmocka_unit_test(the_stream_ends_behind_the_last_result),
		cmocka_unit_test(a4_10_cancelled_it_ends_and_replies),
		cmocka_unit_test(stopped_it_replies_to_what_was_not_taken),
		cmocka_unit_test(results_outlive_a_restart),
		cmocka_unit_test(without_the_option_there_are_none),
		cmocka_unit_test(calls_have_results_too),
		cmocka_unit_test(demand_goes_through_it),
		cmocka_unit_test(an_error_goes_through_it),
		cmocka_unit_test(a_cancel_goes_through_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
