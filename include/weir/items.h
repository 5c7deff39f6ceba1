/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the items of a stream are. An item is a `void *`, so small integers need
 * no allocation. Every item is delivered or dropped exactly once, on every
 * path: produced + shared = delivered + dropped.
 *
 * NULL is an item like any other, the number 0: it is delivered, and `drop` and
 * `share` are called for it. With two exceptions: the signals of a subscriber
 * (stream.h) do not carry it, and a stream that would send it by them fails
 * with -EINVAL; and where NULL also says that there is no item, as in the
 * result of a flow or of weir_in_take(), the two look alike.
 */
#ifndef WEIR_ITEMS_H
#define WEIR_ITEMS_H

#include <weir/api.h>

/*
 * Borrowed by the ports that name it; lives until they are released. A port
 * without it carries plain values: nothing to drop, shared by copying.
 *
 * `drop` and `share` are called by the thread that runs the stage concerned, or
 * that drops the last reference to it. They must not block, and must not call
 * the library except to free objects that they own.
 */
struct weir_items {
	/* The item will not be delivered. NULL: nothing to do. */
	void (*drop)(void *item, void *context);
	/*
	 * Makes one more holder of the item: 0; or a negative errno, and there
	 * is no more holder. If `share` is NULL and `drop` is not, items cannot
	 * be shared, and a second subscriber is refused with -ENOTSUP.
	 */
	int (*share)(void *item, void *context);
	void *context;	  /* passed to both */
	const char *name; /* "lines", for messages; or NULL */
};

/*
 * What happens to an item for which there is no room. Flow buffers and queues,
 * process managers and pools use it; each says which it takes, and refuses the
 * others with -EINVAL.
 */
enum weir_overflow {
	/* Nothing is dropped: no item is asked for, or who offers one keeps it
	 * and is told. */
	WEIR_OVERFLOW_BACK_PRESSURE,
	WEIR_OVERFLOW_DROP_HEAD, /* the oldest is dropped, to make room */
	WEIR_OVERFLOW_DROP_TAIL, /* the youngest of those that are there */
	WEIR_OVERFLOW_DROP_ALL,	 /* all that are there */
	WEIR_OVERFLOW_DROP_NEW,	 /* the one for which there is no room */
	WEIR_OVERFLOW_FAIL,	 /* the stream fails with -EOVERFLOW */
};

#endif
