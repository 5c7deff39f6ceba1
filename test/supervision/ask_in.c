/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions that come back as items of who has asked. */
#include "kit/world.h"

#include <weir/death_watch.h>
#include <weir/out.h>
#include <weir/tell.h>

#define SECOND UINT64_C(1000000000)
#define QUESTIONS 16

struct question {
	struct weir_ask ask;
	intptr_t number;
	uint32_t released;
	uint32_t came_back;
	int code; /* with which it came back */
	intptr_t value;
};

/* Doubles the numbers, or keeps the questions. */
struct asked {
	struct weir_actor actor;
	struct weir_in in;
	bool keeps;
	size_t n_kept;
	struct weir_ask *kept[QUESTIONS];
};

/* Asks when it is signalled, and again for each answer, if it is to. */
struct asker {
	struct weir_actor actor;
	struct weir_ask_in answers;
	struct fixture *f;
	size_t n_to_ask; /* at the next signal */
	uint64_t deadline_ns;
	bool again;
	bool fails;	/* at the next answer */
	size_t came;	/* answers */
	size_t told_at; /* answers that had come with the notice */
	int rc;		/* of the last question */
	uint32_t released;
};

struct fixture {
	struct world world;
	struct asked asked;
	struct asker asker;
	struct weir_actor_id asked_id, asker_id;
	size_t n_asked;
	struct question questions[QUESTIONS];
};

static void question_released(struct weir_ask *ask)
{
	weir_container_of(ask, struct question, ask)->released++;
}

/* --- Who is asked --------------------------------------------------------- */

static inline int answer(struct weir_actor *actor)
{
	struct asked *self = weir_container_of(actor, struct asked, actor);
	struct question *question = weir_container_of(weir_in_take(&self->in),
						      struct question, ask);
	int rc;

	if (self->keeps) {
		self->kept[self->n_kept++] = &question->ask;
		return 0;
	}
	rc = weir_ask_reply(&question->ask, (void *)(question->number * 2));
	assert_true(rc == 0 || rc == -EALREADY);
	return 0;
}

WEIR_TURN(answer)

static const struct weir_actor_ops asked_ops = {.turns = answer_n};
static const struct weir_items questions = {.drop = weir_ask_drop};

/* --- Who asks ------------------------------------------------------------- */

static int ask_one(struct asker *self)
{
	struct fixture *f = self->f;
	struct question *question = &f->questions[f->n_asked];

	question->number = (intptr_t)f->n_asked + 1;
	question->ask.released = question_released;
	question->ask.reply_to = &self->answers;
	self->rc = weir_system_ask(f->world.system, f->asked_id, &question->ask,
				   self->deadline_ns);
	if (self->rc == 0)
		f->n_asked++;
	return self->rc;
}

static int ask_all(struct weir_actor *actor)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);

	for (; self->n_to_ask; self->n_to_ask--)
		(void)ask_one(self);
	return 0;
}

static inline int take_answer(struct weir_actor *actor)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);
	struct weir_ask *ask = weir_in_take(&self->answers.in);
	struct question *question =
		weir_container_of(ask, struct question, ask);
	struct weir_error *error = weir_completion_error(&ask->answer);

	assert_true(weir_completion_done(&ask->answer));
	question->came_back++;
	question->code = error ? error->code : 0;
	question->value = (intptr_t)weir_completion_value(&ask->answer);
	self->came++;
	weir_ask_unref(ask);
	if (self->fails) {
		self->fails = false;
		return -EIO;
	}
	if (self->again && self->f->n_asked < QUESTIONS)
		assert_int_equal(ask_one(self), 0);
	return 0;
}

WEIR_TURN(take_answer)

static int told_of_end(struct weir_actor *actor,
		       const struct weir_terminated *notice)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);

	(void)notice;
	self->told_at = self->came;
	return 0;
}

static int watch(struct weir_actor *actor)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);

	return weir_actor_watch(actor, self->f->asked_id, NULL);
}

static void asker_released(struct weir_actor *actor)
{
	weir_container_of(actor, struct asker, actor)->released++;
}

static const struct weir_lifecycle asker_life = {.pre_start = watch,
						 .terminated = told_of_end};
static const struct weir_actor_ops asker_ops = {.turns = take_answer_n,
						.signalled = ask_all,
						.released = asker_released,
						.lifecycle = &asker_life};

/* --- Both ----------------------------------------------------------------- */

static void ignore_failures(const struct weir_supervision_event *event,
			    void *unused)
{
	weir_supervision_event_ignore(event, unused);
}

static void spawn(struct fixture *f, struct weir_actor *actor,
		  struct weir_actor_id *id)
{
	assert_int_equal(weir_system_spawn(f->world.system, WEIR_ACTOR_ID_NONE,
					   actor, NULL, id),
			 0);
}

static void fixture_init(struct fixture *f, uint64_t seed, size_t capacity)
{
	const struct weir_system_options options = {.event = ignore_failures};
	struct weir_executor *executor;

	*f = (struct fixture){.asker.deadline_ns = SECOND, .asker.f = f};
	world_init(&f->world, seed, 0);
	world_system(&f->world, &options);
	executor = f->world.executor;
	assert_int_equal(weir_actor_init(&f->asked.actor, &asked_ops, executor),
			 0);
	assert_int_equal(weir_in_init(&f->asked.in, &f->asked.actor, QUESTIONS,
				      &questions),
			 0);
	spawn(f, &f->asked.actor, &f->asked_id);
	assert_int_equal(weir_actor_init(&f->asker.actor, &asker_ops, executor),
			 0);
	assert_int_equal(weir_ask_in_init(&f->asker.answers, &f->asker.actor,
					  capacity),
			 0);
	spawn(f, &f->asker.actor, &f->asker_id);
	world_settle(&f->world);
}

static void fixture_fini(struct fixture *f)
{
	size_t i;

	world_stop(&f->world);
	for (i = 0; i < f->n_asked; i++)
		assert_int_equal(f->questions[i].released, 1);
	assert_int_equal(f->asker.released, 1);
	world_fini(&f->world);
}

static void ask(struct fixture *f, size_t n)
{
	f->asker.n_to_ask = n;
	weir_actor_signal(&f->asker.actor);
}

static void assert_came_back(const struct question *question, int code)
{
	assert_int_equal(question->came_back, 1);
	assert_int_equal(question->code, code);
	assert_int_equal(question->released, 1);
}

static void answers_come_as_items(void **state)
{
	for_each_seed(seed, test_count(100)) {
		struct fixture f;
		size_t i;

		fixture_init(&f, seed, 8);
		f.asker.deadline_ns = seed % 2 ? SECOND : WEIR_FOREVER;
		ask(&f, 8);
		world_settle(&f.world);
		assert_int_equal(f.asker.came, 8);
		for (i = 0; i < 8; i++) {
			assert_came_back(&f.questions[i], 0);
			assert_int_equal(f.questions[i].value, (i + 1) * 2);
		}
		fixture_fini(&f);
	}
}

static void a_question_that_is_too_late_comes_back_with_the_error(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 1);
	f.asked.keeps = true;
	ask(&f, 1);
	world_settle(&f.world);
	assert_int_equal(f.asker.came, 0);
	world_advance(&f.world, SECOND);
	assert_int_equal(f.questions[0].came_back, 1);
	assert_int_equal(f.questions[0].code, -ETIMEDOUT);
	/* who is asked holds it still */
	assert_int_equal(f.questions[0].released, 0);
	assert_int_equal(weir_ask_reply(f.asked.kept[0], NULL), -EALREADY);
	world_settle(&f.world);
	assert_int_equal(f.asker.came, 1);
	assert_came_back(&f.questions[0], -ETIMEDOUT);
	fixture_fini(&f);
}

static void a_question_to_one_that_has_ended_comes_back(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 2);
	assert_int_equal(weir_system_stop_actor(f.world.system, f.asked_id), 0);
	world_settle(&f.world);
	ask(&f, 2);
	world_settle(&f.world);
	assert_came_back(&f.questions[0], -ESRCH);
	assert_came_back(&f.questions[1], -ESRCH);
	fixture_fini(&f);
}

static void a_question_that_is_dropped_comes_back(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 2);
	weir_actor_suspend(&f.asked.actor);
	ask(&f, 2);
	world_settle(&f.world);
	assert_int_equal(weir_system_stop_actor(f.world.system, f.asked_id), 0);
	world_settle(&f.world);
	assert_came_back(&f.questions[0], -ECANCELED);
	assert_came_back(&f.questions[1], -ECANCELED);
	fixture_fini(&f);
}

static void no_more_questions_are_asked_than_there_is_room_for(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 2);
	f.asked.keeps = true;
	ask(&f, 3);
	world_settle(&f.world);
	assert_int_equal(f.asker.rc, -EAGAIN);
	assert_int_equal(f.n_asked, 2);
	assert_int_equal(f.asked.n_kept, 2);
	assert_int_equal(weir_ask_reply(f.asked.kept[0], NULL), 0);
	world_settle(&f.world);
	ask(&f, 2);
	world_settle(&f.world);
	assert_int_equal(f.asker.rc, -EAGAIN);
	assert_int_equal(f.n_asked, 3);
	/* the others come back by their deadlines */
	world_advance(&f.world, SECOND);
	assert_int_equal(f.asker.came, 3);
	assert_int_equal(weir_ask_reply(f.asked.kept[1], NULL), -EALREADY);
	assert_int_equal(weir_ask_reply(f.asked.kept[2], NULL), -EALREADY);
	fixture_fini(&f);
}

static void who_takes_an_answer_may_ask_again_in_that_turn(void **state)
{
	for_each_seed(seed, test_count(100)) {
		struct fixture f;

		fixture_init(&f, seed, (size_t)1 << seed % 4);
		f.asker.again = true;
		ask(&f, (size_t)1 << seed % 4);
		world_settle(&f.world);
		assert_int_equal(f.n_asked, QUESTIONS);
		assert_int_equal(f.asker.came, QUESTIONS);
		fixture_fini(&f);
	}
}

static void an_answer_to_one_that_has_ended_is_let_go_of(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 2);
	f.asked.keeps = true;
	ask(&f, 2);
	world_settle(&f.world);
	assert_int_equal(weir_system_stop_actor(f.world.system, f.asker_id), 0);
	world_settle(&f.world);
	assert_false(weir_system_is_alive(f.world.system, f.asker_id));
	/* its questions hold it */
	assert_int_equal(f.asker.released, 0);
	assert_int_equal(weir_ask_reply(f.asked.kept[0], NULL), 0);
	assert_int_equal(f.questions[0].released, 1);
	assert_int_equal(f.asker.released, 0);
	world_advance(&f.world, SECOND);
	assert_int_equal(f.asker.released, 1);
	assert_int_equal(weir_ask_reply(f.asked.kept[1], NULL), -EALREADY);
	assert_int_equal(f.asker.came, 0);
	fixture_fini(&f);
}

static void answers_that_nobody_takes_are_let_go_of(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 2);
	weir_actor_suspend(&f.asker.actor);
	ask(&f, 2);
	world_settle(&f.world);
	assert_int_equal(f.asker.came, 0);
	assert_int_equal(weir_system_stop_actor(f.world.system, f.asker_id), 0);
	world_settle(&f.world);
	assert_int_equal(f.asker.released, 1);
	assert_int_equal(weir_system_dead_letter_count(f.world.system), 2);
	fixture_fini(&f);
}

static void answers_come_before_the_notice_of_an_end(void **state)
{
	for_each_seed(seed, test_count(100)) {
		struct fixture f;

		fixture_init(&f, seed, 8);
		weir_actor_suspend(&f.asked.actor);
		ask(&f, 8);
		world_settle(&f.world);
		weir_actor_resume(&f.asked.actor);
		assert_int_equal(weir_system_poison(f.world.system, f.asked_id),
				 0);
		world_settle(&f.world);
		assert_int_equal(f.asker.came, 8);
		assert_int_equal(f.asker.told_at, f.asker.came);
		fixture_fini(&f);
	}
}

static void answers_are_kept_over_a_restart(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 4);
	f.asker.fails = true;
	ask(&f, 4);
	world_settle(&f.world);
	assert_int_equal(weir_system_restarts(f.world.system, f.asker_id), 1);
	assert_int_equal(f.asker.came, 4);
	ask(&f, 4);
	world_settle(&f.world);
	assert_int_equal(f.asker.came, 8);
	fixture_fini(&f);
}

static void nothing_else_comes_in_there(void **state)
{
	static const struct weir_actor_ops plain;
	struct fixture f;
	struct weir_actor source;
	struct weir_out out;
	struct weir_in *in = &f.asker.answers.in;
	struct asker other = {.f = &f};

	fixture_init(&f, 1, 2);
	assert_int_equal(weir_in_put(in, NULL), -EISCONN);
	assert_int_equal(weir_in_end(in, NULL), -EISCONN);
	assert_int_equal(weir_actor_tell(&f.asker.actor, NULL), -EISCONN);
	assert_int_equal(weir_actor_init(&source, &plain, f.world.executor), 0);
	assert_int_equal(weir_out_init(&out, &source, NULL), 0);
	assert_int_equal(
		weir_actor_init(&other.actor, &asker_ops, f.world.executor), 0);
	assert_int_equal(weir_ask_in_init(&other.answers, &other.actor, 2), 0);
	assert_int_equal(weir_out_link(&out, &other.answers.in), -EINVAL);
	weir_actor_stop(&source);
	weir_actor_stop(&other.actor);
	fixture_fini(&f);
}

static void only_the_owner_asks(void **state)
{
	struct fixture f;

	fixture_init(&f, 1, 2);
	assert_int_equal(ask_one(&f.asker), -EPERM);
	assert_int_equal(f.questions[0].released, 0);
	fixture_fini(&f);
}

/* --- Set up, and not started ---------------------------------------------- */

static void one_that_is_set_up_may_ask(void **state)
{
	struct fixture f;
	struct asker other = {.f = &f, .deadline_ns = SECOND};

	fixture_init(&f, 1, 2);
	assert_int_equal(
		weir_actor_init(&other.actor, &asker_ops, f.world.executor), 0);
	assert_int_equal(weir_ask_in_init(NULL, &other.actor, 2), -EINVAL);
	assert_int_equal(weir_ask_in_init(&other.answers, NULL, 2), -EINVAL);
	assert_int_equal(weir_ask_in_init(&other.answers, &other.actor, 3),
			 -EINVAL);
	/* not set up yet */
	assert_int_equal(ask_one(&other), -EINVAL);
	f.world.heap.fail = f.world.heap.calls + 1;
	assert_int_equal(weir_ask_in_init(&other.answers, &other.actor, 2),
			 -ENOMEM);
	f.world.heap.fail = 0;
	assert_int_equal(weir_ask_in_init(&other.answers, &other.actor, 2), 0);
	assert_int_equal(weir_in_merge(&other.answers.in, WEIR_MERGE_OPEN),
			 -EBUSY);
	assert_int_equal(ask_one(&other), 0);
	world_settle(&f.world);
	assert_int_equal(other.came, 0);
	spawn(&f, &other.actor, NULL);
	world_settle(&f.world);
	assert_int_equal(other.came, 1);
	assert_came_back(&f.questions[0], 0);
	fixture_fini(&f);
	assert_int_equal(other.released, 1);
}

static void a_port_that_was_cancelled_gets_no_answers(void **state)
{
	struct fixture f;
	struct asker other = {.f = &f, .deadline_ns = SECOND};

	fixture_init(&f, 1, 2);
	assert_int_equal(
		weir_actor_init(&other.actor, &asker_ops, f.world.executor), 0);
	assert_int_equal(weir_ask_in_init(&other.answers, &other.actor, 2), 0);
	assert_int_equal(ask_one(&other), 0);
	assert_int_equal(weir_in_cancel(&other.answers.in), 0);
	assert_int_equal(ask_one(&other), -EPIPE);
	world_settle(&f.world);
	assert_int_equal(f.questions[0].came_back, 0);
	assert_int_equal(f.questions[0].released, 1);
	weir_actor_stop(&other.actor);
	assert_int_equal(other.released, 1);
	fixture_fini(&f);
}

/* --- In any order --------------------------------------------------------- */

static void each_question_comes_back_at_most_once_whatever_happens(void **state)
{
	for_each_seed(seed, test_count(2000)) {
		struct fixture f;
		size_t i, steps = 0;

		fixture_init(&f, seed, (size_t)1 << seed % 4);
		f.asked.keeps = seed % 3 == 0;
		f.asker.again = seed % 5 == 0;
		f.asker.fails = seed % 11 == 0;
		f.asker.deadline_ns = seed % 7 ? seed % 4 : WEIR_FOREVER;
		ask(&f, 1 + seed % 4);
		while (steps++ < seed % 23 && weir_sim_step(f.world.sim))
			;
		if (seed % 2)
			(void)weir_system_stop_actor(f.world.system,
						     f.asker_id);
		if (seed % 13 < 4)
			(void)weir_system_stop_actor(f.world.system,
						     f.asked_id);
		while (steps++ < 40 && weir_sim_step(f.world.sim))
			;
		for (i = 0; i < f.asked.n_kept; i++)
			(void)weir_ask_reply(f.asked.kept[i], NULL);
		f.asked.n_kept = 0;
		f.asked.keeps = false;
		world_advance(&f.world, 4);
		for (i = 0; i < f.n_asked; i++) {
			assert_int_equal(f.questions[i].released, 1);
			assert_true(f.questions[i].came_back <= 1);
			if (seed % 2 == 0)
				assert_int_equal(f.questions[i].came_back, 1);
		}
		fixture_fini(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_come_as_items),
		cmocka_unit_test(
			a_question_that_is_too_late_comes_back_with_the_error),
		cmocka_unit_test(a_question_to_one_that_has_ended_comes_back),
		cmocka_unit_test(a_question_that_is_dropped_comes_back),
		cmocka_unit_test(
			no_more_questions_are_asked_than_there_is_room_for),
		cmocka_unit_test(
			who_takes_an_answer_may_ask_again_in_that_turn),
		cmocka_unit_test(an_answer_to_one_that_has_ended_is_let_go_of),
		cmocka_unit_test(answers_that_nobody_takes_are_let_go_of),
		cmocka_unit_test(answers_come_before_the_notice_of_an_end),
		cmocka_unit_test(answers_are_kept_over_a_restart),
		cmocka_unit_test(nothing_else_comes_in_there),
		cmocka_unit_test(only_the_owner_asks),
		cmocka_unit_test(one_that_is_set_up_may_ask),
		cmocka_unit_test(a_port_that_was_cancelled_gets_no_answers),
		cmocka_unit_test(
			each_question_comes_back_at_most_once_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
