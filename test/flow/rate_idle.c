/* SPDX-License-Identifier: BSD-2-Clause */
/* Items that are made while none come, and who does not ask for any. */
#include "flow/marbles_kit.h"
#include "flow/world.h"

#define ASSERT_PICTURES(pictures) \
	assert_pictures(pictures, sizeof(pictures) / sizeof(*(pictures)))

static int dash(void **item, void *context)
{
	*item = joined("-", "");
	return 0;
}

static int numbered(void *last, uint64_t i, void **item, void *context)
{
	if (i == 3)
		return 0;
	*item = joined(last, (const char *[]){"1", "2", "3"}[i]);
	return 1;
}

COMPOSE(alive, weir_flow_keep_alive(flow, 20 * MS, dash, NULL))
COMPOSE(more, weir_flow_extrapolate(flow, numbered, NULL))
COMPOSE(not_asked, weir_flow_backpressure_timeout(flow, 20 * MS))

static struct flow_world world;

/* --- keep_alive ----------------------------------------------------------- */

static void an_idle_stream_is_kept_alive(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_alive,
		 .in = {"a@0 b@10 c@25 d@90 |@100"},
		 .out = {"a@0 b@10 c@25 -@45 -@65 -@85 d@90 |@100"}},
		{.compose = compose_alive,
		 .in = {"!EIO@50"},
		 .out = {"-@20 -@40 !EIO@50"}},
	};

	ASSERT_PICTURES(pictures);
}

static void what_is_due_is_made_when_it_is_asked_for(void **state)
{
	static const struct picture picture = {
		.compose = compose_alive,
		.in = {"a@0 |@100"},
		.asked = {"ask@0 ask@70 ask@75 ask@99"},
		.out = {"a@0 -@70 -@90 |@100"},
	};

	assert_picture(&picture);
}

static int make_seven(void **item, void *context)
{
	int *left = context;

	if (*left == 0)
		return -EDOM;
	--*left;
	*item = item_new(7);
	return 0;
}

static enum weir_directive as_told(struct weir_error *error, void *context)
{
	return *(enum weir_directive *)context;
}

static void begin_alive(int *left, enum weir_directive *directive, size_t open)
{
	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow =
		weir_flow_keep_alive(world.flow, 10 * MS, make_seven, left);
	world.flow = weir_flow_supervise(world.flow, as_told, directive);
	world_start(&world, open);
}

/* The next one is tried when the time has passed once more. */
static void an_item_that_cannot_be_made_is_left_out_or_fails(void **state)
{
	enum weir_directive directive;
	int left;

	for (directive = WEIR_DIRECTIVE_RESUME;
	     directive <= WEIR_DIRECTIVE_RESTART; directive++) {
		left = 0;
		begin_alive(&left, &directive, OPEN);
		until(&world, 15 * MS);
		left = 1;
		until(&world, 25 * MS);
		ASSERT_OUT(&world, 7);
		assert_int_equal(world.at_ns[0], 20 * MS);
		flow_world_end(&world, 0);
	}
	left = 1;
	directive = WEIR_DIRECTIVE_STOP;
	begin_alive(&left, &directive, OPEN);
	until(&world, 25 * MS);
	ASSERT_OUT(&world, 7);
	flow_world_end(&world, -EDOM);
}

/* A timer that was armed for a time that has passed would fire for ever. */
static void without_demand_nothing_is_made_and_no_timer_is_left(void **state)
{
	enum weir_directive directive = WEIR_DIRECTIVE_STOP;
	int left = 9;

	begin_alive(&left, &directive, 1);
	flow_offer(&world, 1, 2);
	(void)weir_sim_run(world.base.sim);
	ASSERT_OUT(&world, 1);
	assert_int_equal(left, 9);
	let_pass(&world, 2);
	ASSERT_OUT(&world, 1, 2);
	(void)weir_sim_run(world.base.sim);
	ASSERT_OUT(&world, 1, 2, 7);
	weir_flow_run_stop(world.run, NULL);
	(void)weir_sim_run(world.base.sim);
	flow_world_end(&world, -ECANCELED);
}

static void a_cancel_leaves_no_timer(void **state)
{
	enum weir_directive directive = WEIR_DIRECTIVE_STOP;
	int left = 9;

	begin_alive(&left, &directive, OPEN);
	until(&world, 5 * MS);
	weir_flow_run_stop(world.run, NULL);
	(void)weir_sim_run(world.base.sim);
	assert_int_equal(world_now(&world.base), 5 * MS);
	flow_world_end(&world, -ECANCELED);
}

/* --- extrapolate ---------------------------------------------------------- */

static void more_are_made_of_the_last_one_for_who_asks(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_more,
		 .in = {"a@10 b@40 |@100"},
		 .out = {"a@10 a1@10 a2@10 a3@10 b@40 b1@40 b2@40 b3@40 "
			 "|@100"}},
	};
	static const struct picture asked = {
		.compose = compose_more,
		.in = {"a@10 b@25 |@100"},
		.asked = {"ask@0 ask@20 ask@30 ask@40 ask@50"},
		.out = {"a@10 a1@20 b@30 b1@40 b2@50 |@100"},
	};

	ASSERT_PICTURES(pictures);
	assert_picture(&asked);
}

static int share_twice(void *last, uint64_t i, void **item, void *context)
{
	/* when it has said that there are no more it is not asked again */
	assert_true(i <= 2);
	*item = last;
	return i < 2 ? (item_share(last, NULL), 1) : *(int *)context;
}

static void begin_more(const struct weir_items *items, int *then, size_t open)
{
	flow_world_init(&world, items);
	world.got.counted = true;
	world.flow = weir_flow_extrapolate(world.flow, share_twice, then);
	world_start(&world, open);
}

static void the_last_one_is_shared_and_dropped_once(void **state)
{
	int then = 0;

	begin_more(&counted_items, &then, 1);
	flow_offer(&world, 1, 1);
	until(&world, 1 * MS);
	flow_offer(&world, 2, 2);
	let_pass(&world, 2);
	ASSERT_OUT(&world, 1, 2, 2);
	assert_int_equal(n_live, 1);
	let_pass(&world, OPEN);
	let_pass(&world, OPEN);
	ASSERT_OUT(&world, 1, 2, 2, 2);
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
}

static void a_function_that_makes_more_may_fail(void **state)
{
	int then = -EDOM;

	begin_more(&counted_items, &then, OPEN);
	flow_offer(&world, 1, 1);
	until(&world, 1 * MS);
	ASSERT_OUT(&world, 1, 1, 1);
	flow_world_end(&world, -EDOM);
	then = 2; /* neither yes nor no */
	begin_more(&counted_items, &then, OPEN);
	flow_offer(&world, 1, 1);
	until(&world, 1 * MS);
	flow_world_end(&world, -EINVAL);
}

static int no_share(void *item, void *context)
{
	return -ENOMEM;
}

static void items_that_cannot_be_shared_are_refused(void **state)
{
	static const struct weir_items one_owner = {.drop = item_drop};
	static const struct weir_items short_of_memory = {.drop = item_drop,
							  .share = no_share};
	struct weir_flow *flow;
	int then = 0;

	flow = weir_flow_items(weir_flow_empty(), &one_owner);
	flow = weir_flow_extrapolate(flow, share_twice, &then);
	flow = weir_flow_ignore(flow);
	assert_int_equal(run_on_sim(flow, 1, 0), -ENOTSUP);
	weir_flow_free(flow);
	begin_more(&short_of_memory, &then, OPEN);
	flow_offer(&world, 1, 1);
	until(&world, 1 * MS);
	ASSERT_OUT(&world, 1);
	flow_world_end(&world, -ENOMEM);
}

/* --- backpressure_timeout ------------------------------------------------- */

static void who_does_not_ask_in_time_fails_the_stream(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_not_asked,
		 .in = {"a@0 b@5 c@30 |@80"},
		 .asked = {"ask@0 ask@19 ask@38"},
		 .out = {"a@0 b@19 c@38 !ETIMEDOUT@58"}},
		/* from the start on */
		{.compose = compose_not_asked,
		 .in = {"a@0 |@80"},
		 .asked = {"ask@30"},
		 .out = {"!ETIMEDOUT@20"}},
	};

	assert_picture(&pictures[0]);
	assert_picture(&pictures[1]);
}

static void who_has_asked_may_wait(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_not_asked,
		 .in = {"a@50 b@90 |@150"},
		 .out = {"a@50 b@90 |@150"}},
		{.compose = compose_not_asked,
		 .in = {"!EIO@50"},
		 .out = {"!EIO@50"}},
	};

	ASSERT_PICTURES(pictures);
}

static void while_somebody_waits_no_timer_is_needed(void **state)
{
	flow_world_init(&world, NULL);
	world.flow = weir_flow_backpressure_timeout(world.flow, 10 * MS);
	world_start(&world, OPEN);
	(void)weir_sim_run(world.base.sim);
	assert_true(world_now(&world.base) <= 10 * MS);
	flow_world_end(&world, 0);
}

static void without_a_function_or_a_time_it_is_refused(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_keep_alive(weir_flow_empty(), 0, make_seven, NULL),
		weir_flow_keep_alive(weir_flow_empty(), 1, NULL, NULL),
		weir_flow_extrapolate(weir_flow_empty(), NULL, NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_stream_is_kept_alive),
		cmocka_unit_test(what_is_due_is_made_when_it_is_asked_for),
		cmocka_unit_test(
			an_item_that_cannot_be_made_is_left_out_or_fails),
		cmocka_unit_test(
			without_demand_nothing_is_made_and_no_timer_is_left),
		cmocka_unit_test(a_cancel_leaves_no_timer),
		cmocka_unit_test(more_are_made_of_the_last_one_for_who_asks),
		cmocka_unit_test(the_last_one_is_shared_and_dropped_once),
		cmocka_unit_test(a_function_that_makes_more_may_fail),
		cmocka_unit_test(items_that_cannot_be_shared_are_refused),
		cmocka_unit_test(who_does_not_ask_in_time_fails_the_stream),
		cmocka_unit_test(who_has_asked_may_wait),
		cmocka_unit_test(while_somebody_waits_no_timer_is_needed),
		cmocka_unit_test(without_a_function_or_a_time_it_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
