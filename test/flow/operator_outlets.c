/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators of the user's with several outlets: who wants what. */
#include "flow/fan_outlets.h"
#include "flow/outlets_kit.h"

/* --- Which outlet ----------------------------------------------------------- */

static void each_item_goes_to_the_outlet_that_was_chosen(void **state)
{
	static const size_t unfused[] = {0, 1, 16};
	struct weir_flow *outlets[WAYS], *flow;
	struct seen seen;
	size_t i;

	for_each_seed(seed, 30) {
		flow = counted(weir_flow_range(1, 10));
		if (seed % 2)
			flow = weir_flow_async(flow, 2, NULL);
		split(flow, &splits, &seen, 3, seed % 3 ? 64 : 1, outlets);
		flow = sinks(outlets, gots, 3);
		assert_int_equal(run_on_sim(flow, seed, unfused[seed % 3]), 0);
		weir_flow_free(flow);
		assert_values(&gots[0], 3, 3, 6, 9);
		assert_values(&gots[1], 4, 1, 4, 7, 10);
		assert_values(&gots[2], 3, 2, 5, 8);
		assert_int_equal(seen.closes, 1);
		assert_int_equal(seen.ends, 1);
		for (i = 0; i < 3; i++)
			assert_int_equal(seen.cancels[i], 0);
		assert_int_equal(n_live, 0);
	}
}

/* Merged, they are in one actor. */
static void outlets_may_be_used_by_one_actor(void **state)
{
	static struct got got;
	struct weir_flow *outlets[WAYS], *flow;
	struct seen seen;

	for_each_seed(seed, 20) {
		got = (struct got){.counted = true};
		split(counted(weir_flow_range(1, 200)), &splits, &seen, 3, 2,
		      outlets);
		flow = into(weir_flow_merge(outlets, 3), &got);
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		weir_flow_free(flow);
		assert_int_equal(got.n, 200);
		assert_int_equal(n_live, 0);
	}
}

/* --- Demand ----------------------------------------------------------------- */

static void rest_one_of_two(bool async)
{
	struct weir_flow *outlets[WAYS], *flow;
	struct trial trial;
	struct tap tap = {0};
	struct seen seen;

	flow = tap_flow(&tap);
	if (async)
		flow = weir_flow_async(flow, 4, NULL);
	split(counted(flow), &splits, &seen, 2, 2, outlets);
	flow = gated(outlets, 2, 0);
	begin(&trial, flow, 1, 0);
	assert_int_equal(seen.pulls[0], 1);
	assert_int_equal(seen.pulls[1], 1);
	let(&trial, 1, 100);
	/* odd ones flow, although nobody takes the even ones */
	tap_give(&tap, 1, 4);
	tap_give(&tap, 101, 101);
	tap_give(&tap, 103, 103);
	rest(&trial);
	assert_values(&gated_ways[1].got, 4, 1, 3, 101, 103);
	assert_int_equal(gated_ways[0].got.n, 0);
	/* a third even one has no room: it and the odd one behind wait */
	tap_give(&tap, 5, 7);
	rest(&trial);
	assert_values(&gated_ways[1].got, 5, 1, 3, 101, 103, 5);
	assert_int_equal(n_live, 3);
	let(&trial, 0, 1);
	assert_values(&gated_ways[0].got, 1, 2);
	assert_values(&gated_ways[1].got, 6, 1, 3, 101, 103, 5, 7);
	let(&trial, 0, 100);
	assert_values(&gated_ways[0].got, 3, 2, 4, 6);
	tap_end(&tap, 0);
	rest(&trial);
	assert_int_equal(end(&trial), 0);
	assert_int_equal(n_live, 0);
}

/* rest() finds an operator that goes round in circles, for tokens that it does
 * not ask for. */
static void one_outlet_may_rest_while_another_has_demand(void **state)
{
	rest_one_of_two(false);
	rest_one_of_two(true);
}

static int ask_nothing(struct weir_operator *op)
{
	seen_of(op)->pulls[weir_operator_outlet(op)]++;
	return 0;
}

/* An operator that asks for nothing gets nothing, and each outlet that has room
 * is told once. */
static void upstream_is_asked_as_the_operator_says(void **state)
{
	static const struct weir_operator_ops asks_nothing = {
		.on_pull = ask_nothing,
	};
	struct weir_flow *outlets[WAYS], *flow;
	struct trial trial;
	struct tap tap = {0};
	struct seen seen;

	tap_give(&tap, 1, 9);
	flow = weir_flow_async(counted(tap_flow(&tap)), 4, NULL);
	split(flow, &asks_nothing, &seen, 2, 1, outlets);
	begin(&trial, gated(outlets, 2, OPEN), 1, 0);
	assert_int_equal(seen.pulls[0], 1);
	assert_int_equal(seen.pulls[1], 1);
	assert_int_equal(tap.at, 4);
	/* the end is told all the same */
	tap_end(&tap, -EPROTO);
	rest(&trial);
	assert_false(is_over(&trial));
	assert_int_equal(end(&trial), -ECANCELED);
	assert_int_equal(n_live, 0);
}

static void the_default_deals_to_each_that_wants_in_turn(void **state)
{
	static const struct weir_operator_ops nothing = {.name = "nothing"};
	struct weir_flow *outlets[WAYS], *flow;
	struct trial trial;
	struct tap tap = {0};
	struct seen seen;

	split(counted(weir_flow_range(1, 7)), &nothing, &seen, 3, 4, outlets);
	flow = sinks(outlets, gots, 3);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_int_equal(gots[0].n + gots[1].n + gots[2].n, 7);
	assert_int_equal(gots[0].values[0], 1);
	assert_int_equal(gots[1].values[0], 2);
	assert_int_equal(gots[2].values[0], 3);

	split(counted(tap_flow(&tap)), &nothing, &seen, 2, 1, outlets);
	begin(&trial, gated(outlets, 2, 0), 1, 0);
	tap_give(&tap, 1, 9);
	rest(&trial);
	assert_int_equal(n_live, 2);
	let(&trial, 1, 3);
	assert_values(&gated_ways[1].got, 3, 2, 3, 4);
	let(&trial, 0, 1);
	assert_values(&gated_ways[0].got, 1, 1);
	assert_int_equal(end(&trial), -ECANCELED);
	assert_int_equal(n_live, 0);
}

/* --- Inputs ----------------------------------------------------------------- */

/* Items of input `i` go to outlet 1 - `i`; each outlet asks its input. */
static int cross_pull(struct weir_operator *op)
{
	int rc = weir_operator_pull_input(op, 1 - weir_operator_outlet(op));

	return rc == -EPIPE ? 0 : rc;
}

static int cross_push(struct weir_operator *op, void *item)
{
	return weir_operator_push_outlet(op, 1 - weir_operator_input(op), item);
}

static int cross_end(struct weir_operator *op, struct weir_error *error)
{
	int rc = weir_operator_end_outlet(op, 1 - weir_operator_input(op),
					  error);

	assert_true(rc == 0 || rc == -EALREADY);
	return 0;
}

static void cross_cancel(struct weir_operator *op)
{
	(void)weir_operator_cancel_input(op, 1 - weir_operator_outlet(op));
}

static const struct weir_operator_ops crosses = {
	.name = "crosses",
	.on_pull = cross_pull,
	.on_push = cross_push,
	.on_end = cross_end,
	.on_cancel = cross_cancel,
};

/* The other pair goes on, and its outlet's items are of its input. */
static void several_inputs_go_with_several_outlets(void **state)
{
	struct weir_flow *outlets[2], *flows[2], *flow;
	int i;

	for_each_seed(seed, 20) {
		flows[0] = weir_flow_range(1, 5);
		flows[1] = counted(weir_flow_range(11, 19));
		if (seed % 2)
			for (i = 0; i < 2; i++)
				flows[i] = weir_flow_async(flows[i], 1, NULL);
		assert_int_equal(weir_flow_operator_outlets(flows, 2, &crosses,
							    NULL, 2, outlets,
							    NULL),
				 0);
		outlets[0] = weir_flow_items(outlets[0], &counted_items);
		outlets[1] = weir_flow_items(outlets[1], NULL);
		if (seed % 4 < 2)
			outlets[0] = weir_flow_take(outlets[0], 3);
		memset(gots, 0, sizeof(gots));
		gots[0].counted = true;
		outlets[0] = into(outlets[0], &gots[0]);
		outlets[1] = into(outlets[1], &gots[1]);
		flow = weir_flow_all(outlets, 2);
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		weir_flow_free(flow);
		assert_int_equal(gots[0].n, seed % 4 < 2 ? 3 : 9);
		assert_int_equal(gots[0].values[2], 13);
		assert_values(&gots[1], 5, 1, 2, 3, 4, 5);
		assert_int_equal(n_live, 0);
	}
}

/* The numbers from 1 on, each to the outlet that asks. */
static int count_to(struct weir_operator *op)
{
	intptr_t *number = weir_operator_state(op);

	if (*number == 20)
		return weir_operator_end(op, NULL);
	return weir_operator_push_outlet(op, weir_operator_outlet(op),
					 (void *)++*number);
}

static const struct weir_operator_ops counts = {
	.name = "counts",
	.state_size = sizeof(intptr_t),
	.on_pull = count_to,
};

static void a_source_may_have_outlets(void **state)
{
	struct weir_flow *outlets[2], *flow;

	assert_int_equal(weir_flow_operator_outlets(NULL, 0, &counts, NULL, 2,
						    outlets, NULL),
			 0);
	flow = weir_flow_merge(outlets, 2);
	flow = weir_flow_count(flow);
	ASSERT_FLOW(flow, 0, 20);
}

/* --- Round in a circle ------------------------------------------------------ */

/* A crawl: of each number the numbers twice as large, and one more, are found
 * on outlet 1, and come back; up to 63. */
struct crawl {
	size_t queued, at, under_way;
	struct item *kept[2]; /* of each input, for outlet 0 */
	intptr_t found[128];
};

static void crawl_out(struct weir_operator *op, struct crawl *self)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (self->kept[i] && weir_operator_push(op, self->kept[i]) == 0)
			self->kept[i] = NULL;
	while (self->at < self->queued && weir_operator_wanted_outlet(op, 1)) {
		assert_int_equal(weir_operator_push_outlet(
					 op, 1,
					 item_new(self->found[self->at++])),
				 0);
		self->under_way++;
	}
}

static int crawl_give(struct weir_operator *op)
{
	struct crawl *self = weir_operator_state(op);
	size_t i;

	crawl_out(op, self);
	for (i = 0; i < 2; i++)
		if (!self->kept[i])
			(void)weir_operator_pull_input(op, i);
	return weir_operator_ended(op, 0) && self->under_way == 0 &&
			       self->at == self->queued && !self->kept[0] &&
			       !self->kept[1]
		       ? weir_operator_end(op, NULL)
		       : 0;
}

static int crawl_push(struct weir_operator *op, void *memory)
{
	struct crawl *self = weir_operator_state(op);
	size_t i = weir_operator_input(op);
	struct item *item = memory;
	intptr_t value = item->value;

	assert_null(self->kept[i]);
	self->kept[i] = item;
	self->under_way -= i;
	if (value < 32) {
		self->found[self->queued++] = value * 2;
		self->found[self->queued++] = value * 2 + 1;
	}
	return crawl_give(op);
}

static int crawl_end(struct weir_operator *op, struct weir_error *error)
{
	return error ? weir_operator_end(op, error) : crawl_give(op);
}

static void an_outlet_may_come_back_to_an_input(void **state)
{
	static const struct weir_operator_ops crawls = {
		.name = "crawls",
		.state_size = sizeof(struct crawl),
		.on_pull = crawl_give,
		.on_push = crawl_push,
		.on_end = crawl_end,
	};
	struct weir_flow *flows[2], *outlets[2], *flow;
	struct weir_flow_graph *graph;
	bool seen[64];
	size_t i;

	for_each_seed(seed, 20) {
		assert_int_equal(weir_flow_graph_new(&graph), 0);
		flows[0] = counted(weir_flow_range(1, 1));
		flows[1] = weir_flow_items(weir_flow_graph_inlet(graph, "more"),
					   &counted_items);
		assert_int_equal(weir_flow_operator_outlets(flows, 2, &crawls,
							    NULL, 2, outlets,
							    NULL),
				 0);
		for (i = 0; i < 2; i++)
			outlets[i] =
				weir_flow_items(outlets[i], &counted_items);
		gots[0] = (struct got){.counted = true};
		flow = into(outlets[0], &gots[0]);
		weir_flow_graph_add(graph, NULL, flow);
		weir_flow_graph_add(graph, "found", outlets[1]);
		weir_flow_graph_connect(graph, "found", "more", 1);
		flow = weir_flow_graph_build(graph);
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		weir_flow_free(flow);
		assert_int_equal(n_live, 0);
		memset(seen, 0, sizeof(seen));
		assert_int_equal(gots[0].n, 63);
		for (i = 0; i < 63; i++) {
			assert_false(seen[gots[0].values[i]]);
			seen[gots[0].values[i]] = true;
		}
	}
}

/* --- Ahead, and times ------------------------------------------------- */

static int sum_open(struct weir_operator *op)
{
	return weir_operator_pull(op);
}

static int sum_push(struct weir_operator *op, void *item)
{
	intptr_t *sum = weir_operator_state(op);

	*sum += ((struct item *)item)->value;
	weir_operator_drop(op, item);
	return weir_operator_pull(op);
}

static int ended_alone(struct weir_operator *op, struct weir_error *error)
{
	seen_of(op)->ends++;
	return 0;
}

static int sum_timer(struct weir_operator *op)
{
	const intptr_t *sum = weir_operator_state(op);
	size_t i;

	for (i = 0; i < 2; i++)
		(void)weir_operator_push_outlet(op, i, item_new(*sum + i));
	return weir_operator_end(op, NULL);
}

static int sum_end(struct weir_operator *op, struct weir_error *error)
{
	weir_operator_timer_at(op, weir_operator_now(op) + 5 * MS);
	return 0;
}

/* Nothing is asked for, and what is pulled comes. */
static void one_with_outlets_may_run_ahead(void **state)
{
	static const struct weir_operator_ops sums = {
		.name = "sums",
		.state_size = sizeof(intptr_t),
		.open = sum_open,
		.on_pull = ask_nothing,
		.on_push = sum_push,
		.on_timer = sum_timer,
		.on_end = sum_end,
		.ahead = true,
	};
	struct weir_flow *outlets[2];
	struct trial trial;
	struct tap tap = {0};
	struct seen seen;

	split(counted(tap_flow(&tap)), &sums, &seen, 2, 1, outlets);
	begin(&trial, gated(outlets, 2, 0), 1, 0);
	tap_give(&tap, 1, 100);
	rest(&trial);
	assert_int_equal(n_live, 0);
	assert_int_equal(tap.at, 100);
	tap_end(&tap, 0);
	rest(&trial);
	let(&trial, 0, 9);
	let(&trial, 1, 9);
	assert_values(&gated_ways[0].got, 1, 5050);
	assert_values(&gated_ways[1].got, 1, 5051);
	assert_int_equal(end(&trial), 0);
}

static int fill_pull(struct weir_operator *op)
{
	return weir_operator_push_outlet(op, weir_operator_outlet(op),
					 item_new(0));
}

/* More items than it may take at once. */
static void one_that_runs_ahead_does_not_wait_for_room(void **state)
{
	static const struct weir_operator_ops sums = {
		.name = "sums",
		.state_size = sizeof(intptr_t),
		.open = sum_open,
		.on_pull = fill_pull,
		.on_push = sum_push,
		.on_end = ended_alone,
		.ahead = true,
	};
	struct weir_flow *outlets[2];
	struct trial trial;
	struct seen seen;

	split(counted(weir_flow_range(1, 30000)), &sums, &seen, 2, 1, outlets);
	begin(&trial, gated(outlets, 2, 0), 1, 0);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(n_live, 2);
	assert_int_equal(end(&trial), -ECANCELED);
	assert_int_equal(n_live, 0);
}

/* --- One after the other ---------------------------------------------------- */

static int first_pull(struct weir_operator *op)
{
	(void)weir_operator_pull_input(op, weir_operator_ended(op, 0));
	return 0;
}

static int first_end(struct weir_operator *op, struct weir_error *error)
{
	if (weir_operator_input(op) == 1)
		return weir_operator_end(op, error);
	(void)weir_operator_pull_input(op, 1);
	return 0;
}

/* Where time passes, an actor begins with little work at once: what is asked
 * for in the last call of that is not forgotten. */
static void what_on_end_asks_for_comes(void **state)
{
	static const struct weir_operator_ops concats = {
		.on_pull = first_pull,
		.on_end = first_end,
	};
	struct weir_flow *flows[] = {weir_flow_empty(), weir_flow_range(1, 3)};
	struct weir_flow *outlets[2], *flow;
	struct weir_flow_run *run;
	struct weir_loop *loop;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	assert_int_equal(weir_flow_operator_outlets(flows, 2, &concats, NULL, 2,
						    outlets, NULL),
			 0);
	flow = weir_flow_merge(outlets, 2);
	assert_int_equal(
		weir_flow_start(flow, weir_loop_executor(loop), NULL, &run), 0);
	while (weir_loop_run(loop, 100) > 0)
		;
	assert_true(weir_completion_done(weir_flow_run_over(run)));
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_loop_free(loop), 0);
}

/* --- Wakes ------------------------------------------------------------------ */

/* What a test wakes, which fills all that wants an item. */
static struct weir_operator *woken;
static int n_wakes;

static int woken_open(struct weir_operator *op)
{
	woken = op;
	return 0;
}

static int woken_fill(struct weir_operator *op)
{
	size_t i;

	n_wakes++;
	for (i = 0; i < 2; i++)
		if (weir_operator_wanted_outlet(op, i))
			assert_int_equal(
				weir_operator_push_outlet(op, i, (void *)1), 0);
	return 0;
}

static int woken_drained(struct weir_operator *op, struct weir_error *error)
{
	return weir_operator_end(op, error);
}

static const struct weir_operator_ops wakes = {
	.open = woken_open,
	.on_wake = woken_fill,
	.on_end = woken_drained,
};

/* One outlet rests, and is full; a drain ends the source. */
static void a_wake_is_told_whatever_the_outlets_want(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 1};
	struct weir_flow *outlets[2];
	struct trial trial;
	int i;

	n_wakes = 0;
	assert_int_equal(weir_flow_operator_outlets(NULL, 0, &wakes, NULL, 2,
						    outlets, &options),
			 0);
	begin(&trial, gated(outlets, 2, 0), 1, 0);
	gated_ways[0].got.counted = gated_ways[1].got.counted = false;
	for (i = 0; i < 3; i++) {
		weir_operator_wake(woken);
		rest(&trial);
	}
	assert_int_equal(n_wakes, 3);
	let(&trial, 1, 5);
	for (i = 0; i < 3; i++) {
		weir_operator_wake(woken);
		rest(&trial);
	}
	assert_int_equal(n_wakes, 6);
	assert_int_equal(gated_ways[0].got.n, 0);
	assert_int_equal(gated_ways[1].got.n, 4);
	let(&trial, 0, 5);
	weir_flow_run_end(trial.run);
	rest(&trial);
	assert_true(is_over(&trial));
	assert_int_equal(end(&trial), 0);
	assert_int_equal(gated_ways[0].got.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_item_goes_to_the_outlet_that_was_chosen),
		cmocka_unit_test(outlets_may_be_used_by_one_actor),
		cmocka_unit_test(one_outlet_may_rest_while_another_has_demand),
		cmocka_unit_test(upstream_is_asked_as_the_operator_says),
		cmocka_unit_test(the_default_deals_to_each_that_wants_in_turn),
		cmocka_unit_test(several_inputs_go_with_several_outlets),
		cmocka_unit_test(a_source_may_have_outlets),
		cmocka_unit_test(an_outlet_may_come_back_to_an_input),
		cmocka_unit_test(one_with_outlets_may_run_ahead),
		cmocka_unit_test(one_that_runs_ahead_does_not_wait_for_room),
		cmocka_unit_test(what_on_end_asks_for_comes),
		cmocka_unit_test(a_wake_is_told_whatever_the_outlets_want),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
