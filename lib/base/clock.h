/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The real clock, CLOCK_MONOTONIC in nanoseconds, and sums of times that stop
 * at WEIR_FOREVER instead of wrapping.
 */
#ifndef WEIR_BASE_CLOCK_H
#define WEIR_BASE_CLOCK_H

#include <time.h>

#include <weir/api.h>

#define WEIR__SECOND UINT64_C(1000000000)

static inline uint64_t weir__clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * WEIR__SECOND + (uint64_t)now.tv_nsec;
}

static inline struct timespec weir__clock_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / WEIR__SECOND),
		.tv_nsec = (long)(ns % WEIR__SECOND),
	};
}

/* `at_ns` + `delta_ns`, or WEIR_FOREVER. */
static inline uint64_t weir__clock_after(uint64_t at_ns, uint64_t delta_ns)
{
	uint64_t sum_ns = at_ns + delta_ns;

	return sum_ns < at_ns ? WEIR_FOREVER : sum_ns;
}

#endif
