/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of flows. A blueprint is a tree of nodes (struct weir_flow), the end
 * being its root. A run makes operators (struct weir__op) of them, and actors
 * (struct weir__stage) that each drive a tree of operators.
 *
 * An operator is pulled: it is given an array and fills in up to `room` items,
 * which it gets by pulling the operators above it, mostly into the same array.
 * So demand goes up as `room` and items come down as results, with nothing
 * between the two. All of it happens in turns and handlers of the one actor;
 * the rules for who implements a kind:
 *
 * 1. pull() returns how many items it has put into `items`, which are the
 *    caller's; never more than `room`. With `room` 0 it takes nothing from
 *    upstream, but pulls it with 0 to see whether it has ended or failed.
 * 2. When it returns 0, has not ended, and was given nothing by those that it has
 *    pulled, it waits for something that will wake the stage: an in-port does so
 *    by itself; a timer or another thread by weir__op_wake(). If it does not, it
 *    says weir__op_again(): call me again.
 * 3. It does a bounded amount of work: one batch.
 * 4. It ends by weir__op_end() or weir__op_fail(), also together with its last
 *    items: nobody pulls it then. These cancel what is above and close it.
 *    weir__op_follow() ends it if that which is above has.
 * 5. What it has taken and not put out it drops in close(). That comes once
 *    for each open(): when it ends, fails, is cancelled or is restarted.
 * 6. An item is dropped by weir__op_drop() of the operator it came out of.
 * 7. `holds` says that it may put out items without taking any, before the end
 *    above it or in more than one call after that: leftovers, time. Only a stage
 *    without such can wait for input and room at once.
 * 8. An end above wakes the stage once, and maybe nobody pulls it behind that, as
 *    nobody asks for more. So an operator that holds nothing when pull() returns
 *    has pulled all above that have not ended: in this call, with 0 if it needs
 *    nothing of them, or at least since the stage was woken (n_pokes).
 */
#ifndef WEIR_FLOW_FLOW_H
#define WEIR_FLOW_FLOW_H

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
struct weir__stage;
struct weir__tree;

/* A kind of operator; what each file of this folder has a few of. */
struct weir__kind {
	const char *name; /* of the public function, without weir_flow_ */
	size_t state_size;
	/* Rule 1. Called only while it is open and has not ended. */
	size_t (*pull)(struct weir__op *op, void **items, size_t room);
	/* Begins with a zeroed state; those above are open. May be NULL. 0 or
	 * a negative errno: then it holds nothing. */
	int (*open)(struct weir__op *op);
	/* Rule 5. May be NULL. */
	void (*close)(struct weir__op *op);
	/* Frees what the arguments own. May be NULL. */
	void (*free)(struct weir_flow *flow);
	/* A run is about to be made; before anything else. 0, -EALREADY. */
	int (*claim)(struct weir_flow *flow);
	/* Takes the claim back, as the run could not be made. */
	void (*unclaim)(struct weir_flow *flow);
	/* Which flow above cannot run without another that is not of this whole;
	 * NULL: none. */
	const struct weir_flow *(*lacking)(const struct weir_flow *flow);
	/* The flow above that is not in `up`, if it is for this one to look at
	 * it; or NULL. */
	const struct weir_flow *(*above)(const struct weir_flow *flow);
	/* What comes out, where the flow does not say. NULL: what it takes, or
	 * plain values. */
	const struct weir_items *(*items)(const struct weir_flow *flow);
	/* Why it cannot take what comes to it; static. NULL: it can. */
	const char *(*refuses)(const struct weir_flow *flow);
	/* Makes something other than one operator; NULL is weir__op_new(). */
	struct weir__op *(*build)(struct weir__build *build,
				  const struct weir_flow *flow);
	/*
	 * Of an operator with op->credit: `n` items more may come to it, who
	 * will be pulled. NULL: what is pulled is all that it asks for.
	 */
	void (*grant)(struct weir__op *op, uint32_t n);
	bool holds; /* rule 7 */
	/* So many bytes of the state survive a restart: those that somebody
	 * else knows, as of alarms, or that are set from outside. */
	size_t keeps;
	bool stateless; /* what it has are items: a restart is a resume */
	bool source;	/* a drain ends it */
	/* Of a source: as pull(), once the run drains: takes what has come and
	 * then ends. NULL: it ends at once. */
	size_t (*drain)(struct weir__op *op, void **items, size_t room);
	bool makes;	/* puts out other items than it takes: plain values */
	bool boundary;	/* built as an actor of its own */
	bool staged;	/* not in a nested flow: it needs such an actor */
	bool cuts;	/* has a boundary above, and none below */
	bool nests;	/* see weir__op_nest() */
	bool passes;	/* what is said of its items is so above it, too */
	bool any_input; /* several above: takes from whichever has some */
	bool ready; /* what it gives is there: it asks nobody who may block */
};

/*
 * A node of a blueprint, followed by its arguments. What goes over all of them,
 * and over operators, recurses: neither `depth`, nor that of a nested flow with
 * the operators that are being pulled below it, is above WEIR_FLOW_DEPTH_MAX.
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
	struct weir_flow *taker; /* that, once it is made */
	uint32_t depth;		 /* flows upon each other: it, those above */
	uint32_t n_up;
	struct weir_flow **up;
	_Alignas(max_align_t) char args[];
};

/* An operator of a run, followed by its state. */
struct weir__op {
	const struct weir__kind *kind;
	const struct weir_flow *flow;
	struct weir__stage *stage;
	struct weir__tree *tree;
	struct weir__op *next;		/* of the tree */
	const struct weir_items *items; /* what comes out */
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

/* --- Blueprints: blueprint.c ------------------------------------------------ */

/*
 * A flow upon `n` flows, which it takes over; `args` is copied behind it. It is
 * the first failed flow among them if there is one; failed with -EINVAL if not
 * `valid`, or if one is NULL or taken. kind->free is called for a flow that was
 * made, and not for one that has failed: what the arguments own is the caller's
 * then.
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

/* The first that kind->lacking finds of this node and all above, or NULL. */
const struct weir_flow *weir__flow_lacking(const struct weir_flow *flow);

/* --- What comes out: items.c ------------------------------------------------ */

/* Of a flow that has none, or from which it is not known what will come. */
extern const struct weir_items weir__items_any;
/* kind->items of these. */
const struct weir_items *weir__gives_any(const struct weir_flow *flow);

/* What comes out of the flow, as far as its blueprint says. */
const struct weir_items *weir__flow_items(const struct weir_flow *flow);

/* One may come where the other is expected. */
bool weir__items_fit(const struct weir_items *a, const struct weir_items *b);

struct weir__misfit {
	const struct weir_flow *flow; /* that cannot take what comes to it */
	char text[64];		      /* why */
};

/* True: *misfit is the first of this node and all above. */
bool weir__flow_misfit(const struct weir_flow *flow,
		       struct weir__misfit *misfit);

/* --- Blueprints that run ----------------------------------------------------- */

/* kind->claim of this node and all above; or nothing is claimed. */
int weir__flow_claim(struct weir_flow *flow);
void weir__flow_unclaim(struct weir_flow *flow);

/*
 * What is wrong with an argument of the operator `kind`, if that is what `flow`
 * has just failed for; else nothing changes. Returns `flow`.
 */
__attribute__((format(printf, 3, 4))) struct weir_flow *weir__flow_wrong(
	struct weir_flow *flow, const struct weir__kind *kind,
	const char *format, ...);

/* The same where it is a number that has to be a size, as of
 * weir__size_valid(), or else a power of two as well. */
/* The same with what is said already; NULL: nothing is wrong. */
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

/* What an operator may be told to hold. */
static inline bool weir__size_valid(size_t n)
{
	return n > 0 && n <= WEIR_CAPACITY_MAX;
}

static inline bool weir__power_valid(size_t n)
{
	return weir__size_valid(n) && (n & (n - 1)) == 0;
}

/* --- Operators: op.c -------------------------------------------------------- */

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

/* Rule 1, for who pulls; 0 when it has ended. `items` is an array, room or not. */
size_t weir__pull(struct weir__op *op, void **items, size_t room);

/* Without room. */
static inline void weir__pull_none(struct weir__op *op)
{
	void *none;

	(void)weir__pull(op, &none, 0);
}

/* `n` items, if so many may be. */
static inline size_t weir__at_most(uint64_t n, size_t most)
{
	return n < most ? (size_t)n : most;
}

/* Ends well, or with `error` (borrowed); cancels what is above, closes. */
void weir__op_end(struct weir__op *op, struct weir_error *error);
/*
 * An error that begins here; words as for weir_error_new(). Never NULL, one
 * reference.
 */
struct weir_error *weir__op_error(const struct weir__op *op, int code,
				  const char *message);
/* The same with the words for the code behind the message. */
struct weir_error *weir__op_error_code(const struct weir__op *op, int code,
				       const char *message);
/* Ends with such an error. */
void weir__op_fail(struct weir__op *op, int code, const char *message);
void weir__op_fail_code(struct weir__op *op, int code, const char *message);
/* Nothing more is wanted of it; it has ended, with no error. */
void weir__op_cancel(struct weir__op *op);
/* Ends as the first operator above has. True: it has ended. */
static inline bool weir__op_follow(struct weir__op *op)
{
	assert(op->n_up > 0);
	if (WEIR_UNLIKELY(op->up[0]->ended))
		weir__op_end(op, op->up[0]->error);
	return op->ended;
}

/*
 * A function of the user's has returned `code` < 0 (or what it must not return)
 * for an item, which the caller has dropped or drops. True: go on with the next
 * one; the state may have been made anew. False: the operator has failed.
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
 * Another thread that may touch the operator holds it: memory of operator and
 * stage stays. unhold is its last touch. Any thread that holds it, or the owner.
 */
void weir__op_hold(struct weir__op *op);
void weir__op_unhold(struct weir__op *op);

/* Rule 2: the stage pulls again soon. Any thread that holds it, or the owner. */
void weir__op_wake(struct weir__op *op);

/*
 * A timer of an operator: it wakes the stage when the time has come, and the
 * operator looks at the clock when it is pulled. Zeroed, then all in the state.
 */
struct weir__alarm {
	struct weir_timer timer;
	struct weir__op *op;
	uint64_t at_ns;
	uint32_t armed; /* atomic; cleared by who fires it */
};

/*
 * Wakes at `at_ns`, or at what was said before if that is earlier: so nothing is
 * done when a time is put off again and again. To be called each time the
 * operator waits. 0, -ENOTSUP, -ENOMEM. Owner.
 */
int weir__alarm_at(struct weir__alarm *alarm, struct weir__op *op,
		   uint64_t at_ns);
/* Not any more. Owner. */
void weir__alarm_off(struct weir__alarm *alarm);

/*
 * The operators of a flow inside of this one's, made now, in the same actor:
 * weir_flow_async() without executor does nothing there. NULL: *code says why:
 * -ENOMEM; -ENOTSUP, see weir__flow_staged(); what weir_flow_start() says of the
 * flow; or as it failed otherwise. The nested flow is borrowed until
 * weir__op_free_nested(), which cancels it if it has not ended. Owner.
 */
struct weir__op *weir__op_nest(struct weir__op *op, struct weir_flow *flow,
			       int *code);
void weir__op_free_nested(struct weir__op *nested);

/*
 * The name of the first operator in the flow that cannot be nested in one that
 * runs on `executor`, as it is an actor of its own; or NULL.
 */
const char *weir__flow_staged(const struct weir_flow *flow,
			      const struct weir_executor *executor);

/* --- Making a run: build.c ---------------------------------------------------- */

/* A set of operators that are freed together. */
struct weir__tree {
	const struct weir_allocator *allocator;
	struct weir__op *ops;
	uint32_t refs; /* atomic */
};

struct weir__tree *weir__tree_new(const struct weir_allocator *allocator);
/* The last one frees it; all operators are closed. Any thread. */
void weir__tree_unref(struct weir__tree *tree);

/* What is being made; a copy for each branch. */
struct weir__build {
	struct weir_flow_run *run;
	struct weir__stage *stage;
	struct weir__tree *tree;
	struct weir_executor *executor;
	enum weir_directive (*decide)(struct weir_error *error, void *context);
	void *decide_context;
	/*
	 * Of the operator made next: it asks for what it is granted by the one
	 * below, up to so many at once. 0: by itself, as there is room.
	 */
	uint32_t credit;
	uint32_t ahead; /* of an inlet: room for so many more, from the start */
	bool held;	/* of an inlet: no room until it is first pulled */
	uint32_t fans;	/* as in struct weir__inlet */
	bool nested;
	int *code; /* why it failed */
};

/* The operators of `flow` and all above; NULL: *build->code says why. */
struct weir__op *weir__build(struct weir__build *build,
			     const struct weir_flow *flow);
/* The operator of this node, upon those that it builds above it. */
struct weir__op *weir__op_new(struct weir__build *build,
			      const struct weir_flow *flow);
/* The same upon one that was built; NULL is one that could not be. */
struct weir__op *weir__op_upon(struct weir__build *build,
			       const struct weir_flow *flow,
			       struct weir__op *up);
/* An operator that has nothing above it in its stage, and is open. */
struct weir__op *weir__op_leaf(struct weir__build *build,
			       const struct weir_flow *flow,
			       const struct weir__kind *kind,
			       const struct weir_items *items);
/*
 * What is above becomes another stage, with a link into this one: the operator
 * that takes from the link.
 */
struct weir__op *weir__build_cut(struct weir__build *build,
				 const struct weir_flow *up,
				 struct weir_executor *executor,
				 size_t capacity);
/* An operator that takes from a link of `out`, whose tokens are `items`; NULL:
 * the link is made later. */
struct weir__op *weir__build_inlet(struct weir__build *build,
				   const struct weir_flow *flow,
				   struct weir_out *out,
				   const struct weir_items *items,
				   size_t capacity);

/*
 * A fan above has failed, has told its outlets, and that error is on its way to
 * this operator, where nothing can stop it: who wants no more of the operator for
 * an error lets it hear of that first. Owner.
 */
bool weir__op_awaits(const struct weir__op *op);

/* --- Actors: stage.c ------------------------------------------------------------ */

/* What driving a stage has found. */
enum weir__found {
	WEIR__FOUND_MORE, /* did as much as it was asked to */
	WEIR__FOUND_FULL, /* no room downstream */
	WEIR__FOUND_NONE, /* its operators wait for something */
	WEIR__FOUND_OVER, /* nothing more to do, ever */
};

/* How a stage ends: what it does with the items that come out of its root. */
struct weir__end {
	/* Pulls and delivers, `n` items or less. */
	enum weir__found (*drive)(struct weir__stage *stage, uint64_t n);
	/* The root has ended, and all is delivered; `error` as it has. */
	void (*over)(struct weir__stage *stage, struct weir_error *error);
	/* Its out-ports are waited for, or not. NULL: it has none. */
	void (*require)(struct weir__stage *stage, bool room);
	/* An out-port was cancelled. True: the stage is not needed any more.
	 * NULL: it has none. */
	bool (*cancelled)(struct weir__stage *stage, struct weir_out *out);
	/* The stage has stopped: what it holds is dropped. May be NULL. */
	void (*close)(struct weir__stage *stage);
	/* Frees stage->end_state. May be NULL. */
	void (*free)(struct weir__stage *stage);
};

extern const struct weir__end weir__end_result; /* of the run */
extern const struct weir__end weir__end_out;	/* stage->out */

#define WEIR__TAKE_FEW 16u

/* Two items, as one store. */
typedef uintptr_t weir__pair __attribute__((
	vector_size(2 * sizeof(void *)), aligned(sizeof(void *)), may_alias));

/*
 * Takes `n` items that are there, as weir_in_take() so often. A few may have been
 * put a moment ago, and are used a moment later. A load waits until all of it is in
 * the cache, unless one store under way has all of it: so items are loaded one by
 * one (volatile: the compiler does not join them), as they may have been stored,
 * and stored in pairs, for loops that take two at a time.
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

/* Puts `n` items that there is room for, as weir_out_put() so often. */
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

/* An in-port of a stage. */
struct weir__inlet {
	struct weir_in in;
	struct weir__op *op;
	struct weir__inlet *next;
	uint32_t fans; /* bits of those above whose errors come here for sure */
	bool waiting;  /* pulled, and had nothing */
	bool ignored;  /* takes no part in firing */
	bool held;     /* not pulled yet, which its producer is to be told of */
};

struct weir__stage {
	struct weir_actor actor;
	struct weir_actor_ops ops;
	struct weir__other_port go; /* what a stage without out-port fires by */
	struct weir_out out;
	struct weir_any any;
	struct weir__inlet *inlets;
	const struct weir__end *end;
	void *end_state;
	struct weir__tree *tree;
	struct weir__op *root;
	void **scratch; /* a batch, while it is driven; NULL: somebody has it */
	struct weir_flow_run *run;
	struct weir__stage *next;    /* of the run, as it is made */
	struct weir__stage *live;    /* of those that run */
	const struct weir_flow *key; /* of a node with several outlets */
	uint32_t n_inlets;
	uint32_t n_pokes;   /* so often it was woken */
	uint32_t n_pulling; /* if it nests: operators, each called by the one
			       below it */
	bool has_out;
	bool out_ignored;
	bool any_input; /* waits for any of its in-ports */
	bool any_ignored;
	bool linear;   /* one in-port, and nothing holds items back */
	bool again;    /* see weir__op_again() */
	bool poked;    /* woken, and not pulled with room since */
	bool steady;   /* takes part as it did until it waits, or is poked */
	bool going;    /* `go` has permits */
	bool draining; /* sources end */
	bool nests;    /* constant once it runs: has an operator that does */
	bool over;
	uint32_t ask; /* most that an operator is asked for at once */
	uint32_t batch_log2;
};

/* One that holds something back may have something else in place of an error. */
static inline uint32_t weir__stage_fans(const struct weir__stage *stage)
{
	return stage->linear && stage->n_inlets == 1 ? stage->inlets->fans : 0;
}

/*
 * A stage of the run, without operators yet, that ends in `end`. NULL: no
 * memory.
 */
struct weir__stage *weir__stage_new(struct weir_flow_run *run,
				    struct weir_executor *executor,
				    const struct weir__end *end);
/* A port takes part in firing if `want`; *ignored is what was said before. */
void weir__take_part(struct weir_port *port, bool *ignored, bool want);
/* Its operators are there: sets up what it fires by. 0 or -ENOMEM. */
int weir__stage_ready(struct weir__stage *stage, struct weir__op *root);

/* --- Runs: run.c ----------------------------------------------------------------- */

struct exit;

struct weir_flow_run {
	/*
	 * Where it is over: on `executor`, which has to run this once. It waits
	 * in no queue, but is known to be alive from before the first stage is
	 * started until `done` has returned.
	 */
	struct weir_actor actor;
	const struct weir_allocator *allocator;
	struct weir_executor *executor;
	struct weir_flow_run_options options;
	struct weir_flow *flow;
	struct weir__stage *stages; /* while it is made */
	struct weir__lock lock;	    /* for `live` */
	struct weir__stage *live;   /* stages that have not stopped */
	struct exit *exits; /* under `lock`: linked to what is not the run's */
	struct weir_completion over;
	struct weir_error *error; /* atomic: the first counts */
	void *result;
	const struct weir_items *result_items;
	bool has_result;
	uint32_t refs;	   /* atomic: the handle, and the stages together */
	uint32_t n_alive;  /* atomic: stages */
	uint32_t draining; /* atomic */
	uint32_t n_fans;   /* while it is made */
	uint32_t
		failed; /* atomic: bits of fans, before their outlets are told */
	bool begun;	/* something of it runs, or is about to */
	bool kept;	/* its executor knows `actor` */
};

/*
 * False in close() of a run that could not be made: what can be run once only
 * has not.
 */
static inline bool weir__op_begun(const struct weir__op *op)
{
	return op->stage->run->begun;
}

/* What weir_flow_start() says of them. */
bool weir__run_options_valid(const struct weir_flow_run_options *options);

/* How a run that was cancelled, or an actor of it, has ended; static. */
extern struct weir_error weir__run_cancelled;
/* The run fails with `error` (borrowed), unless it has before. Any thread. */
void weir__run_fail(struct weir_flow_run *run, struct weir_error *error);
/* A stage stops: nobody tells it anything any more. Owner. */
void weir__run_stage_stopped(struct weir_flow_run *run,
			     struct weir__stage *stage);
/*
 * A stage was released. Any thread; may be the last touch of the run. With the
 * last stage the run's own actor is submitted, which is over.
 */
void weir__run_stage_gone(struct weir_flow_run *run);

#endif
