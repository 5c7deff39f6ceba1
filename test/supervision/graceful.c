/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops that are waited for (B5.5). Rule numbers like B5.5 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

struct waiting {
	struct weir_graceful_stop stop;
	struct play *play;
	uint32_t calls;
	int rc;
	uint64_t at_ns;
};

static void done(struct weir_graceful_stop *stop, int rc)
{
	struct waiting *self = weir_container_of(stop, struct waiting, stop);

	self->calls++;
	self->rc = rc;
	self->at_ns = weir_executor_now(self->play->base.executor);
	memset(stop, 0xff, sizeof(*stop)); /* it is ours again */
}

static int ask_for(struct play *play, struct waiting *self,
		   struct weir_actor_id who, bool now, uint64_t deadline_ns)
{
	*self = (struct waiting){.stop = {.done = done}, .play = play};
	return weir_system_stop_actor_async(play->base.system, who, now,
					    &self->stop, deadline_ns);
}

static void ask(struct play *play, struct waiting *self, bool now,
		uint64_t deadline_ns)
{
	assert_int_equal(ask_for(play, self, ref(play, "a"), now, deadline_ns),
			 0);
}

static void b5_5_it_is_told_when_the_actor_has_ended(struct play *play)
{
	struct waiting waiting;

	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	ask(play, &waiting, false, SECOND);
	assert_int_equal(put(play, "a", 3, 3), 0);
	assert_int_equal(waiting.calls, 0);
	run(play);
	assert_int_equal(waiting.calls, 1);
	assert_int_equal(waiting.rc, 0);
	assert_int_equal(waiting.at_ns, 0);
	/* by poison, if not told otherwise */
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop a1.dead3");
	/* its timer is gone */
	assert_int_equal(world_now(&play->base), 0);
}

static void b5_5_now_means_a_stop(struct play *play)
{
	struct waiting waiting;

	add(play, NULL, "a");
	run(play);
	assert_int_equal(put(play, "a", 1, 2), 0);
	ask(play, &waiting, true, WEIR_FOREVER);
	run(play);
	assert_int_equal(waiting.calls, 1);
	assert_int_equal(waiting.rc, 0);
	assert_told(play, "a", "a1.pre_start a1.post_stop a1.dead1 a1.dead2");
}

static void b5_5_the_dead_have_ended(struct play *play)
{
	struct waiting waiting;

	add(play, NULL, "a");
	run(play);
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, "a")), 0);
	run(play);
	ask(play, &waiting, false, SECOND);
	assert_int_equal(waiting.calls, 1);
	assert_int_equal(waiting.rc, 0);
	ask(play, &waiting, true, WEIR_FOREVER);
	assert_int_equal(waiting.calls, 1);
	assert_int_equal(waiting.rc, 0);
	run(play);
	assert_int_equal(world_now(&play->base), 0);
}

static const struct role slow_to_stop[] = {
	{"a", .hooks = USUAL | HOOK(STOPPING)},
};
static const struct step stops_at_9[] = {
	{"a", STOPPING, .rc = 1},
	{"a", TURN, .item = 9, .finish = true},
};

static void b5_5_the_deadline_ends_the_wait_and_nothing_else(struct play *play)
{
	struct waiting waiting;

	ROLES(play, slow_to_stop);
	SCRIPT(play, stops_at_9);
	add(play, NULL, "a");
	run(play);
	ask(play, &waiting, false, SECOND);
	run_until(play, SECOND - 1);
	assert_int_equal(waiting.calls, 0);
	run_until(play, SECOND);
	assert_int_equal(waiting.calls, 1);
	assert_int_equal(waiting.rc, -ETIMEDOUT);
	assert_int_equal(waiting.at_ns, SECOND);
	assert_true(alive(play, "a"));
	/* nobody waits any more: it is not told twice */
	give(play, "a", 9);
	assert_false(alive(play, "a"));
	assert_int_equal(waiting.calls, 1);
}

/* The end and the deadline come at the same time, in either order. */
static void b5_5_it_is_told_once_whatever_comes_first(struct play *play)
{
	struct waiting waiting;

	ROLES(play, slow_to_stop);
	SCRIPT(play, stops_at_9);
	add(play, NULL, "a");
	run(play);
	ask(play, &waiting, play->seed % 2, MS);
	run_until(play, MS - 1);
	assert_int_equal(put(play, "a", 9, 9), 0);
	weir_sim_run_until(play->base.sim, MS - 1, play->seed % 4);
	run(play);
	assert_false(alive(play, "a"));
	assert_int_equal(waiting.calls, 1);
	if (waiting.rc)
		assert_int_equal(waiting.rc, -ETIMEDOUT);
}

static void b5_5_a_deadline_that_is_past_is_a_deadline(struct play *play)
{
	struct waiting waiting;

	ROLES(play, slow_to_stop);
	SCRIPT(play, stops_at_9);
	add(play, NULL, "a");
	run_until(play, SECOND);
	ask(play, &waiting, false, MS);
	run(play);
	assert_int_equal(waiting.calls, 1);
	assert_int_equal(waiting.rc, -ETIMEDOUT);
	assert_int_equal(waiting.at_ns, SECOND);
	give(play, "a", 9);
}

/* Its memory is used again, for the next one. */
static const char *const names[] = {"a", "b", "c", "d"};

static void done_next(struct weir_graceful_stop *stop, int rc)
{
	struct waiting *self = weir_container_of(stop, struct waiting, stop);
	struct play *play = self->play;

	assert_int_equal(rc, 0);
	if (++self->calls == LENGTH(names))
		return;
	memset(stop, 0, sizeof(*stop));
	stop->done = done_next;
	assert_int_equal(weir_system_stop_actor_async(
				 play->base.system,
				 ref(play, names[self->calls]), self->calls % 2,
				 stop, self->calls * SECOND),
			 0);
}

static void b5_5_its_memory_may_be_used_again_when_it_is_told(struct play *play)
{
	struct waiting waiting;
	size_t i;

	for (i = 0; i < LENGTH(names); i++)
		add(play, NULL, names[i]);
	waiting = (struct waiting){
		.stop = {.done = done_next},
		.play = play,
	};
	assert_int_equal(weir_system_stop_actor_async(
				 play->base.system, ref(play, "a"), false,
				 &waiting.stop, WEIR_FOREVER),
			 0);
	run(play);
	assert_int_equal(waiting.calls, LENGTH(names));
}

static void b5_5_several_can_wait_for_one(struct play *play)
{
	struct waiting waiting[3];
	size_t i;

	ROLES(play, slow_to_stop);
	SCRIPT(play, stops_at_9);
	add(play, NULL, "a");
	run(play);
	for (i = 0; i < 3; i++)
		ask(play, &waiting[i], i == 2, (i + 1) * SECOND);
	run_until(play, 2 * SECOND);
	assert_int_equal(waiting[0].rc, -ETIMEDOUT);
	assert_int_equal(waiting[1].rc, -ETIMEDOUT);
	assert_int_equal(waiting[2].calls, 0);
	give(play, "a", 9);
	assert_int_equal(waiting[2].calls, 1);
	assert_int_equal(waiting[2].rc, 0);
	assert_int_equal(waiting[0].calls, 1);
	assert_int_equal(waiting[1].calls, 1);
}

/*
 * An executor whose timers fire before arming has returned, as they may where
 * they have a thread of their own. The rest is the simulator's.
 */
struct hasty {
	struct weir_executor executor;
	struct weir_executor *real;
};

static int hasty_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct weir_executor *real = ((struct hasty *)executor)->real;

	return real->ops->submit(real, task);
}

static uint64_t hasty_now(struct weir_executor *executor)
{
	return weir_executor_now(((struct hasty *)executor)->real);
}

static int hasty_arm(struct weir_executor *executor, struct weir_timer *timer,
		     uint64_t at_ns)
{
	timer->fire(timer);
	return 0;
}

static bool hasty_cancel(struct weir_executor *executor,
			 struct weir_timer *timer)
{
	return false;
}

static const struct weir_executor_ops hasty_ops = {
	.submit = hasty_submit,
	.now = hasty_now,
	.timer_arm = hasty_arm,
	.timer_cancel = hasty_cancel,
};

static void b5_5_a_deadline_may_come_before_the_call_is_over(struct play *play)
{
	struct hasty hasty = {.real = play->base.executor};
	struct waiting waiting;

	assert_int_equal(weir_executor_init(&hasty.executor, &hasty_ops, NULL),
			 0);
	assert_int_equal(
		weir_system_new(&play->base.system, &hasty.executor, NULL), 0);
	add(play, NULL, "a");
	run(play);
	ask(play, &waiting, false, SECOND);
	assert_int_equal(waiting.calls, 1);
	assert_int_equal(waiting.rc, -ETIMEDOUT);
	/* it is poisoned all the same */
	run(play);
	assert_false(alive(play, "a"));
	assert_int_equal(waiting.calls, 1);
	/* one that is dead already: either may be told, but once */
	ask(play, &waiting, true, SECOND);
	assert_int_equal(waiting.calls, 1);
	weir_system_stop(play->base.system);
	run(play);
	assert_int_equal(weir_system_free(play->base.system), 0);
	play->base.system = NULL;
	assert_int_equal(weir_executor_fini(&hasty.executor), 0);
}

static void wrong_calls_are_told_of_at_once(struct play *play)
{
	struct waiting waiting;

	add(play, NULL, "a");
	run(play);
	assert_int_equal(ask_for(play, &waiting,
				 weir_system_user_guardian(play->base.system),
				 true, SECOND),
			 -EPERM);
	assert_int_equal(weir_system_stop_actor_async(play->base.system,
						      ref(play, "a"), false,
						      NULL, SECOND),
			 -EINVAL);
	assert_int_equal(weir_system_stop_actor_async(NULL, ref(play, "a"),
						      false, &waiting.stop,
						      SECOND),
			 -EINVAL);
	waiting.stop.done = NULL;
	assert_int_equal(weir_system_stop_actor_async(play->base.system,
						      ref(play, "a"), false,
						      &waiting.stop, SECOND),
			 -EINVAL);
	run(play);
	assert_true(alive(play, "a"));
	assert_int_equal(waiting.calls, 0);
}

/* Without a name the actor has no record until it is waited for. */
static void no_memory_for_a_stop_changes_nothing(struct play *play)
{
	struct waiting waiting;
	struct source source;
	struct weir_actor_id who;

	play_open(play);
	source_init(&source, play->base.executor, &play->base.ledger, 1, 1);
	assert_int_equal(weir_system_spawn(play->base.system,
					   WEIR_ACTOR_ID_NONE, &source.actor,
					   NULL, &who),
			 0);
	run(play);
	play->base.heap.calls = 0;
	play->base.heap.fail = 1;
	assert_int_equal(ask_for(play, &waiting, who, true, SECOND), -ENOMEM);
	play->base.heap.fail = 0;
	run(play);
	assert_int_equal(waiting.calls, 0);
	assert_true(weir_system_is_alive(play->base.system, who));
	assert_int_equal(ask_for(play, &waiting, who, true, SECOND), 0);
	run(play);
	assert_int_equal(waiting.calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b5_5_it_is_told_when_the_actor_has_ended),
		RULE(b5_5_now_means_a_stop),
		RULE(b5_5_the_dead_have_ended),
		RULE(b5_5_the_deadline_ends_the_wait_and_nothing_else),
		RULE(b5_5_it_is_told_once_whatever_comes_first),
		RULE(b5_5_a_deadline_that_is_past_is_a_deadline),
		RULE(b5_5_its_memory_may_be_used_again_when_it_is_told),
		RULE(b5_5_several_can_wait_for_one),
		RULE(b5_5_a_deadline_may_come_before_the_call_is_over),
		RULE(wrong_calls_are_told_of_at_once),
		RULE(no_memory_for_a_stop_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
