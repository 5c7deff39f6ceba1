/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that emit at most one item for each item that they take. */
#include <weir/flow_element.h>

#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/element_each.h"

/* --- map ------------------------------------------------------------------ */

struct map {
	int (*map)(void **item, void *context);
	void *context;
};

/*
 * items[from] could not be mapped: it is dropped. If the operator goes on, the
 * others move up; else they are dropped, too.
 */
static size_t map_failed(struct weir__op *op, void **items, size_t from,
			 size_t n, int code)
{
	weir__op_drop_one(op->up[0], items[from]);
	if (weir__op_survives(op, code)) {
		for (; from + 1 < n; from++)
			items[from] = items[from + 1];
		return n - 1;
	}
	weir__op_drop(op->up[0], items + from + 1, n - from - 1);
	return from;
}

/* items[i] could not be mapped, those before it are: goes on behind it. */
static __attribute__((noinline)) size_t map_rest(struct weir__op *op,
						 void **items, size_t i,
						 size_t n, int rc)
{
	const struct map *args = weir__op_args(op);

	while (rc != 0) {
		n = map_failed(op, items, i, n, rc);
		for (rc = 0; i < n && rc == 0; i += rc == 0)
			rc = args->map(items + i, args->context);
	}
	return n;
}

/*
 * Four items at a time: with short calls, each branch that is taken costs as
 * much as a call.
 */
static size_t map_apply(struct weir__op *op, void **items, size_t n)
{
	const struct map *args = weir__op_args(op);
	int (*map)(void **item, void *context) = args->map;
	void *context = args->context;
	void **item = items, **end = items + n;
	int rc;

	for (; end - item >= 4; item++) {
		if (WEIR_UNLIKELY((rc = map(item, context)) != 0))
			goto failed;
		if (WEIR_UNLIKELY((rc = map(++item, context)) != 0))
			goto failed;
		if (WEIR_UNLIKELY((rc = map(++item, context)) != 0))
			goto failed;
		if (WEIR_UNLIKELY((rc = map(++item, context)) != 0))
			goto failed;
	}
	for (; item < end; item++)
		if (WEIR_UNLIKELY((rc = map(item, context)) != 0))
			goto failed;
	return (size_t)(end - items);
failed:
	return map_rest(op, items, (size_t)(item - items),
			(size_t)(end - items), rc);
}

static const struct weir__kind map_kind = {
	.name = "map",
	.pull = weir__apply_pull,
	.apply = map_apply,
	.remakes = true,
};

struct weir_flow *weir_flow_map(struct weir_flow *flow,
				int (*map)(void **item, void *context),
				void *context)
{
	struct map args = {map, context};

	return weir__flow_upon(&map_kind, flow, &args, sizeof(args), map);
}

/* --- map_n ---------------------------------------------------------------- */

struct map_n {
	int (*map)(void **items, size_t n, size_t *done, void *context);
	void *context;
};

static size_t map_n_apply(struct weir__op *op, void **items, size_t n)
{
	const struct map_n *args = weir__op_args(op);
	size_t i = 0, done;
	int rc;

	while (i < n) {
		done = 0;
		rc = args->map(items + i, n - i, &done, args->context);
		if (WEIR_LIKELY(rc == 0))
			break;
		i += done < n - i ? done : n - i - 1;
		n = map_failed(op, items, i, n, rc);
	}
	return n;
}

static const struct weir__kind map_n_kind = {
	.name = "map_n",
	.pull = weir__apply_pull,
	.apply = map_n_apply,
	.remakes = true,
};

struct weir_flow *weir_flow_map_n(struct weir_flow *flow,
				  int (*map)(void **items, size_t n,
					     size_t *done, void *context),
				  void *context)
{
	struct map_n args = {map, context};

	return weir__flow_upon(&map_n_kind, flow, &args, sizeof(args), map);
}

/* --- index ---------------------------------------------------------------- */

struct index {
	int (*map)(void **item, uint64_t index, void *context);
	void *context;
};

static int index_step(struct weir__op *op, void **item)
{
	const struct index *args = weir__op_args(op);
	uint64_t *next = weir__op_state(op);

	return weir__each_if(args->map(item, (*next)++, args->context), -EINVAL,
			     WEIR__EACH_PUT);
}

static size_t index_apply(struct weir__op *op, void **items, size_t n)
{
	return weir__each(op, items, n, index_step);
}

static const struct weir__kind index_kind = {
	.name = "index",
	.state_size = sizeof(uint64_t),
	.pull = weir__apply_pull,
	.apply = index_apply,
	.remakes = true,
};

struct weir_flow *weir_flow_index(struct weir_flow *flow,
				  int (*map)(void **item, uint64_t index,
					     void *context),
				  void *context)
{
	struct index args = {map, context};

	return weir__flow_upon(&index_kind, flow, &args, sizeof(args), map);
}

/* --- filter --------------------------------------------------------------- */

struct filter {
	int (*keep)(void *item, void *context);
	void *context;
};

static int filter_step(struct weir__op *op, void **item)
{
	const struct filter *args = weir__op_args(op);

	return weir__each_if(args->keep(*item, args->context), WEIR__EACH_PUT,
			     WEIR__EACH_DROP);
}

static size_t filter_apply(struct weir__op *op, void **items, size_t n)
{
	return weir__each(op, items, n, filter_step);
}

static const struct weir__kind filter_kind = {
	.name = "filter",
	.pull = weir__apply_pull,
	.apply = filter_apply,
};

struct weir_flow *weir_flow_filter(struct weir_flow *flow,
				   int (*keep)(void *item, void *context),
				   void *context)
{
	struct filter args = {keep, context};

	return weir__flow_upon(&filter_kind, flow, &args, sizeof(args), keep);
}

/* --- filter_map ----------------------------------------------------------- */

static int filter_map_step(struct weir__op *op, void **item)
{
	const struct map *args = weir__op_args(op);

	return weir__each_if(args->map(item, args->context), WEIR__EACH_PUT,
			     WEIR__EACH_DROP);
}

static size_t filter_map_apply(struct weir__op *op, void **items, size_t n)
{
	return weir__each(op, items, n, filter_map_step);
}

static const struct weir__kind filter_map_kind = {
	.name = "filter_map",
	.pull = weir__apply_pull,
	.apply = filter_map_apply,
	.remakes = true,
};

struct weir_flow *weir_flow_filter_map(struct weir_flow *flow,
				       int (*map)(void **item, void *context),
				       void *context)
{
	struct map args = {map, context};

	return weir__flow_upon(&filter_map_kind, flow, &args, sizeof(args),
			       map);
}

/* --- distinct_until_changed ----------------------------------------------- */

struct distinct {
	int (*key)(void *item, uintptr_t *key, void *context);
	void *context;
};

struct last_key {
	uintptr_t key;
	bool known;
};

static int distinct_step(struct weir__op *op, void **item)
{
	const struct distinct *args = weir__op_args(op);
	struct last_key *last = weir__op_state(op);
	uintptr_t key = (uintptr_t)*item;
	int rc = args->key ? args->key(*item, &key, args->context) : 0;
	bool same = last->known && last->key == key;

	if (rc != 0)
		return rc < 0 ? rc : -EINVAL;
	*last = (struct last_key){key, true};
	return same ? WEIR__EACH_DROP : WEIR__EACH_PUT;
}

static size_t distinct_apply(struct weir__op *op, void **items, size_t n)
{
	return weir__each(op, items, n, distinct_step);
}

static const struct weir__kind distinct_kind = {
	.name = "distinct_until_changed",
	.state_size = sizeof(struct last_key),
	.pull = weir__apply_pull,
	.apply = distinct_apply,
};

struct weir_flow *weir_flow_distinct_until_changed(
	struct weir_flow *flow,
	int (*key)(void *item, uintptr_t *key, void *context), void *context)
{
	struct distinct args = {key, context};

	return weir__flow_upon(&distinct_kind, flow, &args, sizeof(args), true);
}

/* --- peek ----------------------------------------------------------------- */

struct peek {
	struct weir_flow_peek_functions hooks;
	void *context;
};

static int peek_open(struct weir__op *op)
{
	const struct peek *args = weir__op_args(op);

	if (args->hooks.started)
		args->hooks.started(args->context);
	return 0;
}

static size_t peek_pull(struct weir__op *op, void **items, size_t room)
{
	const struct peek *args = weir__op_args(op);
	size_t n, i;

	if (args->hooks.requested && room > 0)
		args->hooks.requested(room, args->context);
	n = weir__pull(op->up[0], items, room);
	for (i = 0; args->hooks.item && i < n; i++)
		args->hooks.item(items[i], args->context);
	*(bool *)weir__op_state(op) = op->up[0]->ended;
	(void)weir__op_follow(op);
	return n;
}

static void peek_close(struct weir__op *op)
{
	const struct weir_flow_peek_functions *hooks =
		&((const struct peek *)weir__op_args(op))->hooks;
	void *context = ((const struct peek *)weir__op_args(op))->context;
	bool by_itself = *(bool *)weir__op_state(op);

	if (!by_itself && hooks->cancelled)
		hooks->cancelled(context);
	if (by_itself && op->error && hooks->failed)
		hooks->failed(op->error, context);
	if (by_itself && !op->error && hooks->completed)
		hooks->completed(context);
	if (hooks->ended)
		hooks->ended(context);
}

static const struct weir__kind peek_kind = {
	.name = "peek",
	.state_size = sizeof(bool),
	.open = peek_open,
	.pull = peek_pull,
	.close = peek_close,
};

struct weir_flow *weir_flow_peek(struct weir_flow *flow,
				 const struct weir_flow_peek_functions *hooks,
				 void *context)
{
	struct peek args = {.context = context};

	if (hooks)
		args.hooks = *hooks;
	return weir__flow_upon(&peek_kind, flow, &args, sizeof(args), hooks);
}
