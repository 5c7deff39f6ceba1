/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of a lane: the words' lines, then the slots. */
#include "lane/lane.h"

#include <errno.h>

static size_t ring_size(uint32_t mask)
{
	return 2 * (size_t)WEIR__LINE +
	       ((size_t)mask + 1) * sizeof(struct weir__slot);
}

int weir__lane_init(struct weir__lane *lane, uint32_t mask,
		    const struct weir_allocator *allocator)
{
	memset(lane, 0, sizeof(*lane));
	lane->words = lane->own;
	if (mask == 0)
		return 0;
	lane->words = weir__alloc_lines(allocator, ring_size(mask));
	return lane->words ? 0 : -ENOMEM;
}

void weir__lane_fini(struct weir__lane *lane, uint32_t mask,
		     const struct weir_allocator *allocator)
{
	weir_error_unref(lane->error);
	if (lane->words != lane->own)
		weir__free_lines(allocator, lane->words, ring_size(mask));
}
