/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a cell, as a step: a state and an event give the next state and
 * what is to be done. The table in life.c is all there is; it knows no cells.
 * change.c does what the table says; docs/supervision.md shows it, in the words
 * of the comments here.
 *
 * A cell's state is changed under the system's lock: by the actor's own slice,
 * but for the kinds of a failure (FAILED to ESCALATED), which its supervisor
 * and its timer change, too.
 */
#ifndef WEIR_SUPERVISION_LIFE_H
#define WEIR_SUPERVISION_LIFE_H

#include <stdbool.h>
#include <stdint.h>

enum weir__cell_state {
	WEIR__CELL_FREE,       /* no actor has the cell */
	WEIR__CELL_SPAWNED,    /* its spawn is under way: nobody finds it */
	WEIR__CELL_STARTING,   /* its first start is to come, or under way */
	WEIR__CELL_ALIVE,      /* its turns run, unless it is suspended */
	WEIR__CELL_FINISHING,  /* its `stopping` said 1: it ends by itself */
	WEIR__CELL_FAILED,     /* it waits for its supervisor's answer */
	WEIR__CELL_DELAYED,    /* it has failed, and its back-off runs */
	WEIR__CELL_DUE,	       /* it has failed, and its back-off is over */
	WEIR__CELL_ESCALATED,  /* its supervisor has failed with its failure */
	WEIR__CELL_RESTARTING, /* it waits for children that end first */
	WEIR__CELL_HALTED,     /* it waits for its turn to start */
	WEIR__CELL_RENEWING,   /* a further start is under way */
	WEIR__CELL_DRAINING, /* its children end by themselves; then it does */
	WEIR__CELL_STOPPING, /* it waits for its children, and then ends */
	WEIR__CELL_ENDED,    /* it is not released yet */
};
#define WEIR__CELL_STATES (WEIR__CELL_ENDED + 1)

enum weir__life_event {
	WEIR__LIFE_SPAWN,    /* it is spawned */
	WEIR__LIFE_REFUSE,   /* it could not be started */
	WEIR__LIFE_SHOW,     /* its spawn went well */
	WEIR__LIFE_START,    /* a start went well */
	WEIR__LIFE_FAIL,     /* it has failed, or finished to begin anew */
	WEIR__LIFE_DELAY,    /* it will restart after a back-off */
	WEIR__LIFE_TIMER,    /* its back-off, or its time to stop, is over */
	WEIR__LIFE_ESCALATE, /* its supervisor fails with its failure */
	WEIR__LIFE_ANSWER,   /* its supervisor answers now */
	WEIR__LIFE_RESUME,   /* order RESUME */
	WEIR__LIFE_RESTART,  /* order RESTART or HALT */
	WEIR__LIFE_HALT,     /* no child is left, but it has to wait its turn */
	WEIR__LIFE_RENEW,    /* no child is left that has to end first */
	WEIR__LIFE_GO,	     /* order GO */
	WEIR__LIFE_PROMISE,  /* its `stopping` says 1 */
	WEIR__LIFE_STOP,     /* order STOP, or its own end */
	WEIR__LIFE_DRAIN,    /* order STOP, or its own end, while it drains */
	WEIR__LIFE_KILL,     /* order KILL */
	WEIR__LIFE_SUSPEND,  /* its parent is suspended */
	WEIR__LIFE_CLOSE,    /* its final slice begins */
	WEIR__LIFE_END,	     /* its final slice is over */
	WEIR__LIFE_RELEASE,  /* its memory is the user's again */
};
#define WEIR__LIFE_EVENTS (WEIR__LIFE_RELEASE + 1)

/* What is to be done, in this order: at first, before the state changes. */
enum weir__life_deed {
	WEIR__DO_SETTLE = 1u << 0, /* its children are no longer new */
	/* its children restart, but for new ones */
	WEIR__DO_RESTART_CHILDREN = 1u << 1,
	/* children whose failure was escalated go on */
	WEIR__DO_RESUME_CHILDREN = 1u << 2,
	/* then, in the new state */
	WEIR__DO_DISARM = 1u << 3,    /* its timer is cleared */
	WEIR__DO_UNTELL = 1u << 4,    /* its parent need not answer */
	WEIR__DO_TELL = 1u << 5,      /* its parent is told */
	WEIR__DO_SUSPEND = 1u << 6,   /* it is suspended, with all below */
	WEIR__DO_GO_ON = 1u << 7,     /* it goes on, with all below */
	WEIR__DO_STOP_NEW = 1u << 8,  /* new children of a failed start stop */
	WEIR__DO_END_TURNS = 1u << 9, /* no turn of it runs any more */
	/* its time to stop begins; its children stop */
	WEIR__DO_STOP_IN_TIME = 1u << 10,
	WEIR__DO_LET_CHILDREN_END = 1u << 11, /* its children may drain */
	WEIR__DO_STOP_CHILDREN = 1u << 12,    /* its children stop */
	WEIR__DO_KILL_CHILDREN = 1u << 13,    /* all below it are killed */
	WEIR__DO_FREE_NAME = 1u << 14,	      /* its name is free */
	WEIR__DO_LEAVE = 1u << 15,	      /* it leaves the tree */
};
/* Before the state changes. */
#define WEIR__DO_BEFORE \
	(WEIR__DO_SETTLE | WEIR__DO_RESTART_CHILDREN | WEIR__DO_RESUME_CHILDREN)
/* Nothing, if the actor has no children. */
#define WEIR__DO_FOR_CHILDREN \
	(WEIR__DO_BEFORE | WEIR__DO_STOP_NEW | WEIR__DO_STOP_IN_TIME | \
	 WEIR__DO_LET_CHILDREN_END | WEIR__DO_STOP_CHILDREN | \
	 WEIR__DO_KILL_CHILDREN)

/* Orders of an actor, which its slice takes. */
enum {
	WEIR__ORDER_START = 1u << 0,  /* the first slice: pre_start */
	WEIR__ORDER_RESUME = 1u << 1, /* after a failure */
	WEIR__ORDER_RESTART = 1u << 2,
	WEIR__ORDER_HALT = 1u << 3, /* the first half of a restart */
	WEIR__ORDER_GO = 1u << 4,   /* the second half */
	WEIR__ORDER_STOP = 1u << 5,
	WEIR__ORDER_KILL = 1u << 6, /* STOP, without calling `stopping` hooks */
	WEIR__ORDER_LOOK = 1u << 7, /* at children, messages */
};

struct weir__step {
	uint8_t state : 7;    /* the next one */
	uint8_t possible : 1; /* 0: the event cannot come in that state */
	uint8_t orders;	      /* that the cell gets */
	uint16_t deeds;	      /* enum weir__life_deed */
};

/* What becomes of a cell in that state by the event, where the table has no
 * row. */
struct weir__step weir__life_no_row(enum weir__cell_state state,
				    enum weir__life_event event);

extern const struct weir__step weir__life_table[WEIR__CELL_STATES]
					       [WEIR__LIFE_EVENTS];

/* What becomes of a cell in that state by the event. */
static inline struct weir__step weir__life_step(enum weir__cell_state state,
						enum weir__life_event event)
{
	const struct weir__step step = weir__life_table[state][event];

	return step.possible ? step : weir__life_no_row(state, event);
}

/* The actor's turns may run. */
static inline bool weir__life_runs(uint8_t state)
{
	return state == WEIR__CELL_ALIVE || state == WEIR__CELL_FINISHING;
}

static inline bool weir__life_failed(uint8_t state)
{
	return state >= WEIR__CELL_FAILED && state <= WEIR__CELL_ESCALATED;
}

/* The actor's turns are over for good. */
static inline bool weir__life_over(uint8_t state)
{
	return state >= WEIR__CELL_DRAINING;
}

static inline bool weir__life_stops(uint8_t state)
{
	return state == WEIR__CELL_DRAINING || state == WEIR__CELL_STOPPING;
}

/* A start is under way, or will be in the actor's next slice. */
static inline bool weir__life_starts(uint8_t state)
{
	return state == WEIR__CELL_STARTING || state == WEIR__CELL_RENEWING;
}

#endif
