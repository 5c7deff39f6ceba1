/* SPDX-License-Identifier: BSD-2-Clause */
/* Death watch by code that is not an actor. */
#include "supervision/death_watch.h"

#include <assert.h>
#include <errno.h>

#include "base/memory.h"

int weir__watcher_join(struct weir_system *system, struct weir__cell *cell,
		       struct weir_watcher *watcher)
{
	struct weir__record *record = weir__record_make(system, cell);

	watcher->who = weir__cell_ref(system, cell);
	watcher->link = NULL;
	if (!record)
		return -ENOMEM;
	weir__watcher_add(&record->watches, watcher);
	return 0;
}

/* Adds a watcher. -ESRCH: the actor has ended. Under the lock. */
static int watcher_add(struct weir_system *system, struct weir_actor_id who,
		       struct weir_watcher *watcher)
{
	struct weir__cell *cell = weir__cell_find(system, who);

	if (cell)
		return weir__watcher_join(system, cell, watcher);
	watcher->who = who;
	watcher->link = NULL;
	return -ESRCH;
}

void weir__watcher_forget(struct weir__cell *cell)
{
	struct weir__record *record = weir__record_own(cell);

	/* the spawn's own: no other thread finds the cell */
	if (record && record->watches.watchers)
		(void)weir__watcher_take(record->watches.watchers);
}

/* `death` NULL: it was before the watch. */
static void watcher_call(struct weir_watcher *watcher,
			 const struct weir__death *death)
{
	struct weir_terminated notice = {
		.who = watcher->who,
		.token = watcher->token,
	};

	if (death) {
		notice.existed = true;
		notice.error = death->error;
		notice.how = death->how;
		notice.path = weir__path_text(death->path);
	}
	watcher->terminated(watcher, &notice);
}

int weir_watcher_add(struct weir_system *system, struct weir_actor_id who,
		     struct weir_watcher *watcher)
{
	int rc;

	if (!system || !watcher || !watcher->terminated)
		return -EINVAL;
	weir__lock(&system->lock.plain);
	rc = watcher_add(system, who, watcher);
	weir__unlock(&system->lock.plain);
	if (rc != -ESRCH)
		return rc;
	watcher_call(watcher, NULL);
	return 0;
}

bool weir_watcher_remove(struct weir_system *system,
			 struct weir_watcher *watcher)
{
	bool removed;

	if (!system || !watcher)
		return false;
	weir__lock(&system->lock.plain);
	removed = weir__watcher_take(watcher);
	weir__unlock(&system->lock.plain);
	return removed;
}

static struct weir_watcher *next_watcher(struct weir_system *system,
					 const struct weir__record *record)
{
	struct weir_watcher *watcher;

	weir__lock(&system->lock.plain);
	watcher = record->watches.watchers;
	if (watcher)
		(void)weir__watcher_take(watcher);
	weir__unlock(&system->lock.plain);
	return watcher;
}

void weir__watchers_tell(struct weir_system *system,
			 const struct weir__record *record,
			 const struct weir__death *death)
{
	struct weir_watcher *watcher;

	while ((watcher = next_watcher(system, record)))
		watcher_call(watcher, death);
}

/* --- A thread that waits -------------------------------------------------- */

struct end_wait {
	struct weir_watcher watcher;
	struct weir_completion ended;
};

static void wait_over(struct weir_watcher *watcher,
		      const struct weir_terminated *notice)
{
	struct end_wait *self =
		weir_container_of(watcher, struct end_wait, watcher);

	(void)notice;
	(void)weir_completion_complete(&self->ended, NULL);
}

int weir_system_actor_end_wait(struct weir_system *system,
			       struct weir_actor_id who, uint64_t timeout_ns)
{
	struct end_wait self = {.watcher.terminated = wait_over};
	int rc;

	(void)weir_completion_init(&self.ended);
	rc = weir_watcher_add(system, who, &self.watcher);
	if (rc < 0)
		return rc;
	rc = weir_completion_wait(&self.ended, timeout_ns);
	if (rc < 0 && weir_watcher_remove(system, &self.watcher))
		return rc;
	/* another thread calls wait_over(), or has called it */
	while (weir_completion_wait(&self.ended, WEIR_FOREVER) < 0)
		ck_pr_stall();
	weir__not_refused(weir_completion_fini(&self.ended));
	return 0;
}
