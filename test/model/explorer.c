/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The explorer's core: one execution, and the loop over all. The rules are in
 * explorer.h.
 */
#include "explorer_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct explorer explorer;

enum { STACK_SIZE = 128 * 1024 };

static char stacks[EXPLORER_THREADS + 1][STACK_SIZE]
	__attribute__((aligned(64)));
static void (*phase)(void *context);

static void run_phase(void)
{
	phase(explorer.scenario->context);
	explorer_leave(FINISHED);
}

static void run_thread(void)
{
	explorer.scenario->thread[explorer.current](explorer.scenario->context);
	if (explorer.tracing)
		trace_line("   -- T%d ends", explorer.current);
	current_thread()->state = DONE;
	schedule_block();
	abort();
}

static bool run_alone(void (*function)(void *context))
{
	phase = function;
	explorer.outcome = RUNNING;
	explorer.current = MAIN;
	fiber_init(&explorer.threads[MAIN].fiber, stacks[MAIN], STACK_SIZE,
		   run_phase);
	fiber_switch(&explorer.scheduler, &explorer.threads[MAIN].fiber);
	return explorer.outcome == FINISHED;
}

static void start_threads(void *context)
{
	(void)context;
	schedule_block();
}

static bool run_threads(void)
{
	for (int i = 0; i < EXPLORER_THREADS; i++) {
		struct thread *t = &explorer.threads[i];

		t->state = DONE;
		t->progress = true;
		t->pending = false;
		t->futex = NULL;
		if (explorer.scenario->thread[i] == NULL)
			continue;
		t->state = RUNNABLE;
		fiber_init(&t->fiber, stacks[i], STACK_SIZE, run_thread);
	}
	if (!run_alone(start_threads))
		return false;
	schedule_swap_locals(explorer.current, MAIN);
	memory_finish();
	return true;
}

static void run_execution(void)
{
	const struct explorer_scenario *s = explorer.scenario;

	explorer.generation++;
	explorer.depth = 0;
	explorer.steps = 0;
	explorer.n_pending = 0;
	explorer.futex_order = 0;
	explorer.spins = 0;
	explorer.preemptions_left = explorer.options.preemptions;
	explorer.stale_left = explorer.options.stale;
	memory_reset();
	plain_reset();
	schedule_reset();
	if (s->context_size > 0)
		memset(s->context, 0, s->context_size);
	if ((s->setup == NULL || run_alone(s->setup)) && run_threads() &&
	    s->check != NULL)
		run_alone(s->check);
	explorer.n_steps += explorer.steps;
	if (explorer.outcome == PRUNED)
		explorer.n_pruned++;
	else
		explorer.n_executions++;
}

/* A run */

static int or_default(int value, int otherwise)
{
	if (value < 0)
		return 0;
	return value == 0 ? otherwise : value;
}

static void take_options(const struct explorer_options *options)
{
	struct explorer_options *o = &explorer.options;

	*o = options != NULL ? *options : (struct explorer_options){0};
	o->preemptions = or_default(o->preemptions, 2);
	o->stale = or_default(o->stale, 2);
	o->older = or_default(o->older, 4);
	if (o->executions == 0)
		o->executions = 10000000;
	if (o->spins == 0)
		o->spins = 200;
	if (o->steps == 0)
		o->steps = 5000;
}

static enum explorer_status explore(void)
{
	const struct explorer_options *o = &explorer.options;

	do {
		if (explorer.n_executions + explorer.n_pruned >= o->executions)
			return EXPLORER_INCOMPLETE;
		explorer.grew = false;
		run_execution();
		/* If it grew, its choices would not lead there again. */
		if (explorer.outcome == FAILED &&
		    (!explorer.grew || o->replay != NULL))
			return EXPLORER_FAILED;
		if (explorer.grew)
			explorer.n_choices = 0;
	} while (o->replay == NULL && (explorer.grew || choices_next()));
	return EXPLORER_PASSED;
}

static void replay_failure(struct explorer_result *result)
{
	choices_write(result->choices, sizeof(result->choices));
	snprintf(result->message, sizeof(result->message), "%s",
		 explorer.message);
	explorer.tracing = true;
	explorer.n_choices = explorer.depth;
	run_execution();
	explorer.tracing = false;
	if (explorer.options.quiet)
		return;
	fprintf(stderr, "%s: %s\nafter %llu executions, choices \"%s\"\n%s",
		explorer.scenario->name, result->message,
		(unsigned long long)explorer.n_executions, result->choices,
		trace_text());
}

enum explorer_status explorer_run(const struct explorer_scenario *scenario,
				  const struct explorer_options *options,
				  struct explorer_result *result)
{
	struct explorer_result unused;

	if (result == NULL)
		result = &unused;
	memset(result, 0, offsetof(struct explorer_result, choices) + 1);
	take_options(options);
	explorer.scenario = scenario;
	explorer.n_choices = 0;
	explorer.n_executions = 0;
	explorer.n_pruned = 0;
	explorer.n_steps = 0;
	explorer.tracing = false;
	memory_forget();
	sites_new_run();
	trace_reset();
	choices_read(explorer.options.replay);
	faults_catch();
	result->status = explore();
	result->executions = explorer.n_executions;
	result->pruned = explorer.n_pruned;
	result->steps = explorer.n_steps;
	if (result->status == EXPLORER_FAILED)
		replay_failure(result);
	else if (result->status == EXPLORER_INCOMPLETE &&
		 !explorer.options.quiet)
		fprintf(stderr, "%s: incomplete after %llu executions\n",
			scenario->name,
			(unsigned long long)explorer.n_executions);
	faults_release();
	explorer.outcome = FINISHED;
	result->trace = trace_text();
	return result->status;
}
