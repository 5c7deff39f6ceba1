/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process manager between threads: eight of them offer commands, cancel
 * them, change how many may run, and stop or kill processes that they have
 * heard of, while others start, finish, crash
 * and run late. Every command is answered once, no place is lost, and at the
 * end the figures agree.
 */
#include "support.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/process_manager.h>
#include <weir/weir.h>

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define THREADS 8
#define WINDOW 64 /* commands of one thread at a time */
#define VICTIMS 16
#define MS UINT64_C(1000000)

enum how { FINISHES, CRASHES, CRASHES_IN_START, GOES_ON, NOT_SET_UP, HOWS };

struct request {
	struct weir_command command;
	struct request *next; /* of calls that go on */
	uint32_t how;
	uint32_t open; /* 1 from the offer to the reply */
	char id[12];
};

struct requester {
	pthread_t thread;
	uint64_t random, n;
	uint64_t taken, overflowed;
	struct request requests[WINDOW];
};

struct job {
	struct weir_process process;
	struct weir_in in;
	uint32_t how;
	bool runs;
};

static struct weir_threads *pool;
static struct weir_executor *executor;
static struct weir_system *systm;
static struct weir_process_manager manager;
static struct weir_actor_id manager_ref;
static struct requester requesters[THREADS];
static uint64_t replies[WEIR_OUTCOME_COUNT];
static uint32_t running, peak, released;
static struct request *going_on;
/* A stream of results; and then also priorities, and restarts. */
static bool with_results;
static bool none_starts; /* of the commands that are drawn */
/* Processes that have run; whoever likes stops them. */
static uint64_t victims[VICTIMS];

static uint64_t draw(uint64_t *random, uint64_t bound)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (*random >> 8) % bound;
}

static struct request *request_of(struct weir_command *command)
{
	return weir_container_of(command, struct request, command);
}

/* --- Jobs and calls ------------------------------------------------------- */

static struct job *job_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct job, process.actor);
}

static void count_running(void)
{
	uint32_t now = ck_pr_faa_32(&running, 1) + 1, old;

	for (old = ck_pr_load_32(&peak); old < now;)
		if (ck_pr_cas_32_value(&peak, old, now, &old))
			break;
}

static int job_turn(struct weir_actor *actor)
{
	struct job *self = job_of(actor);

	(void)weir_in_take(&self->in);
	return self->how == CRASHES ? -EIO : WEIR_TURN_END;
}
WEIR_TURN(job_turn)

static int job_pre_start(struct weir_actor *actor)
{
	struct job *self = job_of(actor);
	struct weir_actor_id ref = self->process.self;

	self->runs = true;
	count_running();
	ck_pr_store_64(&victims[ref.slot % VICTIMS],
		       (uint64_t)ref.slot << 32 | ref.generation);
	if (self->how == CRASHES_IN_START)
		return -EIO;
	return self->how == GOES_ON ? 0 : weir_in_put(&self->in, self);
}

static void job_stopped(struct weir_actor *actor, struct weir_error *error)
{
	(void)error;
	if (job_of(actor)->runs)
		ck_pr_dec_32(&running);
}

/* It is restarted. */
static int job_reset(struct weir_actor *actor)
{
	if (job_of(actor)->runs)
		ck_pr_dec_32(&running);
	job_of(actor)->runs = false;
	return 0;
}

static const struct weir_lifecycle job_lifecycle = {
	.pre_start = job_pre_start,
	.reset = job_reset,
};

static const struct weir_actor_ops job_ops = {
	.name = "job",
	.turns = job_turn_n,
	.stopped = job_stopped,
	.lifecycle = &job_lifecycle,
};

static int set_up(struct weir_process *process, void *context)
{
	struct job *self = weir_container_of(process, struct job, process);

	(void)context;
	self->how = request_of(process->command)->how;
	if (self->how == NOT_SET_UP)
		return -ENOLINK;
	return weir_in_init(&self->in, &process->actor, 1, NULL);
}

static int call(struct weir_command *command, void *context)
{
	struct request *request = request_of(command), *head;

	(void)context;
	count_running();
	if (request->how != GOES_ON) {
		ck_pr_dec_32(&running);
		return request->how == CRASHES ? -EIO : 0;
	}
	head = ck_pr_load_ptr(&going_on);
	do {
		request->next = head;
		/*
		 * release: the request; pairs with the acquire in end_calls()
		 */
		ck_pr_fence_release();
	} while (!ck_pr_cas_ptr_value(&going_on, head, request, (void *)&head));
	return WEIR_RUN_LATER;
}

/* Ends calls that go on. */
static void end_calls(void)
{
	struct request *request = ck_pr_fas_ptr(&going_on, NULL), *next;

	ck_pr_fence_acquire();
	for (; request; request = next) {
		next = request->next;
		ck_pr_dec_32(&running);
		weir_command_end(&request->command,
				 request->id[0] ? -EXDEV : 0);
	}
}

/* --- Requesters ----------------------------------------------------------- */

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct request *request = request_of(command);

	assert(!error == (outcome == WEIR_OUTCOME_DONE));
	ck_pr_inc_64(&replies[outcome]);
	/* release: it is over; pairs with the acquire of its requester. By a
	 * swap, so that a second reply is seen. */
	ck_pr_fence_release();
	if (ck_pr_fas_32(&request->open, 0) != 1)
		abort();
}

static bool is_open(const struct request *request)
{
	if (ck_pr_load_32(&request->open))
		return true;
	ck_pr_fence_acquire();
	return false;
}

/* One of the ids that requests have, and any limit. */
static void cancel_and_limit(uint64_t *random)
{
	char id[12];
	int rc;

	(void)snprintf(id, sizeof(id), "%u", (unsigned)draw(random, 100));
	(void)weir_process_manager_find(&manager, id);
	rc = weir_process_manager_cancel(&manager, id);
	assert(rc == 0 || rc == -ESRCH ||
	       (rc == -EBUSY && manager.options.run));
	rc = weir_process_manager_set_max(
		&manager, 1 + draw(random, manager.options.max));
	assert(rc == 0);
	(void)rc;
}

static void disturb(uint64_t *random)
{
	uint64_t victim = ck_pr_load_64(&victims[draw(random, VICTIMS)]);
	struct weir_actor_id ref = {
		.slot = (uint32_t)(victim >> 32),
		.generation = (uint32_t)victim,
	};

	if (draw(random, 2))
		(void)weir_system_stop_actor(systm, ref);
	else
		(void)weir_system_kill(systm, ref);
}

static void draw_request(struct request *request, uint64_t *random)
{
	uint64_t id = draw(random, 200);

	memset(&request->command, 0, sizeof(request->command));
	request->how = draw(random, 3) ? FINISHES
				       : (uint32_t)draw(random, HOWS);
	request->command.reply = reply;
	if (with_results)
		request->command.priority = (uint32_t)draw(random, 3);
	if (none_starts)
		request->how = NOT_SET_UP;
	if (request->how == GOES_ON)
		request->command.timeout_ns = 1 + draw(random, 2 * MS);
	request->id[0] = 0;
	if (id < 100) {
		snprintf(request->id, sizeof(request->id), "%u", (unsigned)id);
		request->command.id = request->id;
	}
}

/* Offers `n` commands, or until the manager is closed. */
static void *offer_all(void *argument)
{
	struct requester *self = argument;
	struct request *request;
	uint64_t n = 0;
	size_t i = 0;
	int rc = 0;

	while (n < self->n && rc != -ESHUTDOWN) {
		if (draw(&self->random, 8) == 0)
			disturb(&self->random);
		if (draw(&self->random, 16) == 0)
			cancel_and_limit(&self->random);
		end_calls();
		request = &self->requests[i++ % WINDOW];
		if (is_open(request)) {
			sched_yield();
			continue;
		}
		draw_request(request, &self->random);
		ck_pr_store_32(&request->open, 1);
		rc = weir_process_manager_offer(&manager, &request->command);
		if (rc == 0) {
			self->taken++;
			n++;
			continue;
		}
		assert(rc == -ENOBUFS || rc == -ESHUTDOWN);
		self->overflowed += rc == -ENOBUFS;
		ck_pr_store_32(&request->open, 0);
		sched_yield();
	}
	for (i = 0; i < WINDOW; i++)
		while (is_open(&self->requests[i])) {
			end_calls();
			sched_yield();
		}
	return NULL;
}

/* --- Who takes results ---------------------------------------------------- */

struct taker {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_reactive_in reactive;
};

static struct taker taker;
static uint64_t n_results;

static int take_result(struct weir_actor *actor)
{
	(void)actor;
	n_results++;
	weir_command_reply(weir_in_take(&taker.in));
	return 0;
}
WEIR_TURN(take_result)

static const struct weir_actor_ops taker_ops = {
	.name = "taker",
	.turns = take_result_n,
};

static void take_results(void)
{
	n_results = 0;
	assert_int_equal(weir_actor_init(&taker.actor, &taker_ops, executor),
			 0);
	assert_int_equal(weir_in_init(&taker.in, &taker.actor, 8,
				      weir_command_result_items()),
			 0);
	assert_int_equal(
		weir_reactive_in_init(&taker.reactive, &taker.in, NULL), 0);
	assert_int_equal(weir_publisher_subscribe(
				 weir_process_manager_publisher(&manager),
				 &taker.reactive.subscriber),
			 0);
	assert_int_equal(weir_actor_start(&taker.actor), 0);
}

/* --- The world ------------------------------------------------------------ */

static void manager_released(void *context)
{
	(void)context;
	ck_pr_inc_32(&released);
}

static const struct weir_limit once = {.max = 1};

static void open_world(uint32_t max, uint32_t buffer, bool jobs)
{
	struct weir_threads_options options = {.workers = 4, .steal_ns = 1};
	struct weir_process_manager_options manager_options = {
		.process = jobs ? &job_ops : NULL,
		.process_size = sizeof(struct job),
		.set_up = jobs ? set_up : NULL,
		.run = jobs ? NULL : call,
		.runners = 3,
		.max = max,
		.buffer = buffer,
		.results = with_results,
		.priorities = with_results ? 3 : 0,
		.restarts = with_results && jobs ? &once : NULL,
		.released = manager_released,
	};
	struct weir_spawn_options spawn = {.shutdown_ns = 0};

	memset(replies, 0, sizeof(replies));
	memset(victims, 0, sizeof(victims));
	running = peak = released = 0;
	assert_int_equal(weir_threads_new(&pool, &options), 0);
	executor = weir_threads_executor(pool);
	assert_int_equal(weir_system_new(&systm, executor, &silent), 0);
	assert_int_equal(weir_process_manager_init(&manager, executor,
						   &manager_options),
			 0);
	weir_actor_ref(&manager.actor);
	if (with_results)
		take_results();
	assert_int_equal(weir_system_spawn(systm, WEIR_ACTOR_ID_NONE,
					   &manager.actor, &spawn,
					   &manager_ref),
			 0);
}

static void begin_requests(uint64_t n, uint64_t seed)
{
	size_t i;

	for (i = 0; i < THREADS; i++) {
		memset(&requesters[i], 0, sizeof(requesters[i]));
		requesters[i].random = seed * 1000 + i + 1;
		requesters[i].n = n;
		assert_int_equal(pthread_create(&requesters[i].thread, NULL,
						offer_all, &requesters[i]),
				 0);
	}
}

/* All are answered: what was taken is what has an outcome. */
static void end_requests(bool jobs)
{
	struct weir_process_counts c;
	uint64_t taken = 0, overflowed = 0, sum = 0;
	size_t i;
	int rc;

	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(requesters[i].thread, NULL), 0);
		taken += requesters[i].taken;
		overflowed += requesters[i].overflowed;
	}
	weir_process_manager_end(&manager);
	weir_system_stop(systm);
	rc = weir_completion_wait(weir_system_terminated(systm), 0);
	assert_true(rc == 0 || rc == -ETIMEDOUT);
	while (weir_system_is_alive(systm, manager_ref))
		sched_yield();
	weir_process_manager_counts(&manager, &c);
	for (i = 0; i < WEIR_OUTCOME_COUNT; i++) {
		assert_int_equal(c.outcomes[i], replies[i]);
		sum += replies[i];
	}
	assert_int_equal(taken, sum);
	assert_int_equal(c.accepted, taken);
	assert_int_equal(c.overflowed, overflowed);
	/* started = finished + crashed + killed */
	assert_int_equal(c.started, sum - replies[WEIR_OUTCOME_REFUSED]);
	assert_int_equal(running, 0);
	assert_in_range(peak, 0, manager.options.max);
	assert_in_range(c.peak, 0, manager.options.max);
	if (jobs)
		assert_int_equal(c.processing, 0);
}

static void close_world(void)
{
	int rc;

	assert_int_equal(released, 0);
	weir_actor_unref(&manager.actor);
	rc = weir_completion_wait(weir_system_terminated(systm), WEIR_FOREVER);
	assert_int_equal(rc, 0);
	assert_int_equal(released, 1);
	assert_int_equal(weir_system_free(systm), 0);
	assert_int_equal(weir_threads_free(pool), 0);
}

static void a_million_commands_are_answered_once(void **state)
{
	(void)state;
	open_world(50, 40, true);
	begin_requests(test_count(1000000) / THREADS, 1);
	end_requests(true);
	/* all that can happen has */
	assert_true(replies[WEIR_OUTCOME_DONE] &&
		    replies[WEIR_OUTCOME_CRASHED] &&
		    replies[WEIR_OUTCOME_REFUSED] &&
		    replies[WEIR_OUTCOME_TIMED_OUT]);
	close_world();
}

static void so_are_calls(void **state)
{
	(void)state;
	open_world(50, 40, false);
	begin_requests(test_count(1000000) / THREADS, 2);
	end_requests(false);
	assert_true(replies[WEIR_OUTCOME_DONE] &&
		    replies[WEIR_OUTCOME_CRASHED] &&
		    replies[WEIR_OUTCOME_REFUSED]);
	close_world();
}

/* What ran comes out of the manager, and is replied to then. */
static void so_are_results(void **state)
{
	uint64_t jobs;

	(void)state;
	with_results = true;
	for (jobs = 0; jobs < 2; jobs++) {
		open_world(20, 20, jobs);
		begin_requests(test_count(200000) / THREADS, 4 + jobs);
		end_requests(jobs);
		assert_int_equal(n_results,
				 replies[WEIR_OUTCOME_DONE] +
					 replies[WEIR_OUTCOME_CRASHED] +
					 replies[WEIR_OUTCOME_STOPPED] +
					 replies[WEIR_OUTCOME_KILLED] +
					 replies[WEIR_OUTCOME_TIMED_OUT]);
		assert_true(replies[WEIR_OUTCOME_DONE] > 0);
		close_world();
	}
	with_results = false;
}

/* Places that come back within a run are no overflow, nor is the ring full. */
static void refused_at_once_they_leave_room_for_others(void **state)
{
	(void)state;
	none_starts = true;
	open_world(4, 4, true);
	begin_requests(test_count(400000) / THREADS, 3);
	end_requests(true);
	assert_int_equal(replies[WEIR_OUTCOME_REFUSED],
			 test_count(400000) / THREADS * THREADS);
	close_world();
	none_starts = false;
}

/* Closed or stopped while all offer. */
static void close_while_offered(bool jobs)
{
	uint64_t n, random;

	for_each_seed(seed, test_count(200)) {
		random = seed * UINT64_C(0x9e3779b97f4a7c15) + jobs;
		open_world(1 + (uint32_t)draw(&random, 8),
			   (uint32_t)draw(&random, 20), jobs);
		begin_requests(UINT64_MAX, seed);
		for (n = draw(&random, 20000); n > 0; n--)
			ck_pr_stall();
		switch (draw(&random, 4)) {
		case 0:
			weir_process_manager_end(&manager);
			break;
		case 1:
			(void)weir_system_stop_actor(systm, manager_ref);
			break;
		case 2:
			weir_actor_stop(&manager.actor);
			break;
		default:
			weir_system_stop(systm);
		}
		end_requests(jobs);
		close_world();
	}
}

static void closed_while_offered_it_answers_all(void **state)
{
	(void)state;
	close_while_offered(true);
}

static void so_it_does_with_calls(void **state)
{
	(void)state;
	close_while_offered(false);
}

static void so_it_does_with_results(void **state)
{
	(void)state;
	with_results = true;
	close_while_offered(true);
	close_while_offered(false);
	with_results = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_commands_are_answered_once),
		cmocka_unit_test(so_are_calls),
		cmocka_unit_test(so_are_results),
		cmocka_unit_test(refused_at_once_they_leave_room_for_others),
		cmocka_unit_test(closed_while_offered_it_answers_all),
		cmocka_unit_test(so_it_does_with_calls),
		cmocka_unit_test(so_it_does_with_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
