/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One failure and its answer against whatever others do to the actor at that
 * moment: no order is lost, none is followed twice.
 */
#include "supervision_kit.h"

#include <ck_pr.h>

/* --- One actor, which fails at token 0 ------------------------------------ */

static void one(void *context, const struct weir_strategy *strategy,
		uint32_t hooks, uint32_t lent)
{
	struct family *f = family_open(context, strategy);

	family_child(f, USER, hooks, NULL);
	f->deeds[0] = FAILS;
	family_lend(f, 0, lent);
}

static void one_resumes(void *context)
{
	one(context, &resuming, 0, 2);
}

static void one_restarts(void *context)
{
	one(context, &restarting, 0, 2);
}

static void one_restarts_by_hook(void *context)
{
	one(context, &restarting, PRE_RESTART, 2);
}

static void one_resumes_lent_once(void *context)
{
	one(context, &resuming, 0, 1);
}

static void one_restarts_lent_once(void *context)
{
	one(context, &restarting, 0, 1);
}

/* It leaves token 0 in its port when it fails. */
static void one_leaves(void *context, const struct weir_strategy *strategy,
		       uint32_t hooks, uint32_t lent)
{
	struct family *f = context;

	one(context, strategy, hooks, lent);
	f->deeds[0] = LEAVES;
}

static void one_leaves_and_resumes(void *context)
{
	one_leaves(context, &resuming, 0, 2);
}

static void one_leaves_and_retries(void *context)
{
	one_leaves(context, &restarting, PRE_RESTART | RETRIES, 2);
}

static void one_leaves_and_stashes(void *context)
{
	one_leaves(context, &restarting, PRE_RESTART | STASHES, 2);
}

static void one_permanent(void *context)
{
	struct family *f = family_open(context, NULL);

	f->options.restart = WEIR_RESTART_PERMANENT;
	family_child(f, USER, 0, NULL);
	f->deeds[0] = FINISHES;
	family_lend(f, 0, 1);
}

static void put_0(void *context)
{
	family_put(context, 0, 0);
}

static void put_1(void *context)
{
	family_put(context, 0, 1);
}

static void stop_0(void *context)
{
	family_stop(context, 0);
}

static void actor_stop_0(void *context)
{
	family_actor_stop(context, 0);
}

static void signal_0(void *context)
{
	struct family *f = context;

	ck_pr_store_32(&f->scene.payload[0], 1);
	family_signal(f, 0);
}

static void shut_down(void *context)
{
	struct family *f = context;

	weir_system_stop(f->system);
}

static void abort_executor(void *context)
{
	struct family *f = context;

	scene_abort(&f->scene);
}

static void drain_executor(void *context)
{
	struct family *f = context;

	scene_drain(&f->scene, 0);
}

/* It has restarted once, and goes on. */
static void restarted(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0));
	explorer_assert(family_begun(f, 0) == 2 && f->lives[0].reset == 1);
	family_is_over(context);
}

static void restarted_and_signalled(void *context)
{
	const struct family *f = context;

	explorer_assert(f->scene.fates[0].seen[0] == 1);
	restarted(context);
}

static void resumed(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0));
	explorer_assert(family_begun(f, 0) == 1 && f->lives[0].post_stop == 0);
	family_is_over(context);
}

static void resumed_and_signalled(void *context)
{
	const struct family *f = context;

	explorer_assert(f->scene.fates[0].seen[0] == 1);
	resumed(context);
}

/* It has ended, before the failure, between that and its answer, or later. */
static void stopped(void *context)
{
	const struct family *f = context;

	explorer_assert(!family_alive(f, 0));
	explorer_assert(family_begun(f, 0) <= 2);
	explorer_assert(f->lives[0].post_stop + f->lives[0].pre_restart ==
			family_begun(f, 0));
	family_is_over(context);
}

static void drained(void *context)
{
	const struct family *f = context;

	explorer_assert(f->scene.drained == 1);
	explorer_assert(f->scene.drain.actors_left == 0);
	explorer_assert(
		weir_completion_done(weir_system_terminated(f->system)));
	family_is_over(context);
}

/* --- A back-off ----------------------------------------------------------- */

/* It has failed, and waits for time 1. */
static void one_waits(void *context)
{
	struct family *f;

	one(context, &waiting, 0, 2);
	f = context;
	family_put(f, 0, 0);
}

static void pass_time(void *context)
{
	struct family *f = context;

	scene_pass_time(&f->scene, 1);
}

/* --- A stop that is asked for --------------------------------------------- */

/* It has been asked, and has until time 1; a signal lets it finish. */
static void one_is_asked(void *context)
{
	struct family *f = family_open(context, NULL);

	f->options.shutdown_ns = 1;
	family_child(f, USER, STOPPING | SIGNALLED_FINISHES, NULL);
	family_lend(f, 0, 1);
	family_stop(f, 0);
	explorer_assert(family_alive(f, 0) && f->lives[0].stopping == 1);
}

static void stopped_once(void *context)
{
	const struct family *f = context;

	explorer_assert(f->lives[0].stopping == 1);
	explorer_assert(f->lives[0].post_stop == 1);
	stopped(context);
}

/* --- Records -------------------------------------------------------------- */

static void no_watch(struct weir_watcher *watcher,
		     const struct weir_terminated *notice)
{
	struct family *f = weir_container_of(watcher, struct family, watcher);

	f->watcher_told++;
}

/* Which makes the record of the watched, while that one looks at it. */
static void watch_0(void *context)
{
	struct family *f = context;

	f->watcher.terminated = no_watch;
	explorer_assert(weir_watcher_add(f->system, f->refs[0], &f->watcher) ==
			0);
}

static void resumed_and_watched(void *context)
{
	const struct family *f = context;

	explorer_assert(f->watcher_told == 0);
	resumed(context);
	explorer_assert(f->watcher_told == 1);
}

static void ended_as(struct family *f, uint32_t value)
{
	explorer_assert(f->scene.tokens[0].value == value);
	explorer_assert(f->scene.tokens[1].value == DELIVERED);
	explorer_assert(f->deeds[0] == TAKES && family_alive(f, 0));
	family_is_over(f);
}

static void dropped(void *context)
{
	ended_as(context, DROPPED);
}

static void delivered(void *context)
{
	ended_as(context, DELIVERED);
}

static const struct explorer_scenario scenarios[] = {
	FAMILY(.name = "a failure and a stop", .setup = one_resumes_lent_once,
	       .thread = {put_0, stop_0}, .check = stopped),
	FAMILY(.name = "a restart and a stop", .setup = one_restarts_lent_once,
	       .thread = {put_0, stop_0}, .check = stopped),
	FAMILY(.name = "a failure and a stop of the actor",
	       .setup = one_resumes, .thread = {put_0, actor_stop_0},
	       .check = stopped),
	FAMILY(.name = "a restart and a stop of the actor",
	       .setup = one_restarts, .thread = {put_0, actor_stop_0},
	       .check = stopped),
	FAMILY(.name = "a failure and a put", .setup = one_resumes,
	       .thread = {put_0, put_1}, .check = resumed),
	FAMILY(.name = "a restart and a put", .setup = one_restarts,
	       .thread = {put_0, put_1}, .check = restarted),
	FAMILY(.name = "a restart by hook and a put",
	       .setup = one_restarts_by_hook, .thread = {put_0, put_1},
	       .check = restarted),
	FAMILY(.name = "a token that is dropped and a put",
	       .setup = one_leaves_and_resumes, .thread = {put_0, put_1},
	       .check = dropped),
	FAMILY(.name = "a token that is tried again and a put",
	       .setup = one_leaves_and_retries, .thread = {put_0, put_1},
	       .check = delivered),
	FAMILY(.name = "a token that is tried again and a stop",
	       .setup = one_leaves_and_retries, .thread = {put_0, actor_stop_0},
	       .check = stopped),
	FAMILY(.name = "a token that is put aside and a put",
	       .setup = one_leaves_and_stashes, .thread = {put_0, put_1},
	       .check = delivered),
	FAMILY(.name = "a token that is put aside and a stop",
	       .setup = one_leaves_and_stashes, .thread = {put_0, actor_stop_0},
	       .check = stopped),
	FAMILY(.name = "a restart, a put and a stop", .setup = one_restarts,
	       .thread = {put_0, put_1, stop_0}, .check = stopped),
	FAMILY(.name = "a failure and a signal", .setup = one_resumes,
	       .thread = {put_0, signal_0}, .check = resumed_and_signalled),
	FAMILY(.name = "a restart and a signal", .setup = one_restarts,
	       .thread = {put_0, signal_0}, .check = restarted_and_signalled),
	FAMILY(.name = "a restart and a shutdown",
	       .setup = one_restarts_lent_once, .thread = {put_0, shut_down},
	       .check = stopped),
	FAMILY(.name = "a restart and an abort",
	       .setup = one_restarts_lent_once,
	       .thread = {put_0, abort_executor}, .check = drained),
	FAMILY(.name = "a restart and a drain", .setup = one_restarts_lent_once,
	       .thread = {put_0, drain_executor}, .check = drained),
	FAMILY(.name = "a back-off that is over and a stop", .setup = one_waits,
	       .thread = {pass_time, actor_stop_0}, .check = stopped),
	FAMILY(.name = "a deadline to stop and a finish", .setup = one_is_asked,
	       .thread = {pass_time, signal_0}, .check = stopped_once),
	FAMILY(.name = "a permanent one finishes and stops",
	       .setup = one_permanent, .thread = {put_0, stop_0},
	       .check = stopped),
	FAMILY(.name = "a failure and a record", .setup = one_resumes_lent_once,
	       .thread = {put_0, watch_0}, .check = resumed_and_watched),
};

const struct scene_group failures = SCENE_GROUP(scenarios);
