/* SPDX-License-Identifier: BSD-2-Clause */
/* Actors as their users and executors see them: how they start and stop. */
#include "actor/actor.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/child_ops.h"
#include "actor/ending.h"
#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/layout.h"
#include "base/refcount.h"
#include "executor/registry.h"

/* An actor with one in-port fits into 192 bytes, in.h has the other half. */
_Static_assert(sizeof(void *) != 8 || sizeof(struct weir_actor) == 72,
	       "the layout of struct weir_actor is ABI");

/* Linked into each program that has actors, for readers of its memory. */
static const struct weir__layout *const kept
	__attribute__((used)) = &weir__layout;

/* An actor that is said to have no turns fires: a port of it takes part. */
static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)n;
	weir__actor_turn_ended(actor, -ENOSYS);
	return 1;
}

weir_turns *weir__actor_first_turns(const struct weir_actor *actor)
{
	return actor->ops->turns ? actor->ops->turns : no_turns;
}

int weir_actor_init(struct weir_actor *actor, const struct weir_actor_ops *ops,
		    struct weir_executor *executor)
{
	if (!actor || !ops || !executor || !executor->registry)
		return -EINVAL;
	memset(actor, 0, sizeof(*actor));
	/* SCHEDULED is held until the first slice: what happens before the
	 * start submits nothing. */
	actor->gate = WEIR__GATE_SCHEDULED;
	actor->refs = 1;
	actor->executor = executor;
	actor->ops = ops;
	actor->turns = weir__actor_first_turns(actor);
	return 0;
}

/* NEW -> `next`; false: it is no longer new. */
static bool actor_take(struct weir_actor *actor, uint8_t next)
{
	uint8_t state;

	while (!ck_pr_cas_8_value(&actor->state, WEIR__STATE_NEW, next,
				  &state)) {
		if (state != WEIR__STATE_HELD)
			return false;
		ck_pr_stall();
		sched_yield();
	}
	/* acquire: what the earlier holder has done; pairs with the release in
	 * weir__actor_disclaim() */
	ck_pr_fence_acquire();
	return true;
}

void weir__actor_retire_new(struct weir_actor *actor)
{
	struct weir__thread *thread = &weir__thread;
	struct weir_task *outer = thread->task;
	bool held;

	if (weir__state(actor) != WEIR__STATE_NEW ||
	    !ck_pr_cas_8(&actor->state, WEIR__STATE_NEW, WEIR__STATE_ENDING))
		return;
	/* acquire: a start that has failed; pairs with the release in
	 * weir__actor_disclaim() */
	ck_pr_fence_acquire();
	held = weir__hold_back();
	thread->task = &actor->task;
	weir__actor_end(actor, weir_error_of(-ECANCELED), false);
	weir__actor_retire(actor, false);
	thread->task = outer;
	weir_actor_unref(actor);
	weir__let_go(held);
}

bool weir__actor_claim(struct weir_actor *actor)
{
	if (!weir__actor_unshared(actor))
		return actor_take(actor, WEIR__STATE_RUNNING);
	/* Plain: the swap is to decide between threads. It is not HELD: the
	 * holder would have a reference. It may have been stopped by a thread
	 * that has left its own reference to the caller. */
	if (weir__state(actor) != WEIR__STATE_NEW)
		return false;
	weir__set_state(actor, WEIR__STATE_RUNNING);
	return true;
}

void weir__actor_disclaim(struct weir_actor *actor)
{
	/* release: what the holder has done and undone; pairs with the acquires
	 * in actor_take() and weir__actor_retire_new() */
	ck_pr_fence_release();
	weir__set_state(actor, WEIR__STATE_NEW);
	/* store -> load; pairs with the fence in weir_actor_stop(): the
	 * stopping thread sees that the actor is new, or this thread sees that
	 * it is to stop */
	ck_pr_fence_store_load();
	if (ck_pr_load_8(&actor->signals) & WEIR__SIGNAL_STOP)
		weir__actor_retire_new(actor);
}

static bool hold(struct weir_actor *actor)
{
	return weir__runs_here(actor) || actor_take(actor, WEIR__STATE_HELD);
}

static void let_go(struct weir_actor *actor)
{
	if (!weir__runs_here(actor))
		weir__actor_disclaim(actor);
}

bool weir__actors_hold(struct weir_actor *one, struct weir_actor *other)
{
	/* in the order of addresses: no two threads wait for each other */
	struct weir_actor *first = one < other ? one : other;
	struct weir_actor *second = one < other ? other : one;

	if (!hold(first))
		return false;
	if (second == first || hold(second))
		return true;
	let_go(first);
	return false;
}

void weir__actors_let_go(struct weir_actor *one, struct weir_actor *other)
{
	let_go(one);
	if (one != other)
		let_go(other);
}

int weir__actor_launch(struct weir_actor *actor)
{
	struct weir_executor *executor = actor->executor;
	bool outside;
	int rc;

	rc = weir__registry_add(executor, &actor->task, &actor->index);
	if (rc < 0)
		return rc;
	weir__actor_set(actor, WEIR__ACTOR_REGISTERED);
	/* While this thread is in `submit` the actor stays, and with it the
	 * executor, although the actor may have run and ended. The executor's
	 * own threads are joined before it is freed. */
	outside = !weir__shard_of(executor->registry);
	if (outside)
		(void)weir_actor_ref(actor);
	rc = executor->ops->submit(executor, &actor->task);
	if (rc < 0) {
		weir__actor_clear(actor, WEIR__ACTOR_REGISTERED);
		weir__registry_remove(executor, actor->index);
		weir__registry_done(executor);
	}
	if (outside)
		weir_actor_unref(actor);
	return rc;
}

int weir_actor_start(struct weir_actor *actor)
{
	int rc;

	if (!actor || !actor->executor)
		return -EINVAL;
	if (!weir__actor_claim(actor))
		return -EALREADY;
	rc = weir__actor_launch(actor);
	if (rc < 0)
		weir__actor_disclaim(actor);
	return rc;
}

void weir_actor_stop(struct weir_actor *actor)
{
	if (!actor)
		return;
	weir__actor_signal(actor, WEIR__SIGNAL_STOP);
	/* swap -> load; pairs with the fence in weir__actor_disclaim() */
	ck_pr_fence_atomic_load();
	weir__actor_retire_new(actor);
}

void weir_actor_signal(struct weir_actor *actor)
{
	if (actor)
		weir__actor_signal(actor, WEIR__SIGNAL_USER);
}

void weir_actor_suspend(struct weir_actor *actor)
{
	if (actor)
		weir__actor_suspend(actor, WEIR__GATE_SUSPENDED);
}

void weir_actor_resume(struct weir_actor *actor)
{
	if (!actor)
		return;
	weir__actor_resume(actor, WEIR__GATE_SUSPENDED);
	/* relaxed: constant since the spawn. Orders that came meanwhile and
	 * were put off are looked at again, behind the bit that is clear
	 * now. */
	if (ck_pr_load_32(&actor->gate) & WEIR__GATE_CHILD)
		weir__actor_signal(actor, WEIR__SIGNAL_SYSTEM);
}

int weir_actor_set_stats(struct weir_actor *actor, struct weir_stats *stats)
{
	int rc = stats ? weir__actor_check_owner(actor) : -EINVAL;

	if (rc < 0)
		return rc;
	if (actor->flags & WEIR__ACTOR_CHILD)
		rc = weir__child_ops(actor)->set_stats(actor, stats);
	else
		actor->u.stats = stats;
	weir__actor_break(actor);
	return rc;
}

/* --- What executors do with actors -------------------------------------- */

static struct weir_actor *actor_of(struct weir_task *task)
{
	return weir_container_of(task, struct weir_actor, task);
}

static void task_submit(struct weir_task *task)
{
	weir__actor_submit(actor_of(task));
}

static bool task_tryref(struct weir_task *task)
{
	/* the registry's lock keeps the memory there meanwhile */
	return weir__tryref(&actor_of(task)->refs);
}

static void task_unref(struct weir_task *task)
{
	weir_actor_unref(actor_of(task));
}

static void task_end(struct weir_task *task, enum weir__phase phase)
{
	weir__actor_signal(actor_of(task), phase == WEIR__ABORTING
						   ? WEIR__SIGNAL_ABORT
						   : WEIR__SIGNAL_DRAIN);
}

/* The trace that has marked it is over. */
static void task_waits(struct weir_task *task, uint32_t bits)
{
	(void)task;
	(void)bits;
}

/* Before the constructors of a program, which may start actors. */
static __attribute__((constructor(101))) void hand_over(void)
{
	static const struct weir__task_ops actors = {
		.run = weir__actor_slice,
		.submit = task_submit,
		.tryref = task_tryref,
		.unref = task_unref,
		.end = task_end,
		.waits = task_waits,
	};

	weir__tasks = &actors;
}
