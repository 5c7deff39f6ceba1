/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions, their port, and the latch.
 *
 * state: PENDING -> DONE, once, under the lock, after value and error have been
 * written. So a thread that reads DONE may read value and error, for ever. A
 * completion linearises at that store. While the state is DONE the queue is
 * empty: the completing thread takes all waiters out under the lock and wakes
 * them, in their order, when it has dropped the lock; a waiter that comes later
 * finds DONE under the lock.
 */
#include <weir/completion.h>

#include <errno.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/port.h"
#include "sync/wake.h"
#include "base/fence.h"
#include "base/lock.h"

WEIR__CHECK_OTHER_PORT(struct weir_completion_port);
_Static_assert(sizeof(void *) != 8 || sizeof(struct weir_completion) == 40,
	       "the layout of struct weir_completion is ABI");

enum { PENDING, DONE };

static struct weir__lock *lock_of(struct weir_completion *self)
{
	return (struct weir__lock *)&self->lock;
}

int weir_completion_init(struct weir_completion *self)
{
	if (!self)
		return -EINVAL;
	*self = (struct weir_completion){.state = PENDING};
	return 0;
}

int weir_completion_fini(struct weir_completion *self)
{
	bool busy;

	if (!self)
		return -EINVAL;
	/* behind the thread that completes it: its unlock is its last touch */
	weir__lock(lock_of(self));
	busy = !weir__waiters_empty(&self->waiters);
	weir__unlock(lock_of(self));
	if (busy)
		return -EBUSY;
	weir_error_unref(self->error);
	self->error = NULL;
	return 0;
}

static int complete(struct weir_completion *self, void *value,
		    struct weir_error *error)
{
	struct weir__fifo granted = {0};
	struct weir__waiter *waiter;
	bool done;

	weir__lock(lock_of(self));
	done = ck_pr_load_32(&self->state) == DONE;
	if (!done) {
		self->value = value;
		self->error = weir_error_ref(error);
		/* release: the result; pairs with the acquire in
		 * weir_completion_done() */
		ck_pr_fence_release();
		ck_pr_store_32(&self->state, DONE);
		while ((waiter = weir__waiters_pop(&self->waiters)))
			weir__granted_push(&granted, waiter);
	}
	weir__unlock(lock_of(self));
	weir__wake(&granted);
	return done ? -EALREADY : 0;
}

int weir_completion_complete(struct weir_completion *self, void *value)
{
	return self ? complete(self, value, NULL) : -EINVAL;
}

int weir_completion_fail(struct weir_completion *self, struct weir_error *error)
{
	return self && error ? complete(self, NULL, error) : -EINVAL;
}

bool weir_completion_done(const struct weir_completion *self)
{
	bool done = self && ck_pr_load_32(&self->state) == DONE;

	/* acquire: the result; pairs with the release in complete() */
	ck_pr_fence_acquire();
	return done;
}

void *weir_completion_value(const struct weir_completion *self)
{
	return weir_completion_done(self) ? self->value : NULL;
}

struct weir_error *weir_completion_error(const struct weir_completion *self)
{
	return weir_completion_done(self) ? self->error : NULL;
}

/* True: the completion is complete. False: the waiter is in the queue. */
static bool completion_ask(struct weir_completion *self,
			   struct weir__waiter *waiter)
{
	bool done;

	if (weir_completion_done(self))
		return true;
	weir__lock(lock_of(self));
	done = ck_pr_load_32(&self->state) == DONE;
	if (!done)
		weir__waiters_push(&self->waiters, waiter);
	weir__unlock(lock_of(self));
	return done;
}

static bool cancel(struct weir_completion *self, struct weir__waiter *waiter)
{
	bool removed;

	weir__lock(lock_of(self));
	removed = weir__waiters_remove(&self->waiters, waiter);
	weir__unlock(lock_of(self));
	return removed;
}

int weir_completion_wait(struct weir_completion *self, uint64_t timeout_ns)
{
	struct weir__parked parked;
	int rc = self ? weir__wake_wait_allowed() : -EINVAL;

	if (rc < 0)
		return rc;
	weir__parked_init(&parked);
	if (completion_ask(self, &parked.waiter))
		return 0;
	rc = weir__wait(&parked, timeout_ns);
	if (rc < 0 && !cancel(self, &parked.waiter)) {
		weir__parked_settle(&parked);
		rc = 0;
	}
	return rc;
}

static void await_wake(struct weir__waiter *waiter)
{
	struct weir_await *await =
		weir_container_of(waiter, struct weir_await, waiter);

	await->done(await, await->completion);
}

int weir_completion_wait_async(struct weir_completion *self,
			       struct weir_await *await)
{
	if (!self || !await || !await->done)
		return -EINVAL;
	await->completion = self;
	await->waiter = (struct weir__waiter){.wake = await_wake};
	if (completion_ask(self, &await->waiter))
		weir__wake_one(&await->waiter);
	return 0;
}

bool weir_completion_cancel(struct weir_completion *self,
			    struct weir_await *await)
{
	return self && await && cancel(self, &await->waiter);
}

/* --- The port ----------------------------------------------------------- */

/*
 * A queued waiter holds a reference on the actor. The thread that takes the
 * waiter out drops it: the owner when the port closes, or the completing
 * thread, after its last touch.
 */
static void port_wake(struct weir__waiter *waiter)
{
	struct weir_completion_port *self =
		weir_container_of(waiter, struct weir_completion_port, waiter);
	struct weir_actor *actor = self->port.actor;

	/* store -> load: the state before `blocked`, rule 2 of the gate; pairs
	 * with the fence of the arming, after which the owner looks again */
	weir__fence_full();
	weir__port_unblock(&self->port);
	weir_actor_unref(actor);
}

static uint32_t port_available(struct weir_port *port)
{
	struct weir_completion_port *self = (struct weir_completion_port *)port;

	return weir_completion_done(self->completion) ? WEIR_BUDGET_MAX : 0;
}

/* Asks once: the waiter is taken out when the completion is complete. */
static int port_arm(struct weir_port *port)
{
	struct weir_completion_port *self = (struct weir_completion_port *)port;

	if (self->asked)
		return 0;
	weir_actor_ref(port->actor);
	self->asked = true;
	self->waiter = (struct weir__waiter){.wake = port_wake};
	if (completion_ask(self->completion, &self->waiter)) {
		self->asked = false;
		weir_actor_unref(port->actor); /* not the last */
	}
	return 0;
}

static void port_close(struct weir_port *port, struct weir_error *error)
{
	struct weir_completion_port *self = (struct weir_completion_port *)port;

	(void)error;
	if (self->asked && cancel(self->completion, &self->waiter))
		weir_actor_unref(port->actor); /* not the last */
}

static void port_look(const struct weir_port *port, struct weir__look *look)
{
	struct weir_completion *self =
		((const struct weir_completion_port *)port)->completion;
	struct weir_seen_object seen = {.object = self,
					.wait = WEIR_WAIT_COMPLETED};

	weir__lock(lock_of(self));
	seen.takers = weir__waiters_count(&self->waiters, WEIR_INSPECT_WAITERS);
	seen.ended = self->state == DONE;
	weir__unlock(lock_of(self));
	look->object(look, &seen);
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__FIELD(PORT_OBJECT, struct weir_completion_port,
				    completion),
			WEIR__FIELD(OBJECT_TAKERS, struct weir_completion,
				    waiters.head),
			WEIR__FIELD(WAITER_NEXT, struct weir__waiter, next),
			WEIR__FIELD(OBJECT_STATE, struct weir_completion,
				    state),
			WEIR__NUMBER(OBJECT_DONE, DONE),
			{0},
		},
};

static const struct weir__port_ops port_ops = {
	.awaits = WEIR_WAIT_COMPLETED,
	.look = port_look,
	.layout = &layout,
	.available = port_available,
	.arm = port_arm,
	.close = port_close,
};

int weir_completion_port_init(struct weir_completion_port *self,
			      struct weir_actor *actor,
			      struct weir_completion *completion)
{
	int rc = weir__port_check_init(self, actor);

	if (!completion)
		return -EINVAL;
	if (rc < 0)
		return rc;
	*self = (struct weir_completion_port){
		.ops = &port_ops,
		.completion = completion,
	};
	weir__port_init(&self->port, actor, WEIR__PORT_OTHER);
	return 0;
}

/* --- Latches ------------------------------------------------------------ */

int weir_latch_init(struct weir_latch *latch, int64_t count)
{
	if (!latch || count < 0)
		return -EINVAL;
	(void)weir_completion_init(&latch->completion);
	latch->count = count;
	return count ? 0 : complete(&latch->completion, NULL, NULL);
}

int weir_latch_fini(struct weir_latch *latch)
{
	return weir_completion_fini(latch ? &latch->completion : NULL);
}

int weir_latch_count_down(struct weir_latch *latch, int64_t n)
{
	uint64_t *count, old;

	if (!latch || n <= 0)
		return -EINVAL;
	count = (uint64_t *)&latch->count;
	old = ck_pr_load_64(count);
	/* release: what the caller did before; pairs with the lock of the last
	 * countdown */
	ck_pr_fence_release();
	do {
		if (old < (uint64_t)n)
			return old ? -ERANGE : -EALREADY;
	} while (!ck_pr_cas_64_value(count, old, old - (uint64_t)n, &old));
	if (old != (uint64_t)n)
		return 0;
	/* No acquire for what other threads did before they counted: the lock
	 * has one. The completion may have been failed by hand. */
	(void)complete(&latch->completion, NULL, NULL);
	return 0;
}

int64_t weir_latch_count(const struct weir_latch *latch)
{
	if (!latch)
		return 0;
	return (int64_t)ck_pr_load_64((const uint64_t *)&latch->count);
}
