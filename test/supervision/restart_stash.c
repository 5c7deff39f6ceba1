/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a restart, a stop and pending messages make of items that an actor has
 * put aside (B4.2, B5.1, C7). The rules' numbers are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

static void stash_it(struct member *self, void *item)
{
	assert_int_equal(weir_in_stash(&self->in, item), 0);
}

/* A turn of one that peeks: it has taken nothing yet. */
static void put_aside(struct member *self)
{
	stash_it(self, weir_in_take(&self->in));
}

static void put_failed_aside(struct member *self)
{
	void *item;

	if (weir_in_take_failed(&self->in, &item) == 0)
		stash_it(self, item);
}

static void put_back(struct member *self)
{
	assert_int_equal(weir_in_unstash_all(&self->in), 0);
}

/*
 * Puts item i aside in its generation 1 if `aside` has bit i, else takes it,
 * and fails with `fails` with its code instead.
 */
static struct {
	uint32_t aside;
	size_t fails, opens;
	int code;
} plan;

static inline int planned(struct weir_actor *actor)
{
	struct member *self = member_of(actor);
	size_t item = (uintptr_t)weir_in_peek(&self->in);

	note(self->play, self->name, "a%u.%zu", self->generation, item);
	if (item == plan.fails && self->generation == 1) {
		plan.fails = 0;
		return plan.code;
	}
	if (self->generation == 1 && plan.aside & 1u << item) {
		plan.aside &= ~(1u << item);
		put_aside(self);
		return 0;
	}
	if (item == plan.opens)
		put_back(self);
	ledger_deliver(&self->play->base.ledger, weir_in_take(&self->in));
	return 0;
}

WEIR_TURN(planned)

static struct member *add_keeper(struct play *play)
{
	struct member *a;

	play_open(play);
	a = member_new(play, "a");
	a->ops.turns = planned_n;
	a->actor.turns = planned_n;
	assert_int_equal(weir_in_stash_init(&a->in), 0);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	return a;
}

static void b4_2_a_restart_puts_back_what_is_aside(struct play *play)
{
	plan.aside = 1u << 1 | 1u << 2;
	plan.fails = 3;
	plan.code = RESTART;
	add_keeper(play);
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 "
		    "a1.pre_restart a2.reset a2.post_restart a2.1 a2.2 a2.4");
	assert_int_equal(play->base.ledger.dropped[3 - 1], 1);
}

static void b4_2_what_a_hook_puts_aside_is_put_back_with_it(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_RESTART, .call = put_failed_aside},
	};

	plan.aside = 1u << 1 | 1u << 2;
	plan.fails = 3;
	plan.code = RESTART;
	SCRIPT(play, steps);
	add_keeper(play);
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.pre_restart "
		    "a2.reset a2.post_restart a2.1 a2.2 a2.3 a2.4");
}

static void retry(struct member *self)
{
	assert_int_equal(weir_in_retry_failed(&self->in), 0);
}

static void b4_2_a_token_to_be_tried_again_comes_behind_those_put_aside(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_RESTART, .call = retry},
	};

	plan.aside = 1u << 1 | 1u << 2;
	plan.fails = 3;
	plan.code = RESTART;
	SCRIPT(play, steps);
	add_keeper(play);
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.pre_restart "
		    "a2.reset a2.post_restart a2.1 a2.2 a2.3 a2.4");
}

/* Of the items put back the first is put aside anew, and the second fails. */
static void b4_2_one_that_was_put_back_may_fail(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_RESTART, .call = retry},
		{"a", SIGNALLED, .call = put_back},
	};
	struct member *a;

	plan.aside = 1u << 1 | 1u << 2 | 1u << 3;
	plan.fails = 0;
	plan.code = RESTART;
	SCRIPT(play, steps);
	a = add_keeper(play);
	feed(play, "a", 1, 3);
	plan.aside = 1u << 1;
	plan.fails = 2;
	weir_actor_signal(&a->actor);
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.signalled a1.1 a1.2 "
		    "a1.pre_restart a2.reset a2.post_restart a2.1 a2.2 a2.3");
}

/* Nothing is left of the stash then, and the others are looked at. */
static void b4_2_the_last_that_was_put_back_may_fail(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .call = put_back},
	};
	struct member *a;

	plan.aside = 1u << 1;
	plan.fails = 0;
	plan.code = RESUME;
	SCRIPT(play, steps);
	a = add_keeper(play);
	feed(play, "a", 1, 1);
	plan.fails = 1;
	weir_actor_suspend(&a->actor);
	assert_int_equal(put(play, "a", 2, 3), 0);
	weir_actor_signal(&a->actor);
	run(play);
	weir_actor_resume(&a->actor);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.signalled a1.1 a1.2 a1.3");
	assert_int_equal(play->base.ledger.dropped[1 - 1], 1);
}

static void b4_2_a_resume_leaves_what_is_aside(struct play *play)
{
	plan.aside = 1u << 1 | 1u << 2;
	plan.fails = 3;
	plan.opens = 4;
	plan.code = RESUME;
	add_keeper(play);
	feed(play, "a", 1, 5);
	plan.opens = 0;
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.4 a1.1 a1.2 a1.5");
}

static void b5_1_what_is_aside_at_the_end_is_dead_letters(struct play *play)
{
	plan.aside = 1u << 1 | 1u << 2;
	plan.fails = 0;
	add_keeper(play);
	feed(play, "a", 1, 3);
	stop(play, "a");
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.post_stop a1.dead1 "
		    "a1.dead2");
}

/* Poison stands behind 5 when 3 puts back what is aside. */
static void b5_1_poison_comes_behind_what_was_put_back_and_all_before(
	struct play *play)
{
	struct member *a;

	plan.aside = 1u << 1 | 1u << 2;
	plan.fails = 0;
	plan.opens = 3;
	a = add_keeper(play);
	run(play);
	weir_actor_suspend(&a->actor);
	assert_int_equal(put(play, "a", 1, 5), 0);
	assert_int_equal(weir_system_poison(play->base.system, a->ref), 0);
	run(play);
	assert_int_equal(put(play, "a", 6, 6), 0);
	weir_actor_resume(&a->actor);
	run(play);
	plan.opens = 0;
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.1 a1.2 a1.4 a1.5 "
		    "a1.post_stop a1.dead6");
}

static void watch_b(struct member *self)
{
	assert_int_equal(
		weir_actor_watch(&self->actor, ref(self->play, "b"), NULL), 0);
}

static void c7_a_notice_comes_behind_what_was_put_back_and_all_before(
	struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(TERMINATED)}};
	static const struct step steps[] = {
		{"a", PRE_START, .call = watch_b},
	};
	struct member *a;

	plan.aside = 1u << 1 | 1u << 2;
	plan.fails = 0;
	plan.opens = 3;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "b");
	a = add_keeper(play);
	run(play);
	weir_actor_suspend(&a->actor);
	assert_int_equal(put(play, "a", 1, 4), 0);
	stop(play, "b");
	run(play);
	weir_actor_resume(&a->actor);
	run(play);
	plan.opens = 0;
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.1 a1.2 a1.4 "
		    "a1.terminated");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b4_2_a_restart_puts_back_what_is_aside),
		RULE(b4_2_what_a_hook_puts_aside_is_put_back_with_it),
		RULE(b4_2_a_token_to_be_tried_again_comes_behind_those_put_aside),
		RULE(b4_2_one_that_was_put_back_may_fail),
		RULE(b4_2_the_last_that_was_put_back_may_fail),
		RULE(b4_2_a_resume_leaves_what_is_aside),
		RULE(b5_1_what_is_aside_at_the_end_is_dead_letters),
		RULE(b5_1_poison_comes_behind_what_was_put_back_and_all_before),
		RULE(c7_a_notice_comes_behind_what_was_put_back_and_all_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
