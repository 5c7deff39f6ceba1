/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offers: what is taken, what overflows, and that no settings wedge or starve
 * the manager. Rules A4.1, A4.2, A4.8, A5 and E1. Rule numbers like A4.1 are
 * those of docs/conformance/process_manager.md.
 */
#include "process/kit.h"

static struct process_world world;

static void a4_1_an_offer_to_a_full_buffer_overflows(void **state)
{
	(void)state;
	process_world_new(&world, 1, 2, 3, 10, SECOND);
	assert_int_equal(offer_all(&world, 0, 10), 5);
	assert_int_equal(counts(&world).overflowed, 5);
	assert_int_equal(counts(&world).accepted, 5);
	weir_sim_run_until(world.base.sim, 10 * MS, UINT64_MAX);
	/* the rest has changed nothing, and is not tried again */
	assert_int_equal(offer(&world, 9), -ENOBUFS);
	check_counts(&world);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 5);
	assert_int_equal(world.tasks[5].replies, 0);
	process_world_fini(&world);
}

static void a4_1_without_a_buffer_what_can_start_is_taken(void **state)
{
	(void)state;
	process_world_new(&world, 1, 3, 0, 10, SECOND);
	assert_int_equal(offer_all(&world, 0, 5), 3);
	weir_sim_run(world.base.sim);
	assert_int_equal(offer_all(&world, 5, 5), 3);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 6);
	process_world_fini(&world);
}

static void a4_2_what_waits_starts_when_it_is_asked_for(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 4, SECOND);
	options = job_options(&world, 2, 2);
	options.batch = 1;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	assert_int_equal(offer_all(&world, 0, 4), 4);
	weir_sim_run_until(world.base.sim, 500 * MS, UINT64_MAX);
	assert_int_equal(counts(&world).waiting, 2);
	assert_int_equal(counts(&world).processing, 2);
	weir_sim_run_until(world.base.sim, 1500 * MS, UINT64_MAX);
	assert_int_equal(counts(&world).waiting, 0);
	assert_int_equal(world.running, 2);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 2);
	process_world_fini(&world);
}

static void a4_8_a_burst_of_1000_into_50_and_8_takes_58(void **state)
{
	(void)state;
	process_world_new(&world, 1, 50, 8, 1000, SECOND);
	assert_int_equal(offer_all(&world, 0, 1000), 58);
	assert_int_equal(counts(&world).overflowed, 942);
	weir_sim_run(world.base.sim);
	assert_int_equal(world.peak, 50);
	assert_int_equal(counts(&world).peak, 50);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 58);
	process_world_fini(&world);
}

static void a4_8_so_does_one_before_the_start(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 1000, SECOND);
	options = job_options(&world, 50, 8);
	manager_init(&world, &options);
	assert_int_equal(offer_all(&world, 0, 1000), 58);
	manager_spawn(&world, 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(world.peak, 50);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 58);
	process_world_fini(&world);
}

static void a4_8_an_offer_without_room_may_be_refused_by_its_reply(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 10, SECOND);
	options = job_options(&world, 2, 3);
	options.overflow = WEIR_OVERFLOW_DROP_NEW;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	assert_int_equal(offer_all(&world, 0, 7), 7);
	assert_reply(&world, 5, WEIR_OUTCOME_REFUSED, -ENOBUFS);
	assert_reply(&world, 6, WEIR_OUTCOME_REFUSED, -ENOBUFS);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_REFUSED), 2);
	assert_int_equal(counts(&world).accepted, 5);
	assert_int_equal(counts(&world).overflowed, 2);
	check_counts(&world);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 5);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_REFUSED), 2);
	weir_process_manager_end(&world.manager);
	assert_int_equal(offer(&world, 8), -ESHUTDOWN);
	weir_sim_run(world.base.sim);
	process_world_fini(&world);
}

static void a4_8_a_manager_drops_no_other(void **state)
{
	static const enum weir_overflow others[] = {
		WEIR_OVERFLOW_DROP_HEAD, WEIR_OVERFLOW_DROP_TAIL,
		WEIR_OVERFLOW_DROP_ALL,	 WEIR_OVERFLOW_FAIL,
		(enum weir_overflow)17,	 (enum weir_overflow) - 1};
	struct weir_process_manager_options options;
	struct weir_process_manager manager;
	size_t i;

	(void)state;
	process_world_new(&world, 1, 2, 3, 1, SECOND);
	options = job_options(&world, 2, 3);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		options.overflow = others[i];
		assert_int_equal(weir_process_manager_init(&manager,
							   world.base.executor,
							   &options),
				 -EINVAL);
	}
	process_world_fini(&world);
}

static void e1_what_is_received_and_not_started_is_the_queue(void **state)
{
	(void)state;
	process_world_new(&world, 1, 4, 3, 7, SECOND);
	assert_int_equal(offer_all(&world, 0, 6), 6);
	assert_int_equal(counts(&world).queue, 4);
	assert_int_equal(counts(&world).waiting, 2);
	assert_int_equal(counts(&world).processing, 0);
	check_counts(&world);
	weir_sim_run_until(world.base.sim, 10 * MS, UINT64_MAX);
	assert_int_equal(counts(&world).queue, 0);
	assert_int_equal(counts(&world).waiting, 2);
	assert_int_equal(counts(&world).processing, 4);
	process_world_fini(&world);
}

/* Fills it, lets all finish, and sees whether it still works. */
static void fill_and_go_on(uint32_t max, uint32_t buffer, uint32_t batch,
			   bool count_buffer)
{
	struct weir_process_manager_options options;
	size_t n = max + buffer, taken;

	process_world_init(&world, max * 64 + buffer + batch);
	tasks_new(&world, 2 * n + 3, SECOND);
	options = job_options(&world, max, buffer);
	options.batch = batch;
	options.count_buffer = count_buffer;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	assert_int_equal(offer_all(&world, 0, n + 1), n);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), n);
	assert_int_equal(world.peak, max);
	assert_int_equal(offer(&world, n + 1), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), n + 1);
	/* and takes as much as before, less what is no batch yet */
	taken = offer_all(&world, n + 2, n + 1);
	assert_in_range(taken, n - ((batch < max ? batch : max) - 1), n);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE),
			 n + 1 + taken);
	check_counts(&world);
	process_world_fini(&world);
}

static void for_each_setting(void (*check)(uint32_t max, uint32_t buffer,
					   uint32_t batch))
{
	uint32_t max, buffer, batch;

	for (max = 1; max <= 8; max++)
		for (buffer = 0; buffer <= 12; buffer++)
			for (batch = 1; batch <= 6; batch++)
				check(max, buffer, batch);
}

static void not_counted(uint32_t max, uint32_t buffer, uint32_t batch)
{
	fill_and_go_on(max, buffer, batch, false);
}

static void a5_1_no_setting_wedges(void **state)
{
	(void)state;
	for_each_setting(not_counted);
}

static void counted(uint32_t max, uint32_t buffer, uint32_t batch)
{
	struct weir_process_manager_options options;
	struct weir_process_manager before;
	uint32_t room = max - (batch < max ? batch : max);

	if (buffer <= room) {
		fill_and_go_on(max, buffer, batch, true);
		return;
	}
	process_world_init(&world, 1);
	options = job_options(&world, max, buffer);
	options.batch = batch;
	options.count_buffer = true;
	before = world.manager;
	assert_int_equal(weir_process_manager_init(
				 &world.manager, world.base.executor, &options),
			 -EINVAL);
	assert_memory_equal(&before, &world.manager, sizeof(before));
	/* the same, and it is not counted */
	options.count_buffer = false;
	manager_init(&world, &options);
	process_world_fini(&world);
}

static void a5_1_e1_a_counted_buffer_that_would_wedge_is_refused(void **state)
{
	(void)state;
	for_each_setting(counted);
}

/*
 * A5.2: offers that never let up, processes of 0.2 to 1.8 s; how many run on
 * average, after a minute to get going.
 */
static double mean_under_overload(uint32_t max, uint32_t buffer,
				  bool count_buffer)
{
	struct weir_process_manager_options options;
	uint64_t step = 10 * MS, at = 0, end = 600 * SECOND;
	size_t n = end / step, i;
	double mean;

	process_world_init(&world, 7);
	tasks_new(&world, n, 0);
	options = job_options(&world, max, buffer);
	options.count_buffer = count_buffer;
	options.batch = 5;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	for (i = 0; i < n; i++, at += step) {
		world.tasks[i].work_ns =
			200 * MS + weir_sim_random(world.base.sim, 1600 * MS);
		weir_sim_run_until(world.base.sim, at, UINT64_MAX);
		if (at == 60 * SECOND) {
			tally(&world, 0);
			world.area = 0;
		}
		(void)offer_all(&world, i, 1);
	}
	tally(&world, 0);
	mean = world.area / (double)(end - step - 60 * SECOND);
	assert_true(counts(&world).overflowed > n / 10);
	assert_int_equal(world.peak, max);
	process_world_fini(&world);
	return mean;
}

/* With no batch given it holds its own place, and no other one. */
static void a5_7_one_that_never_ends_holds_one_place(void **state)
{
	struct weir_process_manager_options options;
	uint32_t max;
	size_t i;

	(void)state;
	for (max = 2; max <= 8; max++) {
		process_world_init(&world, max);
		tasks_new(&world, 41, SECOND);
		options = job_options(&world, max, 1);
		manager_init(&world, &options);
		manager_spawn(&world, 0);
		world.tasks[0].how = GOES_ON;
		for (i = 0; i < 41; i++) {
			assert_int_equal(offer_all(&world, i, 1), 1);
			weir_sim_run_until(world.base.sim, i * 60 * SECOND,
					   UINT64_MAX);
		}
		assert_int_equal(counts(&world).waiting, 0);
		weir_sim_run_until(world.base.sim, 41 * 60 * SECOND,
				   UINT64_MAX);
		for (i = 1; i < 41; i++)
			assert_reply(&world, i, WEIR_OUTCOME_DONE, 0);
		assert_int_equal(weir_system_stop_actor(world.base.system,
							world.tasks[0].ref),
				 0);
		process_world_fini(&world);
	}
}

static void a5_2_a_full_buffer_does_not_starve_it(void **state)
{
	(void)state;
	assert_true(mean_under_overload(50, 8, false) >= 45.5);
	assert_true(mean_under_overload(50, 20, false) >= 45.5);
	assert_true(mean_under_overload(50, 40, false) >= 45.5);
	assert_true(mean_under_overload(10, 5, false) >= 7.5);
}

static void a5_2_a_counted_one_does_as_in_the_source(void **state)
{
	(void)state;
	assert_true(mean_under_overload(50, 8, true) < 45);
	assert_true(mean_under_overload(50, 20, true) < 41);
	assert_true(mean_under_overload(50, 40, true) < 31);
	assert_true(mean_under_overload(10, 5, true) < 7);
}

/* The source's scenario; how many were taken. */
static size_t one_every_20_ms(uint32_t batch, bool count_buffer)
{
	struct weir_process_manager_options options;
	struct weir_process_counts c;
	size_t taken = 0, i;

	process_world_init(&world, 1);
	tasks_new(&world, 1000, SECOND);
	options = job_options(&world, 50, 8);
	options.batch = batch;
	options.count_buffer = count_buffer;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	for (i = 0; i < 1000; i++) {
		weir_sim_run_until(world.base.sim, i * 20 * MS, UINT64_MAX);
		taken += offer_all(&world, i, 1);
		check_counts(&world);
	}
	weir_sim_run(world.base.sim);
	c = counts(&world);
	assert_int_equal(c.accepted, taken);
	assert_int_equal(c.overflowed, 1000 - taken);
	assert_int_equal(c.outcomes[WEIR_OUTCOME_DONE], taken);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), taken);
	assert_int_equal(c.peak, 50);
	assert_int_equal(world.peak, 50);
	process_world_fini(&world);
	return taken;
}

static void a5_4_smaller_batches_overflow_less(void **state)
{
	size_t each = one_every_20_ms(1, true);
	size_t five = one_every_20_ms(5, true);
	size_t ten = one_every_20_ms(10, true);

	(void)state;
	assert_true(each > five && five > ten);
	assert_in_range(each, 960, 1000);
	assert_in_range(five, 890, 950);
	assert_in_range(ten, 820, 900);
}

static void a5_4_a_buffer_that_is_not_counted_overflows_less(void **state)
{
	(void)state;
	assert_int_equal(one_every_20_ms(1, false), 1000);
	assert_int_equal(one_every_20_ms(5, false), 1000);
	assert_in_range(one_every_20_ms(10, false), 960, 999);
}

/* Asks for all that is free, at once. */
static int64_t ask_for_all(int64_t remaining, void *context)
{
	struct process_world *at = context;

	assert_in_range(remaining, 0, at->manager.options.max);
	return INT64_MAX;
}

/* One after the other. */
static int64_t ask_for_one(int64_t remaining, void *context)
{
	(void)context;
	return weir_demand_one_by_one(remaining, NULL);
}

static int64_t ask_for_less_than_none(int64_t remaining, void *context)
{
	(void)context;
	(void)remaining;
	return INT64_MIN;
}

static size_t with_strategy(int64_t (*demand)(int64_t, void *))
{
	struct weir_process_manager_options options;
	size_t taken;

	process_world_init(&world, 1);
	tasks_new(&world, 20, SECOND);
	options = job_options(&world, 4, 3);
	options.demand = demand;
	options.demand_context = &world;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	taken = offer_all(&world, 0, 20);
	weir_sim_run_until(world.base.sim, 500 * MS, UINT64_MAX);
	check_counts(&world);
	return taken;
}

static void e1_the_strategy_is_replaceable(void **state)
{
	(void)state;
	assert_int_equal(with_strategy(ask_for_all), 7);
	assert_int_equal(world.running, 4);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 7);
	process_world_fini(&world);

	assert_int_equal(with_strategy(ask_for_one), 4);
	/* whenever the last one has started, up to `max` */
	assert_int_equal(world.running, 4);
	process_world_fini(&world);

	assert_int_equal(with_strategy(ask_for_less_than_none), 3);
	assert_int_equal(world.running, 0);
	assert_int_equal(counts(&world).waiting, 3);
	process_world_fini(&world);
}

static void offers_that_are_wrong_change_nothing(void **state)
{
	struct weir_command command = {.id = "x"};

	(void)state;
	process_world_new(&world, 1, 1, 1, 0, 0);
	assert_int_equal(weir_process_manager_offer(NULL, &command), -EINVAL);
	assert_int_equal(weir_process_manager_offer(&world.manager, NULL),
			 -EINVAL);
	assert_int_equal(weir_process_manager_offer(&world.manager, &command),
			 -EINVAL);
	assert_int_equal(counts(&world).accepted, 0);
	process_world_fini(&world);
}

static void replies_can_offer(struct process_world *at, struct task *task)
{
	size_t next = (size_t)(task - at->tasks) + 1;

	if (next < at->n_tasks)
		assert_int_equal(offer(at, next), 0);
}

static void a_reply_can_offer_the_next_command(void **state)
{
	(void)state;
	process_world_new(&world, 1, 1, 1, 100, MS);
	world.replied = replies_can_offer;
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 100);
	assert_int_equal(world.peak, 1);
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a4_1_an_offer_to_a_full_buffer_overflows),
		cmocka_unit_test(a4_1_without_a_buffer_what_can_start_is_taken),
		cmocka_unit_test(a4_2_what_waits_starts_when_it_is_asked_for),
		cmocka_unit_test(a4_8_a_burst_of_1000_into_50_and_8_takes_58),
		cmocka_unit_test(a4_8_so_does_one_before_the_start),
		cmocka_unit_test(
			a4_8_an_offer_without_room_may_be_refused_by_its_reply),
		cmocka_unit_test(a4_8_a_manager_drops_no_other),
		cmocka_unit_test(
			e1_what_is_received_and_not_started_is_the_queue),
		cmocka_unit_test(a5_1_no_setting_wedges),
		cmocka_unit_test(
			a5_1_e1_a_counted_buffer_that_would_wedge_is_refused),
		cmocka_unit_test(a5_7_one_that_never_ends_holds_one_place),
		cmocka_unit_test(a5_2_a_full_buffer_does_not_starve_it),
		cmocka_unit_test(a5_2_a_counted_one_does_as_in_the_source),
		cmocka_unit_test(a5_4_smaller_batches_overflow_less),
		cmocka_unit_test(
			a5_4_a_buffer_that_is_not_counted_overflows_less),
		cmocka_unit_test(e1_the_strategy_is_replaceable),
		cmocka_unit_test(offers_that_are_wrong_change_nothing),
		cmocka_unit_test(a_reply_can_offer_the_next_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
