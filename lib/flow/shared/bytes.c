/* SPDX-License-Identifier: BSD-2-Clause */
/* What operators that take or make bytes have in common. */
#include "flow/shared/bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/refcount.h"
#include "flow/engine/items.h"

const struct weir_items *weir__gives_bytes(const struct weir_flow *flow)
{
	return weir_flow_bytes_items();
}

const char *weir__takes_bytes(const struct weir_flow *flow)
{
	const struct weir_items *given = weir__flow_items(flow->up[0]);

	/* others that are dropped alike are bytes, too */
	if (given == &weir__items_any ||
	    (given && given->drop == weir_flow_bytes_items()->drop))
		return NULL;
	return "takes bytes, see weir_flow_bytes_items()";
}

/*
 * Drops a reference, or returns what is still to lose one for it: of bytes with
 * memory of their own these, of others what they are a part of, if nobody has
 * them any more.
 */
static struct weir_flow_bytes *drop_part(struct weir_flow_bytes *bytes)
{
	if (bytes->allocator)
		return bytes;
	return weir__unref_strong(&bytes->refs, 1) ? bytes->whole : NULL;
}

void weir__bytes_drop(struct weir_flow_bytes *const *bytes, size_t n)
{
	struct weir_flow_bytes *now, *last = NULL;
	uint32_t n_last = 0;

	for (size_t i = 0; i < n; i++) {
		now = drop_part(bytes[i]);
		if (now != last) {
			weir__bytes_unref(last, n_last);
			n_last = 0;
		}
		last = now;
		n_last++;
	}
	weir__bytes_unref(last, n_last);
}

/* A receiver that keeps a view of a block keeps the whole block. So the block
 * is at most SPARSE times as large as the bytes that were read. */
#define SPARSE 4u

/* `n` bytes were read. */
static struct weir_flow_bytes *read_give(struct weir_flow_bytes **read,
					 size_t n, size_t size,
					 const struct weir_allocator *allocator)
{
	struct weir_flow_bytes *block = *read, *copy;

	if (n < size / SPARSE &&
	    weir_flow_bytes_new(&copy, n, allocator) == 0) {
		memcpy(copy->data, block->data, n);
		return copy;
	}
	*read = NULL;
	block->n = n;
	return block;
}

int weir__bytes_read(struct weir_flow_bytes **bytes,
		     struct weir_flow_bytes **block, int fd, size_t size,
		     const struct weir_allocator *allocator)
{
	ssize_t n;

	if (!*block && weir_flow_bytes_new(block, size, allocator) < 0)
		return -ENOMEM;
	do
		n = read(fd, (*block)->data, size);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		*bytes = read_give(block, (size_t)n, size, allocator);
		return 1;
	}
	if (n == 0)
		return 0;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return -errno;
	/* an operator that waits holds no block */
	weir_flow_bytes_unref(*block);
	*block = NULL;
	return -EAGAIN;
}
