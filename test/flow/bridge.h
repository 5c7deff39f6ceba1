/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways from a source of the numbers 1 to N, as counted items, over what flows
 * are joined to, to a sink that takes them down.
 */
#ifndef WEIR_TEST_FLOW_BRIDGE_H
#define WEIR_TEST_FLOW_BRIDGE_H

#include "flow/kit.h"

#define N 20

/* An actor of the user's: puts 1 to N into its out-port, or takes from in. */
struct hand {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_in in;
	struct world *world;
	intptr_t next;
	uint32_t there; /* not released; any thread */
};

struct world {
	struct weir_executor *executor;
	const struct weir_allocator *allocator; /* of channels */
	struct weir_flow *flows[2];
	struct weir_flow_run *runs[2];
	struct weir_flow_publisher *publisher;
	struct weir_channel *channel;
	struct weir_semaphore acks;
	bool acknowledges;
	struct hand maker, taker;
	intptr_t first; /* that is to come */
	struct got got;
};

/* One way from a source to a sink. 0, or why it could not be started. */
struct way {
	const char *name;
	int (*start)(struct world *world);
};

/* --- Actors --------------------------------------------------------------- */

static inline struct hand *hand_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct hand, actor);
}

static inline int make_one(struct weir_actor *actor)
{
	struct hand *self = hand_of(actor);
	int rc = weir_out_put(&self->out, item_new(self->next));

	return rc == 0 && self->next++ == N ? WEIR_TURN_END : rc;
}
WEIR_TURN(make_one)

static inline int take_one(struct weir_actor *actor)
{
	struct hand *self = hand_of(actor);
	void *item = weir_in_take(&self->in);

	assert_true(!self->world->acknowledges ||
		    weir_in_count(&self->in) == 0);
	(void)got_one(item, &self->world->got);
	return self->world->acknowledges
		       ? weir_semaphore_release(&self->world->acks, 1)
		       : 0;
}
WEIR_TURN(take_one)

static inline void hand_released(struct weir_actor *actor)
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

static inline int hand_init(struct world *world, struct hand *hand,
			    const struct weir_actor_ops *ops)
{
	int rc;

	*hand = (struct hand){.world = world, .next = 1, .there = 1};
	rc = weir_actor_init(&hand->actor, ops, world->executor);
	/* until let_go() */
	weir_actor_ref(&hand->actor);
	return rc;
}

static inline int maker_init(struct world *world)
{
	int rc = hand_init(world, &world->maker, &maker_ops);

	return rc < 0 ? rc
		      : weir_out_init(&world->maker.out, &world->maker.actor,
				      &counted_items);
}

static inline int taker_init(struct world *world)
{
	int rc = hand_init(world, &world->taker, &taker_ops);

	return rc < 0 ? rc
		      : weir_in_init(&world->taker.in, &world->taker.actor, 4,
				     &counted_items);
}

/* --- The ways ------------------------------------------------------------- */

static inline int start(struct world *world, int i)
{
	return weir_flow_start(world->flows[i], world->executor, NULL,
			       &world->runs[i]);
}

static inline int start_publisher(struct world *world)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));

	assert_int_equal(weir_flow_publisher_new(&world->publisher, flow,
						 world->executor, NULL),
			 0);
	flow = weir_flow_from_publisher(
		weir_flow_publisher_base(world->publisher), 4, 0);
	flow = weir_flow_items(flow, &counted_items);
	world->flows[0] = weir_flow_for_each(flow, got_one, &world->got);
	return start(world, 0);
}

/* What `upon` makes of what comes from a port goes into another. */
static inline int start_between_ports(
	struct world *world, uint32_t burst,
	struct weir_flow *(*upon)(struct weir_flow *flow))
{
	struct weir_flow *flow;
	int rc = maker_init(world);

	if (rc == 0)
		rc = weir_port_set_burst(&world->maker.out.port, burst);
	if (rc == 0)
		rc = taker_init(world);
	if (rc < 0)
		return rc;
	flow = upon(weir_flow_from_out(&world->maker.out, 4));
	world->flows[0] = weir_flow_into_in(flow, &world->taker.in);
	rc = start(world, 0);
	if (rc == 0)
		rc = weir_actor_start(&world->taker.actor);
	if (rc == 0)
		rc = weir_actor_start(&world->maker.actor);
	return rc;
}

static inline struct weir_flow *as_it_comes(struct weir_flow *flow)
{
	return weir_flow_drop(flow, 0);
}

static inline int start_ports(struct world *world)
{
	return start_between_ports(world, 1, as_it_comes);
}

/* Less than a turn needs room for. */
static inline struct weir_flow *two_at_a_time(struct weir_flow *flow)
{
	return weir_flow_limit_rate(flow, 2, 0);
}

static inline int start_asked_ports(struct world *world)
{
	return start_between_ports(world, 5, two_at_a_time);
}

static inline int start_acks(struct world *world)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));
	struct item *init;
	int rc = taker_init(world);

	world->acknowledges = true;
	assert_int_equal(weir_semaphore_init(&world->acks, 0), 0);
	init = item_new(0);
	world->first = 0;
	world->flows[0] =
		weir_flow_to_actor(flow, &world->taker.in, &world->acks, init);
	if (rc == 0)
		rc = start(world, 0);
	if (rc < 0)
		item_drop(init, NULL);
	else
		rc = weir_actor_start(&world->taker.actor);
	return rc;
}

static inline int start_channel(struct world *world)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));
	int rc = weir_channel_new(&world->channel, 3, &counted_items,
				  world->allocator);

	if (rc < 0) {
		weir_flow_free(flow);
		return rc;
	}
	world->flows[0] = weir_flow_into_channel(flow, world->channel);
	flow = weir_flow_from_channel(world->channel);
	world->flows[1] = weir_flow_for_each(flow, got_one, &world->got);
	rc = start(world, 1);
	return rc < 0 ? rc : start(world, 0);
}

static const struct way ways[] = {
	{"publishers", start_publisher},
	{"ports", start_ports},
	{"ports that are asked", start_asked_ports},
	{"acknowledgements", start_acks},
	{"channels", start_channel},
};

#define N_WAYS (sizeof(ways) / sizeof(*ways))

/* --- Its end -------------------------------------------------------------- */

static inline void cancel(struct world *world)
{
	weir_flow_run_stop(world->runs[0], NULL);
	weir_flow_run_stop(world->runs[1], NULL);
	if (world->maker.world)
		weir_actor_stop(&world->maker.actor);
	if (world->taker.world)
		weir_actor_stop(&world->taker.actor);
}

/* The actors go when they have ended. */
static inline void let_go(struct world *world)
{
	if (world->maker.world)
		weir_actor_unref(&world->maker.actor);
	if (world->taker.world)
		weir_actor_unref(&world->taker.actor);
}

/* Waits for the runs, and frees what is there; how the first has ended. */
static inline int reap(struct world *world)
{
	int rc = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		struct weir_error *error = NULL;

		if (world->runs[i])
			assert_int_equal(weir_flow_run_wait(world->runs[i],
							    WEIR_FOREVER, NULL,
							    &error),
					 0);
		if (i == 0 && error)
			rc = error->code;
		weir_error_unref(error);
		weir_flow_run_free(world->runs[i]);
		weir_flow_free(world->flows[i]);
	}
	weir_flow_publisher_free(world->publisher);
	return rc;
}

/* All has come to rest. */
static inline void check(struct world *world)
{
	size_t i;

	assert_int_equal(__atomic_load_n(&world->maker.there, __ATOMIC_ACQUIRE),
			 0);
	assert_int_equal(__atomic_load_n(&world->taker.there, __ATOMIC_ACQUIRE),
			 0);
	assert_int_equal(weir_channel_free(world->channel), 0);
	assert_int_equal(n_live, 0);
	for (i = 0; i < world->got.n; i++)
		assert_int_equal(world->got.values[i],
				 world->first + (intptr_t)i);
}

static inline size_t all_of(const struct world *world)
{
	return (size_t)(N + 1 - world->first);
}

#endif
