/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an operator has asked of a semaphore or a channel, and waits for: the
 * answer is a callback, on whatever thread, maybe after the operator is closed.
 * Who is asked holds the operator.
 *
 *	NONE -> ASKED      by the operator, which asks
 *	ASKED -> ANSWERED  by the callback: the operator takes the answer
 *	ASKED -> NONE      by the operator: it was not asked, or has withdrawn
 *	ANSWERED -> NONE   by the operator, which has taken it
 *	any -> CLOSED      by the operator: the callback undoes what it answers
 */
#ifndef WEIR_FLOW_ASK_H
#define WEIR_FLOW_ASK_H

#include <assert.h>

#include <ck_pr.h>

#include "flow/flow.h"

enum { WEIR__ASK_NONE, WEIR__ASK_ASKED, WEIR__ASK_ANSWERED, WEIR__ASK_CLOSED };

/* Zeroed, then all in the operator's state. */
struct weir__ask {
	struct weir__op *op;
	uint32_t state; /* atomic */
};

/* It asks. Owner. */
static inline void weir__ask_begin(struct weir__ask *ask, struct weir__op *op)
{
	/* the operator's alone, until it has asked */
	assert(ask->state == WEIR__ASK_NONE);
	ask->op = op;
	weir__op_hold(op);
	/* who is asked orders it */
	ck_pr_store_32(&ask->state, WEIR__ASK_ASKED);
}

/* No answer will come. Owner. */
static inline void weir__ask_withdraw(struct weir__ask *ask)
{
	ck_pr_store_32(&ask->state, WEIR__ASK_NONE);
	weir__op_unhold(ask->op);
}

/*
 * The answer is there. True: the operator takes it, and what it asked with must
 * not be touched any more. False: the caller undoes it. Then done.
 */
static inline bool weir__ask_answer(struct weir__ask *ask)
{
	/* release: the answer; pairs with the acquire in weir__ask_state() */
	ck_pr_fence_release();
	return ck_pr_cas_32(&ask->state, WEIR__ASK_ASKED, WEIR__ASK_ANSWERED);
}

/* The last touch of who has answered; `op` is ask->op before that. */
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
	/* nobody changes it behind the answer */
	assert(ask->state == WEIR__ASK_ANSWERED);
	ck_pr_store_32(&ask->state, WEIR__ASK_NONE);
}

/* True: there is an answer that nobody has taken, and nobody will. Owner. */
static inline bool weir__ask_close(struct weir__ask *ask)
{
	uint32_t state = ck_pr_fas_32(&ask->state, WEIR__ASK_CLOSED);

	/* acquire: as in weir__ask_state() */
	ck_pr_fence_acquire();
	return state == WEIR__ASK_ANSWERED;
}

#endif
