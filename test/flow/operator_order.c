/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order the functions of an operator are called. */
#include "flow/kit.h"

/* A letter for each call; and what each function does when it is called first:
 * letters of what it makes due. */
struct order {
	char log[64];
	size_t n;
	const char *opens, *pulled, *pushed, *timed, *woken;
};

static void act(struct weir_operator *op, const char *acts)
{
	for (; acts && *acts; acts++) {
		if (*acts == 'w')
			weir_operator_wake(op);
		else if (*acts == 't')
			weir_operator_timer_at(op, 0);
		else if (*acts == 'p')
			(void)weir_operator_pull(op);
		else
			assert_true(*acts == 'e' &&
				    weir_operator_end(op, NULL) == 0);
	}
}

static int did(struct weir_operator *op, char letter, const char **acts)
{
	struct order *order = weir_operator_context(op);
	const char *now = *acts;

	order->log[order->n++] = letter;
	*acts = NULL;
	act(op, now);
	return 0;
}

static int order_open(struct weir_operator *op)
{
	struct order *order = weir_operator_context(op);

	act(op, order->opens);
	return 0;
}

static int order_pull(struct weir_operator *op)
{
	struct order *order = weir_operator_context(op);

	return did(op, 'p', &order->pulled);
}

static int order_push(struct weir_operator *op, void *item)
{
	struct order *order = weir_operator_context(op);

	assert_int_equal(weir_operator_push(op, item), 0);
	return did(op, 'i', &order->pushed);
}

static int order_end(struct weir_operator *op, struct weir_error *error)
{
	struct order *order = weir_operator_context(op);

	order->log[order->n++] = 'e';
	return weir_operator_end(op, error);
}

static void order_cancel(struct weir_operator *op)
{
	struct order *order = weir_operator_context(op);

	order->log[order->n++] = 'x';
}

static void order_close(struct weir_operator *op)
{
	struct order *order = weir_operator_context(op);

	order->log[order->n++] = 'c';
}

static int order_timer(struct weir_operator *op)
{
	struct order *order = weir_operator_context(op);

	return did(op, 't', &order->timed);
}

static int order_wake(struct weir_operator *op)
{
	struct order *order = weir_operator_context(op);

	return did(op, 'w', &order->woken);
}

/* Runs it upon `n` items, of which `most` are taken: its calls are these. */
static void assert_order(struct order *order, bool ahead, int64_t n,
			 int64_t most, const char *expected)
{
	const struct weir_operator_ops ops = {
		.open = order_open,
		.close = order_close,
		.on_pull = order_pull,
		.on_push = order_push,
		.on_end = order_end,
		.on_cancel = order_cancel,
		.on_timer = order_timer,
		.on_wake = order_wake,
		.ahead = ahead,
	};
	struct weir_flow *flow = weir_flow_range(1, n);
	struct got got = {.n = 0};

	flow = weir_flow_take(weir_flow_operator(flow, &ops, order), most);
	flow = into(flow, &got);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_string_equal(order->log, expected);
}

static void all_that_is_due_comes_in_the_order_of_the_header(void **state)
{
	struct order order = {.opens = "ptw"};

	assert_order(&order, false, 1, 9, "wtpiec");
}

static void what_is_made_due_comes_in_the_next_round(void **state)
{
	struct order in_pull = {.pulled = "twp", .pushed = "p"};
	struct order in_push = {.opens = "p", .pushed = "ptw"};
	struct order in_timer = {.opens = "t", .timed = "wtp", .pushed = "p"};
	struct order in_wake = {.opens = "w", .woken = "pt"};

	assert_order(&in_pull, false, 2, 9, "piwtpiec");
	/* of two items: on_pull() comes before the second */
	assert_order(&in_push, false, 2, 9, "piwtpiec");
	/* one that is set anew in its function is due in the next round */
	assert_order(&in_timer, false, 2, 9, "tpiwtpiec");
	assert_order(&in_wake, false, 1, 9, "wtpiec");
}

static void the_end_of_its_own_comes_before_all_else(void **state)
{
	struct order order = {.opens = "ptw", .timed = "e"};

	assert_order(&order, false, 1, 9, "wtc");
}

static void a_cancel_comes_behind_all_that_is_due(void **state)
{
	struct order order = {.opens = "p", .pushed = "ptw"};

	assert_order(&order, false, 2, 1, "piwtxc");
}

static void one_that_runs_ahead_has_the_same_order(void **state)
{
	struct order order = {.opens = "tw", .woken = "p"};

	/* downstream asks in an actor of its own, behind that */
	assert_order(&order, true, 0, 9, "wtec");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			all_that_is_due_comes_in_the_order_of_the_header),
		cmocka_unit_test(what_is_made_due_comes_in_the_next_round),
		cmocka_unit_test(the_end_of_its_own_comes_before_all_else),
		cmocka_unit_test(a_cancel_comes_behind_all_that_is_due),
		cmocka_unit_test(one_that_runs_ahead_has_the_same_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
