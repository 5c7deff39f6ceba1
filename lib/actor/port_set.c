/* SPDX-License-Identifier: BSD-2-Clause */
/* The set of ports that take part in firing: rule 7 of firing.c. */
#include "actor/port_set.h"

#include <assert.h>
#include <errno.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/port.h"

/*
 * Rule 7: the thread that reads 1 takes the port off the count. Here it may be
 * the owner, so that a port that takes no part cannot hold the actor back.
 */
void weir__port_switch_off(struct weir_port *port, uint8_t flag)
{
	assert(flag == WEIR__PORT_IGNORED || flag == WEIR__PORT_ENDED);
	port->flags |= flag;
	if (port->block == &port->blocked) /* in no group */
		weir__port_unblock(port);
	weir__actor_break(port->actor);
}

void weir__ports_keep_set(struct weir_actor *actor)
{
	struct weir_port *port;

	assert(weir__state(actor) == WEIR__STATE_RUNNING);
	for (port = actor->ports; port; port = port->next)
		port->left_out = (port->flags & WEIR__PORT_IGNORED) != 0;
}

void weir__ports_reset_set(struct weir_actor *actor)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		if (!port->left_out)
			port->flags &= (uint8_t)~WEIR__PORT_IGNORED;
		else if (!(port->flags & WEIR__PORT_IGNORED))
			weir__port_switch_off(port, WEIR__PORT_IGNORED);
	}
	weir__actor_break(actor);
}

int weir_port_ignore(struct weir_port *port)
{
	int rc = weir__port_check_owner(port);

	if (rc < 0)
		return rc;
	if (weir__port_group(port))
		return -EINVAL;
	weir__port_switch_off(port, WEIR__PORT_IGNORED);
	return 0;
}

int weir_port_require(struct weir_port *port)
{
	int rc = weir__port_check_owner(port);

	if (rc < 0)
		return rc;
	if (weir__port_group(port))
		return -EINVAL;
	if (port->flags & WEIR__PORT_ENDED)
		return -EPIPE;
	port->flags &= (uint8_t)~WEIR__PORT_IGNORED;
	weir__actor_break(port->actor);
	return 0;
}

static int check_become(struct weir_actor *actor, weir_turns *turns,
			struct weir_port *const *ports, size_t n_ports)
{
	int rc = weir__actor_check_owner(actor);
	size_t i;

	if (rc < 0)
		return rc;
	if (!turns || (!ports && n_ports))
		return -EINVAL;
	for (i = 0; i < n_ports; i++)
		if (!ports[i] || ports[i]->actor != actor ||
		    weir__port_group(ports[i]) ||
		    (ports[i]->flags & WEIR__PORT_ENDED))
			return -EINVAL;
	return 0;
}

int weir_actor_become(struct weir_actor *actor, weir_turns *turns,
		      struct weir_port *const *ports, size_t n_ports)
{
	int rc = check_become(actor, turns, ports, n_ports);
	struct weir_port *port;
	size_t i;

	if (rc < 0)
		return rc;
	actor->turns = turns;
	for (port = actor->ports; port; port = port->next) {
		for (i = 0; i < n_ports && ports[i] != port; i++)
			;
		if (i < n_ports)
			port->flags &= (uint8_t)~WEIR__PORT_IGNORED;
		else if (!weir__port_group(port))
			weir__port_switch_off(port, WEIR__PORT_IGNORED);
	}
	weir__actor_set(actor, WEIR__ACTOR_BECAME);
	weir__actor_break(actor);
	return 0;
}
