/* SPDX-License-Identifier: BSD-2-Clause */
#include "histogram.h"

/* The middle of a bucket. */
static double value_of(unsigned bucket)
{
	unsigned shift = bucket >> HISTOGRAM_BITS;
	uint64_t low;

	if (shift <= 1) /* one value each */
		return bucket;
	shift--;
	low = (uint64_t)(bucket - (shift << HISTOGRAM_BITS)) << shift;
	return (double)low + (double)((UINT64_C(1) << shift) - 1) / 2;
}

double histogram_percentile(const struct histogram *histogram, double part)
{
	double wanted = part * (double)histogram->n;
	uint64_t seen = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (histogram->buckets[i] > 0 && (double)seen >= wanted)
			return value_of(i);
	}
	return 0;
}
