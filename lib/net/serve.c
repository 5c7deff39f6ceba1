/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run for each connection.
 *
 * 1. What is known of a run has two references: the operator's, until the
 *    operator has heard of the end or is closed, and the run's, until it is
 *    over. The last one frees the run's handle and its flow.
 * 2. A run that is over pushes itself on the list `over`; the first one in it
 *    wakes the operator. An operator that is closed takes nothing from there
 *    any more.
 * 3. A run holds the operator. So the run that the operator is a part of is not
 *    over before those that it has started.
 */
#include <errno.h>

#include <weir/flow_sink.h>

#include "base/error.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "net/connection.h"

struct each {
	size_t max;
	struct weir_flow *(*serve)(struct weir_connection *connection,
				   void *context);
	void *context;
};

struct served {
	struct weir__node node;		    /* must be first; in `over` */
	struct weir__op *op;		    /* claim 3 */
	struct weir_connection *connection; /* until its run is over */
	struct weir_flow *flow;
	struct weir_flow_run *run;
	struct weir_error *error; /* that it has ended with */
	uint32_t refs;		  /* atomic, claim 1 */
	struct served *next, **link;
};

struct serving {
	struct weir__mailbox over;
	struct served *first; /* all that the operator has */
	size_t n;
	uintptr_t count; /* of those that are over */
	bool drained;	 /* the runs have been told */
};

static void served_unref(struct served *served)
{
	if (!weir__unref(&served->refs))
		return;
	weir_flow_run_free(served->run);
	weir_flow_free(served->flow);
	weir_error_unref(served->error);
	weir__free(weir__op_allocator(served->op), served, sizeof(*served));
}

/* Of the run, on any thread. */
static void served_over(struct weir_error *error, void *result, void *context)
{
	struct served *served = context;
	struct weir__op *op = served->op;
	struct serving *self = weir__op_state(op);

	(void)result; /* of a weir_flow_ignore(): none */
	served->error = weir_error_ref(error);
	weir_connection_unref(served->connection);
	if (weir__mailbox_push(&self->over, &served->node))
		weir__op_wake(op);
	served_unref(served);
	weir__op_unhold(op);
}

static void forget(struct serving *self, struct served *served)
{
	*served->link = served->next;
	if (served->next)
		served->next->link = served->link;
	self->n--;
	served_unref(served);
}

static void serving_close(struct weir__op *op)
{
	struct serving *self = weir__op_state(op);

	while (self->first) {
		weir_flow_run_stop(self->first->run, NULL);
		forget(self, self->first);
	}
}

/* One of the runs has failed, or could not begin. */
static void fails(struct weir__op *op, struct weir_error *error)
{
	enum weir_directive directive = WEIR_DIRECTIVE_RESUME;

	if (op->decide)
		directive = op->decide(error, op->decide_context);
	if (directive != WEIR_DIRECTIVE_RESUME &&
	    directive != WEIR_DIRECTIVE_RESTART)
		weir__op_end(op, error);
}

static void collect(struct weir__op *op)
{
	struct serving *self = weir__op_state(op);
	struct weir__node *node = weir__mailbox_take(&self->over), *next;
	struct weir_error *error;

	for (; node && !op->ended; node = next) {
		struct served *served = (struct served *)(void *)node;

		next = node->next;
		error = weir_error_ref(served->error);
		self->count++;
		forget(self, served);
		if (error)
			fails(op, error);
		weir_error_unref(error);
	}
}

static struct weir_error *why_not(const struct weir__op *op,
				  const struct weir_flow *flow, int code)
{
	const char *origin = weir__op_name(op);
	const char *message = "a connection's flow could not be started";

	if (flow)
		(void)weir_flow_check(flow, &origin, &message);
	return weir__error_format(weir__op_allocator(op), code, origin, "%s",
				  message);
}

static int start_one(struct weir__op *op, struct served *served)
{
	struct weir_flow_run_options options = {.done = served_over,
						.context = served};
	struct serving *self = weir__op_state(op);
	int rc;

	served->op = op;
	served->refs = 2;
	weir__op_hold(op);
	rc = weir_flow_start(served->flow, op->island->actor.executor, &options,
			     &served->run);
	if (rc < 0) {
		weir__op_unhold(op);
		return rc;
	}
	served->link = &self->first;
	served->next = self->first;
	if (served->next)
		served->next->link = &served->next;
	self->first = served;
	self->n++;
	return 0;
}

/* The connection is taken over. */
static void serve_one(struct weir__op *op, struct weir_connection *connection)
{
	const struct each *args = weir__op_args(op);
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct served *served = weir__alloc(allocator, sizeof(*served));
	struct weir_error *error;
	int rc = -ENOMEM;

	if (served) {
		served->connection = connection;
		served->flow = args->serve(connection, args->context);
		if (served->flow)
			served->flow = weir_flow_ignore(served->flow);
		rc = start_one(op, served);
	}
	if (rc == 0)
		return;
	weir_connection_unref(connection);
	error = why_not(op, served ? served->flow : NULL, rc);
	if (served)
		weir_flow_free(served->flow);
	weir__free(allocator, served, sizeof(*served));
	fails(op, error);
	weir_error_unref(error);
}

static void serve_more(struct weir__op *op, size_t room)
{
	const struct each *args = weir__op_args(op);
	struct serving *self = weir__op_state(op);
	size_t tries = op->island->ask;
	void *item;

	if (room == 0 || self->n == args->max) {
		weir__pull_none(op->up[0]);
		return;
	}
	for (; tries > 0 && self->n < args->max && !op->ended; tries--) {
		if (!weir__pull(op->up[0], &item, 1))
			return;
		serve_one(op, item);
	}
	weir__op_again(op);
}

static void drain_all(struct weir__op *op)
{
	struct serving *self = weir__op_state(op);
	struct served *served;

	if (!op->island->draining || self->drained)
		return;
	self->drained = true;
	for (served = self->first; served; served = served->next)
		weir_flow_run_end(served->run);
}

static size_t serving_pull(struct weir__op *op, void **items, size_t room)
{
	struct serving *self = weir__op_state(op);

	collect(op);
	if (op->ended)
		return 0;
	drain_all(op);
	serve_more(op, room);
	if (op->ended || !op->up[0]->ended)
		return 0;
	if (op->up[0]->error)
		weir__op_end(op, op->up[0]->error);
	if (op->ended || self->n > 0 || room == 0)
		return 0;
	items[0] = (void *)self->count;
	weir__op_end(op, NULL);
	return 1;
}

static const char *takes_connections(const struct weir_flow *flow)
{
	const struct weir_items *given = weir__flow_items(flow->up[0]);
	const struct weir_items *ours = weir_connection_items();

	if (given == &weir__items_any || (given && given->drop == ours->drop))
		return NULL;
	return "takes connections, see weir_connection_items()";
}

static const struct weir__kind each_connection_kind = {
	.name = "each_connection",
	.state_size = sizeof(struct serving),
	.refuses = takes_connections,
	.pull = serving_pull,
	.close = serving_close,
	.holds = true,
	.makes = true,
};

struct weir_flow *weir_flow_each_connection(
	struct weir_flow *flow, size_t max,
	struct weir_flow *(*serve)(struct weir_connection *connection,
				   void *context),
	void *context)
{
	const struct weir__kind *kind = &each_connection_kind;
	struct each args = {max, serve, context};

	flow = weir__flow_upon(kind, flow, &args, sizeof(args),
			       serve && weir__size_valid(max));
	return serve ? weir__flow_wrong_size(flow, kind, "max", max)
		     : weir__flow_wrong_as(flow, kind, "serve is NULL");
}
