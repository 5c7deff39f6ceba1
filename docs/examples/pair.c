/* SPDX-License-Identifier: BSD-2-Clause */
/* A boss and a worker, which restarts at a bad job and goes on with the
 * rest. */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>

struct worker {
	struct weir_actor actor;
	struct weir_in jobs;
};

static inline int work(struct weir_actor *actor)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);
	intptr_t job = (intptr_t)weir_in_take(&self->jobs);

	printf("job %d\n", (int)job);
	return job == 2 ? -EIO : job == 4 ? WEIR_TURN_END : 0;
}
WEIR_TURN(work)
static const struct weir_actor_ops ops = {.name = "worker", .turns = work_n};

int main(void)
{
	struct weir_loop *loop;
	struct weir_system *system;
	struct weir_supervisor boss;
	struct worker worker;
	struct weir_actor_id top, id;
	int rc = weir_loop_new(&loop, NULL);
	struct weir_executor *executor = weir_loop_executor(loop);

	if (rc < 0 || weir_system_new(&system, executor, NULL) < 0 ||
	    weir_supervisor_init(&boss, executor, NULL, NULL, 0) < 0 ||
	    weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &boss.actor, NULL,
			      &top) < 0 ||
	    weir_actor_init(&worker.actor, &ops, executor) < 0 ||
	    weir_in_init(&worker.jobs, &worker.actor, 8, NULL) < 0 ||
	    weir_system_spawn(system, top, &worker.actor, NULL, &id) < 0)
		return 1;
	for (intptr_t job = 1; job <= 4; job++)
		weir_system_send(system, id, NULL, (void *)job);
	return weir_system_actor_end_wait(system, id, WEIR_FOREVER) < 0 ||
	       weir_system_end_wait(system, WEIR_FOREVER) < 0 ||
	       weir_system_free(system) < 0 || weir_loop_free(loop) < 0;
}
