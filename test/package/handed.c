/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handed [race]: a user's program under ThreadSanitizer. Plain memory is handed
 * over by a process manager's commands and replies and by the links of a flow,
 * and that is no race; a counter that two threads share without order is one,
 * with `race`.
 */
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

#define COMMANDS 64
#define ITEMS 1000

static struct weir_latch replied;
static long shared;
static int races;

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	(void)command, (void)outcome, (void)error;
	weir_latch_count_down(&replied, 1);
}

static int work(struct weir_command *command, void *context)
{
	(void)context;
	if (races)
		shared++;
	command->result = command;
	return 0;
}

static int commands(struct weir_executor *executor)
{
	struct weir_process_manager_options options = {
		.run = work, .max = 2, .buffer = COMMANDS};
	static struct weir_command command[COMMANDS];
	struct weir_process_manager manager;
	struct weir_system *system;
	int i;

	if (weir_latch_init(&replied, COMMANDS) < 0 ||
	    weir_system_new(&system, executor, NULL) < 0 ||
	    weir_process_manager_init(&manager, executor, &options) < 0)
		return 1;
	weir_actor_ref(&manager.actor);
	if (weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &manager.actor, NULL,
			      NULL) < 0)
		return 1;
	for (i = 0; i < COMMANDS; i++) {
		command[i].reply = reply;
		if (weir_process_manager_offer(&manager, &command[i]) < 0)
			return 1;
	}
	if (races)
		shared++; /* while the last command does so, for all we know */
	if (weir_completion_wait(&replied.completion, WEIR_FOREVER) < 0)
		return 1;
	for (i = 0; i < COMMANDS; i++)
		if (command[i].result != &command[i])
			return 1;
	weir_actor_unref(&manager.actor);
	weir_system_stop(system);
	return weir_completion_wait(weir_system_terminated(system),
				    WEIR_FOREVER) < 0 ||
	       weir_system_free(system) < 0;
}

/* Items that are written by one thread and read and freed by another. */
static int make(void **item, void *context)
{
	long *made = malloc(sizeof(*made));

	(void)context;
	if (!made)
		return -1;
	*made = (long)(intptr_t)*item;
	*item = made;
	return 0;
}

static int sum_up(void **sum, void *item, void *context)
{
	(void)context;
	*sum = (void *)((intptr_t)*sum + *(long *)item);
	free(item);
	return 0;
}

static int items(struct weir_executor *executor)
{
	struct weir_flow_fold_functions summing = {.fold = sum_up};
	struct weir_flow *flow = weir_flow_range(1, ITEMS);
	void *sum;
	int rc;

	flow = weir_flow_async(weir_flow_map(flow, make, NULL), 16, NULL);
	flow = weir_flow_fold(flow, &summing, NULL);
	rc = weir_flow_run(flow, executor, &sum);
	weir_flow_free(flow);
	return rc != 0 || (intptr_t)sum != (intptr_t)ITEMS * (ITEMS + 1) / 2;
}

int main(int argc, char **argv)
{
	struct weir_threads_options options = {.workers = 2};
	struct weir_threads *threads;
	struct weir_executor *executor;
	int failed;

	(void)argv;
	races = argc > 1;
	if (weir_threads_new(&threads, &options) < 0)
		return 1;
	executor = weir_threads_executor(threads);
	failed = commands(executor) || items(executor);
	return failed || weir_threads_free(threads) < 0;
}
