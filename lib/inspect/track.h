/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A track: the last events of one thread, in a ring. One thread writes it,
 * without a lock, a swap or a full fence; one other thread may read it
 * meanwhile.
 *
 * `seq` is twice the number of events written, and one more while a slice is
 * open: then the slot of the next event has all of that slice but its end. So
 * one store ends an event and one opens a slice, and no two states of a track
 * have the same number.
 *
 *  1. An event's words are stored before the `seq` that counts it, and after
 *     the `seq` before. So who has read a `seq` finds all events below it, but
 *     those that were overwritten.
 *  2. The slot of event i is written again only for event i + N, when `seq` has
 *     counted i + N events. So who has read the slot, and finds less than that
 *     in `seq` afterwards, has read event i.
 *  3. A track that `keeps` its events writes none where an event is that the
 *     reader is not done with; it counts the event as lost. When there is room
 *     again it first writes an event that says how many were lost, and when.
 */
#ifndef WEIR_INSPECT_TRACK_H
#define WEIR_INSPECT_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include <ck_pr.h>

#include "base/memory.h"

#ifndef WEIR__TRACK_EVENTS /* a power of two; the explorer's are fewer */
#define WEIR__TRACK_EVENTS (UINT64_C(1) << 14)
#endif

enum weir__event_kind {
	WEIR__EVENT_SLICE,
	WEIR__EVENT_LOST,    /* `value` events, of times between the two */
	WEIR__EVENT_RESTART, /* at `from` */
	WEIR__EVENT_REQUEST, /* at `from`, of `value` items */
};

/* `from` and `to` are ticks of the trace's clock. */
struct weir__event {
	uint64_t from, to;
	union {
		uint64_t actor; /* its address, of a slice or restart */
		uint64_t value;
	};
	/* the kind; of a slice what the actor waits for behind it, 0: nothing,
	 * and the port's place; the name's number */
	uint64_t what;
};

/* name: 32 bits | place: 16 | wait: 8 | kind: 8 */
static inline uint64_t weir__event_what(enum weir__event_kind kind,
					uint32_t wait, uint32_t place,
					uint32_t name)
{
	return (uint64_t)name << 32 | (uint64_t)(place & 0xffffu) << 16 |
	       (uint64_t)(wait & 0xffu) << 8 | (uint64_t)kind;
}

static inline enum weir__event_kind weir__event_kind(
	const struct weir__event *event)
{
	return (enum weir__event_kind)(event->what & 0xffu);
}

static inline uint32_t weir__event_wait(const struct weir__event *event)
{
	return (uint32_t)(event->what >> 8) & 0xffu;
}

static inline uint32_t weir__event_place(const struct weir__event *event)
{
	return (uint32_t)(event->what >> 16) & 0xffffu;
}

static inline uint32_t weir__event_name(const struct weir__event *event)
{
	return (uint32_t)(event->what >> 32);
}

struct weir__track {
	/* atomic: the writer's */
	uint64_t seq __attribute__((aligned(WEIR__LINE)));
	uint64_t lost; /* all that were */
	/* the writer's own */
	uint64_t told;	    /* of these were told */
	uint64_t lost_from; /* the first that was not told */
	struct weir__event *events;
	bool keeps; /* constant */
	/* atomic: the reader's; it is done with so many events */
	uint64_t done __attribute__((aligned(WEIR__LINE)));
};

static inline struct weir__event *weir__track_slot(
	const struct weir__track *track, uint64_t index)
{
	return &track->events[index & (WEIR__TRACK_EVENTS - 1)];
}

static inline uint64_t weir__track_count(uint64_t seq)
{
	return seq >> 1;
}

static inline bool weir__track_is_open(uint64_t seq)
{
	return seq & 1;
}

/* --- The writer ----------------------------------------------------------- */

/* Claim 3. Whether `n` events can be written. */
static inline bool weir__track_has_room(const struct weir__track *track,
					uint64_t n)
{
	uint64_t done;

	if (WEIR_LIKELY(!track->keeps))
		return true;
	done = ck_pr_load_64(&track->done);
	/* acquire: the reader has read; pairs with the release in
	 * weir__track_done() */
	ck_pr_fence_acquire();
	return weir__track_count(track->seq) + n - done <= WEIR__TRACK_EVENTS;
}

/* Ends the slice that is open there. */
void weir__track_split(struct weir__track *track, uint64_t to);

/*
 * Opens a slice, whose `to` is not known yet. It is not opened if there is no
 * room, or if events were lost that are to be told first. A slice in which it begins ends
 * there; what is left of that is to be written as an event of its own.
 */
static inline void weir__track_open(struct weir__track *track, uint64_t from,
				    uint64_t actor, uint64_t what)
{
	struct weir__event *slot;
	uint64_t seq;

	if (WEIR_UNLIKELY(weir__track_is_open(track->seq)))
		weir__track_split(track, from);
	if (WEIR_UNLIKELY(track->lost != track->told ||
			  !weir__track_has_room(track, 1)))
		return;
	seq = track->seq; /* only we write it */
	slot = weir__track_slot(track, weir__track_count(seq));
	/* the seq before the words: claim 1; pairs with the fence in
	 * weir__track_load() */
	ck_pr_fence_store();
	ck_pr_store_64(&slot->from, from);
	ck_pr_store_64(&slot->actor, actor);
	ck_pr_store_64(&slot->what, what);
	/* release: the words before the seq, claim 1; pairs with the acquire in
	 * weir__track_seq() */
	ck_pr_fence_release();
	ck_pr_store_64(&track->seq, seq | 1);
}

/* Writes an event that has not been opened. */
void weir__track_add(struct weir__track *track,
		     const struct weir__event *event);

/* Ends the slice that is open; `event` is the whole. */
static inline void weir__track_close(struct weir__track *track,
				     const struct weir__event *event)
{
	uint64_t seq = track->seq;
	struct weir__event *slot =
		weir__track_slot(track, weir__track_count(seq));

	if (WEIR_UNLIKELY(!weir__track_is_open(seq))) {
		weir__track_add(track, event);
		return;
	}
	ck_pr_store_64(&slot->to, event->to);
	ck_pr_store_64(&slot->what, event->what);
	/* release: as in weir__track_open() */
	ck_pr_fence_release();
	ck_pr_store_64(&track->seq, seq + 1);
}

/* --- The reader ----------------------------------------------------------- */

static inline uint64_t weir__track_seq(const struct weir__track *track)
{
	uint64_t seq = ck_pr_load_64(&track->seq);

	/* acquire: pairs with the releases of the writer */
	ck_pr_fence_acquire();
	return seq;
}

/*
 * Event `index`, which is below the count of a seq that was read, or the one
 * that this seq says is open. False: it was overwritten.
 */
bool weir__track_load(const struct weir__track *track, uint64_t index,
		      struct weir__event *event);

/* The reader is done with all events below. */
void weir__track_done(struct weir__track *track, uint64_t index);

#endif
