/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch by others than actors, and what is made of it: a stop that is
 * waited for.
 *
 * Three may touch such a stop at once: who asks, the end of the actor, and the
 * timer. Each holds a share of it; who drops the last one calls `done`. The end
 * and the timer call each other off, and whoever succeeds drops the other's
 * share, too. The timer may fire before the watcher is there to be called off;
 * so who asks looks for that once it is. The timer may also fire when the actor
 * has ended: so the stop keeps its system until it is done.
 */
#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "supervision/system.h"
#include "supervision/watch.h"

/* -ESRCH: it has ended. Under the lock. */
static int watcher_add(struct weir_system *system, struct weir_actor_id who,
		       struct weir_watcher *watcher)
{
	struct weir__cell *cell = weir__cell_find(system, who);
	struct weir__record *record;

	watcher->who = who;
	watcher->link = NULL;
	if (!cell)
		return -ESRCH;
	record = weir__record_make(system, cell);
	if (!record)
		return -ENOMEM;
	watcher->next = record->watchers;
	watcher->link = &record->watchers;
	if (watcher->next)
		watcher->next->link = &watcher->next;
	record->watchers = watcher;
	return 0;
}

/* False: it is in no list. Under the lock. */
static bool watcher_take(struct weir_watcher *watcher)
{
	/* who takes it out decides whether it is called: one does */
	if (!watcher->link)
		return false;
	assert(*watcher->link == watcher);
	*watcher->link = watcher->next;
	if (watcher->next)
		watcher->next->link = watcher->link;
	watcher->link = NULL;
	return true;
}

static void watcher_call(struct weir_watcher *watcher, bool existed,
			 struct weir_error *error)
{
	struct weir_terminated notice = {
		.who = watcher->who,
		.token = watcher->token,
		.existed = existed,
		.error = error,
	};

	watcher->terminated(watcher, &notice);
}

int weir_watcher_add(struct weir_system *system, struct weir_actor_id who,
		     struct weir_watcher *watcher)
{
	int rc;

	if (!system || !watcher || !watcher->terminated)
		return -EINVAL;
	weir__lock(&system->lock);
	rc = watcher_add(system, who, watcher);
	weir__unlock(&system->lock);
	if (rc != -ESRCH)
		return rc;
	watcher_call(watcher, false, NULL);
	return 0;
}

bool weir_watcher_remove(struct weir_system *system,
			 struct weir_watcher *watcher)
{
	bool removed;

	if (!system || !watcher)
		return false;
	weir__lock(&system->lock);
	removed = watcher_take(watcher);
	weir__unlock(&system->lock);
	return removed;
}

static struct weir_watcher *next_watcher(struct weir_system *system,
					 const struct weir__record *record)
{
	struct weir_watcher *watcher;

	weir__lock(&system->lock);
	watcher = record->watchers;
	if (watcher)
		(void)watcher_take(watcher);
	weir__unlock(&system->lock);
	return watcher;
}

void weir__watchers_tell(struct weir_system *system,
			 const struct weir__record *record,
			 struct weir_error *error)
{
	struct weir_watcher *watcher;

	while ((watcher = next_watcher(system, record)))
		watcher_call(watcher, true, error);
}

/* --- A stop that is waited for -------------------------------------------- */

/* stop->state: shares, and what has happened. */
#define SHARES 0xffu
#define ENDED (1u << 8)
#define TIMED_OUT (1u << 9)

/* It counted in `used`. */
static void let_system_go(struct weir_system *system)
{
	bool held = weir__enter(system);
	bool unused = --system->used == 0;

	weir__leave(system, held);
	if (unused)
		weir__system_unused(system);
}

static void drop(struct weir_graceful_stop *stop, uint32_t shares)
{
	struct weir_system *system = stop->system;
	uint32_t state;

	/* release: our last touch; pairs with the acquire of the last drop */
	ck_pr_fence_release();
	state = ck_pr_faa_32(&stop->state, 0u - shares);
	assert((state & SHARES) >= shares);
	if ((state & SHARES) != shares)
		return;
	/* acquire: everybody's last touch, before the memory is reused */
	ck_pr_fence_acquire();
	stop->done(stop, state & ENDED ? 0 : -ETIMEDOUT);
	let_system_go(system);
}

static void ended(struct weir_watcher *watcher,
		  const struct weir_terminated *notice)
{
	struct weir_graceful_stop *stop =
		weir_container_of(watcher, struct weir_graceful_stop, watcher);
	uint32_t shares = 1;

	(void)notice;
	ck_pr_or_32(&stop->state, ENDED);
	if (stop->timer.fire &&
	    weir_timer_cancel(stop->system->executor, &stop->timer))
		shares++;
	drop(stop, shares);
}

static void timed_out(struct weir_timer *timer)
{
	struct weir_graceful_stop *stop =
		weir_container_of(timer, struct weir_graceful_stop, timer);
	uint32_t shares = 1;

	/* before the lock of remove: if that finds no watcher because there is
	 * none yet, who adds it reads this after its own lock */
	ck_pr_or_32(&stop->state, TIMED_OUT);
	if (weir_watcher_remove(stop->system, &stop->watcher))
		shares++;
	drop(stop, shares);
}

/*
 * What can fail, but the timer. 1: it is there, and so is its system until that
 * is let go; 0: it has ended, and nothing is left to be undone.
 */
static int prepare(struct weir_system *system, struct weir_actor_id who)
{
	struct weir__cell *cell;
	int rc = 0;

	weir__lock(&system->lock);
	cell = weir__cell_find(system, who);
	if (cell && (cell->flags & WEIR__CELL_GUARDIAN)) {
		rc = -EPERM;
	} else if (cell && !weir__record_make(system, cell)) {
		rc = -ENOMEM;
	} else if (cell) {
		system->used++;
		rc = 1;
	}
	weir__unlock(&system->lock);
	return rc;
}

int weir_system_stop_actor_async(struct weir_system *system,
				 struct weir_actor_id who, bool now,
				 struct weir_graceful_stop *stop,
				 uint64_t deadline_ns)
{
	uint32_t shares = 1;
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
	stop->watcher = (struct weir_watcher){.terminated = ended};
	stop->timer = (struct weir_timer){.fire = NULL};
	stop->state = 2; /* ours and the watcher's */
	if (deadline_ns != WEIR_FOREVER) {
		stop->timer.fire = timed_out;
		stop->state++;
		rc = weir_timer_arm(system->executor, &stop->timer,
				    deadline_ns);
		if (rc < 0) {
			let_system_go(system);
			return rc;
		}
	}
	rc = weir_watcher_add(system, who, &stop->watcher);
	assert(rc == 0);
	/* it may have ended before: then there is nobody to be told */
	(void)(now ? weir_system_stop_actor(system, who)
		   : weir_system_poison(system, who));
	if ((ck_pr_load_32(&stop->state) & TIMED_OUT) &&
	    weir_watcher_remove(system, &stop->watcher))
		shares++;
	drop(stop, shares);
	return 0;
}
