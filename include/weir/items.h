/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the items of a stream are. An item is a `void *`, and small integers
 * need no allocation. Over a link any value goes, NULL included; a subscriber's
 * on_next (stream.h) takes no NULL. Every item is delivered or dropped exactly
 * once on every path: produced + shared = delivered + dropped.
 */
#ifndef WEIR_ITEMS_H
#define WEIR_ITEMS_H

#include <weir/api.h>

/*
 * Borrowed by the ports that name it; lives until they are released. A port
 * without it carries plain values: nothing to drop, shared by copying.
 *
 * Both are called by whichever thread runs the stage concerned, or drops the
 * last reference to it; they may block no one and must not call the library
 * except to free what they own.
 */
struct weir_items {
	/* The item will not be delivered. NULL: nothing to do. */
	void (*drop)(void *item, void *context);
	/*
	 * One more holder of the item: 0, or a negative errno and no holder
	 * more. NULL together with `drop`: items cannot be shared, and a second
	 * subscriber is refused with -ENOTSUP.
	 */
	int (*share)(void *item, void *context);
	void *context; /* passed to both */
};

#endif
