/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of a nested flow that takes its items from the operator around the
 * nested flow. */
#ifndef WEIR_FLOW_SHARED_INNER_H
#define WEIR_FLOW_SHARED_INNER_H

#include "flow/engine/op.h"

/* Belongs to the operator around the nested flow. The source's items are those
 * of the operator above `around`. */
struct weir__inner {
	struct weir__op *around;
	/*
	 * As a kind's pull(), for `source`. It may end `source`, but not
	 * `around`: that would free the nested flow that is being pulled.
	 */
	size_t (*pull)(struct weir__inner *inner, void **items, size_t room);
	struct weir__op *source; /* NULL: not made yet, or it wants no more */
};

/*
 * The source as a flow. It may be used in a nested flow of `inner->around` only
 * (else -EINVAL). `inner` must stay until that nested flow is closed. Never
 * NULL.
 */
struct weir_flow *weir__inner_flow(struct weir__inner *inner);

/*
 * True: the nested flow emits items only in the pull that takes them from the
 * source; so when it has filled the room, no item is left in it.
 */
bool weir__inner_passes_through(const struct weir__inner *inner,
				const struct weir__op *nested);

#endif
