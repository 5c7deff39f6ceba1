/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a descriptor that is watched with `edges`: one word, with
 * the events that have come and two marks. The watch's `fire` adds to the word,
 * the owner reads and clears.
 *
 * epoll tells of something once. So an event that comes while the owner reads
 * must not be cleared by what that read has found:
 *
 *	the watch			the owner
 *	F1 the kernel has the bytes	L1 NEWS off (weir__ready_look)
 *	F2 events and NEWS on		L2 read(2) gives EAGAIN
 *					L3 events off, if NEWS is off
 *
 *  1. If F2 comes before L1, so does F1, and the read finds the bytes (release
 *     at F2, acquire at L1). Then it was not they that the read has missed.
 *  2. If F2 comes between L1 and L3, L3 finds NEWS and clears nothing: the
 *     owner looks and reads again.
 *  3. If F2 comes after L3 the events are on. The port or operator is told
 *     behind F2.
 */
#ifndef WEIR_EXECUTOR_READINESS_H
#define WEIR_EXECUTOR_READINESS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <ck_pr.h>

#define WEIR__READY_NEWS (1u << 16) /* since the owner's last look */
#define WEIR__READY_GONE (1u << 17) /* news of WEIR__READY_HANGUPS */
#define WEIR__READY_HANGUPS ((uint32_t)(POLLERR | POLLHUP | POLLRDHUP))

/*
 * With these a transfer that was shorter than asked for does not mean that the
 * next would wait: the end or the error is still to be read, or a read has
 * stopped at TCP's urgent data.
 */
#define WEIR__READY_MORE (WEIR__READY_HANGUPS | POLLPRI)

/*
 * F2; in `fire`. Relaxed but for what its fence orders. True: of the hang-ups
 * and errors some are new.
 */
static inline bool weir__ready_add(uint32_t *ready, short events)
{
	uint32_t old = ck_pr_load_32(ready), more = (uint16_t)events, next;
	bool gone;

	/* release: what the kernel has told; pairs with the acquire in
	 * weir__ready_look() */
	ck_pr_fence_release();
	do {
		gone = more & ~old & WEIR__READY_HANGUPS;
		next = old | more | WEIR__READY_NEWS;
		if (gone)
			next |= WEIR__READY_GONE;
	} while (!ck_pr_cas_32_value(ready, old, next, &old));
	return gone;
}

/* L1. The events that have come and are not cleared. Owner. */
static inline uint32_t weir__ready_look(uint32_t *ready)
{
	if (ck_pr_load_32(ready) & WEIR__READY_NEWS)
		ck_pr_and_32(ready, ~WEIR__READY_NEWS);
	/* acquire: the system calls behind it find what the events told of;
	 * pairs with the release in weir__ready_add() */
	ck_pr_fence_acquire();
	return ck_pr_load_32(ready) & UINT16_MAX;
}

/*
 * L3: nothing is left, since a call gave EAGAIN. False: something has come
 * since the last look. Owner.
 */
static inline bool weir__ready_clear(uint32_t *ready)
{
	uint32_t old = ck_pr_load_32(ready);

	/* No order: what comes later sets NEWS (3). */
	while (!(old & WEIR__READY_NEWS))
		if (ck_pr_cas_32_value(ready, old, old & WEIR__READY_GONE,
				       &old))
			return true;
	return false;
}

/* True if WEIR__READY_GONE was on; it is off now. Owner. */
static inline bool weir__ready_gone(uint32_t *ready)
{
	if (!(ck_pr_load_32(ready) & WEIR__READY_GONE))
		return false;
	ck_pr_and_32(ready, ~WEIR__READY_GONE);
	return true;
}

#endif
