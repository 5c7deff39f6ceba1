/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process manager: starts a process for each command, never has more than
 * `max` at a time, and asks for no more commands than it can start. Commands
 * come from a publisher, whose subscriber it is then (a sink), or are offered
 * to it from any thread, through a bounded buffer in front. After the process
 * manager with back-pressure of the Akka world.
 *
 * Its demand is computed:
 *
 *	max - (requested and not received + queue + processing)
 *
 * and requested when a whole batch is free (max_in_flight in request.h). Queue
 * is what it has received and not started, processing what has started and not
 * been released. The buffer is in front of the demand and not counted: what
 * waits there cannot keep it from being asked for.
 *
 * The manager is an actor that its user spawns (system.h); processes are its
 * children, supervised by it: whatever fails in one stops it, and nothing else
 * (but WEIR_ERROR_FATAL, which escalates). A manager that restarts keeps what
 * waits and stops what runs; one that was closed stops instead.
 */
#ifndef WEIR_PROCESS_MANAGER_H
#define WEIR_PROCESS_MANAGER_H

#include <weir/in.h>
#include <weir/out.h>
#include <weir/reactive.h>
#include <weir/request.h>
#include <weir/permits.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_process;
struct weir_process_manager;

/* How a command has ended. */
enum weir_outcome {
	WEIR_OUTCOME_DONE,	/* its process finished */
	WEIR_OUTCOME_CRASHED,	/* its process failed; `error` says how */
	WEIR_OUTCOME_STOPPED,	/* somebody has stopped its process */
	WEIR_OUTCOME_TIMED_OUT, /* its time was up, its process was stopped */
	/*
	 * It was never started. -EEXIST: a process with its id runs. -EINVAL:
	 * a bad id. -ECANCELED, -ESHUTDOWN: the manager, the system or the
	 * executor ends. -ENOTSUP: it has a timeout, and the executor has no
	 * timers. -ENOMEM. Or what `start` has returned.
	 */
	WEIR_OUTCOME_REFUSED,
	WEIR_OUTCOME_COUNT, /* how many there are */
};

/*
 * What is to be done and whom to tell; embedded by who wants it done, kept
 * until `reply`. The items of a manager's stream are pointers to these.
 */
struct weir_command {
	/*
	 * It has ended. Once, if it was taken (offered with 0, or on its way
	 * in a stream), on the thread that ran its process or its manager,
	 * holding no lock; must not block. `error` is borrowed, NULL when
	 * done. The struct may be reused.
	 */
	void (*reply)(struct weir_command *command, enum weir_outcome outcome,
		      struct weir_error *error);
	/*
	 * Unique among those that run, 1 to WEIR_NAME_MAX bytes; borrowed until
	 * `reply`. NULL: none.
	 */
	const char *id;
	/* Time that its process has, from its start; 0: the manager's. */
	uint64_t timeout_ns;
	void *result; /* yours; for the process to hand over */
	/* private */
	struct weir_process_manager *manager;
};

/*
 * What the items of a publisher of commands are: to drop one replies
 * WEIR_OUTCOME_REFUSED with -ECANCELED. They cannot be shared.
 */
WEIR_API const struct weir_items *weir_command_items(void);

/*
 * The head of a process, a struct of yours of which the manager has `max`. It
 * is an actor, set up anew for each command.
 */
struct weir_process {
	struct weir_actor actor;
	struct weir_command *command; /* read-only; until it has stopped */
	struct weir_actor_id self;    /* read-only; to watch it or stop it */
	/* private */
	struct weir_process_manager *manager;
	struct weir_process *next;    /* of those that are free */
	struct weir_process *same_id; /* the next in a bucket of ids */
	struct weir_timer timer;
	uint32_t holders; /* any thread, atomically */
	uint32_t state;	  /* the same */
	bool timed, replies;
	bool cut; /* a drain has ended its stream */
};

/* Of `run`: weir_command_end() will be called. */
#define WEIR_RUN_LATER 1

struct weir_process_manager_options {
	const char *name; /* lives for ever, errors carry it; "manager" */
	void *context;	  /* passed to the functions */

	/* --- Processes that are actors ------------------------------------ */
	/* What they do; borrowed. Their lifecycle is called as for any. */
	const struct weir_actor_ops *process;
	size_t process_size; /* of the struct that begins with weir_process */
	/*
	 * Sets up the process for its command: fields and ports; the actor has
	 * been set up. A negative errno refuses the command; what was set up is
	 * released with the actor. NULL: there is nothing to do. In the
	 * manager's slice.
	 */
	int (*start)(struct weir_process *process, void *context);
	uint64_t timeout_ns; /* as the command's; 0: none */
	/*
	 * Time that they have when they are to stop and `stopping` of their
	 * lifecycle says 1, or their children take theirs: as
	 * weir_spawn_options.shutdown_ns. 0: for ever, also past the timeout.
	 * Else starting one takes memory.
	 */
	uint64_t shutdown_ns;

	/* --- Or processes that are calls ---------------------------------- */
	/*
	 * The process is this call, on a thread of the executor. 0: done.
	 * WEIR_RUN_LATER: it goes on, and ends with weir_command_end(). A
	 * negative errno: it has failed. Ids are not looked at, and there are
	 * no timeouts: nothing could stop it.
	 */
	int (*run)(struct weir_command *command, void *context);
	/* Actors that make the calls, of which each makes one at a time; as
	 * many as there are CPUs, up to `max`. */
	uint32_t runners;

	/* --- How many ----------------------------------------------------- */
	uint32_t max; /* processes at a time, 1 to WEIR_PROCESSES_MAX */
	/*
	 * Places that must be free before it asks. 1 by default; 5 with a
	 * publisher, of which each request is a call. Up to batch - 1 places
	 * are empty meanwhile: however long, if the others are taken by
	 * processes that do not end.
	 */
	uint32_t batch;
	/*
	 * Instead of max_in_flight: how many to request, as `remaining` are
	 * requested and not started. An answer is cut down to those that are
	 * free. In the manager's slice, whenever something has changed, and
	 * first in weir_process_manager_init().
	 */
	int64_t (*demand)(int64_t remaining, void *context);
	void *demand_context; /* passed to it */
	/*
	 * Commands that wait in front, when offered; up to WEIR_PROCESSES_MAX.
	 * With 0 an offer is taken when it can start.
	 */
	uint32_t buffer;
	/*
	 * What waits in front counts as in flight. -EINVAL where that could
	 * keep it from ever being asked for: buffer > max - min(batch, max).
	 */
	bool count_buffer;
	/* As weir_actor_ops.released. */
	void (*released)(void *context);
};

#define WEIR_PROCESSES_MAX (1u << 16)

/* All private but `actor`. */
struct weir_process_manager {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_permits may; /* start: permits that were asked for */
	struct weir_reactive_in reactive;
	struct weir_process_manager_options options;
	struct weir_actor_ops ops, process_ops;
	struct weir_items items; /* in the in-port */
	struct weir_max_in_flight in_flight;
	/* since it runs */
	struct weir_system *system;
	struct weir_actor_id self;
	/* the owner's */
	unsigned char *processes;
	size_t stride;
	struct weir_process *free;
	struct weir_process **ids; /* buckets */
	uint32_t n_ids;
	uint32_t n_free;	  /* of `max` */
	uint64_t n_taken;	  /* out of the in-port */
	uint64_t n_permitted;	  /* offers; atomic */
	struct weir_error *error; /* with which the stream has ended */
	bool subscribes, ends;
	struct weir__runners *runners;
	/* any thread, atomically */
	struct weir_process *returned; /* those that have been released */
	uint32_t n_returned;	       /* calls that have ended */
	uint32_t closed;
	uint64_t credit; /* offers that will be taken */
	uint64_t overflowed, outcomes[WEIR_OUTCOME_COUNT];
	uint64_t n_started;
	uint32_t n_processing, peak;
};

/*
 * Sets up a manager in the caller's memory; it must be spawned or stopped one
 * day. `options` is copied, what it points to is borrowed until `released`.
 * All memory that it will ever need is taken here. -EINVAL: null, neither
 * `process` nor `run` or both, a process_size that is too small, a number out
 * of its range, a buffer that must not be counted. -ENOTSUP: a timeout, and
 * the executor has no timers. -ENOMEM. Then nothing has changed. Whoever sets
 * it up.
 */
WEIR_API int weir_process_manager_init(
	struct weir_process_manager *manager, struct weir_executor *executor,
	const struct weir_process_manager_options *options);

/*
 * The manager as a subscriber, which takes no offers from then on. Its
 * publisher's items are commands (weir_command_items()). When the stream ends
 * the manager finishes, with its error, once its processes have ended. NULL:
 * null, it was started, or offered a command. Whoever sets it up.
 */
WEIR_API struct weir_subscriber *weir_process_manager_subscriber(
	struct weir_process_manager *manager);

/*
 * Offers a command. 0: it was taken, and will be replied to. -ENOBUFS: the
 * buffer is full. -ESHUTDOWN: the manager ends. -EISCONN: it has a publisher.
 * -EINVAL: null, or no `reply`. On an error it stays the caller's. Any thread
 * that holds a reference of the actor; lock-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_process_manager_offer(
	struct weir_process_manager *manager, struct weir_command *command);

/*
 * A command whose `run` returned WEIR_RUN_LATER has ended, with `code`: 0 or a
 * negative errno. Once. Any thread, also before `run` has returned.
 */
WEIR_API void weir_command_end(struct weir_command *command, int code);

/*
 * No more commands are taken: offers get -ESHUTDOWN, the publisher is
 * cancelled, what has not started is refused. The manager finishes when its
 * processes have ended. weir_system_stop_actor() does the same, and stops the
 * processes when the time that the manager was spawned with (shutdown_ns) is
 * over, with WEIR_SHUTDOWN_BRUTAL at once; so does weir_actor_stop(). A call
 * cannot be stopped; the manager is released when it has ended. Any thread that
 * holds a reference of the actor.
 */
WEIR_API void weir_process_manager_end(struct weir_process_manager *manager);

/* Who runs with that id, or WEIR_ACTOR_ID_NONE. Owner of the manager. */
WEIR_API struct weir_actor_id weir_process_manager_find(
	struct weir_process_manager *manager, const char *id);

/* What it has done so far. */
struct weir_process_counts {
	uint64_t accepted;   /* offers with 0; of a stream, received */
	uint64_t overflowed; /* offers that got -ENOBUFS */
	uint64_t waiting;    /* in front: accepted, and not asked for */
	uint64_t queue;	     /* received, and not taken */
	uint64_t taken;	     /* out of the queue: started, or refused */
	uint64_t started;    /* calls: made */
	/* By enum weir_outcome; of a stream, of those that were taken. */
	uint64_t outcomes[WEIR_OUTCOME_COUNT];
	uint32_t processing; /* started, and not released */
	uint32_t peak;	     /* most that were processing at a time */
};

/* A snapshot, whose figures need not be of one instant. Any thread. */
WEIR_API void weir_process_manager_counts(
	const struct weir_process_manager *manager,
	struct weir_process_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
