/* SPDX-License-Identifier: BSD-2-Clause */
/* On Ctrl-C a switch ends a flow that has no end of its own. */
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <weir/weir.h>

static int work(void *item, void *context)
{
	(void)context;
	return item == (void *)3 ? raise(SIGINT) : 0; /* as Ctrl-C does */
}

static int stop(void *item, void *stops)
{
	struct weir_flow_bytes *bytes = item;
	const struct signalfd_siginfo *info = (const void *)bytes->data;

	printf("signal %d\n", (int)info->ssi_signo);
	weir_flow_bytes_unref(bytes);
	return weir_flow_switch_end(stops);
}

/* Before any thread is started, which would have it otherwise. */
static sigset_t block(int number)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return set;
}

/* Both end with the switch, so neither waits for the other. */
static struct weir_flow *program(struct weir_flow_switch *stops)
{
	sigset_t set = block(SIGINT);
	struct weir_flow *flows[2];

	flows[0] = weir_flow_range(1, INT64_MAX);
	flows[0] = weir_flow_kill_switch(flows[0], stops);
	flows[0] = weir_flow_for_each(flows[0], work, NULL);
	flows[1] = weir_flow_kill_switch(weir_flow_signals(&set), stops);
	flows[1] = weir_flow_for_each(flows[1], stop, stops);
	return weir_flow_all(flows, 2);
}

int main(void)
{
	struct weir_flow_switch *stops;
	struct weir_flow *flow;
	struct weir_loop *loop;
	int rc;

	if (weir_loop_new(&loop, NULL) < 0 || weir_flow_switch_new(&stops) < 0)
		return 1;
	flow = program(stops);
	rc = weir_flow_run(flow, weir_loop_executor(loop), NULL);
	printf("ended %s\n", rc == 0 ? "well" : weir_strerror(rc));
	weir_flow_free(flow);
	weir_flow_switch_free(stops);
	return weir_loop_free(loop) < 0 || rc < 0;
}
