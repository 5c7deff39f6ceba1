/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A system in the hands of many threads: some spawn, stop, look up and hold on
 * to actors, until one of them, or one of the actors, shuts it all down at a
 * moment of its own, or drains or aborts the executor. A system that is told to
 * have terminated can be freed; everybody who was spawned is released once;
 * nothing is spawned after that.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <ck_pr.h>

#include <weir/completion.h>
#include <weir/system.h>
#include <weir/threads.h>

#define N_OUTSIDE 3
#define N_NAMES 8
#define N_KNOWN 16

/* What ends it. */
enum how {
	SHUTDOWN,
	ACTOR, /* shuts down, as it starts */
	DRAIN,
	ABORT,
	N_HOW,
};

struct ending {
	struct weir_ending drain;
	struct weir_completion done;
};

struct crowd {
	struct weir_system *system;
	struct weir_executor *executor;
	struct weir_system_hook before_end, at_termination;
	uint32_t made, released, hooks; /* any thread */
	uint32_t actions, end_at;
	enum how how;
	struct ending ending;
};

struct worker {
	struct weir_actor actor;
	struct crowd *crowd;
	bool shuts;
};

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static int worker_starts(struct weir_actor *actor)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);
	struct weir_system *system = weir_actor_system(actor);
	struct weir_actor_id ref = weir_actor_self(actor);

	assert_ptr_equal(system, self->crowd->system);
	assert_true(weir_system_is_alive(system, ref));
	assert_true(weir_system_path(system, ref, NULL, 0) > 0);
	if (self->shuts)
		weir_system_stop(system);
	return 0;
}

static void worker_released(struct weir_actor *actor)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);

	ck_pr_inc_32(&self->crowd->released);
	free(self);
}

static const struct weir_lifecycle worker_life = {.pre_start = worker_starts};

static const struct weir_actor_ops worker_ops = {
	.name = "worker",
	.turns = no_turns,
	.released = worker_released,
	.lifecycle = &worker_life,
};

/* --- From outside --------------------------------------------------------- */

struct outside {
	pthread_t thread;
	struct crowd *crowd;
	struct weir_actor_id known[N_KNOWN]; /* the first is /user */
	uint64_t seed;
};

static uint32_t random_below(struct outside *self, uint32_t bound)
{
	self->seed = self->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((self->seed >> 33) % bound);
}

static void check_spawn(int rc)
{
	switch (rc) {
	case 0:
	case -EEXIST:
	case -ESRCH:
	case -ESHUTDOWN:
		return;
	default:
		fail_msg("weir_system_spawn: %d", rc);
	}
}

/* True: /user takes no more. */
static bool spawn_one(struct outside *self, bool shuts)
{
	struct weir_actor_id parent = self->known[random_below(self, N_KNOWN)],
			     ref;
	struct worker *worker = calloc(1, sizeof(*worker));
	struct weir_spawn_options options = {.name = NULL};
	char name[8];
	int rc;

	assert_non_null(worker);
	worker->crowd = self->crowd;
	worker->shuts = shuts;
	ck_pr_inc_32(&self->crowd->made);
	assert_int_equal(weir_actor_init(&worker->actor, &worker_ops,
					 self->crowd->executor),
			 0);
	snprintf(name, sizeof(name), "%u", random_below(self, N_NAMES));
	if (random_below(self, 2))
		options.name = name;
	rc = weir_system_spawn(self->crowd->system, parent, &worker->actor,
			       &options, &ref);
	check_spawn(rc);
	if (rc == 0)
		self->known[1 + random_below(self, N_KNOWN - 1)] = ref;
	else
		weir_actor_stop(&worker->actor);
	return rc == -ESHUTDOWN && weir_actor_id_equal(parent, self->known[0]);
}

static void look_around(struct outside *self, struct weir_actor_id ref)
{
	struct weir_system *system = self->crowd->system;
	struct weir_actor_id children[4], found;
	struct weir_actor *actor;
	char path[128];
	int n, i;

	n = weir_system_path(system, ref, path, sizeof(path));
	if (n >= 0 && n < (int)sizeof(path)) {
		/*
		 * Another may have its name by now, but nobody its reference.
		 */
		found = weir_system_lookup(system, path);
		if (weir_actor_id_equal(found, ref))
			(void)weir_system_parent(system, found);
	}
	n = weir_system_children(system, ref, children, 4);
	for (i = 0; i < n && i < 4; i++)
		(void)weir_system_is_alive(system, children[i]);
	actor = weir_system_actor(system, ref);
	if (actor) {
		assert_string_equal(
			weir_actor_name(actor),
			weir_actor_id_equal(ref,
					    weir_system_user_guardian(system))
				? "/user"
				: "worker");
		assert_true(weir_actor_id_equal(weir_actor_self(actor), ref));
		assert_ptr_equal(weir_actor_system(actor), system);
	}
	weir_actor_unref(actor);
}

static void drained(struct weir_ending *drain)
{
	struct ending *self = weir_container_of(drain, struct ending, drain);

	(void)weir_completion_complete(&self->done, NULL);
}

static void drain(struct weir_executor *executor, struct ending *ending,
		  bool abort)
{
	ending->drain.done = drained;
	assert_int_equal(weir_completion_init(&ending->done), 0);
	assert_int_equal((abort ? weir_executor_stop_async
				: weir_executor_end_async)(
				 executor, &ending->drain, WEIR_FOREVER),
			 0);
}

static void await_drain(struct ending *ending)
{
	assert_int_equal(weir_completion_wait(&ending->done, WEIR_FOREVER), 0);
	assert_int_equal(weir_completion_fini(&ending->done), 0);
	assert_int_equal(ending->drain.actors_left, 0);
}

static void end(struct crowd *crowd)
{
	if (crowd->how == SHUTDOWN)
		weir_system_stop(crowd->system);
	else if (crowd->how != ACTOR)
		drain(crowd->executor, &crowd->ending, crowd->how == ABORT);
}

static void *run_outside(void *context)
{
	struct outside *self = context;
	struct crowd *crowd = self->crowd;
	uint32_t action, late = 0;
	struct weir_actor_id ref;

	/* goes on for a while after the shutdown, too */
	while (late < 20) {
		ref = self->known[random_below(self, N_KNOWN)];
		action = ck_pr_faa_32(&crowd->actions, 1);
		if (action == crowd->end_at)
			end(crowd);
		late += spawn_one(self, crowd->how == ACTOR &&
						action >= crowd->end_at);
		if (random_below(self, 2))
			look_around(self, ref);
		if (random_below(self, 3) == 0 &&
		    !weir_actor_id_equal(
			    ref, weir_system_user_guardian(crowd->system)))
			(void)weir_system_stop_actor(crowd->system, ref);
	}
	return NULL;
}

/* --- Rounds --------------------------------------------------------------- */

static void before_end(struct weir_system_hook *hook)
{
	struct crowd *crowd = weir_container_of(hook, struct crowd, before_end);

	assert_int_equal(ck_pr_faa_32(&crowd->hooks, 1), 0);
	assert_false(weir_system_is_alive(
		crowd->system, weir_system_user_guardian(crowd->system)));
	weir_system_hook_done(hook);
}

static void at_termination(struct weir_system_hook *hook)
{
	struct crowd *crowd =
		weir_container_of(hook, struct crowd, at_termination);

	assert_int_equal(ck_pr_faa_32(&crowd->hooks, 1), 1);
}

static void crowd_run(struct crowd *crowd, uint64_t seed)
{
	struct outside outsides[N_OUTSIDE];
	size_t i, j;

	for (i = 0; i < N_OUTSIDE; i++) {
		outsides[i] = (struct outside){
			.crowd = crowd,
			.seed = seed * N_OUTSIDE + i,
		};
		for (j = 0; j < N_KNOWN; j++)
			outsides[i].known[j] =
				weir_system_user_guardian(crowd->system);
		assert_int_equal(pthread_create(&outsides[i].thread, NULL,
						run_outside, &outsides[i]),
				 0);
	}
	for (i = 0; i < N_OUTSIDE; i++)
		assert_int_equal(pthread_join(outsides[i].thread, NULL), 0);
}

static void crowd_check(struct crowd *crowd)
{
	assert_int_equal(
		weir_completion_wait(weir_system_terminated(crowd->system),
				     WEIR_FOREVER),
		0);
	assert_int_equal(ck_pr_load_32(&crowd->hooks), 2);
	assert_int_equal(weir_system_free(crowd->system), 0);
	assert_int_equal(ck_pr_load_32(&crowd->released), crowd->made);
	if (crowd->how == DRAIN || crowd->how == ABORT)
		await_drain(&crowd->ending);
}

static void one_round(enum how how, uint64_t seed)
{
	const struct weir_threads_options options = {.workers = 3};
	struct crowd crowd = {
		.before_end.run = before_end,
		.at_termination.run = at_termination,
		.end_at = (uint32_t)(seed * 7919 % 400),
		.how = how,
	};
	struct weir_threads *threads;
	struct ending ending;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	crowd.executor = weir_threads_executor(threads);
	assert_int_equal(weir_system_new(&crowd.system, crowd.executor, NULL),
			 0);
	assert_int_equal(
		weir_system_before_end(crowd.system, &crowd.before_end), 0);
	assert_int_equal(weir_system_at_termination(crowd.system,
						    &crowd.at_termination),
			 0);
	crowd_run(&crowd, seed);
	crowd_check(&crowd);
	/* Who was released last may be on its way out still. */
	drain(crowd.executor, &ending, false);
	await_drain(&ending);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void b10_3_a_crowd_ends_in_order_at_any_moment(void **state)
{
	enum how how;

	for_each_seed(seed, test_count(100))
		for (how = SHUTDOWN; how < N_HOW; how++)
			one_round(how, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b10_3_a_crowd_ends_in_order_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
