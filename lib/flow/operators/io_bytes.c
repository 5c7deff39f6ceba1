/* SPDX-License-Identifier: BSD-2-Clause */
/* Counted pieces of memory, and views of them. */
#include "flow/operators/io_bytes.h"

#include <assert.h>
#include <errno.h>

#include "base/memory.h"
#include "base/refcount.h"

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
	struct weir_flow_bytes *whole;

	for (; bytes && weir__unref_strong(&bytes->refs); bytes = whole) {
		whole = bytes->whole;
		/* else it is a part of the memory of `whole` */
		if (bytes->allocator)
			weir__free(bytes->allocator, bytes,
				   sizeof(*bytes) + bytes->capacity);
	}
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

/*
 * Makes `n` views of the block, in one piece of memory: the first holds the
 * block, and the others, of which it is the memory, hold the first.
 */
static bool make_views(struct weir__views *self, struct weir_flow_bytes *block,
		       uint32_t n)
{
	struct weir_flow_bytes *views;

	/* nothing is held but the block */
	while (block->whole)
		block = block->whole;
	views = allocate(block->allocator, (n - 1) * sizeof(*views));
	if (!views)
		return false;
	views->whole = weir_flow_bytes_ref(block);
	views->refs = n;
	for (uint32_t i = 1; i < n; i++)
		views[i] = (struct weir_flow_bytes){.whole = views, .refs = 1};
	self->next = views;
	self->left = n;
	return true;
}

struct weir_flow_bytes *weir__views_take(struct weir__views *self,
					 struct weir_flow_bytes *block,
					 const char *data, size_t n,
					 size_t guess)
{
	struct weir_flow_bytes *view;

	assert(guess > 0);
	if (self->left == 0 &&
	    !make_views(self, block, guess < MOST ? (uint32_t)guess : MOST))
		return NULL;
	view = self->next++;
	self->left--;
	view->data = (char *)data;
	view->n = n;
	return view;
}

void weir__views_end(struct weir__views *self)
{
	for (; self->left > 0; self->left--)
		weir_flow_bytes_unref(self->next++);
}
