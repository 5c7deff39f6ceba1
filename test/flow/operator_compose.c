/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What others compose operators of their own with: a context that is copied,
 * items that are refused, failed flows, and the executor's memory.
 */
#include "flow/world.h"

/* --- A context that is copied --------------------------------------------- */

struct settings {
	intptr_t add;
	char words[300];
};

static int add(struct weir_operator *op, void *item)
{
	const struct settings *settings = weir_operator_context(op);

	assert_string_equal(settings->words, "as they were");
	return weir_operator_push(op, (void *)((intptr_t)item + settings->add));
}

static const struct weir_operator_ops adder = {
	.name = "adder",
	.context_size = sizeof(struct settings),
	.on_push = add,
};

static struct weir_flow *add_to(struct weir_flow *flow, intptr_t n,
				const struct weir_operator_ops *ops)
{
	struct settings settings = {.add = n};

	strcpy(settings.words, "as they were");
	flow = weir_flow_operator(flow, ops, &settings);
	memset(&settings, 0xff, sizeof(settings));
	return flow;
}

static void a_context_may_be_copied(void **state)
{
	ASSERT_FLOW(add_to(add_to(weir_flow_range(1, 3), 10, &adder), 100,
			   &adder),
		    0, 111, 112, 113);
}

static int push_settings(struct weir_operator *op)
{
	const struct settings *settings = weir_operator_context(op);
	int rc = weir_operator_push(op, (void *)settings->add);

	return rc < 0 ? rc : weir_operator_end(op, NULL);
}

static void a_source_s_context_too(void **state)
{
	struct weir_operator_ops ops = {
		.context_size = sizeof(struct settings),
		.on_pull = push_settings,
	};
	struct settings settings = {.add = 7};
	struct weir_flow *flow = weir_flow_operator_source(&ops, &settings);

	settings.add = 8;
	ASSERT_FLOW(flow, 0, 7);
}

static int push_all(struct weir_operator *op, void *item)
{
	const struct settings *settings = weir_operator_context(op);

	return weir_operator_push_outlet(
		op, 0, (void *)((intptr_t)item + settings->add));
}

static void that_of_outlets_too(void **state)
{
	struct weir_operator_ops ops = {
		.context_size = sizeof(struct settings),
		.on_push = push_all,
	};
	struct settings settings = {.add = 7};
	struct weir_flow *flow = weir_flow_range(1, 3), *outlet;

	assert_int_equal(weir_flow_operator_outlets(&flow, 1, &ops, &settings,
						    1, &outlet, NULL),
			 0);
	settings.add = 8;
	ASSERT_FLOW(outlet, 0, 8, 9, 10);
}

static void a_context_that_is_none_is_refused(void **state)
{
	struct weir_operator_ops huge = adder;
	struct weir_flow *up = weir_flow_range(1, 3), *outlet;
	struct weir_flow *flows[] = {
		weir_flow_operator(weir_flow_range(1, 3), &adder, NULL),
		weir_flow_operator_inputs(&up, 1, &adder, NULL),
		NULL,
		NULL,
	};
	int context = 0;

	huge.context_size = SIZE_MAX;
	flows[2] = weir_flow_operator(weir_flow_range(1, 3), &huge, &context);
	up = weir_flow_range(1, 3);
	assert_int_equal(weir_flow_operator_outlets(&up, 1, &adder, NULL, 1,
						    &outlet, NULL),
			 -EINVAL);
	flows[3] = outlet;
	assert_refused_all(flows, 4);
}

/* --- Items ------------------------------------------------------------------ */

static int length_of(struct weir_operator *op, void *item)
{
	struct weir_flow_bytes *bytes = item;
	size_t n = bytes->n;

	weir_operator_drop(op, item);
	return weir_operator_push(op, (void *)n);
}

static struct weir_operator_ops lengths(void)
{
	return (struct weir_operator_ops){
		.name = "lengths",
		.on_push = length_of,
		.takes = weir_flow_bytes_items(),
	};
}

static int make_bytes(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;

	if (*state)
		return 0;
	*state = context;
	assert_int_equal(weir_flow_bytes_new(&bytes, 3, NULL), 0);
	*item = bytes;
	return 1;
}

static struct weir_flow *bytes_as(const struct weir_items *items)
{
	static int once;

	return weir_flow_items(weir_flow_unfold(NULL, make_bytes, &once),
			       items);
}

static struct weir_flow *lengths_of(struct weir_flow *flow)
{
	const struct weir_operator_ops ops = lengths();

	return weir_flow_items(weir_flow_operator(flow, &ops, NULL), NULL);
}

static void items_that_it_takes_may_come(void **state)
{
	struct weir_items mine = *weir_flow_bytes_items();
	int context;

	mine.context = &context; /* dropped alike */
	ASSERT_FLOW(lengths_of(bytes_as(weir_flow_bytes_items())), 0, 3);
	ASSERT_FLOW(lengths_of(bytes_as(&mine)), 0, 3);
	assert_flow(lengths_of(weir_flow_empty()), false, NULL, 0, 0);
	assert_flow(lengths_of(weir_flow_fail(-EIO, "up")), false, NULL, 0,
		    -EIO);
}

#define REFUSED "is given other items than it takes"

static void others_are_refused(void **state)
{
	const struct weir_operator_ops ops = lengths();
	struct weir_flow *flows[2], *outlet;

	assert_misfit(weir_flow_ignore(lengths_of(weir_flow_range(1, 3))),
		      "lengths", REFUSED);
	assert_misfit(
		weir_flow_ignore(lengths_of(counted(weir_flow_range(1, 3)))),
		"lengths", REFUSED);
	/* of several inputs the second */
	flows[0] = bytes_as(weir_flow_bytes_items());
	flows[1] = weir_flow_range(1, 3);
	assert_misfit(
		weir_flow_ignore(weir_flow_items(
			weir_flow_operator_inputs(flows, 2, &ops, NULL), NULL)),
		"lengths", REFUSED);
	flows[0] = weir_flow_range(1, 3);
	assert_int_equal(weir_flow_operator_outlets(flows, 1, &ops, NULL, 1,
						    &outlet, NULL),
			 0);
	assert_misfit(weir_flow_ignore(outlet), "lengths", REFUSED);
}

/* --- Failed flows ------------------------------------------------------------- */

static void assert_failed(struct weir_flow *flow, int code, const char *origin,
			  const char *message)
{
	const char *said_origin, *said;

	assert_int_equal(weir_flow_check(flow, &said_origin, &said), code);
	assert_string_equal(said_origin, origin);
	assert_string_equal(said, message);
	weir_flow_free(flow);
}

static void a_bad_argument_has_words(void **state)
{
	char message[] = "level is not 1 to 9";
	struct weir_flow *flow;

	flow = weir_flow_invalid(weir_flow_range(1, 3), "packer", message);
	message[0] = 'x'; /* it was copied */
	assert_failed(flow, -EINVAL, "packer", "level is not 1 to 9");
}

static void an_error_that_was_there_before_counts(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 3), *upon;

	assert_failed(weir_flow_invalid(NULL, "packer", "why"), -EINVAL,
		      "packer", "no flow to be put upon");
	upon = weir_flow_drop(flow, 1);
	assert_failed(weir_flow_invalid(flow, "packer", "why"), -EBUSY,
		      "packer", "a flow that is used twice");
	assert_failed(weir_flow_invalid(weir_flow_invalid(upon, "first", "a"),
					"second", "b"),
		      -EINVAL, "first", "a");
}

/* --- Memory ------------------------------------------------------------------- */

static int allocate(struct weir_operator *op)
{
	const struct weir_allocator *allocator = weir_operator_allocator(op);
	void **kept = weir_operator_state(op);

	*kept = allocator->alloc(100, allocator->context);
	return *kept ? 0 : -ENOMEM;
}

static void give_back(struct weir_operator *op)
{
	const struct weir_allocator *allocator = weir_operator_allocator(op);
	void **kept = weir_operator_state(op);

	allocator->free(*kept, 100, allocator->context);
}

static void memory_is_the_executor_s(void **state)
{
	const struct weir_operator_ops ops = {
		.state_size = sizeof(void *),
		.open = allocate,
		.close = give_back,
	};
	struct weir_executor_options on;
	struct weir_flow *flow;
	struct weir_sim *sim;
	struct heap heap;
	size_t calls[2], i;

	for (i = 0; i < 2; i++) {
		heap_init(&heap, 0);
		on = (struct weir_executor_options){
			.allocator = &heap.allocator};
		assert_int_equal(weir_sim_new(&sim, 1, &on), 0);
		flow = weir_flow_range(1, 3);
		flow = weir_flow_operator(
			flow, i ? &ops : &(struct weir_operator_ops){0}, NULL);
		flow = weir_flow_ignore(flow);
		assert_int_equal(
			weir_flow_run(flow, weir_sim_executor(sim), NULL), 0);
		weir_flow_free(flow);
		assert_int_equal(weir_sim_free(sim), 0);
		assert_int_equal(heap.live, 0);
		calls[i] = heap.calls;
	}
	assert_int_equal(calls[1], calls[0] + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_may_be_copied),
		cmocka_unit_test(a_source_s_context_too),
		cmocka_unit_test(that_of_outlets_too),
		cmocka_unit_test(a_context_that_is_none_is_refused),
		cmocka_unit_test(items_that_it_takes_may_come),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(a_bad_argument_has_words),
		cmocka_unit_test(an_error_that_was_there_before_counts),
		cmocka_unit_test(memory_is_the_executor_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
