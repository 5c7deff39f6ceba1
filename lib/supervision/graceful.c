/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stop that is waited for: death watch by code that is not an actor.
 *
 * Three parties may touch such a stop at once: the caller, the end of the
 * actor, and the timer.
 *
 * 1. Each party holds a share of the stop. The party that drops the last share
 *    calls `done`.
 * 2. The end cancels the timer, and the timer removes the watcher. If one
 *    succeeds, it drops the share of the other, too.
 * 3. The timer may fire before the watcher is added. So the caller looks for
 *    that after it has added the watcher.
 * 4. The timer may fire after the actor has ended. So the stop keeps its system
 *    until it is done.
 */
#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "supervision/termination.h"

/* stop->state: the number of refs, and flags for what has happened. */
#define REFS 0xffu
#define ENDED (1u << 8)
#define TIMED_OUT (1u << 9)

static void graceful_drop(struct weir_graceful_stop *stop, uint32_t refs)
{
	struct weir_system *system = stop->system;
	uint32_t state;

	/* release: our last touch; pairs with the acquire of the last drop */
	ck_pr_fence_release();
	state = ck_pr_faa_32(&stop->state, 0u - refs);
	assert((state & REFS) >= refs);
	if ((state & REFS) != refs)
		return;
	/* acquire: everybody's last touch, before the memory is reused */
	ck_pr_fence_acquire();
	stop->done(stop, state & ENDED ? 0 : -ETIMEDOUT);
	weir__system_let_go(system);
}

static void graceful_ended(struct weir_watcher *watcher,
			   const struct weir_terminated *notice)
{
	struct weir_graceful_stop *stop =
		weir_container_of(watcher, struct weir_graceful_stop, watcher);
	uint32_t refs = 1;

	(void)notice;
	ck_pr_or_32(&stop->state, ENDED);
	if (stop->timer.fire &&
	    weir_timer_cancel(stop->system->executor, &stop->timer))
		refs++;
	graceful_drop(stop, refs);
}

static void timed_out(struct weir_timer *timer)
{
	struct weir_graceful_stop *stop =
		weir_container_of(timer, struct weir_graceful_stop, timer);
	uint32_t refs = 1;

	/*
	 * before weir_watcher_remove() takes the lock: if the watcher is not
	 * added yet, the caller reads this after it has added it, under the
	 * lock
	 */
	ck_pr_or_32(&stop->state, TIMED_OUT);
	if (weir_watcher_remove(stop->system, &stop->watcher))
		refs++;
	graceful_drop(stop, refs);
}

/*
 * Does everything that can fail, except for the timer. 1: the actor exists, and
 * the system is kept until weir__system_let_go(). 0: the actor has ended, and
 * there is nothing to be undone. Or a negative errno.
 */
static int prepare(struct weir_system *system, struct weir_actor_id who)
{
	struct weir__cell *cell;
	int rc = 0;

	weir__lock(&system->lock.plain);
	cell = weir__cell_find(system, who);
	if (cell && cell->guardian) {
		rc = -EPERM;
	} else if (cell && !weir__record_make(system, cell)) {
		rc = -ENOMEM;
	} else if (cell) {
		system->lock.used++;
		rc = 1;
	}
	weir__unlock(&system->lock.plain);
	return rc;
}

int weir_system_stop_actor_async(struct weir_system *system,
				 struct weir_actor_id who, bool now,
				 struct weir_graceful_stop *stop,
				 uint64_t deadline_ns)
{
	uint32_t refs = 1;
	int rc;

	if (!system || !stop || !stop->done)
		return -EINVAL;
	rc = prepare(system, who);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		stop->done(stop, 0);
		return 0;
	}
	stop->system = system;
	stop->watcher = (struct weir_watcher){.terminated = graceful_ended};
	stop->timer = (struct weir_timer){.fire = NULL};
	stop->state = 2; /* ours and the watcher's */
	if (deadline_ns != WEIR_FOREVER) {
		stop->timer.fire = timed_out;
		stop->state++;
		rc = weir_timer_arm(system->executor, &stop->timer,
				    deadline_ns);
		if (rc < 0) {
			weir__system_let_go(system);
			return rc;
		}
	}
	rc = weir_watcher_add(system, who, &stop->watcher);
	assert(rc == 0);
	/* the actor may have ended meanwhile: then there is nothing to stop */
	(void)(now ? weir_system_stop_actor(system, who)
		   : weir_system_poison(system, who));
	if ((ck_pr_load_32(&stop->state) & TIMED_OUT) &&
	    weir_watcher_remove(system, &stop->watcher))
		refs++;
	graceful_drop(stop, refs);
	return 0;
}
