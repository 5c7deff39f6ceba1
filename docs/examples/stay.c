/* SPDX-License-Identifier: BSD-2-Clause */
/* A pool of two connections that stay. Who has one checked out has it alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

static struct weir_latch asked; /* requests that have no answer */

struct connection {
	struct weir_actor actor;
	struct weir_in requests;
};

static int serve(struct weir_actor *actor)
{
	struct connection *self =
		weir_container_of(actor, struct connection, actor);

	printf("%s\n", (const char *)weir_in_take(&self->requests));
	return weir_latch_count_down(&asked, 1);
}
WEIR_TURN(serve)

static void hang_up(struct weir_actor *actor)
{
	free(weir_container_of(actor, struct connection, actor));
}

static const struct weir_actor_ops ops = {.turns = serve_n,
					  .released = hang_up};

static int dial(void *unused, struct weir_actor **worker, void *executor)
{
	struct connection *self = calloc(1, sizeof(*self));

	(void)unused; /* there is no job: it stays */
	if (!self || weir_actor_init(&self->actor, &ops, executor) < 0 ||
	    weir_in_init(&self->requests, &self->actor, 16, NULL) < 0)
		return free(self), -ENOMEM;
	*worker = &self->actor;
	return 0;
}

static int request(struct weir_pools *pools, struct weir_system *system,
		   void *text)
{
	struct weir_pool_worker worker;
	int rc = weir_pool_check_out_wait(pools, "db", WEIR_ACTOR_ID_NONE,
					  5000000000, &worker);

	if (rc < 0)
		return rc; /* -ETIMEDOUT: all were taken for 5 s */
	rc = weir_system_tell(system, worker.id, text);
	(void)weir_pool_check_in(pools, &worker);
	return rc;
}

int main(void)
{
	static char texts[][8] = {"begin", "insert", "commit"};
	struct weir_pool_options options = {
		.name = "db", .limit = 2, .stay = 2, .make = dial};
	struct weir_system *system;
	struct weir_pools *pools;
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0 || weir_latch_init(&asked, 3) < 0)
		return 1;
	options.context = weir_loop_executor(loop);
	if (weir_system_new(&system, options.context, NULL) < 0 ||
	    weir_pools_new(&pools, system, NULL) < 0 ||
	    weir_pool_start(pools, &options) < 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (request(pools, system, texts[i]) < 0)
			return 1;
	return weir_completion_wait(&asked.completion, WEIR_FOREVER) < 0 ||
	       weir_system_end_wait(system, WEIR_FOREVER) < 0 ||
	       weir_pools_free(pools) < 0 || weir_system_free(system) < 0 ||
	       weir_loop_free(loop) < 0;
}
