/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that take all items and emit one result, or none; and
 * weir_flow_scan(), which emits each intermediate result. If a function fails,
 * the item that it was given stays the stream's (see flow_element.h). An
 * operator whose function is missing fails the flow with -EINVAL.
 */
#ifndef WEIR_FLOW_SINK_H
#define WEIR_FLOW_SINK_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- One by one ----------------------------------------------------------- */

/*
 * Gives each item to `take`. It returns 0, and the item is the function's; or a
 * negative errno, and the item is dropped.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_for_each(struct weir_flow *flow,
					      int (*take)(void *item,
							  void *context),
					      void *context);

/*
 * As weir_flow_for_each(), over arrays. `take` returns 0, and all `n` items are
 * the function's; or a negative errno, and the first *done items are: item
 * *done has failed. If the stream goes on, `take` is called again with the
 * items behind the failed one.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_for_each_n(
	struct weir_flow *flow,
	int (*take)(void *const *items, size_t n, size_t *done, void *context),
	void *context);

/*
 * Drops each item. What operators behind it add, such as those of flow_error.h,
 * is plain values unless weir_flow_items() says otherwise.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_ignore(struct weir_flow *flow);

/* --- Folds ---------------------------------------------------------------- */

/*
 * The functions of the folds below. An accumulator is a value of yours: a
 * number or a pointer. weir_flow_items() says what results are, and must unless
 * the items are plain values; the accumulator is dropped in the same way.
 */
struct weir_flow_fold_functions {
	/*
	 * Sets *result, the accumulator that a run begins with, also after a
	 * restart: 0 or a negative errno. NULL: it begins as NULL, which is 0.
	 */
	int (*zero)(void **result, void *context);
	/* Folds the item into *result: 0, and the item is the function's; or a
	 * negative errno. */
	int (*fold)(void **result, void *item, void *context);
};

/*
 * Emits the accumulator when all items were folded into it. Without items, the
 * result is what `zero` has set. `functions` is copied.
 *
 * Emits: the result, when upstream has completed. Completes: behind it.
 * Cancels: when downstream does. Holds: the result.
 */
WEIR_API struct weir_flow *weir_flow_fold(
	struct weir_flow *flow,
	const struct weir_flow_fold_functions *functions, void *context);

/*
 * As weir_flow_fold(), over arrays; the accumulator begins as NULL (0). `fold`
 * folds `n` items into *result and returns 0; or it returns a negative errno,
 * and has folded the first *done items. WEIR_FLOW_FOLD makes such a function of
 * a function for one item.
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
 * As weir_flow_fold(), with the first item as the accumulator that `fold`
 * begins with. Without items the stream fails with -ENODATA.
 *
 * Emits: the result, when upstream has completed. Completes: behind it.
 * Cancels: when downstream does. Holds: the result.
 */
WEIR_API struct weir_flow *weir_flow_reduce(
	struct weir_flow *flow,
	int (*fold)(void **result, void *item, void *context), void *context);

/*
 * As weir_flow_fold(), but emits each intermediate result; first, at once, the
 * one of `zero`. Results that have a `drop` must have a `share`, too: else
 * -ENOTSUP.
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
 * Drops the items, and emits their number as (void *)(uintptr_t).
 *
 * Emits: the number, when upstream has completed. Completes: behind it.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_count(struct weir_flow *flow);

/* All items of a flow; the list owns them. */
struct weir_flow_list {
	void **items;
	size_t n;
	struct {
		size_t capacity;
		const struct weir_items *kind;
		const struct weir_allocator *allocator;
	} WEIR_PRIVATE;
};

/* Drops the items that are left in the list, and frees it. NULL is fine. */
WEIR_API void weir_flow_list_free(struct weir_flow_list *list);

/*
 * How lists are dropped, for weir_flow_items() in flows of your own, such as
 * behind a weir_flow_group_by() whose flows make lists. They cannot be shared.
 * Lives for ever.
 */
WEIR_API const struct weir_items *weir_flow_list_items(void);

/*
 * Collects all items in a struct weir_flow_list, which grows as items come. The
 * stream fails with -EMSGSIZE when there are more than `max` items; 0: no
 * limit.
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
