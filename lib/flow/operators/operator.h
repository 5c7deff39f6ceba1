/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators of the user's, for those with outlets: operator_outlets.c, which
 * operator.c knows by a table only.
 */
#ifndef WEIR_FLOW_OPERATORS_OPERATOR_H
#define WEIR_FLOW_OPERATORS_OPERATOR_H

#include <weir/flow_operator.h>

#include "flow/engine/op.h"
#include "flow/shared/op_fd.h"

/* What those with outlets do otherwise. */
struct weir__operator_outlets {
	/* Calls on_pull() for each outlet for which it is due. False: for
	 * none. */
	bool (*tell)(struct weir__op *op);
	/* The operator was cancelled: calls on_cancel() for each outlet for
	 * which it was not called. */
	void (*cancel)(struct weir__op *op);
	/* What on_push() does if there is none: deals an item that is
	 * wanted. */
	int (*deal)(struct weir_operator *self, void *item);
	/* weir_operator_push(). */
	int (*push)(struct weir_operator *self, void *item);
};

/* What the arguments of a flow end with. */
struct weir__operator_args {
	struct weir__kind kind; /* of this flow alone, with its state's size */
	struct weir_operator_ops ops;
	void *context;
	void *copy; /* of the user's context, which is `context` then; or NULL */
	uint32_t n_outlets; /* 0: one, which is no fan's */
	const struct weir__operator_outlets *with; /* NULL: 0 */
};

struct weir__operator_input {
	bool asked;  /* and nothing has come */
	bool looked; /* it was pulled, in the pull that is under way */
	bool told;   /* on_end() was called, or its default was done */
};

struct weir__operator_outlet {
	bool wanted; /* on_pull() was called, and nothing pushed since */
	bool told;   /* on_cancel() was called, or the operator has ended it */
};

/*
 * The state of an operator. has_late implies !wanted. A restart zeroes the
 * fields from `due_ns` on.
 */
struct weir_operator {
	struct weir__op_timer timer; /* must be first */
	struct weir__op_fd watch;
	uint32_t woken;	 /* atomic: on_wake() is due */
	void **items;	 /* of the pull that is under way */
	size_t room, n;	 /* with outlets: room for 1 while `wanted` */
	uint64_t due_ns; /* on_timer(); WEIR_FOREVER: never */
	int fd;		 /* on_ready(); -1: none */
	short events;
	bool armed; /* `watch` is for `fd`, or was until it fired */
	struct weir_error *error; /* if it is ending */
	void *late;
	bool has_late;
	bool wanted;	 /* on_pull() was called, and nothing pushed since; with
			 * outlets: of some outlet */
	bool ending;	 /* no function but close() is called */
	bool paused;	 /* in a round, before its items */
	uint32_t first;	 /* the input that is asked first */
	uint32_t input;	 /* that a function is called for, or 0 */
	uint32_t outlet; /* likewise */
	uint32_t n_wanted; /* outlets */
	uint32_t next;	   /* the outlet that is dealt to first */
	struct weir__operator_input *inputs;   /* behind `state`; of a source
						* there is one, for the drain */
	struct weir__operator_outlet *outlets; /* behind those, or NULL */
	_Alignas(max_align_t) char state[];
};

static inline const struct weir__operator_args *weir__operator_args(
	const struct weir__op *op)
{
	return weir_container_of(op->kind, const struct weir__operator_args,
				 kind);
}

/*
 * Sets up the arguments of an operator upon `n` flows, with `outlets`, if it
 * has any. False: the user's are bad.
 */
bool weir__operator_args_init(struct weir__operator_args *args,
			      const struct weir__kind *kind, uint32_t n,
			      uint32_t outlets,
			      const struct weir_operator_ops *ops,
			      void *context);

/* Copies the user's context into memory of the flow, if it says to. False: there
 * is none. The other one frees it. */
bool weir__operator_keep_context(struct weir__operator_args *args);
void weir__operator_free_context(struct weir__operator_args *args);

/* Functions of a kind. */
const char *weir__operator_refuses(const struct weir_flow *flow);
int weir__operator_open(struct weir__op *op);
void weir__operator_close(struct weir__op *op);

/* Calls what is due, of which there may be more if this returns true, and what
 * comes behind the last call. */
bool weir__operator_go(struct weir__op *op);

/* Nothing more is due: the operator has ended, or is about to. */
static inline bool weir__operator_over(struct weir__op *op)
{
	const struct weir_operator *self = weir__op_state(op);

	return self->ending || op->ended;
}

/* Judges the result `rc` of a function that was not given an item. */
void weir__operator_judge(struct weir__op *op, int rc);

/* What on_pull() does if there is none. */
void weir__operator_pull_all(struct weir__op *op);

#endif
