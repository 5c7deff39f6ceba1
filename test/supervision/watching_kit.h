/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of death watch share: who watches x, and what it is told. */
#ifndef WEIR_TEST_SUPERVISION_WATCHING_KIT_H
#define WEIR_TEST_SUPERVISION_WATCHING_KIT_H

#include "supervision/kit.h"

#define HEARS (USUAL | HOOK(TERMINATED))

static const struct role hearers[] = {
	{"a", .hooks = HEARS},
	{"b", .hooks = HEARS},
	{"c", .hooks = HEARS},
};

/* What the last notice said. */
static struct weir_terminated heard;
static struct weir_error *heard_error;

static inline int keep_notice(struct weir_actor *actor,
			      const struct weir_terminated *notice)
{
	struct member *self = member_of(actor);

	heard = *notice;
	weir_error_unref(heard_error);
	heard_error = weir_error_ref(notice->error);
	return member_hook(&self->actor, TERMINATED);
}

static inline void forget_notice(void)
{
	weir_error_unref(heard_error);
	heard_error = NULL;
	heard = (struct weir_terminated){.token = NULL};
}

static inline struct member *add_keeper(struct play *play, const char *name)
{
	struct member *self = add(play, NULL, name);

	forget_notice();
	self->life.terminated = keep_notice;
	return self;
}

/* Of a member's turn, by number of its item. */
enum { WATCH_X = 1, UNWATCH_X = 2 };
#define WATCHES_X(name) \
	{ \
		name, TURN, .item = WATCH_X, .watch = "x" \
	}

/* Makes items from an actor of the kit's, which ends behind them. */
static inline void source_of(struct play *play, struct source *source,
			     struct member *to, size_t first, size_t last)
{
	source_init(source, play->base.executor, &play->base.ledger, first,
		    last);
	assert_int_equal(weir_out_link(&source->out, &to->in), 0);
}

static inline void spawn_source(struct play *play, struct source *source,
				struct weir_actor_id *ref)
{
	play_open(play);
	assert_int_equal(weir_system_spawn(play->base.system,
					   WEIR_ACTOR_ID_NONE, &source->actor,
					   NULL, ref),
			 0);
}

#endif
