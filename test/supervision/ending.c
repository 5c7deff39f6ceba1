/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervision/ending.h"

void told_run(struct weir_system_hook *hook)
{
	struct told_hook *self =
		weir_container_of(hook, struct told_hook, hook);
	struct weir_system *system = self->play->base.system;

	note(self->play, "hook", "%s", self->name);
	self->is_system = weir_system_is_alive(
		system, weir_system_system_guardian(system));
	self->is_user =
		weir_system_is_alive(system, weir_system_user_guardian(system));
	assert_int_equal(weir_system_free(system), -EBUSY);
	if (self->shuts)
		weir_system_stop(system);
	hook->next = (void *)hook; /* its memory is ours again */
	if (self->answers)
		weir_system_hook_done(hook);
}

void before_end(struct play *play, struct told_hook *self, const char *name,
		bool answers)
{
	*self = (struct told_hook){
		.hook.run = told_run,
		.play = play,
		.name = name,
		.answers = answers,
	};
	assert_int_equal(weir_system_before_end(play->base.system, &self->hook),
			 0);
}

void at_termination(struct play *play, struct told_hook *self, const char *name)
{
	*self = (struct told_hook){
		.hook.run = told_run,
		.play = play,
		.name = name,
	};
	assert_int_equal(
		weir_system_at_termination(play->base.system, &self->hook), 0);
}

static void told_done(struct weir_await *await,
		      struct weir_completion *completion)
{
	struct told_end *self =
		weir_container_of(await, struct told_end, await);

	note(self->play, "hook", "complete");
	if (self->frees) {
		assert_int_equal(weir_system_free(self->play->base.system), 0);
		self->play->base.system = NULL;
	}
}

void await_end(struct play *play, struct told_end *self)
{
	*self = (struct told_end){.await.done = told_done, .play = play};
	assert_int_equal(weir_completion_wait_async(
				 weir_system_terminated(play->base.system),
				 &self->await),
			 0);
}

bool terminated(const struct play *play)
{
	return weir_completion_done(weir_system_terminated(play->base.system));
}

void add_system(struct play *play, const char *name)
{
	assert_int_equal(spawn(play,
			       weir_system_system_guardian(play->base.system),
			       name),
			 0);
}

/* A drain of the executor, told as "drained". */
static struct play *draining;

static void drained(struct weir_ending *drain)
{
	assert_int_equal(drain->actors_left, 0);
	note(draining, "hook", "drained");
}

void drain_begin(struct play *play, struct weir_ending *drain, bool abort)
{
	struct weir_executor *executor = play->base.executor;

	draining = play;
	*drain = (struct weir_ending){.done = drained};
	assert_int_equal((abort ? weir_executor_stop_async
				: weir_executor_end_async)(executor, drain,
							   WEIR_FOREVER),
			 0);
}
