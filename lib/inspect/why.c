/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why an actor waits. Actors and what they wait for are a graph: an *edge* goes
 * from a port that holds its actor back to an actor that could unblock it, or to
 * nobody, which is the outside world. An actor waits for all its ports; a port
 * waits for all its edges, or for any one of them, where one is enough. An actor
 * that waits at no port may have an edge itself, as to its *holder*: it counts as a
 * port of its own, behind all others.
 *
 * 1  A *root* waits for no other actor, and has a rank of its own. A port is
 *    *met* at a rank when enough of what it waits for has that rank or a lower
 *    one, an actor when all its ports are. All that is met at the lowest rank is
 *    found first, from the roots up, then what is met at the next one. So the
 *    rank of an actor is the worst of what it needs, of which the best counts
 *    where one is enough. Each edge is looked at once.
 * 2  What is left then is a cycle, or waits for one. But an actor may be left that
 *    waits for input alone, while an operator of its waits for a time or for a
 *    descriptor: what that one holds can go on, so the actor is a root, too. All
 *    that is met from such roots is no cycle.
 * 3  The cause of an actor is an edge to an actor of the same rank which was met
 *    before it. So the way of causes ends at a root; but in a cycle it stays
 *    there.
 * 4  A subscriber that has been sent all it has requested is a root of its own,
 *    whatever its actor waits for beside: what it requests it need not take. So
 *    an edge to it is met with the roots, and it is the cause of its actor
 *    before other ports: the way from that edge ends there.
 */
#include "inspect/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>

#include "base/memory.h"

/* Ports at an object that are looked at for one that waits there. */
#define MOST_AT_OBJECT 64u

struct edge {
	size_t port;
	size_t actor; /* WEIR_NOWHERE: outside */
	size_t next;  /* edge to the same actor, or WEIR_NOWHERE */
	bool asks;    /* claim 4 */
};

struct search {
	struct weir__snapshot *snapshot;
	size_t *words; /* what all the arrays are of */
	size_t n_words;
	struct edge *edges; /* in the order of their ports; NULL: counted yet */
	size_t n_edges;
	size_t n_ports; /* with the actors */
	/* of each port: its first edge, and of the one behind it; how many of
	 * them it still waits for, of a weir_any its members, and once it is met
	 * which one it was met by, or itself; the rank at which it was met; the
	 * next port at the same object */
	size_t *first, *left, *met, *beside;
	/* of each actor: the first edge to it, how many ports it still waits
	 * for, and its place among those that were met; and these */
	size_t *to, *ports_left, *place, *queue;
	size_t n_queue;
	size_t *at; /* of each object, a port */
};

/* --- Links ---------------------------------------------------------------- */

size_t weir__snapshot_links(const struct weir_snapshot *snapshot, size_t port,
			    size_t *n)
{
	size_t low = 0, high = snapshot->n_links, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (snapshot->links[mid].to < port)
			low = mid + 1;
		else
			high = mid;
	}
	for (*n = 0; low + *n < snapshot->n_links &&
		     snapshot->links[low + *n].to == port;)
		++*n;
	return low;
}

/* --- What holds a port back ------------------------------------------------ */

/* If one of them is blocked. */
static bool waits_at_blocked(const struct weir_snapshot *seen, size_t actor)
{
	switch (seen->actors[actor].wait) {
	case WEIR_WAIT_NONE:
	case WEIR_WAIT_WAKE:
	case WEIR_WAIT_RESUME:
	case WEIR_WAIT_THREAD:
		return false;
	default:
		return !weir__wait_halted(seen->actors[actor].wait);
	}
}

static bool waits_at_ports(const struct weir_snapshot *seen, size_t actor)
{
	size_t p;

	if (!waits_at_blocked(seen, actor))
		return false;
	for (p = 0; p < seen->actors[actor].n_ports; p++)
		if (seen->ports[seen->actors[actor].port + p].blocked)
			return true;
	return false;
}

/* The actor waits for another one that no port of its stands for. */
static bool waits_for_holder(const struct weir_snapshot *seen, size_t actor)
{
	return seen->actors[actor].holder != WEIR_NOWHERE &&
	       seen->actors[actor].wait != WEIR_WAIT_NONE &&
	       !waits_at_ports(seen, actor);
}

static size_t actor_of(const struct weir_snapshot *seen, size_t port)
{
	return port == WEIR_NOWHERE ? port : seen->ports[port].actor;
}

static bool blocked_for(const struct weir_snapshot *seen, size_t port,
			enum weir_wait wait)
{
	return port != WEIR_NOWHERE && seen->ports[port].blocked &&
	       seen->ports[port].wait == wait;
}

/* Called twice: the first time edges are counted, NULL, and then they are made. */
static struct edge *add_edge(struct search *search, size_t port, size_t actor)
{
	struct edge *edge;

	if (!search->edges) {
		search->first[port + 1]++;
		search->n_edges++;
		return NULL;
	}
	edge = &search->edges[search->first[port] + search->left[port]++];
	*edge = (struct edge){
		.port = port, .actor = actor, .next = WEIR_NOWHERE};
	if (actor == WEIR_NOWHERE)
		return edge;
	edge->next = search->to[actor];
	search->to[actor] = (size_t)(edge - search->edges);
	return edge;
}

static void add_link(struct search *search, const struct weir_seen_link *link)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	uint32_t room = link->capacity - link->fill;

	if (blocked_for(seen, link->to, WEIR_WAIT_INPUT) && !link->ended &&
	    link->fill < seen->ports[link->to].burst &&
	    !(link->from_port == NULL && seen->ports[link->to].subscribes))
		(void)add_edge(search, link->to, actor_of(seen, link->from));
	if ((blocked_for(seen, link->from, WEIR_WAIT_ROOM) ||
	     blocked_for(seen, link->from, WEIR_WAIT_DEMAND)) &&
	    room < seen->ports[link->from].burst)
		(void)add_edge(search, link->from, actor_of(seen, link->to));
}

/* A subscriber that has requested no more waits for nobody. */
static void add_demand(struct search *search,
		       const struct weir_seen_demand *demand)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	bool owes = demand->requested > demand->sent;
	struct edge *edge;

	if (blocked_for(seen, demand->from, WEIR_WAIT_DEMAND) && !owes) {
		edge = add_edge(search, demand->from,
				actor_of(seen, demand->to));
		if (edge)
			edge->asks =
				blocked_for(seen, demand->to, WEIR_WAIT_INPUT);
	}
	if (blocked_for(seen, demand->to, WEIR_WAIT_INPUT) &&
	    (owes || !demand->subscription))
		(void)add_edge(search, demand->to,
			       actor_of(seen, demand->from));
}

/* It has what the port waits for, or could bring it: a permit, or items or room
 * of a channel, or it is at the channel's other side. */
static bool could_give(const struct weir_seen_port *port,
		       const struct weir_seen_port *other)
{
	if (other == port)
		return false;
	return other->held > 0 ||
	       (port->wait == WEIR_WAIT_CHANNEL && port->takes != other->takes);
}

static void add_object_edges(struct search *search, size_t port)
{
	const struct weir_seen_port *ports = search->snapshot->ports;
	size_t other = search->at[ports[port].shared], n;

	for (n = 0; other != WEIR_NOWHERE && n < MOST_AT_OBJECT; n++) {
		if (could_give(&ports[port], &ports[other]))
			(void)add_edge(search, port, ports[other].actor);
		other = search->beside[other];
	}
}

/* A process manager at its `max` waits for one of its processes. */
static void add_place(struct search *search, size_t port)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t actor = seen->ports[port].actor;

	if (blocked_for(seen, port, WEIR_WAIT_PERMIT) &&
	    seen->actors[actor].holder != WEIR_NOWHERE &&
	    weir__snapshot_full_pool(seen, actor))
		(void)add_edge(search, port, seen->actors[actor].holder);
}

/* Of an actor that waits at no port. */
static void add_own_edge(struct search *search, size_t actor)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	const struct weir_seen_actor *it = &seen->actors[actor];

	if (waits_for_holder(seen, actor))
		(void)add_edge(search, seen->n_ports + actor, it->holder);
	else if (it->wait == WEIR_WAIT_WAKE && it->other != WEIR_NOWHERE)
		(void)add_edge(search, seen->n_ports + actor, it->other);
}

static void add_edges(struct search *search)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t i;

	for (i = 0; i < seen->n_actors; i++)
		add_own_edge(search, i);
	for (i = 0; i < seen->n_links; i++)
		add_link(search, &seen->links[i]);
	for (i = 0; i < seen->n_demands; i++)
		add_demand(search, &seen->demands[i]);
	if (seen->n_objects == 0 && seen->n_pools == 0)
		return;
	for (i = 0; i < seen->n_ports; i++) {
		if (seen->ports[i].blocked &&
		    seen->ports[i].shared != WEIR_NOWHERE)
			add_object_edges(search, i);
		add_place(search, i);
	}
}

/* --- Ranks ---------------------------------------------------------------- */

/* Of a port that waits for no other actor. */
static enum weir__rank own_rank(const struct weir_snapshot *seen, size_t port)
{
	const struct weir_seen_port *of = &seen->ports[port];

	switch (of->wait) {
	case WEIR_WAIT_FD:
		return WEIR__RANK_OUTSIDE;
	case WEIR_WAIT_INPUT:
		/* it could request */
		return of->subscribes ? WEIR__RANK_INSIDE : WEIR__RANK_OUTSIDE;
	case WEIR_WAIT_CHANNEL:
		return of->takes ? WEIR__RANK_OUTSIDE : WEIR__RANK_INSIDE;
	default:
		return WEIR__RANK_INSIDE;
	}
}

/* Of an actor that waits at no port. */
static enum weir__rank actor_rank(const struct weir_seen_actor *actor)
{
	return actor->wait == WEIR_WAIT_WAKE &&
			       (actor->asked_for == WEIR_WAIT_INPUT ||
				actor->asked_for == WEIR_WAIT_FD)
		       ? WEIR__RANK_OUTSIDE
		       : WEIR__RANK_INSIDE;
}

/* Of an edge to the outside. */
static enum weir__rank outside_rank(const struct weir_snapshot *seen,
				    size_t port)
{
	return seen->ports[port].wait == WEIR_WAIT_INPUT ? WEIR__RANK_OUTSIDE
							 : WEIR__RANK_INSIDE;
}

/* What the edge leads to waits for nobody. */
static bool is_met_at(const struct weir_snapshot *seen, const struct edge *edge,
		      enum weir__rank rank)
{
	if (edge->asks)
		return rank == WEIR__RANK_INSIDE;
	return edge->actor == WEIR_NOWHERE &&
	       outside_rank(seen, edge->port) == rank;
}

static bool one_is_enough(const struct weir_snapshot *seen, size_t port)
{
	return port < seen->n_ports &&
	       (seen->ports[port].one_link ||
		seen->ports[port].shared != WEIR_NOWHERE);
}

/* The actor that the port is of. */
static size_t owner_of(const struct weir_snapshot *seen, size_t port)
{
	return port < seen->n_ports ? seen->ports[port].actor
				    : port - seen->n_ports;
}

static bool has_edges(const struct search *search, size_t port)
{
	return search->first[port] < search->first[port + 1];
}

static void meet_actor(struct search *search, size_t actor,
		       enum weir__rank rank)
{
	search->snapshot->causes[actor].rank = rank;
	search->place[actor] = search->n_queue;
	search->queue[search->n_queue++] = actor;
}

static void meet_port(struct search *search, size_t port, enum weir__rank rank)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t actor = owner_of(seen, port), by = port;

	for (;; by = port, port = seen->ports[port].group) {
		if (search->met[port] != WEIR__RANK_CYCLE)
			return;
		search->met[port] = rank;
		search->left[port] = by;
		if (port >= seen->n_ports ||
		    seen->ports[port].group == WEIR_NOWHERE)
			break;
	}
	if (--search->ports_left[actor] == 0 &&
	    search->snapshot->causes[actor].rank == WEIR__RANK_CYCLE)
		meet_actor(search, actor, rank);
}

static void meet_edge(struct search *search, const struct edge *edge,
		      enum weir__rank rank)
{
	if (search->met[edge->port] != WEIR__RANK_CYCLE)
		return;
	if (--search->left[edge->port] == 0 ||
	    one_is_enough(&search->snapshot->seen, edge->port))
		meet_port(search, edge->port, rank);
}

/* What an actor waits for itself: not in a group of which one is enough. */
static bool is_needed(const struct search *search, size_t port)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;

	return seen->ports[port].blocked &&
	       seen->ports[port].group == WEIR_NOWHERE &&
	       waits_at_blocked(seen, seen->ports[port].actor);
}

/* Counts what is to be met. */
static void begin(struct search *search)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t i;

	for (i = 0; i < search->n_ports; i++)
		search->met[i] = WEIR__RANK_CYCLE;
	for (i = 0; i < seen->n_actors; i++) {
		search->snapshot->causes[i] = (struct weir__cause){
			.rank = WEIR__RANK_CYCLE,
		};
		if (has_edges(search, seen->n_ports + i))
			search->ports_left[i]++;
	}
	for (i = 0; i < seen->n_ports; i++) {
		if (is_needed(search, i))
			search->ports_left[seen->ports[i].actor]++;
		if (seen->ports[i].blocked &&
		    seen->ports[i].group != WEIR_NOWHERE)
			search->left[seen->ports[i].group]++;
	}
}

/* The roots of this rank. */
static void meet_roots(struct search *search, enum weir__rank rank)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t i, e;

	for (i = 0; i < seen->n_actors; i++)
		if (search->ports_left[i] == 0 &&
		    search->snapshot->causes[i].rank == WEIR__RANK_CYCLE &&
		    actor_rank(&seen->actors[i]) == rank)
			meet_actor(search, i, rank);
	for (i = 0; i < seen->n_ports; i++) {
		if (!seen->ports[i].blocked ||
		    !waits_at_blocked(seen, seen->ports[i].actor))
			continue;
		if (search->left[i] == 0 && own_rank(seen, i) == rank)
			meet_port(search, i, rank);
		for (e = search->first[i]; e < search->first[i + 1]; e++)
			if (is_met_at(seen, &search->edges[e], rank))
				meet_edge(search, &search->edges[e], rank);
	}
}

/* Who waits for those that were met from `done` on. */
static void meet_behind(struct search *search, size_t done,
			enum weir__rank rank)
{
	size_t e;

	for (; done < search->n_queue; done++)
		for (e = search->to[search->queue[done]]; e != WEIR_NOWHERE;
		     e = search->edges[e].next)
			meet_edge(search, &search->edges[e], rank);
}

static void meet_all(struct search *search, enum weir__rank rank)
{
	size_t done = search->n_queue;

	meet_roots(search, rank);
	meet_behind(search, done, rank);
}

/* At its ports it waits for input, and one of its operators for something else. */
static bool could_wake(const struct weir_snapshot *seen, size_t actor)
{
	const struct weir_seen_actor *it = &seen->actors[actor];
	size_t p;

	if (!waits_at_ports(seen, actor) ||
	    !((it->asked_for == WEIR_WAIT_TIME && it->at_ns != WEIR_FOREVER) ||
	      (it->asked_for == WEIR_WAIT_FD && it->fd >= 0)))
		return false;
	for (p = it->port; p < it->port + it->n_ports; p++)
		if (seen->ports[p].blocked &&
		    seen->ports[p].wait != WEIR_WAIT_INPUT)
			return false;
	return true;
}

/* Claim 2. From now on they wait at no port. */
static void meet_wakers(struct search *search)
{
	struct weir__snapshot *snapshot = search->snapshot;
	size_t done = search->n_queue, i;

	for (i = 0; i < snapshot->seen.n_actors; i++)
		if (snapshot->causes[i].rank == WEIR__RANK_CYCLE &&
		    could_wake(&snapshot->seen, i)) {
			snapshot->actors[i].wait = WEIR_WAIT_WAKE;
			meet_actor(search, i, WEIR__RANK_INSIDE);
		}
	meet_behind(search, done, WEIR__RANK_INSIDE);
}

/* --- Causes ---------------------------------------------------------------- */

/* Claim 3. */
static bool is_cause(const struct search *search, size_t actor,
		     const struct edge *edge, enum weir__rank rank)
{
	const struct weir__cause *causes = search->snapshot->causes;

	if (edge->asks || edge->actor == WEIR_NOWHERE)
		return is_met_at(&search->snapshot->seen, edge, rank);
	return causes[edge->actor].rank == rank &&
	       (rank == WEIR__RANK_CYCLE ||
		search->place[edge->actor] < search->place[actor]);
}

/* The actor that the port waits for; WEIR_NOWHERE: none. */
static size_t next_of(const struct search *search, size_t port,
		      enum weir__rank rank)
{
	size_t actor = owner_of(&search->snapshot->seen, port), e;

	for (e = search->first[port]; e < search->first[port + 1]; e++)
		if (is_cause(search, actor, &search->edges[e], rank))
			return search->edges[e].actor;
	return WEIR_NOWHERE;
}

/* Of a weir_any, the member that met it, or one in a cycle; or itself. */
static size_t member_of(const struct search *search, size_t group)
{
	const struct weir__snapshot *self = search->snapshot;
	const struct weir_seen_actor *actor =
		&self->actors[self->ports[group].actor];
	size_t p;

	if (search->met[group] != WEIR__RANK_CYCLE)
		return search->left[group];
	for (p = actor->port; p < actor->port + actor->n_ports; p++)
		if (self->ports[p].group == group && self->ports[p].blocked)
			return p;
	return group;
}

/* Claim 4. */
static bool could_request(const struct search *search, size_t port)
{
	return search->snapshot->ports[port].subscribes &&
	       !has_edges(search, port);
}

/* The port at which the actor waits for the worst. That its output has no room
 * counts before that it has no input. */
static size_t worst_port(const struct search *search, size_t actor)
{
	const struct weir__snapshot *self = search->snapshot;
	const struct weir_seen_actor *of = &self->actors[actor];
	size_t found = WEIR_NOWHERE, p;

	for (p = of->port; p < of->port + of->n_ports; p++) {
		if (!is_needed(search, p) ||
		    search->met[p] != self->causes[actor].rank)
			continue;
		if (could_request(search, p))
			return p;
		if (found == WEIR_NOWHERE ||
		    (self->ports[found].wait == WEIR_WAIT_INPUT &&
		     self->ports[p].wait != WEIR_WAIT_INPUT))
			found = p;
	}
	return found;
}

static void find_cause(const struct search *search, size_t actor)
{
	struct weir__cause *cause = &search->snapshot->causes[actor];
	size_t itself = search->snapshot->seen.n_ports + actor;

	cause->port = worst_port(search, actor);
	cause->next = cause->root = WEIR_NOWHERE;
	if (has_edges(search, itself))
		cause->next = next_of(search, itself, cause->rank);
	if (cause->port == WEIR_NOWHERE)
		return;
	cause->port = member_of(search, cause->port);
	cause->next = next_of(search, cause->port, cause->rank);
	assert(cause->rank != WEIR__RANK_CYCLE || cause->next != WEIR_NOWHERE);
}

#define ON_WAY (WEIR_NOWHERE - 1)

/* Goes along the way up to where the root is known, or to the root. */
static void find_root(struct weir__cause *causes, size_t actor)
{
	size_t at = actor, root;

	while (causes[at].root == WEIR_NOWHERE) {
		causes[at].root = ON_WAY;
		if (causes[at].next == WEIR_NOWHERE)
			break;
		at = causes[at].next;
	}
	root = causes[at].root == ON_WAY ? at : causes[at].root;
	for (at = actor; at != WEIR_NOWHERE && causes[at].root == ON_WAY;
	     at = causes[at].next)
		causes[at].root = root;
}

/* --- Who is held up ------------------------------------------------------- */

/* It has items that it could take, and does not run. Its first link is that one, if
 * any ends at it. */
static bool has_items(const struct weir_snapshot *seen, size_t actor,
		      size_t first)
{
	size_t behind = seen->actors[actor].port + seen->actors[actor].n_ports;
	size_t i;

	for (i = first; i < seen->n_links && seen->links[i].to < behind; i++)
		if (seen->links[i].fill >= seen->ports[seen->links[i].to].burst)
			return true;
	return false;
}

/* It waits for more items, or for bytes. */
static bool wants_items(const struct weir_snapshot *seen, size_t actor)
{
	const struct weir_seen_actor *it = &seen->actors[actor];
	const struct weir_seen_port *port;

	for (port = &seen->ports[it->port];
	     port < &seen->ports[it->port + it->n_ports]; port++)
		if (port->blocked &&
		    (port->wait == WEIR_WAIT_INPUT ||
		     (port->wait == WEIR_WAIT_FD && port->events & POLLIN) ||
		     (port->wait == WEIR_WAIT_CHANNEL && port->takes)))
			return true;
	return false;
}

/* The operator that was asked last has something that does not go on: what it
 * waits for is not what is to come. */
static bool wants_out(const struct weir_seen_actor *actor, bool for_other)
{
	switch (actor->asked_for) {
	case WEIR_WAIT_PERMIT:
		return true;
	case WEIR_WAIT_FD:
		return weir__waits_to_write(actor);
	case WEIR_WAIT_INPUT:
		return false;
	default:
		return for_other;
	}
}

/* Others stop it from doing what it could. */
static bool is_stuck(const struct weir__snapshot *self, size_t actor,
		     size_t first_link)
{
	const struct weir__cause *cause = &self->causes[actor];
	enum weir_wait wait = self->seen.actors[actor].wait;

	if (wait == WEIR_WAIT_NONE)
		return false;
	if (wait == WEIR_WAIT_THREAD || weir__wait_halted(wait) ||
	    waits_for_holder(&self->seen, actor) ||
	    has_items(&self->seen, actor, first_link))
		return true;
	if (wants_items(&self->seen, actor))
		return false;
	if (cause->port == WEIR_NOWHERE)
		return wait == WEIR_WAIT_WAKE &&
		       wants_out(&self->seen.actors[actor],
				 cause->next != WEIR_NOWHERE);
	switch (self->seen.ports[cause->port].wait) {
	case WEIR_WAIT_ROOM:
	case WEIR_WAIT_DEMAND:
	case WEIR_WAIT_LINK:
	case WEIR_WAIT_PERMIT:
	case WEIR_WAIT_CHANNEL:
	case WEIR_WAIT_FD:
		return true;
	default:
		return false;
	}
}

static void count_stuck(struct weir__snapshot *self)
{
	size_t i, link = 0;

	for (i = 0; i < self->seen.n_actors; i++) {
		while (link < self->seen.n_links &&
		       self->links[link].to < self->actors[i].port)
			link++;
		if (is_stuck(self, i, link))
			self->causes[self->causes[i].root].n_stuck++;
	}
}

/* --- All of it ------------------------------------------------------------ */

static size_t *carve(size_t **words, size_t n)
{
	size_t *carved = *words;

	*words += n;
	return carved;
}

static int make_room(struct search *search)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t *words;

	search->n_ports = seen->n_ports + seen->n_actors;
	search->n_words = 4 * seen->n_actors + 3 * search->n_ports +
			  seen->n_ports + seen->n_objects + 1;
	search->words = words =
		weir__alloc(search->snapshot->allocator,
			    search->n_words * sizeof(*search->words));
	if (!words)
		return -ENOMEM;
	search->first = carve(&words, search->n_ports + 1);
	search->left = carve(&words, search->n_ports);
	search->met = carve(&words, search->n_ports);
	search->beside = carve(&words, seen->n_ports);
	search->to = carve(&words, seen->n_actors);
	search->ports_left = carve(&words, seen->n_actors);
	search->place = carve(&words, seen->n_actors);
	search->queue = carve(&words, seen->n_actors);
	search->at = carve(&words, seen->n_objects);
	return 0;
}

/* The ports at each object. */
static void chain_ports(struct search *search)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t i, object;

	for (i = 0; i < seen->n_objects; i++)
		search->at[i] = WEIR_NOWHERE;
	if (seen->n_objects == 0)
		return;
	for (i = seen->n_ports; i-- > 0;) {
		object = seen->ports[i].shared;
		if (object == WEIR_NOWHERE)
			continue;
		search->beside[i] = search->at[object];
		search->at[object] = i;
	}
}

static int make_edges(struct search *search)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t i;

	for (i = 0; i < seen->n_actors; i++)
		search->to[i] = WEIR_NOWHERE;
	add_edges(search);
	for (i = 0; i < search->n_ports; i++)
		search->first[i + 1] += search->first[i];
	search->edges =
		weir__alloc(search->snapshot->allocator,
			    (search->n_edges + 1) * sizeof(*search->edges));
	if (!search->edges)
		return -ENOMEM;
	add_edges(search);
	return 0;
}

static void find_causes(struct search *search)
{
	struct weir__snapshot *snapshot = search->snapshot;
	size_t i;

	begin(search);
	meet_all(search, WEIR__RANK_OUTSIDE);
	meet_all(search, WEIR__RANK_INSIDE);
	meet_wakers(search);
	for (i = 0; i < snapshot->seen.n_actors; i++)
		find_cause(search, i);
	for (i = 0; i < snapshot->seen.n_actors; i++)
		find_root(snapshot->causes, i);
	count_stuck(snapshot);
}

int weir__snapshot_causes(struct weir__snapshot *snapshot)
{
	const struct weir_allocator *allocator = snapshot->allocator;
	struct search search = {.snapshot = snapshot};
	int rc = make_room(&search);

	snapshot->causes = weir__alloc_room(
		allocator, snapshot->room_actors * sizeof(*snapshot->causes));
	if (!snapshot->causes)
		rc = -ENOMEM;
	if (rc == 0) {
		chain_ports(&search);
		rc = make_edges(&search);
	}
	if (rc == 0)
		find_causes(&search);
	weir__free(allocator, search.words,
		   search.n_words * sizeof(*search.words));
	weir__free(allocator, search.edges,
		   (search.n_edges + 1) * sizeof(*search.edges));
	return rc;
}

/* --- Telling -------------------------------------------------------------- */

/* How many actors there are on the way from that one, of a cycle each once: R. P.
 * Brent, "An improved Monte Carlo factorization algorithm" (1980). */
static size_t n_on_way(const struct weir__cause *causes, size_t actor)
{
	size_t power = 1, cycle = 1, mark = actor, at = causes[actor].next, n;

	for (n = 1; at != WEIR_NOWHERE && at != mark; n++, cycle++) {
		if (cycle == power) {
			mark = at;
			power *= 2;
			cycle = 0;
		}
		at = causes[at].next;
	}
	if (at == WEIR_NOWHERE)
		return n;
	at = actor;
	for (n = 0; n < cycle; n++)
		at = causes[at].next;
	for (; at != actor; n++) {
		at = causes[at].next;
		actor = causes[actor].next;
	}
	return n;
}

size_t weir_snapshot_why(const struct weir_snapshot *snapshot, size_t actor,
			 struct weir_reason *reasons, size_t n)
{
	const struct weir__cause *causes, *cause;
	size_t count, i;

	if (!snapshot || actor >= snapshot->n_actors || (n && !reasons))
		return 0;
	causes = ((const struct weir__snapshot *)snapshot)->causes;
	count = n_on_way(causes, actor);
	for (i = 0; i < count && i < n; i++) {
		cause = &causes[actor];
		reasons[i] = (struct weir_reason){
			.actor = actor,
			.port = cause->port,
			.wait = cause->port == WEIR_NOWHERE
					? snapshot->actors[actor].wait
					: snapshot->ports[cause->port].wait,
			.next = cause->next,
			.since_ns = weir__snapshot_since(snapshot, actor,
							 cause->port),
		};
		actor = cause->next;
	}
	return count;
}
