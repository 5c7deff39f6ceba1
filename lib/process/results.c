/* SPDX-License-Identifier: BSD-2-Clause */
/* The stream of results; see results.h. */
#include "process/results.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include <weir/reactive.h>

#include "actor/gate.h"
#include "base/memory.h"
#include "process/command.h"
#include "process/ids.h"

struct weir__results {
	struct weir_actor actor;
	struct weir_in in; /* commands that have ended */
	struct weir_out out;
	struct weir_reactive_out reactive;
	struct weir_items items; /* in the in-port */
	const struct weir_allocator *allocator;
	struct weir_process_manager *manager; /* NULL: it is released */
	bool ended;			      /* told by the manager's owner */
	uint32_t stopped;		      /* atomic */
};

static struct weir__results *results_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir__results, actor);
}

/* --- Results -------------------------------------------------------------- */

void weir_command_reply(struct weir_command *command)
{
	struct weir_error *error;

	if (!command)
		return;
	error = command->error;
	command->reply(command, command->outcome, error);
	weir_error_unref(error);
}

static void result_drop(void *item, void *context)
{
	(void)context;
	weir_command_reply(item);
}

const struct weir_items *weir_command_result_items(void)
{
	static const struct weir_items items = {.drop = result_drop};

	return &items;
}

/* It was not taken: its place comes back, unless there are no places any
 * more. */
static void result_lost(void *item, void *context)
{
	struct weir_process_manager *manager =
		((struct weir__results *)context)->manager;

	weir_command_reply(item);
	if (manager)
		weir__places_back(manager, 1);
}

/* --- The actor ------------------------------------------------------------ */

static inline int pass(struct weir_actor *actor)
{
	struct weir__results *self = results_of(actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(pass)

static uint32_t passes(struct weir_actor *actor, uint32_t n)
{
	uint32_t done = pass_n(actor, n);

	weir__places_back(results_of(actor)->manager, done);
	return done;
}

static void results_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir__results *self = results_of(actor);

	(void)error;
	/* relaxed: the signal's fences order it */
	ck_pr_store_32(&self->stopped, 1);
	weir_actor_signal(&self->manager->actor);
	weir_actor_unref(&self->manager->actor);
}

static void results_released(struct weir_actor *actor)
{
	struct weir__results *self = results_of(actor);

	weir__free(self->allocator, self, sizeof(*self));
}

static const struct weir_actor_ops results_ops = {
	.name = "results",
	.turns = passes,
	.stopped = results_stopped,
	.released = results_released,
};

/* --- The manager's side --------------------------------------------------- */

static int set_ports(struct weir__results *self)
{
	/* for the places there are; and for as many results that a run has
	 * taken and not published, whose places are others' already */
	uint64_t most = 2 * (uint64_t)self->manager->options.max;
	int rc = weir_in_init(&self->in, &self->actor, weir__power_of_two(most),
			      &self->items);

	if (rc == 0)
		rc = weir_out_init(&self->out, &self->actor,
				   weir_command_result_items());
	return rc == 0 ? weir_reactive_out_init(&self->reactive, &self->out,
						NULL)
		       : rc;
}

int weir__results_init(struct weir_process_manager *manager)
{
	const struct weir_allocator *allocator =
		manager->actor.executor->options.allocator;
	struct weir__results *self = weir__alloc(allocator, sizeof(*self));
	int rc;

	if (!self)
		return -ENOMEM;
	self->allocator = allocator;
	self->manager = manager;
	self->items = (struct weir_items){.drop = result_lost, .context = self};
	rc = weir_actor_init(&self->actor, &results_ops,
			     manager->actor.executor);
	if (rc < 0) {
		weir__free(allocator, self, sizeof(*self));
		return rc;
	}
	/* both claims 2 */
	(void)weir_actor_ref(&self->actor);
	(void)weir_actor_ref(&manager->actor);
	manager->results = self;
	return set_ports(self);
}

int weir__results_start(struct weir_process_manager *manager)
{
	return manager->results
		       ? weir_system_spawn(manager->system, manager->self,
					   &manager->results->actor, NULL, NULL)
		       : 0;
}

bool weir__results_gone(const struct weir_process_manager *manager)
{
	return manager->results && ck_pr_load_32(&manager->results->stopped);
}

bool weir__results_end(struct weir_process_manager *manager,
		       struct weir_error *error)
{
	struct weir__results *self = manager->results;

	if (!self || weir__results_gone(manager))
		return true;
	/* -EALREADY: in a drain */
	if (!self->ended)
		(void)weir_in_end(&self->in, error);
	self->ended = true;
	return false;
}

void weir__results_stop(struct weir_process_manager *manager)
{
	struct weir__results *self = manager->results;

	if (self && weir__is_new(&self->actor))
		weir_actor_stop(&self->actor);
}

void weir__results_fini(struct weir_process_manager *manager)
{
	struct weir__results *self = manager->results;

	if (!self)
		return;
	assert(ck_pr_load_32(&self->stopped));
	manager->results = NULL;
	self->manager = NULL;
	weir_actor_unref(&self->actor);
}

void weir__results_note(struct weir_process_manager *manager,
			struct weir_command *command, enum weir_outcome outcome,
			struct weir_error *error)
{
	weir__ids_remove(manager, command);
	command->outcome = outcome;
	command->error = weir_error_ref(error);
}

bool weir__results_put(struct weir_process_manager *manager,
		       struct weir_command *command)
{
	int rc = weir_in_put(&manager->results->in, command);

	/* claim 1: there is room */
	assert(rc == 0 || rc == -EPIPE);
	if (rc < 0)
		weir_command_reply(command);
	return rc == 0;
}

struct weir_publisher *weir_process_manager_publisher(
	struct weir_process_manager *manager)
{
	return manager && manager->results
		       ? &manager->results->reactive.publisher
		       : NULL;
}
