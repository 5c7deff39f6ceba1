/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that are read from descriptors, cut into lines and frames, and written.
 * The items are pieces of memory with a reference count (struct
 * weir_flow_bytes). Most lines and frames are views of the block that they were
 * read in, so nothing is copied.
 */
#ifndef WEIR_FLOW_IO_H
#define WEIR_FLOW_IO_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Bytes ---------------------------------------------------------------- */

struct weir_flow_bytes {
	/* read-only; a receiver that has not shared it may change the bytes,
	 * and make `n` smaller. Frames of a block that was shared, as by a
	 * broadcast in front of weir_flow_lines(), are shared. */
	char *data;
	size_t n;
	struct {
		/* what this is a view of, or NULL */
		struct weir_flow_bytes *whole;
		/* NULL: it is in the memory of `whole` */
		const struct weir_allocator *allocator;
		size_t capacity;
		uint32_t refs;
	} WEIR_PRIVATE;
};

/*
 * A new struct in *bytes with one reference, and with uninitialized memory for
 * `n` bytes behind it. `allocator` NULL means the default one. -EINVAL: null.
 * -ENOMEM. Then *bytes is NULL. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_bytes_new(
	struct weir_flow_bytes **bytes, size_t n,
	const struct weir_allocator *allocator);

/* One reference more, or one less; NULL is fine. ref returns its argument. Any
 * thread. */
WEIR_API struct weir_flow_bytes *weir_flow_bytes_ref(
	struct weir_flow_bytes *bytes);
WEIR_API void weir_flow_bytes_unref(struct weir_flow_bytes *bytes);

/*
 * How bytes are dropped and shared, for weir_flow_items() in flows of your own.
 * Lives for ever. Operators that take bytes refuse other items (see
 * weir_flow_check()): they accept this struct, and copies of it that have the
 * same `drop`, such as one with a context of yours.
 */
WEIR_API const struct weir_items *weir_flow_bytes_items(void);

/* --- Descriptors ---------------------------------------------------------- */

/*
 * Reads `fd` in blocks of up to `block` bytes. `fd` stays the caller's, who
 * keeps it open as long as the flow runs. If `fd` is in non-blocking mode, the
 * executor waits for it after an EAGAIN. If it is not, reading may block: use
 * weir_flow_async() with a blocking executor then. -EINVAL: fd < 0, `block` 0
 * or above 1 GiB. An error of read(2) fails the stream.
 *
 * Emits: the bytes of one read, at most `block`. Completes: at the end of the
 * file. Cancels: it has no upstream. Holds: one block.
 */
WEIR_API struct weir_flow *weir_flow_read(int fd, size_t block);

/*
 * As weir_flow_read(), of a file that each run opens, when the first block is
 * asked for, and closes at its end. `path` is borrowed. An error of open(2)
 * fails the stream. -EINVAL: null, or a bad `block` as above.
 *
 * Emits: the bytes of one read, at most `block`. Completes: at the end of the
 * file. Cancels: it has no upstream. Holds: the file and one block.
 */
WEIR_API struct weir_flow *weir_flow_read_file(const char *path, size_t block);

/*
 * Writes bytes to `fd`, with the rules of weir_flow_read() for its owner,
 * waiting and blocking.
 *
 * 1. The items that are there are written by one call: to files and stream
 *    sockets up to 64 items, of which those that lie one behind the other in a
 *    block count as one or two; to pipes up to PIPE_BUF bytes, so that other
 *    writers cut no item in two (unless the item itself is longer); to all
 *    other descriptors, such as datagrams and devices, each item by a call of
 *    its own. No item is kept back to make a larger write.
 * 2. An error of write(2) fails the stream; so does a call that has written
 *    nothing, with -EIO. If the peer has gone away, the error is -EPIPE:
 *    SIGPIPE is not raised, or the thread takes it back.
 *
 * -EINVAL: fd < 0.
 *
 * Emits: the number of bytes written, as (void *)(uintptr_t), when upstream has
 * completed. Completes: behind the number. Cancels: when writing fails, or when
 * downstream does. Holds: 64 items.
 */
WEIR_API struct weir_flow *weir_flow_write(struct weir_flow *flow, int fd);

/* What weir_flow_write_file() waits for: what is on the disk after a loss of
 * power. */
enum weir_flow_sync {
	WEIR_FLOW_SYNC_NONE, /* the old file, the new one, or a part of it */
	WEIR_FLOW_SYNC_FILE, /* the old file or the new one, whole */
	WEIR_FLOW_SYNC_ALL,  /* the new file, if the flow has completed */
};

/*
 * Writes bytes to a new file that replaces `path` when upstream has completed:
 * who opens `path` finds the old file or all of the new one. Until then it has
 * a temporary name, which begins with ".weir-", in the same directory. When the
 * stream fails or is cancelled, that file is removed, and `path` is as it was.
 * `path` is borrowed. The new file is the flow's own: it has the permissions
 * that the umask leaves of 0666, whatever those of the old one are, and a link
 * is replaced, not what it leads to.
 *
 * Each run makes a file, with the first demand. `sync` is done with fsync(2),
 * which blocks, as writing may: use weir_flow_async() with a blocking executor.
 * An error fails the stream, and its message begins with the path. Only if the
 * directory cannot be synced, `path` has been replaced then. -EINVAL: null, a
 * path that is empty or ends in a slash, no such `sync`.
 *
 * Emits: the number of bytes written, as (void *)(uintptr_t), when `path` is
 * replaced. Completes: behind the number. Cancels: when writing fails, or when
 * downstream does. Holds: the file, its directory and 64 items.
 */
WEIR_API struct weir_flow *weir_flow_write_file(struct weir_flow *flow,
						const char *path,
						enum weir_flow_sync sync);

/* --- Frames --------------------------------------------------------------- */

/* What becomes of bytes at the end of the stream that have no delimiter behind
 * them. */
enum weir_flow_remainder {
	WEIR_FLOW_REMAINDER_EMIT, /* they are the last frame */
	WEIR_FLOW_REMAINDER_FAIL, /* -EPROTO */
	WEIR_FLOW_REMAINDER_DROP,
};

/*
 * Cuts the bytes into lines of up to `max` bytes, without the newline; the last
 * line needs no newline. Fails with -EMSGSIZE on a longer line. -EINVAL: `max`
 * is 0 or above 1 GiB.
 *
 * Behind each line stands a newline nevertheless, also behind the last one, and
 * belongs to the line: a receiver that has not shared the line may make `n` one
 * larger to have it, or write a 0 there to have a string.
 *
 * Emits: a line. Completes: when upstream does, behind the last line. Cancels:
 * when the stream fails here, or when downstream does. Holds: one block and
 * `max` bytes.
 */
WEIR_API struct weir_flow *weir_flow_lines(struct weir_flow *flow, size_t max);

/*
 * As weir_flow_lines(), with a delimiter of 1 to 16 bytes, which is copied, and
 * stands behind each frame. -EINVAL: null, another length, no such remainder, or
 * a bad `max` as above.
 *
 * Emits: a frame, without the delimiter. Completes: when upstream does, behind
 * the last frame. Cancels: when the stream fails here, or when downstream does.
 * Holds: one block and `max` bytes.
 */
WEIR_API struct weir_flow *weir_flow_delimited(
	struct weir_flow *flow, const void *delimiter, size_t length,
	size_t max, enum weir_flow_remainder remainder);

enum weir_flow_byte_order {
	WEIR_FLOW_BYTE_ORDER_BIG,
	WEIR_FLOW_BYTE_ORDER_LITTLE
};

/*
 * Cuts the bytes into frames of up to `max` bytes. In front of each frame
 * stands its length, an unsigned number of `header` bytes (1, 2, 4, 8) in byte
 * order `order`. Fails with -EMSGSIZE on a longer frame, and with -EPROTO when
 * upstream completes within a frame. -EINVAL: another `header`, no such order,
 * `max` above 1 GiB.
 *
 * Emits: a frame, without its length. Completes: when upstream does. Cancels:
 * when the stream fails here, or when downstream does. Holds: one block and one
 * frame.
 */
WEIR_API struct weir_flow *weir_flow_length_prefixed(
	struct weir_flow *flow, size_t header, enum weir_flow_byte_order order,
	size_t max);

struct weir_flow_length_field_options {
	size_t offset; /* how many bytes of a frame are in front of its length */
	/*
	 * Computes the size of a frame. `head` is its `offset` bytes and its
	 * length, and *size is as if `length` counted the bytes behind these.
	 * Returns 0 and the size of the whole frame in *size, or a negative
	 * errno. Called once or several times for a frame. NULL: *size is right
	 * as it is.
	 */
	int (*size)(const char *head, uint64_t length, size_t *size,
		    void *context);
	void *context;
	uint64_t reserved[4]; /* zero */
};

/*
 * As weir_flow_length_prefixed(), with the length anywhere in a frame, which is
 * emitted whole and is up to `max` bytes in all. `options` NULL: the length is
 * in front. Fails with -EPROTO if the size that is computed is less than the
 * length takes up, or another one than before, and with the error of
 * options->size. -EINVAL: bad arguments as above, `reserved` is not zero, `max`
 * is less than options->offset and `header`.
 *
 * Emits: a frame, with its length. Completes: when upstream does. Cancels: when
 * the stream fails here, or when downstream does. Holds: one block and one
 * frame.
 */
WEIR_API struct weir_flow *weir_flow_length_field(
	struct weir_flow *flow, size_t header, enum weir_flow_byte_order order,
	size_t max, const struct weir_flow_length_field_options *options);

/*
 * Cuts JSON into its objects (Pekko's JsonFraming). A frame is an object of up
 * to `max` bytes, from its opening brace to the closing one. The objects may
 * stand one behind the other, in lines, or in arrays:
 *
 * 1. Between objects may be any number of spaces, tabs, newlines, carriage
 *    returns and commas, and arrays that are in no other array begin and end.
 *    So numbers, strings, true, false and null are no frames. Any other byte
 *    fails the stream with -EBADMSG; the message says which byte, and where.
 * 2. In an object only strings and braces are looked at: a frame need not be
 *    correct JSON. A brace in a string does not count, nor does a quote behind
 *    a backslash.
 * 3. A longer object fails the stream with -EMSGSIZE, and the end of the stream
 *    within an object or an array with -EPROTO.
 *
 * -EINVAL: `max` is 0 or above 1 GiB.
 *
 * Emits: an object. Completes: when upstream does. Cancels: when the stream
 * fails here, or when downstream does. Holds: one block and one object.
 */
WEIR_API struct weir_flow *weir_flow_json_objects(struct weir_flow *flow,
						  size_t max);

#ifdef __cplusplus
}
#endif

#endif
