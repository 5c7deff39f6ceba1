/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_parts.h"

#include "flow/random_folds.h"
#include "flow/random_kinds.h"

/* --- One of the flows ----------------------------------------------------- */

enum through { INDEX, FIRST, FOLD };

static enum through through(const struct step *step)
{
	return (enum through)(step->y % 3);
}

/* So many of the first. */
static int64_t n_first(const struct step *step)
{
	return 1 + step->n % 3;
}

/* Else the flows do. */
static bool operator_fails(const struct step *step, intptr_t value)
{
	return step->y % 4 < 2 && step_fails(step, value);
}

static struct weir_flow *part_make(struct weir_flow *up, void *context)
{
	struct step *step = context;

	if (through(step) == FOLD)
		return of_items(weir_flow_fold(up, &folding, step), step);
	up = index_make(up, step);
	return through(step) == FIRST ? weir_flow_take(up, n_first(step)) : up;
}

/* What is expected of it. */
struct part {
	int64_t index, n;
	intptr_t all;
	bool known, ended;
	size_t place; /* among those that are open */
};

static struct part part_new(const struct step *step)
{
	return (struct part){.all = step->y, .known = true};
}

/* A function of it has failed. False: so has it. */
static bool part_survives(const struct step *step, struct part *part)
{
	if (step->decided == WEIR_DIRECTIVE_RESTART) {
		part->index = 0;
		part->all = step->y;
	}
	return step->decided == WEIR_DIRECTIVE_RESTART ||
	       step->decided == WEIR_DIRECTIVE_RESUME;
}

/* False: it has failed. */
static bool part_takes(const struct step *step, struct stream *stream,
		       struct part *part, intptr_t value)
{
	int64_t index = part->index++;

	if (part->ended)
		return true;
	if (step_fails(step, value))
		return part_survives(step, part);
	if (through(step) == FOLD) {
		part->all = folded(step, part->all, value);
		return true;
	}
	stream_add(stream, (step_mapped(step, value) + index) % VALUES);
	part->ended = through(step) == FIRST && ++part->n == n_first(step);
	return true;
}

static void part_ends(const struct step *step, struct stream *stream,
		      const struct part *part)
{
	if (through(step) == FOLD)
		stream_add(stream, part->all);
}

/* --- group_by ------------------------------------------------------------- */

#define KEYS 7

static int group_key(void *item, uintptr_t *key, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item);

	*key = (uintptr_t)value % KEYS;
	return operator_fails(step, value) ? -EDOM : 0;
}

static struct weir_flow *group_make(struct weir_flow *up, uintptr_t key,
				    void *context)
{
	assert_true(key < KEYS);
	return part_make(up, context);
}

static bool reopens(const struct step *step)
{
	return step->y % 5 < 2;
}

struct weir_flow *group_by_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow_group_options options = {
		.buffer = 1 + (size_t)step->n % 3,
		.reopen = reopens(step),
	};

	return of_items(weir_flow_group_by(up, (size_t)step->x, group_key,
					   group_make, step, &options),
			step);
}

static size_t n_known(const struct part *parts)
{
	size_t n = 0, i;

	for (i = 0; i < KEYS; i++)
		n += parts[i].known;
	return n;
}

/* False: it has failed. */
static bool groups_take(const struct step *step, struct stream *stream,
			struct part *parts, size_t *n_opened, intptr_t value)
{
	struct part *part = &parts[value % KEYS];

	if (!part->known && n_known(parts) == (size_t)step->x) {
		stream->code = -EMFILE;
		return false;
	}
	if (!part->known) {
		*part = part_new(step);
		part->place = (*n_opened)++;
	}
	if (!part_takes(step, stream, part, value)) {
		stream->code = -EDOM;
		return false;
	}
	part->known = !part->ended || !reopens(step);
	return true;
}

void group_by_expected(const struct step *step, struct stream *stream)
{
	struct part parts[KEYS] = {{0}};
	size_t n = stream->n, n_opened = 0, i, place;
	struct kept kept = {0};
	intptr_t value;

	stream->n = 0;
	for (i = 0; i < n; i++) {
		value = stream->values[i];
		if (!operator_fails(step, value)) {
			if (!groups_take(step, stream, parts, &n_opened, value))
				return;
			continue;
		}
		if (!survives(step, stream, &kept))
			return;
		if (step->decided == WEIR_DIRECTIVE_RESTART)
			memset(parts, 0, sizeof(parts));
	}
	for (place = 0; stream->code == 0 && place < n_opened; place++)
		for (i = 0; i < KEYS; i++)
			if (parts[i].known && parts[i].place == place)
				part_ends(step, stream, &parts[i]);
}

/* --- split_when, split_after ---------------------------------------------- */

static int split_one(void *item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item);

	return operator_fails(step, value) ? -EDOM : !step_wants(step, value);
}

struct weir_flow *split_when_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_split_when(up, split_one, part_make, step),
			step);
}

struct weir_flow *split_after_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_split_after(up, split_one, part_make, step),
			step);
}

static void close_part(const struct step *step, struct stream *stream,
		       struct part *part)
{
	if (part->known)
		part_ends(step, stream, part);
	part->known = false;
}

static void split_expected(const struct step *step, struct stream *stream,
			   bool before)
{
	struct part part = {0};
	size_t n = stream->n, i;
	struct kept kept = {0};
	intptr_t value;

	stream->n = 0;
	for (i = 0; i < n; i++) {
		value = stream->values[i];
		if (operator_fails(step, value)) {
			if (!survives(step, stream, &kept))
				return;
			if (step->decided == WEIR_DIRECTIVE_RESTART)
				part.known = false;
			continue;
		}
		if (before && !step_wants(step, value))
			close_part(step, stream, &part);
		if (!part.known)
			part = part_new(step);
		if (!part_takes(step, stream, &part, value)) {
			stream->code = -EDOM;
			return;
		}
		if (!before && !step_wants(step, value))
			close_part(step, stream, &part);
	}
	if (stream->code == 0)
		close_part(step, stream, &part);
}

void split_when_expected(const struct step *step, struct stream *stream)
{
	split_expected(step, stream, true);
}

void split_after_expected(const struct step *step, struct stream *stream)
{
	split_expected(step, stream, false);
}

/* --- window, window_by ---------------------------------------------------- */

static uint64_t window_size(const struct step *step)
{
	return 1 + (uint64_t)step->y % 5;
}

struct weir_flow *window_make(struct weir_flow *up, struct step *step)
{
	const struct weir_flow_window_options options = {
		.n = window_size(step),
	};

	return of_items(weir_flow_window(up, &options, part_make, step), step);
}

void window_expected(const struct step *step, struct stream *stream)
{
	struct part part = {0};
	size_t n = stream->n, i;
	uint64_t size = 0;

	stream->n = 0;
	for (i = 0; i < n; i++) {
		if (!part.known) {
			part = part_new(step);
			size = 0;
		}
		if (!part_takes(step, stream, &part, stream->values[i])) {
			stream->code = -EDOM;
			return;
		}
		if (++size == window_size(step))
			close_part(step, stream, &part);
	}
	if (stream->code == 0)
		close_part(step, stream, &part);
}

static struct weir_flow *same_part(struct weir_flow *up, void *context)
{
	return up;
}

struct weir_flow *window_time_make(struct weir_flow *up, struct step *step)
{
	const struct weir_flow_window_options options = {
		.n = (uint64_t)step->n % 4,
		.within_ns = (uint64_t)step->x,
		.quiet_ns = (uint64_t)step->y % 3,
	};

	return weir_flow_window(up, &options, same_part, step);
}

struct weir_flow *window_by_make(struct weir_flow *up, struct step *step)
{
	const struct weir_flow_rate rate = {
		.n = 1,
		.per_ns = (uint64_t)step->x,
	};
	struct weir_flow *boundary =
		weir_flow_throttle(weir_flow_range(0, step->y), &rate);

	return weir_flow_window_by(up, boundary, same_part, step);
}

/* --- prefix_and_tail ------------------------------------------------------ */

static struct weir_flow *tail_make(void *const *items, size_t n,
				   struct weir_flow *tail, void *context)
{
	while (n > 0)
		drop_taken(context, items[--n]);
	return part_make(tail, context);
}

struct weir_flow *prefix_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_prefix_and_tail(up, (size_t)step->n,
						  tail_make, step),
			step);
}

void prefix_expected(const struct step *step, struct stream *stream)
{
	struct part part = part_new(step);
	size_t n = stream->n, i;

	stream->n = 0;
	if (n < (size_t)step->n && stream->code < 0)
		return;
	for (i = (size_t)step->n; i < n && !part.ended; i++) {
		if (!part_takes(step, stream, &part, stream->values[i])) {
			stream->code = -EDOM;
			return;
		}
	}
	if (part.ended)
		stream->code = 0;
	if (stream->code == 0)
		part_ends(step, stream, &part);
}

/* --- restart_around ------------------------------------------------------- */

static bool again_when_ended(const struct step *step)
{
	return step->y % 5 < 4;
}

struct weir_flow *around_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow_restart_options options = {
		.when_ended = again_when_ended(step),
	};

	return of_items(weir_flow_restart_around(up, part_make, step, &options),
			step);
}

void around_expected(const struct step *step, struct stream *stream)
{
	struct part part = part_new(step);
	size_t n = stream->n, i;

	stream->n = 0;
	for (i = 0; i < n; i++) {
		if (!part_takes(step, stream, &part, stream->values[i]))
			part = part_new(step);
		if (part.ended && !again_when_ended(step)) {
			stream->code = 0;
			return;
		}
		if (part.ended)
			part = part_new(step);
	}
	if (stream->code == 0)
		part_ends(step, stream, &part);
}
