/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of random_kinds.h: operators that take several flows, make several, or
 * nest them. What else they take is a few numbers, which a drain may cut off.
 */
#ifndef WEIR_TEST_FLOW_RANDOM_FANS_H
#define WEIR_TEST_FLOW_RANDOM_FANS_H

#include "flow/random_rates.h"

/* --- Beside another flow -------------------------------------------------- */

static struct weir_flow *others(const struct step *step)
{
	struct weir_flow *flow =
		weir_flow_range(step->y, step->y + step->n - 1);

	return step->takes_items ? counted(flow) : flow;
}

/* Puts them at this place of the stream. */
static void add_others(const struct step *step, struct stream *stream,
		       size_t at)
{
	size_t n = (size_t)step->n, i;

	if (!has_room(stream, n))
		return;
	memmove(stream->values + at + n, stream->values + at,
		(stream->n - at) * sizeof(*stream->values));
	for (i = 0; i < n; i++)
		stream->values[at + i] = step->y + (intptr_t)i;
	stream->n += n;
	stream->loose = stream->loose || stream->cut;
}

static struct weir_flow *prepend_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_prepend(up, others(step));
}

static void prepend_expected(const struct step *step, struct stream *stream)
{
	add_others(step, stream, 0);
}

static struct weir_flow *concat_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {up, others(step)};

	return weir_flow_concat(flows, 2);
}

static void concat_expected(const struct step *step, struct stream *stream)
{
	if (stream->code == 0)
		add_others(step, stream, stream->n);
}

static struct weir_flow *or_else_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_or_else(up, others(step));
}

static void or_else_expected(const struct step *step, struct stream *stream)
{
	if (stream->n == 0)
		concat_expected(step, stream);
}

static struct weir_flow *merge_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *nothing = weir_flow_items(
		weir_flow_empty(), step->takes_items ? &counted_items : NULL);
	struct weir_flow *flows[] = {step->y % 2 ? up : nothing,
				     step->y % 2 ? nothing : up};

	return step->x % 2 ? weir_flow_merge(flows, 2)
			   : weir_flow_merge_preferred(flows, 2);
}

static struct weir_flow *merge_eager_make(struct weir_flow *up,
					  struct step *step)
{
	struct weir_flow *nothing = weir_flow_items(
		weir_flow_never(), step->takes_items ? &counted_items : NULL);
	struct weir_flow *flows[] = {up, nothing};

	return weir_flow_merge_eager(flows, 2);
}

/* It is over at once when a drain ends the other. */
static void merge_eager_expected(const struct step *step, struct stream *stream)
{
	stream->loose = stream->loose || stream->cut;
}

/* --- zip ------------------------------------------------------------------ */

static int combine(void *const *items, size_t n, void **result, void *context)
{
	const struct step *step = context;
	intptr_t value = value_of(step, items[0]);

	if (fails(step, value))
		return -EDOM;
	value = (value * step->x + value_of(step, items[1])) % VALUES;
	drop_taken(step, items[0]);
	drop_taken(step, items[1]);
	*result = made(step, value);
	return 0;
}

static struct weir_flow *zip_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {up, others(step)};

	return of_items(weir_flow_zip(flows, 2, combine, step), step);
}

static bool has_failing(const struct step *step, const struct stream *stream)
{
	size_t i;

	for (i = 0; i < stream->n; i++)
		if (fails(step, stream->values[i]))
			return true;
	return false;
}

/* Who ends first ends it: where they meet, that may be either. */
static void zip_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};
	size_t n, i;

	if (stream->cut || (stream->n == (size_t)step->n && stream->code < 0))
		stream->loose = true;
	if (stream->n > (size_t)step->n) {
		stream->n = (size_t)step->n;
		stream->code = 0;
	}
	n = stream->n;
	stream->n = 0;
	for (i = 0; i < n; i++)
		if (!fails(step, stream->values[i]))
			add(stream, (stream->values[i] * step->x + step->y +
				     (intptr_t)i) %
					    VALUES);
		else if (!survives(step, stream, &kept))
			return;
}

/* --- The newest ----------------------------------------------------------- */

static int combine_newest(void *const *items, size_t n, void **result,
			  void *context)
{
	const struct step *step = context;
	intptr_t value = value_of(step, items[0]);

	if (fails(step, value))
		return -EDOM;
	value = (value * step->x + value_of(step, items[1])) % VALUES;
	*result = made(step, value);
	return 0;
}

/* One item, which stays the newest. */
static struct weir_flow *one_other(const struct step *step)
{
	struct weir_flow *flow = weir_flow_range(step->y, step->y);

	return step->takes_items ? counted(flow) : flow;
}

static struct weir_flow *latest_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {up, one_other(step)};

	return of_items(
		weir_flow_combine_latest(flows, 2, combine_newest, step), step);
}

static enum fate_of latest_expected_one(const struct step *step,
					struct kept *kept, intptr_t *value)
{
	if (fails(step, *value))
		return FAILS;
	*value = mapped(step, *value);
	return GOES;
}

/* What comes before the other's item is left out. */
static void latest_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream->loose = true;
	each(step, stream, &kept, latest_expected_one);
}

static int with_newest(void **item, void *newest, void *context)
{
	const struct step *step = context;
	intptr_t value = value_of(step, *item);

	if (fails(step, value))
		return -EDOM;
	value = (value * step->x + value_of(step, newest)) % VALUES;
	replace(step, item, value);
	return 0;
}

static struct weir_flow *with_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_with_latest_from(up, one_other(step),
						   with_newest, step),
			step);
}

/* --- Apart, and together again -------------------------------------------- */

static struct weir_flow *broadcast_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_broadcast(up, 2, outlets, NULL);
	return of_items(weir_flow_zip(outlets, 2, combine, step), step);
}

static enum fate_of broadcast_expected_one(const struct step *step,
					   struct kept *kept, intptr_t *value)
{
	if (fails(step, *value))
		return FAILS;
	*value = (*value * step->x + *value) % VALUES;
	return GOES;
}

static void broadcast_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	each(step, stream, &kept, broadcast_expected_one);
}

/* All that are wanted the same way. */
static int choose(void *item, size_t *outlet, void *context)
{
	const struct step *step = context;

	*outlet = (size_t)step->y % 2;
	return !wanted(step, value_of(step, item));
}

static struct weir_flow *partition_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow_fan_options options = {.queue = (size_t)step->n};
	struct weir_flow *outlets[2];

	(void)weir_flow_partition(up, 2, choose, step, outlets, &options);
	return weir_flow_merge(outlets, 2);
}

static enum fate_of partition_expected_one(const struct step *step,
					   struct kept *kept, intptr_t *value)
{
	return wanted(step, *value) ? GOES : LEFT_OUT;
}

/* The other outlet has an error earlier. */
static void partition_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	if (stream->code < 0)
		stream->loose = true;
	each(step, stream, &kept, partition_expected_one);
}

static struct weir_flow *balance_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow_fan_options options = {
		.wait_for_all = step->y % 2,
		.shuffle = (uint64_t)step->y,
	};
	struct weir_flow *outlets[3];

	(void)weir_flow_balance(up, 3, outlets, &options);
	outlets[1] = weir_flow_limit_rate(outlets[1], (size_t)step->x, 0);
	return weir_flow_merge(outlets, 3);
}

/* --- Several at once ------------------------------------------------------ */

#define NESTED_MAX 3

static struct weir_flow *nest_one(void *item, void *context)
{
	const struct step *step = context;
	intptr_t value = value_of(step, item);
	struct weir_flow *flow;

	drop_taken(step, item);
	if (fails(step, value))
		return weir__flow_failed(-EDOM, "test", "no flow of that");
	flow = weir_flow_range(value, value + value % (NESTED_MAX + 1) - 1);
	return step->puts_items ? counted(flow) : flow;
}

static struct weir_flow *flat_map_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_flat_map(up, 1, nest_one, step), step);
}

/* An error from above does not wait for those that are open. */
static void flat_map_expected(const struct step *step, struct stream *stream)
{
	static struct stream in;
	struct kept kept = {0};
	intptr_t value, j;
	size_t i;

	in = *stream;
	stream->n = 0;
	stream->loose = stream->loose || stream->cut || stream->code < 0;
	for (i = 0; i < in.n; i++) {
		value = in.values[i];
		if (fails(step, value) && !survives(step, stream, &kept))
			return;
		for (j = 0; !fails(step, value) && j < value % (NESTED_MAX + 1);
		     j++)
			add(stream, value + j);
	}
}

static struct weir_flow *flat_map_many_make(struct weir_flow *up,
					    struct step *step)
{
	return of_items(weir_flow_flat_map(up, (size_t)step->x + 1, nest_one,
					   step),
			step);
}

static struct weir_flow *switch_map_make(struct weir_flow *up,
					 struct step *step)
{
	return of_items(weir_flow_switch_map(up, nest_one, step), step);
}

/* As many, or more, in any order. */
static void nested_expected(const struct step *step, struct stream *stream)
{
	flat_map_expected(step, stream);
	stream->loose = true;
}

static struct weir_flow *parallel_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_map_parallel(up, (size_t)step->x,
					       WEIR_ORDER_KEPT, map_one, step,
					       NULL),
			step);
}

/* A failure is told before the results of those in front. */
static void parallel_expected(const struct step *step, struct stream *stream)
{
	if (step->decided != WEIR_DIRECTIVE_RESUME &&
	    step->decided != WEIR_DIRECTIVE_RESTART &&
	    has_failing(step, stream))
		stream->loose = true;
	map_expected(step, stream);
}

static struct weir_flow *unordered_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_map_parallel(up, (size_t)step->x,
					       WEIR_ORDER_ANY, map_one, step,
					       NULL),
			step);
}

static void unordered_expected(const struct step *step, struct stream *stream)
{
	map_expected(step, stream);
	stream->loose = true;
}

/* --- Switches ------------------------------------------------------------- */

static struct weir_flow *switch_make(struct weir_flow *up, struct step *step)
{
	/* without memory: no flow with it either */
	(void)!weir_flow_switch_new(&step->swtch);
	return weir_flow_kill_switch(up, step->swtch);
}

#endif
