/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the islands of a run have in common, and how it is over.
 *
 * A run is over on the executor that it was started on, whichever thread
 * releases the last island. So the run is an actor of that executor. It has no
 * ports, and is held like a new actor (rule 1 of firing.c) until all islands
 * are gone. Then it is submitted, and its first slice is its final one.
 */
#include "flow/engine/run.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/ending.h"
#include "actor/firing.h"
#include "actor/gate.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "executor/registry.h"
#include "flow/engine/island.h"

/* --- Their memory --------------------------------------------------------- */

struct weir_flow_run *weir__run_new(struct weir_flow *flow,
				    struct weir_executor *executor,
				    const struct weir_flow_run_options *options)
{
	const struct weir_allocator *allocator = executor->options.allocator;
	struct weir_flow_run *run = weir__alloc(allocator, sizeof(*run));

	if (!run)
		return NULL;
	run->allocator = allocator;
	run->executor = executor;
	run->flow = flow;
	run->refs = 2;
	/* one more than there are islands: the run cannot be over while we make
	 * it */
	run->n_alive = 1;
	if (options)
		run->options = *options;
	(void)weir_completion_init(&run->over);
	return run;
}

static void drop_result(struct weir_flow_run *run)
{
	const struct weir_items *items = run->result_items;

	if (run->has_result && items && items->drop)
		items->drop(run->result, items->context);
	run->has_result = false;
	run->result = NULL;
}

static void run_unref(struct weir_flow_run *run)
{
	if (!weir__unref(&run->refs))
		return;
	drop_result(run);
	weir_error_unref(run->error);
	weir__not_refused(weir_completion_fini(&run->over));
	weir__free(run->allocator, run, sizeof(*run));
}

void weir_flow_run_free(struct weir_flow_run *run)
{
	if (run)
		run_unref(run);
}

/* --- Their end ------------------------------------------------------------ */

struct weir_error weir__run_cancelled = {
	.code = -ECANCELED,
	.origin = "flow",
	.message = "the run was cancelled",
};

void weir__run_fail(struct weir_flow_run *run, struct weir_error *error)
{
	(void)weir_error_ref(error);
	/* release: the error, if it was made here; pairs with the acquire of
	 * the last reference */
	ck_pr_fence_release();
	if (!ck_pr_cas_ptr(&run->error, NULL, error))
		weir_error_unref(error);
}

static void *take_result(struct weir_flow_run *run)
{
	void *result = run->result;

	run->has_result = false;
	run->result = NULL;
	return result;
}

static void run_over(struct weir_flow_run *run)
{
	struct weir_flow_run_options options = run->options;
	/* once: a cancel that comes from now on is too late */
	struct weir_error *error = ck_pr_load_ptr(&run->error);
	void *result = NULL;

	/* acquire: the error; pairs with the release in weir__run_fail() */
	ck_pr_fence_acquire();
	if (error)
		drop_result(run);
	if (options.done)
		result = take_result(run);
	if (error)
		(void)weir_completion_fail(&run->over, error);
	else
		(void)weir_completion_complete(&run->over, NULL);
	if (options.done)
		options.done(error, result, options.context);
	run_unref(run);
}

/* The actor is held until the islands are gone, so this is its final slice. */
static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	assert(false);
	return n;
}

static struct weir_flow_run *run_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_flow_run, actor);
}

/* The actor leaves its executor; from here on it has a reference to be
 * dropped. */
static void run_stopped(struct weir_actor *actor, struct weir_error *error)
{
	weir__registry_remove(actor->executor, actor->index);
	assert(!actor->refs);
	actor->refs = 1;
}

static void run_released(struct weir_actor *actor)
{
	struct weir_executor *executor = actor->executor;

	run_over(run_of(actor));
	weir__registry_done(executor);
}

static const struct weir_actor_ops over_ops = {
	.name = "run",
	.turns = no_turns,
	.stopped = run_stopped,
	.released = run_released,
};

/*
 * The run's actor has no references. So neither a drain nor an abort of the
 * executor takes one: these are for the islands. The actor's own slice releases
 * it.
 */
int weir__run_keep(struct weir_flow_run *run)
{
	struct weir_actor *actor = &run->actor;
	int rc = weir_actor_init(actor, &over_ops, run->executor);

	assert(rc == 0);
	actor->refs = 0;
	/* SCHEDULED is held, as by an actor that has been submitted */
	weir__set_state(actor, WEIR__STATE_RUNNING);
	rc = weir__registry_add(run->executor, &actor->task, &actor->index);
	run->kept = rc == 0;
	return rc;
}

void weir__run_unkeep(struct weir_flow_run *run)
{
	if (!run->kept)
		return;
	run->kept = false;
	weir__registry_remove(run->executor, run->actor.index);
	weir__registry_done(run->executor);
}

/*
 * The run may be over, and its executor may be freed, before the submission
 * returns.
 */
static void submit(struct weir_flow_run *run)
{
	struct weir_executor *executor = run->executor;
	/* a thread of the executor is joined before the executor is freed */
	bool outside = !weir__shard_of(executor->registry);

	weir__actor_end(&run->actor, NULL, false);
	if (outside)
		weir__registry_hold(executor);
	weir__actor_submit(&run->actor);
	if (outside)
		weir__registry_done(executor);
}

void weir__run_island_stopped(struct weir_flow_run *run,
			      struct weir__island *island)
{
	struct weir__island **link = &run->live;

	weir__lock(&run->lock);
	while (*link != island) {
		/* an island stops once, so it is in the list */
		assert(*link);
		link = &(*link)->live;
	}
	*link = island->live;
	weir__unlock(&run->lock);
}

void weir__run_island_released(struct weir_flow_run *run)
{
	/* the writes of all islands come first, also with an executor that
	 * refuses: then the run is over here */
	if (!weir__unref(&run->n_alive))
		return;
	if (run->kept)
		submit(run);
	else
		run_over(run);
}

/* --- Waiting -------------------------------------------------------------- */

struct weir_completion *weir_flow_run_over(struct weir_flow_run *run)
{
	return run ? &run->over : NULL;
}

int weir_flow_run_wait(struct weir_flow_run *run, uint64_t timeout_ns,
		       void **result, struct weir_error **error)
{
	int rc;

	if (!run)
		return -EINVAL;
	rc = weir_completion_wait(&run->over, timeout_ns);
	if (rc < 0)
		return rc;
	if (result)
		*result = take_result(run);
	if (error)
		*error = weir_error_ref(weir_completion_error(&run->over));
	return 0;
}
