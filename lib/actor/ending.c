/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of an actor behind its start: the signals that its slices handle
 * (rule 5 of firing.c), its end, the final slice (rule 8), its release.
 */
#include "actor/ending.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/child_ops.h"
#include "actor/gate.h"
#include "actor/in.h"
#include "actor/port.h"
#include "base/refcount.h"
#include "executor/registry.h"
#include "executor/thread.h"

static void actor_end(struct weir_actor *actor, struct weir_error *error,
		      uint32_t flags)
{
	if (actor->flags &
	    (WEIR__ACTOR_ENDING | WEIR__ACTOR_LEAVING | WEIR__ACTOR_CLOSED)) {
		weir_error_unref(error);
		return;
	}
	assert(!actor->error);
	actor->error = error;
	weir__actor_set(actor, flags);
	weir__actor_break(actor);
}

void weir__actor_end(struct weir_actor *actor, struct weir_error *error,
		     bool failed)
{
	uint32_t flags = failed ? WEIR__ACTOR_FAILED : 0;

	if (actor->flags & WEIR__ACTOR_CHILD)
		actor_end(actor, error, flags | WEIR__ACTOR_LEAVING);
	else
		actor_end(actor, error, flags | WEIR__ACTOR_ENDING);
}

int weir_actor_end(struct weir_actor *actor)
{
	int rc = weir__actor_check_owner(actor);

	if (rc == 0)
		weir__actor_end(actor, NULL, false);
	return rc;
}

int weir_actor_fail(struct weir_actor *actor, struct weir_error *error)
{
	int rc = error ? weir__actor_check_owner(actor) : -EINVAL;

	if (rc == 0)
		weir__actor_end(actor, error, true);
	else
		weir_error_unref(error);
	return rc;
}

const char *weir_actor_name(const struct weir_actor *actor)
{
	return actor && actor->ops->name ? actor->ops->name : "actor";
}

/* With the stage's name if there is memory for it, without it if not. */
int weir_actor_fail_code(struct weir_actor *actor, int code)
{
	int rc = weir__actor_check_owner(actor);
	struct weir_error *error;

	if (rc < 0)
		return rc;
	if (code >= 0)
		code = -EINVAL;
	if (weir_error_new(&error, code, weir_actor_name(actor),
			   weir_strerror(code), NULL, NULL,
			   actor->executor->options.allocator) < 0)
		error = weir_error_of(code);
	return weir_actor_fail(actor, error);
}

void weir__actor_turn_ended(struct weir_actor *actor, int rc)
{
	if (rc == WEIR_TURN_END)
		(void)weir_actor_end(actor);
	else
		(void)weir_actor_fail_code(actor, rc);
}

void weir__actor_check_rc(struct weir_actor *actor, int rc)
{
	if (rc != 0)
		(void)weir_actor_fail_code(actor, rc);
}

void weir__actor_stream_ended(struct weir_actor *actor, struct weir_in *in,
			      struct weir_error *error)
{
	if (actor->ops->ended)
		weir__actor_check_rc(actor,
				     actor->ops->ended(actor, in, error));
	else
		weir__actor_end(actor, weir_error_ref(error), false);
}

/*
 * Executor drain: sources finish, and streams that weir_in_put() feeds end. An
 * actor that takes from a shared object is no source: it ends when that object
 * does.
 */
static void drain(struct weir_actor *actor)
{
	struct weir_port *port;
	bool source = true;

	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops = weir__port_ops(port);

		if (ops->drain)
			ops->drain(port);
		if (ops->takes)
			source = false;
	}
	if (actor->flags & WEIR__ACTOR_CHILD)
		weir__child_ops(actor)->drained(actor, source);
	else if (source)
		weir__actor_end(actor, NULL, false);
}

/*
 * Handles the signals of the system's tree. True: the actor goes on. False: the
 * actor is halted or has just failed; the other signals are kept for when that
 * is over, which comes with a signal.
 */
static bool handle_system(struct weir_actor *actor, uint8_t signals)
{
	if (signals & (WEIR__SIGNAL_STOPS | WEIR__SIGNAL_SYSTEM))
		weir__child_ops(actor)->ordered(actor,
						signals & WEIR__SIGNAL_STOPS);
	if (!weir__actor_halted(actor) && !(actor->flags & WEIR__ACTOR_LEAVING))
		return true;
	/* no order: the owner itself takes these bits again */
	signals &= WEIR__SIGNAL_DRAIN | WEIR__SIGNAL_USER;
	if (signals)
		ck_pr_or_8(&actor->signals, signals);
	return false;
}

/*
 * A handler may take where nothing is, which changes nothing. The look puts the
 * heads back; but where turns may block what handlers did is published before
 * it.
 */
static void put_back(struct weir_actor *actor)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next)
		if (weir__in_of(port))
			(void)weir__in_put_back(weir__in_of(port));
}

/* Rule 5. */
void weir__handle_signals(struct weir_actor *actor)
{
	struct weir_port *port;
	uint8_t signals;

	ck_pr_and_32(&actor->gate,
		     ~(uint32_t)(WEIR__GATE_SIGNALLED | WEIR__GATE_PORTLESS));
	/* acquire: the payload of every signal whose bit was just cleared;
	 * pairs with the release in gate_update(). This fence is for the
	 * word of signals, which is taken by a swap; the next one is for all
	 * else. */
	ck_pr_fence_atomic();
	signals = ck_pr_fas_8(&actor->signals, 0);
	/* acquire: the payloads of those signals, whether a handler reads them
	 * or writes over them; pairs with the releases in weir__actor_signal()
	 * and gate_update() */
	ck_pr_fence_acquire();
	if (actor->flags & WEIR__ACTOR_CHILD) {
		if (!handle_system(actor, signals))
			return;
	} else if (signals & WEIR__SIGNAL_STOPS) {
		weir__actor_end(actor, weir_error_of(-ECANCELED), false);
	}
	if (actor->flags & (WEIR__ACTOR_ENDING | WEIR__ACTOR_LEAVING))
		return;
	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops = weir__port_ops(port);

		if (ops->signalled)
			weir__actor_check_rc(actor, ops->signalled(port));
	}
	if (signals & WEIR__SIGNAL_DRAIN)
		drain(actor);
	if ((signals & WEIR__SIGNAL_USER) && actor->ops->signalled)
		weir__actor_check_rc(actor, actor->ops->signalled(actor));
	if (WEIR_UNLIKELY(weir__thread.may_block))
		put_back(actor);
}

/* This is the last slice also in a system: an actor cannot restart where it
 * cannot run. */
void weir__actor_refused(struct weir_actor *actor, int code)
{
	if (!(actor->flags & WEIR__ACTOR_ENDING)) {
		if (!actor->error)
			actor->error = weir_error_of(code);
		weir__actor_clear(actor, WEIR__ACTOR_LEAVING);
		weir__actor_set(actor, WEIR__ACTOR_ENDING | WEIR__ACTOR_FAILED);
		weir__actor_break(actor);
	}
	weir_task_run(&actor->task);
}

void weir__actor_tell_end(struct weir_actor *actor)
{
	struct weir_executor *executor = actor->executor;

	assert(actor->flags & WEIR__ACTOR_ENDING);
	assert(weir__state(actor) == WEIR__STATE_RUNNING ||
	       weir__state(actor) == WEIR__STATE_ENDING);
	weir__set_state(actor, WEIR__STATE_ENDING);
	if (actor->flags & WEIR__ACTOR_CHILD)
		weir__child_ops(actor)->closing(actor);
	else if ((actor->flags & WEIR__ACTOR_FAILED) &&
		 executor->options.failed)
		executor->options.failed(actor, actor->error,
					 executor->options.context);
}

void weir__actor_close(struct weir_actor *actor)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next)
		if (weir__port_ops(port)->close)
			weir__port_ops(port)->close(port, actor->error);
	if (actor->ops->stopped)
		actor->ops->stopped(actor, actor->error);
	weir__set_state(actor, WEIR__STATE_ENDED);
	if (actor->flags & WEIR__ACTOR_CHILD)
		weir__child_ops(actor)->ended(actor);
}

static void release(struct weir_actor *actor)
{
	struct weir_executor *executor = actor->executor;
	bool registered = actor->flags & WEIR__ACTOR_REGISTERED;
	struct weir__child *child =
		actor->flags & WEIR__ACTOR_CHILD ? actor->u.child : NULL;
	struct weir_port *port, *next;

	assert(weir__state(actor) == WEIR__STATE_ENDED);
	/* First: a free of the executor waits for all that follows. */
	if (registered)
		weir__registry_remove(executor, actor->index);
	for (port = actor->ports; port; port = next) {
		next = port->next;
		if (weir__port_ops(port)->fini)
			weir__port_ops(port)->fini(port);
	}
	weir_error_unref(actor->error);
	if (actor->ops->released)
		actor->ops->released(actor);
	if (registered)
		weir__registry_done(executor);
	/* Last: a program that sees the system end may free the executor. A
	 * program that sees a drain end has to wait for the system, too: one
	 * must be first. */
	if (child)
		child->aside->ops->released(child);
}

struct weir_actor *weir_actor_ref(struct weir_actor *actor)
{
	if (actor)
		weir__ref(&actor->refs);
	return actor;
}

void weir_actor_unref(struct weir_actor *actor)
{
	if (actor && weir__unref(&actor->refs))
		release(actor);
}
