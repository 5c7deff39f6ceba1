/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration file that is saved again and again is read when it has been
 * left alone for 200 ms; on the simulator, whose clock is virtual.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/weir.h>

#define MS 1000000ull

struct config {
	struct weir_sim *sim;
	char path[32], text[8];
};

static int save(void **text, void *config)
{
	FILE *file;

	if (!*text)
		return 0; /* no change */
	file = fopen(((struct config *)config)->path, "w");
	if (!file || fputs(*text, file) < 0)
		return -EIO;
	return fclose(file) < 0 ? -errno : 1;
}

/* Somebody who saves, or does not, each 100 ms. In a program of yours this is
 * weir_flow_inotify(). */
static struct weir_flow *changes(struct config *config)
{
	static const char *const texts[] = {"a", "a = 1", NULL, NULL, "a = 2"};
	static const struct weir_flow_rate rate = {
		.n = 1, .per_ns = 100 * MS, .burst = WEIR_FLOW_NO_BURST};
	struct weir_flow *flow = weir_flow_array((void *const *)texts, 5);

	return weir_flow_filter_map(weir_flow_throttle(flow, &rate), save,
				    config);
}

static int reload(void *change, void *context)
{
	struct config *self = context;
	uint64_t now_ns = weir_executor_now(weir_sim_executor(self->sim));
	FILE *file = fopen(self->path, "r");

	(void)change;
	if (!file || !fgets(self->text, sizeof(self->text), file))
		return -EIO;
	printf("%d ms: %s\n", (int)(now_ns / MS), self->text);
	return fclose(file) < 0 ? -errno : 0;
}

int main(void)
{
	struct config config = {.path = "/tmp/weir-config-XXXXXX"};
	int file = mkstemp(config.path), rc;
	struct weir_flow *flow;

	if (file < 0 || weir_sim_new(&config.sim, 1, NULL) < 0)
		return 1;
	flow = weir_flow_debounce(changes(&config), 200 * MS);
	flow = weir_flow_for_each(flow, reload, &config);
	rc = weir_flow_run(flow, weir_sim_executor(config.sim), NULL);
	weir_flow_free(flow);
	return weir_sim_free(config.sim) < 0 || unlink(config.path) < 0 ||
	       close(file) < 0 || rc < 0;
}
