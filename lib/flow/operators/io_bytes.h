/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes, for the operators that read, cut and write them. */
#ifndef WEIR_FLOW_OPERATORS_IO_BYTES_H
#define WEIR_FLOW_OPERATORS_IO_BYTES_H

#include <weir/flow_io.h>

#define WEIR__BYTES_MAX (1u << 30)

/* kind->items of operators that make bytes. */
const struct weir_items *weir__gives_bytes(const struct weir_flow *flow);
/* kind->refuses of operators that take bytes. */
const char *weir__takes_bytes(const struct weir_flow *flow);

/* A view of `n` bytes of `whole`, from `data` on; the view holds `whole`. Or
 * NULL. */
struct weir_flow_bytes *weir__bytes_view(struct weir_flow_bytes *whole,
					 const char *data, size_t n);

#endif
