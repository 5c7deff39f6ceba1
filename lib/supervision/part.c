/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a child's part: a part, an event, the next part, and the list
 * that the child is put into. Without a row an event cannot come to that part.
 */
#include "supervision/part.h"

#define ROW(part, event, next, list) \
	[WEIR__PART_##part][WEIR__PART_##event] = {WEIR__PART_##next, true, \
						   WEIR__PART_LIST_##list}
/* Into the line a child can always come, also once more. */
#define ROWS_TO_QUEUE(part, stop, halt) \
	ROW(part, QUEUE_STOP, stop, HALTING), \
		ROW(part, QUEUE_HALT, halt, HALTING)

const struct weir__part_step weir__part_table[][WEIR__PART_EVENTS] = {
	ROW(NONE, COME, NEW, AS_IT_IS),
	ROW(NONE, TELL_STOP, STOP, AS_IT_IS),
	ROW(NONE, LEAVE, NONE, AS_IT_IS),
	ROWS_TO_QUEUE(NONE, LINE_STOP, LINE_HALT),

	/* If that start fails the child stops, whatever has become of it. */
	ROW(NEW, SETTLE, NONE, AS_IT_IS),
	ROW(NEW, TELL_STOP, STOP, AS_IT_IS),
	ROW(NEW, LEAVE, NEW, AS_IT_IS),
	ROWS_TO_QUEUE(NEW, LINE_STOP, LINE_HALT),

	ROW(STOP, TELL_STOP, STOP, AS_IT_IS),
	ROW(STOP, LEAVE, STOP, AS_IT_IS),
	ROWS_TO_QUEUE(STOP, TURN_STOP, TURN_HALT),

	/* It was to halt, and is to stop since. */
	ROW(LINE_STOP, HALTS, LINE_STOP, AS_IT_IS),
	ROW(LINE_STOP, TELL_STOP, TURN_STOP, AS_IT_IS),
	ROW(LINE_STOP, LEAVE, NONE, NONE),
	ROWS_TO_QUEUE(LINE_STOP, LINE_STOP, LINE_HALT),

	ROW(TURN_STOP, HALTS, LINE_STOP, AS_IT_IS),
	ROW(TURN_STOP, TELL_STOP, TURN_STOP, AS_IT_IS),
	ROW(TURN_STOP, LEAVE, STOP, NONE),
	ROWS_TO_QUEUE(TURN_STOP, TURN_STOP, TURN_HALT),

	ROW(LINE_HALT, HALTS, GO, HALTED),
	ROW(LINE_HALT, PASS_HALTED, GO, HALTED),
	ROW(LINE_HALT, TELL_HALT, TURN_HALT, AS_IT_IS),
	ROW(LINE_HALT, TELL_STOP, TURN_HALT, AS_IT_IS),
	ROW(LINE_HALT, LEAVE, NONE, NONE),
	ROWS_TO_QUEUE(LINE_HALT, LINE_STOP, LINE_HALT),

	ROW(TURN_HALT, HALTS, GO, HALTED),
	ROW(TURN_HALT, PASS_HALTED, GO_STOP, HALTED),
	ROW(TURN_HALT, TELL_STOP, TURN_HALT, AS_IT_IS),
	ROW(TURN_HALT, LEAVE, STOP, NONE),
	ROWS_TO_QUEUE(TURN_HALT, TURN_STOP, TURN_HALT),

	ROW(GO, TELL_STOP, GO_STOP, AS_IT_IS),
	ROW(GO, LEAVE, NONE, NONE),
	ROWS_TO_QUEUE(GO, LINE_STOP, LINE_HALT),

	ROW(GO_STOP, TELL_STOP, GO_STOP, AS_IT_IS),
	ROW(GO_STOP, LEAVE, STOP, NONE),
	ROWS_TO_QUEUE(GO_STOP, TURN_STOP, TURN_HALT),
};
