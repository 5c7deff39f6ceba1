/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request of an operator to a semaphore or a channel. The answer is a
 * callback on any thread, perhaps after the operator is closed. The request
 * holds the operator until it is answered or withdrawn. Transitions of the
 * state:
 *
 *	NONE -> ASKED      by the operator, which asks
 *	ASKED -> ANSWERED  by the callback: the operator takes the answer
 *	ASKED -> NONE      by the operator: it was not asked, or has withdrawn
 *	ANSWERED -> NONE   by the operator, which has taken it
 *	any -> CLOSED      by the operator: the callback undoes what it answers
 */
#ifndef WEIR_FLOW_OPERATORS_BRIDGE_ASK_H
#define WEIR_FLOW_OPERATORS_BRIDGE_ASK_H

#include <assert.h>

#include <ck_pr.h>

#include "flow/engine/op.h"

enum { WEIR__ASK_NONE, WEIR__ASK_ASKED, WEIR__ASK_ANSWERED, WEIR__ASK_CLOSED };

/* Zeroed, then all in the operator's state. */
struct weir__ask {
	struct weir__op *op;
	uint32_t state; /* atomic */
};

/* The operator asks. Owner. */
static inline void weir__ask_begin(struct weir__ask *ask, struct weir__op *op)
{
	/* only the operator touches the state until it has asked */
	assert(ask->state == WEIR__ASK_NONE);
	ask->op = op;
	weir__op_hold(op);
	/* the semaphore or channel that is asked orders this store */
	ck_pr_store_32(&ask->state, WEIR__ASK_ASKED);
}

/* The operator withdraws the request: no answer will come. Owner. */
static inline void weir__ask_withdraw(struct weir__ask *ask)
{
	ck_pr_store_32(&ask->state, WEIR__ASK_NONE);
	weir__op_unhold(ask->op);
}

/*
 * For the callback: the answer is there. True: the operator takes the answer,
 * and the callback must not touch the request any more. False: the operator is
 * closed, and the callback undoes the answer. In both cases the callback then
 * calls weir__ask_done().
 */
static inline bool weir__ask_answer(struct weir__ask *ask)
{
	/* release: the answer; pairs with the acquire in weir__ask_state() */
	ck_pr_fence_release();
	return ck_pr_cas_32(&ask->state, WEIR__ASK_ASKED, WEIR__ASK_ANSWERED);
}

/* The last step of the callback. `op` is ask->op, read before
 * weir__ask_answer(). */
static inline void weir__ask_done(struct weir__op *op)
{
	weir__op_wake(op);
	weir__op_unhold(op);
}

/* Owner. */
static inline uint32_t weir__ask_state(const struct weir__ask *ask)
{
	uint32_t state = ck_pr_load_32(&ask->state);

	/* acquire: the answer; pairs with the release in weir__ask_answer() */
	ck_pr_fence_acquire();
	return state;
}

/* The answer was taken. Owner. */
static inline void weir__ask_taken(struct weir__ask *ask)
{
	/* no other thread changes the state after the answer */
	assert(ask->state == WEIR__ASK_ANSWERED);
	ck_pr_store_32(&ask->state, WEIR__ASK_NONE);
}

/* Closes the request. True: there is an answer that was not taken; the caller
 * undoes it. Owner. */
static inline bool weir__ask_close(struct weir__ask *ask)
{
	uint32_t state = ck_pr_fas_32(&ask->state, WEIR__ASK_CLOSED);

	/* acquire: as in weir__ask_state() */
	ck_pr_fence_acquire();
	return state == WEIR__ASK_ANSWERED;
}

#endif
