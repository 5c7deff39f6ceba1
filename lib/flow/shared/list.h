/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of items (flow_sink.h), for the operators that make them. */
#ifndef WEIR_FLOW_SHARED_LIST_H
#define WEIR_FLOW_SHARED_LIST_H

#include <weir/flow_sink.h>

#include "flow/engine/op.h"

/* kind->items of operators that make lists. */
const struct weir_items *weir__gives_lists(const struct weir_flow *flow);

/* An empty list for items of the operator above `op`, with room for `n`. Or
 * NULL. */
struct weir_flow_list *weir__list_new(struct weir__op *op, size_t n);

#endif
