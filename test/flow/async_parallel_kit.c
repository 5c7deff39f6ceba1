/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/async_parallel_kit.h"

uint64_t n_calls; /* of the function; one thread */
struct weir_sim *the_sim;

int twice(void **memory, void *context)
{
	struct item *item = *memory;

	n_calls++;
	item->value *= 2;
	return 0;
}

int twice_plain(void **item, void *context)
{
	*item = (void *)(2 * (intptr_t)*item);
	return 0;
}

int fails_on(void **item, void *context)
{
	n_calls++;
	return (intptr_t)*item == *(intptr_t *)context ? -EDOM : 0;
}

struct weir_flow *parallel(struct weir_flow *flow, size_t n,
			   int (*map)(void **item, void *context),
			   void *context)
{
	return weir_flow_same_items(weir_flow_map_parallel(
		flow, n, WEIR_ORDER_KEPT, map, context, NULL));
}

struct weir_flow *unordered(struct weir_flow *flow, size_t n,
			    int (*map)(void **item, void *context),
			    void *context)
{
	return weir_flow_same_items(weir_flow_map_parallel(
		flow, n, WEIR_ORDER_ANY, map, context, NULL));
}

struct weir_flow_run *parallel_start(struct weir_flow *flow, uint64_t seed,
				     size_t unfused)
{
	struct weir_flow_run_options options = {.unfused = unfused};
	struct weir_flow_run *run;

	assert_int_equal(weir_sim_new(&the_sim, seed, NULL), 0);
	assert_int_equal(weir_flow_start(flow, weir_sim_executor(the_sim),
					 &options, &run),
			 0);
	return run;
}

int parallel_finish(struct weir_flow_run *run)
{
	struct weir_error *error;
	int rc;

	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	rc = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(run);
	assert_int_equal(weir_sim_free(the_sim), 0);
	return rc;
}

static int idle_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct idle *idle = weir_container_of(executor, struct idle, executor);

	idle->tasks[idle->n++] = task;
	return 0;
}

static uint64_t idle_now(struct weir_executor *executor)
{
	return 0;
}

const struct weir_executor_ops idle_ops = {
	.submit = idle_submit,
	.now = idle_now,
};

void idle_run(struct idle *idle, size_t i)
{
	struct weir_task *task = idle->tasks[i];

	idle->tasks[i] = idle->tasks[--idle->n];
	weir_task_run(task);
}
