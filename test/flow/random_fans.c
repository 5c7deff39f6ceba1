/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_fans.h"

#include "flow/random_kinds.h"

/* An error waits for the other parts. */
static bool delays(const struct step *step)
{
	return step->y % 3 == 0;
}

static struct weir_flow *maybe_delays(struct weir_flow *flow, struct step *step)
{
	step->delays = delays(step);
	return step->delays ? weir_flow_delay_errors(flow, NULL, NULL) : flow;
}

/* --- Beside another flow -------------------------------------------------- */

struct weir_flow *other_numbers(const struct step *step)
{
	struct weir_flow *flow =
		weir_flow_range(step->y, step->y + step->n - 1);

	return step->takes_items ? counted(flow) : flow;
}

void add_other_numbers(const struct step *step, struct stream *stream,
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

struct weir_flow *prepend_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_prepend(up, other_numbers(step));
}

void prepend_expected(const struct step *step, struct stream *stream)
{
	add_other_numbers(step, stream, 0);
}

struct weir_flow *concat_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {up, other_numbers(step)};

	if (step->y % 2)
		flows[1] = weir_flow_lazy(flows[1]);
	return weir_flow_concat(flows, 2);
}

struct weir_flow *concat_delayed_make(struct weir_flow *up, struct step *step)
{
	step->delays = true;
	return weir_flow_delay_errors(concat_make(up, step), NULL, NULL);
}

void concat_delayed_expected(const struct step *step, struct stream *stream)
{
	add_other_numbers(step, stream, stream->n);
}

void concat_expected(const struct step *step, struct stream *stream)
{
	if (stream->code == 0)
		add_other_numbers(step, stream, stream->n);
}

struct weir_flow *or_else_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_or_else(up, other_numbers(step));
}

void or_else_expected(const struct step *step, struct stream *stream)
{
	if (stream->n == 0)
		concat_expected(step, stream);
}

struct weir_flow *merge_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *nothing = weir_flow_items(
		weir_flow_empty(), step->takes_items ? &counted_items : NULL);
	struct weir_flow *flows[] = {step->y % 2 ? up : nothing,
				     step->y % 2 ? nothing : up};

	return maybe_delays(step->x % 2 ? weir_flow_merge(flows, 2)
					: weir_flow_merge_preferred(flows, 2),
			    step);
}

struct weir_flow *merge_eager_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *nothing = weir_flow_items(
		weir_flow_never(), step->takes_items ? &counted_items : NULL);
	struct weir_flow *flows[] = {up, nothing};

	return weir_flow_merge_eager(flows, 2);
}

void merge_eager_expected(const struct step *step, struct stream *stream)
{
	stream->loose = stream->loose || stream->cut;
}

/* --- zip ------------------------------------------------------------------ */

int zip_combine(void *const *items, size_t n, void **result, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, items[0]);

	if (step_fails(step, value))
		return -EDOM;
	value = (value * step->x + step_value(step, items[1])) % VALUES;
	drop_taken(step, items[0]);
	drop_taken(step, items[1]);
	*result = step_made(step, value);
	return 0;
}

struct weir_flow *zip_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {up, other_numbers(step)};

	return of_items(weir_flow_zip(flows, 2, zip_combine, step), step);
}

static bool has_failing(const struct step *step, const struct stream *stream)
{
	size_t i;

	for (i = 0; i < stream->n; i++)
		if (step_fails(step, stream->values[i]))
			return true;
	return false;
}

void zip_expected(const struct step *step, struct stream *stream)
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
		if (!step_fails(step, stream->values[i]))
			stream_add(stream, (stream->values[i] * step->x +
					    step->y + (intptr_t)i) %
						   VALUES);
		else if (!survives(step, stream, &kept))
			return;
}

/* The padding, NULL, is no item, and counts as 0. */
static int zip_all_combine(void *const *items, size_t n, void **result,
			   void *context)
{
	const struct step *step = context;
	intptr_t values[2] = {0};
	size_t i;

	for (i = 0; i < 2; i++)
		if (items[i])
			values[i] = step_value(step, items[i]);
	if (step_fails(step, values[0]))
		return -EDOM;
	for (i = 0; i < 2; i++)
		if (items[i])
			drop_taken(step, items[i]);
	*result = step_made(step, (values[0] * step->x + values[1]) % VALUES);
	return 0;
}

struct weir_flow *zip_all_make(struct weir_flow *up, struct step *step)
{
	static void *const padding[2];
	struct weir_flow *flows[] = {up, other_numbers(step)};

	up = weir_flow_zip_all(flows, 2, padding, zip_all_combine, step);
	return of_items(maybe_delays(up, step), step);
}

void zip_all_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};
	size_t n = stream->n, n_other = (size_t)step->n, i;
	bool ends = stream->code == 0 || delays(step);
	size_t most = ends && n < n_other ? n_other : n;
	intptr_t value;

	if (!has_room(stream, most - n))
		return;
	stream->loose = stream->loose || stream->cut;
	stream->n = 0;
	for (i = 0; i < most; i++) {
		value = i < n ? stream->values[i] : 0;
		if (!step_fails(step, value))
			stream_add(stream,
				   (value * step->x +
				    (i < n_other ? step->y + (intptr_t)i : 0)) %
					   VALUES);
		else if (!survives(step, stream, &kept))
			return;
	}
}

/* --- The newest ----------------------------------------------------------- */

static int combine_newest(void *const *items, size_t n, void **result,
			  void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, items[0]);

	if (step_fails(step, value))
		return -EDOM;
	value = (value * step->x + step_value(step, items[1])) % VALUES;
	*result = step_made(step, value);
	return 0;
}

/* One item, which stays the newest. */
static struct weir_flow *one_other(const struct step *step)
{
	struct weir_flow *flow = weir_flow_range(step->y, step->y);

	return step->takes_items ? counted(flow) : flow;
}

struct weir_flow *latest_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {up, one_other(step)};

	return of_items(
		weir_flow_combine_latest(flows, 2, combine_newest, step), step);
}

static enum fate_of latest_expected_one(const struct step *step,
					struct kept *kept, intptr_t *value)
{
	if (step_fails(step, *value))
		return FAILS;
	*value = step_mapped(step, *value);
	return GOES;
}

/* What comes before the other's item is left out. */
void latest_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream->loose = true;
	stream_each(step, stream, &kept, latest_expected_one);
}

static int with_newest(void **item, void *newest, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, *item);

	if (step_fails(step, value))
		return -EDOM;
	value = (value * step->x + step_value(step, newest)) % VALUES;
	step_replace(step, item, value);
	return 0;
}

struct weir_flow *with_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_with_latest_from(up, one_other(step),
						   with_newest, step),
			step);
}

static int join_pair(void *left, void *right, void **result, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, left);

	if (step_fails(step, value))
		return -EDOM;
	if (!step_wants(step, value))
		return 0;
	value = (value * step->x + step_value(step, right)) % VALUES;
	*result = step_made(step, value);
	return 1;
}

struct weir_flow *join_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_flow_join_options options = {
		.left_ns = WEIR_FOREVER,
		.right_ns = WEIR_FOREVER,
		.left_max = LONG,
		.right_max = 1,
	};

	up = weir_flow_join(up, one_other(step), join_pair, step, &options);
	return of_items(up, step);
}

static enum fate_of join_expected_one(const struct step *step,
				      struct kept *kept, intptr_t *value)
{
	if (step_fails(step, *value))
		return FAILS;
	if (!step_wants(step, *value))
		return LEFT_OUT;
	*value = step_mapped(step, *value);
	return GOES;
}

/* Whenever the other's item comes, it meets all. But an error of the flow is
 * not behind that, and a cut may end the other before it. */
void join_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream->loose = stream->loose || stream->cut || stream->code < 0;
	stream_each(step, stream, &kept, join_expected_one);
	stream->loose = stream->loose || stream->code < 0;
}

static int join_met(void *left, void *const *rights, size_t n, void **result,
		    void *context)
{
	return n > 0 ? join_pair(left, rights[0], result, context) : 0;
}

struct weir_flow *group_join_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_flow_join_options options = {
		.left_ns = WEIR_FOREVER,
		.right_ns = WEIR_FOREVER,
		.left_max = LONG,
		.right_max = 1,
	};

	up = weir_flow_group_join(up, one_other(step), join_met, step,
				  &options);
	return of_items(up, step);
}

/* --- In an order of their own --------------------------------------------- */

/* What comes out of one of two that are put together. */
static void put_next(struct stream *stream, const struct stream *in, size_t *at)
{
	stream_add(stream, in->values[(*at)++]);
}

struct weir_flow *interleave_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {up, other_numbers(step)};

	return maybe_delays(weir_flow_interleave(flows, 2, (size_t)step->x),
			    step);
}

/* An error does not wait for its turn, unless it is delayed. */
void interleave_expected(const struct step *step, struct stream *stream)
{
	static struct stream in, other;
	size_t i = 0, j = 0, k;

	in = *stream;
	other.n = stream->n = 0;
	other.too_long = false;
	add_other_numbers(step, &other, 0);
	stream->loose = in.loose || in.cut || (in.code < 0 && !delays(step));
	while (i < in.n || j < other.n) {
		for (k = 0; k < (size_t)step->x && i < in.n; k++)
			put_next(stream, &in, &i);
		for (k = 0; k < (size_t)step->x && j < other.n; k++)
			put_next(stream, &other, &j);
	}
}

static int compare(void *a, void *b, void *context)
{
	const struct step *step = context;

	return (int)(step_value(step, a) - step_value(step, b));
}

struct weir_flow *sorted_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {up, other_numbers(step)};

	return maybe_delays(weir_flow_merge_sorted(flows, 2, compare, step),
			    step);
}

/* They need not be in order. An error waits for the items before it. */
void sorted_expected(const struct step *step, struct stream *stream)
{
	static struct stream in, other;
	size_t i = 0, j = 0;

	in = *stream;
	other.n = stream->n = 0;
	other.too_long = false;
	add_other_numbers(step, &other, 0);
	stream->loose = in.loose || in.cut;
	while (i < in.n || (j < other.n && (in.code == 0 || delays(step)))) {
		if (j == other.n ||
		    (i < in.n && in.values[i] <= other.values[j]))
			put_next(stream, &in, &i);
		else
			put_next(stream, &other, &j);
	}
}

struct weir_flow *prioritized_make(struct weir_flow *up, struct step *step)
{
	static const uint32_t weights[] = {3, 1};
	struct weir_flow *flows[] = {up, other_numbers(step)};

	return weir_flow_merge_prioritized(flows, 2, weights);
}

struct weir_flow *amb_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *flows[] = {weir_flow_never(), up};

	return weir_flow_amb(flows, 2);
}

/* --- Until another -------------------------------------------------------- */

struct weir_flow *until_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_take_until(up, weir_flow_never());
}

/* Some are left out if the other is late. */
struct weir_flow *skip_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_skip_until(up, other_numbers(step));
}

/* --- Apart, and together again -------------------------------------------- */

static struct weir_flow *ignore_beside(struct weir_flow *up, void *context)
{
	return weir_flow_ignore(up);
}

struct weir_flow *also_to_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_also_to(up, ignore_beside, step, 4);
}

struct weir_flow *wire_tap_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_wire_tap(up, ignore_beside, step, 4);
}

struct weir_flow *then_make(struct weir_flow *up, struct step *step)
{
	return weir_flow_then(weir_flow_range(1, step->n), up);
}

struct weir_flow *broadcast_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *outlets[2];

	(void)weir_flow_broadcast(up, 2, outlets, NULL);
	return of_items(weir_flow_zip(outlets, 2, zip_combine, step), step);
}

static enum fate_of broadcast_expected_one(const struct step *step,
					   struct kept *kept, intptr_t *value)
{
	if (step_fails(step, *value))
		return FAILS;
	*value = (*value * step->x + *value) % VALUES;
	return GOES;
}

void broadcast_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	stream_each(step, stream, &kept, broadcast_expected_one);
}

/* All that are wanted the same way. */
static int choose(void *item, size_t *outlet, void *context)
{
	const struct step *step = context;

	*outlet = (size_t)step->y % 2;
	return !step_wants(step, step_value(step, item));
}

struct weir_flow *partition_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow_fan_options options = {.queue = (size_t)step->n};
	struct weir_flow *outlets[2];

	(void)weir_flow_partition(up, 2, choose, step, outlets, &options);
	return weir_flow_merge(outlets, 2);
}

static enum fate_of partition_expected_one(const struct step *step,
					   struct kept *kept, intptr_t *value)
{
	return step_wants(step, *value) ? GOES : LEFT_OUT;
}

void partition_expected(const struct step *step, struct stream *stream)
{
	struct kept kept = {0};

	if (stream->code < 0)
		stream->loose = true;
	stream_each(step, stream, &kept, partition_expected_one);
}

/* Of values below that, with their numbers in front. */
#define NUMBERED 4096

static int put_number(void **item, uint64_t index, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, *item);

	assert_true(value >= 0 && value < NUMBERED);
	step_replace(step, item, (intptr_t)index * NUMBERED + value);
	return 0;
}

static int take_number(void **item, void *context)
{
	const struct step *step = context;

	step_replace(step, item, step_value(step, *item) % NUMBERED);
	return 0;
}

static uint64_t number_of(void *item, void *context)
{
	return (uint64_t)(step_value(context, item) / NUMBERED);
}

static int by_value(void *item, size_t *outlet, void *context)
{
	const struct step *step = context;

	*outlet = (size_t)(step_value(step, item) % NUMBERED % step->x) % 2;
	return 0;
}

struct weir_flow *sequence_make(struct weir_flow *up, struct step *step)
{
	struct weir_flow *outlets[2];

	up = of_items(weir_flow_index(up, put_number, step), step);
	(void)weir_flow_partition(up, 2, by_value, step, outlets, NULL);
	up = weir_flow_merge_sequence(outlets, 2, number_of, step);
	return of_items(weir_flow_map(up, take_number, step), step);
}

void sequence_expected(const struct step *step, struct stream *stream)
{
	if (stream->code < 0)
		stream->loose = true;
}

struct weir_flow *balance_make(struct weir_flow *up, struct step *step)
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

/* Asks for the outlet that all go to. */
static int chosen_pull(struct weir_operator *op)
{
	const struct step *step = weir_operator_context(op);

	return weir_operator_outlet(op) == (size_t)step->y % 2
		       ? weir_operator_pull(op)
		       : 0;
}

static int chosen_push(struct weir_operator *op, void *item)
{
	const struct step *step = weir_operator_context(op);

	if (step_wants(step, step_value(step, item)))
		return weir_operator_push_outlet(op, (size_t)step->y % 2, item);
	weir_operator_drop(op, item);
	return weir_operator_pull(op);
}

struct weir_flow *outlets_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_operator_ops ops = {
		.on_pull = chosen_pull,
		.on_push = chosen_push,
	};
	struct weir_flow *outlets[2];
	size_t i;

	(void)weir_flow_operator_outlets(&up, 1, &ops, step, 2, outlets, NULL);
	for (i = 0; i < 2; i++)
		outlets[i] = of_items(outlets[i], step);
	return weir_flow_merge(outlets, 2);
}

struct weir_flow *dealer_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_operator_ops ops = {.name = "dealer"};
	struct weir_flow *outlets[3];
	size_t i;

	(void)weir_flow_operator_outlets(&up, 1, &ops, NULL, 3, outlets, NULL);
	for (i = 0; i < 3; i++)
		outlets[i] = of_items(outlets[i], step);
	outlets[1] = weir_flow_limit_rate(outlets[1], (size_t)step->x, 0);
	return weir_flow_merge(outlets, 3);
}

/* --- Several at once ------------------------------------------------------ */

static struct weir_flow *nest_one(void *item, void *context)
{
	const struct step *step = context;
	intptr_t value = step_value(step, item);
	struct weir_flow *flow;

	drop_taken(step, item);
	if (step_fails(step, value))
		return weir__flow_failed(-EDOM, "test", "no flow of that");
	flow = weir_flow_range(value, value + value % (NESTED_MAX + 1) - 1);
	return step->puts_items ? counted(flow) : flow;
}

struct weir_flow *flat_map_make(struct weir_flow *up, struct step *step)
{
	up = weir_flow_flat_map(up, 1, nest_one, step);
	return of_items(maybe_delays(up, step), step);
}

void flat_map_expected(const struct step *step, struct stream *stream)
{
	static struct stream in;
	struct kept kept = {0};
	intptr_t value, j;
	size_t i;

	in = *stream;
	stream->n = 0;
	/* of two errors that wait, the first to come: from upstream, perhaps,
	 * before the item that fails is asked for */
	stream->loose =
		stream->loose || stream->cut ||
		(stream->code < 0 && (!delays(step) || has_failing(step, &in)));
	for (i = 0; i < in.n; i++) {
		value = in.values[i];
		if (step_fails(step, value) && !survives(step, stream, &kept))
			return;
		for (j = 0;
		     !step_fails(step, value) && j < value % (NESTED_MAX + 1);
		     j++)
			stream_add(stream, value + j);
	}
}

struct weir_flow *ordered_make(struct weir_flow *up, struct step *step)
{
	up = weir_flow_flat_map_ordered(up, (size_t)step->x + 1,
					(size_t)step->n + 1, nest_one, step);
	return of_items(maybe_delays(up, step), step);
}

/* A failure does not wait for the items before it, unless it is delayed. */
void ordered_expected(const struct step *step, struct stream *stream)
{
	bool waits = delays(step) && step->decided != WEIR_DIRECTIVE_RESTART;
	bool loose =
		stream->loose || stream->cut ||
		(has_failing(step, stream) && (!waits || stream->code < 0));

	flat_map_expected(step, stream);
	stream->loose = loose;
}

struct weir_flow *flat_map_many_make(struct weir_flow *up, struct step *step)
{
	up = weir_flow_flat_map(up, (size_t)step->x + 1, nest_one, step);
	return of_items(maybe_delays(up, step), step);
}

struct weir_flow *switch_map_make(struct weir_flow *up, struct step *step)
{
	up = weir_flow_switch_map(up, nest_one, step);
	return of_items(maybe_delays(up, step), step);
}

void nested_expected(const struct step *step, struct stream *stream)
{
	flat_map_expected(step, stream);
	stream->loose = true;
}

struct weir_flow *parallel_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_map_parallel(up, (size_t)step->x,
					       WEIR_ORDER_KEPT, map_one, step,
					       NULL),
			step);
}

static int key_of_value(void *item, uintptr_t *key, void *context)
{
	const struct step *step = context;

	*key = (uintptr_t)(step_value(step, item) / step->x);
	return 0;
}

struct weir_flow *partitioned_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_map_parallel_partitioned(
				up, (size_t)step->n + 1, key_of_value, NULL,
				map_one, step, NULL),
			step);
}

void parallel_expected(const struct step *step, struct stream *stream)
{
	if (step->decided != WEIR_DIRECTIVE_RESUME &&
	    step->decided != WEIR_DIRECTIVE_RESTART &&
	    has_failing(step, stream))
		stream->loose = true;
	map_expected(step, stream);
}

struct weir_flow *unordered_make(struct weir_flow *up, struct step *step)
{
	return of_items(weir_flow_map_parallel(up, (size_t)step->x,
					       WEIR_ORDER_ANY, map_one, step,
					       NULL),
			step);
}

void unordered_expected(const struct step *step, struct stream *stream)
{
	map_expected(step, stream);
	stream->loose = true;
}

/* --- Switches ------------------------------------------------------------- */

struct weir_flow *switch_make(struct weir_flow *up, struct step *step)
{
	/* without memory: no flow with it either */
	(void)!weir_flow_switch_new(&step->swtch);
	return weir_flow_kill_switch(up, step->swtch);
}
