/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting threads. The waker's side, parked_wake(), runs on any thread:
 *
 *   it sleeps:            word = GONE, then wake by the word's address, which
 *                         may be something else's by now: a stray wake-up,
 *                         which every sleeper expects
 *   it runs an executor:  word = WOKEN, fence, ops->wake, word = GONE, wake
 *
 * WOKEN comes before ops->wake, for the owner looks at the word after each
 * step; GONE comes after it, because the owner, once it has returned, may free
 * the executor.
 */
#include "executor/wait.h"

#include <errno.h>

#include <ck_pr.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/thread.h"

static void parked_wake(struct weir__waiter *waiter)
{
	struct weir__parked *parked =
		weir_container_of(waiter, struct weir__parked, waiter);
	struct weir_executor *owned = parked->owned;

	if (owned) {
		/* relaxed: nobody acts on WOKEN but by waiting for GONE */
		ck_pr_store_32(&parked->word, WEIR__PARKED_WOKEN);
		/* wake has a full fence of its own between the two */
		owned->ops->wake(owned);
	}
	/*
	 * release: what the waker did, and all uses of `parked` and `owned`;
	 * pairs with the acquire in look()
	 */
	ck_pr_fence_release();
	ck_pr_store_32(&parked->word, WEIR__PARKED_GONE);
	/* From here on an address only. The futex call is a full fence. */
	weir__futex_wake(&parked->word, 1);
}

void weir__parked_init(struct weir__parked *parked)
{
	*parked = (struct weir__parked){
		.waiter.wake = parked_wake,
		.owned = weir__thread.owned,
	};
}

static uint32_t look(const struct weir__parked *parked)
{
	uint32_t word = ck_pr_load_32(&parked->word);

	/* acquire: pairs with the release in parked_wake() */
	ck_pr_fence_acquire();
	return word;
}

int weir__wait_allowed(void)
{
	if (weir__thread.may_block)
		return 0;
	return weir__thread.worker || weir__thread.actor ? -EDEADLK : 0;
}

/* Until the word is GONE, as long as a waker needs that has begun. */
static void wait_gone(struct weir__parked *parked)
{
	uint32_t word;

	while ((word = look(parked)) != WEIR__PARKED_GONE)
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

	while (look(parked) != WEIR__PARKED_GONE) {
		if (!left_ns)
			return -ETIMEDOUT;
		weir__futex_wait(&parked->word, WEIR__PARKED_WAITING, left_ns);
		left_ns = left(end_ns == WEIR_FOREVER ? 0 : weir__clock_ns(),
			       end_ns);
	}
	return 0;
}

static int step_until(struct weir__parked *parked, uint64_t timeout_ns)
{
	struct weir_executor *owned = parked->owned;
	uint64_t end_ns = weir__clock_after(owned->ops->now(owned), timeout_ns);
	int rc = 0;

	while (look(parked) == WEIR__PARKED_WAITING) {
		uint64_t left_ns = left(owned->ops->now(owned), end_ns);

		/* The last step of all may yet bring it. */
		if (rc < 0 && (rc != -ETIMEDOUT || !left_ns))
			return rc;
		rc = owned->ops->step(owned, left_ns);
		if (rc == 0 && !left_ns && timeout_ns != WEIR_FOREVER)
			rc = -ETIMEDOUT; /* busy, but the time is up */
	}
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
