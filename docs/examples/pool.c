/* SPDX-License-Identifier: BSD-2-Clause */
/* A pool with places for two workers; each is made for one job. */
#include <stdio.h>
#include <weir/weir.h>

static struct weir_latch left; /* jobs that are not done */

struct job {
	struct weir_actor worker;
	const char *text;
};

static int work(struct weir_actor *actor)
{
	printf("%s\n", weir_container_of(actor, struct job, worker)->text);
	weir_latch_count_down(&left, 1);
	return weir_actor_end(actor);
}

static const struct weir_lifecycle life = {.pre_start = work};
static const struct weir_actor_ops ops = {.lifecycle = &life};

static int make(void *job, struct weir_actor **worker, void *executor)
{
	*worker = &((struct job *)job)->worker;
	return weir_actor_init(*worker, &ops, executor);
}

int main(void)
{
	struct job jobs[] = {
		{.text = "wash"}, {.text = "dry"}, {.text = "fold"}};
	struct weir_pool_options options = {
		.name = "pool", .limit = 2, .make = make};
	struct weir_system *system;
	struct weir_pools *pools;
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0 || weir_latch_init(&left, 3) < 0)
		return 1;
	options.context = weir_loop_executor(loop);
	if (weir_system_new(&system, options.context, NULL) < 0 ||
	    weir_pools_new(&pools, system, NULL) < 0 ||
	    weir_pool_start(pools, &options) < 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (weir_pool_queue(pools, "pool", &jobs[i]) < 0)
			return 1;
	return weir_completion_wait(&left.completion, WEIR_FOREVER) < 0 ||
	       weir_system_end_wait(system, WEIR_FOREVER) < 0 ||
	       weir_pools_free(pools) < 0 || weir_system_free(system) < 0 ||
	       weir_loop_free(loop) < 0;
}
