/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a slice asks of ports with one link, in line. Most ports have one link,
 * and a call for each look would cost more than the look. Ports of other kinds,
 * and ports with one link to which something unusual has happened, are asked
 * through struct weir__port_ops.
 */
#ifndef WEIR_ACTOR_LINK_H
#define WEIR_ACTOR_LINK_H

#include "actor/child_ops.h"
#include "actor/in.h"
#include "actor/out.h"
#include "actor/stats.h"

/*
 * *turns: the turns that are available on a port with one link. False: ask the
 * port's ops, as something about the port is special.
 */
static inline bool weir__link_look(struct weir_port *port, uint32_t *turns)
{
	*turns = UINT32_MAX;
	if (port->flags != WEIR__PORT_LINK)
		return false;
	if (weir__in_of(port))
		return weir__in_look(weir__in_of(port), turns);
	weir__out_look(weir__out_of(port), turns);
	return true;
}

/*
 * True if the in-port has several producers: a look finds tokens of one of
 * them.
 */
static inline bool weir__link_merges(const struct weir_port *port)
{
	const struct weir_in *in = weir__in_of(port);

	return in && weir__in_merges(in);
}

/*
 * Publishes the tokens, or the room, of a port with one link. *peer: the port
 * at the other end if there is something new for it, or NULL. False: the port
 * is none with one link.
 */
static inline bool weir__link_publish(struct weir_port *port,
				      struct weir_port **peer)
{
	struct weir_in *in = weir__in_of(port);
	struct weir_out *out = weir__out_of(port);
	struct weir_stats *stats = weir__actor_stats(port->actor);
	uint32_t n;

	*peer = NULL;
	if (in) {
		if (!(in->taker.flags & WEIR__IN_LINKED) ||
		    WEIR_UNLIKELY(weir__in_overtaken(in)) ||
		    WEIR_UNLIKELY(weir__actor_broken(port->actor)))
			return false;
		n = weir__in_publish(in);
		if (n && in->lane.out)
			*peer = &in->lane.out->port;
		if (WEIR_UNLIKELY(stats))
			weir__stats_add(&stats->taken, n);
		return true;
	}
	if (!out || !weir__out_lane(out))
		return false;
	n = weir__out_publish(out);
	if (n)
		*peer = &out->in->port;
	if (WEIR_UNLIKELY(stats))
		weir__stats_add(&stats->put, n);
	return true;
}

/* The port at the other end of a port's one link, or NULL. */
static inline struct weir_port *weir__link_peer(struct weir_port *port)
{
	struct weir_in *in = weir__in_of(port);
	struct weir_out *out = weir__out_of(port);

	if (in && in->lane.out)
		return &in->lane.out->port;
	if (out && weir__out_lane(out))
		return &out->in->port;
	return NULL;
}

#endif
