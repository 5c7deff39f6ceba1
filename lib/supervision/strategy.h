/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks a strategy about a failure. In the supervisor's slice. */
#ifndef WEIR_SUPERVISION_STRATEGY_H
#define WEIR_SUPERVISION_STRATEGY_H

#include <weir/supervision.h>

/*
 * Returns an enum weir_directive; or the negative errno with which the decider,
 * and so the supervisor, has failed: -EINVAL if the decider returned neither.
 * `strategy` NULL: the default decider. Calls functions of the user's: no lock
 * is held.
 */
int weir__strategy_decide(const struct weir_strategy *strategy,
			  struct weir_actor *supervisor,
			  const struct weir_failure *failure);

/* The rule of the strategy for the failure; NULL: none matches. */
const struct weir_rule *weir__rule_find(const struct weir_strategy *strategy,
					const struct weir_failure *failure);

#endif
