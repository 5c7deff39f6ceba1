/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that take bytes refuse all else, and those with several inputs
 * refuse inputs that differ: whatever is between them and the source, and
 * wherever it is known. Who refuses, and why, is said in words.
 */
#include "flow/verify.h"

#include "flow/kit.h"

#define NO_BYTES "takes bytes, see weir_flow_bytes_items()"

/* --- Who takes bytes ------------------------------------------------------ */

static struct weir_flow *write_of(struct weir_flow *flow)
{
	return weir_flow_write(flow, 1);
}

static struct weir_flow *write_file_of(struct weir_flow *flow)
{
	return weir_flow_write_file(flow, "/dev/null", WEIR_FLOW_SYNC_NONE);
}

static struct weir_flow *child_of(struct weir_flow *flow)
{
	const char *const argv[] = {"cat", NULL};

	return weir_flow_child(flow, argv, NULL);
}

static struct weir_flow *lines_of(struct weir_flow *flow)
{
	return weir_flow_lines(flow, 10);
}

static struct weir_flow *delimited_of(struct weir_flow *flow)
{
	return weir_flow_delimited(flow, "x", 1, 10, WEIR_FLOW_REMAINDER_EMIT);
}

static struct weir_flow *prefixed_of(struct weir_flow *flow)
{
	return weir_flow_length_prefixed(flow, 4, WEIR_FLOW_BYTE_ORDER_BIG, 10);
}

static struct weir_flow *field_of(struct weir_flow *flow)
{
	return weir_flow_length_field(flow, 4, WEIR_FLOW_BYTE_ORDER_BIG, 10,
				      NULL);
}

static struct weir_flow *objects_of(struct weir_flow *flow)
{
	return weir_flow_json_objects(flow, 10);
}

static const struct {
	const char *name;
	struct weir_flow *(*upon)(struct weir_flow *flow);
} takers[] = {
	{"write", write_of},	     {"write_file", write_file_of},
	{"child", child_of},	     {"lines", lines_of},
	{"delimited", delimited_of}, {"length_prefixed", prefixed_of},
	{"length_field", field_of},  {"json_objects", objects_of},
};

#define N_TAKERS (sizeof(takers) / sizeof(*takers))

static void assert_taken(struct weir_flow *flow)
{
	assert_int_equal(weir_flow_check(flow, NULL, NULL), 0);
	weir_flow_free(flow);
}

static void assert_fits(struct weir_flow *flow, bool fits, const char *origin,
			const char *message)
{
	if (fits)
		assert_taken(flow);
	else
		assert_misfit(flow, origin, message);
}

/* --- Sources -------------------------------------------------------------- */

static int one_more(void **state, void **item, void *context)
{
	return 0;
}

static struct weir_flow *plain_flow(void *context)
{
	return weir_flow_range(1, 3);
}

static struct weir_flow *plain_for(void *item, void *context)
{
	return plain_flow(NULL);
}

static int no_result(void **result, void *item, void *context)
{
	return 0;
}

static const struct weir_flow_fold_functions folding = {.fold = no_result};

static struct weir_flow *bytes(void)
{
	return weir_flow_read(0, 64);
}

static struct weir_flow *fan_of(struct weir_flow *flow)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_broadcast(flow, 2, outlets, NULL);
	return weir_flow_merge(outlets, 2);
}

static struct weir_flow *graph_of(struct weir_flow *flow, size_t capacity)
{
	struct weir_flow_graph *graph;

	assert_int_equal(weir_flow_graph_new(&graph), 0);
	(void)weir_flow_graph_add(graph, NULL,
				  write_of(weir_flow_graph_inlet(graph, "in")));
	(void)weir_flow_graph_add(graph, "out", flow);
	(void)weir_flow_graph_connect(graph, "out", "in", capacity);
	return weir_flow_graph_build(graph);
}

/* All that puts out something else than bytes. */
static struct weir_flow *other_than_bytes(int nth)
{
	static void *array[1];
	struct weir_flow *flow;

	switch (nth) {
	case 0:
		return weir_flow_range(1, 3);
	case 1:
		return weir_flow_array(array, 1);
	case 2:
		return weir_flow_single(NULL);
	case 3:
		return weir_flow_unfold(NULL, one_more, NULL);
	case 4:
		return weir_flow_tick(0, 1, NULL);
	case 5:
		return weir_flow_restart(plain_flow, NULL, NULL);
	case 6:
		return counted(weir_flow_range(1, 3));
	case 7:
		return weir_flow_grouped(bytes(), 3);
	case 8:
		return weir_flow_collect(bytes(), 0);
	case 9:
		return weir_flow_count(bytes());
	case 10:
		flow = weir_flow_fold(bytes(), &folding, NULL);
		return weir_flow_items(flow, NULL);
	case 11:
		flow = weir_flow_scan(bytes(), &folding, NULL);
		return weir_flow_items(flow, NULL);
	case 12:
		return weir_flow_flat_map(bytes(), 1, plain_for, NULL);
	case 13:
		return fan_of(weir_flow_range(1, 3));
	case 14:
		return write_of(bytes());
	default:
		return NULL;
	}
}

/* --- Tests ---------------------------------------------------------------- */

static void who_takes_bytes_refuses_all_else(void **state)
{
	struct weir_flow *flow;
	size_t i;
	int nth;

	for (i = 0; i < N_TAKERS; i++)
		for (nth = 0; (flow = other_than_bytes(nth)); nth++)
			assert_misfit(takers[i].upon(flow), takers[i].name,
				      NO_BYTES);
}

static void who_refuses_may_be_anywhere_and_has_its_name(void **state)
{
	struct weir_flow *flow =
		weir_flow_name(write_of(weir_flow_range(1, 3)), "the log");

	flow = weir_flow_concat(&flow, 1);
	flow = weir_flow_async(weir_flow_count(flow), 4, NULL);
	assert_misfit(fan_of(flow), "the log", NO_BYTES);
	assert_misfit(graph_of(weir_flow_range(1, 3), 0), "write", NO_BYTES);
	assert_misfit(graph_of(weir_flow_range(1, 3), 4), "write", NO_BYTES);
	assert_taken(graph_of(bytes(), 0));
	assert_taken(graph_of(bytes(), 4));
}

static bool puts_out_lists(const struct way *way)
{
	return way->put_upon == upon_grouped ||
	       way->put_upon == upon_grouped_within ||
	       way->put_upon == upon_grouped_weighted ||
	       way->put_upon == upon_grouped_up_to ||
	       way->put_upon == upon_sliding ||
	       way->put_upon == upon_sliding_apart ||
	       way->put_upon == upon_materialize;
}

static void each_operator_lets_through_whose_items_they_are(void **state)
{
	static const struct weir_items goods = {goods_drop, goods_share, NULL};
	struct weir_flow *flow;
	size_t i, j;

	for (i = 0; i < n_ways; i++) {
		for (j = 0; j < N_TAKERS; j++) {
			flow = weir_flow_items(weir_flow_never(), &goods);
			flow = ways[i].put_upon(flow, &goods);
			assert_misfit(takers[j].upon(flow), takers[j].name,
				      NO_BYTES);
			flow = ways[i].put_upon(bytes(),
						weir_flow_bytes_items());
			assert_fits(takers[j].upon(flow),
				    !puts_out_lists(&ways[i]), takers[j].name,
				    NO_BYTES);
		}
	}
}

static void what_has_no_items_suits_everybody(void **state)
{
	static void *array[1];
	struct weir_flow *none[] = {weir_flow_empty(), weir_flow_never(),
				    weir_flow_fail(-EIO, NULL)};
	struct weir_flow *either[3];
	size_t i;

	for (i = 0; i < 3; i++)
		assert_taken(lines_of(weir_flow_take(none[i], 1)));
	either[0] = weir_flow_empty();
	either[1] = bytes();
	either[2] = weir_flow_never();
	assert_taken(write_of(weir_flow_concat(either, 3)));
	either[0] = weir_flow_empty();
	either[1] = weir_flow_items(weir_flow_array(array, 1), &counted_items);
	assert_misfit(write_of(weir_flow_merge(either, 2)), "write", NO_BYTES);
}

static void what_is_dropped_as_bytes_is_bytes(void **state)
{
	struct weir_items copy = *weir_flow_bytes_items();

	copy.context = &copy;
	copy.share = NULL;
	assert_taken(write_of(weir_flow_items(weir_flow_range(1, 3), &copy)));
	copy.drop = item_drop;
	assert_misfit(write_of(weir_flow_items(weir_flow_range(1, 3), &copy)),
		      "write", NO_BYTES);
}

/* It may be said late, of what was taken over. */
static void what_comes_out_is_said_until_the_start(void **state)
{
	struct weir_flow *source = weir_flow_range(1, 3);
	struct weir_flow *flow = write_of(source);

	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	(void)weir_flow_items(source, weir_flow_bytes_items());
	assert_taken(flow);
}

static void say_what_they_carry(const struct weir_items *items)
{
	struct weir_channel *channel;
	struct weir_flow_queue *queue;

	assert_int_equal(weir_channel_new(&channel, 4, items, NULL), 0);
	assert_int_equal(weir_flow_queue_new(&queue, 4, WEIR_OVERFLOW_DROP_NEW,
					     items),
			 0);
	assert_fits(write_of(weir_flow_from_queue(queue)), items, "write",
		    NO_BYTES);
	assert_fits(write_of(weir_flow_from_channel(channel)), items, "write",
		    NO_BYTES);
	assert_fits(weir_flow_into_channel(bytes(), channel), items,
		    "into_channel", "the channel has other items");
	weir_flow_queue_free(queue);
	assert_int_equal(weir_channel_free(channel), 0);
}

static void channels_and_queues_say_what_they_carry(void **state)
{
	say_what_they_carry(NULL);
	say_what_they_carry(weir_flow_bytes_items());
}

static struct weir_flow *lines_around(struct weir_flow *upstream, void *context)
{
	return lines_of(upstream);
}

static void a_nested_flow_that_refuses_says_so(void **state)
{
	const struct weir_flow_restart_options once = {
		.limit = &(const struct weir_limit){.max = 0}};
	struct weir_error *error;
	struct weir_flow *flow = weir_flow_restart_around(
		weir_flow_range(1, 3), lines_around, NULL, &once);

	error = error_of(weir_flow_ignore(flow));
	assert_int_equal(error->code, -EINVAL);
	assert_string_equal(error->origin, "lines");
	assert_string_equal(error->message, NO_BYTES);
	weir_error_unref(error);
}

static struct weir_flow *a_list(void *item, void *context)
{
	return weir_flow_grouped(weir_flow_single(item), 1);
}

static void a_nested_flow_of_other_items_says_which(void **state)
{
	struct weir_error *error = error_of(weir_flow_ignore(
		weir_flow_flat_map(weir_flow_range(1, 3), 1, a_list, NULL)));

	assert_int_equal(error->code, -EINVAL);
	assert_string_equal(error->origin, "flat_map");
	assert_string_equal(error->message,
			    "a nested flow has lists, and here are plain "
			    "values: see weir_flow_items()");
	weir_error_unref(error);
}

static int as_it_is(void **item, void *context)
{
	return 0;
}

static int no_edge(void *item, void *context)
{
	return 0;
}

/* A nested one is told of when it is made. */
static struct weir_flow *unsaid_part(struct weir_flow *upstream, void *context)
{
	return weir_flow_map(upstream, as_it_is, NULL);
}

static void in_a_nested_flow_it_must_be_said_as_well(void **state)
{
	struct weir_error *error = error_of(weir_flow_ignore(
		weir_flow_split_when(counted(weir_flow_range(1, 3)), no_edge,
				     unsaid_part, NULL)));

	assert_int_equal(error->code, -EINVAL);
	assert_string_equal(error->origin, "map");
	assert_non_null(strstr(error->message, ": say by weir_flow_items()"));
	weir_error_unref(error);
}

/* Its items are dropped, as what they are. */
static struct weir_flow *of_goods(void *item, void *context)
{
	return counted(weir_flow_range(1, (intptr_t)item));
}

static void what_a_delay_waits_for_may_have_any_items(void **state)
{
	ASSERT_FLOW(weir_flow_delay_until(weir_flow_range(1, 3), of_goods,
					  NULL),
		    0, 1, 2, 3);
}

/* --- Inputs that differ --------------------------------------------------- */

static struct weir_flow *or_else_of(struct weir_flow *const *flows, size_t n)
{
	return weir_flow_or_else(flows[0], flows[1]);
}

static struct weir_flow *prepend_of(struct weir_flow *const *flows, size_t n)
{
	return weir_flow_prepend(flows[1], flows[0]);
}

static const struct {
	const char *name;
	struct weir_flow *(*of)(struct weir_flow *const *flows, size_t n);
} joining[] = {
	{"merge", weir_flow_merge},
	{"merge_eager", weir_flow_merge_eager},
	{"merge_preferred", weir_flow_merge_preferred},
	{"concat", weir_flow_concat},
	{"or_else", or_else_of},
	{"prepend", prepend_of},
};

static void an_input_of_other_items_is_named(void **state)
{
	struct weir_flow *flows[3];
	size_t i;

	for (i = 0; i < sizeof(joining) / sizeof(*joining); i++) {
		flows[0] = bytes();
		flows[1] = weir_flow_range(1, 3);
		assert_misfit(joining[i].of(flows, 2), joining[i].name,
			      "input 2 has plain values, input 1 has bytes");
		flows[0] = bytes();
		flows[1] = weir_flow_lines(bytes(), 10);
		assert_taken(joining[i].of(flows, 2));
	}
	flows[0] = weir_flow_empty();
	flows[1] = bytes();
	flows[2] = counted(weir_flow_range(1, 3));
	assert_misfit(weir_flow_merge(flows, 3), "merge",
		      "input 3 has items without a name, input 2 has bytes");
	flows[0] = weir_flow_count(bytes());
	flows[1] = write_of(bytes());
	assert_taken(weir_flow_all(flows, 2));
}

/* Both have none to put out, or those of the one that has. */
static void an_input_without_items_needs_not_say_whose(void **state)
{
	struct weir_flow *flows[2] = {weir_flow_empty(),
				      counted(weir_flow_range(1, 3))};

	assert_flow(weir_flow_concat(flows, 2), true,
		    (const intptr_t[]){1, 2, 3}, 3, 0);
	flows[0] = counted(weir_flow_range(1, 3));
	flows[1] = weir_flow_fail(-EIO, NULL);
	assert_flow(weir_flow_concat(flows, 2), true,
		    (const intptr_t[]){1, 2, 3}, 3, -EIO);
	flows[0] = weir_flow_never();
	flows[1] = counted(weir_flow_range(1, 300));
	assert_cancel(weir_flow_ignore(weir_flow_merge(flows, 2)));
}

/* What a buffer or a boundary puts out is what it takes. */
static void what_is_said_of_a_boundary_holds_above_it(void **state)
{
	struct weir_flow *flow =
		weir_flow_map(weir_flow_range(1, 300), to_item, NULL);

	flow = weir_flow_buffer(flow, 16, WEIR_OVERFLOW_BACK_PRESSURE);
	flow = weir_flow_async(flow, 8, NULL);
	flow = weir_flow_items(weir_flow_limit_rate(flow, 4, 0),
			       &counted_items);
	assert_cancel(weir_flow_ignore(flow));
}

static void an_outlet_has_the_items_of_its_fan(void **state)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_broadcast(bytes(), 2, outlets, NULL);
	outlets[0] = write_of(outlets[0]);
	outlets[1] = lines_of(weir_flow_items(outlets[1], &counted_items));
	outlets[1] = weir_flow_ignore(outlets[1]);
	assert_misfit(weir_flow_all(outlets, 2), "outlet",
		      "said to emit items without a name, and emits bytes");
}

static void drop_otherwise(void *item, void *context)
{
	item_drop(item, context);
}

static void items_without_a_name_are_told_apart(void **state)
{
	static const struct weir_items one = {.drop = item_drop};
	static const struct weir_items other = {.drop = drop_otherwise};
	struct weir_flow *flows[] = {
		weir_flow_items(weir_flow_array(NULL, 0), &one),
		weir_flow_items(weir_flow_array(NULL, 0), &other),
	};
	struct weir_flow *flow =
		weir_flow_items(weir_flow_array(NULL, 0), &one);

	assert_misfit(weir_flow_merge(flows, 2), "merge",
		      "input 2 has items without a name, input 1 has other "
		      "items without a name");
	flow = weir_flow_items(weir_flow_limit(flow, 1), &other);
	assert_misfit(flow, "limit",
		      "said to emit items without a name, and emits other "
		      "items without a name");
}

/* --- The same ------------------------------------------------------------- */

static int second(void *const *items, size_t n, void **result, void *context)
{
	*result = items[1];
	return 0;
}

static void each_input_may_have_items_to_be_said(void **state)
{
	struct weir_flow *flows[] = {weir_flow_range(1, 300),
				     counted(weir_flow_range(1, 300))};
	struct weir_flow *flow = weir_flow_zip(flows, 2, second, NULL);

	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	flow = weir_flow_items(flow, &counted_items);
	assert_cancel(weir_flow_ignore(weir_flow_async(flow, 4, NULL)));
}

static void what_is_said_to_be_the_same_is_dropped_so(void **state)
{
	static const struct weir_operator_ops passes;
	struct weir_flow *flow = counted(weir_flow_range(1, 300));

	flow = weir_flow_operator(flow, &passes, NULL);
	flow = weir_flow_async(weir_flow_same_items(flow), 4, NULL);
	assert_cancel(weir_flow_ignore(flow));
}

/* --- NULL ----------------------------------------------------------------- */

static void count_null(void *item, void *context)
{
	assert_null(item);
	++*(size_t *)context;
}

static int see_null(void *item, void *context)
{
	count_null(item, context);
	return 0;
}

static void null_is_an_item_like_any_other(void **state)
{
	static void *nulls[3];
	size_t n_dropped = 0, n_seen = 0;
	const struct weir_items items = {.drop = count_null,
					 .context = &n_dropped};
	struct weir_flow *flow =
		weir_flow_items(weir_flow_array(nulls, 3), &items);

	flow = weir_flow_for_each(weir_flow_drop(flow, 1), see_null, &n_seen);
	assert_int_equal(run_on_sim(flow, 1, 4), 0);
	assert_int_equal(n_dropped, 1);
	assert_int_equal(n_seen, 2);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_takes_bytes_refuses_all_else),
		cmocka_unit_test(who_refuses_may_be_anywhere_and_has_its_name),
		cmocka_unit_test(
			each_operator_lets_through_whose_items_they_are),
		cmocka_unit_test(what_has_no_items_suits_everybody),
		cmocka_unit_test(what_is_dropped_as_bytes_is_bytes),
		cmocka_unit_test(what_comes_out_is_said_until_the_start),
		cmocka_unit_test(channels_and_queues_say_what_they_carry),
		cmocka_unit_test(a_nested_flow_that_refuses_says_so),
		cmocka_unit_test(a_nested_flow_of_other_items_says_which),
		cmocka_unit_test(in_a_nested_flow_it_must_be_said_as_well),
		cmocka_unit_test(what_a_delay_waits_for_may_have_any_items),
		cmocka_unit_test(an_input_of_other_items_is_named),
		cmocka_unit_test(an_input_without_items_needs_not_say_whose),
		cmocka_unit_test(what_is_said_of_a_boundary_holds_above_it),
		cmocka_unit_test(an_outlet_has_the_items_of_its_fan),
		cmocka_unit_test(items_without_a_name_are_told_apart),
		cmocka_unit_test(each_input_may_have_items_to_be_said),
		cmocka_unit_test(what_is_said_to_be_the_same_is_dropped_so),
		cmocka_unit_test(null_is_an_item_like_any_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
