/* SPDX-License-Identifier: BSD-2-Clause */
/* Views of bytes, for the operators that cut them. */
#ifndef WEIR_FLOW_OPERATORS_IO_BYTES_H
#define WEIR_FLOW_OPERATORS_IO_BYTES_H

#include <stdbool.h>

#include <weir/flow_io.h>

/* Views of a block that were made at once, and how many of them are used;
 * zeroed at first. */
struct weir__views {
	struct weir_flow_bytes *first;
	uint32_t used, n;
};

static inline bool weir__views_any(const struct weir__views *self)
{
	return self->used < self->n;
}

/*
 * Makes as many as are likely to be wanted of this block, `guess`, or fewer;
 * there are none. They hold the block. False: no memory.
 */
bool weir__views_make(struct weir__views *self, struct weir_flow_bytes *block,
		      size_t guess);

/* Uses one of them, for `n` bytes of the block from `data` on. */
static inline struct weir_flow_bytes *weir__views_use(struct weir__views *self,
						      const char *data,
						      size_t n)
{
	struct weir_flow_bytes *view = self->first + self->used;

	if (self->used++)
		*view = (struct weir_flow_bytes){.whole = self->first,
						 .refs = 1};
	view->data = (char *)data;
	view->n = n;
	return view;
}

/* No more are wanted of this block. */
void weir__views_end(struct weir__views *self);

#endif
