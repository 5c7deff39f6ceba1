/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command costs beside its process, when all is on one worker: no
 * allocation, no system call, no sleep; a call no lock either. An actor sends
 * commands through the manager; the figures are read at one command and again
 * at a later one.
 *
 * There is memory for as many processes as there ever were at once. How many
 * that are depends on how far a slice gets, which is a matter of the clock; so
 * the first MAX wait for each other, and no more are needed later.
 */
#include "kit/world.h"

#include <sched.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/process_manager.h>
#include <weir/weir.h>

#define WARM_UP 1000
#define MAX 64
#define COMMANDS 256 /* more than there ever are under way */

struct costs {
	struct weir_threads_counters counters;
	uint64_t allocations;
};

struct job {
	struct weir_process process;
	struct weir_in in;
};

static struct weir_threads *threads;
static uint64_t allocations, n_sent, n_wanted, n_begun, n_replied;
static uint32_t n_released; /* atomic */
static struct costs before, after;
static struct weir_command commands[COMMANDS];
static struct job *waiting[MAX];
static uint32_t n_waiting;
static struct weir_process_manager manager;

static void *count_alloc(size_t size, void *context)
{
	(void)context;
	ck_pr_inc_64(&allocations);
	return malloc(size);
}

static void count_free(void *memory, size_t size, void *context)
{
	(void)size;
	(void)context;
	free(memory);
}

static void note(struct costs *costs)
{
	weir_threads_counters(threads, &costs->counters);
	costs->allocations = ck_pr_load_64(&allocations);
}

static void begun(void)
{
	if (n_begun == WARM_UP)
		note(&before);
	if (++n_begun == WARM_UP + n_wanted)
		note(&after);
}

/* --- Who sends ------------------------------------------------------------ */

static struct sender {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_reactive_out reactive;
} sender;

static inline int send(struct weir_actor *actor)
{
	struct weir_command *command = &commands[n_sent++ % COMMANDS];

	(void)actor;
	(void)weir_out_put(&sender.out, command);
	/* The end does cost something: not before the last look. */
	return n_sent == 2 * WARM_UP + n_wanted ? WEIR_TURN_END : 0;
}
WEIR_TURN(send)

static const struct weir_actor_ops sender_ops = {
	.name = "sender",
	.turns = send_n,
};

/* --- Who works ------------------------------------------------------------ */

static int call(struct weir_command *command, void *context)
{
	(void)command;
	(void)context;
	begun();
	return 0;
}

static inline int job_turn(struct weir_actor *actor)
{
	(void)actor;
	begun();
	return WEIR_TURN_END;
}
WEIR_TURN(job_turn)

static const struct weir_actor_ops job_ops = {
	.name = "job",
	.turns = job_turn_n,
};

static int let_go(struct job *job)
{
	return weir_in_put(&job->in, job);
}

/* The first MAX begin when all of them are there. */
static int set_up(struct weir_process *process, void *context)
{
	struct job *self = weir_container_of(process, struct job, process);
	int rc = weir_in_init(&self->in, &process->actor, 1, NULL);
	uint32_t i;

	(void)context;
	if (rc < 0 || n_waiting == MAX)
		return rc < 0 ? rc : let_go(self);
	waiting[n_waiting++] = self;
	for (i = 0; n_waiting == MAX && i < MAX && rc == 0; i++)
		rc = let_go(waiting[i]);
	return rc;
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	(void)command;
	(void)error;
	assert_int_equal(outcome, WEIR_OUTCOME_DONE);
	n_replied++;
}

static void released(void *context)
{
	(void)context;
	ck_pr_inc_32(&n_released);
}

/* --- All of it ------------------------------------------------------------ */

static void run(bool jobs)
{
	struct weir_allocator allocator = {count_alloc, count_free, NULL};
	struct weir_threads_options options = {
		.executor.allocator = &allocator,
		.workers = 1,
	};
	struct weir_process_manager_options manager_options = {
		.process = jobs ? &job_ops : NULL,
		.process_size = sizeof(struct job),
		.set_up = jobs ? set_up : NULL,
		.run = jobs ? NULL : call,
		.runners = 1,
		.max = MAX,
		.released = released,
	};
	struct weir_executor *executor;
	struct weir_system *systm;
	size_t i;
	int rc;

	n_released = n_waiting = 0;
	n_sent = n_begun = n_replied = 0;
	for (i = 0; i < COMMANDS; i++)
		commands[i] = (struct weir_command){.reply = reply};
	memset(&sender, 0, sizeof(sender));
	assert_int_equal(weir_threads_new(&threads, &options), 0);
	executor = weir_threads_executor(threads);
	assert_int_equal(weir_system_new(&systm, executor, NULL), 0);
	rc = weir_process_manager_init(&manager, executor, &manager_options);
	assert_int_equal(rc, 0);
	rc = weir_actor_init(&sender.actor, &sender_ops, executor);
	rc |= weir_out_init(&sender.out, &sender.actor, weir_command_items());
	rc |= weir_reactive_out_init(&sender.reactive, &sender.out, NULL);
	rc |= weir_publisher_subscribe(
		&sender.reactive.publisher,
		weir_process_manager_subscriber(&manager));
	rc |= weir_system_spawn(systm, WEIR_ACTOR_ID_NONE, &manager.actor, NULL,
				NULL);
	/* last: what follows takes no lock that the worker may meet */
	rc |= weir_actor_start(&sender.actor);
	assert_int_equal(rc, 0);
	/* asking for it would take the lock */
	while (!ck_pr_load_32(&n_released))
		sched_yield();
	end_system(systm);
	while (weir_threads_free(threads) != 0)
		sched_yield();
	assert_int_equal(n_replied, 2 * WARM_UP + n_wanted);
}

static void assert_no_more(void)
{
	assert_int_equal(after.allocations, before.allocations);
	assert_int_equal(after.counters.kernel_calls,
			 before.counters.kernel_calls);
	assert_int_equal(after.counters.parks, before.counters.parks);
}

static void a_call_needs_no_memory_lock_or_system_call(void **state)
{
	(void)state;
	n_wanted = test_count(1000000);
	run(false);
	assert_no_more();
	assert_int_equal(after.counters.locks, before.counters.locks);
}

/* Each spawn and each end take the lock of the system. */
static void a_process_needs_no_memory_or_system_call(void **state)
{
	uint64_t locks;

	(void)state;
	n_wanted = test_count(200000);
	run(true);
	assert_no_more();
	locks = after.counters.locks - before.counters.locks;
	assert_in_range(locks, n_wanted, 20 * n_wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_needs_no_memory_lock_or_system_call),
		cmocka_unit_test(a_process_needs_no_memory_or_system_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
