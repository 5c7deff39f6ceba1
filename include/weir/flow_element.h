/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that take one item after the other. Each calls a function of yours,
 * and passes a `context` to it. An item that a function gets by value stays the
 * stream's. An item that a function gets by address may be replaced by the
 * function, which owns the old item then. If the function fails, the item is as
 * it was, and is dropped (see weir_flow_supervise()). An operator whose
 * function is missing fails the flow with -EINVAL. Where a function makes
 * items, weir_flow_items() behind the operator says what they are.
 */
#ifndef WEIR_FLOW_ELEMENT_H
#define WEIR_FLOW_ELEMENT_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- One for one ---------------------------------------------------------- */

/*
 * Passes each item through `map`, which replaces *item and returns 0, or
 * returns a negative errno. What it makes must be said unless it takes plain
 * values: weir_flow_same_items(), weir_flow_items().
 *
 * Emits: what `map` has made of an item. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_map(struct weir_flow *flow,
					 int (*map)(void **item, void *context),
					 void *context);

/*
 * As weir_flow_map(), over arrays: `map` replaces items[0] to items[n - 1] and
 * returns 0; or it returns a negative errno, has replaced the first *done
 * items, and has left the others as they were. WEIR_FLOW_MAP makes such a
 * function of a function for one item.
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
 * As weir_flow_map(), and `map` also gets the number of the item, which counts
 * from 0 in each run.
 *
 * Emits: what `map` has made of an item. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_index(
	struct weir_flow *flow,
	int (*map)(void **item, uint64_t index, void *context), void *context);

/* --- One or none ---------------------------------------------------------- */

/*
 * Passes the items for which `keep` returns 1. Items for which `keep` returns 0
 * are dropped. `keep` may also return a negative errno.
 *
 * Emits: an item for which `keep` returns 1. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_filter(struct weir_flow *flow,
					    int (*keep)(void *item,
							void *context),
					    void *context);

/*
 * A filter and a map in one function. `map` returns 1 and has replaced *item,
 * which is passed; or 0 and has left *item as it was, which is dropped; or a
 * negative errno.
 *
 * Emits: what `map` has made of an item, if it returned 1. Completes: when
 * upstream does. Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_filter_map(struct weir_flow *flow,
						int (*map)(void **item,
							   void *context),
						void *context);

/*
 * Drops each item whose key equals the key of the item before it. `key` sets
 * *key and returns 0, or returns a negative errno. If `key` is NULL, the key is
 * the item as a number.
 *
 * Emits: the first item, and each item whose key differs from the key of the
 * item before it. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_distinct_until_changed(
	struct weir_flow *flow,
	int (*key)(void *item, uintptr_t *key, void *context), void *context);

struct weir_flow_key_functions; /* flow_substream.h */

/*
 * Drops each item whose key equals the key of one of the last `n` items that
 * were passed. So with up to `n` different keys each of them comes once, as in
 * RxJava's distinct; when there are more, the one that has been remembered the
 * longest is forgotten. `key` is as for weir_flow_distinct_until_changed().
 * `keys` is copied, and gets the same `context`; NULL: keys are numbers. The
 * memory for the keys is allocated when a run starts. -EINVAL: `n` is 0 or
 * above WEIR_CAPACITY_MAX, or `keys` lacks a function.
 *
 * Emits: an item whose key is not remembered. Completes: when upstream does.
 * Cancels: when downstream does. Holds: `n` keys.
 */
WEIR_API struct weir_flow *weir_flow_distinct(
	struct weir_flow *flow, size_t n,
	int (*key)(void *item, uintptr_t *key, void *context), void *context,
	const struct weir_flow_key_functions *keys);

/* --- The first, the rest -------------------------------------------------- */

/*
 * Passes the first `n` items. With n == 0 the stream completes at once, without
 * items, even if upstream never ends.
 *
 * Emits: each of the first `n` items. Completes: behind the last of them.
 * Cancels: behind the last of them, or when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_take(struct weir_flow *flow, size_t n);

/*
 * Drops the first `n` items, and passes all others.
 *
 * Emits: each item behind the first `n`. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_drop(struct weir_flow *flow, size_t n);

/*
 * Passes items as long as `take` returns 1. The first item for which `take`
 * returns 0 ends the stream: it is passed as well if `inclusive`, else it is
 * dropped. `take` may also return a negative errno.
 *
 * Emits: an item for which `take` returns 1. Completes: when `take` returns 0,
 * or when upstream does. Cancels: when `take` returns 0, or when downstream
 * does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_take_while(struct weir_flow *flow,
						int (*take)(void *item,
							    void *context),
						void *context, bool inclusive);

/*
 * Drops items as long as `drop` returns 1. From the first item on for which
 * `drop` returns 0, all items are passed, and `drop` is not called any more.
 * `drop` may also return a negative errno.
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
 * at item `n` + 1, or when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_limit(struct weir_flow *flow, size_t n);

/*
 * Fails with -EMSGSIZE, and drops the item, at the first item with which the
 * weights add up to more than `weight`, as Pekko's limitWeighted. `weigh` is
 * called once for each item.
 *
 * Emits: each item, as long as the weights add up to `weight` or less.
 * Completes: when upstream does. Cancels: when it fails, or when downstream
 * does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_limit_weighted(
	struct weir_flow *flow, uint64_t weight,
	uint64_t (*weigh)(void *item, void *context), void *context);

/* --- The last, all but the last ------------------------------------------- */

/*
 * Passes the last `n` items, as RxJava's takeLast. If upstream fails, they are
 * dropped. The memory for them is allocated when a run starts. -EINVAL: `n` is
 * above WEIR_CAPACITY_MAX.
 *
 * Emits: each of the last `n` items, when upstream has completed. Completes:
 * behind them. Cancels: when downstream does. Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_take_last(struct weir_flow *flow,
					       size_t n);

/*
 * Passes all items but the last `n`, as RxJava's skipLast. The last `n` items
 * are dropped when upstream completes or fails. The memory for them is
 * allocated when a run starts. -EINVAL: `n` is above WEIR_CAPACITY_MAX.
 *
 * Emits: each item, when `n` others have come behind it. Completes: when
 * upstream does. Cancels: when downstream does. Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_drop_last(struct weir_flow *flow,
					       size_t n);

/* --- Several for one, and state ------------------------------------------- */

/* Result of `next`: one more item, and it was the last one. */
#define WEIR_NEXT_LAST 2

/*
 * Makes several items of each item. `next` is called with i = 0, 1, ... for the
 * same `item`. It returns 1 with one more item in *out; WEIR_NEXT_LAST with the
 * last one; or 0, if there are no more; or a negative errno. After all of these
 * but 1, `item` is dropped. `next` is called when an item is asked for: so an
 * end from upstream behind a 1 waits for that, and behind a WEIR_NEXT_LAST it
 * does not.
 *
 * Emits: each item that `next` makes, when asked for. Completes: when upstream
 * has, and `next` has no more of its last item. Cancels: when downstream does.
 * Holds: one item.
 */
WEIR_API struct weir_flow *weir_flow_map_concat(
	struct weir_flow *flow,
	int (*next)(void *item, uint64_t i, void **out, void *context),
	void *context);

/* The functions of weir_flow_stateful_map(); `step` is needed. */
struct weir_flow_stateful_map_functions {
	/*
	 * Makes the state of a run, also after a restart: sets *state and
	 * returns 0, or returns a negative errno. NULL: the state begins as
	 * NULL.
	 */
	int (*create)(void **state, void *context);
	/*
	 * 1: *item is emitted, replaced or not. 0: nothing is emitted, and the
	 * item is the function's. A negative errno: the item stays the
	 * stream's.
	 */
	int (*step)(void **state, void **item, void *context);
	/*
	 * Called when upstream has ended well. 1: *item is emitted, and `flush`
	 * is called again. 0: nothing is left. Or a negative errno. NULL:
	 * nothing is left.
	 */
	int (*flush)(void **state, void **item, void *context);
	/* Called last, once for each successful `create`. NULL: nothing to
	 * do. */
	void (*destroy)(void *state, void *context);
};

/*
 * A map with a state of its own for each run. `functions` is copied.
 *
 * Emits: each item for which `step` or `flush` returns 1. Completes: when
 * upstream does and `flush` has nothing left. Cancels: when downstream does.
 * Holds: the state.
 */
WEIR_API struct weir_flow *weir_flow_stateful_map(
	struct weir_flow *flow,
	const struct weir_flow_stateful_map_functions *functions,
	void *context);

/* The functions of weir_flow_intersperse(). Each makes *item and returns 0, or
 * returns a negative errno. NULL: nothing comes there. */
struct weir_flow_intersperse_functions {
	int (*start)(void **item, void *context);
	int (*between)(void **item, void *context);
	int (*end)(void **item, void *context);
};

/*
 * Emits an item of yours with the first item, between any two, and behind the
 * last, as Pekko's intersperse. Without items, what `start` and `end` make is
 * emitted when upstream completes; behind an error nothing is. If `start` or
 * `between` fails, the item that would have come behind it has failed.
 * `functions` is copied.
 *
 * Emits: each item, what `start` or `between` makes right before it, and what
 * `end` makes. Completes: when upstream does, and what `end` has made is
 * emitted. Cancels: when downstream does. Holds: one item.
 */
WEIR_API struct weir_flow *weir_flow_intersperse(
	struct weir_flow *flow,
	const struct weir_flow_intersperse_functions *functions, void *context);

/* --- Looking on ----------------------------------------------------------- */

/* All hooks may be NULL. There is no hook for dropped items: count those in
 * items->drop. */
struct weir_flow_peek_functions {
	void (*started)(void *context);		    /* a run begins */
	void (*requested)(size_t n, void *context); /* up to n, now */
	void (*item)(void *item, void *context);    /* one goes by */
	void (*completed)(void *context);
	void (*failed)(struct weir_error *error, void *context); /* borrowed */
	void (*cancelled)(void *context);
	void (*ended)(void *context); /* after any of the three; once */
};

/*
 * Calls `hooks` for everything that passes. `hooks` is copied.
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
