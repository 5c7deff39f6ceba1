/* SPDX-License-Identifier: BSD-2-Clause */
/* Sending to an actor that is known by its id or its path. */
#include "supervision/kit.h"

static int tell(struct play *play, struct weir_actor_id to, size_t item)
{
	int rc = weir_system_tell(play->base.system, to,
				  ledger_make(&play->base.ledger, item));

	if (rc < 0)
		ledger_drop((void *)item, &play->base.ledger);
	return rc;
}

static void end(struct play *play, const char *name)
{
	stop(play, name);
	run(play);
}

static void send(struct play *play, struct weir_actor_id to, size_t item)
{
	weir_system_send(play->base.system, to, &play->base.ledger.items,
			 ledger_make(&play->base.ledger, item));
}

static void an_actor_is_told_by_its_id_and_by_its_path(struct play *play)
{
	add(play, NULL, "a");
	assert_int_equal(tell(play, ref(play, "a"), 1), 0);
	run(play);
	assert_int_equal(
		tell(play, weir_system_lookup(play->base.system, "/user/a"), 2),
		0);
	send(play, ref(play, "a"), 3);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.3");
}

static void who_has_ended_is_not_found(struct play *play)
{
	add(play, NULL, "a");
	run(play);
	end(play, "a");
	assert_int_equal(tell(play, ref(play, "a"), 1), -ESRCH);
	assert_int_equal(tell(play, WEIR_ACTOR_ID_NONE, 2), -ESRCH);
	assert_int_equal(weir_system_tell(NULL, ref(play, "a"), NULL), -EINVAL);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
}

static void an_id_of_another_actor_in_the_same_cell_is_not_told(
	struct play *play)
{
	struct weir_actor_id old;

	add(play, NULL, "a");
	run(play);
	old = ref(play, "a");
	end(play, "a");
	add(play, NULL, "b");
	run(play);
	assert_int_equal(ref(play, "b").slot, old.slot);
	assert_int_equal(tell(play, old, 1), -ESRCH);
	assert_told(play, "b", "b1.pre_start");
}

static const struct step fails_at_2[] = {
	{"a", TURN, .item = 2, .rc = RESTART},
};

static void what_a_restarting_actor_is_told_it_handles_anew(struct play *play)
{
	SCRIPT(play, fails_at_2);
	add(play, NULL, "a");
	run(play);
	assert_int_equal(tell(play, ref(play, "a"), 1), 0);
	assert_int_equal(tell(play, ref(play, "a"), 2), 0);
	assert_int_equal(tell(play, ref(play, "a"), 3), 0);
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.pre_restart a2.reset "
		    "a2.post_restart a2.3");
}

static void what_cannot_be_sent_is_a_dead_letter(struct play *play)
{
	uint64_t before;

	add(play, NULL, "a");
	run(play);
	before = weir_system_dead_letter_count(play->base.system);
	end(play, "a");
	send(play, ref(play, "a"), 1);
	assert_int_equal(
		weir_system_dead_letter_count(play->base.system) - before, 1);
	assert_told(play, "a", "a1.pre_start a1.post_stop a1.dead1");
}

static void what_was_told_before_the_end_is_a_dead_letter(struct play *play)
{
	add(play, NULL, "a");
	run(play);
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, "a")), 0);
	assert_int_equal(tell(play, ref(play, "a"), 1), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.post_stop a1.dead1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(an_actor_is_told_by_its_id_and_by_its_path),
		RULE(who_has_ended_is_not_found),
		RULE(an_id_of_another_actor_in_the_same_cell_is_not_told),
		RULE(what_a_restarting_actor_is_told_it_handles_anew),
		RULE(what_cannot_be_sent_is_a_dead_letter),
		RULE(what_was_told_before_the_end_is_a_dead_letter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
