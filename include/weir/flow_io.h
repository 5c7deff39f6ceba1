/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes: read from descriptors, cut into lines and frames, written. What flows
 * are pieces of memory (struct weir_flow_bytes), which are counted; lines and
 * frames mostly are views of the block they were read in, and nothing is
 * copied.
 */
#ifndef WEIR_FLOW_IO_H
#define WEIR_FLOW_IO_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Bytes ---------------------------------------------------------------- */

struct weir_flow_bytes {
	/* read-only; a receiver that has not shared it may change the bytes */
	char *data;
	size_t n;
	/* private */
	struct weir_flow_bytes *whole; /* that this is a view of, or NULL */
	const struct weir_allocator *allocator;
	size_t capacity;
	uint32_t refs;
};

/*
 * Memory for `n` bytes behind it, not set, with one reference; or NULL.
 * `allocator` NULL means the default one. Any thread.
 */
WEIR_API WEIR_MUST_CHECK struct weir_flow_bytes *weir_flow_bytes_new(
	const struct weir_allocator *allocator, size_t n);

/* One reference more, or less; NULL is fine. ref returns its argument. Any
 * thread. */
WEIR_API struct weir_flow_bytes *weir_flow_bytes_ref(
	struct weir_flow_bytes *bytes);
WEIR_API void weir_flow_bytes_unref(struct weir_flow_bytes *bytes);

/*
 * How bytes are dropped and shared; for flows of your own. Lives for ever.
 * Operators that take bytes refuse items that are not said to be: they need
 * these, or others whose `drop` is that of these, as of a copy with a context
 * of yours; see weir_flow_check().
 */
WEIR_API const struct weir_items *weir_flow_bytes_items(void);

/* --- Descriptors ---------------------------------------------------------- */

/*
 * What is read from `fd`, in blocks of up to `block` bytes. It stays the
 * caller's and open as long as the flow runs. Where it is in non-blocking mode,
 * EAGAIN waits for it on the executor; where it is not, reading may block: say
 * so by weir_flow_async() with a blocking executor. -EINVAL: fd < 0, `block` 0
 * or above 1 GiB. An error of read(2) fails the stream.
 *
 * Emits: what was read, as bytes, at most `block`. Completes: at the end of the
 * file. Cancels: nothing is above it. Holds: one block.
 */
WEIR_API struct weir_flow *weir_flow_read(int fd, size_t block);

/*
 * The same of a file that is opened by each run (`path` is borrowed) when the
 * first block is asked for, and closed with it. An error of open(2) fails the
 * stream. -EINVAL: null, or such a `block`.
 *
 * Emits: what was read, as bytes, at most `block`. Completes: at the end of the
 * file. Cancels: nothing is above it. Holds: the file and one block.
 */
WEIR_API struct weir_flow *weir_flow_read_file(const char *path, size_t block);

/*
 * Writes bytes to `fd`, which stays the caller's and open as long as the flow
 * runs; waits and blocks as weir_flow_read(). What is there is written by one
 * call: to files and stream sockets up to 64 items; to pipes PIPE_BUF bytes, so
 * that other writers cut no item in two that is not longer itself; to all other
 * descriptors, as of datagrams and devices, each item by a call of its own.
 * Nothing is kept back for a larger one. -EINVAL: fd < 0. An error of write(2)
 * fails the stream, as does -EIO, a call that has written nothing. A peer that
 * has gone away is -EPIPE; SIGPIPE is not raised, or taken back by the thread.
 *
 * Emits: the number of bytes written, as (void *)(uintptr_t), when upstream has
 * completed. Completes: behind it. Cancels: when it fails, or when downstream
 * does. Holds: 64 items.
 */
WEIR_API struct weir_flow *weir_flow_write(struct weir_flow *flow, int fd);

/* --- Frames --------------------------------------------------------------- */

/* What becomes of what is left at the end without a delimiter behind it. */
enum weir_flow_remainder {
	WEIR_FLOW_REMAINDER_EMIT, /* it is the last frame */
	WEIR_FLOW_REMAINDER_FAIL, /* -EPROTO */
	WEIR_FLOW_REMAINDER_DROP,
};

/*
 * Lines of up to `max` bytes, without the newline; the last one needs none.
 * Fails with -EMSGSIZE on a longer one. -EINVAL: `max` is 0 or above 1 GiB.
 *
 * Emits: a line. Completes: when upstream does, behind the last line. Cancels:
 * when it fails, or when downstream does. Holds: one block and `max` bytes.
 */
WEIR_API struct weir_flow *weir_flow_lines(struct weir_flow *flow, size_t max);

/*
 * The same with any delimiter of 1 to 16 bytes, which is copied. -EINVAL: null,
 * or another length, no such remainder, or as above.
 *
 * Emits: a frame, without the delimiter. Completes: when upstream does, behind
 * the last frame. Cancels: when it fails, or when downstream does. Holds: one
 * block and `max` bytes.
 */
WEIR_API struct weir_flow *weir_flow_delimited(
	struct weir_flow *flow, const void *delimiter, size_t length,
	size_t max, enum weir_flow_remainder remainder);

enum weir_flow_byte_order {
	WEIR_FLOW_BYTE_ORDER_BIG,
	WEIR_FLOW_BYTE_ORDER_LITTLE
};

/*
 * Frames of up to `max` bytes, each behind its length, an unsigned number of
 * `header` bytes (1, 2, 4, 8) in that order. Fails with -EMSGSIZE on a longer
 * one, -EPROTO when upstream completes within one. -EINVAL: another `header`,
 * no such order, `max` above 1 GiB.
 *
 * Emits: a frame, without its length. Completes: when upstream does. Cancels:
 * when it fails, or when downstream does. Holds: one block and one frame.
 */
WEIR_API struct weir_flow *weir_flow_length_prefixed(
	struct weir_flow *flow, size_t header, enum weir_flow_byte_order order,
	size_t max);

#ifdef __cplusplus
}
#endif

#endif
