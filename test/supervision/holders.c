/* SPDX-License-Identifier: BSD-2-Clause */
/* What keeps a system from ending, in words. */
#include "supervision/ending.h"

#define TEXT 512

static void holders(struct play *play, char text[TEXT])
{
	int n = weir_system_holders(play->base.system, text, TEXT);

	assert_int_equal(n, strlen(text));
}

static void those_that_run_are_named_by_their_paths(struct play *play)
{
	char text[TEXT];

	add(play, NULL, "a");
	add(play, "a", "b");
	run(play);
	holders(play, text);
	assert_string_equal(text, "/: runs\n"
				  "/user: runs\n"
				  "/system: runs\n"
				  "/user/a: runs\n"
				  "/user/a/b: runs\n"
				  "before-end hooks, and /user: 1\n");
}

static const struct role slow_to_stop[] = {
	{"a", .hooks = USUAL | HOOK(STOPPING)},
};
static const struct step stops_at_9[] = {
	{"a", STOPPING, .rc = 1},
	{"a", TURN, .item = 9, .finish = true},
};

static void one_that_does_not_stop_holds_those_above_it(struct play *play)
{
	char text[TEXT];

	ROLES(play, slow_to_stop);
	SCRIPT(play, stops_at_9);
	add(play, NULL, "a");
	run(play);
	weir_system_stop(play->base.system);
	run(play);
	holders(play, text);
	assert_string_equal(text,
			    "/: runs\n"
			    "/user: stops when its children have ended\n"
			    "/system: runs\n"
			    "/user/a: ends by itself, as its `stopping` said\n"
			    "before-end hooks, and /user: 1\n");
	give(play, "a", 9);
	assert_true(terminated(play));
	holders(play, text);
	assert_string_equal(text, "");
}

static void a_reference_of_one_that_has_ended_is_told_by_its_id(
	struct play *play)
{
	struct weir_actor *actor;
	char text[TEXT], line[64];

	add(play, NULL, "a");
	run(play);
	actor = weir_system_actor(play->base.system, ref(play, "a"));
	weir_system_stop(play->base.system);
	run(play);
	assert_false(terminated(play));
	holders(play, text);
	snprintf(line, sizeof(line),
		 "%u/%u: has ended; somebody holds a reference of it\n",
		 (unsigned)ref(play, "a").slot,
		 (unsigned)ref(play, "a").generation);
	assert_string_equal(text, line);
	weir_actor_unref(actor);
	assert_true(terminated(play));
}

static void a_hook_that_is_not_done_is_counted(struct play *play)
{
	struct told_hook hook;
	char text[TEXT];

	play_open(play);
	before_end(play, &hook, "h", false);
	weir_system_stop(play->base.system);
	run(play);
	holders(play, text);
	assert_string_equal(text, "/: runs\n"
				  "/system: runs\n"
				  "before-end hooks, and /user: 1\n");
	weir_system_hook_done(&hook.hook);
	run(play);
}

static void a_text_that_is_too_long_is_cut(struct play *play)
{
	char text[TEXT] = "", part[TEXT];
	int length, size;

	add(play, NULL, "a");
	run(play);
	holders(play, text);
	length = (int)strlen(text);
	for (size = 1; size <= length; size++) {
		assert_int_equal(weir_system_holders(play->base.system, part,
						     size),
				 length);
		assert_int_equal(strlen(part), size - 1);
		assert_memory_equal(part, text, size - 1);
	}
	assert_int_equal(weir_system_holders(play->base.system, NULL, 0),
			 length);
	assert_int_equal(weir_system_holders(play->base.system, NULL, 1),
			 -EINVAL);
	assert_int_equal(weir_system_holders(NULL, NULL, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(those_that_run_are_named_by_their_paths),
		RULE(one_that_does_not_stop_holds_those_above_it),
		RULE(a_reference_of_one_that_has_ended_is_told_by_its_id),
		RULE(a_hook_that_is_not_done_is_counted),
		RULE(a_text_that_is_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
