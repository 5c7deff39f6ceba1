/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators of the user's with several inputs. */
#include "flow/fan_kit.h"
#include "flow/memory_kit.h"
#include "flow/world.h"

static struct weir_flow *own_of(struct weir_flow *first,
				struct weir_flow *second,
				const struct weir_operator_ops *ops,
				void *context)
{
	struct weir_flow *flows[] = {first, second};

	return weir_flow_same_items(
		weir_flow_operator_inputs(flows, 2, ops, context));
}

#define ASSERT_OUT_OF(flow, code, ...) \
	do { \
		static const intptr_t expected_[] = {__VA_ARGS__}; \
\
		assert_flow(flow, true, expected_, \
			    sizeof(expected_) / sizeof(*expected_), code); \
	} while (0)

static const struct weir_operator_ops nothing = {.name = "nothing"};

/* --- Which input ---------------------------------------------------------- */

/* 1 of input 0, 1 of input 1, 2 of input 0, ...: who ends first ends it. */
static int turn_pull(struct weir_operator *op)
{
	const size_t *turn = weir_operator_state(op);

	assert_int_equal(weir_operator_input(op), 0);
	return weir_operator_ended(op, *turn)
		       ? weir_operator_end(op, NULL)
		       : weir_operator_pull_input(op, *turn);
}

static int turn_push(struct weir_operator *op, void *item)
{
	size_t *turn = weir_operator_state(op);

	assert_int_equal(weir_operator_input(op), *turn);
	*turn = 1 - *turn;
	return weir_operator_push(op, item);
}

static int end_with_turn(struct weir_operator *op, struct weir_error *error)
{
	const size_t *turn = weir_operator_state(op);

	return weir_operator_input(op) == *turn || error
		       ? weir_operator_end(op, error)
		       : 0;
}

static const struct weir_operator_ops turns = {
	.state_size = sizeof(size_t),
	.on_pull = turn_pull,
	.on_push = turn_push,
	.on_end = end_with_turn,
};

static void it_pulls_the_input_that_it_wants(void **state)
{
	ASSERT_FLOW(own_of(weir_flow_range(1, 3), weir_flow_range(11, 14),
			   &turns, NULL),
		    0, 1, 11, 2, 12, 3, 13);
	ASSERT_FLOW(own_of(weir_flow_range(1, 3), weir_flow_range(11, 11),
			   &turns, NULL),
		    0, 1, 11, 2);
	ASSERT_FLOW(own_of(weir_flow_async(weir_flow_range(1, 2), 1, NULL),
			   weir_flow_async(weir_flow_range(11, 12), 1, NULL),
			   &turns, NULL),
		    0, 1, 11, 2, 12);
	assert_cancel(own_of(counted(weir_flow_range(1, 9)),
			     counted(weir_flow_range(11, 19)), &turns, NULL));
}

static int add(void **result, void *item, void *context)
{
	*(intptr_t *)result += (intptr_t)item;
	return 0;
}

static void one_without_functions_is_a_merge(void **state)
{
	static const struct weir_flow_fold_functions sum = {.fold = add};
	struct weir_flow *flow;

	ASSERT_FLOW(own_of(weir_flow_range(1, 3), weir_flow_empty(), &nothing,
			   NULL),
		    0, 1, 2, 3);
	flow = own_of(weir_flow_range(1, 100), weir_flow_range(101, 200),
		      &nothing, NULL);
	ASSERT_FLOW(weir_flow_fold(flow, &sum, NULL), 0, 20100);
	flow = own_of(weir_flow_empty(), weir_flow_fail(-EIO, "second"),
		      &nothing, NULL);
	ASSERT_FLOW(flow, -EIO);
	flow = own_of(weir_flow_fail(-EIO, "first"), weir_flow_never(),
		      &nothing, NULL);
	ASSERT_FLOW(flow, -EIO);
}

/* All that have an item, one after the other. */
static int log_input(struct weir_operator *op, void *item)
{
	char *log = weir_operator_context(op);

	log[strlen(log)] = (char)('0' + weir_operator_input(op));
	return weir_operator_push(op, item);
}

static void inputs_that_have_items_take_turns(void **state)
{
	static const struct weir_operator_ops ops = {.on_push = log_input};
	struct weir_flow *flows[3];
	char log[16] = "";
	struct got got = {.n = 0};
	struct weir_flow *flow;
	int i;

	for (i = 0; i < 3; i++)
		flows[i] = weir_flow_range(0, INT64_MAX);
	flow = weir_flow_operator_inputs(flows, 3, &ops, log);
	flow = into(weir_flow_take(flow, 9), &got);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_string_equal(log, "012012012");
}

static int drop_it(struct weir_operator *op, void *item)
{
	weir_operator_drop_input(op, weir_operator_input(op), item);
	return weir_operator_pull_input(op, weir_operator_input(op));
}

static void each_item_is_dropped_as_its_input_says(void **state)
{
	static const struct weir_operator_ops drops = {
		.on_push = drop_it,
	};
	struct weir_flow *flows[] = {weir_flow_range(1, 5),
				     counted(weir_flow_range(1, 5))};

	assert_flow(weir_flow_items(weir_flow_operator_inputs(flows, 2, &drops,
							      NULL),
				    NULL),
		    false, NULL, 0, 0);
}

/* --- What it waits for ---------------------------------------------------- */

/* Input 0 is the queue of the world; what is told is noted. */
struct waiting {
	struct weir_operator *op;
	bool both; /* pulls both at once */
	int ends[2], codes[2], items[2];
};

static int waiting_open(struct weir_operator *op)
{
	struct waiting *self = weir_operator_context(op);

	self->op = op;
	return 0;
}

static int waiting_pull(struct weir_operator *op)
{
	const struct waiting *self = weir_operator_context(op);
	int rc = weir_operator_pull_input(op, 0);

	assert_true(rc == 0 || rc == -EALREADY || rc == -EPIPE);
	if (self->both)
		rc = weir_operator_pull_input(op, 1);
	return 0;
}

static int waiting_push(struct weir_operator *op, void *item)
{
	struct waiting *self = weir_operator_context(op);

	self->items[weir_operator_input(op)]++;
	return weir_operator_push(op, item);
}

static int waiting_end(struct weir_operator *op, struct weir_error *error)
{
	struct waiting *self = weir_operator_context(op);
	size_t i = weir_operator_input(op);

	self->ends[i]++;
	self->codes[i] = error ? error->code : 0;
	assert_true(weir_operator_ended(op, i));
	return self->ends[0] && self->ends[1] ? weir_operator_end(op, NULL) : 0;
}

static int pull_second(struct weir_operator *op)
{
	assert_true(weir_operator_available(op, 1));
	return weir_operator_pull_input(op, 1);
}

static const struct weir_operator_ops waits = {
	.open = waiting_open,
	.on_pull = waiting_pull,
	.on_push = waiting_push,
	.on_end = waiting_end,
	.on_wake = pull_second,
};

static struct flow_world *begin_waiting(struct waiting *self,
					struct weir_flow *second, bool async,
					size_t open)
{
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	if (async)
		world.flow = weir_flow_async(world.flow, 2, NULL);
	world.flow = own_of(world.flow, second, &waits, self);
	world_start(&world, open);
	until(&world, 1 * MS);
	return &world;
}

/* Its link is full all the time: until() finds one that goes round in circles. */
static void an_input_that_is_not_pulled_is_not_waited_for(void **state)
{
	struct weir_flow *second =
		weir_flow_async(counted(weir_flow_range(11, 99)), 4, NULL);
	struct waiting self = {0};
	struct flow_world *world = begin_waiting(&self, second, true, OPEN);

	flow_offer(world, 1, 2);
	until(world, 2 * MS);
	ASSERT_OUT(world, 1, 2);
	weir_operator_wake(self.op);
	until(world, 3 * MS);
	ASSERT_OUT(world, 1, 2, 11);
	flow_offer(world, 3, 3);
	until(world, 4 * MS);
	ASSERT_OUT(world, 1, 2, 11, 3);
	weir_flow_run_stop(world->run, NULL);
	flow_world_end(world, -ECANCELED);
}

/* Both are pulled, and stay so: an item of any brings it on. */
static void any_input_that_was_pulled_brings_it_on(void **state)
{
	struct tap tap = {0};
	struct waiting self = {.both = true};
	struct weir_flow *second =
		weir_flow_async(counted(tap_flow(&tap)), 4, NULL);
	struct flow_world *world = begin_waiting(&self, second, true, OPEN);

	tap_give(&tap, 11, 12);
	until(world, 2 * MS);
	ASSERT_OUT(world, 11, 12);
	flow_offer(world, 1, 2);
	until(world, 3 * MS);
	ASSERT_OUT(world, 11, 12, 1, 2);
	tap_give(&tap, 13, 13);
	until(world, 4 * MS);
	tap_end(&tap, 0);
	until(world, 5 * MS);
	assert_int_equal(self.ends[1], 1);
	flow_offer(world, 3, 3);
	flow_world_end(world, 0);
	ASSERT_OUT(world, 11, 12, 1, 2, 13, 3);
}

static void the_end_of_an_input_that_is_not_pulled_is_told(void **state)
{
	static const int codes[] = {0, -EPROTO};
	struct waiting self;
	struct flow_world *world;
	struct weir_flow *second;
	struct tap tap;
	int i;

	for (i = 0; i < 8; i++) {
		tap = (struct tap){0};
		self = (struct waiting){0};
		second = counted(tap_flow(&tap));
		if (i & 4)
			second = weir_flow_async(second, 4, NULL);
		/* and where nothing is wanted */
		world = begin_waiting(&self, second, i & 4, i & 2 ? OPEN : 0);
		assert_int_equal(self.ends[1], 0);
		tap_end(&tap, codes[i % 2]);
		until(world, 2 * MS);
		assert_int_equal(self.ends[1], 1);
		assert_int_equal(self.codes[1], codes[i % 2]);
		flow_offer(world, 1, 1);
		let_pass(world, OPEN);
		flow_world_end(world, 0);
		assert_int_equal(self.ends[0], 1);
		ASSERT_OUT(world, 1);
	}
}

/* --- Cancelling one ------------------------------------------------------- */

struct chosen {
	bool at_once;
	int ends;
};

static int chosen_open(struct weir_operator *op)
{
	const struct chosen *self = weir_operator_context(op);

	if (!self->at_once)
		return 0;
	assert_int_equal(weir_operator_pull_input(op, 0), 0);
	assert_int_equal(weir_operator_cancel_input(op, 0), 0);
	assert_int_equal(weir_operator_pull_input(op, 0), -EPIPE);
	return 0;
}

/* The first item of any: the others are not wanted. */
static int chosen_push(struct weir_operator *op, void *item)
{
	size_t other = 1 - weir_operator_input(op);
	int rc = weir_operator_cancel_input(op, other);

	assert_true(rc == 0 || rc == -EALREADY);
	assert_true(weir_operator_ended(op, other));
	assert_false(weir_operator_available(op, other));
	assert_int_equal(weir_operator_cancel_input(op, other), -EALREADY);
	assert_int_equal(weir_operator_pull_input(op, other), -EPIPE);
	return weir_operator_push(op, item);
}

static int chosen_end(struct weir_operator *op, struct weir_error *error)
{
	struct chosen *self = weir_operator_context(op);

	self->ends++;
	assert_int_equal(weir_operator_cancel_input(op,
						    weir_operator_input(op)),
			 -EALREADY);
	return weir_operator_end(op, error);
}

static const struct weir_operator_ops chosen = {
	.open = chosen_open,
	.on_push = chosen_push,
	.on_end = chosen_end,
};

static void an_input_that_is_cancelled_is_not_heard_of_again(void **state)
{
	struct chosen self = {false};
	struct weir_flow *flow;

	flow = own_of(counted(weir_flow_range(1, 3)),
		      counted(weir_flow_never()), &chosen, &self);
	ASSERT_OUT_OF(flow, 0, 1, 2, 3);
	assert_true(self.ends > 0);
	self = (struct chosen){.at_once = true};
	flow = own_of(counted(weir_flow_range(1, 3)),
		      counted(weir_flow_range(11, 12)), &chosen, &self);
	ASSERT_OUT_OF(flow, 0, 11, 12);
	flow = own_of(weir_flow_async(counted(weir_flow_range(1, 3)), 1, NULL),
		      weir_flow_async(counted(weir_flow_range(11, 12)), 1,
				      NULL),
		      &chosen, &self);
	ASSERT_OUT_OF(flow, 0, 11, 12);
}

/* --- Failures of items ---------------------------------------------------- */

struct failing {
	int opens, ends;
};

static int failing_open(struct weir_operator *op)
{
	struct failing *self = weir_operator_context(op);

	self->opens++;
	return 0;
}

static int fail_seven(struct weir_operator *op, void *item)
{
	if (((struct item *)item)->value != 7)
		return weir_operator_push(op, item);
	(void)weir_operator_cancel_input(op, 1 - weir_operator_input(op));
	return -EDOM;
}

static int failing_end(struct weir_operator *op, struct weir_error *error)
{
	struct failing *self = weir_operator_context(op);

	self->ends++;
	return weir_operator_ended(op, 0) && weir_operator_ended(op, 1)
		       ? weir_operator_end(op, error)
		       : 0;
}

static enum weir_directive as_told(struct weir_error *error, void *context)
{
	return *(enum weir_directive *)context;
}

/* Input 0 was told before, which is forgotten with the state. */
static void a_restart_tells_again_of_inputs_that_have_ended(void **state)
{
	static const struct weir_operator_ops ops = {
		.open = failing_open,
		.on_push = fail_seven,
		.on_end = failing_end,
	};
	static const enum weir_directive directives[] = {WEIR_DIRECTIVE_RESTART,
							 WEIR_DIRECTIVE_RESUME};
	enum weir_directive directive;
	struct failing self;
	struct weir_flow *flow;
	struct got got;
	int i;

	for (i = 0; i < 2; i++) {
		directive = directives[i];
		self = (struct failing){0};
		got = (struct got){.counted = true};
		flow = own_of(weir_flow_items(weir_flow_empty(),
					      &counted_items),
			      counted(weir_flow_range(6, 8)), &ops, &self);
		flow = weir_flow_supervise(flow, as_told, &directive);
		flow = into(flow, &got);
		assert_int_equal(run_on_sim(flow, 1, 0), 0);
		weir_flow_free(flow);
		assert_int_equal(got.n, 2);
		assert_int_equal(got.values[1], 8);
		assert_int_equal(self.opens, i == 0 ? 2 : 1);
		assert_int_equal(self.ends, i == 0 ? 3 : 2);
		assert_int_equal(n_live, 0);
	}
}

/* --- What is not right ---------------------------------------------------- */

static int bad_pull(struct weir_operator *op)
{
	assert_int_equal(weir_operator_pull_input(op, 2), -EINVAL);
	assert_int_equal(weir_operator_cancel_input(op, 2), -EINVAL);
	assert_false(weir_operator_available(op, 2));
	assert_true(weir_operator_ended(op, 2));
	(void)weir_operator_pull(op);
	assert_int_equal(weir_operator_pull_input(op, 0), -EALREADY);
	return 0;
}

static int bad_end(struct weir_operator *op, struct weir_error *error)
{
	size_t i = weir_operator_input(op);

	assert_int_equal(weir_operator_pull_input(op, i), -EPIPE);
	if (i == 1)
		return 0;
	assert_int_equal(weir_operator_end(op, error), 0);
	assert_int_equal(weir_operator_cancel_input(op, 1), -EALREADY);
	return 0;
}

static int source_pulls(struct weir_operator *op)
{
	assert_int_equal(weir_operator_pull_input(op, 0), -EINVAL);
	assert_int_equal(weir_operator_cancel_input(op, 0), -EINVAL);
	assert_true(weir_operator_ended(op, 0));
	return weir_operator_end(op, NULL);
}

static void a_call_that_is_not_right_says_so_and_changes_nothing(void **state)
{
	static const struct weir_operator_ops ops = {.on_pull = bad_pull,
						     .on_end = bad_end};
	static const struct weir_operator_ops source = {
		.on_pull = source_pulls};

	ASSERT_FLOW(own_of(weir_flow_range(1, 3), weir_flow_empty(), &ops,
			   NULL),
		    0, 1, 2, 3);
	assert_flow(weir_flow_operator_source(&source, NULL), false, NULL, 0,
		    0);
	assert_int_equal(weir_operator_pull_input(NULL, 0), -EINVAL);
	assert_int_equal(weir_operator_cancel_input(NULL, 0), -EINVAL);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	static const struct weir_operator_ops too_large = {
		.state_size = SIZE_MAX};
	static const struct weir_operator_ops ahead = {.ahead = true};
	struct weir_flow *none = weir_flow_range(1, 3);
	struct weir_flow *flows[] = {
		weir_flow_operator_inputs(NULL, 2, &nothing, NULL),
		weir_flow_operator_inputs(&none, 0, &nothing, NULL),
		own_of(weir_flow_range(1, 3), NULL, &nothing, NULL),
		own_of(weir_flow_range(1, 3), weir_flow_range(1, 3), NULL,
		       NULL),
		own_of(weir_flow_range(1, 3), weir_flow_range(1, 3), &too_large,
		       NULL),
		own_of(weir_flow_range(1, 3), weir_flow_range(1, 3), &ahead,
		       NULL),
	};

	weir_flow_free(none);
	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
	assert_misfit(
		weir_flow_operator_inputs(
			(struct weir_flow *[]){weir_flow_range(1, 3),
					       counted(weir_flow_range(1, 3))},
			2, &nothing, NULL),
		"nothing",
		"takes items without a name: say by weir_flow_items() what it "
		"emits, or by weir_flow_same_items() that it is the same");
}

/* --- Ahead ---------------------------------------------------------------- */

/* It adds up what both have given. */
struct total {
	intptr_t sum;
	bool any;
};

static int begin_both(struct weir_operator *op)
{
	assert_int_equal(weir_operator_pull_input(op, 0), 0);
	return weir_operator_pull_input(op, 1);
}

static int total_push(struct weir_operator *op, void *item)
{
	struct total *self = weir_operator_state(op);
	size_t i = weir_operator_input(op);

	self->sum += ((struct item *)item)->value;
	self->any = true;
	weir_operator_drop_input(op, i, item);
	return weir_operator_pull_input(op, i);
}

static int total_pull(struct weir_operator *op)
{
	struct total *self = weir_operator_state(op);

	if (!self->any)
		return 0;
	self->any = false;
	return weir_operator_push(op, item_new(self->sum));
}

static void one_of_several_inputs_may_run_ahead(void **state)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(struct total),
		.open = begin_both,
		.on_pull = total_pull,
		.on_push = total_push,
		.ahead = true,
	};
	static struct flow_world world;
	struct tap tap = {0};

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = own_of(world.flow,
			    weir_flow_async(counted(tap_flow(&tap)), 4, NULL),
			    &ops, NULL);
	world_start(&world, 0);
	until(&world, 1 * MS);
	flow_offer(&world, 1, 3);
	tap_give(&tap, 10, 19);
	until(&world, 2 * MS);
	assert_int_equal(n_live, 0);
	let_pass(&world, 1);
	ASSERT_OUT(&world, 151);
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
}

/* --- Memory --------------------------------------------------------------- */

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow =
		own_of(weir_flow_async(counted(weir_flow_range(1, 9)), 2, NULL),
		       own_of(counted(weir_flow_range(1, 5)),
			      counted(weir_flow_range(1, 5)), &turns, NULL),
		       &turns, NULL);

	flow = into(flow, &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_pulls_the_input_that_it_wants),
		cmocka_unit_test(one_without_functions_is_a_merge),
		cmocka_unit_test(inputs_that_have_items_take_turns),
		cmocka_unit_test(each_item_is_dropped_as_its_input_says),
		cmocka_unit_test(an_input_that_is_not_pulled_is_not_waited_for),
		cmocka_unit_test(any_input_that_was_pulled_brings_it_on),
		cmocka_unit_test(
			the_end_of_an_input_that_is_not_pulled_is_told),
		cmocka_unit_test(
			an_input_that_is_cancelled_is_not_heard_of_again),
		cmocka_unit_test(
			a_restart_tells_again_of_inputs_that_have_ended),
		cmocka_unit_test(
			a_call_that_is_not_right_says_so_and_changes_nothing),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
		cmocka_unit_test(one_of_several_inputs_may_run_ahead),
		cmocka_unit_test(without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
