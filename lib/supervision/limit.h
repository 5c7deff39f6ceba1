/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts restarts against a struct weir_limit. Asking and counting are two
 * steps, so that several limits can be asked about one restart (those of the
 * child, its siblings and the supervisor), and none of them counts it if one
 * refuses:
 *
 *	ask each; if all said 1, count with each
 *
 * A record is used with one limit, or with limits that differ in `max` only, by
 * one thread at a time. The owner of the pointer owns the record; the pointer
 * is NULL until the first restart is allowed. A clock that goes back counts as
 * standing still.
 */
#ifndef WEIR_SUPERVISION_LIMIT_H
#define WEIR_SUPERVISION_LIMIT_H

#include <stdbool.h>

#include <weir/allocator.h>
#include <weir/supervision.h>

struct weir__restarts;

/* True: weir_strategy_check() accepts the limit. */
bool weir__limit_valid(const struct weir_limit *limit);

/*
 * 1: one more restart is allowed at `now`, and there is room to count it. 0: it
 * is not allowed; nothing is counted, but WEIR_WINDOW_SLIDING_STRICT forgets
 * all restarts counted so far (Phluxor). -ENOMEM: there is no room to count the
 * restart; nothing is changed. `limit` NULL: 1.
 */
int weir__limit_ask(const struct weir_limit *limit,
		    struct weir__restarts **record,
		    const struct weir_allocator *allocator, uint64_t now);

/* Counts the restart for which weir__limit_ask() has returned 1, at the same
 * `now`. */
void weir__limit_count(const struct weir_limit *limit,
		       struct weir__restarts *record, uint64_t now);

/* NULL is fine. */
void weir__restarts_free(struct weir__restarts *record,
			 const struct weir_allocator *allocator);

#endif
