/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions: each is answered once, by whoever comes first, and comes back once
 * to the in-port of who has asked, if there is one and it lives.
 */
#include "supervision_kit.h"

#include <errno.h>

/* Node 0 is asked, and keeps the question. */
static void one(void *context)
{
	family_child(family_open(context, NULL), USER, 0, NULL);
}

static void pass_time(void *context)
{
	scene_pass_time(context, 1);
}

static void is_let_go(struct weir_ask *ask)
{
	struct question *question =
		weir_container_of(ask, struct question, ask);

	question->family->let_go++;
	explorer_free(question);
}

/* Until time 1. */
static void ask_it(void *context)
{
	struct family *f = context;

	f->asked = f->question;
	explorer_assert(weir_system_ask(f->system, f->refs[0],
					&f->question->ask, 1) == 0);
}

static void one_to_be_asked(void *context)
{
	struct family *f = context;

	one(context);
	f->question = explorer_alloc(sizeof(*f->question));
	f->question->family = f;
	f->question->ask.released = is_let_go;
	explorer_name(f->question, sizeof(*f->question), "question");
}

static void one_that_was_asked(void *context)
{
	one_to_be_asked(context);
	ask_it(context);
}

static void reply(void *context)
{
	struct family *f = context;
	int rc = weir_ask_reply(&f->question->ask, f);

	explorer_assert(rc == 0 || rc == -EALREADY);
	f->done_rc = rc;
}

static void ask_and_reply(void *context)
{
	ask_it(context);
	reply(context);
}

/* Its answer is there, whoever came first; then who has asked lets go. */
static void let_go(void *context)
{
	struct family *f = context;

	explorer_assert(weir_completion_done(&f->question->ask.answer));
	explorer_assert((f->done_rc == 0) ==
			(weir_completion_value(&f->question->ask.answer) == f));
	weir_ask_unref(&f->question->ask);
}

static void is_answered_once(void *context)
{
	struct family *f = context;

	scene_pass_time(context, 1); /* if it came too early */
	let_go(f);
	explorer_assert(f->let_go == 1);
	family_is_over(context);
}

static void unref(void *context)
{
	struct family *f = context;

	weir_ask_unref(&f->question->ask);
}

static void is_let_go_once(void *context)
{
	const struct family *f = context;

	explorer_assert(f->let_go == 1);
	family_is_over(context);
}

/* --- One that comes back ---------------------------------------------------- */

static uint32_t take_answer(struct weir_actor *actor, uint32_t n)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);
	struct weir_ask *ask = weir_in_take(&self->answers.in);

	explorer_assert(weir_completion_done(&ask->answer));
	self->family->came_back++;
	weir_ask_unref(ask);
	return 1;
}

static void asker_released(struct weir_actor *actor)
{
	struct asker *self = weir_container_of(actor, struct asker, actor);

	self->family->asker = NULL;
	explorer_free(self);
}

static const struct weir_actor_ops asker_ops = {.turns = take_answer,
						.released = asker_released};

/* Its question comes back; a thread may hold it. Not yet started. */
static struct asker *one_to_ask(struct family *f)
{
	struct asker *asker = explorer_alloc(sizeof(*asker));

	one_to_be_asked(f);
	explorer_name(asker, sizeof(*asker), "asker");
	asker->family = f;
	f->asker = asker;
	explorer_assert(weir_actor_init(&asker->actor, &asker_ops,
					&f->scene.executor) == 0);
	explorer_assert(weir_ask_in_init(&asker->answers, &asker->actor, 1) ==
			0);
	f->question->ask.reply_to = &asker->answers;
	weir_actor_ref(&asker->actor);
	return asker;
}

static void one_has_asked(void *context)
{
	struct asker *asker = one_to_ask(context);

	ask_it(context);
	explorer_assert(weir_actor_start(&asker->actor) == 0);
}

static void stop_asker(void *context)
{
	struct weir_actor *actor = &((struct family *)context)->asker->actor;

	weir_actor_stop(actor);
	weir_actor_unref(actor);
}

static void comes_back_once(void *context)
{
	struct family *f = context;

	scene_pass_time(context, 1); /* if it came too early */
	explorer_assert(f->came_back == 1 && f->let_go == 1);
	stop_asker(f);
	explorer_assert(!f->asker);
	family_is_over(context);
}

static void is_let_go_with_its_asker(void *context)
{
	struct family *f = context;

	scene_pass_time(context, 1);
	explorer_assert(f->came_back <= 1 && f->let_go == 1 && !f->asker);
	family_is_over(context);
}

static const struct explorer_scenario scenarios[] = {
	FAMILY(.name = "an answer and its deadline",
	       .setup = one_that_was_asked, .thread = {reply, pass_time},
	       .check = is_answered_once),
	FAMILY(.name = "a question, its answer and its deadline",
	       .setup = one_to_be_asked, .thread = {ask_and_reply, pass_time},
	       .check = is_answered_once),
	FAMILY(.name = "both let go of a question and it is too late",
	       .setup = one_that_was_asked, .thread = {reply, unref, pass_time},
	       .check = is_let_go_once),
	FAMILY(.name = "a question comes back, answered or too late",
	       .setup = one_has_asked, .thread = {reply, pass_time},
	       .check = comes_back_once),
	FAMILY(.name = "who has asked ends, the answer and the deadline",
	       .setup = one_has_asked, .thread = {reply, pass_time, stop_asker},
	       .check = is_let_go_with_its_asker),
	FAMILY(.name = "who has asked ends, and who is asked",
	       .setup = one_has_asked, .thread = {reply, stop_asker},
	       .check = is_let_go_with_its_asker),
};

const struct scene_group questions = SCENE_GROUP(scenarios);
