/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process manager starts a process for each command. It never runs more
 * than `max` processes at a time, and asks for no more commands than it can
 * start. Commands come from a publisher, to which the manager is a subscriber
 * (a sink); or any thread offers them, through a bounded buffer in front. After
 * the process manager with back-pressure of the Akka world.
 *
 * The manager computes its demand:
 *
 *	max - (requested and not received + queue + processing)
 *
 * and requests it when a whole batch is free (max_in_flight in request.h).
 * "queue" counts commands that it has received and not started, "processing"
 * counts processes that are started and not released. The buffer is in front of
 * the demand and is not counted: otherwise commands that wait there could keep
 * the manager from asking for them.
 *
 * The manager is an actor that you spawn (system.h), and supervises its
 * processes, which are its children: a failure of a process stops that process
 * and nothing else (but WEIR_ERROR_FATAL escalates), unless `restarts` says so.
 * A manager that restarts keeps the commands that wait, and stops the processes
 * that run; but a manager that was ended stops.
 */
#ifndef WEIR_PROCESS_MANAGER_H
#define WEIR_PROCESS_MANAGER_H

#include <weir/in.h>
#include <weir/out.h>
#include <weir/reactive.h>
#include <weir/request.h>
#include <weir/permits.h>
#include <weir/private.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_process;
struct weir_process_manager;

/* How a command has ended, or was refused. */
enum weir_outcome {
	WEIR_OUTCOME_DONE,    /* its process finished */
	WEIR_OUTCOME_CRASHED, /* its process failed; `error` says how */
	WEIR_OUTCOME_STOPPED, /* its process was stopped */
	/*
	 * Its process was killed: by weir_system_kill(), -EINTR; or by a stop
	 * for which it was given no time, or whose time was over, -ECANCELED.
	 */
	WEIR_OUTCOME_KILLED,
	WEIR_OUTCOME_TIMED_OUT, /* its time was up, its process was stopped */
	/*
	 * Its process was never started. -EEXIST: a process with its id runs.
	 * -EINVAL: a bad id. -ECANCELED, -ESHUTDOWN: the manager, the system or
	 * the executor ends. -ENOTSUP: it has a timeout, and the executor has
	 * no timers. -ENOMEM. Or the error of `set_up`.
	 */
	WEIR_OUTCOME_REFUSED,
	WEIR_OUTCOME_COUNT, /* how many there are */
};

/*
 * A command, and how to report its end. The sender embeds it, and keeps it
 * until `reply`. The items of a manager's stream are pointers to commands.
 */
struct weir_command {
	/*
	 * The command has ended. Called once, if the command was taken (an
	 * offer returned 0, or it is on its way in a stream), on the thread
	 * that ran its process or its manager, or that is done with its result;
	 * holding no lock; must not block.
	 * `error` is borrowed; NULL if the outcome is WEIR_OUTCOME_DONE. The
	 * struct may be reused.
	 */
	void (*reply)(struct weir_command *command, enum weir_outcome outcome,
		      struct weir_error *error);
	/*
	 * An id, borrowed until `reply`. NULL: none. A process that is an actor
	 * has its command's id as its name, so weir_system_lookup() finds it;
	 * the name is memory that is allocated when the process starts. So the
	 * id is unique among the commands that run, has 1 to WEIR_NAME_MAX
	 * bytes and no '/', and does not begin with '$'. Of a call it is any
	 * string.
	 */
	const char *id;
	/* Time that its process has, from its start; 0: the manager's. */
	uint64_t timeout_ns;
	/* 0 comes first; less than options.priorities. */
	uint32_t priority;
	void *result; /* yours; for the process to hand over */
	/* Of a result (weir_process_manager_publisher()), read-only: as `reply`
	 * will tell. */
	enum weir_outcome outcome;
	struct weir_error *error;
	struct {
		struct weir_process_manager *manager;
		/* under the lock of the ids */
		struct weir_command *same_id; /* the next in a bucket of ids */
		struct weir_command *next_cancelled;
		struct weir_process *process; /* that runs */
		/* the manager's owner's */
		struct weir_command *next, *previous; /* in line */
		uint32_t hash;			      /* of the id */
		uint8_t state;			      /* under the lock */
		uint8_t in_line;
	} WEIR_PRIVATE;
};

/*
 * The weir_items of a stream of commands: dropping a command replies
 * WEIR_OUTCOME_REFUSED with -ECANCELED. Commands cannot be shared.
 */
WEIR_API const struct weir_items *weir_command_items(void);

/*
 * The weir_items of a stream of results: dropping one is weir_command_reply().
 * Results cannot be shared.
 */
WEIR_API const struct weir_items *weir_command_result_items(void);

/* Who has taken a result is done with it: calls its `reply`. Any thread. */
WEIR_API void weir_command_reply(struct weir_command *command);

/*
 * The head of a process: embed it as the first field of a struct of yours. The
 * manager has `max` of these structs. A process is an actor, which is set up
 * anew for each command.
 */
struct weir_process {
	struct weir_actor actor;
	struct weir_command *command; /* read-only; until it has stopped */
	struct weir_actor_id self;    /* read-only; to watch it or stop it */
	struct {
		struct weir_process_manager *manager;
		struct weir__node node; /* of free or returned ones */
		struct weir_timer timer;
		uint32_t holders; /* any thread, atomically */
		uint32_t state;	  /* the same */
		bool timed, replies;
		bool is_result; /* its command goes into the stream */
		bool cut;	/* a drain has ended its stream */
	} WEIR_PRIVATE;
};

/* Result of `run`: weir_command_end() will be called. */
#define WEIR_RUN_LATER 1

struct weir_process_manager_options {
	const char *name; /* lives for ever, errors carry it; "manager" */
	void *context;	  /* passed to the functions */

	/* --- Processes that are actors ------------------------------------ */
	/* The ops of a process; borrowed. Its lifecycle is called as for any
	 * actor. */
	const struct weir_actor_ops *process;
	size_t process_size; /* of the struct that begins with weir_process */
	/*
	 * Sets up the process for its command: fields and ports. The actor has
	 * been set up before. A negative errno refuses the command, and the
	 * ports are released with the actor. NULL: there is nothing to do.
	 * Called in the manager's slice.
	 */
	int (*set_up)(struct weir_process *process, void *context);
	uint64_t timeout_ns; /* as the command's; 0: none */
	/*
	 * How long a stop waits for a process, if its `stopping` hook returns 1
	 * or its children take time: as weir_spawn_options.shutdown_ns, also
	 * past the timeout. If not 0, starting a process allocates memory.
	 */
	uint64_t shutdown_ns;
	/*
	 * How often a process that fails is restarted, and how long after each
	 * failure; borrowed until `released`. Only when a restart is refused by
	 * the limit has the process crashed. It keeps its place, its command
	 * and its timeout; its ops->lifecycle->reset makes the fields of its
	 * struct as new. A process that was killed is not restarted, nor one
	 * that could not be set up. NULL: never; at once.
	 */
	const struct weir_limit *restarts;
	const struct weir_backoff *backoff;

	/* --- Or processes that are calls ---------------------------------- */
	/*
	 * The process is this call, on a thread of the executor. 0: done.
	 * WEIR_RUN_LATER: the process goes on, and ends with
	 * weir_command_end(). A negative errno: it has failed. There are no
	 * timeouts, because a call cannot be stopped.
	 */
	int (*run)(struct weir_command *command, void *context);
	/* How many actors make the calls, each one call at a time; default the
	 * number of CPUs, up to `max`. */
	size_t runners;

	/* --- How many ----------------------------------------------------- */
	/* Processes at a time, 1 to WEIR_PROCESSES_MAX; see
	 * weir_process_manager_set_max(). */
	size_t max;
	/*
	 * How many places must be free before the manager asks for commands.
	 * Default 1; 5 with a publisher, because each request is a call.
	 * Meanwhile up to batch - 1 places are empty; for ever, if the
	 * processes in the other places do not end.
	 */
	size_t batch;
	/*
	 * In place of max_in_flight: returns how many commands to request, if
	 * `remaining` are requested and not started. The answer is cut down to
	 * the number of free places. Called in the manager's slice, whenever
	 * something has changed, and first in weir_process_manager_init().
	 */
	int64_t (*demand)(int64_t remaining, void *context);
	void *demand_context; /* passed to it */
	/*
	 * How many offered commands may wait in front; up to
	 * WEIR_PROCESSES_MAX. 0: an offer is taken only if it can start.
	 */
	size_t buffer;
	/*
	 * Commands that wait in front count as in flight. -EINVAL if that could
	 * keep the manager from ever asking for them: buffer > max - min(batch,
	 * max).
	 */
	bool count_buffer;
	/*
	 * How many priorities there are, up to WEIR_PRIORITIES_MAX; 0: one. A
	 * command that waits in front starts before all those of a lower
	 * priority, and behind those of its own that came before. So as long
	 * as the places are filled from above, those below wait for ever.
	 */
	size_t priorities;
	/*
	 * What becomes of an offer for which there is no room:
	 * WEIR_OVERFLOW_BACK_PRESSURE, it is refused with -ENOBUFS;
	 * WEIR_OVERFLOW_DROP_NEW, it is taken, and replied to at once with
	 * WEIR_OUTCOME_REFUSED and -ENOBUFS, on the thread that offers.
	 */
	enum weir_overflow overflow;
	/* When its publisher completes the manager stays: it can have another
	 * one then, see weir_process_manager_subscriber(). */
	bool stays;
	/* There is a stream of results: weir_process_manager_publisher(). */
	bool results;
	/* As weir_actor_ops.released. */
	void (*released)(void *context);
	uint64_t reserved[4]; /* zero */
};

#define WEIR_PROCESSES_MAX (1u << 16)
#define WEIR_PRIORITIES_MAX 8u

struct weir_process_manager {
	struct weir_actor actor;
	struct {
		struct weir_in in;
		/* start: permits that were asked for */
		struct weir_permits may;
		struct weir_reactive_in reactive;
		struct weir_process_manager_options options;
		struct weir_actor_ops ops, process_ops;
		struct weir_lifecycle lifecycle;
		struct weir_strategy strategy; /* for its processes */
		struct weir_items items;       /* in the in-port */
		struct weir_max_in_flight in_flight;
		/* since it runs */
		struct weir_system *system;
		struct weir_actor_id self;
		/* the owner's */
		unsigned char *processes;
		size_t stride;
		struct weir__node *free;
		/* commands that came before those in the in-port, by their
		 * priorities */
		struct weir_command *first[WEIR_PRIORITIES_MAX];
		struct weir_command *last[WEIR_PRIORITIES_MAX];
		uint32_t max;		  /* now; at most options.max */
		uint32_t n_busy;	  /* places, at most options.max */
		uint64_t n_in_line;	  /* of first; atomic */
		uint64_t n_taken;	  /* out of the in-port and the line */
		uint64_t n_permitted;	  /* offers; atomic */
		struct weir_error *error; /* with which the stream has ended */
		bool subscribes, ends;
		struct weir__runners *runners;
		struct weir__results *results;
		/* any thread, atomically */
		/* those that have been released */
		struct weir__mailbox returned;
		uint32_t n_returned; /* calls that have ended */
		uint32_t closed;
		uint32_t new_max;
		int64_t credit; /* offers that will be taken; may be a debt */
		uint64_t overflowed, outcomes[WEIR_OUTCOME_COUNT];
		uint64_t n_started;
		uint32_t n_processing, peak;
		/* commands by their ids, under the lock */
		uint32_t ids_lock;
		uint32_t n_ids; /* buckets */
		struct weir_command **ids;
		struct weir_command *cancelled; /* that wait */
	} WEIR_PRIVATE;
};

/*
 * Sets up a manager in the caller's memory; it must be spawned or stopped one
 * day. `options` is copied; everything that it points to is borrowed until
 * `released`. All memory that the manager will ever need is allocated here.
 * -EINVAL: null, neither `process` nor `run` or both, a process_size that is
 * too small, a number out of its range, a buffer that must not be counted, a
 * limit or back-off that weir_strategy_check() refuses, or is for calls, or
 * something in `reserved`. -ENOTSUP: a timeout or a back-off, and the executor
 * has no timers.
 * -ENOMEM. Then nothing has changed. Whoever sets it up.
 */
WEIR_API int weir_process_manager_init(
	struct weir_process_manager *manager, struct weir_executor *executor,
	const struct weir_process_manager_options *options);

/*
 * The manager as a subscriber; from then on it takes no offers. The items of
 * its publisher are commands (weir_command_items()). When the stream has ended
 * and the processes have ended, the manager ends, with the error of the stream.
 * Returns NULL if `manager` is NULL, or if the manager was started or offered a
 * command. Whoever sets it up.
 *
 * With the option `stays` a stream that completes does not end the manager, and
 * this can be called again, on any thread that holds a reference of the actor,
 * also while processes of that stream run. It returns NULL as long as there is
 * a publisher, and when the manager ends. If two threads subscribe it at once,
 * one of the publishers is cancelled. A stream that fails ends the manager as
 * without the option. Before its first publisher the manager must have been set
 * up as a subscriber.
 */
WEIR_API struct weir_subscriber *weir_process_manager_subscriber(
	struct weir_process_manager *manager);

/*
 * The manager as a publisher: of results, which are commands whose processes
 * have ended, in that order; `outcome` and `error` say how. So the manager is a
 * processor. A result is its subscriber's; weir_command_reply(), or its drop,
 * then calls `reply`, so that the command is its sender's again. Commands that
 * never ran are not results: their `reply` is called at once. So each command
 * has one `reply`, and at most one result.
 *
 * There is a result only for a request, or for room in a link (reactive.h).
 * Until then the command keeps its place: it counts as processing, and the
 * manager asks for fewer commands. Without a subscriber nothing goes on when
 * `max` have ended.
 *
 * When the manager has ended and all results were taken, the stream ends, with
 * the error of the manager's publisher. If its subscriber cancels, the manager
 * ends as by weir_process_manager_end(), and what was not taken is replied to.
 * So it is if the manager is stopped, or its executor drains.
 *
 * It has one subscriber. NULL: null, or without the option `results`. Whoever
 * sets it up, or holds a reference of the actor.
 */
WEIR_API struct weir_publisher *weir_process_manager_publisher(
	struct weir_process_manager *manager);

/*
 * Offers a command. 0: the command was taken, and `reply` will be called.
 * -ENOBUFS: the buffer is full, see `overflow`. -ESHUTDOWN: the manager ends.
 * -EISCONN: the manager has a publisher. -EINVAL: null, no `reply`, or there is
 * no such priority. On an error the command stays the caller's. Any thread that
 * holds a reference of the actor; lock-free, but a command with an id takes a
 * short lock.
 */
WEIR_API WEIR_MUST_CHECK int weir_process_manager_offer(
	struct weir_process_manager *manager, struct weir_command *command);

/*
 * A command whose `run` returned WEIR_RUN_LATER has ended, with `code`: 0 or a
 * negative errno. Once. Any thread, also before `run` has returned.
 */
WEIR_API void weir_command_end(struct weir_command *command, int code);

/*
 * Ends the manager: offers get -ESHUTDOWN, its publisher is cancelled, commands
 * that have not started are refused. The manager ends when its processes have
 * ended. weir_system_stop_actor() does the same, and stops the processes when
 * the shutdown_ns that the manager was spawned with is over
 * (WEIR_SHUTDOWN_BRUTAL: at once). weir_actor_stop() does the same, and stops
 * the processes at once. A process that is a call cannot be stopped; the
 * manager is released when the call has returned. Any thread that holds a
 * reference of the actor.
 *
 * weir_system_poison() stops it as weir_system_stop_actor() does, but behind
 * the commands that wait in front: these start first. Meanwhile offers are
 * taken, and refused when the poison's turn has come. weir_system_kill() lets
 * it fail with -EINTR, as much later: its processes that are actors are
 * stopped, and its supervisor decides; restarted it keeps what has come
 * meanwhile. But with priorities, or when a command that waited has been
 * cancelled, commands stand in line and not in front: a poison refuses them at
 * once, and a kill does not wait for them.
 */
WEIR_API void weir_process_manager_end(struct weir_process_manager *manager);

/*
 * The process that runs for the command with that id, or WEIR_ACTOR_ID_NONE:
 * there is none, it has ended, or it is a call. Any thread that holds a
 * reference of the actor; takes a short lock.
 */
WEIR_API struct weir_actor_id weir_process_manager_find(
	struct weir_process_manager *manager, const char *id);

/*
 * Cancels the command with that id. 0: if it runs, its process is stopped, as
 * by weir_system_stop_actor(), and its outcome is WEIR_OUTCOME_STOPPED, unless
 * the process ends in another way before. If it waits, it is refused with
 * -ECANCELED, in the manager's next slice; if it waits for a runner, when that
 * comes to it. If several commands with that id wait and none runs, one of
 * them. Harmless when repeated.
 *
 * -EBUSY: it is a call that runs, which cannot be stopped. -ESRCH: no command
 * with that id runs or waits; commands of a publisher are found from when the
 * manager has taken them. -EINVAL: null. Any thread that holds a reference of
 * the actor; takes a short lock.
 */
WEIR_API int weir_process_manager_cancel(struct weir_process_manager *manager,
					 const char *id);

/*
 * Changes how many processes may run at a time, from the manager's next slice
 * on: `max` is 1 to options.max, for which there is memory. If more run, they
 * run on, and nothing starts until fewer than `max` do. Of a lower `max` the
 * offers learn that were not made: commands that were taken wait in front,
 * though more than `buffer` may wait then. A publisher is not asked for less
 * than before, but for no more until that many places are free. `batch` counts
 * as `max` if that is less.
 *
 * -EINVAL: null, `max` is out of range, or with `count_buffer` the buffer could
 * keep the manager from ever asking. Any thread that holds a reference of the
 * actor; lock-free.
 */
WEIR_API int weir_process_manager_set_max(struct weir_process_manager *manager,
					  size_t max);

/* What a manager has done so far. */
struct weir_process_counts {
	uint64_t accepted;   /* offers with room; of a stream, received */
	uint64_t overflowed; /* offers for which there was no room */
	uint64_t waiting;    /* in front: accepted, and not asked for */
	uint64_t queue;	     /* received, and not taken */
	uint64_t taken;	     /* out of the queue: started, or refused */
	uint64_t started;    /* calls: made */
	/* By enum weir_outcome; of a stream, of those that were taken. */
	uint64_t outcomes[WEIR_OUTCOME_COUNT];
	size_t processing; /* started, and not released */
	size_t peak;	   /* most that were processing at a time */
};

/* A snapshot; its figures need not be from the same instant. Any thread. */
WEIR_API void weir_process_manager_counts(
	const struct weir_process_manager *manager,
	struct weir_process_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
