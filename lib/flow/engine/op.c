/* SPDX-License-Identifier: BSD-2-Clause */
/* The part that all operators have in common: their memory, how they end, fail,
 * drop items, and wake their island. */
#include "flow/engine/op.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "flow/engine/island.h"

/* --- Their memory --------------------------------------------------------- */

struct weir__tree *weir__tree_new(const struct weir_allocator *allocator)
{
	struct weir__tree *tree = weir__alloc(allocator, sizeof(*tree));

	if (tree) {
		tree->allocator = allocator;
		tree->refs = 1;
	}
	return tree;
}

void weir__tree_unref(struct weir__tree *tree)
{
	struct weir__op *op;

	if (!tree)
		return;
	if (!weir__unref(&tree->refs))
		return;
	while ((op = tree->ops)) {
		assert(!op->open);
		tree->ops = op->next;
		weir_error_unref(op->error);
		weir__free(tree->allocator, op, op->size);
	}
	weir__free(tree->allocator, tree, sizeof(*tree));
}

/* --- Their life ----------------------------------------------------------- */

const struct weir_allocator *weir__op_allocator(const struct weir__op *op)
{
	return op->tree->allocator;
}

uint64_t weir__op_now(const struct weir__op *op)
{
	return weir_executor_now(op->island->actor.executor);
}

void weir__op_again(struct weir__op *op)
{
	op->island->again = true;
}

/*
 * A pull in an island that drains or nests. Where it nests, this bounds the
 * recursion. Composing bounds the depth of each flow, and weir__op_nest() that
 * of a nested flow. Neither sees the depth of a nested flow whose upstream has
 * made another nested flow.
 */
static __attribute__((noinline)) size_t pull_carefully(struct weir__op *op,
						       void **items,
						       size_t room)
{
	struct weir__island *island = op->island;
	bool drains = island->draining && op->kind->source;
	size_t n;

	if (drains && !op->kind->drain) {
		weir__op_end(op, NULL);
		return 0;
	}
	if (island->n_pulling == WEIR_FLOW_DEPTH_MAX) {
		weir__op_fail(op, -E2BIG, "too many flows upon each other");
		return 0;
	}
	island->n_pulling++;
	n = drains ? op->kind->drain(op, items, room)
		   : op->kind->pull(op, items, room);
	island->n_pulling--;
	return n;
}

size_t weir__pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__island *island = op->island;
	size_t n;

	if (op->ended)
		return 0;
	/* an operator that is closed has ended, unless it is being restarted */
	assert(op->open);
	assert(items);
	if (WEIR_UNLIKELY(room > island->ask))
		room = island->ask;
	n = WEIR_UNLIKELY(island->draining || island->nests)
		    ? pull_carefully(op, items, room)
		    : op->kind->pull(op, items, room);
	assert(n <= room);
	/* rule 2: an operator that was given items does not wait */
	if (n > 0)
		island->again = true;
	return n;
}

/*
 * Those above that can be applied, too, are not pulled, but applied to what
 * comes from above them all. (Not where weir__pull() counts them.)
 */
size_t weir__apply_pull(struct weir__op *op, void **items, size_t room)
{
	bool counts = op->island->draining || op->island->nests;
	struct weir__op *first = op;

	while (!counts && first->up[0]->kind->apply &&
	       weir__applies_below(first->up[0], first))
		first = first->up[0];
	return weir__apply(first, op, items,
			   weir__pull(first->up[0], items, room));
}

static void close_op(struct weir__op *op)
{
	if (!op->open)
		return;
	op->open = false;
	if (op->kind->close)
		op->kind->close(op);
}

/* Of an operator that delays errors: the first, behind the operators above. */
static struct weir_error **first_of(const struct weir__op *op)
{
	return (struct weir_error **)(void *)(op->up + op->flow->n_up);
}

static void set_first(struct weir__op *op, struct weir_error *error)
{
	weir_error_unref(*first_of(op));
	*first_of(op) = weir_error_ref(error);
}

/* The operator delays errors, and this one has come. */
static void delay(struct weir__op *op, struct weir_error *error)
{
	const struct weir_flow *flow = op->flow;

	assert(op->delays && !op->ended);
	if (!*first_of(op))
		set_first(op, error);
	if (flow->failed)
		flow->failed(error, flow->failed_context);
}

/* Recursion is bounded: see struct weir_flow.
 * NOLINTBEGIN(misc-no-recursion) */
static void end(struct weir__op *op, struct weir_error *error)
{
	uint32_t i;

	/* the error is set together with `ended` */
	assert(!op->error);
	op->ended = true;
	op->error = weir_error_ref(error);
	for (i = 0; i < op->n_up; i++)
		weir__op_cancel(op->up[i]);
	close_op(op);
	/* now: a tree may outlive the flow that it was built of */
	if (op->delays)
		set_first(op, NULL);
	if (!op->error || !op->whole || op->whole->ended)
		return;
	delay(op->whole, op->error);
	weir_error_unref(op->error);
	op->error = NULL;
}

void weir__op_end(struct weir__op *op, struct weir_error *error)
{
	if (op->ended)
		return;
	if (op->delays && error)
		delay(op, error);
	else if (op->delays)
		error = *first_of(op);
	end(op, error);
}

void weir__op_cancel(struct weir__op *op)
{
	if (!op->ended)
		end(op, NULL);
}
/* NOLINTEND(misc-no-recursion) */

struct weir_error *weir__op_error(const struct weir__op *op, int code,
				  const char *message)
{
	struct weir_error *error;

	if (code >= 0)
		code = -EINVAL;
	if (weir_error_new(&error, code, weir__op_name(op), message, NULL, NULL,
			   weir__op_allocator(op)) < 0)
		return weir_error_of(code);
	return error;
}

void weir__op_fail(struct weir__op *op, int code, const char *message)
{
	struct weir_error *error = weir__op_error(op, code, message);

	weir__op_end(op, error);
	weir_error_unref(error);
}

struct weir_error *weir__op_error_code(const struct weir__op *op, int code,
				       const char *message)
{
	return weir__error_format(weir__op_allocator(op), code,
				  weir__op_name(op), "%s: %s", message,
				  weir_strerror(code < 0 ? code : -EINVAL));
}

void weir__op_fail_code(struct weir__op *op, int code, const char *message)
{
	struct weir_error *error = weir__op_error_code(op, code, message);

	weir__op_end(op, error);
	weir_error_unref(error);
}

/* Closes and opens the operator; the operators above stay as they are. */
static int restart(struct weir__op *op)
{
	int rc;

	if (op->kind->stateless)
		return 0;
	/* rule 5: close() and open() alternate */
	assert(op->open);
	assert(op->kind->keeps <= op->kind->state_size);
	close_op(op);
	memset(op->state + op->kind->keeps, 0,
	       op->kind->state_size - op->kind->keeps);
	rc = op->kind->open ? op->kind->open(op) : 0;
	op->open = rc == 0;
	return rc;
}

/* As weir__op_survives_as(); `stop` is called where the operator does not. */
static bool survives(struct weir__op *op, int code, const char *message,
		     void (*stop)(struct weir__op *op,
				  struct weir_error *error))
{
	struct weir_error *error = weir__op_error_code(op, code, message);
	enum weir_directive directive = WEIR_DIRECTIVE_STOP;
	int rc = 0;

	/* an operator that has ended holds no items, and must not be opened
	 * again */
	assert(!op->ended);
	if (op->decide)
		directive = op->decide(error, op->decide_context);
	if (directive == WEIR_DIRECTIVE_RESTART)
		rc = restart(op);
	if (rc < 0)
		weir__op_fail_code(op, rc, "could not begin again");
	else if (directive != WEIR_DIRECTIVE_RESUME &&
		 directive != WEIR_DIRECTIVE_RESTART)
		stop(op, error);
	weir_error_unref(error);
	return !op->ended;
}

bool weir__op_survives(struct weir__op *op, int code)
{
	return survives(op, code, "a function failed", weir__op_end);
}

bool weir__op_survives_as(struct weir__op *op, int code, const char *message)
{
	return survives(op, code, message, weir__op_end);
}

/* The operator makes no more parts, because of `error`. */
static void make_no_more(struct weir__op *op, struct weir_error *error)
{
	if (!op->delays) {
		weir__op_end(op, error);
		return;
	}
	delay(op, error);
	weir__op_cancel(op->up[0]);
}

void weir__op_unmade(struct weir__op *op, int code)
{
	(void)survives(op, code, "a function failed", make_no_more);
}

void weir__op_drop(const struct weir__op *op, void *const *items, size_t n)
{
	const struct weir_items *kind = op->items;
	size_t i;

	assert(n == 0 || items);
	for (i = 0; kind && kind->drop && i < n; i++)
		kind->drop(items[i], kind->context);
}

/* --- From outside --------------------------------------------------------- */

void weir__op_hold(struct weir__op *op)
{
	weir__ref(&op->tree->refs);
	(void)weir_actor_ref(&op->island->actor);
	/* relaxed: a kind is constant */
	ck_pr_store_ptr(&op->island->asked, (void *)(uintptr_t)op->kind);
}

void weir__op_unhold(struct weir__op *op)
{
	struct weir_actor *actor = &op->island->actor;

	weir__tree_unref(op->tree);
	weir_actor_unref(actor);
}

void weir__op_wake(struct weir__op *op)
{
	weir_actor_signal(&op->island->actor);
}

/*
 * The timer's thread holds the operator from arming until the timer has fired.
 * It clears `armed` before it wakes the island. So an operator that finds the
 * timer armed and the timer not armed is woken once more, and can arm the timer
 * then.
 */
static void op_timer_fire(struct weir_timer *timer)
{
	struct weir__op_timer *self =
		weir_container_of(timer, struct weir__op_timer, timer);
	struct weir__op *op = self->op;

	/* release: the last touch of the timer; pairs with the acquire in
	 * weir__op_timer_at() */
	ck_pr_fence_release();
	ck_pr_store_32(&self->armed, 0);
	weir__op_wake(op);
	weir__op_unhold(op);
}

int weir__op_timer_at(struct weir__op_timer *timer, struct weir__op *op,
		      uint64_t at_ns)
{
	struct weir_executor *executor = op->island->actor.executor;
	bool armed = ck_pr_load_32(&timer->armed);
	int rc;

	/* the operator would never disarm a timer that it sets now */
	assert(!op->ended);
	/* acquire: op_timer_fire() is done with it; pairs with its release */
	ck_pr_fence_acquire();
	if (armed) {
		assert(timer->op == op);
		if (timer->at_ns <= at_ns ||
		    !weir_timer_cancel(executor, &timer->timer))
			return 0;
	} else {
		weir__op_hold(op);
	}
	timer->timer.fire = op_timer_fire;
	timer->op = op;
	timer->at_ns = at_ns;
	ck_pr_store_32(&timer->armed, 1);
	rc = weir_timer_arm(executor, &timer->timer, at_ns);
	if (rc == 0)
		return 0;
	ck_pr_store_32(&timer->armed, 0);
	weir__op_unhold(op);
	return rc;
}

void weir__op_timer_off(struct weir__op_timer *timer)
{
	struct weir__op *op = timer->op;

	if (!ck_pr_load_32(&timer->armed) ||
	    !weir_timer_cancel(op->island->actor.executor, &timer->timer))
		return;
	ck_pr_store_32(&timer->armed, 0);
	weir__op_unhold(op);
}
