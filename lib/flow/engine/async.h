/* SPDX-License-Identifier: BSD-2-Clause */
/* What subflow.c must know of weir_flow_async(): a nested flow cannot have one
 * with another executor. */
#ifndef WEIR_FLOW_ENGINE_ASYNC_H
#define WEIR_FLOW_ENGINE_ASYNC_H

#include <stddef.h>

#include "flow/engine/kind.h"

/* The arguments of weir_flow_async(). */
struct weir__async {
	size_t capacity;
	struct weir_executor *executor; /* NULL: that of the operator below */
};

extern const struct weir__kind weir__async_kind;

#endif
