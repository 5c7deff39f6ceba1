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

#include "actor/in.h"
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

/* Free slots of a lane of `mask` + 1 whose next token has the index `tail`. */
static inline uint32_t weir__lane_room(const struct weir__lane *lane,
				       uint32_t mask, uint32_t tail)
{
	uint32_t head = ck_pr_load_32(weir__lane_head(lane));

	/* acquire: the consumer is done with the slots; pairs with the release
	 * in publish() */
	ck_pr_fence_acquire();
	assert(weir__index_diff(tail, head) <= mask + 1);
	return mask + 1 - weir__index_diff(tail, head);
}

/*
 * What a slice asks of most out-ports, in line: those with one link. False:
 * ask the port's ops.
 */
static inline bool weir__out_look(struct weir_out *out, uint32_t *n)
{
	if (!out->lane)
		return false;
	*n = weir__lane_room(out->lane, out->mask, out->tail);
	out->limit = out->tail + *n;
	return true;
}

/* The same for publishing; *dirty: the consumer may have to be woken. */
static inline bool weir__out_publish(struct weir_out *out, bool *dirty)
{
	uint32_t *word, n;

	if (!out->lane)
		return false;
	out->limit = out->tail;
	word = weir__lane_tail(out->lane);
	n = weir__index_diff(out->tail, ck_pr_load_32(word) >> 1);
	*dirty = n;
	if (!n)
		return true;
	ck_pr_store_32(word, out->tail << 1);
	if (WEIR_UNLIKELY(out->port.actor->stats))
		weir__stats_add(&out->port.actor->stats->put, n);
	return true;
}

/* What weir_link() would say now, but for -ENOMEM. Owner of both ends. */
int weir__link_check(const struct weir_out *out, const struct weir_in *in);

#endif
