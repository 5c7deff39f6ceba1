/* SPDX-License-Identifier: BSD-2-Clause */
/* A snapshot with what nobody else sees. */
#ifndef WEIR_INSPECT_SNAPSHOT_H
#define WEIR_INSPECT_SNAPSHOT_H

#include <poll.h>

#include <weir/allocator.h>
#include <weir/inspect.h>

/* How bad it is that an actor waits, by what its root is. */
enum weir__rank {
	WEIR__RANK_OUTSIDE, /* the outside world: a source is idle */
	WEIR__RANK_INSIDE,  /* something in the program */
	WEIR__RANK_CYCLE,   /* actors that wait for each other */
};

/* Of an actor: why it waits. */
struct weir__cause {
	size_t port, next; /* as in struct weir_reason */
	size_t root;	/* where its way ends; of a cycle one of its actors */
	size_t n_stuck; /* of a root: actors on ways to it, and itself, that hold
			 * items which do not go on, or have no room for more */
	enum weir__rank rank;
};

/* True if the root holds others up, or is of a cycle. */
static inline bool weir__cause_holds_up(const struct weir__cause *root)
{
	return root->n_stuck > 0 || root->next != WEIR_NOWHERE;
}

/* What there is room for. */
struct weir__rooms {
	size_t executors, threads, children, pools;
};

struct weir__snapshot {
	struct weir_snapshot seen;		/* first */
	const struct weir_allocator *allocator; /* borrowed */
	/* the same arrays, and what there is room for */
	struct weir_seen_actor *actors;
	struct weir_seen_port *ports;
	struct weir_seen_link *links;
	struct weir_seen_demand *demands;
	struct weir_seen_object *objects;
	size_t room_actors, room_ports, room_links, room_demands, room_objects;
	bool joined; /* weir__snapshot_join() */
	struct weir_seen_executor *executors;
	struct weir_seen_thread *threads;
	struct weir_seen_child *children;
	struct weir_seen_pool *pools;
	struct weir__rooms rooms;   /* for the four above */
	struct weir__cause *causes; /* of each actor; NULL: not asked for */
};

/* An empty one, with room for so many actors; NULL: no memory. */
struct weir__snapshot *weir__snapshot_new(
	const struct weir_allocator *allocator, size_t n_actors);

/* Supervision has halted the actor. */
static inline bool weir__wait_halted(enum weir_wait wait)
{
	return wait == WEIR_WAIT_PARENT ||
	       (wait >= WEIR_WAIT_VERDICT && wait <= WEIR_WAIT_SIBLINGS);
}

/* One of its operators does, and not to read. */
static inline bool weir__waits_to_write(const struct weir_seen_actor *actor)
{
	return actor->wait == WEIR_WAIT_WAKE &&
	       actor->asked_for == WEIR_WAIT_FD && actor->fd >= 0 &&
	       !(actor->events & POLLIN);
}

/* Makes room for the rest, of which it has none. False: no memory. */
bool weir__snapshot_make_room(struct weir__snapshot *snapshot,
			      const struct weir__rooms *rooms);

/* Of an actor with that gate; WEIR_WAIT_OTHER: it waits at a port. */
enum weir_wait weir__snapshot_wait(uint32_t gate);

/* Behind what is there, as much of it as there is room for. */
void weir__snapshot_add_name(struct weir_seen_actor *actor, const char *part);

/* The same actors wait for the same, and nothing has gone through a link. */
bool weir__snapshot_same(const struct weir_snapshot *a,
			 const struct weir_snapshot *b);

/* 0: the executors are there; -EINVAL, -EDEADLK as weir_snapshot_new(). */
int weir__snapshot_check(struct weir_executor *const *executors, size_t n);

/*
 * Looks at all actors of the executors, once. *at is filled anew, or NULL, and
 * made; nothing is joined, and without `names` actors have none. 0, or
 * -ENOMEM: then *at is NULL.
 */
int weir__snapshot_look(struct weir__snapshot **at,
			struct weir_executor *const *executors, size_t n,
			bool names);

/* An actor that waits at ports waits for what the first of them does. */
void weir__snapshot_waits(struct weir__snapshot *self);

/* All is seen: what belongs together finds it, and who waits for what, but for
 * threads. 0 or -ENOMEM. */
int weir__snapshot_connect(struct weir__snapshot *self);

/* All is seen: links find where they come from, and actors why they wait. 0 or
 * -ENOMEM. */
int weir__snapshot_finish(struct weir__snapshot *self);

/* What ports that wait for such a thing are called; NULL: they are not. */
const char *weir__snapshot_port_name(enum weir_wait wait);

/* Links, groups, demands and objects find what they belong to. 0 or -ENOMEM. */
int weir__snapshot_join(struct weir__snapshot *self);

/* --- executors.c ---------------------------------------------------------- */

/* Looks at an executor and its threads. False: there was no room. No lock. */
bool weir__snapshot_executor(struct weir__snapshot *snapshot,
			     struct weir_executor *executor);
/* Finds who runs where. 0 or -ENOMEM. */
int weir__snapshot_runs(struct weir__snapshot *self);
/* Finds which threads and executors are as they were, or will be, in another
 * look. */
void weir__snapshot_stays(struct weir__snapshot *self,
			  const struct weir_snapshot *look);
/* Behind both of them: finds who waits for a thread. A history is to be fed
 * before, as that is not what plain looks find. */
void weir__snapshot_due(struct weir__snapshot *self);

/* --- members.c ------------------------------------------------------------ */

/* Finds the actors that children and pools tell of, and whom they wait for. 0
 * or -ENOMEM. */
int weir__snapshot_holders(struct weir__snapshot *self);
/* The pool of a process manager or a server, all places of which are taken; or
 * NULL. */
const struct weir_seen_pool *weir__snapshot_full_pool(
	const struct weir_snapshot *snapshot, size_t actor);

/* --- naming.c ------------------------------------------------------------ */

/* As much of the name as there is room for, with its 0. */
void weir__snapshot_name(char *name, size_t room, const char *from);
/* Makes `?` of what is no UTF-8 in names, and blanks of what is control. */
void weir__snapshot_mend(struct weir__snapshot *self);

/* --- why.c ---------------------------------------------------------------- */

/* Finds the cause of each actor. 0 or -ENOMEM. */
int weir__snapshot_causes(struct weir__snapshot *snapshot);

/* As formats for programs have it: "room". */
const char *weir__snapshot_wait_name(enum weir_wait wait);

/* Since when the actor waits at that port, WEIR_NOWHERE: or runs. */
static inline uint64_t weir__snapshot_since(
	const struct weir_snapshot *snapshot, size_t actor, size_t port)
{
	return port == WEIR_NOWHERE ? snapshot->actors[actor].since_ns
				    : snapshot->ports[port].since_ns;
}

/* The links that end in a port, which are one behind the other: the first, and
 * how many. */
size_t weir__snapshot_links(const struct weir_snapshot *snapshot, size_t port,
			    size_t *n);

#endif
