/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/op_delay_kit.h"

intptr_t number(void *item)
{
	return ((struct item *)item)->value;
}

void hear(struct weir_error *error, void *context)
{
	struct heard *heard = context;

	assert_in_range(heard->n, 0, 63);
	heard->codes[heard->n++] = error->code;
}

struct weir_flow *delayed(struct weir_flow *flow)
{
	return weir_flow_delay_errors(flow, NULL, NULL);
}

struct weir_flow *heard_by(struct weir_flow *flow, struct heard *heard)
{
	return weir_flow_delay_errors(flow, hear, heard);
}

struct weir_flow *failure(int code)
{
	return weir_flow_fail(code, "here");
}

static struct weir_error *another(struct weir_error *error, void *context)
{
	return weir_error_of(*(const int *)context);
}

void tell_apart(struct weir_flow *const *taps, struct weir_flow **flows)
{
	static int codes[] = {-EIO, -EDOM, -EPROTO};
	size_t i;

	for (i = 0; i < PLAYED_MAX; i++)
		flows[i] = weir_flow_map_error(taps[i], another, &codes[i]);
}

struct weir_flow *as_it_is(struct weir_flow *up, void *context)
{
	return up;
}
