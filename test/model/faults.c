/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Failures of the code under test: each ends the execution, not the program.
 * Its fibers are simply never resumed, the handler's stack included.
 */
#include "explorer_state.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* An execution takes microseconds; the tick counts processor time. */
enum { SIGNAL_STACK = 64 * 1024, TICK_US = 250000 };

static char signal_stack[SIGNAL_STACK];

void explorer_leave(enum outcome outcome)
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
	explorer_leave(FAILED);
}

void __assert_fail(const char *assertion, const char *file, unsigned int line,
		   const char *function) __attribute__((noreturn));

/* Takes the place of libc's. */
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

static void on_signal(int number)
{
	/* The alternate stack is left behind and used again next time. */
	if (explorer.outcome == RUNNING)
		explorer_fail("signal %d (%s)", number, strsignal(number));
	signal(number, SIG_DFL);
	raise(number);
}

/* A loop without any operation makes no steps to count. */
static void on_tick(int number)
{
	static uint32_t last;

	(void)number;
	if (explorer.outcome == RUNNING && explorer.generation == last)
		explorer_fail("hangs: more than %d us in one execution",
			      TICK_US);
	last = explorer.generation;
}

static const struct {
	int number;
	void (*handler)(int number);
} signals[] = {
	{SIGSEGV, on_signal}, {SIGBUS, on_signal},  {SIGFPE, on_signal},
	{SIGILL, on_signal},  {SIGABRT, on_signal}, {SIGVTALRM, on_tick},
};
enum { N_SIGNALS = sizeof(signals) / sizeof(*signals) };

static struct sigaction before[N_SIGNALS];
static stack_t stack_before;

static void tick_every(int us)
{
	const struct itimerval timer = {
		.it_interval.tv_usec = us,
		.it_value.tv_usec = us,
	};

	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

void faults_catch(void)
{
	const stack_t stack = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK};
	/* NODEFER: a handler that fails is never returned from. */
	struct sigaction action = {.sa_flags = SA_ONSTACK | SA_NODEFER |
					       SA_RESTART};

	sigaltstack(&stack, &stack_before);
	for (int i = 0; i < N_SIGNALS; i++) {
		action.sa_handler = signals[i].handler;
		sigaction(signals[i].number, &action, &before[i]);
	}
	tick_every(TICK_US);
}

void faults_release(void)
{
	tick_every(0);
	for (int i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i].number, &before[i], NULL);
	sigaltstack(&stack_before, NULL);
}
