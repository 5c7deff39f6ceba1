/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_folds.h"

/* --- fold, scan, reduce --------------------------------------------------- */

static int fold_zero(void **result, void *context)
{
	const struct step *step = context;

	*result = step_made(step, step->y);
	return 0;
}

/* A result may be held by others, too: it is made anew. */
static int fold_one(void **result, void *item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item), all = (intptr_t)*result;

	if (step_fails(step, value))
		return -EDOM;
	drop_taken(step, item);
	if (step->puts_items) {
		all = ((struct item *)*result)->value;
		item_drop(*result, NULL);
	}
	*result = step_made(step, folded(step, all, value));
	return 0;
}
WEIR_FLOW_FOLD(fold_one)

const struct weir_flow_fold_functions folding = {fold_zero, fold_one};

struct weir_flow *fold_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_fold(up, &folding, step), step);
}

void fold_expected(const struct step *step, struct stream *stream)
{
	intptr_t all;

	if (fold_all(step, stream, step->y, &all))
		stream_result(stream, all);
}

struct weir_flow *fold_n_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_items(weir_flow_fold_n(up, fold_one_n, step), NULL);
}

void fold_n_expected(const struct step *step, struct stream *stream)
{
	intptr_t all;

	if (fold_all(step, stream, 0, &all))
		stream_result(stream, all);
}

struct weir_flow *scan_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_scan(up, &folding, step), step);
}

static enum fate_of scan_expected_one(const struct step *step,
				      struct kept *kept, intptr_t *value)
{
	if (step_fails(step, *value))
		return FAILS;
	if (!kept->is_there)
		*kept = (struct kept){.value = step->y, .is_there = true};
	kept->value = folded(step, kept->value, *value);
	*value = kept->value;
	return GOES;
}

void scan_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, scan_expected_one);
	stream_add(stream, 0);
	memmove(stream->values + 1, stream->values,
		(stream->n - 1) * sizeof(*stream->values));
	stream->values[0] = step->y;
}

struct weir_flow *reduce_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_reduce(up, fold_one, step);
}

static enum fate_of reduce_expected_one(const struct step *step,
					struct kept *kept, intptr_t *value)
{
	if (kept->is_there && step_fails(step, *value))
		return FAILS;
	kept->value = kept->is_there ? folded(step, kept->value, *value)
				     : *value;
	kept->is_there = true;
	return LEFT_OUT;
}

void reduce_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, reduce_expected_one);
	if (stream->code == 0 && !kept.is_there)
		stream->code = -ENODATA;
	stream_result(stream, kept.value);
}

/* --- Which, how many, all ------------------------------------------------- */

struct weir_flow *last_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_last(up);
}

void last_expected(const struct step *step, struct stream *stream)
{
	if (stream->n > 0)
		stream_result(stream, stream->values[stream->n - 1]);
}

struct weir_flow *count_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_count(up);
}

void count_expected(const struct step *step, struct stream *stream)
{
	stream_result(stream, (intptr_t)stream->n);
}

struct weir_flow *ignore_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_ignore(up), step);
}

void ignore_expected(const struct step *step, struct stream *stream)
{
	stream->n = 0;
}

/* --- Lists, as numbers ---------------------------------------------------- */

static intptr_t with(const struct step *step, intptr_t sum, intptr_t value)
{
	return (sum * 7 + value + 1) % VALUES;
}

static int list_to_number(void **item, void *context)
{
	const struct step *step = context;
	struct weir_flow_list *list = *item;
	intptr_t sum = 0;
	size_t i;

	for (i = 0; i < list->n; i++)
		sum = with(step, sum, step_value(step, list->items[i]));
	weir_flow_list_free(list);
	*item = (void *)sum;
	return 0;
}

static struct weir_flow *lists_to_numbers(struct weir_flow *lists,
					  struct step *step)
{
	return weir_flow_items(weir_flow_map(lists, list_to_number, step),
			       NULL);
}

struct weir_flow *collect_make(struct weir_flow *up, struct step *step)
{
	return lists_to_numbers(weir_flow_collect(up, (size_t)step->n), step);
}

void collect_expected(const struct step *step, struct stream *stream)
{
	intptr_t sum = 0;
	size_t i;

	if (step->n > 0 && stream->n > (size_t)step->n)
		stream->code = -EMSGSIZE;
	for (i = 0; i < stream->n; i++)
		sum = with(step, sum, stream->values[i]);
	stream_result(stream, sum);
}

struct weir_flow *grouped_make(struct weir_flow *up, struct step *step)
{
	return lists_to_numbers(weir_flow_grouped(up, (size_t)step->n + 1),
				step);
}

/* A group ends behind the item that makes it so long or so heavy. */
static void groups_expected(const struct step *step, struct stream *stream,
			    size_t most, intptr_t weight)
{
	size_t n = stream->n, in = 0, i;
	intptr_t sum = 0, weighs = 0;

	stream->n = 0;
	for (i = 0; i < n; i++) {
		sum = with(step, sum, stream->values[i]);
		weighs += stream->values[i] % 4;
		if (++in < most && (weight == 0 || weighs < weight))
			continue;
		stream_add(stream, sum);
		in = 0;
		sum = 0;
		weighs = 0;
	}
	if (in > 0 && stream->code == 0)
		stream_add(stream, sum);
}

/* Numbers cannot be dropped, so they are in several lists as they are. */
struct weir_flow *sliding_make(struct weir_flow *up, struct step *step)
{
	return lists_to_numbers(weir_flow_sliding(up, (size_t)step->n + 1,
						  (size_t)step->x),
				step);
}

void sliding_expected(const struct step *step, struct stream *stream)
{
	size_t n = stream->n, most = (size_t)step->n + 1, first, i;
	size_t by = (size_t)step->x;
	static struct stream in;
	intptr_t sum;

	in = *stream;
	stream->n = 0;
	for (first = 0; first < n; first += by) {
		sum = 0;
		for (i = first; i < n && i < first + most; i++)
			sum = with(step, sum, in.values[i]);
		/* all of it was in the one before */
		if (i == n && first > 0 && first + most > n &&
		    n <= first - by + most)
			break;
		if (i == first + most || in.code == 0)
			stream_add(stream, sum);
	}
}

void grouped_expected(const struct step *step, struct stream *stream)
{
	groups_expected(step, stream, (size_t)step->n + 1, 0);
}

static uint64_t weigh(void *item, void *context)
{
	return (uint64_t)(step_value(context, item) % 4);
}

struct weir_flow *weighted_make(struct weir_flow *up, struct step *step)
{
	return lists_to_numbers(
		weir_flow_grouped_weighted(up, (uint64_t)step->x, weigh, step,
					   (size_t)step->n + 1, 0),
		step);
}

struct weir_flow *up_to_make(struct weir_flow *up, struct step *step)
{
	return lists_to_numbers(weir_flow_grouped_up_to(up, (uint64_t)step->x,
							weigh, step,
							(size_t)step->n + 1, 0),
				step);
}

void up_to_expected(const struct step *step, struct stream *stream)
{
	size_t n = stream->n, in = 0, i;
	intptr_t sum = 0, weighs = 0;

	stream->n = 0;
	for (i = 0; i < n; i++) {
		if (in > 0 && weighs + stream->values[i] % 4 > step->x) {
			stream_add(stream, sum);
			in = 0;
			sum = 0;
			weighs = 0;
		}
		sum = with(step, sum, stream->values[i]);
		weighs += stream->values[i] % 4;
		if (++in <= (size_t)step->n && weighs < step->x)
			continue;
		stream_add(stream, sum);
		in = 0;
		sum = 0;
		weighs = 0;
	}
	if (in > 0 && stream->code == 0)
		stream_add(stream, sum);
}

void weighted_expected(const struct step *step, struct stream *stream)
{
	groups_expected(step, stream, (size_t)step->n + 1, step->x);
}

struct weir_flow *within_make(struct weir_flow *up, struct step *step)
{
	return lists_to_numbers(weir_flow_grouped_within(up,
							 (size_t)step->n + 1,
							 (uint64_t)step->y + 1),
				step);
}
