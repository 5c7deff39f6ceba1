/* SPDX-License-Identifier: BSD-2-Clause */
/* Views of bytes, for the operators that cut them. */
#ifndef WEIR_FLOW_OPERATORS_IO_BYTES_H
#define WEIR_FLOW_OPERATORS_IO_BYTES_H

#include <weir/flow_io.h>

/* Views of a block that were made together and are not used yet; zeroed at
 * first. */
struct weir__views {
	struct weir_flow_bytes *next;
	uint32_t left;
};

/*
 * A view of `n` bytes of the block, from `data` on. It holds the block. If there
 * is none, as many are made as are likely to be wanted of this block, `guess`
 * with this one, or fewer. NULL: no memory.
 */
struct weir_flow_bytes *weir__views_take(struct weir__views *self,
					 struct weir_flow_bytes *block,
					 const char *data, size_t n,
					 size_t guess);
/* No more are wanted of this block. */
void weir__views_end(struct weir__views *self);

#endif
