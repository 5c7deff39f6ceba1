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

#include "base/memory.h"

/* The order of their addresses. */
static int compare(const void *one, const void *other)
{
	return ((uintptr_t)one > (uintptr_t)other) -
	       ((uintptr_t)one < (uintptr_t)other);
}

/* --- Ports ---------------------------------------------------------------- */

static int by_port(const void *one, const void *other)
{
	const struct weir_seen_port *const *a = one, *const *b = other;

	return compare((*a)->port, (*b)->port);
}

/* The ports in the order of their addresses. */
static const struct weir_seen_port **sorted(const struct weir__snapshot *self)
{
	size_t n = self->seen.n_ports, i;
	const struct weir_seen_port **ports =
		weir__alloc(self->allocator, self->room_ports * sizeof(*ports));

	if (!ports)
		return NULL;
	for (i = 0; i < n; i++)
		ports[i] = &self->ports[i];
	qsort(ports, n, sizeof(*ports), by_port);
	return ports;
}

static size_t find(const struct weir__snapshot *self,
		   const struct weir_seen_port **ports,
		   const struct weir_port *port)
{
	const struct weir_seen_port key = {.port = port}, *wanted = &key;
	const struct weir_seen_port **found;

	if (!port)
		return WEIR_NOWHERE;
	found = bsearch(&wanted, ports, self->seen.n_ports, sizeof(*ports),
			by_port);
	return found ? (size_t)(*found - self->ports) : WEIR_NOWHERE;
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
	char number[20];
	size_t i;

	for (i = 0; i < n; i++)
		if (weir__snapshot_port_name(ports[i].wait))
			all[sort_of(ports[i].wait)]++;
	for (i = 0; i < n; i++) {
		if (!weir__snapshot_port_name(ports[i].wait))
			continue;
		sort = sort_of(ports[i].wait);
		so_far[sort]++;
		if (ports[i].name[0])
			continue;
		number[0] = '\0';
		if (all[sort] > 1)
			(void)snprintf(number, sizeof(number), "%zu",
				       so_far[sort]);
		(void)snprintf(ports[i].name, sizeof(ports[i].name), "%s%s",
			       port_names[sort], number);
	}
}

static size_t find_actor(const struct weir__snapshot *self,
			 const struct weir_actor *actor)
{
	size_t i;

	for (i = 0; actor && i < self->seen.n_actors; i++)
		if (self->actors[i].actor == actor)
			return i;
	return WEIR_NOWHERE;
}

/* --- All of it ------------------------------------------------------------ */

int weir__snapshot_join(struct weir__snapshot *self)
{
	const struct weir_seen_port **ports = sorted(self);
	struct weir_seen_demand *demand;
	struct weir_seen_actor *actor;
	struct weir_seen_port *port;
	size_t i;

	if (!ports)
		return -ENOMEM;
	join_demands(self);
	join_objects(self);
	for (i = 0; i < self->seen.n_links; i++)
		self->links[i].from =
			find(self, ports, self->links[i].from_port);
	for (i = 0; i < self->seen.n_demands; i++) {
		demand = &self->demands[i];
		demand->from = find(self, ports, demand->from_port);
		demand->to = find(self, ports, demand->to_port);
		if (demand->to != WEIR_NOWHERE)
			self->ports[demand->to].subscribes = true;
	}
	for (i = 0; i < self->seen.n_ports; i++) {
		port = &self->ports[i];
		if (port->group_port)
			port->group = find(self, ports, port->group_port);
	}
	for (i = 0; i < self->seen.n_actors; i++) {
		actor = &self->actors[i];
		name_ports(&self->ports[actor->port], actor->n_ports);
		actor->other = find_actor(self, actor->other_actor);
	}
	weir__free(self->allocator, ports, self->room_ports * sizeof(*ports));
	self->joined = true;
	return 0;
}
