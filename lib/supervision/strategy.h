/* SPDX-License-Identifier: BSD-2-Clause */
/* What a strategy says about a failure. In the supervisor's slice. */
#ifndef WEIR_SUPERVISION_STRATEGY_H
#define WEIR_SUPERVISION_STRATEGY_H

#include <weir/supervision.h>

/*
 * An enum weir_directive, or the negative errno with which the decider, and
 * now the supervisor, has failed: -EINVAL where it said what is neither.
 * `strategy` NULL: the default decider. Calls the user: no lock is held.
 */
int weir__strategy_decide(const struct weir_strategy *strategy,
			  struct weir_actor *supervisor,
			  const struct weir_failure *failure);

/* Which of its rules, if it has any, is for the failure; NULL: none matches. */
const struct weir_rule *weir__rule_find(const struct weir_strategy *strategy,
					const struct weir_failure *failure);

#endif
