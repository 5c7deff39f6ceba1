/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kill switches. Open operators stand in a list of the switch, under its lock.
 * The thread that throws the switch wakes all operators of the list; they see
 * that the switch is thrown when they are pulled. An operator leaves the list
 * when it is closed, before it is freed.
 */
#include <weir/flow_switch.h>

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

/* State of an operator. */
struct guard {
	struct weir__op *op;
	struct guard *next, **link;
};

struct weir_flow_switch {
	struct weir__lock lock; /* for `guards`, and to throw it */
	struct guard *guards;
	struct weir_error *error; /* written before `thrown` */
	uint32_t thrown;	  /* atomic */
	uint32_t refs;		  /* atomic: the user, blueprints */
};

int weir_flow_switch_new(struct weir_flow_switch **swtch)
{
	if (!swtch)
		return -EINVAL;
	*swtch = weir__alloc(weir_allocator_default(), sizeof(**swtch));
	if (!*swtch)
		return -ENOMEM;
	(*swtch)->refs = 1;
	return 0;
}

void weir_flow_switch_free(struct weir_flow_switch *swtch)
{
	if (!swtch)
		return;
	if (!weir__unref(&swtch->refs))
		return;
	weir_error_unref(swtch->error);
	weir__free(weir_allocator_default(), swtch, sizeof(*swtch));
}

/* --- Throwing it ---------------------------------------------------------- */

/* Waking may run tasks, which must not happen under the lock. */
static int throw_it(struct weir_flow_switch *swtch, struct weir_error *error)
{
	bool held = weir__hold_back(), first;
	struct guard *guard;

	weir__lock(&swtch->lock);
	first = !ck_pr_load_32(&swtch->thrown);
	if (first) {
		swtch->error = weir_error_ref(error);
		/* release: the error; pairs with the acquire in is_thrown() */
		ck_pr_fence_release();
		ck_pr_store_32(&swtch->thrown, 1);
		for (guard = swtch->guards; guard; guard = guard->next)
			weir__op_wake(guard->op);
	}
	weir__unlock(&swtch->lock);
	weir__let_go(held);
	return first ? 0 : -EALREADY;
}

int weir_flow_switch_end(struct weir_flow_switch *swtch)
{
	return swtch ? throw_it(swtch, NULL) : -EINVAL;
}

int weir_flow_switch_stop(struct weir_flow_switch *swtch,
			  struct weir_error *error)
{
	if (!swtch)
		return -EINVAL;
	return throw_it(swtch, error ? error : weir_error_of(-ECANCELED));
}

/* --- Operators ------------------------------------------------------------ */

static struct weir_flow_switch *switch_of(const struct weir_flow *flow)
{
	return *(struct weir_flow_switch *const *)(const void *)flow->args;
}

static bool is_thrown(const struct weir_flow_switch *swtch)
{
	if (WEIR_LIKELY(!ck_pr_load_32(&swtch->thrown)))
		return false;
	/* acquire: the error; pairs with the release in throw_it() */
	ck_pr_fence_acquire();
	return true;
}

/* If the switch is thrown meanwhile, the operator sees that at its first
 * pull. */
static int guard_open(struct weir__op *op)
{
	struct weir_flow_switch *swtch = switch_of(op->flow);
	struct guard *guard = weir__op_state(op);

	/* a restart begins with a zeroed state: the guard is not in the list */
	assert(!guard->op && !guard->link);
	guard->op = op;
	weir__lock(&swtch->lock);
	guard->next = swtch->guards;
	guard->link = &swtch->guards;
	if (guard->next)
		guard->next->link = &guard->next;
	swtch->guards = guard;
	weir__unlock(&swtch->lock);
	return 0;
}

static void guard_close(struct weir__op *op)
{
	struct weir_flow_switch *swtch = switch_of(op->flow);
	struct guard *guard = weir__op_state(op);

	weir__lock(&swtch->lock);
	assert(*guard->link == guard);
	assert(!guard->next || guard->next->link == &guard->next);
	*guard->link = guard->next;
	if (guard->next)
		guard->next->link = guard->link;
	weir__unlock(&swtch->lock);
}

static size_t guard_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir_flow_switch *swtch = switch_of(op->flow);
	size_t n;

	if (is_thrown(swtch)) {
		weir__op_end(op, swtch->error);
		return 0;
	}
	n = weir__pull(op->up[0], items, room);
	(void)weir__op_follow(op);
	return n;
}

static void guard_free(struct weir_flow *flow)
{
	weir_flow_switch_free(switch_of(flow));
}

static const struct weir__kind guard_kind = {
	.name = "kill_switch",
	.state_size = sizeof(struct guard),
	.pull = guard_pull,
	.open = guard_open,
	.close = guard_close,
	.free = guard_free,
};

struct weir_flow *weir_flow_kill_switch(struct weir_flow *flow,
					struct weir_flow_switch *swtch)
{
	flow = weir__flow_upon(&guard_kind, flow, &swtch, sizeof(swtch), swtch);
	if (weir__flow_check(flow, NULL, NULL) == 0)
		weir__ref(&swtch->refs);
	return flow;
}
