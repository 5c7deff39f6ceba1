/* SPDX-License-Identifier: BSD-2-Clause */
/* What all kinds of ports share: setting up, switching on and off, bursts. */
#include "actor/port.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "actor/link.h"

const struct weir__port_ops *const weir__port_kinds[WEIR__PORT_OTHER] = {
	[WEIR__PORT_IN] = &weir__in_ops,
	[WEIR__PORT_OUT] = &weir__out_ops,
};

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
	/* in-ports before out-ports, adapters last: see find_simple() */
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

uint32_t weir__port_turns(struct weir_port *port)
{
	uint32_t available;

	if (WEIR_LIKELY(port->kind == WEIR__PORT_IN))
		available = weir__in_ops.available(port);
	else if (WEIR_LIKELY(port->kind == WEIR__PORT_OUT))
		available = weir__out_ops.available(port);
	else
		available = weir__port_ops(port)->available(port);
	if (WEIR_LIKELY(port->burst == 1))
		return available;
	return available / port->burst;
}

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

void weir__port_tell(struct weir_port *port, struct weir_error *error)
{
	struct weir_port *other;

	for (other = port->actor->ports; other; other = other->next)
		if (other->kind == WEIR__PORT_ADAPTER &&
		    weir__port_ops(other)->other_ended)
			weir__port_ops(other)->other_ended(other, port, error);
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

static bool in_burst_fits(const struct weir_in *in, uint32_t burst)
{
	const struct weir__lane *lane = NULL;

	if (burst > weir__in_capacity(in))
		return false;
	while ((lane = weir__in_next_lane(in, lane)))
		if (lane->out &&
		    !weir__bursts_fit(lane->out->port.burst, burst, in))
			return false;
	return true;
}

static bool out_burst_fits(const struct weir_out *out, uint32_t burst)
{
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

int weir_port_set_burst(struct weir_port *port, size_t n)
{
	uint32_t burst = (uint32_t)n;
	int rc = weir__port_check_owner(port);

	if (rc < 0)
		return rc;
	if (n == 0 || n > WEIR_BURST_MAX)
		return -EINVAL;
	if (port->kind == WEIR__PORT_IN || port->kind == WEIR__PORT_OUT) {
		/* the other end relies on it */
		if (!weir__is_new(port->actor))
			return -EPERM;
		if (port->kind == WEIR__PORT_IN
			    ? !in_burst_fits((struct weir_in *)port, burst)
			    : !out_burst_fits((struct weir_out *)port, burst))
			return -EINVAL;
	}
	port->burst = burst & 0x7fff; /* which WEIR_BURST_MAX is below */
	weir__link_mark(port);
	weir__actor_break(port->actor);
	return 0;
}

static bool links_once(const struct weir_port *port)
{
	if (port->kind == WEIR__PORT_IN)
		/* says that it does not merge, too */
		return ((const struct weir_in *)port)->taker.flags &
		       WEIR__IN_LINKED;
	return port->kind == WEIR__PORT_OUT &&
	       weir__out_lane((const struct weir_out *)port);
}

void weir__link_mark(struct weir_port *port)
{
	if (port->burst == 1 && !weir__port_group(port) && links_once(port))
		port->flags |= WEIR__PORT_LINK;
	else
		port->flags &= (uint8_t)~WEIR__PORT_LINK;
}
