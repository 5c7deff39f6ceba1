/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a cell's life. A row is a state, an event, the next state, and
 * what is done, or which order the cell gets. An event without a row cannot
 * come in that state; but some events come at any time or too late, and change
 * nothing.
 *
 * Rule numbers like B5.3 are those of docs/conformance/supervision.md.
 */
#include "supervision/life.h"

#define STEP(state, event, next, orders, deeds) \
	[WEIR__CELL_##state][WEIR__LIFE_##event] = {WEIR__CELL_##next, 1, \
						    orders, deeds}
#define ROW(state, event, next, deeds) STEP(state, event, next, 0, deeds)
#define ORDER(state, event, next, order) \
	STEP(state, event, next, WEIR__ORDER_##order, 0)

#define DO(deed) WEIR__DO_##deed
#define NOTHING 0
#define FAILS (DO(TELL) | DO(SUSPEND))
#define RESTARTS (DO(DISARM) | DO(UNTELL) | DO(SUSPEND) | DO(STOP_NEW))
#define GOES (DO(DISARM) | DO(UNTELL) | DO(FREE_NAME) | DO(LEAVE))
#define ENDS (DO(DISARM) | DO(UNTELL) | DO(END_TURNS))

/* Each actor can be ended. */
#define ROWS_TO_END(state) \
	ROW(state, STOP, STOPPING, ENDS | DO(STOP_IN_TIME)), \
		ROW(state, DRAIN, DRAINING, ENDS | DO(LET_CHILDREN_END)), \
		ROW(state, KILL, STOPPING, ENDS | DO(KILL_CHILDREN)), \
		ROW(state, CLOSE, STOPPING, DO(DISARM) | DO(END_TURNS))

const struct weir__step weir__life_table[WEIR__CELL_STATES][WEIR__LIFE_EVENTS] = {
	ROW(FREE, SPAWN, SPAWNED, NOTHING),

	ROW(SPAWNED, REFUSE, FREE, NOTHING),
	ROW(SPAWNED, SHOW, STARTING, NOTHING),

	ROW(STARTING, START, ALIVE, DO(SETTLE) | DO(GO_ON)),
	ROW(STARTING, FAIL, FAILED, FAILS),
	ROWS_TO_END(STARTING),

	ROW(ALIVE, FAIL, FAILED, FAILS),
	ROW(ALIVE, RESTART, RESTARTING, RESTARTS),
	ROW(ALIVE, PROMISE, FINISHING, NOTHING),
	ROWS_TO_END(ALIVE),

	/* It has failed for good, and is not restarted: B5.3. Its timer is set,
	 * and stays. Suspended, it cannot keep its promise. */
	ROW(FINISHING, FAIL, STOPPING,
	    DO(UNTELL) | DO(END_TURNS) | DO(STOP_CHILDREN)),
	ROW(FINISHING, STOP, STOPPING,
	    DO(UNTELL) | DO(END_TURNS) | DO(STOP_CHILDREN)),
	ROW(FINISHING, DRAIN, DRAINING,
	    DO(UNTELL) | DO(END_TURNS) | DO(LET_CHILDREN_END)),
	ROW(FINISHING, KILL, STOPPING,
	    DO(UNTELL) | DO(END_TURNS) | DO(KILL_CHILDREN)),
	ROW(FINISHING, CLOSE, STOPPING, DO(DISARM) | DO(END_TURNS)),
	ORDER(FINISHING, TIMER, FINISHING, KILL),
	ORDER(FINISHING, SUSPEND, FINISHING, STOP),

	ROW(FAILED, DELAY, DELAYED, NOTHING),
	ROW(FAILED, ESCALATE, ESCALATED, NOTHING),
	ROW(FAILED, ANSWER, FAILED, NOTHING),
	ROW(FAILED, RESUME, ALIVE, DO(RESUME_CHILDREN) | DO(GO_ON)),
	ROW(FAILED, RESTART, RESTARTING, RESTARTS),
	ROWS_TO_END(FAILED),

	ORDER(DELAYED, TIMER, DUE, LOOK),
	ROW(DELAYED, RESTART, RESTARTING, RESTARTS),
	ROWS_TO_END(DELAYED),

	ROW(DUE, ANSWER, FAILED, NOTHING),
	ROW(DUE, RESTART, RESTARTING, RESTARTS),
	ROWS_TO_END(DUE),

	ROW(ESCALATED, ANSWER, FAILED, NOTHING),
	ROW(ESCALATED, RESTART, RESTARTING, RESTARTS),
	ROWS_TO_END(ESCALATED),

	ROW(RESTARTING, HALT, HALTED, NOTHING),
	ROW(RESTARTING, RENEW, RENEWING, NOTHING),
	ROWS_TO_END(RESTARTING),

	ROW(HALTED, GO, RENEWING, NOTHING),
	ROWS_TO_END(HALTED),

	ROW(RENEWING, START, ALIVE, DO(RESTART_CHILDREN) | DO(GO_ON)),
	ROW(RENEWING, FAIL, FAILED, FAILS),
	ROWS_TO_END(RENEWING),

	/* Suspended, its children would not end. */
	ORDER(DRAINING, SUSPEND, DRAINING, KILL),
	ORDER(DRAINING, TIMER, DRAINING, KILL),
	ROW(DRAINING, KILL, STOPPING, DO(KILL_CHILDREN)),
	ROW(DRAINING, CLOSE, DRAINING, NOTHING),
	ROW(DRAINING, END, ENDED, GOES),

	/* Suspended, its children still end: it has told each to stop, and each
	 * is in a state that has its own row for that. */
	ROW(STOPPING, KILL, STOPPING, DO(KILL_CHILDREN)),
	ROW(STOPPING, CLOSE, STOPPING, NOTHING),
	ORDER(STOPPING, TIMER, STOPPING, KILL),
	ROW(STOPPING, END, ENDED, GOES),

	ROW(ENDED, RELEASE, FREE, NOTHING),
};

static bool changes_nothing(enum weir__cell_state state,
			    enum weir__life_event event)
{
	/* a walk goes to all cells of the tree, also to one that has ended now */
	if (event == WEIR__LIFE_SUSPEND)
		return state != WEIR__CELL_FREE;
	return (event == WEIR__LIFE_RESUME || event == WEIR__LIFE_RESTART ||
		event == WEIR__LIFE_GO) &&
	       state > WEIR__CELL_SPAWNED && state != WEIR__CELL_ENDED;
}

struct weir__step weir__life_no_row(enum weir__cell_state state,
				    enum weir__life_event event)
{
	return (struct weir__step){.state = (uint8_t)state,
				   .possible = changes_nothing(state, event)};
}
