/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads ask an actor on another thread, with deadlines so near that answers
 * and deadlines meet. Each question is answered once and given back once.
 */
#include "kit/world.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

#include <weir/tell.h>
#include <weir/threads.h>

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define ASKERS 2

struct asked {
	struct weir_actor actor;
	struct weir_in in;
};

struct scene {
	struct weir_threads *pool;
	struct weir_system *system;
	struct asked asked;
	struct weir_actor_id id;
	uint32_t released; /* any thread */
};

struct question {
	struct weir_ask ask;
	struct scene *scene;
};

struct asker {
	struct scene *scene;
	uint64_t rounds, answered, late, full;
};

static inline int answer(struct weir_actor *actor)
{
	struct asked *self = weir_container_of(actor, struct asked, actor);
	struct weir_ask *ask = weir_in_take(&self->in);
	int rc = weir_ask_reply(ask, self);

	assert(rc == 0 || rc == -EALREADY);
	return 0;
}

WEIR_TURN(answer)

static const struct weir_actor_ops asked_ops = {.turns = answer_n};
static const struct weir_items questions = {.drop = weir_ask_drop};

static void question_released(struct weir_ask *ask)
{
	struct question *self = weir_container_of(ask, struct question, ask);

	ck_pr_inc_32(&self->scene->released);
	free(self);
}

/* The deadline that the round has: long past, near, or far. */
static uint64_t deadline(struct scene *scene, uint64_t round)
{
	uint64_t now = weir_executor_now(weir_threads_executor(scene->pool));

	return round % 8 == 0 ? WEIR_FOREVER : now + round % 8 * 4000;
}

/* False: the mailbox was full. */
static bool ask_once(struct asker *self, uint64_t round)
{
	struct question *question = calloc(1, sizeof(*question));
	struct weir_error *error;
	bool full;

	assert(question);
	question->scene = self->scene;
	question->ask.released = question_released;
	assert(weir_system_ask(self->scene->system, self->scene->id,
			       &question->ask,
			       deadline(self->scene, round)) == 0);
	assert(weir_completion_wait(&question->ask.answer, WEIR_FOREVER) == 0);
	error = weir_completion_error(&question->ask.answer);
	assert(!error || error->code == -ETIMEDOUT || error->code == -EAGAIN);
	assert(weir_completion_value(&question->ask.answer) ==
	       (error ? NULL : &self->scene->asked));
	self->answered += !error;
	self->late += error && error->code == -ETIMEDOUT;
	full = error && error->code == -EAGAIN;
	weir_ask_unref(&question->ask);
	return !full;
}

static void *ask_all(void *arg)
{
	struct asker *self = arg;
	uint64_t i;

	for (i = 0; i < self->rounds; i++)
		while (!ask_once(self, i)) {
			self->full++;
			sched_yield();
		}
	return NULL;
}

static void scene_open(struct scene *scene)
{
	struct weir_threads_options options = {.workers = 1};
	struct weir_executor *executor;

	*scene = (struct scene){.pool = NULL};
	assert_int_equal(weir_threads_new(&scene->pool, &options), 0);
	executor = weir_threads_executor(scene->pool);
	assert_int_equal(weir_system_new(&scene->system, executor, NULL), 0);
	assert_int_equal(
		weir_actor_init(&scene->asked.actor, &asked_ops, executor), 0);
	assert_int_equal(weir_in_init(&scene->asked.in, &scene->asked.actor, 4,
				      &questions),
			 0);
	assert_int_equal(weir_system_spawn(scene->system, WEIR_ACTOR_ID_NONE,
					   &scene->asked.actor, NULL,
					   &scene->id),
			 0);
}

static void scene_close(struct scene *scene)
{
	end_system(scene->system);
	assert_int_equal(weir_threads_free(scene->pool), 0);
}

static void every_question_is_answered_and_given_back_once(void **state)
{
	struct scene scene;
	struct asker askers[ASKERS];
	pthread_t threads[ASKERS];
	uint64_t rounds = test_count(20000), i, n = 0, full = 0;

	scene_open(&scene);
	for (i = 0; i < ASKERS; i++) {
		askers[i] = (struct asker){.scene = &scene, .rounds = rounds};
		assert_int_equal(pthread_create(&threads[i], NULL, ask_all,
						&askers[i]),
				 0);
	}
	for (i = 0; i < ASKERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		n += askers[i].answered + askers[i].late;
		full += askers[i].full;
	}
	scene_close(&scene);
	assert_int_equal(n, rounds * ASKERS);
	assert_int_equal(n, rounds * ASKERS);
	assert_int_equal(scene.released, n + full);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_question_is_answered_and_given_back_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
