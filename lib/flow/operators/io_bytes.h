/* SPDX-License-Identifier: BSD-2-Clause */
/* Views of bytes, for the operators that cut them. */
#ifndef WEIR_FLOW_OPERATORS_IO_BYTES_H
#define WEIR_FLOW_OPERATORS_IO_BYTES_H

#include <weir/flow_io.h>

/* A view of `n` bytes of `whole`, from `data` on; the view holds `whole`. Or
 * NULL. */
struct weir_flow_bytes *weir__bytes_view(struct weir_flow_bytes *whole,
					 const char *data, size_t n);

#endif
