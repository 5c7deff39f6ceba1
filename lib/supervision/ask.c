/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions. Three hold a question, each with a reference: who has asked, who
 * is asked, and the timer of its deadline.
 *
 * 1. The answer is the completion's first result: the reply, or the deadline.
 *    Whoever comes second is told by the completion.
 * 2. The timer is armed before the actor is told. So the reply finds it armed,
 *    and cancels it.
 * 3. With the timer's reference goes a use of the system: so system
 *    and executor are there as long as the timer may fire. When it has fired
 *    they may be freed, and a late reply must not touch them. So `timing` counts
 *    the timer, until it has fired or was cancelled, and the reply while it
 *    cancels it; the last of them drops the timer's reference.
 * 4. Whoever gives the answer puts the question into the in-port that it is to
 *    come back at, and with it the reference of who has asked. The in-port has
 *    room: its owner counts the questions that were ever asked with it, and
 *    asks none if those that were not taken out again are as many as its slots.
 *    Nobody else puts there.
 */
#include <weir/tell.h>

#include <assert.h>
#include <errno.h>

#include "actor/in.h"
#include "actor/port.h"
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

/* Claim 4. The answer has been given. */
static void come_back(struct weir_ask *ask)
{
	struct weir_ask_in *to = ask->reply_to;
	struct weir_actor *asker;
	void *item = ask;
	int rc;

	if (!to)
		return;
	asker = to->in.port.actor;
	rc = weir__in_put(&to->in, &item, 1);
	assert(rc == 0 || rc == -EPIPE);
	if (rc < 0)
		drop(ask);
	weir_actor_unref(asker);
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

	if (weir_completion_fail(&ask->answer, weir_error_of(-ETIMEDOUT)) == 0)
		come_back(ask);
	drop_timer(ask);
}

/* Who is asked lets go; `rc`: 0, its answer is the one that counts. */
static int let_go(struct weir_ask *ask, int rc)
{
	if (rc == 0)
		come_back(ask);
	if (weir__tryref(&ask->timing)) {
		if (weir_timer_cancel(ask->system->executor, &ask->timer))
			drop_timer(ask);
		drop_timer(ask);
	}
	drop(ask);
	return rc;
}

int weir_ask_reply(struct weir_ask *ask, void *value)
{
	if (!ask)
		return -EINVAL;
	return let_go(ask, weir_completion_complete(&ask->answer, value));
}

int weir_ask_fail(struct weir_ask *ask, struct weir_error *error)
{
	if (!ask || !error)
		return -EINVAL;
	return let_go(ask, weir_completion_fail(&ask->answer, error));
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

/* --- The in-port that questions come back at ------------------------------ */

static void drop_answered(void *ask, void *unused)
{
	(void)unused;
	weir_ask_unref(ask);
}

int weir_ask_in_init(struct weir_ask_in *in, struct weir_actor *actor,
		     size_t capacity)
{
	static const struct weir_items answered = {.drop = drop_answered,
						   .name = "answers"};
	int rc = in ? weir_in_init(&in->in, actor, capacity, &answered)
		    : -EINVAL;

	if (rc < 0)
		return rc;
	in->asked = 0;
	weir__in_subscribe(&in->in, true);
	return 0;
}

static bool is_full(const struct weir_ask_in *to)
{
	return weir__index_diff(to->asked, weir__in_ever_taken(&to->in)) >=
	       weir__in_capacity(&to->in);
}

/* 0, or why no question can be asked that is to come back there. */
static int check_reply_to(struct weir_ask_in *to)
{
	int rc;

	if (!to)
		return 0;
	if (!to->in.port.actor)
		return -EINVAL;
	rc = weir__port_check_owner(&to->in.port);
	if (rc < 0)
		return rc;
	if (to->in.port.flags & WEIR__PORT_ENDED)
		return -EPIPE;
	if (is_full(to))
		weir__in_free_taken(&to->in);
	return is_full(to) ? -EAGAIN : 0;
}

/* A place there is the question's. */
static void reserve(struct weir_ask_in *to)
{
	if (!to)
		return;
	to->asked++;
	(void)weir_actor_ref(to->in.port.actor);
}

static void give_back(struct weir_ask_in *to)
{
	if (!to)
		return;
	to->asked--;
	weir_actor_unref(to->in.port.actor);
}

/* --- Asking --------------------------------------------------------------- */

/* A reference of the actor; with a deadline the system is kept as well. */
static struct weir_actor *find(struct weir_system *system,
			       struct weir_actor_id to, bool keep)
{
	struct weir_actor *actor = NULL;
	bool held = weir__enter(&system->lock);
	struct weir__cell *cell = weir__cell_find(system, to);

	if (cell) {
		actor = weir_actor_ref(cell->actor);
		system->lock.used += keep;
	}
	weir__leave(&system->lock, held);
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
	int rc;

	if (!system || !ask)
		return -EINVAL;
	rc = check_reply_to(ask->reply_to);
	if (rc < 0)
		return rc;
	(void)weir_completion_init(&ask->answer);
	ask->system = system;
	ask->timer = (struct weir_timer){.fire = NULL};
	ask->timing = 0;
	ask->refs = 2;
	actor = find(system, to, deadline_ns != WEIR_FOREVER);
	/* before the timer is armed, which may fire at once */
	reserve(ask->reply_to);
	if (actor && deadline_ns != WEIR_FOREVER)
		rc = arm(ask, deadline_ns);
	if (rc < 0) {
		give_back(ask->reply_to);
		weir_actor_unref(actor);
		return rc;
	}
	rc = actor ? weir_actor_tell(actor, ask) : -ESRCH;
	if (rc < 0)
		(void)weir_ask_fail(ask, weir_error_of(rc));
	weir_actor_unref(actor);
	return 0;
}
