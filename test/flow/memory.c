/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows that run short of memory, at each allocation of a run and at each of
 * composing: with every operator there is, of the table of the random flows. A
 * run fails with -ENOMEM, or goes as it would have gone, and nothing is lost.
 */
#include "flow/random_run.h"

#define EACH 4 /* plans for each operator */

static struct plan plan;

static void each_plan(void (*run)(void))
{
	size_t i;

	for (i = 0; i < n_random_operators; i++) {
		for_each_seed(seed, test_count(EACH)) {
			draw_plan_of(&plan, i * EACH + seed,
				     &random_operators[i]);
			run();
		}
	}
}

/* --- In a run --------------------------------------------------------------- */

static void run_short(size_t unfused)
{
	static struct trial trial;
	const char *wrong = NULL;

	trial.plan = &plan;
	trial.fail = 0;
	do {
		trial.fail++;
		wrong = run_once(&trial, plan.seed, unfused, false);
	} while (!wrong && ran_short(&trial));
	if (!wrong)
		return;
	tell_plan(&plan);
	fail_msg("%s, unfused %zu, where allocation %zu fails", wrong, unfused,
		 trial.fail);
}

static void run_plan_short(void)
{
	run_short(0);
	run_short(plan.unfused);
}

static void a_run_without_memory_says_so_and_loses_nothing(void **state)
{
	each_plan(run_plan_short);
}

/* --- Composing -------------------------------------------------------------- */

/* What malloc() and free() of the library are told, while it composes. */
static struct {
	bool counts;
	size_t calls, fail, live;
} composing;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *memory);

static bool composing_fails(void)
{
	if (!composing.counts)
		return false;
	if (++composing.calls == composing.fail)
		return true;
	composing.live++;
	return false;
}

void *__wrap_malloc(size_t size)
{
	return composing_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return composing_fails() ? NULL : __real_calloc(n, size);
}

void __wrap_free(void *memory)
{
	composing.live -= composing.counts && memory;
	__real_free(memory);
}

static void free_all(struct weir_flow *flow)
{
	size_t i;

	weir_flow_free(flow);
	weir_flow_queue_free(plan.steps[0].queue);
	for (i = 0; i < plan.n; i++) {
		weir_flow_switch_free(plan.steps[i].swtch);
		weir_flow_publisher_free(plan.steps[i].publisher);
	}
}

static void compose_short(struct weir_flow *(*compose)(void),
			  void (*free_flow)(struct weir_flow *flow))
{
	struct weir_flow *flow;
	size_t fail = 0;
	int code;

	do {
		composing.fail = ++fail;
		composing.calls = composing.live = 0;
		composing.counts = true;
		flow = compose();
		code = weir_flow_check(flow, NULL, NULL);
		free_flow(flow);
		composing.counts = false;
		assert_int_equal(composing.live, 0);
		if (composing.calls >= fail)
			assert_true(code == -ENOMEM || code == -EINVAL);
		else
			assert_int_equal(code, 0);
	} while (composing.calls >= fail);
}

static struct weir_flow *compose_plan(void)
{
	return plan_compose(&plan);
}

static void compose_plan_short(void)
{
	compose_short(compose_plan, free_all);
}

static int pass_on(struct weir_operator *op, void *item)
{
	return weir_operator_push(op, item);
}

/* Operators whose contexts are copied. */
static struct weir_flow *compose_contexts(void)
{
	static const struct weir_operator_ops ops = {
		.context_size = 100,
		.on_push = pass_on,
	};
	struct weir_flow *flow = weir_flow_range(1, 3), *outlets[2];
	char context[100] = "";

	flow = weir_flow_operator(flow, &ops, context);
	(void)weir_flow_operator_outlets(&flow, 1, &ops, context, 2, outlets,
					 NULL);
	return weir_flow_operator_inputs(outlets, 2, &ops, context);
}

static void contexts_without_memory_say_so_and_lose_nothing(void **state)
{
	compose_short(compose_contexts, weir_flow_free);
}

static void composing_without_memory_says_so_and_loses_nothing(void **state)
{
	struct weir_sim *sim = sim_new(1);

	composed_for = weir_sim_executor(sim);
	each_plan(compose_plan_short);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_run_without_memory_says_so_and_loses_nothing),
		cmocka_unit_test(
			contexts_without_memory_say_so_and_lose_nothing),
		cmocka_unit_test(
			composing_without_memory_says_so_and_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
