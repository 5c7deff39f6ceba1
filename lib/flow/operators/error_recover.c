/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that replace an error by something else. */
#include <weir/flow_error.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/shared/nest.h"

/* --- recover ------------------------------------------------------------- */

struct recover {
	int (*recover)(struct weir_error *error, void **item, void *context);
	void *context;
};

struct recovered {
	void *item;
	bool has_item;
};

/* Upstream has just ended, and no function was asked yet. */
static void recover_from(struct weir__op *op)
{
	const struct recover *args = weir__op_args(op);
	struct recovered *self = weir__op_state(op);
	struct weir_error *error = op->up[0]->error;
	int rc = error ? args->recover(error, &self->item, args->context) : 0;

	if (rc == 1)
		self->has_item = true;
	else if (rc == 0)
		(void)weir__op_follow(op);
	else
		weir__op_fail_code(op, rc, "could not recover");
}

static size_t recover_pull(struct weir__op *op, void **items, size_t room)
{
	struct recovered *self = weir__op_state(op);
	size_t n = weir__pull(op->up[0], items, room);

	if (op->up[0]->ended && !self->has_item)
		recover_from(op);
	if (self->has_item && n < room) {
		self->has_item = false;
		items[n++] = self->item;
		weir__op_end(op, NULL);
	}
	return n;
}

static void recover_close(struct weir__op *op)
{
	struct recovered *self = weir__op_state(op);

	if (self->has_item)
		weir__op_drop_one(op, self->item);
}

static const struct weir__kind recover_kind = {
	.name = "recover",
	.state_size = sizeof(struct recovered),
	.pull = recover_pull,
	.close = recover_close,
	.holds = true,
};

struct weir_flow *weir_flow_recover(struct weir_flow *flow,
				    int (*recover)(struct weir_error *error,
						   void **item, void *context),
				    void *context)
{
	struct recover args = {recover, context};

	return weir__flow_upon(&recover_kind, flow, &args, sizeof(args),
			       recover);
}

/* --- map_error ----------------------------------------------------------- */

struct map_error {
	struct weir_error *(*map)(struct weir_error *error, void *context);
	void *context;
};

static size_t map_error_pull(struct weir__op *op, void **items, size_t room)
{
	const struct map_error *args = weir__op_args(op);
	struct weir__op *up = op->up[0];
	size_t n = weir__pull(up, items, room);
	struct weir_error *error = NULL;

	if (up->ended && up->error)
		error = args->map(up->error, args->context);
	if (error)
		weir__op_end(op, error);
	else
		(void)weir__op_follow(op);
	weir_error_unref(error);
	return n;
}

static const struct weir__kind map_error_kind = {
	.name = "map_error",
	.pull = map_error_pull,
};

struct weir_flow *weir_flow_map_error(
	struct weir_flow *flow,
	struct weir_error *(*map)(struct weir_error *error, void *context),
	void *context)
{
	struct map_error args = {map, context};

	return weir__flow_upon(&map_error_kind, flow, &args, sizeof(args), map);
}

/* --- complete_on_error --------------------------------------------------- */

struct complete {
	bool (*applies)(struct weir_error *error, void *context);
	void *context;
};

static size_t complete_pull(struct weir__op *op, void **items, size_t room)
{
	const struct complete *args = weir__op_args(op);
	struct weir__op *up = op->up[0];
	size_t n = weir__pull(up, items, room);

	if (up->ended && up->error &&
	    (!args->applies || args->applies(up->error, args->context)))
		weir__op_end(op, NULL);
	else
		(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind complete_kind = {
	.name = "complete_on_error",
	.pull = complete_pull,
};

struct weir_flow *weir_flow_complete_on_error(
	struct weir_flow *flow,
	bool (*applies)(struct weir_error *error, void *context), void *context)
{
	struct complete args = {applies, context};

	return weir__flow_upon(&complete_kind, flow, &args, sizeof(args), true);
}

/* --- resume_with, retry -------------------------------------------------- */

struct retry {
	int64_t n;
	struct weir_flow *(*make)(struct weir_error *error, void *context);
	void *context;
};

struct retrying {
	struct weir__nest nest; /* the flow it takes from, behind the first
				 * error */
	int64_t n;		/* so often yet; negative: without end */
};

static int retry_open(struct weir__op *op)
{
	const struct retry *args = weir__op_args(op);
	struct retrying *self = weir__op_state(op);

	self->n = args->n;
	return 0;
}

static void retry_close(struct weir__op *op)
{
	struct retrying *self = weir__op_state(op);

	weir__nest_close(&self->nest);
}

/* `error`: how that which it takes from has ended. */
static void next_try(struct weir__op *op, struct weir_error *error)
{
	const struct retry *args = weir__op_args(op);
	struct retrying *self = weir__op_state(op);
	struct weir_flow *flow = NULL;
	struct weir_error *failure;

	if (error && self->n != 0)
		flow = args->make(error, args->context);
	if (!flow) {
		weir__op_end(op, error);
		return;
	}
	if (self->n > 0)
		self->n--;
	weir__nest_close(&self->nest);
	failure = weir__nest_open(&self->nest, op, flow, NULL);
	if (failure)
		weir__op_end(op, failure);
	weir_error_unref(failure);
	weir__op_again(op);
	/* also if there is no more room: it may have ended already (rule 8) */
	weir__op_wake(op);
}

static size_t retry_pull(struct weir__op *op, void **items, size_t room)
{
	struct retrying *self = weir__op_state(op);
	struct weir__op *from = self->nest.op ? self->nest.op : op->up[0];
	size_t n = weir__pull(from, items, room);

	if (from->ended)
		next_try(op, from->error);
	return n;
}

static const struct weir__kind resume_with_kind = {
	.name = "resume_with",
	.state_size = sizeof(struct retrying),
	.pull = retry_pull,
	.open = retry_open,
	.close = retry_close,
	.holds = true,
	.nests = true,
};

static const struct weir__kind retry_kind = {
	.name = "retry",
	.state_size = sizeof(struct retrying),
	.pull = retry_pull,
	.open = retry_open,
	.close = retry_close,
	.holds = true,
	.nests = true,
};

struct weir_flow *weir_flow_resume_with(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_error *error, void *context),
	void *context)
{
	struct retry args = {1, make, context};

	return weir__flow_upon(&resume_with_kind, flow, &args, sizeof(args),
			       make);
}

struct weir_flow *weir_flow_retry(
	struct weir_flow *flow, int64_t n,
	struct weir_flow *(*make)(struct weir_error *error, void *context),
	void *context)
{
	struct retry args = {n, make, context};

	return weir__flow_upon(&retry_kind, flow, &args, sizeof(args), make);
}
