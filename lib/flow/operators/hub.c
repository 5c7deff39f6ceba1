/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffer of a hub: a ring of items, of which [live, tail) are yet to be
 * taken by a subscriber, and [start, tail) are given to a subscriber that comes
 * now. Each slot counts the subscribers that are there, so that what it costs
 * to take or to subscribe does not depend on how many others there are. A lock
 * is enough: it is held for a few instructions, and a run takes it once or
 * twice for a batch.
 */
#include "flow/operators/hub.h"

#include <assert.h>
#include <errno.h>

#include "base/lock.h"
#include "base/memory.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"

#define AT_ONCE 16
#define NOBODY UINT64_MAX /* no subscriber's id */

struct hub_slot {
	void *item;
	bool moved;	/* its only subscriber has it */
	size_t n_at;	/* subscribers that are to take this item next */
	uint64_t at_ns; /* when it came */
	uint64_t weight;
	uint64_t to; /* id of the subscriber that is chosen for it */
	struct weir__hub_writer *from; /* if that counts its items; or NULL */
};

struct weir_hub {
	const struct weir_items *items;
	const struct weir_allocator *allocator;
	struct weir_hub_options options;
	size_t n_slots;		/* a power of two; one more than are used */
	struct weir__lock lock; /* for the rest */
	struct hub_slot *slots;
	uint64_t head, live, start, tail;
	size_t reserved;  /* room that flows have been promised */
	uint64_t weight;  /* of [head, tail) */
	uint64_t now_ns;  /* the latest time that was looked at */
	size_t n_readers; /* subscribers */
	size_t n_users;	  /* operators that are open */
	uint64_t n_ids;	  /* subscribers that have come */
	uint64_t changes; /* how often one has come or left */
	struct weir__hub_link readers;
	bool connected; /* enough subscribers have come */
	bool ended, shared, lingers;
	struct weir_error *error;
	/* A member is in one of these lists: it waits for room, or for items;
	 * it is to be woken; or none of these. */
	struct weir__hub_link no_room, no_items, woken, busy;
};

static struct hub_slot *slot_of(const struct weir_hub *hub, uint64_t number)
{
	return &hub->slots[number & (hub->n_slots - 1)];
}

static bool keeps_all(const struct weir_hub *hub)
{
	return hub->options.replay == WEIR_HUB_ALL;
}

/* Holds under the lock. */
static __attribute__((unused)) bool is_consistent(const struct weir_hub *hub)
{
	return hub->head <= hub->live && hub->live <= hub->tail &&
	       hub->head <= hub->start && hub->start <= hub->tail &&
	       hub->tail - hub->head + hub->reserved < hub->n_slots &&
	       hub->n_readers <= hub->n_users &&
	       (hub->live == hub->tail || hub->n_readers > 0);
}

/* --- Lists of members ----------------------------------------------------- */

static void list_init(struct weir__hub_link *list)
{
	list->next = list->prev = list;
}

static void unlink_it(struct weir__hub_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* To the end of the list. */
static void link_it(struct weir__hub_link *link, struct weir__hub_link *list)
{
	link->next = list;
	link->prev = list->prev;
	list->prev->next = link;
	list->prev = link;
}

static void move_member(struct weir__hub_member *member,
			struct weir__hub_link *list)
{
	unlink_it(&member->link);
	link_it(&member->link, list);
}

/* All that are in `from`. */
static void move_all(struct weir__hub_link *from, struct weir__hub_link *list)
{
	if (from->next == from)
		return;
	from->next->prev = list->prev;
	list->prev->next = from->next;
	from->prev->next = list;
	list->prev = from->prev;
	list_init(from);
}

/* --- What is kept, and what there is room for ----------------------------- */

/* Whether a subscriber that comes now is given the item `start`. */
static bool is_replayed(const struct weir_hub *hub)
{
	const struct weir_hub_options *options = &hub->options;
	uint64_t at_ns = slot_of(hub, hub->start)->at_ns;

	return hub->tail - hub->start <= options->replay &&
	       (options->max_weight == 0 ||
		hub->weight <= options->max_weight) &&
	       (options->within_ns == 0 || hub->now_ns < at_ns ||
		hub->now_ns - at_ns <= options->within_ns);
}

/* Lets go of what need not be replayed any more. What subscribers have yet to
 * take of that counts as their producers'. */
static void forget(struct weir_hub *hub)
{
	const struct hub_slot *slot;

	while (hub->start < hub->tail && !is_replayed(hub)) {
		slot = slot_of(hub, hub->start);
		hub->weight -= slot->weight;
		if (hub->start++ >= hub->live && slot->from)
			slot->from->n++;
	}
}

/* Lets go of what no subscriber is to take any more. */
static void pass(struct weir_hub *hub)
{
	const struct hub_slot *slot;

	while (hub->live < hub->tail && slot_of(hub, hub->live)->n_at == 0) {
		slot = slot_of(hub, hub->live);
		if (hub->live++ < hub->start && slot->from)
			slot->from->n--;
	}
}

static bool is_taking(const struct weir_hub *hub)
{
	return hub->connected && !hub->ended &&
	       (hub->n_readers > 0 || hub->options.idle == WEIR_HUB_IDLE_GO_ON);
}

/* Only what is held for slow subscribers, and not kept anyway, needs room. */
static size_t room_of(const struct weir_hub *hub)
{
	uint64_t held = hub->start > hub->live ? hub->start - hub->live : 0;
	size_t used = (size_t)held + hub->reserved;
	size_t slots = (size_t)(hub->tail - hub->head) + hub->reserved + 1;

	if (!is_taking(hub) || used >= hub->options.capacity ||
	    slots >= hub->n_slots)
		return 0;
	return weir__at_most(hub->options.capacity - used,
			     hub->n_slots - slots);
}

static void drop_item(const struct weir_hub *hub, void *item)
{
	if (hub->items && hub->items->drop)
		hub->items->drop(item, hub->items->context);
}

/* Takes up to AT_ONCE items out that are neither to be taken nor kept. *n: the
 * items that are to be dropped. True: there may be more. */
static bool take_out(struct weir_hub *hub, void **items, size_t *n)
{
	const struct hub_slot *slot;
	size_t i;

	*n = 0;
	for (i = 0; i < AT_ONCE; i++) {
		if (hub->head == hub->live || hub->head == hub->start)
			return false;
		slot = slot_of(hub, hub->head++);
		if (!slot->moved)
			items[(*n)++] = slot->item;
	}
	return true;
}

/*
 * Releases the lock, behind a change of the hub; then drops what is to be
 * dropped, and wakes who is to be woken. The caller is a user of the hub.
 */
static void settle(struct weir_hub *hub)
{
	struct weir__hub_member *member;
	struct weir__op *ops[AT_ONCE];
	void *items[AT_ONCE];
	size_t n, n_ops, i;
	bool more;

	for (;; weir__lock(&hub->lock)) {
		forget(hub);
		more = take_out(hub, items, &n);
		if (room_of(hub) > 0)
			move_all(&hub->no_room, &hub->woken);
		for (n_ops = 0; n_ops < AT_ONCE; n_ops++) {
			if (hub->woken.next == &hub->woken)
				break;
			member = weir_container_of(
				hub->woken.next, struct weir__hub_member, link);
			move_member(member, &hub->busy);
			ops[n_ops] = member->op;
			weir__op_hold(ops[n_ops]);
		}
		assert(is_consistent(hub));
		weir__unlock(&hub->lock);
		for (i = 0; i < n; i++)
			drop_item(hub, items[i]);
		for (i = 0; i < n_ops; i++) {
			weir__op_wake(ops[i]);
			weir__op_unhold(ops[i]);
		}
		if (!more && n_ops < AT_ONCE)
			return;
	}
}

/* --- The hub -------------------------------------------------------------- */

static bool options_valid(const struct weir_hub_options *options)
{
	return options->capacity <= WEIR_CAPACITY_MAX &&
	       options->per_producer <= WEIR_CAPACITY_MAX &&
	       (options->replay <= WEIR_CAPACITY_MAX ||
		options->replay == WEIR_HUB_ALL) &&
	       options->idle >= WEIR_HUB_IDLE_WAIT &&
	       options->idle <= WEIR_HUB_IDLE_END &&
	       (options->max_weight == 0 || options->weigh) &&
	       (!options->choose ||
		(options->replay == 0 && options->max_weight == 0)) &&
	       weir__reserved_zero(options->reserved);
}

static size_t slots_size(const struct weir_hub *hub)
{
	return hub->n_slots * sizeof(*hub->slots);
}

/* NULL: no memory. */
static struct weir_hub *hub_alloc(const struct weir_hub_options *options,
				  const struct weir_allocator *allocator)
{
	struct weir_hub *hub = weir__alloc(allocator, sizeof(*hub));

	if (!hub)
		return NULL;
	hub->allocator = allocator;
	hub->options = *options;
	if (!hub->options.capacity)
		hub->options.capacity = WEIR_FLOW_BATCH;
	hub->n_slots = 1;
	while (hub->n_slots <=
	       hub->options.capacity + (keeps_all(hub) ? 0 : options->replay))
		hub->n_slots *= 2;
	hub->slots = weir__alloc(allocator, slots_size(hub));
	if (!hub->slots) {
		weir__free(allocator, hub, sizeof(*hub));
		return NULL;
	}
	return hub;
}

int weir_hub_new(struct weir_hub **hub, const struct weir_items *items,
		 const struct weir_hub_options *options,
		 const struct weir_allocator *allocator)
{
	static const struct weir_hub_options none;
	struct weir_hub *self;

	if (!hub)
		return -EINVAL;
	*hub = NULL;
	if (!options)
		options = &none;
	if (!options_valid(options))
		return -EINVAL;
	if (options->replay > 0 && items && items->drop && !items->share)
		return -ENOTSUP;
	self = hub_alloc(options,
			 allocator ? allocator : weir_allocator_default());
	if (!self)
		return -ENOMEM;
	self->items = items;
	self->connected = options->connect_after == 0;
	list_init(&self->readers);
	list_init(&self->no_room);
	list_init(&self->no_items);
	list_init(&self->woken);
	list_init(&self->busy);
	*hub = self;
	return 0;
}

int weir_hub_free(struct weir_hub *hub)
{
	size_t n_users;

	if (!hub)
		return 0;
	weir__lock(&hub->lock);
	n_users = hub->n_users;
	weir__unlock(&hub->lock);
	if (n_users > 0)
		return -EBUSY;
	for (; hub->head < hub->tail; hub->head++)
		if (!slot_of(hub, hub->head)->moved)
			drop_item(hub, slot_of(hub, hub->head)->item);
	weir_error_unref(hub->error);
	weir__free(hub->allocator, hub->slots, slots_size(hub));
	weir__free(hub->allocator, hub, sizeof(*hub));
	return 0;
}

/* Under the lock. All members are woken: an end is told without demand. */
static void end_it(struct weir_hub *hub, struct weir_error *error)
{
	hub->ended = true;
	hub->error = weir_error_ref(error);
	move_all(&hub->no_room, &hub->woken);
	move_all(&hub->no_items, &hub->woken);
	move_all(&hub->busy, &hub->woken);
}

int weir_hub_end(struct weir_hub *hub, struct weir_error *error)
{
	if (!hub)
		return -EINVAL;
	weir__lock(&hub->lock);
	if (hub->ended) {
		weir__unlock(&hub->lock);
		return -EALREADY;
	}
	end_it(hub, error);
	settle(hub);
	return 0;
}

void weir__hub_set_shared(struct weir_hub *hub, bool lingers)
{
	hub->shared = true;
	hub->lingers = lingers;
}

bool weir__hub_is_idle(struct weir_hub *hub, uint64_t *changes)
{
	bool idle;

	weir__lock(&hub->lock);
	idle = hub->connected && hub->n_readers == 0;
	*changes = hub->changes;
	weir__unlock(&hub->lock);
	return idle;
}

void weir__hub_end_idle(struct weir_hub *hub, uint64_t changes)
{
	weir__lock(&hub->lock);
	if (!hub->ended && hub->changes == changes)
		end_it(hub, NULL);
	settle(hub);
}

size_t weir_hub_subscribers(struct weir_hub *hub)
{
	size_t n;

	if (!hub)
		return 0;
	weir__lock(&hub->lock);
	n = hub->n_readers;
	weir__unlock(&hub->lock);
	return n;
}

void weir__hub_use(struct weir_hub *hub)
{
	weir__lock(&hub->lock);
	hub->n_users++;
	weir__unlock(&hub->lock);
}

void weir__hub_unuse(struct weir_hub *hub)
{
	weir__lock(&hub->lock);
	assert(hub->n_users > 0);
	hub->n_users--;
	weir__unlock(&hub->lock);
}

const struct weir_items *weir__hub_items(const struct weir_hub *hub)
{
	return hub->items;
}

bool weir__hub_stays(const struct weir_hub *hub)
{
	return hub->options.stays;
}

struct weir_error *weir__hub_error(struct weir_hub *hub)
{
	struct weir_error *error;

	weir__lock(&hub->lock);
	error = hub->error;
	weir__unlock(&hub->lock);
	return error;
}

/* --- Putting -------------------------------------------------------------- */

static void look_at_clock(struct weir_hub *hub, uint64_t now_ns)
{
	if (now_ns > hub->now_ns)
		hub->now_ns = now_ns;
}

void weir__hub_add_writer(struct weir_hub *hub, struct weir__hub_writer *writer)
{
	weir__lock(&hub->lock);
	link_it(&writer->member.link, &hub->busy);
	weir__unlock(&hub->lock);
}

void weir__hub_remove_writer(struct weir_hub *hub,
			     struct weir__hub_writer *writer)
{
	uint64_t number;

	weir__lock(&hub->lock);
	unlink_it(&writer->member.link);
	for (number = hub->head; hub->options.per_producer; number++) {
		if (number == hub->tail)
			break;
		if (slot_of(hub, number)->from == writer)
			slot_of(hub, number)->from = NULL;
	}
	weir__unlock(&hub->lock);
}

/* Whether the next batch may not fit into the ring. */
static bool is_tight(struct weir_hub *hub, size_t *n_slots)
{
	bool tight;

	weir__lock(&hub->lock);
	*n_slots = hub->n_slots;
	tight = hub->tail - hub->head + hub->reserved + WEIR_FLOW_BATCH >=
		*n_slots;
	weir__unlock(&hub->lock);
	return tight;
}

int weir__hub_grow(struct weir_hub *hub)
{
	struct hub_slot *slots, *unused;
	uint64_t number;
	size_t n;

	if (!keeps_all(hub) || !is_tight(hub, &n))
		return 0;
	unused = slots = weir__alloc(hub->allocator, 2 * n * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	weir__lock(&hub->lock);
	if (hub->n_slots == n) {
		/* up to the tail, where subscribers may be */
		for (number = hub->head; number <= hub->tail; number++)
			slots[number & (2 * n - 1)] = *slot_of(hub, number);
		unused = hub->slots;
		hub->slots = slots;
		hub->n_slots = 2 * n;
	}
	weir__unlock(&hub->lock);
	weir__free(hub->allocator, unused,
		   (unused == slots ? 2 * n : n) * sizeof(*slots));
	return 0;
}

size_t weir__hub_reserve(struct weir_hub *hub, struct weir__hub_writer *writer,
			 size_t most, bool *over)
{
	size_t n, share = hub->options.per_producer;

	weir__lock(&hub->lock);
	*over = hub->ended;
	n = weir__at_most(room_of(hub), most);
	if (share > 0)
		n = writer->n < share ? weir__at_most(share - writer->n, n) : 0;
	hub->reserved += n;
	writer->n += n;
	if (most > 0)
		move_member(&writer->member,
			    n > 0 || *over ? &hub->busy : &hub->no_room);
	assert(is_consistent(hub));
	weir__unlock(&hub->lock);
	return n;
}

/* Which of `n_readers` subscribers gets the item into *said, or NOBODY. 0, or
 * what options.choose says. */
static int choose(const struct weir_hub_options *options, void *item,
		  size_t n_readers, uint64_t *said)
{
	size_t chosen = n_readers;
	int rc = 1;

	if (n_readers > 0)
		rc = options->choose(item, n_readers, &chosen,
				     options->context);
	if (rc == 0 && chosen >= n_readers)
		return -ERANGE;
	*said = rc == 0 ? chosen : NOBODY;
	return rc < 0 ? rc : 0;
}

/* Asks the program's function about each item, into `said`: its weight, or who
 * gets it. *done: how many items it has accepted. 0, or why not the next. */
static int ask(const struct weir_hub *hub, void *const *items, size_t n,
	       size_t n_readers, uint64_t *said, size_t *done)
{
	const struct weir_hub_options *options = &hub->options;
	int rc = 0;
	size_t i;

	for (i = 0; i < n && rc == 0; i += rc == 0)
		if (options->choose)
			rc = choose(options, items[i], n_readers, &said[i]);
		else
			said[i] = options->max_weight
					  ? options->weigh(items[i],
							   options->context)
					  : 0;
	*done = i;
	return rc;
}

/* The id of the subscriber at this place, or NOBODY. */
static uint64_t id_at(const struct weir_hub *hub, uint64_t place)
{
	const struct weir__hub_link *link = hub->readers.next;

	if (place == NOBODY)
		return NOBODY;
	for (; place > 0; place--)
		link = link->next;
	return weir_container_of(link, struct weir__hub_reader, by_age)->id;
}

static void store(struct weir_hub *hub, struct weir__hub_writer *writer,
		  void *item, uint64_t now_ns, uint64_t said)
{
	const struct weir_hub_options *options = &hub->options;
	struct hub_slot *slot = slot_of(hub, hub->tail++);

	slot->item = item;
	slot->moved = false;
	slot->at_ns = now_ns;
	slot->weight = options->choose ? 0 : said;
	slot->to = options->choose ? id_at(hub, said) : NOBODY;
	slot->from = options->per_producer ? writer : NULL;
	hub->weight += slot->weight;
}

int weir__hub_put(struct weir_hub *hub, struct weir__hub_writer *writer,
		  void *const *items, size_t n, size_t reserved, size_t *done)
{
	uint64_t now_ns = weir__op_now(writer->member.op);
	uint64_t said[WEIR_FLOW_BATCH], changes = UINT64_MAX;
	size_t i, n_readers = 0;
	int rc;

	assert(n <= reserved && reserved <= WEIR_FLOW_BATCH);
	for (;; weir__unlock(&hub->lock)) {
		rc = ask(hub, items, n, n_readers, said, done);
		weir__lock(&hub->lock);
		if (!hub->options.choose || changes == hub->changes)
			break;
		changes = hub->changes;
		n_readers = hub->n_readers;
	}
	look_at_clock(hub, now_ns);
	hub->reserved -= reserved;
	writer->n -= reserved;
	if (hub->ended) {
		*done = 0;
		rc = -EPIPE;
	}
	for (i = 0; i < *done; i++)
		store(hub, writer, items[i], now_ns, said[i]);
	pass(hub);
	if (*done > 0)
		move_all(&hub->no_items, &hub->woken);
	settle(hub);
	return rc;
}

/* --- Taking --------------------------------------------------------------- */

static bool can_share(const struct weir_hub *hub)
{
	const struct weir_items *items = hub->items;

	return !items || !items->drop || items->share || hub->options.choose;
}

int weir__hub_add_reader(struct weir_hub *hub, struct weir__hub_reader *reader,
			 bool late)
{
	uint64_t now_ns = weir__op_now(reader->member.op);
	int rc = 0;

	weir__lock(&hub->lock);
	if (hub->ended && !late)
		rc = -EPIPE;
	else if (hub->n_readers > 0 && !can_share(hub))
		rc = -ENOTSUP;
	if (rc < 0) {
		weir__unlock(&hub->lock);
		return rc;
	}
	look_at_clock(hub, now_ns);
	forget(hub);
	reader->next = hub->start;
	reader->last = UINT64_MAX;
	if (reader->next < hub->live)
		hub->live = reader->next;
	slot_of(hub, reader->next)->n_at++;
	link_it(&reader->member.link, &hub->busy);
	reader->id = hub->n_ids++;
	link_it(&reader->by_age, &hub->readers);
	hub->changes++;
	hub->n_readers++;
	reader->connects = !hub->connected &&
			   hub->n_readers >= hub->options.connect_after;
	hub->connected |= reader->connects;
	settle(hub);
	return 0;
}

/* Under the lock. */
static void go_on(struct weir_hub *hub, struct weir__hub_reader *reader,
		  size_t n)
{
	slot_of(hub, reader->next)->n_at--;
	reader->next += n;
	slot_of(hub, reader->next)->n_at++;
	pass(hub);
}

/* Under the lock: the last subscriber has left. */
static void left_alone(struct weir_hub *hub)
{
	if (hub->connected ? !hub->lingers : hub->shared) {
		end_it(hub, NULL);
	} else if (hub->connected) {
		move_all(&hub->no_room, &hub->woken);
		move_all(&hub->busy, &hub->woken);
	}
}

bool weir__hub_remove_reader(struct weir_hub *hub,
			     struct weir__hub_reader *reader)
{
	bool ended;

	weir__lock(&hub->lock);
	unlink_it(&reader->member.link);
	unlink_it(&reader->by_age);
	slot_of(hub, reader->next)->n_at--;
	hub->changes++;
	hub->n_readers--;
	pass(hub);
	if (hub->n_readers == 0 && !hub->ended &&
	    hub->options.idle == WEIR_HUB_IDLE_END)
		left_alone(hub);
	ended = hub->ended;
	settle(hub);
	return ended;
}

/* Moves the items out of the hub that only this subscriber takes, at most `n`,
 * and returns how many; none of a hub with a replay. */
static size_t move_out(struct weir_hub *hub,
		       const struct weir__hub_reader *reader, size_t n)
{
	size_t i;

	if (hub->options.replay > 0 || hub->live != reader->next)
		return 0;
	for (i = 0; i < n; i++) {
		if (slot_of(hub, reader->next + i)->n_at != (i == 0))
			break;
		slot_of(hub, reader->next + i)->moved = true;
	}
	return i;
}

/* Shares items [from, n) without the lock: until the subscriber goes on they
 * stay in the hub. Returns how many of the `n` it has then. */
static size_t share(const struct weir_hub *hub, void *const *items, size_t from,
		    size_t n, int *rc)
{
	for (; from < n && *rc == 0; from += *rc == 0)
		*rc = hub->items->share(items[from], hub->items->context);
	return from;
}

/* Takes the items before `until` that are chosen for this subscriber, and
 * passes those for others. */
static size_t take_chosen(struct weir_hub *hub, struct weir__hub_reader *reader,
			  void **items, size_t room, uint64_t until)
{
	uint64_t number = reader->next;
	struct hub_slot *slot;
	size_t n = 0;

	for (; number < until; number++) {
		slot = slot_of(hub, number);
		if (slot->to != reader->id)
			continue;
		if (n == room)
			break;
		slot->moved = true;
		items[n++] = slot->item;
	}
	go_on(hub, reader, (size_t)(number - reader->next));
	return n;
}

/* Takes the items before `until`. */
static size_t take_all(struct weir_hub *hub, struct weir__hub_reader *reader,
		       void **items, size_t room, uint64_t until, int *rc)
{
	size_t n = weir__at_most(until - reader->next, room), i, n_moved;

	for (i = 0; i < n; i++)
		items[i] = slot_of(hub, reader->next + i)->item;
	n_moved = move_out(hub, reader, n);
	if (n_moved < n && hub->items && hub->items->share) {
		weir__unlock(&hub->lock);
		n = share(hub, items, n_moved, n, rc);
		weir__lock(&hub->lock);
	}
	if (n > 0)
		go_on(hub, reader, n);
	return n;
}

size_t weir__hub_take(struct weir_hub *hub, struct weir__hub_reader *reader,
		      void **items, size_t room, bool *over, int *rc)
{
	uint64_t until;
	size_t n;

	*rc = 0;
	weir__lock(&hub->lock);
	until = hub->tail < reader->last ? hub->tail : reader->last;
	n = hub->options.choose ? take_chosen(hub, reader, items, room, until)
				: take_all(hub, reader, items, room, until, rc);
	*over = reader->next == reader->last ||
		(hub->ended && reader->next == hub->tail);
	if (n == 0 && reader->next == hub->tail && !*over)
		move_member(&reader->member, &hub->no_items);
	settle(hub);
	return n;
}

void weir__hub_drain(struct weir_hub *hub, struct weir__hub_reader *reader)
{
	weir__lock(&hub->lock);
	if (reader->last == UINT64_MAX)
		reader->last = hub->tail;
	weir__unlock(&hub->lock);
}
