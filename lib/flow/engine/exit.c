/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An exit has two ends, the island and the operator. Each keeps the other's
 * memory from when they are made until its own close(), which is called for
 * both. The island holds the operator until the island has stopped and has told
 * the operator its error. The operator references the island until the operator
 * is closed; if it is closed first, it makes the island end.
 */
#include "flow/engine/exit.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/in.h"
#include "actor/look.h"
#include "actor/out.h"
#include "actor/port.h"
#include "base/lock.h"
#include "base/memory.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/engine/run.h"

struct exit {
	struct weir_reactive_out reactive;
	const struct weir_allocator *allocator;
	struct weir__island *island; /* referenced by the operator */
	struct weir__op *op; /* held by the island; NULL: not made yet */
	struct weir_in *in;  /* its actor is held; NULL: not linked */
	struct exit *next;   /* of the run; under its lock */
	/* The island's. */
	struct weir_error *error; /* before `stopped` */
	bool told;		  /* the operator was told how the island
				   * ended */
	bool gave_up;		  /* because the operator was cancelled */
	uint32_t stopped;	  /* atomic */
	/* The operator's. */
	uint32_t cancelled; /* atomic */
};

/* --- The island ----------------------------------------------------------- */

/* relaxed: the signal that wakes the island orders it */
static bool is_cancelled(const struct exit *exit)
{
	return ck_pr_load_32(&exit->cancelled);
}

/*
 * The island is not wanted any more, except to pass on the error of a fan
 * above. The subscriber below gets the items that it has requested, and then
 * that error; items that wait for a request are dropped. True: look again,
 * because there is or was demand.
 */
static bool overtake(struct weir__island *island)
{
	const struct weir_out *out = &island->out;
	struct weir__inlet *inlet;
	struct weir_error *error;
	bool again = false;

	/* room is demand where no link is */
	if (!weir__out_serves_other(out))
		return false;
	for (inlet = island->inlets; inlet; inlet = inlet->next) {
		error = inlet->op->ended ? NULL : weir__in_failed(&inlet->in);
		if (!error)
			continue;
		if (weir__out_waits(out) ||
		    weir__port_turns(&island->out.port) > 0)
			again = true;
		else
			weir__op_end(inlet->op, error);
	}
	return again;
}

static enum weir__found exit_last(struct weir__island *island, uint64_t n)
{
	bool again = overtake(island);
	enum weir__found found = weir__end_out.drive(island, n);
	const struct weir_out *out = &island->out;

	/* An island that has made no progress is woken by the event that it
	 * waits for. */
	if (again && (found == WEIR__FOUND_MORE || found == WEIR__FOUND_FULL ||
		      weir__out_waits(out)))
		weir_actor_signal(&island->actor);
	return found;
}

static enum weir__found exit_drive(struct weir__island *island, uint64_t n)
{
	struct exit *exit = island->end_state;

	if (!is_cancelled(exit))
		return weir__end_out.drive(island, n);
	if (weir__op_awaits(island->root))
		return exit_last(island, n);
	exit->gave_up = true;
	weir__op_cancel(island->root);
	return WEIR__FOUND_OVER;
}

static void exit_over(struct weir__island *island, struct weir_error *error)
{
	struct exit *exit = island->end_state;

	assert(!exit->told);
	if (!error && exit->gave_up)
		error = weir_error_of(-ECANCELED);
	exit->error = weir_error_ref(error);
	exit->told = true;
	weir__end_out.over(island, error);
}

static void exit_require(struct weir__island *island, bool room)
{
	weir__end_out.require(island, room);
}

static bool exit_cancelled(struct weir__island *island, struct weir_out *out)
{
	return weir__end_out.cancelled(island, out);
}

/*
 * The island has stopped: the items that it emitted are delivered or dropped.
 */
static void exit_close(struct weir__island *island)
{
	struct exit *exit = island->end_state;
	struct weir__op *op = exit->op;

	if (!op)
		return;
	assert(exit->told || !exit->error);
	if (!exit->told)
		exit->error = weir_error_of(-ECANCELED);
	/* release: the error; pairs with the acquire in wait_pull() */
	ck_pr_fence_release();
	ck_pr_store_32(&exit->stopped, 1);
	weir__op_wake(op);
	weir__op_unhold(op);
}

/* The in-port has released the island: takes the exit off the run's list, and
 * drops its reference of the in-port's actor. */
static void unlink_exit(struct exit *exit, struct weir_flow_run *run)
{
	struct exit **link = &run->exits;

	weir__lock(&run->lock);
	while (*link != exit)
		link = &(*link)->next;
	*link = exit->next;
	weir__unlock(&run->lock);
	weir_actor_unref(exit->in->port.actor);
}

static void exit_free(struct weir__island *island)
{
	struct exit *exit = island->end_state;

	if (exit->in)
		unlink_exit(exit, island->run);
	weir_error_unref(exit->error);
	weir__free(exit->allocator, exit, sizeof(*exit));
}

static const struct weir__end exit_end = {
	.drive = exit_drive,
	.over = exit_over,
	.require = exit_require,
	.cancelled = exit_cancelled,
	.close = exit_close,
	.free = exit_free,
};

void weir__exit_linked(struct weir__island *island, struct weir_in *in)
{
	struct exit *exit = island->end_state;
	struct weir_flow_run *run = island->run;

	/* the run is being made: no other thread sees its exits */
	assert(island->end == &exit_end && !exit->in);
	weir_actor_ref(in->port.actor);
	exit->in = in;
	exit->next = run->exits;
	run->exits = exit;
}

void weir__exits_cancel(struct weir_flow_run *run)
{
	struct exit *exit;

	for (exit = run->exits; exit; exit = exit->next)
		weir__in_free_ended(exit->in);
}

/* --- The operator --------------------------------------------------------- */

static struct exit *exit_of(struct weir__op *op)
{
	return *(struct exit **)weir__op_state(op);
}

static size_t wait_pull(struct weir__op *op, void **items, size_t room)
{
	struct exit *exit = exit_of(op);

	if (!ck_pr_load_32(&exit->stopped))
		return 0;
	/* acquire: the error; pairs with the release in exit_close() */
	ck_pr_fence_acquire();
	weir__op_end(op, exit->error);
	return 0;
}

static void wait_close(struct weir__op *op)
{
	struct exit *exit = exit_of(op);
	struct weir_actor *actor = &exit->island->actor;

	ck_pr_store_32(&exit->cancelled, 1);
	weir_actor_signal(actor);
	weir_actor_unref(actor);
}

/* The island that has the items: they are what it waits for the end of. */
static WEIR__LOOKS bool wait_waits(const struct weir__op *op,
				   struct weir__asked *part)
{
	const struct exit *exit =
		*(const struct exit *const *)(const void *)op->state;

	part->other_actor = &exit->island->actor;
	return true;
}

static const struct weir__kind wait_kind = {
	.name = "into",
	.awaits = WEIR_WAIT_INPUT,
	.waits = wait_waits,
	.state_size = sizeof(struct exit *),
	.pull = wait_pull,
	.close = wait_close,
	.holds = true,
};

/* --- Making it ------------------------------------------------------------ */

/* Makes an island of the operators above, with an exit as its end. */
static struct exit *exit_new(struct weir__build *build,
			     const struct weir_flow *flow)
{
	const struct weir_allocator *allocator = build->run->allocator;
	struct exit *exit = weir__alloc(allocator, sizeof(*exit));
	struct weir__build above = *build;
	struct weir__op *root;
	int rc = 0;

	*build->code = -ENOMEM;
	if (!exit)
		return NULL;
	/* as any other with an out-port, until that is set up */
	above.island =
		weir__island_new(build->run, build->executor, &weir__end_out);
	if (!above.island) {
		weir__free(allocator, exit, sizeof(*exit));
		return NULL;
	}
	exit->allocator = allocator;
	exit->island = above.island;
	above.tree = above.island->tree;
	root = weir__build(&above, flow->up[0]);
	if (root)
		rc = weir__island_ready(above.island, root);
	above.island->end = &exit_end;
	above.island->end_state = exit;
	if (rc < 0)
		*build->code = rc;
	return root && rc == 0 ? exit : NULL;
}

static struct weir__op *wait_new(struct weir__build *build,
				 const struct weir_flow *flow,
				 struct exit *exit)
{
	struct weir__op *op = weir__op_leaf(build, flow, &wait_kind, NULL);

	if (!op)
		return NULL;
	*(struct exit **)weir__op_state(op) = exit;
	assert(!exit->op);
	(void)weir_actor_ref(&exit->island->actor);
	weir__op_hold(op);
	exit->op = op;
	return op;
}

struct weir__op *weir__exit_build(
	struct weir__build *build, const struct weir_flow *flow,
	int (*join)(struct weir__island *island, const struct weir_flow *flow,
		    struct weir_reactive_out *reactive))
{
	struct weir__op *op;
	struct exit *exit;
	int rc;

	exit = exit_new(build, flow);
	op = exit ? wait_new(build, flow, exit) : NULL;
	if (!op)
		return NULL;
	rc = join(exit->island, flow, &exit->reactive);
	if (rc == 0) {
		/* upstream may have ended already: the island passes that on,
		 * without demand */
		weir_actor_signal(&exit->island->actor);
		return op;
	}
	weir__op_cancel(op);
	*build->code = rc;
	return NULL;
}
