/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that wait for the end of an actor. */
#include "supervision/kit.h"

static int wait_for(struct play *play, const char *name, uint64_t timeout_ns)
{
	return weir_system_actor_end_wait(play->base.system, ref(play, name),
					  timeout_ns);
}

static const struct step finishes_at_2[] = {
	{"a", TURN, .item = 2, .finish = true},
};

static void a_wait_is_over_when_the_actor_has_ended(struct play *play)
{
	SCRIPT(play, finishes_at_2);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	assert_int_equal(wait_for(play, "a", WEIR_FOREVER), 0);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop");
}

static void who_has_ended_is_not_waited_for(struct play *play)
{
	add(play, NULL, "a");
	run(play);
	stop(play, "a");
	run(play);
	assert_int_equal(wait_for(play, "a", WEIR_FOREVER), 0);
	assert_int_equal(wait_for(play, "a", 0), 0);
}

static void a_wait_ends_at_its_time_and_leaves_nothing(struct play *play)
{
	add(play, NULL, "a");
	run(play);
	assert_int_equal(wait_for(play, "a", SECOND), -ETIMEDOUT);
	assert_int_equal(weir_executor_now(weir_sim_executor(play->base.sim)),
			 SECOND);
	/* what waited is gone from the stack */
	stop(play, "a");
	run(play);
}

static void a_restart_is_not_waited_for(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .rc = RESTART},
		{"a", TURN, .item = 2, .finish = true},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	assert_int_equal(wait_for(play, "a", WEIR_FOREVER), 0);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset "
		    "a2.post_restart a2.2 a2.post_stop");
}

static void without_a_system_nobody_is_waited_for(struct play *play)
{
	add(play, NULL, "a");
	assert_int_equal(weir_system_actor_end_wait(NULL, ref(play, "a"), 0),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a_wait_is_over_when_the_actor_has_ended),
		RULE(who_has_ended_is_not_waited_for),
		RULE(a_wait_ends_at_its_time_and_leaves_nothing),
		RULE(a_restart_is_not_waited_for),
		RULE(without_a_system_nobody_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
