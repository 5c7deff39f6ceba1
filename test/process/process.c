/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are actors: how they start, all the ways in which they end,
 * and that each of them gives its place back once. Rules A4.4 to A4.9, A5.6 to
 * A5.8, A7.3, A7.4, E13 and E14. Rule numbers like A4.4 are those of
 * docs/conformance/process_manager.md.
 */
#include "process/kit.h"

#include <stdio.h>

#include <weir/death_watch.h>

static struct process_world world;

/* Runs until nothing happens at this time any more. */
static void settle(void)
{
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
}

static void a4_4_each_command_has_a_process_that_is_a_child(void **state)
{
	struct weir_actor_id children[4];
	char path[64];

	(void)state;
	process_world_new(&world, 1, 4, 0, 3, SECOND);
	world.tasks[1].command.id = "one";
	assert_int_equal(offer_all(&world, 0, 3), 3);
	settle();
	assert_int_equal(weir_system_children(world.base.system, world.ref,
					      children, 4),
			 3);
	assert_true(weir_actor_id_equal(children[1], world.tasks[1].ref));
	assert_true(weir_actor_id_equal(
		world.ref, weir_system_parent(world.base.system, children[1])));
	assert_true(weir_system_path(world.base.system, children[1], path, 64) >
		    0);
	assert_string_equal(path, "/user/manager/one");
	assert_true(weir_system_path(world.base.system, children[0], path, 64) >
		    0);
	assert_memory_equal(path, "/user/manager/$", 15);
	weir_sim_run(world.base.sim);
	assert_int_equal(weir_system_children(world.base.system, world.ref,
					      children, 4),
			 0);
	process_world_fini(&world);
}

static struct weir_actor_id find(const char *id)
{
	return weir_process_manager_find(&world.manager, id);
}

static bool is_none(struct weir_actor_id id)
{
	return weir_actor_id_equal(id, WEIR_ACTOR_ID_NONE);
}

static void a4_4_anybody_finds_it_by_its_id(void **state)
{
	(void)state;
	process_world_new(&world, 1, 1, 1, 2, SECOND);
	world.tasks[0].command.id = "one";
	world.tasks[1].command.id = "two";
	assert_int_equal(offer_all(&world, 0, 2), 2);
	assert_true(is_none(find("one")));
	settle();
	assert_false(is_none(find("one")));
	assert_true(weir_actor_id_equal(find("one"), world.tasks[0].ref));
	assert_true(weir_actor_id_equal(
		find("one"),
		weir_system_lookup(world.base.system, "/user/manager/one")));
	/* it waits */
	assert_true(is_none(find("two")));
	assert_true(is_none(find("three")));
	assert_true(is_none(find(NULL)));
	assert_true(is_none(weir_process_manager_find(NULL, "one")));
	weir_sim_run(world.base.sim);
	assert_true(is_none(find("one")));
	assert_true(is_none(find("two")));
	process_world_fini(&world);
}

/* In the reply it is over. */
static void finds_nobody(struct process_world *at, struct task *task)
{
	(void)at;
	if (task->outcome == WEIR_OUTCOME_REFUSED)
		return;
	assert_true(is_none(find(task->command.id)));
	assert_true(is_none(
		weir_system_lookup(world.base.system, "/user/manager/one")));
}

static void a4_4_in_its_reply_its_name_is_free(void **state)
{
	(void)state;
	process_world_new(&world, 1, 1, 0, 1, SECOND);
	world.tasks[0].command.id = "one";
	world.replied = finds_nobody;
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static char path_told[64];

static void note_path(struct weir_watcher *watcher,
		      const struct weir_terminated *notice)
{
	(void)watcher;
	assert_non_null(notice->path);
	(void)snprintf(path_told, sizeof(path_told), "%s", notice->path);
}

static void a4_4_notices_of_its_end_name_it(void **state)
{
	struct weir_watcher watcher = {.terminated = note_path};

	(void)state;
	process_world_new(&world, 1, 1, 0, 1, SECOND);
	world.tasks[0].command.id = "one";
	assert_int_equal(offer(&world, 0), 0);
	settle();
	assert_int_equal(
		weir_watcher_add(world.base.system, find("one"), &watcher), 0);
	weir_sim_run(world.base.sim);
	assert_string_equal(path_told, "/user/manager/one");
	process_world_fini(&world);
}

/* Somebody else's child has that name. */
static void e13_an_id_that_another_child_has_is_refused(void **state)
{
	static const struct weir_actor_ops other_ops = {
		.name = "other", .turns = job_turns, /* never: it has no port */
	};
	static const struct weir_spawn_options options = {.name = "one"};
	static struct weir_actor other;

	(void)state;
	process_world_new(&world, 1, 1, 0, 2, MS);
	assert_int_equal(
		weir_actor_init(&other, &other_ops, world.base.executor), 0);
	assert_int_equal(weir_system_spawn(world.base.system, world.ref, &other,
					   &options, NULL),
			 0);
	world.tasks[0].command.id = "one";
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_REFUSED, -EEXIST);
	assert_int_equal(offer(&world, 1), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

/* Whatever becomes of it, the one place is free again. */
static void ends_as(enum how how, enum weir_outcome outcome, int code)
{
	size_t i;

	process_world_new(&world, 1 + how, 1, 0, 20, MS);
	for (i = 0; i < 20; i++) {
		if (i % 2 == 0)
			world.tasks[i].how = how;
		assert_int_equal(offer(&world, i), 0);
		weir_sim_run(world.base.sim);
		if (i % 2 == 0)
			assert_reply(&world, i, outcome, code);
		else
			assert_reply(&world, i, WEIR_OUTCOME_DONE, 0);
		assert_int_equal(counts(&world).processing, 0);
	}
	assert_in_range(world.peak, 0, 1);
	process_world_fini(&world);
}

static void a4_6_one_that_finishes_frees_its_place(void **state)
{
	(void)state;
	ends_as(FINISHES, WEIR_OUTCOME_DONE, 0);
}

static void a4_7_one_that_fails_is_stopped(void **state)
{
	(void)state;
	ends_as(FAILS, WEIR_OUTCOME_CRASHED, -EIO);
}

static void a4_7_so_is_one_that_fails_in_its_start(void **state)
{
	(void)state;
	ends_as(CRASHES, WEIR_OUTCOME_CRASHED, -EIO);
}

static void a5_8_a7_3_one_that_is_not_set_up_is_refused(void **state)
{
	(void)state;
	ends_as(NOT_SET_UP, WEIR_OUTCOME_REFUSED, -ENOLINK);
}

static void one_that_has_children_ends_after_them(void **state)
{
	(void)state;
	ends_as(HAS_CHILDREN, WEIR_OUTCOME_DONE, 0);
}

static void a5_8_one_that_is_not_set_up_has_not_started(void **state)
{
	(void)state;
	process_world_new(&world, 1, 2, 2, 4, SECOND);
	world.tasks[0].how = NOT_SET_UP;
	world.tasks[1].how = NOT_SET_UP;
	assert_int_equal(offer_all(&world, 0, 4), 4);
	settle();
	assert_int_equal(counts(&world).started, 2);
	assert_int_equal(counts(&world).taken, 4);
	assert_int_equal(counts(&world).outcomes[WEIR_OUTCOME_REFUSED], 2);
	assert_int_equal(counts(&world).processing, 2);
	assert_int_equal(counts(&world).peak, 2);
	process_world_fini(&world);
}

static void a4_7_a_fatal_failure_is_the_managers(void **state)
{
	size_t i;

	(void)state;
	process_world_new(&world, 1, 2, 4, 7, SECOND);
	world.tasks[0].how = WORLD_ENDS;
	world.tasks[1].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 6), 6);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_CRASHED, WEIR_ERROR_FATAL);
	assert_reply(&world, 1, WEIR_OUTCOME_STOPPED, -ECANCELED);
	for (i = 2; i < 6; i++)
		assert_reply(&world, i, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(offer(&world, 6), -ESHUTDOWN);
	process_world_fini(&world);
}

static void a4_6_one_that_anybody_stops_frees_its_place(void **state)
{
	(void)state;
	process_world_new(&world, 1, 1, 1, 2, SECOND);
	world.tasks[0].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 2), 2);
	settle();
	assert_int_equal(weir_system_stop_actor(world.base.system,
						world.tasks[0].ref),
			 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void a4_6_one_that_is_killed_frees_its_place(void **state)
{
	(void)state;
	process_world_new(&world, 1, 1, 1, 2, SECOND);
	world.tasks[0].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 2), 2);
	settle();
	assert_int_equal(
		weir_system_kill(world.base.system, world.tasks[0].ref), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_KILLED, -EINTR);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void a4_6_its_place_is_free_when_nobody_holds_it(void **state)
{
	struct weir_actor *actor;

	(void)state;
	process_world_new(&world, 1, 1, 1, 2, SECOND);
	assert_int_equal(offer_all(&world, 0, 2), 2);
	settle();
	actor = weir_system_actor(world.base.system, world.tasks[0].ref);
	assert_non_null(actor);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world.tasks[1].replies, 0);
	assert_int_equal(counts(&world).processing, 1);
	weir_actor_unref(actor);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void e13_its_id_is_free_though_somebody_holds_it(void **state)
{
	struct weir_process_manager_options options;
	struct weir_actor *actor;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 3, SECOND);
	options = job_options(&world, 2, 1);
	options.batch = 1;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	world.tasks[0].command.id = world.tasks[1].command.id =
		world.tasks[2].command.id = "same";
	assert_int_equal(offer(&world, 0), 0);
	settle();
	actor = weir_system_actor(world.base.system, world.tasks[0].ref);
	assert_non_null(actor);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(offer(&world, 1), 0);
	settle();
	assert_int_equal(world.running, 1);
	/* the one that is let go of later takes no id along */
	weir_actor_unref(actor);
	assert_int_equal(offer(&world, 2), 0);
	settle();
	assert_reply(&world, 2, WEIR_OUTCOME_REFUSED, -EEXIST);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void a4_9_they_start_as_they_came_and_end_in_any_order(void **state)
{
	size_t i;

	(void)state;
	for_each_seed(seed, 50) {
		process_world_new(&world, seed, 5, 20, 25, 0);
		for (i = 0; i < 25; i++)
			world.tasks[i].work_ns =
				MS + weir_sim_random(world.base.sim, 9 * MS);
		assert_int_equal(offer_all(&world, 0, 25), 25);
		weir_sim_run(world.base.sim);
		/* in one slice they are spawned in order, but may run in
		 * another */
		for (i = 0; i < 25; i++)
			assert_in_range(world.tasks[i].begun,
					i >= 4 ? i - 3 : 1, i + 5);
		process_world_fini(&world);
	}
}

static void a4_9_one_at_a_time_they_start_in_order(void **state)
{
	size_t i;

	(void)state;
	process_world_new(&world, 1, 1, 20, 21, MS);
	assert_int_equal(offer_all(&world, 0, 21), 21);
	weir_sim_run(world.base.sim);
	for (i = 0; i < 21; i++)
		assert_int_equal(world.tasks[i].begun, i + 1);
	process_world_fini(&world);
}

static void a5_6_e13_an_id_that_runs_is_refused(void **state)
{
	char id[] = "same";

	(void)state;
	process_world_new(&world, 1, 3, 3, 4, SECOND);
	world.tasks[0].command.id = id;
	world.tasks[1].command.id = "same";
	world.tasks[2].command.id = "other";
	world.tasks[3].command.id = "same";
	assert_int_equal(offer_all(&world, 0, 3), 3);
	settle();
	assert_reply(&world, 1, WEIR_OUTCOME_REFUSED, -EEXIST);
	assert_int_equal(world.running, 2);
	assert_int_equal(counts(&world).processing, 2);
	weir_sim_run(world.base.sim);
	/* when it has ended the id is free */
	assert_int_equal(offer(&world, 3), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 2, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 3, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

/* The same id again, as soon as it is heard that its process has ended. */
static void again(struct process_world *at, struct task *task)
{
	size_t next = (size_t)(task - at->tasks) + 1;

	assert_int_equal(task->outcome, WEIR_OUTCOME_DONE);
	if (next < at->n_tasks)
		assert_int_equal(offer(at, next), 0);
}

static void e13_an_id_is_free_when_its_command_was_replied_to(void **state)
{
	size_t i;

	(void)state;
	for_each_seed(seed, 100) {
		process_world_new(&world, seed, 3, 3, 10, MS);
		for (i = 0; i < 10; i++)
			world.tasks[i].command.id = "same";
		world.replied = again;
		assert_int_equal(offer(&world, 0), 0);
		weir_sim_run(world.base.sim);
		assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 10);
		process_world_fini(&world);
	}
}

static void a5_6_e13_an_id_that_is_no_name_is_refused(void **state)
{
	char longest[WEIR_NAME_MAX + 1], longer[WEIR_NAME_MAX + 2];
	const char *const bad[] = {"", longer, "a/b", "/", "$1", "$"};
	size_t i;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	process_world_new(&world, 1, 4, 4, 8, SECOND);
	for (i = 0; i < 6; i++)
		world.tasks[i].command.id = bad[i];
	world.tasks[6].command.id = longest;
	world.tasks[7].command.id = "a $ and all that, .. too";
	assert_int_equal(offer_all(&world, 0, 8), 8);
	weir_sim_run(world.base.sim);
	for (i = 0; i < 6; i++)
		assert_reply(&world, i, WEIR_OUTCOME_REFUSED, -EINVAL);
	assert_reply(&world, 6, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 7, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(counts(&world).started, 2);
	process_world_fini(&world);
}

static void a5_7_e14_past_its_deadline_it_is_stopped(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 4, 2 * SECOND);
	options = job_options(&world, 2, 2);
	options.timeout_ns = 3 * SECOND;
	options.batch = 2;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	world.tasks[0].how = GOES_ON;
	world.tasks[1].command.timeout_ns = SECOND;
	world.tasks[2].command.timeout_ns = UINT64_MAX;
	assert_int_equal(offer_all(&world, 0, 4), 4);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_TIMED_OUT, -ECANCELED);
	assert_int_equal(world.tasks[0].at_ns, 3 * SECOND);
	assert_reply(&world, 1, WEIR_OUTCOME_TIMED_OUT, -ECANCELED);
	assert_int_equal(world.tasks[1].at_ns, SECOND);
	/* their places are others' then; their own time counts from there */
	assert_reply(&world, 2, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world.tasks[2].at_ns, 5 * SECOND);
	assert_reply(&world, 3, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world_now(&world.base), 5 * SECOND);
	process_world_fini(&world);
}

static void e14_who_ends_in_time_is_not_late(void **state)
{
	size_t i;

	(void)state;
	process_world_new(&world, 1, 4, 0, 4, SECOND);
	for (i = 0; i < 4; i++)
		world.tasks[i].command.timeout_ns = SECOND + 1;
	world.tasks[1].how = FAILS;
	world.tasks[2].how = CRASHES;
	world.tasks[3].how = NOT_SET_UP;
	assert_int_equal(offer_all(&world, 0, 4), 4);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 1, WEIR_OUTCOME_CRASHED, -EIO);
	assert_reply(&world, 2, WEIR_OUTCOME_CRASHED, -EIO);
	assert_reply(&world, 3, WEIR_OUTCOME_REFUSED, -ENOLINK);
	/* the timers were called off */
	assert_int_equal(world_now(&world.base), SECOND);
	process_world_fini(&world);
}

static void e14_late_and_done_may_meet(void **state)
{
	size_t late = 0, done = 0, n = 0;

	(void)state;
	for_each_seed(seed, 200) {
		process_world_new(&world, seed, 1, 0, 1, SECOND);
		world.tasks[0].command.timeout_ns = SECOND;
		assert_int_equal(offer(&world, 0), 0);
		weir_sim_run(world.base.sim);
		late += count_outcome(&world, WEIR_OUTCOME_TIMED_OUT);
		done += count_outcome(&world, WEIR_OUTCOME_DONE);
		assert_int_equal(late + done, ++n);
		process_world_fini(&world);
	}
	assert_true(late > 0 || test_seed_only());
}

static void e14_one_that_asks_for_time_has_as_much_as_it_was_given(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 2, 2 * SECOND);
	options = job_options(&world, 2, 0);
	options.timeout_ns = SECOND;
	options.shutdown_ns = 3 * SECOND;
	world.asks = true;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	world.tasks[1].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 2), 2);
	weir_sim_run(world.base.sim);
	assert_int_equal(world.asked, 2);
	/* it was late, and has used the rest of its time to finish well */
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world.tasks[0].at_ns, 2 * SECOND);
	assert_reply(&world, 1, WEIR_OUTCOME_TIMED_OUT, -ECANCELED);
	assert_int_equal(world.tasks[1].at_ns, 4 * SECOND);
	process_world_fini(&world);
}

static void a7_4_processes_are_never_restarted(void **state)
{
	struct weir_actor_id first;

	(void)state;
	process_world_new(&world, 1, 1, 0, 1, MS);
	world.tasks[0].how = FAILS;
	assert_int_equal(offer(&world, 0), 0);
	settle();
	first = world.tasks[0].ref;
	weir_sim_run(world.base.sim);
	assert_int_equal(world.begun, 1);
	assert_false(weir_system_is_alive(world.base.system, first));
	process_world_fini(&world);
}

static void a7_6_the_managers_other_children_take_no_place(void **state)
{
	static const struct weir_actor_ops other_ops = {
		.name = "other", .turns = job_turns, /* never: it has no port */
	};
	static struct weir_actor other;

	(void)state;
	process_world_new(&world, 1, 1, 0, 2, MS);
	assert_int_equal(
		weir_actor_init(&other, &other_ops, world.base.executor), 0);
	assert_int_equal(weir_system_spawn(world.base.system, world.ref, &other,
					   NULL, NULL),
			 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(counts(&world).processing, 0);
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(offer(&world, 1), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 2);
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a4_4_each_command_has_a_process_that_is_a_child),
		cmocka_unit_test(a4_4_anybody_finds_it_by_its_id),
		cmocka_unit_test(a4_4_in_its_reply_its_name_is_free),
		cmocka_unit_test(a4_4_notices_of_its_end_name_it),
		cmocka_unit_test(e13_an_id_that_another_child_has_is_refused),
		cmocka_unit_test(a4_6_one_that_finishes_frees_its_place),
		cmocka_unit_test(a4_7_one_that_fails_is_stopped),
		cmocka_unit_test(a4_7_so_is_one_that_fails_in_its_start),
		cmocka_unit_test(a5_8_a7_3_one_that_is_not_set_up_is_refused),
		cmocka_unit_test(one_that_has_children_ends_after_them),
		cmocka_unit_test(a5_8_one_that_is_not_set_up_has_not_started),
		cmocka_unit_test(a4_7_a_fatal_failure_is_the_managers),
		cmocka_unit_test(a4_6_one_that_anybody_stops_frees_its_place),
		cmocka_unit_test(a4_6_one_that_is_killed_frees_its_place),
		cmocka_unit_test(a4_6_its_place_is_free_when_nobody_holds_it),
		cmocka_unit_test(e13_its_id_is_free_though_somebody_holds_it),
		cmocka_unit_test(
			a4_9_they_start_as_they_came_and_end_in_any_order),
		cmocka_unit_test(a4_9_one_at_a_time_they_start_in_order),
		cmocka_unit_test(a5_6_e13_an_id_that_runs_is_refused),
		cmocka_unit_test(
			e13_an_id_is_free_when_its_command_was_replied_to),
		cmocka_unit_test(a5_6_e13_an_id_that_is_no_name_is_refused),
		cmocka_unit_test(a5_7_e14_past_its_deadline_it_is_stopped),
		cmocka_unit_test(e14_who_ends_in_time_is_not_late),
		cmocka_unit_test(e14_late_and_done_may_meet),
		cmocka_unit_test(
			e14_one_that_asks_for_time_has_as_much_as_it_was_given),
		cmocka_unit_test(a7_4_processes_are_never_restarted),
		cmocka_unit_test(
			a7_6_the_managers_other_children_take_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
