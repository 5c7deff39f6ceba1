/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that are made again, as the tests of that make them. */
#ifndef WEIR_TEST_FLOW_ERROR_RESTART_H
#define WEIR_TEST_FLOW_ERROR_RESTART_H

#include "flow/parts.h"

static const struct weir_backoff doubling = {
	.min_ns = 10 * MS,
	.max_ns = 40 * MS,
};
static const struct weir_flow_restart_options after_backoff = {
	.backoff = &doubling,
};

static inline int map_or_fail(void **item, void *context)
{
	struct parts *made = context;

	return fails(made, value_of(made, *item)) ? -EDOM : 0;
}

static inline struct weir_flow *map(struct weir_flow *up, struct parts *made)
{
	return weir_flow_same_items(weir_flow_map(up, map_or_fail, made));
}

static inline struct weir_flow *around(
	struct weir_flow *up, struct parts *made,
	const struct weir_flow_restart_options *options)
{
	if (!made->compose)
		made->compose = map;
	return weir_flow_restart_around(up, make, made, options);
}

#endif
