/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A look inside, while the program runs: which actors there are, how they are
 * linked, what each waits for, and who is to blame when nothing moves.
 *
 * Nothing is counted for it while items flow. A snapshot reads the words by
 * which actors and ports wait for each other anyway, each as it is at that
 * moment; a graph that moves is not seen at one moment. A snapshot of which a
 * second look finds the same words is *settled*: so long nothing has moved.
 */
#ifndef WEIR_INSPECT_H
#define WEIR_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_actor;
struct weir_executor;
struct weir_port;
struct weir_subscription;

/* What an actor waits for, or one of its ports. */
enum weir_wait {
	WEIR_WAIT_NONE,	     /* nothing: its slice runs, or is due */
	WEIR_WAIT_INPUT,     /* an item, or the end of the stream */
	WEIR_WAIT_ROOM,	     /* room in a link */
	WEIR_WAIT_DEMAND,    /* that a subscriber requests */
	WEIR_WAIT_LINK,	     /* the out-port has no link */
	WEIR_WAIT_PERMIT,    /* a permit of a semaphore, or of its own port */
	WEIR_WAIT_CHANNEL,   /* items or room in a channel */
	WEIR_WAIT_TIME,	     /* that a time comes */
	WEIR_WAIT_FD,	     /* that a descriptor is ready */
	WEIR_WAIT_COMPLETED, /* a completion */
	WEIR_WAIT_WAKE,	     /* none of its ports takes part: a signal, as of a
			      * timer or another thread; or one of a flow waits
			      * for that and for input, and is in no cycle since
			      * it does */
	WEIR_WAIT_RESUME,    /* weir_actor_resume() */
	WEIR_WAIT_PARENT,    /* what its supervisor decides, or its children */
	WEIR_WAIT_OTHER,
	WEIR_WAIT_THREAD, /* its slice is due: a thread of its executor */
	/* of WAIT_PARENT, what is known more */
	WEIR_WAIT_VERDICT,  /* it has failed: what its supervisor decides */
	WEIR_WAIT_BACKOFF,  /* it has failed, and restarts after a time */
	WEIR_WAIT_ABOVE,    /* one above it has failed, or restarts */
	WEIR_WAIT_CHILDREN, /* the end of its children, before its own end or
			     * restart */
	WEIR_WAIT_SIBLINGS, /* that its siblings have halted, to restart */
};

#define WEIR_NOWHERE SIZE_MAX

/* Names are cut to that many bytes, with their 0. */
#define WEIR_INSPECT_NAME 48u
#define WEIR_INSPECT_PART 24u

/* What only a sampler knows, in snapshots that are not of one. */
#define WEIR_UNKNOWN UINT64_MAX
enum weir_seen_state {
	WEIR_SEEN_STATE_WAITING,   /* for what `wait` says */
	WEIR_SEEN_STATE_QUEUED,	   /* its slice is due */
	WEIR_SEEN_STATE_RUNNING,   /* its slice runs */
	WEIR_SEEN_STATE_SUSPENDED, /* by weir_actor_suspend() */
	WEIR_SEEN_STATE_HALTED,	   /* by supervision */
	WEIR_SEEN_STATE_STARTING,  /* in a system: a start is to come */
	WEIR_SEEN_STATE_LEAVING,   /* it ends */
};

struct weir_seen_actor {
	/* which one it is; not to be followed: it may be gone */
	const struct weir_actor *actor;
	const struct weir_executor *executor;
	char name[WEIR_INSPECT_NAME];
	/* WAIT_NONE, WAIT_WAKE, WAIT_RESUME, WAIT_PARENT; else what the
	 * first port waits for that is blocked */
	enum weir_wait wait;
	/* WAIT_WAKE: 1 << WEIR_WAIT_... for each thing that operators of its
	 * wait for at times; 0: not known */
	uint32_t wakers;
	size_t port; /* its first one, in weir_snapshot.ports */
	size_t n_ports;
	/* Since when it waits for that, or runs, and nothing has gone through
	 * its links; WEIR_UNKNOWN. */
	uint64_t since_ns;
	/* Thousandths of the time that it ran, waited for room or demand, waited
	 * for input, and for anything else; they make 1000. All 0: not known. */
	uint16_t busy, held, idle, blocked;
	/* No other actor of the executor has had it, or will, though it is at
	 * the same address: a place, and from 2^32 on how many had it. */
	uint64_t id;
	enum weir_seen_state state;
	/* In the snapshot's arrays; WEIR_NOWHERE: none, or not there. */
	size_t home;   /* its executor */
	size_t thread; /* that it runs on */
	size_t child;  /* what its system knows of it */
	size_t pool;   /* it is a process manager, or a pool's server */
	/* Whom it waits for beside what its ports say: of WAIT_THREAD who has
	 * the thread, of a pool who has a place; if there are several, one. */
	size_t holder;
	/* which one `holder` is, of WAIT_VERDICT to WAIT_SIBLINGS; not to be
	 * followed */
	const struct weir_actor *holder_actor;
	/* WAIT_WAKE, of a flow: the operator that waits, or the last one that
	 * has asked to be woken, and what it waits for; "", WAIT_NONE: not
	 * known */
	char asked[WEIR_INSPECT_PART];
	enum weir_wait asked_for;
	uint64_t at_ns; /* WAIT_TIME */
	int fd;		/* WAIT_FD; -1 */
	short events;	/* WAIT_FD: as poll(2) has them */
	/* an actor of the operator's own, whose result it waits for, in
	 * weir_snapshot.actors; WEIR_NOWHERE */
	size_t other;
	/* which one `other` is; not to be followed. NULL: none */
	const struct weir_actor *other_actor;
};

#define WEIR_INSPECT_PATH 96u

/* An actor in a system. */
struct weir_seen_child {
	size_t actor; /* in weir_snapshot.actors */
	/* as weir_system_path(), cut if it is longer; empty: it has ended */
	char path[WEIR_INSPECT_PATH];
	/* In weir_snapshot.actors, WEIR_NOWHERE: none, or not there; and which
	 * ones they are, not to be followed. */
	size_t parent;
	size_t culprit; /* its child, with the failure of which it has failed */
	const struct weir_actor *parent_actor, *culprit_actor;
	uint64_t restarts;
	uint64_t until_ns; /* WAIT_BACKOFF; else WEIR_FOREVER */
	/* Of its failure or, if it goes on, of its last restart; 0: none. */
	int error;
	char message[WEIR_INSPECT_NAME];
};

enum weir_pool_kind {
	WEIR_POOL_MANAGER, /* a process manager */
	WEIR_POOL_WORKERS, /* a worker pool */
};

/* What starts processes or workers. */
struct weir_seen_pool {
	enum weir_pool_kind kind;
	size_t actor; /* the manager, or the pool's server */
	/* which one its processes or workers are children of; not to be
	 * followed */
	const struct weir_actor *members_of;
	char name[WEIR_INSPECT_NAME]; /* of a worker pool */
	uint64_t max;	    /* processes or workers that there may be */
	uint64_t busy;	    /* that there are, and have a command or a user */
	uint64_t queued;    /* commands, jobs or requests that wait */
	uint64_t requested; /* of a manager: that it has asked for */
	uint64_t refused;   /* of a manager: offers without room */
	uint64_t dropped;   /* of a worker pool: jobs */
};

struct weir_seen_port {
	/* which one it is; not to be followed */
	const struct weir_port *port;
	size_t actor;	     /* in weir_snapshot.actors */
	enum weir_wait wait; /* what it waits for if `blocked` */
	bool takes_part;     /* the actor waits for it */
	bool blocked;
	bool one_link; /* of its links one is enough */
	bool over;     /* it has ended, or was cancelled: it takes no part */
	/* The weir_any that it is a member of, of whose members one is enough;
	 * WEIR_NOWHERE. */
	size_t group;
	/* which one `group` is; not to be followed. NULL: none */
	const struct weir_port *group_port;
	/* semaphore, channel or completion; not to be followed */
	const void *object;
	uint64_t at_ns; /* WAIT_TIME; WEIR_FOREVER: none is set */
	int fd;		/* WAIT_FD; -1 */
	short events;	/* WAIT_FD: as poll(2) has them */
	uint32_t burst;
	/* Since when it is blocked or not, and nothing has gone through its
	 * links; WEIR_UNKNOWN. */
	uint64_t since_ns;
	/* `object` in weir_snapshot.objects; WEIR_NOWHERE */
	size_t shared;
	/* permits, items or room of the object that the port has been given */
	uint32_t held;
	bool takes;	 /* WAIT_CHANNEL: items; false: it puts */
	bool subscribes; /* an in-port with a weir_seen_demand */
	/* as weir_actor_ops.port_names has it, or its sort ("in", "out",
	 * "permit" ...), numbered from 1 if there are several: "in2" */
	char name[WEIR_INSPECT_PART];
};

struct weir_seen_link {
	/* In weir_snapshot.ports. WEIR_NOWHERE: from outside, by weir_in_put()
	 * or a publisher; or an actor that is not in the snapshot. */
	size_t from;
	size_t to;
	/* which one `from` is; not to be followed. NULL: none */
	const struct weir_port *from_port;
	uint32_t capacity;
	uint32_t fill;	/* items in it */
	uint32_t items; /* that have gone into it, modulo 2^31 */
	bool ended;	/* no more come */
	/* The most items that were seen in it, 0 if a sampler never looked; what
	 * has gone into it ever, and how many in 1,000 s at the pace of the last
	 * window; WEIR_UNKNOWN. */
	uint32_t high;
	uint64_t items_ever;
	uint64_t rate;
};

/* What a subscriber has requested where no link stands for it. */
struct weir_seen_demand {
	/* The out-port that sends and the in-port that requests, in
	 * weir_snapshot.ports. WEIR_NOWHERE: a publisher or a subscriber of the
	 * program's own, or of an executor that was not looked at. */
	size_t from;
	size_t to;
	/* which one it is; not to be followed. NULL: nobody publishes yet */
	const struct weir_subscription *subscription;
	int64_t requested; /* items, ever; INT64_MAX: without bound */
	int64_t sent;	   /* of these */
	/* which ones `from` and `to` are; not to be followed. NULL: none */
	const struct weir_port *from_port, *to_port;
};

/* So many waiters of a shared object are counted at most. */
#define WEIR_INSPECT_WAITERS 64u

/* What actors and threads share, and an actor has a port at. */
struct weir_seen_object {
	const void *object;  /* which one it is; not to be followed */
	enum weir_wait wait; /* PERMIT: a semaphore; CHANNEL; COMPLETED */
	uint32_t takers;     /* ports, threads and requests that wait */
	uint32_t putters;    /* likewise, for room in a channel */
	size_t capacity;     /* of a channel */
	int64_t fill;	     /* items in it; permits that nobody has */
	bool ended;	     /* the channel has; the completion is complete */
};

enum weir_executor_kind {
	WEIR_EXECUTOR_OTHER, /* none of the library's: it has no threads here */
	WEIR_EXECUTOR_THREADS,
	WEIR_EXECUTOR_LOOP,
	WEIR_EXECUTOR_BLOCKING,
	WEIR_EXECUTOR_SIM,
};

struct weir_seen_executor {
	/* which one it is; not to be followed */
	const struct weir_executor *executor;
	enum weir_executor_kind kind;
	char name[16];	 /* of its threads */
	uint64_t now_ns; /* its clock */
	/* The threads that it has now, in weir_snapshot.threads; of a loop or
	 * simulator the one that runs it, if any does. */
	size_t thread, n_threads;
	uint32_t threads_max;	  /* 0: not known */
	uint32_t busy;		  /* threads in a slice */
	uint32_t parked;	  /* threads that sleep */
	uint32_t queued;	  /* actors whose slice is due */
	uint64_t timers, watches; /* that are armed */
	uint64_t slices, steals;  /* so far; 0: not counted */
	/* The second look has found that no slice has ended. */
	bool stands;
	bool own; /* the thread that looks is the one that runs it */
};

struct weir_seen_thread {
	size_t executor; /* in weir_snapshot.executors */
	size_t actor;	 /* whose slice runs; WEIR_NOWHERE: none */
	/* which one `actor` is; not to be followed. NULL: none */
	const struct weir_actor *running;
	uint64_t slices; /* that it has run to their end */
	uint32_t queued; /* tasks in its own ring */
	int id;		 /* the kernel's, as of gettid(2) */
	/* of a pool: actors of that executor are bound to the thread */
	const struct weir_executor *bound;
	/* The second look has found it in the same slice. */
	bool stays;
};

/* Read-only. Valid until weir_snapshot_free(). */
struct weir_snapshot {
	size_t n_actors, n_ports, n_links;
	const struct weir_seen_actor *actors;
	const struct weir_seen_port *ports;
	const struct weir_seen_link *links; /* in the order of `to` */
	bool settled;
	/* Of a sampler, on its clock; WEIR_UNKNOWN without one: when it was
	 * taken, when anything was last seen to move, how long the window is
	 * that shares and rates are of, the time between two looks. */
	uint64_t now_ns, moved_ns, window_ns, period_ns;
	size_t n_demands, n_objects;
	const struct weir_seen_demand *demands;
	const struct weir_seen_object *objects;
	size_t n_executors, n_threads;
	const struct weir_seen_executor *executors; /* each once */
	const struct weir_seen_thread *threads;	    /* by executors */
	size_t n_children, n_pools;
	const struct weir_seen_child *children; /* in the order of actors */
	const struct weir_seen_pool *pools;
	/* Parts of another process's memory that could not be read, or made no
	 * sense, and are left out. Of such memory there are no demands, children
	 * and pools. */
	size_t n_torn;
};

/*
 * Takes a snapshot of all actors of `n` executors, but those whose name begins
 * with a dot; NULL and 0: of all executors in the process, which are not freed
 * before the look is over. `settle_ns`: looks again after so long, in which the
 * calling thread sleeps, and says whether anything has moved; 0: looks once, and
 * it is not settled. The executors go on; a start, an end or a change of a link
 * may have to wait while some 32 actors are read.
 *
 * The memory is of the first executor's allocator, which is borrowed until
 * weir_snapshot_free(), or, of all executors, of the default one. The caller
 * keeps the `n` executors from being freed. -EINVAL: a null argument. -ENOMEM:
 * nothing is left. -EDEADLK: in a `released` of an actor. Any thread, also in a
 * turn (which then is seen as running).
 */
WEIR_API WEIR_MUST_CHECK int weir_snapshot_new(
	struct weir_snapshot **snapshot, struct weir_executor *const *executors,
	size_t n, uint64_t settle_ns);

/* NULL is fine. */
WEIR_API void weir_snapshot_free(struct weir_snapshot *snapshot);

/* The actor's place in snapshot->actors; WEIR_NOWHERE: it is not there. */
WEIR_API size_t weir_snapshot_find(const struct weir_snapshot *snapshot,
				   const struct weir_actor *actor);

/* --- Why ------------------------------------------------------------------ */

/* An actor waits at a port, or for what `wait` says. */
struct weir_reason {
	size_t actor; /* in snapshot->actors */
	size_t port;  /* in snapshot->ports; WEIR_NOWHERE: at none */
	enum weir_wait wait;
	/* The actor that it waits for, which the next reason is of; of the last
	 * one WEIR_NOWHERE, or, of a cycle, an actor further up. */
	size_t next;
	uint64_t since_ns; /* since when; WEIR_UNKNOWN */
};

/*
 * Why the actor does not run: from the actor on, each reason's actor waits for
 * that of the next, to the root, which waits for no other actor, or for one
 * further up: a cycle of actors that wait for each other, a deadlock if the
 * snapshot is settled. Of several ports at which an actor waits, that one is told
 * whose root is no wait for the outside world. Fills up to `n` reasons and
 * returns how many there are, at least 1; 0: no such actor.
 */
WEIR_API size_t weir_snapshot_why(const struct weir_snapshot *snapshot,
				  size_t actor, struct weir_reason *reasons,
				  size_t n);

/*
 * The same in words, a line for each reason; actor WEIR_NOWHERE: of the whole
 * program, the roots that most other actors wait for, or that it is idle. Writes
 * up to `n` bytes with a 0, and returns how many the whole text has without it.
 */
WEIR_API size_t weir_snapshot_why_text(const struct weir_snapshot *snapshot,
				       size_t actor, char *text, size_t n);

/* --- Pictures ------------------------------------------------------------- */

/*
 * The whole snapshot as JSON (docs/inspect.md has its fields), or as a graph for
 * Graphviz, in which an actor that runs is red, one that waits for room or
 * demand grey, and any other blue. As weir_snapshot_why_text().
 */
WEIR_API size_t weir_snapshot_json(const struct weir_snapshot *snapshot,
				   char *text, size_t n);
WEIR_API size_t weir_snapshot_dot(const struct weir_snapshot *snapshot,
				  char *text, size_t n);

/*
 * Lines of at most 80 bytes, for a terminal: who is to blame; then the actors,
 * those first that have waited longest inside the program, and the links, the
 * fullest first. Shares, times and rates are there if a sampler has made the
 * snapshot. As weir_snapshot_why_text().
 */
WEIR_API size_t weir_snapshot_table(const struct weir_snapshot *snapshot,
				    char *text, size_t n);

/*
 * For Prometheus, in its text format 0.0.4 (docs/sampler.md has the names), of
 * 100 actors and 100 links at most, and what the others are together; it is sent
 * as "text/plain; version=0.0.4; charset=utf-8". As weir_snapshot_why_text().
 */
WEIR_API size_t weir_snapshot_prometheus(const struct weir_snapshot *snapshot,
					 char *text, size_t n);

#ifdef __cplusplus
}
#endif

#endif
