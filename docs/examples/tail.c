/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a file as they are added, also when another file has got its
 * name. On the simulator, whose clock is virtual.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/weir.h>

#define MS 1000000ull

static int print(void *item, void *sim)
{
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));
	struct weir_flow_bytes *line = item;

	printf("%3d ms: %.*s\n", (int)(now_ns / MS), (int)line->n, line->data);
	weir_flow_bytes_unref(line);
	return 0;
}

static struct weir_flow *tail(const char *path)
{
	struct weir_flow *flow = weir_flow_tail(path, NULL);

	return weir_flow_take(weir_flow_lines(flow, 1000), 3);
}

/* Somebody who writes. */
static int add(void *text, void *path)
{
	FILE *file = fopen(path, "a");

	if (!file || fputs(text, file) < 0)
		return -EIO;
	return fclose(file) < 0 ? -errno : 0;
}

int main(void)
{
	static const char *const texts[] = {"one\ntw", "o\n", "three\n"};
	const struct weir_flow_rate rate = {.n = 1, .per_ns = 250 * MS};
	char path[] = "/tmp/weir-tail-XXXXXX";
	int fd = mkstemp(path), rc;
	struct weir_flow *flows[2], *flow;
	struct weir_sim *sim;

	if (fd < 0 || close(fd) < 0 || weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_throttle(weir_flow_array((void *const *)texts, 3),
				  &rate);
	flows[0] = weir_flow_for_each(flow, add, path);
	flows[1] = weir_flow_for_each(tail(path), print, sim);
	flow = weir_flow_all(flows, 2);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return unlink(path) < 0 || weir_sim_free(sim) < 0 || rc < 0;
}
