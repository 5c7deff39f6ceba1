/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port of ports. Members share the group's `blocked` word and are counted
 * once (rule 7), so a thread that unblocks a member unblocks the group.
 *
 * The number of available turns is the maximum over the members, not the sum: a
 * turn may use a burst of each member, and after fewer turns than the maximum
 * the member that had it is still ready.
 */
#include <weir/any.h>

#include <errno.h>

#include "actor/gate.h"
#include "actor/link.h"
#include "actor/port.h"

WEIR__CHECK_OTHER_PORT(struct weir_any);

int weir_any_add(struct weir_any *any, struct weir_port *port)
{
	int rc = weir__port_check_owner(any ? &any->port : NULL);

	if (rc < 0)
		return rc;
	if (!port || port->actor != any->port.actor || weir__port_group(port) ||
	    weir__port_is_any(port))
		return -EINVAL;
	if (!weir__is_new(port->actor))
		return -EPERM;
	port->block = &any->port.blocked;
	weir__link_mark(port);
	return 0;
}

bool weir_port_ready(struct weir_port *port)
{
	if (weir__port_check_owner(port) < 0)
		return false;
	/* what its lane says then is of tokens that were dropped */
	if (port->flags & WEIR__PORT_ENDED)
		return false;
	return weir__port_turns(port) > 0;
}

static uint32_t any_available(struct weir_port *port)
{
	struct weir_any *any = (struct weir_any *)port;
	struct weir_port *member;
	uint32_t most = 0, turns;

	for (member = port->actor->ports; member; member = member->next) {
		if (weir__port_group(member) != &any->port ||
		    weir__port_off(member))
			continue;
		turns = weir__port_turns(member);
		/* an end is something to be looked at, too */
		if (member->flags & WEIR__PORT_AT_END)
			turns = 1;
		if (turns > most)
			most = turns;
	}
	return most;
}

static const struct weir__port_ops any_ops = {
	.any = true,
	.awaits = WEIR_WAIT_OTHER,
	.available = any_available,
};

int weir_any_init(struct weir_any *any, struct weir_actor *actor)
{
	int rc = weir__port_check_init(any, actor);

	if (rc < 0)
		return rc;
	any->ops = &any_ops;
	weir__port_init(&any->port, actor, WEIR__PORT_OTHER);
	return 0;
}
