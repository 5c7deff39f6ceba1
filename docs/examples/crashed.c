/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crashed COMMAND: a flow stands still, and then the program crashes. COMMAND, which
 * is the path of `weir`, says of it who waited for whom.
 */
#define _GNU_SOURCE 1 /* _Fork */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weir/sim.h>
#include <weir/weir.h>

static char pid[16];
static char *command[] = {NULL, (char[]){"why"}, pid, NULL};

/* Another process reads the memory of this one, which waits: nothing that this one
 * has, as a lock, or memory that is broken, is in its way. */
static void say_why(int signal)
{
	pid_t child;

	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	child = _Fork();
	if (child == 0) {
		(void)execv(command[0], command);
		_exit(127);
	}
	(void)waitpid(child, NULL, 0);
	(void)raise(signal); /* dies of it now */
}

/* To be called when the program begins. */
static void say_why_when_it_crashes(char *path)
{
	const struct sigaction action = {.sa_handler = say_why,
					 .sa_flags = SA_RESETHAND};

	(void)snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	command[0] = path;
	(void)sigaction(SIGSEGV, &action, NULL);
	(void)sigaction(SIGBUS, &action, NULL);
	(void)sigaction(SIGABRT, &action, NULL);
}

int main(int argc, char **argv)
{
	struct weir_flow *flow = weir_flow_range(1, 1000);
	struct weir_semaphore permits;
	struct weir_flow_run *run;
	struct weir_sim *sim;

	if (argc < 2 || weir_sim_new(&sim, 1, NULL) < 0 ||
	    weir_semaphore_init(&permits, 7) < 0)
		return 1;
	say_why_when_it_crashes(argv[1]);
	flow = weir_flow_async(flow, 16, NULL);
	flow = weir_flow_ignore(weir_flow_acquire(flow, &permits));
	if (weir_flow_start(flow, weir_sim_executor(sim), NULL, &run) < 0)
		return 1;
	weir_sim_run(sim);
	abort();
}
