/* SPDX-License-Identifier: BSD-2-Clause */
/* Counted pieces of memory, and views of them. */
#include "flow/operators/io_bytes.h"

#include <assert.h>
#include <errno.h>

#include "base/refcount.h"
#include "flow/shared/bytes.h"

#define MOST 16u /* views that are made at once */

static struct weir_flow_bytes *allocate(const struct weir_allocator *allocator,
					size_t n)
{
	struct weir_flow_bytes *bytes;

	if (!allocator)
		allocator = weir_allocator_default();
	/* not weir__alloc(): the bytes need not be zero */
	bytes = allocator->alloc(sizeof(*bytes) + n, allocator->context);
	if (!bytes)
		return NULL;
	*bytes = (struct weir_flow_bytes){
		.data = (char *)(bytes + 1),
		.n = n,
		.allocator = allocator,
		.capacity = n,
		.refs = 1,
	};
	return bytes;
}

int weir_flow_bytes_new(struct weir_flow_bytes **bytes, size_t n,
			const struct weir_allocator *allocator)
{
	if (!bytes)
		return -EINVAL;
	*bytes = n > SIZE_MAX / 2 ? NULL : allocate(allocator, n);
	return *bytes ? 0 : -ENOMEM;
}

struct weir_flow_bytes *weir_flow_bytes_ref(struct weir_flow_bytes *bytes)
{
	if (bytes)
		weir__ref(&bytes->refs);
	return bytes;
}

void weir_flow_bytes_unref(struct weir_flow_bytes *bytes)
{
	weir__bytes_unref(bytes, 1);
}

static void bytes_drop(void *bytes, void *context)
{
	weir_flow_bytes_unref(bytes);
}

static int share(void *bytes, void *context)
{
	(void)weir_flow_bytes_ref(bytes);
	return 0;
}

static const struct weir_items items = {
	.drop = bytes_drop,
	.share = share,
	.name = "bytes",
};

const struct weir_items *weir_flow_bytes_items(void)
{
	return &items;
}

/* The first holds the block, and the others, which are in its memory, hold the
 * first. */
bool weir__views_make(struct weir__views *self, struct weir_flow_bytes *block,
		      size_t guess)
{
	uint32_t n = guess < MOST ? (uint32_t)guess : MOST;
	struct weir_flow_bytes *views;

	assert(n > 0 && !weir__views_any(self));
	/* nothing is held but the block */
	while (block->whole)
		block = block->whole;
	views = allocate(block->allocator, (n - 1) * sizeof(*views));
	if (!views)
		return false;
	views->whole = weir_flow_bytes_ref(block);
	views->refs = n;
	*self = (struct weir__views){views, 0, n};
	return true;
}

void weir__views_end(struct weir__views *self)
{
	if (weir__views_any(self))
		weir__bytes_unref(self->first, self->n - self->used);
	self->used = self->n = 0;
}
