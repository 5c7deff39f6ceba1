/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of flows that are cut by a stream: bytes without bytes, which a sink
 * publishes with headers that say how the flow above has ended. */
#ifndef WEIR_NATS_MARK_H
#define WEIR_NATS_MARK_H

#include <weir/error.h>
#include <weir/flow_io.h>

#include <stdint.h>

#include <nats/nats.h>

#define WEIR__NATS_FROM_SIZE 64u

struct weir__nats_mark {
	uint32_t partition;
	char from[WEIR__NATS_FROM_SIZE];
	char error[256]; /* "code; origin; message", or "" */
};

/* NULL: no memory. `from` and `error` may be NULL. */
struct weir_flow_bytes *weir__nats_mark_new(const char *from,
					    uint32_t partition,
					    const struct weir_error *error);
/* NULL: these are other bytes. */
const struct weir__nats_mark *weir__nats_mark_of(
	const struct weir_flow_bytes *bytes);
/* Sets those of an end, if `bytes` are one. */
natsStatus weir__nats_mark_headers(const struct weir_flow_bytes *bytes,
				   natsMsg *msg);
/* What a header "Weir-Error" says, as a new error. */
struct weir_error *weir__nats_mark_error(const char *text);

#endif
