/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors carry the name of the operator where they begin. */
#include "flow/names.h"

/* Of each form of a function one that fails. */
static int map_n_fails(void **items, size_t n, size_t *done, void *context)
{
	return -EDOM;
}

static int index_fails(void **item, uint64_t index, void *context)
{
	return -EDOM;
}

static int ask_fails(void *item, void *context)
{
	return -EDOM;
}

static int key_fails(void *item, uintptr_t *key, void *context)
{
	return -EDOM;
}

static int no_key(void *item, uintptr_t *key, void *context)
{
	*key = 0;
	return 0;
}

static int expand_fails(void *item, uint64_t i, void **out, void *context)
{
	return -EDOM;
}

static struct weir_flow *one_and_no_end(void)
{
	struct weir_flow *both[] = {weir_flow_single(NULL), weir_flow_never()};

	return weir_flow_concat(both, 2);
}

static int unfold_fails(void **state, void **item, void *context)
{
	return -EDOM;
}

static int fold_fails(void **result, void *item, void *context)
{
	return -EDOM;
}

static int take_n_fails(void *const *items, size_t n, size_t *done,
			void *context)
{
	return -EDOM;
}

static int fold_n_fails(void **result, void *const *items, size_t n,
			size_t *done, void *context)
{
	return -EDOM;
}

static int zip_fails(void *const *items, size_t n, void **result, void *context)
{
	return -EDOM;
}

static int recover_fails(struct weir_error *error, void **item, void *context)
{
	return -EDOM;
}

static int read_fails(void *resource, void **item, void *context)
{
	return -EDOM;
}

static int nothing_to_open(void **resource, void *context)
{
	return 0;
}

static void nothing_to_close(void *resource, void *context)
{
}

static int own_fails(struct weir_operator *op)
{
	return -EDOM;
}

static struct weir_flow *no_flow(void *item, void *context)
{
	return NULL;
}

static struct weir_flow *no_part(struct weir_flow *upstream, void *context)
{
	weir_flow_free(upstream);
	return NULL;
}

static struct weir_flow *no_group(struct weir_flow *upstream, uintptr_t key,
				  void *context)
{
	return no_part(upstream, context);
}

static struct weir_flow *no_tail(void *const *items, size_t n,
				 struct weir_flow *tail, void *context)
{
	return no_part(tail, context);
}

static struct weir_flow *no_source(void *context)
{
	return NULL;
}

static bool is_final(struct weir_error *error, void *context)
{
	return false;
}

static void assert_fails_at(struct weir_flow *flow, int code,
			    const char *origin, size_t unfused)
{
	struct weir_sim *own;

	assert_int_equal(weir_sim_new(&own, 1, NULL), 0);
	assert_fails(start_on(own, flow, unfused), code, origin);
	assert_int_equal(weir_sim_free(own), 0);
}

struct failing {
	const char *name;
	struct weir_flow *flow;
	int code; /* 0: -EDOM */
};

static void assert_each_fails(const struct failing *failing, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct weir_flow *flow = failing[i].flow;
		int code = failing[i].code ? failing[i].code : -EDOM;

		assert_fails_at(flow, code, failing[i].name, 0);
		assert_fails_at(flow, code, failing[i].name, 4);
		flow = weir_flow_name(flow, "mine");
		assert_fails_at(flow, code, "mine", 0);
		assert_fails_at(flow, code, "mine", 4);
		weir_flow_free(flow);
	}
}

static void an_error_has_the_name_of_the_operator_whose_function_fails(
	void **state)
{
	static const struct weir_flow_fold_functions folding = {
		.fold = fold_fails};
	static const struct weir_flow_stateful_map_functions stateful = {
		.step = unfold_fails};
	static const struct weir_flow_resource_functions access = {
		nothing_to_open, read_fails, nothing_to_close};
	static const struct weir_flow_conflate_functions conflation = {
		map_fails, fold_fails};
	static const struct weir_flow_intersperse_functions between = {
		.between = map_fails};
	static const struct weir_operator_ops own = {.on_pull = own_fails};
	static const struct weir_flow_restart_options once = {
		.restart_on = is_final,
	};
	static const struct weir_flow_window_options pairs = {.n = 2};
	struct weir_flow *two[] = {nine(), nine()};
	const struct failing failing[] = {
		{"unfold", weir_flow_unfold(NULL, unfold_fails, NULL)},
		{"resource", weir_flow_resource(&access, NULL)},
		{"map", weir_flow_map(nine(), map_fails, NULL)},
		{"map_n", weir_flow_map_n(nine(), map_n_fails, NULL)},
		{"index", weir_flow_index(nine(), index_fails, NULL)},
		{"filter", weir_flow_filter(nine(), ask_fails, NULL)},
		{"filter_map", weir_flow_filter_map(nine(), map_fails, NULL)},
		{"distinct_until_changed",
		 weir_flow_distinct_until_changed(nine(), key_fails, NULL)},
		{"distinct",
		 weir_flow_distinct(nine(), 2, key_fails, NULL, NULL)},
		{"intersperse", weir_flow_intersperse(nine(), &between, NULL)},
		{"take_while",
		 weir_flow_take_while(nine(), ask_fails, NULL, false)},
		{"drop_while", weir_flow_drop_while(nine(), ask_fails, NULL)},
		{"map_concat",
		 weir_flow_map_concat(nine(), expand_fails, NULL)},
		{"stateful_map",
		 weir_flow_stateful_map(nine(), &stateful, NULL)},
		{"for_each", weir_flow_for_each(nine(), ask_fails, NULL)},
		{"for_each_n",
		 weir_flow_for_each_n(nine(), take_n_fails, NULL)},
		{"fold", weir_flow_fold(nine(), &folding, NULL)},
		{"fold_n", weir_flow_fold_n(nine(), fold_n_fails, NULL)},
		{"reduce", weir_flow_reduce(nine(), fold_fails, NULL)},
		{"scan", weir_flow_scan(nine(), &folding, NULL)},
		{"map_parallel",
		 weir_flow_map_parallel(nine(), 2, WEIR_ORDER_KEPT, map_fails,
					NULL, NULL)},
		{"map_parallel_partitioned",
		 weir_flow_map_parallel_partitioned(nine(), 2, key_fails, NULL,
						    map_fails, NULL, NULL)},
		{"flat_map", weir_flow_flat_map(nine(), 1, no_flow, NULL),
		 -EINVAL},
		{"flat_map_ordered",
		 weir_flow_flat_map_ordered(nine(), 1, 1, no_flow, NULL),
		 -EINVAL},
		{"delay_until", weir_flow_delay_until(nine(), no_flow, NULL),
		 -EINVAL},
		{"switch_map", weir_flow_switch_map(nine(), no_flow, NULL),
		 -EINVAL},
		{"group_by", weir_flow_group_by(nine(), 9, key_fails, no_group,
						NULL, NULL)},
		{"group_by",
		 weir_flow_group_by(nine(), 9, no_key, no_group, NULL, NULL),
		 -EINVAL},
		{"split_when",
		 weir_flow_split_when(nine(), ask_fails, no_part, NULL)},
		{"split_after",
		 weir_flow_split_after(nine(), ask_fails, no_part, NULL)},
		{"window", weir_flow_window(nine(), &pairs, no_part, NULL),
		 -EINVAL},
		{"window_by",
		 weir_flow_window_by(nine(), weir_flow_never(), no_part, NULL),
		 -EINVAL},
		{"prefix_and_tail",
		 weir_flow_prefix_and_tail(nine(), 2, no_tail, NULL), -EINVAL},
		{"restart", weir_flow_restart(no_source, NULL, &once), -EINVAL},
		{"restart_around",
		 weir_flow_restart_around(nine(), no_part, NULL, &once),
		 -EINVAL},
		{"conflate", weir_flow_conflate(nine(), &conflation, NULL)},
		{"keep_alive",
		 weir_flow_keep_alive(weir_flow_never(), 1, map_fails, NULL)},
		{"extrapolate",
		 weir_flow_extrapolate(one_and_no_end(), expand_fails, NULL)},
		{"batch", weir_flow_batch(nine(), 2, &conflation, NULL)},
		{"zip", weir_flow_zip(two, 2, zip_fails, NULL)},
		{"recover", weir_flow_recover(weir_flow_fail(-EIO, "up"),
					      recover_fails, NULL)},
		{"operator", weir_flow_operator(nine(), &own, NULL)},
		{"operator", weir_flow_operator_source(&own, NULL)},
	};

	assert_each_fails(failing, sizeof(failing) / sizeof(*failing));
}

static int each_its_own(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)item;
	return 0;
}

static struct weir_flow *all_of_it(struct weir_flow *upstream, uintptr_t key,
				   void *context)
{
	return upstream;
}

/* One block of these two bytes: a length in front, or no delimiter behind. */
static int to_bytes(void **item, void *context)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, 2, NULL), 0);
	memcpy(bytes->data, "\t.", 2);
	*item = bytes;
	return 0;
}

static struct weir_flow *block(void)
{
	struct weir_flow *flow = weir_flow_single(NULL);

	return weir_flow_items(weir_flow_map(flow, to_bytes, NULL),
			       weir_flow_bytes_items());
}

static void or_that_finds_what_must_not_be(void **state)
{
	static const struct weir_flow_rate rate = {
		.n = 1, .per_ns = 1000, .how = WEIR_FLOW_THROTTLE_ENFORCE};
	static const struct weir_flow_delay_options few = {
		.delay_ns = 1, .n = 2, .overflow = WEIR_OVERFLOW_FAIL};
	const struct failing failing[] = {
		{"fail", weir_flow_fail(-EIO, "as told"), -EIO},
		{"limit", weir_flow_limit(nine(), 2), -EMSGSIZE},
		{"collect", weir_flow_collect(nine(), 2), -EMSGSIZE},
		{"reduce",
		 weir_flow_reduce(weir_flow_empty(), fold_fails, NULL),
		 -ENODATA},
		{"throttle", weir_flow_throttle(nine(), &rate), -EBUSY},
		{"delay_with", weir_flow_delay_with(nine(), &few), -EOVERFLOW},
		{"idle_timeout", weir_flow_idle_timeout(weir_flow_never(), 9),
		 -ETIMEDOUT},
		{"initial_timeout",
		 weir_flow_initial_timeout(weir_flow_never(), 9), -ETIMEDOUT},
		{"completion_timeout",
		 weir_flow_completion_timeout(weir_flow_never(), 9),
		 -ETIMEDOUT},
		{"read", weir_flow_read(1 << 20, 64), -EBADF},
		{"read_file", weir_flow_read_file("/nowhere", 64), -ENOENT},
		{"tail", weir_flow_tail("/no/such/file", NULL), -ENOENT},
		{"fd", weir_flow_fd(1 << 20, 1), -EBADF},
		{"write", weir_flow_write(block(), 1 << 20), -EBADF},
		{"write_file",
		 weir_flow_write_file(block(), "/no/such/file", 0), -ENOENT},
		{"delimited",
		 weir_flow_delimited(block(), "\n", 1, 9,
				     WEIR_FLOW_REMAINDER_FAIL),
		 -EPROTO},
		{"delimited",
		 weir_flow_delimited(block(), "\n", 1, 1,
				     WEIR_FLOW_REMAINDER_EMIT),
		 -EMSGSIZE},
		{"length_prefixed",
		 weir_flow_length_prefixed(block(), 1, WEIR_FLOW_BYTE_ORDER_BIG,
					   8),
		 -EMSGSIZE},
		{"length_prefixed",
		 weir_flow_length_prefixed(block(), 1, WEIR_FLOW_BYTE_ORDER_BIG,
					   9),
		 -EPROTO},
		{"length_field",
		 weir_flow_length_field(block(), 1, WEIR_FLOW_BYTE_ORDER_BIG, 9,
					NULL),
		 -EMSGSIZE},
		{"json_objects", weir_flow_json_objects(block(), 9), -EBADMSG},
		{"group_by",
		 weir_flow_group_by(nine(), 1, each_its_own, all_of_it, NULL,
				    NULL),
		 -EMFILE},
		{"lines",
		 weir_flow_lines(weir_flow_read_file("/dev/zero", 64), 9),
		 -EMSGSIZE},
	};

	assert_each_fails(failing, sizeof(failing) / sizeof(*failing));
}

static void a_queue_that_overflows_has_a_name(void **state)
{
	struct weir_flow_queue *queue;
	struct weir_flow *flow;

	assert_int_equal(
		weir_flow_queue_new(&queue, 1, WEIR_OVERFLOW_FAIL, NULL), 0);
	flow = weir_flow_from_queue(queue);
	assert_int_equal(weir_flow_queue_offer(queue, NULL), 0);
	assert_int_equal(weir_flow_queue_offer(queue, NULL), -EOVERFLOW);
	assert_fails_at(flow, -EOVERFLOW, "from_queue", 0);
	weir_flow_free(flow);
	weir_flow_queue_free(queue);
}

/* --- Fans ----------------------------------------------------------------- */

static int choose_fails(void *item, size_t *outlet, void *context)
{
	return -EDOM;
}

static int choose_too_far(void *item, size_t *outlet, void *context)
{
	*outlet = 2;
	return 0;
}

static int select_fails(void *item, size_t outlet, void *context)
{
	return -EDOM;
}

static int share_fails(void *item, void *context)
{
	return -ENOBUFS;
}

/* Takes over its outlets. */
static void assert_fan_fails(struct weir_flow **outlets, int code,
			     const char *name)
{
	struct weir_flow *flow = weir_flow_merge(outlets, 2);

	assert_fails_at(flow, code, name, 0);
	assert_fails_at(flow, code, name, 4);
	weir_flow_free(flow);
}

static void a_fan_that_fails_to_deal_has_a_name(void **state)
{
	static const struct weir_flow_fan_options selected = {
		.select = select_fails};
	static const struct weir_items unshared = {.share = share_fails};
	struct weir_flow *outlets[2];

	(void)weir_flow_partition(nine(), 2, choose_fails, NULL, outlets, NULL);
	assert_fan_fails(outlets, -EDOM, "partition");
	(void)weir_flow_partition(nine(), 2, choose_too_far, NULL, outlets,
				  NULL);
	assert_fan_fails(outlets, -ERANGE, "partition");
	(void)weir_flow_broadcast(nine(), 2, outlets, &selected);
	assert_fan_fails(outlets, -EDOM, "broadcast");
	(void)weir_flow_broadcast(weir_flow_items(nine(), &unshared), 2,
				  outlets, NULL);
	assert_fan_fails(outlets, -ENOBUFS, "broadcast");
}

static void an_error_keeps_its_name_on_its_way(void **state)
{
	struct weir_flow *flow = failing_map();

	flow = weir_flow_name(weir_flow_async(flow, 4, NULL), "boundary");
	flow = weir_flow_name(weir_flow_take(flow, 5), "below");
	assert_fails_at(flow, -EDOM, "map", 0);
	assert_fails_at(flow, -EDOM, "map", 4);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_error_has_the_name_of_the_operator_whose_function_fails),
		cmocka_unit_test(or_that_finds_what_must_not_be),
		cmocka_unit_test(a_queue_that_overflows_has_a_name),
		cmocka_unit_test(a_fan_that_fails_to_deal_has_a_name),
		cmocka_unit_test(an_error_keeps_its_name_on_its_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
