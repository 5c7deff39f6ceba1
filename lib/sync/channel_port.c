/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ports at a channel, for either side. A reservation of items or room
 * (channel.c) is granted to them; when and how is described in grant.c.
 */
#include "actor/ending.h"
#include "sync/channel.h"

#include <errno.h>

#include "actor/gate.h"
#include "actor/port_set.h"
#include "sync/grant.h"

/* How in- and out-ports begin. */
struct channel_port {
	struct weir__grant_port grant;
	struct weir_channel *channel;
};

_Static_assert(offsetof(struct channel_port, channel) ==
			       offsetof(struct weir_channel_in, channel) &&
		       offsetof(struct channel_port, channel) ==
			       offsetof(struct weir_channel_out, channel),
	       "both are a struct channel_port");

static const struct weir__port_ops in_ops, out_ops;

static struct weir_channel *channel_of(const struct weir__grant_port *port)
{
	return ((const struct channel_port *)port)->channel;
}

static enum weir__side side_of(const struct weir__grant_port *port)
{
	return port->ops == &in_ops ? WEIR__TAKE : WEIR__PUT;
}

static int channel_take(struct weir__grant_port *port, uint32_t n)
{
	struct weir__claim claim = {.n = n};

	return weir__channel_claim(channel_of(port), side_of(port), &claim,
				   false);
}

/*
 * A burst above the channel's capacity, which could never be granted, is cut
 * down to it.
 */
static int channel_ask(struct weir__grant_port *port)
{
	struct weir_channel *channel = channel_of(port);
	int64_t capacity = (int64_t)weir__channel_capacity(channel);

	if (port->claim.n > capacity)
		port->claim.n = capacity;
	return weir__channel_claim(channel, side_of(port), &port->claim, true);
}

static bool cancel(struct weir__grant_port *port)
{
	return weir__channel_cancel(channel_of(port), side_of(port),
				    &port->claim);
}

static void channel_give(struct weir__grant_port *port, uint32_t n)
{
	weir__channel_return(channel_of(port), side_of(port), n);
}

static const struct weir__grantor grantor = {
	.take = channel_take,
	.ask = channel_ask,
	.cancel = cancel,
	.give = channel_give,
};

/* Without a handler the actor ends, as it does when its last stream ends. */
static int signalled(struct weir_port *port)
{
	struct weir__grant_port *self = (struct weir__grant_port *)port;
	struct weir_channel_in *in = (struct weir_channel_in *)port;
	struct weir_channel_out *out = (struct weir_channel_out *)port;
	struct weir_error *error;

	if (!weir__grant_ended(self))
		return 0;
	weir__port_switch_off(port, WEIR__PORT_ENDED);
	error = weir_channel_error(channel_of(self));
	if (side_of(self) == WEIR__TAKE && in->ended)
		return in->ended(in, error);
	if (side_of(self) == WEIR__PUT && out->ended)
		return out->ended(out, error);
	weir__actor_end(port->actor, weir_error_ref(error), false);
	return 0;
}

static void look(const struct weir_port *port, struct weir__look *look)
{
	const struct weir__grant_port *self =
		(const struct weir__grant_port *)port;
	struct weir_seen_object seen;

	weir__channel_look(channel_of(self), &seen);
	look->object(look, &seen);
	look->seen->takes = side_of(self) == WEIR__TAKE;
	weir__grant_look(port, look);
}

static const struct weir__layout_of in_layout = {
	.self = &in_layout,
	.fields =
		{
			WEIR__GRANT_FIELDS,
			WEIR__FIELD(PORT_OBJECT, struct channel_port, channel),
			WEIR__CHANNEL_FIELDS,
			WEIR__NUMBER(PORT_TAKES, 1),
			{0},
		},
};

static const struct weir__layout_of out_layout = {
	.self = &out_layout,
	.fields =
		{
			WEIR__GRANT_FIELDS,
			WEIR__FIELD(PORT_OBJECT, struct channel_port, channel),
			WEIR__CHANNEL_FIELDS,
			WEIR__NUMBER(PORT_TAKES, 0),
			{0},
		},
};

static const struct weir__port_ops in_ops = {
	.takes = true,
	.awaits = WEIR_WAIT_CHANNEL,
	.look = look,
	.layout = &in_layout,
	WEIR__GRANT_OPS,
	.signalled = signalled,
};

static const struct weir__port_ops out_ops = {
	.awaits = WEIR_WAIT_CHANNEL,
	.look = look,
	.layout = &out_layout,
	WEIR__GRANT_OPS,
	.signalled = signalled,
};

int weir_channel_in_init(struct weir_channel_in *in, struct weir_actor *actor,
			 struct weir_channel *channel)
{
	int rc = -EINVAL;

	if (channel)
		rc = weir__grant_init((struct weir__grant_port *)in, actor,
				      &in_ops, &grantor);
	if (rc < 0)
		return rc;
	in->channel = channel;
	in->ended = NULL;
	return 0;
}

int weir_channel_out_init(struct weir_channel_out *out,
			  struct weir_actor *actor,
			  struct weir_channel *channel)
{
	int rc = -EINVAL;

	if (channel)
		rc = weir__grant_init((struct weir__grant_port *)out, actor,
				      &out_ops, &grantor);
	if (rc < 0)
		return rc;
	out->channel = channel;
	out->ended = NULL;
	return 0;
}

int weir_channel_in_take(struct weir_channel_in *in, void **item)
{
	int rc = item ? weir__grant_use((struct weir__grant_port *)in, 1)
		      : -EINVAL;

	return rc < 0 ? rc : weir__channel_move(in->channel, WEIR__TAKE, item);
}

int weir_channel_out_put(struct weir_channel_out *out, void *item)
{
	int rc = weir__grant_use((struct weir__grant_port *)out, 1);

	return rc < 0 ? rc : weir__channel_move(out->channel, WEIR__PUT, &item);
}
