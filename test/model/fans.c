/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fans: the island that deals against those that take from its outlets, each on
 * a thread of its own, where one of them takes an item and is gone.
 */
#include <weir/flow_fan.h>
#include <weir/flow_operator.h>

#include <errno.h>
#include <string.h>

#include "crossing.h"

/*
 * Places among the others, as the islands begin: that of weir_flow_all() first.
 */
enum { ARM_0 = 1, FAN, ARM_1 };

struct arm {
	uint32_t seen; /* a bit for each token */
	uint32_t last; /* that came, counted from 1 */
	const struct token *tokens;
};

struct fanning {
	struct crossing crossing; /* first */
	struct arm arms[2];
	struct weir_flow *outlets[2];
};

static struct fanning fanning;

/* --- What threads do ------------------------------------------------------ */

static bool slice(void *context, uint32_t place)
{
	return scene_run(context, SCENE_ACTORS + place);
}

static void deal(void *context)
{
	while (slice(context, FAN))
		;
}

static void take_0(void *context)
{
	while (slice(context, ARM_0))
		;
}

static void take_1(void *context)
{
	while (slice(context, ARM_1))
		;
}

static void free_0(void *context)
{
	weir_flow_free(((struct fanning *)context)->outlets[0]);
}

static void free_1(void *context)
{
	weir_flow_free(((struct fanning *)context)->outlets[1]);
}

static void take_both(void *context)
{
	bool ran = true;

	while (ran) {
		ran = slice(context, ARM_0);
		ran = slice(context, ARM_1) || ran;
	}
}

/* --- Setups --------------------------------------------------------------- */

/* In order, and once. */
static int take(void *item, void *context)
{
	struct token *token = item;
	struct arm *arm = context;
	uint32_t i = (uint32_t)(token - arm->tokens);

	explorer_assert(arm->last <= i);
	arm->last = i + 1;
	arm->seen |= 1u << i;
	scene_end_token(token, DELIVERED);
	return 0;
}

/* The first two to outlet 0. */
static int choose(void *item, size_t *outlet, void *context)
{
	const struct fanning *f = context;
	const struct token *token = item;

	*outlet = token - f->crossing.scene.tokens >= 2;
	return 0;
}

/* `n` tokens that are to be dealt, from a queue that has not ended. */
static struct weir_flow *tokens(struct fanning *f, uint32_t n, bool shared)
{
	struct crossing *c = crossing_open(&f->crossing);
	uint32_t i;

	explorer_name(f, sizeof(*f), "fanning");
	for (i = 0; i < 2; i++)
		f->arms[i].tokens = c->scene.tokens;
	for (i = 0; shared && i < n; i++) {
		c->scene.tokens[i].shared = true;
		c->scene.tokens[i].holders = 1;
	}
	return crossing_queue(c, n);
}

static void close_queue(struct fanning *f)
{
	explorer_assert(weir_flow_queue_end(f->crossing.queue, NULL) == 0);
}

/* Runs it, all its items taken from outlet 1, and `n` from outlet 0; who takes
 * them rests. */
static void start(struct fanning *f, uint32_t n, const char *fan)
{
	struct weir_flow *arms[2];
	uint32_t i;

	f->outlets[0] = weir_flow_take(f->outlets[0], n);
	for (i = 0; i < 2; i++)
		arms[i] = weir_flow_for_each(f->outlets[i], take, &f->arms[i]);
	crossing_start(&f->crossing, weir_flow_all(arms, 2));
	explorer_assert(strcmp(crossing_island(&f->crossing, FAN)->ops->name,
			       fan) == 0);
	work_below(f);
	take_both(f);
}

static void broadcasting(void *context, uint32_t n, bool eager)
{
	const struct weir_flow_fan_options options = {
		.capacity = 1,
		.eager = eager,
	};
	struct fanning *f = context;

	explorer_assert(weir_flow_broadcast(tokens(f, 2, true), 2, f->outlets,
					    &options) == 0);
	start(f, n, "broadcast");
	if (!eager)
		close_queue(f);
}

/* Nothing runs. */
static void outlets(void *context)
{
	struct fanning *f = context;

	(void)crossing_open(&f->crossing);
	explorer_assert(weir_flow_broadcast(weir_flow_empty(), 2, f->outlets,
					    NULL) == 0);
}

static void broadcast(void *context)
{
	broadcasting(context, 3, false);
}

static void broadcast_one_leaves(void *context)
{
	broadcasting(context, 1, false);
}

/* Nothing but who leaves ends it. */
static void broadcast_eager(void *context)
{
	broadcasting(context, 1, true);
}

static void balancing(void *context, uint32_t n)
{
	const struct weir_flow_fan_options options = {.capacity = 1};
	struct fanning *f = context;

	explorer_assert(weir_flow_balance(tokens(f, 3, false), 2, f->outlets,
					  &options) == 0);
	start(f, n, "balance");
	close_queue(f);
}

static void balance(void *context)
{
	balancing(context, 4);
}

static void balance_one_leaves(void *context)
{
	balancing(context, 1);
}

static void partitioning(void *context, uint32_t n)
{
	const struct weir_flow_fan_options options = {.capacity = 1};
	struct fanning *f = context;

	explorer_assert(weir_flow_partition(tokens(f, 3, false), 2, choose, f,
					    f->outlets, &options) == 0);
	start(f, n, "partition");
	close_queue(f);
}

static void partition(void *context)
{
	partitioning(context, 3);
}

static void partition_one_leaves(void *context)
{
	partitioning(context, 1);
}

/* --- An operator of the user's -------------------------------------------- */

/* Deals as choose() does. What its outlet has no room for is kept. */
struct dealer {
	struct token *kept;
	bool over;
	uint32_t cancelled; /* a bit for each outlet */
};

static int dealer_go(struct weir_operator *op)
{
	struct dealer *self = weir_operator_state(op);
	size_t outlet;
	int rc;

	if (self->kept) {
		(void)choose(self->kept, &outlet, weir_operator_context(op));
		rc = weir_operator_push_outlet(op, outlet, self->kept);
		if (rc == -EAGAIN)
			return 0;
		explorer_assert(rc == 0 || (self->cancelled & 1u << outlet));
		if (rc < 0)
			weir_operator_drop(op, self->kept);
		self->kept = NULL;
	}
	if (self->over)
		return weir_operator_end(op, NULL);
	(void)weir_operator_pull(op);
	return 0;
}

static int dealer_push(struct weir_operator *op, void *item)
{
	struct dealer *self = weir_operator_state(op);

	explorer_assert(!self->kept && !self->over);
	self->kept = item;
	return dealer_go(op);
}

static int dealer_end(struct weir_operator *op, struct weir_error *error)
{
	struct dealer *self = weir_operator_state(op);

	explorer_assert(!error && !self->over);
	self->over = true;
	return dealer_go(op);
}

static void dealer_cancel(struct weir_operator *op)
{
	struct dealer *self = weir_operator_state(op);
	uint32_t bit = 1u << weir_operator_outlet(op);

	explorer_assert(!(self->cancelled & bit));
	self->cancelled |= bit;
	(void)dealer_go(op);
}

static void dealer_close(struct weir_operator *op)
{
	struct dealer *self = weir_operator_state(op);

	if (self->kept)
		weir_operator_drop(op, self->kept);
}

static void of_ones_own(void *context, uint32_t n)
{
	static const struct weir_operator_ops ops = {
		.name = "dealer",
		.state_size = sizeof(struct dealer),
		.on_pull = dealer_go,
		.on_push = dealer_push,
		.on_end = dealer_end,
		.on_cancel = dealer_cancel,
		.close = dealer_close,
	};
	const struct weir_flow_fan_options options = {.capacity = 1};
	struct fanning *f = context;
	struct weir_flow *flow = tokens(f, 3, false);
	uint32_t i;

	explorer_assert(weir_flow_operator_outlets(&flow, 1, &ops, f, 2,
						   f->outlets, &options) == 0);
	for (i = 0; i < 2; i++)
		f->outlets[i] = weir_flow_items(f->outlets[i],
						&f->crossing.scene.items);
	start(f, n, "dealer");
	close_queue(f);
}

static void own(void *context)
{
	of_ones_own(context, 3);
}

static void own_one_leaves(void *context)
{
	of_ones_own(context, 1);
}

/* --- Checks --------------------------------------------------------------- */

static struct fanning *went_well(void *context)
{
	struct fanning *f = context;

	crossing_is_over(&f->crossing);
	explorer_assert(f->crossing.code == 0);
	return f;
}

static void both_saw_both(void *context)
{
	const struct fanning *f = went_well(context);

	explorer_assert(f->arms[0].seen == 3 && f->arms[1].seen == 3);
}

static void one_saw_both(void *context)
{
	const struct fanning *f = went_well(context);

	explorer_assert(f->arms[0].seen == 1 && f->arms[1].seen == 3);
}

static void one_saw_one(void *context)
{
	const struct fanning *f = went_well(context);

	explorer_assert(f->arms[0].seen == 1);
}

/* Dropped was at most the one behind the first that went to who left. */
static void most_were_seen(void *context)
{
	const struct fanning *f = went_well(context);
	const struct token *token = f->crossing.scene.tokens;
	uint32_t i, dropped = 0;

	explorer_assert((f->arms[0].seen & f->arms[1].seen) == 0);
	for (i = 0; i < 3; i++)
		dropped += token[i].value == DROPPED;
	explorer_assert(dropped <= 1);
}

static void each_seen_once(void *context)
{
	const struct fanning *f = went_well(context);

	explorer_assert(f->arms[0].seen + f->arms[1].seen == 7);
}

static void chosen_were_seen(void *context)
{
	const struct fanning *f = went_well(context);

	explorer_assert(f->arms[0].seen == 3 && f->arms[1].seen == 4);
}

/* The second one for who was gone was dropped, and held nothing up. */
static void others_were_seen(void *context)
{
	const struct fanning *f = went_well(context);

	explorer_assert(f->arms[0].seen == 1 && f->arms[1].seen == 4);
	explorer_assert(f->crossing.scene.tokens[1].value == DROPPED);
}

static void cancelled(void *context)
{
	struct fanning *f = context;

	crossing_is_over(&f->crossing);
	explorer_assert(f->crossing.code == -ECANCELED);
}

static void all_are_free(void *context)
{
	scene_is_over(context);
}

#define FANNING(...) \
	{ \
		.context = &fanning, .context_size = sizeof(fanning), \
		__VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	FANNING(.name = "broadcast to two", .setup = broadcast,
		.thread = {deal, take_both}, .check = both_saw_both),
	FANNING(.name = "broadcast to two, one of whom leaves",
		.setup = broadcast_one_leaves, .thread = {deal, take_both},
		.check = one_saw_both),
	FANNING(.name = "broadcast to two until one leaves",
		.setup = broadcast_eager, .thread = {deal, take_both},
		.check = one_saw_one),
	FANNING(.name = "balance between two", .setup = balance,
		.thread = {deal, take_both}, .check = each_seen_once),
	FANNING(.name = "balance between two, one of whom leaves",
		.setup = balance_one_leaves, .thread = {deal, take_both},
		.check = most_were_seen),
	FANNING(.name = "partition for two", .setup = partition,
		.thread = {deal, take_both}, .check = chosen_were_seen),
	FANNING(.name = "partition for two, one of whom leaves",
		.setup = partition_one_leaves, .thread = {deal, take_both},
		.check = others_were_seen),
	FANNING(.name = "partition, and two take, one of whom leaves",
		.setup = partition_one_leaves, .thread = {deal, take_0, take_1},
		.check = others_were_seen),
	FANNING(.name = "an operator deals to two", .setup = own,
		.thread = {deal, take_both}, .check = chosen_were_seen),
	FANNING(.name = "an operator deals, and one of two leaves",
		.setup = own_one_leaves, .thread = {deal, take_both},
		.check = others_were_seen),
	FANNING(.name = "the run is cancelled as an operator deals",
		.setup = own, .thread = {deal, cancel}, .check = cancelled),
	FANNING(.name = "the run is cancelled as items are dealt",
		.setup = partition, .thread = {deal, cancel},
		.check = cancelled),
	FANNING(.name = "two outlets are given up", .setup = outlets,
		.thread = {free_0, free_1}, .check = all_are_free),
};

const struct scene_group fans = SCENE_GROUP(scenarios);

static const struct explorer_scenario long_scenarios[] = {
	FANNING(.name = "broadcast, and two take", .setup = broadcast,
		.thread = {deal, take_0, take_1}, .check = both_saw_both),
	FANNING(.name = "broadcast, and two take, one of whom leaves",
		.setup = broadcast_one_leaves, .thread = {deal, take_0, take_1},
		.check = one_saw_both),
	FANNING(.name = "broadcast, and two take until one leaves",
		.setup = broadcast_eager, .thread = {deal, take_0, take_1},
		.check = one_saw_one),
	FANNING(.name = "balance, and two take, one of whom leaves",
		.setup = balance_one_leaves, .thread = {deal, take_0, take_1},
		.check = most_were_seen),
	FANNING(.name = "an operator deals, one is gone as the other asks",
		.setup = own_one_leaves, .thread = {deal, take_0, take_1},
		.check = others_were_seen),
	FANNING(.name = "the run is cancelled, and two work",
		.setup = partition, .thread = {deal, cancel, take_both},
		.check = cancelled),
};

const struct scene_group long_fans = SCENE_GROUP(long_scenarios);
