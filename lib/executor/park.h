/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How idle workers sleep and are woken: an event count. park.c has the
 * protocol and why it loses no wake.
 */
#ifndef WEIR_EXECUTOR_PARK_H
#define WEIR_EXECUTOR_PARK_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/threads.h>

#include "base/memory.h"

/* The word that a worker sleeps on. */
struct weir__sleeper {
	uint32_t epoch __attribute__((aligned(WEIR__LINE)));
};

struct weir__park {
	/* Set by weir__park_init(). */
	struct weir__sleeper *sleepers;
	uint32_t n;
	/* The number of the monitor, which sleeps with a timeout, plus 1; 0:
	 * there is none. Seldom written, often read: it shares the line of
	 * constant fields. */
	uint32_t monitor;
	/* Set before any worker polls: ends that worker's wait for descriptors,
	 * or its next one. */
	void (*rouse)(struct weir__park *park);
	/* Searchers, or less (signed; claim 5). */
	uint32_t searching __attribute__((aligned(WEIR__LINE)));
	/* The number of the worker that polls, plus 1; 0: none does (claim 8).
	 */
	uint32_t poller;
	/* Bit i: worker i is parked, or about to be. Not on the line of
	 * `searching`: a thread that would wake a worker only reads this line,
	 * which stays in that thread's cache while all workers are awake. */
	uint64_t idle[WEIR_WORKERS_MAX / 64]
		__attribute__((aligned(WEIR__LINE)));
};

/* `sleepers` holds n, zeroed, and lives as long as the park. */
void weir__park_init(struct weir__park *park, struct weir__sleeper *sleepers,
		     uint32_t n);

/* Counts a worker that is awake as searching. */
void weir__park_search(struct weir__park *park);

/*
 * The worker has found work and searches no more. True: no other worker
 * searches, so the caller looks whether there is more work, and if so calls
 * weir__park_wake_one().
 */
bool weir__park_found(struct weir__park *park);

/*
 * The searching worker i goes idle. Afterwards it looks at every source once
 * more: it finds what was published, or the publisher wakes it.
 */
void weir__park_announce(struct weir__park *park, uint32_t i);

/*
 * Before each look at the sources: returns the epoch to hand to
 * weir__park_sleep().
 */
uint32_t weir__park_epoch(const struct weir__park *park, uint32_t i);

/* True: worker i was woken: it is idle no more, and searches. */
bool weir__park_woken(const struct weir__park *park, uint32_t i);

/*
 * Worker i has found work itself, or goes on for another reason: it is idle no
 * more, and searches. True: it was not woken; false: it was woken meanwhile.
 */
bool weir__park_cancel(struct weir__park *park, uint32_t i);

/*
 * Sleeps unless woken since weir__park_epoch(); at most timeout_ns. False:
 * that time is over. May return early.
 */
bool weir__park_sleep(struct weir__park *park, uint32_t i, uint32_t epoch,
		      uint64_t timeout_ns);

/*
 * Worker i is to wait for descriptors in place of weir__park_sleep(), if no
 * other worker does. True: it polls, until weir__park_polled(); if
 * weir__park_epoch() is not what it was before, it does not wait.
 */
bool weir__park_poll(struct weir__park *park, uint32_t i);
void weir__park_polled(struct weir__park *park);

/* True if a worker polls. A hint. */
bool weir__park_polls(const struct weir__park *park);

/*
 * Something was published, by a ck_pr read-modify-write or with a full fence
 * behind it. Unless somebody searches, wakes one idle worker; true if it did.
 */
bool weir__park_wake_one(struct weir__park *park);

/* As weir__park_wake_one(), for worker i only, also if other workers search. */
bool weir__park_wake(struct weir__park *park, uint32_t i);

/* True if a worker searches. A hint. */
bool weir__park_searched(const struct weir__park *park);

/* How many workers are idle. Exact when nothing changes. */
uint32_t weir__park_idle(const struct weir__park *park);

/*
 * Monitoring (claims 6 and 7). True: the idle worker i is the monitor, which
 * has to look at the others from time to time.
 */
bool weir__park_monitor(struct weir__park *park, uint32_t i);

/* The monitor gives its task up. */
void weir__park_unmonitor(struct weir__park *park);

#endif
