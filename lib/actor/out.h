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
	WEIR__OUT_LEFT = 1u << 4,      /* one has left; others may have come */
};

/*
 * Who gets what the out-port hands out: a link, whose tail index is in the
 * lane's tail word, or something of another layer that has a table.
 */
struct weir__sink {
	const struct weir__sink_ops *ops; /* NULL: a link */
	struct weir_in *in;
	struct weir__lane *lane;
	struct weir__sink *next;
	const uint32_t *wanted; /* NULL: yes */
	uint32_t share;		/* what the publish under way has given it */
};

/* All by the owner; what they call outside must not find it so. */
struct weir__sink_ops {
	/* How many tokens it would take. */
	uint32_t (*room)(struct weir__sink *sink);
	/* `n` tokens that it had room for are its own now. */
	void (*give)(struct weir__sink *sink, const struct weir__slot *slots,
		     uint32_t n);
	/* It does not want any more. */
	bool (*gone)(struct weir__sink *sink);
	/* Then this is the last call, */
	void (*left)(struct weir__sink *sink);
	/* or this, when the stream has ended (`error` borrowed, may be NULL).*/
	void (*end)(struct weir__sink *sink, struct weir_error *error);
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

/*
 * A ring for several sinks, as weir_out_fan() but at any time. 0 or -ENOMEM.
 * Owner.
 */
int weir__out_ring(struct weir_out *out, enum weir_fan way, uint32_t capacity);

/* A sink more of an out-port that has a ring; `sink->ops` is set. Owner. */
void weir__out_add(struct weir_out *out, struct weir__sink *sink);

/*
 * Takes back the link that was made last, before anything was put: its in-port
 * never had an out-port that could leave. Owner of both.
 */
void weir__link_undo(struct weir_out *out);

/*
 * The link that was made last is nothing to put for until *wanted, which who
 * stores it says by unblocking the port (rule 2); if the others are so, too,
 * the out-port has no room. Owner.
 */
static inline void weir__out_wanted(struct weir_out *out,
				    const uint32_t *wanted)
{
	out->fan->sinks->wanted = wanted;
}

/* A sink of a publisher's has left before it was one. Owner. */
static inline void weir__out_leave(struct weir_out *out)
{
	out->out_flags |= WEIR__OUT_LEFT;
}

/*
 * The publisher has taken on who had subscribed by now: if somebody has left,
 * and nobody is there, the out-port is cancelled. What the handler returned.
 * Owner.
 */
int weir__out_left(struct weir_out *out);

/* The number of sinks, or links. Owner. */
uint32_t weir__out_sinks(const struct weir_out *out);

/* Whether a second sink can get what the first gets. */
static inline bool weir__out_shares(const struct weir_out *out)
{
	return !out->fan || out->fan->way == WEIR_BALANCE || !out->items ||
	       !out->items->drop || out->items->share;
}

/*
 * A link whose ends have different owners is made in two halves, in whatever
 * order: the in-port's, which weir__in_check_lane() has found free and which
 * does not merge. The caller may touch the actor of `out`. Owner of `in`.
 */
void weir__link_in(struct weir_out *out, struct weir_in *in);

/*
 * The other half. -ENOMEM, or -EISCONN, -ENOTSUP: another link was made
 * meanwhile; then the stream has ended with that. Owner of `out`, who may touch
 * the in-port's actor.
 */
int weir__link_out(struct weir_out *out, struct weir_in *in);

/* What weir_link() would say now, but for -ENOMEM. Owner of both ends. */
int weir__link_check(const struct weir_out *out, const struct weir_in *in);

#endif
