/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Back-off: counts restarts, and says how long to wait before the next. The
 * caller keeps a count and a time, both 0 at first.
 */
#ifndef WEIR_SUPERVISION_BACKOFF_H
#define WEIR_SUPERVISION_BACKOFF_H

#include <stdbool.h>

#include <weir/supervision.h>

/* True: weir_strategy_check() accepts the back-off. */
bool weir__backoff_valid(const struct weir_backoff *backoff);

/*
 * A failure at `now` will be followed by a restart: returns how long to wait
 * before the restart. Counts the restart in *count, and sets *last_ns to the
 * time from which the law measures: when the restart is due (exponential) or
 * `now` (linear). `random` is uniform over 64 bits.
 */
uint64_t weir__backoff_next(const struct weir_backoff *backoff, uint32_t *count,
			    uint64_t *last_ns, uint64_t now, uint64_t random);

/*
 * The restart takes place at `now`, which may be later than it was due, because
 * it had to wait for children. Call it before the parts of the restart that can
 * fail.
 */
void weir__backoff_restarted(const struct weir_backoff *backoff,
			     uint64_t *last_ns, uint64_t now);

#endif
