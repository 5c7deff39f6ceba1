/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of flows, as their users see them.
 *
 * A run is over on the executor that it was started on, whichever thread
 * releases the last island. So the run is an actor of that executor. It has no
 * ports, and is held like a new actor (rule 1 of gate.c) until all islands are
 * gone. Then it is submitted, and its first slice is its final one.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/thread.h"
#include "executor/registry.h"
#include "executor/wait.h"
#include "flow/engine/exit.h"

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
	bool last;

	/* release: what we did with it; acquire: what the others did */
	ck_pr_fence_release();
	ck_pr_dec_32_zero(&run->refs, &last);
	if (!last)
		return;
	ck_pr_fence_acquire();
	drop_result(run);
	weir_error_unref(run->error);
	weir__not_refused(weir_completion_fini(&run->over));
	weir__free(run->allocator, run, sizeof(*run));
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
static int keep(struct weir_flow_run *run)
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

/* Of a run that never was. */
static void unkeep(struct weir_flow_run *run)
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

void weir__run_island_released(struct weir_flow_run *run)
{
	bool last;

	/* release: the island's writes; acquire: those of the others, for an
	 * executor that refuses: then the run is over here */
	ck_pr_fence_release();
	ck_pr_dec_32_zero(&run->n_alive, &last);
	if (!last)
		return;
	ck_pr_fence_acquire();
	if (run->kept)
		submit(run);
	else
		run_over(run);
}

/* --- Their start ---------------------------------------------------------- */

/* Recursion is bounded: see struct weir_flow.
 * NOLINTNEXTLINE(misc-no-recursion) */
void weir__flow_unclaim(struct weir_flow *flow)
{
	uint32_t i;

	for (i = 0; i < flow->n_up; i++)
		weir__flow_unclaim(flow->up[i]);
	if (flow->kind->unclaim)
		flow->kind->unclaim(flow);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
int weir__flow_claim(struct weir_flow *flow)
{
	uint32_t n = 0; /* the flows above that are claimed */
	int rc = 0;

	while (n < flow->n_up && (rc = weir__flow_claim(flow->up[n])) == 0)
		n++;
	if (rc == 0 && flow->kind->claim)
		rc = flow->kind->claim(flow);
	while (rc != 0 && n > 0)
		weir__flow_unclaim(flow->up[--n]);
	return rc;
}

static struct weir_flow_run *run_new(
	struct weir_flow *flow, struct weir_executor *executor,
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

static int build(struct weir_flow_run *run)
{
	int code = -ENOMEM;
	struct weir__build build = {
		.run = run,
		.executor = run->executor,
		.code = &code,
	};
	struct weir__op *root;

	build.island = weir__island_new(run, run->executor, &weir__end_result);
	if (!build.island)
		return -ENOMEM;
	build.tree = build.island->tree;
	root = weir__build(&build, run->flow);
	if (!root)
		return code;
	return weir__island_ready(build.island, root);
}

/*
 * Starts the islands. The list is ordered from the sources to the end; the last
 * one starts first, so that each island finds the island below it started. A
 * island may end as soon as it runs, so we hold all islands until we are done.
 * If an island cannot be started, all islands end, started or not.
 */
static int start(struct weir_flow_run *run, bool *runs)
{
	struct weir__island *first = NULL, *next = run->islands, *island;
	int rc = 0;

	assert(next && !run->begun);
	while ((island = next)) {
		next = island->next;
		island->next = first;
		first = island;
		(void)weir_actor_ref(&island->actor);
	}
	run->begun = true;
	for (island = first; island && rc == 0; island = island->next) {
		rc = weir_actor_start(&island->actor);
		*runs = *runs || rc == 0;
	}
	if (rc < 0)
		weir__run_fail(run, weir_error_of(rc));
	if (!*runs)
		run->begun = false;
	for (island = first; island; island = next) {
		next = island->next;
		if (rc < 0)
			weir_actor_stop(&island->actor);
		weir_actor_unref(&island->actor);
	}
	run->islands = NULL;
	return rc;
}

/* No island has run: frees everything that was made. */
static int give_up(struct weir_flow_run *run, int code)
{
	struct weir__island *island, *next;

	run->options.done = NULL;
	for (island = run->islands; island; island = next) {
		next = island->next;
		weir_actor_stop(&island->actor);
	}
	weir__flow_unclaim(run->flow);
	unkeep(run);
	weir__run_island_released(run);
	weir_flow_run_free(run);
	return code;
}

bool weir__run_options_valid(const struct weir_flow_run_options *options)
{
	return !options || (options->unfused <= WEIR_CAPACITY_MAX &&
			    (options->unfused & (options->unfused - 1)) == 0 &&
			    weir__reserved_zero(options->reserved));
}

/* Starts a run. The flow has not failed, and the other arguments are valid. */
static int start_run(struct weir_flow *flow, struct weir_executor *executor,
		     const struct weir_flow_run_options *options,
		     struct weir_flow_run **run)
{
	bool runs = false;
	int rc = weir__flow_claim(flow);

	if (rc < 0)
		return rc;
	*run = run_new(flow, executor, options);
	if (!*run) {
		weir__flow_unclaim(flow);
		return -ENOMEM;
	}
	rc = build(*run);
	if (rc == 0)
		rc = keep(*run);
	if (rc == 0)
		rc = start(*run, &runs);
	if (rc == 0 || runs) {
		weir__run_island_released(*run);
		return 0;
	}
	rc = give_up(*run, rc);
	*run = NULL;
	return rc;
}

int weir_flow_start(struct weir_flow *flow, struct weir_executor *executor,
		    const struct weir_flow_run_options *options,
		    struct weir_flow_run **run)
{
	struct weir_flow_run *made = NULL;
	struct weir__misfit misfit;
	int rc;

	if (run)
		*run = NULL;
	if (!flow || !executor || !executor->registry ||
	    !weir__run_options_valid(options))
		return -EINVAL;
	rc = weir__flow_check(flow, NULL, NULL);
	if (rc == 0)
		rc = flow->taken ? -EBUSY : 0;
	if (rc == 0)
		rc = weir__flow_misfit(flow, &misfit) ? -EINVAL : 0;
	if (rc == 0)
		rc = start_run(flow, executor, options, &made);
	if (rc < 0)
		return rc;
	if (run)
		*run = made;
	else
		weir_flow_run_free(made);
	return 0;
}

/* --- Handles -------------------------------------------------------------- */

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

/*
 * The simulators of this thread have nothing left to do. A run on one of them
 * is cancelled, which gives the simulator work. A run elsewhere need not be:
 * everything about a simulator happens on one thread.
 */
static int wait_at_rest(struct weir_flow_run *run, void **result,
			struct weir_error **error)
{
	struct weir__owned *owned = weir__thread.owned;
	int rc;

	if (weir__owns(run->executor))
		weir_flow_run_stop(run, weir_error_of(-EDEADLK));
	else
		weir__thread.owned = NULL;
	rc = weir_flow_run_wait(run, WEIR_FOREVER, result, error);
	weir__thread.owned = owned;
	return rc;
}

int weir_flow_run(struct weir_flow *flow, struct weir_executor *executor,
		  void **result)
{
	struct weir_error *error = NULL;
	struct weir_flow_run *run = NULL;
	int rc = weir__wait_allowed();

	if (result)
		*result = NULL;
	if (rc == 0)
		rc = weir_flow_start(flow, executor, NULL, &run);
	if (rc < 0)
		return rc;
	rc = weir_flow_run_wait(run, WEIR_FOREVER, result, &error);
	if (rc == -EDEADLK)
		rc = wait_at_rest(run, result, &error);
	if (error)
		rc = error->code;
	weir_error_unref(error);
	weir_flow_run_free(run);
	return rc;
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

/* Tells each live island. An island in the list has a reference until it leaves
 * the list. */
static void each_live(struct weir_flow_run *run,
		      void (*tell)(struct weir_actor *actor))
{
	bool held = weir__hold_back();
	struct weir__island *island;

	weir__lock(&run->lock);
	for (island = run->live; island; island = island->live)
		tell(&island->actor);
	weir__unlock(&run->lock);
	weir__let_go(held);
}

void weir_flow_run_end(struct weir_flow_run *run)
{
	if (!run)
		return;
	/* the signal's fences order it */
	ck_pr_store_32(&run->draining, 1);
	each_live(run, weir_actor_signal);
}

void weir_flow_run_stop(struct weir_flow_run *run, struct weir_error *error)
{
	bool held;

	if (!run || weir_completion_done(&run->over))
		return;
	weir__run_fail(run, error ? error : &weir__run_cancelled);
	each_live(run, weir_actor_stop);
	held = weir__hold_back();
	weir__lock(&run->lock);
	weir__exits_cancel(run);
	weir__unlock(&run->lock);
	weir__let_go(held);
}

void weir_flow_run_free(struct weir_flow_run *run)
{
	if (run)
		run_unref(run);
}
