/* SPDX-License-Identifier: BSD-2-Clause */
/* Sending to an actor that is known by its id or its path. */
#include "supervision/kit.h"

static int tell(struct world *world, struct weir_actor_id to, size_t item)
{
	int rc = weir_system_tell(world->system, to,
				  ledger_make(&world->ledger, item));

	if (rc < 0)
		ledger_drop((void *)item, &world->ledger);
	return rc;
}

static void end(struct world *world, const char *name)
{
	stop(world, name);
	run(world);
}

static void send(struct world *world, struct weir_actor_id to, size_t item)
{
	weir_system_send(world->system, to, &world->ledger.items,
			 ledger_make(&world->ledger, item));
}

static void an_actor_is_told_by_its_id_and_by_its_path(struct world *world)
{
	add(world, NULL, "a");
	assert_int_equal(tell(world, ref(world, "a"), 1), 0);
	run(world);
	assert_int_equal(tell(world,
			      weir_system_lookup(world->system, "/user/a"), 2),
			 0);
	send(world, ref(world, "a"), 3);
	run(world);
	assert_told(world, "a", "a1.pre_start a1.1 a1.2 a1.3");
}

static void who_has_ended_is_not_found(struct world *world)
{
	add(world, NULL, "a");
	run(world);
	end(world, "a");
	assert_int_equal(tell(world, ref(world, "a"), 1), -ESRCH);
	assert_int_equal(tell(world, WEIR_ACTOR_ID_NONE, 2), -ESRCH);
	assert_int_equal(weir_system_tell(NULL, ref(world, "a"), NULL),
			 -EINVAL);
	assert_told(world, "a", "a1.pre_start a1.post_stop");
}

static void an_id_of_another_actor_in_the_same_cell_is_not_told(
	struct world *world)
{
	struct weir_actor_id old;

	add(world, NULL, "a");
	run(world);
	old = ref(world, "a");
	end(world, "a");
	add(world, NULL, "b");
	run(world);
	assert_int_equal(ref(world, "b").slot, old.slot);
	assert_int_equal(tell(world, old, 1), -ESRCH);
	assert_told(world, "b", "b1.pre_start");
}

static const struct step fails_at_2[] = {
	{"a", TURN, .item = 2, .rc = RESTART},
};

static void what_a_restarting_actor_is_told_it_handles_anew(struct world *world)
{
	SCRIPT(world, fails_at_2);
	add(world, NULL, "a");
	run(world);
	assert_int_equal(tell(world, ref(world, "a"), 1), 0);
	assert_int_equal(tell(world, ref(world, "a"), 2), 0);
	assert_int_equal(tell(world, ref(world, "a"), 3), 0);
	run(world);
	assert_told(world, "a",
		    "a1.pre_start a1.1 a1.2 a1.pre_restart a2.reset "
		    "a2.post_restart a2.3");
}

static void what_cannot_be_sent_is_a_dead_letter(struct world *world)
{
	uint64_t before;

	add(world, NULL, "a");
	run(world);
	before = weir_system_dead_letter_count(world->system);
	end(world, "a");
	send(world, ref(world, "a"), 1);
	assert_int_equal(weir_system_dead_letter_count(world->system) - before,
			 1);
	assert_told(world, "a", "a1.pre_start a1.post_stop a1.dead1");
}

static void what_was_told_before_the_end_is_a_dead_letter(struct world *world)
{
	add(world, NULL, "a");
	run(world);
	assert_int_equal(weir_system_stop_actor(world->system, ref(world, "a")),
			 0);
	assert_int_equal(tell(world, ref(world, "a"), 1), 0);
	run(world);
	assert_told(world, "a", "a1.pre_start a1.post_stop a1.dead1");
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
