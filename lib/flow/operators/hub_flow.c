/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows into hubs and from hubs. */
#include "flow/operators/hub_flow.h"

#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/engine/start.h"
#include "flow/shared/array.h"

/* As the arguments have it. */
static struct weir_hub *hub_of(const struct weir_flow *flow)
{
	return *(struct weir_hub *const *)(const void *)flow->args;
}

static const struct weir_items *hub_items(const struct weir_flow *flow)
{
	return weir__hub_items(hub_of(flow));
}

/* --- Into a hub ----------------------------------------------------------- */

void weir__into_hub_open(struct weir__op *op, struct weir_hub *hub)
{
	struct weir__into_hub *into = weir__op_state(op);

	into->hub = hub;
	weir__hub_use(hub);
}

static int into_open(struct weir__op *op)
{
	weir__into_hub_open(op, hub_of(op->flow));
	return 0;
}

static void into_begin(struct weir__op *op)
{
	struct weir__into_hub *into = weir__op_state(op);

	if (into->writer.member.op)
		return;
	into->writer.member.op = op;
	weir__hub_add_writer(into->hub, &into->writer);
}

/* It asks upstream for the items that it has reserved room for, so it holds
 * none. */
size_t weir__into_hub_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__into_hub *into = weir__op_state(op);
	struct weir_hub *hub = into->hub;
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
	bool found = flow->kind == &into_kind && hub_of(flow) == hub;
	uint32_t i;

	for (i = 0; i < flow->n_up && !found; i++)
		found = writes_into(flow->up[i], hub);
	return found;
}

/* A writer has reserved room while it pulls its upstream: one that is there
 * might wait for that room for ever. */
static const char *into_refuses(const struct weir_flow *flow)
{
	if (writes_into(flow->up[0], hub_of(flow)))
		return "its upstream puts items into the same hub";
	return weir__items_fit(weir__flow_items(flow->up[0]), hub_items(flow))
		       ? NULL
		       : "the hub has other items";
}

void weir__into_hub_close(struct weir__op *op)
{
	struct weir__into_hub *into = weir__op_state(op);
	struct weir_hub *hub = into->hub;
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
	.state_size = sizeof(struct weir__into_hub),
	.refuses = into_refuses,
	.open = into_open,
	.pull = weir__into_hub_pull,
	.close = weir__into_hub_close,
	.makes = true,
	.holds = true,
};

struct weir_flow *weir_flow_into_hub(struct weir_flow *flow,
				     struct weir_hub *hub)
{
	return weir__flow_upon(&into_kind, flow, &hub, sizeof(hub), hub);
}

/* --- From a hub ----------------------------------------------------------- */

int weir__from_hub_join(struct weir__op *op, struct weir_hub *hub, bool late)
{
	struct weir__from_hub *from = weir__op_state(op);
	int rc;

	from->reader.member.op = op;
	rc = weir__hub_add_reader(hub, &from->reader, late);
	if (rc == 0)
		from->hub = hub;
	return rc;
}

size_t weir__from_hub_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__from_hub *from = weir__op_state(op);
	bool over = false;
	int rc;
	size_t n;

	n = weir__hub_take(from->hub, &from->reader, items, room, &over, &rc);
	if (rc < 0)
		weir__op_fail_code(op, rc, "an item could not be shared");
	else if (over)
		weir__op_end(op, weir__hub_error(from->hub));
	return n;
}

bool weir__from_hub_leave(struct weir__op *op)
{
	struct weir__from_hub *from = weir__op_state(op);
	struct weir_hub *hub = from->hub;

	from->hub = NULL;
	return weir__hub_remove_reader(hub, &from->reader);
}

size_t weir__from_hub_drain(struct weir__op *op, void **items, size_t room)
{
	struct weir__from_hub *from = weir__op_state(op);

	if (!from->hub) {
		weir__op_end(op, NULL);
		return 0;
	}
	weir__hub_drain(from->hub, &from->reader);
	return weir__from_hub_pull(op, items, room);
}

static int from_open(struct weir__op *op)
{
	weir__hub_use(hub_of(op->flow));
	return 0;
}

static size_t from_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__from_hub *from = weir__op_state(op);
	int rc = 0;

	if (!from->hub)
		rc = weir__from_hub_join(op, hub_of(op->flow), true);
	if (rc == 0)
		return weir__from_hub_pull(op, items, room);
	weir__op_fail(op, rc, "items cannot be shared");
	return 0;
}

static void from_close(struct weir__op *op)
{
	struct weir__from_hub *from = weir__op_state(op);

	if (from->hub)
		(void)weir__from_hub_leave(op);
	weir__hub_unuse(hub_of(op->flow));
}

static const struct weir__kind from_kind = {
	.name = "from_hub",
	.state_size = sizeof(struct weir__from_hub),
	.items = hub_items,
	.open = from_open,
	.pull = from_pull,
	.close = from_close,
	.source = true,
	.drain = weir__from_hub_drain,
	.holds = true,
};

struct weir_flow *weir_flow_from_hub(struct weir_hub *hub)
{
	return weir__flow_source(&from_kind, &hub, sizeof(hub), hub);
}
