/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources of items that are known beforehand. */
#include <weir/flow_source.h>

#include <errno.h>
#include <string.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"

/* --- Arrays --------------------------------------------------------------- */

struct array {
	void *const *items;
	size_t n;
};

static size_t array_pull(struct weir__op *op, void **items, size_t room)
{
	const struct array *args = weir__op_args(op);
	size_t *at = weir__op_state(op);
	size_t n = weir__at_most(args->n - *at, room);

	if (n)
		memcpy(items, args->items + *at, n * sizeof(*items));
	*at += n;
	if (*at == args->n)
		weir__op_end(op, NULL);
	return n;
}

static const struct weir__kind array_kind = {
	.name = "array",
	.state_size = sizeof(size_t),
	.pull = array_pull,
	.source = true,
};

struct weir_flow *weir_flow_array(void *const *items, size_t n)
{
	struct array args = {items, n};

	return weir__flow_source(&array_kind, &args, sizeof(args),
				 items || n == 0);
}

/* --- Ranges --------------------------------------------------------------- */

struct range {
	int64_t first, last;
};

static int range_open(struct weir__op *op)
{
	const struct range *args = weir__op_args(op);

	*(uint64_t *)weir__op_state(op) = (uint64_t)args->first;
	return 0;
}

static size_t range_pull(struct weir__op *op, void **items, size_t room)
{
	const struct range *args = weir__op_args(op);
	uint64_t *next = weir__op_state(op), x = *next;
	size_t n, i;

	if (args->last < args->first) {
		weir__op_end(op, NULL);
		return 0;
	}
	/* one less than the number left, which may be 2^64 */
	n = weir__at_most((uint64_t)args->last - x, room);
#pragma GCC unroll 4
	for (i = 0; i < n; i++)
		items[i] = (void *)(uintptr_t)(x + i);
	*next = x + n;
	if (n < room) {
		items[n++] = (void *)(uintptr_t)*next;
		weir__op_end(op, NULL);
	}
	return n;
}

static const struct weir__kind range_kind = {
	.name = "range",
	.state_size = sizeof(uint64_t),
	.open = range_open,
	.pull = range_pull,
	.source = true,
};

struct weir_flow *weir_flow_range(int64_t first, int64_t last)
{
	struct range args = {first, last};

	return weir__flow_source(&range_kind, &args, sizeof(args), true);
}

/* --- One, none, no end ---------------------------------------------------- */

static size_t single_pull(struct weir__op *op, void **items, size_t room)
{
	if (room == 0)
		return 0;
	items[0] = *(void *const *)weir__op_args(op);
	weir__op_end(op, NULL);
	return 1;
}

static const struct weir__kind single_kind = {
	.name = "single",
	.pull = single_pull,
	.source = true,
};

struct weir_flow *weir_flow_single(void *item)
{
	return weir__flow_source(&single_kind, &item, sizeof(item), true);
}

static size_t empty_pull(struct weir__op *op, void **items, size_t room)
{
	weir__op_end(op, NULL);
	return 0;
}

static const struct weir__kind empty_kind = {
	.name = "empty",
	.items = weir__gives_any,
	.pull = empty_pull,
	.source = true,
};

struct weir_flow *weir_flow_empty(void)
{
	return weir__flow_source(&empty_kind, NULL, 0, true);
}

struct fail {
	int code;
	const char *message;
};

static size_t fail_pull(struct weir__op *op, void **items, size_t room)
{
	const struct fail *args = weir__op_args(op);

	weir__op_fail(op, args->code, args->message);
	return 0;
}

static const struct weir__kind fail_kind = {
	.name = "fail",
	.items = weir__gives_any,
	.pull = fail_pull,
	.source = true,
};

struct weir_flow *weir_flow_fail(int code, const char *message)
{
	struct fail args = {code, message ? message : ""};
	struct weir_flow *flow =
		weir__flow_source(&fail_kind, &args, sizeof(args), code < 0);

	return weir__flow_wrong(flow, &fail_kind, "code %d is not negative",
				code);
}

static size_t never_pull(struct weir__op *op, void **items, size_t room)
{
	return 0;
}

static const struct weir__kind never_kind = {
	.name = "never",
	.items = weir__gives_any,
	.pull = never_pull,
	.source = true,
};

struct weir_flow *weir_flow_never(void)
{
	return weir__flow_source(&never_kind, NULL, 0, true);
}
