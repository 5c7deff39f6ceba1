/* SPDX-License-Identifier: BSD-2-Clause */
/* Items picked by when they come: debounce, sample and the like. */
#include "flow/marbles_kit.h"
#include "flow/world.h"

#define ASSERT_PICTURES(pictures) \
	assert_pictures(pictures, sizeof(pictures) / sizeof(*(pictures)))

COMPOSE(debounce, weir_flow_debounce(flow, 20 * MS))
COMPOSE(sample, weir_flow_sample(flow, 30 * MS, false))
COMPOSE(sample_with_last, weir_flow_sample(flow, 30 * MS, true))
COMPOSE(first, weir_flow_throttle_first(flow, 20 * MS))
COMPOSE(latest, weir_flow_throttle_latest(flow, 20 * MS, false))
COMPOSE(latest_with_last, weir_flow_throttle_latest(flow, 20 * MS, true))

static void a_debounce_waits_until_it_is_quiet(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_debounce,
		 .in = {"a@0 b@10 c@25 d@60 |@100"},
		 .out = {"c@45 d@80 |@100"}},
		/* it is quiet just when the next one comes */
		{.compose = compose_debounce,
		 .in = {"a@0 b@20 |@100"},
		 .out = {"a@20 b@40 |@100"}},
		{.compose = compose_debounce,
		 .in = {"a@0 b@0 c@0 |@100"},
		 .out = {"c@20 |@100"}},
	};

	ASSERT_PICTURES(pictures);
}

static void a_debounce_emits_at_the_end_but_not_before_an_error(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_debounce,
		 .in = {"a@0 b@10 |@15"},
		 .out = {"b@15 |@15"}},
		{.compose = compose_debounce, .in = {"|@15"}, .out = {"|@15"}},
		{.compose = compose_debounce,
		 .in = {"a@0 b@30 !EIO@35"},
		 .out = {"a@20 !EIO@35"}},
	};

	ASSERT_PICTURES(pictures);
}

static void a_sample_is_the_newest_of_its_step(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_sample,
		 .in = {"a@5 b@10 c@35 d@130 |@160"},
		 .out = {"b@30 c@60 d@150 |@160"}},
		/* one that comes with a step waits for the next */
		{.compose = compose_sample,
		 .in = {"a@0 b@30 c@59 |@100"},
		 .out = {"a@30 c@60 |@100"}},
		{.compose = compose_sample,
		 .in = {"a@5 b@40 !EIO@50"},
		 .out = {"a@30 !EIO@50"}},
	};

	ASSERT_PICTURES(pictures);
}

static void the_last_sample_is_emitted_if_that_is_wanted(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_sample,
		 .in = {"a@5 b@40 |@50"},
		 .out = {"a@30 |@50"}},
		{.compose = compose_sample_with_last,
		 .in = {"a@5 b@40 |@50"},
		 .out = {"a@30 b@50 |@50"}},
		{.compose = compose_sample_with_last,
		 .in = {"a@5 b@40 !EIO@50"},
		 .out = {"a@30 !EIO@50"}},
	};

	ASSERT_PICTURES(pictures);
}

static void a_first_one_passes_and_opens_a_window(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_first,
		 .in = {"a@0 b@10 c@20 d@39 e@90 |@95"},
		 .out = {"a@0 c@20 e@90 |@95"}},
		{.compose = compose_first,
		 .in = {"a@0 b@0 c@0 d@30 !EIO@35"},
		 .out = {"a@0 d@30 !EIO@35"}},
	};

	ASSERT_PICTURES(pictures);
}

static void the_latest_one_passes_when_the_window_closes(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_latest,
		 .in = {"a@5 b@10 c@15 d@26 e@90 f@95 |@200"},
		 .out = {"a@5 c@25 d@45 e@90 f@110 |@200"}},
		/* nothing came in the window of b */
		{.compose = compose_latest,
		 .in = {"a@0 b@10 c@40 |@200"},
		 .out = {"a@0 b@20 c@40 |@200"}},
		{.compose = compose_latest,
		 .in = {"a@0 b@0 c@0 |@200"},
		 .out = {"a@0 c@20 |@200"}},
	};

	ASSERT_PICTURES(pictures);
}

static void the_last_of_the_latest_is_emitted_if_that_is_wanted(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_latest,
		 .in = {"a@0 b@10 |@15"},
		 .out = {"a@0 |@15"}},
		{.compose = compose_latest_with_last,
		 .in = {"a@0 b@10 |@15"},
		 .out = {"a@0 b@15 |@15"}},
		{.compose = compose_latest_with_last,
		 .in = {"a@0 b@10 !EIO@15"},
		 .out = {"a@0 !EIO@15"}},
	};

	ASSERT_PICTURES(pictures);
}

/* --- Who does not ask ----------------------------------------------------- */

static void begin(struct flow_world *world,
		  struct weir_flow *(*compose)(struct weir_flow *const *flows,
					       struct weir_flow **outlets),
		  size_t open)
{
	struct weir_flow *flows[2] = {NULL};

	flow_world_init(world, &counted_items);
	world->got.counted = true;
	flows[0] = world->flow;
	world->flow = compose(flows, NULL);
	world_start(world, open);
}

/* Upstream is asked, though downstream asks for nothing. */
static void what_is_not_asked_for_gives_way_to_the_next(void **state)
{
	static struct flow_world world;

	begin(&world, compose_debounce, 0);
	flow_offer(&world, 1, 900);
	until(&world, 50 * MS);
	assert_int_equal(n_live, 1);
	flow_offer(&world, 901, 903);
	until(&world, 100 * MS);
	assert_int_equal(n_live, 1);
	let_pass(&world, OPEN);
	ASSERT_OUT(&world, 903);
	flow_world_end(&world, 0);
}

static void nothing_is_to_be_done_while_nothing_comes(void **state)
{
	static struct flow_world world;

	begin(&world, compose_sample, OPEN);
	flow_offer(&world, 1, 1);
	until(&world, 30 * MS);
	ASSERT_OUT(&world, 1);
	assert_int_equal(weir_sim_run(world.base.sim), 0);
	flow_world_end(&world, 0);
}

static void a_cancel_drops_what_waits_and_leaves_no_timer(void **state)
{
	static const struct {
		struct weir_flow *(*compose)(struct weir_flow *const *flows,
					     struct weir_flow **outlets);
		int64_t n_waiting;
	} rows[] = {
		{compose_debounce, 1},
		{compose_sample, 1},
		{compose_first, 0},
		{compose_latest, 1},
	};
	static struct flow_world world;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(&world, rows[i].compose, OPEN);
		flow_offer(&world, 1, 6);
		until(&world, 5 * MS);
		assert_int_equal(n_live, rows[i].n_waiting);
		weir_flow_run_stop(world.run, NULL);
		(void)weir_sim_run(world.base.sim);
		assert_int_equal(world_now(&world.base), 5 * MS);
		flow_world_end(&world, -ECANCELED);
		assert_true(world.got.n <= 1);
	}
}

static void windows_longer_than_time_are_waited_for_in_vain(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = weir_flow_debounce(world.flow, WEIR_FOREVER);
	world_start(&world, OPEN);
	until(&world, 5 * MS);
	flow_offer(&world, 1, 1);
	until(&world, 1000000 * MS);
	assert_int_equal(world.got.n, 0);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 1);
}

static void none_takes_no_time(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_debounce(weir_flow_empty(), 0),
		weir_flow_sample(weir_flow_empty(), 0, true),
		weir_flow_throttle_first(weir_flow_empty(), 0),
		weir_flow_throttle_latest(weir_flow_empty(), 0, true),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_debounce_waits_until_it_is_quiet),
		cmocka_unit_test(
			a_debounce_emits_at_the_end_but_not_before_an_error),
		cmocka_unit_test(a_sample_is_the_newest_of_its_step),
		cmocka_unit_test(the_last_sample_is_emitted_if_that_is_wanted),
		cmocka_unit_test(a_first_one_passes_and_opens_a_window),
		cmocka_unit_test(the_latest_one_passes_when_the_window_closes),
		cmocka_unit_test(
			the_last_of_the_latest_is_emitted_if_that_is_wanted),
		cmocka_unit_test(what_is_not_asked_for_gives_way_to_the_next),
		cmocka_unit_test(nothing_is_to_be_done_while_nothing_comes),
		cmocka_unit_test(a_cancel_drops_what_waits_and_leaves_no_timer),
		cmocka_unit_test(
			windows_longer_than_time_are_waited_for_in_vain),
		cmocka_unit_test(none_takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
