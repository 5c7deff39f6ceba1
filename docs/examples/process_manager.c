/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process manager that runs at most 50 processes at a time, with room for 8
 * commands that wait. 1000 commands come, one every 20 ms, and each takes a
 * second: as many as 50 can do, if nothing ever comes late. Here all of it runs
 * a hundred times as fast.
 *
 * A command that finds the buffer full is not taken: weir_process_manager_offer
 * says so at once, and the command stays with who has offered it. Each that was
 * taken is replied to, once.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <weir/process_manager.h>
#include <weir/weir.h>

enum { COMMANDS = 1000, AT_A_TIME = 50, BUFFER = 8, FASTER = 100 };

#define MS 1000000ull
#define EVERY_NS (20 * MS / FASTER)
#define WORK_NS (1000 * MS / FASTER)

/* --- Commands: what is to be done, and whom to tell ----------------------- */

struct task {
	struct weir_command command;
	bool done;
};

static struct task tasks[COMMANDS];
static struct weir_latch pending; /* tasks whose fate is unknown */

/* On the thread that ran the process; no lock is held. */
static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct task *task = weir_container_of(command, struct task, command);

	(void)error; /* tells how, if it has failed */
	task->done = outcome == WEIR_OUTCOME_DONE;
	(void)weir_latch_count_down(&pending, 1);
}

/* --- Processes: actors, set up anew for each command ---------------------- */

struct job {
	struct weir_process process; /* its head; process.command is ours */
	struct weir_delay delay;     /* stands for work that takes its time */
};

static int set_up(struct weir_process *process, void *context)
{
	struct job *job = weir_container_of(process, struct job, process);
	int rc = weir_delay_init(&job->delay, &process->actor);

	(void)context;
	return rc < 0 ? rc : weir_delay_for(&job->delay, WORK_NS);
}

/* Its only port is the delay, so it fires when the time has come. */
static inline int end(struct weir_actor *actor)
{
	(void)actor;
	return WEIR_TURN_END; /* done; a negative errno here: it has failed */
}
WEIR_TURN(end)

static const struct weir_actor_ops job_ops = {.name = "job", .turns = end_n};

static const struct weir_process_manager_options options = {
	.process = &job_ops,
	.process_size = sizeof(struct job),
	.set_up = set_up,
	.max = AT_A_TIME,
	.buffer = BUFFER,
};

/* --- The customer --------------------------------------------------------- */

static void sleep_until(struct timespec *at)
{
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL))
		;
	at->tv_nsec += (long)EVERY_NS;
	at->tv_sec += at->tv_nsec / 1000000000;
	at->tv_nsec %= 1000000000;
}

/* How many were not taken, or a negative errno. */
static int offer_all(struct weir_process_manager *manager)
{
	struct timespec at;
	int overflowed = 0, rc, i;

	clock_gettime(CLOCK_MONOTONIC, &at);
	for (i = 0; i < COMMANDS; i++) {
		sleep_until(&at);
		tasks[i].command.reply = reply;
		rc = weir_process_manager_offer(manager, &tasks[i].command);
		if (rc < 0 && rc != -ENOBUFS)
			return rc;
		if (rc < 0) {
			overflowed++; /* still ours; nobody will reply */
			(void)weir_latch_count_down(&pending, 1);
		}
	}
	return overflowed;
}

int main(void)
{
	struct weir_process_manager manager;
	struct weir_process_counts counts;
	struct weir_threads *threads;
	struct weir_executor *executor;
	struct weir_system *system;
	int finished = 0, overflowed, i;

	if (weir_latch_init(&pending, COMMANDS) < 0 ||
	    weir_threads_new(&threads, NULL) < 0)
		return 1;
	executor = weir_threads_executor(threads);
	if (weir_system_new(&system, executor, NULL) < 0 ||
	    weir_process_manager_init(&manager, executor, &options) < 0)
		return 1;
	weir_actor_ref(&manager.actor); /* so that we may offer */
	if (weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &manager.actor, NULL,
			      NULL) < 0)
		return 1;
	overflowed = offer_all(&manager);
	if (overflowed < 0 ||
	    weir_completion_wait(&pending.completion, WEIR_FOREVER) < 0)
		return 1;
	for (i = 0; i < COMMANDS; i++)
		finished += tasks[i].done;
	weir_process_manager_counts(&manager, &counts);
	printf("accepted %llu, finished %d, overflowed %d, at a time %u\n",
	       (unsigned long long)counts.accepted, finished, overflowed,
	       (unsigned)counts.peak);
	weir_actor_unref(&manager.actor);
	weir_system_stop(system);
	return weir_completion_wait(weir_system_terminated(system),
				    WEIR_FOREVER) < 0 ||
	       weir_system_free(system) < 0 || weir_threads_free(threads) < 0;
}
