/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes, for the operators that read, cut and write them. */
#ifndef WEIR_FLOW_SHARED_BYTES_H
#define WEIR_FLOW_SHARED_BYTES_H

#include <weir/flow_io.h>

#include "base/memory.h"
#include "base/refcount.h"

#define WEIR__BYTES_MAX (1u << 30)

/* kind->items of operators that make bytes. */
const struct weir_items *weir__gives_bytes(const struct weir_flow *flow);
/* kind->refuses of operators that take bytes. */
const char *weir__takes_bytes(const struct weir_flow *flow);

/* Drops `n` references; NULL is fine. */
static inline void weir__bytes_unref(struct weir_flow_bytes *bytes, uint32_t n)
{
	struct weir_flow_bytes *whole;

	for (; bytes && weir__unref_strong(&bytes->refs, n); bytes = whole) {
		whole = bytes->whole;
		n = 1;
		/* else it is a part of the memory of `whole` */
		if (bytes->allocator)
			weir__free(bytes->allocator, bytes,
				   sizeof(*bytes) + bytes->capacity);
	}
}

/* Drops one reference of each: as weir_flow_bytes_unref(), at once where they are
 * views of one block. */
void weir__bytes_drop(struct weir_flow_bytes *const *bytes, size_t n);

/*
 * One read(2) of at most `size` bytes. 1: they are in *bytes. 0: the end.
 * -EAGAIN. Another negative errno; if *block is NULL then, there was no memory.
 * *block is the caller's, NULL at first, and is read into; who waits has none.
 */
int weir__bytes_read(struct weir_flow_bytes **bytes,
		     struct weir_flow_bytes **block, int fd, size_t size,
		     const struct weir_allocator *allocator);

#endif
