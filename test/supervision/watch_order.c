/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a notice of death stands: behind what was sent (C7), and what streams
 * make of it (C15). Rule numbers like C7 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/watching_kit.h"

#include <weir/delay.h>
#include <weir/permits.h>

#include "actor/in.h"

/* --- C7: behind what was sent --------------------------------------------- */

static struct weir_actor_id sources[3];
static size_t n_sources;

static void watch_sources(struct member *self)
{
	size_t i;

	for (i = 0; i < n_sources; i++)
		assert_int_equal(
			weir_actor_watch(&self->actor, sources[i], NULL), 0);
}

static const struct step watches_sources[] = {
	{"a", PRE_START, .call = watch_sources},
};

/* Of who goes on when its in-port has ended. */
static int stays(struct weir_actor *actor, struct weir_in *in,
		 struct weir_error *error)
{
	note(member_of(actor)->play, member_of(actor)->name, "ended");
	return 0;
}

static void c7_a_notice_comes_behind_what_was_sent_over_a_link(
	struct play *play)
{
	struct source source;
	struct member *a;

	ROLES(play, hearers);
	SCRIPT(play, watches_sources);
	a = member_new(play, "a");
	a->ops.ended = stays;
	source_of(play, &source, a, 1, 60);
	n_sources = 1;
	spawn_source(play, &source, sources);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
	assert_int_equal(times(play, "a1.60"), 1);
	assert_int_equal(times(play, "a1.terminated"), 1);
	assert_true(before(play, "a1.60", "a1.terminated"));
}

static void c7_it_comes_behind_the_right_lane_of_a_merge(struct play *play)
{
	struct source source[3];
	struct member *a;
	size_t i;

	ROLES(play, hearers);
	SCRIPT(play, watches_sources);
	a = member_new(play, "a");
	a->ops.ended = stays;
	assert_int_equal(weir_in_merge(&a->in, WEIR_MERGE_ALL), 0);
	n_sources = 3;
	for (i = 0; i < 3; i++) {
		source_of(play, &source[i], a, 1 + 30 * i, 30 + 30 * i);
		spawn_source(play, &source[i], &sources[i]);
	}
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
	assert_int_equal(times(play, "a1.terminated"), 3);
	assert_int_equal(a->seen, 90);
	assert_int_equal(times(play, "ended"), 1);
	stop(play, "a");
	run(play);
}

/* Takes from both of two in-ports in a turn. */
struct both {
	struct member *member;
	struct weir_in other;
};

static struct both both;

static int both_turn(struct weir_actor *actor)
{
	ledger_deliver(&both.member->play->base.ledger,
		       weir_in_take(&both.other));
	return member_turn(actor);
}
WEIR_TURN(both_turn)

static struct member *both_new(struct play *play, const char *name)
{
	struct member *self = member_new(play, name);

	both.member = self;
	self->ops.ended = stays;
	self->actor.turns = both_turn_n;
	self->ops.turns = both_turn_n;
	assert_int_equal(weir_in_init(&both.other, &self->actor, 16,
				      &play->base.ledger.items),
			 0);
	return self;
}

static void c7_a_notice_waits_for_tokens_of_the_dead_that_are_held_up(
	struct play *play)
{
	struct source source;
	struct member *a;
	size_t i;

	ROLES(play, hearers);
	SCRIPT(play, watches_sources);
	a = both_new(play, "a");
	source_of(play, &source, a, 1, 3);
	n_sources = 1;
	spawn_source(play, &source, sources);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
	assert_false(weir_system_is_alive(play->base.system, sources[0]));
	assert_told(play, "a", "a1.pre_start");
	for (i = 4; i <= 6; i++) {
		assert_int_equal(times(play, "a1.terminated"), 0);
		assert_int_equal(
			weir_in_put(&both.other,
				    ledger_make(&play->base.ledger, i)),
			0);
		run(play);
	}
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 ended a1.terminated");
}

static void ignore_in(struct member *self)
{
	assert_int_equal(weir_port_ignore(&self->in.port), 0);
}

static void require_in(struct member *self)
{
	assert_int_equal(weir_port_require(&self->in.port), 0);
}

/* It takes from the other in-port alone. */
static int other_turn(struct weir_actor *actor)
{
	struct member *self = member_of(actor);
	size_t item = ledger_deliver(&self->play->base.ledger,
				     weir_in_take(&both.other));

	note(self->play, "a", "other%zu", item);
	return member_play(self, TURN, item);
}
WEIR_TURN(other_turn)

/* Its own, to be told so; what it ignores is there still. */
static void c7_a_notice_does_not_wait_for_a_link_that_takes_no_part(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .call = watch_sources},
		{"a", TURN, .item = 4, .call = ignore_in},
		{"a", TERMINATED, .call = require_in},
	};
	struct source source;
	struct member *a;

	ROLES(play, hearers);
	SCRIPT(play, steps);
	a = both_new(play, "a");
	a->actor.turns = other_turn_n;
	a->ops.turns = other_turn_n;
	source_of(play, &source, a, 1, 3);
	n_sources = 1;
	spawn_source(play, &source, sources);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
	assert_false(weir_system_is_alive(play->base.system, sources[0]));
	assert_told(play, "a", "a1.pre_start");
	assert_int_equal(weir_in_put(&both.other,
				     ledger_make(&play->base.ledger, 4)),
			 0);
	run(play);
	assert_told(play, "a", "a1.pre_start other4 a1.terminated");
	assert_int_equal(weir__in_queued(&a->in), 3);
	stop(play, "a");
	run(play);
}

/* The slot of one that has gone is another's, who is dead, too. */
static void c7_a_notice_does_not_wait_for_a_later_one_of_the_same_slot(
	struct play *play)
{
	struct source first, second;
	struct weir_actor_id later;
	struct member *a;

	ROLES(play, hearers);
	SCRIPT(play, watches_sources);
	a = both_new(play, "a");
	source_init(&first, play->base.executor, &play->base.ledger, 1, 0);
	spawn_source(play, &first, sources);
	assert_int_equal(weir_system_stop_actor(play->base.system, sources[0]),
			 0);
	run(play);
	assert_int_equal(first.fate.released, 1);
	source_of(play, &second, a, 1, 3);
	spawn_source(play, &second, &later);
	assert_int_equal(later.slot, sources[0].slot);
	n_sources = 1;
	run(play);
	assert_false(weir_system_is_alive(play->base.system, later));
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.terminated");
	stop(play, "a");
	run(play);
}

static void put_to_a(struct member *self)
{
	assert_int_equal(put(self->play, "a", 10, 13), 0);
}

static void c7_a_notice_comes_behind_what_was_put(struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("a"),
		{"x", TURN, .call = put_to_a, .finish = true},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	give(play, "a", WATCH_X);
	assert_int_equal(put(play, "a", 2, 5), 0);
	give(play, "x", 20);
	assert_true(before(play, "a1.13", "a1.terminated"));
}

static void c7_a_notice_does_not_wait_for_what_cannot_be_taken(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .watch = "x"},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	assert_int_equal(member_spawn(both_new(play, "a"), WEIR_ACTOR_ID_NONE),
			 0);
	feed(play, "a", 1, 2);
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.terminated");
}

/* Takes no items but permits, and so has always something to do. */
#define PERMITS 200

static struct weir_permits permits;
static int64_t permits_left;

static int permit_turn(struct weir_actor *actor)
{
	return weir_permits_use(&permits, 1);
}
WEIR_TURN(permit_turn)

static int keep_permits(struct weir_actor *actor,
			const struct weir_terminated *notice)
{
	permits_left = weir_permits_count(&permits);
	return 0;
}

static void c7_a_notice_does_not_wait_for_a_port_that_takes_no_part(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .call = ignore_in},
		{"a", PRE_START, .watch = "x"},
	};
	struct member *a;

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	a = member_new(play, "a");
	a->ops.turns = permit_turn_n;
	a->actor.turns = permit_turn_n;
	a->life.terminated = keep_permits;
	assert_int_equal(weir_permits_init(&permits, &a->actor, 0), 0);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	feed(play, "a", 1, 3);
	stop(play, "x");
	while (alive(play, "x"))
		weir_sim_step(play->base.sim);
	assert_int_equal(weir_permits_release(&permits, PERMITS), 0);
	permits_left = 0;
	run(play);
	assert_int_equal(weir_permits_count(&permits), 0);
	assert_int_equal(permits_left, PERMITS);
}

static const struct weir_backoff one_second = {
	.min_ns = SECOND,
	.max_ns = SECOND,
};
static const struct weir_strategy slow = {BY_CODE, .backoff = &one_second};

static void c7_a_suspended_watcher_hears_of_it_when_it_goes_on(
	struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("a"),
		{"a", TURN, .item = 3, .fail = RESTART},
	};

	play->top = &slow;
	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", WATCH_X, WATCH_X), 0);
	run_until(play, MS);
	assert_int_equal(put(play, "a", 3, 4), 0);
	run_until(play, 2 * MS);
	stop(play, "x");
	run_until(play, SECOND);
	assert_false(alive(play, "x"));
	assert_told(play, "a", "a1.pre_start a1.1 a1.3");
	run(play);
	/* C11: this watch survives */
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.3 a1.pre_restart a2.reset "
		    "a2.post_restart a2.4 a2.terminated");
}

/* Suspended by somebody: it hears of it when it goes on. */
static void suspended_watcher(struct play *play, size_t n)
{
	static const struct step steps[] = {
		{"a", PRE_START, .watch = "x"},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	run(play);
	weir_actor_suspend(&member(play, "a")->actor);
	assert_int_equal(put(play, "a", 1, n), 0);
	stop(play, "x");
	run(play);
	assert_false(alive(play, "x"));
	assert_told(play, "a", "a1.pre_start");
	weir_actor_resume(&member(play, "a")->actor);
	run(play);
}

static void c7_a_notice_waits_while_its_turns_are_suspended(struct play *play)
{
	suspended_watcher(play, 2);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.terminated");
}

static void c7_a_notice_alone_waits_as_well(struct play *play)
{
	suspended_watcher(play, 0);
	assert_told(play, "a", "a1.pre_start a1.terminated");
}

/* Takes one item, then nothing for a second. */
static struct weir_delay pace;

static int paced_turn(struct weir_actor *actor)
{
	int rc = member_turn(actor);

	return rc < 0 ? rc : weir_delay_for(&pace, SECOND);
}
WEIR_TURN(paced_turn)

static void set_pace(struct member *self)
{
	(void)self;
	assert_int_equal(weir_delay_for(&pace, SECOND), 0);
}

static void c7_a_notice_waits_for_a_pace(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .call = set_pace},
		{"a", PRE_START, .watch = "x"},
		{"x", TURN, .call = put_to_a, .finish = true},
	};
	struct member *a;

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	a = member_new(play, "a");
	a->ops.turns = paced_turn_n;
	a->actor.turns = paced_turn_n;
	assert_int_equal(weir_delay_init(&pace, &a->actor), 0);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	give(play, "x", 20);
	assert_told(play, "a",
		    "a1.pre_start a1.10 a1.11 a1.12 a1.13 a1.terminated");
}

/* Has an out-port, which another one takes from. */
static struct weir_out narrow;

struct beyond {
	struct weir_actor actor;
	struct weir_in in;
};

static struct beyond beyond;

static int beyond_turn(struct weir_actor *actor)
{
	(void)actor;
	(void)weir_in_take(&beyond.in);
	return 0;
}
WEIR_TURN(beyond_turn)

static const struct weir_actor_ops beyond_ops = {.turns = beyond_turn_n};

static void beyond_init(struct weir_executor *executor)
{
	assert_int_equal(weir_actor_init(&beyond.actor, &beyond_ops, executor),
			 0);
	assert_int_equal(weir_in_init(&beyond.in, &beyond.actor, 1, NULL), 0);
	assert_int_equal(weir_out_link(&narrow, &beyond.in), 0);
}

static int narrow_turn(struct weir_actor *actor)
{
	int rc = member_turn(actor);

	return rc < 0 ? rc : weir_out_put(&narrow, NULL);
}
WEIR_TURN(narrow_turn)

static void c7_a_notice_waits_for_room(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .watch = "x"},
		{"x", TURN, .call = put_to_a, .finish = true},
	};
	struct member *a;

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	a = member_new(play, "a");
	a->ops.turns = narrow_turn_n;
	a->actor.turns = narrow_turn_n;
	assert_int_equal(weir_out_init(&narrow, &a->actor, NULL), 0);
	beyond_init(play->base.executor);
	weir_actor_suspend(&beyond.actor);
	assert_int_equal(weir_actor_start(&beyond.actor), 0);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	give(play, "x", 20);
	assert_false(alive(play, "x"));
	assert_told(play, "a", "a1.pre_start a1.10");
	weir_actor_resume(&beyond.actor);
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.10 a1.11 a1.12 a1.13 a1.terminated");
}

static int give_permit(struct weir_actor *actor,
		       const struct weir_terminated *notice)
{
	(void)notice;
	note(member_of(actor)->play, member_of(actor)->name, "terminated");
	return weir_permits_release(&permits, 2);
}

static int permitted_turn(struct weir_actor *actor)
{
	int rc = member_turn(actor);

	return rc < 0 ? rc : weir_permits_use(&permits, 1);
}
WEIR_TURN(permitted_turn)

/* The dead one had the permits: nobody else would ever give them back. */
static void c7_a_notice_does_not_wait_for_permits(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .watch = "x"},
	};
	struct member *a;

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	a = member_new(play, "a");
	a->ops.turns = permitted_turn_n;
	a->actor.turns = permitted_turn_n;
	a->life.terminated = give_permit;
	assert_int_equal(weir_permits_init(&permits, &a->actor, 0), 0);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	feed(play, "a", 1, 2);
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start terminated a1.1 a1.2");
}

/* --- C15: streams --------------------------------------------------------- */

/* The kit's stage and sink, which watch x and have no hook for its end. */
static struct play *stream_world;

static int stream_watches(struct weir_actor *actor)
{
	return weir_actor_watch(actor, ref(stream_world, "x"), NULL);
}

static const struct weir_lifecycle watches_x = {.pre_start = stream_watches};

/* Without the kit's hook, which knows messages to members only. */
static void open_plain(struct play *play)
{
	const struct weir_system_options options = {
		.allocator = &play->base.heap.allocator,
		.event = weir_supervision_event_ignore,
	};

	assert_int_equal(weir_system_new(&play->base.system,
					 play->base.executor, &options),
			 0);
}

static void spawn_stream(struct play *play, struct weir_actor *actor)
{
	stream_world = play;
	assert_int_equal(weir_system_spawn(play->base.system,
					   WEIR_ACTOR_ID_NONE, actor, NULL,
					   NULL),
			 0);
}

static void c15_a_stage_that_watches_fails_its_stream(struct play *play)
{
	struct weir_executor *executor = play->base.executor;
	struct weir_actor_ops ops = stage_ops;
	struct source source;
	struct stage stage;
	struct sink sink;

	open_plain(play);
	ops.lifecycle = &watches_x;
	source_init(&source, executor, &play->base.ledger, 1, ITEMS);
	stage_init(&stage, executor, &play->base.ledger, 4);
	stage.actor.ops = &ops;
	sink_init(&sink, executor, &play->base.ledger, 4);
	assert_int_equal(weir_out_link(&source.out, &stage.in), 0);
	assert_int_equal(weir_out_link(&stage.out, &sink.in), 0);
	add(play, NULL, "x");
	spawn_stream(play, &stage.actor);
	spawn_stream(play, &source.actor);
	weir_actor_suspend(&sink.actor);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	run(play);
	assert_int_equal(sink.ended, 0);
	stop(play, "x");
	run(play);
	weir_actor_resume(&sink.actor);
	run(play);
	assert_int_equal(sink.ended, 1);
	assert_int_equal(sink.end_code, -EOWNERDEAD);
	fate_check(&stage.fate, -EOWNERDEAD);
	fate_check(&source.fate, 0);
}

static void c15_a_sink_that_watches_cancels_upstream(struct play *play)
{
	struct weir_executor *executor = play->base.executor;
	struct weir_actor_ops ops = sink_ops;
	struct source source;
	struct sink sink;

	open_plain(play);
	ops.lifecycle = &watches_x;
	source_init(&source, executor, &play->base.ledger, 1, ITEMS);
	sink_init(&sink, executor, &play->base.ledger, 4);
	sink.actor.ops = &ops;
	assert_int_equal(weir_out_link(&source.out, &sink.in), 0);
	add(play, NULL, "x");
	weir_actor_suspend(&sink.actor);
	spawn_stream(play, &sink.actor);
	spawn_stream(play, &source.actor);
	run(play);
	assert_int_equal(source.fate.stopped, 0);
	stop(play, "x");
	run(play);
	assert_int_equal(sink.fate.stopped, 0);
	weir_actor_resume(&sink.actor);
	run(play);
	fate_check(&sink.fate, -EOWNERDEAD);
	fate_check(&source.fate, 0);
	assert_true(source.next < source.last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(c7_a_notice_comes_behind_what_was_sent_over_a_link),
		RULE(c7_it_comes_behind_the_right_lane_of_a_merge),
		RULE(c7_a_notice_waits_for_tokens_of_the_dead_that_are_held_up),
		RULE(c7_a_notice_does_not_wait_for_a_link_that_takes_no_part),
		RULE(c7_a_notice_does_not_wait_for_a_later_one_of_the_same_slot),
		RULE(c7_a_notice_comes_behind_what_was_put),
		RULE(c7_a_notice_does_not_wait_for_what_cannot_be_taken),
		RULE(c7_a_notice_does_not_wait_for_a_port_that_takes_no_part),
		RULE(c7_a_suspended_watcher_hears_of_it_when_it_goes_on),
		RULE(c7_a_notice_waits_while_its_turns_are_suspended),
		RULE(c7_a_notice_alone_waits_as_well),
		RULE(c7_a_notice_waits_for_a_pace),
		RULE(c7_a_notice_waits_for_room),
		RULE(c7_a_notice_does_not_wait_for_permits),
		RULE(c15_a_stage_that_watches_fails_its_stream),
		RULE(c15_a_sink_that_watches_cancels_upstream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
