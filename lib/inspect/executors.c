/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executors and their threads in a snapshot. That an actor waits for a thread is
 * said only when two looks have found that no slice has ended between them.
 */
#include "inspect/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include <weir/actor.h>

#include "base/memory.h"
#include "executor/registry.h"

/* A look at one executor under way. */
struct looking {
	struct weir__executor_look look; /* first */
	struct weir__snapshot *snapshot;
	bool full; /* there was no room */
};

static void add_thread(struct weir__executor_look *look,
		       const struct weir_seen_thread *thread,
		       const struct weir_task *task)
{
	struct looking *self = weir_container_of(look, struct looking, look);
	struct weir__snapshot *snapshot = self->snapshot;
	struct weir_seen_thread *seen =
		&snapshot->threads[snapshot->seen.n_threads];

	self->full = snapshot->seen.n_threads == snapshot->rooms.threads;
	if (self->full)
		return;
	*seen = *thread;
	seen->executor = snapshot->seen.n_executors;
	seen->actor = WEIR_NOWHERE;
	if (task)
		seen->running =
			weir_container_of(task, const struct weir_actor, task);
	look->seen->busy += task != NULL;
	look->seen->n_threads++;
	snapshot->seen.n_threads++;
}

bool weir__snapshot_executor(struct weir__snapshot *snapshot,
			     struct weir_executor *executor)
{
	struct weir_seen_executor *seen =
		&snapshot->executors[snapshot->seen.n_executors];
	struct looking looking = {
		.look = {.seen = seen, .thread = add_thread},
		.snapshot = snapshot,
	};

	assert(snapshot->seen.n_executors < snapshot->rooms.executors);
	*seen = (struct weir_seen_executor){
		.executor = executor,
		.thread = snapshot->seen.n_threads,
	};
	if (executor->registry->look)
		executor->registry->look(executor, &looking.look);
	if (seen->kind != WEIR_EXECUTOR_SIM)
		seen->now_ns = executor->ops->now(executor);
	snapshot->seen.n_executors++;
	return !looking.full;
}

/* --- Who runs, who is due ------------------------------------------------- */

static int by_actor(const void *one, const void *other)
{
	const struct weir_seen_thread *const *a = one, *const *b = other;
	uintptr_t x = (uintptr_t)(*a)->running, y = (uintptr_t)(*b)->running;

	return (x > y) - (x < y);
}

/* The threads in the order of the actors they run. */
static struct weir_seen_thread **sorted(const struct weir__snapshot *self)
{
	size_t n = self->seen.n_threads, i;
	struct weir_seen_thread **threads = weir__alloc(
		self->allocator, (self->rooms.threads + 1) * sizeof(*threads));

	if (!threads)
		return NULL;
	for (i = 0; i < n; i++)
		threads[i] = &self->threads[i];
	qsort(threads, n, sizeof(*threads), by_actor);
	return threads;
}

/* Its thread, or NULL: it does not run. */
static struct weir_seen_thread *thread_of(
	const struct weir__snapshot *self,
	struct weir_seen_thread *const *threads,
	const struct weir_seen_actor *actor)
{
	const struct weir_seen_thread key = {.running = actor->actor},
				      *wanted = &key;
	struct weir_seen_thread *const *found;

	found = bsearch(&wanted, threads, self->seen.n_threads,
			sizeof(*threads), by_actor);
	return found ? *found : NULL;
}

/* Of an actor that is neither starting nor leaving. */
static enum weir_seen_state state_of(enum weir_wait wait)
{
	if (weir__wait_halted(wait))
		return WEIR_SEEN_STATE_HALTED;
	return wait == WEIR_WAIT_NONE	  ? WEIR_SEEN_STATE_QUEUED
	       : wait == WEIR_WAIT_RESUME ? WEIR_SEEN_STATE_SUSPENDED
					  : WEIR_SEEN_STATE_WAITING;
}

/* Its slice is due, and does not run. */
static bool is_due(const struct weir_seen_actor *actor)
{
	return actor->wait == WEIR_WAIT_NONE && actor->home != WEIR_NOWHERE &&
	       actor->thread == WEIR_NOWHERE;
}

int weir__snapshot_runs(struct weir__snapshot *self)
{
	struct weir_seen_thread **threads = sorted(self), *thread;
	struct weir_seen_actor *actor;
	size_t i;

	if (!threads)
		return -ENOMEM;
	for (i = 0; i < self->seen.n_actors; i++) {
		actor = &self->actors[i];
		actor->thread = actor->child = actor->pool = actor->holder =
			WEIR_NOWHERE;
		if (actor->home >= self->seen.n_executors)
			actor->home = WEIR_NOWHERE;
		if (actor->state == WEIR_SEEN_STATE_WAITING)
			actor->state = state_of(actor->wait);
		thread = thread_of(self, threads, actor);
		if (thread) {
			/* what it is about to wait for does not count */
			actor->wait = WEIR_WAIT_NONE;
			actor->state = WEIR_SEEN_STATE_RUNNING;
			actor->thread = (size_t)(thread - self->threads);
			thread->actor = i;
		} else if (is_due(actor)) {
			self->executors[actor->home].queued++;
		}
	}
	weir__free(self->allocator, threads,
		   (self->rooms.threads + 1) * sizeof(*threads));
	return 0;
}

/* --- Who stays where it is ------------------------------------------------ */

/* The same executor in another look, in which there may be more or fewer; NULL:
 * it is not there. */
static const struct weir_seen_executor *same_in(
	const struct weir_snapshot *look, size_t at,
	const struct weir_executor *executor)
{
	size_t i;

	if (at < look->n_executors && look->executors[at].executor == executor)
		return &look->executors[at];
	for (i = 0; i < look->n_executors; i++)
		if (look->executors[i].executor == executor)
			return &look->executors[i];
	return NULL;
}

static bool stays(const struct weir_seen_thread *thread,
		  const struct weir_snapshot *look,
		  const struct weir_seen_executor *executor)
{
	const struct weir_seen_thread *other = &look->threads[executor->thread];
	size_t i;

	for (i = 0; i < executor->n_threads && other->id != thread->id; i++)
		other++;
	return i < executor->n_threads && thread->running &&
	       other->running == thread->running &&
	       other->slices == thread->slices;
}

void weir__snapshot_stays(struct weir__snapshot *self,
			  const struct weir_snapshot *look)
{
	const struct weir_seen_executor *other;
	struct weir_seen_executor *executor;
	size_t i, t;

	for (i = 0; i < self->seen.n_executors; i++) {
		executor = &self->executors[i];
		other = same_in(look, i, executor->executor);
		if (!other || executor->kind == WEIR_EXECUTOR_OTHER)
			continue;
		executor->stands = executor->slices == other->slices &&
				   executor->busy == other->busy &&
				   executor->n_threads == other->n_threads;
		for (t = executor->thread;
		     t < executor->thread + executor->n_threads; t++)
			self->threads[t].stays =
				stays(&self->threads[t], look, other);
	}
}

/* Of an actor that is due: who has its thread; WEIR_NOWHERE: nobody. */
static size_t holder_of(const struct weir_snapshot *seen,
			const struct weir_seen_actor *actor)
{
	const struct weir_seen_executor *home = &seen->executors[actor->home];
	const struct weir_seen_thread *thread = &seen->threads[home->thread];
	size_t i;

	for (i = 0; i < home->n_threads; i++)
		if (thread[i].bound == actor->executor)
			return thread[i].actor;
	if (home->busy < home->threads_max)
		return WEIR_NOWHERE;
	for (i = 0; i < home->n_threads; i++)
		if (thread[i].actor != WEIR_NOWHERE)
			return thread[i].actor;
	return WEIR_NOWHERE;
}

/* Nobody runs it, but perhaps the thread that looks, when it has looked. */
static bool is_left_alone(const struct weir_seen_executor *executor)
{
	return executor->n_threads == 0 && !executor->own &&
	       (executor->kind == WEIR_EXECUTOR_LOOP ||
		executor->kind == WEIR_EXECUTOR_SIM);
}

static bool any_stands(const struct weir__snapshot *self)
{
	size_t i;

	for (i = 0; i < self->seen.n_executors; i++)
		if (self->executors[i].stands)
			return true;
	return false;
}

void weir__snapshot_due(struct weir__snapshot *self)
{
	const struct weir_seen_executor *home;
	struct weir_seen_actor *actor;
	size_t i;

	if (!any_stands(self))
		return;
	for (i = 0; i < self->seen.n_actors; i++) {
		actor = &self->actors[i];
		if (!is_due(actor) || !self->executors[actor->home].stands)
			continue;
		home = &self->executors[actor->home];
		actor->holder = holder_of(&self->seen, actor);
		if (actor->holder != WEIR_NOWHERE || is_left_alone(home))
			actor->wait = WEIR_WAIT_THREAD;
	}
}
