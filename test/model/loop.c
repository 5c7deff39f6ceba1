/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Submitting to a loop, and waking its owner, under all interleavings: a
 * task or a wake that is forgotten is a deadlock here. loop.c itself runs, on
 * a poller of this file's own, whose eventfd is a word and whose wait is on
 * that word.
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/loop.h>

#include "base/futex.h"
#include "executor/poller.h"
#include "executor/registry.h"
#include "runner.h"

struct task {
	struct weir_task task;
	uint32_t payload; /* plain */
	uint32_t runs;	  /* plain: the owner's */
	uint32_t left;	  /* plain: it submits itself again that often */
};

struct ending {
	struct weir_ending drain;
	uint32_t over; /* atomic */
};

static struct world {
	struct weir_loop *loop;
	struct task tasks[2];
	uint32_t indices[2]; /* of tasks that stand for living actors */
	struct ending ending;
	uint32_t flag;	   /* atomic: what a wake tells of */
	uint32_t readable; /* atomic, slept on: the eventfd */
} world;

/* The poller. */

int weir__poller_init(struct weir__poller *poller,
		      const struct weir_allocator *allocator)
{
	return 0;
}

void weir__poller_fini(struct weir__poller *poller, bool child)
{
}

int weir__poller_timer_arm(struct weir__poller *poller,
			   struct weir_timer *timer, uint64_t at_ns)
{
	return -ENOTSUP;
}

bool weir__poller_timer_cancel(struct weir__poller *poller,
			       struct weir_timer *timer)
{
	return false;
}

int weir__poller_watch_arm(struct weir__poller *poller,
			   struct weir_watch *watch)
{
	return -ENOTSUP;
}

bool weir__poller_watch_cancel(struct weir__poller *poller,
			       struct weir_watch *watch)
{
	return false;
}

/* System calls order nothing for the caller but this: one word. */
void weir__poller_look(const struct weir__poller *poller,
		       struct weir_seen_executor *seen)
{
}

void weir__poller_wake(struct weir__poller *poller)
{
	ck_pr_fas_32(&world.readable, 1);
	weir__futex_wake(&world.readable, 1);
}

void weir__poller_unwake(struct weir__poller *poller)
{
	ck_pr_fas_32(&world.readable, 0);
}

uint32_t weir__poller_run(struct weir__poller *poller, uint64_t timeout_ns,
			  bool *woken)
{
	while (timeout_ns && !ck_pr_load_32(&world.readable))
		weir__futex_wait(&world.readable, 0, UINT64_MAX);
	*woken = ck_pr_load_32(&world.readable);
	return 0;
}

void weir__poller_settle(struct weir__poller *poller)
{
}

/* The tasks. */

static bool run(struct weir_task *task)
{
	struct task *self = weir_container_of(task, struct task, task);

	explorer_assert(self->payload == 1);
	self->runs++;
	if (self->left) {
		self->left--;
		weir_loop_executor(world.loop)
			->ops->submit(weir_loop_executor(world.loop), task);
	}
	return false;
}

static bool tryref(struct weir_task *task)
{
	return false;
}

static const struct weir__task_ops tasks = {.run = run, .tryref = tryref};

static void *alloc(size_t size, void *context)
{
	return explorer_alloc(size);
}

static void give_back(void *memory, size_t size, void *context)
{
	explorer_free(memory);
}

static const struct weir_allocator allocator = {alloc, give_back, NULL};

static void setup(void *context)
{
	const struct weir_executor_options options = {.allocator = &allocator};
	struct world *w = context;

	weir__tasks = &tasks;
	/* an execution that was left early has left its own there */
	if (weir__living)
		*weir__living = (struct weir__living_list){.begun = true};
	assert(weir_loop_new(&w->loop, &options) == 0);
	explorer_name(w, sizeof(*w), "world");
}

static void submit(struct world *w, int i)
{
	struct weir_executor *executor = weir_loop_executor(w->loop);

	w->tasks[i].payload = 1;
	executor->ops->submit(executor, &w->tasks[i].task);
}

static void submitter_0(void *context)
{
	submit(context, 0);
}

static void submitter_1(void *context)
{
	submit(context, 1);
}

static void waker(void *context)
{
	struct world *w = context;
	struct weir_executor *executor = weir_loop_executor(w->loop);

	ck_pr_store_32(&w->flag, 1);
	executor->ops->wake(executor);
}

/* Waits as a program does, which has seen in vain that nothing is there. */
static void owner_of_one(void *context)
{
	struct world *w = context;

	weir_loop_run(w->loop, 1);
	while (!w->tasks[0].runs)
		weir_loop_wait(w->loop, 1, WEIR_FOREVER);
}

static void owner_of_two(void *context)
{
	struct world *w = context;

	while (!w->tasks[0].runs || !w->tasks[1].runs)
		weir_loop_wait(w->loop, 1, WEIR_FOREVER);
}

static void setup_again(void *context)
{
	struct world *w = context;

	setup(w);
	w->tasks[0].left = 1;
}

static void owner_of_one_again(void *context)
{
	struct world *w = context;

	while (w->tasks[0].runs < 2 || !w->tasks[1].runs)
		weir_loop_wait(w->loop, 1, WEIR_FOREVER);
}

static void owner_of_flag(void *context)
{
	struct world *w = context;

	while (!ck_pr_load_32(&w->flag))
		weir_loop_wait(w->loop, 1, WEIR_FOREVER);
}

static void nothing_is_left(void *context)
{
	struct world *w = context;

	/* What a late submitter wrote is taken back by the next run. */
	weir_loop_run(w->loop, 1);
	explorer_assert(!w->readable);
	explorer_assert(weir_loop_free(w->loop) == 0);
}

/*
 * Actors of the loop's that are released on other threads: its owner frees it
 * when none is alive, or when a drain has told it so.
 */

static void set_up_actors(struct world *w, int n)
{
	int i;

	setup(w);
	for (i = 0; i < n; i++)
		assert(weir__registry_add(weir_loop_executor(w->loop),
					  &w->tasks[i].task,
					  &w->indices[i]) == 0);
}

static void drain_over(struct weir_ending *drain)
{
	struct ending *self = weir_container_of(drain, struct ending, drain);

	ck_pr_fence_release();
	ck_pr_store_32(&self->over, 1);
}

static void setup_actor(void *context)
{
	set_up_actors(context, 1);
}

static void setup_actors(void *context)
{
	set_up_actors(context, 2);
}

static void setup_drained(void *context)
{
	struct world *w = context;

	set_up_actors(w, 1);
	w->ending.drain.done = drain_over;
	assert(weir_executor_end_async(weir_loop_executor(w->loop),
				       &w->ending.drain, WEIR_FOREVER) == 0);
}

static void release(struct world *w, int i)
{
	struct weir_executor *executor = weir_loop_executor(w->loop);

	weir__registry_remove(executor, w->indices[i]);
	weir__registry_done(executor);
}

static void releaser_0(void *context)
{
	release(context, 0);
}

static void releaser_1(void *context)
{
	release(context, 1);
}

static void owner_of_actors(void *context)
{
	struct weir_loop *loop = ((struct world *)context)->loop;

	while (weir_executor_alive(weir_loop_executor(loop)))
		weir_loop_wait(loop, 1, WEIR_FOREVER);
	explorer_assert(weir_loop_free(loop) == 0);
}

static void owner_of_drain(void *context)
{
	struct world *w = context;

	while (!ck_pr_load_32(&w->ending.over))
		weir_loop_wait(w->loop, 1, WEIR_FOREVER);
	ck_pr_fence_acquire();
	explorer_assert(w->ending.drain.actors_left == 0);
	explorer_assert(weir_loop_free(w->loop) == 0);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "one submission", .check = nothing_is_left,
		 .setup = setup, .thread = {owner_of_one, submitter_0}),
	SCENARIO(.name = "two submissions", .check = nothing_is_left,
		 .setup = setup,
		 .thread = {owner_of_two, submitter_0, submitter_1}),
	SCENARIO(.name = "one submits itself again", .check = nothing_is_left,
		 .setup = setup_again,
		 .thread = {owner_of_one_again, submitter_0, submitter_1}),
	SCENARIO(.name = "a wake", .check = nothing_is_left, .setup = setup,
		 .thread = {owner_of_flag, waker}),
	SCENARIO(.name = "a wake behind a submission", .check = nothing_is_left,
		 .setup = setup, .thread = {owner_of_flag, submitter_0, waker}),
	SCENARIO(.name = "the last release", .setup = setup_actor,
		 .thread = {owner_of_actors, releaser_0}),
	SCENARIO(.name = "two releases, one of them the last",
		 .setup = setup_actors,
		 .thread = {owner_of_actors, releaser_0, releaser_1}),
	SCENARIO(.name = "the end of a drain", .setup = setup_drained,
		 .thread = {owner_of_drain, releaser_0}),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "nothing_is_forgotten", .groups = GROUPS(&all)},
	{.name = "nothing_is_forgotten_on_x86",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "executor/loop.c"},
};
const size_t n_model_cases = N_OF(model_cases);
