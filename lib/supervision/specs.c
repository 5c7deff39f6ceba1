/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ready-made supervisor, made of what any program can use. It owns the
 * actors of its table until it has spawned them: in the end it stops those that
 * it has not.
 */
#include <weir/supervisor.h>

#include <errno.h>

static struct weir_supervisor *supervisor_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_supervisor, actor);
}

static int pre_start(struct weir_actor *actor)
{
	struct weir_supervisor *self = supervisor_of(actor);
	const struct weir_child_spec *child;
	int rc;

	/* an earlier start has failed: its children stop, and may be gone */
	if (self->n_spawned)
		return -EALREADY;
	for (; self->n_spawned < self->n_children; self->n_spawned++) {
		child = &self->children[self->n_spawned];
		rc = weir_system_spawn(weir_actor_system(actor),
				       weir_actor_self(actor), child->actor,
				       &child->options, NULL);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The children live, and restart behind it. */
static int pre_restart(struct weir_actor *actor, struct weir_error *cause)
{
	(void)actor;
	(void)cause;
	return 0;
}

static int post_restart(struct weir_actor *actor, struct weir_error *cause)
{
	(void)actor;
	(void)cause;
	return 0;
}

static void stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir_supervisor *self = supervisor_of(actor);
	size_t i;

	(void)error;
	for (i = self->n_spawned; i < self->n_children; i++)
		weir_actor_stop(self->children[i].actor);
}

int weir_supervisor_init(struct weir_supervisor *supervisor,
			 struct weir_executor *executor,
			 const struct weir_strategy *strategy,
			 const struct weir_child_spec *children,
			 size_t n_children)
{
	size_t i;

	if (!supervisor || !executor || !executor->registry ||
	    (!children && n_children) ||
	    (strategy && weir_strategy_check(strategy) < 0))
		return -EINVAL;
	for (i = 0; i < n_children; i++)
		if (!children[i].actor)
			return -EINVAL;
	*supervisor = (struct weir_supervisor){
		.children = children,
		.n_children = n_children,
		.lifecycle = {.pre_start = pre_start,
			      .pre_restart = pre_restart,
			      .post_restart = post_restart,
			      .strategy = strategy},
		.ops = {.name = "supervisor",
			.stopped = stopped,
			.lifecycle = &supervisor->lifecycle},
	};
	return weir_actor_init(&supervisor->actor, &supervisor->ops, executor);
}
