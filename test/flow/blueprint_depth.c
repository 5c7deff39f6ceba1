/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows upon each other: how many may be, and what stack they need. */
#include "flow/upon.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#define MAX ((int)WEIR_FLOW_DEPTH_MAX)

/* --- A thread whose stack is measured ----------------------------------------- */

/*
 * A thread of musl's has 128 KiB of stack; the library may use three quarters of
 * that. Frames are larger where they are checked, or nothing is optimized.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	!defined(__OPTIMIZE__)
#define FRAMES 16
#else
#define FRAMES 1
#endif
#define STACK (FRAMES * 128 * 1024u)
#define MARK 0xa5

struct call {
	void *(*function)(void *context);
	void *context;
	void *stack;
	void *result;
};

static size_t used(const unsigned char *stack)
{
	size_t n = 0;

	while (n < STACK && stack[n] == MARK)
		n++;
	return STACK - n;
}

/* What `function` has used of a stack that is as small as they come. */
static size_t on_small_stack(void *(*function)(void *context), void *context,
			     void **result)
{
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
				    0);
	pthread_attr_t attr;
	pthread_t thread;
	size_t n;

	assert_true(stack != MAP_FAILED);
	memset(stack, MARK, STACK);
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstack(&attr, stack, STACK), 0);
	assert_int_equal(pthread_create(&thread, &attr, function, context), 0);
	assert_int_equal(pthread_join(thread, result), 0);
	assert_int_equal(pthread_attr_destroy(&attr), 0);
	n = used(stack);
	assert_int_equal(munmap(stack, STACK), 0);
	return n;
}

/* --- Each kind of operator ------------------------------------------------------ */

static void *run_chain(void *context)
{
	struct chain *chain = context;
	struct weir_flow *flow = chain_of(chain);
	const struct weir_flow_run_options options = {
		.unfused = chain->unfused};
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	struct weir_sim *sim;

	chain->checked = weir_flow_check(flow, NULL, NULL);
	assert(weir_sim_new(&sim, 1, NULL) == 0);
	chain->code =
		weir_flow_start(flow, weir_sim_executor(sim), &options, &run);
	if (chain->code == 0) {
		assert(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error) ==
		       0);
		chain->code = error ? error->code : 0;
		weir_error_unref(error);
		weir_flow_run_free(run);
	}
	weir_flow_free(flow);
	assert(weir_sim_free(sim) == 0);
	return NULL;
}

static void runs_at_the_limit(const struct kind *kind, size_t unfused)
{
	struct chain chain = {.kind = kind, .n_items = 3, .unfused = unfused};
	/* a stage that is cut off takes another frame to build */
	size_t most = unfused ? STACK / 16 * 15 : STACK / 4 * 3, stack;

	chain.n = (MAX - 1) / kind->levels;
	stack = on_small_stack(run_chain, &chain, NULL);
	if (chain.checked || chain.code || stack > most)
		print_error("%s: %d, %d\n", kind->name, chain.checked,
			    chain.code);
	assert_int_equal(chain.checked, 0);
	assert_int_equal(chain.code, 0);
	if (getenv("DEPTH"))
		printf("%-12s %zu\n", kind->name, stack);
	assert_in_range(stack, 1, most);
}

static void a_flow_of_any_kind_runs_at_the_limit_on_a_small_stack(void **state)
{
	int i;

	for (i = 0; i < N(kinds); i++)
		runs_at_the_limit(&kinds[i], 0);
}

static void so_does_one_whose_operators_are_actors_each(void **state)
{
	int i;

	for (i = 0; i < N(kinds); i++)
		runs_at_the_limit(&kinds[i], 1);
}

static void one_more_is_a_failed_flow(void **state)
{
	struct chain chain = {.n_items = 3};
	const struct kind *kind;
	const char *message;
	struct weir_flow *flow;
	int i, level;

	for (i = 0; i < N(kinds) + N(nesting); i++) {
		kind = i < N(kinds) ? &kinds[i] : &nesting[i - N(kinds)];
		chain.kind = kind;
		chain.n = (MAX - 1) / kind->levels;
		flow = chain_of(&chain);
		for (level = 1 + chain.n * kind->levels; level < MAX; level++)
			flow = weir_flow_map(flow, same, NULL);
		assert_int_equal(weir_flow_check(flow, NULL, NULL), 0);
		flow = kind->upon(flow);
		assert_int_equal(weir_flow_check(flow, NULL, &message), -E2BIG);
		assert_string_equal(message, "too many flows upon each other");
		weir_flow_free(flow);
	}
}

static void *run_a_million(void *context)
{
	struct chain *chain = context;

	chain->n = 1000000;
	return run_chain(context);
}

static void a_million_upon_each_other_are_the_same_failed_flow(void **state)
{
	struct chain chain = {.n_items = 3};
	int i;

	for (i = 0; i < N(kinds); i += N(kinds) - 1) {
		chain.kind = &kinds[i];
		(void)on_small_stack(run_a_million, &chain, NULL);
		assert_int_equal(chain.checked, -E2BIG);
		assert_int_equal(chain.code, -E2BIG);
	}
}

/* --- Nested flows ------------------------------------------------------------------ */

/* What the flow comes to is found when it runs; so is that it is too deep. */
static void flows_that_put_others_in_between_run_or_fail_for_their_depth(
	void **state)
{
	struct chain chain = {.n_items = 3};
	size_t stack;
	int step = test_count(30) == 1 ? 9 : 3, i, n, n_run, n_failed;

	for (i = 0; i < N(nesting); i++) {
		chain.kind = &nesting[i];
		n_run = n_failed = 0;
		for (n = 1; n < MAX; n += step) {
			chain.n = n;
			stack = on_small_stack(run_chain, &chain, NULL);
			assert_in_range(stack, 1, STACK / 4 * 3);
			assert_int_equal(chain.checked, 0);
			n_run += chain.code == 0;
			n_failed += chain.code == -E2BIG;
		}
		assert_int_equal(n_run + n_failed, (MAX - 2) / step + 1);
		assert_in_range(n_run, MAX / step / 3, MAX / step + 1);
	}
}

struct tower {
	int n, highest;
	bool substreams;
};

static struct weir_flow *storey(void *item, void *context);

static struct weir_flow *part(struct weir_flow *upstream, void *context)
{
	struct tower *tower = context;

	tower->highest++;
	return weir_flow_split_when(upstream, yes, part, context);
}

/* Each flow has one inside of it, and that too. */
static struct weir_flow *storey(void *item, void *context)
{
	struct tower *tower = context;
	struct weir_flow *flow = weir_flow_single(item);

	if (++tower->highest == tower->n)
		return flow;
	return weir_flow_flat_map(flow, 1, storey, context);
}

static void *build_tower(void *context)
{
	struct tower *tower = context;
	struct weir_flow *flow = weir_flow_single(NULL);
	struct weir_sim *sim;
	intptr_t rc;

	if (tower->substreams)
		flow = weir_flow_split_when(flow, yes, part, tower);
	else
		flow = weir_flow_flat_map(flow, 1, storey, tower);
	assert(weir_sim_new(&sim, 1, NULL) == 0);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	assert(weir_sim_free(sim) == 0);
	return (void *)rc;
}

static void flows_within_flows_are_counted_together(void **state)
{
	struct tower low = {.n = 100}, high = {.n = -1};
	struct tower parts = {.n = -1, .substreams = true};
	void *rc;

	(void)on_small_stack(build_tower, &low, &rc);
	assert_int_equal((intptr_t)rc, 0);
	assert_int_equal(low.highest, 100);
	assert_in_range(on_small_stack(build_tower, &high, &rc), 1,
			STACK / 4 * 3);
	assert_int_equal((intptr_t)rc, -E2BIG);
	assert_in_range(high.highest, 100, MAX);
	assert_in_range(on_small_stack(build_tower, &parts, &rc), 1,
			STACK / 4 * 3);
	assert_int_equal((intptr_t)rc, -E2BIG);
	assert_in_range(parts.highest, 50, MAX);
}

/* --- Graphs ------------------------------------------------------------------------- */

/* `n` flows, each of `depth` upon an inlet, one connected to the next. */
static struct weir_flow *graph_of(int n, int depth, size_t capacity)
{
	static char names[WEIR_FLOW_DEPTH_MAX][16];
	struct weir_flow_graph *graph;
	struct weir_flow *flow;
	int i, j;

	assert_int_equal(weir_flow_graph_new(&graph), 0);
	for (i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "%d", i);
		flow = i ? weir_flow_graph_inlet(graph, names[i])
			 : weir_flow_range(1, 3);
		for (j = 1; j < depth; j++)
			flow = weir_flow_map(flow, same, NULL);
		(void)weir_flow_graph_add(graph, i < n - 1 ? names[i] : NULL,
					  flow);
		if (i)
			(void)weir_flow_graph_connect(graph, names[i - 1],
						      names[i], capacity);
	}
	return weir_flow_graph_build(graph);
}

static void connections_of_a_graph_are_counted(void **state)
{
	struct weir_sim *sim;
	struct weir_flow *flow;
	size_t capacity;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	for (capacity = 0; capacity < 8; capacity += 4) {
		flow = graph_of(MAX / 4, 4, capacity);
		assert_int_equal(weir_flow_check(flow, NULL, NULL), 0);
		assert_int_equal(
			weir_flow_run(flow, weir_sim_executor(sim), NULL), 0);
		weir_flow_free(flow);
		flow = graph_of(MAX / 4 + 1, 4, capacity);
		assert_int_equal(weir_flow_check(flow, NULL, NULL), -E2BIG);
		weir_flow_free(flow);
		flow = graph_of(MAX, MAX, capacity);
		assert_int_equal(weir_flow_check(flow, NULL, NULL), -E2BIG);
		weir_flow_free(flow);
	}
	assert_int_equal(weir_sim_free(sim), 0);
}

/* --- Wide ones ----------------------------------------------------------------------- */

#define MANY 100000

static void a_hundred_thousand_flows_beside_each_other_run(void **state)
{
	static struct weir_flow *(*const of[])(struct weir_flow *const *,
					       size_t) = {
		weir_flow_merge, weir_flow_concat, weir_flow_all};
	static struct weir_flow *flows[MANY];
	struct weir_sim *sim;
	struct weir_flow *flow;
	void *n;
	int i, j;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	for (i = 0; i < N(of); i++) {
		for (j = 0; j < MANY; j++)
			flows[j] = weir_flow_single((void *)1);
		flow = weir_flow_count(of[i](flows, MANY));
		assert_int_equal(weir_flow_check(flow, NULL, NULL), 0);
		n = NULL;
		assert_int_equal(
			weir_flow_run(flow, weir_sim_executor(sim), &n), 0);
		assert_int_equal((intptr_t)n, i == 2 ? 0 : MANY);
		weir_flow_free(flow);
	}
	/* and one of them has failed */
	for (j = 0; j < MANY - 1; j++)
		flows[j] = weir_flow_single((void *)1);
	flows[j] = weir_flow_map(NULL, same, NULL);
	flow = weir_flow_merge(flows, MANY);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_flow_of_any_kind_runs_at_the_limit_on_a_small_stack),
		cmocka_unit_test(so_does_one_whose_operators_are_actors_each),
		cmocka_unit_test(one_more_is_a_failed_flow),
		cmocka_unit_test(
			a_million_upon_each_other_are_the_same_failed_flow),
		cmocka_unit_test(
			flows_that_put_others_in_between_run_or_fail_for_their_depth),
		cmocka_unit_test(flows_within_flows_are_counted_together),
		cmocka_unit_test(connections_of_a_graph_are_counted),
		cmocka_unit_test(
			a_hundred_thousand_flows_beside_each_other_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
