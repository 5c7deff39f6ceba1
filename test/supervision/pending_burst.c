/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pending messages among the tokens of actors whose turns take several at once:
 * poison and kill never let a turn take what came after them (B5.1); a notice
 * comes behind all that came before it (C7). Rule numbers like B5.1 are those
 * of docs/conformance/supervision.md.
 */
#include "supervision/watching_kit.h"

#define BURST 4

/* Takes a burst, or at the end of a stream what is left. */
static int take_burst(struct weir_actor *actor)
{
	struct member *self = member_of(actor);
	size_t i, item, n = weir_in_count(&self->in);

	for (i = 0; i < n && i < BURST; i++) {
		item = ledger_deliver(&self->play->base.ledger,
				      weir_in_take(&self->in));
		note(self->play, self->name, "%zu", item);
	}
	return 0;
}
WEIR_TURN(take_burst)

/* A member of that burst; it logs nothing but what it takes. */
static struct member *burst_new(struct play *play)
{
	struct member *self = member_new(play, "a");

	self->ops.turns = take_burst_n;
	self->actor.turns = take_burst_n;
	self->life = (struct weir_lifecycle){.strategy = &by_code};
	assert_int_equal(weir_port_set_burst(&self->in.port, BURST), 0);
	play_open(play);
	return self;
}

/* With so many items before the message, and so many behind it. */
static void with_letter(struct play *play, size_t n_before, size_t n_after,
			int (*send)(struct weir_system *system,
				    struct weir_actor_id ref))
{
	struct member *self = burst_new(play);

	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(put(play, "a", 1, n_before), 0);
	assert_int_equal(send(play->base.system, self->ref), 0);
	feed(play, "a", n_before + 1, n_before + n_after);
	assert_false(alive(play, "a"));
}

static void b5_1_poison_cuts_no_turn_in_two(struct play *play)
{
	with_letter(play, 6, 3, weir_system_poison);
	assert_told(play, "a",
		    "1 2 3 4 a1.dead5 a1.dead6 a1.dead7 a1.dead8 a1.dead9");
}

static void b5_1_poison_behind_whole_bursts_is_behind_all(struct play *play)
{
	with_letter(play, 8, 4, weir_system_poison);
	assert_told(play, "a",
		    "1 2 3 4 5 6 7 8 a1.dead9 a1.dead10 a1.dead11 a1.dead12");
}

static void b5_1_poison_behind_less_than_a_burst_is_at_once(struct play *play)
{
	with_letter(play, 3, 2, weir_system_poison);
	assert_told(play, "a", "a1.dead1 a1.dead2 a1.dead3 a1.dead4 a1.dead5");
}

static void b5_1_kill_cuts_no_turn_in_two(struct play *play)
{
	static const struct weir_strategy by_default = {.decide = NULL};

	play->top = &by_default;
	with_letter(play, 6, 2, weir_system_kill);
	assert_told(play, "a", "1 2 3 4 a1.dead5 a1.dead6 a1.dead7 a1.dead8");
	assert_int_equal(member(play, "a")->fate.code, -EINTR);
}

static void b5_1_poison_waits_for_the_rest_of_a_stream(struct play *play)
{
	struct member *self = burst_new(play);

	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(put(play, "a", 1, 6), 0);
	assert_int_equal(weir_system_poison(play->base.system, self->ref), 0);
	assert_int_equal(weir_in_end(&self->in, NULL), 0);
	run(play);
	assert_told(play, "a", "1 2 3 4 5 6");
	assert_false(alive(play, "a"));
}

/* Fewer than a burst in the lane of one, more in that of the other. */
static void b5_1_poison_behind_bursts_that_merge(struct play *play)
{
	struct member *self = burst_new(play);
	struct source source;
	size_t i;

	assert_int_equal(weir_in_merge(&self->in, WEIR_MERGE_OPEN), 0);
	source_of(play, &source, self, 21, 22);
	weir_actor_suspend(&self->actor);
	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	run(play);
	assert_int_equal(put(play, "a", 1, 8), 0);
	assert_int_equal(weir_system_poison(play->base.system, self->ref), 0);
	run(play);
	assert_int_equal(put(play, "a", 9, 16), 0);
	weir_actor_resume(&self->actor);
	run(play);
	for (i = 1; i <= 16; i++)
		assert_int_equal(play->base.ledger.delivered[i - 1], i <= 8);
	assert_int_equal(ledger_delivered(&play->base.ledger), 10);
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 8);
	assert_false(alive(play, "a"));
	fate_check(&source.fate, 0);
}

static int hear(struct weir_actor *actor, const struct weir_terminated *notice)
{
	note(member_of(actor)->play, "a", "terminated");
	return 0;
}

/* Who is dead already; and more comes then. */
static int watch_x(struct weir_actor *actor)
{
	struct play *play = member_of(actor)->play;
	int rc = weir_actor_watch(actor, ref(play, "x"), NULL);

	assert_int_equal(put(play, "a", 7, 12), 0);
	return rc;
}

static void c7_a_notice_is_behind_the_burst_that_it_came_in(struct play *play)
{
	struct member *self;

	add(play, NULL, "x");
	stop(play, "x");
	run(play);
	self = burst_new(play);
	self->life.pre_start = watch_x;
	self->life.terminated = hear;
	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	feed(play, "a", 1, 6);
	assert_told(play, "a", "1 2 3 4 5 6 7 8 terminated 9 10 11 12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b5_1_poison_cuts_no_turn_in_two),
		RULE(b5_1_poison_behind_whole_bursts_is_behind_all),
		RULE(b5_1_poison_behind_less_than_a_burst_is_at_once),
		RULE(b5_1_kill_cuts_no_turn_in_two),
		RULE(b5_1_poison_waits_for_the_rest_of_a_stream),
		RULE(b5_1_poison_behind_bursts_that_merge),
		RULE(c7_a_notice_is_behind_the_burst_that_it_came_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
