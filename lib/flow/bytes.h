/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as the operators that read, cut and write them see them. */
#ifndef WEIR_FLOW_BYTES_H
#define WEIR_FLOW_BYTES_H

#include <weir/flow_io.h>

#include "flow/flow.h"

#define WEIR__BYTES_MAX (1u << 30)

/* A view of `n` bytes of `whole` from `data` on, which holds that. Or NULL. */
struct weir_flow_bytes *weir__bytes_view(struct weir_flow_bytes *whole,
					 const char *data, size_t n);

#endif
