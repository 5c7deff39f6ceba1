/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each operator emits, upon plain values and upon goods: what nobody needs
 * to say, what must be said, and what is refused; and a cancel drops each kind
 * of items by its own function. Each operator has a row: test/spec/verified.py
 * says which are missing.
 */
#include <stdio.h>

#include "flow/outlets_kit.h"
#include "flow/verify_connections.h"

#define HOUR_NS UINT64_C(3600000000000)

/* --- Two kinds of items --------------------------------------------------- */

enum { GOOD = 1, CRATE };

static void drop_good(void *item, void *context)
{
	assert_int_equal(((struct item *)item)->value, GOOD);
	item_drop(item, context);
}

/* The result of fold_n begins as NULL, which is dropped as all others are. */
static void drop_crate(void *item, void *context)
{
	if (!item)
		return;
	assert_int_equal(((struct item *)item)->value, CRATE);
	item_drop(item, context);
}

static const struct weir_items goods = {.drop = drop_good,
					.share = item_share,
					.name = "goods"};

static const struct weir_items crates = {.drop = drop_crate,
					 .share = item_share,
					 .name = "crates"};

static int make_good(void **item, void *context)
{
	*item = item_new(GOOD);
	return 0;
}

static struct weir_flow *plain(void)
{
	return weir_flow_range(1, 300);
}

static struct weir_flow *of_goods(void)
{
	return weir_flow_items(weir_flow_map(plain(), make_good, NULL), &goods);
}

static struct weir_flow *none_of(const struct weir_items *items)
{
	return weir_flow_items(weir_flow_array(NULL, 0), items);
}

/* Other inputs of an operator that has several. */
static struct weir_flow *(*another)(void);

#define BOTH (struct weir_flow *[]){flow, another()}, 2

/* --- Functions of the operators ------------------------------------------- */

/* Those that make crates of goods. */
static int crate(void **item, void *context)
{
	drop_good(*item, NULL);
	*item = item_new(CRATE);
	return 0;
}
WEIR_FLOW_MAP(crate)

static int crate_with_index(void **item, uint64_t index, void *context)
{
	return crate(item, context);
}

static int crate_it(void **item, void *context)
{
	return crate(item, context) + 1;
}

static int crate_next(void *item, uint64_t i, void **out, void *context)
{
	*out = i < 2 ? item_new(CRATE) : NULL;
	return i < 2;
}

static int crate_step(void **state, void **item, void *context)
{
	return crate_it(item, context);
}

static int crate_none(void **result, void *context)
{
	*result = item_new(CRATE);
	return 0;
}

static int crate_all(void *const *items, size_t n, void **result, void *context)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (items[i])
			drop_good(items[i], NULL);
	return crate_none(result, context);
}

static int crate_newest(void *const *items, size_t n, void **result,
			void *context)
{
	return crate_none(result, context);
}

static int crate_with(void **item, void *newest, void *context)
{
	return crate(item, context);
}

static int put_in(void **crate, void *item, void *context)
{
	drop_good(item, NULL);
	if (!*crate)
		*crate = item_new(CRATE);
	return 0;
}
WEIR_FLOW_FOLD(put_in)

static int crate_push(struct weir_operator *op, void *item)
{
	(void)crate(&item, NULL);
	return weir_operator_push(op, item);
}

/* Those that make nothing. */
static int take_good(void *item, void *context)
{
	drop_good(item, NULL);
	return 0;
}

static int take_goods(void *const *items, size_t n, size_t *done, void *context)
{
	for (*done = 0; *done < n; ++*done)
		drop_good(items[*done], NULL);
	return 0;
}

static int keep_first(void **all, void *item, void *context)
{
	return take_good(item, context);
}

static int yes(void *item, void *context)
{
	return 1;
}

static int no(void *item, void *context)
{
	return 0;
}

static int no_more(void *last, uint64_t i, void **item, void *context)
{
	return 0;
}

static int key_of(void *item, uintptr_t *key, void *context)
{
	*key = ((uintptr_t)item >> 4) % 4;
	return 0;
}

static uint64_t weigh(void *item, void *context)
{
	return 1;
}

static int compare(void *a, void *b, void *context)
{
	return 0;
}

static int choose(void *item, size_t *outlet, void *context)
{
	return 0;
}

static int last_good(struct weir_error *error, void **item, void *context)
{
	return make_good(item, context) + 1;
}

static struct weir_error *same_error(struct weir_error *error, void *context)
{
	return NULL;
}

/* Those that make flows. */
static struct weir_flow *plain_for(void *item, void *context)
{
	drop_good(item, NULL);
	return weir_flow_range(1, 3);
}

static struct weir_flow *until_crate(void *item, void *context)
{
	return weir_flow_items(weir_flow_map(plain(), make_good, NULL), &goods);
}

static int crate_pair(void *left, void *right, void **result, void *context)
{
	return crate_none(result, context) + 1;
}

static int crate_met(void *left, void *const *rights, size_t n, void **result,
		     void *context)
{
	return crate_none(result, context) + 1;
}

static struct weir_flow *goods_for_error(struct weir_error *error,
					 void *context)
{
	return of_goods();
}

static struct weir_flow *the_part(struct weir_flow *upstream, void *context)
{
	return upstream;
}

static struct weir_flow *beside(struct weir_flow *upstream, void *context)
{
	return weir_flow_for_each(upstream, take_good, context);
}

static struct weir_flow *the_group(struct weir_flow *upstream, uintptr_t key,
				   void *context)
{
	return upstream;
}

static struct weir_flow *the_tail(void *const *items, size_t n,
				  struct weir_flow *tail, void *context)
{
	size_t i;

	for (i = 0; i < n; i++)
		drop_good(items[i], NULL);
	return tail;
}

/* --- The operators -------------------------------------------------------- */

static const struct weir_flow_stateful_map_functions stepping = {
	.step = crate_step};
static const struct weir_flow_intersperse_functions among = {
	.between = make_good};
static const struct weir_flow_peek_functions no_hooks;
static const struct weir_flow_fold_functions crating = {crate_none, put_in};
static const struct weir_flow_conflate_functions newest = {NULL, keep_first};
static const struct weir_flow_conflate_functions seeded = {crate, put_in};
static const struct weir_flow_rate fast = {.n = UINT32_MAX, .per_ns = 1};
static const struct weir_operator_ops crater = {.on_push = crate_push};
static const struct weir_flow_window_options hour = {.within_ns = HOUR_NS};
static const struct weir_flow_delay_options soon = {.delay_ns = 1, .n = 4};
static const struct weir_flow_join_options both_open = {1, 1, 4, 4, {0}};
static void *const padding[2];
static const uint32_t weights[] = {2, 1};
static struct weir_flow_switch *swtch;
static struct weir_connection *connection;
static struct weir_semaphore permits;

#define UPON(name, call) \
	static struct weir_flow *name(struct weir_flow *flow) \
	{ \
		return call; \
	}

UPON(async, weir_flow_async(flow, 2, NULL))
UPON(map, weir_flow_map(flow, crate, NULL))
UPON(map_n, weir_flow_map_n(flow, crate_n, NULL))
UPON(index_, weir_flow_index(flow, crate_with_index, NULL))
UPON(filter, weir_flow_filter(flow, yes, NULL))
UPON(filter_map, weir_flow_filter_map(flow, crate_it, NULL))
UPON(until_changed, weir_flow_distinct_until_changed(flow, key_of, NULL))
UPON(distinct, weir_flow_distinct(flow, 2, key_of, NULL, NULL))
UPON(take, weir_flow_take(flow, 100))
UPON(drop, weir_flow_drop(flow, 2))
UPON(take_while, weir_flow_take_while(flow, yes, NULL, false))
UPON(drop_while, weir_flow_drop_while(flow, no, NULL))
UPON(limit, weir_flow_limit(flow, 100))
UPON(limit_weighted, weir_flow_limit_weighted(flow, 100, weigh, NULL))
UPON(take_last, weir_flow_take_last(flow, 5))
UPON(drop_last, weir_flow_drop_last(flow, 5))
UPON(map_concat, weir_flow_map_concat(flow, crate_next, NULL))
UPON(stateful_map, weir_flow_stateful_map(flow, &stepping, NULL))
UPON(intersperse, weir_flow_intersperse(flow, &among, NULL))
UPON(peek, weir_flow_peek(flow, &no_hooks, NULL))
UPON(for_each, weir_flow_for_each(flow, take_good, NULL))
UPON(for_each_n, weir_flow_for_each_n(flow, take_goods, NULL))
UPON(ignore, weir_flow_ignore(flow))
UPON(fold, weir_flow_fold(flow, &crating, NULL))
UPON(fold_n, weir_flow_fold_n(flow, put_in_n, NULL))
UPON(reduce, weir_flow_reduce(flow, keep_first, NULL))
UPON(scan, weir_flow_scan(flow, &crating, NULL))
UPON(first, weir_flow_first(flow))
UPON(last, weir_flow_last(flow))
UPON(count, weir_flow_count(flow))
UPON(collect, weir_flow_collect(flow, 0))
UPON(map_parallel,
     weir_flow_map_parallel(flow, 3, WEIR_ORDER_KEPT, crate, NULL, NULL))
UPON(partitioned, weir_flow_map_parallel_partitioned(flow, 3, key_of, NULL,
						     crate, NULL, NULL))
UPON(flat_map, weir_flow_flat_map(flow, 2, plain_for, NULL))
UPON(switch_map, weir_flow_switch_map(flow, plain_for, NULL))
UPON(group_by, weir_flow_group_by(flow, 4, key_of, the_group, NULL, NULL))
UPON(split_when, weir_flow_split_when(flow, yes, the_part, NULL))
UPON(split_after, weir_flow_split_after(flow, yes, the_part, NULL))
UPON(window, weir_flow_window(flow, &hour, the_part, NULL))
UPON(window_by, weir_flow_window_by(flow, another(), the_part, NULL))
UPON(prefix_and_tail, weir_flow_prefix_and_tail(flow, 2, the_tail, NULL))
UPON(flat_map_ordered, weir_flow_flat_map_ordered(flow, 2, 4, plain_for, NULL))
UPON(buffer, weir_flow_buffer(flow, 4, WEIR_OVERFLOW_DROP_HEAD))
UPON(conflate, weir_flow_conflate(flow, &newest, NULL))
UPON(conflate_seed, weir_flow_conflate(flow, &seeded, NULL))
UPON(batch, weir_flow_batch(flow, 3, &newest, NULL))
UPON(batch_seed, weir_flow_batch(flow, 3, &seeded, NULL))
UPON(batch_weighted, weir_flow_batch_weighted(flow, 3, weigh, &newest, NULL))
UPON(weighted_seed, weir_flow_batch_weighted(flow, 3, weigh, &seeded, NULL))
UPON(debounce, weir_flow_debounce(flow, 1))
UPON(sample, weir_flow_sample(flow, 1, true))
UPON(throttle_first, weir_flow_throttle_first(flow, 1))
UPON(throttle_latest, weir_flow_throttle_latest(flow, 1, true))
UPON(limit_rate, weir_flow_limit_rate(flow, 5, 2))
UPON(grouped, weir_flow_grouped(flow, 3))
UPON(grouped_within, weir_flow_grouped_within(flow, 3, HOUR_NS))
UPON(weighted, weir_flow_grouped_weighted(flow, 3, weigh, NULL, 9, 0))
UPON(up_to, weir_flow_grouped_up_to(flow, 3, weigh, NULL, 9, 0))
UPON(sliding, weir_flow_sliding(flow, 3, 2))
UPON(throttle, weir_flow_throttle(flow, &fast))
UPON(delay, weir_flow_delay(flow, 1, 4))
UPON(delay_with, weir_flow_delay_with(flow, &soon))
UPON(delay_until, weir_flow_delay_until(flow, until_crate, NULL))
UPON(idle_timeout, weir_flow_idle_timeout(flow, HOUR_NS))
UPON(completion_timeout, weir_flow_completion_timeout(flow, HOUR_NS))
UPON(initial_timeout, weir_flow_initial_timeout(flow, HOUR_NS))
UPON(backpressure, weir_flow_backpressure_timeout(flow, HOUR_NS))
UPON(take_within, weir_flow_take_within(flow, HOUR_NS))
UPON(drop_within, weir_flow_drop_within(flow, 1))
UPON(initial_delay, weir_flow_initial_delay(flow, 1))
UPON(keep_alive, weir_flow_keep_alive(flow, 1, make_good, NULL))
UPON(extrapolate, weir_flow_extrapolate(flow, no_more, NULL))
UPON(merge, weir_flow_merge(BOTH))
UPON(merge_eager, weir_flow_merge_eager(BOTH))
UPON(merge_preferred, weir_flow_merge_preferred(BOTH))
UPON(prioritized, weir_flow_merge_prioritized(BOTH, weights))
UPON(merge_sorted, weir_flow_merge_sorted(BOTH, compare, NULL))
UPON(sequence, weir_flow_merge_sequence(BOTH, weigh, NULL))
UPON(interleave, weir_flow_interleave(BOTH, 3))
UPON(zip, weir_flow_zip(BOTH, crate_all, NULL))
UPON(zip_all, weir_flow_zip_all(BOTH, padding, crate_all, NULL))
UPON(concat, weir_flow_concat(BOTH))
UPON(prepend, weir_flow_prepend(flow, another()))
UPON(then, weir_flow_then(flow, another()))
UPON(also_to, weir_flow_also_to(flow, beside, NULL, 4))
UPON(wire_tap, weir_flow_wire_tap(flow, beside, NULL, 4))
UPON(or_else, weir_flow_or_else(flow, another()))
UPON(all, weir_flow_all(BOTH))
UPON(combine_latest, weir_flow_combine_latest(BOTH, crate_newest, NULL))
UPON(with_latest_from,
     weir_flow_with_latest_from(flow, another(), crate_with, NULL))
UPON(group_join,
     weir_flow_group_join(flow, another(), crate_met, NULL, &both_open))
UPON(join, weir_flow_join(flow, another(), crate_pair, NULL, &both_open))
UPON(take_until, weir_flow_take_until(flow, weir_flow_never()))
UPON(skip_until, weir_flow_skip_until(flow, weir_flow_empty()))
UPON(amb, weir_flow_amb(BOTH))
UPON(kill_switch, weir_flow_kill_switch(flow, swtch))
UPON(recover, weir_flow_recover(flow, last_good, NULL))
UPON(map_error, weir_flow_map_error(flow, same_error, NULL))
UPON(on_error, weir_flow_complete_on_error(flow, NULL, NULL))
UPON(resume_with, weir_flow_resume_with(flow, goods_for_error, NULL))
UPON(retry, weir_flow_retry(flow, 3, goods_for_error, NULL))
UPON(restart_around, weir_flow_restart_around(flow, the_part, NULL, NULL))
UPON(materialize, weir_flow_materialize(flow))
UPON(dematerialize, weir_flow_dematerialize(flow))
UPON(write_, weir_flow_write(flow, 1))
UPON(write_file, weir_flow_write_file(flow, "nowhere", WEIR_FLOW_SYNC_NONE))
UPON(datagrams, weir_flow_datagrams_send(flow, 1))
UPON(connection_write, weir_connection_write(flow, connection))
UPON(each, weir_flow_each_connection(flow, 1, serve_nothing, NULL))
UPON(child, weir_flow_child(flow, (const char *const[]){"cat", NULL}, NULL))
UPON(lines, weir_flow_lines(flow, 80))
UPON(delimited, weir_flow_delimited(flow, "x", 1, 80, WEIR_FLOW_REMAINDER_EMIT))
UPON(prefixed, weir_flow_length_prefixed(flow, 4, WEIR_FLOW_BYTE_ORDER_BIG, 80))
UPON(length_field,
     weir_flow_length_field(flow, 4, WEIR_FLOW_BYTE_ORDER_BIG, 80, NULL))
UPON(json_objects, weir_flow_json_objects(flow, 80))
UPON(own, weir_flow_operator(flow, &crater, NULL))
UPON(own_of, weir_flow_operator_inputs(BOTH, &crater, NULL))
UPON(outlet, one_outlet(flow, &crater))
UPON(acquire, weir_flow_acquire(flow, &permits))

static struct weir_flow *broadcast(struct weir_flow *flow)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_broadcast(flow, 2, outlets, NULL);
	return weir_flow_merge(outlets, 2);
}

static struct weir_flow *balance(struct weir_flow *flow)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_balance(flow, 2, outlets, NULL);
	return weir_flow_merge(outlets, 2);
}

static struct weir_flow *partition(struct weir_flow *flow)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_partition(flow, 2, choose, NULL, outlets, NULL);
	return weir_flow_merge(outlets, 2);
}

static struct weir_flow *graph(struct weir_flow *flow)
{
	struct weir_flow_graph *graph;

	assert_int_equal(weir_flow_graph_new(&graph), 0);
	(void)weir_flow_graph_add(graph, "out", flow);
	(void)weir_flow_graph_add(graph, NULL,
				  weir_flow_graph_inlet(graph, "in"));
	(void)weir_flow_graph_connect(graph, "out", "in", 4);
	return weir_flow_graph_build(graph);
}

/* --- The table ------------------------------------------------------------ */

/* What an operator emits. */
enum emits {
	SAME,  /* the items that it takes */
	MADE,  /* what a function makes of them, here crates of goods */
	FLOWS, /* what the flows emit that a function makes */
	OTHER, /* items that it makes by itself */
	NONE,  /* no items */
	ONE,   /* what it takes must be of one kind */
};

static const struct row {
	const char *name;
	enum emits emits;
	struct weir_flow *(*upon)(struct weir_flow *flow);
} rows[] = {
	{"async", SAME, async},
	{"map", MADE, map},
	{"map_n", MADE, map_n},
	{"index", MADE, index_},
	{"filter", SAME, filter},
	{"filter_map", MADE, filter_map},
	{"distinct_until_changed", SAME, until_changed},
	{"distinct", SAME, distinct},
	{"take", SAME, take},
	{"drop", SAME, drop},
	{"take_while", SAME, take_while},
	{"drop_while", SAME, drop_while},
	{"limit", SAME, limit},
	{"limit_weighted", SAME, limit_weighted},
	{"take_last", SAME, take_last},
	{"drop_last", SAME, drop_last},
	{"map_concat", MADE, map_concat},
	{"stateful_map", MADE, stateful_map},
	{"intersperse", SAME, intersperse},
	{"peek", SAME, peek},
	{"for_each", NONE, for_each},
	{"for_each_n", NONE, for_each_n},
	{"ignore", NONE, ignore},
	{"fold", MADE, fold},
	{"fold_n", MADE, fold_n},
	{"reduce", SAME, reduce},
	{"scan", MADE, scan},
	{"first", SAME, first},
	{"last", SAME, last},
	{"count", OTHER, count},
	{"collect", OTHER, collect},
	{"map_parallel", MADE, map_parallel},
	{"map_parallel_partitioned", MADE, partitioned},
	{"flat_map", FLOWS, flat_map},
	{"switch_map", FLOWS, switch_map},
	{"flat_map_ordered", FLOWS, flat_map_ordered},
	{"group_by", FLOWS, group_by},
	{"split_when", FLOWS, split_when},
	{"split_after", FLOWS, split_after},
	{"window", FLOWS, window},
	{"window_by", FLOWS, window_by},
	{"prefix_and_tail", FLOWS, prefix_and_tail},
	{"buffer", SAME, buffer},
	{"conflate", SAME, conflate},
	{"conflate", MADE, conflate_seed},
	{"batch", SAME, batch},
	{"batch", MADE, batch_seed},
	{"batch_weighted", SAME, batch_weighted},
	{"batch_weighted", MADE, weighted_seed},
	{"debounce", SAME, debounce},
	{"sample", SAME, sample},
	{"throttle_first", SAME, throttle_first},
	{"throttle_latest", SAME, throttle_latest},
	{"limit_rate", SAME, limit_rate},
	{"grouped", OTHER, grouped},
	{"grouped_within", OTHER, grouped_within},
	{"grouped_weighted", OTHER, weighted},
	{"grouped_up_to", OTHER, up_to},
	{"sliding", OTHER, sliding},
	{"throttle", SAME, throttle},
	{"delay", SAME, delay},
	{"delay_with", SAME, delay_with},
	{"delay_until", SAME, delay_until},
	{"idle_timeout", SAME, idle_timeout},
	{"completion_timeout", SAME, completion_timeout},
	{"initial_timeout", SAME, initial_timeout},
	{"backpressure_timeout", SAME, backpressure},
	{"take_within", SAME, take_within},
	{"drop_within", SAME, drop_within},
	{"initial_delay", SAME, initial_delay},
	{"keep_alive", SAME, keep_alive},
	{"extrapolate", SAME, extrapolate},
	{"merge", SAME, merge},
	{"merge_eager", SAME, merge_eager},
	{"merge_preferred", SAME, merge_preferred},
	{"merge_prioritized", SAME, prioritized},
	{"merge_sorted", SAME, merge_sorted},
	{"merge_sequence", SAME, sequence},
	{"interleave", SAME, interleave},
	{"zip", MADE, zip},
	{"zip_all", MADE, zip_all},
	{"concat", SAME, concat},
	{"prepend", SAME, prepend},
	{"then", SAME, then},
	{"also_to", SAME, also_to},
	{"wire_tap", SAME, wire_tap},
	{"or_else", SAME, or_else},
	{"broadcast", SAME, broadcast},
	{"balance", SAME, balance},
	{"partition", SAME, partition},
	{"all", NONE, all},
	{"combine_latest", MADE, combine_latest},
	{"with_latest_from", MADE, with_latest_from},
	{"join", MADE, join},
	{"group_join", MADE, group_join},
	{"take_until", SAME, take_until},
	{"skip_until", SAME, skip_until},
	{"amb", SAME, amb},
	{"graph_inlet, graph_build", SAME, graph},
	{"kill_switch", SAME, kill_switch},
	{"recover", SAME, recover},
	{"map_error", SAME, map_error},
	{"complete_on_error", SAME, on_error},
	{"resume_with", FLOWS, resume_with},
	{"retry", FLOWS, retry},
	{"restart_around", FLOWS, restart_around},
	{"materialize", OTHER, materialize},
	{"dematerialize", ONE, dematerialize},
	{"write", ONE, write_},
	{"write_file", ONE, write_file},
	{"datagrams_send", ONE, datagrams},
	{"child", ONE, child},
	{"connection_write", ONE, connection_write},
	{"each_connection", ONE, each},
	{"lines", ONE, lines},
	{"delimited", ONE, delimited},
	{"length_prefixed", ONE, prefixed},
	{"length_field", ONE, length_field},
	{"json_objects", ONE, json_objects},
	{"operator", MADE, own},
	{"operator_inputs", MADE, own_of},
	{"operator_outlets", MADE, outlet},
	{"acquire", SAME, acquire},
};

static const struct row *row;

static void each_row(void (*look)(void))
{
	connection = connection_with(NULL);
	assert_int_equal(weir_flow_switch_new(&swtch), 0);
	assert_int_equal(weir_semaphore_init(&permits, 10000), 0);
	for (row = rows; row < rows + sizeof(rows) / sizeof(*rows); row++)
		look();
	assert_int_equal(weir_semaphore_fini(&permits), 0);
	weir_flow_switch_free(swtch);
	weir_connection_unref(connection);
}

static struct weir_flow *upon(struct weir_flow *(*of)(void))
{
	another = of;
	return row->upon(of());
}

/* --- What is wrong with a flow -------------------------------------------- */

static char wrong[256];

/* "", or the origin and the message; frees it. */
static const char *check(struct weir_flow *flow)
{
	const char *origin = "", *message = "";
	int rc = weir_flow_check(flow, &origin, &message);

	assert_true(rc == 0 || rc == -EINVAL);
	(void)snprintf(wrong, sizeof(wrong), "%s%s%s", origin, rc ? ": " : "",
		       message);
	weir_flow_free(flow);
	return wrong;
}

static void assert_says(struct weir_flow *flow, const char *expected)
{
	const char *said = check(flow);

	if (strcmp(said, expected) != 0)
		fail_msg("%s: it says \"%s\", not \"%s\"", row->name, said,
			 expected);
}

/* It can run, and what comes out of it are `items`. */
static void assert_emits(struct weir_flow *flow, const struct weir_items *items,
			 const char *name)
{
	char expected[100];
	const struct weir_items *others = items == &crates ? &goods : &crates;

	(void)snprintf(expected, sizeof(expected),
		       "concat: input 2 has %s, input 1 has %s", name,
		       others->name);
	assert_says(weir_flow_concat(
			    (struct weir_flow *[]){none_of(others), flow}, 2),
		    expected);
}

/* Of the same row. */
static void assert_fine(struct weir_flow *flow)
{
	assert_says(flow, "");
}

/* --- Tests ---------------------------------------------------------------- */

static void look_at_plain(void)
{
	if (row->emits == ONE)
		return;
	assert_fine(upon(plain));
	if (row->emits == SAME || row->emits == MADE || row->emits == FLOWS)
		assert_emits(upon(plain), NULL, "plain values");
}

static void of_plain_values_nothing_need_be_said(void **state)
{
	each_row(look_at_plain);
}

static void look_at_silence(void)
{
	char expected[200];

	(void)snprintf(
		expected, sizeof(expected),
		"%s: takes goods: say by weir_flow_items() what it emits, or "
		"by weir_flow_same_items() that it is the same",
		row->name);
	if (row->emits == MADE)
		assert_says(upon(of_goods), expected);
	else if (row->emits == SAME)
		assert_emits(upon(of_goods), &goods, "goods");
	else if (row->emits != ONE)
		assert_fine(upon(of_goods));
}

static void what_a_function_makes_of_others_must_be_said(void **state)
{
	each_row(look_at_silence);
}

static void look_at_crates(void)
{
	struct weir_flow *flow = weir_flow_items(upon(of_goods), &crates);
	const char *why = "said to emit crates, and emits ";

	if (row->emits == MADE || row->emits == FLOWS)
		assert_emits(flow, &crates, "crates");
	else if (row->emits == NONE)
		assert_fine(flow);
	else
		assert_non_null(strstr(check(flow),
				       row->emits == ONE ? "takes " : why));
}

static void what_is_known_cannot_be_said_to_be_another(void **state)
{
	each_row(look_at_crates);
}

static void look_at_same(void)
{
	struct weir_flow *flow = weir_flow_same_items(upon(of_goods));

	if (row->emits == OTHER)
		assert_non_null(
			strstr(check(flow), "said to emit goods, and emits "));
	else if (row->emits == ONE || row->emits == NONE)
		(void)check(flow);
	else
		assert_emits(flow, &goods, "goods");
}

static void it_may_be_said_to_be_the_same(void **state)
{
	each_row(look_at_same);
}

static void cancel_it(void)
{
	struct weir_flow *flow;

	if (row->emits == ONE)
		return;
	flow = upon(of_goods);
	if (row->emits == MADE)
		flow = weir_flow_items(flow, &crates);
	assert_cancel(weir_flow_ignore(weir_flow_async(flow, 4, NULL)));
}

/* Each drop function looks whether the item is its own. */
static void a_cancel_drops_each_kind_by_its_own_function(void **state)
{
	each_row(cancel_it);
}

static void the_last_word_counts(void **state)
{
	struct weir_flow *flow;

	row = rows;
	another = of_goods;
	flow = weir_flow_items(map(of_goods()), &crates);
	assert_emits(weir_flow_same_items(flow), &goods, "goods");
	flow = weir_flow_same_items(map(of_goods()));
	assert_emits(weir_flow_items(flow, &crates), &crates, "crates");
	flow = weir_flow_items(map(of_goods()), NULL);
	assert_emits(flow, NULL, "plain values");
	flow = weir_flow_same_items(filter(of_goods()));
	assert_says(weir_flow_items(flow, &crates),
		    "filter: said to emit crates, and emits goods");
	/* of the first of several; a source has none to be the same */
	flow = zip(of_goods());
	assert_emits(weir_flow_same_items(flow), &goods, "goods");
	assert_emits(weir_flow_same_items(plain()), NULL, "plain values");
}

/* What is said behind a boundary is said of what is above it. */
static void it_may_be_said_behind_a_boundary(void **state)
{
	struct weir_flow *flow = weir_flow_async(map(of_goods()), 4, NULL);

	row = rows;
	assert_emits(weir_flow_same_items(flow), &goods, "goods");
	flow = weir_flow_async(map(of_goods()), 4, NULL);
	assert_emits(weir_flow_items(flow, &crates), &crates, "crates");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_plain_values_nothing_need_be_said),
		cmocka_unit_test(what_a_function_makes_of_others_must_be_said),
		cmocka_unit_test(what_is_known_cannot_be_said_to_be_another),
		cmocka_unit_test(it_may_be_said_to_be_the_same),
		cmocka_unit_test(a_cancel_drops_each_kind_by_its_own_function),
		cmocka_unit_test(the_last_word_counts),
		cmocka_unit_test(it_may_be_said_behind_a_boundary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
