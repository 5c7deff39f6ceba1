/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The position of pending messages among the tokens of an actor's in-ports. It
 * is one number, which the cell has: how many tokens had ever been put into the
 * in-ports when the message came, which any thread can read. This number less
 * the tokens taken by now is the number of tokens before the message. The
 * lanes' indices count the tokens anyway. So the position is exact for an actor
 * with one in-port; with several in-ports, the sum of their tokens counts. The
 * lanes of merging in-ports come and go: the actor itself adds the tokens that
 * these hold and have held, when it first sees the message.
 *
 * A turn may take a burst from each in-port, some tokens before a message and
 * some behind it. Such a turn runs before a notice, but not before a message
 * that ends the actor.
 */
#include "supervision/position.h"

#include "actor/in.h"
#include "actor/port.h"

/*
 * A position is a token count mod 2^31. FRESH set: the tokens of merging
 * in-ports are not included yet.
 */
#define FRESH (1u << 31)
#define POSITION WEIR__INDEX_MASK

/*
 * The number of tokens ever put, puts under way included, without merging
 * in-ports. Any thread that keeps the actor from ending.
 */
static uint32_t tokens_put(const struct weir_actor *actor)
{
	const struct weir_port *port = weir__port_load(&actor->ports);
	const struct weir_in *in;
	uint32_t n = 0;

	for (; port; port = weir__port_load(&port->next)) {
		in = weir__in_of(port);
		if (in && !weir__in_merges(in))
			/* relaxed: tokens put before this are all seen */
			n += weir__in_ever_put(in);
	}
	return n & POSITION;
}

/* The number of tokens taken up to the last run. Owner. */
static uint32_t tokens_taken(const struct weir_actor *actor)
{
	const struct weir_port *port;
	const struct weir_in *in;
	uint32_t n = 0;

	for (port = actor->ports; port; port = port->next) {
		in = weir__in_of(port);
		if (in)
			n += weir__in_ever_taken(in);
	}
	return n & POSITION;
}

/* The number of tokens that merging in-ports hold or have held. Owner. */
static uint32_t tokens_merged(const struct weir_actor *actor)
{
	const struct weir_port *port;
	const struct weir_in *in;
	uint32_t n = 0;

	for (port = actor->ports; port; port = port->next) {
		in = weir__in_of(port);
		if (in && weir__in_merges(in))
			n += weir__in_ever_taken(in) +
			     (uint32_t)weir__in_queued(in);
	}
	return n & POSITION;
}

/* --- Positions ------------------------------------------------------------ */

uint32_t weir__position_now(const struct weir_actor *actor)
{
	return tokens_put(actor) | FRESH;
}

uint32_t weir__position_settled(const struct weir_actor *actor,
				uint32_t position)
{
	return position & FRESH ? (position + tokens_merged(actor)) & POSITION
				: position;
}

/* The number of tokens that turns can take: those of in-ports that take part.
 * Owner. */
static uint64_t tokens_here(const struct weir_actor *actor)
{
	const struct weir_port *port;
	uint64_t n = 0;

	for (port = actor->ports; port; port = port->next)
		if (weir__in_of(port) && weir__port_takes_part(port))
			n += weir__in_queued(weir__in_of(port));
	return n;
}

uint32_t weir__position_tokens_before(const struct weir_actor *actor,
				      uint32_t position)
{
	uint32_t n = (position - tokens_taken(actor)) & POSITION;
	uint64_t here;

	assert(!(position & FRESH));
	if (n == 0 || n > POSITION / 2) /* more were taken */
		return 0;
	here = tokens_here(actor);
	return n < here ? n : (uint32_t)here;
}

uint32_t weir__position_turns_before(const struct weir_actor *actor,
				     uint32_t before)
{
	const struct weir_port *port;
	uint32_t most = 0;

	for (port = actor->ports; port; port = port->next)
		if (weir__in_of(port) && weir__port_takes_part(port))
			most += port->burst;
	if (!before || !most)
		return UINT32_MAX;
	return before < most ? 1 : before / most;
}

/* Of a weir_any: a turn may take from the one that gives least. */
static uint32_t least_of(const struct weir_port *any)
{
	const struct weir_port *port;
	uint32_t least = UINT32_MAX, n;

	for (port = any->actor->ports; port; port = port->next) {
		if (weir__port_group(port) != any || weir__port_off(port))
			continue;
		n = weir__in_of(port) ? port->burst : 0;
		if (n < least)
			least = n;
	}
	return least < UINT32_MAX ? least : 0;
}

bool weir__position_cuts_burst(const struct weir_actor *actor, uint32_t before)
{
	const struct weir_port *port;
	uint32_t least = 0;

	for (port = actor->ports; port; port = port->next) {
		if (weir__port_off(port) || weir__port_group(port))
			continue;
		if (weir__port_is_any(port))
			least += least_of(port);
		else if (weir__in_of(port))
			least += port->burst;
	}
	return before < least && before < tokens_here(actor);
}
