/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators and sources of the user's: what they can do, and how they end. */
#include "flow/memory_kit.h"

static struct weir_flow *own(struct weir_flow *up,
			     const struct weir_operator_ops *ops)
{
	return weir_flow_same_items(weir_flow_operator(up, ops, NULL));
}

#define ASSERT_OUT_OF(flow, code, ...) \
	do { \
		static const intptr_t expected_[] = {__VA_ARGS__}; \
\
		assert_flow(flow, true, expected_, \
			    sizeof(expected_) / sizeof(*expected_), code); \
	} while (0)

/* --- Operators as users write them -------------------------------------------- */

/* Nothing but a name: passes on. */
static const struct weir_operator_ops nothing = {.name = "nothing"};

static int keep_even(struct weir_operator *op, void *item)
{
	if (((struct item *)item)->value % 2 == 0)
		return weir_operator_push(op, item);
	weir_operator_drop(op, item);
	return weir_operator_pull(op);
}

static const struct weir_operator_ops filter = {.on_push = keep_even};

/* Each item twice: the second when one more is wanted. */
struct twice {
	struct item *again;
	bool ended;
};

static int twice_pull(struct weir_operator *op)
{
	struct twice *self = weir_operator_state(op);
	struct item *item = self->again;
	int rc;

	if (!item)
		return weir_operator_pull(op);
	self->again = NULL;
	rc = weir_operator_push(op, item);
	return self->ended ? weir_operator_end(op, NULL) : rc;
}

static int twice_push(struct weir_operator *op, void *item)
{
	struct twice *self = weir_operator_state(op);

	(void)item_share(item, NULL);
	self->again = item;
	return weir_operator_push(op, item);
}

static int twice_end(struct weir_operator *op, struct weir_error *error)
{
	struct twice *self = weir_operator_state(op);

	self->ended = true;
	return self->again && !error ? 0 : weir_operator_end(op, error);
}

static void twice_close(struct weir_operator *op)
{
	struct twice *self = weir_operator_state(op);

	if (self->again)
		weir_operator_drop(op, self->again);
}

static const struct weir_operator_ops twice = {
	.name = "twice",
	.state_size = sizeof(struct twice),
	.on_pull = twice_pull,
	.on_push = twice_push,
	.on_end = twice_end,
	.close = twice_close,
};

/* 1, 2, ... 5; the state is of the run. */
static int count_pull(struct weir_operator *op)
{
	intptr_t *last = weir_operator_state(op);

	assert_int_equal(weir_operator_push(op, item_new(++*last)), 0);
	return *last == 5 ? weir_operator_end(op, NULL) : 0;
}

static const struct weir_operator_ops count = {
	.state_size = sizeof(intptr_t),
	.on_pull = count_pull,
};

static struct weir_flow *count_source(void)
{
	return weir_flow_items(weir_flow_operator_source(&count, NULL),
			       &counted_items);
}

static void one_without_functions_passes_on(void **state)
{
	ASSERT_OUT_OF(own(counted(weir_flow_range(1, 4)), &nothing), 0, 1, 2, 3,
		      4);
	assert_flow(own(counted(weir_flow_fail(-EIO, "up")), &nothing), true,
		    NULL, 0, -EIO);
}

static void an_item_may_be_left_out(void **state)
{
	ASSERT_OUT_OF(own(counted(weir_flow_range(1, 7)), &filter), 0, 2, 4, 6);
}

static void an_item_may_become_several(void **state)
{
	struct weir_flow *flow = counted(weir_flow_range(1, 3));

	ASSERT_OUT_OF(own(flow, &twice), 0, 1, 1, 2, 2, 3, 3);
	flow = own(own(counted(weir_flow_range(1, 2)), &twice), &twice);
	ASSERT_OUT_OF(weir_flow_take(flow, 5), 0, 1, 1, 1, 1, 2);
}

static void a_source_begins_anew_in_each_run(void **state)
{
	ASSERT_OUT_OF(count_source(), 0, 1, 2, 3, 4, 5);
	ASSERT_OUT_OF(own(count_source(), &filter), 0, 2, 4);
}

static struct weir_flow *count_twice(void *item, void *context)
{
	item_drop(item, NULL);
	return weir_flow_take(own(count_source(), &twice), 3);
}

static void they_may_stand_in_a_flow_inside_of_another(void **state)
{
	struct weir_flow *flow = counted(weir_flow_range(1, 2));

	flow = weir_flow_flat_map(flow, 1, count_twice, NULL);
	flow = own(weir_flow_items(flow, &counted_items), &nothing);
	ASSERT_OUT_OF(flow, 0, 1, 1, 2, 1, 1, 2);
}

/* --- What is not right --------------------------------------------------------------- */

static int bad_open(struct weir_operator *op)
{
	int here;

	assert_false(weir_operator_wanted(op));
	assert_int_equal(weir_operator_push(op, &here), -EAGAIN);
	assert_int_equal(weir_operator_pull(op), 0);
	assert_int_equal(weir_operator_pull(op), -EALREADY);
	return 0;
}

static int bad_pull(struct weir_operator *op)
{
	assert_true(weir_operator_wanted(op));
	return weir_operator_pull(op) == -EALREADY ? 0 : -EINVAL;
}

static int bad_push(struct weir_operator *op, void *item)
{
	struct item *more = item_new(99);

	assert_int_equal(weir_operator_pull(op), 0);
	assert_int_equal(weir_operator_pull(op), -EALREADY);
	assert_int_equal(weir_operator_push(op, item), 0);
	assert_false(weir_operator_wanted(op));
	assert_int_equal(weir_operator_push(op, more), -EAGAIN);
	item_drop(more, NULL);
	assert_int_equal(weir_operator_fail(op, 0, "no error"), -EINVAL);
	return 0;
}

static int bad_end(struct weir_operator *op, struct weir_error *error)
{
	assert_int_equal(weir_operator_pull(op), -EPIPE);
	assert_int_equal(weir_operator_end(op, error), 0);
	assert_int_equal(weir_operator_end(op, NULL), -EALREADY);
	assert_int_equal(weir_operator_fail(op, -EIO, "late"), -EALREADY);
	assert_int_equal(weir_operator_pull(op), -EPIPE);
	assert_int_equal(weir_operator_push(op, op), -EPIPE);
	return -EDOM; /* it has ended */
}

static void bad_close(struct weir_operator *op)
{
	assert_int_equal(weir_operator_push(op, op), -EPIPE);
	assert_int_equal(weir_operator_pull(op), -EPIPE);
	assert_int_equal(weir_operator_end(op, NULL), -EALREADY);
}

static void a_call_that_is_not_right_says_so_and_changes_nothing(void **state)
{
	static const struct weir_operator_ops ops = {
		.open = bad_open,
		.close = bad_close,
		.on_pull = bad_pull,
		.on_push = bad_push,
		.on_end = bad_end,
	};

	struct weir_flow *flow = counted(weir_flow_range(1, 3));

	ASSERT_OUT_OF(own(flow, &ops), 0, 1, 2, 3);
	/* also when it is cancelled */
	flow = own(counted(weir_flow_range(1, 3)), &ops);
	ASSERT_OUT_OF(weir_flow_take(flow, 2), 0, 1, 2);
}

static int source_pulls(struct weir_operator *op)
{
	return weir_operator_pull(op);
}

static void a_source_has_nothing_to_pull(void **state)
{
	static const struct weir_operator_ops ops = {.on_pull = source_pulls};

	assert_flow(weir_flow_operator_source(&ops, NULL), false, NULL, 0,
		    -EPIPE);
	assert_int_equal(weir_operator_pull(NULL), -EINVAL);
	assert_int_equal(weir_operator_push(NULL, NULL), -EINVAL);
	assert_int_equal(weir_operator_end(NULL, NULL), -EINVAL);
	assert_int_equal(weir_operator_fail(NULL, -EIO, NULL), -EINVAL);
}

static void bad_tables_make_a_failed_flow(void **state)
{
	static const struct weir_operator_ops too_large = {
		.state_size = SIZE_MAX, .on_pull = count_pull};
	static const struct weir_operator_ops pushed = {.on_pull = count_pull,
							.on_push = keep_even};
	struct weir_flow *flows[] = {
		weir_flow_operator(weir_flow_range(1, 3), NULL, NULL),
		weir_flow_operator(NULL, &nothing, NULL),
		weir_flow_operator(weir_flow_range(1, 3), &too_large, NULL),
		weir_flow_operator_source(NULL, NULL),
		weir_flow_operator_source(&nothing, NULL),
		weir_flow_operator_source(&too_large, NULL),
		weir_flow_operator_source(&pushed, NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

static int opens_oddly(struct weir_operator *op)
{
	return 1;
}

static void what_open_must_not_return_is_an_error(void **state)
{
	static const struct weir_operator_ops ops = {.open = opens_oddly};

	assert_flow(own(weir_flow_range(1, 3), &ops), false, NULL, 0, -EINVAL);
}

/* --- Memory --------------------------------------------------------------------------- */

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow = count_source();

	flow = own(weir_flow_async(own(flow, &twice), 2, NULL), &filter);
	flow = into(flow, &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static int fails_twice(struct weir_operator *op)
{
	assert_int_equal(weir_operator_fail(op, -EPROTO, "the first"), 0);
	return -EIO;
}

static void an_open_that_fails_leaves_no_error_behind(void **state)
{
	static const struct weir_operator_ops ops = {.open = fails_twice};
	static struct got got;
	struct weir_flow *flow = into(own(weir_flow_range(1, 3), &ops), &got);

	(void)assert_short_of_memory(flow, &got, -EIO);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_without_functions_passes_on),
		cmocka_unit_test(an_item_may_be_left_out),
		cmocka_unit_test(an_item_may_become_several),
		cmocka_unit_test(a_source_begins_anew_in_each_run),
		cmocka_unit_test(they_may_stand_in_a_flow_inside_of_another),
		cmocka_unit_test(
			a_call_that_is_not_right_says_so_and_changes_nothing),
		cmocka_unit_test(a_source_has_nothing_to_pull),
		cmocka_unit_test(bad_tables_make_a_failed_flow),
		cmocka_unit_test(what_open_must_not_return_is_an_error),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(an_open_that_fails_leaves_no_error_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
