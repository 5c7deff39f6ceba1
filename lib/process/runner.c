/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are calls. The manager hands commands over links to a few
 * actors, its children, which make the calls one after the other; they tell it
 * after each run of turns how many have ended.
 */
#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "base/memory.h"
#include "process/manager.h"

#define CAPACITY 16u /* commands that wait at a runner; few, for fairness */

struct weir__runner {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_process_manager *manager;
	uint64_t made, done, failed; /* calls; read by any thread */
	uint32_t later;		     /* of this run of turns */
};

static struct weir__runner *runner_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir__runner, actor);
}

void weir__runners_ended(struct weir_process_manager *manager, uint32_t n)
{
	/* release: what was done for them; the signal's fences order the rest */
	ck_pr_fence_release();
	ck_pr_add_32(&manager->n_returned, n);
	weir_actor_signal(&manager->actor);
}

static void reply(struct weir_command *command, int code)
{
	command->reply(command, code < 0 ? WEIR_CRASHED : WEIR_DONE,
		       code < 0 ? weir_error_of(code) : NULL);
}

void weir__call_drop(void *item, void *context)
{
	weir__manager_reply(context, item, WEIR_REFUSED,
			    weir_error_of(-ECANCELED));
	weir__runners_ended(context, 1);
}

void weir_command_end(struct weir_command *command, int code)
{
	struct weir_process_manager *manager;

	if (!command || !command->manager)
		return;
	manager = command->manager;
	/* relaxed: a figure */
	ck_pr_inc_64(&manager->outcomes[code < 0 ? WEIR_CRASHED : WEIR_DONE]);
	reply(command, code);
	weir__runners_ended(manager, 1);
	weir_actor_unref(&manager->actor);
}

static inline int call(struct weir_actor *actor)
{
	struct weir__runner *self = runner_of(actor);
	struct weir_process_manager *manager = self->manager;
	struct weir_command *command = weir_in_take(&self->in);
	int rc;

	/* figures of our own; only we write them */
	ck_pr_store_64(&self->made, self->made + 1);
	rc = manager->options.run(command, manager->options.context);
	if (rc == WEIR_LATER) {
		self->later++;
		return 0;
	}
	if (rc < 0)
		ck_pr_store_64(&self->failed, self->failed + 1);
	else
		ck_pr_store_64(&self->done, self->done + 1);
	reply(command, rc);
	return 0;
}
WEIR_TURN(call)

static uint32_t calls(struct weir_actor *actor, uint32_t n)
{
	struct weir__runner *self = runner_of(actor);
	struct weir_actor *manager = &self->manager->actor;
	uint32_t done;

	/* A reference for each that ends later, which may be before `run` has
	 * returned. relaxed: we hold one of our own. */
	ck_pr_add_32(&manager->refs, n);
	self->later = 0;
	done = call_n(actor, n);
	/* release: as weir_actor_unref() */
	ck_pr_fence_release();
	ck_pr_sub_32(&manager->refs, n - self->later);
	if (done > self->later)
		weir__runners_ended(self->manager, done - self->later);
	return done;
}

static void released(struct weir_actor *actor)
{
	weir_actor_unref(&runner_of(actor)->manager->actor);
}

static const struct weir_actor_ops runner_ops = {
	.name = "runner",
	.turns = calls,
	.released = released,
};

static int runner_init(struct weir_process_manager *manager,
		       struct weir__runner *self)
{
	int rc;

	self->manager = manager;
	rc = weir_actor_init(&self->actor, &runner_ops,
			     manager->actor.executor);
	if (rc < 0)
		return rc;
	(void)weir_actor_ref(&manager->actor);
	rc = weir_in_init(&self->in, &self->actor, CAPACITY, NULL);
	return rc < 0 ? rc : weir_link(&manager->out, &self->in);
}

int weir__runners_init(struct weir_process_manager *manager)
{
	uint32_t i;
	int rc = 0;

	manager->runner =
		weir__alloc(manager->actor.executor->options.allocator,
			    manager->n_runners * sizeof(*manager->runner));
	if (!manager->runner)
		return -ENOMEM;
	for (i = 0; i < manager->n_runners && rc == 0; i++)
		rc = runner_init(manager, &manager->runner[i]);
	if (rc < 0)
		weir__runners_stop(manager);
	return rc;
}

int weir__runners_start(struct weir_process_manager *manager)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < manager->n_runners && rc == 0; i++)
		rc = weir_spawn(manager->system, manager->self,
				&manager->runner[i].actor, NULL, NULL);
	return rc;
}

void weir__runners_stop(struct weir_process_manager *manager)
{
	struct weir__runner *runner = manager->runner;
	uint32_t i;

	for (i = 0; runner && i < manager->n_runners; i++)
		if (runner[i].actor.executor &&
		    weir__state(&runner[i].actor) == WEIR__STATE_NEW)
			weir_actor_stop(&runner[i].actor);
}

void weir__runners_count(const struct weir_process_manager *manager,
			 struct weir_process_counts *counts)
{
	const struct weir__runner *runner = manager->runner;
	uint32_t i;

	for (i = 0; i < manager->n_runners; i++) {
		counts->started += ck_pr_load_64(&runner[i].made);
		counts->outcomes[WEIR_DONE] += ck_pr_load_64(&runner[i].done);
		counts->outcomes[WEIR_CRASHED] +=
			ck_pr_load_64(&runner[i].failed);
	}
}

void weir__runners_fini(struct weir_process_manager *manager)
{
	weir__free(manager->actor.executor->options.allocator, manager->runner,
		   manager->n_runners * sizeof(*manager->runner));
	manager->runner = NULL;
}
