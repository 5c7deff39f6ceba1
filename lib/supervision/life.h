/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a cell, as a step: a state and an event give the next state and
 * what is to be done. The table in life.c is all there is; it knows no cells.
 * change.c does what the table says.
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
	WEIR__CELL_FREE,
	WEIR__CELL_STARTING, /* its first start is to come, or under way */
	WEIR__CELL_ALIVE,
	WEIR__CELL_FINISHING,  /* `stopping` said 1: it ends by itself */
	WEIR__CELL_FAILED,     /* waits for its supervisor's answer */
	WEIR__CELL_DELAYED,    /* failed; its back-off runs */
	WEIR__CELL_DUE,	       /* failed; its back-off is over: restart it */
	WEIR__CELL_ESCALATED,  /* failed; its parent has failed with that */
	WEIR__CELL_RESTARTING, /* waits for the children that end first */
	WEIR__CELL_HALTED,     /* waits until its group starts */
	WEIR__CELL_RENEWING,   /* a further start is under way */
	WEIR__CELL_STOPPING,   /* waits for its children, then ends */
	WEIR__CELL_ENDED,
};
#define WEIR__CELL_STATES (WEIR__CELL_ENDED + 1)

enum weir__life_event {
	WEIR__LIFE_SPAWN,    /* the cell is taken */
	WEIR__LIFE_REFUSE,   /* the actor could not be started */
	WEIR__LIFE_START,    /* a start went well */
	WEIR__LIFE_FAIL,     /* it has failed, or finished to begin anew */
	WEIR__LIFE_DELAY,    /* its supervisor restarts it after a back-off */
	WEIR__LIFE_TIMER,    /* its back-off, or its time to stop, is over */
	WEIR__LIFE_ESCALATE, /* its supervisor fails with its failure */
	WEIR__LIFE_ANSWER,   /* its supervisor answers it now */
	WEIR__LIFE_RESUME,   /* the order */
	WEIR__LIFE_RESTART,  /* the order, or the order to halt */
	WEIR__LIFE_HALT,     /* its children are gone; it is to halt first */
	WEIR__LIFE_RENEW,    /* its children are gone; it starts */
	WEIR__LIFE_GO,	     /* the order */
	WEIR__LIFE_PROMISE,  /* `stopping` says 1 */
	WEIR__LIFE_STOP,     /* it is to stop, or has come to its end */
	WEIR__LIFE_KILL,     /* and so are all below it, at once */
	WEIR__LIFE_SUSPEND,  /* its parent has been suspended */
	WEIR__LIFE_CLOSE,    /* the final slice */
	WEIR__LIFE_END,	     /* the actor has ended */
	WEIR__LIFE_RELEASE,  /* its memory is free */
};
#define WEIR__LIFE_EVENTS (WEIR__LIFE_RELEASE + 1)

/* What is to be done, in this order. */
enum weir__life_deed {
	/* before the state changes */
	WEIR__DO_SETTLE = 1u << 0, /* its children are no longer of a start */
	WEIR__DO_RESTART_CHILDREN = 1u << 1, /* all but those of this start */
	WEIR__DO_RESUME_CHILDREN = 1u << 2,  /* those that it escalated */
	/* after it */
	WEIR__DO_DISARM = 1u << 3,  /* its timer */
	WEIR__DO_UNTELL = 1u << 4,  /* its parent, which need not answer it */
	WEIR__DO_TELL = 1u << 5,    /* its parent, which answers */
	WEIR__DO_SUSPEND = 1u << 6, /* it and all below it */
	WEIR__DO_GO_ON = 1u << 7,   /* they are no longer suspended */
	WEIR__DO_STOP_FRESH = 1u << 8, /* children that a failed start left */
	WEIR__DO_END_TURNS = 1u << 9,  /* it never takes a turn again */
	WEIR__DO_ARM = 1u << 10,       /* a timer for its time to stop */
	WEIR__DO_STOP_CHILDREN = 1u << 11,
	WEIR__DO_KILL_CHILDREN = 1u << 12, /* and all below them */
	WEIR__DO_FREE_NAME = 1u << 13,
	WEIR__DO_LEAVE = 1u << 14, /* the tree */
};

struct weir__step {
	uint8_t state;	/* the next one */
	bool possible;	/* false: the event cannot come in that state */
	uint8_t orders; /* that the cell gets, see cell.h */
	uint16_t deeds; /* enum weir__life_deed */
};

/* What becomes of a cell in that state by the event. */
struct weir__step weir__life_step(enum weir__cell_state state,
				  enum weir__life_event event);

/* The actor's turns may run. */
static inline bool weir__life_runs(uint8_t state)
{
	return state == WEIR__CELL_ALIVE || state == WEIR__CELL_FINISHING;
}

static inline bool weir__life_failed(uint8_t state)
{
	return state >= WEIR__CELL_FAILED && state <= WEIR__CELL_ESCALATED;
}

/* A start is under way, or will be in the actor's next slice. */
static inline bool weir__life_starts(uint8_t state)
{
	return state == WEIR__CELL_STARTING || state == WEIR__CELL_RENEWING;
}

#endif
