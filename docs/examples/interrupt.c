/* SPDX-License-Identifier: BSD-2-Clause */
/* On Ctrl-C a switch ends a flow that has no end of its own. */
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <weir/weir.h>

static int work(void *item, void *context)
{
	(void)context;
	return item == (void *)3 ? raise(SIGINT) : 0; /* as Ctrl-C does */
}

static int stop(void *item, void *stops)
{
	weir_flow_bytes_unref(item);
	printf("Ctrl-C\n");
	return weir_flow_switch_end(stops);
}

static int signals_open(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Both end with the switch, so neither waits for the other. */
static struct weir_flow *program(int fd, struct weir_flow_switch *stops)
{
	struct weir_flow *flows[2];

	flows[0] = weir_flow_range(1, INT64_MAX);
	flows[0] = weir_flow_kill_switch(flows[0], stops);
	flows[0] = weir_flow_for_each(flows[0], work, NULL);
	flows[1] = weir_flow_kill_switch(weir_flow_read(fd, 128), stops);
	flows[1] = weir_flow_for_each(flows[1], stop, stops);
	return weir_flow_all(flows, 2);
}

int main(void)
{
	struct weir_flow_switch *stops;
	struct weir_flow *flow;
	struct weir_loop *loop;
	int fd = signals_open(), rc;

	if (weir_loop_new(&loop, NULL) < 0 || weir_flow_switch_new(&stops) < 0)
		return 1;
	flow = program(fd, stops);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	printf("ended %s\n", rc == 0 ? "well" : weir_strerror(rc));
	weir_flow_free(flow);
	weir_flow_switch_free(stops);
	return close(fd) < 0 || weir_loop_free(loop) < 0 || rc < 0;
}
