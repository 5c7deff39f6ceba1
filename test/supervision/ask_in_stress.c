/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actors ask one on another thread, with deadlines so near that answers and
 * deadlines meet, and are stopped while their questions are under way. Each
 * question comes back at most once, and is given back once.
 */
#include "support.h"

#include <errno.h>
#include <sched.h>

#include <ck_pr.h>

#include <weir/tell.h>
#include <weir/threads.h>

/* On workers cmocka's assertions cannot be used: assert() ends the program. */

#define ASKERS 2
#define CAPACITY 4

struct asked {
	struct weir_actor actor;
	struct weir_in in;
};

/* Asks when it starts, and again for each answer, until it is stopped. */
struct asker {
	struct weir_actor actor;
	struct weir_ask_in answers;
	struct stage *stage;
	uint64_t asked, came; /* its own */
	uint32_t given_back;  /* any thread */
	uint32_t released;    /* any thread */
};

struct stage {
	struct weir_threads *pool;
	struct weir_system *system;
	struct asked asked;
	struct weir_actor_id id;
	uint64_t answered, late; /* of askers that are gone */
};

struct question {
	struct weir_ask ask;
	struct asker *asker;
};

static inline int answer(struct weir_actor *actor)
{
	struct asked *self = weir_container_of(actor, struct asked, actor);
	int rc = weir_ask_reply(weir_in_take(&self->in), self);

	assert(rc == 0 || rc == -EALREADY);
	return 0;
}

WEIR_TURN(answer)

static const struct weir_actor_ops asked_ops = {.turns = answer_n};
static const struct weir_items questions = {.drop = weir_ask_drop};

/* The last question may outlive its asker, which is not freed before. */
static void question_released(struct weir_ask *ask)
{
	struct question *self = weir_container_of(ask, struct question, ask);

	ck_pr_inc_32(&self->asker->given_back);
	free(self);
}

static void ask_one(struct asker *self)
{
	struct question *question = calloc(1, sizeof(*question));
	uint64_t now = weir_executor_now(self->actor.executor);
	int rc;

	assert(question);
	question->asker = self;
	question->ask.released = question_released;
	question->ask.reply_to = &self->answers;
	rc = weir_system_ask(
		self->stage->system, self->stage->id, &question->ask,
		self->asked % 8 ? now + self->asked % 8 * 4000 : WEIR_FOREVER);
	assert(rc == 0);
	self->asked++;
}

static int ask_some(struct weir_actor *actor)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);
	size_t i;

	for (i = 0; i < CAPACITY; i++)
		ask_one(self);
	return 0;
}

static inline int take_answer(struct weir_actor *actor)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);
	struct weir_ask *ask = weir_in_take(&self->answers.in);
	struct weir_error *error = weir_completion_error(&ask->answer);

	assert(weir_completion_done(&ask->answer));
	assert(!error || error->code == -ETIMEDOUT || error->code == -EAGAIN);
	assert(weir_completion_value(&ask->answer) ==
	       (error ? NULL : &self->stage->asked));
	ck_pr_inc_64(error ? &self->stage->late : &self->stage->answered);
	self->came++;
	weir_ask_unref(ask);
	ask_one(self);
	return 0;
}

WEIR_TURN(take_answer)

static void asker_released(struct weir_actor *actor)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);

	ck_pr_fence_release();
	ck_pr_store_32(&self->released, 1);
}

static const struct weir_lifecycle asks_first = {.pre_start = ask_some};
static const struct weir_actor_ops asker_ops = {.turns = take_answer_n,
						.released = asker_released,
						.lifecycle = &asks_first};

static void stage_open(struct stage *stage)
{
	struct weir_threads_options options = {.workers = 2};
	struct weir_executor *executor;

	*stage = (struct stage){.pool = NULL};
	assert_int_equal(weir_threads_new(&stage->pool, &options), 0);
	executor = weir_threads_executor(stage->pool);
	assert_int_equal(weir_system_new(&stage->system, executor, NULL), 0);
	assert_int_equal(
		weir_actor_init(&stage->asked.actor, &asked_ops, executor), 0);
	assert_int_equal(weir_in_init(&stage->asked.in, &stage->asked.actor,
				      ASKERS * CAPACITY * 4, &questions),
			 0);
	assert_int_equal(weir_system_spawn(stage->system, WEIR_ACTOR_ID_NONE,
					   &stage->asked.actor, NULL,
					   &stage->id),
			 0);
}

static void stage_close(struct stage *stage)
{
	weir_system_stop(stage->system);
	assert_int_equal(
		weir_completion_wait(weir_system_terminated(stage->system),
				     WEIR_FOREVER),
		0);
	assert_int_equal(weir_system_free(stage->system), 0);
	assert_int_equal(weir_threads_free(stage->pool), 0);
}

static void asker_open(struct asker *self, struct stage *stage)
{
	struct weir_executor *executor = weir_threads_executor(stage->pool);

	*self = (struct asker){.stage = stage};
	assert_int_equal(weir_actor_init(&self->actor, &asker_ops, executor),
			 0);
	assert_int_equal(
		weir_ask_in_init(&self->answers, &self->actor, CAPACITY), 0);
	weir_actor_ref(&self->actor);
	assert_int_equal(weir_system_spawn(stage->system, WEIR_ACTOR_ID_NONE,
					   &self->actor, NULL, NULL),
			 0);
}

/* All its questions have been given back. */
static bool is_over(const struct asker *self)
{
	if (!ck_pr_load_32(&self->released))
		return false;
	ck_pr_fence_acquire();
	return ck_pr_load_32(&self->given_back) == self->asked;
}

static void each_question_is_given_back_once(void **state)
{
	struct asker askers[ASKERS];
	uint64_t rounds = test_count(3000), i, j;
	struct stage stage;

	stage_open(&stage);
	for (i = 0; i < rounds; i++) {
		for (j = 0; j < ASKERS; j++)
			asker_open(&askers[j], &stage);
		for (j = 0; j < i % 64; j++)
			sched_yield();
		for (j = 0; j < ASKERS; j++) {
			weir_actor_stop(&askers[j].actor);
			weir_actor_unref(&askers[j].actor);
		}
		for (j = 0; j < ASKERS; j++) {
			while (!is_over(&askers[j]))
				sched_yield();
			assert_true(askers[j].came <= askers[j].asked);
		}
	}
	stage_close(&stage);
	print_message("%ju answered, %ju too late\n", (uintmax_t)stage.answered,
		      (uintmax_t)stage.late);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_question_is_given_back_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
