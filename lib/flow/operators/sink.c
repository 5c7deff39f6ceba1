/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that take all items. */
#include <weir/flow_element.h>
#include <weir/flow_sink.h>

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/shared/array.h"
#include "flow/shared/list.h"

/* --- for_each ------------------------------------------------------------- */

struct for_each {
	int (*take)(void *item, void *context);
	void *context;
};

static size_t for_each_pull(struct weir__op *op, void **items, size_t room)
{
	const struct for_each *args = weir__op_args(op);
	struct weir__array batch;
	size_t n, i;
	int rc;

	weir__array_init(&batch, op, items, room);
	n = weir__array_take(&batch, op->up[0]);
	for (i = 0; i < n && !op->ended; i++) {
		rc = args->take(batch.items[i], args->context);
		if (WEIR_LIKELY(rc == 0))
			continue;
		weir__op_drop_one(op->up[0], batch.items[i]);
		(void)weir__op_survives(op, rc);
	}
	if (WEIR_UNLIKELY(i < n))
		weir__op_drop(op->up[0], batch.items + i, n - i);
	weir__array_done(&batch, op);
	if (!op->ended)
		(void)weir__op_follow(op);
	return 0;
}

static const struct weir__kind for_each_kind = {
	.name = "for_each",
	.items = weir__gives_any,
	.pull = for_each_pull,
};

struct weir_flow *weir_flow_for_each(struct weir_flow *flow,
				     int (*take)(void *item, void *context),
				     void *context)
{
	struct for_each args = {take, context};

	return weir__flow_upon(&for_each_kind, flow, &args, sizeof(args), take);
}

/* --- for_each_n ----------------------------------------------------------- */

struct for_each_n {
	int (*take)(void *const *items, size_t n, size_t *done, void *context);
	void *context;
};

/* The function has failed with `rc` behind the first `done` of these items. */
static __attribute__((noinline)) void take_rest(struct weir__op *op,
						void **items, size_t n,
						size_t done, int rc)
{
	const struct for_each_n *args = weir__op_args(op);
	size_t i = 0;

	while (rc != 0) {
		i += done < n - i ? done : n - i - 1;
		weir__op_drop_one(op->up[0], items[i++]);
		(void)weir__op_survives(op, rc);
		if (i == n || op->ended)
			break;
		done = 0;
		rc = args->take(items + i, n - i, &done, args->context);
	}
	if (rc != 0)
		weir__op_drop(op->up[0], items + i, n - i);
}

static size_t for_each_n_pull(struct weir__op *op, void **items, size_t room)
{
	const struct for_each_n *args = weir__op_args(op);
	struct weir__array batch;
	size_t n, done = 0;
	int rc;

	weir__array_init(&batch, op, items, room);
	n = weir__array_take(&batch, op->up[0]);
	if (WEIR_UNLIKELY(op->ended)) {
		weir__op_drop(op->up[0], batch.items, n);
	} else if (n > 0) {
		rc = args->take(batch.items, n, &done, args->context);
		if (WEIR_UNLIKELY(rc != 0))
			take_rest(op, batch.items, n, done, rc);
	}
	weir__array_done(&batch, op);
	if (!op->ended)
		(void)weir__op_follow(op);
	return 0;
}

static const struct weir__kind for_each_n_kind = {
	.name = "for_each_n",
	.items = weir__gives_any,
	.pull = for_each_n_pull,
};

struct weir_flow *weir_flow_for_each_n(struct weir_flow *flow,
				       int (*take)(void *const *items, size_t n,
						   size_t *done, void *context),
				       void *context)
{
	struct for_each_n args = {take, context};

	return weir__flow_upon(&for_each_n_kind, flow, &args, sizeof(args),
			       take);
}

/* --- count, ignore -------------------------------------------------------- */

/* Takes a batch and drops it; returns how many items it had. */
static size_t drop_batch(struct weir__op *op, void **items, size_t room)
{
	struct weir__array batch;
	size_t n;

	weir__array_init(&batch, op, items, room);
	n = weir__array_take(&batch, op->up[0]);
	weir__op_drop(op->up[0], batch.items, n);
	weir__array_done(&batch, op);
	return n;
}

static size_t ignore_pull(struct weir__op *op, void **items, size_t room)
{
	(void)drop_batch(op, items, room);
	(void)weir__op_follow(op);
	return 0;
}

static const struct weir__kind ignore_kind = {
	.name = "ignore",
	.items = weir__gives_any,
	.pull = ignore_pull,
};

struct weir_flow *weir_flow_ignore(struct weir_flow *flow)
{
	return weir__flow_upon(&ignore_kind, flow, NULL, 0, true);
}

/* Emits a result and ends, as the other sinks here do. */
static size_t put_result(struct weir__op *op, void **items, size_t room,
			 void *result)
{
	if (room == 0)
		return 0;
	items[0] = result;
	weir__op_end(op, NULL);
	return 1;
}

/* Upstream has completed; ends the operator if it has failed. */
static bool all_taken(struct weir__op *op)
{
	struct weir__op *up = op->up[0];

	if (up->ended && up->error)
		weir__op_end(op, up->error);
	return up->ended && !up->error;
}

static size_t count_pull(struct weir__op *op, void **items, size_t room)
{
	uintptr_t *n = weir__op_state(op);

	*n += drop_batch(op, items, room);
	return all_taken(op) ? put_result(op, items, room, (void *)*n) : 0;
}

static const struct weir__kind count_kind = {
	.name = "count",
	.state_size = sizeof(uintptr_t),
	.pull = count_pull,
	.makes = true,
};

struct weir_flow *weir_flow_count(struct weir_flow *flow)
{
	return weir__flow_upon(&count_kind, flow, NULL, 0, true);
}

/* --- first, last ---------------------------------------------------------- */

struct weir_flow *weir_flow_first(struct weir_flow *flow)
{
	return weir_flow_take(flow, 1);
}

struct last {
	void *item;
	bool has_item;
};

static void last_close(struct weir__op *op)
{
	struct last *last = weir__op_state(op);

	if (last->has_item)
		weir__op_drop_one(op->up[0], last->item);
	last->has_item = false;
}

static size_t last_pull(struct weir__op *op, void **items, size_t room)
{
	struct last *last = weir__op_state(op);
	struct weir__array batch;
	size_t n;

	weir__array_init(&batch, op, items, room);
	n = weir__array_take(&batch, op->up[0]);
	if (n > 0) {
		last_close(op);
		weir__op_drop(op->up[0], batch.items, n - 1);
		*last = (struct last){batch.items[n - 1], true};
	}
	weir__array_done(&batch, op);
	if (!all_taken(op))
		return 0;
	if (!last->has_item) {
		weir__op_end(op, NULL);
		return 0;
	}
	if (room > 0)
		last->has_item = false;
	return put_result(op, items, room, last->item);
}

static const struct weir__kind last_kind = {
	.name = "last",
	.state_size = sizeof(struct last),
	.pull = last_pull,
	.close = last_close,
};

struct weir_flow *weir_flow_last(struct weir_flow *flow)
{
	return weir__flow_upon(&last_kind, flow, NULL, 0, true);
}

/* --- collect -------------------------------------------------------------- */

#define LIST_FIRST 64u /* a list begins with room for so many */

static struct weir_flow_list **list_of(struct weir__op *op)
{
	return weir__op_state(op);
}

static int collect_open(struct weir__op *op)
{
	*list_of(op) = weir__list_new(op, 0);
	return *list_of(op) ? 0 : -ENOMEM;
}

static void collect_close(struct weir__op *op)
{
	weir_flow_list_free(*list_of(op));
	*list_of(op) = NULL;
}

/* Room for a batch more. */
static bool list_grow(struct weir_flow_list *list)
{
	size_t capacity = list->capacity ? list->capacity : LIST_FIRST;
	void **items;

	if (list->capacity - list->n >= WEIR_FLOW_BATCH)
		return true;
	while (capacity - list->n < WEIR_FLOW_BATCH)
		capacity *= 2;
	items = weir__alloc(list->allocator, capacity * sizeof(*items));
	if (!items)
		return false;
	if (list->n)
		memcpy(items, list->items, list->n * sizeof(*items));
	weir__free(list->allocator, list->items,
		   list->capacity * sizeof(*list->items));
	list->items = items;
	list->capacity = capacity;
	return true;
}

static size_t collect_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir_flow_list *list = *list_of(op);
	size_t max = *(const size_t *)weir__op_args(op);

	if (room > 0 && !op->up[0]->ended && !list_grow(list)) {
		weir__op_fail(op, -ENOMEM, "no memory for the list");
		return 0;
	}
	if (room > 0 && !op->up[0]->ended)
		list->n += weir__pull(op->up[0], list->items + list->n,
				      WEIR_FLOW_BATCH);
	else
		weir__pull_none(op->up[0]);
	if (max > 0 && list->n > max) {
		weir__op_fail(op, -EMSGSIZE, "more items than the limit");
		return 0;
	}
	if (!all_taken(op))
		return 0;
	if (room > 0)
		*list_of(op) = NULL;
	return put_result(op, items, room, list);
}

static const struct weir__kind collect_kind = {
	.name = "collect",
	.state_size = sizeof(struct weir_flow_list *),
	.items = weir__gives_lists,
	.open = collect_open,
	.pull = collect_pull,
	.close = collect_close,
	.makes = true,
};

struct weir_flow *weir_flow_collect(struct weir_flow *flow, size_t max)
{
	return weir__flow_upon(&collect_kind, flow, &max, sizeof(max), true);
}
