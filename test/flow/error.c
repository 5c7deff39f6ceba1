/* SPDX-License-Identifier: BSD-2-Clause */
/* What is put in the place of an error, and failures of single items. */
#include "flow/kit.h"
#include "flow/memory_kit.h"

static intptr_t the_3 = 3, the_4 = 4;

static int fails_on(void **item, void *context)
{
	return (intptr_t)*item == *(intptr_t *)context ? -EDOM : 0;
}

static int fails_on_counted(void **memory, void *context)
{
	struct item *item = *memory;

	return item->value == *(intptr_t *)context ? -EDOM : 0;
}

/* 1, 2, error */
static struct weir_flow *failing(void)
{
	return weir_flow_map(weir_flow_range(1, 5), fails_on, &the_3);
}

static struct weir_flow *failing_counted(void)
{
	return weir_flow_same_items(weir_flow_map(
		counted(weir_flow_range(1, 5)), fails_on_counted, &the_3));
}

/* --- recover -------------------------------------------------------------- */

static int with_99(struct weir_error *error, void **item, void *context)
{
	assert_int_equal(error->code, -EDOM);
	*item = (void *)99;
	return 1;
}

static int with_99_counted(struct weir_error *error, void **item, void *context)
{
	*item = item_new(99);
	return 1;
}

static int not_at_all(struct weir_error *error, void **item, void *context)
{
	return 0;
}

static int with_another_error(struct weir_error *error, void **item,
			      void *context)
{
	return -EPROTO;
}

static void one_last_item_is_put_in_its_place(void **state)
{
	static const intptr_t expected[] = {1, 2, 99};

	ASSERT_FLOW(weir_flow_recover(failing(), with_99, NULL), 0, 1, 2, 99);
	ASSERT_FLOW(weir_flow_recover(weir_flow_range(1, 3), with_99, NULL), 0,
		    1, 2, 3);
	assert_flow(weir_flow_recover(failing_counted(), with_99_counted, NULL),
		    true, expected, 3, 0);
}

static void or_the_error_stands_or_another_does(void **state)
{
	ASSERT_FLOW(weir_flow_recover(failing(), not_at_all, NULL), -EDOM, 1,
		    2);
	ASSERT_FLOW(weir_flow_recover(failing(), with_another_error, NULL),
		    -EPROTO, 1, 2);
}

/* Ends when the last item that is held has no room yet. */
static void what_is_held_is_dropped_by_a_cancel(void **state)
{
	struct weir_flow *flow = failing_counted();
	struct weir_flow_run *run;
	struct weir_sim *sim;
	uint64_t i;

	flow = weir_flow_recover(flow, with_99_counted, NULL);
	flow = weir_flow_async(flow, 1, NULL);
	for_each_seed(seed, 200) {
		assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
		assert_int_equal(weir_flow_start(flow, weir_sim_executor(sim),
						 NULL, &run),
				 0);
		for (i = weir_sim_random(sim, 12); i > 0; i--)
			weir_sim_step(sim);
		weir_flow_run_stop(run, NULL);
		weir_sim_run(sim);
		weir_flow_run_free(run);
		assert_int_equal(weir_sim_free(sim), 0);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

/* --- map_error, complete_on_error ----------------------------------------- */

static struct weir_error *to_eproto(struct weir_error *error, void *context)
{
	return error->code == -EDOM
		       ? weir_error_format(-EPROTO, "test", "another")
		       : NULL;
}

static void another_error_is_put_in_its_place(void **state)
{
	ASSERT_FLOW(weir_flow_map_error(failing(), to_eproto, NULL), -EPROTO, 1,
		    2);
	ASSERT_FLOW(weir_flow_map_error(weir_flow_map_error(failing(),
							    to_eproto, NULL),
					to_eproto, NULL),
		    -EPROTO, 1, 2);
	ASSERT_FLOW(weir_flow_map_error(weir_flow_range(1, 2), to_eproto, NULL),
		    0, 1, 2);
}

static bool is_eproto(struct weir_error *error, void *context)
{
	return error->code == -EPROTO;
}

static void the_stream_ends_well_in_its_place(void **state)
{
	ASSERT_FLOW(weir_flow_complete_on_error(failing(), NULL, NULL), 0, 1,
		    2);
	ASSERT_FLOW(weir_flow_complete_on_error(failing(), is_eproto, NULL),
		    -EDOM, 1, 2);
}

/* --- resume_with, retry --------------------------------------------------- */

/* 11, 22, error */
static int times_11(void **item, void *context)
{
	if ((intptr_t)*item == 3)
		return -EDOM;
	*item = (void *)((intptr_t)*item * 11);
	return 0;
}

static uint64_t n_made;

static struct weir_flow *made(struct weir_error *error, void *context)
{
	assert_int_equal(error->code, -EDOM);
	n_made++;
	return weir_flow_map(weir_flow_range(1, 5), times_11, NULL);
}

static struct weir_flow *made_well(struct weir_error *error, void *context)
{
	return weir_flow_range(7, 8);
}

static struct weir_flow *made_counted(struct weir_error *error, void *context)
{
	return counted(weir_flow_range(7, 8));
}

static struct weir_flow *not_made(struct weir_error *error, void *context)
{
	return NULL;
}

static void another_flow_goes_on_in_its_place(void **state)
{
	static const intptr_t expected[] = {1, 2, 7, 8};

	ASSERT_FLOW(weir_flow_resume_with(failing(), made_well, NULL), 0, 1, 2,
		    7, 8);
	ASSERT_FLOW(weir_flow_resume_with(failing(), made, NULL), -EDOM, 1, 2,
		    11, 22);
	ASSERT_FLOW(weir_flow_resume_with(failing(), not_made, NULL), -EDOM, 1,
		    2);
	ASSERT_FLOW(weir_flow_resume_with(weir_flow_range(1, 2), made, NULL), 0,
		    1, 2);
	assert_flow(weir_flow_resume_with(failing_counted(), made_counted,
					  NULL),
		    true, expected, 4, 0);
}

static void three_retries_are_three(void **state)
{
	ASSERT_FLOW(weir_flow_retry(failing(), 3, made, NULL), -EDOM, 1, 2, 11,
		    22, 11, 22, 11, 22);
}

static void no_retries_are_none(void **state)
{
	n_made = 0;
	ASSERT_FLOW(weir_flow_retry(failing(), 0, made, NULL), -EDOM, 1, 2);
	assert_int_equal(n_made, 0);
}

static int until_1000(void *item, void *context)
{
	return ++*(uint64_t *)context == 1000 ? -ECANCELED : 0;
}

static void fewer_than_none_are_without_end(void **state)
{
	uint64_t n = 0;
	struct weir_flow *flow = weir_flow_retry(failing(), -1, made, NULL);

	n_made = 0;
	flow = weir_flow_for_each(flow, until_1000, &n);
	assert_int_equal(run_on_sim(flow, 1, 0), -ECANCELED);
	assert_true(n_made >= 499);
	n = 0;
	assert_int_equal(run_on_sim(flow, 1, 2), -ECANCELED);
	weir_flow_free(flow);
}

static int fails_at_once(void **item, void *context)
{
	return -EDOM;
}

static struct weir_flow *made_at_once(struct weir_error *error, void *context)
{
	n_made++;
	return weir_flow_map(weir_flow_range(1, 2), fails_at_once, NULL);
}

/* It gives others their time, and can be cancelled. */
static void a_flow_that_always_fails_can_be_cancelled(void **state)
{
	struct weir_flow *flow;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	uint64_t i;

	n_made = 0;
	flow = weir_flow_retry(failing(), -1, made_at_once, NULL);
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, &run), 0);
	for (i = 0; i < 100; i++)
		assert_true(weir_sim_step(sim));
	assert_true(n_made > 50);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* --- Failures of single items --------------------------------------------- */

/* 1..5, 1..5 */
static void *const twice_to_5[] = {
	(void *)1, (void *)2, (void *)3, (void *)4, (void *)5,
	(void *)1, (void *)2, (void *)3, (void *)4, (void *)5,
};

static struct weir_flow *ten(void)
{
	return weir_flow_array(twice_to_5, 10);
}

static enum weir_directive as_told(struct weir_error *error, void *context)
{
	assert_int_equal(error->code, -EDOM);
	return *(enum weir_directive *)context;
}

static int keeps_but_3(void *memory, void *context)
{
	struct item *item = memory;

	return item->value == 3 ? -EDOM : 1;
}

static int map_but_3(void **items, size_t n, size_t *done, void *context)
{
	for (*done = 0; *done < n; ++*done)
		if (((struct item *)items[*done])->value == 3)
			return -EDOM;
	return 0;
}

static struct weir_flow *supervised(size_t i)
{
	struct weir_flow *flow = counted(ten());

	switch (i) {
	case 0:
		return weir_flow_same_items(
			weir_flow_map(flow, fails_on_counted, &the_3));
	case 1:
		return weir_flow_same_items(
			weir_flow_map_n(flow, map_but_3, NULL));
	case 2:
		return weir_flow_filter(flow, keeps_but_3, NULL);
	default:
		return weir_flow_same_items(
			weir_flow_map_parallel(flow, 1, WEIR_ORDER_KEPT,
					       fails_on_counted, &the_3, NULL));
	}
}

static void a_failed_item_ends_it_or_is_left_out(void **state)
{
	static const intptr_t left_out[] = {1, 2, 4, 5, 1, 2, 4, 5};
	enum weir_directive directive;
	size_t i;

	for (i = 0; i < 4; i++) {
		assert_flow(supervised(i), true, left_out, 2, -EDOM);
		directive = WEIR_DIRECTIVE_STOP;
		assert_flow(weir_flow_supervise(supervised(i), as_told,
						&directive),
			    true, left_out, 2, -EDOM);
		directive = WEIR_DIRECTIVE_ESCALATE;
		assert_flow(weir_flow_supervise(supervised(i), as_told,
						&directive),
			    true, left_out, 2, -EDOM);
		directive = WEIR_DIRECTIVE_RESUME;
		assert_flow(weir_flow_supervise(supervised(i), as_told,
						&directive),
			    true, left_out, 8, 0);
		directive = WEIR_DIRECTIVE_RESTART;
		assert_flow(weir_flow_supervise(supervised(i), as_told,
						&directive),
			    true, left_out, 8, 0);
	}
}

static int adds_but_3(void **all, void *memory, void *context)
{
	struct item *item = memory;

	if (item->value == 3)
		return -EDOM;
	((struct item *)*all)->value += item->value;
	item_drop(item, NULL);
	return 0;
}

/* What waits stays, unless the operator begins anew. */
static void what_waits_in_a_conflate_goes_on_or_is_dropped(void **state)
{
	static const struct weir_flow_conflate_functions functions = {
		NULL, adds_but_3};
	static const struct {
		enum weir_directive directive;
		intptr_t sum;
		int code;
	} cases[] = {
		{WEIR_DIRECTIVE_STOP, 1 + 2, -EDOM},
		{WEIR_DIRECTIVE_RESUME, 1 + 2 + 4, 0},
		{WEIR_DIRECTIVE_RESTART, 4, 0},
	};
	static struct got got;
	enum weir_directive directive;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < 3; i++) {
		got.n = 0;
		got.counted = true;
		directive = cases[i].directive;
		flow = weir_flow_same_items(weir_flow_conflate(
			counted(weir_flow_range(1, 4)), &functions, NULL));
		flow = weir_flow_supervise(flow, as_told, &directive);
		flow = into(flow, &got);
		got.code = run_on_sim(flow, 1, 0);
		assert_got(&got, &cases[i].sum, 1, cases[i].code);
		assert_int_equal(n_live, 0);
		weir_flow_free(flow);
	}
}

static void the_innermost_decision_holds(void **state)
{
	enum weir_directive inner = WEIR_DIRECTIVE_RESUME,
			    outer = WEIR_DIRECTIVE_STOP;
	struct weir_flow *flow = weir_flow_map(ten(), fails_on, &the_3);

	flow = weir_flow_supervise(flow, as_told, &inner);
	flow = weir_flow_map(flow, fails_on, &the_4);
	ASSERT_FLOW(weir_flow_supervise(flow, as_told, &outer), -EDOM, 1, 2);
}

/* --- The rest ------------------------------------------------------------- */

static void bad_arguments_make_a_failed_flow(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_recover(failing(), NULL, NULL),
		weir_flow_map_error(failing(), NULL, NULL),
		weir_flow_resume_with(failing(), NULL, NULL),
		weir_flow_retry(failing(), 1, NULL, NULL),
		weir_flow_complete_on_error(NULL, NULL, NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow;

	flow = weir_flow_retry(failing_counted(), 3, made_counted, NULL);
	flow = into(weir_flow_recover(flow, with_99_counted, NULL), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_last_item_is_put_in_its_place),
		cmocka_unit_test(or_the_error_stands_or_another_does),
		cmocka_unit_test(what_is_held_is_dropped_by_a_cancel),
		cmocka_unit_test(another_error_is_put_in_its_place),
		cmocka_unit_test(the_stream_ends_well_in_its_place),
		cmocka_unit_test(another_flow_goes_on_in_its_place),
		cmocka_unit_test(three_retries_are_three),
		cmocka_unit_test(no_retries_are_none),
		cmocka_unit_test(fewer_than_none_are_without_end),
		cmocka_unit_test(a_flow_that_always_fails_can_be_cancelled),
		cmocka_unit_test(a_failed_item_ends_it_or_is_left_out),
		cmocka_unit_test(
			what_waits_in_a_conflate_goes_on_or_is_dropped),
		cmocka_unit_test(the_innermost_decision_holds),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
		cmocka_unit_test(without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
