/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random graphs in which one random thing stalls, and that one is blamed for all.
 *
 * The graph is connected, and has no circle. A turn of a node takes one item from
 * each edge to it and puts one into each edge from it; so without a stall all run
 * for ever, and with one all stand still at last. An edge is a link, one of a
 * broadcast, a stream, a channel, or a flow of several actors. Leaves take from
 * any of several nodes: they make nobody wait.
 */
#include "inspect/kit.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "actor/kit.h"
#include "base/random.h"

enum { MOST = 10, EDGES = 2, MOST_EDGES = EDGES * MOST, LEAVES = 2 };

enum way { LINK, STREAM, CHANNEL, FLOW, WAYS, BROADCAST };

enum stall {
	DELAY,	    /* its turn waits for an hour */
	PERMIT,	    /* of a semaphore that is never released */
	SUSPENDED,  /* at any time */
	UNLINKED,   /* an out-port more, that nobody takes from */
	SILENT,	    /* an in-port more, into which nobody puts */
	NO_DEMAND,  /* the subscriber of a stream that requests nothing */
	OUTSIDER,   /* a subscriber outside that requests little */
	NO_ROOM,    /* a channel that nobody takes from */
	NO_ITEM,    /* a channel that nobody puts into */
	DESCRIPTOR, /* one that is never readable */
	INCOMPLETE, /* a completion that is never complete */
	OPERATOR,   /* one of a flow */
	A_CYCLE,    /* an edge back */
	STALLS,
	NONE,
};

struct place {
	struct node node; /* first */
	struct weir_channel_out putters[EDGES + 1];
	struct weir_channel_in takers[EDGES + 1];
	struct weir_semaphore_port held;
	struct weir_fd fd;
	struct weir_completion_port completed;
	size_t n_putters, n_takers;
	struct weir_out *fan;
};

struct edge {
	size_t from, to;
	enum way way;
	struct weir_reactive_out publisher;
	struct weir_reactive_in subscriber;
	struct weir_channel *channel;
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

static struct {
	struct weir_sim *sim;
	struct weir_executor *executor;
	uint64_t random;
	struct place places[MOST];
	size_t n_places, n_from[MOST], n_to[MOST];
	struct edge edges[MOST_EDGES];
	size_t n_edges;
	struct place leaves[LEAVES];
	struct weir_any any;
	struct weir_channel *shared;
	enum stall stall;
	size_t culprit, stalled_edge;
	struct outsider outsider;
	struct weir_reactive_out publisher; /* to it */
	struct weir_semaphore never, held, plenty;
	struct weir_channel *lonely;
	struct weir_completion incomplete;
	int fd;
	enum weir_wait wait; /* of the culprit */
} it;

static char names[MOST][24];
static char item;

static uint64_t draw(uint64_t n)
{
	return weir__splitmix(&it.random) % n;
}

static struct node *node_of(size_t place)
{
	return &it.places[place].node;
}

/* --- The graph ------------------------------------------------------------ */

/* From the one with the lower number: there are no circles. */
static void connect(size_t a, size_t b)
{
	size_t from = a < b ? a : b, to = a < b ? b : a;

	if (from == to || it.n_from[from] == EDGES || it.n_to[to] == EDGES)
		return;
	it.n_from[from]++;
	it.n_to[to]++;
	it.edges[it.n_edges++] = (struct edge){
		.from = from,
		.to = to,
		.way = (enum way)draw(WAYS),
	};
}

static bool is_connected(void)
{
	bool reached[MOST] = {true}, changed = true;
	size_t e, i;

	while (changed) {
		changed = false;
		for (e = 0; e < it.n_edges; e++) {
			bool *from = &reached[it.edges[e].from];
			bool *to = &reached[it.edges[e].to];

			changed |= *from != *to;
			*from = *to = *from || *to;
		}
	}
	for (i = 0; i < it.n_places; i++)
		if (!reached[i])
			return false;
	return true;
}

static void draw_graph(void)
{
	size_t i;

	do {
		memset(it.n_from, 0, sizeof(it.n_from));
		memset(it.n_to, 0, sizeof(it.n_to));
		it.n_edges = 0;
		it.n_places = 2 + draw(MOST - 1);
		for (i = 1; i < it.n_places; i++)
			connect(i, draw(i));
		for (i = draw(it.n_places); i > 0; i--)
			connect(draw(it.n_places), draw(it.n_places));
	} while (!is_connected());
}

/* All edges from some nodes are of one broadcast. */
static void draw_broadcasts(void)
{
	bool broadcasts[MOST];
	size_t i;

	for (i = 0; i < it.n_places; i++)
		broadcasts[i] = it.n_from[i] > 1 && draw(4) == 0;
	for (i = 0; i < it.n_edges; i++)
		if (broadcasts[it.edges[i].from])
			it.edges[i].way = BROADCAST;
}

static void draw_stall(void)
{
	struct edge *edge;

	it.stalled_edge = draw(it.n_edges);
	it.culprit = draw(it.n_places);
	edge = &it.edges[it.stalled_edge];
	if (it.stall == NO_DEMAND || it.stall == OPERATOR)
		edge->way = it.stall == OPERATOR ? FLOW : STREAM;
	if (it.stall == NO_DEMAND || it.stall == A_CYCLE)
		it.culprit = edge->to;
}

/* --- Nodes ---------------------------------------------------------------- */

/* A part of the turn. */
static void pass_channels(struct node *node)
{
	struct place *self = weir_container_of(node, struct place, node);
	void *taken;
	size_t i;

	if (self->held.port.actor)
		assert_int_equal(weir_semaphore_port_take(&self->held, 1), 0);
	for (i = 0; i < self->n_takers; i++)
		assert_int_equal(weir_channel_in_take(&self->takers[i], &taken),
				 0);
	for (i = 0; i < self->n_putters; i++)
		assert_int_equal(weir_channel_out_put(&self->putters[i], &item),
				 0);
}

/* A turn of a leaf: it takes where there is anything. */
static uint32_t take_any(struct weir_actor *actor, uint32_t n)
{
	struct place *self = weir_container_of(actor, struct place, node.actor);
	size_t i;

	for (i = 0; i < self->node.n_ins; i++)
		if (weir_port_ready(&self->node.ins[i].port))
			assert_non_null(weir_in_take(&self->node.ins[i]));
	pass_channels(&self->node);
	return 1;
}

static void make_place(struct place *place, const char *name)
{
	*place = (struct place){0};
	node_init(&place->node, it.executor, name, 0, 0);
	place->node.before = pass_channels;
}

static void make_leaf(struct place *leaf)
{
	*leaf = (struct place){
		.node.ops = {.name = "leaf", .turns = take_any},
	};
	assert_int_equal(weir_actor_init(&leaf->node.actor, &leaf->node.ops,
					 it.executor),
			 0);
}

static struct weir_in *add_in(struct node *node)
{
	struct weir_in *in = &node->ins[node->n_ins++];

	assert_in_range(node->n_ins, 1, NODE_PORTS);
	assert_int_equal(weir_in_init(in, &node->actor, (uint32_t)1 << draw(4),
				      NULL),
			 0);
	return in;
}

static struct weir_out *add_out(struct node *node)
{
	struct weir_out *out = &node->outs[node->n_outs++];

	assert_in_range(node->n_outs, 1, NODE_PORTS);
	assert_int_equal(weir_out_init(out, &node->actor, NULL), 0);
	return out;
}

static void add_putter(struct place *place, struct weir_channel *channel)
{
	assert_in_range(place->n_putters, 0, EDGES);
	assert_int_equal(
		weir_channel_out_init(&place->putters[place->n_putters++],
				      &place->node.actor, channel),
		0);
}

static void add_taker(struct place *place, struct weir_channel *channel)
{
	assert_in_range(place->n_takers, 0, EDGES);
	assert_int_equal(weir_channel_in_init(&place->takers[place->n_takers++],
					      &place->node.actor, channel),
			 0);
}

static void add_permit(struct node *node, struct weir_semaphore *semaphore)
{
	assert_int_equal(weir_semaphore_port_init(&node->permit, &node->actor,
						  semaphore),
			 0);
}

/* --- Edges ---------------------------------------------------------------- */

static void make_stream(struct edge *edge, bool stalls)
{
	const struct weir_reactive_in_options few = {.prefetch = 1};
	const struct weir_reactive_in_options none = {
		.demand = weir_demand_zero};

	assert_int_equal(weir_reactive_out_init(&edge->publisher,
						add_out(node_of(edge->from)),
						NULL),
			 0);
	assert_int_equal(weir_reactive_in_init(&edge->subscriber,
					       add_in(node_of(edge->to)),
					       stalls ? &none : &few),
			 0);
	assert_int_equal(weir_publisher_subscribe(&edge->publisher.publisher,
						  &edge->subscriber.subscriber),
			 0);
}

static void make_channel(struct edge *edge)
{
	assert_int_equal(
		weir_channel_new(&edge->channel, 1 + draw(4), NULL, NULL), 0);
	add_putter(&it.places[edge->from], edge->channel);
	add_taker(&it.places[edge->to], edge->channel);
}

static int same(void **passed, void *context)
{
	return 0;
}

static struct weir_flow *once(void *passed, void *context)
{
	return weir_flow_single(passed);
}

static struct weir_flow *never(void *passed, void *context)
{
	return weir_flow_never();
}

static struct weir_flow *sound(struct weir_flow *flow)
{
	switch (draw(3)) {
	case 0:
		return weir_flow_map(flow, same, NULL);
	case 1:
		return weir_flow_async(flow, (size_t)1 << draw(3), NULL);
	default:
		return weir_flow_flat_map(flow, 1, once, NULL);
	}
}

static struct weir_flow *stalling(struct weir_flow *flow)
{
	const struct weir_flow_rate slow = {.n = 1,
					    .per_ns = UINT64_C(1) << 50};

	switch (draw(4)) {
	case 0:
		flow = weir_flow_acquire(flow, &it.never);
		break;
	case 1:
		flow = weir_flow_delay(flow, UINT64_C(1) << 50, 1 + draw(8));
		break;
	case 2:
		flow = weir_flow_flat_map(flow, 1, never, NULL);
		break;
	default:
		flow = weir_flow_throttle(flow, &slow);
		break;
	}
	return weir_flow_name(flow, "culprit");
}

static void make_flow(struct edge *edge, bool stalls)
{
	size_t n = 1 + draw(4), at = draw(n), i;

	edge->flow = weir_flow_from_out(add_out(node_of(edge->from)),
					(size_t)1 << draw(4));
	for (i = 0; i < n; i++)
		edge->flow = stalls && i == at ? stalling(edge->flow)
					       : sound(edge->flow);
	edge->flow = weir_flow_into_in(edge->flow, add_in(node_of(edge->to)));
	assert_int_equal(
		weir_flow_start(edge->flow, it.executor, NULL, &edge->run), 0);
}

static void make_broadcast(const struct edge *edge)
{
	struct place *from = &it.places[edge->from];

	if (!from->fan) {
		from->fan = add_out(&from->node);
		assert_int_equal(
			weir_out_fan(from->fan, WEIR_FAN_BROADCAST, EDGES), 0);
	}
	assert_int_equal(weir_out_link(from->fan, add_in(node_of(edge->to))),
			 0);
}

static void make_edge(struct edge *edge, bool stalls)
{
	switch (edge->way) {
	case STREAM:
		make_stream(edge, stalls);
		break;
	case CHANNEL:
		make_channel(edge);
		break;
	case FLOW:
		make_flow(edge, stalls);
		break;
	case BROADCAST:
		make_broadcast(edge);
		break;
	default:
		assert_int_equal(weir_out_link(add_out(node_of(edge->from)),
					       add_in(node_of(edge->to))),
				 0);
		break;
	}
}

/* --- Leaves --------------------------------------------------------------- */

/* Nodes with an out-port to spare, each once; the culprit's is the stall's. */
static struct node *next_spare(size_t *i)
{
	for (; *i < it.n_places; ++*i)
		if (*i != it.culprit && node_of(*i)->n_outs < NODE_PORTS &&
		    draw(2))
			return node_of((*i)++);
	return NULL;
}

static void merge_into(struct place *leaf)
{
	struct weir_in *in = &leaf->node.ins[0];
	struct node *from;
	size_t i = 0;

	while ((from = next_spare(&i))) {
		if (leaf->node.n_ins == 0) {
			(void)add_in(&leaf->node);
			assert_int_equal(weir_in_merge(in, WEIR_MERGE_ALL), 0);
		}
		assert_int_equal(weir_out_link(add_out(from), in), 0);
	}
}

/* Each node has an in-port of the leaf's. */
static void link_any_to(struct place *leaf)
{
	struct node *from;
	size_t i = 0;

	assert_int_equal(weir_any_init(&it.any, &leaf->node.actor), 0);
	while (leaf->node.n_ins < NODE_PORTS && (from = next_spare(&i)))
		assert_int_equal(
			weir_out_link(add_out(from), add_in(&leaf->node)), 0);
	for (i = 0; i < leaf->node.n_ins; i++)
		assert_int_equal(weir_any_add(&it.any, &leaf->node.ins[i].port),
				 0);
}

static void share_channel_with(struct place *leaf)
{
	size_t n = 0, i;

	/* each may keep room for itself while it waits for another */
	assert_int_equal(
		weir_channel_new(&it.shared, MOST + draw(4), NULL, NULL), 0);
	for (i = 0; i < it.n_places; i++)
		if (i != it.culprit && draw(3) == 0) {
			add_putter(&it.places[i], it.shared);
			n++;
		}
	if (n > 0)
		add_taker(leaf, it.shared);
}

/* Items go to the one or the other leaf. */
static void deal_to(struct place *one, struct place *other)
{
	struct weir_out *out;
	size_t i = 0;
	struct node *from = next_spare(&i);

	if (!from)
		return;
	out = add_out(from);
	assert_int_equal(weir_out_fan(out, WEIR_FAN_BALANCE, 2), 0);
	assert_int_equal(weir_out_link(out, add_in(&one->node)), 0);
	assert_int_equal(weir_out_link(out, add_in(&other->node)), 0);
}

static void make_leaves(void)
{
	size_t i;

	for (i = 0; i < LEAVES; i++)
		make_leaf(&it.leaves[i]);
	switch (draw(8)) {
	case 0:
		merge_into(&it.leaves[0]);
		break;
	case 1:
		link_any_to(&it.leaves[0]);
		break;
	case 2:
		share_channel_with(&it.leaves[0]);
		break;
	case 3:
		deal_to(&it.leaves[0], &it.leaves[1]);
		break;
	default:
		break;
	}
}

/* What nothing is linked to would wait for nobody. */
static bool is_used(const struct place *leaf)
{
	return leaf->node.n_ins + leaf->n_takers > 0;
}

/* --- Stalls --------------------------------------------------------------- */

static void add_held(struct place *place)
{
	assert_int_equal(weir_semaphore_port_init(&place->held,
						  &place->node.actor, &it.held),
			 0);
}

/* Some others need the permit that the culprit holds, which waits for one that
 * is never released. It must not wait for items of theirs. */
static void stall_at_permit(struct place *place)
{
	size_t i;

	it.wait = WEIR_WAIT_PERMIT;
	add_permit(&place->node, &it.never);
	for (i = it.culprit + 1; i < it.n_places; i++)
		if (draw(2))
			add_held(&it.places[i]);
}

static void stall_at_outsider(struct node *node)
{
	it.wait = WEIR_WAIT_DEMAND;
	assert_int_equal(
		weir_reactive_out_init(&it.publisher, add_out(node), NULL), 0);
	assert_int_equal(weir_publisher_subscribe(&it.publisher.publisher,
						  &it.outsider.subscriber),
			 0);
}

static void stall_at_channel(struct place *place)
{
	it.wait = WEIR_WAIT_CHANNEL;
	if (it.stall == NO_ROOM)
		add_putter(place, it.lonely);
	else
		add_taker(place, it.lonely);
}

static void stall_at_descriptor(struct place *place)
{
	it.wait = WEIR_WAIT_FD;
	it.fd = eventfd(0, EFD_NONBLOCK);
	assert_true(it.fd >= 0);
	assert_int_equal(
		weir_fd_init(&place->fd, &place->node.actor, it.fd, POLLIN), 0);
}

static void stall_at_completion(struct place *place)
{
	it.wait = WEIR_WAIT_COMPLETED;
	assert_int_equal(weir_completion_port_init(&place->completed,
						   &place->node.actor,
						   &it.incomplete),
			 0);
}

static void stall(struct place *place)
{
	switch (it.stall) {
	case DELAY:
		it.wait = WEIR_WAIT_TIME;
		node_waits(&place->node);
		break;
	case PERMIT:
		stall_at_permit(place);
		break;
	case UNLINKED:
		it.wait = WEIR_WAIT_LINK;
		(void)add_out(&place->node);
		break;
	case SILENT:
		it.wait = WEIR_WAIT_INPUT;
		(void)add_in(&place->node);
		break;
	case OUTSIDER:
		stall_at_outsider(&place->node);
		break;
	case NO_ROOM:
	case NO_ITEM:
		stall_at_channel(place);
		break;
	case DESCRIPTOR:
		stall_at_descriptor(place);
		break;
	case INCOMPLETE:
		stall_at_completion(place);
		break;
	case A_CYCLE:
		assert_int_equal(
			weir_out_link(add_out(&place->node),
				      add_in(node_of(
					      it.edges[it.stalled_edge].from))),
			0);
		break;
	default:
		break;
	}
}

/* --- All of it ------------------------------------------------------------ */

static void make(void)
{
	size_t i;

	outsider_init(&it.outsider);
	/* without a turn of the culprit that gives the permit up it holds */
	assert_int_equal(
		weir_semaphore_init(&it.never,
				    it.stall == PERMIT ? 0 : (int64_t)draw(6)),
		0);
	assert_int_equal(weir_semaphore_init(&it.held, 1), 0);
	assert_int_equal(weir_semaphore_init(&it.plenty, INT64_C(1) << 40), 0);
	assert_int_equal(weir_completion_init(&it.incomplete), 0);
	assert_int_equal(weir_channel_new(&it.lonely, 1 + draw(5), NULL, NULL),
			 0);
	it.shared = NULL;
	it.fd = -1;
	for (i = 0; i < it.n_places; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "n%zu", i);
		make_place(&it.places[i], names[i]);
	}
	if (it.stall == PERMIT) /* its first port is the first to be granted */
		add_held(&it.places[it.culprit]);
	for (i = 0; i < it.n_edges; i++)
		make_edge(&it.edges[i],
			  i == it.stalled_edge && (it.stall == NO_DEMAND ||
						   it.stall == OPERATOR));
	it.wait = it.stall == OPERATOR ? WEIR_WAIT_WAKE : WEIR_WAIT_INPUT;
	stall(&it.places[it.culprit]);
	for (i = 0; i < it.n_places; i++)
		if (!node_of(i)->permit.port.actor && draw(4) == 0)
			add_permit(node_of(i), &it.plenty);
	make_leaves();
}

static void run(void)
{
	weir_sim_run_until(it.sim, 1, UINT64_MAX);
}

/* Until nothing moves. */
static void run_into_stall(void)
{
	size_t i;

	if (it.stall == PERMIT) { /* it gets what others need, before them */
		node_start(node_of(it.culprit));
		run();
	}
	for (i = 0; i < it.n_places; i++)
		if (it.stall != PERMIT || i != it.culprit)
			node_start(node_of(i));
	for (i = 0; i < LEAVES; i++)
		if (is_used(&it.leaves[i]))
			node_start(&it.leaves[i].node);
	if (it.stall == SUSPENDED) {
		it.wait = WEIR_WAIT_RESUME;
		weir_sim_run_until(it.sim, 1, draw(500));
		weir_actor_suspend(&node_of(it.culprit)->actor);
	}
	run();
	if (it.stall == OUTSIDER) {
		outsider_request(&it.outsider, 1 + (int64_t)draw(5));
		run();
	}
}

static void free_edge(struct edge *edge)
{
	if (edge->channel) {
		(void)weir_channel_end(edge->channel, NULL);
		assert_int_equal(weir_channel_free(edge->channel), 0);
	}
	weir_flow_run_free(edge->run);
	weir_flow_free(edge->flow);
}

static void clean_up(void)
{
	size_t i;

	if (it.outsider.from)
		outsider_cancel(&it.outsider);
	for (i = 0; i < it.n_places; i++)
		node_stop(node_of(i));
	for (i = 0; i < LEAVES; i++)
		node_stop(&it.leaves[i].node);
	for (i = 0; i < it.n_edges; i++)
		if (it.edges[i].run)
			weir_flow_run_stop(it.edges[i].run, NULL);
	weir_sim_run(it.sim);
	for (i = 0; i < it.n_edges; i++)
		free_edge(&it.edges[i]);
	assert_int_equal(weir_semaphore_fini(&it.never), 0);
	assert_int_equal(weir_semaphore_fini(&it.held), 0);
	assert_int_equal(weir_semaphore_fini(&it.plenty), 0);
	assert_int_equal(weir_completion_fini(&it.incomplete), 0);
	assert_int_equal(weir_channel_free(it.lonely), 0);
	if (it.shared)
		assert_int_equal(weir_channel_free(it.shared), 0);
	if (it.fd >= 0)
		close(it.fd);
	sim_free(it.sim);
}

/* --- The answer ----------------------------------------------------------- */

static bool holds_items(const struct weir_snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < snapshot->n_links; i++)
		if (snapshot->links[i].fill > 0)
			return true;
	return false;
}

/* How often the text has that. */
static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static size_t culprit_of(const struct weir_snapshot *snapshot)
{
	size_t i;

	if (it.stall != OPERATOR)
		return weir_snapshot_find(snapshot,
					  &node_of(it.culprit)->actor);
	for (i = 0; i < snapshot->n_actors; i++)
		if (strstr(snapshot->actors[i].name, "culprit") &&
		    snapshot->actors[i].wait == WEIR_WAIT_WAKE)
			return i;
	fail_msg("no actor has the operator");
	return WEIR_NOWHERE;
}

/* The reasons have the edge back: who has nothing to take waits for who cannot
 * put. */
static bool has_edge_back(const struct weir_snapshot *snapshot,
			  const struct weir_reason *reasons, size_t n)
{
	const struct edge *edge = &it.edges[it.stalled_edge];
	size_t from = weir_snapshot_find(snapshot, &node_of(edge->from)->actor);
	size_t to = weir_snapshot_find(snapshot, &node_of(edge->to)->actor);
	size_t i;

	for (i = 0; i < n; i++)
		if (reasons[i].actor == from && reasons[i].next == to &&
		    reasons[i].wait == WEIR_WAIT_INPUT)
			return true;
	return false;
}

/* All ways end at the culprit, or go round in the cycle. */
static void check_ways(const struct weir_snapshot *snapshot)
{
	enum { ALL = 16 * MOST };
	struct weir_reason reasons[ALL];
	size_t culprit = culprit_of(snapshot), i, n;

	assert_in_range(snapshot->n_actors, 2, ALL);
	for (i = 0; i < snapshot->n_actors; i++) {
		n = weir_snapshot_why(snapshot, i, reasons, ALL);
		assert_in_range(n, 1, snapshot->n_actors);
		if (it.stall == A_CYCLE) {
			assert_true(has_edge_back(snapshot, reasons, n));
			assert_int_not_equal(reasons[n - 1].next, WEIR_NOWHERE);
			continue;
		}
		assert_int_equal(reasons[n - 1].actor, culprit);
		assert_int_equal(reasons[n - 1].next, WEIR_NOWHERE);
		assert_int_equal(reasons[n - 1].wait, it.wait);
	}
}

static void check_text(const struct weir_snapshot *snapshot)
{
	char text[4096], held[64];
	const char *name = snapshot->actors[culprit_of(snapshot)].name;

	assert_in_range(weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
					       sizeof(text)),
			1, sizeof(text) - 1);
	(void)snprintf(held, sizeof(held), "held up by: %s", name);
	if (it.stall == A_CYCLE) {
		assert_int_equal(count(text, "held up by"), 0);
		assert_int_equal(count(text, "this is a cycle: "), 1);
	} else if (count(text, "idle: ") == 1) {
		/* what makes nothing is silent, whatever for */
		assert_int_equal(it.n_to[it.culprit], 0);
		assert_false(holds_items(snapshot));
		assert_int_equal(count(text, "\n"), 2);
	} else {
		assert_int_equal(count(text, held), 1);
		assert_int_equal(count(text, "\n"), 1);
	}
}

static void begin(uint64_t seed, enum stall stall)
{
	it.sim = sim_new(seed);
	it.executor = weir_sim_executor(it.sim);
	it.random = seed;
	it.stall = stall;
	draw_graph();
	draw_broadcasts();
	draw_stall();
	make();
}

static void the_one_that_stalls_is_blamed(void **state)
{
	struct weir_snapshot *snapshot;

	for_each_seed(seed, test_count(13000)) {
		begin(seed, (enum stall)(seed % STALLS));
		run_into_stall();
		snapshot = taken(it.executor);
		assert_true(snapshot->settled);
		check_ways(snapshot);
		check_text(snapshot);
		weir_snapshot_free(snapshot);
		clean_up();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_that_stalls_is_blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
