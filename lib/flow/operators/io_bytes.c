/* SPDX-License-Identifier: BSD-2-Clause */
/* Counted pieces of memory, and views of them. */
#include "flow/operators/io_bytes.h"

#include <assert.h>
#include <errno.h>

#include "base/memory.h"
#include "base/refcount.h"

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

/* A view is never of another view, so this is entered twice at most.
 * NOLINTNEXTLINE(misc-no-recursion) */
void weir_flow_bytes_unref(struct weir_flow_bytes *bytes)
{
	if (!bytes)
		return;
	if (!weir__unref(&bytes->refs))
		return;
	weir_flow_bytes_unref(bytes->whole);
	weir__free(bytes->allocator, bytes, sizeof(*bytes) + bytes->capacity);
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

struct weir_flow_bytes *weir__bytes_view(struct weir_flow_bytes *whole,
					 const char *data, size_t n)
{
	struct weir_flow_bytes *view;

	if (whole->whole)
		whole = whole->whole;
	/* so that weir_flow_bytes_unref() goes one step up, and no further */
	assert(!whole->whole);
	view = allocate(whole->allocator, 0);
	if (!view)
		return NULL;
	view->whole = weir_flow_bytes_ref(whole);
	view->data = (char *)data;
	view->n = n;
	return view;
}
