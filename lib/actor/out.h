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

/* out->putter.flags, the owner's. */
enum {
	WEIR__OUT_CANCELLED = 1u << 0, /* nobody takes: puts are dropped */
	/* WEIR__OUT_ENDED = 1u << 1, by weir_out_end() */
	WEIR__OUT_OVER = WEIR__OUT_CANCELLED | WEIR__OUT_ENDED,
	WEIR__OUT_STAYS = 1u << 2,     /* also when the last sink has gone */
	WEIR__OUT_PUBLISHES = 1u << 3, /* has a publisher */
	WEIR__OUT_LEFT = 1u << 4, /* a sink has left; see weir__out_left() */
};

/*
 * A receiver of the tokens that the out-port hands out: a link, or an object of
 * another layer, which has a table.
 */
struct weir__sink {
	const struct weir__sink_ops *ops; /* NULL: a link */
	struct weir__sink *next;
	const uint32_t *wanted; /* NULL: yes */
	/* of a link */
	struct weir_in *in;
	struct weir__putter putter;
	bool given; /* its consumer is to be woken */
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
	/* What a look is told of it: any thread, look.h. Its memory is freed
	 * behind weir__registry_await_look(). */
	void (*look)(const struct weir__sink *sink, struct weir__look *look);
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
	const struct weir_out *out = weir__out_of(port);

	return out && (out->putter.flags & WEIR__OUT_CANCELLED);
}

/* The out-port's one link, or NULL. */
static inline struct weir__lane *weir__out_lane(const struct weir_out *out)
{
	return out->putter.lane;
}

/* As weir__in_look(), of an out-port with one link; it never fails. */
static inline void weir__out_look(struct weir_out *out, uint32_t *n)
{
	weir__putter_look(&out->putter, n);
}

/* Publishes what was put into a port with one link; how many tokens. */
static inline uint32_t weir__out_publish(struct weir_out *out)
{
	return weir__putter_publish(&out->putter);
}

/* Puts `n` items that there is room for, as `n` calls of weir_out_put(). */
static inline void weir__out_put_n(struct weir_out *out, void *const *items,
				   size_t n)
{
	weir__putter_push_n(&out->putter, items, n);
}

/*
 * Where the next tokens go, of which there is room for *n, and fewer are
 * without a gap: the caller fills slots, and tells how many.
 */
static inline void **weir__out_span(const struct weir_out *out, size_t *n)
{
	return weir__putter_span(&out->putter, n);
}

static inline void weir__out_filled(struct weir_out *out, size_t n)
{
	weir__putter_filled(&out->putter, n);
}

/* Counts the tokens that were put, those of the turn under way too. Owner. */
static inline uint32_t weir__out_cursor(const struct weir_out *out)
{
	return out->putter.tail;
}

/* The slots that it puts into: those of its link, or of its ring. */
static inline uint32_t weir__out_capacity(const struct weir_out *out)
{
	return out->putter.mask + 1;
}

/* True if each token goes to all sinks. */
static inline bool weir__out_broadcasts(const struct weir_out *out)
{
	return out->fan && out->fan->way == WEIR_FAN_BROADCAST;
}

/* True if tokens that were put are not handed out yet. The port has a ring. */
static inline bool weir__out_waits(const struct weir_out *out)
{
	return out->putter.tail != out->fan->handed;
}

/* True if the first to get tokens is no link. */
static inline bool weir__out_serves_other(const struct weir_out *out)
{
	return out->fan && out->fan->sinks && out->fan->sinks->ops;
}

/* It has ended or was cancelled. */
static inline bool weir__out_over(const struct weir_out *out)
{
	return (out->putter.flags & WEIR__OUT_OVER) != 0;
}

static inline bool weir__out_has_left(const struct weir_out *out)
{
	return (out->putter.flags & WEIR__OUT_LEFT) != 0;
}

/* It has a publisher. */
static inline bool weir__out_publishes(const struct weir_out *out)
{
	return (out->putter.flags & WEIR__OUT_PUBLISHES) != 0;
}

/* It has a publisher from now on; it `stays` when the last sink has gone. */
static inline void weir__out_set_publisher(struct weir_out *out)
{
	out->putter.flags |= WEIR__OUT_PUBLISHES;
}

static inline void weir__out_set_stays(struct weir_out *out, bool stays)
{
	uint16_t others = out->putter.flags & (uint16_t)~WEIR__OUT_STAYS;

	out->putter.flags = stays ? others | WEIR__OUT_STAYS : others;
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
	out->putter.flags |= WEIR__OUT_LEFT;
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
