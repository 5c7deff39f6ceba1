/* SPDX-License-Identifier: BSD-2-Clause */
/* What all kinds of ports share: setting up, bursts. */
#include "actor/port.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/child_ops.h"
#include "actor/gate.h"

const struct weir__port_ops *weir__port_kinds[WEIR__PORT_OTHER];

void weir__port_init(struct weir_port *port, struct weir_actor *actor,
		     enum weir__port_kind kind)
{
	struct weir_port **link = &actor->ports;

	assert(kind <= WEIR__PORT_ADAPTER);
	memset(port, 0, sizeof(*port));
	port->actor = actor;
	port->block = &port->blocked;
	port->burst = 1;
	port->kind = (uint8_t)kind;
	if (kind == WEIR__PORT_ADAPTER) {
		port->flags = WEIR__PORT_IGNORED;
		port->left_out = 1;
	}
	/* in-ports before out-ports, adapters last: for
	 * weir__ports_find_simple() */
	while (*link &&
	       !(kind == WEIR__PORT_IN && (*link)->kind == WEIR__PORT_OUT) &&
	       !(kind < WEIR__PORT_ADAPTER &&
		 (*link)->kind == WEIR__PORT_ADAPTER))
		link = &(*link)->next;
	port->next = *link;
	if (weir__is_new(actor)) {
		*link = port;
	} else {
		/* release: the port before it is found; pairs with the acquire
		 * in weir__port_load() */
		ck_pr_fence_release();
		ck_pr_store_ptr(link, port);
	}
	weir__actor_break(actor);
}

void weir__port_tell(struct weir_port *port, struct weir_error *error)
{
	struct weir_port *other;

	for (other = port->actor->ports; other; other = other->next)
		if (other->kind == WEIR__PORT_ADAPTER &&
		    weir__port_ops(other)->other_ended)
			weir__port_ops(other)->other_ended(other, port, error);
}

void weir__link_mark(struct weir_port *port)
{
	if (port->burst == 1 && !weir__port_group(port) &&
	    weir__port_carries(port) && weir__port_ops(port)->links_once(port))
		port->flags |= WEIR__PORT_LINK;
	else
		port->flags &= (uint8_t)~WEIR__PORT_LINK;
}

void weir__ports_find_simple(struct weir_actor *actor)
{
	struct weir_port *port = actor->ports;
	uint32_t flags = 0;

	/* It runs no turn. As it is broken, publishing goes the long way, which
	 * keeps what its turn has peeked at. */
	if (actor->flags & WEIR__ACTOR_FAILED)
		return;
	weir__actor_clear(actor, WEIR__ACTOR_BREAK);
	/* the short slice is for turns that do not block */
	if (weir__thread.may_block)
		return;
	if (port && weir__in_of(port)) {
		flags |= WEIR__ACTOR_TAKES;
		port = port->next;
	}
	if (port && weir__out_of(port)) {
		flags |= WEIR__ACTOR_PUTS;
		port = port->next;
	}
	if ((port && !weir__port_adapts(port)) || weir__actor_stats(actor) ||
	    (actor->flags & WEIR__ACTOR_PENDING))
		return;
	for (port = actor->ports; port; port = port->next)
		if (!weir__port_adapts(port) &&
		    (weir__port_off(port) || !(port->flags & WEIR__PORT_LINK)))
			return;
	weir__actor_set(actor, flags);
}

void weir__ports_partial(struct weir_actor *actor)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next)
		if (port->flags & WEIR__PORT_PARTIAL)
			weir__port_ops(port)->partial(port);
}

int weir_port_set_burst(struct weir_port *port, size_t n)
{
	uint32_t burst = (uint32_t)n;
	int rc = weir__port_check_owner(port);

	if (rc < 0)
		return rc;
	if (n == 0 || n > WEIR_BURST_MAX)
		return -EINVAL;
	if (weir__port_carries(port)) {
		/* the other end relies on it */
		if (!weir__is_new(port->actor))
			return -EPERM;
		if (!weir__port_ops(port)->burst_fits(port, burst))
			return -EINVAL;
	}
	port->burst = burst & 0x7fff; /* which WEIR_BURST_MAX is below */
	weir__link_mark(port);
	weir__actor_break(port->actor);
	return 0;
}
