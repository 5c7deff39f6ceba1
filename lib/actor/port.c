/* SPDX-License-Identifier: BSD-2-Clause */
/* What all kinds of ports share: setting up, switching on and off, bursts. */
#include "actor/port.h"

#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/any.h>
#include <weir/in.h>
#include <weir/out.h>

#include "actor/gate.h"

static const struct weir__port_ops *const kinds[WEIR__PORT_OTHER] = {
	[WEIR__PORT_IN] = &weir__in_ops,
	[WEIR__PORT_OUT] = &weir__out_ops,
	[WEIR__PORT_SEMA] = &weir__sema_ops,
	[WEIR__PORT_DELAY] = &weir__delay_ops,
	[WEIR__PORT_FD] = &weir__fd_ops,
	[WEIR__PORT_ANY] = &weir__any_ops,
};

const struct weir__port_ops *weir__port_ops(const struct weir_port *port)
{
	if (WEIR_UNLIKELY(port->kind == WEIR__PORT_OTHER))
		return ((const struct weir__other_port *)port)->ops;
	return kinds[port->kind];
}

int weir__port_check_init(const void *port, const struct weir_actor *actor)
{
	if (!port || !actor)
		return -EINVAL;
	return weir__owned(actor) ? 0 : -EPERM;
}

void weir__port_init(struct weir_port *port, struct weir_actor *actor,
		     enum weir__port_kind kind)
{
	struct weir_port **link = &actor->ports;

	memset(port, 0, sizeof(*port));
	port->actor = actor;
	port->burst = 1;
	port->kind = (uint8_t)kind;
	while (*link)
		link = &(*link)->next;
	*link = port;
	weir__actor_break(actor);
}

uint32_t weir__port_turns(struct weir_port *port)
{
	uint32_t certain;

	if (WEIR_LIKELY(port->kind == WEIR__PORT_IN))
		certain = weir__in_ops.certain(port);
	else if (WEIR_LIKELY(port->kind == WEIR__PORT_OUT))
		certain = weir__out_ops.certain(port);
	else
		certain = weir__port_ops(port)->certain(port);
	if (WEIR_LIKELY(port->burst == 1))
		return certain;
	return certain / port->burst;
}

/*
 * Rule 7: whoever exchanges a 1 takes the port off the count; the owner here,
 * so that a port that takes no part cannot hold the actor back.
 */
void weir__port_switch_off(struct weir_port *port, uint8_t flag)
{
	port->flags |= flag;
	if (!port->any)
		weir__port_unblock(port);
	weir__actor_break(port->actor);
}

int weir_port_ignore(struct weir_port *port)
{
	int rc = weir__port_check_owner(port);

	if (rc < 0)
		return rc;
	if (port->any)
		return -EINVAL;
	weir__port_switch_off(port, WEIR__PORT_IGNORED);
	return 0;
}

int weir_port_require(struct weir_port *port)
{
	int rc = weir__port_check_owner(port);

	if (rc < 0)
		return rc;
	if (port->any)
		return -EINVAL;
	if (port->flags & WEIR__PORT_ENDED)
		return -EPIPE;
	port->flags &= (uint8_t)~WEIR__PORT_IGNORED;
	weir__actor_break(port->actor);
	return 0;
}

/* The most tokens the port can hold, as far as it is known yet. */
static uint32_t capacity(const struct weir_port *port)
{
	if (port->kind == WEIR__PORT_IN)
		return ((const struct weir_in *)port)->mask + 1;
	if (port->kind == WEIR__PORT_OUT &&
	    ((const struct weir_out *)port)->slots)
		return ((const struct weir_out *)port)->mask + 1;
	return WEIR_BURST_MAX;
}

int weir_port_set_burst(struct weir_port *port, uint32_t burst)
{
	int rc = weir__port_check_owner(port);

	if (rc < 0)
		return rc;
	if (burst == 0 || burst > WEIR_BURST_MAX || burst > capacity(port))
		return -EINVAL;
	port->burst = (uint16_t)burst;
	weir__actor_break(port->actor);
	return 0;
}

bool weir_port_ready(struct weir_port *port)
{
	if (weir__port_check_owner(port) < 0)
		return false;
	return weir__port_turns(port) > 0;
}
