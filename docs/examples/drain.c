/* SPDX-License-Identifier: BSD-2-Clause */
/* On SIGTERM no more is accepted, and what has been accepted is done. */
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <weir/weir.h>

static int work(void *item, void *context)
{
	(void)context;
	printf("done %d\n", (int)(intptr_t)item);
	return item == (void *)3 ? raise(SIGTERM) : 0; /* as kill(1) does */
}

/* All sources of the run end: the queue behind its items, the rest at once. */
static int drain(void *item, void *run)
{
	weir_flow_bytes_unref(item);
	weir_flow_run_end(*(struct weir_flow_run **)run);
	return 0;
}

static int signals_open(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int main(void)
{
	struct weir_flow_run *run = NULL;
	struct weir_flow *flows[2], *flow;
	struct weir_flow_queue *queue;
	struct weir_loop *loop;
	int fd = signals_open(), rc, i;

	if (weir_loop_new(&loop, NULL) < 0 ||
	    weir_flow_queue_new(&queue, 8, WEIR_OVERFLOW_BACK_PRESSURE, NULL))
		return 1;
	flows[0] = weir_flow_for_each(weir_flow_from_queue(queue), work, NULL);
	flows[1] = weir_flow_for_each(weir_flow_read(fd, 128), drain, &run);
	flow = weir_flow_all(flows, 2);
	rc = weir_flow_start(flow, weir_loop_executor(loop), NULL, &run);
	for (i = 1; i <= 5 && rc == 0; i++)
		rc = weir_flow_queue_offer(queue, (void *)(intptr_t)i);
	if (rc == 0)
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, NULL);
	printf("6: %s\n", weir_strerror(weir_flow_queue_offer(queue, NULL)));
	weir_flow_run_free(run);
	weir_flow_free(flow);
	weir_flow_queue_free(queue);
	return close(fd) < 0 || weir_loop_free(loop) < 0 || rc < 0;
}
