/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What failures, suspension and restarts mean for the ports of an actor: here
 * one with two in-ports that merge or not, that end and are cancelled.
 */
#include "supervision/kit.h"

#include "actor/port.h"

/* The second in-port of member "a". */
static struct weir_in other;

static int two_ended(struct weir_actor *actor, struct weir_in *in,
		     struct weir_error *error)
{
	struct member *self = member_of(actor);
	size_t which = in == &other ? 2 : 1;

	assert_int_equal(suspends(self->play, self->name), 0);
	assert_false(actor->flags & WEIR__ACTOR_LEAVING);
	note(self->play, self->name, "%s%u.end%zu", self->name,
	     self->generation, which);
	return member_play(self, ENDED, which);
}

static void cancel_other(struct member *self)
{
	assert_int_equal(weir_in_cancel(&other), 0);
}

/* Not spawned yet. */
static struct member *two_new(struct play *play)
{
	struct member *a = member_new(play, "a");

	a->ops.ended = two_ended;
	assert_int_equal(weir_in_init(&other, &a->actor, 4, NULL), 0);
	play_open(play);
	return a;
}

static void end_both(struct member *a)
{
	assert_int_equal(weir_in_end(&a->in, NULL), 0);
	assert_int_equal(weir_in_end(&other, NULL), 0);
}

static void signal_and_run(struct play *play, const char *name)
{
	weir_actor_signal(&member(play, name)->actor);
	run(play);
}

/* --- Ends ----------------------------------------------------------------- */

static const struct step cancel_and_restart[] = {
	{"a", SIGNALLED, .generation = 1, .call = cancel_other,
	 .fail = RESTART},
};
#define ONLY_A_RESTART \
	"a1.pre_start a1.signalled a1.pre_restart a2.reset a2.post_restart"

static void e15_what_was_cancelled_has_not_ended(struct play *play)
{
	struct member *a;

	SCRIPT(play, cancel_and_restart);
	a = two_new(play);
	assert_int_equal(weir_in_merge(&other, WEIR_MERGE_FIRST), 0);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
	signal_and_run(play, "a");
	assert_told(play, "a", ONLY_A_RESTART);
}

static void e15_nor_if_it_ends_after_that(struct play *play)
{
	struct member *a;

	SCRIPT(play, cancel_and_restart);
	a = two_new(play);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
	weir_actor_signal(&a->actor);
	while (!(other.port.flags & WEIR__PORT_ENDED))
		assert_true(weir_sim_step(play->base.sim));
	assert_int_equal(weir_in_end(&other, NULL), 0);
	run(play);
	assert_told(play, "a", ONLY_A_RESTART);
}

static void b1_4_who_fails_over_one_end_is_not_told_the_next(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .generation = 1, .fail = RESTART},
		{"a", ENDED, .item = 1, .generation = 2, .fail = RESTART},
		{"a", ENDED, .item = 1, .generation = 3, .fail = RESUME},
	};
	struct member *a;

	SCRIPT(play, steps);
	a = two_new(play);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	end_both(a);
	run(play);
	log_clear(play);
	signal_and_run(play, "a");
	/* and what it was not told is told when it goes on */
	assert_told(play, "a",
		    "a1.signalled a1.pre_restart a2.reset a2.post_restart "
		    "a2.end1 a2.pre_restart a3.reset a3.post_restart "
		    "a3.end1 a3.end2");
}

/* The parent fails at any moment of the restart. */
static void b1_2_who_is_suspended_hears_of_no_end(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .generation = 1, .fail = RESTART},
		{"a", ENDED, .item = 1, .generation = 2, .finish = true},
		{"boss", SIGNALLED, .fail = RESUME},
	};
	struct member *a;

	SCRIPT(play, steps);
	add(play, NULL, "boss");
	a = two_new(play);
	assert_int_equal(member_spawn(a, ref(play, "boss")), 0);
	end_both(a);
	run(play);
	weir_actor_signal(&a->actor);
	weir_actor_signal(&member(play, "boss")->actor);
	run(play);
	assert_int_equal(times(play, "a2.end1"), 1);
	/* it has finished, with the first of them */
	assert_int_equal(times(play, "a2.end2"), 0);
	assert_false(alive(play, "a"));
}

/* --- Out-ports ------------------------------------------------------------ */

static void d1_3_a_permanent_one_that_nobody_takes_from_ends(struct play *play)
{
	static const struct role roles[] = {
		{"a", .restart = WEIR_RESTART_PERMANENT},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .finish = true},
	};
	struct weir_out out[2];
	struct sink sinks[2];
	struct member *a;
	size_t i;

	ROLES(play, roles);
	SCRIPT(play, steps);
	a = member_new(play, "a");
	for (i = 0; i < 2; i++) {
		sink_init(&sinks[i], play->base.executor, &play->base.ledger,
			  4);
		assert_int_equal(weir_out_init(&out[i], &a->actor,
					       &play->base.ledger.items),
				 0);
		assert_int_equal(weir_out_link(&out[i], &sinks[i].in), 0);
		assert_int_equal(weir_actor_start(&sinks[i].actor), 0);
	}
	play_open(play);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
	weir_actor_stop(&sinks[0].actor);
	give(play, "a", 1);
	/* the other takes */
	assert_true(alive(play, "a"));
	assert_int_equal(
		weir_system_restarts(play->base.system, ref(play, "a")), 1);
	weir_actor_stop(&sinks[1].actor);
	run(play);
	assert_false(alive(play, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(e15_what_was_cancelled_has_not_ended),
		RULE(e15_nor_if_it_ends_after_that),
		RULE(b1_4_who_fails_over_one_end_is_not_told_the_next),
		RULE(b1_2_who_is_suspended_hears_of_no_end),
		RULE(d1_3_a_permanent_one_that_nobody_takes_from_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
