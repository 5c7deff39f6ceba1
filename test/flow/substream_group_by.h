/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of equal keys, as the tests of them make them. */
#ifndef WEIR_TEST_FLOW_SUBSTREAM_GROUP_BY_H
#define WEIR_TEST_FLOW_SUBSTREAM_GROUP_BY_H

#include "flow/parts.h"

static int key_of(void *item, uintptr_t *key, void *context)
{
	struct parts *parts = context;
	intptr_t value = value_of(parts, item);

	*key = (uintptr_t)(value % parts->n_keys);
	return is_bad(parts, value) ? -EDOM : 0;
}

static struct weir_flow *make_for(struct weir_flow *up, uintptr_t key,
				  void *context)
{
	((struct parts *)context)->key = key;
	return make(up, context);
}

static struct weir_flow *grouped_by(
	struct weir_flow *flow, size_t max, struct parts *parts,
	const struct weir_flow_group_options *options)
{
	return weir_flow_group_by(flow, max, key_of, make_for, parts, options);
}

#endif
