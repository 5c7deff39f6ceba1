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
#ifndef WEIR_FLOW_ENGINE_H
#define WEIR_FLOW_ENGINE_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <weir/actor.h>
#include <weir/any.h>
#include <weir/flow.h>
#include <weir/in.h>
#include <weir/out.h>

#include "actor/port.h"
#include "base/lock.h"

struct weir__build;
struct weir__op;
struct weir__island;
struct weir__tree;

/* A kind of operator. Most files of this folder define a few kinds. */
struct weir__kind {
	const char *name; /* of the public function, without weir_flow_ */
	size_t state_size;
	/* Rule 1. Called only while the operator is open and has not ended. */
	size_t (*pull)(struct weir__op *op, void **items, size_t room);
	/* The state is zeroed, the operators above are open. May be NULL. 0; or
	 * a negative errno: then the operator holds nothing. */
	int (*open)(struct weir__op *op);
	/* Rule 5. May be NULL. */
	void (*close)(struct weir__op *op);
	/* Frees what the arguments own. May be NULL. */
	void (*free)(struct weir_flow *flow);
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
	bool stateless; /* its state is items only: a restart is a resume */
	bool source;	/* a drain ends it */
	/*
	 * Of a source: called in place of pull() when the run drains. It takes
	 * the items that have come, and then ends. NULL: the source ends at
	 * once.
	 */
	size_t (*drain)(struct weir__op *op, void **items, size_t room);
	bool makes;	   /* emits other items than it takes: plain values */
	bool boundary;	   /* built as an actor of its own */
	bool needs_island; /* not nested: it needs its own actor */
	bool cuts;	   /* has a boundary above, and none below */
	bool nests;	   /* see weir__op_nest() */
	bool passes;	/* weir_flow_items() of it is that of the flow above */
	bool any_input; /* several above: takes from any that has items */
	bool ready;	/* its items are at hand: no call of it may block */
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
	size_t size;
	bool has_items;		 /* weir_flow_items() was called */
	bool taken;		 /* another flow has taken it over */
	struct weir_flow *taker; /* the flow that has taken it, once made */
	uint32_t depth;		 /* longest chain: this flow and those above */
	uint32_t n_up;
	struct weir_flow **up;
	_Alignas(max_align_t) char args[];
};

/* An operator of a run, followed by its state. */
struct weir__op {
	const struct weir__kind *kind;
	const struct weir_flow *flow;
	struct weir__island *island;
	struct weir__tree *tree;
	struct weir__op *next;		/* of the tree */
	const struct weir_items *items; /* the items that it emits */
	struct weir_error *error;	/* how it has ended */
	enum weir_directive (*decide)(struct weir_error *error, void *context);
	void *decide_context;
	size_t size;
	uint32_t credit; /* as in struct weir__build */
	bool open;
	bool ended;
	uint32_t n_up;
	struct weir__op **up;
	_Alignas(max_align_t) char state[];
};

/* --- Blueprints: blueprint.c ---------------------------------------------- */

/*
 * Makes a flow upon `n` flows, which it takes over; `args` is copied behind the
 * node. If one of the `n` flows has failed, the first of these is returned.
 * Else the result is a failed flow if `valid` is false or a flow is NULL
 * (-EINVAL), if a flow is taken over (-EBUSY), or if the chain is too long
 * (-E2BIG). kind->free is called for a flow that was made, but not for a failed
 * flow: then the caller still owns everything that the arguments own.
 */
struct weir_flow *weir__flow_new(const struct weir__kind *kind,
				 struct weir_flow *const *up, uint32_t n,
				 const void *args, size_t size, bool valid);

static inline struct weir_flow *weir__flow_source(const struct weir__kind *kind,
						  const void *args, size_t size,
						  bool valid)
{
	return weir__flow_new(kind, NULL, 0, args, size, valid);
}

static inline struct weir_flow *weir__flow_upon(const struct weir__kind *kind,
						struct weir_flow *up,
						const void *args, size_t size,
						bool valid)
{
	return weir__flow_new(kind, &up, 1, args, size, valid);
}

/* As weir_flow_check() of a flow whose other outlets may be yet to come. */
int weir__flow_check(const struct weir_flow *flow, const char **origin,
		     const char **message);

/* The first flow that kind->lacking finds for this node and all nodes above, or
 * NULL. */
const struct weir_flow *weir__flow_lacking(const struct weir_flow *flow);

/* --- Items that flows emit: items.c --------------------------------------- */

/* The items of a flow that emits none, or whose items are not known yet. */
extern const struct weir_items weir__items_any;
/* kind->items of such flows. */
const struct weir_items *weir__gives_any(const struct weir_flow *flow);

/* The items that the flow emits, as far as its blueprint says. */
const struct weir_items *weir__flow_items(const struct weir_flow *flow);

/* True: items of one kind may come where the other is expected. */
bool weir__items_fit(const struct weir_items *a, const struct weir_items *b);

struct weir__misfit {
	const struct weir_flow *flow; /* that cannot take its input */
	char text[64];		      /* why */
};

/* True: *misfit is the first one of this node and all nodes above. */
bool weir__flow_misfit(const struct weir_flow *flow,
		       struct weir__misfit *misfit);

/* --- Blueprints that run -------------------------------------------------- */

/* Calls kind->claim of this node and all nodes above. On an error nothing is
 * claimed. */
int weir__flow_claim(struct weir_flow *flow);
void weir__flow_unclaim(struct weir_flow *flow);

/*
 * If `flow` has just failed for a bad argument of the operator `kind`, sets the
 * message that says what is wrong with it; else changes nothing. Returns
 * `flow`.
 */
__attribute__((format(printf, 3, 4))) struct weir_flow *weir__flow_wrong(
	struct weir_flow *flow, const struct weir__kind *kind,
	const char *format, ...);

/* weir__flow_wrong_size() and _power(): the same for a number that must be a
 * size (weir__size_valid()), or a size that is a power of two. */
/* The same with a fixed message; NULL: nothing is wrong. */
struct weir_flow *weir__flow_wrong_as(struct weir_flow *flow,
				      const struct weir__kind *kind,
				      const char *why);
struct weir_flow *weir__flow_wrong_size(struct weir_flow *flow,
					const struct weir__kind *kind,
					const char *what, size_t n);
struct weir_flow *weir__flow_wrong_power(struct weir_flow *flow,
					 const struct weir__kind *kind,
					 const char *what, size_t n);

/* A failed flow: `origin` lives for ever, `message` is copied. Never NULL. */
struct weir_flow *weir__flow_failed(int code, const char *origin,
				    const char *message);

/* True: `n` is a size that an operator may be given. */
static inline bool weir__size_valid(size_t n)
{
	return n > 0 && n <= WEIR_CAPACITY_MAX;
}

static inline bool weir__power_valid(size_t n)
{
	return weir__size_valid(n) && (n & (n - 1)) == 0;
}

/* --- Operators: op.c ------------------------------------------------------ */

static inline void *weir__op_state(struct weir__op *op)
{
	return op->state;
}

static inline const void *weir__op_args(const struct weir__op *op)
{
	return op->flow->args;
}

static inline const char *weir__op_name(const struct weir__op *op)
{
	return op->flow->name ? op->flow->name : op->kind->name;
}

static inline const char *weir__flow_called(const struct weir_flow *flow)
{
	return flow->name ? flow->name : flow->kind->name;
}

/* Pulls an operator, rule 1; 0 when it has ended. `items` is an array even if
 * `room` is 0. */
size_t weir__pull(struct weir__op *op, void **items, size_t room);

/* Pulls without room: the operator only looks for ends above. */
static inline void weir__pull_none(struct weir__op *op)
{
	void *none;

	(void)weir__pull(op, &none, 0);
}

/* The smaller of `n` and `most`. */
static inline size_t weir__at_most(uint64_t n, size_t most)
{
	return n < most ? (size_t)n : most;
}

/* Ends the operator well, or with `error` (borrowed); cancels the operators
 * above, and closes it. */
void weir__op_end(struct weir__op *op, struct weir_error *error);
/*
 * An error that begins at this operator; `message` as for weir_error_new().
 * Never NULL, one reference.
 */
struct weir_error *weir__op_error(const struct weir__op *op, int code,
				  const char *message);
/* The same with the text for the code behind the message. */
struct weir_error *weir__op_error_code(const struct weir__op *op, int code,
				       const char *message);
/* Ends with such an error. */
void weir__op_fail(struct weir__op *op, int code, const char *message);
void weir__op_fail_code(struct weir__op *op, int code, const char *message);
/* Cancels the operator: it has ended then, without an error. */
void weir__op_cancel(struct weir__op *op);
/* Ends the operator as the first operator above it has ended, if it has. True:
 * it has ended. */
static inline bool weir__op_follow(struct weir__op *op)
{
	assert(op->n_up > 0);
	if (WEIR_UNLIKELY(op->up[0]->ended))
		weir__op_end(op, op->up[0]->error);
	return op->ended;
}

/*
 * Call it when a function of the user's has returned `code` < 0 (or a value
 * that it must not return) for an item; the caller drops the item. True: go on
 * with the next item; the state may have been made anew. False: the operator
 * has failed.
 */
bool weir__op_survives(struct weir__op *op, int code);

/* Drops items that came out of `op`. */
void weir__op_drop(const struct weir__op *op, void *const *items, size_t n);
static inline void weir__op_drop_one(const struct weir__op *op, void *item)
{
	weir__op_drop(op, &item, 1);
}

/* Rule 2: there is more to do. */
void weir__op_again(struct weir__op *op);

/* The executor's clock and allocator. */
uint64_t weir__op_now(const struct weir__op *op);
const struct weir_allocator *weir__op_allocator(const struct weir__op *op);

/*
 * Another thread that may touch the operator must hold it: the memory of the
 * operator and of its island stays meanwhile. The thread must not touch them
 * after unhold. Any thread that holds the operator, or the owner.
 */
void weir__op_hold(struct weir__op *op);
void weir__op_unhold(struct weir__op *op);

/* Rule 2: the island pulls again soon. Any thread that holds the operator, or
 * the owner. */
void weir__op_wake(struct weir__op *op);

/*
 * A timer of an operator. It wakes the island when its time has come, and the
 * operator looks at the clock when it is pulled. It lies in the operator's
 * state, zeroed at first.
 */
struct weir__op_timer {
	struct weir_timer timer;
	struct weir__op *op;
	uint64_t at_ns;
	uint32_t armed; /* atomic; cleared by who fires it */
};

/*
 * Wakes the island at `at_ns`, or at the time that was set before if that is
 * earlier: so putting a time off again and again costs nothing. Call it each
 * time the operator waits. 0, -ENOTSUP, -ENOMEM. Owner.
 */
int weir__op_timer_at(struct weir__op_timer *timer, struct weir__op *op,
		      uint64_t at_ns);
/* Disarms the timer. Owner. */
void weir__op_timer_off(struct weir__op_timer *timer);

/*
 * Makes the operators of a nested flow, in the actor of `op`; in it,
 * weir_flow_async() without an executor does nothing. NULL: *code says why:
 * -ENOMEM; -ENOTSUP, see weir__flow_needs_island(); the error of
 * weir_flow_start() for the flow; or the error that making an operator failed
 * with. `flow` is borrowed until weir__op_free_nested(), which cancels the
 * nested operators if they have not ended. Owner.
 */
struct weir__op *weir__op_nest(struct weir__op *op, struct weir_flow *flow,
			       int *code);
void weir__op_free_nested(struct weir__op *nested);

/*
 * The name of the first operator in the flow that needs an actor of its own,
 * and so cannot be nested in a flow that runs on `executor`; or NULL.
 */
const char *weir__flow_needs_island(const struct weir_flow *flow,
				    const struct weir_executor *executor);

/* --- Making a run: build.c ------------------------------------------------ */

/* A set of operators that are freed together. */
struct weir__tree {
	const struct weir_allocator *allocator;
	struct weir__op *ops;
	uint32_t refs; /* atomic */
};

struct weir__tree *weir__tree_new(const struct weir_allocator *allocator);
/* Drops a reference; the last one frees the tree, whose operators are all
 * closed then. Any thread. */
void weir__tree_unref(struct weir__tree *tree);

/* What is being built; each branch gets a copy. */
struct weir__build {
	struct weir_flow_run *run;
	struct weir__island *island;
	struct weir__tree *tree;
	struct weir_executor *executor;
	enum weir_directive (*decide)(struct weir_error *error, void *context);
	void *decide_context;
	/*
	 * Of the operator made next: not 0: it asks for the items that the
	 * operator below grants, at most that many at once. 0: it asks for as
	 * many as it has room for.
	 */
	uint32_t credit;
	uint32_t ahead; /* of an inlet: room for that many more, from the
			 * start */
	bool held;	/* of an inlet: no room until it is first pulled */
	uint32_t fans;	/* as in struct weir__inlet */
	bool nested;
	int *code; /* why it failed */
};

/* Builds the operators of `flow` and of all flows above; NULL: *build->code
 * says why. */
struct weir__op *weir__build(struct weir__build *build,
			     const struct weir_flow *flow);
/* Builds the operators above this node, and the node's own upon them. */
struct weir__op *weir__op_new(struct weir__build *build,
			      const struct weir_flow *flow);
/* Builds the node's operator upon `up`, which was built; a NULL `up` is one
 * that could not be built. */
struct weir__op *weir__op_upon(struct weir__build *build,
			       const struct weir_flow *flow,
			       struct weir__op *up);
/* Builds an operator that has no operator above it in its island, and
 * opens it. */
struct weir__op *weir__op_leaf(struct weir__build *build,
			       const struct weir_flow *flow,
			       const struct weir__kind *kind,
			       const struct weir_items *items);
/*
 * Makes another island of `up`, with a link into this island. Returns the
 * operator that takes from the link.
 */
struct weir__op *weir__build_cut(struct weir__build *build,
				 const struct weir_flow *up,
				 struct weir_executor *executor,
				 size_t capacity);
/* Builds an operator that takes from a link of `out`, whose tokens are `items`;
 * `out` NULL: the link is made later. */
struct weir__op *weir__build_inlet(struct weir__build *build,
				   const struct weir_flow *flow,
				   struct weir_out *out,
				   const struct weir_items *items,
				   size_t capacity);

/*
 * True: a fan above has failed and has ended its outlets, and its error is on
 * its way to this operator for sure. An operator below that is about to cancel
 * this one because of an error must let the fan's error arrive first. Owner.
 */
bool weir__op_awaits(const struct weir__op *op);

/* --- Actors: island.c ----------------------------------------------------- */

/* How driving an island has gone. */
enum weir__found {
	WEIR__FOUND_MORE, /* did as much as it was asked to */
	WEIR__FOUND_FULL, /* no room downstream */
	WEIR__FOUND_NONE, /* its operators wait for something */
	WEIR__FOUND_OVER, /* nothing more to do, ever */
};

/*
 * The lower end of an island: what it does with the items that its root emits.
 */
struct weir__end {
	/* Pulls and delivers up to `n` items. */
	enum weir__found (*drive)(struct weir__island *island, uint64_t n);
	/* The root has ended, with `error` or well, and all its items are
	 * delivered. */
	void (*over)(struct weir__island *island, struct weir_error *error);
	/* Sets whether the island waits for room in its out-ports. NULL: it has
	 * none. */
	void (*require)(struct weir__island *island, bool room);
	/* An out-port was cancelled. True: the island is not needed any more.
	 * NULL: the island has no out-port. */
	bool (*cancelled)(struct weir__island *island, struct weir_out *out);
	/*
	 * The island has stopped: drops the items that it holds. May be NULL.
	 */
	void (*close)(struct weir__island *island);
	/* Frees island->end_state. May be NULL. */
	void (*free)(struct weir__island *island);
};

extern const struct weir__end weir__end_result; /* of the run */
extern const struct weir__end weir__end_out;	/* island->out */

#define WEIR__TAKE_FEW 16u

/* Two items, as one store. */
typedef uintptr_t weir__pair __attribute__((
	vector_size(2 * sizeof(void *)), aligned(sizeof(void *)), may_alias));

/*
 * Takes `n` items that are available, as `n` calls of weir_in_take(). Some
 * items may have been put a moment ago, and are used a moment later. A load
 * waits until all its bytes are in the cache, unless a single store under way
 * has all of them: so items are loaded one by one (volatile: the compiler does
 * not join them), as they may have been stored, and stored in pairs, for loops
 * that take two at a time.
 */
static inline void weir__in_take_n(struct weir_in *in, void **items, size_t n)
{
	size_t at = in->head & in->mask, first = in->mask + (size_t)1 - at, i;
	const volatile struct weir__slot *slots = &in->slots[at];

	in->head += (uint32_t)n;
	if (n <= WEIR__TAKE_FEW && n <= first) {
		for (i = 0; i + 1 < n; i += 2)
			*(weir__pair *)(void *)&items[i] =
				(weir__pair){(uintptr_t)slots[i].item,
					     (uintptr_t)slots[i + 1].item};
		if (i < n)
			items[i] = slots[i].item;
		return;
	}
	if (first > n)
		first = n;
	memcpy(items, &in->slots[at], first * sizeof(*items));
	if (WEIR_UNLIKELY(first < n))
		memcpy(items + first, in->slots, (n - first) * sizeof(*items));
}

/* Puts `n` items that there is room for, as `n` calls of weir_out_put(). */
static inline void weir__out_put_n(struct weir_out *out, void *const *items,
				   size_t n)
{
	size_t at = out->tail & out->mask, first = out->mask + (size_t)1 - at;

	if (first > n)
		first = n;
	memcpy(&out->slots[at], items, first * sizeof(*items));
	if (WEIR_UNLIKELY(first < n))
		memcpy(out->slots, items + first, (n - first) * sizeof(*items));
	out->tail += (uint32_t)n;
}

/* An in-port of an island. */
struct weir__inlet {
	struct weir_in in;
	struct weir__op *op;
	struct weir__inlet *next;
	uint32_t fans; /* bits of fans above whose errors come here for sure */
	bool waiting;  /* pulled, and had nothing */
	bool ignored;  /* takes no part in firing */
	bool held;     /* not pulled yet: its producer sees no room */
};

struct weir__island {
	struct weir_actor actor;
	struct weir_actor_ops ops;
	struct weir__other_port go; /* the port that an island without out-port
				     * fires by */
	struct weir_out out;
	struct weir_any any;
	struct weir__inlet *inlets;
	const struct weir__end *end;
	void *end_state;
	struct weir__tree *tree;
	struct weir__op *root;
	void **scratch; /* room for a batch; NULL: an operator is using it */
	struct weir_flow_run *run;
	struct weir__island *next;   /* of the run, as it is made */
	struct weir__island *live;   /* of the islands that run */
	const struct weir_flow *key; /* of a node with several outlets */
	uint32_t n_inlets;
	uint32_t n_wakes;   /* how often it was woken */
	uint32_t n_pulling; /* if it nests: operators that are being pulled,
			     * each by the one below it */
	bool has_out;
	bool out_ignored;
	bool any_input; /* waits for any of its in-ports */
	bool any_ignored;
	bool passes_through; /* one in-port, and nothing holds items back */
	bool again;	     /* see weir__op_again() */
	bool woken;	     /* and not pulled with room since */
	bool steady;   /* takes part as it did until it waits, or is woken */
	bool going;    /* `go` has permits */
	bool draining; /* sources end */
	bool nests;    /* has an operator that nests; constant once it runs */
	bool over;
	uint32_t ask; /* most items that an operator is asked for at once */
	uint32_t batch_log2;
};

/* An operator that holds items may emit something in place of an error; so only
 * an island that passes through passes errors on for sure. */
static inline uint32_t weir__island_fans(const struct weir__island *island)
{
	return island->passes_through && island->n_inlets == 1
		       ? island->inlets->fans
		       : 0;
}

/*
 * An island of the run, without operators yet, that ends in `end`. NULL: no
 * memory.
 */
struct weir__island *weir__island_new(struct weir_flow_run *run,
				      struct weir_executor *executor,
				      const struct weir__end *end);
/* Lets a port take part in firing, or not; *ignored is its state so far. */
void weir__take_part(struct weir_port *port, bool *ignored, bool want);
/* The island has its operators: sets up the ports that it fires by. 0 or
 * -ENOMEM. */
int weir__island_ready(struct weir__island *island, struct weir__op *root);

/* --- Runs: run.c ---------------------------------------------------------- */

struct exit;

struct weir_flow_run {
	/*
	 * The actor by which the run's end is reported: `executor` runs it
	 * once, for `done`. It is in no queue before that, but counts as alive
	 * from before the first island is started until `done` has returned.
	 */
	struct weir_actor actor;
	const struct weir_allocator *allocator;
	struct weir_executor *executor;
	struct weir_flow_run_options options;
	struct weir_flow *flow;
	struct weir__island *islands; /* while it is made */
	struct weir__lock lock;	      /* for `live` */
	struct weir__island *live;    /* islands that have not stopped */
	struct exit *exits; /* under `lock`: links to ports that are not the
			     * run's */
	struct weir_completion over;
	struct weir_error *error; /* atomic: the first counts */
	void *result;
	const struct weir_items *result_items;
	bool has_result;
	uint32_t refs;	   /* atomic: the handle, and the islands together */
	uint32_t n_alive;  /* atomic: islands */
	uint32_t draining; /* atomic */
	uint32_t n_fans;   /* while it is made */
	uint32_t
		failed; /* atomic: bits of fans, before their outlets are told */
	bool begun;	/* an island of it runs, or is about to */
	bool kept;	/* its executor counts `actor` as alive */
};

/*
 * False in close() of a run that could not be made: so a source that can run
 * only once has not run.
 */
static inline bool weir__op_begun(const struct weir__op *op)
{
	return op->island->run->begun;
}

/* True: weir_flow_start() accepts the options. */
bool weir__run_options_valid(const struct weir_flow_run_options *options);

/* The error of a run that was cancelled, and of its actors; static. */
extern struct weir_error weir__run_cancelled;
/* The run fails with `error` (borrowed), unless it has failed before. Any
 * thread. */
void weir__run_fail(struct weir_flow_run *run, struct weir_error *error);
/* An island stops: it is taken off `live`, so no call reaches it any more.
 * Owner. */
void weir__run_island_stopped(struct weir_flow_run *run,
			      struct weir__island *island);
/*
 * An island was released. Any thread; the caller must not touch the run after
 * this. When the last island is released, the run is over, and its own actor is
 * submitted.
 */
void weir__run_island_released(struct weir_flow_run *run);

#endif
