/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs by named outlets and inlets. */
#include "flow/fan_random_kit.h"
#include "flow/memory_kit.h"

static struct weir_flow_graph *a_graph_of_none(void)
{
	struct weir_flow_graph *graph;

	assert_int_equal(weir_flow_graph_new(&graph), 0);
	return graph;
}

static void assert_fails(struct weir_flow_graph *graph, int code,
			 const char *at)
{
	struct weir_flow *flow = weir_flow_graph_build(graph);
	const char *origin;

	assert_int_equal(weir_flow_check(flow, &origin, NULL), code);
	assert_string_equal(origin, at);
	assert_int_equal(run_on_sim(flow, 1, 0), code);
	weir_flow_free(flow);
}

static void a_connection_joins_two_flows(void **state)
{
	static const intptr_t expected[] = {2, 3, 4};
	size_t capacity;

	for (capacity = 0; capacity <= 8; capacity = capacity * 8 + !capacity) {
		struct weir_flow_graph *graph = a_graph_of_none();
		struct weir_flow *flow = weir_flow_graph_inlet(graph, "in");

		flow = weir_flow_map(flow, plus_one, NULL);
		flow = weir_flow_items(flow, &counted_items);
		assert_int_equal(weir_flow_graph_add(graph, NULL, flow), 0);
		assert_int_equal(
			weir_flow_graph_add(graph, "out",
					    counted(weir_flow_range(1, 3))),
			0);
		assert_int_equal(weir_flow_graph_connect(graph, "out", "in",
							 capacity),
				 0);
		flow = weir_flow_graph_build(graph);
		assert_flow(flow, true, expected, 3, 0);
	}
}

/*
 * numbers -> broadcast -> "a" -> zip -> end
 *                      -> "b" -> zip
 *                      -> end
 */
static void a_graph_has_several_ends(void **state)
{
	struct weir_flow_graph *graph = a_graph_of_none();
	struct tally tallies[2];
	struct weir_flow *outlets[3], *ups[2], *flow;

	ups[0] = weir_flow_graph_inlet(graph, "a");
	ups[1] = weir_flow_graph_inlet(graph, "b");
	flow = weir_flow_zip(ups, 2, sum_up, NULL);
	flow = weir_flow_items(flow, &counted_items);
	flow = weir_flow_for_each(flow, tally_one, &tallies[0]);
	weir_flow_graph_add(graph, NULL, flow);
	weir_flow_broadcast(counted(weir_flow_range(1, 100)), 3, outlets, NULL);
	weir_flow_graph_add(graph, "first", outlets[0]);
	weir_flow_graph_add(graph, "second", outlets[1]);
	flow = weir_flow_for_each(outlets[2], tally_one, &tallies[1]);
	weir_flow_graph_add(graph, NULL, flow);
	weir_flow_graph_connect(graph, "second", "a", 0);
	weir_flow_graph_connect(graph, "first", "b", 4);
	flow = weir_flow_graph_build(graph);
	for_each_seed(seed, 10) {
		memset(tallies, 0, sizeof(tallies));
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		assert_int_equal(tallies[0].n, 100);
		assert_int_equal(tallies[0].sum, 10100);
		assert_int_equal(tallies[1].n, 100);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

/* Halves what is even; odd numbers leave the circle. */
static int halve(void **item, void *context)
{
	((struct item *)*item)->value /= 2;
	return 0;
}

static int odd_leaves(void *item, size_t *outlet, void *context)
{
	*outlet = ((struct item *)item)->value % 2 == 0;
	return 0;
}

static struct weir_flow *a_circle(struct weir_flow *source, struct tally *tally,
				  size_t capacity)
{
	struct weir_flow_graph *graph = a_graph_of_none();
	struct weir_flow *ups[2], *ways[2], *flow;

	ups[0] = source;
	ups[1] = weir_flow_items(weir_flow_graph_inlet(graph, "again"),
				 &counted_items);
	flow = weir_flow_merge(ups, 2);
	weir_flow_partition(flow, 2, odd_leaves, NULL, ways, NULL);
	weir_flow_graph_add(
		graph, "even",
		weir_flow_same_items(weir_flow_map(ways[1], halve, NULL)));
	flow = weir_flow_for_each(ways[0], tally_one, tally);
	weir_flow_graph_add(graph, NULL, flow);
	weir_flow_graph_connect(graph, "even", "again", capacity);
	return weir_flow_graph_build(graph);
}

static void items_go_round_a_circle_until_they_leave(void **state)
{
	static const size_t unfused[] = {0, 1, 16};
	struct tally tally;
	struct trial trial;
	struct tap tap;

	for_each_seed(seed, 12) {
		memset(&tap, 0, sizeof(tap));
		memset(&tally, 0, sizeof(tally));
		tap_give(&tap, 1, 64);
		begin(&trial, a_circle(counted(tap_flow(&tap)), &tally, 128),
		      seed, unfused[seed % 3]);
		assert_int_equal(tally.n, 64);
		/* of 1 to 64: the greatest odd divisors */
		assert_int_equal(tally.sum, 1366);
		assert_false(is_over(&trial));
		assert_int_equal(end(&trial), -ECANCELED);
		assert_int_equal(n_live, 0);
	}
}

static void an_error_ends_a_circle(void **state)
{
	struct tally tally = {0};
	struct trial trial;
	struct tap tap = {0};

	begin(&trial, a_circle(counted(tap_flow(&tap)), &tally, 128), 1, 0);
	tap_end(&tap, -EDOM);
	rest(&trial);
	assert_true(is_over(&trial));
	assert_int_equal(end(&trial), -EDOM);
}

static int fails_on_9(void **item, void *context)
{
	return (intptr_t)*item == 9 ? -EDOM : 0;
}

static void a_circle_short_of_memory_loses_nothing(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 9);
	struct weir_flow_switch *swtch;
	struct tally tally = {0};
	static struct got got;

	assert_int_equal(weir_flow_switch_new(&swtch), 0);
	flow = counted(weir_flow_map(flow, fails_on_9, NULL));
	flow = weir_flow_kill_switch(flow, swtch);
	weir_flow_switch_free(swtch);
	flow = a_circle(flow, &tally, 16);
	assert_true(assert_short_of_memory(flow, &got, -EDOM) > 10);
	weir_flow_free(flow);
}

static void a_circle_that_holds_nothing_is_an_error(void **state)
{
	struct tally tally;
	struct weir_flow *flow =
		a_circle(counted(weir_flow_range(1, 3)), &tally, 0);
	const char *origin;

	assert_int_equal(weir_flow_check(flow, &origin, NULL), -EINVAL);
	assert_string_equal(origin, "again");
	weir_flow_free(flow);
}

static void the_items_of_a_circle_must_agree(void **state)
{
	struct weir_flow_graph *graph = a_graph_of_none();
	struct weir_flow *flow = weir_flow_graph_inlet(graph, "in");
	struct weir_flow *outlets[2];

	weir_flow_broadcast(counted(flow), 2, outlets, NULL);
	weir_flow_graph_add(graph, "out", outlets[0]);
	weir_flow_graph_add(graph, NULL, outlets[1]);
	weir_flow_graph_connect(graph, "out", "in", 4);
	assert_misfit(weir_flow_graph_build(graph), "graph_inlet",
		      "other items come round to it: see weir_flow_items()");
}

static void what_is_not_connected_is_named(void **state)
{
	struct weir_flow_graph *graph = a_graph_of_none();

	weir_flow_graph_add(graph, NULL, weir_flow_range(1, 2));
	weir_flow_graph_add(graph, "loose", weir_flow_range(1, 2));
	assert_fails(graph, -EINVAL, "loose");
	graph = a_graph_of_none();
	weir_flow_graph_add(graph, NULL, weir_flow_graph_inlet(graph, "dry"));
	assert_fails(graph, -EINVAL, "dry");
	graph = a_graph_of_none();
	weir_flow_graph_add(graph, "out", weir_flow_range(1, 2));
	weir_flow_graph_add(graph, NULL, weir_flow_graph_inlet(graph, "in"));
	weir_flow_graph_connect(graph, "out", "in", 0);
	assert_int_equal(weir_flow_graph_connect(graph, "out", "in", 0),
			 -EISCONN);
	assert_fails(graph, -EISCONN, "out");
	graph = a_graph_of_none();
	assert_int_equal(weir_flow_graph_connect(graph, "out", "in", 0),
			 -ENOENT);
	assert_fails(graph, -ENOENT, "out");
	assert_fails(a_graph_of_none(), -EINVAL, "graph");
	graph = a_graph_of_none();
	weir_flow_graph_add(graph, "out", weir_flow_range(1, 2));
	assert_int_equal(weir_flow_graph_add(graph, "out",
					     weir_flow_range(1, 2)),
			 -EEXIST);
	assert_fails(graph, -EEXIST, "out");
	graph = a_graph_of_none();
	weir_flow_graph_add(graph, NULL, weir_flow_graph_inlet(graph, "in"));
	weir_flow_free(weir_flow_graph_inlet(graph, "in"));
	assert_fails(graph, -EEXIST, "in");
}

static void bad_arguments_are_refused(void **state)
{
	struct weir_flow_graph *graph = a_graph_of_none();
	struct weir_flow *up = weir_flow_range(1, 2);
	struct weir_flow *flow = weir_flow_map(up, plus_one, NULL);

	assert_int_equal(weir_flow_graph_new(NULL), -EINVAL);
	assert_int_equal(weir_flow_graph_add(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(weir_flow_graph_add(graph, NULL, NULL), -EINVAL);
	assert_fails(graph, -EINVAL, "graph");
	graph = a_graph_of_none();
	assert_int_equal(weir_flow_graph_add(graph, NULL, up), -EBUSY);
	weir_flow_free(flow);
	assert_fails(graph, -EBUSY, "graph");
	graph = a_graph_of_none();
	up = weir_flow_range(1, 2);
	assert_int_equal(weir_flow_graph_add(graph, NULL, up), 0);
	flow = weir_flow_map(up, plus_one, NULL);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EBUSY);
	weir_flow_free(flow);
	flow = weir_flow_graph_build(graph);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), 0);
	weir_flow_free(flow);
	graph = a_graph_of_none();
	assert_int_equal(
		weir_flow_graph_add(graph, NULL,
				    weir_flow_map(NULL, plus_one, NULL)),
		-EINVAL);
	assert_fails(graph, -EINVAL, "map");
	assert_int_equal(weir_flow_graph_connect(NULL, "a", "b", 0), -EINVAL);
	flow = weir_flow_graph_build(NULL);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	flow = weir_flow_graph_inlet(NULL, "a");
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	weir_flow_graph_free(NULL);
}

/* Before it is built, and when it never is. */
static void an_inlet_outlives_its_graph(void **state)
{
	struct weir_flow_graph *graph = a_graph_of_none();
	struct weir_flow *flow = weir_flow_graph_inlet(graph, "in");

	weir_flow_graph_add(graph, "out", weir_flow_range(1, 2));
	weir_flow_graph_connect(graph, "out", "in", 0);
	weir_flow_free(weir_flow_graph_inlet(graph, "freed"));
	assert_int_equal(run_on_sim(flow, 1, 0), -EINVAL);
	weir_flow_graph_free(graph);
	assert_int_equal(run_on_sim(flow, 1, 0), -EINVAL);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_joins_two_flows),
		cmocka_unit_test(a_graph_has_several_ends),
		cmocka_unit_test(items_go_round_a_circle_until_they_leave),
		cmocka_unit_test(an_error_ends_a_circle),
		cmocka_unit_test(a_circle_short_of_memory_loses_nothing),
		cmocka_unit_test(a_circle_that_holds_nothing_is_an_error),
		cmocka_unit_test(the_items_of_a_circle_must_agree),
		cmocka_unit_test(what_is_not_connected_is_named),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(an_inlet_outlives_its_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
