/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources that make items on demand. */
#include <weir/flow_source.h>

#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

/* --- unfold --------------------------------------------------------------- */

struct unfold {
	void *first;
	int (*next)(void **state, void **item, void *context);
	void *context;
};

static int unfold_open(struct weir__op *op)
{
	const struct unfold *args = weir__op_args(op);

	*(void **)weir__op_state(op) = args->first;
	return 0;
}

static size_t unfold_pull(struct weir__op *op, void **items, size_t room)
{
	const struct unfold *args = weir__op_args(op);
	size_t n = 0;
	int rc = 1;

	while (n < room) {
		rc = args->next(weir__op_state(op), &items[n], args->context);
		if (rc != 1)
			break;
		n++;
	}
	if (rc == 0)
		weir__op_end(op, NULL);
	else if (rc != 1)
		weir__op_fail_code(op, rc, "a function failed");
	return n;
}

static const struct weir__kind unfold_kind = {
	.name = "unfold",
	.state_size = sizeof(void *),
	.open = unfold_open,
	.pull = unfold_pull,
	.source = true,
};

struct weir_flow *weir_flow_unfold(void *first,
				   int (*next)(void **state, void **item,
					       void *context),
				   void *context)
{
	struct unfold args = {first, next, context};

	return weir__flow_source(&unfold_kind, &args, sizeof(args), next);
}

/* --- resource ------------------------------------------------------------- */

struct resource {
	struct weir_flow_resource_functions functions;
	void *context;
};

struct opened {
	void *resource;
	bool is_open;
};

static void resource_close(struct weir__op *op)
{
	const struct resource *args = weir__op_args(op);
	struct opened *self = weir__op_state(op);

	if (self->is_open)
		args->functions.close(self->resource, args->context);
	self->is_open = false;
}

static bool resource_open(struct weir__op *op)
{
	const struct resource *args = weir__op_args(op);
	struct opened *self = weir__op_state(op);
	int rc = 0;

	if (!self->is_open)
		rc = args->functions.open(&self->resource, args->context);
	self->is_open = rc == 0;
	if (rc != 0)
		weir__op_fail_code(op, rc, "could not be opened");
	return rc == 0;
}

static size_t resource_pull(struct weir__op *op, void **items, size_t room)
{
	const struct resource *args = weir__op_args(op);
	struct opened *self = weir__op_state(op);
	size_t n = 0;
	int rc = 1;

	if (room == 0 || !resource_open(op))
		return 0;
	while (n < room) {
		rc = args->functions.read(self->resource, &items[n],
					  args->context);
		if (rc != 1)
			break;
		n++;
	}
	if (rc == 0)
		weir__op_end(op, NULL);
	else if (rc != 1 && weir__op_survives(op, rc))
		weir__op_again(op);
	return n;
}

static const struct weir__kind resource_kind = {
	.name = "resource",
	.state_size = sizeof(struct opened),
	.pull = resource_pull,
	.close = resource_close,
	.source = true,
};

struct weir_flow *weir_flow_resource(
	const struct weir_flow_resource_functions *functions, void *context)
{
	struct resource args = {.context = context};

	if (functions)
		args.functions = *functions;
	return weir__flow_source(&resource_kind, &args, sizeof(args),
				 functions && functions->open &&
					 functions->read && functions->close);
}

/* --- tick ----------------------------------------------------------------- */

struct tick {
	uint64_t first_ns, every_ns;
	void *item;
};

struct ticking {
	struct weir__op_timer timer; /* must be first */
	uint64_t next_ns;
};

static uint64_t later(uint64_t ns, uint64_t by_ns)
{
	return by_ns < WEIR_FOREVER - ns ? ns + by_ns : WEIR_FOREVER - 1;
}

static int tick_open(struct weir__op *op)
{
	const struct tick *args = weir__op_args(op);
	struct ticking *self = weir__op_state(op);

	self->next_ns = later(weir__op_now(op), args->first_ns);
	return 0;
}

static void tick_close(struct weir__op *op)
{
	struct ticking *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
}

static size_t tick_pull(struct weir__op *op, void **items, size_t room)
{
	const struct tick *args = weir__op_args(op);
	struct ticking *self = weir__op_state(op);
	uint64_t now_ns = weir__op_now(op), missed;
	size_t n = 0;
	int rc = 0;

	if (room > 0 && now_ns >= self->next_ns) {
		items[n++] = args->item;
		missed = (now_ns - self->next_ns) / args->every_ns;
		self->next_ns = later(self->next_ns + missed * args->every_ns,
				      args->every_ns);
	}
	/* a tick that is due and not asked for waits */
	if (now_ns < self->next_ns)
		rc = weir__op_timer_at(&self->timer, op, self->next_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
	return n;
}

static const struct weir__kind tick_kind = {
	.name = "tick",
	.state_size = sizeof(struct ticking),
	.open = tick_open,
	.pull = tick_pull,
	.close = tick_close,
	.keeps = sizeof(struct weir__op_timer),
	.awaits = WEIR_WAIT_TIME,
	.source = true,
	.holds = true,
};

struct weir_flow *weir_flow_tick(uint64_t first_ns, uint64_t every_ns,
				 void *item)
{
	struct tick args = {first_ns, every_ns, item};
	struct weir_flow *flow = weir__flow_source(&tick_kind, &args,
						   sizeof(args), every_ns > 0);

	return weir__flow_wrong(flow, &tick_kind, "every_ns is 0");
}
