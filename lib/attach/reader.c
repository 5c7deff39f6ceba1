/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader trusts nothing but its own limits: each address, count and number is
 * checked before it is used, lists that come back to themselves are cut, and
 * reads and rooms are bounded. What fails a check is left out and counted.
 */
#include "attach/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <weir/in.h>
#include <weir/out.h>
#include <weir/version.h>

#include "actor/gate.h"
#include "actor/in_lane.h"
#include "actor/layout.h"
#include "actor/port.h"
#include "base/clock.h"
#include "base/memory.h"
#include "inspect/snapshot.h"
#include "lane/lane.h"

#define PAGE 4096u
#define PAGES 1024u /* kept */
#define KINDS 64u   /* of ports, in one process */
#define FIELDS 96u  /* of a kind */
#define PARTS 16u   /* of a name, as a look says them */
#define MOST (UINT64_C(1) << 26)
#define FIRST 64u
#define BLOCKS 26u /* of a registry: more have no 32-bit index */
#define BLOCK 64u  /* slots of the first one */
#define LIVING 4096u
#define MOST_THREADS 4096u /* of an executor */
#define STEP 4u /* a table begins at a multiple of it, on any machine */

struct page {
	uint64_t at; /* 1: none */
	bool there;
	unsigned char bytes[PAGE];
};

/* A kind of port, or what all have. */
struct kind {
	uint64_t ops;
	enum weir_wait awaits;
	struct weir__field fields[WEIR__IS_COUNT];
};

struct inquiry {
	struct weir__memory *memory;
	const struct weir_allocator *allocator;
	struct weir__snapshot *snapshot;
	struct page *pages; /* PAGES of them */
	struct kind *kinds; /* KINDS of them */
	size_t n_kinds;
	struct kind all;
	struct weir__layout table;
	uint64_t most, left; /* words to be read */
	uint64_t now_ns;     /* of the clock; 0: of memory that does not move */
	size_t n_torn;
	bool full; /* there was no room */
};

/* --- Words ---------------------------------------------------------------- */

static const unsigned char *page_at(struct inquiry *self, uint64_t at)
{
	struct page *page = &self->pages[at / PAGE % PAGES];

	if (page->at != at) {
		page->at = at;
		page->there =
			self->memory->read(self->memory, at, page->bytes, PAGE);
	}
	return page->there ? page->bytes : NULL;
}

static void forget_pages(struct inquiry *self)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		self->pages[i].at = 1;
}

/* False: not all of it can be read. */
static bool read_bytes(struct inquiry *self, uint64_t at, void *bytes, size_t n)
{
	unsigned char *to = bytes;
	const unsigned char *page;
	size_t offset, part;

	if (n > UINT64_MAX - at || self->left == 0)
		return false;
	self->left--;
	for (; n > 0; n -= part) {
		offset = at % PAGE;
		part = PAGE - offset < n ? PAGE - offset : n;
		page = page_at(self, at - offset);
		if (!page)
			return false;
		memcpy(to, page + offset, part);
		to += part;
		at += part;
	}
	return true;
}

/* Of a number of `size` bytes, which is 1, 2, 4 or 8. */
static bool read_number(struct inquiry *self, uint64_t at, size_t size,
			uint64_t *number)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} word = {0};

	if (!read_bytes(self, at, &word, size))
		return false;
	switch (size) {
	case 1:
		*number = word.u8;
		break;
	case 2:
		*number = word.u16;
		break;
	case 4:
		*number = word.u32;
		break;
	default:
		*number = word.u64;
		break;
	}
	return true;
}

/* --- Fields --------------------------------------------------------------- */

/* What is left out is counted; returns false, for its caller. */
static bool torn(struct inquiry *self)
{
	self->n_torn++;
	return false;
}

static bool size_valid(size_t size)
{
	return size == 0 || size == 1 || size == 2 || size == 4 || size == 8;
}

/* Fields with numbers that this reader does not know are left alone. */
static bool read_fields(struct inquiry *self, struct kind *kind, uint64_t at)
{
	struct weir__layout_of head;
	struct weir__field field;
	size_t i;

	memset(kind->fields, 0, sizeof(kind->fields));
	if (!at)
		return true;
	if (!read_bytes(self, at, &head, sizeof(head)) ||
	    (uintptr_t)head.self != at)
		return false;
	for (i = 0; i < FIELDS; i++) {
		if (!read_bytes(self, at + sizeof(head) + i * sizeof(field),
				&field, sizeof(field)))
			return false;
		if (field.what == WEIR__IS_NONE)
			return true;
		if (!size_valid(field.size) || field.bits > field.size * 8)
			return false;
		if (field.what < WEIR__IS_COUNT)
			kind->fields[field.what] = field;
	}
	return false;
}

/* Where it is; 0: it has none. */
static uint64_t place(const struct kind *kind, enum weir__what what,
		      uint64_t at)
{
	const struct weir__field *field = &kind->fields[what];

	return field->what == what ? at + (uint64_t)(int64_t)field->at : 0;
}

static bool has(const struct kind *kind, enum weir__what what)
{
	return kind->fields[what].what == what;
}

static uint64_t cut_bits(const struct weir__field *field, uint64_t number)
{
	if (!field->bits)
		return number;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		number >>= field->size * 8 - field->bits;
	return number & (UINT64_MAX >> (64 - field->bits));
}

/* False: it has none, or it cannot be read. */
static bool get(struct inquiry *self, const struct kind *kind,
		enum weir__what what, uint64_t at, uint64_t *number)
{
	const struct weir__field *field = &kind->fields[what];

	if (field->what != what || !field->size ||
	    !read_number(self, place(kind, what, at), field->size, number))
		return torn(self);
	*number = cut_bits(field, *number);
	return true;
}

/* The same of what all processes of this version have. */
static bool get_all(struct inquiry *self, enum weir__what what, uint64_t at,
		    uint64_t *number)
{
	return get(self, &self->all, what, at, number);
}

/* 0: it has no such field. */
static uint64_t number_of(struct inquiry *self, const struct kind *kind,
			  enum weir__what what, uint64_t at)
{
	uint64_t number = 0;

	if (has(kind, what) && !get(self, kind, what, at, &number))
		return 0;
	return number;
}

/* A walk along a list comes back to where it has been: R. P. Brent. */
struct rounds {
	uint64_t mark, n;
};

static bool came_back(struct inquiry *self, struct rounds *rounds, uint64_t at)
{
	if (at == rounds->mark)
		return !torn(self);
	if ((rounds->n & (rounds->n + 1)) == 0)
		rounds->mark = at;
	rounds->n++;
	return false;
}

/* --- Names ---------------------------------------------------------------- */

/* As much as there is room for. */
static void read_name(struct inquiry *self, uint64_t at, char *name,
		      size_t room)
{
	size_t i;

	memset(name, 0, room);
	for (i = 0; i + 1 < room; i++) {
		if (!read_bytes(self, at + i, &name[i], 1)) {
			(void)torn(self);
			name[i] = '?';
			return;
		}
		if (!name[i])
			return;
	}
}

static struct weir_seen_actor *actor_of(const struct inquiry *self)
{
	return &self->snapshot->actors[self->snapshot->seen.n_actors];
}

static void add_part(struct inquiry *self, uint64_t at)
{
	struct weir_seen_actor *actor = actor_of(self);
	char name[WEIR_INSPECT_NAME];

	read_name(self, at, name, sizeof(name));
	if (actor->name[0])
		weir__snapshot_add_name(actor, " < ");
	weir__snapshot_add_name(actor, name);
}

/* --- Islands -------------------------------------------------------------- */

/* How sure it is that the island waits for an operator. One that waits to write
 * has something to write, whoever was asked behind it. */
enum certainty {
	DOES_NOT,
	MAY,
	MAY_AND_ASKED,
	SEEN_TO,
	SEEN_AND_ASKED,
	SEEN_TO_HOLD,
};

/* An operator, and what it waits for. */
struct part {
	uint64_t kind, name; /* 0: it is not known which one it is */
	enum weir_wait wait;
	uint64_t at_ns;
	int fd;
	short events;
	enum certainty sure;
};

/* What a later version has is something else. */
static enum weir_wait wait_of(uint64_t awaits)
{
	return awaits <= WEIR_WAIT_OTHER ? (enum weir_wait)awaits
					 : WEIR_WAIT_OTHER;
}

static bool see_op_kind(struct inquiry *self, const struct kind *kind,
			uint64_t of, struct part *part)
{
	uint64_t awaits;

	*part = (struct part){.kind = of, .at_ns = WEIR_FOREVER, .fd = -1};
	if (!get(self, kind, WEIR__IS_KIND_AWAITS, of, &awaits) ||
	    !get(self, kind, WEIR__IS_KIND_NAME, of, &part->name))
		return false;
	part->wait = wait_of(awaits);
	return true;
}

static bool timer_waits(struct inquiry *self, const struct kind *kind,
			uint64_t state, struct part *part)
{
	part->at_ns = number_of(self, kind, WEIR__IS_TIMER_AT_NS, state);
	return number_of(self, kind, WEIR__IS_TIMER_ARMED, state) != 0;
}

static enum certainty fd_waits(struct inquiry *self, const struct kind *kind,
			       uint64_t state, struct part *part)
{
	part->fd = (int)number_of(self, kind, WEIR__IS_WATCH_FD, state);
	part->events =
		(short)number_of(self, kind, WEIR__IS_WATCH_EVENTS, state);
	if (!number_of(self, kind, WEIR__IS_WATCH_ARMED, state) ||
	    number_of(self, kind, WEIR__IS_WATCH_READY, state) & UINT16_MAX)
		return DOES_NOT;
	return part->events & POLLIN ? SEEN_TO : SEEN_TO_HOLD;
}

/* As far as it can be seen without its functions. */
static enum certainty op_waits(struct inquiry *self, const struct kind *kind,
			       uint64_t op, struct part *part)
{
	uint64_t state = place(kind, WEIR__IS_OP_STATE, op);

	if (number_of(self, kind, WEIR__IS_OP_ENDED, op) ||
	    !number_of(self, kind, WEIR__IS_OP_OPEN, op))
		return DOES_NOT;
	switch (part->wait) {
	case WEIR_WAIT_NONE:
		return DOES_NOT;
	case WEIR_WAIT_TIME:
		return timer_waits(self, kind, state, part) ? SEEN_TO
							    : DOES_NOT;
	case WEIR_WAIT_FD:
		return fd_waits(self, kind, state, part);
	default:
		return MAY;
	}
}

/* As weir__op_name(). */
static bool see_op(struct inquiry *self, const struct kind *kind, uint64_t op,
		   struct part *part)
{
	uint64_t flow, of, name;

	if (!get(self, kind, WEIR__IS_OP_FLOW, op, &flow) ||
	    !get(self, kind, WEIR__IS_OP_KIND, op, &of) ||
	    !get(self, kind, WEIR__IS_FLOW_NAME, flow, &name) ||
	    !see_op_kind(self, kind, of, part))
		return false;
	if (name)
		part->name = name;
	add_part(self, part->name);
	if (part->wait != WEIR_WAIT_NONE)
		actor_of(self)->wakers |= UINT32_C(1) << part->wait;
	/* a version before has none of this */
	if (has(kind, WEIR__IS_OP_STATE))
		part->sure = op_waits(self, kind, op, part);
	return true;
}

/* The operators, the last one first; *best: the one that waits. */
static bool see_ops(struct inquiry *self, const struct kind *kind,
		    uint64_t port, uint64_t asked, struct part *best)
{
	uint64_t op, n_inlets, n_up, up, n;
	struct part part;

	if (!get(self, kind, WEIR__IS_ISLAND_ROOT, port, &op) ||
	    !get(self, kind, WEIR__IS_ISLAND_N_INLETS, port, &n_inlets))
		return false;
	for (n = 0; op && n < PARTS; n++) {
		if (!get(self, kind, WEIR__IS_OP_N_UP, op, &n_up))
			return false;
		if (n > 0 && n_up == 0 && n_inlets)
			return true;
		if (!see_op(self, kind, op, &part))
			return false;
		if ((part.sure == MAY || part.sure == SEEN_TO) &&
		    part.kind == asked)
			part.sure++;
		if (part.sure > best->sure)
			*best = part;
		if (n_up != 1)
			return true;
		if (!get(self, kind, WEIR__IS_OP_UP, op, &up) ||
		    !read_number(self, up, sizeof(void *), &op))
			return torn(self);
	}
	return true;
}

/* As an island is looked at. */
static bool see_island(struct inquiry *self, const struct kind *kind,
		       uint64_t port)
{
	uint64_t asked = number_of(self, kind, WEIR__IS_ISLAND_ASKED, port);
	struct part best = {.at_ns = WEIR_FOREVER, .fd = -1};
	struct weir_seen_actor *actor = actor_of(self);
	bool well;

	/* one that is nested, if no other is seen to wait */
	if (asked && !see_op_kind(self, kind, asked, &best))
		return false;
	well = see_ops(self, kind, port, asked, &best);
	if (best.name)
		read_name(self, best.name, actor->asked, sizeof(actor->asked));
	actor->asked_for = best.wait;
	actor->at_ns = best.at_ns;
	actor->fd = best.fd;
	actor->events = best.events;
	return well;
}

/* --- Links ---------------------------------------------------------------- */

static bool see_lane(struct inquiry *self, const struct kind *kind,
		     uint64_t lane, uint64_t mask)
{
	struct weir__snapshot *snapshot = self->snapshot;
	size_t at = snapshot->seen.n_links;
	uint64_t words, out, tail, head;
	struct weir_seen_link *link;
	bool own;

	if (!get(self, kind, WEIR__IS_LANE_WORDS, lane, &words) ||
	    !get(self, kind, WEIR__IS_LANE_OUT, lane, &out))
		return false;
	own = words == place(kind, WEIR__IS_LANE_OWN, lane);
	if (!read_number(self, words, 4, &tail) ||
	    !read_number(self, words + (own ? 4 : 4 * WEIR__LINE_WORDS), 4,
			 &head))
		return torn(self);
	if (at == snapshot->room_links) {
		self->full = true;
		return false;
	}
	link = &snapshot->links[at];
	*link = (struct weir_seen_link){
		.from = WEIR_NOWHERE,
		.to = snapshot->seen.n_ports,
		.from_port = (const void *)(uintptr_t)out,
		.capacity = (uint32_t)mask + 1,
		.items = weir__tail_index((uint32_t)tail),
		.ended = weir__tail_ended((uint32_t)tail),
		.items_ever = WEIR_UNKNOWN,
		.rate = WEIR_UNKNOWN,
	};
	link->fill = weir__index_diff(link->items, (uint32_t)head);
	/* as in a look of the process's own */
	if (link->fill > link->capacity)
		link->fill = 0;
	snapshot->seen.n_links++;
	return true;
}

static bool see_merge(struct inquiry *self, const struct kind *kind,
		      uint64_t merge, uint64_t mask)
{
	struct rounds rounds = {0};
	uint64_t lane;

	if (!get(self, kind, WEIR__IS_MERGE_LANES, merge, &lane))
		return false;
	while (lane && !self->full && !came_back(self, &rounds, lane)) {
		(void)see_lane(self, kind,
			       place(kind, WEIR__IS_MERGE_LANE, lane), mask);
		if (!get(self, kind, WEIR__IS_MERGE_NEXT, lane, &lane))
			return false;
	}
	return true;
}

static bool see_in(struct inquiry *self, const struct kind *kind,
		   struct weir_seen_port *seen, uint64_t port)
{
	uint64_t flags, mask, merge, rule = 0;

	if (!get(self, kind, WEIR__IS_IN_FLAGS, port, &flags) ||
	    !get(self, kind, WEIR__IS_IN_MASK, port, &mask) ||
	    !get(self, kind, WEIR__IS_IN_MERGE, port, &merge))
		return false;
	if (merge && !get(self, kind, WEIR__IS_MERGE_RULE, merge, &rule))
		return false;
	if (mask >= WEIR_CAPACITY_MAX || (mask & (mask + 1)))
		return torn(self);
	seen->one_link = merge != 0;
	if ((flags & WEIR__IN_LINKED) || !merge || rule == WEIR_MERGE_OPEN)
		(void)see_lane(self, kind, place(kind, WEIR__IS_IN_LANE, port),
			       mask);
	return !merge || see_merge(self, kind, merge, mask);
}

/* One that has a table is a subscriber. */
static bool see_sinks(struct inquiry *self, const struct kind *kind,
		      struct weir_seen_port *seen, uint64_t fan, uint64_t n)
{
	uint64_t sink, ops;

	if (n > 0 && !get(self, kind, WEIR__IS_FAN_SINKS, fan, &sink))
		return false;
	/* the owner may be moving them: as far as there are any */
	for (; n > 0 && sink; n--) {
		if (!get(self, kind, WEIR__IS_SINK_OPS, sink, &ops))
			return false;
		if (ops)
			seen->wait = WEIR_WAIT_DEMAND;
		if (!get(self, kind, WEIR__IS_SINK_NEXT, sink, &sink))
			return false;
	}
	return true;
}

static bool see_out(struct inquiry *self, const struct kind *kind,
		    struct weir_seen_port *seen, uint64_t port)
{
	uint64_t fan, lane, way, n_sinks;

	if (!get(self, kind, WEIR__IS_OUT_FAN, port, &fan) ||
	    !get(self, kind, WEIR__IS_OUT_LANE, port, &lane))
		return false;
	if (!fan) {
		seen->wait = lane ? WEIR_WAIT_ROOM : WEIR_WAIT_LINK;
		return true;
	}
	if (!get(self, kind, WEIR__IS_FAN_WAY, fan, &way) ||
	    !get(self, kind, WEIR__IS_FAN_N_SINKS, fan, &n_sinks))
		return false;
	seen->one_link = way != WEIR_FAN_BROADCAST;
	if (n_sinks == 0)
		seen->wait = WEIR_WAIT_LINK;
	return see_sinks(self, kind, seen, fan, n_sinks);
}

/* --- Ports ---------------------------------------------------------------- */

/* A place for a kind that is known by that address, with its layout; NULL: it makes
 * no sense. */
static struct kind *new_kind(struct inquiry *self, uint64_t at, uint64_t layout)
{
	struct kind *kind = &self->kinds[self->n_kinds];

	if (self->n_kinds == KINDS || !read_fields(self, kind, layout))
		return NULL;
	kind->ops = at;
	self->n_kinds++;
	return kind;
}

static struct kind *known_kind(struct inquiry *self, uint64_t at)
{
	size_t i;

	for (i = 0; i < self->n_kinds; i++)
		if (self->kinds[i].ops == at)
			return &self->kinds[i];
	return NULL;
}

/* The kind of port with that table; NULL: it makes no sense. */
static const struct kind *kind_of(struct inquiry *self, uint64_t ops)
{
	struct kind *kind = known_kind(self, ops);
	uint64_t awaits, layout;

	if (kind || !ops)
		return kind;
	if (!get_all(self, WEIR__IS_OPS_AWAITS, ops, &awaits) ||
	    !get_all(self, WEIR__IS_OPS_LAYOUT, ops, &layout))
		return NULL;
	kind = new_kind(self, ops, layout);
	if (kind)
		kind->awaits = wait_of(awaits);
	return kind;
}

/* --- What is shared ------------------------------------------------------- */

/* As many as a look counts. */
static uint32_t count_waiters(struct inquiry *self, const struct kind *kind,
			      enum weir__what first, uint64_t object)
{
	uint64_t waiter = 0;
	uint32_t n = 0;

	if (!has(kind, first) || !get(self, kind, first, object, &waiter))
		return 0;
	for (; waiter && n < WEIR_INSPECT_WAITERS; n++)
		if (!get(self, kind, WEIR__IS_WAITER_NEXT, waiter, &waiter))
			break;
	return n;
}

static void see_object(struct inquiry *self, const struct kind *kind,
		       struct weir_seen_port *seen, uint64_t at)
{
	struct weir__snapshot *snapshot = self->snapshot;
	struct weir_seen_object object = {
		.object = (const void *)(uintptr_t)at,
		.wait = kind->awaits,
		.takers = count_waiters(self, kind, WEIR__IS_OBJECT_TAKERS, at),
		.putters =
			count_waiters(self, kind, WEIR__IS_OBJECT_PUTTERS, at),
		.capacity = (size_t)number_of(self, kind,
					      WEIR__IS_OBJECT_CAPACITY, at),
		.fill = (int64_t)number_of(self, kind, WEIR__IS_OBJECT_FILL,
					   at),
		.ended = number_of(self, kind, WEIR__IS_OBJECT_ENDED, at),
	};

	if (has(kind, WEIR__IS_OBJECT_PERMITS))
		object.fill =
			(int64_t)(number_of(self, kind, WEIR__IS_OBJECT_PERMITS,
					    at) >>
				  1);
	if (has(kind, WEIR__IS_OBJECT_DONE))
		object.ended =
			number_of(self, kind, WEIR__IS_OBJECT_STATE, at) ==
			place(kind, WEIR__IS_OBJECT_DONE, 0);
	if (snapshot->seen.n_objects == snapshot->room_objects) {
		self->full = true;
		return;
	}
	seen->object = object.object;
	snapshot->objects[snapshot->seen.n_objects++] = object;
}

/* What was granted to a port, and not used. */
static uint32_t held_by(struct inquiry *self, const struct kind *kind,
			uint64_t port)
{
	uint64_t state = number_of(self, kind, WEIR__IS_PORT_STATE, port);

	return (uint32_t)number_of(self, kind,
				   state == place(kind, WEIR__IS_PORT_GRANTED,
						  0)
					   ? WEIR__IS_PORT_CLAIMED
					   : WEIR__IS_PORT_HELD,
				   port);
}

/* --- A port --------------------------------------------------------------- */

/* What this kind of port has; the rest is known. */
static void see_kind(struct inquiry *self, const struct kind *kind,
		     struct weir_seen_port *seen, uint64_t port)
{
	uint64_t number;

	if (has(kind, WEIR__IS_IN_LANE))
		(void)see_in(self, kind, seen, port);
	if (has(kind, WEIR__IS_OUT_LANE))
		(void)see_out(self, kind, seen, port);
	if (has(kind, WEIR__IS_ISLAND_ROOT))
		(void)see_island(self, kind, port);
	if (has(kind, WEIR__IS_PORT_AT_NS) &&
	    get(self, kind, WEIR__IS_PORT_AT_NS, port, &number))
		seen->at_ns = number;
	if (has(kind, WEIR__IS_PORT_FD) &&
	    get(self, kind, WEIR__IS_PORT_FD, port, &number))
		seen->fd = (int)number;
	if (has(kind, WEIR__IS_PORT_EVENTS) &&
	    get(self, kind, WEIR__IS_PORT_EVENTS, port, &number))
		seen->events = (short)number;
	if (has(kind, WEIR__IS_PORT_OBJECT) &&
	    get(self, kind, WEIR__IS_PORT_OBJECT, port, &number))
		see_object(self, kind, seen, number);
	if (has(kind, WEIR__IS_PORT_HELD))
		seen->held = held_by(self, kind, port);
	if (has(kind, WEIR__IS_PORT_TAKES))
		seen->takes = place(kind, WEIR__IS_PORT_TAKES, 0) != 0;
}

/* Its table of functions. */
static bool ops_of(struct inquiry *self, uint64_t port, uint64_t kind,
		   uint64_t *ops)
{
	uint64_t kinds = (uintptr_t)self->table.kinds;

	if (kind > WEIR__PORT_ADAPTER)
		return torn(self);
	if (kind >= WEIR__PORT_OTHER)
		return get_all(self, WEIR__IS_PORT_OPS, port, ops);
	return read_number(self, kinds + kind * sizeof(void *), sizeof(void *),
			   ops) ||
	       torn(self);
}

static bool is_off(uint64_t flags)
{
	return flags & (WEIR__PORT_IGNORED | WEIR__PORT_ENDED);
}

/* The weir_any that it is in, 0: none; and whether that is off. */
static bool group_of(struct inquiry *self, uint64_t port, uint64_t block,
		     uint64_t actor, uint64_t *group, bool *off)
{
	uint64_t own = place(&self->all, WEIR__IS_PORT_BLOCKED, port);
	uint64_t of, flags;

	*group = 0;
	*off = false;
	if (block == own)
		return true;
	*group = block - (own - port);
	if (!get_all(self, WEIR__IS_PORT_ACTOR, *group, &of) ||
	    !get_all(self, WEIR__IS_PORT_FLAGS, *group, &flags))
		return false;
	*off = is_off(flags);
	return of == actor || torn(self);
}

static bool see_port(struct inquiry *self, uint64_t port, uint64_t actor)
{
	struct weir__snapshot *snapshot = self->snapshot;
	size_t n_links = snapshot->seen.n_links;
	uint64_t of, block, blocked, burst, number, flags, ops, group;
	struct weir_seen_port *seen;
	const struct kind *kind;
	bool off;

	if (!get_all(self, WEIR__IS_PORT_ACTOR, port, &of) ||
	    !get_all(self, WEIR__IS_PORT_BLOCK, port, &block) ||
	    !get_all(self, WEIR__IS_PORT_BURST, port, &burst) ||
	    !get_all(self, WEIR__IS_PORT_KIND, port, &number) ||
	    !get_all(self, WEIR__IS_PORT_FLAGS, port, &flags) ||
	    !ops_of(self, port, number, &ops) ||
	    !read_number(self, block, 4, &blocked) ||
	    !group_of(self, port, block, actor, &group, &off))
		return false;
	kind = of == actor ? kind_of(self, ops) : NULL;
	if (!kind)
		return torn(self);
	if (snapshot->seen.n_ports == snapshot->room_ports) {
		self->full = true;
		return false;
	}
	seen = &snapshot->ports[snapshot->seen.n_ports];
	*seen = (struct weir_seen_port){
		.port = (const void *)(uintptr_t)port,
		.actor = snapshot->seen.n_actors,
		.wait = kind->awaits,
		.takes_part = number != WEIR__PORT_ADAPTER && !is_off(flags) &&
			      !off,
		.over = flags & WEIR__PORT_ENDED,
		.group = WEIR_NOWHERE,
		.group_port = (const void *)(uintptr_t)group,
		.at_ns = WEIR_FOREVER,
		.fd = -1,
		.burst = (uint32_t)burst,
		.since_ns = WEIR_UNKNOWN,
		.shared = WEIR_NOWHERE,
	};
	seen->blocked = seen->takes_part && blocked;
	see_kind(self, kind, seen, port);
	if (self->full)
		snapshot->seen.n_links = n_links;
	snapshot->seen.n_ports++;
	return true;
}

/* --- Actors --------------------------------------------------------------- */

/* Each port behind one that makes no sense is still looked at. */
static void see_ports(struct inquiry *self, uint64_t actor)
{
	struct rounds rounds = {0};
	uint64_t port;

	if (!get_all(self, WEIR__IS_ACTOR_PORTS, actor, &port))
		return;
	while (port && !self->full && !came_back(self, &rounds, port)) {
		(void)see_port(self, port, actor);
		if (!get_all(self, WEIR__IS_PORT_NEXT, port, &port))
			return;
	}
}

/* As weir_actor_name(). */
static void name_actor(struct inquiry *self, uint64_t ops)
{
	uint64_t name;

	if (!get_all(self, WEIR__IS_ACTOR_NAME, ops, &name))
		weir__snapshot_add_name(actor_of(self), "?");
	else if (name)
		add_part(self, name);
	else
		weir__snapshot_add_name(actor_of(self), "actor");
}

/* The workers of a pool are executors of one registry. */
static bool is_of(struct inquiry *self, uint64_t executor, uint64_t registry)
{
	uint64_t of;

	return get_all(self, WEIR__IS_EXECUTOR_REGISTRY, executor, &of) &&
	       (of == registry || torn(self));
}

/* Its name begins with a dot. */
static bool is_hidden(struct inquiry *self, uint64_t ops)
{
	uint64_t name, first;

	return get_all(self, WEIR__IS_ACTOR_NAME, ops, &name) && name &&
	       read_number(self, name, 1, &first) && first == '.';
}

static void see_actor(struct inquiry *self, uint64_t task, uint64_t id,
		      uint64_t registry)
{
	struct weir__snapshot *snapshot = self->snapshot;
	uint64_t actor = task - place(&self->all, WEIR__IS_ACTOR_TASK, 0);
	uint64_t refs, gate, executor, ops, state;
	struct weir_seen_actor *seen;

	if (!get_all(self, WEIR__IS_ACTOR_REFS, actor, &refs) ||
	    !get_all(self, WEIR__IS_ACTOR_GATE, actor, &gate) ||
	    !get_all(self, WEIR__IS_ACTOR_OPS, actor, &ops) ||
	    !get_all(self, WEIR__IS_ACTOR_STATE, actor, &state) ||
	    !get_all(self, WEIR__IS_ACTOR_EXECUTOR, actor, &executor))
		return;
	/* on its way out, or the one that stands for a run of a flow */
	if (refs == 0 || !is_of(self, executor, registry) ||
	    is_hidden(self, ops))
		return;
	if (snapshot->seen.n_actors == snapshot->room_actors) {
		self->full = true;
		return;
	}
	seen = actor_of(self);
	*seen = (struct weir_seen_actor){
		.actor = (const void *)(uintptr_t)actor,
		.executor = (const void *)(uintptr_t)executor,
		.id = id,
		.wait = weir__snapshot_wait((uint32_t)gate),
		.port = snapshot->seen.n_ports,
		.since_ns = WEIR_UNKNOWN,
		.home = snapshot->seen.n_executors,
		.at_ns = WEIR_FOREVER,
		.fd = -1,
		.other = WEIR_NOWHERE,
	};
	if (state > WEIR__STATE_RUNNING)
		seen->state = WEIR_SEEN_STATE_LEAVING;
	see_ports(self, actor);
	if (!seen->name[0])
		name_actor(self, ops);
	seen->n_ports = snapshot->seen.n_ports - seen->port;
	snapshot->seen.n_actors++;
}

/* Block number `i` of a registry, of which `n` slots are used; behind its slots
 * there is how many tasks each has had. */
static void see_block(struct inquiry *self, uint64_t block, uint32_t i,
		      uint64_t n, uint64_t registry)
{
	uint64_t lives = block + ((uint64_t)BLOCK << i) * sizeof(void *);
	uint64_t index = BLOCK * ((UINT64_C(1) << i) - 1), at, task, life;

	for (at = 0; at < n && !self->full; at++) {
		if (!read_number(self, block + at * sizeof(void *),
				 sizeof(void *), &task)) {
			(void)torn(self);
			return;
		}
		if (!task)
			continue;
		if (read_number(self, lives + at * sizeof(uint32_t),
				sizeof(uint32_t), &life))
			see_actor(self, task, life << 32 | (index + at),
				  registry);
		else
			(void)torn(self);
	}
}

static void see_actors(struct inquiry *self, uint64_t registry)
{
	uint64_t blocks, n_blocks, n_tasks, block, slots;
	uint32_t i;

	if (!get_all(self, WEIR__IS_REGISTRY_N_BLOCKS, registry, &n_blocks) ||
	    !get_all(self, WEIR__IS_REGISTRY_N_TASKS, registry, &n_tasks))
		return;
	blocks = place(&self->all, WEIR__IS_REGISTRY_BLOCKS, registry);
	if (n_blocks > BLOCKS) {
		(void)torn(self);
		return;
	}
	for (i = 0; i < n_blocks && n_tasks > 0 && !self->full; i++) {
		slots = (uint64_t)BLOCK << i;
		if (slots > n_tasks)
			slots = n_tasks;
		if (read_number(self, blocks + i * sizeof(void *),
				sizeof(void *), &block) &&
		    block)
			see_block(self, block, i, slots, registry);
		else
			(void)torn(self);
		n_tasks -= slots;
	}
}

/* --- Executors ------------------------------------------------------------ */

/* Of a field, or a number that stands for one. */
static uint64_t constant(struct inquiry *self, const struct kind *kind,
			 enum weir__what what, uint64_t at)
{
	return kind->fields[what].size ? number_of(self, kind, what, at)
				       : place(kind, what, 0);
}

static void count_armed(struct inquiry *self, const struct kind *kind,
			struct weir_seen_executor *seen, uint64_t at)
{
	uint64_t poller = number_of(self, kind, WEIR__IS_EXECUTOR_POLLER, at);

	if (!has(kind, WEIR__IS_EXECUTOR_SERVES) ||
	    number_of(self, kind, WEIR__IS_EXECUTOR_SERVES, at)) {
		seen->timers =
			number_of(self, kind, WEIR__IS_EXECUTOR_TIMERS, at);
		seen->watches =
			number_of(self, kind, WEIR__IS_EXECUTOR_WATCHES, at);
	}
	if (!poller)
		return;
	seen->timers += number_of(self, kind, WEIR__IS_POLLER_TIMERS, poller);
	seen->watches += number_of(self, kind, WEIR__IS_POLLER_WATCHES, poller);
}

static void count_parked(struct inquiry *self, const struct kind *kind,
			 struct weir_seen_executor *seen, uint64_t at)
{
	uint64_t bits = place(kind, WEIR__IS_EXECUTOR_PARKED, at), word, idler;
	uint32_t i;

	for (i = 0; bits && i < seen->threads_max; i += 64) {
		if (!read_number(self, bits + i / 8, 8, &word)) {
			(void)torn(self);
			break;
		}
		seen->parked += (uint32_t)__builtin_popcountll(word);
	}
	idler = number_of(self, kind, WEIR__IS_EXECUTOR_IDLERS, at);
	for (; idler && seen->parked < seen->threads_max; seen->parked++)
		idler = number_of(self, kind, WEIR__IS_IDLER_NEXT, idler);
}

/* The task that it runs; 0: none. False: it has no thread. */
static bool task_of(struct inquiry *self, const struct kind *kind,
		    uint64_t thread, uint64_t *task)
{
	uint64_t state;

	if (!has(kind, WEIR__IS_THREAD_STATE)) {
		*task = number_of(self, kind, WEIR__IS_THREAD_TASK, thread);
		return true;
	}
	state = number_of(self, kind, WEIR__IS_THREAD_STATE, thread);
	return state && get(self, kind, WEIR__IS_STATE_TASK, state, task);
}

static uint32_t ring_of(struct inquiry *self, const struct kind *kind,
			uint64_t thread)
{
	uint64_t tail = number_of(self, kind, WEIR__IS_THREAD_TAIL, thread);
	uint64_t head = number_of(self, kind, WEIR__IS_THREAD_HEAD, thread);
	uint64_t taken = number_of(self, kind, WEIR__IS_THREAD_TAKEN, thread);

	return (uint32_t)(tail - ((int64_t)(taken - head) > 0 ? taken : head));
}

static void see_thread(struct inquiry *self, const struct kind *kind,
		       struct weir_seen_executor *seen, uint64_t thread)
{
	struct weir__snapshot *snapshot = self->snapshot;
	uint64_t task, bound = place(kind, WEIR__IS_THREAD_BOUND, thread);
	struct weir_seen_thread *made;

	if (!task_of(self, kind, thread, &task))
		return;
	if (snapshot->seen.n_threads == snapshot->rooms.threads) {
		self->full = true;
		return;
	}
	made = &snapshot->threads[snapshot->seen.n_threads++];
	*made = (struct weir_seen_thread){
		.executor = snapshot->seen.n_executors,
		.actor = WEIR_NOWHERE,
		.slices = number_of(self, kind, WEIR__IS_THREAD_SLICES, thread),
		.queued = ring_of(self, kind, thread),
		.id = (int)number_of(self, kind, WEIR__IS_THREAD_ID, thread),
		.bound = (const void *)(uintptr_t)bound,
	};
	if (task)
		made->running =
			(const void *)(uintptr_t)(task -
						  place(&self->all,
							WEIR__IS_ACTOR_TASK,
							0));
	seen->busy += task != 0;
	seen->slices += made->slices;
	seen->steals += number_of(self, kind, WEIR__IS_THREAD_STEALS, thread);
	seen->n_threads++;
}

/* A list on the stacks of threads, which come and go: each says what points to
 * it. */
static void see_list(struct inquiry *self, const struct kind *kind,
		     struct weir_seen_executor *seen, uint64_t at)
{
	uint64_t from = place(kind, WEIR__IS_EXECUTOR_THREADS, at);
	uint64_t thread = number_of(self, kind, WEIR__IS_EXECUTOR_THREADS, at);

	while (thread && seen->n_threads < seen->threads_max && !self->full) {
		if (number_of(self, kind, WEIR__IS_THREAD_LINK, thread) !=
		    from) {
			(void)torn(self);
			return;
		}
		see_thread(self, kind, seen, thread);
		from = place(kind, WEIR__IS_THREAD_NEXT, thread);
		thread = number_of(self, kind, WEIR__IS_THREAD_NEXT, thread);
	}
}

static void see_threads(struct inquiry *self, const struct kind *kind,
			struct weir_seen_executor *seen, uint64_t at)
{
	uint64_t workers = number_of(self, kind, WEIR__IS_EXECUTOR_WORKERS, at);
	uint64_t size = place(kind, WEIR__IS_WORKER_SIZE, 0);
	uint32_t i;

	if (has(kind, WEIR__IS_EXECUTOR_RUNS)) {
		seen->slices =
			number_of(self, kind, WEIR__IS_THREAD_SLICES, at);
		if (number_of(self, kind, WEIR__IS_EXECUTOR_RUNS, at)) {
			seen->slices = 0;
			see_thread(self, kind, seen, at);
		}
	}
	for (i = 0; workers && i < seen->threads_max && !self->full; i++)
		see_thread(self, kind, seen, workers + i * size);
	if (has(kind, WEIR__IS_EXECUTOR_THREADS))
		see_list(self, kind, seen, at);
}

/* What an executor of a kind that is known has. */
static void see_known(struct inquiry *self, const struct kind *kind,
		      struct weir_seen_executor *seen, uint64_t at)
{
	uint64_t what = place(kind, WEIR__IS_EXECUTOR_KIND, 0);
	uint64_t name = place(kind, WEIR__IS_EXECUTOR_THREAD_NAME, at);
	uint64_t most = constant(self, kind, WEIR__IS_EXECUTOR_THREADS_MAX, at);

	if (what > WEIR_EXECUTOR_SIM || most > MOST_THREADS) {
		(void)torn(self);
		return;
	}
	seen->kind = (enum weir_executor_kind)what;
	seen->threads_max = (uint32_t)most;
	if (name)
		read_name(self, name, seen->name, sizeof(seen->name));
	seen->now_ns =
		has(kind, WEIR__IS_EXECUTOR_NOW_NS)
			? number_of(self, kind, WEIR__IS_EXECUTOR_NOW_NS, at)
			: self->now_ns;
	count_armed(self, kind, seen, at);
	count_parked(self, kind, seen, at);
	see_threads(self, kind, seen, at);
}

static bool see_executor(struct inquiry *self, uint64_t executor)
{
	struct weir__snapshot *snapshot = self->snapshot;
	struct weir_seen_executor *seen;
	uint64_t registry, layout = 0;
	const struct kind *kind = NULL;

	if (!get_all(self, WEIR__IS_EXECUTOR_REGISTRY, executor, &registry))
		return false;
	if (snapshot->seen.n_executors == snapshot->rooms.executors) {
		self->full = true;
		return false;
	}
	see_actors(self, registry);
	seen = &snapshot->executors[snapshot->seen.n_executors];
	*seen = (struct weir_seen_executor){
		.executor = (const void *)(uintptr_t)executor,
		.thread = snapshot->seen.n_threads,
	};
	/* of the program's own, or of a version before */
	if (has(&self->all, WEIR__IS_REGISTRY_LAYOUT) &&
	    get_all(self, WEIR__IS_REGISTRY_LAYOUT, registry, &layout) &&
	    layout) {
		kind = known_kind(self, layout);
		if (!kind)
			kind = new_kind(self, layout, layout);
		if (kind)
			see_known(self, kind, seen, executor);
		else
			(void)torn(self);
	}
	snapshot->seen.n_executors++;
	return true;
}

/* The oldest comes first, as when the process looks itself. */
static bool see_living(struct inquiry *self)
{
	uint64_t executors[LIVING], list, node;
	struct rounds rounds = {0};
	size_t n = 0;

	if (!read_number(self, (uintptr_t)self->table.living, sizeof(void *),
			 &list))
		return torn(self);
	if (!list)
		return true;
	if (!get_all(self, WEIR__IS_LIVING_FIRST, list, &node))
		return false;
	while (node && n < LIVING && !came_back(self, &rounds, node)) {
		if (!get_all(self, WEIR__IS_LIVING_EXECUTOR, node,
			     &executors[n]))
			break;
		n++;
		if (!get_all(self, WEIR__IS_LIVING_NEXT, node, &node))
			break;
	}
	while (n > 0 && !self->full)
		(void)see_executor(self, executors[--n]);
	return true;
}

/* --- Tables --------------------------------------------------------------- */

static __attribute__((format(printf, 2, 3))) void tell(char *message,
						       const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, WEIR__READER_MESSAGE, format, arguments);
	va_end(arguments);
}

/* What stands at that address. 0, -ENOENT: no table, or -ENOTSUP. */
static int check_table(const struct weir__layout *table, uint64_t at,
		       char *message)
{
	const struct weir__layout *mine = &weir__layout;

	if (memcmp(table->magic, mine->magic, sizeof(mine->magic)) != 0)
		return -ENOENT;
	if (table->pointer != mine->pointer ||
	    table->big_endian != mine->big_endian) {
		tell(message,
		     "a program of another kind of machine, with"
		     " pointers of %d bits",
		     table->pointer * 8);
		return -ENOTSUP;
	}
	if ((uintptr_t)table->self != at)
		return -ENOENT;
	if (table->version != mine->version || table->size < sizeof(*mine)) {
		tell(message,
		     "version %u of the layout, by weir %u.%u.%u: this is weir"
		     " %s, which knows version %u",
		     table->version, table->weir / 10000,
		     table->weir / 100 % 100, table->weir % 100, weir_version(),
		     mine->version);
		return -ENOTSUP;
	}
	return 0;
}

/* A table at that address: 0, -ENOTSUP, or -ENOENT: there is none. */
static int take_table(struct inquiry *self, uint64_t at, char *message)
{
	struct weir__layout *table = &self->table;
	int rc;

	if (!read_bytes(self, at, table, sizeof(*table)))
		return -ENOENT;
	rc = check_table(table, at, message);
	if (rc < 0)
		return rc;
	/* kinds are known by addresses, which are of one table */
	self->n_kinds = 0;
	if (!read_fields(self, &self->all, (uintptr_t)table->all) ||
	    !table->all) {
		tell(message, "the table of layouts points nowhere");
		return -EFAULT;
	}
	return 0;
}

/* Looks by each table in the region: 0 if there is one that can be used. */
static int search(struct inquiry *self, const struct weir__region *region,
		  char *message)
{
	const char *magic = weir__layout.magic;
	uint64_t at = (region->begin + STEP - 1) / STEP * STEP;
	const unsigned char *page;
	int rc = -ENOENT, found;

	for (; at >= region->begin && at < region->end && !self->full;
	     at += STEP) {
		page = page_at(self, at / PAGE * PAGE);
		if (!page) {
			at = at / PAGE * PAGE + PAGE - STEP;
			continue;
		}
		if (memcmp(page + at % PAGE, magic, STEP) != 0)
			continue;
		found = take_table(self, at, message);
		if (found == 0)
			(void)see_living(self);
		if (found == 0 || rc == -ENOENT)
			rc = found;
	}
	return rc;
}

static int look(struct inquiry *self, char *message)
{
	size_t i;
	int rc = -ENOENT, found;

	self->full = false;
	self->left = self->most;
	self->n_torn = 0;
	forget_pages(self);
	for (i = 0; i < self->memory->n_regions && !self->full; i++) {
		found = search(self, &self->memory->regions[i], message);
		if (found == 0 || rc == -ENOENT)
			rc = found;
	}
	if (self->left == 0)
		(void)torn(self);
	return rc;
}

/* --- Looking -------------------------------------------------------------- */

/* NULL: no memory. */
static struct weir__snapshot *with_room(const struct weir_allocator *allocator,
					size_t room)
{
	const struct weir__rooms rooms = {room, room, 1, 1};
	struct weir__snapshot *made = weir__snapshot_new(allocator, room);

	if (!made || weir__snapshot_make_room(made, &rooms))
		return made;
	weir_snapshot_free(&made->seen);
	return NULL;
}

/* All of it, in as much room as it takes. */
static int look_at_all(struct inquiry *self, struct weir__snapshot **snapshot,
		       char *message)
{
	size_t room = FIRST;
	int rc;

	for (;; room *= 2) {
		self->snapshot = with_room(self->allocator, room);
		if (!self->snapshot)
			return -ENOMEM;
		rc = look(self, message);
		/* each thing takes several words to be read: so there is an end */
		if (rc < 0 || !self->full)
			break;
		weir_snapshot_free(&self->snapshot->seen);
	}
	if (rc < 0) {
		weir_snapshot_free(&self->snapshot->seen);
		return rc;
	}
	self->snapshot->seen.n_torn = self->n_torn;
	*snapshot = self->snapshot;
	return 0;
}

static int settle(struct inquiry *self, struct weir__snapshot *first,
		  uint64_t settle_ns, char *message)
{
	const struct timespec time = weir__clock_timespec(settle_ns);
	struct weir__snapshot *later;
	int rc;

	nanosleep(&time, NULL);
	rc = look_at_all(self, &later, message);
	if (rc < 0)
		return rc;
	first->seen.settled = weir__snapshot_same(&first->seen, &later->seen);
	weir__snapshot_stays(first, &later->seen);
	weir_snapshot_free(&later->seen);
	return 0;
}

static int take(struct inquiry *self, struct weir__snapshot **snapshot,
		uint64_t settle_ns, char *message)
{
	int rc;

	if (settle_ns)
		self->now_ns = weir__clock_ns();
	rc = look_at_all(self, snapshot, message);
	if (rc < 0)
		return rc;
	(*snapshot)->seen.settled = settle_ns == 0;
	if (settle_ns)
		rc = settle(self, *snapshot, settle_ns, message);
	if (rc == 0)
		rc = weir__snapshot_finish(*snapshot);
	if (rc < 0)
		weir_snapshot_free(&(*snapshot)->seen);
	return rc;
}

int weir__reader_snapshot(struct weir_snapshot **snapshot,
			  struct weir__memory *memory,
			  const struct weir__reader_options *options,
			  char message[WEIR__READER_MESSAGE])
{
	const struct weir_allocator *allocator =
		options->allocator ? options->allocator
				   : weir_allocator_default();
	struct inquiry self = {
		.memory = memory,
		.allocator = allocator,
		.most = options->most ? options->most : MOST,
		.pages = weir__alloc(allocator, PAGES * sizeof(struct page)),
		.kinds = weir__alloc(allocator, KINDS * sizeof(struct kind)),
	};
	struct weir__snapshot *made = NULL;
	int rc = -ENOMEM;

	*snapshot = NULL;
	message[0] = '\0';
	if (self.pages && self.kinds)
		rc = take(&self, &made, options->settle_ns, message);
	if (rc == -ENOMEM)
		tell(message, "no memory");
	if (rc == -ENOENT)
		tell(message, "no table of layouts: no program with weir, or"
			      " with one before 0.1");
	if (rc == 0)
		*snapshot = &made->seen;
	weir__free(allocator, self.pages, PAGES * sizeof(struct page));
	weir__free(allocator, self.kinds, KINDS * sizeof(struct kind));
	return rc;
}
