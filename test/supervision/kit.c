/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervision/kit.h"

const struct weir_strategy one_by_one = {BY_CODE, .ordered = true};

const struct weir_strategy all_by_turns = {
	BY_CODE,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
	.ordered = true,
};

const struct weir_strategy rest_by_turns = {
	BY_CODE,
	.scope = WEIR_SCOPE_REST_FOR_ONE,
	.ordered = true,
};

/* --- Its system ----------------------------------------------------------- */

static void on_event(const struct weir_supervision_event *event, void *context)
{
	static const char *const directives[] = {"resume", "restart", "stop",
						 "escalate"};

	note(context, "system", "%s(%s)",
	     event->what == WEIR_SUPERVISION_EVENT_HOOK ? "hook"
	     : event->what == WEIR_SUPERVISION_EVENT_LIMIT
		     ? "limit"
		     : directives[event->directive],
	     event->name);
}

void on_dead_letter(struct weir_system *system, struct weir_actor_id to,
		    void *item, void *context)
{
	struct play *play = context;
	struct member *self = play->members;

	assert_ptr_equal(system, play->base.system);
	while (self && !weir_actor_id_equal(self->ref, to))
		self = self->next;
	assert_non_null(self);
	note(play, self->name, "%s%u.dead%zu", self->name, self->generation,
	     (size_t)(uintptr_t)item);
}

void play_open(struct play *play)
{
	struct weir_system_options options = {
		.allocator = &play->base.heap.allocator,
		.strategy = play->top ? play->top : &by_code,
		.seed = play->seed,
		.dead_letter = on_dead_letter,
		.event = on_event,
		.context = play,
	};

	if (!play->base.system)
		assert_int_equal(weir_system_new(&play->base.system,
						 play->base.executor, &options),
				 0);
}

int spawn(struct play *play, struct weir_actor_id parent, const char *name)
{
	play_open(play);
	return member_spawn(member_new(play, name), parent);
}

struct member *add(struct play *play, const char *parent, const char *name)
{
	struct weir_actor_id to = parent ? ref(play, parent)
					 : WEIR_ACTOR_ID_NONE;

	assert_int_equal(spawn(play, to, name), 0);
	return member(play, name);
}

bool alive(const struct play *play, const char *name)
{
	return weir_system_is_alive(play->base.system, ref(play, name));
}

int put(struct play *play, const char *name, size_t first, size_t last)
{
	struct member *self = member(play, name);
	struct weir_actor *actor =
		weir_system_actor(play->base.system, self->ref);
	int rc = 0;

	for (; actor && first <= last && rc == 0; first++) {
		rc = weir_in_put(&self->in,
				 ledger_make(&play->base.ledger, first));
		if (rc != 0)
			ledger_drop((void *)first, &play->base.ledger);
	}
	weir_actor_unref(actor);
	return actor ? rc : -ESRCH;
}

bool play_step(struct play *play)
{
	bool more = weir_sim_step(play->base.sim);

	more |= play->far && weir_sim_step(play->far);
	if (more)
		assert_true(weir__system_check(play->base.system));
	return more;
}

void run(struct play *play)
{
	while (play_step(play))
		;
}

void run_until(struct play *play, uint64_t time_ns)
{
	while (weir_sim_run_until(play->base.sim, time_ns, 1))
		assert_true(weir__system_check(play->base.system));
}

void feed(struct play *play, const char *name, size_t first, size_t last)
{
	assert_int_equal(put(play, name, first, last), 0);
	run(play);
}

void give(struct play *play, const char *name, size_t item)
{
	feed(play, name, item, item);
}

void stop(struct play *play, const char *name)
{
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, name)), 0);
}

void add_three(struct play *play, const char *parent)
{
	add(play, parent, "a");
	add(play, parent, "b");
	add(play, parent, "c");
	run(play);
}

uint32_t suspends(const struct play *play, const char *name)
{
	bool held = weir__enter(&play->base.system->lock);
	uint32_t n = weir__cell_of(&member(play, name)->actor)->suspends;

	weir__leave(&play->base.system->lock, held);
	return n;
}

void play_begin(struct play *play, uint64_t seed)
{
	memset(play, 0, sizeof(*play));
	play->seed = seed;
	world_init(&play->base, seed, ITEMS);
}

void play_end(struct play *play)
{
	struct member *self;

	if (play->base.system) {
		weir_system_stop(play->base.system);
		run(play);
	}
	while ((self = play->members)) {
		assert_int_equal(self->fate.stopped, 1);
		assert_int_equal(self->fate.released, 1);
		play->members = self->next;
		free(self);
	}
	if (play->far)
		sim_free(play->far);
	world_fini(&play->base);
}

void assert_order(struct play *play, const char *const *texts, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		assert_true(before(play, texts[i - 1], texts[i]));
}

/* --- Rules ---------------------------------------------------------------- */

struct play the_play;

void over_seeds(void **state)
{
	const struct rule *rule = *state;

	for_each_seed(seed, test_count(test_soak() ? 20000 : 1000)) {
		play_begin(&the_play, seed);
		rule->run(&the_play);
		play_end(&the_play);
	}
	the_play.seed = 0;
}

int tell_trace(void **state)
{
	if (the_play.seed)
		print_message("told: %s\n", told(&the_play, NULL));
	the_play.seed = 0;
	return 0;
}
