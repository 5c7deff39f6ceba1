/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared semaphore and its port, under all interleavings: a permit is had
 * by one at a time and orders what its holders do, none is lost or doubled
 * when a waiter gives up or its actor is stopped, and who came by the last
 * permit may free the semaphore.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/semaphore.h>

#include "executor/living.h"
#include "runner.h"

struct holder {
	struct weir_actor actor;
	struct weir_semaphore_port port;
};

static struct world {
	struct weir_semaphore semaphore;
	struct weir_semaphore *freed; /* by who has got its permit */
	struct weir_acquire acquire;
	uint32_t payload; /* plain: guarded by the only permit */
	uint32_t granted; /* plain: read by `check` */
	struct weir_executor executor;
	struct holder holder;
	uint32_t turns, released; /* plain */
	bool ignores;
} world;

static void with_permits(struct world *w, int64_t permits)
{
	explorer_assert(weir_semaphore_init(&w->semaphore, permits) == 0);
	explorer_name(&w->semaphore, sizeof(w->semaphore), "semaphore");
}

static void no_permit(void *context)
{
	with_permits(context, 0);
}

static void one_permit(void *context)
{
	with_permits(context, 1);
}

static void release(struct world *w)
{
	explorer_assert(weir_semaphore_release(&w->semaphore, 1) == 0);
}

/* The only permit guards the payload. */
static void waits(void *context)
{
	struct world *w = context;

	explorer_assert(weir_semaphore_acquire_wait(&w->semaphore, 1,
						    WEIR_FOREVER) == 0);
	w->payload++;
	release(w);
}

static void tries(void *context)
{
	struct world *w = context;

	if (weir_semaphore_try_acquire(&w->semaphore, 1) != 0)
		return;
	w->payload++;
	release(w);
}

static void granted(struct weir_acquire *acquire)
{
	struct world *w = weir_container_of(acquire, struct world, acquire);

	w->granted++;
	w->payload++;
}

static void ask_and_cancel(struct world *w, int64_t n)
{
	w->acquire.granted = granted;
	explorer_assert(weir_semaphore_acquire_async(&w->semaphore, &w->acquire,
						     n) == 0);
	(void)weir_semaphore_cancel(&w->semaphore, &w->acquire);
}

static void gives_up(void *context)
{
	ask_and_cancel(context, 1);
}

/* More than there will ever be: what comes meanwhile is passed on. */
static void passes_on(void *context)
{
	ask_and_cancel(context, 2);
}

static void gives(void *context)
{
	struct world *w = context;

	w->payload++;
	release(w);
}

static void times_out(void *context)
{
	struct world *w = context;

	if (weir_semaphore_acquire_wait(&w->semaphore, 1, 0) != 0)
		return;
	w->payload++;
	release(w);
}

static void one_is_left(void *context)
{
	struct world *w = context;

	explorer_assert(weir_semaphore_permits(&w->semaphore) + w->granted ==
			1);
	explorer_assert(weir_semaphore_fini(&w->semaphore) == 0);
}

/* --- Freed by who has the permit ---------------------------------------- */

static void on_the_heap(void *context)
{
	struct world *w = context;

	w->freed = explorer_alloc(sizeof(*w->freed));
	explorer_assert(weir_semaphore_init(w->freed, 0) == 0);
}

static void waits_and_frees(void *context)
{
	struct world *w = context;

	explorer_assert(
		weir_semaphore_acquire_wait(w->freed, 1, WEIR_FOREVER) == 0);
	explorer_assert(weir_semaphore_fini(w->freed) == 0);
	explorer_free(w->freed);
}

static void gives_the_last(void *context)
{
	struct world *w = context;

	explorer_assert(weir_semaphore_release(w->freed, 1) == 0);
}

/* --- The port ----------------------------------------------------------- */

/* Runs at once what is submitted, on the thread that submits it. */
static int submit(struct weir_executor *executor, struct weir_task *task)
{
	weir_task_run(task);
	return 0;
}

static uint64_t now(struct weir_executor *executor)
{
	return 0;
}

static const struct weir_executor_ops executor_ops = {
	.submit = submit,
	.now = now,
};

static void *heap_alloc(size_t size, void *context)
{
	return explorer_alloc(size);
}

static void heap_free(void *memory, size_t size, void *context)
{
	explorer_free(memory);
}

static const struct weir_allocator heap = {
	.alloc = heap_alloc,
	.free = heap_free,
};

static uint32_t turn(struct weir_actor *actor, uint32_t n)
{
	struct world *w = weir_container_of(actor, struct world, holder.actor);

	explorer_assert(weir_semaphore_port_take(&w->holder.port, 1) == 0);
	w->turns++;
	w->granted++;
	w->payload++;
	return 1;
}

static void actor_released(struct weir_actor *actor)
{
	weir_container_of(actor, struct world, holder.actor)->released++;
}

/* Ignores its port at one signal and requires it at the next. */
static int toggle(struct weir_actor *actor)
{
	struct world *w = weir_container_of(actor, struct world, holder.actor);
	struct weir_port *port = &w->holder.port.port;

	w->ignores = !w->ignores;
	return w->ignores ? weir_port_ignore(port) : weir_port_require(port);
}

static const struct weir_actor_ops holder_ops = {
	.turns = turn,
	.signalled = toggle,
	.released = actor_released,
};

static void with_new_actor(void *context)
{
	const struct weir_executor_options options = {.allocator = &heap};
	struct world *w = context;

	no_permit(w);
	/* an execution that was left early has left its own there */
	if (weir__living)
		*weir__living = (struct weir__living_list){.begun = true};
	explorer_assert(
		weir_executor_init(&w->executor, &executor_ops, &options) == 0);
	explorer_assert(weir_actor_init(&w->holder.actor, &holder_ops,
					&w->executor) == 0);
	explorer_assert(weir_semaphore_port_init(&w->holder.port,
						 &w->holder.actor,
						 &w->semaphore) == 0);
	weir_actor_ref(&w->holder.actor);
}

static void starts_it(void *context)
{
	struct world *w = context;

	explorer_assert(weir_actor_start(&w->holder.actor) == 0);
}

/* Its first slice has run: the port is in the queue. */
static void with_actor(void *context)
{
	with_new_actor(context);
	starts_it(context);
}

static void changes_its_mind(void *context)
{
	struct world *w = context;

	weir_actor_signal(&w->holder.actor);
	weir_actor_signal(&w->holder.actor);
}

static void stops_it(void *context)
{
	struct world *w = context;

	weir_actor_stop(&w->holder.actor);
	weir_actor_unref(&w->holder.actor);
}

static void one_is_left_and_the_actor_gone(void *context)
{
	struct world *w = context;

	explorer_assert(w->released == 1);
	explorer_assert(weir_executor_fini(&w->executor) == 0);
	one_is_left(w);
}

/* The last signal may have left the port ignored: two may become one. */
static void it_has_run(void *context)
{
	struct world *w = context;

	if (w->ignores)
		weir_actor_signal(&w->holder.actor);
	explorer_assert(w->turns == 1);
	stops_it(w);
	one_is_left_and_the_actor_gone(w);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "two wait for one permit", .setup = one_permit,
		 .thread = {waits, waits}, .check = one_is_left),
	SCENARIO(.name = "one waits and one tries", .setup = one_permit,
		 .thread = {waits, tries}, .check = one_is_left),
	SCENARIO(.name = "a permit is handed over", .setup = no_permit,
		 .thread = {waits, gives}, .check = one_is_left),
	SCENARIO(.name = "a cancel races a grant", .setup = no_permit,
		 .thread = {gives_up, gives}, .check = one_is_left),
	SCENARIO(.name = "a permit passes a waiter that gives up",
		 .setup = no_permit, .thread = {gives, passes_on, tries},
		 .check = one_is_left),
	SCENARIO(.name = "a timeout races a grant", .setup = no_permit,
		 .thread = {times_out, gives}, .check = one_is_left),
	SCENARIO(.name = "who has the permit frees it", .setup = on_the_heap,
		 .thread = {waits_and_frees, gives_the_last}),
	SCENARIO(.name = "a grant fires an actor", .setup = with_actor,
		 .thread = {gives, tries}, .check = it_has_run),
	SCENARIO(.name = "an actor arms while a permit is granted",
		 .setup = with_new_actor, .thread = {starts_it, gives},
		 .check = it_has_run),
	SCENARIO(.name = "a port is ignored while a permit is granted",
		 .setup = with_actor, .thread = {changes_its_mind, gives},
		 .check = it_has_run),
	SCENARIO(.name = "a stop races a grant", .setup = with_actor,
		 .thread = {stops_it, gives},
		 .check = one_is_left_and_the_actor_gone),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "no_permit_is_lost_or_doubled", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "sync/semaphore.c"},
	{.name = "every_fence_of_grants_is_needed",
	 .groups = GROUPS(&all),
	 .files = "sync/grant.c"},
};
const size_t n_model_cases = N_OF(model_cases);
