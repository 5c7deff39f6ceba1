/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a run is made of a blueprint. From the end upwards, each node becomes an
 * operator of the island that is being made. If a node is a boundary, the nodes
 * above it become an island of their own. No island runs meanwhile.
 */
#include "flow/engine/build.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/in.h"
#include "base/memory.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "flow/engine/run.h"

/* Recursion is bounded: see struct weir_flow.
 * NOLINTBEGIN(misc-no-recursion) */

/* --- Operators ------------------------------------------------------------ */

static size_t inlet_pull(struct weir__op *op, void **items, size_t room);

static struct weir__op *fail(struct weir__build *build, int code)
{
	*build->code = code;
	return NULL;
}

static struct weir__op *allocate(struct weir__build *build,
				 const struct weir_flow *flow,
				 const struct weir__kind *kind, uint32_t n_up)
{
	size_t at = (kind->state_size + sizeof(void *) - 1) / sizeof(void *) *
		    sizeof(void *);
	/* behind the operators above is the first error that is delayed */
	size_t n = (size_t)flow->n_up + flow->delays_errors;
	size_t size = sizeof(struct weir__op) + at + n * sizeof(void *);
	struct weir__op *op = weir__alloc(build->tree->allocator, size);

	if (!op)
		return fail(build, -ENOMEM);
	/* the memory behind the state has room for n_up pointers */
	assert(n_up <= flow->n_up);
	op->kind = kind;
	op->flow = flow;
	op->island = build->island;
	op->tree = build->tree;
	op->decide = build->decide;
	op->decide_context = build->decide_context;
	op->size = size;
	op->credit = build->credit;
	op->n_up = n_up;
	op->up = (struct weir__op **)(void *)(op->state + at);
	op->next = build->tree->ops;
	build->tree->ops = op;
	return op;
}

/* Sets the items that an operator emits. If it emits the items that it takes,
 * all its inputs have the same items, or none. */
static void set_items(struct weir__op *op)
{
	uint32_t i = 0;

	if (op->flow->has_items || op->kind->items)
		op->items = weir__flow_items(op->flow);
	else if (op->flow->same_items && op->kind->makes && op->n_up > 0)
		op->items = op->up[0]->items;
	else
		while (!op->kind->makes && !op->items && i < op->n_up)
			op->items = op->up[i++]->items;
	if (op->items == &weir__items_any)
		op->items = NULL;
}

/* Takes from a boundary somewhere above, within its island. */
static bool has_boundary(const struct weir_flow *flow)
{
	uint32_t i;

	if (flow->kind->boundary || flow->kind->cuts)
		return true;
	if (flow->kind->lazy)
		return false;
	for (i = 0; i < flow->n_up; i++)
		if (has_boundary(flow->up[i]))
			return true;
	return false;
}

/*
 * Whether an input of an operator must be an island of its own. An island waits
 * for all of its in-ports, or for any of them; the latter only if all are
 * inputs of one operator. (A lazy input must not: an island asks at once.)
 */
static bool must_cut(const struct weir__build *build,
		     const struct weir_flow *flow, const struct weir_flow *up)
{
	if (build->nested || up->kind->boundary || up->kind->lazy ||
	    (up->kind->cuts && flow->n_up == 1))
		return false;
	return build->run->options.unfused != 0 ||
	       (flow->n_up > 1 && has_boundary(up));
}

static struct weir__op *build_above(struct weir__build *build,
				    const struct weir_flow *flow, uint32_t i)
{
	struct weir__build branch = *build;
	const struct weir_flow *up = flow->up[i];
	size_t capacity = build->run->options.unfused;

	branch.credit = 0;
	if (must_cut(build, flow, up))
		return weir__build_cut(&branch, up, build->executor,
				       capacity ? capacity : WEIR_FLOW_BATCH);
	return weir__build(&branch, up);
}

struct weir__op *weir__op_leaf(struct weir__build *build,
			       const struct weir_flow *flow,
			       const struct weir__kind *kind,
			       const struct weir_items *items)
{
	struct weir__op *op = allocate(build, flow, kind, 0);

	if (!op)
		return NULL;
	op->items = items;
	op->open = true;
	if (kind->holds)
		build->island->passes_through = false;
	return op;
}

/* The island's in-ports are inputs of this operator. */
static bool has_inlet(const struct weir__op *op)
{
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		if (op->up[i]->kind->pull == inlet_pull)
			return true;
	return false;
}

/* The operators above `op` are built and open: opens it. */
static struct weir__op *open_op(struct weir__build *build, struct weir__op *op)
{
	uint32_t i;
	int rc = 0;

	assert(!op->open && !op->ended);
	op->delays = op->flow->delays_errors;
	for (i = 0; op->delays && i < op->n_up; i++)
		op->up[i]->whole = op;
	if (op->kind->holds || op->n_up > 1)
		build->island->passes_through = false;
	if (op->kind->nests)
		build->island->nests = true;
	if (op->kind->any_input && has_inlet(op))
		build->island->any_input = true;
	set_items(op);
	if (op->kind->open)
		rc = op->kind->open(op);
	op->open = rc == 0;
	if (rc == 0)
		return op;
	weir__op_cancel(op);
	return fail(build, rc);
}

struct weir__op *weir__op_new(struct weir__build *build,
			      const struct weir_flow *flow)
{
	uint32_t n_up = flow->kind->lazy ? 0 : flow->n_up, i;
	struct weir__op *op = allocate(build, flow, flow->kind, n_up);

	for (i = 0; op && i < n_up; i++) {
		op->up[i] = build_above(build, flow, i);
		if (!op->up[i]) {
			op->n_up = i;
			weir__op_cancel(op);
			return NULL;
		}
	}
	return op ? open_op(build, op) : NULL;
}

struct weir__op *weir__op_upon(struct weir__build *build,
			       const struct weir_flow *flow,
			       struct weir__op *up)
{
	struct weir__op *op = up ? allocate(build, flow, flow->kind, 1) : NULL;

	if (op) {
		op->up[0] = up;
		return open_op(build, op);
	}
	if (up)
		weir__op_cancel(up);
	return NULL;
}

struct weir__op *weir__build(struct weir__build *build,
			     const struct weir_flow *flow)
{
	/* operators go with their island, and nested ones before */
	assert(build->nested || build->tree == build->island->tree);
	if (flow->decide) {
		build->decide = flow->decide;
		build->decide_context = flow->decide_context;
	}
	return flow->kind->build ? flow->kind->build(build, flow)
				 : weir__op_new(build, flow);
}

/* --- Boundaries ----------------------------------------------------------- */

static struct weir__inlet *inlet_of(const struct weir__op *op)
{
	return *(struct weir__inlet *const *)(const void *)op->state;
}

/* The inlet was pulled for the first time: tells its producer. */
static void tell_asked(struct weir__inlet *inlet)
{
	const struct weir_out *out = weir__in_producer(&inlet->in);

	assert(inlet->held);
	inlet->held = false;
	if (out)
		weir_actor_signal(out->port.actor);
}

static void inlet_grant(struct weir__op *op, uint32_t n)
{
	struct weir__inlet *inlet = inlet_of(op);

	assert(op->credit && n > 0 && n <= op->credit);
	weir__in_grant(&inlet->in, n);
	if (inlet->held)
		tell_asked(inlet);
}

static size_t inlet_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__inlet *inlet = inlet_of(op);
	struct weir_in *in = &inlet->in;
	size_t n = weir__at_most(weir_in_count(in), room);

	if (WEIR_UNLIKELY(inlet->held) && room > 0) {
		weir__in_let_go(in);
		tell_asked(inlet);
	}
	if (n > 0)
		weir__in_take_n(in, items, n);
	else if (room > 0)
		inlet->waiting = true;
	return n;
}

static bool inlet_has(struct weir__op *op)
{
	return weir_in_count(&inlet_of(op)->in) > 0;
}

static void inlet_close(struct weir__op *op)
{
	struct weir__inlet *inlet = inlet_of(op);

	/* -EALREADY where its stream has ended, or the island */
	(void)weir_in_cancel(&inlet->in);
}

static const struct weir__kind inlet_kind = {
	.name = "async",
	.state_size = sizeof(struct weir__inlet *),
	.pull = inlet_pull,
	.close = inlet_close,
	.grant = inlet_grant,
	.has = inlet_has,
	.ready = true,
};

/* A drain: the producer goes on, so the tokens that have come are taken. */
static size_t outer_drain(struct weir__op *op, void **items, size_t room)
{
	size_t n = inlet_pull(op, items, room);

	if (weir_in_count(&inlet_of(op)->in) == 0)
		weir__op_end(op, NULL);
	return n;
}

/* Of an actor that is not the run's. */
static const struct weir__kind outer_inlet_kind = {
	.name = "from_out",
	.state_size = sizeof(struct weir__inlet *),
	.pull = inlet_pull,
	.drain = outer_drain,
	.close = inlet_close,
	.grant = inlet_grant,
	.has = inlet_has,
	.source = true,
};

/* A power of two, with all that may be asked for. */
static size_t capacity_for(const struct weir__build *build, size_t capacity)
{
	size_t n = (build->credit ? build->credit : capacity) + build->ahead;
	size_t power = build->credit || build->held ? 2 : 1;

	while (power < n)
		power *= 2;
	return power;
}

static int inlet_init(const struct weir__build *build,
		      struct weir__inlet *inlet, struct weir_out *out,
		      size_t capacity)
{
	struct weir_in *in = &inlet->in;
	int rc = weir_in_init(in, &build->island->actor,
			      capacity_for(build, capacity), NULL);

	/* the link takes its items from the out-port */
	if (rc == 0 && out)
		rc = weir_out_link(out, in);
	if (rc < 0)
		return rc;
	if (build->credit || build->held) {
		weir__in_hold(in);
		weir__in_grant(in, build->credit ? build->ahead : 0);
	}
	inlet->held = build->held;
	return 0;
}

struct weir__op *weir__build_inlet(struct weir__build *build,
				   const struct weir_flow *flow,
				   struct weir_out *out,
				   const struct weir_items *items,
				   size_t capacity)
{
	struct weir__island *island = build->island;
	bool outer = flow->kind->source && flow->kind->boundary;
	struct weir__op *op = weir__op_leaf(
		build, flow, outer ? &outer_inlet_kind : &inlet_kind, items);
	struct weir__inlet *inlet, **link = &island->inlets;
	int rc;

	assert(!build->nested);
	if (!op)
		return NULL;
	/* not open until its port is made */
	op->open = false;
	inlet = weir__alloc(build->run->allocator, sizeof(*inlet));
	if (!inlet)
		return fail(build, -ENOMEM);
	rc = inlet_init(build, inlet, out, capacity);
	if (rc < 0 && !inlet->in.port.actor) {
		weir__free(build->run->allocator, inlet, sizeof(*inlet));
		return fail(build, rc);
	}
	*(struct weir__inlet **)weir__op_state(op) = inlet;
	inlet->op = op;
	inlet->fans = build->fans;
	while (*link)
		link = &(*link)->next;
	*link = inlet;
	island->n_inlets++;
	if (rc < 0)
		return fail(build, rc);
	op->open = true;
	return op;
}

struct weir__op *weir__build_cut(struct weir__build *build,
				 const struct weir_flow *up,
				 struct weir_executor *executor,
				 size_t capacity)
{
	struct weir__build above = *build;
	struct weir__op *root;
	int rc;

	assert(!build->nested);
	above.executor = executor ? executor : build->executor;
	above.credit = 0;
	above.island =
		weir__island_new(build->run, above.executor, &weir__end_out);
	if (!above.island)
		return fail(build, -ENOMEM);
	above.tree = above.island->tree;
	root = weir__build(&above, up);
	if (!root)
		return NULL;
	rc = weir__island_ready(above.island, root);
	if (rc < 0)
		return fail(build, rc);
	build->fans = weir__island_fans(above.island);
	return weir__build_inlet(build, up, &above.island->out, root->items,
				 capacity);
}

/* Recursion is bounded by the depth of the flow, which its maker has chosen.
 * NOLINTNEXTLINE(misc-no-recursion) */
bool weir__op_awaits(const struct weir__op *op)
{
	uint32_t i;

	if (op->ended)
		return false;
	/* relaxed: the caller was told of the error after the bit was set */
	if (op->kind->pull == inlet_pull)
		return (inlet_of(op)->fans &
			ck_pr_load_32(&op->island->run->failed)) != 0;
	for (i = 0; i < op->n_up; i++)
		if (weir__op_awaits(op->up[i]))
			return true;
	return false;
}

/* NOLINTEND(misc-no-recursion) */
