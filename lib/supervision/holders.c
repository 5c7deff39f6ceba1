/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who keeps a system from ending. The cells are visited by their slots, with
 * the lock dropped between two: so others may spawn and end meanwhile.
 */
#include <weir/system.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "supervision/cell.h"

/* What an actor does that has a cell in that state. */
static const char *const doing[WEIR__CELL_STATES] = {
	[WEIR__CELL_SPAWNED] = "is spawned",
	[WEIR__CELL_STARTING] = "starts",
	[WEIR__CELL_ALIVE] = "runs",
	[WEIR__CELL_FINISHING] = "ends by itself, as its `stopping` said",
	[WEIR__CELL_FAILED] = "has failed, and waits for its supervisor",
	[WEIR__CELL_DELAYED] = "has failed, and waits for its back-off",
	[WEIR__CELL_DUE] = "has failed, and waits for its supervisor",
	[WEIR__CELL_ESCALATED] = "has failed, and so has its supervisor",
	[WEIR__CELL_RESTARTING] = "restarts when its children have ended",
	[WEIR__CELL_HALTED] = "restarts when it is its turn",
	[WEIR__CELL_RENEWING] = "restarts",
	[WEIR__CELL_DRAINING] = "ends when its children have",
	[WEIR__CELL_STOPPING] = "stops when its children have ended",
	[WEIR__CELL_ENDED] = "has ended; somebody holds a reference of it",
};

/* What is written so far: `length` may be beyond `size`. */
struct text {
	char *at;
	size_t size, length;
};

/* Where the next piece goes; in *size how much room there is. */
static char *place(const struct text *text, size_t *size)
{
	*size = text->length < text->size ? text->size - text->length : 0;
	return *size ? text->at + text->length : NULL;
}

static WEIR_PRINTF(2, 3) void add(struct text *text, const char *format, ...)
{
	size_t size;
	char *at = place(text, &size);
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(at, size, format, arguments);
	va_end(arguments);
	text->length += n > 0 ? (size_t)n : 0;
}

/* An actor that has ended has no path any more, but its id. */
static void add_actor(struct weir_system *system, struct weir_actor_id id,
		      uint8_t state, struct text *text)
{
	size_t size;
	char *at = place(text, &size);
	int n = weir_system_path(system, id, at, size);

	if (n < 0)
		add(text, "%" PRIu32 "/%" PRIu32, id.slot, id.generation);
	else
		text->length += (size_t)n;
	add(text, ": %s\n", doing[state]);
}

/* The cell of the slot; false: there is none. */
static bool look(struct weir_system *system, uint32_t slot,
		 struct weir_actor_id *id, uint8_t *state)
{
	const struct weir__cell *cell;
	bool held = weir__enter(&system->lock), exists = slot < system->slots.n;

	if (exists) {
		cell = weir__cell_at(system, slot);
		*id = (struct weir_actor_id){slot, cell->generation};
		*state = cell->state;
	}
	weir__leave(&system->lock, held);
	return exists;
}

/* What counts in `used`, and is no cell. */
static void add_others(struct weir_system *system, size_t n_cells,
		       struct text *text)
{
	bool held = weir__enter(&system->lock);
	size_t answers = system->n_answers, used = system->lock.used;

	weir__leave(&system->lock, held);
	if (answers)
		add(text, "before-end hooks, and /user: %zu\n", answers);
	used -= used > 0 && answers;
	if (used > n_cells)
		add(text, "timers, graceful stops and questions: %zu\n",
		    used - n_cells);
}

int weir_system_holders(struct weir_system *system, char *text, size_t size)
{
	struct text out = {.at = text, .size = size};
	struct weir_actor_id id = WEIR_ACTOR_ID_NONE;
	uint8_t state = WEIR__CELL_FREE;
	size_t n_cells = 0;
	uint32_t slot;

	if (!system || (!text && size))
		return -EINVAL;
	if (size)
		*text = '\0';
	for (slot = 0; look(system, slot, &id, &state); slot++) {
		if (state == WEIR__CELL_FREE)
			continue;
		add_actor(system, id, state, &out);
		n_cells++;
	}
	add_others(system, n_cells, &out);
	return (int)out.length;
}
