/* SPDX-License-Identifier: BSD-2-Clause */
/* Delays by a function, and with lines that overflow. */
#include "flow/memory_kit.h"
#include "flow/world.h"

#include "flow/parts.h"

/* As many ms as its value, counted by `n_asked`; -EDOM for 5. */
static intptr_t n_asked;

static int64_t by_value(void *item, void *context)
{
	const struct parts *parts = context;
	intptr_t value = value_of(parts, item);

	n_asked++;
	return value == 5 ? -EDOM : value * (int64_t)MS;
}

static int64_t by_nothing(void *item, void *context)
{
	return 0;
}

static void begin_world(const struct weir_flow_delay_options *options,
			bool counts, size_t open)
{
	n_asked = 0;
	flow_world_init(&world, counts ? &counted_items : NULL);
	world.got.counted = counts;
	world.flow = weir_flow_delay_with(world.flow, options);
	world_start(&world, open);
}

/* All that has come out, and when. */
#define ASSERT_OUT_AT(...) \
	do { \
		static const intptr_t pairs_[] = {__VA_ARGS__}; \
		size_t i_, n_ = sizeof(pairs_) / sizeof(*pairs_) / 2; \
\
		assert_int_equal(world.got.n, n_); \
		for (i_ = 0; i_ < n_; i_++) { \
			assert_int_equal(world.got.values[i_], \
					 pairs_[2 * i_]); \
			assert_int_equal(world.at_ns[i_], \
					 (uint64_t)pairs_[2 * i_ + 1] * MS); \
		} \
	} while (0)

/* --- A time for each ------------------------------------------------------ */

static void each_item_has_its_own_time_and_none_overtakes(void **state)
{
	struct parts parts = {.n_keys = 1};
	const struct weir_flow_delay_options options = {
		.delay = by_value, .context = &parts, .n = 8};

	begin_world(&options, false, OPEN);
	flow_offer(&world, 9, 9);
	flow_offer(&world, 2, 2);
	flow_offer(&world, 12, 12);
	until(&world, 10 * MS);
	flow_offer(&world, 1, 1);
	flow_offer(&world, 7, 7);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(9, 9, 2, 9, 12, 12, 1, 12, 7, 17);
	assert_int_equal(n_asked, 5);
	flow_world_end(&world, 0);
}

static void a_function_that_says_nothing_delays_nothing(void **state)
{
	const struct weir_flow_delay_options options = {.delay = by_nothing,
							.n = 2};

	ASSERT_FLOW(weir_flow_delay_with(weir_flow_range(1, 9), &options), 0, 1,
		    2, 3, 4, 5, 6, 7, 8, 9);
}

static enum weir_directive decided;

static enum weir_directive decide(struct weir_error *error, void *context)
{
	assert_int_equal(error->code, -EDOM);
	assert_string_equal(error->origin, "delay_with");
	return decided;
}

/* What waits goes on waiting, also where the decision is to restart. */
static void an_item_without_a_time_is_left_out_or_ends_it(void **state)
{
	static const enum weir_directive directives[] = {WEIR_DIRECTIVE_RESUME,
							 WEIR_DIRECTIVE_RESTART,
							 WEIR_DIRECTIVE_STOP};
	static const enum weir_overflow overflows[] = {
		WEIR_OVERFLOW_BACK_PRESSURE, WEIR_OVERFLOW_DROP_NEW};
	struct parts parts = {.counted = true};
	struct weir_flow_delay_options options = {
		.delay = by_value, .context = &parts, .n = 8};
	size_t i;

	for (i = 0; i < 6; i++) {
		decided = directives[i / 2];
		options.overflow = overflows[i % 2];
		flow_world_init(&world, &counted_items);
		world.got.counted = true;
		world.flow = weir_flow_delay_with(world.flow, &options);
		world.flow = weir_flow_supervise(world.flow, decide, NULL);
		world_start(&world, OPEN);
		flow_offer(&world, 3, 6);
		until(&world, 50 * MS);
		if (decided == WEIR_DIRECTIVE_STOP) {
			assert_int_equal(world.got.n, 0);
			flow_world_end(&world, -EDOM);
			continue;
		}
		ASSERT_OUT_AT(3, 3, 4, 4, 6, 6);
		flow_world_end(&world, 0);
	}
}

/* --- When the line is full ------------------------------------------------ */

static void a_full_line_does_as_it_is_told(void **state)
{
	static const struct {
		enum weir_overflow overflow;
		intptr_t out[3];
		size_t n;
		int code;
	} rows[] = {
		{WEIR_OVERFLOW_DROP_HEAD, {3, 4, 5}, 3, 0},
		{WEIR_OVERFLOW_DROP_TAIL, {1, 2, 5}, 3, 0},
		{WEIR_OVERFLOW_DROP_ALL, {4, 5}, 2, 0},
		{WEIR_OVERFLOW_DROP_NEW, {1, 2, 3}, 3, 0},
		{WEIR_OVERFLOW_FAIL, {0}, 0, -EOVERFLOW},
	};
	struct weir_flow_delay_options options = {.delay_ns = 10 * MS, .n = 3};
	size_t i, j;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		options.overflow = rows[i].overflow;
		begin_world(&options, true, OPEN);
		flow_offer(&world, 1, 5);
		until(&world, 9 * MS);
		assert_int_equal(world.got.n, 0);
		assert_int_equal(n_live, rows[i].n);
		until(&world, 10 * MS);
		assert_got(&world.got, rows[i].out, rows[i].n, 0);
		for (j = 0; j < rows[i].n; j++)
			assert_int_equal(world.at_ns[j], 10 * MS);
		flow_world_end(&world, rows[i].code);
	}
}

static void or_asks_for_no_more(void **state)
{
	const struct weir_flow_delay_options options = {.delay_ns = 10 * MS,
							.n = 3};

	begin_world(&options, true, OPEN);
	flow_offer(&world, 1, 5);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(1, 10, 2, 10, 3, 10, 4, 20, 5, 20);
	flow_world_end(&world, 0);
}

/* More than are dropped at once. */
static void a_long_line_is_dropped_as_a_whole(void **state)
{
	const struct weir_flow_delay_options options = {
		.delay_ns = 10 * MS,
		.n = 300,
		.overflow = WEIR_OVERFLOW_DROP_ALL,
	};

	begin_world(&options, true, OPEN);
	flow_offer(&world, 1, 302);
	until(&world, 0);
	assert_int_equal(n_live, 2);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(301, 10, 302, 10);
	flow_world_end(&world, 0);
}

/* One that is due waits behind the line; the others may still be dropped. */
static void what_is_due_waits_in_the_line_while_nobody_asks(void **state)
{
	const struct weir_flow_delay_options options = {
		.delay_ns = 10 * MS,
		.n = 3,
		.overflow = WEIR_OVERFLOW_DROP_HEAD,
	};

	begin_world(&options, true, 0);
	flow_offer(&world, 1, 3);
	until(&world, 10 * MS);
	flow_offer(&world, 4, 5);
	until(&world, 15 * MS);
	assert_int_equal(n_live, 4);
	flow_offer(&world, 6, 6);
	until(&world, 16 * MS);
	assert_int_equal(n_live, 4);
	let_pass(&world, OPEN);
	ASSERT_OUT_AT(1, 16);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(1, 16, 4, 20, 5, 20, 6, 25);
	flow_world_end(&world, 0);
}

/* 2 may go when 1 has come out of the pipe; 3 comes before it has gone. */
static void what_may_go_is_not_dropped_for_what_comes(void **state)
{
	const struct weir_flow_delay_options options = {
		.delay_ns = 10 * MS,
		.n = 1,
		.overflow = WEIR_OVERFLOW_DROP_HEAD,
	};

	begin_world(&options, true, 0);
	flow_offer(&world, 1, 1);
	until(&world, 12 * MS);
	flow_offer(&world, 2, 2);
	until(&world, 30 * MS);
	world.open = OPEN;
	weir__op_wake(world.gate);
	while (world.got.n == 0)
		assert_true(weir_sim_step(world.base.sim));
	flow_offer(&world, 3, 3);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(1, 30, 2, 30, 3, 40);
	flow_world_end(&world, 0);
}

static void a_full_line_may_let_its_first_go_early(void **state)
{
	const struct weir_flow_delay_options options = {
		.delay_ns = 10 * MS, .n = 2, .emit_early = true};

	begin_world(&options, true, OPEN);
	flow_offer(&world, 1, 3);
	until(&world, 4 * MS);
	ASSERT_OUT_AT(1, 0);
	flow_offer(&world, 4, 4);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(1, 0, 2, 4, 3, 10, 4, 14);
	flow_world_end(&world, 0);
	/* but not where nobody asks */
	begin_world(&options, true, 1);
	flow_offer(&world, 1, 5);
	until(&world, 4 * MS);
	ASSERT_OUT_AT(1, 0);
	let_pass(&world, 1);
	ASSERT_OUT_AT(1, 0, 2, 4);
	let_pass(&world, OPEN);
	ASSERT_OUT_AT(1, 0, 2, 4, 3, 4);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(1, 0, 2, 4, 3, 4, 4, 14, 5, 14);
	flow_world_end(&world, 0);
}

/* --- Ends ----------------------------------------------------------------- */

static struct weir_flow *failing_late(void)
{
	struct weir_flow *both[] = {
		counted(weir_flow_range(1, 3)),
		weir_flow_items(weir_flow_fail(-EPROTO, "late"),
				&counted_items),
	};

	return weir_flow_concat(both, 2);
}

static void an_error_is_not_delayed(void **state)
{
	struct weir_flow_delay_options options = {.delay_ns = MS, .n = 8};

	for (; options.overflow <= WEIR_OVERFLOW_FAIL; options.overflow++)
		assert_flow(weir_flow_delay_with(failing_late(), &options),
			    true, (const intptr_t[]){0}, 0, -EPROTO);
}

static void an_end_waits_for_the_line(void **state)
{
	struct weir_flow_delay_options options = {.delay_ns = MS, .n = 4};

	for (; options.overflow <= WEIR_OVERFLOW_FAIL; options.overflow++)
		assert_flow(weir_flow_delay_with(counted(weir_flow_range(1, 4)),
						 &options),
			    true, (const intptr_t[]){1, 2, 3, 4}, 4, 0);
}

static void a_cancel_drops_the_line_and_leaves_no_timer(void **state)
{
	struct weir_flow_delay_options options = {.delay_ns = 10 * MS, .n = 4};

	for (; options.overflow <= WEIR_OVERFLOW_FAIL; options.overflow++) {
		assert_cancel(weir_flow_delay_with(
			counted(weir_flow_range(1, INT64_MAX / 100)),
			&options));
		begin_world(&options, true, OPEN);
		flow_offer(&world, 1, 3);
		until(&world, 5 * MS);
		assert_int_equal(n_live, 3);
		weir_flow_run_stop(world.run, NULL);
		(void)weir_sim_run(world.base.sim);
		assert_int_equal(world_now(&world.base), 5 * MS);
		flow_world_end(&world, -ECANCELED);
	}
}

static struct weir_flow *delayed_single(void *item, void *context)
{
	return weir_flow_delay_with(weir_flow_single(item), context);
}

static void one_that_may_drop_items_is_not_nested(void **state)
{
	struct weir_flow_delay_options options = {.delay_ns = MS, .n = 1};

	ASSERT_FLOW(weir_flow_flat_map(weir_flow_range(1, 3), 1, delayed_single,
				       &options),
		    0, 1, 2, 3);
	options.overflow = WEIR_OVERFLOW_FAIL;
	assert_flow(weir_flow_flat_map(weir_flow_range(1, 3), 1, delayed_single,
				       &options),
		    false, (const intptr_t[]){0}, 0, -ENOTSUP);
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow_delay_options options = {.delay_ns = MS, .n = 9};
	struct weir_flow *flow;

	for (; options.overflow <= WEIR_OVERFLOW_DROP_HEAD;
	     options.overflow++) {
		flow = weir_flow_delay_with(counted(weir_flow_range(1, 9)),
					    &options);
		flow = into(flow, &got);
		(void)assert_short_of_memory(flow, &got, 0);
		weir_flow_free(flow);
	}
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	static const struct weir_flow_delay_options bad[] = {
		{.n = 0},
		{.n = (size_t)WEIR_CAPACITY_MAX + 1},
		{.n = 1, .overflow = WEIR_OVERFLOW_FAIL + 1},
		{.n = 1, .delay_ns = 1, .delay = by_nothing},
		{.n = 1,
		 .overflow = WEIR_OVERFLOW_DROP_NEW,
		 .emit_early = true},
		{.n = 1, .reserved = {0, 0, 0, 1}},
	};
	static const struct weir_flow_delay_options good = {.n = 1};
	struct weir_flow *flows[8] = {
		weir_flow_delay_with(NULL, &good),
		weir_flow_delay_with(weir_flow_empty(), NULL),
	};

	for (size_t i = 0; i < 6; i++)
		flows[2 + i] = weir_flow_delay_with(weir_flow_empty(), &bad[i]);
	assert_refused_all(flows, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_item_has_its_own_time_and_none_overtakes),
		cmocka_unit_test(a_function_that_says_nothing_delays_nothing),
		cmocka_unit_test(an_item_without_a_time_is_left_out_or_ends_it),
		cmocka_unit_test(a_full_line_does_as_it_is_told),
		cmocka_unit_test(or_asks_for_no_more),
		cmocka_unit_test(a_long_line_is_dropped_as_a_whole),
		cmocka_unit_test(
			what_is_due_waits_in_the_line_while_nobody_asks),
		cmocka_unit_test(what_may_go_is_not_dropped_for_what_comes),
		cmocka_unit_test(a_full_line_may_let_its_first_go_early),
		cmocka_unit_test(an_error_is_not_delayed),
		cmocka_unit_test(an_end_waits_for_the_line),
		cmocka_unit_test(a_cancel_drops_the_line_and_leaves_no_timer),
		cmocka_unit_test(one_that_may_drop_items_is_not_nested),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
