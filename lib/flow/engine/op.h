/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators: what all kinds have in common. */
#ifndef WEIR_FLOW_ENGINE_OP_H
#define WEIR_FLOW_ENGINE_OP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/executor.h>

#include "flow/engine/kind.h"

struct weir__island;
struct weir__tree;

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
	bool delays; /* errors of its parts: the operators above, and those of
		      * nested flows */
	uint32_t n_up;
	struct weir__op **up;
	/* The operator that it is a part of, if that delays errors: it gets
	 * this one's error, which has ended well then. */
	struct weir__op *whole;
	_Alignas(max_align_t) char state[];
};

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

/*
 * Ends the operator well, or with `error` (borrowed); cancels the operators
 * above, and closes it. Where it delays errors and has had some, it does not end
 * well, but with the first.
 */
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

/* The pull of a kind that has `apply`. */
size_t weir__apply_pull(struct weir__op *op, void **items, size_t room);

/* True: weir__apply() may go on from `above`, which `op` takes from, to `op`. */
static inline bool weir__applies_below(const struct weir__op *above,
				       const struct weir__op *op)
{
	return above->next == op && op->kind->apply;
}

/* Applies the operators from `op` down to `last` to `n` items; returns how many
 * the last one emits. */
static inline size_t weir__apply(struct weir__op *op,
				 const struct weir__op *last, void **items,
				 size_t n)
{
	for (;; op = op->next) {
		n = op->kind->apply(op, items, n);
		if (!op->ended)
			(void)weir__op_follow(op);
		if (op == last)
			return n;
	}
}

/*
 * Call it when a function of the user's has returned `code` < 0 (or a value
 * that it must not return) for an item; the caller drops the item. True: go on
 * with the next item; the state may have been made anew. False: the operator
 * has failed.
 */
bool weir__op_survives(struct weir__op *op, int code);
/* The same where another thing than a function has failed, as `message` says. */
bool weir__op_survives_as(struct weir__op *op, int code, const char *message);
/* The same for a function that makes a nested flow of the item. If that fails
 * an operator that delays errors, upstream is cancelled, and the rest goes
 * on. */
void weir__op_unmade(struct weir__op *op, int code);

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

/* The time that is `ns` later; at most the last one before WEIR_FOREVER. */
static inline uint64_t weir__later(uint64_t time_ns, uint64_t ns)
{
	return ns < WEIR_FOREVER - time_ns ? time_ns + ns : WEIR_FOREVER - 1;
}

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

/* A watch of an operator: what it does is in flow/shared/op_fd.h. Zeroed at
 * first; survives a restart of its operator. */
struct weir__op_fd {
	struct weir_watch watch;
	struct weir__op *op;
	uint32_t ready; /* atomic: readiness, or the events that it fired with,
			 * which are written before `armed` is cleared */
	uint32_t armed; /* atomic; cleared by the last firing, or a cancel */
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

#endif
