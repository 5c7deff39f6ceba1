/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that put out at most one item for each that they take. */
#include <weir/flow_element.h>

#include "flow/flow.h"

/* --- map -------------------------------------------------------------------- */

struct map {
	int (*map)(void **item, void *context);
	void *context;
};

/*
 * items[from] could not be mapped: it goes, and the others, unless the operator
 * goes on, move up.
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

static size_t map_pull(struct weir__op *op, void **items, size_t room)
{
	const struct map *args = weir__op_args(op);
	size_t n = weir__pull(op->up[0], items, room), i = 0;
	int rc;

	while (i < n) {
		rc = args->map(&items[i], args->context);
		if (WEIR_LIKELY(rc == 0))
			i++;
		else
			n = map_failed(op, items, i, n, rc);
	}
	if (!op->ended)
		(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind map_kind = {
	.name = "map",
	.pull = map_pull,
};

struct weir_flow *weir_flow_map(struct weir_flow *flow,
				int (*map)(void **item, void *context),
				void *context)
{
	struct map args = {map, context};

	return weir__flow_upon(&map_kind, flow, &args, sizeof(args), map);
}

/* --- map_n ------------------------------------------------------------------ */

struct map_n {
	int (*map)(void **items, size_t n, size_t *done, void *context);
	void *context;
};

static size_t map_n_pull(struct weir__op *op, void **items, size_t room)
{
	const struct map_n *args = weir__op_args(op);
	size_t n = weir__pull(op->up[0], items, room), i = 0, done;
	int rc;

	while (i < n) {
		done = 0;
		rc = args->map(items + i, n - i, &done, args->context);
		if (WEIR_LIKELY(rc == 0))
			break;
		i += done < n - i ? done : n - i - 1;
		n = map_failed(op, items, i, n, rc);
	}
	if (!op->ended)
		(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind map_n_kind = {
	.name = "map_n",
	.pull = map_n_pull,
};

struct weir_flow *weir_flow_map_n(struct weir_flow *flow,
				  int (*map)(void **items, size_t n,
					     size_t *done, void *context),
				  void *context)
{
	struct map_n args = {map, context};

	return weir__flow_upon(&map_n_kind, flow, &args, sizeof(args), map);
}

/* --- filter ----------------------------------------------------------------- */

struct filter {
	int (*keep)(void *item, void *context);
	void *context;
};

static size_t filter_pull(struct weir__op *op, void **items, size_t room)
{
	const struct filter *args = weir__op_args(op);
	size_t n = weir__pull(op->up[0], items, room), kept = 0, i;
	int rc = 0;

	for (i = 0; i < n && !op->ended; i++) {
		rc = args->keep(items[i], args->context);
		if (rc == 1) {
			items[kept++] = items[i];
			continue;
		}
		weir__op_drop_one(op->up[0], items[i]);
		if (WEIR_UNLIKELY(rc != 0))
			(void)weir__op_survives(op, rc);
	}
	weir__op_drop(op->up[0], items + i, n - i);
	if (!op->ended && !weir__op_follow(op) && n > 0 && kept == 0)
		weir__op_again(op);
	return kept;
}

static const struct weir__kind filter_kind = {
	.name = "filter",
	.pull = filter_pull,
};

struct weir_flow *weir_flow_filter(struct weir_flow *flow,
				   int (*keep)(void *item, void *context),
				   void *context)
{
	struct filter args = {keep, context};

	return weir__flow_upon(&filter_kind, flow, &args, sizeof(args), keep);
}
