/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/own_thread.h"

#include <signal.h>
#include <stdio.h>

/* What a thread gets for what it does itself. If they were blocked the kernel
 * would kill the process without a word to a handler. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

int weir__own_thread_start(pthread_t *thread, const char *name,
			   void *(*run)(void *), void *argument)
{
	sigset_t all, kept;
	char shown[16];
	size_t i;
	int error;

	/* A thread inherits its mask: nothing can arrive before it is set. */
	sigfillset(&all);
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &kept);
	error = pthread_create(thread, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	if (error)
		return -error;
	(void)snprintf(shown, sizeof(shown), "%s", name);
	(void)pthread_setname_np(*thread, shown);
	return 0;
}
