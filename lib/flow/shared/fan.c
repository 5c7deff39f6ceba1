/* SPDX-License-Identifier: BSD-2-Clause */
/* Fans and their outlets: as blueprints, and how a run is made of them. */
#include "flow/shared/fan.h"

#include <assert.h>

#include <ck_pr.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/random.h"
#include "base/refcount.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/engine/run.h"

/* So many fans of a run have a bit. An operator below other fans may be
 * cancelled before it gets the error. */
#define FANS 32u

struct outlet {
	struct weir_flow *fan;
	size_t index;
};

static struct weir__fan_args *args_of(const struct weir_flow *fan)
{
	return (struct weir__fan_args *)(void *)(uintptr_t)fan->args;
}

static const struct outlet *outlet_of(const struct weir_flow *flow)
{
	return (const void *)flow->args;
}

/* --- Lifetime ------------------------------------------------------------- */

void weir__fan_free(struct weir_flow *fan)
{
	struct weir__fan_args *args = args_of(fan);

	weir__free(weir_allocator_default(), args->outlets,
		   args->n * sizeof(struct weir_flow *));
}

static void fan_unref(struct weir_flow *fan)
{
	if (!weir__unref(&args_of(fan)->refs))
		return;
	weir_flow_free(fan);
}

static void outlet_free(struct weir_flow *flow)
{
	const struct outlet *outlet = outlet_of(flow);

	assert(args_of(outlet->fan)->outlets[outlet->index] == flow);
	args_of(outlet->fan)->outlets[outlet->index] = NULL;
	fan_unref(outlet->fan);
}

/* --- The end of its island --------------------------------------------------- */

void weir__fan_over(struct weir__island *island, struct weir_error *error)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	size_t i;

	/*
	 * Set before any outlet is told of the error. No order is needed: an
	 * operator that looks at the bit after it was told has been told over a
	 * link, which orders it.
	 */
	if (error && fan->bit)
		ck_pr_or_32(&island->run->failed, fan->bit);
	for (i = 0; error && i < fan->args->n; i++)
		if (!fan->outlets[i].gone)
			(void)weir_out_end(&fan->outlets[i].out, error);
}

bool weir__fan_cancelled(struct weir__island *island, struct weir_out *out)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	struct weir__outlet *outlet =
		weir_container_of(out, struct weir__outlet, out);

	/* each is cancelled once */
	assert(!outlet->gone && fan->n_alive > 0);
	outlet->gone = true;
	fan->n_alive--;
	/* the island may have waited for this outlet only */
	weir_actor_signal(&island->actor);
	return fan->n_alive == 0 || fan->args->options.eager;
}

void weir__fan_end_free(struct weir__island *island)
{
	struct weir__fan_out *fan = weir__fan_of(island);

	if (fan)
		weir__free(island->run->allocator, fan, fan->size);
}

/* --- Claiming ------------------------------------------------------------- */

/* The whole flow that runs: the one that no other flow has taken over. */
static const struct weir_flow *whole_of(const struct weir_flow *flow)
{
	while (flow && (flow->taker || flow->kind->free == weir__fan_free))
		flow = flow->taker ? flow->taker : args_of(flow)->outlets[0];
	return flow;
}

/* True: all outlets are in the same flow. Each outlet compares itself with the
 * first, and the first with all. */
static bool is_complete(const struct weir_flow *flow)
{
	const struct outlet *outlet = outlet_of(flow);
	const struct weir__fan_args *args = args_of(outlet->fan);
	const struct weir_flow *whole = whole_of(flow);
	size_t n = outlet->index == 0 ? args->n : 1, i;

	for (i = 0; i < n; i++)
		if (whole_of(args->outlets[i]) != whole)
			return false;
	return true;
}

/* In a walk, the first outlet visits the flow above all outlets. */
static const struct weir_flow *outlet_above(const struct weir_flow *flow)
{
	const struct outlet *outlet = outlet_of(flow);

	return outlet->index == 0 ? outlet->fan : NULL;
}

static const struct weir_items *outlet_items(const struct weir_flow *flow)
{
	return weir__flow_items(outlet_of(flow)->fan);
}

static const struct weir_flow *outlet_lacking(const struct weir_flow *flow)
{
	const struct outlet *outlet = outlet_of(flow);

	if (!is_complete(flow))
		return outlet->fan;
	return outlet->index == 0 ? weir__flow_lacking(outlet->fan) : NULL;
}

static int outlet_claim(struct weir_flow *flow)
{
	const struct outlet *outlet = outlet_of(flow);

	if (!is_complete(flow))
		return -EINVAL;
	return outlet->index == 0 ? weir__flow_claim(outlet->fan) : 0;
}

static void outlet_unclaim(struct weir_flow *flow)
{
	const struct outlet *outlet = outlet_of(flow);

	if (outlet->index == 0)
		weir__flow_unclaim(outlet->fan);
}

/* --- Building ------------------------------------------------------------- */

static struct weir__island *outlet_find(const struct weir_flow_run *run,
					const struct weir_flow *fan)
{
	struct weir__island *island = run->islands;

	while (island && island->key != fan)
		island = island->next;
	return island;
}

/* Draws the order in which outlets with equal room are served. */
static void draw_order(struct weir__fan_out *fan)
{
	struct weir__outlet *outlets = fan->outlets;
	uint64_t random = fan->args->options.shuffle;
	size_t i, j, nth;

	for (i = 0; i < fan->args->n; i++)
		outlets[i].nth = i;
	for (; i > 1 && fan->args->options.shuffle; i--) {
		j = (size_t)(weir__splitmix(&random) % i);
		nth = outlets[i - 1].nth;
		outlets[i - 1].nth = outlets[j].nth;
		outlets[j].nth = nth;
	}
}

/* The items of an outlet. */
static const struct weir_items *items_of(const struct weir__fan_args *args,
					 size_t i,
					 const struct weir_items *dealt)
{
	const struct weir_items *items =
		args->own ? weir__flow_items(args->outlets[i]) : dealt;

	return items == &weir__items_any ? NULL : items;
}

static int init_ports(struct weir__island *island, struct weir__fan_out *fan,
		      const struct weir_items *items)
{
	struct weir_out *out;
	size_t i;
	int rc = 0;

	if (fan->args->any)
		rc = weir_any_init(&fan->any, &island->actor);
	for (i = 0; i < fan->args->n && rc == 0; i++) {
		out = &fan->outlets[i].out;
		rc = weir_out_init(out, &island->actor,
				   items_of(fan->args, i, items));
		if (rc == 0 && fan->args->any)
			rc = weir_any_add(&fan->any, &out->port);
	}
	return rc;
}

/* Tokens or room: the out-ports join the in-ports' group. */
static int join_ports(struct weir__island *island, struct weir__fan_out *fan)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < fan->args->n && rc == 0; i++)
		rc = weir_any_add(&island->any, &fan->outlets[i].out.port);
	return rc;
}

/* Makes the out-ports of an island whose operators are built. */
static int make_ports(struct weir__island *island, const struct weir_flow *flow,
		      struct weir__op *root)
{
	const struct weir__fan_args *args = args_of(flow);
	const struct weir_items *items;
	struct weir__fan_out *fan;
	size_t size = sizeof(*fan) + args->n * sizeof(*fan->outlets);
	int rc;

	/* from here on the root is closed when the island stops, also after a
	 * failure */
	island->root = root;
	if (args->own)
		root->items = items_of(args, 0, NULL);
	items = root->items;
	if (args->shares && args->n > 1 && items && items->drop &&
	    !items->share)
		return -ENOTSUP;
	fan = weir__alloc(island->run->allocator, size);
	if (!fan)
		return -ENOMEM;
	fan->args = args;
	fan->size = size;
	fan->n_alive = args->n;
	fan->chosen = WEIR__FAN_NONE;
	fan->fans = weir__island_fans(island);
	if (island->run->n_fans < FANS)
		fan->bit = 1u << island->run->n_fans++;
	fan->waits_for_all = args->options.wait_for_all;
	draw_order(fan);
	island->end_state = fan;
	island->has_out = !args->own;
	island->any_out = args->own;
	if (args->keeps)
		island->passes_through = false;
	rc = init_ports(island, fan, items);
	if (rc == 0)
		rc = weir__island_ready(island, root);
	return rc == 0 && args->own ? join_ports(island, fan) : rc;
}

static struct weir__island *make(const struct weir__build *build,
				 const struct weir_flow *flow)
{
	const struct weir__fan_args *args = args_of(flow);
	struct weir__build above = *build;
	struct weir__op *root;

	/* unless it stays, the same executor whichever outlet is built first */
	if (args->options.executor)
		above.executor = args->options.executor;
	else if (!args->stays)
		above.executor = build->run->executor;
	above.decide = NULL;
	above.credit = 0;
	*build->code = -ENOMEM;
	above.island = weir__island_new(build->run, above.executor, args->end);
	if (!above.island)
		return NULL;
	above.island->key = flow;
	above.tree = above.island->tree;
	root = weir__op_new(&above, flow);
	if (!root)
		return NULL;
	*build->code = make_ports(above.island, flow, root);
	return *build->code == 0 ? above.island : NULL;
}

static struct weir__op *outlet_build(struct weir__build *build,
				     const struct weir_flow *flow)
{
	const struct outlet *outlet = outlet_of(flow);
	const struct weir_flow_fan_options *options =
		&args_of(outlet->fan)->options;
	struct weir_out *out;
	struct weir__island *island;

	island = outlet_find(build->run, outlet->fan);
	if (!island)
		island = make(build, outlet->fan);
	if (!island)
		return NULL;
	assert(outlet->index < args_of(outlet->fan)->n);
	out = &weir__fan_of(island)->outlets[outlet->index].out;
	build->ahead = (uint32_t)options->queue;
	build->held = options->wait_for_all;
	build->fans = weir__fan_of(island)->bit | weir__fan_of(island)->fans;
	return weir__build_inlet(build, flow, out, WEIR__OWN(out)->items,
				 options->capacity);
}

static const struct weir__kind outlet_kind = {
	.name = "outlet",
	.free = outlet_free,
	.lacking = outlet_lacking,
	.above = outlet_above,
	.items = outlet_items,
	.claim = outlet_claim,
	.unclaim = outlet_unclaim,
	.build = outlet_build,
	.boundary = true,
	.needs_island = true,
};

static const struct weir_flow *own_maker(const struct weir_flow *flow)
{
	return outlet_of(flow)->fan;
}

/* Of an operator of the user's: what an outlet emits is said of the outlet. */
static const struct weir__kind own_outlet_kind = {
	.name = "outlet",
	.free = outlet_free,
	.lacking = outlet_lacking,
	.above = outlet_above,
	.maker = own_maker,
	.claim = outlet_claim,
	.unclaim = outlet_unclaim,
	.build = outlet_build,
	.makes = true,
	.remakes = true,
	.boundary = true,
	.needs_island = true,
};

struct weir_flow *weir__fan_above(const struct weir_flow *flow, bool **seen)
{
	struct weir_flow *fan;

	if (flow->kind != &outlet_kind && flow->kind != &own_outlet_kind)
		return NULL;
	fan = outlet_of(flow)->fan;
	*seen = &args_of(fan)->seen;
	return fan;
}

/* --- Composing ------------------------------------------------------------ */

bool weir__fan_take_options(struct weir__fan_args *args,
			    const struct weir_flow_fan_options *options)
{
	static const struct weir_flow_fan_options zero;
	size_t capacity;

	if (options)
		args->options = *options;
	else
		options = &zero;
	if (args->options.capacity == 0)
		args->options.capacity = WEIR_FLOW_BATCH;
	capacity = args->options.capacity;
	/* of a broadcast, a partition, a balance */
	return capacity <= WEIR_CAPACITY_MAX &&
	       (capacity & (capacity - 1)) == 0 &&
	       options->queue <= WEIR_CAPACITY_MAX - capacity &&
	       (!options->select || args->shares) &&
	       (!options->queue || args->keeps) &&
	       (!options->wait_for_all || args->any) &&
	       (!options->shuffle || args->any) &&
	       weir__reserved_zero(options->reserved);
}

/* An outlet, or NULL. */
static struct weir_flow *outlet_new(struct weir_flow *fan, size_t index)
{
	struct outlet outlet = {fan, index};
	struct weir_flow *flow = weir__flow_source(
		args_of(fan)->own ? &own_outlet_kind : &outlet_kind, &outlet,
		sizeof(outlet), true);

	if (weir__flow_check(flow, NULL, NULL) < 0)
		return NULL;
	weir__ref(&args_of(fan)->refs);
	args_of(fan)->outlets[index] = flow;
	flow->depth += fan->depth;
	return flow;
}

/* Lets go of the fan, which is gone if that fails. */
static int make_outlets(struct weir_flow *fan, size_t n,
			struct weir_flow **outlets)
{
	struct weir__fan_args *args = args_of(fan);
	size_t i = 0;
	int rc;

	args->n = n;
	args->refs = 1;
	args->outlets = weir__alloc(weir_allocator_default(),
				    n * sizeof(struct weir_flow *));
	/* only the outlets have the fan */
	fan->taken = true;
	while (args->outlets && i < n && (outlets[i] = outlet_new(fan, i)))
		i++;
	rc = i == n ? 0 : -ENOMEM;
	while (rc < 0 && i > 0)
		weir_flow_free(outlets[--i]);
	fan_unref(fan);
	return rc;
}

int weir__fan_new(const struct weir__kind *kind, struct weir_flow *const *up,
		  uint32_t n_up, const struct weir__fan_args *args, size_t size,
		  size_t n, struct weir_flow **outlets, bool valid)
{
	const char *origin = kind->name, *message = "no memory";
	struct weir_flow *fan;
	size_t i;
	int rc;

	valid = valid && n > 0 &&
		n <= SIZE_MAX / sizeof(struct weir__outlet) / 2;
	fan = weir__flow_new(kind, up, n_up, args, size, valid && outlets);
	fan = weir__flow_wrong_power(fan, kind, "capacity",
				     args->options.capacity);
	rc = weir__flow_check(fan, &origin, &message);
	if (rc == 0) {
		rc = make_outlets(fan, n, outlets);
		fan = NULL;
	}
	for (i = 0; rc < 0 && outlets && i < n; i++) {
		outlets[i] = fan ? fan : weir__flow_failed(rc, origin, message);
		fan = NULL;
	}
	weir_flow_free(fan);
	return rc;
}
