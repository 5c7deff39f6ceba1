/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a cell's life. A row is a state, an event, the next state, and
 * the orders that the cell gets. Without a row an event cannot come in that
 * state; but for some, which come at any time or too late: by these nothing
 * changes.
 *
 * Rule numbers like B5.3 are those of docs/conformance/supervision.md.
 */
#include "supervision/life.h"

#include <assert.h>

#include "supervision/cell.h"

#define ROW(state, event, next, orders) \
	[WEIR__CELL_## \
		state][WEIR__LIFE_##event] = {WEIR__CELL_##next, true, orders}
/* Each actor can be ended. */
#define ROWS_TO_END(state) \
	ROW(state, STOP, STOPPING, 0), ROW(state, KILL, STOPPING, 0), \
		ROW(state, CLOSE, STOPPING, 0)

static const struct weir__step table[WEIR__CELL_STATES][WEIR__LIFE_EVENTS] = {
	ROW(FREE, SPAWN, STARTING, 0),

	ROW(STARTING, REFUSE, FREE, 0),
	ROW(STARTING, START, ALIVE, 0),
	ROW(STARTING, FAIL, FAILED, 0),
	ROWS_TO_END(STARTING),

	ROW(ALIVE, FAIL, FAILED, 0),
	ROW(ALIVE, RESTART, RESTARTING, 0),
	ROW(ALIVE, PROMISE, FINISHING, 0),
	ROWS_TO_END(ALIVE),

	/* It has failed for good, and is not restarted: B5.3. Suspended, it
	 * cannot keep its promise. */
	ROW(FINISHING, FAIL, STOPPING, 0),
	ROW(FINISHING, TIMER, FINISHING, WEIR__ORDER_KILL),
	ROW(FINISHING, SUSPEND, FINISHING, WEIR__ORDER_STOP),
	ROWS_TO_END(FINISHING),

	ROW(FAILED, DELAY, DELAYED, 0),
	ROW(FAILED, ESCALATE, ESCALATED, 0),
	ROW(FAILED, ANSWER, FAILED, 0),
	ROW(FAILED, RESUME, ALIVE, 0),
	ROW(FAILED, RESTART, RESTARTING, 0),
	ROWS_TO_END(FAILED),

	ROW(DELAYED, TIMER, DUE, WEIR__ORDER_LOOK),
	ROW(DELAYED, RESTART, RESTARTING, 0),
	ROWS_TO_END(DELAYED),

	ROW(DUE, ANSWER, FAILED, 0),
	ROW(DUE, RESTART, RESTARTING, 0),
	ROWS_TO_END(DUE),

	ROW(ESCALATED, ANSWER, FAILED, 0),
	ROW(ESCALATED, RESTART, RESTARTING, 0),
	ROWS_TO_END(ESCALATED),

	ROW(RESTARTING, HALT, HALTED, 0),
	ROW(RESTARTING, RENEW, RENEWING, 0),
	ROWS_TO_END(RESTARTING),

	ROW(HALTED, GO, RENEWING, 0),
	ROWS_TO_END(HALTED),

	ROW(RENEWING, START, ALIVE, 0),
	ROW(RENEWING, FAIL, FAILED, 0),
	ROWS_TO_END(RENEWING),

	ROW(STOPPING, TIMER, STOPPING, WEIR__ORDER_KILL),
	ROW(STOPPING, END, ENDED, 0),
	ROWS_TO_END(STOPPING),

	ROW(ENDED, RELEASE, FREE, 0),
};

static bool changes_nothing(enum weir__cell_state state,
			    enum weir__life_event event)
{
	/* a walk goes to all cells of the tree, also to one that has ended now */
	if (event == WEIR__LIFE_SUSPEND)
		return state != WEIR__CELL_FREE;
	return (event == WEIR__LIFE_RESUME || event == WEIR__LIFE_RESTART ||
		event == WEIR__LIFE_GO) &&
	       state != WEIR__CELL_FREE && state != WEIR__CELL_ENDED;
}

struct weir__step weir__life_step(enum weir__cell_state state,
				  enum weir__life_event event)
{
	struct weir__step step = table[state][event];

	if (!step.possible && changes_nothing(state, event))
		step = (struct weir__step){(uint8_t)state, true, 0};
	return step;
}
