/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows into hubs and from hubs. */
#include <weir/flow_hub.h>

#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/engine/start.h"
#include "flow/operators/hub.h"
#include "flow/shared/array.h"

static struct weir_hub *hub_of(const struct weir__op *op)
{
	return *(struct weir_hub *const *)weir__op_args(op);
}

static struct weir_hub *hub_in(const struct weir_flow *flow)
{
	return *(struct weir_hub *const *)(const void *)flow->args;
}

static const struct weir_items *hub_items(const struct weir_flow *flow)
{
	return weir__hub_items(hub_in(flow));
}

static int hub_open(struct weir__op *op)
{
	weir__hub_use(hub_of(op));
	return 0;
}

/* --- Into a hub ----------------------------------------------------------- */

struct into {
	struct weir__hub_writer writer;
	bool over; /* upstream has ended, and the operator has, too */
};

static void into_begin(struct weir__op *op)
{
	struct into *into = weir__op_state(op);

	if (into->writer.member.op)
		return;
	into->writer.member.op = op;
	weir__hub_add_writer(hub_of(op), &into->writer);
}

/* It asks upstream for the items that it has reserved room for, so it holds
 * none. */
static size_t into_pull(struct weir__op *op, void **items, size_t room)
{
	struct into *into = weir__op_state(op);
	struct weir_hub *hub = hub_of(op);
	struct weir__array taken;
	bool over = false;
	size_t reserved, n, done = 0;
	int rc;

	into_begin(op);
	rc = weir__hub_grow(hub);
	if (rc < 0) {
		weir__op_fail_code(op, rc, "the hub cannot keep more items");
		return 0;
	}
	weir__array_init(&taken, op, items, room);
	reserved = weir__hub_reserve(hub, &into->writer, taken.n, &over);
	n = over ? 0 : weir__pull(op->up[0], taken.items, reserved);
	if (reserved > 0)
		rc = weir__hub_put(hub, &into->writer, taken.items, n, reserved,
				   &done);
	weir__op_drop(op->up[0], taken.items + done, n - done);
	weir__array_done(&taken, op);
	if (over || rc == -EPIPE) {
		weir__op_end(op, weir__hub_error(hub));
		return 0;
	}
	if (rc < 0) {
		weir__op_fail_code(op, rc, "no subscriber is chosen");
		return 0;
	}
	if (n > 0)
		weir__op_again(op);
	into->over = op->up[0]->ended;
	(void)weir__op_follow(op);
	return 0;
}

static const struct weir__kind into_kind;

/* As deep as the flow.
 * NOLINTNEXTLINE(misc-no-recursion) */
static bool writes_into(const struct weir_flow *flow,
			const struct weir_hub *hub)
{
	bool found = flow->kind == &into_kind && hub_in(flow) == hub;
	uint32_t i;

	for (i = 0; i < flow->n_up && !found; i++)
		found = writes_into(flow->up[i], hub);
	return found;
}

/* A writer has reserved room while it pulls its upstream: one that is there
 * might wait for that room for ever. */
static const char *into_refuses(const struct weir_flow *flow)
{
	if (writes_into(flow->up[0], hub_in(flow)))
		return "its upstream puts items into the same hub";
	return weir__items_fit(weir__flow_items(flow->up[0]), hub_items(flow))
		       ? NULL
		       : "the hub has other items";
}

static void into_close(struct weir__op *op)
{
	struct into *into = weir__op_state(op);
	struct weir_hub *hub = hub_of(op);
	struct weir_error *error = op->error;

	if (into->writer.member.op)
		weir__hub_remove_writer(hub, &into->writer);
	if (!error && !into->over)
		error = weir_error_of(-ECANCELED);
	if (weir__op_begun(op) && !weir__hub_stays(hub))
		/* -EALREADY: the hub was ended by others */
		(void)weir_hub_end(hub, error);
	weir__hub_unuse(hub);
}

static const struct weir__kind into_kind = {
	.name = "into_hub",
	.state_size = sizeof(struct into),
	.refuses = into_refuses,
	.open = hub_open,
	.pull = into_pull,
	.close = into_close,
	.makes = true,
	.holds = true,
};

struct weir_flow *weir_flow_into_hub(struct weir_flow *flow,
				     struct weir_hub *hub)
{
	return weir__flow_upon(&into_kind, flow, &hub, sizeof(hub), hub);
}

/* --- From a hub ----------------------------------------------------------- */

static size_t from_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__hub_reader *reader = weir__op_state(op);
	struct weir_hub *hub = hub_of(op);
	bool over = false;
	int rc = 0;
	size_t n;

	if (!reader->member.op) {
		reader->member.op = op;
		rc = weir__hub_add_reader(hub, reader);
		if (rc < 0) {
			reader->member.op = NULL;
			weir__op_fail(op, rc, "items cannot be shared");
			return 0;
		}
	}
	n = weir__hub_take(hub, reader, items, room, &over, &rc);
	if (rc < 0)
		weir__op_fail_code(op, rc, "an item could not be shared");
	else if (over)
		weir__op_end(op, weir__hub_error(hub));
	return n;
}

static size_t from_drain(struct weir__op *op, void **items, size_t room)
{
	struct weir__hub_reader *reader = weir__op_state(op);

	if (!reader->member.op) {
		weir__op_end(op, NULL);
		return 0;
	}
	weir__hub_drain(hub_of(op), reader);
	return from_pull(op, items, room);
}

static void from_close(struct weir__op *op)
{
	struct weir__hub_reader *reader = weir__op_state(op);

	if (reader->member.op)
		weir__hub_remove_reader(hub_of(op), reader);
	weir__hub_unuse(hub_of(op));
}

static const struct weir__kind from_kind = {
	.name = "from_hub",
	.state_size = sizeof(struct weir__hub_reader),
	.items = hub_items,
	.open = hub_open,
	.pull = from_pull,
	.close = from_close,
	.source = true,
	.drain = from_drain,
	.holds = true,
};

struct weir_flow *weir_flow_from_hub(struct weir_hub *hub)
{
	return weir__flow_source(&from_kind, &hub, sizeof(hub), hub);
}
