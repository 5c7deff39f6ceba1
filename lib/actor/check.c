/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds actors that can never fire because they wait for each other. An actor
 * is *fed* when each of its in-ports that takes part holds a token or is fed
 * by somebody: by weir_in_put(), by an actor outside the set, or by one that
 * is fed itself. What is not fed when nothing changes any more waits for a
 * cycle without a token, or is part of one.
 */
#include "actor/check.h"

#include <errno.h>
#include <stdlib.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "actor/in.h"
#include "actor/out.h"
#include "actor/port.h"
#include "base/memory.h"

struct node {
	struct weir_actor *actor;
	bool fed;
};

struct graph {
	struct node *nodes; /* sorted by address */
	size_t n_nodes;
};

static int compare(const void *a, const void *b)
{
	const struct node *left = a, *right = b;

	return (left->actor > right->actor) - (left->actor < right->actor);
}

static struct node *check_find(const struct graph *graph,
			       struct weir_actor *actor)
{
	struct node key = {.actor = actor};

	return bsearch(&key, graph->nodes, graph->n_nodes, sizeof(key),
		       compare);
}

/* The lane's producer if that is not fed, or NULL. */
static struct node *hungry(const struct graph *graph,
			   const struct weir__lane *lane)
{
	struct node *node = check_find(graph, lane->out->port.actor);

	return node && !node->fed ? node : NULL;
}

/*
 * The actor that keeps an in-port waiting; NULL: the in-port is fed. A port
 * that merges waits only if all its producers do.
 */
static struct node *waits_for(const struct graph *graph,
			      const struct weir_in *in)
{
	const struct weir__merge_lane *lane;
	struct node *node = NULL;

	if (weir__lane_used(&in->lane))
		return NULL;
	if (!in->merge)
		return in->lane.out ? hungry(graph, &in->lane) : NULL;
	if (in->merge->rule == WEIR_MERGE_OPEN)
		return NULL;
	for (lane = in->merge->lanes; lane; lane = lane->next) {
		if (weir__lane_used(&lane->lane) || !lane->lane.out)
			return NULL;
		node = hungry(graph, &lane->lane);
		if (!node)
			return NULL;
	}
	return node;
}

/* A group waits only if all its members do, none but in-ports for an actor. */
static struct node *any_waits_for(const struct graph *graph,
				  const struct weir_port *any)
{
	const struct weir_port *member;
	struct node *node = NULL;

	for (member = any->actor->ports; member; member = member->next) {
		if (weir__port_group(member) != any || weir__port_off(member))
			continue;
		if (!weir__in_of(member))
			return NULL;
		node = waits_for(graph, weir__in_of(member));
		if (!node)
			return NULL;
	}
	return node;
}

static struct node *port_waits_for(const struct graph *graph,
				   const struct weir_port *port)
{
	if (weir__in_of(port))
		return waits_for(graph, weir__in_of(port));
	return weir__port_is_any(port) ? any_waits_for(graph, port) : NULL;
}

static struct node *actor_waits_for(const struct graph *graph,
				    const struct weir_actor *actor)
{
	const struct weir_port *port;
	struct node *node;

	for (port = actor->ports; port; port = port->next) {
		if (weir__port_group(port) || weir__port_off(port))
			continue;
		node = port_waits_for(graph, port);
		if (node)
			return node;
	}
	return NULL;
}

/* One pass; alternating directions suit chains given in either order. */
static bool feed(struct graph *graph, bool backwards)
{
	bool changed = false;
	size_t i;

	for (i = 0; i < graph->n_nodes; i++) {
		struct node *node =
			&graph->nodes[backwards ? graph->n_nodes - 1 - i : i];

		if (node->fed || actor_waits_for(graph, node->actor))
			continue;
		node->fed = true;
		changed = true;
	}
	return changed;
}

/*
 * Goes from a waiting actor to the actor that it waits for, n times: it is in
 * the cycle then.
 */
static struct weir_actor *walk(const struct graph *graph, struct node *node)
{
	size_t i;

	for (i = 0; i < graph->n_nodes; i++)
		node = actor_waits_for(graph, node->actor);
	return node->actor;
}

static struct weir_actor *find_cycle(struct graph *graph)
{
	bool backwards = false;
	size_t i;

	while (feed(graph, backwards))
		backwards = !backwards;
	for (i = 0; i < graph->n_nodes; i++)
		if (!graph->nodes[i].fed)
			return walk(graph, &graph->nodes[i]);
	return NULL;
}

int weir_actor_check_cycles(struct weir_actor *const *actors, size_t n_actors,
			    struct weir_actor **culprit)
{
	const struct weir_allocator *allocator;
	struct weir_actor *found;
	struct graph graph = {.n_nodes = n_actors};
	size_t i;

	if (!actors && n_actors)
		return -EINVAL;
	for (i = 0; i < n_actors; i++)
		if (!actors[i])
			return -EINVAL;
	if (!n_actors)
		return 0;
	allocator = actors[0]->executor->options.allocator;
	graph.nodes = weir__alloc(allocator, n_actors * sizeof(*graph.nodes));
	if (!graph.nodes)
		return -ENOMEM;
	for (i = 0; i < n_actors; i++)
		graph.nodes[i].actor = actors[i];
	qsort(graph.nodes, n_actors, sizeof(*graph.nodes), compare);
	found = find_cycle(&graph);
	weir__free(allocator, graph.nodes, n_actors * sizeof(*graph.nodes));
	if (culprit)
		*culprit = found;
	return found ? -EDEADLK : 0;
}

bool weir__actor_check(struct weir_actor *actor)
{
	struct weir_port *port;
	uint32_t blocked = 0;

	for (port = actor->ports; port; port = port->next) {
		if (!port->blocked)
			continue;
		if (port->blocked != 1 || weir__port_group(port) ||
		    weir__port_off(port))
			return false;
		blocked++;
	}
	return (actor->gate & WEIR__GATE_SCHEDULED) == 0 &&
	       actor->gate / WEIR__GATE_ONE == blocked &&
	       !weir__gate_ready(actor->gate);
}
