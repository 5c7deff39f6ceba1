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

/* The same of an out-port; there is always an answer. */
static inline void weir__out_look(struct weir_out *out, uint32_t *n)
{
	uint32_t tail = out->tail, room = out->mask + 1, head;

	head = ck_pr_load_32(out->words + out->head_at);
	/* acquire: the consumer is done with the slots; pairs with the release
	 * in publish() */
	ck_pr_fence_acquire();
	assert(weir__index_diff(tail, head) <= room);
	room -= weir__index_diff(tail, head);
	out->limit = tail + room;
	if (room < *n)
		*n = room;
}

/* Publishes what was put into a port with one link; how many tokens. */
static inline uint32_t weir__out_publish(struct weir_out *out)
{
	uint32_t tail = out->tail, n;

	out->limit = tail;
	n = weir__index_diff(tail, ck_pr_load_32(out->words) >> 1);
	if (n)
		ck_pr_store_32(out->words, tail << 1);
	return n;
}

/* What weir_link() would say now, but for -ENOMEM. Owner of both ends. */
int weir__link_check(const struct weir_out *out, const struct weir_in *in);

#endif
