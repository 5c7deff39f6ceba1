/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a slice asks of ports with one link, which most have, in line: a call
 * for each would cost more than the answer. All other ports, and these when
 * something unusual has happened, are asked through struct weir__port_ops.
 */
#ifndef WEIR_ACTOR_LINK_H
#define WEIR_ACTOR_LINK_H

#include "actor/in.h"
#include "actor/out.h"

/*
 * The turns that are certain on a port with one link, if nothing is special
 * about it; else false: ask the port's ops.
 */
static inline bool weir__link_look(struct weir_port *port, uint32_t *turns)
{
	if (port->flags || port->burst != 1 || port->any)
		return false;
	if (port->kind == WEIR__PORT_IN)
		return weir__in_look((struct weir_in *)port, turns);
	return port->kind == WEIR__PORT_OUT &&
	       weir__out_look((struct weir_out *)port, turns);
}

/*
 * Publishes what concerns the one link of a port; false: not such a port.
 * *peer: the port at the other end, if there is something new for it.
 */
static inline bool weir__link_publish(struct weir_port *port,
				      struct weir_port **peer)
{
	struct weir_in *in = (struct weir_in *)port;
	struct weir_out *out = (struct weir_out *)port;
	bool dirty;

	*peer = NULL;
	if (port->kind == WEIR__PORT_IN && weir__in_publish(in, &dirty)) {
		if (dirty)
			*peer = &in->lane.out->port;
		return true;
	}
	if (port->kind == WEIR__PORT_OUT && weir__out_publish(out, &dirty)) {
		if (dirty)
			*peer = &out->in->port;
		return true;
	}
	return false;
}

/* The port at the other end of a port's one link, or NULL. */
static inline struct weir_port *weir__link_peer(struct weir_port *port)
{
	struct weir_in *in = (struct weir_in *)port;
	struct weir_out *out = (struct weir_out *)port;

	if (port->kind == WEIR__PORT_IN && in->lane.out)
		return &in->lane.out->port;
	if (port->kind == WEIR__PORT_OUT && out->lane)
		return &out->in->port;
	return NULL;
}

#endif
