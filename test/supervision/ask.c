/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions: each is answered once, and its memory is given back once. */
#include "actor/kit.h"

#include <weir/tell.h>

#define SECOND UINT64_C(1000000000)

/* What is asked: the double of a number. */
struct question {
	struct weir_ask ask;
	intptr_t number;
	uint32_t released;
};

static void question_released(struct weir_ask *ask)
{
	struct question *self = weir_container_of(ask, struct question, ask);

	self->released++;
	memset(ask, 0xff, sizeof(*ask)); /* it is ours again */
}

/* Answers at once, or keeps the question. */
struct asked {
	struct weir_actor actor;
	struct weir_in in;
	bool keeps;
	struct question *kept;
};

static uint32_t asked_turns(struct weir_actor *actor, uint32_t n)
{
	struct asked *self = weir_container_of(actor, struct asked, actor);
	struct question *question = weir_container_of(weir_in_take(&self->in),
						      struct question, ask);

	if (self->keeps)
		self->kept = question;
	else
		assert_int_equal(weir_ask_reply(&question->ask,
						(void *)(question->number * 2)),
				 0);
	return 1;
}

static const struct weir_actor_ops asked_ops = {.turns = asked_turns};
static const struct weir_items questions = {.drop = weir_ask_drop};

struct fixture {
	struct weir_sim *sim;
	struct weir_system *system;
	struct asked asked;
	struct weir_actor_id id;
	struct question question;
};

static void fixture_init(struct fixture *f, uint64_t seed)
{
	struct weir_executor *executor;

	*f = (struct fixture){.sim = sim_new(seed),
			      .question.ask.released = question_released};
	executor = weir_sim_executor(f->sim);
	assert_int_equal(weir_system_new(&f->system, executor, NULL), 0);
	weir_actor_init(&f->asked.actor, &asked_ops, executor);
	weir_in_init(&f->asked.in, &f->asked.actor, 1, &questions);
	assert_int_equal(weir_system_spawn(f->system, WEIR_ACTOR_ID_NONE,
					   &f->asked.actor, NULL, &f->id),
			 0);
}

static void fixture_fini(struct fixture *f)
{
	weir_system_stop(f->system);
	weir_sim_run(f->sim);
	assert_int_equal(weir_system_free(f->system), 0);
	sim_free(f->sim);
}

static uint64_t now(const struct fixture *f)
{
	return weir_executor_now(weir_sim_executor(f->sim));
}

static void ask(struct fixture *f, intptr_t number, uint64_t deadline_ns)
{
	f->question.number = number;
	assert_int_equal(weir_system_ask(f->system, f->id, &f->question.ask,
					 deadline_ns),
			 0);
}

static void assert_failed(struct fixture *f, int code)
{
	struct weir_error *error =
		weir_completion_error(&f->question.ask.answer);

	assert_non_null(error);
	assert_int_equal(error->code, code);
}

/* The last who has it. */
static void give_back(struct fixture *f)
{
	weir_ask_unref(&f->question.ask);
	assert_int_equal(f->question.released, 1);
	fixture_fini(f);
}

static void a_question_is_answered_with_a_value(void **state)
{
	for_each_seed(seed, test_count(100)) {
		struct fixture f;

		fixture_init(&f, seed);
		ask(&f, 21, seed % 2 ? SECOND : WEIR_FOREVER);
		assert_int_equal(weir_completion_wait(&f.question.ask.answer,
						      WEIR_FOREVER),
				 0);
		assert_int_equal(
			(intptr_t)weir_completion_value(&f.question.ask.answer),
			42);
		assert_int_equal(f.question.released, 0);
		weir_ask_unref(&f.question.ask);
		weir_sim_run(f.sim);
		assert_int_equal(f.question.released, 1);
		/* its timer is gone */
		assert_int_equal(now(&f), 0);
		fixture_fini(&f);
	}
}

static void who_is_too_late_is_told_so(void **state)
{
	struct fixture f;

	fixture_init(&f, 1);
	f.asked.keeps = true;
	ask(&f, 1, SECOND);
	weir_sim_run(f.sim);
	assert_int_equal(now(&f), SECOND);
	assert_failed(&f, -ETIMEDOUT);
	weir_ask_unref(&f.question.ask);
	/* who was asked holds it still */
	assert_int_equal(f.question.released, 0);
	assert_int_equal(weir_ask_reply(&f.asked.kept->ask, NULL), -EALREADY);
	assert_int_equal(f.question.released, 1);
	fixture_fini(&f);
}

static void a_question_can_be_failed(void **state)
{
	struct fixture f;

	fixture_init(&f, 1);
	f.asked.keeps = true;
	ask(&f, 1, SECOND);
	while (!f.asked.kept)
		assert_true(weir_sim_step(f.sim));
	assert_int_equal(
		weir_ask_fail(&f.asked.kept->ask, weir_error_of(-EDOM)), 0);
	assert_failed(&f, -EDOM);
	give_back(&f);
}

static void a_question_that_is_dropped_is_failed(void **state)
{
	struct fixture f;

	fixture_init(&f, 1);
	weir_sim_run(f.sim);
	assert_int_equal(weir_system_stop_actor(f.system, f.id), 0);
	ask(&f, 1, SECOND);
	weir_sim_run(f.sim);
	assert_failed(&f, -ECANCELED);
	assert_int_equal(now(&f), 0);
	give_back(&f);
}

static void what_the_mailbox_refuses_is_the_answer_s_error(void **state)
{
	struct fixture f;
	struct question second = {.ask.released = question_released};

	fixture_init(&f, 1);
	ask(&f, 1, SECOND);
	assert_int_equal(weir_system_ask(f.system, f.id, &second.ask, SECOND),
			 0);
	assert_int_equal(weir_completion_error(&second.ask.answer)->code,
			 -EAGAIN);
	weir_ask_unref(&second.ask);
	assert_int_equal(second.released, 1);
	weir_sim_run(f.sim);
	weir_ask_unref(&f.question.ask);
	fixture_fini(&f);
}

static void who_has_ended_does_not_answer(void **state)
{
	struct fixture f;

	fixture_init(&f, 1);
	assert_int_equal(weir_system_stop_actor(f.system, f.id), 0);
	weir_sim_run(f.sim);
	ask(&f, 1, SECOND);
	assert_failed(&f, -ESRCH);
	give_back(&f);
}

static void a_system_waits_for_the_deadline_of_a_question(void **state)
{
	struct fixture f;

	fixture_init(&f, 1);
	f.asked.keeps = true;
	ask(&f, 1, SECOND);
	while (!f.asked.kept)
		assert_true(weir_sim_step(f.sim));
	weir_system_stop(f.system);
	weir_sim_run_until(f.sim, SECOND - 1, 0);
	assert_int_equal(weir_system_free(f.system), -EBUSY);
	weir_sim_run(f.sim);
	assert_failed(&f, -ETIMEDOUT);
	weir_ask_unref(&f.question.ask);
	assert_int_equal(weir_ask_reply(&f.question.ask, NULL), -EALREADY);
	assert_int_equal(f.question.released, 1);
	fixture_fini(&f);
}

static void a_late_answer_may_come_behind_the_system_s_end(void **state)
{
	struct fixture f;

	fixture_init(&f, 1);
	f.asked.keeps = true;
	ask(&f, 1, SECOND);
	weir_sim_run(f.sim);
	assert_failed(&f, -ETIMEDOUT);
	weir_ask_unref(&f.question.ask);
	fixture_fini(&f);
	assert_int_equal(weir_ask_reply(&f.asked.kept->ask, NULL), -EALREADY);
	assert_int_equal(f.question.released, 1);
}

static void null_is_refused(void **state)
{
	struct fixture f;

	fixture_init(&f, 1);
	assert_int_equal(weir_system_ask(NULL, f.id, &f.question.ask, 0),
			 -EINVAL);
	assert_int_equal(weir_system_ask(f.system, f.id, NULL, 0), -EINVAL);
	assert_int_equal(weir_ask_reply(NULL, NULL), -EINVAL);
	assert_int_equal(weir_ask_fail(NULL, NULL), -EINVAL);
	weir_ask_unref(NULL);
	assert_int_equal(f.question.released, 0);
	fixture_fini(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_answered_with_a_value),
		cmocka_unit_test(who_is_too_late_is_told_so),
		cmocka_unit_test(a_question_can_be_failed),
		cmocka_unit_test(a_question_that_is_dropped_is_failed),
		cmocka_unit_test(
			what_the_mailbox_refuses_is_the_answer_s_error),
		cmocka_unit_test(who_has_ended_does_not_answer),
		cmocka_unit_test(a_system_waits_for_the_deadline_of_a_question),
		cmocka_unit_test(
			a_late_answer_may_come_behind_the_system_s_end),
		cmocka_unit_test(null_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
