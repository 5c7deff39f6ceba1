/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens to a flight recorder when the process crashes: a handler of the
 * signal writes it, and calls the handler that was there before.
 */
#include "inspect/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT};

enum { N = sizeof(signals) / sizeof(*signals) };

/* Of the trace that is on, so one at a time changes them. */
static struct sigaction before[N];
static struct weir_trace *recorder; /* atomic; NULL: none, or written */

static void write_it(void)
{
	struct weir_trace *trace = ck_pr_fas_ptr(&recorder, NULL);
	int kept = errno, fd;

	if (!trace || getpid() != trace->made_by)
		return;
	fd = open(trace->crash_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0600);
	if (fd >= 0) {
		(void)weir_trace_write_unsafe(trace, fd);
		(void)close(fd);
	}
	errno = kept;
}

static void crashed(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *next = before;
	int i;

	write_it();
	for (i = 0; i < N; i++)
		if (signals[i] == signal)
			next = &before[i];
	if (next->sa_flags & SA_SIGINFO) {
		next->sa_sigaction(signal, info, context);
	} else if (next->sa_handler == SIG_DFL) {
		/* dies of it when this returns */
		(void)sigaction(signal, next, NULL);
		(void)raise(signal);
	} else if (next->sa_handler != SIG_IGN) {
		next->sa_handler(signal);
	}
}

void weir__trace_let_crash(struct weir_trace *trace)
{
	struct sigaction now;
	int i;

	(void)trace;
	ck_pr_store_ptr(&recorder, NULL);
	for (i = 0; i < N; i++) {
		/* not if somebody else has come, who may call ours */
		if (sigaction(signals[i], NULL, &now) == 0 &&
		    (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == crashed)
			(void)sigaction(signals[i], &before[i], NULL);
	}
}

int weir__trace_catch(struct weir_trace *trace)
{
	struct sigaction action = {
		.sa_sigaction = crashed,
		/* on the thread's other stack, if it has one: its own may be
		 * full */
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	struct sigaction old;
	int i;

	sigemptyset(&action.sa_mask);
	for (i = 0; i < N; i++) {
		if (sigaction(signals[i], NULL, &old) < 0)
			return -errno;
		/* ours is still behind another one's */
		if (!(old.sa_flags & SA_SIGINFO) || old.sa_sigaction != crashed)
			before[i] = old;
		if (sigaction(signals[i], &action, NULL) < 0)
			return -errno;
	}
	ck_pr_store_ptr(&recorder, trace);
	return 0;
}
