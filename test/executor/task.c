/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executors that a user may write: one that runs submissions at once on the
 * caller's stack, where nothing may break, and one that refuses them, where
 * the refused actor fails and nobody else.
 */
#include "actor/kit.h"

#define N 100000
#define DEEP 1000

struct custom {
	struct weir_executor executor;
	uint64_t submits, refuse_from; /* refuses that one and later ones */
	struct weir_task *refuse;      /* refuses that one only */
	struct weir_task *head, *tail; /* waiting, if it queues */
	uintptr_t low, high;	       /* of the stack in turns */
};

static void note_stack(struct custom *custom)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (!custom->low || here < custom->low)
		custom->low = here;
	if (here > custom->high)
		custom->high = here;
}

static int submit_direct(struct weir_executor *executor, struct weir_task *task)
{
	struct custom *custom = (struct custom *)executor;

	custom->submits++;
	note_stack(custom);
	weir_task_run(task);
	return 0;
}

static int submit_queue(struct weir_executor *executor, struct weir_task *task)
{
	struct custom *custom = (struct custom *)executor;

	custom->submits++;
	if (task == custom->refuse)
		return -ENOSPC;
	if (custom->refuse_from && custom->submits >= custom->refuse_from)
		return -ENOSPC;
	task->next = NULL;
	if (custom->head)
		custom->tail->next = task;
	else
		custom->head = task;
	custom->tail = task;
	return 0;
}

static void custom_run(struct custom *custom)
{
	struct weir_task *task;

	while ((task = custom->head)) {
		custom->head = task->next;
		weir_task_run(task);
	}
}

static uint64_t now(struct weir_executor *executor)
{
	return 0;
}

static const struct weir_executor_ops direct_ops = {.submit = submit_direct,
						    .now = now};
static const struct weir_executor_ops queue_ops = {.submit = submit_queue,
						   .now = now};

static void custom_init(struct custom *custom,
			const struct weir_executor_ops *ops)
{
	memset(custom, 0, sizeof(*custom));
	assert_int_equal(weir_executor_init(&custom->executor, ops, NULL), 0);
}

static void misuse_of_an_executors_head_is_refused(void **state)
{
	static const struct weir_executor_ops no_submit = {.now = now};
	static const struct weir_executor_ops no_now = {
		.submit = submit_direct};
	struct weir_executor_options options = {.budget_turns = UINT32_MAX};
	struct weir_executor executor;
	struct weir_timer timer = {0};

	assert_int_equal(weir_executor_init(NULL, &direct_ops, NULL), -EINVAL);
	assert_int_equal(weir_executor_init(&executor, NULL, NULL), -EINVAL);
	assert_int_equal(weir_executor_init(&executor, &no_submit, NULL),
			 -EINVAL);
	assert_int_equal(weir_executor_init(&executor, &no_now, NULL), -EINVAL);
	assert_int_equal(weir_executor_init(&executor, &direct_ops, &options),
			 -EINVAL);
	assert_int_equal(weir_executor_init(&executor, &direct_ops, NULL), 0);
	assert_int_equal(weir_timer_arm(&executor, &timer, 0), -EINVAL);
	assert_int_equal(weir_timer_arm(NULL, NULL, 0), -EINVAL);
	assert_false(weir_timer_cancel(&executor, &timer));
	assert_int_equal(weir_executor_end_async(&executor, NULL, 0), -EINVAL);
	assert_int_equal(weir_executor_fini(&executor), 0);
	assert_int_equal(weir_executor_fini(&executor), -EINVAL);
}

/* A chain of `n` stages between a source and a sink. */
struct chain {
	struct ledger ledger;
	struct source source;
	struct stage *stages;
	struct sink sink;
	size_t n;
};

static void chain_init(struct chain *chain, struct weir_executor *executor,
		       size_t items, size_t n)
{
	struct weir_out *last = &chain->source.out;
	size_t i;

	ledger_init(&chain->ledger, items);
	source_init(&chain->source, executor, &chain->ledger, 1, items);
	chain->n = n;
	chain->stages = calloc(n, sizeof(*chain->stages));
	assert_non_null(chain->stages);
	for (i = 0; i < n; i++) {
		stage_init(&chain->stages[i], executor, &chain->ledger, 4);
		assert_int_equal(weir_out_link(last, &chain->stages[i].in), 0);
		last = &chain->stages[i].out;
	}
	sink_init(&chain->sink, executor, &chain->ledger, 4);
	chain->sink.ordered = true;
	assert_int_equal(weir_out_link(last, &chain->sink.in), 0);
}

/* Consumers first: with a direct executor the source runs at once. */
static void chain_start(struct chain *chain)
{
	size_t i;

	assert_int_equal(weir_actor_start(&chain->sink.actor), 0);
	for (i = chain->n; i--;)
		assert_int_equal(weir_actor_start(&chain->stages[i].actor), 0);
	assert_int_equal(weir_actor_start(&chain->source.actor), 0);
}

static void chain_fini(struct chain *chain)
{
	size_t i;

	assert_int_equal(chain->source.fate.released, 1);
	assert_int_equal(chain->sink.fate.released, 1);
	for (i = 0; i < chain->n; i++)
		assert_int_equal(chain->stages[i].fate.released, 1);
	ledger_check(&chain->ledger);
	ledger_fini(&chain->ledger);
	free(chain->stages);
}

static void fault_03_a_direct_executor_keeps_the_stack_flat(void **state)
{
	struct custom custom;
	struct chain chain;

	custom_init(&custom, &direct_ops);
	chain_init(&chain, &custom.executor, test_count(N), 8);
	chain_start(&chain);
	assert_int_equal(chain.sink.seen, test_count(N));
	assert_true(custom.high - custom.low < 4096);
	chain_fini(&chain);
	assert_int_equal(weir_executor_fini(&custom.executor), 0);
}

static void a_direct_executor_runs_a_deep_chain_flat(void **state)
{
	struct custom custom;
	struct chain chain;

	custom_init(&custom, &direct_ops);
	chain_init(&chain, &custom.executor, 100, DEEP);
	chain_start(&chain);
	assert_int_equal(chain.sink.seen, 100);
	assert_true(custom.high - custom.low < 4096);
	chain_fini(&chain);
	assert_int_equal(weir_executor_fini(&custom.executor), 0);
}

static bool always(void *worker_state)
{
	return true;
}

/* As on a thread of a pool, which runs nothing of its own meanwhile. */
static void a_direct_executor_does_not_poll_within_a_worker(void **state)
{
	struct custom custom;
	struct chain chain;

	custom_init(&custom, &direct_ops);
	chain_init(&chain, &custom.executor, 100, 1);
	weir__thread.polls = always;
	chain_start(&chain);
	weir__thread.polls = NULL;
	assert_int_equal(chain.sink.seen, 100);
	chain_fini(&chain);
	assert_int_equal(weir_executor_fini(&custom.executor), 0);
}

static void a_refused_start_changes_nothing(void **state)
{
	struct custom custom;
	struct chain chain;

	custom_init(&custom, &queue_ops);
	chain_init(&chain, &custom.executor, 100, 1);
	custom.refuse = &chain.source.actor.task;
	assert_int_equal(weir_actor_start(&chain.source.actor), -ENOSPC);
	assert_int_equal(weir_executor_alive(&custom.executor), 0);
	custom.refuse = NULL;
	chain_start(&chain);
	custom_run(&custom);
	assert_int_equal(chain.sink.seen, 100);
	chain_fini(&chain);
	assert_int_equal(weir_executor_fini(&custom.executor), 0);
}

static void fault_03_a_refused_actor_fails_and_nobody_else(void **state)
{
	struct custom custom;
	struct chain chain;
	size_t i;

	/* in turn each stage is refused, once it runs */
	for (i = 0; i < 3; i++) {
		custom_init(&custom, &queue_ops);
		chain_init(&chain, &custom.executor, 100, 3);
		chain_start(&chain);
		custom.refuse = &chain.stages[i].actor.task;
		custom_run(&custom);
		fate_check(&chain.stages[i].fate, -ENOSPC);
		fate_check(&chain.source.fate, 0);
		fate_check(&chain.sink.fate, 0);
		assert_int_equal(chain.sink.end_code, -ENOSPC);
		chain_fini(&chain);
		assert_int_equal(weir_executor_fini(&custom.executor), 0);
	}
}

static void an_executor_that_refuses_from_any_submission_on_ends_all(
	void **state)
{
	struct custom custom;
	struct chain chain;
	uint64_t from;
	bool refused;

	for (from = 6; from < 300; from++) {
		custom_init(&custom, &queue_ops);
		chain_init(&chain, &custom.executor, 50, 3);
		chain_start(&chain);
		custom.refuse_from = from;
		custom_run(&custom);
		refused = custom.submits >= from;
		assert_true(refused || chain.sink.seen == 50);
		chain_fini(&chain);
		assert_int_equal(weir_executor_fini(&custom.executor), 0);
	}
	assert_false(refused);
}

static void refusing_a_deep_chain_keeps_the_stack_flat(void **state)
{
	struct custom custom;
	struct chain chain;

	custom_init(&custom, &queue_ops);
	chain_init(&chain, &custom.executor, 10, 20000);
	chain_start(&chain);
	custom.refuse_from = custom.submits + 1;
	custom_run(&custom);
	chain_fini(&chain);
	assert_int_equal(weir_executor_fini(&custom.executor), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misuse_of_an_executors_head_is_refused),
		cmocka_unit_test(
			fault_03_a_direct_executor_keeps_the_stack_flat),
		cmocka_unit_test(a_direct_executor_runs_a_deep_chain_flat),
		cmocka_unit_test(
			a_direct_executor_does_not_poll_within_a_worker),
		cmocka_unit_test(a_refused_start_changes_nothing),
		cmocka_unit_test(
			fault_03_a_refused_actor_fails_and_nobody_else),
		cmocka_unit_test(
			an_executor_that_refuses_from_any_submission_on_ends_all),
		cmocka_unit_test(refusing_a_deep_chain_keeps_the_stack_flat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
