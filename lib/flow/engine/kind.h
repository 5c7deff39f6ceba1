/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of flows. A blueprint is a tree of nodes (struct weir_flow); the
 * end of the flow is the root. A run makes operators (struct weir__op) of the
 * nodes, and actors (struct weir__island) that each drive a tree of operators.
 * "Above" an operator is upstream of it, "below" it is downstream.
 *
 * An operator is pulled: its caller gives it an array, and it fills in up to
 * `room` items, which it gets by pulling the operators above it, mostly into
 * the same array. So demand goes up as `room`, and items come down as results,
 * and nothing is queued between two operators. All of this happens in turns and
 * handlers of one actor. The rules for an implementation of a kind:
 *
 * 1. pull() returns the number of items it has put into `items`, never more
 *    than `room`; these items are the caller's. With a `room` of 0, pull()
 *    takes no items from upstream, but pulls upstream with 0 to see whether it
 *    has ended or failed.
 * 2. If pull() returns 0, the operator has not ended, and the operators that it
 *    has pulled gave no items, then the operator waits for an event that wakes
 *    the island. An in-port wakes the island by itself, a timer or another
 *    thread by weir__op_wake(). If the operator waits for no event, it must
 *    call weir__op_again(), and is pulled again.
 * 3. pull() does a bounded amount of work: one batch.
 * 4. An operator ends itself by weir__op_end() or weir__op_fail(), which may
 *    happen in the pull() that returns its last items. It is not pulled after
 *    that. Both calls cancel the operators above, and close the operator.
 *    weir__op_follow() ends the operator if the operator above has ended.
 * 5. Items that the operator has taken and not emitted are dropped in close().
 *    close() is called once for each open(): when the operator ends, fails, is
 *    cancelled or is restarted.
 * 6. An item is dropped by weir__op_drop() of the operator that emitted it.
 * 7. `holds` is set if the operator may emit items without taking any, before
 *    upstream has ended or in more than one pull after that: leftovers, or
 *    items that are due at a time. An island waits for input and room at once
 *    only if none of its operators `holds`.
 * 8. An end above wakes the island once, and there may be no later pull,
 *    because downstream asks for no more. So an operator that holds no items
 *    when pull() returns must have pulled every operator above it that has not
 *    ended: in this pull, with 0 if it needs no items, or at least since the
 *    island was woken (n_wakes).
 */
#ifndef WEIR_FLOW_ENGINE_KIND_H
#define WEIR_FLOW_ENGINE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/flow.h>
#include <weir/inspect.h>

struct weir__asked;
struct weir__build;
struct weir__op;

/* A kind of operator. Most files of operators/ define a few. */
struct weir__kind {
	const char *name; /* of the public function, without weir_flow_ */
	size_t state_size;
	/* Rule 1. Called only while the operator is open and has not ended. */
	size_t (*pull)(struct weir__op *op, void **items, size_t room);
	/*
	 * Of an operator with one input that holds nothing, and has nothing to
	 * emit but for an item that it takes: does so with `n` items in place,
	 * and returns how many it emits. It may end, but need not look whether
	 * the operator above has. With weir__apply_pull() as its pull(). NULL:
	 * it is no such operator.
	 */
	size_t (*apply)(struct weir__op *op, void **items, size_t n);
	/* The state is zeroed, the operators above are open. May be NULL. 0; or
	 * a negative errno: then the operator holds nothing. */
	int (*open)(struct weir__op *op);
	/* Rule 5. May be NULL. */
	void (*close)(struct weir__op *op);
	/* Frees what the arguments own. May be NULL. */
	void (*free)(struct weir_flow *flow);
	/* True: it has items for a pull with room, and is not pulled to say so.
	 * NULL: that is not known. */
	bool (*has)(struct weir__op *op);
	/* Called before anything else of a run is made. 0, or -EALREADY. */
	int (*claim)(struct weir_flow *flow);
	/* Takes the claim back, because the run could not be made. */
	void (*unclaim)(struct weir_flow *flow);
	/* Returns an upstream fan with an outlet that is missing from this
	 * flow; NULL if complete. */
	const struct weir_flow *(*lacking)(const struct weir_flow *flow);
	/* Returns the flow above that is not in `up`, if this flow is the one
	 * that visits it in a walk; else NULL. */
	const struct weir_flow *(*above)(const struct weir_flow *flow);
	/* The items that the operator emits, if the flow does not say. NULL:
	 * the items that it takes; of a source, plain values. */
	const struct weir_items *(*items)(const struct weir_flow *flow);
	/* Of an outlet that says what it emits: the flow that makes its items,
	 * and takes those of the flows above in its place. May be NULL. */
	const struct weir_flow *(*maker)(const struct weir_flow *flow);
	/* Returns why the operator cannot take the items that come to it, a
	 * static string. NULL: it can. */
	const char *(*refuses)(const struct weir_flow *flow);
	/* Makes the operators of the node, if they are not just one; NULL is
	 * weir__op_new(). */
	struct weir__op *(*build)(struct weir__build *build,
				  const struct weir_flow *flow);
	/*
	 * Of an operator with op->credit: `n` more items will be pulled from
	 * it. NULL: the operator asks for no more items than `room`.
	 */
	void (*grant)(struct weir__op *op, uint32_t n);
	bool holds; /* rule 7 */
	/*
	 * The first `keeps` bytes of the state survive a restart: parts that
	 * other code points to, such as timers, or that are set from outside.
	 */
	size_t keeps;
	/* What wakes it when it holds items or has none, as a look tells;
	 * WEIR_WAIT_NONE: nothing, or it is not known. The state begins with a
	 * struct weir__op_timer if it is a time, and with a struct weir__op_fd if
	 * it is a descriptor. */
	enum weir_wait awaits;
	/* Tells what it waits for now, beside `awaits`: an actor's result, or a
	 * descriptor that is not first in its state. False: for nothing. NULL:
	 * there is no more to tell. Any thread that looks: actor/look.h. */
	bool (*waits)(const struct weir__op *op, struct weir__asked *part);
	bool stateless; /* its state is items only: a restart is a resume */
	bool source;	/* a drain ends it */
	/*
	 * Of a source: called in place of pull() when the run drains. It takes
	 * the items that have come, and then ends. NULL: the source ends at
	 * once.
	 */
	size_t (*drain)(struct weir__op *op, void **items, size_t room);
	bool makes; /* emits other items than it takes: plain values */
	/*
	 * A function of the user's makes its items of those that it takes. If
	 * these are not plain values, what it emits must be said.
	 */
	bool remakes;
	bool boundary;	   /* built as an actor of its own */
	bool needs_island; /* not nested: it needs its own actor */
	bool cuts;	   /* has a boundary above, and none below */
	bool nests;	   /* see weir__op_nest() */
	bool beside; /* what it nests emits nothing: it emits what it takes */
	bool lazy;   /* the operators above are made by weir__op_nest_up() */
	bool passes; /* what is said of its items is said of the flow above */
	bool any_input; /* several above: takes from any that has items */
	bool ready;	/* its items are at hand: no call of it may block */
	bool delays;	/* weir_flow_delay_errors() is for it */
};

/*
 * A node of a blueprint, followed by its arguments. Walks over nodes and over
 * operators recurse. The recursion is bounded by WEIR_FLOW_DEPTH_MAX: `depth`
 * is not above it, nor is the depth of a nested flow plus the number of
 * operators below that are being pulled.
 */
struct weir_flow {
	const struct weir__kind *kind;
	const char *name;
	const struct weir_items *items;
	enum weir_directive (*decide)(struct weir_error *error, void *context);
	void *decide_context;
	void (*failed)(struct weir_error *error, void *context);
	void *failed_context;
	size_t size;
	bool delays_errors;	 /* weir_flow_delay_errors() was called */
	bool has_items;		 /* weir_flow_items() was called */
	bool same_items;	 /* weir_flow_same_items() was called */
	bool taken;		 /* another flow has taken it over */
	struct weir_flow *taker; /* the flow that has taken it, once made */
	uint32_t depth;		 /* longest chain: this flow and those above */
	uint32_t n_up;
	struct weir_flow **up;
	_Alignas(max_align_t) char args[];
};

#endif
