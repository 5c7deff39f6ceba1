/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared semaphores.
 *
 * word = 2 * permits + WAITERS. Invariants:
 *
 * - only the holder of the lock changes the bit WAITERS;
 * - while no thread has the lock, the bit is set iff the queue is not empty,
 *   and then the first in the queue wants more than there is;
 * - while the bit is set, only the holder of the lock changes the word.
 *
 * So without the bit permits are taken and given by one swap, and with it no
 * request overtakes another. Linearisation: a take at the swap that takes; a
 * release at the swap that adds; a grant at the store in serve(); a request
 * that is queued, for FIFO's sake, at the swap that finds too little.
 *
 * A waiter that was granted permits is woken when the lock has been dropped;
 * from the unlock on, the releaser does not touch the semaphore. A thread that
 * came by the permit meanwhile may end the semaphore: fini takes the lock once,
 * behind the releaser.
 */
#include <weir/semaphore.h>

#include <errno.h>

#include <ck_pr.h>

#include "sync/grant.h"
#include "sync/wake.h"
#include "base/lock.h"

#define WAITERS UINT64_C(1)

_Static_assert(sizeof(void *) != 8 || sizeof(struct weir_semaphore) == 32,
	       "the layout of struct weir_semaphore is ABI");

static struct weir__lock *lock_of(struct weir_semaphore *self)
{
	return (struct weir__lock *)&self->lock;
}

/* Checks a request for `n` permits: there may be that many one day. */
static int check(const struct weir_semaphore *self, int64_t n)
{
	return !self || n <= 0 || n > WEIR_PERMITS_MAX ? -EINVAL : 0;
}

int weir_semaphore_init(struct weir_semaphore *self, int64_t permits)
{
	if (!self || permits < 0 || permits > WEIR_PERMITS_MAX)
		return -EINVAL;
	*self = (struct weir_semaphore){.word = 2 * (uint64_t)permits};
	return 0;
}

int weir_semaphore_fini(struct weir_semaphore *self)
{
	bool busy;

	if (!self)
		return -EINVAL;
	weir__lock(lock_of(self));
	busy = !weir__waiters_empty(&self->waiters);
	weir__unlock(lock_of(self));
	return busy ? -EBUSY : 0;
}

/* Takes `n` if nobody waits and they are there. Lock-free. */
static bool semaphore_take(struct weir_semaphore *self, int64_t n)
{
	uint64_t old = ck_pr_load_64(&self->word);

	do {
		if ((old & WAITERS) || old >> 1 < (uint64_t)n)
			return false;
		/* linearises here; the acquire follows */
	} while (!ck_pr_cas_64_value(&self->word, old, old - 2 * (uint64_t)n,
				     &old));
	/* acquire: what the releasing threads did before; pairs with the
	 * release in add() */
	ck_pr_fence_acquire();
	return true;
}

/* Takes claim->n, or queues the claim. True: taken. Under the lock. */
static bool take_or_queue(struct weir_semaphore *self,
			  struct weir__claim *claim)
{
	const uint64_t n = (uint64_t)claim->n;
	uint64_t old = ck_pr_load_64(&self->word), next;
	bool taken;

	do {
		taken = !(old & WAITERS) && old >> 1 >= n;
		next = taken ? old - 2 * n : old | WAITERS;
		/* linearises here, for a taker; a waiting thread has the
		 * lock */
	} while (!ck_pr_cas_64_value(&self->word, old, next, &old));
	if (taken)
		ck_pr_fence_acquire(); /* as in semaphore_take() */
	else
		weir__waiters_push(&self->waiters, &claim->waiter);
	return taken;
}

/* 0: taken. -EAGAIN: the claim is in the queue. */
static int semaphore_ask(struct weir_semaphore *self, struct weir__claim *claim)
{
	bool taken;

	if (semaphore_take(self, claim->n))
		return 0;
	weir__lock(lock_of(self));
	taken = take_or_queue(self, claim);
	weir__unlock(lock_of(self));
	return taken ? 0 : -EAGAIN;
}

/*
 * Grants the permits that are there to the waiters. Under the lock, with the
 * bit set.
 */
static void serve(struct weir_semaphore *self, struct weir__fifo *granted)
{
	uint64_t permits = ck_pr_load_64(&self->word) >> 1;
	struct weir__claim *claim;

	/* No acquire: the thread that set the bit has read the releases of
	 * these permits, and the lock orders us after it. */
	while (self->waiters.head) {
		claim = weir_container_of(self->waiters.head,
					  struct weir__claim, waiter);
		if ((uint64_t)claim->n > permits)
			break;
		permits -= (uint64_t)claim->n;
		weir__granted_push(granted, weir__waiters_pop(&self->waiters));
	}
	/* No release, for semaphore_take(), either: there is nothing of our
	 * own to pass on but what add() has, and the lock's acquire has put
	 * all that we got before this store. */
	ck_pr_store_64(&self->word,
		       2 * permits + (self->waiters.head ? WAITERS : 0));
}

/*
 * Adds `n` permits; not if there would be too many (-EOVERFLOW), nor if one of
 * the bits in `stop` is set (-EAGAIN). *seen: the word before.
 */
static int add(struct weir_semaphore *self, int64_t n, uint64_t stop,
	       uint64_t *seen)
{
	uint64_t old = ck_pr_load_64(&self->word);

	/* release: what the permits protect; pairs with the acquires in
	 * semaphore_take() and take_or_queue(), or by the lock with a woken
	 * waiter */
	ck_pr_fence_release();
	do {
		if (old & stop)
			return -EAGAIN;
		if ((old >> 1) + (uint64_t)n > (uint64_t)WEIR_PERMITS_MAX)
			return -EOVERFLOW;
		/* linearises here; the release is above */
	} while (!ck_pr_cas_64_value(&self->word, old, old + 2 * (uint64_t)n,
				     &old));
	*seen = old;
	return 0;
}

int weir_semaphore_release(struct weir_semaphore *self, int64_t n)
{
	struct weir__fifo granted = {0};
	uint64_t seen;
	int rc;

	if (!self || n <= 0)
		return -EINVAL;
	rc = add(self, n, WAITERS, &seen);
	if (rc != -EAGAIN)
		return rc;
	weir__lock(lock_of(self));
	rc = add(self, n, 0, &seen);
	if (rc == 0 && (seen & WAITERS))
		serve(self, &granted);
	weir__unlock(lock_of(self));
	weir__wake(&granted);
	return rc;
}

int weir_semaphore_try_acquire(struct weir_semaphore *self, int64_t n)
{
	int rc = check(self, n);

	if (rc < 0)
		return rc;
	return semaphore_take(self, n) ? 0 : -EAGAIN;
}

/*
 * Takes a claim out of the queue. The next claim may want less than there is:
 * it is served.
 */
static bool cancel(struct weir_semaphore *self, struct weir__claim *claim)
{
	struct weir__fifo granted = {0};
	bool removed;

	weir__lock(lock_of(self));
	removed = weir__waiters_remove(&self->waiters, &claim->waiter);
	if (removed)
		serve(self, &granted);
	weir__unlock(lock_of(self));
	weir__wake(&granted);
	return removed;
}

int weir_semaphore_acquire_wait(struct weir_semaphore *self, int64_t n,
				uint64_t timeout_ns)
{
	struct weir__parked_claim parked;
	int rc = check(self, n);

	if (rc == 0)
		rc = weir__wake_wait_allowed();
	if (rc < 0)
		return rc;
	weir__parked_claim_init(&parked);
	parked.claim.n = n;
	if (semaphore_ask(self, &parked.claim) == 0)
		return 0;
	rc = weir__wait(&parked.parked, timeout_ns);
	if (rc < 0 && !cancel(self, &parked.claim)) {
		weir__parked_settle(&parked.parked);
		rc = 0;
	}
	return rc;
}

static void acquire_wake(struct weir__waiter *waiter)
{
	struct weir_acquire *acquire =
		weir_container_of(waiter, struct weir_acquire, claim.waiter);

	acquire->granted(acquire);
}

int weir_semaphore_acquire_async(struct weir_semaphore *self,
				 struct weir_acquire *acquire, int64_t n)
{
	int rc = check(self, n);

	if (rc < 0 || !acquire || !acquire->granted)
		return -EINVAL;
	acquire->claim =
		(struct weir__claim){.waiter.wake = acquire_wake, .n = n};
	if (semaphore_ask(self, &acquire->claim) == 0)
		weir__wake_one(&acquire->claim.waiter);
	return 0;
}

bool weir_semaphore_cancel(struct weir_semaphore *self,
			   struct weir_acquire *acquire)
{
	return self && acquire && cancel(self, &acquire->claim);
}

int64_t weir_semaphore_permits(const struct weir_semaphore *self)
{
	return self ? (int64_t)(ck_pr_load_64(&self->word) >> 1) : 0;
}

/* --- The port ----------------------------------------------------------- */

static struct weir_semaphore *of(struct weir__grant_port *port)
{
	return ((struct weir_semaphore_port *)port)->semaphore;
}

static int port_take(struct weir__grant_port *port, uint32_t n)
{
	return semaphore_take(of(port), n) ? 0 : -EAGAIN;
}

static int port_ask(struct weir__grant_port *port)
{
	return semaphore_ask(of(port), &port->claim);
}

static bool port_cancel(struct weir__grant_port *port)
{
	return cancel(of(port), &port->claim);
}

/* There was room for them before they were taken. */
static void port_give(struct weir__grant_port *port, uint32_t n)
{
	(void)weir_semaphore_release(of(port), n);
}

static const struct weir__grantor grantor = {
	.take = port_take,
	.ask = port_ask,
	.cancel = port_cancel,
	.give = port_give,
};

static void port_look(const struct weir_port *port, struct weir__look *look)
{
	struct weir_semaphore *self =
		((const struct weir_semaphore_port *)port)->semaphore;
	struct weir_seen_object seen = {.object = self,
					.wait = WEIR_WAIT_PERMIT,
					.fill = weir_semaphore_permits(self)};

	weir__lock(lock_of(self));
	seen.takers = weir__waiters_count(&self->waiters, WEIR_INSPECT_WAITERS);
	weir__unlock(lock_of(self));
	look->object(look, &seen);
	weir__grant_look(port, look);
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__GRANT_FIELDS,
			WEIR__FIELD(PORT_OBJECT, struct weir_semaphore_port,
				    semaphore),
			WEIR__FIELD(OBJECT_TAKERS, struct weir_semaphore,
				    waiters.head),
			WEIR__FIELD(OBJECT_PERMITS, struct weir_semaphore,
				    word),
			{0},
		},
};

static const struct weir__port_ops port_ops = {
	WEIR__GRANT_OPS,
	.awaits = WEIR_WAIT_PERMIT,
	.look = port_look,
	.layout = &layout,
};

int weir_semaphore_port_init(struct weir_semaphore_port *port,
			     struct weir_actor *actor,
			     struct weir_semaphore *semaphore)
{
	int rc;

	if (!semaphore)
		return -EINVAL;
	rc = weir__grant_init((struct weir__grant_port *)port, actor, &port_ops,
			      &grantor);
	if (rc == 0)
		port->semaphore = semaphore;
	return rc;
}

int weir_semaphore_port_take(struct weir_semaphore_port *port, int64_t n)
{
	return weir__grant_use((struct weir__grant_port *)port, n);
}
