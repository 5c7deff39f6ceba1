/* SPDX-License-Identifier: BSD-2-Clause */
/* What a notice says of an end: how it was, and of whom. */
#include "supervision/kit.h"

struct listener {
	struct weir_watcher watcher;
	uint32_t calls;
	enum weir_end how;
	char path[64];
};

static void listen(struct weir_watcher *watcher,
		   const struct weir_terminated *notice)
{
	struct listener *self =
		weir_container_of(watcher, struct listener, watcher);

	self->calls++;
	self->how = notice->how;
	snprintf(self->path, sizeof(self->path), "%s",
		 notice->path ? notice->path : "none");
}

static void watch(struct play *play, struct listener *self, const char *name)
{
	*self = (struct listener){.watcher.terminated = listen};
	assert_int_equal(weir_watcher_add(play->base.system, ref(play, name),
					  &self->watcher),
			 0);
}

static void assert_heard(const struct listener *self, enum weir_end how,
			 const char *path)
{
	assert_int_equal(self->calls, 1);
	assert_int_equal(self->how, how);
	assert_string_equal(self->path, path);
}

static const struct step steps[] = {
	{"a", TURN, .item = 1, .finish = true},
	{"a", TURN, .item = 2, .rc = STOP},
	{"a", TURN, .item = 3, .rc = RESTART},
};

static void begin(struct play *play, struct listener *self)
{
	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	watch(play, self, "a");
}

static void one_that_finishes(struct play *play)
{
	struct listener listener;

	begin(play, &listener);
	give(play, "a", 1);
	assert_heard(&listener, WEIR_END_FINISHED, "/user/a");
}

static void one_that_fails(struct play *play)
{
	struct listener listener;

	begin(play, &listener);
	give(play, "a", 2);
	assert_heard(&listener, WEIR_END_FAILED, "/user/a");
}

static void one_that_is_stopped(struct play *play)
{
	struct listener listener;

	begin(play, &listener);
	stop(play, "a");
	run(play);
	assert_heard(&listener, WEIR_END_STOPPED, "/user/a");
}

static void one_that_is_stopped_after_a_restart(struct play *play)
{
	struct listener listener;

	begin(play, &listener);
	give(play, "a", 3);
	assert_int_equal(listener.calls, 0);
	stop(play, "a");
	run(play);
	assert_heard(&listener, WEIR_END_STOPPED, "/user/a");
}

static const struct weir_strategy stops = {.decide = weir_strategy_decide_stop};

static void one_that_is_killed(struct play *play)
{
	struct listener listener;

	play->top = &stops;
	begin(play, &listener);
	assert_int_equal(weir_system_kill(play->base.system, ref(play, "a")),
			 0);
	run(play);
	assert_heard(&listener, WEIR_END_KILLED, "/user/a");
}

static void those_below_one_that_is_stopped(struct play *play)
{
	struct listener upper, lower;

	begin(play, &upper);
	add(play, "a", "b");
	run(play);
	watch(play, &lower, "b");
	stop(play, "a");
	run(play);
	assert_heard(&upper, WEIR_END_STOPPED, "/user/a");
	assert_heard(&lower, WEIR_END_STOPPED, "/user/a/b");
}

static void one_that_was_dead_before(struct play *play)
{
	struct listener first, late;

	begin(play, &first);
	stop(play, "a");
	run(play);
	watch(play, &late, "a");
	assert_heard(&late, WEIR_END_UNKNOWN, "none");
}

static const struct role parents[] = {
	{"p", .hooks = USUAL | HOOK(CHILD_ENDED)},
};

static void a_parent_is_told_the_same(struct play *play)
{
	struct listener listener;

	ROLES(play, parents);
	SCRIPT(play, steps);
	add(play, NULL, "p");
	add(play, "p", "a");
	run(play);
	watch(play, &listener, "a");
	give(play, "a", 1);
	assert_heard(&listener, WEIR_END_FINISHED, "/user/p/a");
	assert_told(play, "p", "p1.pre_start p1.child_ended");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(one_that_finishes),
		RULE(one_that_fails),
		RULE(one_that_is_stopped),
		RULE(one_that_is_stopped_after_a_restart),
		RULE(one_that_is_killed),
		RULE(those_below_one_that_is_stopped),
		RULE(one_that_was_dead_before),
		RULE(a_parent_is_told_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
