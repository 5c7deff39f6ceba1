/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * staged STAGE: serves the page of a program for the tests with a browser and with
 * Prometheus, and prints where. It goes by lines of its input: "open" lets the flow
 * go on that has no permits, "end" ends all flows, the end of the input the program.
 *
 *	stalled  a chain that waits for a permit, beside one that goes on
 *	hostile  actors whose names are markup
 *	many     300 flows of two actors, and a fan of several layers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/inspect_http.h>
#include <weir/weir.h>

enum { FLOWS = 512, SECOND = 1000000000 };

static struct weir_executor *executor;
static struct weir_semaphore permits;
static struct weir_flow *flows[FLOWS];
static struct weir_flow_run *runs[FLOWS];
static size_t n_flows;

static void check(int rc)
{
	if (rc < 0) {
		fprintf(stderr, "staged: %s\n", weir_strerror(rc));
		exit(1);
	}
}

static void start(struct weir_flow *flow)
{
	flows[n_flows] = flow;
	check(weir_flow_start(flow, executor, NULL, &runs[n_flows]));
	n_flows++;
}

static struct weir_flow *stage(struct weir_flow *flow, const char *name)
{
	return weir_flow_async(weir_flow_name(flow, name), 16, NULL);
}

static struct weir_flow *paced(const char *name, int64_t per_second)
{
	struct weir_flow_rate rate = {
		.n = 1,
		.per_ns = (uint64_t)(SECOND / per_second),
	};
	struct weir_flow *flow = weir_flow_range(1, 1000000000);

	return stage(weir_flow_throttle(flow, &rate), name);
}

static void stage_stalled(void)
{
	struct weir_flow *flow = weir_flow_range(1, 50000), *ways[2];

	flow = stage(flow, "read requests");
	flow = stage(weir_flow_drop(flow, 1), "parse");
	flow = stage(weir_flow_drop(flow, 1), "look up");
	flow = stage(weir_flow_acquire(flow, &permits), "database");
	flow = weir_flow_name(weir_flow_drop(flow, 1), "answer");
	start(weir_flow_ignore(flow));

	ways[0] = paced("sensor a", 40);
	ways[1] = paced("sensor b", 90);
	flow = stage(weir_flow_merge(ways, 2), "merge");
	flow = stage(weir_flow_drop(flow, 1), "smooth");
	start(weir_flow_ignore(
		weir_flow_name(weir_flow_drop(flow, 1), "store")));
}

static void stage_hostile(void)
{
	static const char *const names[] = {
		"<img src=x onerror=document.title='owned'>",
		"</script><script>document.title='owned'</script>",
		"\"><svg onload=document.title='owned'>",
		"a & b &lt; &quot;c&quot; 'd'",
		"\xff\xfe broken \xc3",
	};
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		flow = stage(weir_flow_range(1, 1000), names[i]);
		start(weir_flow_ignore(weir_flow_acquire(flow, &permits)));
	}
}

static void stage_many(void)
{
	struct weir_flow *ways[8], *flow;
	static char names[150][20], workers[8][20];
	size_t i;

	for (i = 0; i < 150; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "source %zu", i);
		flow = stage(weir_flow_range(1, 1000), names[i]);
		start(weir_flow_ignore(weir_flow_acquire(flow, &permits)));
	}
	flow = stage(weir_flow_range(1, 1000000), "deal");
	check(weir_flow_balance(flow, 8, ways, NULL));
	for (i = 0; i < 8; i++) {
		(void)snprintf(workers[i], sizeof(workers[i]), "worker %zu", i);
		ways[i] = stage(weir_flow_drop(ways[i], 1), workers[i]);
	}
	flow = stage(weir_flow_merge(ways, 8), "gather");
	start(weir_flow_ignore(weir_flow_acquire(flow, &permits)));
}

static void end_flows(void)
{
	size_t i;

	for (i = 0; i < n_flows; i++)
		weir_flow_run_stop(runs[i], NULL);
	for (i = 0; i < n_flows; i++) {
		check(weir_flow_run_wait(runs[i], WEIR_FOREVER, NULL, NULL));
		weir_flow_run_free(runs[i]);
		weir_flow_free(flows[i]);
	}
	n_flows = 0;
}

int main(int argc, char **argv)
{
	struct weir_inspect_http *http;
	struct weir_threads *threads;
	char line[80];

	check(weir_threads_new(&threads, NULL));
	executor = weir_threads_executor(threads);
	check(weir_semaphore_init(&permits, 0));
	check(weir_inspect_http_new(&http, executor, NULL, NULL));
	if (strcmp(argv[1], "stalled") == 0)
		stage_stalled();
	else if (strcmp(argv[1], "hostile") == 0)
		stage_hostile();
	else
		stage_many();
	printf("%s\n", weir_inspect_http_address(http));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "open\n") == 0)
			check(weir_semaphore_release(&permits, 100000));
		else if (strcmp(line, "end\n") == 0)
			end_flows();
	}
	end_flows();
	check(weir_inspect_http_free(http));
	check(weir_semaphore_fini(&permits));
	check(weir_threads_free(threads));
	return 0;
}
