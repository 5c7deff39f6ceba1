/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The idle protocol. A worker is busy, searches (looks for work, awake), or is
 * idle (its bit is set; it sleeps or is about to). Transitions:
 *
 *	busy -> searching	the worker: weir__park_search()
 *	searching -> busy	the worker: weir__park_found()
 *	searching -> idle	the worker: weir__park_announce()
 *	idle -> searching	the worker: weir__park_cancel(), or a waker
 *
 *  1. Bit i is set by worker i alone, and cleared by one read-modify-write
 *     that finds it set. If a waker's did, the worker has been woken; no waker
 *     does anything for a bit that it did not clear itself.
 *  2. Sleep. A waker clears the bit, then increments the epoch, then calls
 *     futex wake. The sleeper reads the epoch, then the bit. If it finds the
 *     bit set, it has read the epoch from before the increment (the fences in
 *     wake() and weir__park_epoch() order each pair), so the futex refuses to
 *     sleep or the wake ends it. An increment may come late, after a cancel:
 *     it ends the next sleep early, and the sleeper looks at its bit. Two
 *     wakers may increment at once, so that has to be one operation.
 *  3. Publisher against a worker that goes idle. The publisher publishes, then
 *     reads `searching` and the bits; the worker sets its bit and decrements
 *     `searching`, then looks at the sources. Both have a full fence between,
 *     so the worker sees the publication, or the publisher reads both words as
 *     the worker left them.
 *  4. Publisher against searchers. It wakes nobody if it reads searching > 0.
 *     Then a decrement follows that ends this period. It is made by a worker
 *     that goes idle, which looks at the sources afterwards (claim 3), or by
 *     one that found work: weir__park_found() tells that worker that it was the
 *     last to search, and the worker looks whether there is more work. So
 *     somebody looks after the publication.
 *  5. `searching` is at most the number of workers that search: a waker
 *     increments it for the worker after clearing the bit, and a worker that
 *     is so fast that it decrements first makes it too small, even negative,
 *     for a moment. Too small only costs a superfluous wake (claim 4 needs
 *     that > 0 is true, not that it is found).
 *  6. Monitoring. A busy worker cannot say that what waits behind a long turn
 *     should be taken away. So while a worker is busy and has something
 *     queued, one of the others searches, or sleeps with a timeout to look
 *     again: the monitor, who owns `monitor`. A worker going idle becomes the
 *     monitor if others are awake. A worker that queues something, and finds
 *     `monitor` 0, wakes one. A thread that wakes one worker wakes the monitor
 *     only if no other is idle: else another worker would have to be woken to
 *     be the monitor in its place.
 *  7. The monitor may end its task when nobody is awake: store, fence, look
 *     again. A worker awakened later has cleared its bit after that look, and
 *     makes a full fence (weir__park_found()) before it queues anything: it
 *     reads monitor == 0. A monitor that is woken itself writes 0 as well. A
 *     worker that queues something may miss that 0 and wake nobody, which does
 *     no harm: the woken monitor searches.
 *  8. Polling. One worker at a time owns `poller`: it waits in the kernel for
 *     descriptors, and not on its epoch. Who wakes it increments the epoch and
 *     then reads `poller`; the worker sets `poller` and then reads the epoch.
 *     Both have a full fence between, so the worker does not wait, or the waker
 *     ends its wait, which `rouse` does even if it comes first. A worker that
 *     has cleared `poller` may sleep on its epoch next. The futex compares the
 *     epoch behind a full fence: so it refuses, or the waker reads 0 and wakes
 *     the sleeper.
 *  9. Once there are descriptors, somebody polls or somebody is awake: a worker
 *     that has polled is awake when it clears `poller`, and each that goes idle
 *     polls, unless another does. The first descriptor wakes a worker for that
 *     (claim 3: its source is that there are descriptors).
 */
#include "executor/park.h"

#include <ck_pr.h>

#include "base/fence.h"
#include "base/futex.h"

static uint64_t bit_of(uint32_t i)
{
	return UINT64_C(1) << (i % 64);
}

static uint32_t n_words(const struct weir__park *park)
{
	return (park->n + 63) / 64;
}

void weir__park_init(struct weir__park *park, struct weir__sleeper *sleepers,
		     uint32_t n)
{
	park->sleepers = sleepers;
	park->n = n;
	park->monitor = n == 1; /* there is nobody to monitor it */
}

void weir__park_search(struct weir__park *park)
{
	/* No fence: seen late, it costs a wake that was not needed. */
	ck_pr_inc_32(&park->searching);
}

bool weir__park_found(struct weir__park *park)
{
	uint32_t before = ck_pr_faa_32(&park->searching, UINT32_MAX);

	/* The decrement before the caller's look at the sources (claim 4) and
	 * before its first look at `monitor` (claim 7); pairs with the fences
	 * of publishers and of weir__park_unmonitor(). */
	ck_pr_fence_atomic_load();
	return (int32_t)before <= 1;
}

void weir__park_announce(struct weir__park *park, uint32_t i)
{
	ck_pr_or_64(&park->idle[i / 64], bit_of(i));
	ck_pr_dec_32(&park->searching);
	/* Both before the caller's look at the sources; pairs with the fence
	 * of the publisher (claim 3). */
	ck_pr_fence_atomic_load();
}

uint32_t weir__park_epoch(const struct weir__park *park, uint32_t i)
{
	uint32_t epoch = ck_pr_load_32(&park->sleepers[i].epoch);

	/* acquire: before the caller's look at the bit and the sources; pairs
	 * with the fence in wake() (claim 2). */
	ck_pr_fence_acquire();
	return epoch;
}

bool weir__park_woken(const struct weir__park *park, uint32_t i)
{
	return !(ck_pr_load_64(&park->idle[i / 64]) & bit_of(i));
}

/* True: this call cleared bit i (claim 1). */
static bool clear(struct weir__park *park, uint32_t i)
{
	return ck_pr_btr_64(&park->idle[i / 64], i % 64);
}

bool weir__park_cancel(struct weir__park *park, uint32_t i)
{
	if (!clear(park, i))
		return false; /* its waker counts it */
	weir__park_search(park);
	return true;
}

bool weir__park_sleep(struct weir__park *park, uint32_t i, uint32_t epoch,
		      uint64_t timeout_ns)
{
	return weir__futex_wait(&park->sleepers[i].epoch, epoch, timeout_ns) !=
	       -ETIMEDOUT;
}

bool weir__park_polls(const struct weir__park *park)
{
	return ck_pr_load_32(&park->poller) != 0;
}

bool weir__park_poll(struct weir__park *park, uint32_t i)
{
	if (weir__park_polls(park) || !ck_pr_cas_32(&park->poller, 0, i + 1))
		return false;
	/* acquire: what the last one did as it polled; pairs with the release
	 * in weir__park_polled() */
	ck_pr_fence_acquire();
	/* `poller` before the caller's look at the epoch; pairs with the fence
	 * in wake() (claim 8). */
	ck_pr_fence_atomic_load();
	return true;
}

void weir__park_polled(struct weir__park *park)
{
	/* release: what was done meanwhile; pairs with the acquire above */
	ck_pr_fence_release();
	ck_pr_store_32(&park->poller, 0);
}

static bool wake(struct weir__park *park, uint32_t i)
{
	if (!clear(park, i))
		return false;
	ck_pr_inc_32(&park->searching);
	/* The bit before the epoch; pairs with the acquire in
	 * weir__park_epoch() (claim 2). */
	ck_pr_fence_atomic();
	ck_pr_inc_32(&park->sleepers[i].epoch);
	/* The epoch before `poller`; pairs with the fence in weir__park_poll()
	 * (claim 8). */
	ck_pr_fence_atomic_load();
	if (WEIR_UNLIKELY(ck_pr_load_32(&park->poller) == i + 1))
		park->rouse(park);
	else
		weir__futex_wake(&park->sleepers[i].epoch, 1);
	return true;
}

/*
 * Orders the caller's publication before its look for idle workers (claim 3);
 * pairs with the fences in weir__park_announce() and weir__park_found(). The
 * publisher's last operation was a read-modify-write, so this fence suffices.
 */
static void publish(void)
{
	ck_pr_fence_atomic_load();
}

bool weir__park_wake(struct weir__park *park, uint32_t i)
{
	publish();
	/* Look first: a failing read-modify-write would cost as much as one
	 * that succeeds. */
	return !weir__park_woken(park, i) && wake(park, i);
}

bool weir__park_searched(const struct weir__park *park)
{
	return (int32_t)ck_pr_load_32(&park->searching) > 0;
}

/* The idle workers of one word, without the monitor. */
static uint64_t idle_but(const struct weir__park *park, uint32_t word,
			 uint32_t monitor)
{
	uint64_t idle = ck_pr_load_64(&park->idle[word]);

	return monitor / 64 == word ? idle & ~bit_of(monitor) : idle;
}

bool weir__park_wake_one(struct weir__park *park)
{
	uint32_t n = n_words(park), word, monitor;
	uint64_t idle;

	publish();
	if (weir__park_searched(park))
		return false; /* claim 4 */
	/* No order: whichever worker this is, it is woken last and not left
	 * out. */
	monitor = ck_pr_load_32(&park->monitor) - 1;
	for (word = 0; word < n; word++) {
		while ((idle = idle_but(park, word, monitor))) {
			uint32_t bit = (uint32_t)__builtin_ctzll(idle);

			if (wake(park, word * 64 + bit))
				return true;
		}
	}
	return monitor < park->n && !weir__park_woken(park, monitor) &&
	       wake(park, monitor);
}

uint32_t weir__park_idle(const struct weir__park *park)
{
	uint32_t n = n_words(park), word, idle = 0;

	for (word = 0; word < n; word++)
		idle += (uint32_t)__builtin_popcountll(
			ck_pr_load_64(&park->idle[word]));
	return idle;
}

bool weir__park_monitor(struct weir__park *park, uint32_t i)
{
	/* No order: `monitor` guards no data, and a worker that misses that it
	 * became 1 wakes one worker too many. */
	return !ck_pr_load_32(&park->monitor) &&
	       ck_pr_cas_32(&park->monitor, 0, i + 1);
}

void weir__park_unmonitor(struct weir__park *park)
{
	ck_pr_store_32(&park->monitor, 0);
	/* Before the caller's look whether somebody is awake; pairs with the
	 * fence in weir__park_found() (claim 7). */
	weir__fence_full();
}
