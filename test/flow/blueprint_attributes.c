/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What operators have besides what they do and a name: what is decided upon
 * their failures, and where they run. Both hold for all above that were not
 * told otherwise: the innermost one counts.
 */
#include "flow/kit.h"

/* --- Decisions ------------------------------------------------------------ */

static intptr_t the_3 = 3, the_4 = 4;

static int fails_on(void **item, void *context)
{
	return (intptr_t)*item == *(intptr_t *)context ? -EDOM : 0;
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static enum weir_directive stop(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_STOP;
}

static struct weir_flow *but(struct weir_flow *flow, intptr_t *value)
{
	return weir_flow_map(flow, fails_on, value);
}

static void a_decision_holds_for_all_above_that_have_none(void **state)
{
	struct weir_flow *flow = but(weir_flow_range(1, 5), &the_3);

	flow = but(weir_flow_async(flow, 2, NULL), &the_4);
	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0, 1, 2, 5);
}

static void and_not_for_those_below(void **state)
{
	struct weir_flow *flow = but(weir_flow_range(1, 5), &the_3);

	flow = weir_flow_supervise(flow, resume, NULL);
	ASSERT_FLOW(but(flow, &the_4), -EDOM, 1, 2);
}

static void the_innermost_decision_counts(void **state)
{
	struct weir_flow *flow = but(weir_flow_range(1, 5), &the_3);

	flow = but(weir_flow_supervise(flow, stop, NULL), &the_4);
	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), -EDOM, 1, 2);
}

static struct weir_flow *inner(void *item, void *context)
{
	return but(weir_flow_range(1, 4), &the_3);
}

static struct weir_flow *inner_that_stops(void *item, void *context)
{
	return weir_flow_supervise(inner(item, NULL), stop, NULL);
}

static void a_flow_inside_of_another_inherits_it(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 2);

	flow = weir_flow_flat_map(flow, 1, inner, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0, 1, 2, 4, 1, 2,
		    4);
	flow = weir_flow_flat_map(weir_flow_single(NULL), 1, inner_that_stops,
				  NULL);
	flow = weir_flow_supervise(flow, stop, NULL);
	ASSERT_FLOW(flow, -EDOM, 1, 2);
}

/* --- Executors ------------------------------------------------------------ */

/* Two of them, stepped in turn, and which one it is. */
static struct {
	struct weir_sim *sims[2];
	int now;
} places;

/* The item is a string of where it has been, four bits each. */
static int note_place(void **item, void *context)
{
	*item = (void *)((intptr_t)*item << 4 | (10 + places.now));
	return 0;
}

static struct weir_flow *noted(struct weir_flow *flow)
{
	return weir_flow_map(flow, note_place, NULL);
}

/* Started on the first; what one item says in the end. */
static intptr_t where(struct weir_flow *flow)
{
	struct weir_flow_run *run;
	void *result = NULL;
	bool works = true;

	places.now = 0;
	assert_int_equal(weir_flow_start(flow,
					 weir_sim_executor(places.sims[0]),
					 NULL, &run),
			 0);
	while (works) {
		works = false;
		for (places.now = 0; places.now < 2; places.now++)
			while (weir_sim_step(places.sims[places.now]))
				works = true;
	}
	assert_int_equal(weir_flow_run_wait(run, 0, &result, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	return (intptr_t)result;
}

static void an_executor_holds_for_what_is_above_but_what_has_its_own(
	void **state)
{
	struct weir_executor *other;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < 2; i++)
		assert_int_equal(weir_sim_new(&places.sims[i], 1, NULL), 0);
	other = weir_sim_executor(places.sims[1]);
	/* what has none runs where the next one below does */
	flow = noted(weir_flow_async(noted(weir_flow_single(0)), 1, NULL));
	flow = noted(weir_flow_async(flow, 1, other));
	assert_int_equal(where(flow), 0xbba);
	/* the innermost one counts */
	flow = weir_flow_async(noted(weir_flow_single(0)), 1,
			       weir_sim_executor(places.sims[0]));
	flow = noted(weir_flow_async(noted(flow), 1, other));
	assert_int_equal(where(flow), 0xaba);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_sim_free(places.sims[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_decision_holds_for_all_above_that_have_none),
		cmocka_unit_test(and_not_for_those_below),
		cmocka_unit_test(the_innermost_decision_counts),
		cmocka_unit_test(a_flow_inside_of_another_inherits_it),
		cmocka_unit_test(
			an_executor_holds_for_what_is_above_but_what_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
