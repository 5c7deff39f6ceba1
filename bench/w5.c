/* SPDX-License-Identifier: BSD-2-Clause */
#include "w5.h"

#include "support.h"

#define NUMBER_BITS 24 /* of a token; the others are its time */
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)
#define TIME_MAX (UINT64_MAX >> NUMBER_BITS)

struct w5 *w5_new(uint64_t items, uint64_t interval_ns)
{
	struct w5 *w5;

	if (items + W5_STAGES > NUMBER_MASK || items > TIME_MAX / interval_ns)
		return NULL;
	w5 = bench_alloc(sizeof(*w5));
	w5->items = items;
	w5->interval_ns = interval_ns;
	return w5;
}

void w5_finish(struct w5 *w5, struct bench_result *result)
{
	static const double parts[BENCH_FIGURES] = {0.5, 0.99, 0.999};

	*result = w5->got;
	result->elapsed_ns = w5->end_ns - w5->start_ns;
	for (unsigned i = 0; i < BENCH_FIGURES; i++)
		result->figures[i] = histogram_percentile(&w5->ages, parts[i]) /
				     W5_STAGES;
	bench_free(w5);
}

void w5_pace(struct w5 *w5, void (*put)(void *argument, void *token),
	     void (*idle)(void *argument), void *argument)
{
	w5->start_ns = bench_real_ns() - 1; /* no token is 0 */
	for (uint64_t i = 0; i < w5->items; i++) {
		uint64_t due = i * w5->interval_ns;
		uint64_t now;

		while ((now = bench_real_ns() - w5->start_ns) < due)
			if (idle)
				idle(argument);
		put(argument, (void *)(now << NUMBER_BITS | i));
	}
}

void w5_take(struct w5 *w5, void *token)
{
	uint64_t number = (uintptr_t)token & NUMBER_MASK;
	struct bench_result *got = &w5->got;

	w5->end_ns = bench_real_ns();
	histogram_add(&w5->ages, w5->end_ns - w5->start_ns -
					 ((uintptr_t)token >> NUMBER_BITS));
	/* Once out of order, never right again. */
	if (number == got->count + W5_STAGES - 1 && got->last != UINT64_MAX)
		got->last = number;
	else
		got->last = UINT64_MAX;
	got->count++;
	got->sum += number;
}
