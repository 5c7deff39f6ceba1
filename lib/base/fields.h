/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where things are in the memory of a process, for those who read it from
 * outside: another process, or a core file. A reader may be of another version
 * of the library: it goes by numbers, which are never given to anything else, and
 * leaves out what has none here.
 */
#ifndef WEIR_BASE_FIELDS_H
#define WEIR_BASE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/* New ones come last. Of a pointer: what it points to. */
enum weir__what {
	WEIR__IS_NONE,
	/* the list of executors, newest first */
	WEIR__IS_LIVING_FIRST,
	WEIR__IS_LIVING_NEXT,
	WEIR__IS_LIVING_EXECUTOR,
	/* an executor and its registry: block i has 64 << i slots */
	WEIR__IS_EXECUTOR_REGISTRY,
	WEIR__IS_REGISTRY_BLOCKS, /* the array itself */
	WEIR__IS_REGISTRY_N_BLOCKS,
	WEIR__IS_REGISTRY_N_TASKS,
	/* an actor */
	WEIR__IS_ACTOR_TASK, /* that a slot points to */
	WEIR__IS_ACTOR_EXECUTOR,
	WEIR__IS_ACTOR_OPS,
	WEIR__IS_ACTOR_NAME, /* in its ops */
	WEIR__IS_ACTOR_PORTS,
	WEIR__IS_ACTOR_REFS,
	WEIR__IS_ACTOR_GATE,
	/* a port */
	WEIR__IS_PORT_ACTOR,
	WEIR__IS_PORT_NEXT,
	WEIR__IS_PORT_BLOCK,
	WEIR__IS_PORT_BLOCKED,
	WEIR__IS_PORT_BURST,
	WEIR__IS_PORT_KIND,
	WEIR__IS_PORT_FLAGS,
	WEIR__IS_PORT_OPS, /* if its kind says so */
	/* a table of ports */
	WEIR__IS_OPS_AWAITS,
	WEIR__IS_OPS_LAYOUT, /* what follows, of this kind */
	/* delays, descriptors, and what is shared */
	WEIR__IS_PORT_AT_NS,
	WEIR__IS_PORT_FD,
	WEIR__IS_PORT_EVENTS,
	WEIR__IS_PORT_OBJECT,
	/* an in-port and its lanes */
	WEIR__IS_IN_FLAGS,
	WEIR__IS_IN_MASK,
	WEIR__IS_IN_LANE, /* the lane itself */
	WEIR__IS_IN_MERGE,
	WEIR__IS_MERGE_RULE,
	WEIR__IS_MERGE_LANES,
	WEIR__IS_MERGE_LANE, /* in one of these */
	WEIR__IS_MERGE_NEXT,
	WEIR__IS_LANE_WORDS,
	WEIR__IS_LANE_OWN, /* the words themselves */
	WEIR__IS_LANE_OUT,
	/* an out-port */
	WEIR__IS_OUT_LANE,
	WEIR__IS_OUT_FAN,
	WEIR__IS_FAN_WAY,
	WEIR__IS_FAN_N_SINKS,
	/* the operators of an island, from its port on */
	WEIR__IS_ISLAND_ROOT,
	WEIR__IS_ISLAND_N_INLETS,
	WEIR__IS_OP_KIND,
	WEIR__IS_OP_FLOW,
	WEIR__IS_OP_N_UP,
	WEIR__IS_OP_UP,
	WEIR__IS_FLOW_NAME,
	WEIR__IS_KIND_NAME,
	WEIR__IS_KIND_AWAITS,
	/* what is shared, from the object on */
	WEIR__IS_OBJECT_TAKERS, /* the first waiter */
	WEIR__IS_OBJECT_PUTTERS,
	WEIR__IS_WAITER_NEXT,
	WEIR__IS_OBJECT_PERMITS, /* twice as many, and one */
	WEIR__IS_OBJECT_FILL,
	WEIR__IS_OBJECT_CAPACITY,
	WEIR__IS_OBJECT_ENDED,
	WEIR__IS_OBJECT_STATE,
	WEIR__IS_OBJECT_DONE, /* a number: that state */
	/* a port at it */
	WEIR__IS_PORT_HELD,
	WEIR__IS_PORT_CLAIMED, /* in the state that follows */
	WEIR__IS_PORT_STATE,
	WEIR__IS_PORT_GRANTED, /* a number: that state */
	WEIR__IS_PORT_TAKES,   /* a number: 1, or 0: it puts */
	/* sinks of an out-port; with a table, a subscriber's */
	WEIR__IS_FAN_SINKS,
	WEIR__IS_SINK_NEXT,
	WEIR__IS_SINK_OPS,
	/* of an actor */
	WEIR__IS_ACTOR_STATE,
	/* which operator waits, for what */
	WEIR__IS_ISLAND_ASKED, /* a kind: it was the last to ask for a wake */
	WEIR__IS_OP_ENDED,
	WEIR__IS_OP_OPEN,
	WEIR__IS_OP_STATE, /* begins with one of these two, if its kind says so */
	WEIR__IS_TIMER_AT_NS,
	WEIR__IS_TIMER_ARMED,
	WEIR__IS_WATCH_FD,
	WEIR__IS_WATCH_EVENTS,
	WEIR__IS_WATCH_READY,
	WEIR__IS_WATCH_ARMED,
	/* an executor of the library's, what follows of its kind */
	WEIR__IS_REGISTRY_LAYOUT,
	WEIR__IS_EXECUTOR_KIND, /* a number: enum weir_executor_kind */
	WEIR__IS_EXECUTOR_THREADS_MAX,
	WEIR__IS_EXECUTOR_THREAD_NAME, /* 16 bytes, themselves */
	WEIR__IS_EXECUTOR_NOW_NS,      /* if its clock is its own */
	WEIR__IS_EXECUTOR_SERVES,      /* 0: it has none of these two */
	WEIR__IS_EXECUTOR_TIMERS,
	WEIR__IS_EXECUTOR_WATCHES,
	WEIR__IS_EXECUTOR_POLLER, /* or NULL: it has more of them */
	WEIR__IS_POLLER_TIMERS,
	WEIR__IS_POLLER_WATCHES,
	WEIR__IS_EXECUTOR_PARKED, /* bits, themselves, as many as threads */
	WEIR__IS_EXECUTOR_IDLERS, /* or threads that are parked */
	WEIR__IS_IDLER_NEXT,
	/* its threads: itself, while it runs; an array, or a list */
	WEIR__IS_EXECUTOR_RUNS,
	WEIR__IS_EXECUTOR_WORKERS,
	WEIR__IS_WORKER_SIZE, /* a number */
	WEIR__IS_EXECUTOR_THREADS,
	WEIR__IS_THREAD_NEXT,
	WEIR__IS_THREAD_LINK,  /* what points to it */
	WEIR__IS_THREAD_TASK,  /* or NULL */
	WEIR__IS_THREAD_STATE, /* NULL: there is no thread; or that has it */
	WEIR__IS_STATE_TASK,
	WEIR__IS_THREAD_ID,
	WEIR__IS_THREAD_SLICES,
	WEIR__IS_THREAD_STEALS,
	WEIR__IS_THREAD_TAIL, /* of its ring */
	WEIR__IS_THREAD_HEAD,
	WEIR__IS_THREAD_TAKEN,
	WEIR__IS_THREAD_BOUND, /* itself: the executor of those bound to it */
	WEIR__IS_COUNT,
};

struct weir__field {
	uint16_t what; /* WEIR__IS_NONE: the last one */
	uint8_t size;  /* bytes; of a thing itself 0 */
	uint8_t bits;  /* not 0: of a bit-field, the first one in its word */
	int32_t at;    /* bytes behind the beginning */
};

/*
 * What a kind of thing has. In the pages that the loader writes, thanks to the
 * pointer, so that core files have it.
 */
struct weir__layout_of {
	const struct weir__layout_of *self;
	struct weir__field fields[];
};

#define WEIR__FIELD(number, type, member) \
	{ \
		.what = WEIR__IS_##number, \
		.size = sizeof(((type *)0)->member), \
		.at = offsetof(type, member) \
	}
/* The address counts. */
#define WEIR__PLACE(number, type, member) \
	{ \
		.what = WEIR__IS_##number, .at = offsetof(type, member) \
	}
/* Only a number, which is not negative. */
#define WEIR__NUMBER(number, value) \
	{ \
		.what = WEIR__IS_##number, .at = (int32_t)(value) \
	}

#define WEIR__LAYOUT_MAGIC 12u

/*
 * Raised when a number means something else than before, or when words are read
 * in another way: the bits of the gate, the flags of ports, the words of lanes.
 */
#define WEIR__LAYOUT_VERSION 1u

/*
 * The one table, which a reader finds by its first bytes and by `self`. What
 * stands before `self` is the same for all versions and machines.
 */
struct weir__layout {
	char magic[WEIR__LAYOUT_MAGIC];
	uint16_t version;
	uint8_t pointer;    /* bytes */
	uint8_t big_endian; /* or 0 */
	uint32_t weir;	    /* WEIR_VERSION */
	uint32_t size;	    /* of the table */
	const struct weir__layout *self;
	/* a pointer to the list of executors */
	const void *living;
	/* pointers to the tables of in-ports and of out-ports */
	const void *kinds;
	const struct weir__layout_of *all;
};

#endif
