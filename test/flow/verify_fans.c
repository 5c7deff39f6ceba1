/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/verify_fans.h"

struct weir_flow *no_items(const struct weir_items *items)
{
	return weir_flow_items(weir_flow_empty(), items);
}

/* --- Several flows -------------------------------------------------------- */

struct weir_flow *upon_merges(struct weir_flow *flow,
			      const struct weir_items *items)
{
	flow = weir_flow_merge((struct weir_flow *[]){flow, no_items(items)},
			       2);
	flow = weir_flow_merge_preferred(
		(struct weir_flow *[]){no_items(items), flow}, 2);
	return weir_flow_merge_eager(
		(struct weir_flow *[]){flow, weir_flow_items(weir_flow_never(),
							     items)},
		2);
}

struct weir_flow *upon_merge_of_actors(struct weir_flow *flow,
				       const struct weir_items *items)
{
	struct weir_flow *both[] = {
		weir_flow_async(flow, 4, NULL),
		weir_flow_async(no_items(items), 4, NULL),
	};

	return weir_flow_merge(both, 2);
}

/* With a number. */
static int combine(void *const *items, size_t n, void **result, void *context)
{
	*result = items[0];
	return called();
}

struct weir_flow *upon_zip(struct weir_flow *flow,
			   const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, weir_flow_range(0, INT64_MAX)};

	return weir_flow_items(weir_flow_zip(both, 2, combine, NULL), items);
}

/* Those that stay with the operator are shared. */
static int share_first(void *const *items, size_t n, void **result,
		       void *context)
{
	int rc = called();

	if (rc == 0)
		rc = goods_share(items[0], context);
	*result = items[0];
	return rc;
}

struct weir_flow *upon_combine_latest(struct weir_flow *flow,
				      const struct weir_items *items)
{
	struct weir_flow *both[] = {flow,
				    to_goods(weir_flow_range(1, 40), items)};

	flow = weir_flow_combine_latest(both, 2, share_first, items->context);
	return weir_flow_items(flow, items);
}

static int with_newest(void **item, void *newest, void *context)
{
	return called();
}

struct weir_flow *upon_with_latest_from(struct weir_flow *flow,
					const struct weir_items *items)
{
	flow = weir_flow_with_latest_from(
		flow, to_goods(weir_flow_range(1, 300), items), with_newest,
		NULL);
	return weir_flow_items(flow, items);
}

/* The third pair of each item makes nothing. */
static int share_left(void *left, void *right, void **result, void *context)
{
	int rc = called_and();

	if (((struct good *)right)->number == 3 || rc != 1)
		return rc < 0 ? rc : 0;
	*result = left;
	rc = goods_share(left, context);
	return rc < 0 ? rc : 1;
}

struct weir_flow *upon_join(struct weir_flow *flow,
			    const struct weir_items *items)
{
	static const struct weir_flow_join_options options = {
		.left_ns = WEIR_FOREVER,
		.right_ns = WEIR_FOREVER,
		.left_max = 4096,
		.right_max = 3,
	};

	flow = weir_flow_join(flow, to_goods(weir_flow_range(1, 3), items),
			      share_left, items->context, &options);
	return weir_flow_items(flow, items);
}

/* Where no time passes, only the other's end makes room. */
struct weir_flow *upon_join_for_a_while(struct weir_flow *flow,
					const struct weir_items *items)
{
	const struct weir_flow_join_options options = {
		.left_ns = pace_ns ? pace_ns + 1 : HOUR_NS,
		.right_ns = WEIR_FOREVER,
		.left_max = 2,
		.right_max = 9,
	};

	flow = weir_flow_join(flow,
			      paced(to_goods(weir_flow_range(1, 9), items)),
			      share_left, items->context, &options);
	return weir_flow_items(flow, items);
}

static int share_met(void *left, void *const *rights, size_t n, void **result,
		     void *context)
{
	int rc = called();

	*result = n > 0 ? rights[n - 1] : left;
	if (rc == 0)
		rc = goods_share(*result, context);
	return rc < 0 ? rc : 1;
}

struct weir_flow *upon_group_join(struct weir_flow *flow,
				  const struct weir_items *items)
{
	static const struct weir_flow_join_options options = {
		.left_ns = WEIR_FOREVER,
		.right_ns = WEIR_FOREVER,
		.left_max = 4096,
		.right_max = 3,
	};

	flow = weir_flow_group_join(flow,
				    to_goods(weir_flow_range(1, 3), items),
				    share_met, items->context, &options);
	return weir_flow_items(flow, items);
}

struct weir_flow *upon_group_join_for_a_while(struct weir_flow *flow,
					      const struct weir_items *items)
{
	const struct weir_flow_join_options options = {
		.left_ns = pace_ns ? 2 * pace_ns + 1 : HOUR_NS,
		.right_ns = pace_ns ? pace_ns + 1 : HOUR_NS,
		.left_max = 2,
		.right_max = 9,
	};

	flow = weir_flow_group_join(
		flow, paced(to_goods(weir_flow_range(1, 9), items)), share_met,
		items->context, &options);
	return weir_flow_items(flow, items);
}

struct weir_flow *upon_turns(struct weir_flow *flow,
			     const struct weir_items *items)
{
	static const uint32_t weights[] = {3, 2};

	flow = weir_flow_interleave(
		(struct weir_flow *[]){flow, no_items(items)}, 2, 3);
	return weir_flow_merge_prioritized(
		(struct weir_flow *[]){no_items(items), flow}, 2, weights);
}

static int by_number(void *a, void *b, void *context)
{
	int64_t x = ((struct good *)a)->number, y = ((struct good *)b)->number;

	return (x > y) - (x < y);
}

struct weir_flow *upon_merge_sorted(struct weir_flow *flow,
				    const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, no_items(items)};

	return weir_flow_merge_sorted(both, 2, by_number, NULL);
}

struct weir_flow *upon_merge_sorted_of_two(struct weir_flow *flow,
					   const struct weir_items *items)
{
	struct weir_flow *both[] = {to_goods(weir_flow_range(5, 40), items),
				    flow};

	return weir_flow_merge_sorted(both, 2, by_number, NULL);
}

static uint64_t its_number(void *item, void *context)
{
	return (uint64_t)(((struct good *)item)->number - first_number);
}

struct weir_flow *upon_merge_sequence(struct weir_flow *flow,
				      const struct weir_items *items)
{
	struct weir_flow *both[] = {no_items(items), flow};

	return weir_flow_merge_sequence(both, 2, its_number, NULL);
}

struct weir_flow *upon_zip_all(struct weir_flow *flow,
			       const struct weir_items *items)
{
	static void *const padding[2];
	struct weir_flow *both[] = {flow, weir_flow_empty()};

	flow = weir_flow_zip_all(both, 2, padding, combine, NULL);
	return weir_flow_items(flow, items);
}

struct weir_flow *upon_amb(struct weir_flow *flow,
			   const struct weir_items *items)
{
	struct weir_flow *both[] = {weir_flow_never(), flow};

	return weir_flow_amb(both, 2);
}

/* The other is plain. */
struct weir_flow *upon_take_until(struct weir_flow *flow,
				  const struct weir_items *items)
{
	return weir_flow_take_until(flow, weir_flow_never());
}

struct weir_flow *upon_skip_until(struct weir_flow *flow,
				  const struct weir_items *items)
{
	return weir_flow_skip_until(flow,
				    to_goods(weir_flow_range(1, 2), items));
}

struct weir_flow *upon_concat(struct weir_flow *flow,
			      const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, no_items(items)};

	flow = weir_flow_prepend(weir_flow_concat(both, 2), no_items(items));
	return weir_flow_or_else(flow, no_items(items));
}

static const struct weir_flow_fan_options narrow = {.capacity = 4};

/* With its like. */
static int combine_like(void *const *items, size_t n, void **result,
			void *context)
{
	int rc = called();

	if (rc < 0)
		return rc;
	assert_ptr_equal(items[0], items[1]);
	goods_drop(items[1], context);
	*result = items[0];
	return 0;
}

struct weir_flow *upon_broadcast(struct weir_flow *flow,
				 const struct weir_items *items)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_broadcast(flow, 2, outlets, &narrow);
	return weir_flow_items(
		weir_flow_zip(outlets, 2, combine_like, items->context), items);
}

static int drop_one(void *item, void *context)
{
	int rc = called();

	if (rc == 0)
		goods_drop(item, context);
	return rc;
}

static struct weir_flow *drop_beside(struct weir_flow *flow, void *context)
{
	return weir_flow_for_each(flow, drop_one, context);
}

struct weir_flow *upon_also_to(struct weir_flow *flow,
			       const struct weir_items *items)
{
	return weir_flow_also_to(flow, drop_beside, items->context, 4);
}

struct weir_flow *upon_wire_tap(struct weir_flow *flow,
				const struct weir_items *items)
{
	return weir_flow_wire_tap(flow, drop_beside, items->context, 4);
}

struct weir_flow *upon_then(struct weir_flow *flow,
			    const struct weir_items *items)
{
	return weir_flow_then(weir_flow_empty(), flow);
}

struct weir_flow *upon_then_none(struct weir_flow *flow,
				 const struct weir_items *items)
{
	return weir_flow_then(flow, no_items(items));
}

/* To one of the two, to both, or to none. */
static int selects(void *item, size_t outlet, void *context)
{
	int64_t number = ((struct good *)item)->number;
	int rc = called();

	return rc < 0 ? rc : (number >> outlet) % 2 != 0;
}

struct weir_flow *upon_broadcast_to_some(struct weir_flow *flow,
					 const struct weir_items *items)
{
	const struct weir_flow_fan_options options = {
		.capacity = 4,
		.select = selects,
	};
	struct weir_flow *outlets[2];

	(void)weir_flow_broadcast(flow, 2, outlets, &options);
	return weir_flow_merge(outlets, 2);
}

struct weir_flow *upon_balance(struct weir_flow *flow,
			       const struct weir_items *items)
{
	struct weir_flow *outlet;

	(void)weir_flow_balance(flow, 1, &outlet, &narrow);
	return outlet;
}

static int choose(void *item, size_t *outlet, void *context)
{
	const size_t *n = context;

	*outlet = (size_t)((struct good *)item)->number % *n;
	return called();
}

static struct weir_flow *partitioned(struct weir_flow *flow, const size_t *n)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_partition(flow, *n, choose, (void *)n, outlets,
				  &narrow);
	return weir_flow_merge(outlets, *n);
}

struct weir_flow *upon_partition(struct weir_flow *flow,
				 const struct weir_items *items)
{
	static const size_t n = 1;

	return partitioned(flow, &n);
}

struct weir_flow *upon_partition_of_two(struct weir_flow *flow,
					const struct weir_items *items)
{
	static const size_t n = 2;

	return partitioned(flow, &n);
}

struct weir_flow *upon_merge_sequence_of_two(struct weir_flow *flow,
					     const struct weir_items *items)
{
	static const size_t n = 2;
	struct weir_flow *outlets[2];

	(void)weir_flow_partition(flow, n, choose, (void *)&n, outlets,
				  &narrow);
	return weir_flow_merge_sequence(outlets, n, its_number, NULL);
}

struct weir_flow *upon_graph(struct weir_flow *flow,
			     const struct weir_items *items)
{
	struct weir_flow_graph *graph;
	struct weir_flow *inlet;

	assert_int_equal(weir_flow_graph_new(&graph), 0);
	inlet = weir_flow_graph_inlet(graph, "in");
	assert_int_equal(weir_flow_graph_add(graph, "out", flow), 0);
	assert_int_equal(weir_flow_graph_add(graph, NULL, inlet), 0);
	assert_int_equal(weir_flow_graph_connect(graph, "out", "in", 4), 0);
	return weir_flow_graph_build(graph);
}

struct weir_flow *upon_kill_switch(struct weir_flow *flow,
				   const struct weir_items *items)
{
	struct weir_flow_switch *swtch;

	assert_int_equal(weir_flow_switch_new(&swtch), 0);
	flow = weir_flow_kill_switch(flow, swtch);
	weir_flow_switch_free(swtch);
	return flow;
}

struct weir_flow *upon_acquire(struct weir_flow *flow,
			       const struct weir_items *items)
{
	static struct weir_semaphore semaphore;

	if (weir_semaphore_permits(&semaphore) == 0)
		assert_int_equal(
			weir_semaphore_init(&semaphore, WEIR_PERMITS_MAX), 0);
	return weir_flow_acquire(flow, &semaphore);
}

/* --- Errors, which they let pass ------------------------------------------ */

static int recover_none(struct weir_error *error, void **item, void *context)
{
	return 0;
}

static struct weir_error *map_none(struct weir_error *error, void *context)
{
	return NULL;
}

static bool applies_to_none(struct weir_error *error, void *context)
{
	return false;
}

struct weir_flow *upon_recoveries(struct weir_flow *flow,
				  const struct weir_items *items)
{
	flow = weir_flow_recover(flow, recover_none, NULL);
	flow = weir_flow_map_error(flow, map_none, NULL);
	return weir_flow_complete_on_error(flow, applies_to_none, NULL);
}

static struct weir_flow *no_flow(struct weir_error *error, void *context)
{
	return NULL;
}

struct weir_flow *upon_retries(struct weir_flow *flow,
			       const struct weir_items *items)
{
	flow = weir_flow_resume_with(flow, no_flow, NULL);
	return weir_flow_retry(flow, 0, no_flow, NULL);
}

/* --- Errors, about which they do something -------------------------------- */

static int recover_one(struct weir_error *error, void **item, void *context)
{
	int rc = called();

	if (rc < 0)
		return rc;
	*item = goods_make(context, -1);
	return 1;
}

struct weir_flow *upon_recover(struct weir_flow *flow,
			       const struct weir_items *items)
{
	return weir_flow_recover(flow, recover_one, items->context);
}

static struct weir_error *another_error(struct weir_error *error, void *context)
{
	return weir_error_of(-EPROTO);
}

struct weir_flow *upon_other_errors(struct weir_flow *flow,
				    const struct weir_items *items)
{
	flow = weir_flow_map_error(flow, another_error, NULL);
	return weir_flow_complete_on_error(flow, NULL, NULL);
}

/* Some items, and an error. */
static struct weir_flow *one_more_try(struct weir_error *error, void *context)
{
	const struct weir_items *items = context;
	struct weir_flow *both[] = {
		to_goods(weir_flow_range(1, 5), items),
		weir_flow_items(weir_flow_fail(-EPROTO, "again"), items),
	};
	struct weir_flow *flow = weir_flow_concat(both, 2);

	if (called() == 0)
		return flow;
	weir_flow_free(flow);
	return NULL;
}

struct weir_flow *upon_tries(struct weir_flow *flow,
			     const struct weir_items *items)
{
	flow = weir_flow_resume_with(flow, one_more_try, (void *)items);
	flow = weir_flow_retry(flow, 3, one_more_try, (void *)items);
	return weir_flow_complete_on_error(flow, NULL, NULL);
}

/* --- Several at once ------------------------------------------------------ */

struct weir_flow *upon_map_parallel(struct weir_flow *flow,
				    const struct weir_items *items)
{
	return weir_flow_same_items(weir_flow_map_parallel(
		flow, 2, WEIR_ORDER_KEPT, pass, NULL, NULL));
}

struct weir_flow *upon_unordered(struct weir_flow *flow,
				 const struct weir_items *items)
{
	return weir_flow_same_items(weir_flow_map_parallel(
		flow, 3, WEIR_ORDER_ANY, pass, NULL, NULL));
}

static int odd_or_even(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)((struct good *)item)->number % 2;
	return called();
}

struct weir_flow *upon_partitioned(struct weir_flow *flow,
				   const struct weir_items *items)
{
	return weir_flow_same_items(weir_flow_map_parallel_partitioned(
		flow, 4, odd_or_even, NULL, pass, NULL, NULL));
}

/* A flow of one item, made anew: what is never asked for holds nothing. */
static struct weir_flow *nest_one(void *item, void *context)
{
	const struct weir_items *items = context;
	intptr_t number = (intptr_t)((struct good *)item)->number;

	goods_drop(item, items->context);
	return called() < 0 ? NULL
			    : to_goods(weir_flow_single((void *)number), items);
}

struct weir_flow *upon_flat_map(struct weir_flow *flow,
				const struct weir_items *items)
{
	return weir_flow_items(
		weir_flow_flat_map(flow, 1, nest_one, (void *)items), items);
}

/*
 * The same of three, which stays open where there is room for less; of more
 * than that, it ends with them.
 */
static struct weir_flow *nest_three(void *item, void *context)
{
	const struct weir_items *items = context;
	int64_t number = ((struct good *)item)->number;
	struct weir_flow *flow;

	goods_drop(item, items->context);
	if (called() < 0)
		return NULL;
	flow = to_goods(weir_flow_range(number, number + 4), items);
	return weir_flow_complete_on_error(weir_flow_limit(flow, 3), NULL,
					   NULL);
}

struct weir_flow *upon_flat_map_of_several(struct weir_flow *flow,
					   const struct weir_items *items)
{
	flow = weir_flow_flat_map(flow, 3, nest_three, (void *)items);
	return weir_flow_items(flow, items);
}

struct weir_flow *upon_ordered(struct weir_flow *flow,
			       const struct weir_items *items)
{
	flow = weir_flow_flat_map_ordered(flow, 2, 1, nest_one, (void *)items);
	return weir_flow_items(flow, items);
}

struct weir_flow *upon_ordered_of_several(struct weir_flow *flow,
					  const struct weir_items *items)
{
	flow = weir_flow_flat_map_ordered(flow, 3, 2, nest_three,
					  (void *)items);
	return weir_flow_items(flow, items);
}

struct weir_flow *upon_switch_map(struct weir_flow *flow,
				  const struct weir_items *items)
{
	flow = weir_flow_switch_map(flow, nest_three, (void *)items);
	return weir_flow_items(flow, items);
}

/* --- Errors that are delayed ---------------------------------------------- */

static struct weir_flow *delayed(struct weir_flow *flow)
{
	return weir_flow_delay_errors(flow, NULL, NULL);
}

struct weir_flow *upon_delays(struct weir_flow *flow,
			      const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, no_items(items)};

	flow = delayed(weir_flow_merge(both, 2));
	flow = delayed(weir_flow_prepend(flow, no_items(items)));
	return delayed(upon_flat_map(flow, items));
}

/* With an error behind its item. */
static struct weir_flow *nest_and_fail(void *item, void *context)
{
	const struct weir_items *items = context;
	struct weir_flow *both[] = {nest_one(item, context), NULL};

	if (!both[0])
		return NULL;
	both[1] = weir_flow_items(weir_flow_fail(-EPROTO, "nested"), items);
	return weir_flow_concat(both, 2);
}

/* It has all items, whatever fails. */
struct weir_flow *upon_delays_of_failures(struct weir_flow *flow,
					  const struct weir_items *items)
{
	struct weir_flow *both[] = {
		weir_flow_items(weir_flow_fail(-EPROTO, "beside"), items),
		NULL,
	};

	flow = weir_flow_flat_map(flow, 2, nest_and_fail, (void *)items);
	both[1] = delayed(weir_flow_items(flow, items));
	return weir_flow_complete_on_error(delayed(weir_flow_concat(both, 2)),
					   NULL, NULL);
}

/* --- Bytes ---------------------------------------------------------------- */

/* A frame of the item's number. A '?' in front becomes its length. */
static int to_frame(void **item, const char *front, const char *back,
		    struct goods *goods)
{
	struct weir_flow_bytes *bytes;
	struct good *good = *item;
	int rc = called(), n;

	if (rc < 0)
		return rc;
	rc = weir_flow_bytes_new(&bytes, 32, memory);
	if (rc < 0)
		return rc;
	n = snprintf(bytes->data, 32, "%s%lld%s", front,
		     (long long)good->number, back);
	if (front[0] == '?')
		bytes->data[0] = (char)(n - 1);
	bytes->n = (size_t)n;
	goods_drop(good, goods);
	*item = bytes;
	return 0;
}

int to_line(void **item, void *context)
{
	return to_frame(item, "", "\n", context);
}

/* A line and the beginning of the next one. */
static int to_pieces(void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	int rc = to_line(item, context);

	if (rc < 0)
		return rc;
	bytes = *item;
	bytes->data[bytes->n++] = '7';
	return 0;
}

static int to_prefixed(void **item, void *context)
{
	return to_frame(item, "?", "", context);
}

static int to_object(void **item, void *context)
{
	return to_frame(item, "{", "}\n", context);
}

static int from_text(void **item, void *context)
{
	struct weir_flow_bytes *bytes = *item;
	char text[32];
	int rc = called();
	size_t skip;

	if (rc < 0)
		return rc;
	/* a brace, or a length, which is no letter */
	skip = bytes->n > 0 && (bytes->data[0] < ' ' || bytes->data[0] == '{');
	snprintf(text, sizeof(text), "%.*s", (int)(bytes->n - skip),
		 bytes->data + skip);
	*item = goods_make(context, strtoll(text, NULL, 10));
	weir_flow_bytes_unref(bytes);
	return 0;
}

struct weir_flow *to_bytes(struct weir_flow *flow,
			   int (*map)(void **item, void *context),
			   const struct weir_items *items)
{
	return weir_flow_items(weir_flow_map(flow, map, items->context),
			       weir_flow_bytes_items());
}

struct weir_flow *from_bytes(struct weir_flow *flow,
			     const struct weir_items *items)
{
	return weir_flow_items(weir_flow_map(flow, from_text, items->context),
			       items);
}

struct weir_flow *upon_lines(struct weir_flow *flow,
			     const struct weir_items *items)
{
	flow = weir_flow_lines(to_bytes(flow, to_line, items), 32);
	return from_bytes(flow, items);
}

struct weir_flow *upon_lines_of_pieces(struct weir_flow *flow,
				       const struct weir_items *items)
{
	flow = weir_flow_lines(to_bytes(flow, to_pieces, items), 32);
	return from_bytes(flow, items);
}

struct weir_flow *upon_delimited(struct weir_flow *flow,
				 const struct weir_items *items)
{
	flow = weir_flow_delimited(to_bytes(flow, to_line, items), "\n", 1, 32,
				   WEIR_FLOW_REMAINDER_FAIL);
	return from_bytes(flow, items);
}

struct weir_flow *upon_length_prefixed(struct weir_flow *flow,
				       const struct weir_items *items)
{
	flow = weir_flow_length_prefixed(to_bytes(flow, to_prefixed, items), 1,
					 WEIR_FLOW_BYTE_ORDER_BIG, 32);
	return from_bytes(flow, items);
}

struct weir_flow *upon_length_field(struct weir_flow *flow,
				    const struct weir_items *items)
{
	flow = weir_flow_length_field(to_bytes(flow, to_prefixed, items), 1,
				      WEIR_FLOW_BYTE_ORDER_BIG, 32, NULL);
	return from_bytes(flow, items);
}

struct weir_flow *upon_json_objects(struct weir_flow *flow,
				    const struct weir_items *items)
{
	flow = weir_flow_json_objects(to_bytes(flow, to_object, items), 32);
	return from_bytes(flow, items);
}
