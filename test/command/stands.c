/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stands [fork | exec]: stands still, until its input ends: nobody gives a permit
 * back. A child of it makes an executor of its own, or becomes another program.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/weir.h>

static struct weir_semaphore permits;

/* Says who it is, and stays as long as its parent. */
static int be_child(const char *what)
{
	struct weir_loop *loop;

	if (strcmp(what, "exec") == 0)
		return execlp("sh", "sh", "-c", "echo $$; cat", (char *)NULL);
	if (weir_loop_new(&loop, NULL) < 0)
		return 1;
	printf("%ld\n", (long)getpid());
	(void)fflush(stdout);
	(void)getchar();
	return weir_loop_free(loop) < 0;
}

int main(int argc, char **argv)
{
	struct weir_flow *flow = weir_flow_range(1, 1000);
	struct weir_flow_run *run;
	struct weir_threads *threads;

	if (weir_threads_new(&threads, NULL) < 0 ||
	    weir_semaphore_init(&permits, 7) < 0)
		return 1;
	flow = weir_flow_async(flow, 16, NULL);
	flow = weir_flow_ignore(weir_flow_acquire(flow, &permits));
	if (weir_flow_start(flow, weir_threads_executor(threads), NULL, &run) <
	    0)
		return 1;
	(void)puts("up");
	(void)fflush(stdout);
	if (argc > 1 && fork() == 0)
		return be_child(argv[1]);
	(void)getchar();
	while (wait(NULL) > 0)
		;
	return 0;
}
