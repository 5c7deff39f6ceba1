/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that take all items and put out one result, or none; and
 * weir_flow_scan(), which puts out each result on the way. What a function is
 * given stays the stream's when it fails, see flow_element.h. No function: the
 * flow fails with -EINVAL.
 */
#ifndef WEIR_FLOW_SINK_H
#define WEIR_FLOW_SINK_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- One by one ----------------------------------------------------------- */

/*
 * Gives each item to `take`: 0, and the item is the function's; or a negative
 * errno, and it is dropped.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_for_each(struct weir_flow *flow,
					      int (*take)(void *item,
							  void *context),
					      void *context);

/*
 * The same over arrays: `take` returns 0 and all `n` items are the function's;
 * or a negative errno, and the first *done are. The others but the one that
 * failed are given again if it is to go on.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_for_each_n(
	struct weir_flow *flow,
	int (*take)(void *const *items, size_t n, size_t *done, void *context),
	void *context);

/*
 * Drops each item.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_ignore(struct weir_flow *flow);

/* --- Folds ---------------------------------------------------------------- */

/*
 * What the functions below are made of. An accumulator is a value of yours: a
 * number, or a pointer. Results are plain values unless weir_flow_items() says
 * how they are dropped, which holds for the accumulator, too.
 */
struct weir_flow_fold_functions {
	/* What a run, or one after a restart, begins with in *result: 0 or a
	 * negative errno. NULL: it begins as NULL, which is 0. */
	int (*zero)(void **result, void *context);
	/* Takes the item in: 0, and the item is the function's; or a negative
	 * errno. */
	int (*fold)(void **result, void *item, void *context);
};

/*
 * What has become of `zero` when all items were taken in; that alone if there
 * are none. `functions` is copied.
 *
 * Emits: the result, when upstream has completed. Completes: behind it.
 * Cancels: when downstream does. Holds: the result.
 */
WEIR_API struct weir_flow *weir_flow_fold(
	struct weir_flow *flow,
	const struct weir_flow_fold_functions *functions, void *context);

/*
 * The same from NULL (0), over arrays: `fold` takes in `n` items and returns 0;
 * or it returns a negative errno and has taken in the first *done.
 * WEIR_FLOW_FOLD makes such a function of one for an item.
 *
 * Emits: the result, when upstream has completed. Completes: behind it.
 * Cancels: when downstream does. Holds: the result.
 */
WEIR_API struct weir_flow *weir_flow_fold_n(struct weir_flow *flow,
					    int (*fold)(void **result,
							void *const *items,
							size_t n, size_t *done,
							void *context),
					    void *context);

/*
 * Makes `fold_n`, for weir_flow_fold_n(), of an inline function
 *
 *	static inline int fold(void **result, void *item, void *context);
 */
#define WEIR_FLOW_FOLD(fold) \
	static int fold##_n(void **result, void *const *items, size_t n, \
			    size_t *done, void *context) \
	{ \
		void *weir__result = *result; \
		size_t weir__i; \
		int weir__rc = 0; \
\
		for (weir__i = 0; weir__i < n; weir__i++) { \
			weir__rc = \
				fold(&weir__result, items[weir__i], context); \
			if (weir__rc != 0) \
				break; \
		} \
		*result = weir__result; \
		*done = weir__i; \
		return weir__rc; \
	}

/*
 * The first item, with all others taken in by `fold`, whose first argument
 * begins as that. Without items it fails with -ENODATA.
 *
 * Emits: the result, when upstream has completed. Completes: behind it.
 * Cancels: when downstream does. Holds: the result.
 */
WEIR_API struct weir_flow *weir_flow_reduce(
	struct weir_flow *flow,
	int (*fold)(void **result, void *item, void *context), void *context);

/*
 * As weir_flow_fold(), but each result goes on, `zero` first, at once. Results
 * that are dropped must be shared, too: -ENOTSUP otherwise.
 *
 * Emits: the first result, and the next one for each item. Completes: when
 * upstream does. Cancels: when downstream does. Holds: the result.
 */
WEIR_API struct weir_flow *weir_flow_scan(
	struct weir_flow *flow,
	const struct weir_flow_fold_functions *functions, void *context);

/* --- Which, how many, all ------------------------------------------------- */

/*
 * The first item.
 *
 * Emits: the first item. Completes: behind it, or when upstream does. Cancels:
 * behind it, or when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_first(struct weir_flow *flow);

/*
 * The last item.
 *
 * Emits: the last item, when upstream has completed. Completes: behind it.
 * Cancels: when downstream does. Holds: one item.
 */
WEIR_API struct weir_flow *weir_flow_last(struct weir_flow *flow);

/*
 * The number of items, which are dropped, as (void *)(uintptr_t).
 *
 * Emits: the number, when upstream has completed. Completes: behind it.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_count(struct weir_flow *flow);

/* All items of a flow, which are the list's. */
struct weir_flow_list {
	void **items;
	size_t n;
	/* private */
	size_t capacity;
	const struct weir_items *kind;
	const struct weir_allocator *allocator;
};

/* Drops the items that are left in the list, and frees it. NULL is fine. */
WEIR_API void weir_flow_list_free(struct weir_flow_list *list);

/*
 * All items in a struct weir_flow_list, which grows as they come. Fails with
 * -EMSGSIZE when there are more than `max`; 0: no limit.
 *
 * Emits: the list, when upstream has completed. Completes: behind it. Cancels:
 * when downstream does. Holds: up to `max` items.
 */
WEIR_API struct weir_flow *weir_flow_collect(struct weir_flow *flow,
					     size_t max);

#ifdef __cplusplus
}
#endif

#endif
