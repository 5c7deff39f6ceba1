/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a file as they are added: what is new is read each 100 ms. On
 * the simulator, whose clock is virtual.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/weir.h>

#define MS 1000000ull

/* Called upon a tick until it returns 0: that is all for now. */
static int read_more(void *tick, uint64_t i, void **item, void *file)
{
	struct weir_flow_bytes *bytes;

	(void)tick;
	(void)i;
	if (weir_flow_bytes_new(&bytes, 4096, NULL) < 0)
		return -ENOMEM;
	clearerr(file);
	bytes->n = fread(bytes->data, 1, bytes->n, file);
	*item = bytes;
	if (bytes->n > 0)
		return 1;
	weir_flow_bytes_unref(bytes);
	return ferror(file) ? -EIO : 0;
}

static int print(void *item, void *sim)
{
	uint64_t now_ns = weir_executor_now(weir_sim_executor(sim));
	struct weir_flow_bytes *line = item;

	printf("%3d ms: %.*s\n", (int)(now_ns / MS), (int)line->n, line->data);
	weir_flow_bytes_unref(line);
	return 0;
}

static struct weir_flow *tail(FILE *file)
{
	struct weir_flow *flow = weir_flow_tick(0, 100 * MS, NULL);

	flow = weir_flow_map_concat(flow, read_more, file);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	return weir_flow_take(weir_flow_lines(flow, 1000), 3);
}

/* Somebody who writes. */
static int add(void *text, void *fd)
{
	return dprintf(*(int *)fd, "%s", (char *)text) < 0 ? -errno : 0;
}

int main(void)
{
	static const char *const texts[] = {"one\ntw", "o\n", "three\n"};
	const struct weir_flow_rate rate = {.n = 1, .per_ns = 250 * MS};
	char path[] = "/tmp/weir-tail-XXXXXX";
	int fd = mkstemp(path), rc;
	FILE *file = fopen(path, "r");
	struct weir_flow *flows[2], *flow;
	struct weir_sim *sim;

	if (!file || unlink(path) < 0 || weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_throttle(weir_flow_array((void *const *)texts, 3),
				  &rate);
	flows[0] = weir_flow_for_each(flow, add, &fd);
	flows[1] = weir_flow_for_each(tail(file), print, sim);
	flow = weir_flow_all(flows, 2);
	rc = weir_flow_run(flow, weir_sim_executor(sim), NULL);
	weir_flow_free(flow);
	return fclose(file) || close(fd) || weir_sim_free(sim) < 0 || rc < 0;
}
