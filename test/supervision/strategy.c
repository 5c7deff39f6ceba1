/* SPDX-License-Identifier: BSD-2-Clause */
/* Deciders, tables of rules, and which strategies are refused. */
#include "support.h"

#include <errno.h>
#include <limits.h>
#include <math.h>

#include <weir/error.h>

#include "supervision/strategy.h"

static struct weir_error broken = {.code = -EPIPE, .origin = "pump"};
static struct weir_error fatal = {.code = WEIR_ERROR_FATAL, .origin = "pump"};

static struct weir_failure failure_of(struct weir_error *error,
				      enum weir_failure_kind kind)
{
	return (struct weir_failure){.error = error, .kind = kind};
}

static int decide(const struct weir_strategy *strategy,
		  struct weir_error *error, enum weir_failure_kind kind)
{
	struct weir_failure failure = failure_of(error, kind);

	return weir__strategy_decide(strategy, NULL, &failure);
}

/* --- Deciders ------------------------------------------------------------- */

static const struct {
	enum weir_failure_kind kind;
	enum weir_directive by_default;
} kinds[] = {
	{WEIR_FAILURE_TURN, WEIR_DIRECTIVE_RESTART},
	{WEIR_FAILURE_START, WEIR_DIRECTIVE_STOP},
	{WEIR_FAILURE_RESTART, WEIR_DIRECTIVE_STOP},
	{WEIR_FAILURE_KILLED, WEIR_DIRECTIVE_STOP},
	{WEIR_FAILURE_DEATH_PACT, WEIR_DIRECTIVE_STOP},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void b3_3_default_decider(void **state)
{
	struct weir_strategy strategy = {0};

	for (int i = 0; i < N_KINDS; i++) {
		struct weir_failure failure =
			failure_of(&broken, kinds[i].kind);

		assert_int_equal(weir_strategy_decide_default(NULL, &failure,
							      NULL),
				 kinds[i].by_default);
		assert_int_equal(decide(NULL, &broken, kinds[i].kind),
				 kinds[i].by_default);
		assert_int_equal(decide(&strategy, &broken, kinds[i].kind),
				 kinds[i].by_default);
	}
}

static void b3_3_a_fatal_error_escalates(void **state)
{
	for (int i = 0; i < N_KINDS; i++) {
		struct weir_failure failure = failure_of(&fatal, kinds[i].kind);

		assert_int_equal(weir_strategy_decide_default(NULL, &failure,
							      NULL),
				 WEIR_DIRECTIVE_ESCALATE);
		assert_int_equal(weir_strategy_decide_stop(NULL, &failure,
							   NULL),
				 WEIR_DIRECTIVE_ESCALATE);
	}
}

static void b3_3_the_stopping_decider_stops(void **state)
{
	struct weir_strategy strategy = {.decide = weir_strategy_decide_stop};

	for (int i = 0; i < N_KINDS; i++)
		assert_int_equal(decide(&strategy, &broken, kinds[i].kind),
				 WEIR_DIRECTIVE_STOP);
}

static void deciders_refuse_no_failure(void **state)
{
	assert_int_equal(weir_strategy_decide_default(NULL, NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_strategy_decide_stop(NULL, NULL, NULL), -EINVAL);
}

static struct weir_actor *asked_supervisor;
static const struct weir_failure *asked_failure;

static int answer(struct weir_actor *supervisor,
		  const struct weir_failure *failure, void *context)
{
	asked_supervisor = supervisor;
	asked_failure = failure;
	return *(int *)context;
}

static void b3_1_a_decider_is_given_supervisor_failure_and_context(void **state)
{
	int directive = WEIR_DIRECTIVE_RESUME;
	struct weir_strategy strategy = {.decide = answer,
					 .context = &directive};
	struct weir_failure failure = failure_of(&fatal, WEIR_FAILURE_KILLED);
	struct weir_actor supervisor = {0};

	for (; directive <= WEIR_DIRECTIVE_ESCALATE; directive++) {
		asked_supervisor = NULL;
		asked_failure = NULL;
		assert_int_equal(weir__strategy_decide(&strategy, &supervisor,
						       &failure),
				 directive);
		assert_ptr_equal(asked_supervisor, &supervisor);
		assert_ptr_equal(asked_failure, &failure);
	}
}

static void b2_5_a_decider_can_fail(void **state)
{
	int directive;
	struct weir_strategy strategy = {.decide = answer,
					 .context = &directive};

	directive = -EIO;
	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN), -EIO);
	directive = INT_MIN;
	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 INT_MIN);
}

static void b2_5_what_is_no_directive_is_a_failure(void **state)
{
	int directive;
	struct weir_strategy strategy = {.decide = answer,
					 .context = &directive};
	struct weir_rule rule = {.directive = (enum weir_directive)7};

	directive = WEIR_DIRECTIVE_ESCALATE + 1;
	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 -EINVAL);
	directive = INT_MAX;
	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 -EINVAL);
	strategy = (struct weir_strategy){.rules = &rule, .n_rules = 1};
	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 -EINVAL);
}

/* --- Rules ---------------------------------------------------------------- */

static void b3_2_no_rule_matches_is_escalate(void **state)
{
	static const struct weir_rule rules[] = {
		{.code = -EIO, .directive = WEIR_DIRECTIVE_RESUME},
		{.origin = "pum", .directive = WEIR_DIRECTIVE_RESUME},
		{.origin = "pumps", .directive = WEIR_DIRECTIVE_RESUME},
		{.origin = "", .directive = WEIR_DIRECTIVE_RESUME},
		{.kind = WEIR_FAILURE_START,
		 .directive = WEIR_DIRECTIVE_RESUME},
		{-EPIPE, "fan", WEIR_FAILURE_TURN, WEIR_DIRECTIVE_RESUME},
		{-EPIPE, "pump", WEIR_FAILURE_START, WEIR_DIRECTIVE_RESUME},
	};
	struct weir_strategy strategy = {.rules = rules, .n_rules = 7};

	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 WEIR_DIRECTIVE_ESCALATE);
	strategy.n_rules = 0;
	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 WEIR_DIRECTIVE_ESCALATE);
}

static void b3_4_listed_codes_restart_and_others_escalate(void **state)
{
	static const struct weir_rule rules[] = {
		{.code = -EPIPE, .directive = WEIR_DIRECTIVE_RESTART},
		{.code = -EIO, .directive = WEIR_DIRECTIVE_RESTART},
	};
	struct weir_strategy strategy = {.rules = rules, .n_rules = 2};

	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_KILLED),
			 WEIR_DIRECTIVE_RESTART);
	assert_int_equal(decide(&strategy, weir_error_of(-EIO),
				WEIR_FAILURE_TURN),
			 WEIR_DIRECTIVE_RESTART);
	assert_int_equal(decide(&strategy, weir_error_of(-EAGAIN),
				WEIR_FAILURE_TURN),
			 WEIR_DIRECTIVE_ESCALATE);
}

static void a_rule_of_nothing_matches_everything(void **state)
{
	static const struct weir_rule rule = {
		.directive = WEIR_DIRECTIVE_RESUME};
	struct weir_strategy strategy = {.rules = &rule, .n_rules = 1};

	assert_int_equal(decide(&strategy, &fatal, WEIR_FAILURE_KILLED),
			 WEIR_DIRECTIVE_RESUME);
}

static void origins_are_compared_by_their_letters(void **state)
{
	char pump[] = "pump"; /* not where another one is */
	struct weir_rule rule = {.origin = pump,
				 .directive = WEIR_DIRECTIVE_RESUME};
	struct weir_strategy strategy = {.rules = &rule, .n_rules = 1};

	assert_ptr_not_equal(pump, broken.origin);
	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 WEIR_DIRECTIVE_RESUME);
}

static void decide_comes_before_rules(void **state)
{
	static const struct weir_rule rule = {
		.directive = WEIR_DIRECTIVE_RESUME};
	struct weir_strategy strategy = {.decide = weir_strategy_decide_stop,
					 .rules = &rule,
					 .n_rules = 1};

	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 WEIR_DIRECTIVE_STOP);
}

/* All that match `broken` in a turn, the most specific first. */
static const struct weir_rule by_weight[] = {
	{-EPIPE, "pump", WEIR_FAILURE_TURN, 0},
	{-EPIPE, "pump", WEIR_FAILURE_ANY, 0},
	{-EPIPE, NULL, WEIR_FAILURE_TURN, 0},
	{0, "pump", WEIR_FAILURE_TURN, 0},
	{-EPIPE, NULL, WEIR_FAILURE_ANY, 0},
	{0, "pump", WEIR_FAILURE_ANY, 0},
	{0, NULL, WEIR_FAILURE_TURN, 0},
	{0, NULL, WEIR_FAILURE_ANY, 0},
};
enum { N_WEIGHTS = sizeof(by_weight) / sizeof(by_weight[0]) };

static uint32_t random_state;

static void random_begin(uint64_t seed)
{
	random_state = (uint32_t)seed * 2654435761u;
}

static uint32_t random_below(uint32_t bound)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % bound;
}

/*
 * Rows in any order, some twice, some that do not match. Only the first of the
 * most specific ones that are there says WEIR_DIRECTIVE_RESUME.
 */
static void decide_by_drawn_rules(void)
{
	enum { ROWS = 12 };
	struct weir_rule rules[ROWS];
	size_t best = N_WEIGHTS, where = 0;
	size_t n_rules = 1 + random_below(ROWS);
	struct weir_strategy strategy = {.rules = rules, .n_rules = n_rules};

	for (size_t row = 0; row < n_rules; row++) {
		size_t which = random_below(N_WEIGHTS + 1);

		if (which == N_WEIGHTS) {
			rules[row] = (struct weir_rule){-EPIPE, "fan",
							WEIR_FAILURE_TURN,
							WEIR_DIRECTIVE_STOP};
			continue;
		}
		rules[row] = by_weight[which];
		rules[row].directive = WEIR_DIRECTIVE_STOP;
		if (which < best) {
			best = which;
			where = row;
		}
	}
	if (best < N_WEIGHTS)
		rules[where].directive = WEIR_DIRECTIVE_RESUME;
	assert_int_equal(decide(&strategy, &broken, WEIR_FAILURE_TURN),
			 best < N_WEIGHTS ? WEIR_DIRECTIVE_RESUME
					  : WEIR_DIRECTIVE_ESCALATE);
}

static void b3_4_the_most_specific_rule_wins_in_any_order(void **state)
{
	for_each_seed(seed, test_count(20000)) {
		random_begin(seed);
		decide_by_drawn_rules();
	}
}

/* --- Checks --------------------------------------------------------------- */

static int check_rule(struct weir_rule rule)
{
	struct weir_strategy strategy = {.rules = &rule, .n_rules = 1};

	return weir_strategy_check(&strategy);
}

static int check_limit(struct weir_limit limit)
{
	struct weir_strategy each = {.each = &limit}, all = {.all = &limit};
	int rc = weir_strategy_check(&each);

	assert_int_equal(weir_strategy_check(&all), rc);
	return rc;
}

static int check_backoff(struct weir_backoff backoff)
{
	struct weir_strategy strategy = {.backoff = &backoff};

	return weir_strategy_check(&strategy);
}

static void the_default_strategy_is_valid(void **state)
{
	struct weir_strategy strategy = {0};

	assert_int_equal(weir_strategy_check(&strategy), 0);
	assert_int_equal(weir_strategy_check(NULL), -EINVAL);
}

static void a_scope_there_is_not_is_refused(void **state)
{
	struct weir_strategy strategy = {.scope = WEIR_SCOPE_REST_FOR_ONE};

	assert_int_equal(weir_strategy_check(&strategy), 0);
	strategy.scope = (enum weir_scope)(WEIR_SCOPE_REST_FOR_ONE + 1);
	assert_int_equal(weir_strategy_check(&strategy), -EINVAL);
	strategy.scope = (enum weir_scope) - 1;
	assert_int_equal(weir_strategy_check(&strategy), -EINVAL);
}

static void a_way_past_the_limit_there_is_not_is_refused(void **state)
{
	struct weir_strategy strategy = {
		.past_limit = WEIR_PAST_LIMIT_ESCALATE};

	assert_int_equal(weir_strategy_check(&strategy), 0);
	strategy.past_limit =
		(enum weir_past_limit)(WEIR_PAST_LIMIT_ESCALATE + 1);
	assert_int_equal(weir_strategy_check(&strategy), -EINVAL);
	strategy.past_limit = (enum weir_past_limit) - 1;
	assert_int_equal(weir_strategy_check(&strategy), -EINVAL);
}

static void rules_are_checked(void **state)
{
	struct weir_strategy strategy = {.n_rules = 1};
	struct weir_rule rules[2] = {{0}, {.code = 1}};

	assert_int_equal(weir_strategy_check(&strategy), -EINVAL);
	assert_int_equal(check_rule((struct weir_rule){0}), 0);
	assert_int_equal(check_rule((struct weir_rule){
				 -EIO, "x", WEIR_FAILURE_DEATH_PACT,
				 WEIR_DIRECTIVE_ESCALATE}),
			 0);
	assert_int_equal(check_rule((struct weir_rule){.code = EIO}), -EINVAL);
	assert_int_equal(check_rule((struct weir_rule){
				 .kind = (enum weir_failure_kind)(
					 WEIR_FAILURE_DEATH_PACT + 1)}),
			 -EINVAL);
	assert_int_equal(check_rule((struct weir_rule){
				 .directive = (enum weir_directive)(
					 WEIR_DIRECTIVE_ESCALATE + 1)}),
			 -EINVAL);
	assert_int_equal(check_rule((struct weir_rule){
				 .directive = (enum weir_directive) - 1}),
			 -EINVAL);
	strategy = (struct weir_strategy){.rules = rules, .n_rules = 2};
	assert_int_equal(weir_strategy_check(&strategy), -EINVAL);
	strategy.n_rules = 0; /* a table of nothing: all escalates */
	assert_int_equal(weir_strategy_check(&strategy), 0);
}

static void limits_are_checked(void **state)
{
	struct weir_limit limit = {WEIR_RESTARTS_MAX, WEIR_WINDOW_TUMBLING,
				   WEIR_FOREVER};

	assert_int_equal(check_limit((struct weir_limit){0}), 0);
	assert_int_equal(check_limit(limit), 0);
	limit.max = INT32_MIN;
	assert_int_equal(check_limit(limit), 0);
	limit.max = WEIR_RESTARTS_MAX + 1;
	assert_int_equal(check_limit(limit), -EINVAL);
	limit.max = 1;
	limit.window = (enum weir_window)(WEIR_WINDOW_TUMBLING + 1);
	assert_int_equal(check_limit(limit), -EINVAL);
}

static void b8_3_exponential_back_offs_are_checked(void **state)
{
	static const struct {
		struct weir_backoff backoff;
		int rc;
	} cases[] = {
		{{0, 1, 1, 0, 0}, 0},
		{{0, 1, UINT64_MAX, 1, UINT64_MAX}, 0},
		{{0, UINT64_MAX, UINT64_MAX, 0, 0}, 0},
		{{0, 0, 1, 0, 0}, -EINVAL},
		{{0, 2, 1, 0, 0}, -EINVAL},
		{{0, 1, 0, 0, 0}, -EINVAL},
		{{0, 1, 1, -0.01, 0}, -EINVAL},
		{{0, 1, 1, 1.01, 0}, -EINVAL},
		{{0, 1, 1, INFINITY, 0}, -EINVAL},
		{{0, 1, 1, NAN, 0}, -EINVAL},
		{{0, 5, 9, 0, 5}, 0},
		{{0, 5, 9, 0, 9}, 0},
		{{0, 5, 9, 0, WEIR_FOREVER}, 0},
		{{0, 5, 9, 0, 4}, -EINVAL},
		{{0, 5, 9, 0, 10}, -EINVAL},
		{{(enum weir_backoff_law)2, 5, 9, 0, 5}, -EINVAL},
		{{(enum weir_backoff_law) - 1, 5, 9, 0, 5}, -EINVAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(check_backoff(cases[i].backoff), cases[i].rc);
}

static void b9_linear_back_offs_are_checked(void **state)
{
	struct weir_backoff backoff = {
		.law = WEIR_BACKOFF_LINEAR, .min_ns = 5, .random_factor = 7};

	assert_int_equal(check_backoff(backoff), 0);
	backoff.reset_ns = 1;
	assert_int_equal(check_backoff(backoff), 0);
	backoff.min_ns = 0;
	assert_int_equal(check_backoff(backoff), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(b3_3_default_decider),
		cmocka_unit_test(b3_3_a_fatal_error_escalates),
		cmocka_unit_test(b3_3_the_stopping_decider_stops),
		cmocka_unit_test(deciders_refuse_no_failure),
		cmocka_unit_test(
			b3_1_a_decider_is_given_supervisor_failure_and_context),
		cmocka_unit_test(b2_5_a_decider_can_fail),
		cmocka_unit_test(b2_5_what_is_no_directive_is_a_failure),
		cmocka_unit_test(b3_2_no_rule_matches_is_escalate),
		cmocka_unit_test(b3_4_listed_codes_restart_and_others_escalate),
		cmocka_unit_test(a_rule_of_nothing_matches_everything),
		cmocka_unit_test(origins_are_compared_by_their_letters),
		cmocka_unit_test(decide_comes_before_rules),
		cmocka_unit_test(b3_4_the_most_specific_rule_wins_in_any_order),
		cmocka_unit_test(the_default_strategy_is_valid),
		cmocka_unit_test(a_scope_there_is_not_is_refused),
		cmocka_unit_test(a_way_past_the_limit_there_is_not_is_refused),
		cmocka_unit_test(rules_are_checked),
		cmocka_unit_test(limits_are_checked),
		cmocka_unit_test(b8_3_exponential_back_offs_are_checked),
		cmocka_unit_test(b9_linear_back_offs_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
