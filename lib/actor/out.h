/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The producer's end of links. With one link, tokens go straight into the
 * slots of the in-port's lane. With several, they go into a ring of the
 * out-port's own and are handed out when a run is published: so a put is the
 * same few instructions either way.
 */
#ifndef WEIR_ACTOR_OUT_H
#define WEIR_ACTOR_OUT_H

#include <weir/out.h>

#include "actor/port.h"

/* out->out_flags, the owner's. */
enum {
	WEIR__OUT_CANCELLED = 1u << 0, /* nobody takes: puts are dropped */
	/* WEIR__OUT_ENDED = 1u << 1, by weir_out_end() */
};

/* One of several links. Its tail index is in the lane's tail word. */
struct weir__sink {
	struct weir_in *in;
	struct weir__lane *lane;
	struct weir__sink *next;
	uint32_t share; /* what the publish under way has given it */
};

struct weir__fan {
	enum weir_fan way;
	struct weir__sink *sinks; /* NULL: none (left) */
	uint32_t n_sinks;
	uint32_t handed; /* tokens of the out-port's ring handed out */
};

/*
 * Cancelled: takes no part in firing, but turns still put there, as far as the
 * ring goes, and that is dropped. Owner.
 */
static inline bool weir__out_drops(const struct weir_port *port)
{
	return port->kind == WEIR__PORT_OUT &&
	       (((const struct weir_out *)port)->out_flags &
		WEIR__OUT_CANCELLED) != 0;
}

/* What weir_link() would say now, but for -ENOMEM. Owner of both ends. */
int weir__link_check(const struct weir_out *out, const struct weir_in *in);

#endif
