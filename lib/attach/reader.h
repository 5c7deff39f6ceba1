/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshots of the actors in any memory: one reader for all sources. */
#ifndef WEIR_ATTACH_READER_H
#define WEIR_ATTACH_READER_H

#include <weir/allocator.h>
#include <weir/inspect.h>

#include "attach/readable.h"

/* Text of what is wrong, for a user; cut to this. */
#define WEIR__READER_MESSAGE 256u

struct weir__reader_options {
	const struct weir_allocator *allocator; /* NULL: the default one */
	/* looks again after so long, 0: memory that does not move, which is
	 * settled */
	uint64_t settle_ns;
	/* words that a look reads at most, and things that it notes; 0: as many
	 * as a million actors have. What is behind is left out. */
	uint64_t most;
};

/*
 * Finds the tables of layouts in the memory, and takes a snapshot of all actors
 * that are found by them, without children, pools and demands. What makes no
 * sense or cannot be read is left out, and counted in snapshot->n_torn. -ENOENT:
 * no table. -ENOTSUP: one of another version or machine. -EFAULT: it points
 * nowhere. -ENOMEM. Then `message` says so.
 */
int weir__reader_snapshot(struct weir_snapshot **snapshot,
			  struct weir__memory *memory,
			  const struct weir__reader_options *options,
			  char message[WEIR__READER_MESSAGE]);

#endif
