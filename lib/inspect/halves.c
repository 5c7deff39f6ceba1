/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What belongs together in a snapshot. While a look goes from actor to actor it
 * sees an end of each thing at a time: a link where it ends, a demand from either
 * side, an object from each of its ports.
 */
#include "inspect/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "inspect/places.h"

/* The order of their addresses. */
static int compare(const void *one, const void *other)
{
	return ((uintptr_t)one > (uintptr_t)other) -
	       ((uintptr_t)one < (uintptr_t)other);
}

/* --- Demands -------------------------------------------------------------- */

/* Of one subscription the publisher's half first. */
static int by_subscription(const void *one, const void *other)
{
	const struct weir_seen_demand *a = one, *b = other;
	int order = compare(a->subscription, b->subscription);

	return order ? order : !a->from_port - !b->from_port;
}

static bool is_other_half(const struct weir_seen_demand *a,
			  const struct weir_seen_demand *b)
{
	return a->subscription && a->subscription == b->subscription &&
	       a->from_port && b->to_port && !a->to_port;
}

/* Makes one of two halves, which know the same. */
static void join_demands(struct weir__snapshot *self)
{
	struct weir_seen_demand *all = self->demands;
	size_t n = 0, i;

	qsort(all, self->seen.n_demands, sizeof(*all), by_subscription);
	for (i = 0; i < self->seen.n_demands; i++) {
		if (n > 0 && is_other_half(&all[n - 1], &all[i]))
			all[n - 1].to_port = all[i].to_port;
		else
			all[n++] = all[i];
	}
	self->seen.n_demands = n;
}

/* --- Objects -------------------------------------------------------------- */

static int by_object(const void *one, const void *other)
{
	const struct weir_seen_object *a = one, *b = other;

	return compare(a->object, b->object);
}

static void join_objects(struct weir__snapshot *self)
{
	struct weir_seen_object *all = self->objects, key = {0}, *found;
	size_t n = 0, i;

	qsort(all, self->seen.n_objects, sizeof(*all), by_object);
	for (i = 0; i < self->seen.n_objects; i++)
		if (n == 0 || all[n - 1].object != all[i].object)
			all[n++] = all[i];
	self->seen.n_objects = n;
	for (i = 0; i < self->seen.n_ports; i++) {
		key.object = self->ports[i].object;
		if (!key.object)
			continue;
		found = bsearch(&key, all, n, sizeof(*all), by_object);
		self->ports[i].shared = (size_t)(found - all);
	}
}

/* --- Names ---------------------------------------------------------------- */

/* What ports that wait for such a thing are called; NULL: they are not. */
static const char *const port_names[WEIR_WAIT_OTHER + 1] = {
	[WEIR_WAIT_INPUT] = "in",	[WEIR_WAIT_ROOM] = "out",
	[WEIR_WAIT_DEMAND] = "out",	[WEIR_WAIT_LINK] = "out",
	[WEIR_WAIT_PERMIT] = "permit",	[WEIR_WAIT_CHANNEL] = "channel",
	[WEIR_WAIT_TIME] = "delay",	[WEIR_WAIT_FD] = "fd",
	[WEIR_WAIT_COMPLETED] = "done",
};

const char *weir__snapshot_port_name(enum weir_wait wait)
{
	return (size_t)wait <= WEIR_WAIT_OTHER ? port_names[wait] : NULL;
}

/* All that wait for what stands for that sort: one of those for each name. */
static enum weir_wait sort_of(enum weir_wait wait)
{
	return wait == WEIR_WAIT_DEMAND || wait == WEIR_WAIT_LINK
		       ? WEIR_WAIT_ROOM
		       : wait;
}

/* Those of an actor that have no name of their own: several of a sort are
 * numbered. */
static void name_ports(struct weir_seen_port *ports, size_t n)
{
	size_t all[WEIR_WAIT_OTHER + 1] = {0},
				     so_far[WEIR_WAIT_OTHER + 1] = {0};
	enum weir_wait sort;
	struct weir_seen_port *port;
	size_t i;

	for (i = 0; i < n; i++)
		if (weir__snapshot_port_name(ports[i].wait))
			all[sort_of(ports[i].wait)]++;
	for (i = 0; i < n; i++) {
		port = &ports[i];
		if (!weir__snapshot_port_name(port->wait))
			continue;
		sort = sort_of(port->wait);
		so_far[sort]++;
		if (port->name[0])
			continue;
		if (all[sort] > 1)
			(void)snprintf(port->name, sizeof(port->name), "%s%zu",
				       port_names[sort], so_far[sort]);
		else
			weir__snapshot_name(port->name, sizeof(port->name),
					    port_names[sort]);
	}
}

/* --- All of it ------------------------------------------------------------ */

int weir__snapshot_join(struct weir__snapshot *self)
{
	struct weir__places ports;
	struct weir_seen_demand *demand;
	struct weir_seen_actor *actor;
	size_t i, p;

	if (!weir__places_init(&ports, self->allocator, self->ports,
			       sizeof(*self->ports), self->seen.n_ports))
		return -ENOMEM;
	join_demands(self);
	join_objects(self);
	for (i = 0; i < self->seen.n_links; i++)
		self->links[i].from =
			weir__places_find(&ports, self->links[i].from_port);
	for (i = 0; i < self->seen.n_demands; i++) {
		demand = &self->demands[i];
		demand->from = weir__places_find(&ports, demand->from_port);
		demand->to = weir__places_find(&ports, demand->to_port);
		if (demand->to != WEIR_NOWHERE)
			self->ports[demand->to].subscribes = true;
	}
	for (i = 0; i < self->seen.n_actors; i++) {
		actor = &self->actors[i];
		name_ports(&self->ports[actor->port], actor->n_ports);
		for (p = actor->port; p < actor->port + actor->n_ports; p++)
			self->ports[p].group = weir__places_find(
				&ports, self->ports[p].group_port);
	}
	weir__places_fini(&ports);
	self->joined = true;
	return 0;
}
