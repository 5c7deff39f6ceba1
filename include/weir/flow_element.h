/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that take one item after the other, each with a function of yours
 * and a `context` that is passed to it. An item that a function is given by
 * value stays the stream's; one that is given by address may be replaced, and
 * the old one is the function's then. When a function fails, the item is as it
 * was, and is dropped (see weir_flow_supervise()). No function: the flow fails
 * with -EINVAL.
 */
#ifndef WEIR_FLOW_ELEMENT_H
#define WEIR_FLOW_ELEMENT_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- One for one ---------------------------------------------------------- */

/*
 * Each item through `map`, which replaces *item: 0, or a negative errno. Where
 * items become something else, say so by weir_flow_items().
 *
 * Emits: what `map` has made of an item. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_map(struct weir_flow *flow,
					 int (*map)(void **item, void *context),
					 void *context);

/*
 * The same over arrays: `map` replaces items[0] to items[n - 1] and returns 0;
 * or it returns a negative errno, with *done items replaced and the others as
 * they were. WEIR_FLOW_MAP makes such a function of one for an item.
 *
 * Emits: what `map` has made of an item. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
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
 * As weir_flow_map(), with the number of the item, from 0 in each run.
 *
 * Emits: what `map` has made of an item. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_index(
	struct weir_flow *flow,
	int (*map)(void **item, uint64_t index, void *context), void *context);

/* --- One or none ---------------------------------------------------------- */

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

/*
 * Both at once: `map` returns 1 with *item replaced, or 0 with *item as it was,
 * which is dropped, or a negative errno.
 *
 * Emits: what `map` has made of an item that is wanted. Completes: when
 * upstream does. Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_filter_map(struct weir_flow *flow,
						int (*map)(void **item,
							   void *context),
						void *context);

/*
 * Leaves out each item whose key is that of the one before. `key` sets *key: 0,
 * or a negative errno. Without `key` it is the item as a number.
 *
 * Emits: an item whose key differs from that of the one before, and the first.
 * Completes: when upstream does. Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_distinct_until_changed(
	struct weir_flow *flow,
	int (*key)(void *item, uintptr_t *key, void *context), void *context);

/* --- The first, the rest -------------------------------------------------- */

/*
 * The first `n` items; with n <= 0 none, at once, though upstream may never
 * end.
 *
 * Emits: each of the first `n` items. Completes: behind the last of them.
 * Cancels: behind the last of them, or when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_take(struct weir_flow *flow, int64_t n);

/*
 * All but the first `n` items, which are dropped.
 *
 * Emits: each item behind the first `n`. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_drop(struct weir_flow *flow, int64_t n);

/*
 * The items before the first that `take` does not want (1, 0 or a negative
 * errno), and that one too if `inclusive`, else it is dropped.
 *
 * Emits: an item that is wanted. Completes: when one is not, or when upstream
 * does. Cancels: when an item is not wanted, or when downstream does. Holds:
 * nothing.
 */
WEIR_API struct weir_flow *weir_flow_take_while(struct weir_flow *flow,
						int (*take)(void *item,
							    void *context),
						bool inclusive, void *context);

/*
 * The items from the first on that `drop` does not want to be dropped (1, 0 or
 * a negative errno); those behind it are not asked for.
 *
 * Emits: the first item that is not dropped, and each behind it. Completes:
 * when upstream does. Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_drop_while(struct weir_flow *flow,
						int (*drop)(void *item,
							    void *context),
						void *context);

/*
 * Fails with -EMSGSIZE when there are more than `n` items.
 *
 * Emits: each of the first `n` items. Completes: when upstream does. Cancels:
 * with the item after those, or when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_limit(struct weir_flow *flow, int64_t n);

/* --- Several for one, and state ------------------------------------------- */

/*
 * Several items of each. `next` is called with i = 0, 1, ... for the same item:
 * 1, and *out is an item more; 0, there are none left, and `item` is dropped; a
 * negative errno, too. What is made is plain values unless weir_flow_items()
 * says otherwise.
 *
 * Emits: what `next` makes, as it is asked for. Completes: when upstream does
 * and nothing is left to make. Cancels: when downstream does. Holds: one item.
 */
WEIR_API struct weir_flow *weir_flow_map_concat(
	struct weir_flow *flow,
	int (*next)(void *item, uint64_t i, void **out, void *context),
	void *context);

/* What weir_flow_stateful_map() is made of; `step` is needed. */
struct weir_flow_stateful_map_functions {
	/* A state for a run, or after a restart, in *state: 0 or a negative
	 * errno. NULL: it begins as NULL. */
	int (*create)(void **state, void *context);
	/*
	 * The item is the function's, but with a negative errno: 1, and *item
	 * goes on, replaced or not; 0, nothing does.
	 */
	int (*step)(void **state, void **item, void *context);
	/* Upstream has ended well: 1, *item goes on, and it is called again; 0,
	 * that was all; or a negative errno. NULL: nothing is left. */
	int (*flush)(void **state, void **item, void *context);
	/* Once for each `create`, last. NULL: nothing to do. */
	void (*destroy)(void *state, void *context);
};

/*
 * A function with a state of its own for each run; `functions` is copied.
 *
 * Emits: what `step` and `flush` put out. Completes: when upstream does and
 * `flush` has nothing left. Cancels: when downstream does. Holds: the state.
 */
WEIR_API struct weir_flow *weir_flow_stateful_map(
	struct weir_flow *flow,
	const struct weir_flow_stateful_map_functions *functions,
	void *context);

/* --- Looking on ----------------------------------------------------------- */

/* All may be NULL. What an item's drop does is the hook of those left out. */
struct weir_flow_peek_functions {
	void (*started)(void *context);		    /* a run begins */
	void (*requested)(size_t n, void *context); /* so many at most, now */
	void (*item)(void *item, void *context);    /* one goes by */
	void (*completed)(void *context);
	void (*failed)(struct weir_error *error, void *context); /* borrowed */
	void (*cancelled)(void *context);
	void (*ended)(void *context); /* after any of the three; once */
};

/*
 * Calls `hooks`, which is copied, of what goes by.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when downstream
 * does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_peek(
	struct weir_flow *flow, const struct weir_flow_peek_functions *hooks,
	void *context);

#ifdef __cplusplus
}
#endif

#endif
