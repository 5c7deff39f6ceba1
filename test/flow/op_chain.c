/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What operators upon each other cost: how often one is pulled by another is
 * counted, as the linker puts a function of ours in between.
 */
#include "flow/upon.h"

#include "flow/engine/op.h"

static uint64_t n_pulls;

size_t __real_weir__pull(struct weir__op *op, void **items, size_t room);
size_t __wrap_weir__pull(struct weir__op *op, void **items, size_t room);

size_t __wrap_weir__pull(struct weir__op *op, void **items, size_t room)
{
	n_pulls++;
	return __real_weir__pull(op, items, room);
}

/* How many items came out. */
static uint64_t run(struct weir_flow *flow)
{
	struct weir_sim *sim;
	void *n = NULL;

	flow = weir_flow_count(flow);

	assert_int_equal(weir_flow_check(flow, NULL, NULL), 0);
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	n_pulls = 0;
	assert_int_equal(weir_flow_run(flow, weir_sim_executor(sim), &n), 0);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
	return (uintptr_t)n;
}

/* --- Operators of the user's ---------------------------------------------- */

#define ITEMS 100

static struct weir_flow *own_chain(int n)
{
	const struct kind kind = {"own", upon_own, 1};
	const struct chain chain = {&kind, n, .n_items = ITEMS};

	return chain_of(&chain);
}

/* Each is pulled for the item, and for the next one, which it does not have. */
static void an_item_costs_as_many_calls_as_there_are_operators(void **state)
{
	int n;

	for (n = 1; n < (int)WEIR_FLOW_DEPTH_MAX; n *= 2) {
		(void)run(own_chain(n));
		assert_in_range(n_pulls, (uint64_t)(ITEMS * n),
				(uint64_t)((ITEMS + 2) * 2 * (n + 2)));
	}
}

static void a_thousand_operators_cost_a_thousand_times_as_much(void **state)
{
	struct weir_flow *flows[4];
	int i;

	for (i = 0; i < 4; i++)
		flows[i] = own_chain(250);
	(void)run(weir_flow_merge(flows, 4));
	assert_in_range(n_pulls, ITEMS * 1000, (ITEMS + 2) * 2 * 1010);
}

/* One that is asked before each item whether it has any, as flat_map does. */
static void so_do_they_below_one_that_takes_single_items(void **state)
{
	int n;

	for (n = 2; n < (int)WEIR_FLOW_DEPTH_MAX; n *= 2) {
		(void)run(
			weir_flow_flat_map(own_chain(n - 1), 1, single, NULL));
		assert_in_range(n_pulls, (uint64_t)(ITEMS * n),
				(uint64_t)((ITEMS + 2) * 4 * (n + 2)));
	}
}

/* --- All kinds ------------------------------------------------------------ */

static uint64_t pulls_for(const struct kind *kind, int n, int n_items)
{
	const struct chain chain = {kind, n / kind->levels, .n_items = n_items};

	(void)run(chain_of(&chain));
	return n_pulls;
}

/*
 * If each call went all the way up, this would be 80 calls. A chain may cost more
 * once, as it begins.
 */
static void an_item_costs_each_of_a_chain_of_any_kind_a_few_calls(void **state)
{
	const struct kind *kind;
	uint64_t more;
	int i;

	for (i = 0; i < N(kinds) + N(nesting); i++) {
		kind = i < N(kinds) ? &kinds[i] : &nesting[i - N(kinds)];
		more = pulls_for(kind, 80, 36) - pulls_for(kind, 80, 4);
		if (more > (uint64_t)(32 * 80 * 7))
			print_error("%s: %u\n", kind->name, (unsigned)more);
		assert_in_range(more, 0, 32 * 80 * 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_item_costs_as_many_calls_as_there_are_operators),
		cmocka_unit_test(
			a_thousand_operators_cost_a_thousand_times_as_much),
		cmocka_unit_test(so_do_they_below_one_that_takes_single_items),
		cmocka_unit_test(
			an_item_costs_each_of_a_chain_of_any_kind_a_few_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
