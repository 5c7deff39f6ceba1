/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows: parts of a stream that end by number, time, or another flow. */
#include "flow/fan_kit.h"
#include "flow/parts.h"

static struct weir_flow *by_n(struct weir_flow *flow, uint64_t n,
			      struct parts *parts)
{
	const struct weir_flow_window_options options = {.n = n};

	return weir_flow_window(flow, &options, make, parts);
}

static struct weir_flow *windows(struct weir_flow *flow, uint64_t n,
				 uint64_t within_ns, uint64_t quiet_ns,
				 struct parts *parts)
{
	const struct weir_flow_window_options options = {n, within_ns,
							 quiet_ns};

	return weir_flow_window(flow, &options, make, parts);
}

/* Offers one at that time. */
static void offer_at(uint64_t time_ns, intptr_t value)
{
	until(&world, time_ns);
	flow_offer(&world, value, value);
	until(&world, time_ns);
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

/* A world in which windows are counted, or whatever `parts` has. */
static void begin_windows(struct parts *parts, uint64_t n, uint64_t within_ns,
			  uint64_t quiet_ns, size_t open)
{
	flow_world_init(&world, NULL);
	world.flow = windows(world.flow, n, within_ns, quiet_ns, parts);
	world_start(&world, open);
}

/* --- By number ------------------------------------------------------------ */

static void its_last_item_ends_a_window(void **state)
{
	struct parts parts = {.compose = index_them};

	ASSERT_FLOW(by_n(weir_flow_range(1, 7), 3, &parts), 0, 1, 102, 203, 4,
		    105, 206, 7);
	ASSERT_FLOW(by_n(weir_flow_range(1, 3), 1, &parts), 0, 1, 2, 3);
	parts.compose = count;
	ASSERT_FLOW(by_n(weir_flow_range(1, 7), 3, &parts), 0, 3, 3, 1);
	/* nothing comes behind the last */
	ASSERT_FLOW(by_n(weir_flow_range(1, 6), 3, &parts), 0, 3, 3);
	ASSERT_FLOW(by_n(weir_flow_range(1, 3), UINT64_MAX, &parts), 0, 3);
}

static void nothing_has_no_windows(void **state)
{
	struct parts parts = {.compose = count};

	assert_flow(windows(weir_flow_empty(), 3, 1, 1, &parts), false,
		    (const intptr_t[]){0}, 0, 0);
	assert_flow(weir_flow_window_by(weir_flow_empty(), weir_flow_never(),
					make, &parts),
		    false, (const intptr_t[]){0}, 0, 0);
	assert_int_equal(parts.n_made, 0);
}

static void what_a_flow_that_has_ended_leaves_is_dropped(void **state)
{
	struct parts parts = {.compose = first_two, .counted = true};

	assert_flow(by_n(counted(weir_flow_range(1, 9)), 4, &parts), true,
		    (const intptr_t[]){1, 102, 5, 106, 9}, 5, 0);
	assert_int_equal(parts.n_made, 3 * 20);
}

static void none_takes_more_than_is_asked_for(void **state)
{
	struct parts parts = {.compose = index_them, .counted = true};

	world_counted(&parts);
	world.flow = windows(world.flow, 3, 1, 1, &parts);
	world_start(&world, 0);
	flow_offer(&world, 1, 1024);
	until(&world, 0);
	assert_int_equal(n_live, 1024);
	let_pass(&world, 2);
	ASSERT_OUT(&world, 1, 102);
	assert_int_equal(n_live, 1022);
	world_cancel();
}

/* --- That overlap, or have gaps ------------------------------------------- */

#define SUM(first, n) ((intptr_t)(1000 * (n) + (first)))

/* Its first item, and how many there are. */
static int fold_window(void **result, void *item, void *context)
{
	intptr_t all = (intptr_t)*result;

	if (all == 0)
		all = ((struct item *)item)->value;
	*result = (void *)(all + SUM(0, 1));
	item_drop(item, NULL);
	return 0;
}

static struct weir_flow *first_n(struct weir_flow *up, void *context)
{
	static const struct weir_flow_fold_functions functions = {
		.fold = fold_window};
	const uint64_t *n = context;

	return weir_flow_items(
		weir_flow_fold(weir_flow_take(up, *n), &functions, NULL), NULL);
}

/* Of `n` items, that begin `skip` items apart: as overlap.c has it. */
static struct weir_flow *apart(struct weir_flow *flow, uint64_t *n,
			       uint64_t skip)
{
	size_t at_once = (size_t)((*n + skip - 1) / skip), i;
	const struct weir_flow_window_options next = {.n = at_once * skip};
	struct weir_flow *outlets[8];

	(void)weir_flow_broadcast(flow, at_once, outlets, NULL);
	for (i = 0; i < at_once; i++) {
		outlets[i] = weir_flow_drop(outlets[i], i * skip);
		outlets[i] = weir_flow_window(outlets[i], &next, first_n, n);
		outlets[i] = weir_flow_items(outlets[i], NULL);
	}
	return weir_flow_merge(outlets, at_once);
}

static int by_value(const void *a, const void *b)
{
	intptr_t x = *(const intptr_t *)a, y = *(const intptr_t *)b;

	return (x % 1000 > y % 1000) - (x % 1000 < y % 1000);
}

static void assert_apart(intptr_t n_items, uint64_t n, uint64_t skip,
			 uint64_t seed)
{
	static struct got got;
	struct weir_flow *flow;
	intptr_t first, left;
	size_t i = 0;

	got = (struct got){.counted = false};
	flow = into(apart(counted(weir_flow_range(1, n_items)), &n, skip),
		    &got);
	assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
	qsort(got.values, got.n, sizeof(*got.values), by_value);
	for (first = 1; first <= n_items; first += (intptr_t)skip) {
		left = n_items - first + 1;
		assert_true(i < got.n);
		assert_int_equal(got.values[i++],
				 SUM(first,
				     left < (intptr_t)n ? left : (intptr_t)n));
	}
	assert_int_equal(got.n, i);
}

static void windows_that_begin_apart_are_those_of_outlets(void **state)
{
	for_each_seed(seed, test_count(200))
		assert_apart((intptr_t)(seed % 41), 1 + seed % 7,
			     1 + seed / 7 % 9, seed);
}

/* --- By time -------------------------------------------------------------- */

static void a_window_ends_so_long_after_its_first_item(void **state)
{
	struct parts parts = {.compose = count};

	begin_windows(&parts, 0, 10 * MS, 0, OPEN);
	offer_at(3 * MS, 1);
	offer_at(12 * MS, 2);
	assert_int_equal(world.got.n, 0);
	/* the next one does not begin before its first item */
	offer_at(24 * MS, 3);
	assert_int_equal(parts.n_made, 2);
	offer_at(33 * MS, 4);
	offer_at(34 * MS, 5);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(2, 13, 2, 34, 1, 44);
	assert_int_equal(parts.n_made, 3);
	flow_world_end(&world, 0);
}

static void or_when_it_has_its_items(void **state)
{
	struct parts parts = {.compose = count};

	begin_windows(&parts, 3, 10 * MS, 0, OPEN);
	offer_at(0, 1);
	offer_at(8 * MS, 2);
	offer_at(9 * MS, 3);
	ASSERT_OUT_AT(3, 9);
	/* the time of the window before has no part in it */
	offer_at(9 * MS, 4);
	offer_at(18 * MS, 5);
	until(&world, 30 * MS);
	ASSERT_OUT_AT(3, 9, 2, 19);
	flow_world_end(&world, 0);
}

static void or_when_it_was_quiet(void **state)
{
	struct parts parts = {.compose = count};

	begin_windows(&parts, 4, 20 * MS, 5 * MS, OPEN);
	offer_at(0, 1);
	offer_at(4 * MS, 2);
	offer_at(8 * MS, 3);
	assert_int_equal(world.got.n, 0);
	until(&world, 20 * MS);
	ASSERT_OUT_AT(3, 13);
	/* never quiet: by number, and then by time */
	offer_at(20 * MS, 4);
	for (uint64_t i = 1; i <= 8; i++)
		offer_at((20 + 4 * i) * MS, 1);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(3, 13, 4, 32, 4, 48, 1, 57);
	flow_world_end(&world, 0);

	parts.n_made = 0;
	begin_windows(&parts, 0, 10 * MS, 5 * MS, OPEN);
	for (uint64_t i = 0; i < 5; i++)
		offer_at(4 * i * MS, 1);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(3, 10, 2, 21);
	flow_world_end(&world, 0);
}

static void an_end_does_not_wait_for_the_time(void **state)
{
	struct parts parts = {.compose = count};

	begin_windows(&parts, 0, WEIR_FOREVER, WEIR_FOREVER, OPEN);
	offer_at(5 * MS, 1);
	(void)weir_flow_queue_end(world.queue, NULL);
	until(&world, 5 * MS);
	ASSERT_OUT_AT(1, 5);
	flow_world_end(&world, 0);
}

/* --- Who is slow ---------------------------------------------------------- */

/* Items wait upstream: nobody has asked for them. */
static void a_window_is_not_quiet_while_nobody_asks(void **state)
{
	struct parts parts = {.compose = index_them};

	begin_windows(&parts, 0, 0, 5 * MS, 1);
	flow_offer(&world, 1, 4);
	until(&world, 50 * MS);
	ASSERT_OUT(&world, 1);
	let_pass(&world, 1);
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 1, 102);
	let_pass(&world, OPEN);
	ASSERT_OUT(&world, 1, 102, 203, 304);
	/* it is asked from now on */
	offer_at(104 * MS, 5);
	offer_at(109 * MS, 6);
	until(&world, 200 * MS);
	ASSERT_OUT(&world, 1, 102, 203, 304, 405, 6);
	flow_world_end(&world, 0);
}

/* One passes each 10 ms. */
static struct weir_flow *slow(struct weir_flow *up, struct parts *parts)
{
	const struct weir_flow_rate rate = {
		.n = 1, .per_ns = 10 * MS, .burst = 1};

	return index_them(weir_flow_throttle(up, &rate), parts);
}

/* 4 leaves no item that waits for room, at 20 ms. */
static void nor_while_an_item_waits_for_its_flow(void **state)
{
	struct parts parts = {.compose = slow};

	begin_windows(&parts, 0, 0, 5 * MS, OPEN);
	flow_offer(&world, 1, 4);
	offer_at(24 * MS, 5);
	until(&world, 30 * MS);
	offer_at(46 * MS, 6);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(1, 0, 102, 10, 203, 20, 304, 30, 405, 40, 6, 46);
	assert_int_equal(parts.n_made, 2);
	flow_world_end(&world, 0);
}

/* Two wait for 5 ms each. */
static struct weir_flow *late(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_delay(up, 5 * MS, 2);
}

static void a_window_ends_by_time_though_its_flow_is_full(void **state)
{
	struct parts parts = {.compose = late, .counted = true};

	world_counted(&parts);
	world.flow = windows(world.flow, 0, 3 * MS, 0, &parts);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 6);
	until(&world, 3 * MS);
	/* two of them and one in front are of the first window; the next one's
	 * flow is made when the first has ended */
	assert_int_equal(n_live, 6);
	until(&world, 9 * MS);
	ASSERT_OUT_AT(1, 5, 2, 5);
	assert_int_equal(parts.n_made, 1);
	until(&world, 10 * MS);
	ASSERT_OUT_AT(1, 5, 2, 5, 3, 10);
	assert_int_equal(parts.n_made, 2);
	until(&world, 100 * MS);
	ASSERT_OUT_AT(1, 5, 2, 5, 3, 10, 4, 15, 5, 15, 6, 20);
	flow_world_end(&world, 0);
}

/* The items that are dropped count for the end of the window. */
static void a_flow_that_has_ended_does_not_end_its_window(void **state)
{
	struct parts parts = {.compose = first_alone, .counted = true};

	world_counted(&parts);
	world.flow = windows(world.flow, 0, 0, 5 * MS, &parts);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 2);
	offer_at(4 * MS, 3);
	offer_at(8 * MS, 4);
	assert_int_equal(n_live, 0);
	/* it waits for nothing: there is nothing to end */
	assert_false(weir_sim_step(world.base.sim));
	offer_at(13 * MS, 5);
	until(&world, 13 * MS);
	ASSERT_OUT_AT(1, 0, 5, 13);
	flow_world_end(&world, 0);
}

/* --- By another flow ------------------------------------------------------ */

static struct parts played;

static struct weir_flow *by_b(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_window_by(taps[0], taps[1], make, &played);
}

static void an_item_of_the_boundary_ends_a_window(void **state)
{
	played = (struct parts){.compose = index_them, .counted = true};
	assert_played(by_b, "a1 1 a2-3 102 203 b7 a4 4 a5 105 b8-9 b7 a6 6 a| "
			    "-b |");
	/* what comes before all items begins none */
	assert_played(by_b, "b7 b8 a1 1 b9 a| -b |");
}

/* A drain ends it, and what is under way must still come. */
static void behind_its_end_the_last_window_goes_on(void **state)
{
	assert_played(by_b, "a1 1 a2 102 b| a3 203 a| |");
	assert_played(by_b, "b| a1 1 a2 102 a| |");
	assert_played(by_b, "a1 1 b7 b| a2 2 a3 103 a| |");
}

static void its_error_is_one_of_upstream(void **state)
{
	assert_played(by_b, "a1 1 b! -a !");
	assert_played(by_b, "a1 1 a! -b !");
	assert_played(by_b, "a1 1 b7 b! -a !");
}

/* A queue whose items are boundaries. */
static struct weir_flow_queue *by_queue(const struct weir_items *items,
					struct parts *parts)
{
	struct weir_flow_queue *queue;

	assert_int_equal(weir_flow_queue_new(
				 &queue, 8, WEIR_OVERFLOW_BACK_PRESSURE, items),
			 0);
	world.flow = weir_flow_window_by(
		world.flow, weir_flow_from_queue(queue), make, parts);
	return queue;
}

/* The flow makes 99 of it, and the operator fails all the same. */
static void and_comes_out_of_the_window(void **state)
{
	struct parts parts = {.compose = recover};
	struct weir_error *error =
		weir_error_format(-EPROTO, "here", "by hand");
	struct weir_flow_queue *queue;

	flow_world_init(&world, NULL);
	queue = by_queue(NULL, &parts);
	world_start(&world, OPEN);
	offer_at(0, 1);
	assert_int_equal(weir_flow_queue_end(queue, error), 0);
	weir_error_unref(error);
	until(&world, 0);
	ASSERT_OUT(&world, 1, 99);
	flow_world_end(&world, -EPROTO);
	weir_flow_queue_free(queue);
}

static void the_boundary_may_have_any_items(void **state)
{
	static const intptr_t expected[] = {1, 102, 203};
	struct parts parts = {.compose = index_them, .counted = true};
	struct weir_flow *flow = counted(weir_flow_range(1, 3));

	flow = weir_flow_window_by(flow, weir_flow_tick(1000000, 1, NULL), make,
				   &parts);
	assert_flow(flow, true, expected, 3, 0);
}

/* As ticks do, in steps of the clock. */
static void ticks_make_windows_of_time(void **state)
{
	struct parts parts = {.compose = count};

	flow_world_init(&world, NULL);
	world.flow = weir_flow_window_by(world.flow,
					 weir_flow_tick(10 * MS, 10 * MS, NULL),
					 make, &parts);
	world_start(&world, OPEN);
	offer_at(3 * MS, 1);
	offer_at(9 * MS, 2);
	offer_at(11 * MS, 3);
	offer_at(35 * MS, 4);
	until(&world, 45 * MS);
	ASSERT_OUT_AT(2, 10, 1, 20, 1, 40);
	flow_world_end(&world, 0);
}

static void no_boundary_is_taken_while_nobody_asks(void **state)
{
	struct parts parts = {.compose = index_them, .counted = true};
	struct weir_flow_queue *queue;

	world_counted(&parts);
	queue = by_queue(&counted_items, &parts);
	world_start(&world, 1);
	flow_offer(&world, 1, 3);
	until(&world, 0);
	assert_int_equal(weir_flow_queue_offer(queue, item_new(7)), 0);
	until(&world, 0);
	ASSERT_OUT(&world, 1);
	assert_int_equal(n_live, 3);
	let_pass(&world, OPEN);
	ASSERT_OUT(&world, 1, 2, 103);
	flow_world_end(&world, 0);
	weir_flow_queue_free(queue);
}

/* --- What fails ----------------------------------------------------------- */

static void a_flow_that_fails_ends_it(void **state)
{
	struct parts parts = {
		.compose = index_them, .bad_item = 5, .counted = true};

	assert_flow(by_n(counted(weir_flow_range(1, 9)), 3, &parts), true,
		    (const intptr_t[]){1, 102, 203, 4}, 4, -EDOM);
}

static void an_error_from_upstream_comes_out_of_the_window(void **state)
{
	struct parts parts = {.compose = recover};

	ASSERT_FLOW(by_n(failing(), 3, &parts), -EPROTO, 1, 2, 3, 4, 99);
	/* there is no window */
	ASSERT_FLOW(by_n(failing(), 4, &parts), -EPROTO, 1, 2, 3, 4);
}

static struct weir_flow *every_other(struct weir_flow *up, struct parts *parts)
{
	return parts->n_made % 2 ? none(up, parts) : index_them(up, parts);
}

static void a_flow_that_is_not_made_is_its_item_s_failure(void **state)
{
	struct parts parts = {.compose = none};

	assert_flow(by_n(weir_flow_range(1, 9), 3, &parts), false,
		    (const intptr_t[]){0}, 0, -EINVAL);
	/* 1 has none, so 2 begins one; 4 has none, so 5 does */
	parts = (struct parts){.compose = every_other};
	ASSERT_FLOW(weir_flow_supervise(by_n(weir_flow_range(1, 6), 2, &parts),
					resume, NULL),
		    0, 2, 103, 5, 106);
	ASSERT_FLOW(weir_flow_supervise(by_n(weir_flow_range(1, 6), 2, &parts),
					restart, NULL),
		    0, 2, 103, 5, 106);
}

/* The first is there again and again, though a time passes in between. */
static struct weir_flow *third_is_none(struct weir_flow *up,
				       struct parts *parts)
{
	return parts->n_made == 2 ? none(up, parts) : count(up, parts);
}

static void a_restart_begins_the_time_anew(void **state)
{
	struct parts parts = {.compose = third_is_none};

	flow_world_init(&world, NULL);
	world.flow = windows(world.flow, 2, 10 * MS, 0, &parts);
	world.flow = weir_flow_supervise(world.flow, restart, NULL);
	world_start(&world, OPEN);
	offer_at(0, 1);
	offer_at(5 * MS, 2);
	ASSERT_OUT_AT(2, 5);
	/* has no window: the restart */
	offer_at(6 * MS, 3);
	offer_at(8 * MS, 4);
	until(&world, 17 * MS);
	ASSERT_OUT_AT(2, 5);
	until(&world, 50 * MS);
	ASSERT_OUT_AT(2, 5, 1, 18);
	flow_world_end(&world, 0);
}

static void a_cancel_drops_all_that_is_held_and_leaves_no_timer(void **state)
{
	struct parts parts = {.compose = late, .counted = true};
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX / 100));

	assert_cancel(by_n(flow, 3, &parts));
	flow = counted(weir_flow_range(1, INT64_MAX / 100));
	assert_cancel(windows(flow, 0, 100, 10, &parts));
	flow = counted(weir_flow_range(1, INT64_MAX / 100));
	assert_cancel(weir_flow_window_by(flow, weir_flow_tick(5, 5, NULL),
					  make, &parts));
	parts = (struct parts){.compose = count};
	begin_windows(&parts, 0, 9 * MS, 7 * MS, OPEN);
	offer_at(5 * MS, 1);
	weir_flow_run_stop(world.run, NULL);
	(void)weir_sim_run(world.base.sim);
	assert_int_equal(world_now(&world.base), 5 * MS);
	flow_world_end(&world, -ECANCELED);
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct parts parts = {.compose = first_two, .counted = true};
	struct weir_flow *flow;

	flow = windows(counted(weir_flow_range(1, 9)), 3, MS, MS, &parts);
	flow = into(flow, &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
	flow = weir_flow_window_by(counted(weir_flow_range(1, 9)),
				   weir_flow_tick(MS, MS, NULL), make, &parts);
	flow = into(flow, &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	const struct weir_flow_window_options two = {.n = 2}, none = {0},
					      more = {.n = 2, .reserved = {1}};
	struct weir_flow *flows[] = {
		weir_flow_window(NULL, &two, make, NULL),
		weir_flow_window(weir_flow_empty(), NULL, make, NULL),
		weir_flow_window(weir_flow_empty(), &two, NULL, NULL),
		weir_flow_window(weir_flow_empty(), &none, make, NULL),
		weir_flow_window(weir_flow_empty(), &more, make, NULL),
		weir_flow_window_by(NULL, weir_flow_never(), make, NULL),
		weir_flow_window_by(weir_flow_empty(), NULL, make, NULL),
		weir_flow_window_by(weir_flow_empty(), weir_flow_never(), NULL,
				    NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_last_item_ends_a_window),
		cmocka_unit_test(nothing_has_no_windows),
		cmocka_unit_test(what_a_flow_that_has_ended_leaves_is_dropped),
		cmocka_unit_test(none_takes_more_than_is_asked_for),
		cmocka_unit_test(windows_that_begin_apart_are_those_of_outlets),
		cmocka_unit_test(a_window_ends_so_long_after_its_first_item),
		cmocka_unit_test(or_when_it_has_its_items),
		cmocka_unit_test(or_when_it_was_quiet),
		cmocka_unit_test(an_end_does_not_wait_for_the_time),
		cmocka_unit_test(a_window_is_not_quiet_while_nobody_asks),
		cmocka_unit_test(nor_while_an_item_waits_for_its_flow),
		cmocka_unit_test(a_window_ends_by_time_though_its_flow_is_full),
		cmocka_unit_test(a_flow_that_has_ended_does_not_end_its_window),
		cmocka_unit_test(an_item_of_the_boundary_ends_a_window),
		cmocka_unit_test(behind_its_end_the_last_window_goes_on),
		cmocka_unit_test(its_error_is_one_of_upstream),
		cmocka_unit_test(and_comes_out_of_the_window),
		cmocka_unit_test(the_boundary_may_have_any_items),
		cmocka_unit_test(ticks_make_windows_of_time),
		cmocka_unit_test(no_boundary_is_taken_while_nobody_asks),
		cmocka_unit_test(a_flow_that_fails_ends_it),
		cmocka_unit_test(
			an_error_from_upstream_comes_out_of_the_window),
		cmocka_unit_test(a_flow_that_is_not_made_is_its_item_s_failure),
		cmocka_unit_test(a_restart_begins_the_time_anew),
		cmocka_unit_test(
			a_cancel_drops_all_that_is_held_and_leaves_no_timer),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
