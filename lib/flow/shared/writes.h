/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that an operator has taken and not written yet. */
#ifndef WEIR_FLOW_SHARED_WRITES_H
#define WEIR_FLOW_SHARED_WRITES_H

#include <sys/types.h>
#include <sys/uio.h>

#include <weir/flow_io.h>

#include "flow/engine/op.h"

#define WEIR__GATHERED 64u
#define WEIR__COPIED 8192u /* bytes, to make one part of many items */

/* Items of the operator above, to be written in this order; of the first one
 * the bytes from `at` on. */
struct weir__writes {
	struct weir_flow_bytes *bytes[WEIR__GATHERED];
	uint32_t first, n;
	uint32_t quick; /* how many came in publish_ns, as fast as the last did;
			 * 0: the last was slow, or the speed is not known */
	size_t at;
	size_t n_bytes; /* of all that were taken */
	bool joins;	/* its user's: neighbours may become one item */
};

static inline bool weir__writes_any(const struct weir__writes *writes)
{
	return writes->first < writes->n;
}

/* There are none: takes the items that are there. */
void weir__writes_take(struct weir__writes *writes, struct weir__op *op);

/* The parts of a write: what they point to are the items, or copies of them. */
struct weir__gathered {
	struct iovec parts[WEIR__GATHERED];
	char copies[WEIR__COPIED];
};

/*
 * Gathers the parts of the next write; returns their number. Items that lie one
 * behind the other in memory are one part, and so are copies of many that are
 * short. An item that comes behind others is left out if they are `most` bytes
 * together then, or if it is to be `alone`.
 */
int weir__writes_gather(const struct weir__writes *writes,
			struct weir__gathered *gathered, size_t most,
			bool alone);

/* `n` more bytes are written: drops the items that are written whole, and empty
 * ones behind them. */
void weir__writes_wrote(struct weir__writes *writes, struct weir__op *op,
			size_t n);

void weir__writes_drop(struct weir__writes *writes, struct weir__op *op);

/* As writev(2), of a pipe, and raises no SIGPIPE. */
ssize_t weir__write_pipe(int fd, const struct iovec *parts, int n);
/* As splice(2) of `n` bytes from a pipe to a socket, both in non-blocking mode,
 * and raises no SIGPIPE. */
ssize_t weir__splice_pipe(int pipe, int fd, size_t n);

#endif
