/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The drain of an executor some of whose actors have children on another one: a
 * parent ends after its children, so those drain with it (B10.3). Rule numbers
 * like B10.3 are those of docs/conformance/supervision.md.
 */
#include "supervision/ending.h"

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static void boss_stopped(struct weir_actor *actor, struct weir_error *error)
{
	assert_null(error);
}

static const struct weir_actor_ops boss_ops = {
	.name = "boss",
	.turns = no_turns,
	.stopped = boss_stopped,
};

/* A supervisor without ports; its reference. */
static struct weir_actor_id boss_on(struct play *play, struct weir_actor *boss,
				    struct weir_sim *sim,
				    struct weir_actor_id parent)
{
	struct weir_actor_id ref;

	play_open(play);
	assert_int_equal(
		weir_actor_init(boss, &boss_ops, weir_sim_executor(sim)), 0);
	assert_int_equal(weir_system_spawn(play->base.system, parent, boss,
					   NULL, &ref),
			 0);
	return ref;
}

/* One that is stopped below *parent, whose place it takes. */
static void middle_on(struct play *play, struct weir_actor *middle,
		      struct weir_sim *sim, struct weir_actor_id *parent)
{
	static const struct weir_actor_ops ops = {
		.name = "middle",
		.turns = no_turns,
	};

	assert_int_equal(weir_actor_init(middle, &ops, weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_system_spawn(play->base.system, *parent, middle,
					   NULL, parent),
			 0);
}

static void spawn_below(struct play *play, struct weir_actor_id parent,
			struct weir_actor *actor)
{
	assert_int_equal(weir_system_spawn(play->base.system, parent, actor,
					   NULL, NULL),
			 0);
}

/* It gets 8 items, from `first` on. */
static void put_eight(struct play *play, struct sink *sink, size_t first)
{
	size_t i;

	for (i = first; i < first + 8; i++)
		assert_int_equal(
			weir_in_put(&sink->in,
				    ledger_make(&play->base.ledger, i)),
			0);
}

static void sink_with(struct play *play, struct sink *sink,
		      struct weir_sim *sim, size_t first)
{
	sink_init(sink, weir_sim_executor(sim), &play->base.ledger, 8);
	put_eight(play, sink, first);
}

static void run_both(struct play *play, struct weir_sim *far)
{
	while (weir_sim_run(far) + weir_sim_run(play->base.sim))
		assert_true(weir__system_check(play->base.system));
}

/* Some steps of both, then the drain, then all that comes of it. */
static void drain_one(struct play *play, struct weir_sim *far,
		      struct weir_ending *drain)
{
	size_t i;

	for (i = weir_sim_random(play->base.sim, 60); i > 0; i--)
		(void)weir_sim_step(i % 2 ? far : play->base.sim);
	drain_begin(play, drain, false);
	run_both(play, far);
	assert_told(play, "hook", "drained");
	assert_true(terminated(play));
}

static void b10_3_a_drain_reaches_children_elsewhere(struct play *play)
{
	struct weir_sim *far = sim_new(play->seed);
	struct weir_ending drain;
	struct weir_actor boss;
	struct weir_actor_id parent;
	struct sink sink;

	parent = boss_on(play, &boss, play->base.sim, WEIR_ACTOR_ID_NONE);
	sink_with(play, &sink, far, 1);
	spawn_below(play, parent, &sink.actor);
	drain_one(play, far, &drain);
	assert_int_equal(ledger_delivered(&play->base.ledger), 8);
	fate_check(&sink.fate, 0);
	sim_free(far);
}

/* Its stream ends, and with it the actor; theirs may take longer. */
static void b10_3_who_ends_in_a_drain_lets_its_children_end(struct play *play)
{
	struct weir_sim *far = sim_new(play->seed);
	struct weir_ending drain;
	struct weir_actor_id parent;
	struct sink boss, sink;

	play_open(play);
	sink_with(play, &boss, play->base.sim, 1);
	sink_with(play, &sink, far, 9);
	assert_int_equal(weir_system_spawn(play->base.system,
					   WEIR_ACTOR_ID_NONE, &boss.actor,
					   NULL, &parent),
			 0);
	spawn_below(play, parent, &sink.actor);
	drain_one(play, far, &drain);
	assert_int_equal(ledger_delivered(&play->base.ledger), 16);
	fate_check(&boss.fate, 0);
	fate_check(&sink.fate, 0);
	sim_free(far);
}

static void suspend(struct play *play, struct weir_actor *actor, bool yes)
{
	bool held = weir__enter(&play->base.system->lock);

	if (yes)
		weir__branch_suspend(play->base.system, weir__cell_of(actor));
	else
		weir__branch_resume(play->base.system, weir__cell_of(actor));
	weir__leave(&play->base.system->lock, held);
}

/* They would not end by themselves any more, nor it. */
static void b10_3_who_is_suspended_meanwhile_stops_its_children(
	struct play *play)
{
	struct weir_sim *far = sim_new(play->seed);
	struct weir_ending drain;
	struct weir_actor_id parent;
	struct weir_actor top;
	struct sink boss, sink;

	parent = boss_on(play, &top, far, WEIR_ACTOR_ID_NONE);
	sink_init(&boss, play->base.executor, &play->base.ledger, 8);
	sink_init(&sink, weir_sim_executor(far), &play->base.ledger, 8);
	assert_int_equal(weir_system_spawn(play->base.system, parent,
					   &boss.actor, NULL, &parent),
			 0);
	spawn_below(play, parent, &sink.actor);
	run_both(play, far);
	put_eight(play, &boss, 1);
	drain_begin(play, &drain, false);
	weir_sim_run(play->base.sim);
	assert_int_equal(ledger_delivered(&play->base.ledger), 8);
	assert_int_equal(boss.fate.stopped, 0);
	suspend(play, &top, true);
	run_both(play, far);
	fate_check(&boss.fate, 0);
	fate_check(&sink.fate, -ECANCELED);
	suspend(play, &top, false);
	run_both(play, far);
	assert_true(terminated(play));
	sim_free(far);
}

/* Who is told to stop waits for a child that drains, and so cannot be helped
 * itself: it is the child that stops its own. All are on other executors. */
static void b10_3_who_is_suspended_below_one_that_stops_stops_its_children(
	struct play *play)
{
	struct weir_sim *far = sim_new(play->seed), *third = sim_new(1);
	struct weir_ending drain;
	struct weir_actor_id parent;
	struct weir_actor top, middle;
	struct sink boss, sink;

	parent = boss_on(play, &top, far, WEIR_ACTOR_ID_NONE);
	middle_on(play, &middle, far, &parent);
	sink_init(&boss, play->base.executor, &play->base.ledger, 8);
	sink_init(&sink, weir_sim_executor(third), &play->base.ledger, 8);
	assert_int_equal(weir_system_spawn(play->base.system, parent,
					   &boss.actor, NULL, &parent),
			 0);
	spawn_below(play, parent, &sink.actor);
	run_both(play, far);
	(void)weir_sim_run(third);
	drain_begin(play, &drain, false);
	(void)weir_sim_run(play->base.sim);
	weir_actor_stop(&middle);
	(void)weir_sim_run(far);
	assert_int_equal(boss.fate.stopped, 0);
	suspend(play, &top, true);
	run_both(play, far);
	(void)weir_sim_run(third);
	fate_check(&sink.fate, -ECANCELED);
	run_both(play, far);
	fate_check(&boss.fate, 0);
	assert_true(terminated(play));
	sim_free(third);
	sim_free(far);
}

static void b10_3_what_is_on_its_way_to_children_elsewhere_arrives(
	struct play *play)
{
	struct weir_sim *far = sim_new(play->seed);
	struct weir_ending drain;
	struct weir_actor boss;
	struct weir_actor_id parent;
	struct source source;
	struct stage stage;
	struct sink sink;

	parent = boss_on(play, &boss, play->base.sim, WEIR_ACTOR_ID_NONE);
	source_init(&source, play->base.executor, &play->base.ledger, 1, 40);
	stage_init(&stage, weir_sim_executor(far), &play->base.ledger, 4);
	sink_init(&sink, weir_sim_executor(far), &play->base.ledger, 4);
	assert_int_equal(weir_out_link(&source.out, &stage.in), 0);
	assert_int_equal(weir_out_link(&stage.out, &sink.in), 0);
	spawn_below(play, parent, &sink.actor);
	spawn_below(play, parent, &stage.actor);
	spawn_below(play, parent, &source.actor);
	drain_one(play, far, &drain);
	assert_int_equal(ledger_dropped(&play->base.ledger), 0);
	assert_int_equal(sink.seen, source.next - 1);
	fate_check(&source.fate, 0);
	fate_check(&stage.fate, 0);
	fate_check(&sink.fate, 0);
	sim_free(far);
}

/* On the other executor, and back. */
static void b10_3_a_drain_reaches_those_below_children_elsewhere(
	struct play *play)
{
	struct weir_sim *far = sim_new(play->seed);
	struct weir_actor boss, other, third, fourth;
	struct weir_ending drain;
	struct weir_actor_id parent;
	struct source source;

	parent = boss_on(play, &boss, play->base.sim, WEIR_ACTOR_ID_NONE);
	parent = boss_on(play, &other, far, parent);
	(void)boss_on(play, &third, play->base.sim, parent);
	parent = boss_on(play, &fourth, far, parent);
	source_init(&source, weir_sim_executor(far), &play->base.ledger, 1, 40);
	spawn_below(play, parent, &source.actor);
	drain_one(play, far, &drain);
	assert_int_equal(source.fate.released, 1);
	sim_free(far);
}

static void b10_3_who_drains_can_have_no_more_children(struct play *play)
{
	struct weir_sim *far = sim_new(play->seed);
	struct weir_ending drain;
	struct weir_actor boss;
	struct weir_actor_id parent;
	struct sink sink, late;

	parent = boss_on(play, &boss, play->base.sim, WEIR_ACTOR_ID_NONE);
	sink_init(&sink, weir_sim_executor(far), &play->base.ledger, 4);
	sink_init(&late, weir_sim_executor(far), &play->base.ledger, 4);
	spawn_below(play, parent, &sink.actor);
	run_both(play, far);
	drain_begin(play, &drain, false);
	weir_sim_run(play->base.sim);
	assert_int_equal(weir_system_spawn(play->base.system, parent,
					   &late.actor, NULL, NULL),
			 -ESHUTDOWN);
	weir_actor_stop(&late.actor);
	run_both(play, far);
	assert_true(terminated(play));
	fate_check(&sink.fate, 0);
	fate_check(&late.fate, -ECANCELED);
	sim_free(far);
}

/* Logging, say: it is there until the end, and does not drain. */
static void b10_3_children_of_system_elsewhere_are_stopped_last(
	struct play *play)
{
	struct weir_sim *far = sim_new(play->seed);
	struct told_hook hook;
	struct weir_ending drain;
	struct sink log;

	add(play, NULL, "a");
	before_end(play, &hook, "end", false);
	sink_init(&log, weir_sim_executor(far), &play->base.ledger, 4);
	spawn_below(play, weir_system_system_guardian(play->base.system),
		    &log.actor);
	assert_int_equal(put(play, "a", 1, 5), 0);
	drain_begin(play, &drain, false);
	run_both(play, far);
	assert_int_equal(ledger_delivered(&play->base.ledger), 5);
	assert_told(play, "hook", "end");
	assert_int_equal(log.fate.stopped, 0);
	weir_system_hook_done(&hook.hook);
	run_both(play, far);
	assert_true(terminated(play));
	fate_check(&log.fate, -ECANCELED);
	sim_free(far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b10_3_a_drain_reaches_children_elsewhere),
		RULE(b10_3_who_ends_in_a_drain_lets_its_children_end),
		RULE(b10_3_who_is_suspended_meanwhile_stops_its_children),
		RULE(b10_3_what_is_on_its_way_to_children_elsewhere_arrives),
		RULE(b10_3_a_drain_reaches_those_below_children_elsewhere),
		RULE(b10_3_who_is_suspended_below_one_that_stops_stops_its_children),
		RULE(b10_3_who_drains_can_have_no_more_children),
		RULE(b10_3_children_of_system_elsewhere_are_stopped_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
