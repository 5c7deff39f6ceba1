/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why an actor waits. Actors and what they wait for are a graph; each actor's
 * cause is one way in it, to the worst root that it has to wait for: a cycle is
 * worse than a root inside the program, which is worse than the outside world.
 * Where an actor needs all of several, the worst counts; where one is enough, the
 * best does. The graph is walked once, depth first, without recursion.
 */
#include "inspect/snapshot.h"

#include <errno.h>

#include "base/memory.h"

/* What the walk knows of an actor. */
enum colour { WHITE, GREY, BLACK };

struct search {
	struct weir__snapshot *snapshot;
	uint8_t *colours;
	/* the actors under way, each with the link to look at next */
	size_t *stack, *cursors, depth;
	/* of each port, its first link as a producer, and of each link the next
	 * one from the same port; WEIR_NOWHERE: none */
	size_t *first, *next;
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

/* Of a port's links the next behind `link`, WEIR_NOWHERE: the first one. */
static size_t next_link(const struct search *search, size_t port, size_t link)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t first, n;

	if (seen->ports[port].wait != WEIR_WAIT_INPUT)
		return link == WEIR_NOWHERE ? search->first[port]
					    : search->next[link];
	if (link == WEIR_NOWHERE) {
		first = weir__snapshot_links(seen, port, &n);
		return n ? first : WEIR_NOWHERE;
	}
	link++;
	return link < seen->n_links && seen->links[link].to == port
		       ? link
		       : WEIR_NOWHERE;
}

/* The port holds its actor back by that link. */
static bool holds_back(const struct weir_snapshot *seen, size_t port,
		       size_t link)
{
	const struct weir_seen_link *of = &seen->links[link];

	if (seen->ports[port].wait == WEIR_WAIT_INPUT)
		return !of->ended && of->fill < seen->ports[port].burst;
	return of->capacity - of->fill < seen->ports[port].burst;
}

/* The actor at the other end, or WEIR_NOWHERE. */
static size_t far_end(const struct weir_snapshot *seen, size_t port,
		      size_t link)
{
	size_t other = seen->ports[port].wait == WEIR_WAIT_INPUT
			       ? seen->links[link].from
			       : seen->links[link].to;

	return other == WEIR_NOWHERE ? other : seen->ports[other].actor;
}

/* The actor waits at that port for other actors. */
static bool waits_for_others(const struct weir_snapshot *seen, size_t port)
{
	enum weir_wait wait = seen->ports[port].wait;

	return seen->ports[port].blocked &&
	       (wait == WEIR_WAIT_INPUT || wait == WEIR_WAIT_ROOM);
}

static bool waits_at_ports(const struct weir_snapshot *seen, size_t actor)
{
	size_t p;

	switch (seen->actors[actor].wait) {
	case WEIR_WAIT_NONE:
	case WEIR_WAIT_WAKE:
	case WEIR_WAIT_RESUME:
	case WEIR_WAIT_PARENT:
		return false;
	default:
		break;
	}
	for (p = 0; p < seen->actors[actor].n_ports; p++)
		if (seen->ports[seen->actors[actor].port + p].blocked)
			return true;
	return false;
}

/* --- Ranks ---------------------------------------------------------------- */

/* Of a port that waits for no other actor. */
static enum weir__rank own_rank(enum weir_wait wait)
{
	return wait == WEIR_WAIT_INPUT || wait == WEIR_WAIT_FD
		       ? WEIR__RANK_OUTSIDE
		       : WEIR__RANK_INSIDE;
}

static enum weir__rank rank_of(const struct search *search, size_t actor)
{
	if (search->colours[actor] == GREY)
		return WEIR__RANK_CYCLE;
	return search->snapshot->causes[actor].rank;
}

/* `found` takes the place of `cause`: it is the first, or worse, or better. */
static bool replaces(const struct weir__cause *found,
		     const struct weir__cause *cause, bool best)
{
	if (cause->port == WEIR_NOWHERE)
		return true;
	return best ? found->rank < cause->rank : found->rank > cause->rank;
}

static struct weir__cause cause_at(const struct search *search, size_t port)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	struct weir__cause cause = {.port = WEIR_NOWHERE}, found = {0};
	size_t link = WEIR_NOWHERE;

	while (waits_for_others(seen, port) &&
	       (link = next_link(search, port, link)) != WEIR_NOWHERE) {
		if (!holds_back(seen, port, link))
			continue;
		found.port = port;
		found.next = far_end(seen, port, link);
		found.rank = found.next == WEIR_NOWHERE
				     ? WEIR__RANK_OUTSIDE
				     : rank_of(search, found.next);
		if (replaces(&found, &cause, seen->ports[port].one_link))
			cause = found;
	}
	if (cause.port == WEIR_NOWHERE)
		cause = (struct weir__cause){
			.port = port,
			.next = WEIR_NOWHERE,
			.rank = own_rank(seen->ports[port].wait),
		};
	return cause;
}

/* Of the members of a group one is enough. */
static struct weir__cause cause_of_group(const struct search *search,
					 size_t group)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	const struct weir_seen_actor *actor =
		&seen->actors[seen->ports[group].actor];
	struct weir__cause cause = {.port = WEIR_NOWHERE}, found = {0};
	size_t p;

	for (p = actor->port; p < actor->port + actor->n_ports; p++) {
		if (seen->ports[p].group != group || !seen->ports[p].blocked)
			continue;
		found = cause_at(search, p);
		if (replaces(&found, &cause, true))
			cause = found;
	}
	if (cause.port == WEIR_NOWHERE)
		cause = (struct weir__cause){.port = group,
					     .next = WEIR_NOWHERE,
					     .rank = WEIR__RANK_INSIDE};
	return cause;
}

/* Each actor that this one waits for is known, or under way. */
static struct weir__cause cause_of(const struct search *search, size_t actor)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	const struct weir_seen_actor *it = &seen->actors[actor];
	struct weir__cause cause = {.port = WEIR_NOWHERE}, found = {0};
	size_t p;

	if (!waits_at_ports(seen, actor))
		return (struct weir__cause){.port = WEIR_NOWHERE,
					    .next = WEIR_NOWHERE,
					    .rank = WEIR__RANK_INSIDE};
	for (p = it->port; p < it->port + it->n_ports; p++) {
		if (!seen->ports[p].blocked ||
		    seen->ports[p].group != WEIR_NOWHERE)
			continue;
		found = seen->ports[p].wait == WEIR_WAIT_OTHER
				? cause_of_group(search, p)
				: cause_at(search, p);
		if (replaces(&found, &cause, false))
			cause = found;
	}
	return cause;
}

/* --- The walk ------------------------------------------------------------- */

static void push(struct search *search, size_t actor)
{
	search->colours[actor] = GREY;
	search->stack[search->depth] = actor;
	search->cursors[search->depth] = search->snapshot->actors[actor].port;
	search->depth++;
}

/* The next actor that this one waits for and that is not known; ports are looked
 * at from the cursor on. */
static size_t next_unknown(const struct search *search, size_t actor,
			   size_t *cursor)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t end = seen->actors[actor].port + seen->actors[actor].n_ports;
	size_t link, other;

	if (!waits_at_ports(seen, actor))
		return WEIR_NOWHERE;
	for (; *cursor < end; ++*cursor) {
		link = WEIR_NOWHERE;
		while (waits_for_others(seen, *cursor) &&
		       (link = next_link(search, *cursor, link)) !=
			       WEIR_NOWHERE) {
			other = far_end(seen, *cursor, link);
			if (holds_back(seen, *cursor, link) &&
			    other != WEIR_NOWHERE &&
			    search->colours[other] == WHITE)
				return other;
		}
	}
	return WEIR_NOWHERE;
}

/* The actors behind it on its way are known, or it closes a cycle. */
static void find_root(const struct search *search, size_t actor)
{
	struct weir__cause *causes = search->snapshot->causes;
	size_t next = causes[actor].next;

	if (next == WEIR_NOWHERE)
		causes[actor].root = actor;
	else if (search->colours[next] == GREY)
		causes[actor].root = next;
	else
		causes[actor].root = causes[next].root;
}

static void walk_from(struct search *search, size_t start)
{
	size_t actor, other;

	if (search->colours[start] != WHITE)
		return;
	push(search, start);
	while (search->depth > 0) {
		actor = search->stack[search->depth - 1];
		other = next_unknown(search, actor,
				     &search->cursors[search->depth - 1]);
		if (other != WEIR_NOWHERE) {
			push(search, other);
			continue;
		}
		search->snapshot->causes[actor] = cause_of(search, actor);
		find_root(search, actor);
		search->colours[actor] = BLACK;
		search->depth--;
	}
}

/* --- Who is held up ------------------------------------------------------- */

/* It has items that it could take, and does not run. */
static bool has_items(const struct weir_snapshot *seen, size_t actor)
{
	const struct weir_seen_actor *it = &seen->actors[actor];
	size_t p, first, n, i;

	for (p = it->port; p < it->port + it->n_ports; p++) {
		first = weir__snapshot_links(seen, p, &n);
		for (i = first; i < first + n; i++)
			if (seen->links[i].fill >= seen->ports[p].burst)
				return true;
	}
	return false;
}

static bool is_stuck(const struct weir__snapshot *self, size_t actor)
{
	const struct weir__cause *cause = &self->causes[actor];

	if (self->seen.actors[actor].wait == WEIR_WAIT_NONE)
		return false;
	if (cause->next != WEIR_NOWHERE &&
	    self->seen.ports[cause->port].wait == WEIR_WAIT_ROOM)
		return true;
	return has_items(&self->seen, actor);
}

static void count_stuck(struct weir__snapshot *self)
{
	size_t i;

	for (i = 0; i < self->seen.n_actors; i++)
		if (is_stuck(self, i))
			self->causes[self->causes[i].root].n_stuck++;
}

/* --- All of it ------------------------------------------------------------ */

static void chain_links(struct search *search)
{
	const struct weir_snapshot *seen = &search->snapshot->seen;
	size_t i, from;

	for (i = 0; i < seen->n_ports; i++)
		search->first[i] = WEIR_NOWHERE;
	for (i = seen->n_links; i-- > 0;) {
		from = seen->links[i].from;
		if (from == WEIR_NOWHERE)
			continue;
		search->next[i] = search->first[from];
		search->first[from] = i;
	}
}

int weir__snapshot_causes(struct weir__snapshot *snapshot)
{
	const struct weir_allocator *allocator = snapshot->allocator;
	size_t actors = snapshot->room_actors, i;
	struct search search = {.snapshot = snapshot};
	int rc = -ENOMEM;

	snapshot->causes =
		weir__alloc(allocator, actors * sizeof(*snapshot->causes));
	search.colours = weir__alloc(allocator, actors);
	search.stack = weir__alloc(allocator, actors * sizeof(size_t));
	search.cursors = weir__alloc(allocator, actors * sizeof(size_t));
	search.first =
		weir__alloc(allocator, snapshot->room_ports * sizeof(size_t));
	search.next =
		weir__alloc(allocator, snapshot->room_links * sizeof(size_t));
	if (snapshot->causes && search.colours && search.stack &&
	    search.cursors && search.first && search.next) {
		chain_links(&search);
		for (i = 0; i < snapshot->seen.n_actors; i++)
			walk_from(&search, i);
		count_stuck(snapshot);
		rc = 0;
	}
	weir__free(allocator, search.colours, actors);
	weir__free(allocator, search.stack, actors * sizeof(size_t));
	weir__free(allocator, search.cursors, actors * sizeof(size_t));
	weir__free(allocator, search.first,
		   snapshot->room_ports * sizeof(size_t));
	weir__free(allocator, search.next,
		   snapshot->room_links * sizeof(size_t));
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
