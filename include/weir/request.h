/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many items to request, and when: the usual functions, for reactive
 * in-ports and for subscribers of your own. Each gets `remaining`, the number
 * of items that were requested and have not come yet, and returns how many to
 * request now; 0: none. The functions have no state, do not change their
 * settings, and do not overflow; a count below 0 is taken as 0.
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
 * Requests up to `high` remaining items as soon as fewer than `low` remain. A
 * `low` of 0 stands for half of `high`, at least 1. -EINVAL: null, low < 0,
 * high < low, high < 1.
 */
WEIR_API WEIR_MUST_CHECK int weir_watermark_init(
	struct weir_watermark *watermark, int64_t high, int64_t low);

/*
 * Requests items up to `max` that remain or are in flight. An item is in flight
 * when it has come and is not done with. No item is requested until there is
 * room for `batch` items, or for `max` if that is less. A `batch` of 0 stands
 * for 5; with a `batch` of 1 items are requested whenever there is room.
 *
 * `in_flight` returns how many items are in flight, which may be more than
 * `max`. Each weir_demand_max_in_flight() calls it once, on its thread, with
 * `context`. `in_flight` and everything that `context` points to live as long
 * as the settings are used.
 *
 * -EINVAL: null (`context` may be), max < 0, batch < 0.
 */
WEIR_API WEIR_MUST_CHECK int weir_max_in_flight_init(
	struct weir_max_in_flight *settings, int64_t max, int64_t batch,
	int64_t (*in_flight)(void *context), void *context);

/* --- Answers -------------------------------------------------------------- */

/* Always 0, for code that requests by hand. No context. */
WEIR_API int64_t weir_demand_zero(int64_t remaining, void *context);

/* 1 if no item remains, else 0. No context. */
WEIR_API int64_t weir_demand_one_by_one(int64_t remaining, void *context);

/* The answer for `watermark`, a struct weir_watermark, not NULL. */
WEIR_API int64_t weir_demand_watermark(int64_t remaining, void *watermark);

/* The answer for `settings`, a struct weir_max_in_flight, not NULL. */
WEIR_API int64_t weir_demand_max_in_flight(int64_t remaining, void *settings);

#ifdef __cplusplus
}
#endif

#endif
