/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What people are told: of a flow that cannot be composed the operator, the
 * argument and its limits; of a run the operator, what failed, and the words of
 * the number.
 */
#include "flow/kit.h"

#include <math.h>

#define MAX "16777216"

static struct weir_flow *one(void)
{
	return weir_flow_range(1, 2);
}

static int works(void **item, void *context)
{
	return 0;
}

static int fails(void **item, void *context)
{
	return -EDOM;
}

static struct weir_flow *nested(void *item, void *context)
{
	return one();
}

static int key(void *item, uintptr_t *key, void *context)
{
	return 0;
}

static struct weir_flow *group(struct weir_flow *upstream, uintptr_t key,
			       void *context)
{
	return upstream;
}

static struct weir_flow *bad_flow(struct weir_flow *upstream, void *context)
{
	return weir_flow_async(upstream, 100, NULL);
}

static struct weir_flow *source(void *context)
{
	return one();
}

static uint64_t weigh(void *item, void *context)
{
	return 1;
}

static struct weir_flow *tail(void *const *items, size_t n,
			      struct weir_flow *upstream, void *context)
{
	return upstream;
}

static void assert_says(struct weir_flow *flow, const char *origin,
			const char *message)
{
	const char *said_origin = NULL, *said = NULL;

	assert_int_equal(weir_flow_check(flow, &said_origin, &said), -EINVAL);
	assert_string_equal(said_origin, origin);
	assert_string_equal(said, message);
	weir_flow_free(flow);
}

static void a_bad_argument_is_named_with_its_limits(void **state)
{
	assert_says(weir_flow_async(one(), 100, NULL), "async",
		    "capacity 100 is no power of two up to " MAX);
	assert_says(weir_flow_async(one(), 0, NULL), "async",
		    "capacity 0 is no power of two up to " MAX);
	assert_says(weir_flow_buffer(one(), 0, WEIR_OVERFLOW_BACK_PRESSURE),
		    "buffer", "n 0 is not 1 to " MAX);
	assert_says(weir_flow_limit_rate(one(), 0, 0), "limit_rate",
		    "max 0 is not 1 to " MAX);
	assert_says(weir_flow_limit_rate(one(), 4, 4), "limit_rate",
		    "min 4 is not below 4");
	assert_says(weir_flow_read(-1, 1), "read", "-1 is no descriptor");
	assert_says(weir_flow_lines(one(), 0), "lines",
		    "max 0 is not 1 to 1073741824");
	assert_says(weir_flow_grouped(one(), 0), "grouped",
		    "n 0 is not 1 to " MAX);
	assert_says(weir_flow_grouped_within(one(), 1, 0), "grouped_within",
		    "within_ns is 0");
	assert_says(weir_flow_group_by(one(), 0, key, group, NULL, NULL),
		    "group_by", "max 0 is not 1 to " MAX);
	assert_says(weir_flow_flat_map(one(), 0, nested, NULL), "flat_map",
		    "breadth 0 is not 1 to " MAX);
	assert_says(weir_flow_map_parallel(one(), 0, WEIR_ORDER_KEPT, works,
					   NULL, NULL),
		    "map_parallel", "n 0 is not 1 to " MAX);
	assert_says(weir_flow_delay(one(), 1, 0), "delay",
		    "n 0 is not 1 to " MAX);
	assert_says(weir_flow_interleave((struct weir_flow *[]){one()}, 1, 0),
		    "interleave", "segment 0 is not 1 to " MAX);
	assert_says(weir_flow_merge_prioritized((struct weir_flow *[]){one(),
								       one()},
						2, (uint32_t[]){1, 0}),
		    "merge_prioritized", "weight 1 is 0");
	assert_says(weir_flow_tick(0, 0, NULL), "tick", "every_ns is 0");
	assert_says(weir_flow_fail(1, NULL), "fail", "code 1 is not negative");
}

static void rates_and_groups_name_what_is_bad(void **state)
{
	const struct weir_flow_rate no_n = {.per_ns = 1};
	const struct weir_flow_rate no_time = {.n = 1};
	const struct weir_flow_rate no_way = {1, 1, 0, 2, NULL, NULL};
	const struct weir_flow_rate never = {
		1,    1,   WEIR_FLOW_NO_BURST, WEIR_FLOW_THROTTLE_ENFORCE,
		NULL, NULL};
	const struct weir_flow_group_options bad = {.reserved = {1}};
	const struct weir_flow_delay_options no_line = {.delay_ns = 1};
	const struct weir_flow_delay_options early = {
		.n = 1, .overflow = WEIR_OVERFLOW_FAIL, .emit_early = true};
	const struct weir_flow_window_options endless = {0};
	const struct weir_flow_window_options later = {1, .reserved = {1}};

	assert_says(weir_flow_throttle(one(), NULL), "throttle",
		    "rate is NULL");
	assert_says(weir_flow_throttle(one(), &no_n), "throttle",
		    "rate->n is 0");
	assert_says(weir_flow_throttle(one(), &no_time), "throttle",
		    "rate->per_ns is 0");
	assert_says(weir_flow_throttle(one(), &no_way), "throttle",
		    "rate->how is no way of throttling");
	assert_says(weir_flow_throttle(one(), &never), "throttle",
		    "a rate without burst cannot be enforced");
	assert_says(weir_flow_keep_alive(one(), 0, works, NULL), "keep_alive",
		    "idle_ns is 0");
	assert_says(weir_flow_keep_alive(one(), 1, NULL, NULL), "keep_alive",
		    "make is NULL");
	assert_says(weir_flow_extrapolate(one(), NULL, NULL), "extrapolate",
		    "make is NULL");
	assert_says(weir_flow_debounce(one(), 0), "debounce", "quiet_ns is 0");
	assert_says(weir_flow_sample(one(), 0, false), "sample",
		    "every_ns is 0");
	assert_says(weir_flow_throttle_first(one(), 0), "throttle_first",
		    "within_ns is 0");
	assert_says(weir_flow_throttle_latest(one(), 0, true),
		    "throttle_latest", "within_ns is 0");
	assert_says(weir_flow_grouped_weighted(one(), 1, NULL, NULL, 1, 0),
		    "grouped_weighted", "weigh is NULL");
	assert_says(weir_flow_grouped_up_to(one(), 0, weigh, NULL, 1, 0),
		    "grouped_up_to", "weight is 0");
	assert_says(weir_flow_group_by(one(), 1, NULL, group, NULL, NULL),
		    "group_by", "key or make is NULL");
	assert_says(weir_flow_group_by(one(), 1, key, group, NULL, &bad),
		    "group_by",
		    "options->keys lacks a function, or options->reserved is "
		    "not zero");
	assert_says(weir_flow_buffer(one(), 1, WEIR_OVERFLOW_FAIL + 1),
		    "buffer", "no such strategy");
	assert_says(weir_flow_window(one(), NULL, bad_flow, NULL), "window",
		    "options is NULL");
	assert_says(weir_flow_window(one(), &endless, bad_flow, NULL), "window",
		    "options say nothing by which a window ends");
	assert_says(weir_flow_window(one(), &later, bad_flow, NULL), "window",
		    "options->reserved is not zero");
	assert_says(weir_flow_delay_with(one(), NULL), "delay_with",
		    "options is NULL");
	assert_says(weir_flow_delay_with(one(), &no_line), "delay_with",
		    "n 0 is not 1 to " MAX);
	assert_says(weir_flow_delay_with(one(), &early), "delay_with",
		    "emit_early needs back-pressure");
	assert_says(weir_flow_prefix_and_tail(one(), 1, NULL, NULL),
		    "prefix_and_tail", "make is NULL");
	assert_says(weir_flow_prefix_and_tail(one(), WEIR_CAPACITY_MAX + 1,
					      tail, NULL),
		    "prefix_and_tail", "n 16777217 is above " MAX);
}

static void frames_name_what_is_bad(void **state)
{
	assert_says(weir_flow_delimited(one(), "x", 17, 1, 0), "delimited",
		    "length 17 is not 1 to 16");
	assert_says(weir_flow_delimited(one(), NULL, 1, 1, 0), "delimited",
		    "delimiter is NULL");
	assert_says(weir_flow_delimited(one(), "x", 1, 0, 0), "delimited",
		    "max 0 is not 1 to 1073741824");
	assert_says(weir_flow_delimited(one(), "x", 1, 1,
					WEIR_FLOW_REMAINDER_DROP + 1),
		    "delimited", "no such remainder");
	assert_says(weir_flow_length_prefixed(one(), 3, 0, 1),
		    "length_prefixed", "header 3 is not 1, 2, 4 or 8");
	assert_says(weir_flow_length_field(one(), 3, 0, 9, NULL),
		    "length_field", "header 3 is not 1, 2, 4 or 8");
	assert_says(weir_flow_length_field(one(), 4, 0, 3, NULL),
		    "length_field", "max 3 is less than offset 0 and header 4");
	assert_says(weir_flow_json_objects(one(), 0), "json_objects",
		    "max 0 is not 1 to 1073741824");
	assert_says(weir_flow_length_prefixed(one(), 4, 2, 1),
		    "length_prefixed", "no such byte order");
	assert_says(weir_flow_length_prefixed(one(), 4, 0, (size_t)1 << 30 | 1),
		    "length_prefixed", "max 1073741825 is not 0 to 1073741824");
}

static void a_publisher_is_told_its_limits(void **state)
{
	struct weir_publisher publisher = {0};

	assert_says(weir_flow_from_publisher(NULL, 1, 0), "from_publisher",
		    "publisher is NULL");
	assert_says(weir_flow_from_publisher(&publisher, WEIR_CAPACITY_MAX + 1,
					     0),
		    "from_publisher", "prefetch 16777217 is not 1 to " MAX);
	assert_says(weir_flow_from_publisher(&publisher, 4, 5),
		    "from_publisher", "refill 5 is above prefetch 4");
}

static void restart_says(const struct weir_backoff *backoff,
			 const struct weir_limit *limit, uint64_t reserved,
			 const char *message)
{
	const struct weir_flow_restart_options options = {
		.backoff = backoff,
		.limit = limit,
		.reserved = {reserved},
	};

	assert_says(weir_flow_restart(source, NULL, &options), "restart",
		    message);
	assert_says(weir_flow_restart_around(one(), bad_flow, NULL, &options),
		    "restart_around", message);
}

static void options_of_restarts_are_named(void **state)
{
	const struct weir_backoff laws[] = {
		{7, 1, 1, 0, 0},	   {0, 0, 1, 0, 0}, {0, 2, 1, 0, 0},
		{0, 1, 1, (double)NAN, 0}, {0, 2, 3, 0, 4},
	};
	static const char *const messages[] = {
		"backoff->law is no law",
		"backoff->min_ns is 0",
		"backoff->max_ns is below min_ns",
		"backoff->random_factor is not 0 to 1",
		"backoff->reset_ns is not min_ns to max_ns",
	};
	const struct weir_limit many = {.max = WEIR_RESTARTS_MAX + 1};
	const struct weir_limit odd = {.max = 1, .window = 9};
	size_t i;

	for (i = 0; i < sizeof(laws) / sizeof(*laws); i++)
		restart_says(&laws[i], NULL, 0, messages[i]);
	restart_says(NULL, &many, 0, "limit->max is above WEIR_RESTARTS_MAX");
	restart_says(NULL, &odd, 0, "limit->window is no window");
	restart_says(NULL, NULL, 1, "options->reserved is not zero");
	assert_says(weir_flow_restart(NULL, NULL, NULL), "restart",
		    "make is NULL");
	assert_says(weir_flow_restart_around(one(), NULL, NULL, NULL),
		    "restart_around", "make is NULL");
}

static void the_first_that_went_wrong_is_told(void **state)
{
	struct weir_flow *flow = weir_flow_map(one(), NULL, NULL);

	flow = weir_flow_async(flow, 100, NULL);
	assert_says(weir_flow_map(flow, works, NULL), "map",
		    "a null argument, or one that is out of range");
	flow = weir_flow_async(one(), 100, NULL);
	flow = weir_flow_async(flow, 200, NULL);
	assert_says(flow, "async",
		    "capacity 100 is no power of two up to " MAX);
	assert_says(weir_flow_async(NULL, 100, NULL), "async",
		    "no flow to be put upon");
}

static void each_outlet_of_a_bad_fan_says_so(void **state)
{
	const struct weir_flow_fan_options options = {.capacity = 100};
	struct weir_flow *outlets[2];

	assert_int_equal(weir_flow_broadcast(one(), 2, outlets, &options),
			 -EINVAL);
	/* the first one had the words for both */
	assert_says(outlets[0], "broadcast",
		    "capacity 100 is no power of two up to " MAX);
	assert_says(outlets[1], "broadcast",
		    "capacity 100 is no power of two up to " MAX);
}

static void a_function_that_fails_does_so_with_the_words_of_its_number(
	void **state)
{
	struct weir_error *error =
		error_of(weir_flow_ignore(weir_flow_map(one(), fails, NULL)));

	assert_int_equal(error->code, -EDOM);
	assert_string_equal(error->origin, "map");
	assert_string_equal(
		error->message,
		"a function failed: Numerical argument out of domain");
	weir_error_unref(error);
}

static void a_file_that_is_not_there_says_so(void **state)
{
	struct weir_error *error = error_of(
		weir_flow_ignore(weir_flow_read_file("/no/such/file", 64)));

	assert_string_equal(error->origin, "read_file");
	assert_string_equal(error->message,
			    "could not be opened: No such file or directory");
	weir_error_unref(error);
}

static void a_file_that_cannot_be_written_says_so(void **state)
{
	struct weir_flow *flow =
		weir_flow_items(weir_flow_empty(), weir_flow_bytes_items());
	struct weir_error *error = error_of(weir_flow_write_file(
		flow, "/no/such/file", WEIR_FLOW_SYNC_NONE));

	assert_string_equal(error->origin, "write_file");
	assert_string_equal(
		error->message,
		"/no/such/file has a directory that cannot be opened: "
		"No such file or directory");
	weir_error_unref(error);
}

static void a_nested_flow_that_cannot_be_composed_says_so(void **state)
{
	const struct weir_flow_restart_options once = {
		.limit = &(const struct weir_limit){.max = 0}};
	struct weir_error *error = error_of(weir_flow_ignore(
		weir_flow_restart_around(one(), bad_flow, NULL, &once)));

	assert_string_equal(error->origin, "async");
	assert_string_equal(error->message,
			    "capacity 100 is no power of two up to " MAX);
	weir_error_unref(error);
}

static void end_by_cancel(struct weir_flow_run *run,
			  struct weir_executor *executor,
			  struct weir_ending *drain)
{
	weir_flow_run_stop(run, NULL);
}

static void end_by_abort(struct weir_flow_run *run,
			 struct weir_executor *executor,
			 struct weir_ending *drain)
{
	assert_int_equal(
		weir_executor_stop_async(executor, drain, WEIR_FOREVER), 0);
}

static void aborted(struct weir_ending *drain)
{
}

static void cancelled_by(void (*end)(struct weir_flow_run *run,
				     struct weir_executor *executor,
				     struct weir_ending *drain))
{
	struct weir_flow *flow = weir_flow_ignore(weir_flow_never());
	struct weir_ending drain = {.done = aborted};
	struct weir_error *error = NULL;
	struct weir_executor *executor;
	struct weir_flow_run *run;
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	executor = weir_sim_executor(sim);
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
	end(run, executor, &drain);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	assert_int_equal(error->code, -ECANCELED);
	assert_string_equal(error->origin, "flow");
	assert_string_equal(error->message, "the run was cancelled");
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	weir_sim_run(sim);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void a_cancelled_run_says_so(void **state)
{
	cancelled_by(end_by_cancel);
}

static void so_does_one_whose_executor_is_aborted(void **state)
{
	cancelled_by(end_by_abort);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bad_argument_is_named_with_its_limits),
		cmocka_unit_test(rates_and_groups_name_what_is_bad),
		cmocka_unit_test(frames_name_what_is_bad),
		cmocka_unit_test(a_publisher_is_told_its_limits),
		cmocka_unit_test(options_of_restarts_are_named),
		cmocka_unit_test(the_first_that_went_wrong_is_told),
		cmocka_unit_test(each_outlet_of_a_bad_fan_says_so),
		cmocka_unit_test(
			a_function_that_fails_does_so_with_the_words_of_its_number),
		cmocka_unit_test(a_file_that_is_not_there_says_so),
		cmocka_unit_test(a_file_that_cannot_be_written_says_so),
		cmocka_unit_test(a_nested_flow_that_cannot_be_composed_says_so),
		cmocka_unit_test(a_cancelled_run_says_so),
		cmocka_unit_test(so_does_one_whose_executor_is_aborted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
