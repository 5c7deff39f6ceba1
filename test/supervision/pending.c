/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Poison and kill, which come behind the tokens that are queued (B5.1). Rule
 * numbers like B5.1 are those of docs/conformance/supervision.md.
 */
#include "actor/firing.h"
#include "supervision/kit.h"

#include <weir/any.h>
#include <weir/permits.h>

#include "actor/in.h"

static int poison(struct play *play, const char *name)
{
	return weir_system_poison(play->base.system, ref(play, name));
}

static int kill(struct play *play, const char *name)
{
	return weir_system_kill(play->base.system, ref(play, name));
}

/* --- Poison --------------------------------------------------------------- */

static void b5_1_poison_comes_behind_what_is_queued(struct play *play)
{
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 3), 0);
	assert_int_equal(poison(play, "a"), 0);
	feed(play, "a", 4, 6);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.post_stop a1.dead4 "
		    "a1.dead5 a1.dead6");
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 3);
}

static void b5_1_poison_of_one_that_runs_counts_what_it_has_not_taken(
	struct play *play)
{
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 8), 0);
	/* some slices, of some turns each */
	weir_sim_run_until(play->base.sim, 0,
			   weir_sim_random(play->base.sim, 6));
	assert_int_equal(put(play, "a", 9, 12), 0);
	assert_int_equal(poison(play, "a"), 0);
	feed(play, "a", 13, 14);
	assert_int_equal(member(play, "a")->seen, 12);
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 2);
}

static void poison_self(struct member *self)
{
	assert_int_equal(weir_system_poison(self->play->base.system, self->ref),
			 0);
	assert_int_equal(put(self->play, self->name, 10, 12), 0);
}

static void b5_1_an_actor_can_poison_itself(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .call = poison_self},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.4 a1.post_stop a1.dead10 "
		    "a1.dead11 a1.dead12");
}

static void b5_1_poison_ends_one_that_has_nothing_to_do(struct play *play)
{
	add(play, NULL, "a");
	add(play, "a", "b");
	run(play);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_false(alive(play, "a"));
	assert_true(before(play, "b1.post_stop", "a1.post_stop"));
	assert_int_equal(poison(play, "a"), -ESRCH);
	assert_int_equal(kill(play, "a"), -ESRCH);
}

static void b5_1_poison_before_the_first_slice_waits_for_the_start(
	struct play *play)
{
	add(play, NULL, "a");
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
}

static void b5_1_who_was_poisoned_does_not_restart(struct play *play)
{
	static const struct role roles[] = {
		{"a", .restart = WEIR_RESTART_PERMANENT}};

	ROLES(play, roles);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop");
}

static void b5_1_poison_is_given_once(struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(STOPPING)},
	};
	static const struct step steps[] = {
		{"a", STOPPING, .rc = 1},
		{"a", TURN, .item = 2, .finish = true},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 1), 0);
	assert_int_equal(poison(play, "a"), 0);
	assert_int_equal(poison(play, "a"), -EALREADY);
	assert_int_equal(kill(play, "a"), -EALREADY);
	run(play);
	/* it finishes by itself */
	assert_told(play, "a", "a1.pre_start a1.1 a1.stopping");
	assert_int_equal(poison(play, "a"), -EALREADY);
	give(play, "a", 2);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.stopping a1.2 a1.post_stop");
}

static void b5_1_poison_survives_a_restart(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .fail = RESTART},
		{"a", TURN, .item = 3, .fail = RESUME},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 4), 0);
	assert_int_equal(poison(play, "a"), 0);
	give(play, "a", 5);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.pre_restart a2.reset "
		    "a2.post_restart a2.3 a2.4 a2.post_stop a2.dead5");
}

/* --- Kill ----------------------------------------------------------------- */

static const struct weir_rule on_kill[] = {
	{.kind = WEIR_FAILURE_KILLED, .directive = WEIR_DIRECTIVE_RESTART},
	{.code = RESUME, .directive = WEIR_DIRECTIVE_RESUME},
};
static const struct weir_strategy kill_restarts = {
	.rules = on_kill,
	.n_rules = LENGTH(on_kill),
};
static const struct weir_strategy by_default = {.decide = NULL};

static void b5_1_kill_is_a_failure_behind_what_is_queued(struct play *play)
{
	play->top = &kill_restarts;
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	assert_int_equal(kill(play, "a"), 0);
	assert_int_equal(kill(play, "a"), 0);
	feed(play, "a", 3, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.pre_restart a2.reset "
		    "a2.post_restart a2.3 a2.4");
	assert_told(play, "system", "restart(a)");
	/* and again */
	assert_int_equal(kill(play, "a"), 0);
	run(play);
	assert_int_equal(times(play, "a3.post_restart"), 1);
}

static void b5_1_who_is_killed_stops_by_default(struct play *play)
{
	play->top = &by_default;
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 1), 0);
	assert_int_equal(kill(play, "a"), 0);
	give(play, "a", 2);
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop a1.dead2");
	assert_int_equal(member(play, "a")->fate.code, -EINTR);
}

static void b5_1_poison_after_a_kill_comes_after_it(struct play *play)
{
	play->top = &kill_restarts;
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	assert_int_equal(kill(play, "a"), 0);
	assert_int_equal(put(play, "a", 3, 3), 0);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.pre_restart a2.reset "
		    "a2.post_restart a2.3 a2.post_stop");
}

static void watch_and_end(struct member *self)
{
	struct play *play = self->play;

	assert_int_equal(weir_actor_watch(&self->actor, ref(play, "x"), NULL),
			 0);
	assert_int_equal(
		play->top == &kill_restarts
			? weir_system_kill(play->base.system, self->ref)
			: weir_system_poison(play->base.system, self->ref),
		0);
}

/* Watches one that is dead, and ends itself, by its first item. */
static void notice_and_letter(struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(TERMINATED)},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = watch_and_end},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, "x")), 0);
	add(play, NULL, "a");
	run(play);
	feed(play, "a", 1, 3);
}

static void b5_1_poison_comes_behind_a_notice(struct play *play)
{
	notice_and_letter(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.terminated a1.post_stop");
}

static void b5_1_kill_comes_behind_a_notice(struct play *play)
{
	play->top = &kill_restarts;
	notice_and_letter(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.terminated a1.pre_restart "
		    "a2.reset a2.post_restart");
}

/* --- Which tokens can be taken -------------------------------------------- */

/* An actor of several in-ports, of which a turn takes what there is. */
struct taker {
	struct member *member;
	struct weir_in other, third;
	struct weir_any any;
	struct weir_permits permits;
};

static struct taker taker;

static void take(struct weir_in *in)
{
	struct play *play = taker.member->play;
	size_t item;

	if (!weir_in_count(in))
		return;
	item = ledger_deliver(&play->base.ledger, weir_in_take(in));
	note(play, "a", "%zu", item);
}

static int take_both(struct weir_actor *actor)
{
	take(&taker.member->in);
	take(&taker.other);
	return 0;
}
WEIR_TURN(take_both)

static int put_other(size_t item)
{
	return weir_in_put(&taker.other,
			   ledger_make(&taker.member->play->base.ledger, item));
}

/* A member whose turn is another; it does not log its hooks. */
static struct member *taker_new(struct play *play)
{
	struct member *self = member_new(play, "a");

	play_open(play);
	taker.member = self;
	self->ops.turns = take_both_n;
	self->actor.turns = take_both_n;
	self->life = (struct weir_lifecycle){.strategy = &by_code};
	assert_int_equal(weir_in_init(&taker.other, &self->actor, 16,
				      &play->base.ledger.items),
			 0);
	return self;
}

static void taker_start(struct play *play)
{
	assert_int_equal(member_spawn(taker.member, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(put(play, "a", 1, 3), 0);
}

static void b5_1_poison_does_not_wait_for_what_cannot_be_taken(
	struct play *play)
{
	taker_new(play);
	taker_start(play);
	assert_int_equal(put_other(11), 0);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a", "1 11 a1.dead2 a1.dead3");
}

static void b5_1_poison_of_one_that_takes_from_two_in_ports(struct play *play)
{
	size_t i;

	taker_new(play);
	taker_start(play);
	for (i = 11; i <= 13; i++)
		assert_int_equal(put_other(i), 0);
	assert_int_equal(poison(play, "a"), 0);
	assert_int_equal(put(play, "a", 4, 4), 0);
	assert_int_equal(put_other(14), 0);
	run(play);
	assert_told(play, "a", "1 11 2 12 3 13 a1.dead4 a1.dead14");
}

static void b5_1_poison_of_one_that_takes_from_any_of_two(struct play *play)
{
	struct member *self = taker_new(play);

	assert_int_equal(weir_any_init(&taker.any, &self->actor), 0);
	assert_int_equal(weir_any_add(&taker.any, &self->in.port), 0);
	assert_int_equal(weir_any_add(&taker.any, &taker.other.port), 0);
	taker_start(play);
	assert_int_equal(put_other(11), 0);
	assert_int_equal(poison(play, "a"), 0);
	assert_int_equal(put_other(12), 0);
	run(play);
	/* the four that came before; the sum counts, so one that came after
	 * may have had the place of one before */
	assert_int_equal(ledger_delivered(&play->base.ledger), 4);
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 1);
	assert_false(alive(play, "a"));
}

static void b5_1_poison_does_not_wait_for_any_of_two_that_are_empty(
	struct play *play)
{
	struct member *self = taker_new(play);

	assert_int_equal(weir_in_init(&taker.third, &self->actor, 16,
				      &play->base.ledger.items),
			 0);
	assert_int_equal(weir_any_init(&taker.any, &self->actor), 0);
	assert_int_equal(weir_any_add(&taker.any, &taker.other.port), 0);
	assert_int_equal(weir_any_add(&taker.any, &taker.third.port), 0);
	taker_start(play);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a", "a1.dead1 a1.dead2 a1.dead3");
}

static void b5_1_poison_does_not_wait_for_any_of_two_that_takes_no_part(
	struct play *play)
{
	struct member *self = taker_new(play);

	assert_int_equal(weir_any_init(&taker.any, &self->actor), 0);
	assert_int_equal(weir_any_add(&taker.any, &taker.other.port), 0);
	assert_int_equal(weir_port_ignore(&taker.any.port), 0);
	assert_int_equal(weir_port_ignore(&self->in.port), 0);
	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(put_other(11), 0);
	assert_int_equal(put_other(12), 0);
	run(play);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a", "a1.dead11 a1.dead12");
	assert_false(alive(play, "a"));
}

static void ignore_in(struct member *self)
{
	assert_int_equal(weir_port_ignore(&self->in.port), 0);
}

static void b5_1_poison_does_not_wait_for_ports_that_take_no_part(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .call = ignore_in},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 2);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.post_stop a1.dead1 a1.dead2");
}

/* A put takes a slot, fills it, and marks that: here another comes between. */
static uint32_t put_begins(struct weir_in *in)
{
	return weir__tail_index(
		ck_pr_faa_32(weir__lane_tail_at(&in->lane), WEIR__TAIL_ONE));
}

static void put_ends(struct weir_in *in, uint32_t index, void *item)
{
	weir__lane_slots(&in->lane)[index & in->taker.mask].item = item;
	in->lane.u.seqs[index & in->taker.mask] = index + 1;
	weir__port_unblock(&in->port);
}

static void b5_1_poison_waits_for_a_put_that_hides_those_behind_it(
	struct play *play)
{
	struct member *self = add(play, NULL, "a");
	uint32_t index;

	run(play);
	index = put_begins(&self->in);
	assert_int_equal(put(play, "a", 2, 3), 0);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start");
	put_ends(&self->in, index, ledger_make(&play->base.ledger, 1));
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.3 a1.post_stop");
}

static void b5_1_poison_waits_for_permits(struct play *play)
{
	struct member *self = member_new(play, "a");

	assert_int_equal(weir_permits_init(&taker.permits, &self->actor, 0), 0);
	play_open(play);
	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(put(play, "a", 1, 2), 0);
	assert_int_equal(poison(play, "a"), 0);
	give(play, "a", 3);
	assert_told(play, "a", "a1.pre_start");
	assert_int_equal(weir_permits_release(&taker.permits, 9), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop a1.dead3");
}

static void b5_1_poison_waits_while_its_turns_are_suspended(struct play *play)
{
	add(play, NULL, "a");
	run(play);
	weir_actor_suspend(&member(play, "a")->actor);
	assert_int_equal(put(play, "a", 1, 2), 0);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start");
	weir_actor_resume(&member(play, "a")->actor);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop");
}

static void b5_1_poison_behind_what_merges(struct play *play)
{
	struct member *self = member_new(play, "a");
	struct source source;

	assert_int_equal(weir_in_merge(&self->in, WEIR_MERGE_OPEN), 0);
	source_init(&source, play->base.executor, &play->base.ledger, 21, 24);
	assert_int_equal(weir_out_link(&source.out, &self->in), 0);
	play_open(play);
	weir_actor_suspend(&self->actor);
	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	run(play);
	assert_int_equal(put(play, "a", 1, 3), 0);
	assert_int_equal(poison(play, "a"), 0);
	run(play);
	assert_int_equal(put(play, "a", 4, 5), 0);
	weir_actor_resume(&self->actor);
	run(play);
	assert_int_equal(self->seen, 7);
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 2);
	fate_check(&source.fate, 0);
}

static void b5_1_poison_behind_what_came_over_a_link(struct play *play)
{
	struct member *self = member_new(play, "a");
	struct source source;

	/* more than the in-port holds: the rest comes after */
	source_init(&source, play->base.executor, &play->base.ledger, 1, 100);
	assert_int_equal(weir_out_link(&source.out, &self->in), 0);
	play_open(play);
	weir_actor_suspend(&self->actor);
	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	run(play);
	assert_int_equal(poison(play, "a"), 0);
	weir_actor_resume(&self->actor);
	run(play);
	assert_int_equal(self->seen, 16);
	assert_false(alive(play, "a"));
	fate_check(&source.fate, 0);
	assert_int_equal(ledger_delivered(&play->base.ledger), 16);
}

/* --- Errors --------------------------------------------------------------- */

static void guardians_are_neither_poisoned_nor_killed(struct play *play)
{
	struct weir_system *system;
	struct weir_actor_id guardians[3];
	size_t i;

	add(play, NULL, "a");
	system = play->base.system;
	guardians[0] = weir_system_root(system);
	guardians[1] = weir_system_user_guardian(system);
	guardians[2] = weir_system_system_guardian(system);
	for (i = 0; i < 3; i++) {
		assert_int_equal(weir_system_poison(system, guardians[i]),
				 -EPERM);
		assert_int_equal(weir_system_kill(system, guardians[i]),
				 -EPERM);
	}
	assert_int_equal(weir_system_poison(NULL, guardians[0]), -EINVAL);
	assert_int_equal(weir_system_kill(NULL, guardians[0]), -EINVAL);
	assert_int_equal(weir_system_poison(system, WEIR_ACTOR_ID_NONE),
			 -ESRCH);
	run(play);
	assert_told(play, "a", "a1.pre_start");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b5_1_poison_comes_behind_what_is_queued),
		RULE(b5_1_poison_of_one_that_runs_counts_what_it_has_not_taken),
		RULE(b5_1_an_actor_can_poison_itself),
		RULE(b5_1_poison_ends_one_that_has_nothing_to_do),
		RULE(b5_1_poison_before_the_first_slice_waits_for_the_start),
		RULE(b5_1_who_was_poisoned_does_not_restart),
		RULE(b5_1_poison_is_given_once),
		RULE(b5_1_poison_survives_a_restart),
		RULE(b5_1_kill_is_a_failure_behind_what_is_queued),
		RULE(b5_1_who_is_killed_stops_by_default),
		RULE(b5_1_poison_after_a_kill_comes_after_it),
		RULE(b5_1_poison_comes_behind_a_notice),
		RULE(b5_1_kill_comes_behind_a_notice),
		RULE(b5_1_poison_does_not_wait_for_what_cannot_be_taken),
		RULE(b5_1_poison_of_one_that_takes_from_two_in_ports),
		RULE(b5_1_poison_of_one_that_takes_from_any_of_two),
		RULE(b5_1_poison_does_not_wait_for_any_of_two_that_are_empty),
		RULE(b5_1_poison_does_not_wait_for_any_of_two_that_takes_no_part),
		RULE(b5_1_poison_does_not_wait_for_ports_that_take_no_part),
		RULE(b5_1_poison_waits_for_a_put_that_hides_those_behind_it),
		RULE(b5_1_poison_waits_for_permits),
		RULE(b5_1_poison_waits_while_its_turns_are_suspended),
		RULE(b5_1_poison_behind_what_merges),
		RULE(b5_1_poison_behind_what_came_over_a_link),
		RULE(guardians_are_neither_poisoned_nor_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
