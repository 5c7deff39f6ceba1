/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <weir/sim.h>

#include "executor/fake.h"

#define N 8

static struct fake_memory memory;
static struct weir_sim *sim;
static struct weir_executor *executor;
static uint64_t seed;

/* What ran or fired, in order. */
static char trace[4096];
static size_t traced;

static void note(char what)
{
	assert_true(traced < sizeof(trace) - 1);
	trace[traced++] = what;
	trace[traced] = 0;
}

static void start_over(uint64_t new_seed, uint32_t budget_turns)
{
	const struct weir_executor_options options = {
		.allocator = &memory.allocator,
		.budget_turns = budget_turns,
	};

	seed = new_seed;
	traced = 0;
	trace[0] = 0;
	assert_int_equal(weir_sim_new(&sim, seed, &options), 0);
	executor = weir_sim_executor(sim);
}

static int setup(void **state)
{
	fake_memory_init(&memory);
	start_over(1, 0);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(weir_sim_free(sim), 0);
	assert_int_equal(memory.blocks, 0);
	return 0;
}

/* A task and a timer that note a letter each. */
struct letter {
	struct fake_task fake;
	struct weir_timer timer;
	struct weir_watch watch;
	char name;
	uint64_t fired_ns;
	short events;
};

static void letter_run(struct fake_task *fake)
{
	struct letter *self = weir_container_of(fake, struct letter, fake);

	note(self->name);
	if (fake->left) {
		fake->left--;
		fake_submit(executor, fake);
	}
}

static void letter_fire(struct weir_timer *timer)
{
	struct letter *self = weir_container_of(timer, struct letter, timer);

	note(self->name);
	self->fired_ns = weir_executor_now(executor);
}

static void letter_ready(struct weir_watch *watch, short events)
{
	struct letter *self = weir_container_of(watch, struct letter, watch);

	note(self->name);
	self->events = events;
}

static struct letter letter(char name)
{
	return (struct letter){
		.fake.run = letter_run,
		.timer.fire = letter_fire,
		.watch.fire = letter_ready,
		.name = name,
	};
}

static void arguments_are_checked(void **state)
{
	const struct weir_executor_options options = {
		.budget_turns = WEIR_BUDGET_MAX + 1};
	struct weir_sim *other = sim;

	assert_int_equal(weir_sim_new(NULL, 0, NULL), -EINVAL);
	assert_int_equal(weir_sim_new(&other, 0, &options), -EINVAL);
	assert_null(other);
	assert_int_equal(weir_sim_free(NULL), 0);
}

static void no_memory_leaves_nothing_behind(void **state)
{
	const struct weir_executor_options options = {
		.allocator = &memory.allocator};
	const uint32_t blocks = memory.blocks;
	struct weir_sim *other;
	uint32_t fail = 0;
	int rc;

	do {
		memory.fail = fail++;
		other = sim;
		rc = weir_sim_new(&other, 0, &options);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(other);
			assert_int_equal(memory.blocks, blocks);
		}
	} while (rc < 0);
	assert_int_equal(fail, 3);
	memory.fail = UINT32_MAX;
	assert_int_equal(weir_sim_free(other), 0);
}

static void new_one_has_nothing_to_do_and_is_at_zero(void **state)
{
	assert_false(weir_sim_step(sim));
	assert_int_equal(weir_executor_now(executor), 0);
	assert_int_equal(weir_sim_seed(sim), 1);
}

static void step_runs_one_slice(void **state)
{
	struct letter a = letter('a'), b = letter('b');

	fake_submit(executor, &a.fake);
	fake_submit(executor, &b.fake);
	assert_true(weir_sim_step(sim));
	assert_int_equal(traced, 1);
	assert_true(weir_sim_step(sim));
	assert_int_equal(a.fake.runs + b.fake.runs, 2);
	assert_false(weir_sim_step(sim));
}

/* Runs N tasks, each `left` times more; the trace is the result. */
static void run_letters(uint64_t with_seed, uint64_t left)
{
	struct letter letters[N];
	int i;

	assert_int_equal(weir_sim_free(sim), 0);
	start_over(with_seed, 0);
	for (i = 0; i < N; i++) {
		letters[i] = letter((char)('a' + i));
		letters[i].fake.left = left;
		fake_submit(executor, &letters[i].fake);
	}
	assert_int_equal(weir_sim_run(sim), N * (left + 1));
}

static void same_seed_gives_the_same_order(void **state)
{
	char first[sizeof(trace)];

	run_letters(42, 50);
	strcpy(first, trace);
	run_letters(43, 50);
	assert_string_not_equal(first, trace);
	run_letters(42, 50);
	assert_string_equal(first, trace);
}

/*
 * 4 of the tasks: each of the 24 orders about as often as any other. With
 * 24000 runs a count is 1000 +- 31; six times that is as good as impossible
 * for fair draws, and the seeds are fixed.
 */
static void every_order_is_as_likely_as_any(void **state)
{
	const int runs = 24000;
	int counts[256] = {0}, i, seen = 0;

	assert_int_equal(weir_sim_free(sim), 0);
	for (i = 0; i < runs; i++) {
		struct letter l[4];
		int j, code = 0;

		start_over((uint64_t)i, 0);
		for (j = 0; j < 4; j++) {
			l[j] = letter((char)j);
			fake_submit(executor, &l[j].fake);
		}
		weir_sim_run(sim);
		for (j = 0; j < 4; j++)
			code = code * 4 + trace[j];
		counts[code]++;
		assert_int_equal(weir_sim_free(sim), 0);
	}
	for (i = 0; i < 256; i++) {
		if (!counts[i])
			continue;
		seen++;
		assert_in_range(counts[i], 1000 - 190, 1000 + 190);
	}
	assert_int_equal(seen, 24);
	start_over(1, 0);
}

/*
 * Of a crowd too large for a list of its own each: of all pairs, about half
 * run in the order of submission. If lists were first come, first served, it
 * would be two in three.
 */
static void order_in_a_crowd_is_fair(void **state)
{
	enum { CROWD = 200, RUNS = 400, HALF = RUNS * CROWD * (CROWD - 1) / 4 };
	static struct letter crowd[CROWD];
	int64_t inverted = 0;
	int i, j, k;

	assert_int_equal(weir_sim_free(sim), 0);
	for (i = 0; i < RUNS; i++) {
		start_over((uint64_t)i, 0);
		for (j = 0; j < CROWD; j++) {
			crowd[j] = letter((char)(j - 128));
			fake_submit(executor, &crowd[j].fake);
		}
		weir_sim_run(sim);
		for (j = 0; j < CROWD; j++) {
			for (k = 0; k < j; k++)
				inverted += trace[k] > trace[j];
		}
		assert_int_equal(weir_sim_free(sim), 0);
	}
	assert_in_range(inverted, HALF / 20 * 19, HALF / 20 * 21);
	start_over(1, 0);
}

static void task_in_a_crowd_is_not_starved(void **state)
{
	enum { CROWD = 500 };
	static struct letter crowd[CROWD];
	uint64_t most = 0, least = UINT64_MAX;
	int i;

	for (i = 0; i < CROWD; i++) {
		crowd[i] = letter('x');
		crowd[i].fake.left = UINT64_MAX;
		fake_submit(executor, &crowd[i].fake);
	}
	for (i = 0; i < CROWD * 100; i++) {
		traced = 0;
		assert_true(weir_sim_step(sim));
	}
	for (i = 0; i < CROWD; i++) {
		most = crowd[i].fake.runs > most ? crowd[i].fake.runs : most;
		least = crowd[i].fake.runs < least ? crowd[i].fake.runs : least;
		crowd[i].fake.left = 0;
	}
	assert_true(least > 25 && most < 400);
	traced = 0;
	weir_sim_run(sim);
}

static uint32_t budgets[64];

static void note_budget(struct fake_task *fake)
{
	uint32_t turns = executor->options.budget_turns;

	assert_in_range(turns, 1, 10);
	budgets[turns]++;
	if (fake->left--)
		fake_submit(executor, fake);
}

static void slices_have_budgets_of_any_length(void **state)
{
	struct fake_task fake = {.run = note_budget, .left = 5000};
	uint32_t turns;

	assert_int_equal(weir_sim_free(sim), 0);
	start_over(7, 10);
	fake_submit(executor, &fake);
	weir_sim_run(sim);
	for (turns = 1; turns <= 10; turns++)
		assert_true(budgets[turns] > 50);
}

static void budget_of_one_stays_one(void **state)
{
	struct fake_task fake = {.run = note_budget, .left = 100};

	assert_int_equal(weir_sim_free(sim), 0);
	start_over(7, 1);
	memset(budgets, 0, sizeof(budgets));
	fake_submit(executor, &fake);
	weir_sim_run(sim);
	assert_int_equal(budgets[1], 101);
}

static void clock_jumps_to_the_next_timer(void **state)
{
	struct letter a = letter('a'), b = letter('b');
	const uint64_t day_ns = UINT64_C(86400000000000);

	weir_timer_arm(executor, &a.timer, 3 * day_ns);
	weir_timer_arm(executor, &b.timer, day_ns + 1);
	assert_true(weir_sim_step(sim));
	assert_true(weir_executor_now(executor) == day_ns + 1);
	assert_true(weir_sim_step(sim));
	assert_false(weir_sim_step(sim));
	assert_true(b.fired_ns == day_ns + 1);
	assert_true(a.fired_ns == 3 * day_ns);
}

static void clock_stands_still_while_something_is_ready(void **state)
{
	struct letter a = letter('a'), t = letter('t');

	a.fake.left = 100;
	weir_timer_arm(executor, &t.timer, 1);
	fake_submit(executor, &a.fake);
	assert_int_equal(weir_sim_run(sim), 101);
	assert_int_equal(a.fake.runs, 101);
	assert_int_equal(trace[traced - 1], 't');
	assert_int_equal(t.fired_ns, 1);
}

static void timer_that_is_due_need_not_wait_for_tasks(void **state)
{
	struct letter a = letter('a'), t = letter('t');

	a.fake.left = 1000;
	fake_submit(executor, &a.fake);
	weir_timer_arm(executor, &t.timer, 0);
	weir_sim_run(sim);
	assert_int_not_equal(trace[traced - 1], 't');
}

static void timers_of_one_time_fire_in_order_of_arming(void **state)
{
	struct letter letters[N];
	int i;

	for (i = 0; i < N; i++) {
		letters[i] = letter((char)('a' + i));
		weir_timer_arm(executor, &letters[i].timer, 1000);
	}
	weir_timer_arm(executor, &letters[2].timer, 1000);
	weir_sim_run(sim);
	assert_string_equal(trace, "abdefghc");
}

static void cancelled_timer_neither_fires_nor_moves_the_clock(void **state)
{
	struct letter a = letter('a'), b = letter('b');

	weir_timer_arm(executor, &a.timer, 4000);
	weir_timer_arm(executor, &b.timer, 3000);
	assert_true(weir_timer_cancel(executor, &b.timer));
	assert_false(weir_timer_cancel(executor, &b.timer));
	weir_sim_run(sim);
	assert_string_equal(trace, "a");
	weir_timer_arm(executor, &a.timer, 5000);
	assert_true(weir_timer_cancel(executor, &a.timer));
	weir_sim_run(sim);
	assert_int_equal(weir_executor_now(executor), 4000);
}

static void cancelled_timer_does_not_hide_a_later_one(void **state)
{
	struct letter a = letter('a'), b = letter('b');

	weir_timer_arm(executor, &a.timer, 100);
	weir_timer_arm(executor, &b.timer, 120);
	weir_timer_cancel(executor, &a.timer);
	assert_true(weir_sim_step(sim));
	assert_int_equal(b.fired_ns, 120);
}

/* After a bound that was too low because of a cancel. */
static void clock_is_never_behind_the_wheel(void **state)
{
	struct letter a = letter('a'), b = letter('b'), c = letter('c');

	weir_timer_arm(executor, &a.timer, 100);
	weir_timer_arm(executor, &b.timer, 120);
	weir_timer_cancel(executor, &a.timer);
	assert_int_equal(weir_sim_run_until(sim, 110, 1), 0);
	weir_timer_arm(executor, &c.timer, 111);
	weir_sim_run(sim);
	assert_int_equal(c.fired_ns, 111);
	assert_int_equal(b.fired_ns, 120);
}

/* Nor when the bound was that of one beside a timer that is never due. */
static void never_moves_no_clock(void **state)
{
	struct letter a = letter('a'), b = letter('b'), c = letter('c');

	weir_timer_arm(executor, &a.timer, WEIR_FOREVER - 5);
	weir_timer_arm(executor, &b.timer, WEIR_FOREVER);
	weir_timer_cancel(executor, &a.timer);
	assert_false(weir_sim_step(sim));
	assert_int_equal(weir_executor_now(executor), 0);
	weir_timer_arm(executor, &c.timer, 100);
	assert_true(weir_sim_step(sim));
	assert_int_equal(c.fired_ns, 100);
	assert_false(weir_sim_step(sim));
	assert_true(weir_timer_cancel(executor, &b.timer));
}

static void run_until_ends_at_its_time(void **state)
{
	struct letter a = letter('a'), b = letter('b'), c = letter('c');

	weir_timer_arm(executor, &a.timer, 500);
	weir_timer_arm(executor, &b.timer, 501);
	fake_submit(executor, &c.fake);
	assert_int_equal(weir_sim_run_until(sim, 500, UINT64_MAX), 1);
	assert_string_equal(trace, "ca");
	assert_int_equal(weir_executor_now(executor), 500);
	assert_int_equal(weir_sim_run_until(sim, 400, UINT64_MAX), 0);
	assert_int_equal(weir_executor_now(executor), 500);
	assert_int_equal(weir_sim_run_until(sim, 9000, UINT64_MAX), 0);
	assert_int_equal(b.fired_ns, 501);
	assert_int_equal(weir_executor_now(executor), 9000);
}

static void run_until_ends_after_its_slices(void **state)
{
	struct letter a = letter('a');

	a.fake.left = UINT64_MAX;
	fake_submit(executor, &a.fake);
	assert_int_equal(weir_sim_run_until(sim, 500, 17), 17);
	assert_int_equal(a.fake.runs, 17);
	assert_int_equal(weir_executor_now(executor), 0);
	a.fake.left = 0;
	weir_sim_run(sim);
}

static void step_inside_a_turn_does_nothing(struct fake_task *fake)
{
	struct letter *self = weir_container_of(fake, struct letter, fake);

	fake_submit(executor, (struct fake_task *)(void *)fake->left);
	assert_false(weir_sim_step(sim));
	assert_int_equal(weir_sim_run(sim), 0);
	assert_int_equal(weir_sim_free(sim), -EDEADLK);
	assert_int_equal(executor->ops->step(executor, 1), -EDEADLK);
	note(self->name);
}

static void turns_cannot_step(void **state)
{
	struct letter a = letter('a'), b = letter('b');

	a.fake.run = step_inside_a_turn_does_nothing;
	a.fake.left = (uintptr_t)&b.fake;
	fake_submit(executor, &a.fake);
	weir_sim_run(sim);
	assert_string_equal(trace, "ab");
}

static void descriptors_are_looked_at_but_not_waited_for(void **state)
{
	struct letter a = letter('a');
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	a.watch.fd = fds[0];
	a.watch.events = POLLIN;
	assert_int_equal(executor->ops->watch_arm(executor, &a.watch), 0);
	assert_false(weir_sim_step(sim));
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_true(weir_sim_step(sim));
	assert_int_equal(a.events, POLLIN);
	assert_false(weir_sim_step(sim));
	assert_int_equal(executor->ops->watch_arm(executor, &a.watch), 0);
	assert_true(executor->ops->watch_cancel(executor, &a.watch));
	assert_false(weir_sim_step(sim));
	close(fds[0]);
	close(fds[1]);
}

static void busy_simulator_is_not_freed(void **state)
{
	fake_alive(executor, true);
	assert_int_equal(weir_sim_free(sim), -EBUSY);
	fake_alive(executor, false);
}

static void random_numbers_stay_below_their_bound(void **state)
{
	uint32_t counts[3] = {0};
	int i;

	assert_int_equal(weir_sim_random(sim, 1), 0);
	for (i = 0; i < 3000; i++)
		counts[weir_sim_random(sim, 3)]++;
	for (i = 0; i < 3; i++)
		assert_in_range(counts[i], 850, 1150);
	weir_sim_random(sim, UINT64_MAX);
}

/* What a call that waits does on the simulator's thread. */

static void step_op_passes_virtual_time(void **state)
{
	struct letter a = letter('a');

	weir_timer_arm(executor, &a.timer, 1000);
	assert_int_equal(executor->ops->step(executor, 999), -ETIMEDOUT);
	assert_int_equal(weir_executor_now(executor), 999);
	assert_int_equal(executor->ops->step(executor, 10), 0);
	assert_int_equal(a.fired_ns, 1000);
}

static void step_op_says_when_nothing_can_come(void **state)
{
	assert_int_equal(executor->ops->step(executor, WEIR_FOREVER), -EDEADLK);
}

static void step_op_waits_for_descriptors(void **state)
{
	struct letter a = letter('a');
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	a.watch.fd = fds[0];
	a.watch.events = POLLIN;
	assert_int_equal(executor->ops->watch_arm(executor, &a.watch), 0);
	assert_int_equal(executor->ops->step(executor, 5), -ETIMEDOUT);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(executor->ops->step(executor, WEIR_FOREVER), 0);
	assert_string_equal(trace, "a");
	close(fds[0]);
	close(fds[1]);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(arguments_are_checked),
		test(no_memory_leaves_nothing_behind),
		test(new_one_has_nothing_to_do_and_is_at_zero),
		test(step_runs_one_slice),
		test(same_seed_gives_the_same_order),
		test(every_order_is_as_likely_as_any),
		test(order_in_a_crowd_is_fair),
		test(task_in_a_crowd_is_not_starved),
		test(slices_have_budgets_of_any_length),
		test(budget_of_one_stays_one),
		test(clock_jumps_to_the_next_timer),
		test(clock_stands_still_while_something_is_ready),
		test(timer_that_is_due_need_not_wait_for_tasks),
		test(timers_of_one_time_fire_in_order_of_arming),
		test(cancelled_timer_neither_fires_nor_moves_the_clock),
		test(cancelled_timer_does_not_hide_a_later_one),
		test(clock_is_never_behind_the_wheel),
		test(never_moves_no_clock),
		test(run_until_ends_at_its_time),
		test(run_until_ends_after_its_slices),
		test(turns_cannot_step),
		test(descriptors_are_looked_at_but_not_waited_for),
		test(busy_simulator_is_not_freed),
		test(random_numbers_stay_below_their_bound),
		test(step_op_passes_virtual_time),
		test(step_op_says_when_nothing_can_come),
		test(step_op_waits_for_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
