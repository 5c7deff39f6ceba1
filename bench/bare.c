/* SPDX-License-Identifier: BSD-2-Clause */
/* The scheduler of bare.h; the numbers are those of its rules. */
#include "bare.h"

#include "support.h"

/* The most turns of one slice; a source that is never full needs an end. */
#define BUDGET 4096

static inline void enqueue(struct bare_worker *worker, struct bare_actor *actor)
{
	actor->next = NULL;
	*worker->last = actor;
	worker->last = &actor->next;
}

static inline struct bare_actor *dequeue(struct bare_worker *worker)
{
	struct bare_actor *actor = worker->first;

	if (actor) {
		worker->first = actor->next;
		if (!worker->first)
			worker->last = &worker->first;
	}
	return actor;
}

static void send_home(struct bare_actor *actor)
{
	struct bare_worker *home = actor->home;
	struct bare_actor *old;

	do {
		old = ck_pr_load_ptr(&home->inbox);
		actor->next = old;
		/* release: the actor; pairs with take_inbox() */
		ck_pr_fence_release();
	} while (!ck_pr_cas_ptr(&home->inbox, old, actor));
}

static void take_inbox(struct bare_worker *worker)
{
	struct bare_actor *actor = ck_pr_fas_ptr(&worker->inbox, NULL);

	/* acquire: what the submitters wrote; pairs with send_home() */
	ck_pr_fence_acquire();
	while (actor) {
		struct bare_actor *next = actor->next;

		enqueue(worker, actor);
		actor = next;
	}
}

static inline void submit(struct bare_worker *worker, struct bare_actor *actor)
{
	if (actor->home == worker)
		enqueue(worker, actor);
	else
		send_home(actor);
}

/* Adds to the gate; rule 1. */
static inline void gate_add(struct bare_worker *worker,
			    struct bare_actor *actor, uint32_t add)
{
	uint32_t old, new;

	if (!actor->shared) {
		actor->gate += add;
		if (actor->gate != 0)
			return;
		actor->gate = 1;
		enqueue(worker, actor);
		return;
	}
	/* release: our part of the slice before whoever submits next */
	ck_pr_fence_release();
	do {
		old = ck_pr_load_32(&actor->gate);
		new = old + add == 0 ? 1 : old + add;
	} while (!ck_pr_cas_32(&actor->gate, old, new));
	if (old + add != 0)
		return;
	/* acquire: what the others did before they decremented */
	ck_pr_fence_acquire();
	submit(worker, actor);
}

/* Rule 2, after the index. */
static inline void unblock(struct bare_worker *worker, struct bare_actor *owner,
			   struct bare_port *port, bool crosses)
{
	if (!crosses) {
		if (port->blocked == 0)
			return;
		port->blocked = 0;
	} else {
		/* the exchange of the index before this load */
		ck_pr_fence_atomic_load();
		if (ck_pr_load_32(&port->blocked) == 0 ||
		    ck_pr_fas_32(&port->blocked, 0) == 0)
			return;
	}
	gate_add(worker, owner, (uint32_t)-2);
}

static inline uint64_t queued(struct bare_port *in)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < in->n_links; i++)
		n += bare_queued(&in->links[i]);
	return n;
}

/* Makes visible that the index has moved to value, and wakes the peer. */
static inline void publish(struct bare_worker *worker, struct bare_link *link,
			   uint64_t *index, uint64_t value,
			   struct bare_actor *peer, struct bare_port *port)
{
	if (link->crosses) {
		if (*index == value)
			return;
		/* release: the slots before the index */
		ck_pr_fence_release();
		ck_pr_fas_64(index, value);
	}
	unblock(worker, peer, port, link->crosses);
}

static inline void publish_all(struct bare_worker *worker,
			       struct bare_actor *actor)
{
	struct bare_link *link = actor->in.links;

	for (uint32_t i = 0; i < actor->in.n_links; i++, link++)
		publish(worker, link, &link->lane.head, link->lane.take,
			link->from, &link->from->out);
	link = actor->out.links;
	if (link)
		publish(worker, link, &link->lane.tail, link->lane.put,
			link->to, &link->to->in);
}

static inline bool is_ready(struct bare_actor *actor, struct bare_port *port)
{
	if (port == &actor->in)
		return queued(port) > 0;
	return bare_room(port->links) > 0;
}

/* Rule 3: returns by how many the gate grows. */
static inline uint32_t arm(struct bare_actor *actor, struct bare_port *port)
{
	if (!port->n_links || is_ready(actor, port))
		return 0;
	if (!port->crosses) {
		port->blocked = 1;
		return 2;
	}
	ck_pr_store_32(&port->blocked, 1);
	/* pairs with the exchange in publish(): one of us sees the other */
	ck_pr_fence_store_load();
	if (is_ready(actor, port) && ck_pr_fas_32(&port->blocked, 0) == 1)
		return 0;
	return 2;
}

/* Returns false when the actor has ended. */
static inline bool run_turns(struct bare_worker *worker,
			     struct bare_actor *actor, uint64_t n)
{
	uint64_t did;

	if (n == 0)
		return true;
	did = actor->turns(actor, n);
	publish_all(worker, actor);
	return did >= n;
}

/* An actor whose ports may be in use by the other worker. */
static void slice_any(struct bare_worker *worker, struct bare_actor *actor)
{
	uint64_t n = actor->in.links ? queued(&actor->in) : BUDGET;
	uint32_t add;

	if (n > 0 && actor->out.links) {
		uint64_t room = bare_room(actor->out.links);

		n = room < n ? room : n;
	}
	if (!run_turns(worker, actor, n))
		return;
	add = arm(actor, &actor->in);
	add += arm(actor, &actor->out);
	gate_add(worker, actor, add - 1);
}

/*
 * An actor with at most one link a port, all on this worker: nothing moves while
 * its slice runs, so the numbers at the start say how the ports stand at the
 * end.
 */
static inline void slice_simple(struct bare_worker *worker,
				struct bare_actor *actor)
{
	struct bare_link *in = actor->in.links, *out = actor->out.links;
	uint64_t n_in = BUDGET, n_out = BUDGET, n, did;

	if (in)
		n_in = in->lane.put - in->lane.take;
	if (out)
		n_out = out->lane.window - (out->lane.put - out->lane.take);
	n = n_in < n_out ? n_in : n_out;
	if (n > 0) {
		did = actor->turns(actor, n);
		if (in)
			unblock(worker, in->from, &in->from->out, false);
		if (out)
			unblock(worker, out->to, &out->to->in, false);
		if (did < n)
			return;
	}
	actor->in.blocked = in && n_in == n;
	actor->out.blocked = out && n_out == n;
	actor->gate = 2 * (actor->in.blocked + actor->out.blocked);
	if (actor->gate == 0) {
		actor->gate = 1;
		enqueue(worker, actor);
	}
}

static void work(struct bare_worker *worker)
{
	uint32_t *done = &worker->scheduler->done;
	struct bare_actor *actor;
	unsigned n_idle = 0;

	while (!ck_pr_load_32(done)) {
		if (ck_pr_load_ptr(&worker->inbox))
			take_inbox(worker);
		actor = dequeue(worker);
		if (!actor) {
			bench_spin(&n_idle);
			continue;
		}
		n_idle = 0;
		if (actor->shared || actor->in.n_links > 1)
			slice_any(worker, actor);
		else
			slice_simple(worker, actor);
	}
}

static void work_first(void *scheduler)
{
	work(&((struct bare_scheduler *)scheduler)->workers[0]);
}

static void work_second(void *scheduler)
{
	work(&((struct bare_scheduler *)scheduler)->workers[1]);
}

uint64_t bare_run(struct bare_scheduler *scheduler, struct bare_actor **actors,
		  unsigned n_actors)
{
	uint64_t start;

	for (unsigned i = 0; i < n_actors; i++) {
		actors[i]->gate = 1;
		enqueue(actors[i]->home, actors[i]);
	}
	if (scheduler->n_workers == 2)
		return bench_pair(work_first, work_second, scheduler);
	start = bench_now_ns();
	work(&scheduler->workers[0]);
	return bench_now_ns() - start;
}

void bare_init(struct bare_scheduler *scheduler, unsigned n_workers)
{
	*scheduler = (struct bare_scheduler){.n_workers = n_workers};
	for (unsigned i = 0; i < 2; i++) {
		scheduler->workers[i].last = &scheduler->workers[i].first;
		scheduler->workers[i].scheduler = scheduler;
	}
}

void bare_actor_init(struct bare_actor *actor, struct bare_worker *home,
		     uint64_t (*turns)(struct bare_actor *actor, uint64_t n))
{
	actor->home = home;
	actor->turns = turns;
}

void bare_link(struct bare_link *links, struct bare_actor **from,
	       unsigned n_links, struct bare_actor *to, unsigned window)
{
	to->in.links = links;
	to->in.n_links = n_links;
	for (unsigned i = 0; i < n_links; i++) {
		bool crosses = from[i]->home != to->home;

		lane_init(&links[i].lane, window, crosses);
		links[i].from = from[i];
		links[i].to = to;
		links[i].crosses = crosses;
		from[i]->out.links = &links[i];
		from[i]->out.n_links = 1;
		from[i]->out.crosses = crosses;
		from[i]->shared |= crosses;
		to->in.crosses |= crosses;
		to->shared |= crosses;
	}
}

void bare_unlink(struct bare_link *links, unsigned n_links)
{
	for (unsigned i = 0; i < n_links; i++)
		lane_fini(&links[i].lane);
}
