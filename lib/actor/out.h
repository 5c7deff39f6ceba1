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
	WEIR__OUT_OVER = WEIR__OUT_CANCELLED | WEIR__OUT_ENDED,
	WEIR__OUT_STAYS = 1u << 2,     /* also when the last sink has gone */
	WEIR__OUT_PUBLISHES = 1u << 3, /* has a publisher */
	WEIR__OUT_LEFT = 1u << 4, /* a sink has left; see weir__out_left() */
};

/*
 * A receiver of the tokens that the out-port hands out: a link (its tail index
 * is in the lane's tail word), or an object of another layer, which has a
 * table.
 */
struct weir__sink {
	const struct weir__sink_ops *ops; /* NULL: a link */
	struct weir_in *in;
	struct weir__lane *lane;
	struct weir__sink *next;
	const uint32_t *wanted; /* NULL: yes */
	uint32_t given;		/* tokens given by this publish */
};

/*
 * Called by the owner of the out-port. User code that these functions call must
 * not find itself the owner: see weir__step_out().
 */
struct weir__sink_ops {
	/* How many tokens the sink would take. */
	uint32_t (*room)(struct weir__sink *sink);
	/* Gives the sink `n` tokens, for which it had room. */
	void (*give)(struct weir__sink *sink, const struct weir__slot *slots,
		     uint32_t n);
	/* True: the sink wants no more tokens. */
	bool (*gone)(struct weir__sink *sink);
	/* The last call if the sink has gone, */
	void (*left)(struct weir__sink *sink);
	/* or the last call when the stream has ended (`error` borrowed, may be
	 * NULL). */
	void (*end)(struct weir__sink *sink, struct weir_error *error);
};

struct weir__fan {
	enum weir_fan way;
	struct weir__sink *sinks; /* NULL: none (left) */
	uint32_t n_sinks;
	uint32_t handed; /* tokens of the out-port's ring handed out */
};

/*
 * True if the port is an out-port that is cancelled: it takes no part in
 * firing, but turns may still put, as far as the ring goes, and these tokens
 * are dropped. Owner.
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

/* As weir__in_look(), of an out-port with one link; it never fails. */
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

/*
 * A ring for several sinks, as weir_out_fan() but at any time. 0 or -ENOMEM.
 * Owner.
 */
int weir__out_ring(struct weir_out *out, enum weir_fan way, uint32_t capacity);

/* Adds a sink to an out-port that has a ring; `sink->ops` is set. Owner. */
void weir__out_add(struct weir_out *out, struct weir__sink *sink);

/*
 * Undoes the link that was made last, before anything was put: for the in-port
 * it is as if it had never been linked. Owner of both.
 */
void weir__link_undo(struct weir_out *out);

/*
 * The link that was made last wants no token while *wanted is 0. The thread
 * that stores *wanted unblocks the port (rule 2). While no sink wants a token
 * the out-port has no room. Owner.
 */
static inline void weir__out_wanted(struct weir_out *out,
				    const uint32_t *wanted)
{
	out->fan->sinks->wanted = wanted;
}

/* A subscriber has left before it became a sink. Owner. */
static inline void weir__out_leave(struct weir_out *out)
{
	out->out_flags |= WEIR__OUT_LEFT;
}

/*
 * The publisher has admitted all that have subscribed by now. If a sink has
 * left and none is there, the out-port is cancelled. Returns what the handler
 * returned. Owner.
 */
int weir__out_left(struct weir_out *out);

/* The number of sinks, or links. Owner. */
uint32_t weir__out_sinks(const struct weir_out *out);

/* True if a second sink can get the tokens that the first gets. */
static inline bool weir__out_shares(const struct weir_out *out)
{
	return !out->fan || out->fan->way == WEIR_FAN_BALANCE || !out->items ||
	       !out->items->drop || out->items->share;
}

/*
 * A link whose ends have different owners is made in two halves, in whatever
 * order: the in-port's, which weir__in_check_lane() has found free and which
 * does not merge. The caller may touch the actor of `out`. Owner of `in`.
 */
void weir__link_in(struct weir_out *out, struct weir_in *in);

/*
 * Makes the out-port's half of a link. -ENOMEM, or -EISCONN, -ENOTSUP: another
 * link was made meanwhile; then the in-port's stream has ended with that error.
 * Owner of `out`, who may touch the in-port's actor.
 */
int weir__link_out(struct weir_out *out, struct weir_in *in);

/* What weir_out_link() would say now, but for -ENOMEM. Owner of both ends. */
int weir__link_check(const struct weir_out *out, const struct weir_in *in);

#endif
