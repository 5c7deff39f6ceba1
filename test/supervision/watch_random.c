/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch at random: actors that watch each other and others, unwatch, end
 * each other in all ways, fail and restart, all drawn from the seed. Beside
 * them a table of who watches whom, after every call: a notice comes for one
 * who is watched, once, and nothing is left watched when all have ended.
 */
#include "supervision/kit.h"

#define WATCHERS 4
#define ACTORS 40 /* the first are the watchers */
#define ACTIONS 200

/* What the model knows of a watcher and whom it may watch. */
struct relation {
	void *token; /* NULL: not watched */
	uint32_t notices;
};

static struct relation relations[WATCHERS][ACTORS];
static struct weir_actor_id refs[ACTORS];
static size_t n_actors;
static char names[ACTORS][4];

static size_t draw(struct play *play, size_t bound)
{
	return (size_t)weir_sim_random(play->base.sim, bound);
}

static struct relation *relation_of(const struct member *watcher,
				    struct weir_actor_id who)
{
	size_t i;

	for (i = 0; !weir_actor_id_equal(refs[i], who); i++)
		assert_true(i < n_actors);
	return &relations[watcher->name[1] - '0'][i];
}

static int hear(struct weir_actor *actor, const struct weir_terminated *notice)
{
	struct member *self = member_of(actor);
	struct relation *relation = relation_of(self, notice->who);

	assert_non_null(relation->token);
	assert_ptr_equal(relation->token, notice->token);
	assert_false(
		weir_system_is_alive(self->play->base.system, notice->who));
	relation->token = NULL;
	relation->notices++;
	return draw(self->play, 20) ? 0 : RESTART;
}

static void watch_one(struct member *self, struct weir_actor_id who)
{
	struct relation *relation = relation_of(self, who);
	void *token = draw(self->play, 2) ? (void *)relation : (void *)self;
	int rc = weir_actor_watch(&self->actor, who, token);

	if (weir_actor_id_equal(who, self->ref)) {
		assert_int_equal(rc, 0);
		return;
	}
	if (relation->token) {
		assert_int_equal(rc, relation->token == token ? 0 : -EBUSY);
		return;
	}
	assert_int_equal(rc, 0);
	relation->token = token;
}

static void unwatch_one(struct member *self, struct weir_actor_id who)
{
	struct relation *relation = relation_of(self, who);
	int rc = weir_actor_unwatch(&self->actor, who);

	assert_int_equal(rc, relation->token ? 0 : -ENOENT);
	relation->token = NULL;
}

static void end_one(struct play *play, struct weir_actor_id who)
{
	switch (draw(play, 3)) {
	case 0:
		(void)weir_system_stop_actor(play->base.system, who);
		break;
	case 1:
		(void)weir_system_poison(play->base.system, who);
		break;
	default:
		(void)weir_system_kill(play->base.system, who);
	}
}

/* A watcher's turn. */
static void act(struct member *self)
{
	struct play *play = self->play;
	size_t n = 1 + draw(play, 4);

	for (; n; n--) {
		struct weir_actor_id who = refs[draw(play, n_actors)];

		switch (draw(play, 8)) {
		case 0:
			unwatch_one(self, who);
			break;
		case 1:
			who = refs[WATCHERS + draw(play, n_actors - WATCHERS)];
			end_one(play, who);
			break;
		case 2:
			if (draw(play, 4) == 0)
				member_fail(self,
					    draw(play, 2) ? RESTART : RESUME);
			break;
		default:
			watch_one(self, who);
		}
	}
}

/* The directive of a kill is drawn, too. */
static int decide(struct weir_actor *supervisor,
		  const struct weir_failure *failure, void *context)
{
	struct play *play = &the_play;

	if (failure->error->code == RESTART)
		return WEIR_DIRECTIVE_RESTART;
	if (failure->error->code == RESUME)
		return WEIR_DIRECTIVE_RESUME;
	return draw(play, 2) ? WEIR_DIRECTIVE_STOP : WEIR_DIRECTIVE_RESTART;
}

static const struct weir_strategy at_random = {.decide = decide};

/* One more, as a child of /user or of one that is there. */
static void one_more(struct play *play)
{
	char *name = names[n_actors];
	struct weir_actor_id parent = WEIR_ACTOR_ID_NONE;
	struct member *self;

	snprintf(name, sizeof(names[0]), "%c%u",
		 n_actors < WATCHERS ? 'w' : 't', (unsigned)n_actors % 100);
	if (n_actors >= WATCHERS && draw(play, 2))
		parent = refs[draw(play, n_actors)];
	if (!weir_system_is_alive(play->base.system, parent))
		parent = WEIR_ACTOR_ID_NONE;
	self = member_new(play, name);
	self->life.strategy = &at_random;
	if (n_actors < WATCHERS)
		self->life.terminated = hear;
	if (member_spawn(self, parent) == 0)
		refs[n_actors++] = self->ref;
}

static void a_watch_brings_one_notice_at_most_and_at_the_end_one(
	struct play *play)
{
	static const struct step steps[] = {
		{"w0", TURN, .call = act},
		{"w1", TURN, .call = act},
		{"w2", TURN, .call = act},
		{"w3", TURN, .call = act},
	};
	size_t i, j, item, notices = 0;

	memset(relations, 0, sizeof(relations));
	n_actors = 0;
	play->top = &at_random;
	SCRIPT(play, steps);
	play_open(play);
	while (n_actors < WATCHERS + 2)
		one_more(play);
	for (item = 1; item <= ACTIONS; item++) {
		if (n_actors < ACTORS && draw(play, 4) == 0)
			one_more(play);
		(void)put(play, steps[draw(play, WATCHERS)].who, item, item);
		weir_sim_run_until(play->base.sim, 0, draw(play, 8));
		log_clear(play);
	}
	run(play);
	for (i = WATCHERS; i < n_actors; i++)
		(void)weir_system_stop_actor(play->base.system, refs[i]);
	run(play);
	for (i = 0; i < WATCHERS; i++) {
		assert_true(weir_system_is_alive(play->base.system, refs[i]));
		for (j = WATCHERS; j < n_actors; j++)
			assert_null(relations[i][j].token);
		for (j = 0; j < n_actors; j++)
			notices += relations[i][j].notices;
	}
	assert_true(notices > 0);
	log_clear(play);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_watch_brings_one_notice_at_most_and_at_the_end_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
