/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of actors, ports and links from one look to the next. A history
 * is fed one snapshot after another, each with its time; who looked, and at
 * what, it does not ask. After each it knows as many actors, ports and links as
 * the snapshot has, in the same order.
 *
 *  1. Actors are the same if address, executor and id are; ports if their
 *     actors are and the address is; links if they end in the same port and
 *     come from the same one. A link whose count is 2^30 or more ahead of the
 *     last look's has been made anew.
 *  2. What a look finds lasts until the next look: so shares are exact if there
 *     is a look after each thing that happens, and else as good as samples are.
 *  3. Since: an actor has run if it has taken or put, or what it waits for is
 *     another. So `since_ns` is never too early by what looks can see, and too
 *     late by the time between two looks at most. One that is new to the
 *     history waits since the look that found it.
 *  4. Shares and rates are of windows, one after the other; what is told is the
 *     last whole one, or, of what has not lived through one, what there is.
 */
#ifndef WEIR_INSPECT_HISTORY_H
#define WEIR_INSPECT_HISTORY_H

#include "inspect/snapshot.h"

enum { WEIR__BUSY, WEIR__HELD, WEIR__IDLE, WEIR__BLOCKED, WEIR__STATES };

struct weir__actor_past {
	const struct weir_actor *actor;
	const struct weir_executor *executor;
	uint64_t id;
	size_t port, n_ports; /* in the history's `ports` */
	size_t at;	      /* the first port that is blocked, of its own */
	enum weir_wait wait;
	uint8_t state;
	bool whole; /* it has lived through a window */
	/* Nothing that could hold it up has changed since it was last asked
	 * about: weir__history_asks(). */
	bool asked;
	bool told; /* that it holds others up, and it has not moved since */
	uint64_t since_ns;
	/* until when it waits, at no port; WEIR_FOREVER: not known */
	uint64_t due_ns;
	uint64_t ns[WEIR__STATES]; /* of this window */
	uint16_t shares[WEIR__STATES];
};

struct weir__port_past {
	const struct weir_port *port;
	size_t link, n_links; /* that end in it */
	size_t group;	      /* as in weir_seen_port */
	uint64_t at_ns, since_ns;
	bool takes_part, blocked;
	/* What was sent and requested there, all subscriptions together, and
	 * what the look under way has found. */
	uint64_t sent, requested, sent_now, requested_now;
	bool ran; /* found as well: its actor took or put there */
	bool fed; /* another did */
};

struct weir__link_past {
	const struct weir_port *from_port;
	size_t from; /* as in weir_seen_link */
	uint32_t items, fill, high;
	bool ended, whole;
	uint64_t ever, began; /* items, at the beginning of this window */
	uint64_t began_ns;    /* this window, or the link */
	uint64_t rate;
};

/* A look's, with room for more. */
struct weir__pasts {
	struct weir__actor_past *actors;
	struct weir__port_past *ports;
	struct weir__link_past *links;
	size_t n_actors, n_ports, n_links;
	size_t room_actors, room_ports, room_links;
};

struct weir__history {
	const struct weir_allocator *allocator; /* borrowed */
	uint64_t window_ns;
	struct weir__pasts now, spare; /* the last look's; for the next one */
	/* Of the last look's actors, by address and id: a place and 1, or 0. */
	size_t *table, n_table;
	bool any;	       /* look so far */
	bool still;	       /* the last two looks found the same */
	uint64_t now_ns;       /* the last look's */
	uint64_t moved_ns;     /* when anything moved */
	uint64_t window_at_ns; /* when this window began */
	uint64_t whole_ns;     /* how long the last one was; 0: none is over */
};

/* Zeroed memory is a history as well, without allocator and window. */
void weir__history_init(struct weir__history *self,
			const struct weir_allocator *allocator,
			uint64_t window_ns);
void weir__history_fini(struct weir__history *self);

/*
 * One look more, at the time `now_ns`, which is not before the last one's. The
 * snapshot need not be joined: that is done here, if it has demands or if
 * something is there that was not; else links and groups are as they were. 0,
 * or -ENOMEM: the history is as if nobody had looked.
 */
int weir__history_feed(struct weir__history *self,
		       struct weir__snapshot *snapshot, uint64_t now_ns);

/* Tells the snapshot that was fed last what is known now. */
void weir__history_tell(const struct weir__history *self,
			struct weir__snapshot *snapshot);

/* True: somebody has not moved for so long, and whether others are held up by
 * that has not been asked. From now on it has been. */
bool weir__history_asks(struct weir__history *self, uint64_t stall_ns);

/*
 * True: an actor holds others up, has not moved for so long, and waits for no
 * time that is set, or has waited so long behind it; and that is told for the first time since it last moved.
 * From now on it has been told. The snapshot is the one that was fed last, and
 * has its causes.
 */
bool weir__history_stalls(struct weir__history *self,
			  const struct weir__snapshot *snapshot,
			  uint64_t stall_ns);

#endif
