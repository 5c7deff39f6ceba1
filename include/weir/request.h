/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many items to request, and when: the usual answers, for reactive in-ports
 * and for subscribers of your own. `remaining` were requested and have not come
 * yet; the answer is what to request now, 0 for nothing. None of them remembers
 * anything, changes its settings or wraps; a count below 0 is taken for 0.
 *
 * Any thread, several at once too; lock-free.
 */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H

#include <errno.h>

#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Settings ------------------------------------------------------------- */

/* Read-only. */
struct weir_watermark {
	int64_t high, low;
};

/* Read-only. */
struct weir_max_in_flight {
	int64_t max, batch;
	int64_t (*in_flight)(void *context);
	void *context;
};

/*
 * Below `low` remaining, up to `high` of them. A `low` of 0 stands for half of
 * `high`, at least 1. -EINVAL: null, low < 0, high < low, high < 1.
 */
WEIR_API WEIR_MUST_CHECK int weir_watermark_init(
	struct weir_watermark *watermark, int64_t high, int64_t low);

/*
 * Up to `max` that remain or are in flight: have come, and are not done with.
 * Nothing is requested until there is room for `batch` of them, or for `max` if
 * that is less. A `batch` of 0 stands for 5; 1 requests whenever there is room.
 *
 * `in_flight` says how many there are, more than `max` too. It is called once
 * by each weir_demand_max_in_flight(), on its thread, with `context`; it and
 * what it points to live as long as these settings are used.
 *
 * -EINVAL: null (`context` may be), max < 0, batch < 0.
 */
WEIR_API WEIR_MUST_CHECK int weir_max_in_flight_init(
	struct weir_max_in_flight *settings, int64_t max, int64_t batch,
	int64_t (*in_flight)(void *context), void *context);

/* --- Answers -------------------------------------------------------------- */

/* Nothing, ever: for who requests by hand. No context. */
WEIR_API int64_t weir_demand_zero(int64_t remaining, void *context);

/* The next one when the last one has come. No context. */
WEIR_API int64_t weir_demand_one_by_one(int64_t remaining, void *context);

/* As the struct weir_watermark says, which is not NULL. */
WEIR_API int64_t weir_demand_watermark(int64_t remaining, void *watermark);

/* As the struct weir_max_in_flight says, which is not NULL. */
WEIR_API int64_t weir_demand_max_in_flight(int64_t remaining, void *settings);

#ifdef __cplusplus
}
#endif

#endif
