/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long slices are whose items take long: on an executor whose clock goes as
 * far as functions say that they have taken.
 */
#include "flow/kit.h"

#define SLOW_NS 1000000
#define CHEAP_NS 10

/* --- An executor whose time is what its turns take ------------------------ */

static struct {
	struct weir_executor executor;
	struct weir_task *first, **last;
	uint64_t now_ns, item_ns, n_items;
} desk;

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	task->next = NULL;
	*desk.last = task;
	desk.last = &task->next;
	return 0;
}

/* To ask takes time as well, so it never stands still. */
static uint64_t now(struct weir_executor *executor)
{
	return desk.now_ns++;
}

static const struct weir_executor_ops ops = {.submit = submit, .now = now};

static void desk_init(void)
{
	memset(&desk, 0, sizeof(desk));
	desk.last = &desk.first;
	desk.item_ns = SLOW_NS;
	assert_int_equal(weir_executor_init(&desk.executor, &ops, NULL), 0);
}

/* Runs one slice. How long that took. */
static uint64_t slice(void)
{
	struct weir_task *task = desk.first;
	uint64_t begin_ns = desk.now_ns;

	assert_non_null(task);
	desk.first = task->next;
	if (!desk.first)
		desk.last = &desk.first;
	weir_task_run(task);
	return desk.now_ns - begin_ns;
}

static void work(void)
{
	desk.now_ns += desk.item_ns;
	desk.n_items++;
}

/* --- Where items take their time ------------------------------------------ */

static int take(void *item, void *context)
{
	work();
	return 0;
}

static int take_n(void *const *items, size_t n, size_t *done, void *context)
{
	for (; *done < n; ++*done)
		work();
	return 0;
}

static int map(void **item, void *context)
{
	work();
	return 0;
}

static int keep_none(void *item, void *context)
{
	work();
	return 0;
}

static int add(void **result, void *item, void *context)
{
	work();
	return 0;
}

static int next(void **state, void **item, void *context)
{
	work();
	*item = NULL;
	return 1;
}

static int many(void *item, uint64_t i, void **out, void *context)
{
	work();
	*out = NULL;
	return i < 1000;
}

static int none(void *item, uint64_t i, void **out, void *context)
{
	work();
	return 0;
}

static struct weir_flow *empty(void *item, void *context)
{
	work();
	return weir_flow_empty();
}

static struct weir_flow *numbers(void)
{
	return weir_flow_range(1, INT64_MAX);
}

static struct weir_flow *mapped(void)
{
	return weir_flow_map(numbers(), map, NULL);
}

static struct weir_flow *to_for_each(void)
{
	return weir_flow_for_each(numbers(), take, NULL);
}

static struct weir_flow *to_for_each_n(void)
{
	return weir_flow_for_each_n(numbers(), take_n, NULL);
}

static struct weir_flow *to_a_fold(void)
{
	static const struct weir_flow_fold_functions folding = {.fold = add};

	return weir_flow_fold(numbers(), &folding, NULL);
}

static struct weir_flow *to_a_count(void)
{
	return weir_flow_count(mapped());
}

static struct weir_flow *to_the_last(void)
{
	return weir_flow_last(mapped());
}

static struct weir_flow *to_a_list(void)
{
	return weir_flow_collect(mapped(), 0);
}

static struct weir_flow *unfolded(void)
{
	return weir_flow_ignore(weir_flow_unfold(NULL, next, NULL));
}

static struct weir_flow *filtered(void)
{
	return weir_flow_ignore(weir_flow_filter(numbers(), keep_none, NULL));
}

static struct weir_flow *grouped(void)
{
	return weir_flow_ignore(weir_flow_grouped(mapped(), 1000));
}

static struct weir_flow *expanded(void)
{
	return weir_flow_ignore(weir_flow_map_concat(numbers(), many, NULL));
}

static struct weir_flow *expanded_to_none(void)
{
	return weir_flow_ignore(weir_flow_map_concat(numbers(), none, NULL));
}

static struct weir_flow *nested(void)
{
	return weir_flow_ignore(weir_flow_flat_map(numbers(), 4, empty, NULL));
}

static struct weir_flow *merged(void)
{
	struct weir_flow *flows[] = {mapped(), mapped()};

	return weir_flow_all(flows, 2);
}

static struct weir_flow *behind_a_boundary(void)
{
	return weir_flow_for_each(weir_flow_async(numbers(), 256, NULL), take,
				  NULL);
}

static struct weir_flow *before_a_boundary(void)
{
	return weir_flow_ignore(weir_flow_async(mapped(), 256, NULL));
}

static struct weir_flow *into_a_buffer(void)
{
	return weir_flow_ignore(
		weir_flow_buffer(mapped(), 256, WEIR_OVERFLOW_BACK_PRESSURE));
}

static const struct {
	const char *name;
	struct weir_flow *(*make)(void);
} flows[] = {
	{"for_each", to_for_each},
	{"for_each_n", to_for_each_n},
	{"fold", to_a_fold},
	{"count", to_a_count},
	{"last", to_the_last},
	{"collect", to_a_list},
	{"unfold", unfolded},
	{"filter", filtered},
	{"grouped", grouped},
	{"map_concat", expanded},
	{"map_concat to none", expanded_to_none},
	{"flat_map", nested},
	{"all", merged},
	{"behind a boundary", behind_a_boundary},
	{"before a boundary", before_a_boundary},
	{"buffer", into_a_buffer},
};

#define N_FLOWS (sizeof(flows) / sizeof(*flows))

/* --- Slices --------------------------------------------------------------- */

static struct weir_flow_run *start(struct weir_flow **flow, size_t i)
{
	struct weir_flow_run *run;

	desk_init();
	*flow = flows[i].make();
	assert_int_equal(weir_flow_start(*flow, &desk.executor, NULL, &run), 0);
	return run;
}

static void stop(struct weir_flow *flow, struct weir_flow_run *run)
{
	desk.item_ns = 0;
	weir_flow_run_stop(run, NULL);
	while (desk.first)
		(void)slice();
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&desk.executor), 0);
}

/* None has more than `most` items; some have one. */
static void assert_short(size_t i, unsigned slices, uint64_t most)
{
	uint64_t before = desk.n_items, ns;

	while (slices-- > 0) {
		ns = slice();
		if (ns >= (most + 1) * SLOW_NS)
			fail_msg("%s: a slice of %d ms", flows[i].name,
				 (int)(ns / 1000000));
	}
	assert_true(desk.n_items > before);
}

/*
 * One when it is woken, one that tells nothing, and one that is timed; of two
 * inputs.
 */
static void items_that_take_long_come_one_by_one(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < N_FLOWS; i++) {
		run = start(&flow, i);
		assert_short(i, 200, 6);
		stop(flow, run);
	}
}

static void items_that_become_slow_are_found_out_in_a_run(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	uint64_t longest;
	size_t i, k;

	for (i = 0; i < N_FLOWS; i++) {
		run = start(&flow, i);
		desk.item_ns = CHEAP_NS;
		for (k = 0; k < test_count(2000); k++)
			(void)slice();
		desk.item_ns = SLOW_NS;
		longest = 0;
		/* one run in 251 is timed where as many as may be fit */
		for (k = 0; k < 600; k++) {
			uint64_t ns = slice();

			longest = ns > longest ? ns : longest;
		}
		/* what fits into 5 us, of those that were cheap */
		assert_true(longest <= UINT64_C(1024) * SLOW_NS);
		assert_short(i, 200, 6);
		stop(flow, run);
	}
}

/* As many as ever are in a slice of 25 us. */
static void cheap_items_come_in_batches(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	uint64_t before;
	size_t i, k;

	for (i = 0; i < N_FLOWS; i++) {
		run = start(&flow, i);
		desk.item_ns = CHEAP_NS;
		for (k = 0; k < 100; k++)
			(void)slice();
		before = desk.n_items;
		for (k = 0; k < 100; k++)
			(void)slice();
		assert_true(desk.n_items - before > 100 * 64);
		stop(flow, run);
	}
}

static size_t fewest;

static int map_n(void **items, size_t n, size_t *done, void *context)
{
	for (; *done < n; ++*done)
		work();
	fewest = n < fewest ? n : fewest;
	return 0;
}

/* Wherever what fits into 5 us ends: it does not begin anew with one item. */
static void a_run_that_was_a_little_too_long_changes_little(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	unsigned ns, k;

	for (ns = 1; ns <= 40; ns++) {
		desk_init();
		desk.item_ns = ns;
		flow = weir_flow_map_n(numbers(), map_n, NULL);
		flow = weir_flow_ignore(flow);
		assert_int_equal(
			weir_flow_start(flow, &desk.executor, NULL, &run), 0);
		for (k = 0; k < 100; k++)
			(void)slice();
		fewest = SIZE_MAX;
		for (k = 0; k < 100; k++)
			(void)slice();
		assert_in_range(fewest, 64, WEIR_FLOW_BATCH);
		stop(flow, run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_that_take_long_come_one_by_one),
		cmocka_unit_test(items_that_become_slow_are_found_out_in_a_run),
		cmocka_unit_test(cheap_items_come_in_batches),
		cmocka_unit_test(
			a_run_that_was_a_little_too_long_changes_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
