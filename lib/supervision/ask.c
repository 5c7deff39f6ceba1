/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions. Three hold a question, each with a reference: who has asked, who
 * is asked, and the timer of its deadline.
 *
 * 1. The answer is the completion's first result: the reply, or the deadline.
 *    Whoever comes second is told by the completion.
 * 2. The timer is armed before the actor is told. So the reply finds it armed,
 *    and cancels it.
 * 3. With the timer's reference goes a count in the system's `used`: so system
 *    and executor are there as long as the timer may fire. When it has fired
 *    they may be freed, and a late reply must not touch them. So `timing` counts
 *    the timer, until it has fired or was cancelled, and the reply while it
 *    cancels it; the last of them drops the timer's reference.
 */
#include <weir/tell.h>

#include <errno.h>

#include "base/memory.h"
#include "base/refcount.h"
#include "supervision/termination.h"

static void drop(struct weir_ask *ask)
{
	if (!weir__unref(&ask->refs))
		return;
	weir__not_refused(weir_completion_fini(&ask->answer));
	if (ask->released)
		ask->released(ask);
}

static void drop_timer(struct weir_ask *ask)
{
	struct weir_system *system = ask->system;

	if (!weir__unref(&ask->timing))
		return;
	drop(ask);
	weir__system_let_go(system);
}

static void too_late(struct weir_timer *timer)
{
	struct weir_ask *ask = weir_container_of(timer, struct weir_ask, timer);

	(void)weir_completion_fail(&ask->answer, weir_error_of(-ETIMEDOUT));
	drop_timer(ask);
}

/* Who is asked lets go; the answer has been given. */
static void let_go(struct weir_ask *ask)
{
	if (weir__tryref(&ask->timing)) {
		if (weir_timer_cancel(ask->system->executor, &ask->timer))
			drop_timer(ask);
		drop_timer(ask);
	}
	drop(ask);
}

int weir_ask_reply(struct weir_ask *ask, void *value)
{
	int rc;

	if (!ask)
		return -EINVAL;
	rc = weir_completion_complete(&ask->answer, value);
	let_go(ask);
	return rc;
}

int weir_ask_fail(struct weir_ask *ask, struct weir_error *error)
{
	int rc;

	if (!ask || !error)
		return -EINVAL;
	rc = weir_completion_fail(&ask->answer, error);
	let_go(ask);
	return rc;
}

void weir_ask_drop(void *ask, void *unused)
{
	(void)unused;
	(void)weir_ask_fail(ask, weir_error_of(-ECANCELED));
}

void weir_ask_unref(struct weir_ask *ask)
{
	if (ask)
		drop(ask);
}

/* A reference of the actor; with a deadline the system is kept as well. */
static struct weir_actor *find(struct weir_system *system,
			       struct weir_actor_id to, bool keep)
{
	struct weir_actor *actor = NULL;
	bool held = weir__enter(system);
	struct weir__cell *cell = weir__cell_find(system, to);

	if (cell) {
		actor = weir_actor_ref(cell->actor);
		system->used += keep;
	}
	weir__leave(system, held);
	return actor;
}

static int arm(struct weir_ask *ask, uint64_t deadline_ns)
{
	int rc;

	ask->timer.fire = too_late;
	ask->timing = 1;
	ask->refs++;
	rc = weir_timer_arm(ask->system->executor, &ask->timer, deadline_ns);
	if (rc < 0)
		weir__system_let_go(ask->system);
	return rc;
}

int weir_system_ask(struct weir_system *system, struct weir_actor_id to,
		    struct weir_ask *ask, uint64_t deadline_ns)
{
	struct weir_actor *actor;
	int rc = 0;

	if (!system || !ask)
		return -EINVAL;
	(void)weir_completion_init(&ask->answer);
	ask->system = system;
	ask->timer = (struct weir_timer){.fire = NULL};
	ask->timing = 0;
	ask->refs = 2;
	actor = find(system, to, deadline_ns != WEIR_FOREVER);
	if (actor && deadline_ns != WEIR_FOREVER)
		rc = arm(ask, deadline_ns);
	if (rc < 0) {
		weir_actor_unref(actor);
		return rc;
	}
	rc = actor ? weir_actor_tell(actor, ask) : -ESRCH;
	if (rc < 0)
		(void)weir_ask_fail(ask, weir_error_of(rc));
	weir_actor_unref(actor);
	return 0;
}
