/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs of W5 share: a thread that puts tokens at given times, and
 * the last of the three stages, which notes how old each one is.
 *
 * A token is the time at which it was put, in ns since the start, and its
 * number in the low bits, which the first two stages increase by 1.
 */
#ifndef WEIR_BENCH_W5_H
#define WEIR_BENCH_W5_H

#include <stdint.h>

#include "bench.h"
#include "histogram.h"

#define W5_STAGES 3 /* and as many hops: pacer, 1, 2, 3 */
#define W5_WINDOW 1024
#define W5_BUSY_NS 10000     /* between two tokens: 100,000 a second */
#define W5_PARKED_NS 1000000 /* 1,000 a second: everybody has gone to sleep */

struct w5 {
	uint64_t items, interval_ns, start_ns, end_ns;
	struct bench_result got;
	struct histogram ages;
};

/* Allocates it; NULL if a token cannot hold so many items. */
struct w5 *w5_new(uint64_t items, uint64_t interval_ns);

/* The result, figures included; frees it. */
void w5_finish(struct w5 *w5, struct bench_result *result);

/*
 * Starts the clock, then calls put() for each token when its time has come, and
 * idle(), unless NULL, until then; looks at the clock all the time.
 */
void w5_pace(struct w5 *w5, void (*put)(void *argument, void *token),
	     void (*idle)(void *argument), void *argument);

/* The last stage has got a token. */
void w5_take(struct w5 *w5, void *token);

/* What the first two stages do with a token. */
static inline void *w5_pass(void *token)
{
	return (void *)((uintptr_t)token + 1);
}

#endif
