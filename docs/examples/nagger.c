/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker pool, with the worker of Erlang's ppool: a nagger says its task
 * every so often, so many times, and ends. There are two places; who comes
 * third has to wait. The clock is the simulator's, so it takes no time.
 *
 * The original sends one message too many when it is to send none, and one call
 * that it does not know cancels its timer: it lives on, mute, and keeps its
 * place for good. Here 0 is none, and ends at once. There is nothing to call:
 * all that a nagger waits for is its delay, which it sets again before its turn
 * is over; a signal it has no handler for changes nothing, and to stop it is
 * weir_system_stop_actor().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

#define SECOND 1000000000ull
#define FOR_EVER UINT32_MAX

/* A job; plain data of ours, that nobody has to drop. */
struct nag {
	const char *task;
	uint64_t every_ns;
	uint32_t max; /* messages; or FOR_EVER */
	void (*send)(struct weir_actor *from, const char *task);
};

/* --- The worker ----------------------------------------------------------- */

struct nagger {
	struct weir_actor actor;
	struct weir_delay delay; /* its only port */
	const struct nag *nag;
	uint32_t left;
};

static inline int nag(struct weir_actor *actor)
{
	struct nagger *self = weir_container_of(actor, struct nagger, actor);

	self->nag->send(actor, self->nag->task);
	if (self->left != FOR_EVER && --self->left == 0)
		return WEIR_TURN_END; /* whose place is the next one's */
	return weir_delay_for(&self->delay, self->nag->every_ns);
}
WEIR_TURN(nag)

static int nagger_starts(struct weir_actor *actor)
{
	struct nagger *self = weir_container_of(actor, struct nagger, actor);

	return self->left ? weir_delay_for(&self->delay, self->nag->every_ns)
			  : weir_actor_end(actor);
}

static void nagger_released(struct weir_actor *actor)
{
	free(weir_container_of(actor, struct nagger, actor));
}

static const struct weir_lifecycle nagger_life = {.pre_start = nagger_starts};
static const struct weir_actor_ops nagger_ops = {.name = "nagger",
						 .turns = nag_n,
						 .released = nagger_released,
						 .lifecycle = &nagger_life};

/* The pool has a place for this job: here is its worker. */
static int make_nagger(void *job, struct weir_actor **worker, void *executor)
{
	struct nagger *self = calloc(1, sizeof(*self));
	int rc;

	if (!self)
		return -ENOMEM;
	self->nag = job;
	self->left = self->nag->max;
	rc = weir_actor_init(&self->actor, &nagger_ops, executor);
	if (rc == 0)
		rc = weir_delay_init(&self->delay, &self->actor);
	if (rc < 0)
		free(self);
	else
		*worker = &self->actor;
	return rc;
}

/* --- The program ---------------------------------------------------------- */

static void say(struct weir_actor *from, const char *task)
{
	printf("%llu s  %s\n",
	       (unsigned long long)(weir_executor_now(from->executor) / SECOND),
	       task);
}

static int nag_all(struct weir_pools *pools)
{
	static struct nag nags[] = {
		{"do the dishes", SECOND, 1, say},
		{"feed the cat", SECOND, 1, say},
		{"pay the rent", SECOND, 1, say},
		{"never", SECOND, 0, say},
		{"water the plants", SECOND, FOR_EVER, say},
	};
	size_t i;

	for (i = 0; i < 4; i++)
		if (weir_pool_queue(pools, "naggers", &nags[i]) < 0)
			return -1;
	/* This one we wait for; meanwhile the others come and go. */
	return weir_pool_queue_wait(pools, "naggers", &nags[4], WEIR_FOREVER,
				    NULL);
}

int main(void)
{
	struct weir_pool_options options = {
		.name = "naggers", .limit = 2, .make = make_nagger};
	struct weir_system *system;
	struct weir_pools *pools;
	struct weir_sim *sim;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	options.context = weir_sim_executor(sim);
	if (weir_system_new(&system, options.context, NULL) < 0 ||
	    weir_pools_new(&pools, system, NULL) < 0 ||
	    weir_pool_start(pools, &options) < 0 || nag_all(pools) < 0)
		return 1;
	weir_sim_run_until(sim, 4 * SECOND, UINT64_MAX);
	if (weir_pool_stop_async(pools, "naggers", NULL) < 0)
		return 1;
	weir_sim_run(sim);
	weir_pools_stop(pools);
	weir_system_stop(system);
	weir_sim_run(sim);
	return weir_pools_free(pools) < 0 || weir_system_free(system) < 0 ||
	       weir_sim_free(sim) < 0;
}
