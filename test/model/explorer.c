/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The explorer's core: choices, the scheduler, futexes, and the loop over all
 * executions. The rules are in explorer.h.
 *
 * An execution is a function of its choices. The loop keeps the list of them,
 * and after each execution raises the last one that has alternatives left and
 * drops what follows: a depth-first walk without any state but the list.
 *
 * Two executions that differ only in the order of neighbouring steps which do
 * not conflict (same word, one of them a write) are equal, hence:
 *
 *  R1 A switch before an operation is wasted unless some other thread does a
 *     conflicting one before this thread goes on. If none did, the execution
 *     in which the switch comes later is equal and has no more switches, so
 *     this one is left (pruned).
 *  R2 No switch is offered to a thread that has just been switched to and has
 *     done nothing visible yet: choosing the other at once is equal.
 *  R3 Words that nobody shares are no reason to switch (rule 1).
 */
#include "explorer_state.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct explorer explorer;

enum { STACK_SIZE = 128 * 1024, LOCALS = 4, LOCAL_SIZE = 256 };

static char stacks[EXPLORER_THREADS + 1][STACK_SIZE]
	__attribute__((aligned(64)));
static char signal_stack[STACK_SIZE];
static void (*phase)(void *context);

static struct local {
	void *object;
	size_t size;
	char kept[EXPLORER_THREADS + 1][LOCAL_SIZE];
} locals[LOCALS];
static int n_locals;

/* By enum choice. */
static const char choice_letters[] = "ptvo";

enum { REPLAY = 256 };

static struct explorer_choice replay[REPLAY];
static int n_replay;

/* Leaving an execution; its fibers are simply never resumed. */

static void __attribute__((noreturn)) leave(enum outcome outcome)
{
	struct fiber nowhere;

	explorer.outcome = outcome;
	fiber_switch(&nowhere, &explorer.scheduler);
	abort();
}

void explorer_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(explorer.message, sizeof(explorer.message), format,
		  arguments);
	va_end(arguments);
	leave(FAILED);
}

void __assert_fail(const char *assertion, const char *file, unsigned int line,
		   const char *function) __attribute__((noreturn));

/* An assert() of the code under test fails the execution, not the program. */
void __assert_fail(const char *assertion, const char *file, unsigned int line,
		   const char *function)
{
	if (explorer.outcome == RUNNING && explorer.scenario != NULL)
		explorer_fail("%s:%u: %s: assert(%s)", trace_file(file), line,
			      function, assertion);
	fprintf(stderr, "%s:%u: %s: assert(%s)\n", file, line, function,
		assertion);
	abort();
}

/* Choices */

static int replayed(enum choice kind)
{
	for (int i = 0; i < n_replay; i++)
		if (replay[i].step == explorer.steps && replay[i].kind == kind)
			return replay[i].chosen;
	return 0;
}

int explorer_choose(enum choice kind, int n)
{
	uint32_t depth = explorer.depth;
	struct explorer_choice *c = &explorer.choices[depth];

	if (n == 1)
		return 0;
	if (depth == CHOICES - 1)
		explorer_fail("too many choices in one execution");
	explorer.depth++;
	if (depth == explorer.n_choices) {
		explorer.n_choices++;
		c->step = explorer.steps;
		c->kind = (uint8_t)kind;
		c->chosen = (uint8_t)replayed(kind);
		c->n = (uint8_t)n;
	}
	if (c->n != n || c->kind != kind || c->chosen >= n)
		explorer_fail("the scenario is not deterministic: choice %u "
			      "in step %u has %d alternatives, had %d",
			      depth, explorer.steps, n, c->n);
	return c->chosen;
}

/* Returns false when all have been seen. */
static bool next_choices(void)
{
	uint32_t n = explorer.n_choices;

	while (n > 0 &&
	       explorer.choices[n - 1].chosen + 1 == explorer.choices[n - 1].n)
		n--;
	explorer.n_choices = n;
	if (n == 0)
		return false;
	explorer.choices[n - 1].chosen++;
	return true;
}

/* Those that are not the first alternative, as step, kind and number. */
static void write_choices(char *text, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0; i < explorer.depth && used < size; i++) {
		const struct explorer_choice *c = &explorer.choices[i];

		if (c->chosen > 0)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%u%c%d",
						 used == 0 ? "" : " ", c->step,
						 choice_letters[c->kind],
						 c->chosen);
	}
}

static void read_choices(const char *text)
{
	unsigned int step;
	int chosen, length;
	char letter;

	n_replay = 0;
	while (n_replay < REPLAY && sscanf(text, "%u%c%d%n", &step, &letter,
					   &chosen, &length) == 3) {
		const char *kind = strchr(choice_letters, letter);

		replay[n_replay].step = step;
		replay[n_replay].kind =
			kind != NULL ? (uint8_t)(kind - choice_letters) : 0;
		replay[n_replay].chosen = (uint8_t)chosen;
		n_replay++;
		text += length;
	}
}

/* Switching */

static void swap_locals(int from, int to)
{
	for (int i = 0; i < n_locals; i++) {
		memcpy(locals[i].kept[from], locals[i].object, locals[i].size);
		memcpy(locals[i].object, locals[i].kept[to], locals[i].size);
	}
}

static void switch_to(int next)
{
	int from = explorer.current;

	swap_locals(from, next);
	explorer.current = next;
	explorer.fresh = true;
	fiber_switch(&explorer.threads[from].fiber,
		     &explorer.threads[next].fiber);
}

static int runnable(int except, int *list)
{
	int n = 0;

	for (int i = 0; i < EXPLORER_THREADS; i++)
		if (i != except && explorer.threads[i].state == RUNNABLE)
			list[n++] = i;
	return n;
}

static void describe_deadlock(char *text, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < EXPLORER_THREADS; i++) {
		const struct thread *t = &explorer.threads[i];

		if (t->state == DONE)
			continue;
		used += (size_t)snprintf(
			text + used, size - used, "%s T%d %s at %s:%d",
			used == 0 ? "" : ",", i,
			t->state == WAITING ? "waits" : "stalls",
			trace_file(t->site->file), t->site->line);
		if (used >= size)
			return;
	}
}

static bool time_out(void)
{
	int list[EXPLORER_THREADS];
	int n = 0;
	struct thread *t;

	for (int i = 0; i < EXPLORER_THREADS; i++) {
		t = &explorer.threads[i];
		if (t->state == WAITING && t->timed)
			list[n++] = i;
	}
	if (n == 0)
		return false;
	t = &explorer.threads[list[explorer_choose(CHOOSE_TIMEOUT, n)]];
	t->state = RUNNABLE;
	t->futex = NULL;
	t->futex_result = -ETIMEDOUT;
	return true;
}

/* Their loops may count. */
static bool spin_on(void)
{
	bool any = false;

	if (explorer.spins++ == explorer.options.spins)
		return false;
	for (int i = 0; i < EXPLORER_THREADS; i++) {
		if (explorer.threads[i].state != STALLED)
			continue;
		explorer.threads[i].state = RUNNABLE;
		any = true;
	}
	return any;
}

/* Nobody can run: time runs out for one who waits no longer than that, or who
 * stalls looks again. */
static void go_on_or_fail(void)
{
	char text[160] = "";

	if (time_out() || spin_on())
		return;
	describe_deadlock(text, sizeof(text));
	explorer_fail("deadlock:%s", text);
}

static bool all_done(void)
{
	for (int i = 0; i < EXPLORER_THREADS; i++)
		if (explorer.threads[i].state != DONE)
			return false;
	return true;
}

/* The current thread cannot go on: any other may, at no cost. */
static void block(void)
{
	int list[EXPLORER_THREADS];
	int n = runnable(-1, list);
	int next;

	if (n == 0) {
		if (all_done())
			leave(FINISHED);
		go_on_or_fail();
		n = runnable(-1, list);
	}
	next = list[explorer_choose(CHOOSE_THREAD, n)];
	if (next != explorer.current)
		switch_to(next);
}

void explorer_conflict_all(void)
{
	for (int i = 0; explorer.n_pending > 0 && i < EXPLORER_THREADS; i++)
		if (i != explorer.current)
			explorer.threads[i].conflict = true;
}

static void mark_conflicts(uintptr_t address, bool write)
{
	if (address == 0) {
		explorer_conflict_all();
		return;
	}
	for (int i = 0; i < EXPLORER_THREADS; i++) {
		struct thread *t = &explorer.threads[i];

		if (i == explorer.current || !t->pending)
			continue;
		if (t->pending_address == 0 || (t->pending_address == address &&
						(write || t->pending_write)))
			t->conflict = true;
	}
}

/* R1: come back only to a world that has changed for this operation. */
static void preempt(int next, uintptr_t address, bool write)
{
	struct thread *t = current_thread();

	explorer.preemptions_left--;
	explorer.n_pending++;
	t->pending = true;
	t->pending_address = address;
	t->pending_write = write;
	t->conflict = false;
	if (explorer.tracing)
		trace_line("   -- T%d preempted", explorer.current);
	switch_to(next);
	t->pending = false;
	explorer.n_pending--;
	if (!t->conflict && n_replay == 0 && !explorer.options.exhaustive)
		leave(PRUNED);
}

/* In a replay everywhere, because what is shared is not known yet. */
static bool may_preempt(bool visible)
{
	if (n_replay > 0)
		return true;
	if (explorer.options.exhaustive)
		return explorer.preemptions_left > 0;
	return visible && !explorer.fresh && explorer.preemptions_left > 0;
}

void explorer_point(uintptr_t address, bool write, bool visible)
{
	int list[EXPLORER_THREADS];
	int n, choice;

	if (++explorer.steps > explorer.options.steps)
		explorer_fail("more than %u steps: livelock?",
			      explorer.options.steps);
	if (explorer.current == MAIN)
		return;
	if (may_preempt(visible)) {
		n = 1 + runnable(explorer.current, list);
		choice = explorer_choose(CHOOSE_PREEMPTION, n);
		if (choice > 0)
			preempt(list[choice - 1], address, write);
	}
	if (visible)
		explorer.fresh = false;
	if (explorer.n_pending > 0)
		mark_conflicts(address, write);
}

void explorer_wrote(void)
{
	explorer.spins = 0;
	for (int i = 0; i < EXPLORER_THREADS; i++) {
		struct thread *t = &explorer.threads[i];

		if (i == explorer.current)
			continue;
		t->progress = true;
		if (t->state == STALLED)
			t->state = RUNNABLE;
	}
}

/* Rule 9 */

/* Looking again although nobody has done anything since is for loops that
 * count, and counts as a preemption: it is one that leads straight back. */
static bool stays(int n_others)
{
	if (explorer.preemptions_left == 0)
		return false;
	if (explorer_choose(CHOOSE_PREEMPTION, 1 + (n_others > 0)) == 0)
		return false;
	explorer.preemptions_left--;
	return true;
}

void explorer_op_stall(struct explorer_site *site)
{
	struct thread *t = current_thread();
	int list[EXPLORER_THREADS];
	int n;

	explorer_point(1, false, false);
	if (explorer.current == MAIN)
		return;
	if (explorer.tracing)
		trace_op(site, NULL, " ");
	t->site = site;
	n = runnable(explorer.current, list);
	if (stays(n))
		return;
	if (!t->progress) {
		t->state = STALLED;
		block();
		return;
	}
	t->progress = false;
	if (n > 0)
		switch_to(list[explorer_choose(CHOOSE_THREAD, n)]);
}

int explorer_op_futex_wait(const uint32_t *word, uint32_t expected,
			   uint64_t timeout_ns, struct explorer_site *site)
{
	struct thread *t = current_thread();
	uint32_t value;

	explorer_point(0, true, true);
	memory_fence(EXPLORER_FENCE_MEMORY);
	value = (uint32_t)memory_load(word, sizeof(*word));
	if (explorer.tracing)
		trace_op(site, word, "reads %u, expects %u", value, expected);
	if (value != expected)
		return -EAGAIN;
	if (explorer.current == MAIN) {
		if (timeout_ns != UINT64_MAX)
			return -ETIMEDOUT;
		explorer_fail("futex_wait for ever in setup or check");
	}
	t->state = WAITING;
	t->site = site;
	t->futex = word;
	t->timed = timeout_ns != UINT64_MAX;
	t->futex_order = explorer.futex_order++;
	t->futex_result = 0;
	block();
	if (explorer.tracing)
		trace_op(site, word, "returns %d", t->futex_result);
	memory_fence(EXPLORER_FENCE_MEMORY);
	return t->futex_result;
}

static struct thread *longest_sleeper(const uint32_t *word)
{
	struct thread *found = NULL;

	for (int i = 0; i < EXPLORER_THREADS; i++) {
		struct thread *t = &explorer.threads[i];

		if (t->state == WAITING && t->futex == word &&
		    (found == NULL || t->futex_order < found->futex_order))
			found = t;
	}
	return found;
}

void explorer_op_futex_wake(uint32_t *word, int n, struct explorer_site *site)
{
	struct thread *t;

	/* The address alone is used, as in the kernel: the word's memory may
	 * have been freed by who saw it change. */
	explorer_point(0, true, true);
	memory_fence(EXPLORER_FENCE_MEMORY);
	if (explorer.tracing)
		trace_op(site, word, "at most %d", n);
	while (n-- > 0 && (t = longest_sleeper(word)) != NULL) {
		t->state = RUNNABLE;
		t->futex = NULL;
	}
}

void explorer_yield(void)
{
	explorer_point(0, true, true);
}

int explorer_thread(void)
{
	return explorer.current;
}

void explorer_thread_local(void *object, size_t size)
{
	if (n_locals == LOCALS || size > LOCAL_SIZE)
		explorer_fail("too much thread-local state");
	memset(object, 0, size);
	memset(locals[n_locals].kept, 0, sizeof(locals[n_locals].kept));
	locals[n_locals].object = object;
	locals[n_locals].size = size;
	n_locals++;
	explorer_ignore(object, size);
}

/* One execution */

static void run_phase(void)
{
	phase(explorer.scenario->context);
	leave(FINISHED);
}

static void run_thread(void)
{
	explorer.scenario->thread[explorer.current](explorer.scenario->context);
	if (explorer.tracing)
		trace_line("   -- T%d ends", explorer.current);
	current_thread()->state = DONE;
	block();
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
	block();
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
	swap_locals(explorer.current, MAIN);
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
	n_locals = 0;
	memory_reset();
	plain_reset();
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

static void on_signal(int number)
{
	/* The alternate stack is left behind and used again next time. */
	if (explorer.outcome == RUNNING)
		explorer_fail("signal %d (%s)", number, strsignal(number));
	signal(number, SIG_DFL);
	raise(number);
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { N_SIGNALS = sizeof(signals) / sizeof(*signals) };

static void catch_signals(struct sigaction *before)
{
	stack_t stack = {.ss_sp = signal_stack, .ss_size = STACK_SIZE};
	/* NODEFER: the handler is never returned from. */
	struct sigaction action = {.sa_handler = on_signal,
				   .sa_flags = SA_ONSTACK | SA_NODEFER};

	sigaltstack(&stack, NULL);
	for (int i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i], &action, &before[i]);
}

static void release_signals(const struct sigaction *before)
{
	for (int i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
}

static enum explorer_status explore(void)
{
	const struct explorer_options *o = &explorer.options;

	do {
		if (explorer.n_executions + explorer.n_pruned >= o->executions)
			return EXPLORER_INCOMPLETE;
		explorer.grew = false;
		run_execution();
		if (explorer.outcome == FAILED)
			return EXPLORER_FAILED;
		if (explorer.grew)
			explorer.n_choices = 0;
	} while (o->replay == NULL && (explorer.grew || next_choices()));
	return EXPLORER_PASSED;
}

static void replay_failure(struct explorer_result *result)
{
	write_choices(result->choices, sizeof(result->choices));
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
	struct sigaction before[N_SIGNALS];
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
	n_replay = 0;
	if (explorer.options.replay != NULL)
		read_choices(explorer.options.replay);
	catch_signals(before);
	result->status = explore();
	result->executions = explorer.n_executions;
	result->pruned = explorer.n_pruned;
	result->steps = explorer.n_steps;
	if (result->status == EXPLORER_FAILED)
		replay_failure(result);
	else if (result->status == EXPLORER_INCOMPLETE && !options->quiet)
		fprintf(stderr, "%s: incomplete after %llu executions\n",
			scenario->name,
			(unsigned long long)explorer.n_executions);
	release_signals(before);
	explorer.outcome = FINISHED;
	result->trace = trace_text();
	return result->status;
}
