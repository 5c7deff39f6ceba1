/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts values in buckets that are log-linear: each power of two is cut into
 * 64 equal ones, so a percentile is off by less than 1 %.
 */
#ifndef WEIR_BENCH_HISTOGRAM_H
#define WEIR_BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS 6
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct histogram {
	uint64_t n;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* Values below 2^HISTOGRAM_BITS have a bucket of their own. */
static inline unsigned histogram_bucket(uint64_t value)
{
	unsigned shift;

	if (value >> HISTOGRAM_BITS == 0)
		return (unsigned)value;
	shift = 63 - HISTOGRAM_BITS - (unsigned)__builtin_clzll(value);
	return (shift << HISTOGRAM_BITS) + (unsigned)(value >> shift);
}

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
	histogram->n++;
	histogram->buckets[histogram_bucket(value)]++;
}

/* The value that a part (0 to 1) of all do not exceed; 0 if there are none. */
double histogram_percentile(const struct histogram *histogram, double part);

#endif
