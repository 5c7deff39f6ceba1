/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child's part in what its parent does: whether it belongs to a start of the
 * parent's, and whether the parent has told the child to stop or to halt, or
 * will when its turn comes. As the life of a cell
 * (life.h) this is a step, whose table is in part.c. It is changed under the
 * system's lock, mostly by the parent.
 */
#ifndef WEIR_SUPERVISION_PART_H
#define WEIR_SUPERVISION_PART_H

#include <stdbool.h>
#include <stdint.h>

enum weir__part {
	WEIR__PART_NONE,
	WEIR__PART_NEW,	 /* spawned by a start that has not gone well yet */
	WEIR__PART_STOP, /* told to stop */
	WEIR__PART_LINE_STOP, /* in line: to be told to stop */
	WEIR__PART_TURN_STOP, /* in line, and told to stop */
	WEIR__PART_LINE_HALT, /* in line: to be told to halt */
	WEIR__PART_TURN_HALT, /* in line, and told to halt, or to stop */
	WEIR__PART_GO,	      /* halted with others: to be told to go */
	WEIR__PART_GO_STOP,   /* and told to stop since */
};
#define WEIR__PARTS (WEIR__PART_GO_STOP + 1)

enum weir__part_event {
	WEIR__PART_COME,	/* a start of the parent's has spawned it */
	WEIR__PART_SETTLE,	/* that start went well */
	WEIR__PART_TELL_STOP,	/* the order to stop is given */
	WEIR__PART_TELL_HALT,	/* the order to halt is given */
	WEIR__PART_QUEUE_STOP,	/* it is to stop in its turn */
	WEIR__PART_QUEUE_HALT,	/* it is to halt in its turn */
	WEIR__PART_PASS_HALTED, /* in its turn it has halted already */
	WEIR__PART_HALTS,	/* it halts */
	WEIR__PART_LEAVE,	/* it has no part with others any more */
};
#define WEIR__PART_EVENTS (WEIR__PART_LEAVE + 1)

/* The list of the parent's that the child is put into. */
enum weir__part_list {
	WEIR__PART_LIST_AS_IT_IS,
	WEIR__PART_LIST_NONE,
	WEIR__PART_LIST_HALTING,
	WEIR__PART_LIST_HALTED,
};

struct weir__part_step {
	uint8_t part;  /* the next one */
	bool possible; /* false: the event cannot come to that part */
	uint8_t list;  /* enum weir__part_list */
};

extern const struct weir__part_step weir__part_table[WEIR__PARTS]
						    [WEIR__PART_EVENTS];

/* What becomes of that part by the event. */
static inline struct weir__part_step weir__part_step(
	enum weir__part part, enum weir__part_event event)
{
	return weir__part_table[part][event];
}

/* The child waits for its turn, or has it. */
static inline bool weir__part_in_line(unsigned part)
{
	return part >= WEIR__PART_LINE_STOP && part <= WEIR__PART_TURN_HALT;
}

/* The child belongs to others that stop, halt or go one after the other. */
static inline bool weir__part_with_others(unsigned part)
{
	return part >= WEIR__PART_LINE_STOP;
}

static inline bool weir__part_told(unsigned part)
{
	return part == WEIR__PART_STOP || part == WEIR__PART_TURN_STOP ||
	       part == WEIR__PART_TURN_HALT || part == WEIR__PART_GO_STOP;
}

/* The parent waits for the child to stop or to halt. */
static inline bool weir__part_waited_for(unsigned part)
{
	return part >= WEIR__PART_STOP && part != WEIR__PART_GO;
}

/* The child stops, or will, and does not start again. */
static inline bool weir__part_stops(unsigned part)
{
	return part >= WEIR__PART_STOP && part <= WEIR__PART_TURN_STOP;
}

#endif
