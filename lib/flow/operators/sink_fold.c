/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that make one value of all items. */
#include <errno.h>

#include <weir/flow_sink.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/shared/array.h"

/* The arguments of all folds; fold_n and reduce have no `zero`. */
struct folding {
	struct weir_flow_fold_functions functions;
	int (*fold_n)(void **result, void *const *items, size_t n, size_t *done,
		      void *context);
	void *context;
};

struct result {
	void *value;
	bool is_there;
};

static void result_close(struct weir__op *op)
{
	struct result *result = weir__op_state(op);

	if (result->is_there)
		weir__op_drop_one(op, result->value);
	result->is_there = false;
}

static int result_open(struct weir__op *op)
{
	const struct folding *args = weir__op_args(op);
	struct result *result = weir__op_state(op);
	int rc = 0;

	if (args->functions.zero)
		rc = args->functions.zero(&result->value, args->context);
	result->is_there = rc == 0;
	return rc;
}

/* The result goes out with the end, once all was taken in. */
static size_t result_put(struct weir__op *op, void **items, size_t room)
{
	struct result *result = weir__op_state(op);
	struct weir__op *up = op->up[0];

	if (!up->ended || op->ended)
		return 0;
	if (up->error) {
		weir__op_end(op, up->error);
		return 0;
	}
	if (!result->is_there) {
		weir__op_fail(op, -ENODATA, "no items");
		return 0;
	}
	if (room == 0)
		return 0;
	items[0] = result->value;
	result->is_there = false;
	weir__op_end(op, NULL);
	return 1;
}

/*
 * Folds the items of `batch` into the result, or drops them if the operator has
 * failed. If there is no result yet, as in reduce, the first item becomes the
 * result.
 */
static void take_in(struct weir__op *op, void *const *batch, size_t n)
{
	const struct folding *args = weir__op_args(op);
	struct result *result = weir__op_state(op);
	size_t i;
	int rc;

	for (i = 0; i < n && !op->ended; i++) {
		if (WEIR_UNLIKELY(!result->is_there)) {
			*result = (struct result){batch[i], true};
			continue;
		}
		rc = args->functions.fold(&result->value, batch[i],
					  args->context);
		if (WEIR_LIKELY(rc == 0))
			continue;
		weir__op_drop_one(op->up[0], batch[i]);
		(void)weir__op_survives(op, rc);
	}
	weir__op_drop(op->up[0], batch + i, n - i);
}

/* --- fold ----------------------------------------------------------------- */

static size_t fold_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__array batch;

	weir__array_init(&batch, op, items, room);
	take_in(op, batch.items, weir__array_take(&batch, op->up[0]));
	weir__array_done(&batch, op);
	return result_put(op, items, room);
}

static const struct weir__kind fold_kind = {
	.name = "fold",
	.state_size = sizeof(struct result),
	.open = result_open,
	.pull = fold_pull,
	.close = result_close,
	.makes = true,
	.remakes = true,
};

struct weir_flow *weir_flow_fold(
	struct weir_flow *flow,
	const struct weir_flow_fold_functions *functions, void *context)
{
	struct folding args = {.context = context};

	if (functions)
		args.functions = *functions;
	return weir__flow_upon(&fold_kind, flow, &args, sizeof(args),
			       functions && functions->fold);
}

/* --- fold_n --------------------------------------------------------------- */

static void take_in_n(struct weir__op *op, void *const *batch, size_t n)
{
	const struct folding *args = weir__op_args(op);
	struct result *result = weir__op_state(op);
	size_t i = 0, done;
	int rc;

	while (i < n && !op->ended) {
		done = 0;
		rc = args->fold_n(&result->value, batch + i, n - i, &done,
				  args->context);
		if (WEIR_LIKELY(rc == 0))
			return;
		i += done < n - i ? done : n - i - 1;
		weir__op_drop_one(op->up[0], batch[i++]);
		(void)weir__op_survives(op, rc);
	}
	weir__op_drop(op->up[0], batch + i, n - i);
}

static size_t fold_n_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__array batch;

	weir__array_init(&batch, op, items, room);
	take_in_n(op, batch.items, weir__array_take(&batch, op->up[0]));
	weir__array_done(&batch, op);
	return result_put(op, items, room);
}

static const struct weir__kind fold_n_kind = {
	.name = "fold_n",
	.state_size = sizeof(struct result),
	.open = result_open,
	.pull = fold_n_pull,
	.close = result_close,
	.makes = true,
	.remakes = true,
};

struct weir_flow *weir_flow_fold_n(struct weir_flow *flow,
				   int (*fold)(void **result,
					       void *const *items, size_t n,
					       size_t *done, void *context),
				   void *context)
{
	struct folding args = {.fold_n = fold, .context = context};

	return weir__flow_upon(&fold_n_kind, flow, &args, sizeof(args), fold);
}

/* --- reduce --------------------------------------------------------------- */

static const struct weir__kind reduce_kind = {
	.name = "reduce",
	.state_size = sizeof(struct result),
	.pull = fold_pull,
	.close = result_close,
};

struct weir_flow *weir_flow_reduce(struct weir_flow *flow,
				   int (*fold)(void **result, void *item,
					       void *context),
				   void *context)
{
	struct folding args = {.functions = {.fold = fold}, .context = context};

	return weir__flow_upon(&reduce_kind, flow, &args, sizeof(args), fold);
}

/* --- scan ----------------------------------------------------------------- */

struct scan {
	struct result result; /* must be first */
	bool begun;	      /* the first result has gone out */
};

static int scan_open(struct weir__op *op)
{
	if (op->items && op->items->drop && !op->items->share)
		return -ENOTSUP;
	return result_open(op);
}

/* The result goes out and stays. */
static bool scan_put(struct weir__op *op, void **item)
{
	struct scan *scan = weir__op_state(op);
	const struct weir_items *items = op->items;
	int rc = 0;

	if (items && items->share)
		rc = items->share(scan->result.value, items->context);
	if (rc != 0) {
		weir__op_fail_code(op, rc, "a result could not be shared");
		return false;
	}
	*item = scan->result.value;
	return true;
}

/* Emits the first result, before any item; pulls upstream without room for its
 * end (rule 8). */
static size_t scan_first(struct weir__op *op, void **items, size_t room)
{
	struct scan *scan = weir__op_state(op);

	if (room == 0)
		return 0;
	scan->begun = true;
	if (!scan_put(op, items))
		return 0;
	weir__pull_none(op->up[0]);
	(void)weir__op_follow(op);
	return 1;
}

/* Each of the items becomes a result, in its place. */
static size_t scan_items(struct weir__op *op, void **items, size_t n)
{
	const struct folding *args = weir__op_args(op);
	struct scan *scan = weir__op_state(op);
	size_t i, put = 0;
	int rc;

	for (i = 0; i < n && !op->ended; i++) {
		rc = args->functions.fold(&scan->result.value, items[i],
					  args->context);
		if (WEIR_LIKELY(rc == 0)) {
			put += scan_put(op, &items[put]);
			continue;
		}
		weir__op_drop_one(op->up[0], items[i]);
		if (weir__op_survives(op, rc))
			scan->begun = true;
	}
	weir__op_drop(op->up[0], items + i, n - i);
	return put;
}

static size_t scan_pull(struct weir__op *op, void **items, size_t room)
{
	struct scan *scan = weir__op_state(op);
	size_t n, put;

	if (!scan->begun)
		return scan_first(op, items, room);
	n = weir__pull(op->up[0], items, room);
	put = scan_items(op, items, n);
	if (!op->ended)
		(void)weir__op_follow(op);
	return put;
}

static const struct weir__kind scan_kind = {
	.name = "scan",
	.state_size = sizeof(struct scan),
	.open = scan_open,
	.pull = scan_pull,
	.close = result_close,
	.holds = true,
	.makes = true,
	.remakes = true,
};

struct weir_flow *weir_flow_scan(
	struct weir_flow *flow,
	const struct weir_flow_fold_functions *functions, void *context)
{
	struct folding args = {.context = context};

	if (functions)
		args.functions = *functions;
	return weir__flow_upon(&scan_kind, flow, &args, sizeof(args),
			       functions && functions->fold);
}
