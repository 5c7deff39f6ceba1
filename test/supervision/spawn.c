/* SPDX-License-Identifier: BSD-2-Clause */
/* Spawning at its limits: in depth, in number, and in every hook. */
#include "supervision/kit.h"

#define DEPTH 4096

static uint32_t nothing(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static size_t n_released;

static void small_released(struct weir_actor *actor)
{
	n_released++;
}

static const struct weir_actor_ops small_ops = {
	.turns = nothing,
	.released = small_released,
};

/* An actor of no play: it costs no memory but its cell. */
static int small_spawn(struct play *play, struct weir_actor_id parent,
		       struct weir_actor *actor, struct weir_actor_id *self)
{
	assert_int_equal(
		weir_actor_init(actor, &small_ops, play->base.executor), 0);
	return weir_system_spawn(play->base.system, parent, actor, NULL, self);
}

static void a_line_of_4096_has_no_next(struct play *play)
{
	static struct weir_actor line[DEPTH];
	struct weir_actor_id self = WEIR_ACTOR_ID_NONE;
	size_t i, n = DEPTH - 2; /* below / and /user */

	if (play->seed > 2)
		return;
	play_open(play);
	for (i = 0; i < n; i++)
		assert_int_equal(small_spawn(play, self, &line[i], &self), 0);
	weir_sim_run(play->base.sim);
	assert_int_equal(small_spawn(play, self, &line[n], NULL), -E2BIG);
	weir_actor_stop(&line[n]);
	assert_true(weir__system_check(play->base.system));
	weir_system_stop(play->base.system);
	weir_sim_run(play->base.sim);
}

/* The slot is used again and again; a reference never means another. */
static void a_generation_comes_again_after_4_billion(struct play *play)
{
	static struct weir_actor actor;
	struct weir_actor_id first, second, zero;
	bool held;

	play_open(play);
	run(play);
	held = weir__enter(&play->base.system->lock);
	weir__cell_at(play->base.system, play->base.system->slots.free)
		->generation = UINT32_MAX;
	weir__leave(&play->base.system->lock, held);
	assert_int_equal(small_spawn(play, WEIR_ACTOR_ID_NONE, &actor, &first),
			 0);
	assert_int_equal(first.generation, UINT32_MAX);
	run(play);
	assert_int_equal(weir_system_stop_actor(play->base.system, first), 0);
	run(play);
	assert_int_equal(small_spawn(play, WEIR_ACTOR_ID_NONE, &actor, &second),
			 0);
	run(play);
	assert_int_equal(second.slot, first.slot);
	assert_int_equal(second.generation, 1);
	zero = (struct weir_actor_id){second.slot, 0};
	assert_false(weir_system_is_alive(play->base.system, first));
	assert_false(weir_system_is_alive(play->base.system, zero));
	assert_true(weir_system_is_alive(play->base.system, second));
}

/* With all that a record can hold. */
static void a_hundred_thousand_come_and_go_in_the_same_memory(struct play *play)
{
	static const struct weir_spawn_options named = {
		.name = "x",
		.shutdown_ns = HOUR,
	};
	static struct weir_actor actor;
	struct weir_actor_id self;
	size_t i, live = 0, n = 100000;

	if (play->seed > 1)
		return;
	play_open(play);
	run(play);
	n_released = 0;
	for (i = 0; i < n; i++) {
		assert_int_equal(weir_actor_init(&actor, &small_ops,
						 play->base.executor),
				 0);
		assert_int_equal(weir_system_spawn(play->base.system,
						   WEIR_ACTOR_ID_NONE, &actor,
						   &named, &self),
				 0);
		weir_sim_run(play->base.sim);
		assert_int_equal(weir_system_poison(play->base.system, self),
				 0);
		weir_sim_run(play->base.sim);
		if (i == 0)
			live = play->base.heap.live;
	}
	assert_int_equal(n_released, n);
	assert_int_equal(play->base.heap.live, live);
}

static struct weir_stats stats[2];

static void set_stats(struct member *self)
{
	assert_int_equal(weir_actor_set_stats(&self->actor, &stats[1]), 0);
}

static void the_turns_of_a_child_are_counted(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 3, .fail = RESTART},
		{"a", SIGNALLED, .call = set_stats},
	};
	struct member *a;

	memset(stats, 0, sizeof(stats));
	SCRIPT(play, steps);
	a = member_new(play, "a");
	play_open(play);
	assert_int_equal(weir_actor_set_stats(&a->actor, &stats[0]), 0);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(put(play, "a", 1, 5), 0);
	run(play);
	assert_int_equal(stats[0].turns, 5);
	assert_int_equal(stats[0].taken, 5);
	weir_actor_signal(&a->actor);
	run(play);
	assert_int_equal(put(play, "a", 6, 7), 0);
	run(play);
	assert_int_equal(stats[0].turns, 5);
	assert_int_equal(stats[1].turns, 2);
}

static void small_init(struct weir_actor *actor, struct weir_sim *sim)
{
	memset(stats, 0, sizeof(stats));
	assert_int_equal(
		weir_actor_init(actor, &small_ops, weir_sim_executor(sim)), 0);
	assert_int_equal(weir_actor_set_stats(actor, &stats[0]), 0);
}

/* That need not be of a name or a deadline. */
static void stats_make_a_record(struct play *play)
{
	static struct weir_actor actor;

	play_open(play);
	small_init(&actor, play->base.sim);
	assert_int_equal(weir_system_spawn(play->base.system,
					   WEIR_ACTOR_ID_NONE, &actor, NULL,
					   NULL),
			 0);
	run(play);
	assert_true(stats[0].slices > 0);
}

static void drained(struct weir_ending *drain)
{
}

static void who_cannot_start_keeps_its_stats(struct play *play)
{
	struct weir_sim *sim = sim_new(play->seed);
	struct weir_ending drain = {.done = drained};
	struct weir_actor actor;

	play_open(play);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(sim), &drain,
						 WEIR_FOREVER),
			 0);
	weir_sim_run(sim);
	small_init(&actor, sim);
	assert_int_equal(weir_system_spawn(play->base.system,
					   WEIR_ACTOR_ID_NONE, &actor, NULL,
					   NULL),
			 -ESHUTDOWN);
	assert_ptr_equal(weir__actor_stats(&actor), &stats[0]);
	weir_actor_stop(&actor);
	sim_free(sim);
}

static void a_parent_that_was_told_to_stop_gets_no_child(struct play *play)
{
	add(play, NULL, "a");
	run(play);
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, "a")), 0);
	assert_int_equal(spawn(play, ref(play, "a"), "b"), -ESHUTDOWN);
	run(play);
	assert_told(play, "b", "");
}

static void a_spawn_in_any_hook_is_allowed_or_refused(struct play *play)
{
	static const struct role roles[] = {
		{"a", USUAL | HOOK(STOPPING)},
	};
	static const struct step steps[] = {
		{"a", PRE_START, .spawn = "b"},
		{"a", TURN, .item = 1, .spawn = "c", .fail = RESTART},
		{"a", PRE_RESTART, .spawn = "d"},
		{"a", RESET, .spawn = "e"},
		{"a", POST_RESTART, .spawn = "f"},
		{"a", STOPPING, .spawn = "g"},
		{"a", POST_STOP, .spawn = "h"},
	};
	struct member *each;

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	give(play, "a", 1);
	assert_int_equal(weir_system_children(play->base.system, ref(play, "a"),
					      NULL, 0),
			 5);
	/* those of before have restarted, the new ones have not */
	for (each = play->members; each; each = each->next)
		assert_int_equal(each->generation,
				 strchr("abcd", *each->name) ? 2 : 1);
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, "a")), 0);
	run(play);
	assert_false(alive(play, "a"));
	assert_int_equal(times(play, "g1.post_stop"),
			 times(play, "g1.pre_start"));
	assert_int_equal(member(play, "a")->rc, -ESHUTDOWN);
	assert_int_equal(times(play, "h1.pre_start"), 0);
}

static void a_strategy_that_makes_no_sense_is_refused(struct play *play)
{
	static const struct weir_strategy odd = {
		.scope = (enum weir_scope)(WEIR_SCOPE_REST_FOR_ONE + 1),
	};
	static const struct role roles[] = {{"a", .strategy = &odd}};

	ROLES(play, roles);
	assert_int_equal(spawn(play, WEIR_ACTOR_ID_NONE, "a"), -EINVAL);
	run(play);
	assert_told(play, "a", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_line_of_4096_has_no_next),
		RULE(a_generation_comes_again_after_4_billion),
		RULE(a_hundred_thousand_come_and_go_in_the_same_memory),
		RULE(the_turns_of_a_child_are_counted),
		RULE(stats_make_a_record),
		RULE(who_cannot_start_keeps_its_stats),
		RULE(a_parent_that_was_told_to_stop_gets_no_child),
		RULE(a_spawn_in_any_hook_is_allowed_or_refused),
		RULE(a_strategy_that_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
