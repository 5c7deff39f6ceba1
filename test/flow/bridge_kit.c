/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/bridge_kit.h"

#define N 20

/* --- Actors --------------------------------------------------------------- */

static struct hand *hand_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct hand, actor);
}

static int make_one(struct weir_actor *actor)
{
	struct hand *self = hand_of(actor);
	int rc = weir_out_put(&self->out, item_new(self->next));

	return rc == 0 && self->next++ == N ? WEIR_TURN_END : rc;
}
WEIR_TURN(make_one)

static int take_one(struct weir_actor *actor)
{
	struct hand *self = hand_of(actor);
	void *item = weir_in_take(&self->in);

	assert_true(!self->bridge->acknowledges ||
		    weir_in_count(&self->in) == 0);
	(void)got_one(item, &self->bridge->got);
	return self->bridge->acknowledges
		       ? weir_semaphore_release(&self->bridge->acks, 1)
		       : 0;
}
WEIR_TURN(take_one)

static void hand_released(struct weir_actor *actor)
{
	__atomic_store_n(&hand_of(actor)->there, 0, __ATOMIC_RELEASE);
}

static const struct weir_actor_ops maker_ops = {
	.turns = make_one_n,
	.released = hand_released,
};

static const struct weir_actor_ops taker_ops = {
	.turns = take_one_n,
	.released = hand_released,
};

static int hand_init(struct bridge *bridge, struct hand *hand,
		     const struct weir_actor_ops *ops)
{
	int rc;

	*hand = (struct hand){.bridge = bridge, .next = 1, .there = 1};
	rc = weir_actor_init(&hand->actor, ops, bridge->executor);
	/* until bridge_let_go() */
	weir_actor_ref(&hand->actor);
	return rc;
}

static int maker_init(struct bridge *bridge)
{
	int rc = hand_init(bridge, &bridge->maker, &maker_ops);

	return rc < 0 ? rc
		      : weir_out_init(&bridge->maker.out, &bridge->maker.actor,
				      &counted_items);
}

static int taker_init(struct bridge *bridge)
{
	int rc = hand_init(bridge, &bridge->taker, &taker_ops);

	return rc < 0 ? rc
		      : weir_in_init(&bridge->taker.in, &bridge->taker.actor, 4,
				     &counted_items);
}

/* --- The ways ------------------------------------------------------------- */

int bridge_start(struct bridge *bridge, int i)
{
	return weir_flow_start(bridge->flows[i], bridge->executor, NULL,
			       &bridge->runs[i]);
}

static int start_publisher(struct bridge *bridge)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));

	assert_int_equal(weir_flow_publisher_new(&bridge->publisher, flow,
						 bridge->executor, NULL),
			 0);
	flow = weir_flow_from_publisher(
		weir_flow_publisher_base(bridge->publisher), 4, 0);
	flow = weir_flow_items(flow, &counted_items);
	bridge->flows[0] = weir_flow_for_each(flow, got_one, &bridge->got);
	return bridge_start(bridge, 0);
}

/* What `upon` makes of what comes from a port goes into another. */
static int start_between_ports(
	struct bridge *bridge, uint32_t burst,
	struct weir_flow *(*upon)(struct weir_flow *flow))
{
	struct weir_flow *flow;
	int rc = maker_init(bridge);

	if (rc == 0)
		rc = weir_port_set_burst(&bridge->maker.out.port, burst);
	if (rc == 0)
		rc = taker_init(bridge);
	if (rc < 0)
		return rc;
	flow = upon(weir_flow_from_out(&bridge->maker.out, 4));
	bridge->flows[0] = weir_flow_into_in(flow, &bridge->taker.in);
	rc = bridge_start(bridge, 0);
	if (rc == 0)
		rc = weir_actor_start(&bridge->taker.actor);
	if (rc == 0)
		rc = weir_actor_start(&bridge->maker.actor);
	return rc;
}

static struct weir_flow *as_it_comes(struct weir_flow *flow)
{
	return weir_flow_drop(flow, 0);
}

static int start_ports(struct bridge *bridge)
{
	return start_between_ports(bridge, 1, as_it_comes);
}

/* Less than a turn needs room for. */
static struct weir_flow *two_at_a_time(struct weir_flow *flow)
{
	return weir_flow_limit_rate(flow, 2, 0);
}

static int start_asked_ports(struct bridge *bridge)
{
	return start_between_ports(bridge, 5, two_at_a_time);
}

static int start_acks(struct bridge *bridge)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));
	struct item *init;
	int rc = taker_init(bridge);

	bridge->acknowledges = true;
	assert_int_equal(weir_semaphore_init(&bridge->acks, 0), 0);
	init = item_new(0);
	bridge->first = 0;
	bridge->flows[0] = weir_flow_to_actor(flow, &bridge->taker.in,
					      &bridge->acks, init);
	if (rc == 0)
		rc = bridge_start(bridge, 0);
	if (rc < 0)
		item_drop(init, NULL);
	else
		rc = weir_actor_start(&bridge->taker.actor);
	return rc;
}

static int start_channel(struct bridge *bridge)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));
	int rc = weir_channel_new(&bridge->channel, 3, &counted_items,
				  bridge->allocator);

	if (rc < 0) {
		weir_flow_free(flow);
		return rc;
	}
	bridge->flows[0] = weir_flow_into_channel(flow, bridge->channel);
	flow = weir_flow_from_channel(bridge->channel);
	bridge->flows[1] = weir_flow_for_each(flow, got_one, &bridge->got);
	rc = bridge_start(bridge, 1);
	return rc < 0 ? rc : bridge_start(bridge, 0);
}

const struct bridge_way bridge_ways[] = {
	{"publishers", start_publisher},
	{"ports", start_ports},
	{"ports that are asked", start_asked_ports},
	{"acknowledgements", start_acks},
	{"channels", start_channel},
};

const size_t n_bridge_ways = sizeof(bridge_ways) / sizeof(*bridge_ways);

/* --- Its end -------------------------------------------------------------- */

void bridge_cancel(struct bridge *bridge)
{
	weir_flow_run_stop(bridge->runs[0], NULL);
	weir_flow_run_stop(bridge->runs[1], NULL);
	if (bridge->maker.bridge)
		weir_actor_stop(&bridge->maker.actor);
	if (bridge->taker.bridge)
		weir_actor_stop(&bridge->taker.actor);
}

void bridge_let_go(struct bridge *bridge)
{
	if (bridge->maker.bridge)
		weir_actor_unref(&bridge->maker.actor);
	if (bridge->taker.bridge)
		weir_actor_unref(&bridge->taker.actor);
}

int bridge_reap(struct bridge *bridge)
{
	int rc = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		struct weir_error *error = NULL;

		if (bridge->runs[i])
			assert_int_equal(weir_flow_run_wait(bridge->runs[i],
							    WEIR_FOREVER, NULL,
							    &error),
					 0);
		if (i == 0 && error)
			rc = error->code;
		weir_error_unref(error);
		weir_flow_run_free(bridge->runs[i]);
		weir_flow_free(bridge->flows[i]);
	}
	weir_flow_publisher_free(bridge->publisher);
	return rc;
}

void bridge_check(struct bridge *bridge)
{
	size_t i;

	assert_int_equal(
		__atomic_load_n(&bridge->maker.there, __ATOMIC_ACQUIRE), 0);
	assert_int_equal(
		__atomic_load_n(&bridge->taker.there, __ATOMIC_ACQUIRE), 0);
	assert_int_equal(weir_channel_free(bridge->channel), 0);
	assert_int_equal(n_live, 0);
	for (i = 0; i < bridge->got.n; i++)
		assert_int_equal(bridge->got.values[i],
				 bridge->first + (intptr_t)i);
}

size_t bridge_all(const struct bridge *bridge)
{
	return (size_t)(N + 1 - bridge->first);
}
