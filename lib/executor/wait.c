/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting threads. The waker's side, parked_wake(), runs on any thread:
 *
 *   it sleeps:            word = GONE, then wake by the word's address, which
 *                         may be something else's by now: a stray wake-up,
 *                         which every sleeper expects
 *   it runs an executor:  word = WOKEN, fence, ops->wake, word = GONE, wake
 *   it is the waker:      the same without a wake, as it does not sleep
 *
 * WOKEN comes before ops->wake, for the owner looks at the word after each
 * step; GONE comes after it, because the owner, once it has returned, may free
 * the executor.
 */
#include "executor/wait.h"

#include <errno.h>
#include <poll.h>

#include <ck_pr.h>

#include "base/clock.h"
#include "base/costs.h"
#include "base/futex.h"
#include "executor/thread.h"

static void parked_wake(struct weir__waiter *waiter)
{
	struct weir__parked *parked =
		weir_container_of(waiter, struct weir__parked, waiter);
	struct weir_executor *owned = parked->owned ? parked->owned->executor
						    : NULL;
	bool self = owned && parked->thread == &weir__thread;

	if (owned) {
		/* relaxed: nobody acts on WOKEN but by waiting for GONE */
		ck_pr_store_32(&parked->word, WEIR__PARKED_WOKEN);
		/* wake has a full fence of its own between the two */
		owned->ops->wake(owned);
	}
	/*
	 * release: what the waker did, and all uses of `parked` and `owned`;
	 * pairs with the acquire in wait_look()
	 */
	ck_pr_fence_release();
	ck_pr_store_32(&parked->word, WEIR__PARKED_GONE);
	/* From here on an address only. The futex call is a full fence. */
	if (!self)
		weir__futex_wake(&parked->word, 1);
}

void weir__own(struct weir__owned *owned)
{
	weir__thread.id = 0; /* in a child process it is another one */
	owned->next = weir__thread.owned;
	weir__thread.owned = owned;
}

static struct weir__owned **link_of(const struct weir_executor *executor)
{
	struct weir__owned **link = &weir__thread.owned;

	while (*link && (*link)->executor != executor)
		link = &(*link)->next;
	return link;
}

void weir__disown(struct weir__owned *owned)
{
	struct weir__owned **link = link_of(owned->executor);

	/* else another thread has made it */
	if (*link)
		*link = owned->next;
}

bool weir__owns(const struct weir_executor *executor)
{
	return *link_of(executor);
}

/* A loop, which others can wake, or else the last simulator. */
static struct weir__owned *find_home(void)
{
	struct weir__owned *owned = weir__thread.owned;

	while (owned && owned->is_virtual)
		owned = owned->next;
	return owned ? owned : weir__thread.owned;
}

void weir__parked_init(struct weir__parked *parked)
{
	*parked = (struct weir__parked){
		.waiter.wake = parked_wake,
		.owned = find_home(),
		.thread = &weir__thread,
	};
}

static uint32_t wait_look(const struct weir__parked *parked)
{
	uint32_t word = ck_pr_load_32(&parked->word);

	/* acquire: pairs with the release in parked_wake() */
	ck_pr_fence_acquire();
	return word;
}

int weir__wait_allowed(void)
{
	const struct weir__thread *thread = &weir__thread;
	const struct weir__owned *owned;

	for (owned = thread->owned; owned; owned = owned->next)
		if (owned->running)
			return -EDEADLK;
	if (thread->may_block)
		return 0;
	return thread->worker || thread->task || thread->running ? -EDEADLK : 0;
}

/* Waits until the word is GONE: as long as a waker that has begun needs. */
static void wait_gone(struct weir__parked *parked)
{
	uint32_t word;

	while ((word = wait_look(parked)) != WEIR__PARKED_GONE)
		weir__futex_wait(&parked->word, word, UINT64_MAX);
}

static uint64_t left(uint64_t now_ns, uint64_t end_ns)
{
	if (end_ns == WEIR_FOREVER)
		return WEIR_FOREVER;
	return now_ns < end_ns ? end_ns - now_ns : 0;
}

static int sleep_until(struct weir__parked *parked, uint64_t timeout_ns)
{
	uint64_t end_ns = weir__clock_after(weir__clock_ns(), timeout_ns);
	uint64_t left_ns = timeout_ns;

	while (wait_look(parked) != WEIR__PARKED_GONE) {
		if (!left_ns)
			return -ETIMEDOUT;
		weir__futex_wait(&parked->word, WEIR__PARKED_WAITING, left_ns);
		left_ns = left(end_ns == WEIR_FOREVER ? 0 : weir__clock_ns(),
			       end_ns);
	}
	return 0;
}

/*
 * Runs what there is to run on all loops and simulators but `home`. A turn may
 * make others meanwhile, or free those that are not marked `waited`, so the
 * list is read anew each time. *fds: one of them has a descriptor. True:
 * something was run.
 */
static bool poll_others(const struct weir__owned *home, bool *fds)
{
	uint32_t round = ++weir__thread.round;
	struct weir__owned *owned = weir__thread.owned;
	bool any = false;

	while (owned) {
		if (owned == home || owned->round == round) {
			owned = owned->next;
			continue;
		}
		owned->round = round;
		*fds |= owned->fd >= 0;
		any |= owned->poll(owned->executor);
		owned = weir__thread.owned;
	}
	return any;
}

/* Sleeps until a loop of this thread has something to do. */
static int sleep_for_all(uint64_t timeout_ns)
{
	const struct weir__owned *owned = weir__thread.owned;
	struct timespec timeout = weir__clock_timespec(timeout_ns);
	struct pollfd fds[WEIR__WAIT_MAX];
	nfds_t n = 0;
	int rc;

	for (; owned; owned = owned->next) {
		if (owned->fd < 0)
			continue;
		if (n == WEIR__WAIT_MAX)
			return -EDEADLK;
		fds[n++] = (struct pollfd){.fd = owned->fd, .events = POLLIN};
	}
	weir__costs_kernel_call();
	rc = ppoll(fds, n, timeout_ns == WEIR_FOREVER ? NULL : &timeout, NULL);
	return rc == 0 ? -ETIMEDOUT : 0;
}

/* As ops->step, of all that this thread owns. */
static int step(struct weir__owned *home, uint64_t left_ns)
{
	struct weir_executor *executor = home->executor;
	bool fds = false;
	bool any = poll_others(home, &fds);

	if (any || !fds || (home->is_virtual && left_ns != WEIR_FOREVER))
		return executor->ops->step(executor, any ? 0 : left_ns);
	return home->poll(executor) ? 0 : sleep_for_all(left_ns);
}

/* Loops and simulators that are there when a wait begins stay until its end. */
static void set_waited(bool waited)
{
	struct weir__owned *owned;

	for (owned = weir__thread.owned; owned; owned = owned->next)
		owned->waited = waited;
}

static int step_until(struct weir__parked *parked, uint64_t timeout_ns)
{
	struct weir_executor *clock = parked->owned->executor;
	bool ends = timeout_ns != WEIR_FOREVER;
	uint64_t now_ns = ends ? clock->ops->now(clock) : 0;
	uint64_t end_ns = weir__clock_after(now_ns, timeout_ns);
	uint64_t left_ns = timeout_ns;
	int rc = 0;

	set_waited(true);
	while (wait_look(parked) == WEIR__PARKED_WAITING) {
		if (ends)
			left_ns = left(clock->ops->now(clock), end_ns);
		/* The last step may have brought what is waited for. */
		if (rc < 0 && (rc != -ETIMEDOUT || !left_ns))
			break;
		rc = step(parked->owned, left_ns);
		if (rc == 0 && !left_ns)
			rc = -ETIMEDOUT; /* busy, but the time is up */
	}
	set_waited(false);
	if (wait_look(parked) == WEIR__PARKED_WAITING)
		return rc;
	wait_gone(parked);
	return 0;
}

int weir__wait(struct weir__parked *parked, uint64_t timeout_ns)
{
	int rc = weir__wait_allowed();

	if (rc < 0)
		return rc;
	return parked->owned ? step_until(parked, timeout_ns)
			     : sleep_until(parked, timeout_ns);
}

void weir__parked_settle(struct weir__parked *parked)
{
	wait_gone(parked);
}
