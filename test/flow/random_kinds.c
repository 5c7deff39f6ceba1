/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_kinds.h"

#include "flow/random_folds.h"
#include "flow/random_rates.h"
#include "flow/random_fans.h"
#include "flow/random_parts.h"
#include "flow/random_operators.h"
#include "flow/random_bridges.h"

/* --- One for one ---------------------------------------------------------- */

int map_one(void **item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, *item);

	if (step_fails(step, value))
		return -EDOM;
	step_replace(step, item, step_mapped(step, value));
	return 0;
}
WEIR_FLOW_MAP(map_one)

static enum fate_of map_expected_one(const struct step *step, struct kept *kept,
				     intptr_t *value)
{
	if (step_fails(step, *value))
		return FAILS;
	*value = step_mapped(step, *value);
	return GOES;
}

void map_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, map_expected_one);
}

static struct weir_flow *map_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_map(up, map_one, step), step);
}

static struct weir_flow *map_n_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_map_n(up, map_one_n, step), step);
}

static int index_one(void **item, uint64_t index, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, *item);

	if (step_fails(step, value))
		return -EDOM;
	step_replace(step, item,
		     (step_mapped(step, value) + (intptr_t)index) % VALUES);
	return 0;
}

static enum fate_of index_expected_one(const struct step *step,
				       struct kept *kept, intptr_t *value)
{
	int64_t index = kept->n++;

	if (step_fails(step, *value))
		return FAILS;
	*value = (step_mapped(step, *value) + index) % VALUES;
	return GOES;
}

static void index_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, index_expected_one);
}

struct weir_flow *index_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_index(up, index_one, step), step);
}

/* --- One or none ---------------------------------------------------------- */

static int ask_one(void *item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item);

	return step_fails(step, value) ? -EDOM : step_wants(step, value);
}

static enum fate_of filter_expected_one(const struct step *step,
					struct kept *kept, intptr_t *value)
{
	if (step_fails(step, *value))
		return FAILS;
	return step_wants(step, *value) ? GOES : LEFT_OUT;
}

static void filter_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, filter_expected_one);
}

static struct weir_flow *filter_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_filter(up, ask_one, step);
}

static int filter_map_one(void **item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, *item);

	if (step_fails(step, value))
		return -EDOM;
	if (!step_wants(step, value))
		return 0;
	step_replace(step, item, step_mapped(step, value));
	return 1;
}

static enum fate_of filter_map_expected_one(const struct step *step,
					    struct kept *kept, intptr_t *value)
{
	enum fate_of fate = filter_expected_one(step, kept, value);

	*value = step_mapped(step, *value);
	return fate;
}

static void filter_map_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, filter_map_expected_one);
}

static struct weir_flow *filter_map_make(struct weir_flow *up,
					 struct step *step)
{
	return of_items(weir_flow_filter_map(up, filter_map_one, step), step);
}

static int key_one(void *item, uintptr_t *key, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item);

	if (step_fails(step, value))
		return -EDOM;
	*key = (uintptr_t)(value / step->x);
	return 0;
}

static enum fate_of distinct_expected_one(const struct step *step,
					  struct kept *kept, intptr_t *value)
{
	intptr_t key = *value / step->x;
	bool same = kept->is_there && kept->value == key;

	if (step_fails(step, *value))
		return FAILS;
	*kept = (struct kept){.value = key, .is_there = true};
	return same ? LEFT_OUT : GOES;
}

static void distinct_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, distinct_expected_one);
}

static struct weir_flow *distinct_make(struct weir_flow *up, struct step *step)
{
	bool plain = step->x == 1 && !step->takes_items && !step->fail;

	return weir_flow_distinct_until_changed(up, plain ? NULL : key_one,
						step);
}

static struct weir_flow *distinct_all_make(struct weir_flow *up,
					   struct step *step)
{
	return weir_flow_distinct(up, (size_t)step->n + 1, key_one, step, NULL);
}

static enum fate_of distinct_all_expected_one(const struct step *step,
					      struct kept *kept,
					      intptr_t *value)
{
	static intptr_t keys[LONG];
	intptr_t key = *value / step->x;
	int64_t i = kept->n;

	if (step_fails(step, *value))
		return FAILS;
	while (i > 0 && kept->n - i <= step->n)
		if (keys[--i] == key)
			return LEFT_OUT;
	keys[kept->n++] = key;
	return GOES;
}

static void distinct_all_expected(const struct step *step,
				  struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, distinct_all_expected_one);
}

/* --- The first, the rest -------------------------------------------------- */

/* From 0 on. */
static size_t n_first_ones(const struct step *step)
{
	return step->n > 0 ? (size_t)step->n - 1 : 0;
}

static struct weir_flow *take_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_take(up, n_first_ones(step));
}

static void take_expected(const struct step *step, struct stream *stream)
{
	size_t n = n_first_ones(step);

	if (stream->n < n)
		return;
	stream->n = n;
	stream->code = 0;
}

static struct weir_flow *first_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_first(up);
}

static void first_expected(const struct step *step, struct stream *stream)
{
	if (stream->n == 0)
		return;
	stream->n = 1;
	stream->code = 0;
}

static struct weir_flow *drop_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_drop(up, n_first_ones(step));
}

static void drop_expected(const struct step *step, struct stream *stream)
{
	size_t n = n_first_ones(step);

	if (n > stream->n)
		n = stream->n;
	stream->n -= n;
	memmove(stream->values, stream->values + n,
		stream->n * sizeof(*stream->values));
}

static struct weir_flow *limit_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_limit(up, step->n);
}

static void limit_expected(const struct step *step, struct stream *stream)
{
	if (stream->n <= (size_t)step->n)
		return;
	stream->n = (size_t)step->n;
	stream->code = -EMSGSIZE;
}

static uint64_t weight_one(void *item, void *context)
{
	return (uint64_t)step_value(context, item) % 5;
}

static struct weir_flow *limit_weighted_make(struct weir_flow *up,
					     struct step *step)
{
	return weir_flow_limit_weighted(up, 3 * (uint64_t)step->n, weight_one,
					step);
}

static void limit_weighted_expected(const struct step *step,
				    struct stream *stream)
{
	int64_t weight = 0;
	size_t i;

	for (i = 0; i < stream->n; i++) {
		weight += stream->values[i] % 5;
		if (weight <= 3 * step->n)
			continue;
		stream->n = i;
		stream->code = -EMSGSIZE;
	}
}

static struct weir_flow *take_last_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_take_last(up, n_first_ones(step));
}

static void take_last_expected(const struct step *step, struct stream *stream)
{
	size_t n = n_first_ones(step);

	if (stream->code < 0 || n > stream->n)
		n = stream->code < 0 ? 0 : stream->n;
	memmove(stream->values, stream->values + stream->n - n,
		n * sizeof(*stream->values));
	stream->n = n;
}

static struct weir_flow *drop_last_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_drop_last(up, n_first_ones(step));
}

static void drop_last_expected(const struct step *step, struct stream *stream)
{
	size_t n = n_first_ones(step);

	stream->n -= n < stream->n ? n : stream->n;
}

/* The inclusive one, or not. */
static bool inclusive(const struct step *step)
{
	return step->y % 2;
}

static struct weir_flow *take_while_make(struct weir_flow *up,
					 struct step *step)
{
	return weir_flow_take_while(up, ask_one, step, inclusive(step));
}

static enum fate_of take_while_expected_one(const struct step *step,
					    struct kept *kept, intptr_t *value)
{
	enum fate_of fate = filter_expected_one(step, kept, value);

	if (fate == LEFT_OUT)
		return inclusive(step) ? GOES_LAST : ENDS;
	return fate;
}

static void take_while_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, take_while_expected_one);
}

static struct weir_flow *drop_while_make(struct weir_flow *up,
					 struct step *step)
{
	return weir_flow_drop_while(up, ask_one, step);
}

static enum fate_of drop_while_expected_one(const struct step *step,
					    struct kept *kept, intptr_t *value)
{
	enum fate_of fate = GOES;

	if (kept->is_there)
		return GOES;
	fate = filter_expected_one(step, kept, value);
	if (fate == FAILS)
		return FAILS;
	kept->is_there = fate == LEFT_OUT;
	return kept->is_there ? GOES : LEFT_OUT;
}

static void drop_while_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, drop_while_expected_one);
}

/* --- Several for one, and state ------------------------------------------- */

/* So many of an item, of which the second may fail. */
#define EXPAND_MAX 3

static int expand_next(void *item, uint64_t i, void **out, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item);

	if (i == 1 && step_fails(step, value))
		return -EDOM;
	if ((intptr_t)i == value % (EXPAND_MAX + 1))
		return 0;
	*out = step_made(step, (value + (intptr_t)i) % VALUES);
	/* some say with their last item that it is the last */
	return i == 1 && value % (2 * (EXPAND_MAX + 1)) == 2 ? WEIR_NEXT_LAST
							     : 1;
}

static struct weir_flow *expand_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_map_concat(up, expand_next, step), step);
}

static void expand_expected(const struct step *step, struct stream *stream)
{
	static struct stream in;
	struct kept kept = {0};
	intptr_t value, j;
	size_t i;

	in = *stream;
	stream->n = 0;
	for (i = 0; i < in.n; i++) {
		value = in.values[i];
		for (j = 0; j < value % (EXPAND_MAX + 1); j++) {
			if (j == 1 && step_fails(step, value))
				break;
			stream_add(stream, (value + j) % VALUES);
		}
		if (j == 1 && step_fails(step, value) &&
		    !survives(step, stream, &kept))
			return;
	}
}

int state_create(void **state, void *context)
{
	*state = item_new(0);
	return 0;
}

int state_step(void **state, void **item, void *context)
{
	const struct step *step = context;
	intptr_t *seen = &((struct item *)*state)->value;
	intptr_t value = step_value(step, *item);

	if (step_fails(step, value))
		return -EDOM;
	if (++*seen % (step->x + 1) == 0) {
		drop_taken(step, *item);
		return 0;
	}
	step_replace(step, item, (value + *seen) % VALUES);
	return 1;
}

int state_flush(void **state, void **item, void *context)
{
	intptr_t *seen = &((struct item *)*state)->value;

	if (*seen % 4 == 0)
		return 0;
	*item = step_made(context, (*seen)-- % VALUES);
	return 1;
}

void state_destroy(void *state, void *context)
{
	item_drop(state, NULL);
}

static struct weir_flow *stateful_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_flow_stateful_map_functions functions = {
		state_create,
		state_step,
		state_flush,
		state_destroy,
	};

	return of_items(weir_flow_stateful_map(up, &functions, step), step);
}

static enum fate_of stateful_expected_one(const struct step *step,
					  struct kept *kept, intptr_t *value)
{
	if (step_fails(step, *value))
		return FAILS;
	if (++kept->n % (step->x + 1) == 0)
		return LEFT_OUT;
	*value = (*value + kept->n) % VALUES;
	return GOES;
}

static void stateful_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, stateful_expected_one);
	for (; stream->code == 0 && kept.n % 4 != 0; kept.n--)
		stream_add(stream, kept.n % VALUES);
}

static int put_x(void **item, void *context)
{
	const struct step *step = context;

	*item = step_made(step, step->x);
	return 0;
}

static int put_y(void **item, void *context)
{
	const struct step *step = context;

	*item = step_made(step, step->y);
	return 0;
}

static struct weir_flow *intersperse_make(struct weir_flow *up,
					  struct step *step)
{
	const struct weir_flow_intersperse_functions functions = {
		.start = step->n % 2 ? put_x : NULL,
		.between = put_y,
		.end = step->n % 3 ? put_x : NULL,
	};

	return weir_flow_intersperse(up, &functions, step);
}

static void intersperse_expected(const struct step *step, struct stream *stream)
{
	static struct stream in;
	size_t i;

	in = *stream;
	stream->n = 0;
	if (step->n % 2 && (in.n > 0 || in.code == 0))
		stream_add(stream, step->x);
	for (i = 0; i < in.n; i++) {
		if (i > 0)
			stream_add(stream, step->y);
		stream_add(stream, in.values[i]);
	}
	if (step->n % 3 && in.code == 0)
		stream_add(stream, step->x);
}

/* --- There and back ------------------------------------------------------- */

static struct weir_flow *signals_make(struct weir_flow *up, struct step *step)
{
	up = weir_flow_dematerialize(weir_flow_materialize(up));
	return of_items(up, step);
}

/* --- Looking on ----------------------------------------------------------- */

static void peek_started(void *context)
{
	((struct step *)context)->started++;
}

static void peek_end(void *context)
{
	((struct step *)context)->ends++;
}

static void peek_failed(struct weir_error *error, void *context)
{
	peek_end(context);
}

static void peek_ended(void *context)
{
	struct step *step = context;

	assert_int_equal(step->ends, 1);
	step->ended++;
}

static struct weir_flow *peek_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_flow_peek_functions hooks = {
		.started = peek_started,
		.completed = peek_end,
		.failed = peek_failed,
		.cancelled = peek_end,
		.ended = peek_ended,
	};

	return weir_flow_peek(up, &hooks, step);
}

static void same_expected(const struct step *step, struct stream *stream)
{
}

const struct row random_operators[] = {
	{"map", 1, true, EITHER, map_make, map_expected},
	{"map_n", 1, true, EITHER, map_n_make, map_expected},
	{"index", 1, true, EITHER, index_make, index_expected},
	{"filter", 1, true, SAME, filter_make, filter_expected},
	{"filter_map", 1, true, SAME, filter_map_make, filter_map_expected},
	{"distinct_until_changed", 1, true, SAME, distinct_make,
	 distinct_expected},
	{"distinct", 1, true, SAME, distinct_all_make, distinct_all_expected},
	{"take", 1, false, SAME, take_make, take_expected},
	{"first", 1, false, SAME, first_make, first_expected},
	{"drop", 1, false, SAME, drop_make, drop_expected},
	{"limit", 1, false, SAME, limit_make, limit_expected},
	{"limit_weighted", 1, false, SAME, limit_weighted_make,
	 limit_weighted_expected},
	{"take_last", 1, false, SAME, take_last_make, take_last_expected},
	{"drop_last", 1, false, SAME, drop_last_make, drop_last_expected},
	{"take_while", 1, true, SAME, take_while_make, take_while_expected},
	{"drop_while", 1, true, SAME, drop_while_make, drop_while_expected},
	{"map_concat", EXPAND_MAX, true, EITHER, expand_make, expand_expected},
	{"stateful_map", 4, true, SAME, stateful_make, stateful_expected},
	{"intersperse", 4, false, SAME, intersperse_make, intersperse_expected},
	{"operator", 4, true, SAME, operator_make, stateful_expected},
	{"operator_inputs", 2, false, SAME, operator_inputs_make,
	 concat_expected},
	{"materialize, dematerialize", 1, false, SAME, signals_make,
	 same_expected},
	{"peek", 1, false, SAME, peek_make, same_expected},
	{"scan", 2, true, EITHER, scan_make, scan_expected},
	{"fold", 1, true, EITHER, fold_make, fold_expected},
	{"fold_n", 1, true, NUMBERS, fold_n_make, fold_n_expected},
	{"reduce", 1, true, SAME, reduce_make, reduce_expected},
	{"last", 1, false, SAME, last_make, last_expected},
	{"count", 1, false, NUMBERS, count_make, count_expected},
	{"collect", 1, false, NUMBERS, collect_make, collect_expected},
	{"ignore", 1, false, SAME, ignore_make, ignore_expected},
	{"buffer", 1, false, SAME, buffer_make, same_expected},
	{"lossy buffer", 1, false, SAME, lossy_make, loose_expected},
	{"limit_rate", 1, false, SAME, demand_make, same_expected},
	{"conflate", 1, false, NUMBERS, conflate_make, conflate_expected},
	{"batch", 1, false, NUMBERS, batch_make, conflate_expected},
	{"grouped", 1, false, NUMBERS, grouped_make, grouped_expected},
	{"grouped_within", 1, false, NUMBERS, within_make, loose_expected,
	 true},
	{"grouped_weighted", 1, false, NUMBERS, weighted_make,
	 weighted_expected},
	{"grouped_up_to", 1, false, NUMBERS, up_to_make, up_to_expected},
	{"sliding", 1, false, NUMBERS, sliding_make, sliding_expected},
	{"throttle", 1, false, SAME, throttle_make, same_expected},
	{"debounce and samples", 1, false, SAME, sample_make, loose_expected},
	{"take_within, drop_within, initial_delay", 1, false, SAME,
	 within_time_make, loose_expected},
	{"keep_alive", 1, false, SAME, keep_alive_make, loose_expected, true},
	{"extrapolate", 3, false, SAME, extrapolate_make, loose_expected},
	{"delay", 1, false, SAME, delay_make, delay_expected},
	{"delay_with", 1, true, SAME, delay_with_make, delay_with_expected},
	{"delay_until", 1, true, SAME, delay_until_make, until_expected},
	{"lossy delay", 1, false, SAME, lossy_delay_make, loose_expected},
	{"timeouts", 1, false, SAME, timeouts_make, loose_expected},
	{"prepend", 2, false, SAME, prepend_make, prepend_expected},
	{"concat", 2, false, SAME, concat_make, concat_expected},
	{"concat that delays errors", 2, false, SAME, concat_delayed_make,
	 concat_delayed_expected},
	{"or_else", 2, false, SAME, or_else_make, or_else_expected},
	{"merge", 1, false, SAME, merge_make, same_expected},
	{"merge_eager", 1, false, SAME, merge_eager_make, merge_eager_expected},
	{"zip", 1, true, EITHER, zip_make, zip_expected},
	{"zip_all", 2, true, EITHER, zip_all_make, zip_all_expected},
	{"combine_latest", 1, true, EITHER, latest_make, latest_expected},
	{"with_latest_from", 1, true, EITHER, with_make, latest_expected},
	{"join", 1, true, EITHER, join_make, join_expected},
	{"group_join", 1, true, EITHER, group_join_make, join_expected},
	{"interleave", 2, false, SAME, interleave_make, interleave_expected,
	 false, false, true},
	{"merge_sorted", 2, false, SAME, sorted_make, sorted_expected},
	{"partition, merge_sequence", 1, false, SAME, sequence_make,
	 sequence_expected, false, true},
	{"merge_prioritized", 2, false, SAME, prioritized_make, loose_expected},
	{"amb", 1, false, SAME, amb_make, merge_eager_expected},
	{"take_until", 1, false, SAME, until_make, merge_eager_expected},
	{"skip_until", 1, false, SAME, skip_make, loose_expected},
	{"broadcast and zip", 1, true, EITHER, broadcast_make,
	 broadcast_expected, false, true},
	{"also_to", 1, false, SAME, also_to_make, same_expected, false, true},
	{"wire_tap", 1, false, SAME, wire_tap_make, same_expected, false, true},
	{"then", 1, false, SAME, then_make, same_expected},
	{"partition and merge", 1, false, SAME, partition_make,
	 partition_expected, false, true},
	{"balance and merge", 1, false, SAME, balance_make, loose_expected,
	 false, true},
	{"operator_outlets and merge", 1, false, SAME, outlets_make,
	 partition_expected, false, true},
	{"operator_outlets that deals", 1, false, SAME, dealer_make,
	 loose_expected, false, true},
	{"flat_map", NESTED_MAX, true, EITHER, flat_map_make,
	 flat_map_expected},
	{"flat_map of many", NESTED_MAX, true, EITHER, flat_map_many_make,
	 nested_expected},
	{"flat_map_ordered", NESTED_MAX, true, EITHER, ordered_make,
	 ordered_expected},
	{"switch_map", NESTED_MAX, true, EITHER, switch_map_make,
	 nested_expected},
	{"map_parallel", 1, true, EITHER, parallel_make, parallel_expected},
	{"map_parallel_partitioned", 1, true, EITHER, partitioned_make,
	 parallel_expected},
	{"map_parallel unordered", 1, true, EITHER, unordered_make,
	 unordered_expected},
	{"recover", 2, false, SAME, recover_make, recover_expected, false,
	 false, true},
	{"map_error", 1, false, SAME, map_error_make, map_error_expected, false,
	 false, true},
	{"complete_on_error", 1, false, SAME, complete_make, complete_expected,
	 false, false, true},
	{"resume_with", 2, false, SAME, resume_make, resume_expected, false,
	 false, true},
	{"retry", 4, false, SAME, retry_make, retry_expected, false, false,
	 true},
	{"group_by", 1, true, EITHER, group_by_make, group_by_expected},
	{"split_when", 1, true, EITHER, split_when_make, split_when_expected},
	{"split_after", 1, true, EITHER, split_after_make,
	 split_after_expected},
	{"window", 1, true, EITHER, window_make, window_expected},
	{"window by time", 1, false, SAME, window_time_make, same_expected},
	{"window_by", 1, false, SAME, window_by_make, same_expected},
	{"prefix_and_tail", 1, true, EITHER, prefix_make, prefix_expected},
	{"restart_around", 1, true, EITHER, around_make, around_expected, false,
	 false, true},
	{"kill_switch", 1, false, SAME, switch_make, same_expected},
	{"from_publisher", 1, false, SAME, publisher_make, publisher_expected,
	 false, true},
	{"acquire", 1, false, SAME, acquire_make, same_expected},
	{"graph of broadcast and zip", 1, true, EITHER, diamond_make,
	 broadcast_expected, false, true},
	{"lines, length_prefixed, length_field, json_objects", 1, false, SAME,
	 frames_make, same_expected},
};

const size_t n_random_operators = sizeof(random_operators) /
				  sizeof(*random_operators);
