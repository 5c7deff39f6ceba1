/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Relays: actors between an out-port and subscribers that are not linked to it.
 * A relay has a link from the out-port, and a publisher that sends items one by
 * one. It lives as long as the stream, until the items that have come are sent.
 *
 * A turn that puts up to `burst` tokens needs room for all of them, but a
 * subscriber may request one at a time for ever: so the link has room for two
 * bursts. In a broadcast a subscriber that requests nothing must not hold back
 * the others at once: so its relay's link has as much room as the out-port's
 * ring. Beyond that the slowest subscriber does set the pace. Nothing is put
 * before a subscriber has requested something, so subscribers that come
 * together get the same items.
 *
 * An error is to be told at once (1.4, 4.2): a relay sends what was requested,
 * then the error, and drops the items that it still has.
 */
#include <assert.h>
#include <errno.h>

#include "actor/firing.h"
#include "base/memory.h"
#include "stream/reactive.h"

struct relay {
	struct weir_actor actor;
	/* A reference. A program that is told of this actor's release need not
	 * know of the relay, which may drop items until its own release. */
	struct weir_actor *source;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_out reactive;
	struct weir__port_adapter failing; /* handles errors */
	bool fails; /* the error has come, and there is demand */
};

static inline int relay_turn(struct weir_actor *actor)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(relay_turn)

/*
 * Signals here and not in the handler: no turn is run before signals are
 * handled.
 */
static uint32_t relay_turns(struct weir_actor *actor, uint32_t n)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);

	n = relay_turn_n(actor, n);
	if (WEIR_UNLIKELY(self->fails))
		weir__actor_signal(actor, WEIR__SIGNAL_PORTS);
	return n;
}

/*
 * A signal has come, maybe because the link has ended with an error. While
 * there are items and demand for them, turns run first: relay_turns() signals
 * behind each run, and this handler looks at the error again.
 */
static int failing_signalled(struct weir_port *port)
{
	struct relay *self =
		weir_container_of(port, struct relay, failing.port);
	struct weir_error *error = weir__in_failed(&self->in);

	if (!error || weir__port_turns(&self->in.port) == 0)
		return 0;
	self->fails = weir__port_turns(&self->out.port) > 0;
	if (self->fails)
		return 0;
	(void)weir_out_end(&self->out, error);
	(void)weir_actor_end(&self->actor);
	return 0;
}

static const struct weir__port_ops failing_ops = {
	.signalled = failing_signalled,
};

static void relay_released(struct weir_actor *actor)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);
	struct weir_actor *source = self->source;

	weir__free(actor->executor->options.allocator, self, sizeof(*self));
	weir_actor_unref(source);
}

static const struct weir_actor_ops relay_ops = {
	.name = "relay",
	.turns = relay_turns,
	.released = relay_released,
};

/* Its own out-port hands out one by one, to one subscriber. */
static int relay_signalled(struct weir_port *port)
{
	return weir__reactive_out_signalled(port, NULL);
}

static const struct weir__port_ops reactive_ops = {
	.signalled = relay_signalled,
	.other_ended = weir__reactive_out_other_ended,
	.close = weir__reactive_out_close,
	.fini = weir__reactive_out_fini,
};

/* A power of two. */
static size_t room_for(const struct weir_out *out)
{
	bool all = weir__out_broadcasts(out);
	size_t capacity = all ? weir__out_capacity(out) : 1;

	assert(capacity && !(capacity & (capacity - 1)));
	while (capacity < 2 * (size_t)out->port.burst)
		capacity *= 2;
	return capacity;
}

/* The relay is new: a failure leaves nothing but its memory to free. */
static int set_up(struct relay *relay, struct weir_out *out)
{
	int rc = weir_actor_init(&relay->actor, &relay_ops,
				 out->port.actor->executor);

	if (rc == 0)
		rc = weir_out_init(&relay->out, &relay->actor, out->items);
	if (rc == 0)
		rc = weir__reactive_out_init(&relay->reactive, &relay->out,
					     NULL, &reactive_ops);
	if (rc == 0) /* last, for it takes memory */
		rc = weir_in_init(&relay->in, &relay->actor, room_for(out),
				  NULL);
	relay->failing.ops = &failing_ops;
	if (rc == 0)
		weir__port_init(&relay->failing.port, &relay->actor,
				WEIR__PORT_ADAPTER);
	return rc;
}

int weir__relay(struct weir_out *out, struct weir_subscriber *subscriber)
{
	const struct weir_allocator *allocator =
		out->port.actor->executor->options.allocator;
	struct relay *relay = weir__alloc(allocator, sizeof(*relay));
	int rc = relay ? set_up(relay, out) : -ENOMEM;

	assert(weir__owned(out->port.actor));
	if (rc < 0) {
		weir__free(allocator, relay, sizeof(*relay));
		return rc;
	}
	relay->source = weir_actor_ref(out->port.actor);
	rc = weir__reactive_out_ring(&relay->reactive);
	if (rc == 0)
		rc = weir_out_link(out, &relay->in);
	if (rc == 0 && out->fan) {
		relay->reactive.source = out;
		weir__out_wanted(out, &relay->reactive.wanted);
	}
	if (rc < 0) {
		weir_actor_stop(&relay->actor);
		return rc;
	}
	/*
	 * From here on the relay tells the subscriber what goes wrong. Not by
	 * weir_publisher_subscribe(): a new actor of the subscriber's is not
	 * ours.
	 */
	weir__reactive_out_subscribe(&relay->reactive, subscriber);
	rc = relay->reactive.pending ? weir_actor_start(&relay->actor)
				     : -ENOMEM;
	if (rc < 0) {
		weir__link_undo(out);
		(void)weir_out_end(&relay->out, weir_error_of(rc));
		weir_actor_stop(&relay->actor);
	}
	return 0;
}
