/* SPDX-License-Identifier: BSD-2-Clause */
/* What the flow that reads a connection and the one that writes it have in
 * common: how they hold it, and how they wait. */
#include "net/connection.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>

#include "base/error.h"

/* --- The flows ------------------------------------------------------------ */

/* A flow that is over does not know any more whether its connection is there.
 */
static bool holds(const struct weir__half_of *args)
{
	return ck_pr_load_32(&args->holds) != 0;
}

int weir__half_claim(struct weir_flow *flow)
{
	struct weir__half_of *args = (void *)flow->args;

	/* once it has run, it is claimed for ever */
	if (ck_pr_fas_32(&args->claimed, 1))
		return -EALREADY;
	assert(holds(args));
	if (!ck_pr_fas_32(&args->connection->claimed[args->half], 1))
		return 0;
	ck_pr_store_32(&args->claimed, 0);
	return -EALREADY;
}

void weir__half_unclaim(struct weir_flow *flow)
{
	struct weir__half_of *args = (void *)flow->args;

	/* no operator of the run was ever pulled */
	assert(holds(args));
	ck_pr_store_32(&args->connection->claimed[args->half], 0);
	ck_pr_store_32(&args->claimed, 0);
}

void weir__half_free(struct weir_flow *flow)
{
	struct weir__half_of *args = (void *)flow->args;

	if (!holds(args))
		return;
	/* its run was stopped before anything was sent */
	if (args->half == WEIR__HALF_WRITE && ck_pr_load_32(&args->claimed))
		weir_connection_stop(args->connection);
	weir_connection_unref(args->connection);
}

/* --- Their operators ------------------------------------------------------ */

static struct weir__half_op *half_of(struct weir__op *op)
{
	return weir__op_state(op);
}

static void enter(struct weir__op *op)
{
	const struct weir__half_of *args = weir__op_args(op);
	struct weir_connection *connection = args->connection;

	half_of(op)->connection = connection;
	weir__lock(&connection->lock);
	assert(!connection->ops[args->half]);
	connection->ops[args->half] = op;
	weir__unlock(&connection->lock);
}

bool weir__half_enter(struct weir__op *op, short events)
{
	struct weir__half_op *self = half_of(op);
	int rc = 0;

	if (!self->connection) {
		enter(op);
		rc = weir__op_fd_stay(&self->wait, op, self->connection->fd,
				      events);
	}
	if (rc < 0)
		weir__op_fail_code(op, rc,
				   "the descriptor cannot be waited for");
	return rc == 0;
}

void weir__half_fail(struct weir__op *op)
{
	struct weir_connection *connection = half_of(op)->connection;
	int code = weir__connection_error(connection);
	struct weir_error *error;

	if (!weir__layer_broken(connection)) {
		weir__op_fail_code(op, code, "the connection has failed");
		return;
	}
	error = weir__error_format(
		weir__op_allocator(op), code, weir__op_name(op), "%s",
		connection->layer->reason(connection->layers));
	weir__op_end(op, error);
	weir_error_unref(error);
}

bool weir__half_begin(struct weir__op *op, short events)
{
	if (!weir__half_enter(op, events))
		return false;
	if (!weir__connection_error(half_of(op)->connection))
		return true;
	weir__half_fail(op);
	return false;
}

void weir__half_rest(struct weir__op *op)
{
	struct weir__half_op *self = half_of(op);
	uint32_t *ready = &self->wait.ready;

	if (weir__op_fd_armed(&self->wait) && weir__ready_gone(ready) &&
	    (ck_pr_load_32(ready) & (POLLERR | POLLHUP)))
		(void)weir__connection_look(self->connection);
}

bool weir__half_blocks(struct weir__op *op, short events)
{
	struct weir__half_op *self = half_of(op);

	return weir__op_fd_blocks(&self->wait, op, self->connection->fd,
				  events);
}

void weir__half_until(struct weir__op *op, uint64_t at_ns)
{
	struct weir__half_op *self = half_of(op);
	int rc;

	if (op->ended)
		return;
	self->due_ns = at_ns;
	rc = weir__op_timer_at(&self->timer, op, at_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

bool weir__half_late(struct weir__op *op)
{
	struct weir__half_op *self = half_of(op);

	if (self->due_ns == 0)
		return false;
	if (weir__op_now(op) >= self->due_ns)
		return true;
	/* the timer may have fired for an earlier time */
	weir__half_until(op, self->due_ns);
	return false;
}

bool weir__half_end(struct weir__op *op)
{
	struct weir__half_op *self = half_of(op);
	struct weir_connection *connection = self->connection;
	struct weir__half_of *args = (void *)(uintptr_t)weir__op_args(op);

	weir__op_fd_off(&self->wait, op);
	weir__op_timer_off(&self->timer);
	if (!connection)
		return false;
	weir__lock(&connection->lock);
	connection->ops[args->half] = NULL;
	weir__unlock(&connection->lock);
	ck_pr_store_32(&args->holds, 0);
	return true;
}
