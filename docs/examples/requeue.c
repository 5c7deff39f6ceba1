/* SPDX-License-Identifier: BSD-2-Clause */
/* A job that fails is tried three times in all, behind those that wait. */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

static struct job {
	const char *name;
	int fails, tries; /* fails so many times */
} jobs[] = {{"a", 0, 0}, {"b", 9, 0}, {"c", 1, 0}, {"d", 0, 0}};

struct worker {
	struct weir_actor actor;
	struct weir_in in;
};

static inline int work(struct weir_actor *actor)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);
	struct job *job = weir_in_peek(&self->in);

	if (job->tries++ < job->fails)
		return -EIO;
	printf("%s: done\n", job->name);
	weir_in_consume(&self->in);
	return 0;
}
WEIR_TURN(work)

/* The job is ours again; what is not queued again would be dropped here. */
static int requeue(struct weir_actor *actor, struct weir_error *cause)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);
	void *item;

	(void)cause;
	if (weir_in_take_failed(&self->in, &item) < 0)
		return 0;
	if (((struct job *)item)->tries < 3)
		return weir_in_put(&self->in, item);
	printf("%s: given up\n", ((struct job *)item)->name);
	return 0;
}

int main(void)
{
	static const struct weir_lifecycle life = {.pre_restart = requeue};
	static const struct weir_actor_ops ops = {.turns = work_n,
						  .lifecycle = &life};
	struct weir_system *system;
	struct worker worker;
	struct weir_sim *sim;
	size_t i;

	if (weir_sim_new(&sim, 1, NULL) < 0 ||
	    weir_system_new(&system, weir_sim_executor(sim), NULL) < 0 ||
	    weir_actor_init(&worker.actor, &ops, weir_sim_executor(sim)) < 0 ||
	    weir_in_init(&worker.in, &worker.actor, 8, NULL) < 0)
		return 1;
	for (i = 0; i < 4; i++)
		if (weir_in_put(&worker.in, &jobs[i]) < 0)
			return 1;
	if (weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &worker.actor, NULL,
			      NULL) < 0)
		return 1;
	weir_sim_run(sim);
	weir_system_stop(system);
	weir_sim_run(sim);
	return weir_system_free(system) < 0 || weir_sim_free(sim) < 0;
}
