/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actors between an out-port and subscribers that are none of ours: a link from
 * the out-port, and a publisher that sends one by one. They live as long as the
 * stream, until what has come is sent.
 *
 * A turn that puts up to `burst` tokens needs room for them all, but a
 * subscriber may request one at a time for ever: so the link has room for two
 * bursts. Where all get every item, one that requests nothing must not hold back
 * the others at once: so it has as much room as the out-port's ring, beyond
 * which the slowest does set the pace. Nothing is put before one of them has
 * requested something, so those who subscribe together get the same.
 */
#include <assert.h>
#include <errno.h>

#include "base/memory.h"
#include "stream/reactive.h"

struct relay {
	struct weir_actor actor;
	/* A reference: who is told of its release need not know of the relay,
	 * which may drop items until its own. */
	struct weir_actor *source;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_out reactive;
};

static inline int relay_turn(struct weir_actor *actor)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(relay_turn)

static void relay_released(struct weir_actor *actor)
{
	struct relay *self = weir_container_of(actor, struct relay, actor);
	struct weir_actor *source = self->source;

	weir__free(actor->executor->options.allocator, self, sizeof(*self));
	weir_actor_unref(source);
}

static const struct weir_actor_ops relay_ops = {
	.name = "relay",
	.turns = relay_turn_n,
	.released = relay_released,
};

/* A power of two. */
static size_t room_for(const struct weir_out *out)
{
	bool all = out->fan && out->fan->way == WEIR_BROADCAST;
	size_t capacity = all ? (size_t)out->mask + 1 : 1;

	assert(capacity && !(capacity & (capacity - 1)));
	while (capacity < 2 * (size_t)out->port.burst)
		capacity *= 2;
	return capacity;
}

/* The relay is new: what fails leaves nothing but its memory. */
static int set_up(struct relay *relay, struct weir_out *out)
{
	int rc = weir_actor_init(&relay->actor, &relay_ops,
				 out->port.actor->executor);

	if (rc == 0)
		rc = weir_out_init(&relay->out, &relay->actor, out->items);
	if (rc == 0)
		rc = weir_reactive_out_init(&relay->reactive, &relay->out,
					    NULL);
	if (rc == 0) /* last, for it takes memory */
		rc = weir_in_init(&relay->in, &relay->actor, room_for(out),
				  NULL);
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
		rc = weir_link(out, &relay->in);
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
	 * weir_subscribe(): a new actor of the subscriber's is not ours.
	 */
	weir__reactive_out_subscribe(&relay->reactive, subscriber);
	rc = relay->reactive.mail ? weir_actor_start(&relay->actor) : -ENOMEM;
	if (rc < 0) {
		weir__link_undo(out);
		(void)weir_out_end(&relay->out, weir_error_of(rc));
		weir_actor_stop(&relay->actor);
	}
	return 0;
}
