/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deciders, tables of rules, and the check of strategies. No state; any thread.
 */
#include "supervision/strategy.h"

#include <errno.h>
#include <string.h>

#include "supervision/backoff.h"
#include "supervision/limit.h"

int weir_strategy_decide_default(struct weir_actor *supervisor,
				 const struct weir_failure *failure,
				 void *context)
{
	if (!failure)
		return -EINVAL;
	if (failure->error->code == WEIR_ERROR_FATAL)
		return WEIR_DIRECTIVE_ESCALATE;
	switch (failure->kind) {
	case WEIR_FAILURE_START:
	case WEIR_FAILURE_RESTART:
	case WEIR_FAILURE_KILLED:
	case WEIR_FAILURE_DEATH_PACT:
		return WEIR_DIRECTIVE_STOP;
	default:
		return WEIR_DIRECTIVE_RESTART;
	}
}

int weir_strategy_decide_stop(struct weir_actor *supervisor,
			      const struct weir_failure *failure, void *context)
{
	if (!failure)
		return -EINVAL;
	return failure->error->code == WEIR_ERROR_FATAL
		       ? WEIR_DIRECTIVE_ESCALATE
		       : WEIR_DIRECTIVE_STOP;
}

static bool is_directive(int directive)
{
	return directive >= WEIR_DIRECTIVE_RESUME &&
	       directive <= WEIR_DIRECTIVE_ESCALATE;
}

static bool matches(const struct weir_rule *rule,
		    const struct weir_failure *failure)
{
	const struct weir_error *error = failure->error;

	return (rule->code == 0 || rule->code == error->code) &&
	       (!rule->origin || strcmp(rule->origin, error->origin) == 0) &&
	       (rule->kind == WEIR_FAILURE_ANY || rule->kind == failure->kind);
}

/* By the number of fields that are set, then by which. */
static int weight(const struct weir_rule *rule)
{
	int code = rule->code != 0, origin = rule->origin != NULL;
	int kind = rule->kind != WEIR_FAILURE_ANY;

	return 8 * (code + origin + kind) + 4 * code + 2 * origin + kind;
}

const struct weir_rule *weir__rule_find(const struct weir_strategy *strategy,
					const struct weir_failure *failure)
{
	const struct weir_rule *rule, *best = NULL;
	size_t i;

	for (i = 0; i < strategy->n_rules; i++) {
		rule = &strategy->rules[i];
		if (matches(rule, failure) &&
		    (!best || weight(rule) > weight(best)))
			best = rule;
	}
	return best;
}

static int look_up(const struct weir_strategy *strategy,
		   const struct weir_failure *failure)
{
	const struct weir_rule *rule = weir__rule_find(strategy, failure);

	return rule ? (int)rule->directive : WEIR_DIRECTIVE_ESCALATE;
}

int weir__strategy_decide(const struct weir_strategy *strategy,
			  struct weir_actor *supervisor,
			  const struct weir_failure *failure)
{
	int directive;

	if (strategy && strategy->decide)
		directive = strategy->decide(supervisor, failure,
					     strategy->context);
	else if (strategy && strategy->rules)
		directive = look_up(strategy, failure);
	else
		directive =
			weir_strategy_decide_default(supervisor, failure, NULL);
	return directive < 0 || is_directive(directive) ? directive : -EINVAL;
}

static bool rules_valid(const struct weir_strategy *strategy)
{
	const struct weir_rule *rule = strategy->rules;

	if (!rule)
		return strategy->n_rules == 0;
	for (; rule < strategy->rules + strategy->n_rules; rule++)
		if (rule->code > 0 ||
		    (unsigned int)rule->kind > WEIR_FAILURE_DEATH_PACT ||
		    !is_directive((int)rule->directive))
			return false;
	return true;
}

int weir_strategy_check(const struct weir_strategy *strategy)
{
	if (!strategy ||
	    (unsigned int)strategy->scope > WEIR_SCOPE_REST_FOR_ONE ||
	    (unsigned int)strategy->past_limit > WEIR_PAST_LIMIT_ESCALATE ||
	    !rules_valid(strategy))
		return -EINVAL;
	if ((strategy->each && !weir__limit_valid(strategy->each)) ||
	    (strategy->all && !weir__limit_valid(strategy->all)) ||
	    (strategy->backoff && !weir__backoff_valid(strategy->backoff)))
		return -EINVAL;
	return 0;
}
