/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Restarts counted against a struct weir_limit. Asking and counting are two
 * steps, so that several limits can be asked about one restart (a child's, its
 * siblings' and the supervisor's) and none of them counts it if one refuses:
 *
 *	ask each; if all said 1, count with each
 *
 * A record is used with one limit, or with limits that differ in `max` only,
 * by one thread at a time. It belongs to who holds the pointer, which is NULL
 * until the first restart is allowed. A clock that
 * goes back is taken to stand still.
 */
#ifndef WEIR_SUPERVISION_LIMIT_H
#define WEIR_SUPERVISION_LIMIT_H

#include <stdbool.h>

#include <weir/allocator.h>
#include <weir/supervision.h>

struct weir__restarts;

/* What weir_strategy_check() asks of a limit. */
bool weir__limit_valid(const struct weir_limit *limit);

/*
 * 1: there may be one more restart at `now`, and there is room to count it. 0:
 * there may not; nothing is counted, but WEIR_WINDOW_SLIDING_STRICT forgets all
 * it has counted so far (Phluxor). -ENOMEM: there is no room to count it;
 * nothing is changed. `limit` NULL: 1.
 */
int weir__limit_ask(const struct weir_limit *limit,
		    struct weir__restarts **record,
		    const struct weir_allocator *allocator, uint64_t now);

/* Counts the restart that was asked for, with 1, at the same `now`. */
void weir__limit_count(const struct weir_limit *limit,
		       struct weir__restarts *record, uint64_t now);

/* NULL is fine. */
void weir__restarts_free(struct weir__restarts *record,
			 const struct weir_allocator *allocator);

#endif
