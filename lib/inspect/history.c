/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers in the code are those of history.h. */
#include "inspect/history.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/memory.h"

#define INDEX_MASK UINT32_C(0x7fffffff) /* items are counted modulo 2^31 */
#define AHEAD UINT32_C(0x40000000)	/* claim 1 */

/* --- Memory --------------------------------------------------------------- */

static void free_pasts(const struct weir_allocator *allocator,
		       struct weir__pasts *pasts)
{
	weir__free(allocator, pasts->actors,
		   pasts->room_actors * sizeof(*pasts->actors));
	weir__free(allocator, pasts->ports,
		   pasts->room_ports * sizeof(*pasts->ports));
	weir__free(allocator, pasts->links,
		   pasts->room_links * sizeof(*pasts->links));
	*pasts = (struct weir__pasts){0};
}

/* Makes it as large as the snapshot may become. What was there is lost. */
static int make_room(const struct weir_allocator *allocator,
		     struct weir__pasts *pasts,
		     const struct weir__snapshot *snapshot)
{
	if (pasts->room_actors >= snapshot->seen.n_actors &&
	    pasts->room_ports >= snapshot->seen.n_ports &&
	    pasts->room_links >= snapshot->seen.n_links)
		return 0;
	free_pasts(allocator, pasts);
	pasts->actors = weir__alloc(allocator, snapshot->room_actors *
						       sizeof(*pasts->actors));
	pasts->ports = weir__alloc(allocator, snapshot->room_ports *
						      sizeof(*pasts->ports));
	pasts->links = weir__alloc(allocator, snapshot->room_links *
						      sizeof(*pasts->links));
	pasts->room_actors = snapshot->room_actors;
	pasts->room_ports = snapshot->room_ports;
	pasts->room_links = snapshot->room_links;
	if (pasts->actors && pasts->ports && pasts->links)
		return 0;
	free_pasts(allocator, pasts);
	return -ENOMEM;
}

void weir__history_init(struct weir__history *self,
			const struct weir_allocator *allocator,
			uint64_t window_ns)
{
	*self = (struct weir__history){
		.allocator = allocator,
		.window_ns = window_ns,
	};
}

void weir__history_fini(struct weir__history *self)
{
	free_pasts(self->allocator, &self->now);
	free_pasts(self->allocator, &self->spare);
	weir__free(self->allocator, self->table,
		   self->n_table * sizeof(*self->table));
}

/* --- Who was there -------------------------------------------------------- */

static bool same_actors(const struct weir__pasts *pasts,
			const struct weir_snapshot *seen)
{
	const struct weir_seen_actor *actor;
	const struct weir__actor_past *past;
	size_t i;

	for (i = 0; i < seen->n_actors; i++) {
		actor = &seen->actors[i];
		past = &pasts->actors[i];
		if (past->actor != actor->actor || past->id != actor->id ||
		    past->executor != actor->executor ||
		    past->port != actor->port ||
		    past->n_ports != actor->n_ports)
			return false;
	}
	return true;
}

/* The same of everything, in the same order. */
static bool all_same(const struct weir__pasts *pasts,
		     const struct weir_snapshot *seen)
{
	size_t i;

	if (pasts->n_actors != seen->n_actors ||
	    pasts->n_ports != seen->n_ports ||
	    pasts->n_links != seen->n_links || !same_actors(pasts, seen))
		return false;
	for (i = 0; i < seen->n_ports; i++)
		if (pasts->ports[i].port != seen->ports[i].port)
			return false;
	for (i = 0; i < seen->n_links; i++) {
		const struct weir_seen_link *link = &seen->links[i];
		size_t first = pasts->ports[link->to].link;

		if (pasts->links[i].from_port != link->from_port || i < first ||
		    i - first >= pasts->ports[link->to].n_links)
			return false;
	}
	return true;
}

static size_t place_of(const struct weir__history *self, const void *actor,
		       uint64_t id)
{
	uint64_t hash = ((uint64_t)(uintptr_t)actor ^ id << 7) *
			UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32) & (self->n_table - 1);
}

static int fill_table(struct weir__history *self)
{
	const struct weir__pasts *pasts = &self->now;
	size_t n = 64, i, at;

	while (n < 2 * pasts->n_actors)
		n *= 2;
	if (n > self->n_table) {
		weir__free(self->allocator, self->table,
			   self->n_table * sizeof(*self->table));
		self->n_table = n;
		self->table =
			weir__alloc(self->allocator, n * sizeof(*self->table));
		if (!self->table) {
			self->n_table = 0;
			return -ENOMEM;
		}
	}
	memset(self->table, 0, self->n_table * sizeof(*self->table));
	for (i = 0; i < pasts->n_actors; i++) {
		at = place_of(self, pasts->actors[i].actor,
			      pasts->actors[i].id);
		while (self->table[at])
			at = (at + 1) & (self->n_table - 1);
		self->table[at] = i + 1;
	}
	return 0;
}

/* NULL: it was not there. */
static const struct weir__actor_past *past_of(
	const struct weir__history *self, const struct weir_seen_actor *actor)
{
	size_t at = place_of(self, actor->actor, actor->id);
	const struct weir__actor_past *past;

	for (; self->table[at]; at = (at + 1) & (self->n_table - 1)) {
		past = &self->now.actors[self->table[at] - 1];
		if (past->actor == actor->actor && past->id == actor->id &&
		    past->executor == actor->executor)
			return past;
	}
	return NULL;
}

/* --- A look that finds others --------------------------------------------- */

/* Of `n` links from `first` on the one from that port, from `*cursor` on, which
 * goes on behind it; NULL: none. They mostly are in the order of before. */
static const struct weir__link_past *past_link(const struct weir__pasts *pasts,
					       size_t first, size_t n,
					       size_t *cursor,
					       const struct weir_port *from)
{
	const struct weir__link_past *past;
	size_t i;

	for (i = 0; i < n; i++) {
		past = &pasts->links[first + (*cursor + i) % n];
		if (past->from_port != from)
			continue;
		*cursor = (*cursor + i + 1) % n;
		return past;
	}
	return NULL;
}

static const struct weir__port_past *past_port(
	const struct weir__pasts *pasts, const struct weir__actor_past *actor,
	size_t *cursor, const struct weir_port *port)
{
	const struct weir__port_past *past;
	size_t i, n = actor ? actor->n_ports : 0;

	for (i = 0; i < n; i++) {
		past = &pasts->ports[actor->port + (*cursor + i) % n];
		if (past->port != port)
			continue;
		*cursor = (*cursor + i + 1) % n;
		return past;
	}
	return NULL;
}

/* The links that end in the port `p` of the snapshot, from self->spare.n_links
 * on. */
static void take_links(struct weir__history *self,
		       const struct weir_snapshot *seen, size_t p,
		       const struct weir__port_past *before)
{
	struct weir__pasts *after = &self->spare;
	const struct weir__link_past *past;
	struct weir__link_past *made;
	size_t cursor = 0;

	after->ports[p].link = after->n_links;
	for (; after->n_links < seen->n_links &&
	       seen->links[after->n_links].to == p;
	     after->n_links++) {
		const struct weir_seen_link *link =
			&seen->links[after->n_links];

		made = &after->links[after->n_links];
		past = before ? past_link(&self->now, before->link,
					  before->n_links, &cursor,
					  link->from_port)
			      : NULL;
		*made = past ? *past
			     : (struct weir__link_past){
				       .from_port = link->from_port,
				       .ever = WEIR_UNKNOWN,
			       };
		made->from = link->from;
	}
	after->ports[p].n_links = after->n_links - after->ports[p].link;
}

static void take_actor(struct weir__history *self,
		       const struct weir_snapshot *seen, size_t i)
{
	const struct weir_seen_actor *actor = &seen->actors[i];
	const struct weir__actor_past *before = past_of(self, actor);
	struct weir__actor_past *made = &self->spare.actors[i];
	const struct weir__port_past *past;
	size_t p, cursor = 0;

	*made = before ? *before
		       : (struct weir__actor_past){.since_ns = WEIR_UNKNOWN};
	made->actor = actor->actor;
	made->executor = actor->executor;
	made->id = actor->id;
	made->port = actor->port;
	made->n_ports = actor->n_ports;
	for (p = actor->port; p < actor->port + actor->n_ports; p++) {
		past = past_port(&self->now, before, &cursor,
				 seen->ports[p].port);
		self->spare.ports[p] =
			past ? *past
			     : (struct weir__port_past){
				       .port = seen->ports[p].port,
				       .since_ns = WEIR_UNKNOWN,
			       };
		self->spare.ports[p].group = seen->ports[p].group;
		take_links(self, seen, p, past);
	}
}

/* Whom the snapshot has takes over what is known of him. */
static int take_over(struct weir__history *self,
		     struct weir__snapshot *snapshot)
{
	const struct weir_snapshot *seen = &snapshot->seen;
	struct weir__pasts before = self->now;
	int rc = make_room(self->allocator, &self->spare, snapshot);
	size_t i;

	if (rc == 0)
		rc = fill_table(self);
	if (rc < 0)
		return rc;
	self->spare.n_links = 0;
	for (i = 0; i < seen->n_actors; i++)
		take_actor(self, seen, i);
	assert(self->spare.n_links == seen->n_links);
	self->spare.n_actors = seen->n_actors;
	self->spare.n_ports = seen->n_ports;
	self->now = self->spare;
	self->spare = before;
	return 0;
}

/* Nobody has come or gone: what was connected still is. */
static void connect_as_before(const struct weir__history *self,
			      struct weir__snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < snapshot->seen.n_ports; i++)
		snapshot->ports[i].group = self->now.ports[i].group;
	for (i = 0; i < snapshot->seen.n_links; i++)
		snapshot->links[i].from = self->now.links[i].from;
}

/* --- What has changed ----------------------------------------------------- */

static uint32_t taken(uint32_t items, uint32_t fill)
{
	return (items - fill) & INDEX_MASK;
}

static void start_link(struct weir__link_past *past,
		       const struct weir_seen_link *link, uint64_t now_ns)
{
	past->ever = past->began = link->items;
	past->began_ns = now_ns;
	past->high = link->fill;
	past->whole = false;
}

/* True: something has moved. */
static bool see_link(struct weir__history *self,
		     const struct weir_seen_link *link, size_t i,
		     uint64_t now_ns)
{
	struct weir__link_past *past = &self->now.links[i];
	struct weir__port_past *to = &self->now.ports[link->to];
	struct weir__port_past *from = link->from == WEIR_NOWHERE
					       ? NULL
					       : &self->now.ports[link->from];
	uint32_t more = (link->items - past->items) & INDEX_MASK;
	bool anew = past->ever == WEIR_UNKNOWN || more >= AHEAD;
	bool put = anew || more > 0;
	bool took = anew || taken(link->items, link->fill) !=
				    taken(past->items, past->fill);
	bool moved = put || took || link->ended != past->ended;

	if (anew)
		start_link(past, link, now_ns);
	else
		past->ever += more;
	if (link->fill > past->high)
		past->high = link->fill;
	past->items = link->items;
	past->fill = link->fill;
	past->ended = link->ended;
	to->ran |= took && !anew;
	to->fed |= moved;
	if (from) {
		from->ran |= put && !anew;
		from->fed |= moved;
	}
	return moved;
}

/* What is sent by one port is requested by the other. */
static void add_demand(struct weir__history *self,
		       const struct weir_seen_demand *demand)
{
	if (demand->from != WEIR_NOWHERE) {
		self->now.ports[demand->from].sent_now +=
			(uint64_t)demand->sent;
		self->now.ports[demand->from].requested_now +=
			(uint64_t)demand->requested;
	}
	if (demand->to != WEIR_NOWHERE) {
		self->now.ports[demand->to].sent_now += (uint64_t)demand->sent;
		self->now.ports[demand->to].requested_now +=
			(uint64_t)demand->requested;
	}
}

/* Who sends puts, and who requests takes. */
static void see_demands(struct weir__port_past *past,
			const struct weir_seen_port *port)
{
	bool sent = past->sent_now != past->sent;
	bool requested = past->requested_now != past->requested;

	past->ran |= port->subscribes ? requested : sent;
	past->fed |= sent || requested;
	past->sent = past->sent_now;
	past->requested = past->requested_now;
	past->sent_now = past->requested_now = 0;
}

/* What an actor's ports have seen. */
struct news {
	bool moved; /* something is as it was not */
	bool ran;   /* the actor has */
	bool fed;   /* others have, who put there or take from there */
	size_t at;  /* the first port that is blocked, of the actor's own */
};

static void see_port(struct weir__port_past *past,
		     const struct weir_seen_port *port, uint64_t now_ns,
		     struct news *news)
{
	bool armed = past->at_ns != port->at_ns;
	bool turned = past->blocked != port->blocked ||
		      past->takes_part != port->takes_part;

	see_demands(past, port);
	if (past->ran || armed || turned || past->since_ns == WEIR_UNKNOWN) {
		past->since_ns = now_ns;
		news->moved = true;
	}
	news->ran |= past->ran || armed;
	news->fed |= past->fed || turned;
	past->at_ns = port->at_ns;
	past->blocked = port->blocked;
	past->takes_part = port->takes_part;
	past->ran = past->fed = false;
}

/* What a port that is blocked says of its actor's time. */
static uint8_t state_at(const struct weir_seen_port *port)
{
	switch (port->wait) {
	case WEIR_WAIT_ROOM:
	case WEIR_WAIT_DEMAND:
		return WEIR__HELD;
	case WEIR_WAIT_INPUT:
		return WEIR__IDLE;
	case WEIR_WAIT_FD:
		return port->events & POLLIN ? WEIR__IDLE : WEIR__HELD;
	case WEIR_WAIT_CHANNEL:
		return port->takes ? WEIR__IDLE : WEIR__HELD;
	default:
		return WEIR__BLOCKED;
	}
}

/* Operators that wait for nothing but what comes from outside. */
static bool is_idle(uint32_t wakers)
{
	return wakers &&
	       !(wakers & ~(1u << WEIR_WAIT_INPUT | 1u << WEIR_WAIT_FD));
}

/* Who has no room is held up, also if there is nothing to do; who has nothing
 * to do is idle, also if it could not do it. */
static uint8_t state_of(const struct weir_snapshot *seen,
			const struct weir_seen_actor *actor)
{
	uint8_t state = WEIR__BLOCKED, at;
	size_t p;

	if (actor->wait == WEIR_WAIT_NONE)
		return WEIR__BUSY;
	if (weir__waits_to_write(actor))
		return WEIR__HELD;
	if (actor->wait == WEIR_WAIT_WAKE)
		return is_idle(actor->wakers) ? WEIR__IDLE : WEIR__BLOCKED;
	if (actor->wait == WEIR_WAIT_RESUME || weir__wait_halted(actor->wait))
		return WEIR__BLOCKED;
	for (p = actor->port; p < actor->port + actor->n_ports; p++) {
		if (!seen->ports[p].blocked)
			continue;
		at = state_at(&seen->ports[p]);
		if (at < state)
			state = at;
	}
	return state;
}

/* It waits at ports, so that it matters which one is the first. */
static bool waits_at_ports(enum weir_wait wait)
{
	return wait != WEIR_WAIT_NONE && wait != WEIR_WAIT_WAKE &&
	       wait != WEIR_WAIT_RESUME && wait != WEIR_WAIT_PARENT;
}

static struct news see_ports(struct weir__history *self,
			     const struct weir_snapshot *seen,
			     const struct weir_seen_actor *actor,
			     uint64_t now_ns)
{
	struct news news = {.at = WEIR_NOWHERE};
	size_t p;

	for (p = 0; p < actor->n_ports; p++) {
		const struct weir_seen_port *port =
			&seen->ports[actor->port + p];

		see_port(&self->now.ports[actor->port + p], port, now_ns,
			 &news);
		if (port->blocked && news.at == WEIR_NOWHERE &&
		    waits_at_ports(actor->wait))
			news.at = p;
	}
	return news;
}

/* Until when an actor waits whose operators wait for nothing else;
 * WEIR_FOREVER: not known. */
static uint64_t due_of(const struct weir_seen_actor *actor)
{
	return actor->wait == WEIR_WAIT_WAKE &&
			       actor->wakers == 1u << WEIR_WAIT_TIME &&
			       actor->asked_for == WEIR_WAIT_TIME
		       ? actor->at_ns
		       : WEIR_FOREVER;
}

static bool see_actor(struct weir__history *self,
		      const struct weir_snapshot *seen, size_t i,
		      uint64_t now_ns)
{
	const struct weir_seen_actor *actor = &seen->actors[i];
	struct weir__actor_past *past = &self->now.actors[i];
	struct news news = see_ports(self, seen, actor, now_ns);
	bool fresh = past->since_ns == WEIR_UNKNOWN;

	if (!fresh)
		past->ns[past->state] += now_ns - self->now_ns; /* claim 2 */
	if (fresh || news.ran || past->wait != actor->wait ||
	    past->at != news.at) {
		past->since_ns = now_ns;
		past->told = false;
		news.moved = true;
	}
	if (news.moved || news.fed)
		past->asked = false;
	past->wait = actor->wait;
	past->at = news.at;
	past->due_ns = due_of(actor);
	past->state = state_of(seen, actor);
	return news.moved;
}

/* --- Windows: claim 4 ----------------------------------------------------- */

/* Thousandths, which make 1000; false: no time has passed. */
static bool share_out(const uint64_t ns[WEIR__STATES],
		      uint16_t shares[WEIR__STATES])
{
	uint64_t total = 0, so_far = 0, given = 0, upto;
	unsigned shift = 0;
	size_t i;

	for (i = 0; i < WEIR__STATES; i++)
		total += ns[i];
	if (total == 0)
		return false;
	while (total >> shift >> 54) /* 2^54 * 1000 are below 2^64 */
		shift++;
	total >>= shift;
	for (i = 0; i < WEIR__STATES; i++) {
		so_far += ns[i];
		upto = (so_far >> shift) * 1000 / total;
		shares[i] = (uint16_t)(upto - given);
		given = upto;
	}
	return true;
}

static uint64_t rate_of(const struct weir__link_past *past, uint64_t now_ns)
{
	if (now_ns <= past->began_ns)
		return WEIR_UNKNOWN;
	return (uint64_t)((double)(past->ever - past->began) * 1e12 /
			  (double)(now_ns - past->began_ns));
}

static void end_window(struct weir__history *self, uint64_t now_ns)
{
	struct weir__actor_past *actor;
	struct weir__link_past *link;
	size_t i;

	for (i = 0; i < self->now.n_actors; i++) {
		actor = &self->now.actors[i];
		actor->whole |= share_out(actor->ns, actor->shares);
		memset(actor->ns, 0, sizeof(actor->ns));
	}
	for (i = 0; i < self->now.n_links; i++) {
		link = &self->now.links[i];
		if (now_ns == link->began_ns)
			continue;
		link->rate = rate_of(link, now_ns);
		link->whole = true;
		link->began = link->ever;
		link->began_ns = now_ns;
	}
	self->whole_ns = now_ns - self->window_at_ns;
	self->window_at_ns = now_ns;
}

/* --- The interface -------------------------------------------------------- */

int weir__history_feed(struct weir__history *self,
		       struct weir__snapshot *snapshot, uint64_t now_ns)
{
	const struct weir_snapshot *seen = &snapshot->seen;
	bool moved = !all_same(&self->now, seen);
	int rc = 0;
	size_t i;

	if (!snapshot->joined && (moved || seen->n_demands > 0))
		rc = weir__snapshot_join(snapshot);
	if (rc == 0 && moved)
		rc = take_over(self, snapshot);
	if (rc < 0)
		return rc;
	if (!snapshot->joined)
		connect_as_before(self, snapshot);
	if (!self->any)
		self->now_ns = self->moved_ns = self->window_at_ns = now_ns;
	if (now_ns < self->now_ns)
		now_ns = self->now_ns;
	for (i = 0; i < seen->n_demands; i++)
		add_demand(self, &seen->demands[i]);
	for (i = 0; i < seen->n_links; i++)
		moved |= see_link(self, &seen->links[i], i, now_ns);
	for (i = 0; i < seen->n_actors; i++)
		moved |= see_actor(self, seen, i, now_ns);
	for (i = 0; i < seen->n_children; i++)
		if (seen->children[i].until_ns != WEIR_FOREVER)
			self->now.actors[seen->children[i].actor].due_ns =
				seen->children[i].until_ns;
	self->still = self->any && !moved;
	if (moved)
		self->moved_ns = now_ns;
	self->now_ns = now_ns;
	self->any = true;
	if (now_ns - self->window_at_ns >= self->window_ns)
		end_window(self, now_ns);
	return 0;
}

static void tell_shares(const struct weir__actor_past *past,
			struct weir_seen_actor *actor)
{
	uint16_t partly[WEIR__STATES] = {0};
	const uint16_t *shares = past->shares;

	if (!past->whole) {
		(void)share_out(past->ns, partly);
		shares = partly;
	}
	actor->busy = shares[WEIR__BUSY];
	actor->held = shares[WEIR__HELD];
	actor->idle = shares[WEIR__IDLE];
	actor->blocked = shares[WEIR__BLOCKED];
}

void weir__history_tell(const struct weir__history *self,
			struct weir__snapshot *snapshot)
{
	uint64_t window_ns = self->whole_ns ? self->whole_ns
					    : self->now_ns - self->window_at_ns;
	size_t i;

	snapshot->seen.now_ns = self->now_ns;
	snapshot->seen.moved_ns = self->moved_ns;
	snapshot->seen.window_ns = window_ns ? window_ns : WEIR_UNKNOWN;
	for (i = 0; i < snapshot->seen.n_actors; i++) {
		snapshot->actors[i].since_ns = self->now.actors[i].since_ns;
		tell_shares(&self->now.actors[i], &snapshot->actors[i]);
	}
	for (i = 0; i < snapshot->seen.n_ports; i++)
		snapshot->ports[i].since_ns = self->now.ports[i].since_ns;
	for (i = 0; i < snapshot->seen.n_links; i++) {
		const struct weir__link_past *past = &self->now.links[i];

		snapshot->links[i].high = past->high;
		snapshot->links[i].items_ever = past->ever;
		snapshot->links[i].rate =
			past->whole ? past->rate : rate_of(past, self->now_ns);
	}
}

/* --- Stalls --------------------------------------------------------------- */

/* It has not moved for so long. */
static bool rests(const struct weir__history *self,
		  const struct weir__actor_past *past, uint64_t stall_ns)
{
	return self->now_ns - past->since_ns >= stall_ns;
}

/* A time that is set, and has not come, or not so long ago. */
static bool is_ahead(const struct weir__history *self, uint64_t at_ns,
		     uint64_t stall_ns)
{
	return at_ns != WEIR_FOREVER &&
	       (at_ns > self->now_ns || self->now_ns - at_ns < stall_ns);
}

/* It waits for such a time: at the first port that it waits at, or at none. */
static bool waits_for_time(const struct weir__history *self,
			   const struct weir__actor_past *past,
			   uint64_t stall_ns)
{
	uint64_t at_ns = past->due_ns;

	if (past->wait == WEIR_WAIT_TIME && past->at != WEIR_NOWHERE)
		at_ns = self->now.ports[past->port + past->at].at_ns;
	return is_ahead(self, at_ns, stall_ns);
}

bool weir__history_asks(struct weir__history *self, uint64_t stall_ns)
{
	struct weir__actor_past *past;
	bool asks = false;
	size_t i;

	for (i = 0; i < self->now.n_actors; i++) {
		past = &self->now.actors[i];
		if (past->asked || !rests(self, past, stall_ns) ||
		    waits_for_time(self, past, stall_ns))
			continue;
		past->asked = true;
		asks = true;
	}
	return asks;
}

/* Until when the root waits; WEIR_FOREVER: it does not, or it is not known. */
static uint64_t due_at(const struct weir__history *self,
		       const struct weir__snapshot *snapshot, size_t root)
{
	const struct weir_seen_actor *actor = &snapshot->actors[root];
	size_t p = snapshot->causes[root].port;

	if (p == WEIR_NOWHERE)
		return actor->wait == WEIR_WAIT_WAKE
			       ? due_of(actor)
			       : self->now.actors[root].due_ns;
	return snapshot->ports[p].wait == WEIR_WAIT_TIME
		       ? snapshot->ports[p].at_ns
		       : WEIR_FOREVER;
}

/* It waits for a time, and nobody knows for which one. */
static bool has_hidden_time(const struct weir_seen_actor *actor)
{
	return actor->wait == WEIR_WAIT_WAKE &&
	       actor->wakers == 1u << WEIR_WAIT_TIME &&
	       actor->at_ns == WEIR_FOREVER;
}

/* It, or each of its cycle, rests. */
static bool root_rests(const struct weir__history *self,
		       const struct weir__cause *causes, size_t root,
		       uint64_t stall_ns)
{
	size_t i = root;

	do {
		if (!rests(self, &self->now.actors[i], stall_ns))
			return false;
		i = causes[i].next;
	} while (i != WEIR_NOWHERE && i != root);
	return true;
}

bool weir__history_stalls(struct weir__history *self,
			  const struct weir__snapshot *snapshot,
			  uint64_t stall_ns)
{
	const struct weir__cause *causes = snapshot->causes;
	struct weir__actor_past *past;
	bool stalls = false;
	size_t i;

	for (i = 0; i < self->now.n_actors; i++) {
		past = &self->now.actors[i];
		if (causes[i].root != i || !weir__cause_holds_up(&causes[i]))
			continue;
		if (!root_rests(self, causes, i, stall_ns))
			continue;
		if (has_hidden_time(&snapshot->actors[i]))
			continue;
		if (is_ahead(self, due_at(self, snapshot, i), stall_ns)) {
			past->asked = false; /* its time may pass */
			continue;
		}
		stalls |= !past->told;
		past->told = true;
	}
	return stalls;
}
