/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Out-ports and links. An out-port holds a reference on the actor of each
 * in-port it is linked to, and touches nothing of that actor after dropping it.
 * What the two ends of a link publish is described in lib/lane.
 */
#include "actor/out.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/child_ops.h"
#include "actor/ending.h"
#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/in.h"
#include "actor/link.h"
#include "actor/port.h"
#include "actor/port_set.h"
#include "actor/stats.h"
#include "base/fence.h"
#include "executor/registry.h"

_Static_assert(sizeof(void *) != 8 || sizeof(struct weir_out) == 96,
	       "the layout of struct weir_out is ABI");

static const struct weir_allocator *allocator(const struct weir_out *out)
{
	return out->port.actor->executor->options.allocator;
}

int weir_out_init(struct weir_out *out, struct weir_actor *actor,
		  const struct weir_items *items)
{
	int rc = weir__port_check_init(out, actor);

	if (rc < 0)
		return rc;
	memset(out, 0, sizeof(*out));
	out->items = items;
	weir__port_init(&out->port, actor, WEIR__PORT_OUT);
	return 0;
}

int weir__out_ring(struct weir_out *out, enum weir_fan way, uint32_t capacity)
{
	struct weir__fan *fan = weir__alloc(allocator(out), sizeof(*fan));
	struct weir__slot *slots;

	if (!fan)
		return -ENOMEM;
	slots = weir__alloc(allocator(out), capacity * sizeof(*slots));
	if (!slots) {
		weir__free(allocator(out), fan, sizeof(*fan));
		return -ENOMEM;
	}
	fan->way = way;
	fan->handed = out->putter.tail;
	out->putter.slots = slots;
	out->putter.mask = capacity - 1;
	/* release: the fan; pairs with the acquire in out_look() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&out->fan, fan);
	return 0;
}

int weir_out_fan(struct weir_out *out, enum weir_fan way, size_t capacity)
{
	int rc = weir__port_check_owner(out ? &out->port : NULL);

	if (rc < 0)
		return rc;
	if ((unsigned int)way > WEIR_FAN_BALANCE || capacity == 0 ||
	    capacity > WEIR_CAPACITY_MAX || (capacity & (capacity - 1)) ||
	    capacity < out->port.burst)
		return -EINVAL;
	if (!weir__is_new(out->port.actor))
		return -EPERM;
	if (out->putter.lane || out->fan)
		return -EBUSY;
	return weir__out_ring(out, way, (uint32_t)capacity);
}

static void drop_token(struct weir_out *out, void *item)
{
	if (out->items && out->items->drop)
		out->items->drop(item, out->items->context);
	weir__registry_dropped(out->port.actor->executor, 1);
}

/* --- Looking -------------------------------------------------------------- */

static uint32_t sink_room(struct weir__sink *sink)
{
	return sink->ops ? sink->ops->room(sink)
			 : weir__putter_room(&sink->putter);
}

/*
 * The room that is left for puts: the room of all sinks together, less the
 * tokens of the ring that are not handed out yet.
 */
static uint32_t fan_room(const struct weir_out *out)
{
	const struct weir__fan *fan = out->fan;
	uint32_t waiting = out->putter.tail - fan->handed;
	uint32_t most = out->putter.mask + 1, total = 0, n;
	struct weir__sink *sink;
	bool wanted = false;

	assert(waiting <= most);

	/* Without sinks: if the port is cancelled, tokens are dropped when they
	 * would be handed out. */
	if (!fan->sinks)
		return out->putter.flags & WEIR__OUT_CANCELLED ? most - waiting
							       : 0;
	for (sink = fan->sinks; sink; sink = sink->next) {
		if (!sink->wanted || ck_pr_load_32(sink->wanted))
			wanted = true;
		n = sink_room(sink);
		if (fan->way == WEIR_FAN_BROADCAST && n < most)
			most = n;
		if (total < most)
			total += n < most ? n : most;
	}
	if (fan->way == WEIR_FAN_BALANCE && total < most)
		most = total;
	assert(waiting <= most); /* the ring's tokens have room */
	return wanted ? most - waiting : 0;
}

static uint32_t out_available(struct weir_port *port)
{
	struct weir_out *out = (struct weir_out *)port;
	uint32_t n = UINT32_MAX;

	if (out->putter.lane) {
		weir__out_look(out, &n);
		return n;
	}
	n = 0;
	if (out->fan)
		n = fan_room(out);
	out->putter.limit = out->putter.tail + n;
	return n;
}

static void out_invalidate(struct weir_port *port)
{
	struct weir_out *out = (struct weir_out *)port;

	out->putter.limit = out->putter.tail;
}

/* --- Handing out ---------------------------------------------------------- */

/* The next `n` tokens of the ring, which are without a gap there. */
static void give_span(struct weir__sink *sink, const struct weir__slot *from,
		      uint32_t n)
{
	if (sink->ops) {
		sink->ops->give(sink, from, n);
		return;
	}
	weir__putter_push_slots(&sink->putter, from, n);
	sink->given = true;
}

/* The next `n` tokens of the ring, not marked as handed out yet. */
static void out_give(struct weir_out *out, struct weir__sink *sink, uint32_t n)
{
	uint32_t at = out->fan->handed & out->putter.mask;
	uint32_t first = out->putter.mask + 1 - at;

	if (first > n)
		first = n;
	if (first)
		give_span(sink, out->putter.slots + at, first);
	if (n > first)
		give_span(sink, out->putter.slots, n - first);
}

/* Ends a link behind the tokens that were put, and lets go of its consumer. */
static void end_lane(struct weir_in *in, const struct weir__putter *putter,
		     struct weir_error *error)
{
	/* The last touch of the lane: a consumer that merges frees it then. */
	weir__spsc_close(putter, error);
	weir__actor_signal(in->port.actor, WEIR__SIGNAL_PORTS);
	weir_actor_unref(in->port.actor);
}

static void unlist_sink(struct weir_out *out, struct weir__sink *gone)
{
	struct weir__sink **link = &out->fan->sinks;

	while (*link != gone)
		link = &(*link)->next;
	/* by an operation, as somebody may look */
	ck_pr_store_ptr(link, gone->next);
	assert(out->fan->n_sinks > 0);
	out->fan->n_sinks--;
	/* The other sinks may have room. By rule 2, as the port may be counted
	 * as blocked. */
	weir__port_unblock(&out->port);
}

/* Of a link; it is in no list. */
static void free_sink(const struct weir_out *out, struct weir__sink *sink)
{
	weir__registry_await_look(out->port.actor->executor);
	weir__free(allocator(out), sink, sizeof(*sink));
}

/* Ends the stream for one sink, behind the tokens that were given to it. */
static void end_sink(struct weir_out *out, struct weir__sink *sink,
		     struct weir_error *error)
{
	unlist_sink(out, sink);
	if (sink->ops) {
		sink->ops->end(sink, error);
		return;
	}
	end_lane(sink->in, &sink->putter, error);
	free_sink(out, sink);
}

/* Removes a sink that has cancelled. */
static void drop_sink(struct weir_out *out, struct weir__sink *sink)
{
	unlist_sink(out, sink);
	if (sink->ops) {
		sink->ops->left(sink);
		return;
	}
	weir_actor_unref(sink->in->port.actor);
	free_sink(out, sink);
}

/*
 * Shares each of the next `n` tokens with one holder more. Returns how many
 * were shared; if not all were, *rc tells why.
 */
static uint32_t share(struct weir_out *out, uint32_t n, int *rc)
{
	const struct weir_items *items = out->items;
	uint32_t i;

	*rc = 0;
	if (!items || !items->share)
		return n;
	for (i = 0; i < n; i++) {
		*rc = items->share(out->putter
					   .slots[(out->fan->handed + i) &
						  out->putter.mask]
					   .item,
				   items->context);
		if (*rc != 0)
			break;
	}
	return i;
}

/*
 * Shares the tokens with every sink but the last; the last one gets the tokens
 * themselves.
 */
static void broadcast(struct weir_out *out, uint32_t n)
{
	struct weir__sink *sink, *next;
	uint32_t shared;
	int rc;

	for (sink = out->fan->sinks; sink->next; sink = next) {
		next = sink->next;
		shared = share(out, n, &rc);
		out_give(out, sink, shared);
		if (rc != 0)
			end_sink(out, sink, weir_error_of(rc));
	}
	out_give(out, sink, n);
	out->fan->handed += n;
}

/*
 * Deals runs of tokens, each to one sink, which then goes to the end of the
 * list.
 */
static void balance(struct weir_out *out, uint32_t n)
{
	struct weir__fan *fan = out->fan;
	uint32_t fair = (n + fan->n_sinks - 1) / fan->n_sinks;

	while (n) {
		struct weir__sink *sink = fan->sinks, **link = &fan->sinks;
		uint32_t k = sink_room(sink);

		if (k > fair)
			k = fair;
		if (k > n)
			k = n;
		n -= k;
		out_give(out, sink, k);
		fan->handed += k;
		while (*link)
			link = &(*link)->next;
		/* as in unlist_sink() */
		ck_pr_store_ptr(&fan->sinks, sink->next);
		ck_pr_store_ptr(&sink->next, NULL);
		if (link == &sink->next)
			link = &fan->sinks;
		ck_pr_store_ptr(link, sink);
	}
}

static void count(const struct weir_out *out, uint32_t n)
{
	struct weir_stats *stats = weir__actor_stats(out->port.actor);

	if (stats)
		weir__stats_add(&stats->put, n);
}

static bool publish_fan(struct weir_out *out)
{
	struct weir__fan *fan = out->fan;
	uint32_t n = out->putter.tail - fan->handed;
	struct weir__sink *sink;
	bool links = false;

	if (!n)
		return false;
	if (!fan->sinks) {
		for (; fan->handed != out->putter.tail; fan->handed++)
			drop_token(
				out,
				out->putter
					.slots[fan->handed & out->putter.mask]
					.item);
		return false;
	}
	count(out, n);
	if (fan->way == WEIR_FAN_BALANCE)
		balance(out, n);
	else
		broadcast(out, n);
	/* release: the tokens before the indices; pairs with the acquires in
	 * weir__spsc_look() and weir__spsc_available() */
	ck_pr_fence_release();
	for (sink = fan->sinks; sink; sink = sink->next) {
		if (!sink->given)
			continue;
		(void)weir__putter_publish(&sink->putter);
		links = true;
	}
	return links;
}

static bool out_publish(struct weir_port *port)
{
	struct weir_out *out = (struct weir_out *)port;

	uint32_t n;

	if (out->putter.lane) {
		n = weir__out_publish(out);
		count(out, n);
		return n;
	}
	out->putter.limit = out->putter.tail;
	return out->fan && publish_fan(out);
}

static void out_wake(struct weir_port *port)
{
	struct weir_out *out = (struct weir_out *)port;
	struct weir__sink *sink;

	/* one link: the slice sees to it, see link.h */
	for (sink = out->fan->sinks; sink; sink = sink->next) {
		if (!sink->given)
			continue;
		sink->given = false;
		weir__port_unblock(&sink->in->port);
	}
}

/* --- Linking -------------------------------------------------------------- */

/* Why there is no room for a link more, or 0. */
static int check_room(const struct weir_out *out)
{
	if (out->putter.lane)
		return -EISCONN;
	return weir__out_sinks(out) && !weir__out_shares(out) ? -ENOTSUP : 0;
}

int weir__link_check(const struct weir_out *out, const struct weir_in *in)
{
	int rc;

	if (!out || !in || !out->port.actor || !in->port.actor)
		return -EINVAL;
	if (!weir__owned(out->port.actor) || !weir__owned(in->port.actor))
		return -EPERM;
	if (in->items && in->items != out->items)
		return -EINVAL;
	if (!weir__bursts_fit(out->port.burst, in->port.burst, in))
		return -EINVAL;
	if (out->putter.flags & WEIR__OUT_OVER)
		return -EPIPE;
	rc = check_room(out);
	return rc < 0 ? rc : weir__in_check_lane(in);
}

/*
 * Hands out the ring's tokens between two runs. This comes before the set of
 * sinks changes, so that each of these tokens has the room that it was
 * promised.
 */
static void flush_fan(struct weir_out *out)
{
	if (!publish_fan(out))
		return;
	/* store -> load, rule 2; pairs with the consumers' arming */
	weir__fence_full();
	out_wake(&out->port);
}

static void add_sink(struct weir_out *out, struct weir__sink *sink)
{
	flush_fan(out);
	sink->next = out->fan->sinks;
	/* release: the sink; pairs with the acquire in out_look() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&out->fan->sinks, sink);
	out->fan->n_sinks++;
}

static void attach_in(struct weir_out *out, struct weir_in *in,
		      struct weir__lane *lane)
{
	weir_actor_ref(out->port.actor);
	in->items = out->items;
	weir__in_linked(in, lane, out);
	weir__link_mark(&in->port);
}

/* Makes the sink of a link, if the out-port has a fan. 0 or -ENOMEM. */
static int sink_new(struct weir_out *out, struct weir__sink **sink)
{
	*sink = NULL;
	if (!out->fan)
		return 0;
	*sink = weir__alloc(allocator(out), sizeof(**sink));
	if (!*sink)
		return -ENOMEM;
	**sink = (struct weir__sink){0};
	return 0;
}

static void attach_out(struct weir_out *out, struct weir_in *in,
		       struct weir__lane *lane, struct weir__sink *sink)
{
	weir_actor_ref(in->port.actor);
	if (sink) {
		sink->in = in;
		weir__putter_init(&sink->putter, lane, in->taker.mask);
		add_sink(out, sink);
	} else {
		out->in = in;
		weir__putter_init(&out->putter, lane, in->taker.mask);
	}
	weir__link_mark(&out->port);
}

int weir_out_link(struct weir_out *out, struct weir_in *in)
{
	struct weir__sink *sink = NULL;
	struct weir__lane *lane;
	int rc = weir__link_check(out, in);

	if (rc == 0)
		rc = sink_new(out, &sink);
	if (rc < 0)
		return rc;
	lane = weir__in_lane(in);
	if (!lane) {
		weir__free(allocator(out), sink, sizeof(*sink));
		return -ENOMEM;
	}
	attach_in(out, in, lane);
	attach_out(out, in, lane, sink);
	return 0;
}

void weir__link_in(struct weir_out *out, struct weir_in *in)
{
	assert(!in->merge);
	attach_in(out, in, &in->lane);
	weir__actor_break(in->port.actor);
}

int weir__link_out(struct weir_out *out, struct weir_in *in)
{
	struct weir__sink *sink = NULL;
	int rc = check_room(out);

	if (rc == 0)
		rc = sink_new(out, &sink);
	if (rc < 0) {
		(void)weir__in_end(in, weir_error_of(rc));
		return rc;
	}
	attach_out(out, in, &in->lane, sink);
	/* The consumer may have cancelled before the out-port was linked. */
	weir__actor_signal(out->port.actor, WEIR__SIGNAL_PORTS);
	weir__actor_break(out->port.actor);
	return 0;
}

void weir__out_add(struct weir_out *out, struct weir__sink *sink)
{
	assert(out->fan && sink->ops);
	sink->given = false;
	add_sink(out, sink);
	weir__actor_break(out->port.actor);
}

uint32_t weir__out_sinks(const struct weir_out *out)
{
	if (out->putter.lane)
		return 1;
	return out->fan ? out->fan->n_sinks : 0;
}

/* --- Ending --------------------------------------------------------------- */

static bool sink_gone(struct weir__sink *sink)
{
	return sink->ops ? sink->ops->gone(sink)
			 : weir__putter_cancelled(&sink->putter);
}

/* True if another out-port of the actor is not ended or cancelled. */
static bool others_alive(const struct weir_out *out)
{
	const struct weir_port *port;

	for (port = out->port.actor->ports; port; port = port->next)
		if (port != &out->port && weir__out_of(port) &&
		    !(port->flags & WEIR__PORT_ENDED))
			return true;
	return false;
}

/* A ring to drop from, with room for a burst: there may have been none yet. */
static int drop_ring(struct weir_out *out)
{
	uint32_t capacity = out->putter.mask + 1;

	if (out->fan)
		return 0;
	while (capacity < out->port.burst)
		capacity *= 2;
	return weir__out_ring(out, WEIR_FAN_BALANCE, capacity);
}

static int all_cancelled(struct weir_out *out)
{
	struct weir_actor *actor = out->port.actor;

	out->putter.limit = out->putter.tail;
	weir__actor_break(actor);
	if (out->putter.flags & WEIR__OUT_STAYS)
		return 0;
	out->putter.flags |= WEIR__OUT_CANCELLED;
	weir__port_switch_off(&out->port, WEIR__PORT_ENDED);
	weir__port_tell(&out->port, weir_error_of(-ECANCELED));
	if (!actor->ops->cancelled && !others_alive(out)) {
		weir__actor_end(actor, NULL, false);
		return 0;
	}
	/* Turns go on, and put into a ring of our own. */
	if (drop_ring(out) < 0)
		return -ENOMEM;
	(void)out_available(&out->port);
	return actor->ops->cancelled ? actor->ops->cancelled(actor, out) : 0;
}

int weir__out_left(struct weir_out *out)
{
	if (!(out->putter.flags & WEIR__OUT_LEFT) || weir__out_sinks(out))
		return 0;
	return all_cancelled(out);
}

void weir__link_undo(struct weir_out *out)
{
	if (out->fan) {
		drop_sink(out, out->fan->sinks);
		return;
	}
	out->putter.lane = NULL;
	out->putter.limit = out->putter.tail;
	weir_actor_unref(out->in->port.actor);
	weir__link_mark(&out->port);
	weir__actor_break(out->port.actor);
}

/* The last sink has left: a publisher may have been given others meanwhile. */
static int last_left(struct weir_out *out)
{
	if (!(out->putter.flags & WEIR__OUT_PUBLISHES))
		return all_cancelled(out);
	weir__out_leave(out);
	weir__link_mark(&out->port);
	weir__actor_break(out->port.actor);
	return 0;
}

/*
 * A signal has come. Runs have been published by then, but a handler may have
 * put something since.
 */
static int out_signalled(struct weir_port *port)
{
	struct weir_out *out = (struct weir_out *)port;
	struct weir__sink *sink, *next;
	uint32_t left = 0;

	if (out->port.flags & WEIR__PORT_ENDED)
		return 0;
	if (out->putter.lane) {
		if (!weir__putter_cancelled(&out->putter))
			return 0;
		/* release: the tokens before their index; pairs with the
		 * acquire of the consumer that drains */
		ck_pr_fence_release();
		(void)out_publish(port);
		out->putter.lane = NULL;
		weir_actor_unref(out->in->port.actor);
		return last_left(out);
	}
	if (!out->fan || !out->fan->sinks)
		return 0;
	flush_fan(out);
	for (sink = out->fan->sinks; sink; sink = next) {
		next = sink->next;
		if (sink_gone(sink))
			drop_sink(out, sink);
		else
			left++;
	}
	return left ? 0 : last_left(out);
}

static void out_close(struct weir_port *port, struct weir_error *error)
{
	struct weir_out *out = (struct weir_out *)port;
	struct weir__sink *sink;

	out->putter.limit = out->putter.tail;
	if (out->putter.lane) {
		end_lane(out->in, &out->putter, error);
		out->putter.lane = NULL;
	}
	if (!out->fan)
		return;
	(void)publish_fan(out);
	while ((sink = out->fan->sinks))
		end_sink(out, sink, error);
}

int weir_out_end(struct weir_out *out, struct weir_error *error)
{
	int rc = weir__port_check_owner(out ? &out->port : NULL);

	if (rc < 0)
		return rc;
	if (out->putter.flags & WEIR__OUT_OVER)
		return -EALREADY;
	out->putter.flags |= WEIR__OUT_ENDED;
	out_close(&out->port, error);
	weir__port_switch_off(&out->port, WEIR__PORT_ENDED);
	weir__port_tell(&out->port, error);
	return 0;
}

static void out_fini(struct weir_port *port)
{
	struct weir_out *out = (struct weir_out *)port;

	if (!out->fan)
		return;
	weir__free(allocator(out), out->putter.slots,
		   ((size_t)out->putter.mask + 1) * sizeof(void *));
	weir__free(allocator(out), out->fan, sizeof(*out->fan));
}

static bool out_burst_fits(const struct weir_port *port, uint32_t burst)
{
	const struct weir_out *out = (const struct weir_out *)port;
	const struct weir__sink *sink;

	if (weir__out_lane(out) &&
	    !weir__bursts_fit(burst, out->in->port.burst, out->in))
		return false;
	if (!out->fan)
		return true;
	if (burst > weir__out_capacity(out))
		return false;
	for (sink = out->fan->sinks; sink; sink = sink->next)
		if (!weir__bursts_fit(burst, sink->in->port.burst, sink->in))
			return false;
	return true;
}

static bool out_links_once(const struct weir_port *port)
{
	return weir__out_lane((const struct weir_out *)port);
}

/* Its links are told of where they end. The owner may be moving sinks in their
 * list: a look goes as far as there are any. */
static WEIR__LOOKS void out_look(const struct weir_port *port,
				 struct weir__look *look)
{
	const struct weir_out *out = (const struct weir_out *)port;
	const struct weir__fan *fan = ck_pr_load_ptr(&out->fan);
	const struct weir__sink *sink;
	uint32_t left;

	/* acquire: the fan; pairs with the release in weir__out_ring() */
	ck_pr_fence_acquire();
	look->seen->one_link = fan && fan->way != WEIR_FAN_BROADCAST;
	if (!fan) {
		look->seen->wait = out->putter.lane ? WEIR_WAIT_ROOM
						    : WEIR_WAIT_LINK;
		return;
	}
	left = fan->n_sinks;
	if (left == 0)
		look->seen->wait = WEIR_WAIT_LINK;
	sink = ck_pr_load_ptr(&fan->sinks);
	/* acquire: the sinks; pairs with the release in add_sink() */
	ck_pr_fence_acquire();
	for (; sink && left > 0; sink = ck_pr_load_ptr(&sink->next), left--)
		if (sink->ops) {
			look->seen->wait = WEIR_WAIT_DEMAND;
			sink->ops->look(sink, look);
		}
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__FIELD(OUT_LANE, struct weir_out, putter.lane),
			WEIR__FIELD(OUT_FAN, struct weir_out, fan),
			WEIR__FIELD(FAN_WAY, struct weir__fan, way),
			WEIR__FIELD(FAN_N_SINKS, struct weir__fan, n_sinks),
			WEIR__FIELD(FAN_SINKS, struct weir__fan, sinks),
			WEIR__FIELD(SINK_NEXT, struct weir__sink, next),
			WEIR__FIELD(SINK_OPS, struct weir__sink, ops),
			{0},
		},
};

static const struct weir__port_ops out_ops = {
	.waits = true,
	.awaits = WEIR_WAIT_ROOM,
	.look = out_look,
	.layout = &layout,
	.available = out_available,
	.links_once = out_links_once,
	.burst_fits = out_burst_fits,
	.publish = out_publish,
	.wake = out_wake,
	.invalidate = out_invalidate,
	.signalled = out_signalled,
	.close = out_close,
	.fini = out_fini,
};

/* Before the constructors of a program, which may start actors. */
static __attribute__((constructor(101))) void hand_over(void)
{
	weir__port_kinds[WEIR__PORT_OUT] = &out_ops;
}
