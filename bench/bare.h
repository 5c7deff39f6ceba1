/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bare: the smallest actor scheduler that is still one. Actors fire when none
 * of their ports is blocked; there are no errors, no cancel, no supervision, no
 * fairness and no sleeping, and actors stay on the worker they are given. What
 * remains is what scheduling itself costs, so it is a limit for the library.
 *
 *  1. gate = 2 * (blocked ports) + scheduled. Who makes it 0 blocked and not
 *     scheduled sets scheduled in the same swap, and submits.
 *  2. Publishing: exchange of the index, then, if blocked reads 1, exchange
 *     blocked with 0; who read 1 decrements the gate.
 *  3. Arming, at the end of a slice: blocked = 1 for each port that is not
 *     ready, full fence, second look; who is ready after all is taken back by
 *     the same exchange. The last swap adds the others and clears scheduled.
 *
 * Between two actors of one worker all of this is plain loads and stores; the
 * lane's cursors are its indices, and there is no second look: the other cannot
 * have run meanwhile.
 */
#ifndef WEIR_BENCH_BARE_H
#define WEIR_BENCH_BARE_H

#include <ck_pr.h>

#include "lane.h"

struct bare_actor;

struct bare_link {
	struct lane lane;
	struct bare_actor *from, *to;
	bool crosses; /* the ends belong to different workers */
};

/* One condition: a token in any of the links, or room in the only one. */
struct bare_port {
	uint32_t blocked;
	uint32_t n_links; /* 0: the actor has no such port */
	bool crosses;	  /* one of the links does */
	struct bare_link *links;
};

struct bare_actor {
	/* A line of its own: another worker may touch gate and ports. */
	_Alignas(BENCH_CACHELINE) uint32_t gate;
	bool shared; /* another worker may touch the gate */
	struct bare_actor *next;
	struct bare_worker *home;
	/* Runs up to n turns; fewer end the actor: it is not armed again. */
	uint64_t (*turns)(struct bare_actor *actor, uint64_t n);
	struct bare_port in, out;
};

struct bare_worker {
	struct bare_actor *first, **last; /* run queue */
	struct bare_scheduler *scheduler;
	_Alignas(BENCH_CACHELINE) struct bare_actor *inbox;
};

struct bare_scheduler {
	struct bare_worker workers[2];
	unsigned n_workers;
	_Alignas(BENCH_CACHELINE) uint32_t done;
};

void bare_init(struct bare_scheduler *scheduler, unsigned n_workers);
void bare_actor_init(struct bare_actor *actor, struct bare_worker *home,
		     uint64_t (*turns)(struct bare_actor *actor, uint64_t n));
/* links are n_links in a row, one from each actor of from, into to */
void bare_link(struct bare_link *links, struct bare_actor **from,
	       unsigned n_links, struct bare_actor *to, unsigned window);
void bare_unlink(struct bare_link *links, unsigned n_links);
/* Submits the actors in order, runs until bare_done(), returns the time. */
uint64_t bare_run(struct bare_scheduler *scheduler, struct bare_actor **actors,
		  unsigned n_actors);

/* Consumer: the cursors themselves are shared between actors of one worker. */
static inline uint64_t bare_queued(struct bare_link *link)
{
	if (!link->crosses)
		return link->lane.put - link->lane.take;
	return lane_queued_batch(&link->lane);
}

/* Producer */
static inline uint64_t bare_room(struct bare_link *link)
{
	if (!link->crosses)
		return link->lane.window - (link->lane.put - link->lane.take);
	return lane_room_batch(&link->lane);
}

/* From a turn: no more work; the workers return. */
static inline void bare_done(struct bare_actor *actor)
{
	ck_pr_store_32(&actor->home->scheduler->done, 1);
}

#endif
