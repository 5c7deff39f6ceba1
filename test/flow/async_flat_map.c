/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows inside of a flow: one after the other, several at once, the newest. */
#include "flow/kit.h"
#include "flow/memory_kit.h"

/* 1 -> 10, 11, 12 and so on. */
static struct weir_flow *three(void *item, void *context)
{
	intptr_t x = (intptr_t)item * 10;

	return weir_flow_range(x, x + 2);
}

static struct weir_flow *three_counted(void *memory, void *context)
{
	struct item *item = memory;
	intptr_t x = item->value * 10;

	item_drop(item, NULL);
	return counted(weir_flow_range(x, x + 2));
}

static struct weir_flow *three_async(void *item, void *context)
{
	return weir_flow_async(three(item, context), 2, NULL);
}

static struct weir_flow *none(void *item, void *context)
{
	return weir_flow_range(1, 0);
}

static int fails(void **item, void *context)
{
	return *(intptr_t *)context == (intptr_t)*item ? -EDOM : 0;
}

static int fails_counted(void **memory, void *context)
{
	struct item *item = *memory;

	return *(intptr_t *)context == item->value ? -EDOM : 0;
}

static intptr_t the_21 = 21;

/* That of 2 fails behind its first item. */
static struct weir_flow *three_failing(void *item, void *context)
{
	return weir_flow_map(three(item, context), fails, &the_21);
}

static struct weir_flow *three_counted_failing(void *item, void *context)
{
	return weir_flow_same_items(weir_flow_map(three_counted(item, context),
						  fails_counted, &the_21));
}

/* None for 3. */
static struct weir_flow *not_3(void *item, void *context)
{
	return (intptr_t)item == 3
		       ? NULL
		       : weir_flow_range((intptr_t)item, (intptr_t)item);
}

static struct weir_flow *map_counted(struct weir_flow *flow, size_t breadth,
				     struct weir_flow *(*make)(void *item,
							       void *context))
{
	flow = weir_flow_flat_map(counted(flow), breadth, make, NULL);
	return weir_flow_items(flow, &counted_items);
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static enum weir_directive restart(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESTART;
}

/* --- One after the other -------------------------------------------------- */

static void one_follows_the_other(void **state)
{
	ASSERT_FLOW(weir_flow_flat_map(weir_flow_range(1, 3), 1, three, NULL),
		    0, 10, 11, 12, 20, 21, 22, 30, 31, 32);
}

static void with_items_that_are_counted(void **state)
{
	static const intptr_t expected[] = {10, 11, 12, 20, 21, 22};

	assert_flow(map_counted(weir_flow_range(1, 2), 1, three_counted), true,
		    expected, 6, 0);
}

static void an_async_inside_does_nothing(void **state)
{
	ASSERT_FLOW(weir_flow_flat_map(weir_flow_range(1, 2), 1, three_async,
				       NULL),
		    0, 10, 11, 12, 20, 21, 22);
}

static int same(void **item, void *context)
{
	return 0;
}

static struct weir_flow *by_calls(struct weir_flow *flow)
{
	return weir_flow_map_parallel(flow, 2, WEIR_ORDER_KEPT, same, NULL,
				      NULL);
}

static struct weir_flow *later(struct weir_flow *flow)
{
	return weir_flow_delay(flow, 1000, 2);
}

static struct weir_flow *one_a_second(struct weir_flow *flow)
{
	struct weir_flow_rate rate = {.n = 1, .per_ns = 1000000000};

	return weir_flow_throttle(flow, &rate);
}

static struct weir_flow *within_a_day(struct weir_flow *flow)
{
	uint64_t day_ns = UINT64_C(86400000000000);

	flow = weir_flow_initial_timeout(flow, day_ns);
	flow = weir_flow_idle_timeout(flow, day_ns);
	return weir_flow_completion_timeout(flow, day_ns);
}

static struct weir_flow *after_nothing(struct weir_flow *flow)
{
	return weir_flow_merge(
		(struct weir_flow *[]){flow, weir_flow_range(1, 0)}, 2);
}

static struct weir_flow *(*const insides[])(struct weir_flow *flow) = {
	by_calls, later, one_a_second, within_a_day, after_nothing,
};

static struct weir_flow *three_inside(void *item, void *context)
{
	return insides[*(size_t *)context](three(item, NULL));
}

static void what_calls_or_waits_may_be_inside(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(insides) / sizeof(*insides); i++)
		ASSERT_FLOW(weir_flow_flat_map(weir_flow_range(1, 2), 1,
					       three_inside, &i),
			    0, 10, 11, 12, 20, 21, 22);
}

static void empty_flows_are_passed_over(void **state)
{
	static const intptr_t nothing[] = {0};

	assert_flow(weir_flow_flat_map(weir_flow_range(1, 1000), 1, none, NULL),
		    false, nothing, 0, 0);
	assert_flow(weir_flow_flat_map(weir_flow_range(1, 1000), 3, none, NULL),
		    false, nothing, 0, 0);
}

static void a_flow_of_flows_of_flows(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 2);

	flow = weir_flow_flat_map(flow, 1, three, NULL);
	flow = weir_flow_flat_map(flow, 1, not_3, NULL);
	ASSERT_FLOW(flow, 0, 10, 11, 12, 20, 21, 22);
}

static void a_nested_failure_comes_behind_its_items(void **state)
{
	ASSERT_FLOW(weir_flow_flat_map(weir_flow_range(1, 3), 1, three_failing,
				       NULL),
		    -EDOM, 10, 11, 12, 20);
}

static intptr_t opened, ended_before;

static int counts_ends(void **item, void *context)
{
	ended_before++;
	return 0;
}

/* Each but the first finds all items of those before it gone by. */
static struct weir_flow *opened_late(void *item, void *context)
{
	assert_int_equal(ended_before, 3 * opened);
	opened++;
	return weir_flow_map(three(item, context), counts_ends, NULL);
}

static void the_next_is_made_when_the_last_has_ended(void **state)
{
	static struct got got;
	struct weir_flow *flow = weir_flow_range(1, 5);

	opened = ended_before = 0;
	flow = into(weir_flow_flat_map(flow, 1, opened_late, NULL), &got);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(opened, 5);
	weir_flow_free(flow);
}

/* --- Several at once ------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
	intptr_t x = *(const intptr_t *)a, y = *(const intptr_t *)b;

	return (x > y) - (x < y);
}

static void several_give_all_their_items(void **state)
{
	static struct got got;
	struct weir_flow *flow = weir_flow_range(1, 100);
	size_t i;

	flow = into(map_counted(flow, 7, three_counted), &got);
	for_each_seed(seed, 20) {
		got = (struct got){.counted = true};
		assert_int_equal(run_on_sim(flow, seed, seed % 2), 0);
		assert_int_equal(got.n, 300);
		qsort(got.values, got.n, sizeof(*got.values), compare);
		for (i = 0; i < got.n; i++)
			assert_int_equal(got.values[i],
					 (i / 3 + 1) * 10 + i % 3);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

/* Of those that never end, each is heard. */
static struct weir_flow *endless(void *item, void *context)
{
	intptr_t x = (intptr_t)item;

	return weir_flow_range(x << 32, ((x + 1) << 32) - 1);
}

struct heard {
	size_t of[4], n;
};

static int hear(void *item, void *context)
{
	struct heard *heard = context;

	heard->of[(intptr_t)item >> 32]++;
	return ++heard->n == 4096 ? -ECANCELED : 0;
}

static void none_has_to_wait_for_another(void **state)
{
	struct heard heard = {.n = 0};
	struct weir_flow *flow = weir_flow_range(0, 9);

	flow = weir_flow_flat_map(flow, 3, endless, NULL);
	flow = weir_flow_for_each(flow, hear, &heard);
	assert_int_equal(run_on_sim(flow, 1, 0), -ECANCELED);
	assert_true(heard.of[0] > 1000);
	assert_true(heard.of[1] > 1000);
	assert_true(heard.of[2] > 1000);
	assert_int_equal(heard.of[3], 0); /* at most three are open */
	weir_flow_free(flow);
}

static void one_failure_ends_all(void **state)
{
	static struct got got;
	struct weir_flow *flow = weir_flow_range(1, 50);

	flow = into(map_counted(flow, 5, three_counted_failing), &got);
	for_each_seed(seed, 20) {
		got = (struct got){.counted = true};
		assert_int_equal(run_on_sim(flow, seed, seed % 2), -EDOM);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

static void an_error_from_upstream_ends_all(void **state)
{
	static intptr_t three_of_them = 3;
	static struct got got;
	struct weir_flow *flow =
		weir_flow_map(weir_flow_range(1, 5), fails, &three_of_them);

	flow = into(map_counted(flow, 2, three_counted), &got);
	got = (struct got){.counted = true};
	assert_int_equal(run_on_sim(flow, 1, 0), -EDOM);
	assert_int_equal(run_on_sim(flow, 1, 4), -EDOM);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
}

/* --- What goes wrong ------------------------------------------------------ */

static void a_flow_that_is_not_made_fails_its_item(void **state)
{
	ASSERT_FLOW(weir_flow_flat_map(weir_flow_range(1, 5), 1, not_3, NULL),
		    -EINVAL, 1, 2);
	ASSERT_FLOW(
		weir_flow_supervise(weir_flow_flat_map(weir_flow_range(1, 5), 1,
						       not_3, NULL),
				    resume, NULL),
		0, 1, 2, 4, 5);
	ASSERT_FLOW(
		weir_flow_supervise(weir_flow_flat_map(weir_flow_range(1, 5), 1,
						       not_3, NULL),
				    restart, NULL),
		0, 1, 2, 4, 5);
}

static void a_restart_ends_those_that_are_open(void **state)
{
	struct heard heard = {.n = 0};
	struct weir_flow *flow;

	/* 0 to 2 are open when 3 fails; then 4, which is 0 again, and so on */
	flow = weir_flow_supervise(weir_flow_flat_map(weir_flow_range(1, 4), 4,
						      not_3, NULL),
				   restart, NULL);
	flow = weir_flow_for_each(flow, hear, &heard);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(heard.n, 1);
	weir_flow_free(flow);
}

/* On an executor of its own. */
static struct weir_executor *elsewhere;

static struct weir_flow *three_elsewhere(void *item, void *context)
{
	return weir_flow_name(weir_flow_async(three(item, context), 2,
					      elsewhere),
			      "elsewhere");
}

static struct weir_flow *three_plain(void *item, void *context)
{
	item_drop(item, NULL);
	return weir_flow_range(1, 3);
}

static struct weir_flow *three_buffered(void *item, void *context)
{
	return weir_flow_buffer(three(item, context), 2,
				WEIR_OVERFLOW_DROP_HEAD);
}

static int keep_first(void **all, void *item, void *context)
{
	return 0;
}

static struct weir_flow *three_conflated(void *item, void *context)
{
	struct weir_flow_conflate_functions functions = {.add = keep_first};

	return weir_flow_conflate(three(item, context), &functions, NULL);
}

static struct weir_flow *three_balanced(void *item, void *context)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_balance(three(item, context), 2, outlets, NULL);
	return weir_flow_merge(outlets, 2);
}

/* In a circle that ends with the three. */
static struct weir_flow *three_in_a_circle(void *item, void *context)
{
	struct weir_flow_graph *graph;
	struct weir_flow *ups[2];

	assert_int_equal(weir_flow_graph_new(&graph), 0);
	ups[0] = three(item, context);
	ups[1] = weir_flow_graph_inlet(graph, "again");
	(void)weir_flow_balance(weir_flow_merge_eager(ups, 2), 2, ups, NULL);
	(void)weir_flow_graph_add(graph, NULL, ups[0]);
	(void)weir_flow_graph_add(graph, "again", ups[1]);
	(void)weir_flow_graph_connect(graph, "again", "again", 16);
	return weir_flow_graph_build(graph);
}

/* Of no actor: neither is ever linked. */
static struct weir_flow *three_into_a_port(void *item, void *context)
{
	static struct weir_in in;

	return weir_flow_into_in(three(item, context), &in);
}

static struct weir_flow *from_a_port(void *item, void *context)
{
	static struct weir_out out;

	return weir_flow_from_out(&out, 4);
}

static void what_needs_an_actor_is_named(void **state)
{
	static const struct {
		struct weir_flow *(*make)(void *item, void *context);
		const char *origin;
	} rows[] = {
		{three_elsewhere, "elsewhere"}, {three_buffered, "buffer"},
		{three_conflated, "conflate"},	{three_balanced, "outlet"},
		{three_in_a_circle, "graph"},	{three_into_a_port, "into_in"},
		{from_a_port, "from_out"},
	};
	struct weir_error *error;
	struct weir_sim *sim;
	size_t i;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	elsewhere = weir_sim_executor(sim);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		error = error_of(weir_flow_flat_map(weir_flow_range(1, 3), 2,
						    rows[i].make, NULL));
		assert_int_equal(error->code, -ENOTSUP);
		assert_string_equal(error->origin, rows[i].origin);
		weir_error_unref(error);
	}
	assert_int_equal(weir_sim_free(sim), 0);
}

/* Fused: what is asked for at the inlet is asked for at the outlet. */
static struct weir_flow *three_connected(void *item, void *context)
{
	struct weir_flow_graph *graph;

	assert_int_equal(weir_flow_graph_new(&graph), 0);
	(void)weir_flow_graph_add(graph, "three", three(item, context));
	(void)weir_flow_graph_add(graph, NULL,
				  weir_flow_graph_inlet(graph, "here"));
	(void)weir_flow_graph_connect(graph, "three", "here", 4);
	return weir_flow_graph_build(graph);
}

static void a_connection_needs_no_actor_in_a_nested_flow(void **state)
{
	ASSERT_FLOW(weir_flow_flat_map(weir_flow_range(1, 2), 1,
				       three_connected, NULL),
		    0, 10, 11, 12, 20, 21, 22);
}

static void other_items_than_were_said_are_refused(void **state)
{
	struct weir_error *error;

	error = error_of(map_counted(weir_flow_range(1, 3), 2, three_plain));
	assert_int_equal(error->code, -EINVAL);
	assert_string_equal(error->origin, "flat_map");
	weir_error_unref(error);
	assert_int_equal(n_live, 0);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_flat_map(weir_flow_range(1, 3), 0, three, NULL),
		weir_flow_flat_map(weir_flow_range(1, 3), SIZE_MAX, three,
				   NULL),
		weir_flow_flat_map(weir_flow_range(1, 3), 1, NULL, NULL),
		weir_flow_flat_map(NULL, 1, three, NULL),
		weir_flow_switch_map(weir_flow_range(1, 3), NULL, NULL),
		weir_flow_switch_map(NULL, three, NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow;

	flow = into(map_counted(weir_flow_range(1, 3), 2, three_counted), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
	flow = weir_flow_switch_map(counted(weir_flow_range(1, 3)),
				    three_counted, NULL);
	flow = into(weir_flow_items(flow, &counted_items), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void a_cancel_drops_all_that_is_held(void **state)
{
	assert_cancel(map_counted(weir_flow_range(1, INT64_MAX / 100), 3,
				  three_counted));
}

/* --- The newest ----------------------------------------------------------- */

static void the_last_of_those_that_come_at_once_is_taken(void **state)
{
	static struct got got;
	struct weir_flow *flow = counted(weir_flow_range(1, 3));

	flow = weir_flow_switch_map(flow, three_counted, NULL);
	flow = into(weir_flow_items(flow, &counted_items), &got);
	got = (struct got){.counted = true};
	got.code = run_on_sim(flow, 1, 0);
	assert_got(&got, (const intptr_t[]){30, 31, 32}, 3, 0);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
}

static int until_3(void *item, void *context)
{
	(void)hear(item, context);
	return (intptr_t)item >> 32 == 3 ? -ECANCELED : 0;
}

static void a_newer_one_takes_the_place_of_the_last(void **state)
{
	struct heard heard = {.n = 0};
	struct weir_flow *flow = weir_flow_range(0, 3);
	uint64_t seen = 0;

	/* one item at a time between the two */
	flow = weir_flow_switch_map(weir_flow_async(flow, 1, NULL), endless,
				    NULL);
	flow = weir_flow_for_each(flow, until_3, &heard);
	for_each_seed(seed, 20) {
		memset(&heard, 0, sizeof(heard));
		assert_int_equal(run_on_sim(flow, seed, 0), -ECANCELED);
		assert_int_equal(heard.of[3], 1);
		seen += heard.of[0] + heard.of[1] + heard.of[2];
	}
	assert_true(seen > 0);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_follows_the_other),
		cmocka_unit_test(with_items_that_are_counted),
		cmocka_unit_test(an_async_inside_does_nothing),
		cmocka_unit_test(what_calls_or_waits_may_be_inside),
		cmocka_unit_test(empty_flows_are_passed_over),
		cmocka_unit_test(a_flow_of_flows_of_flows),
		cmocka_unit_test(a_nested_failure_comes_behind_its_items),
		cmocka_unit_test(the_next_is_made_when_the_last_has_ended),
		cmocka_unit_test(several_give_all_their_items),
		cmocka_unit_test(none_has_to_wait_for_another),
		cmocka_unit_test(one_failure_ends_all),
		cmocka_unit_test(an_error_from_upstream_ends_all),
		cmocka_unit_test(a_flow_that_is_not_made_fails_its_item),
		cmocka_unit_test(a_restart_ends_those_that_are_open),
		cmocka_unit_test(what_needs_an_actor_is_named),
		cmocka_unit_test(a_connection_needs_no_actor_in_a_nested_flow),
		cmocka_unit_test(other_items_than_were_said_are_refused),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(a_cancel_drops_all_that_is_held),
		cmocka_unit_test(the_last_of_those_that_come_at_once_is_taken),
		cmocka_unit_test(a_newer_one_takes_the_place_of_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
