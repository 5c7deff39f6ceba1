/* SPDX-License-Identifier: BSD-2-Clause */
/* What fan-in and fan-out share. */
#ifndef WEIR_FLOW_FAN_PRIVATE_H
#define WEIR_FLOW_FAN_PRIVATE_H

#include <errno.h>

#include "flow/flow.h"

/* As weir__flow_new(), for an array of the user's: -EINVAL if there is none. */
static inline struct weir_flow *weir__flow_upon_many(
	const struct weir__kind *kind, struct weir_flow *const *up, size_t n,
	const void *args, size_t size, bool valid)
{
	if (!up || n == 0 || n > UINT32_MAX)
		return weir__flow_failed(-EINVAL, kind->name,
					 "no flows to be put upon");
	return weir__flow_new(kind, up, (uint32_t)n, args, size, valid);
}

#endif
