/* SPDX-License-Identifier: BSD-2-Clause */
/* The runners, which make calls; see runner.h. */
#include "process/runner.h"

#include <assert.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/in.h"
#include "process/command.h"
#include "process/ids.h"
#include "process/results.h"

#define REFS 64u /* of the manager's, taken at once */

static struct weir__runner *runner_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir__runner, actor);
}

/* --- What is told --------------------------------------------------------- */

void weir__runners_wake(struct weir__runners *all, uint64_t n)
{
	struct weir__runner *runner = all->runner;

	if (!weir__queue_has_parked(&all->queue))
		return;
	for (; runner < all->runner + all->n && n > 0; runner++) {
		if (!weir__queue_wake(&all->queue, &runner->parked))
			continue;
		/* swap -> load, rule 2; pairs with the fence of the arming */
		ck_pr_fence_atomic_load();
		weir__port_unblock(&runner->awake.port);
		n--;
	}
}

static enum weir_outcome outcome_of(int code)
{
	return code < 0 ? WEIR_OUTCOME_CRASHED : WEIR_OUTCOME_DONE;
}

/* The command has ended, with its call. True: its place comes back later. */
static bool end(struct weir_process_manager *manager,
		struct weir_command *command, int code)
{
	struct weir_error *error = code < 0 ? weir_error_of(code) : NULL;

	if (manager->results) {
		weir__results_note(manager, command, outcome_of(code), error);
		return weir__results_put(manager, command);
	}
	weir__ids_remove(manager, command);
	command->reply(command, outcome_of(code), error);
	return false;
}

/* --- Calls ---------------------------------------------------------------- */

/* The runner of the manager's that makes calls on this thread, or NULL. */
static struct weir__runner *caller(const struct weir_process_manager *manager)
{
	const struct weir__runners *all = manager->runners;
	struct weir_actor *actor = weir__actor_here();
	struct weir__runner *runner;

	if (!all || !actor)
		return NULL;
	runner = runner_of(actor);
	if ((uintptr_t)runner < (uintptr_t)all->runner ||
	    (uintptr_t)runner >= (uintptr_t)(all->runner + all->n))
		return NULL;
	return runner->calls ? runner : NULL;
}

/* True: another runner parked, and may wait for results that this runner keeps.
 * Relaxed: a hint. */
static bool others_parked(const struct weir__runner *self)
{
	return ck_pr_load_32(&self->manager->runners->queue.n_parked) > 0;
}

/* Puts the commands that were offered; refuses them if they cannot be put any
 * more. */
static void put_offered(struct weir__runner *self)
{
	struct weir_process_manager *manager = self->manager;
	void *offered[WEIR__TAKE_MAX];
	uint32_t n = self->n_offered, i;

	assert(n > 0 && n <= WEIR__TAKE_MAX);
	/* There is room: each command has taken a credit. */
	self->n_offered = 0;
	if (weir__in_put(&manager->in, self->offered, n) == 0)
		return;
	/* a reply may offer anew */
	for (i = 0; i < n; i++)
		offered[i] = self->offered[i];
	for (i = 0; i < n; i++)
		weir__command_refuse(manager, offered[i]);
}

static void tell(struct weir__runner *self)
{
	uint32_t n = self->ended;

	while (self->n_offered)
		put_offered(self);
	if (!n)
		return;
	self->ended = 0;
	weir__places_back(self->manager, n);
}

bool weir__runners_keep(struct weir_process_manager *manager,
			struct weir_command *command)
{
	struct weir__runner *runner = caller(manager);
	bool keeps = runner && runner->replies && !others_parked(runner);

	/* in order: commands that it keeps come first */
	if (runner && runner->n_offered > 0 &&
	    (!keeps || runner->n_offered == WEIR__TAKE_MAX))
		put_offered(runner);
	/* putting them has made room, whatever replies have offered since */
	assert(!keeps || runner->n_offered < WEIR__TAKE_MAX);
	if (keeps)
		runner->offered[runner->n_offered++] = command;
	return keeps;
}

/*
 * Each call has a reference of the manager until it has ended. It may end on
 * another thread, and before `run` has returned. relaxed: we hold a reference
 * of our own.
 */
static void take_ref(struct weir__runner *self)
{
	if (self->refs == 0) {
		ck_pr_add_32(&self->manager->actor.refs, REFS);
		self->refs = REFS;
	}
	self->refs--;
}

/* Also of calls that others have made. */
static void put_ref(struct weir__runner *self)
{
	if (++self->refs < 2 * REFS)
		return;
	/* relaxed: our own goes last, with a release */
	ck_pr_sub_32(&self->manager->actor.refs, REFS);
	self->refs -= REFS;
}

/* A command has ended in this runner; the manager is told later. */
static void end_here(struct weir__runner *self, struct weir_command *command,
		     int code)
{
	/* a figure that only this runner writes */
	uint64_t *figure = code < 0 ? &self->failed : &self->done;

	ck_pr_store_64(figure, *figure + 1);
	put_ref(self);
	self->ended++;
	self->replies = true;
	if (end(self->manager, command, code))
		self->ended--;
	self->replies = false;
}

void weir_command_end(struct weir_command *command, int code)
{
	struct weir_process_manager *manager;
	struct weir__runner *runner;

	if (!command || !command->manager)
		return;
	manager = command->manager;
	runner = caller(manager);
	if (runner && !others_parked(runner)) {
		end_here(runner, command, code);
		return;
	}
	/* relaxed: a figure */
	ck_pr_inc_64(&manager->outcomes[outcome_of(code)]);
	if (!end(manager, command, code))
		weir__places_back(manager, 1);
	weir_actor_unref(&manager->actor);
}

/* Prefetches the next command, which was on another core, during this call. */
static void fetch(const struct weir_command *command)
{
	__builtin_prefetch(&command->reply, 1);
	__builtin_prefetch(&command->manager, 1);
}

/* The command cannot be called. */
static void refuse_here(struct weir__runner *self, struct weir_command *command,
			int code)
{
	self->ended++;
	self->replies = true;
	weir__command_reply(self->manager, command, WEIR_OUTCOME_REFUSED,
			    weir_error_of(code));
	self->replies = false;
}

static void call(struct weir__runner *self)
{
	struct weir_process_manager *manager = self->manager;
	struct weir_command *command = self->taken[self->n_begun++];
	int rc;

	assert(self->n_begun <= self->n_taken);
	if (self->n_begun < self->n_taken)
		fetch(self->taken[self->n_begun]);
	rc = weir__ids_begin(manager, command, NULL);
	if (rc < 0) {
		refuse_here(self, command, rc);
		return;
	}
	take_ref(self);
	ck_pr_store_64(&self->made, self->made + 1);
	rc = manager->options.run(command, manager->options.context);
	if (rc != WEIR_RUN_LATER)
		end_here(self, command, rc);
}

static void park(struct weir__runner *self)
{
	self->most = 1;
	/* Has the next run timed: this one says nothing about the time of
	 * calls. */
	weir__thread.runs = WEIR__TIMED_RUNS;
	weir__queue_park(&self->manager->runners->queue, &self->parked);
}

static bool runner_take(struct weir__runner *self, uint32_t n)
{
	struct weir__runners *all = self->manager->runners;

	/* all commands taken are begun before more are taken */
	assert(self->n_begun == self->n_taken);
	assert(self->most > 0 && self->most <= WEIR__TAKE_MAX);
	if (n > self->most)
		n = self->most;
	self->n_begun = 0;
	self->n_taken = weir__queue_take(&all->queue, self->taken, n, all->n);
	self->most = self->most < WEIR__TAKE_MAX ? 2 * self->most
						 : WEIR__TAKE_MAX;
	return self->n_taken > 0;
}

static uint32_t calls(struct weir_actor *actor, uint32_t n)
{
	struct weir__runner *self = runner_of(actor);
	const struct weir__runners *all = self->manager->runners;
	uint32_t done = 0;

	/* calls are made one after another, and reported behind the last */
	assert(!self->calls && self->n_offered == 0 && self->ended == 0);
	if (self->n_begun == self->n_taken && !runner_take(self, n)) {
		if (ck_pr_load_32(&all->queue.closed))
			(void)weir_actor_end(actor);
		else
			park(self);
		return 1;
	}
	self->calls = true;
	do {
		call(self);
		if (others_parked(self))
			tell(self);
	} while (++done < n && self->n_begun < self->n_taken &&
		 !weir_actor_interrupted(actor));
	tell(self);
	self->calls = false;
	return done;
}

/* A turn is a call; there may be fewer commands than turns. */
static uint32_t available(struct weir_port *port)
{
	/* no order: a wake tells no more than to look at the queue */
	return ck_pr_load_32(&runner_of(port->actor)->parked) ? 0
							      : WEIR__TAKE_MAX;
}

/* Commands come in here: an executor that drains lets them be done. */
static const struct weir__port_ops awake_ops = {
	.takes = true,
	.available = available,
};

/* --- The actors ----------------------------------------------------------- */

/*
 * The commands that were taken are answered. Another runner is woken for those
 * that wait: our wake may have been for them (claim 4 of call_queue.h).
 */
static void runner_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir__runner *self = runner_of(actor);
	struct weir_process_manager *manager = self->manager;
	struct weir__runners *all = manager->runners;

	(void)error;
	(void)weir__queue_wake(&all->queue, &self->parked);
	for (; self->n_begun < self->n_taken; self->ended++)
		weir__command_refuse(manager, self->taken[self->n_begun++]);
	tell(self);
	/* relaxed: the last one's signal is behind all others' */
	if (ck_pr_faa_32(&all->n_left, (uint32_t)-1) == 1)
		weir_actor_signal(&manager->actor);
	weir__runners_wake(all, 1);
}

static void runner_released(struct weir_actor *actor)
{
	struct weir__runner *self = runner_of(actor);
	struct weir_actor *manager = &self->manager->actor;

	/* all commands taken were called or refused */
	assert(self->n_begun == self->n_taken && self->n_offered == 0);
	/* relaxed: our own goes last, with a release */
	ck_pr_sub_32(&manager->refs, self->refs);
	weir_actor_unref(manager);
}

static const struct weir_actor_ops runner_ops = {
	.name = "runner",
	.turns = calls,
	.stopped = runner_stopped,
	.released = runner_released,
};

int weir__runner_init(struct weir_process_manager *manager,
		      struct weir__runner *self)
{
	int rc;

	self->manager = manager;
	self->most = 1;
	rc = weir_actor_init(&self->actor, &runner_ops,
			     manager->actor.executor);
	if (rc < 0)
		return rc;
	(void)weir_actor_ref(&manager->actor);
	weir__port_init(&self->awake.port, &self->actor, WEIR__PORT_OTHER);
	self->awake.ops = &awake_ops;
	self->parked = 1;
	return 0;
}
