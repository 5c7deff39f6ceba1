/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends behind items that operators have held: who has got all items hears of
 * the end without asking for more, whenever that came.
 *
 * What asks here takes no more than it may, and looks at nobody behind that
 * unless it is woken, as an island does when the room below it is used up. It
 * is given items, and may take them, a few at a time, with others running in
 * between.
 */
#include <inttypes.h>

#include "flow/end_rows.h"

#include "flow/engine/island.h"
#include "flow/engine/items.h"

#define SEEDS 1000

struct sip {
	size_t may;	  /* so many items more */
	uint32_t n_wakes; /* of the island, when it looked last */
	struct weir__op *op;
};

static size_t sip_pull(struct weir__op *op, void **items, size_t room)
{
	struct sip *sip = *(struct sip *const *)weir__op_args(op);
	bool woken = sip->n_wakes != op->island->n_wakes;
	size_t n;

	sip->op = op;
	sip->n_wakes = op->island->n_wakes;
	if (sip->may == 0 && !woken)
		return 0;
	n = weir__pull(op->up[0], items, weir__at_most(room, sip->may));
	sip->may -= n;
	(void)weir__op_follow(op);
	return n;
}

static void sip_close(struct weir__op *op)
{
	(*(struct sip *const *)weir__op_args(op))->op = NULL;
}

static const struct weir__kind sip_kind = {
	.name = "sip",
	.pull = sip_pull,
	.close = sip_close,
	.holds = true,
};

static struct weir_flow *sipped(struct weir_flow *flow, struct sip *sip)
{
	return weir__flow_upon(&sip_kind, flow, &sip, sizeof(sip), true);
}

/* --- A run ---------------------------------------------------------------- */

static struct {
	struct goods goods;
	size_t n_items; /* of each tap */
	struct sip sip;
	struct weir_sim *sim;
	struct weir_flow *flow;
	struct weir_flow_run *run;
	const struct weir_items *items; /* what comes out */
	size_t n;			/* so many have */
	int64_t numbers[ITEMS_MAX];	/* of those, if they were numbered */
} run;

static int take_good(void *item, void *context)
{
	if (run.items == &run.goods.items && run.n < ITEMS_MAX)
		run.numbers[run.n] = ((struct good *)item)->number;
	run.items->drop(item, run.items->context);
	run.n++;
	return 0;
}

static void run_begin(const struct end_row *row, uint64_t seed)
{
	const struct weir_flow_run_options options = {
		.unfused = row->unfused,
	};
	const struct weir_items *items;
	struct weir_flow *flow;

	memset(&run, 0, sizeof(run));
	memset(end_taps, 0, sizeof(end_taps));
	goods_init(&run.goods);
	items = &run.goods.items;
	flow = weir_flow_items(tap_flow(&end_taps[0]), items);
	flow = row->put_upon(flow, items);
	run.items = weir__flow_items(flow);
	flow = weir_flow_for_each(sipped(flow, &run.sip), take_good, NULL);
	run.flow = flow;
	assert_int_equal(weir_sim_new(&run.sim, seed, NULL), 0);
	assert_int_equal(weir_flow_start(flow, weir_sim_executor(run.sim),
					 &options, &run.run),
			 0);
}

static void run_fini(void)
{
	weir_flow_run_free(run.run);
	weir_flow_free(run.flow);
	assert_int_equal(weir_sim_free(run.sim), 0);
	assert_int_equal(goods_live(&run.goods), 0);
}

static bool is_told(void)
{
	return weir_completion_done(weir_flow_run_over(run.run));
}

/* Nothing is left to do for now; an operator that waits for a while goes on. */
static void settle(void)
{
	uint64_t now_ns = weir_executor_now(weir_sim_executor(run.sim));

	assert_true(weir_sim_run_until(run.sim, now_ns + LONG_NS, STEPS_MAX) <
		    STEPS_MAX);
}

/* One item more, or the end behind the last. */
static void feed(const struct end_row *row, struct tap *tap)
{
	bool first = tap == &end_taps[0];

	if (tap->ends)
		return;
	if (tap->n == run.n_items || (!first && row->taps == EMPTY)) {
		if (first || row->taps != ENDLESS)
			tap_end(tap, first ? row->code : 0);
		return;
	}
	tap->items[tap->n] = (intptr_t)goods_make(&run.goods, (int64_t)tap->n);
	tap->n++;
	if (tap->op)
		weir__op_wake(tap->op);
}

static void allow(size_t n)
{
	run.sip.may += n;
	if (run.sip.op)
		weir__op_wake(run.sip.op);
}

/* Something of all that may happen; *left may be taken. */
static void do_something(const struct end_row *row, size_t *left)
{
	struct weir_sim *sim = run.sim;
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));
	size_t n = 1 + weir_sim_random(sim, 3);

	switch (weir_sim_random(sim, 5)) {
	case 0:
		feed(row, &end_taps[0]);
		break;
	case 1:
		if (row->taps != ONE)
			feed(row, &end_taps[1]);
		break;
	case 2:
		n = weir__at_most(n, *left);
		*left -= n;
		allow(n);
		break;
	case 3:
		settle();
		break;
	default:
		(void)weir_sim_run_until(sim, now_ns, 1);
	}
}

static void run_row(const struct end_row *row, uint64_t seed)
{
	size_t all, left;

	run_begin(row, seed);
	run.n_items = weir_sim_random(run.sim, ITEMS_MAX + 1);
	all = left = row->before + run.n_items * row->times;
	while (left > 0 || !end_taps[0].ends ||
	       ((row->taps == TWO || row->taps == EMPTY) &&
		!end_taps[1].ends) ||
	       (row->taps == ENDLESS && end_taps[1].n < run.n_items))
		do_something(row, &left);
	settle();
	if (run.n != all || !is_told())
		fail_msg("%s: %zu of %zu have come, and the end %s, seed "
			 "%" PRIu64,
			 row->name, run.n, all, is_told() ? "has" : "has not",
			 seed);
	run_fini();
}

static void run_rows(const struct end_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for_each_seed(seed, SEEDS)
			run_row(&rows[i], seed);
}

/* --- Tests ---------------------------------------------------------------- */

static void the_end_is_told_behind_what_was_held(void **state)
{
	run_rows(end_rows, n_end_rows);
}

static void the_end_is_told_behind_what_passes(void **state)
{
	struct end_row row;

	for (size_t i = 0; i < n_ways; i++) {
		row = (struct end_row){
			.name = ways[i].name,
			.put_upon = ways[i].put_upon,
			.times = 1,
			.unfused = ways[i].unfused,
		};
		if (ways[i].effect != CHANGES)
			run_rows(&row, 1);
	}
}

/* What comes is the same with all room at once and with a little now and then;
 * the groups hold items back until their end. */
static void same_comes_whatever_the_room(const struct end_row *row)
{
	int64_t numbers[ITEMS_MAX];
	size_t n, left;

	run_begin(row, 0);
	run.n_items = ITEMS_MAX;
	allow(ITEMS_MAX);
	while (!end_taps[0].ends)
		feed(row, &end_taps[0]);
	settle();
	assert_true(is_told());
	n = run.n;
	assert_in_range(n, 1, ITEMS_MAX);
	memcpy(numbers, run.numbers, sizeof(numbers));
	run_fini();

	for_each_seed(seed, SEEDS) {
		run_begin(row, seed);
		run.n_items = left = ITEMS_MAX;
		while (left > 0 || !end_taps[0].ends)
			do_something(row, &left);
		settle();
		assert_true(is_told());
		assert_int_equal(run.n, n);
		assert_memory_equal(numbers, run.numbers, sizeof(numbers));
		run_fini();
	}
}

static void groups_emit_in_one_order_whatever_the_room(void **state)
{
	static const struct end_row row = {"group_by", end_heavy_parts};

	same_comes_whatever_the_room(&row);
}

static void a_group_fails_behind_the_items_before_its_end(void **state)
{
	static const struct end_row row = {"group_by", end_failing_parts};

	same_comes_whatever_the_room(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_is_told_behind_what_was_held),
		cmocka_unit_test(the_end_is_told_behind_what_passes),
		cmocka_unit_test(groups_emit_in_one_order_whatever_the_room),
		cmocka_unit_test(a_group_fails_behind_the_items_before_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
