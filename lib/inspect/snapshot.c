/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking snapshots. Nothing is allocated under a registry's lock: if there is no
 * room for what is seen, the look begins anew with twice as much.
 */
#include "inspect/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include <ck_pr.h>

#include "actor/child_ops.h"
#include "actor/gate.h"
#include "actor/look.h"
#include "actor/port.h"
#include "base/clock.h"
#include "base/memory.h"
#include "executor/living.h"
#include "executor/registry.h"
#include "lane/lane.h"

#define FIRST 64u  /* room for more than are alive */
#define PAGE 4096u /* bytes, or fewer than a page has */

/* A look under way. */
struct taking {
	struct weir__look look; /* first */
	struct weir__snapshot *snapshot;
	bool names; /* are asked for */
	bool full;  /* there was no room */
	bool busy;  /* nor, for a moment, the lock of the actor's system */
	struct weir__rooms rooms;
};

static struct taking *taking_of(struct weir__look *look)
{
	return weir_container_of(look, struct taking, look);
}

void weir__snapshot_add_name(struct weir_seen_actor *actor, const char *part)
{
	size_t n = strlen(actor->name);

	weir__snapshot_name(actor->name + n, sizeof(actor->name) - n, part);
}

/* --- Under the lock ------------------------------------------------------- */

static WEIR__LOOKS void add_link(struct weir__look *look,
				 const struct weir__lane *lane,
				 uint32_t capacity)
{
	struct taking *self = taking_of(look);
	struct weir__snapshot *snapshot = self->snapshot;
	uint32_t word = ck_pr_load_32(weir__lane_tail_at(lane));
	size_t at = snapshot->seen.n_links;
	struct weir_seen_link *link;

	if (at == snapshot->room_links) {
		self->full = true;
		return;
	}
	link = &snapshot->links[at];
	*link = (struct weir_seen_link){
		.from = WEIR_NOWHERE,
		.to = snapshot->seen.n_ports,
		.from_port = (const void *)lane->out,
		.capacity = capacity,
		.items = weir__tail_index(word),
		.ended = weir__tail_ended(word),
		.items_ever = WEIR_UNKNOWN,
		.rate = WEIR_UNKNOWN,
	};
	link->fill = weir__index_diff(link->items, weir__lane_head(lane));
	/* the words are not of one moment: it was emptied meanwhile */
	if (link->fill > capacity)
		link->fill = 0;
	snapshot->seen.n_links++;
}

static void add_demand(struct weir__look *look,
		       const struct weir_seen_demand *half)
{
	struct taking *self = taking_of(look);
	struct weir__snapshot *snapshot = self->snapshot;
	struct weir_seen_demand *demand;

	if (snapshot->seen.n_demands == snapshot->room_demands) {
		self->full = true;
		return;
	}
	demand = &snapshot->demands[snapshot->seen.n_demands++];
	*demand = *half;
	demand->from = demand->to = WEIR_NOWHERE;
}

static void add_object(struct weir__look *look,
		       const struct weir_seen_object *object)
{
	struct taking *self = taking_of(look);
	struct weir__snapshot *snapshot = self->snapshot;

	if (snapshot->seen.n_objects == snapshot->room_objects) {
		self->full = true;
		return;
	}
	look->seen->object = object->object;
	snapshot->objects[snapshot->seen.n_objects++] = *object;
}

static void add_part(struct weir__look *look, const char *name,
		     enum weir_wait awaits)
{
	struct taking *self = taking_of(look);
	struct weir_seen_actor *actor =
		&self->snapshot->actors[self->snapshot->seen.n_actors];

	if (self->names && actor->name[0])
		weir__snapshot_add_name(actor, " < ");
	if (self->names)
		weir__snapshot_add_name(actor, name);
	if (awaits != WEIR_WAIT_NONE)
		actor->wakers |= 1u << awaits;
}

static void add_waits(struct weir__look *look, const struct weir__asked *part)
{
	struct taking *self = taking_of(look);
	struct weir_seen_actor *actor =
		&self->snapshot->actors[self->snapshot->seen.n_actors];

	if (part->name)
		weir__snapshot_name(actor->asked, sizeof(actor->asked),
				    part->name);
	actor->asked_for = part->wait;
	actor->at_ns = part->at_ns;
	actor->fd = part->fd;
	actor->events = part->events;
	actor->other_actor = part->other_actor;
}

/* As weir__port_off(), which the owner may be changing. */
static WEIR__LOOKS bool is_off(const struct weir_port *port)
{
	return port->flags & (WEIR__PORT_IGNORED | WEIR__PORT_ENDED);
}

/* The name that the actor's table has for the port. */
static void see_name(struct weir_seen_port *seen,
		     const struct weir_actor *actor)
{
	const struct weir_port_name *name = actor->ops->port_names;
	ptrdiff_t at = (const char *)seen->port - (const char *)actor;

	for (; name && name->name; name++)
		if (name->offset == at)
			weir__snapshot_name(seen->name, sizeof(seen->name),
					    name->name);
}

static WEIR__LOOKS void see_port(struct taking *self,
				 const struct weir_port *port)
{
	struct weir__snapshot *snapshot = self->snapshot;
	const struct weir__port_ops *ops = weir__port_ops(port);
	const struct weir_port *group = weir__port_group(port);
	size_t at = snapshot->seen.n_ports;
	struct weir_seen_port *seen;

	assert(port->block);
	if (at == snapshot->room_ports) {
		self->full = true;
		return;
	}
	seen = &snapshot->ports[at];
	*seen = (struct weir_seen_port){
		.port = port,
		.actor = snapshot->seen.n_actors,
		.wait = ops->awaits,
		.takes_part = !weir__port_adapts(port) && !is_off(port) &&
			      !(group && is_off(group)),
		.over = port->flags & WEIR__PORT_ENDED,
		.group = WEIR_NOWHERE,
		.group_port = group,
		.at_ns = WEIR_FOREVER,
		.fd = -1,
		.burst = port->burst,
		.since_ns = WEIR_UNKNOWN,
		.shared = WEIR_NOWHERE,
	};
	seen->blocked = seen->takes_part && ck_pr_load_32(port->block);
	see_name(seen, port->actor);
	self->look.seen = seen;
	if (ops->look)
		ops->look(port, &self->look);
	snapshot->seen.n_ports++;
}

enum weir_wait weir__snapshot_wait(uint32_t gate)
{
	if ((gate & WEIR__GATE_SCHEDULED) || weir__gate_ready(gate))
		return WEIR_WAIT_NONE;
	if (gate & WEIR__GATE_SUSPENDED)
		return WEIR_WAIT_RESUME;
	if (gate & WEIR__GATE_SUSPENDED_PARENT)
		return WEIR_WAIT_PARENT;
	if (gate & WEIR__GATE_PORTLESS)
		return WEIR_WAIT_WAKE;
	return WEIR_WAIT_OTHER; /* at a port: see weir__snapshot_waits() */
}

/* A pool, or a process manager, of the actor that is looked at. */
static void add_pool(struct weir__look *look, const struct weir_seen_pool *pool)
{
	struct taking *self = taking_of(look);
	struct weir__snapshot *snapshot = self->snapshot;

	if (snapshot->seen.n_pools == snapshot->rooms.pools) {
		self->rooms.pools = snapshot->room_actors;
		self->full = true;
		return;
	}
	snapshot->pools[snapshot->seen.n_pools] = *pool;
	snapshot->pools[snapshot->seen.n_pools].actor = snapshot->seen.n_actors;
	snapshot->seen.n_pools++;
}

/* What its system knows of the actor. False: the look is over for now. */
static bool see_child(struct taking *self, const struct weir_actor *actor,
		      struct weir_seen_actor *seen)
{
	struct weir__snapshot *snapshot = self->snapshot;
	struct weir_seen_child *child =
		&snapshot->children[snapshot->seen.n_children];
	struct weir__child_look look = {
		.seen = child, .wait = seen->wait, .names = self->names};

	self->full = snapshot->seen.n_children == snapshot->rooms.children;
	if (self->full) {
		self->rooms.children = snapshot->room_actors;
		return false;
	}
	*child = (struct weir_seen_child){
		.actor = snapshot->seen.n_actors,
		.until_ns = WEIR_FOREVER,
	};
	self->busy = !weir__child_ops(actor)->look(actor, &look);
	if (self->busy)
		return false;
	seen->wait = look.wait;
	seen->holder_actor = look.holder;
	if (look.leaves)
		seen->state = WEIR_SEEN_STATE_LEAVING;
	else if (look.starts)
		seen->state = WEIR_SEEN_STATE_STARTING;
	snapshot->seen.n_children++;
	return true;
}

static WEIR__LOOKS bool see_actor(struct weir_task *task, uint64_t id,
				  void *context)
{
	const struct weir_actor *actor =
		weir_container_of(task, struct weir_actor, task);
	struct taking *self = context;
	struct weir__snapshot *snapshot = self->snapshot;
	struct weir_seen_actor *seen;
	struct weir_port *port;
	uint32_t gate;

	/* on its way out, or the one that stands for a run of a flow; or it is
	 * not to be seen */
	if (ck_pr_load_32(&actor->refs) == 0 ||
	    weir_actor_name(actor)[0] == '.')
		return true;
	self->full = snapshot->seen.n_actors == snapshot->room_actors;
	if (self->full)
		return false;
	seen = &snapshot->actors[snapshot->seen.n_actors];
	gate = ck_pr_load_32(&actor->gate);
	*seen = (struct weir_seen_actor){
		.actor = actor,
		.executor = actor->executor,
		.id = id,
		.wait = weir__snapshot_wait(gate),
		.port = snapshot->seen.n_ports,
		.since_ns = WEIR_UNKNOWN,
		/* its row comes when its actors have been seen */
		.home = snapshot->seen.n_executors,
		.at_ns = WEIR_FOREVER,
		.fd = -1,
		.other = WEIR_NOWHERE,
	};
	if (weir__state(actor) > WEIR__STATE_RUNNING)
		seen->state = WEIR_SEEN_STATE_LEAVING;
	if ((gate & WEIR__GATE_CHILD) && !see_child(self, actor, seen))
		return false;
	for (port = weir__port_load(&actor->ports); port && !self->full;
	     port = weir__port_load(&port->next))
		see_port(self, port);
	if (!seen->name[0])
		add_part(&self->look, weir_actor_name(actor), WEIR_WAIT_NONE);
	seen->n_ports = snapshot->seen.n_ports - seen->port;
	if (actor->ops->look)
		actor->ops->look(actor, &self->look);
	snapshot->seen.n_actors++;
	return !self->full;
}

bool weir__snapshot_make_room(struct weir__snapshot *made,
			      const struct weir__rooms *rooms)
{
	const struct weir_allocator *allocator = made->allocator;

	made->rooms = *rooms;
	made->executors = weir__alloc_room(
		allocator, rooms->executors * sizeof(*made->executors));
	made->threads = weir__alloc_room(
		allocator, rooms->threads * sizeof(*made->threads));
	made->children = weir__alloc_room(
		allocator, rooms->children * sizeof(*made->children));
	made->pools = weir__alloc_room(allocator,
				       rooms->pools * sizeof(*made->pools));
	made->seen.executors = made->executors;
	made->seen.threads = made->threads;
	made->seen.children = made->children;
	made->seen.pools = made->pools;
	return made->executors && made->threads && made->children &&
	       made->pools;
}

/* --- Looking -------------------------------------------------------------- */

struct weir__snapshot *weir__snapshot_new(
	const struct weir_allocator *allocator, size_t n_actors)
{
	struct weir__snapshot *made = weir__alloc(allocator, sizeof(*made));

	if (!made)
		return NULL;
	made->allocator = allocator;
	made->room_actors = n_actors;
	made->room_ports = made->room_links = 4 * n_actors;
	made->room_demands = made->room_objects = 2 * n_actors;
	made->actors = weir__alloc_room(
		allocator, made->room_actors * sizeof(*made->actors));
	made->ports = weir__alloc_room(allocator,
				       made->room_ports * sizeof(*made->ports));
	made->links = weir__alloc_room(allocator,
				       made->room_links * sizeof(*made->links));
	made->demands = weir__alloc_room(
		allocator, made->room_demands * sizeof(*made->demands));
	made->objects = weir__alloc_room(
		allocator, made->room_objects * sizeof(*made->objects));
	made->seen.actors = made->actors;
	made->seen.ports = made->ports;
	made->seen.links = made->links;
	made->seen.demands = made->demands;
	made->seen.objects = made->objects;
	if (made->actors && made->ports && made->links && made->demands &&
	    made->objects)
		return made;
	weir_snapshot_free(&made->seen);
	return NULL;
}

void weir_snapshot_free(struct weir_snapshot *seen)
{
	struct weir__snapshot *self = (struct weir__snapshot *)seen;
	const struct weir_allocator *allocator;

	if (!self)
		return;
	allocator = self->allocator;
	weir__free(allocator, self->actors,
		   self->room_actors * sizeof(*self->actors));
	weir__free(allocator, self->ports,
		   self->room_ports * sizeof(*self->ports));
	weir__free(allocator, self->links,
		   self->room_links * sizeof(*self->links));
	weir__free(allocator, self->demands,
		   self->room_demands * sizeof(*self->demands));
	weir__free(allocator, self->objects,
		   self->room_objects * sizeof(*self->objects));
	weir__free(allocator, self->executors,
		   self->rooms.executors * sizeof(*self->executors));
	weir__free(allocator, self->threads,
		   self->rooms.threads * sizeof(*self->threads));
	weir__free(allocator, self->children,
		   self->rooms.children * sizeof(*self->children));
	weir__free(allocator, self->pools,
		   self->rooms.pools * sizeof(*self->pools));
	weir__free(allocator, self->causes,
		   self->room_actors * sizeof(*self->causes));
	weir__free(allocator, self, sizeof(*self));
}

/* Of an array with so much room, n entries that come next. */
static void touch(void *array, size_t size, size_t next, size_t room, size_t n)
{
	volatile char *from = (char *)array + next * size;
	size_t end = (room - next < n ? room - next : n) * size, at;

	for (at = 0; at < end; at += PAGE)
		from[at] = 0;
	if (end > 0)
		from[end - 1] = 0;
}

/* What the next look fills has its pages before it has the lock. */
static void touch_next(struct weir__snapshot *self)
{
	size_t n = WEIR__COLLECTED;

	touch(self->actors, sizeof(*self->actors), self->seen.n_actors,
	      self->room_actors, n);
	touch(self->ports, sizeof(*self->ports), self->seen.n_ports,
	      self->room_ports, 4 * n);
	touch(self->links, sizeof(*self->links), self->seen.n_links,
	      self->room_links, 4 * n);
}

static void look_at(struct weir_executor *executor, struct taking *taking)
{
	struct weir__registry *registry = executor->registry;
	uint32_t index = 0;

	weir__registry_look_begin(registry);
	touch_next(taking->snapshot);
	while (weir__registry_look(registry, &index, see_actor, taking) &&
	       !taking->full) {
		touch_next(taking->snapshot);
		/* Who has that lock may wait for the registry's, which is free
		 * now: see actor/child_ops.h. */
		if (taking->busy)
			(void)sched_yield();
		taking->busy = false;
	}
	weir__registry_look_end(registry);
	if (taking->full || weir__snapshot_executor(taking->snapshot, executor))
		return;
	taking->rooms.threads *= 4;
	taking->full = true;
}

/* It is one of those before it: the workers of a pool are the pool. */
static bool was_seen(struct weir_executor *const *executors, size_t i)
{
	size_t j = 0;

	while (executors[j]->registry != executors[i]->registry)
		j++;
	return j < i;
}

static size_t room_for(struct weir_executor *const *executors, size_t n)
{
	size_t room = FIRST, i;

	for (i = 0; i < n; i++)
		room += weir_executor_alive(executors[i]);
	return room;
}

/* Empty, with so much room; the one before is freed. NULL: no memory. */
static struct weir__snapshot *anew(struct weir__snapshot *before,
				   const struct weir_allocator *allocator,
				   size_t room, const struct weir__rooms *rooms)
{
	struct weir__snapshot *made;

	weir_snapshot_free(before ? &before->seen : NULL);
	made = weir__snapshot_new(allocator, room);
	if (!made || weir__snapshot_make_room(made, rooms))
		return made;
	weir_snapshot_free(&made->seen);
	return NULL;
}

static void forget(struct weir__snapshot *self)
{
	self->seen.n_actors = 0;
	self->seen.n_ports = self->seen.n_links = 0;
	self->seen.n_demands = self->seen.n_objects = 0;
	self->seen.n_executors = self->seen.n_threads = 0;
	self->seen.n_children = self->seen.n_pools = 0;
	self->joined = false;
}

/* All of these. */
static int look_at_these(struct weir__snapshot **at,
			 struct weir_executor *const *executors, size_t n,
			 const struct weir_allocator *allocator, bool names)
{
	/* of nothing an allocator might make NULL */
	const struct weir__rooms first = {n + 1, FIRST, FIRST, FIRST};
	struct taking taking = {
		.look = {.link = add_link,
			 .part = add_part,
			 .waits = add_waits,
			 .demand = add_demand,
			 .object = add_object,
			 .pool = add_pool},
		.snapshot = *at,
		.names = names,
		.full = !*at || (*at)->rooms.executors <= n,
		.rooms = *at ? (*at)->rooms : first,
	};
	size_t room = *at ? (*at)->room_actors : room_for(executors, n), i;

	if (taking.rooms.executors <= n)
		taking.rooms.executors = n + 1;
	for (;;) {
		if (taking.full)
			*at = taking.snapshot =
				anew(*at, allocator, room, &taking.rooms);
		if (!*at)
			return -ENOMEM;
		taking.full = false;
		forget(*at);
		for (i = 0; i < n && !taking.full; i++)
			if (!was_seen(executors, i))
				look_at(executors[i], &taking);
		if (!taking.full)
			return 0;
		/* others than actors and what they have have asked for more */
		if (memcmp(&taking.rooms, &(*at)->rooms,
			   sizeof(taking.rooms)) == 0)
			room *= 2;
	}
}

/* All that live in the process, which are held meanwhile. */
static int look_at_living(struct weir__snapshot **at, bool names)
{
	const struct weir_allocator *allocator = weir_allocator_default();
	struct weir_executor **executors = NULL;
	size_t room = 0, n;
	int rc;

	while ((n = weir__living_hold(executors, room)) > room) {
		weir__free(allocator, executors, room * sizeof(*executors));
		room = n + 8;
		executors = weir__alloc(allocator, room * sizeof(*executors));
		if (!executors)
			return -ENOMEM;
	}
	rc = look_at_these(at, executors, n, allocator, names);
	weir__living_let_go(executors, n);
	weir__free(allocator, executors, room * sizeof(*executors));
	return rc;
}

int weir__snapshot_look(struct weir__snapshot **at,
			struct weir_executor *const *executors, size_t n,
			bool names)
{
	if (n == 0)
		return look_at_living(at, names);
	return look_at_these(at, executors, n, executors[0]->options.allocator,
			     names);
}

/* --- Comparing ----------------------------------------------------------- */

/* Nor when it was taken, or what moved, is known. */
static void know_nothing(struct weir__snapshot *self)
{
	self->seen.now_ns = self->seen.moved_ns = WEIR_UNKNOWN;
	self->seen.window_ns = self->seen.period_ns = WEIR_UNKNOWN;
}

void weir__snapshot_waits(struct weir__snapshot *self)
{
	struct weir_seen_actor *actor;
	size_t i, p;

	for (i = 0; i < self->seen.n_actors; i++) {
		actor = &self->actors[i];
		for (p = actor->port; actor->wait == WEIR_WAIT_OTHER &&
				      p < actor->port + actor->n_ports;
		     p++)
			if (self->ports[p].blocked)
				actor->wait = self->ports[p].wait;
	}
}

int weir__snapshot_connect(struct weir__snapshot *self)
{
	int rc = weir__snapshot_join(self);

	weir__snapshot_mend(self);
	if (rc == 0)
		rc = weir__snapshot_runs(self);
	if (rc == 0)
		rc = weir__snapshot_holders(self);
	if (rc < 0)
		return rc;
	weir__snapshot_waits(self);
	return 0;
}

int weir__snapshot_finish(struct weir__snapshot *self)
{
	int rc = weir__snapshot_connect(self);

	if (rc < 0)
		return rc;
	weir__snapshot_due(self);
	know_nothing(self);
	return weir__snapshot_causes(self);
}

static bool same_actor(const struct weir_seen_actor *a,
		       const struct weir_seen_actor *b)
{
	return a->actor == b->actor && a->wait == b->wait &&
	       a->n_ports == b->n_ports;
}

static bool same_port(const struct weir_seen_port *a,
		      const struct weir_seen_port *b)
{
	return a->port == b->port && a->takes_part == b->takes_part &&
	       a->blocked == b->blocked && a->at_ns == b->at_ns;
}

static bool same_link(const struct weir_seen_link *a,
		      const struct weir_seen_link *b)
{
	return a->from_port == b->from_port && a->items == b->items &&
	       a->fill == b->fill && a->ended == b->ended;
}

static bool same_demand(const struct weir_seen_demand *a,
			const struct weir_seen_demand *b)
{
	return a->subscription == b->subscription &&
	       a->requested == b->requested && a->sent == b->sent;
}

static bool same_object(const struct weir_seen_object *a,
			const struct weir_seen_object *b)
{
	return a->object == b->object && a->fill == b->fill &&
	       a->takers == b->takers && a->putters == b->putters &&
	       a->ended == b->ended;
}

bool weir__snapshot_same(const struct weir_snapshot *a,
			 const struct weir_snapshot *b)
{
	bool same = a->n_actors == b->n_actors && a->n_ports == b->n_ports &&
		    a->n_links == b->n_links && a->n_demands == b->n_demands &&
		    a->n_objects == b->n_objects;
	size_t i;

	for (i = 0; same && i < a->n_actors; i++)
		same = same_actor(&a->actors[i], &b->actors[i]);
	for (i = 0; same && i < a->n_ports; i++)
		same = same_port(&a->ports[i], &b->ports[i]);
	for (i = 0; same && i < a->n_links; i++)
		same = same_link(&a->links[i], &b->links[i]);
	for (i = 0; same && i < a->n_demands; i++)
		same = same_demand(&a->demands[i], &b->demands[i]);
	for (i = 0; same && i < a->n_objects; i++)
		same = same_object(&a->objects[i], &b->objects[i]);
	return same;
}

static int settle(struct weir__snapshot *self,
		  struct weir_executor *const *executors, size_t n,
		  uint64_t settle_ns)
{
	const struct timespec time = weir__clock_timespec(settle_ns);
	struct weir__snapshot *later = NULL;
	int rc;

	nanosleep(&time, NULL);
	rc = weir__snapshot_look(&later, executors, n, false);
	if (rc < 0)
		return rc;
	self->seen.settled = weir__snapshot_same(&self->seen, &later->seen);
	weir__snapshot_stays(self, &later->seen);
	weir_snapshot_free(&later->seen);
	return 0;
}

int weir__snapshot_check(struct weir_executor *const *executors, size_t n)
{
	size_t i;

	if (!executors != !n)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (!executors[i])
			return -EINVAL;
	return weir__thread.holds ? -EDEADLK : 0;
}

int weir_snapshot_new(struct weir_snapshot **snapshot,
		      struct weir_executor *const *executors, size_t n,
		      uint64_t settle_ns)
{
	struct weir__snapshot *made = NULL;
	int rc;

	if (!snapshot)
		return -EINVAL;
	*snapshot = NULL;
	rc = weir__snapshot_check(executors, n);
	if (rc == 0)
		rc = weir__snapshot_look(&made, executors, n, true);
	if (rc == 0 && settle_ns)
		rc = settle(made, executors, n, settle_ns);
	if (rc == 0)
		rc = weir__snapshot_finish(made);
	if (rc < 0) {
		weir_snapshot_free(made ? &made->seen : NULL);
		return rc;
	}
	*snapshot = &made->seen;
	return 0;
}

size_t weir_snapshot_find(const struct weir_snapshot *snapshot,
			  const struct weir_actor *actor)
{
	size_t i;

	for (i = 0; snapshot && i < snapshot->n_actors; i++)
		if (snapshot->actors[i].actor == actor)
			return i;
	return WEIR_NOWHERE;
}
