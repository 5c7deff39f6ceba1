/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of flows, as their users see them: made, started, ended and stopped. */
#include "flow/engine/start.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "base/lock.h"
#include "base/options.h"
#include "executor/registry.h"
#include "executor/thread.h"
#include "executor/wait.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/exit.h"
#include "flow/engine/items.h"
#include "sync/wake.h"

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
	weir__run_unkeep(run);
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
	*run = weir__run_new(flow, executor, options);
	if (!*run) {
		weir__flow_unclaim(flow);
		return -ENOMEM;
	}
	rc = build(*run);
	if (rc == 0)
		rc = weir__run_keep(*run);
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

/* --- Their end ------------------------------------------------------------ */

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

/* --- Waiting for one ------------------------------------------------------ */

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

/* The caller waits for the run, so it is about to run its executors. */
static int start_here(struct weir_flow *flow, struct weir_executor *executor,
		      struct weir_flow_run **run)
{
	bool owns = weir__owns(executor);
	int rc;

	if (owns)
		weir__thread.runs_soon = executor;
	rc = weir_flow_start(flow, executor, NULL, run);
	weir__thread.runs_soon = NULL;
	/* islands that were given up are left to run */
	if (rc < 0 && owns)
		executor->ops->wake(executor);
	return rc;
}

int weir_flow_run(struct weir_flow *flow, struct weir_executor *executor,
		  void **result)
{
	struct weir_error *error = NULL;
	struct weir_flow_run *run = NULL;
	int rc = weir__wake_wait_allowed();

	if (result)
		*result = NULL;
	if (rc == 0)
		rc = start_here(flow, executor, &run);
	if (rc < 0)
		return rc;
	assert(run); /* it has started */
	rc = weir_flow_run_wait(run, WEIR_FOREVER, result, &error);
	if (rc == -EDEADLK)
		rc = wait_at_rest(run, result, &error);
	if (error)
		rc = error->code;
	weir_error_unref(error);
	weir_flow_run_free(run);
	return rc;
}
