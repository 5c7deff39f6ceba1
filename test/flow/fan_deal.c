/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/fan_deal.h"

/* --- Outlets that are asked by hand --------------------------------------- */

static size_t valve_pull(struct weir__op *op, void **items, size_t room)
{
	struct valve *valve = *(struct valve *const *)weir__op_args(op);
	size_t n;

	valve->op = op;
	n = weir__pull(op->up[0], items, weir__at_most(room, valve->open));
	valve->open -= n;
	(void)weir__op_follow(op);
	return n;
}

static void valve_close(struct weir__op *op)
{
	(*(struct valve *const *)weir__op_args(op))->op = NULL;
}

static const struct weir__kind valve_kind = {
	.name = "valve",
	.pull = valve_pull,
	.close = valve_close,
	.holds = true,
};

struct deal deal;

struct weir_flow *tapped(void)
{
	memset(&deal, 0, sizeof(deal));
	return counted(tap_flow(&deal.tap));
}

void deal_sink(size_t i, size_t max, size_t open)
{
	struct weir_flow *flow = deal.outlets[i];
	struct valve *valve = &deal.valves[i];

	if (max)
		flow = weir_flow_limit_rate(flow, max, 0);
	valve->open = open;
	flow = weir__flow_upon(&valve_kind, flow, &valve, sizeof(valve), true);
	assert_int_equal(weir_flow_switch_new(&deal.switches[i]), 0);
	flow = weir_flow_kill_switch(flow, deal.switches[i]);
	deal.gots[i].counted = true;
	deal.outlets[i] = into(flow, &deal.gots[i]);
	deal.n++;
}

void deal_begin(uint64_t seed)
{
	deal.unfused = ((size_t[]){2, 0, 0, 16})[seed % 4];
	begin(&deal.trial, weir_flow_all(deal.outlets, deal.n), seed,
	      deal.unfused);
}

void assert_asked(size_t n)
{
	if (deal.unfused)
		assert_true(deal.tap.at >= n);
	else
		assert_int_equal(deal.tap.at, n);
}

void deal_give(intptr_t first, intptr_t last)
{
	tap_give(&deal.tap, first, last);
	rest(&deal.trial);
}

void open_valve(size_t i, size_t n)
{
	deal.valves[i].open = n;
	if (deal.valves[i].op)
		weir__op_wake(deal.valves[i].op);
	rest(&deal.trial);
}

void cancel_outlet(size_t i)
{
	assert_int_equal(weir_flow_switch_end(deal.switches[i]), 0);
	rest(&deal.trial);
}

void deal_end(int code)
{
	size_t i;

	for (i = 0; i < deal.n; i++)
		open_valve(i, SIZE_MAX);
	tap_end(&deal.tap, 0);
	rest(&deal.trial);
	assert_true(is_over(&deal.trial));
	assert_int_equal(end(&deal.trial), code);
	deal.trial.sim = NULL;
	for (i = 0; i < deal.n; i++)
		weir_flow_switch_free(deal.switches[i]);
	assert_int_equal(n_live, 0);
}

void assert_values(size_t i, size_t n, const intptr_t *expected)
{
	size_t k;

	assert_int_equal(deal.gots[i].n, n);
	for (k = 0; k < n; k++)
		assert_int_equal(deal.gots[i].values[k], expected[k]);
}
