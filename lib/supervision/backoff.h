/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Back-off: the restarts counted, and how long to wait before the next. Who
 * counts keeps a count and a time, both 0 at first.
 */
#ifndef WEIR_SUPERVISION_BACKOFF_H
#define WEIR_SUPERVISION_BACKOFF_H

#include <stdbool.h>

#include <weir/supervision.h>

/* What weir_strategy_check() asks of a back-off. */
bool weir__backoff_valid(const struct weir_backoff *backoff);

/*
 * There is a failure at `now`, to be followed by a restart: how long to wait
 * before it. Counts it in *count, and puts into *last_ns the time from which
 * the law measures: when that restart is due (exponential) or `now` (linear).
 * `random` is uniform over 64 bits.
 */
uint64_t weir__backoff_next(const struct weir_backoff *backoff, uint32_t *count,
			    uint64_t *last_ns, uint64_t now, uint64_t random);

/*
 * The restart takes place at `now`, which may be later than it was due: it had
 * to wait for children. Called before what can fail in it.
 */
void weir__backoff_restarted(const struct weir_backoff *backoff,
			     uint64_t *last_ns, uint64_t now);

#endif
