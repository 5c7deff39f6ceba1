/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that take one item after the other, each with a function of yours
 * and a `context` that is passed to it. An item that is given to a function by
 * value is still the stream's, one that is given by address is the function's to
 * replace; either is dropped by the library when the function fails (see
 * weir_flow_supervise()).
 */
#ifndef WEIR_FLOW_ELEMENT_H
#define WEIR_FLOW_ELEMENT_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Each item through `map`, which replaces *item: 0, or a negative errno, with
 * *item as it was. Where items become something else, say so by
 * weir_flow_items().
 *
 * Emits: what `map` has made of an item. Completes: when upstream does. Cancels:
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_map(struct weir_flow *flow,
					 int (*map)(void **item, void *context),
					 void *context);

/*
 * The same over arrays: `map` replaces items[0] to items[n - 1] and returns 0;
 * or it returns a negative errno, with *done items replaced and the others as
 * they were. WEIR_FLOW_MAP makes such a function of one for an item.
 *
 * Emits: what `map` has made of an item. Completes: when upstream does. Cancels:
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_map_n(struct weir_flow *flow,
					   int (*map)(void **items, size_t n,
						      size_t *done,
						      void *context),
					   void *context);

/*
 * Makes `map_n`, for weir_flow_map_n(), of an inline function
 *
 *	static inline int map(void **item, void *context);
 *
 * so that the compiler sees the loop, and may use vectors for it.
 */
#define WEIR_FLOW_MAP(map) \
	static int map##_n(void **items, size_t n, size_t *done, \
			   void *context) \
	{ \
		size_t weir__i; \
		int weir__rc = 0; \
\
		for (weir__i = 0; weir__i < n; weir__i++) { \
			weir__rc = map(&items[weir__i], context); \
			if (weir__rc != 0) \
				break; \
		} \
		*done = weir__i; \
		return weir__rc; \
	}

/*
 * Those items that `keep` wants: 1, 0 for no, or a negative errno. The others
 * are dropped.
 *
 * Emits: an item that is wanted. Completes: when upstream does. Cancels: when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_filter(struct weir_flow *flow,
					    int (*keep)(void *item,
							void *context),
					    void *context);

#ifdef __cplusplus
}
#endif

#endif
