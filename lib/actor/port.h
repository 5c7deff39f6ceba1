/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a kind of port must be able to do: struct weir__port_ops.
 *
 * A new kind is one file that calls weir__port_init() with WEIR__PORT_OTHER and
 * brings its table along, in a struct weir__other_port. An adapter does the
 * same with WEIR__PORT_ADAPTER. In-ports and out-ports have no room for a
 * pointer to their tables, which are in port.c.
 *
 * Only port.c and this header know a port's kind. What has to do with tokens
 * asks whether a port is an in-port or an out-port: weir__in_of(),
 * weir__out_of().
 */
#ifndef WEIR_ACTOR_PORT_H
#define WEIR_ACTOR_PORT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include <weir/port.h>

#include "actor/gate.h"
#include "actor/look.h"
#include "base/fields.h"

enum weir__port_kind {
	WEIR__PORT_IN,
	WEIR__PORT_OUT,
	WEIR__PORT_OTHER, /* a struct weir__other_port */
	/*
	 * The same, but never takes part in firing: it adapts another port
	 * of its actor, and comes after those. Must be last.
	 */
	WEIR__PORT_ADAPTER,
};

/* port->flags, the owner's. */
enum {
	WEIR__PORT_IGNORED = 1u << 0, /* switched off */
	WEIR__PORT_ENDED = 1u << 1,   /* for ever */
	WEIR__PORT_DIRTY = 1u << 2,   /* published, peers not woken yet */
	WEIR__PORT_SHUT = 1u << 3,    /* not ready at the last look */
	WEIR__PORT_ARMED = 1u << 4,   /* `blocked` set in this arming */
	WEIR__PORT_AT_END = 1u << 5,  /* the stream has ended, not handled */
	WEIR__PORT_PARTIAL = 1u << 6, /* the rest, less than a burst, is next */
	WEIR__PORT_LINK = 1u << 7,    /* alone: asked in line, see link.h */
};

/*
 * All but `wake` run on the owner's thread. Functions a kind has no use for
 * are NULL; `available` only of adapters, which are never asked.
 */
struct weir__port_ops {
	bool takes; /* tokens come in here: its actor is no source */
	bool waits; /* it is not ready for a reason that passes by itself */
	bool any;   /* a weir_any: weir__port_group() of its members */
	/*
	 * How many tokens, slots or permits are available until the owner uses
	 * them; looks at what others have published. May set AT_END.
	 */
	uint32_t (*available)(struct weir_port *port);
	/* The slice is over: no take or put finds anything until the next. */
	void (*invalidate)(struct weir_port *port);
	/* The port is about to be waited for. A negative errno fails. */
	int (*arm)(struct weir_port *port);
	/* Publishes what the last run did, by plain stores; false: nothing. */
	bool (*publish)(struct weir_port *port);
	/* After a full fence: unblocks the peers that the publication may
	 * concern. */
	void (*wake)(struct weir_port *port);
	/* A signal has come: is it for this port? */
	int (*signalled)(struct weir_port *port);
	/* A look has set AT_END: takes the port out of firing. Returns a
	 * reference of the error, or NULL. */
	struct weir_error *(*ended)(struct weir_port *port);
	/* A look has set PARTIAL, and a turn has run with those tokens. If it
	 * has left all of them, none is offered again. */
	void (*partial)(struct weir_port *port);
	/* Of in-ports and out-ports: it has one link. */
	bool (*links_once)(const struct weir_port *port);
	/* Likewise: it and what it is linked to can hold such a burst. */
	bool (*burst_fits)(const struct weir_port *port, uint32_t burst);
	/* The executor drains: takes in no more than what is on its way. */
	void (*drain)(struct weir_port *port);
	/* Of adapters: another port of the actor has ended, before its
	 * handler is called. The error is borrowed. */
	void (*other_ended)(struct weir_port *port, struct weir_port *other,
			    struct weir_error *error);
	/* Final slice: ends, cancels, drains, lets go of other actors. */
	void (*close)(struct weir_port *port, struct weir_error *error);
	/* Last reference: drops what came late, frees memory. Any thread. */
	void (*fini)(struct weir_port *port);
	/* What it waits for, and what else a look is told: look.h. Any
	 * thread. */
	enum weir_wait awaits;
	void (*look)(const struct weir_port *port, struct weir__look *look);
	/* Where `look` finds that, for readers of another process's memory;
	 * NULL: nothing. */
	const struct weir__layout_of *layout;
};

/* What the struct of any kind but in-ports and out-ports begins with. */
struct weir__other_port {
	struct weir_port port;
	const struct weir__port_ops *ops;
};
#define WEIR__CHECK_OTHER_PORT(type) \
	_Static_assert(offsetof(type, ops) == \
			       offsetof(struct weir__other_port, ops), \
		       "a " #type " is a struct weir__other_port")

/* Of in-ports and out-ports; set before main(), by in.c and out.c. */
extern const struct weir__port_ops *weir__port_kinds[WEIR__PORT_OTHER]
	__attribute__((visibility("hidden")));

static inline const struct weir__port_ops *weir__port_ops(
	const struct weir_port *port)
{
	if (WEIR_UNLIKELY(port->kind >= WEIR__PORT_OTHER))
		return ((const struct weir__other_port *)port)->ops;
	return weir__port_kinds[port->kind];
}

/* Loads a link of an actor's list of ports, to which the owner may be adding a
 * port. Any thread that keeps the actor from ending. */
static inline struct weir_port *weir__port_load(struct weir_port *const *link)
{
	struct weir_port *port = ck_pr_load_ptr(link);

	/* acquire: the port's fields; pairs with the release in
	 * weir__port_init() */
	ck_pr_fence_acquire();
	return port;
}

/* The in-port that it is, or NULL. */
static inline struct weir_in *weir__in_of(const struct weir_port *port)
{
	return port->kind == WEIR__PORT_IN ? (struct weir_in *)port : NULL;
}

/* The out-port that it is, or NULL. */
static inline struct weir_out *weir__out_of(const struct weir_port *port)
{
	return port->kind == WEIR__PORT_OUT ? (struct weir_out *)port : NULL;
}

/* True if tokens go through it: an in-port or an out-port. */
static inline bool weir__port_carries(const struct weir_port *port)
{
	return port->kind <= WEIR__PORT_OUT;
}

/* True if it is a weir_any: weir__port_group() of its members. */
static inline bool weir__port_is_any(const struct weir_port *port)
{
	return weir__port_ops(port)->any;
}

/* True if it adapts another port of its actor. */
static inline bool weir__port_adapts(const struct weir_port *port)
{
	return port->kind == WEIR__PORT_ADAPTER;
}

/*
 * -EINVAL, -EPERM as the public init functions have them, else 0; checked
 * before weir__port_init, which adds the port to its actor.
 */
static inline int weir__port_check_init(const void *port,
					const struct weir_actor *actor)
{
	if (!port || !actor)
		return -EINVAL;
	return weir__owned(actor) ? 0 : -EPERM;
}

void weir__port_init(struct weir_port *port, struct weir_actor *actor,
		     enum weir__port_kind kind);

/* 0, -EINVAL or -EPERM, for calls that are the owner's. */
static inline int weir__port_check_owner(const struct weir_port *port)
{
	if (!port)
		return -EINVAL;
	return weir__owned(port->actor) ? 0 : -EPERM;
}

/* Turns that are available. Owner. */
static inline uint32_t weir__port_turns(struct weir_port *port)
{
	uint32_t available = weir__port_ops(port)->available(port);

	if (WEIR_LIKELY(port->burst == 1))
		return available;
	return available / port->burst;
}

/*
 * Notes whether the port can be looked at in line: it has one link, its burst
 * is 1, and it is in no weir_any. Called after any of the three has changed.
 * Owner.
 */
void weir__link_mark(struct weir_port *port);

/*
 * Notes whether the actor is simple: it has one in-port, one out-port, or both,
 * in this order, with one link each and nothing special about them. Every
 * change of this breaks the run (weir__actor_break), after which the actor is
 * not simple until it is found to be so again. Owner.
 */
void weir__ports_find_simple(struct weir_actor *actor);

/*
 * A run is over: each in-port that gave it its last tokens notes whether the
 * turn has taken any. Owner.
 */
void weir__ports_partial(struct weir_actor *actor);

/* Tells the adapters that a port has ended. Owner. */
void weir__port_tell(struct weir_port *port, struct weir_error *error);

/* The weir_any that the port is a member of, or NULL. */
static inline struct weir_port *weir__port_group(const struct weir_port *port)
{
	return port->block == &port->blocked
		       ? NULL
		       : weir_container_of(port->block, struct weir_port,
					   blocked);
}

static inline bool weir__port_off(const struct weir_port *port)
{
	return (port->flags & (WEIR__PORT_IGNORED | WEIR__PORT_ENDED)) != 0;
}

/* Turns may use it: neither it nor the weir_any that it is of is off. Owner. */
static inline bool weir__port_takes_part(const struct weir_port *port)
{
	const struct weir_port *any = weir__port_group(port);

	return !weir__port_off(port) && !(any && weir__port_off(any));
}

#endif
