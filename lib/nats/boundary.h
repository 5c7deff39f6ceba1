/* SPDX-License-Identifier: BSD-2-Clause */
/* What sources do for boundaries. */
#ifndef WEIR_NATS_BOUNDARY_H
#define WEIR_NATS_BOUNDARY_H

#include "nats/nats_state.h"

/* As weir_flow_from_nats(), and copies `options->durable`. */
struct weir_flow *weir__nats_from_copy(
	struct weir_nats *nats, const struct weir_nats_source_options *options);

#endif
