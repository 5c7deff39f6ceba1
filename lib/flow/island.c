/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actors that drive operators. A stage fires when driving it may make progress:
 *
 * - A stage with one in-port and no operator that holds items (`linear`) fires
 *   when there are tokens and room, as any other actor; its set of ports never
 *   changes.
 * - For any other stage the last drive says what is missing. If it is room, the
 *   out-ports take part. If it is tokens, the in-ports that the operators found
 *   empty take part (all of them, or any of them, which the operator with
 *   several inputs says). If it is a timer or another thread, no port takes
 *   part until the stage is woken.
 *
 * An in-port that has only its end left to tell always takes part, because an
 * end waits for nothing.
 *
 * A stage without out-port that waits for nothing fires by its port `go`. A
 * drain of the executor is also told to `go`.
 */
#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "actor/in.h"
#include "actor/slice.h"
#include "base/memory.h"
#include "executor/registry.h"
#include "flow/flow.h"

#define GO_TURNS 256u  /* certain, while a stage goes */
#define GO_FIT_LOG2 2u /* turns of a run then, before they become longer */

static struct weir__island *stage_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir__island, actor);
}

/* --- What it waits for ---------------------------------------------------- */

void weir__take_part(struct weir_port *port, bool *ignored, bool want)
{
	if (want != *ignored)
		return;
	*ignored = !want;
	if (want)
		(void)weir_port_require(port); /* -EPIPE: the port has ended */
	else
		(void)weir_port_ignore(port);
}

static void require_input(struct weir__island *stage, bool linear, bool waits)
{
	struct weir__inlet *inlet;

	if (stage->any.port.actor) {
		weir__take_part(&stage->any.port, &stage->any_ignored, waits);
		return;
	}
	for (inlet = stage->inlets; inlet; inlet = inlet->next)
		weir__take_part(&inlet->in.port, &inlet->ignored,
				waits ? inlet->waiting : linear);
}

/* True: the stream has ended and all its tokens are taken, but the end has not
 * been told. */
static bool ends(const struct weir_in *in)
{
	uint32_t word;

	if (in->port.flags & WEIR__PORT_ENDED)
		return false;
	/* relaxed: the later look at the port reads it again, and orders it */
	word = ck_pr_load_32(weir__lane_tail(&in->lane));
	return (word & 1) && weir__index_diff(word >> 1, in->head) == 0;
}

static void let_end(struct weir__island *stage)
{
	struct weir__inlet *inlet;

	for (inlet = stage->inlets; inlet; inlet = inlet->next) {
		if (!ends(&inlet->in))
			continue;
		if (stage->any.port.actor)
			weir__take_part(&stage->any.port, &stage->any_ignored,
					true);
		else
			weir__take_part(&inlet->in.port, &inlet->ignored, true);
	}
}

static bool input_waits(const struct weir__island *stage)
{
	const struct weir__inlet *inlet;

	for (inlet = stage->inlets; inlet; inlet = inlet->next)
		if (inlet->waiting)
			return true;
	return false;
}

static void set_going(struct weir__island *stage, bool going)
{
	bool ignored = !stage->going;

	if (stage->go.port.kind == WEIR__PORT_ATTENDANT)
		return;
	weir__take_part(&stage->go.port, &ignored, going);
	stage->going = !ignored;
}

/*
 * While it gets on, what takes part stays as it is: of a stage whose in-port,
 * if it has any, does so all the time.
 */
static bool is_steady(const struct weir__island *stage, bool linear)
{
	return (linear || !stage->inlets) &&
	       (stage->end == &weir__end_out || !stage->end->require);
}

static void rest(struct weir__island *stage, enum weir__found found)
{
	bool linear = stage->linear && !stage->poked;
	bool none = found == WEIR__FOUND_NONE;
	bool waits;

	if (WEIR_LIKELY(stage->steady && !none && linear == stage->linear))
		return;
	stage->steady = !none && is_steady(stage, linear);
	waits = none && input_waits(stage);
	if (!none || waits)
		require_input(stage, linear, waits);
	else
		require_input(stage, false, false);
	let_end(stage);
	if (stage->end->require)
		stage->end->require(stage, !none || waits);
	set_going(stage, !stage->has_out && !none && !linear);
}

/* --- Driving it ----------------------------------------------------------- */

static void finish(struct weir__island *stage, struct weir_error *error)
{
	/* the end is told only once */
	assert(!stage->over);
	stage->over = true;
	stage->end->over(stage, error);
	(void)weir_actor_end(&stage->actor);
}

/* Looks for tokens in an in-port that takes no part in firing: the slice does
 * not. */
static void look(struct weir__inlet *inlet)
{
	struct weir_port *port = &inlet->in.port;
	struct weir_error *error;

	inlet->waiting = false;
	if (!inlet->ignored || inlet->op->ended)
		return;
	(void)weir__port_turns(port);
	if (!(port->flags & WEIR__PORT_AT_END))
		return;
	error = weir__in_ended(port);
	weir__op_end(inlet->op, error);
	weir_error_unref(error);
}

/* Drives the stage once. True: it did as much as it was asked to. */
static bool drive(struct weir__island *stage, uint64_t n)
{
	void *scratch[WEIR_FLOW_BATCH];
	struct weir__inlet *inlet;
	enum weir__found found;

	if (stage->over)
		return false;
	for (inlet = stage->inlets; inlet; inlet = inlet->next)
		look(inlet);
	stage->scratch = scratch;
	found = stage->end->drive(stage, n);
	assert(stage->scratch == scratch);
	stage->scratch = NULL;
	if (found == WEIR__FOUND_OVER) {
		assert(stage->root->ended);
		finish(stage, stage->root->error);
		return false;
	}
	if (found != WEIR__FOUND_FULL)
		stage->poked = false;
	rest(stage, found);
	return found == WEIR__FOUND_MORE;
}

/*
 * Sets how many items are asked for at once. As for runs of turns, time is the
 * bound: no operator gets more room than a run has items. A turn is one item;
 * but a stage that fires by `go` has no port that bounds its run, so one of its
 * turns is 2^batch_log2 items: cheap items come in batches, and a run has
 * enough turns to be timed. When turns per run and items per turn change, their
 * product stays. If one turn takes too long, batches begin anew with one item.
 * Turns stay so short that this does not happen to a run that has just taken a
 * little longer than others.
 */
static void set_batch(struct weir__island *stage)
{
	uint32_t fit = weir__actor_fit_log2(&stage->actor);
	uint32_t batch = fit ? stage->batch_log2 : 0;

	while (stage->going && fit > GO_FIT_LOG2 &&
	       batch < WEIR__FIT_LOG2_MAX) {
		fit--;
		batch++;
	}
	while (!stage->going && batch > 0) {
		fit += fit < WEIR__FIT_LOG2_MAX;
		batch--;
	}
	stage->batch_log2 = batch;
	weir__actor_set_fit(&stage->actor, fit);
	stage->ask = 1u << weir__at_most(batch + fit, WEIR__FIT_LOG2_MAX);
}

/* And `n` turns, which fit into a run, still do. */
static inline uint32_t set_ask(struct weir__island *stage, uint32_t n)
{
	if (WEIR_LIKELY(!stage->going && !stage->batch_log2)) {
		stage->ask = 1u << weir__actor_fit_log2(&stage->actor);
		return n;
	}
	set_batch(stage);
	return (uint32_t)weir__at_most(
		n, 1u << weir__actor_fit_log2(&stage->actor));
}

/* Handles a wake. (Slices measure no time for signals.) */
static void poke(struct weir__island *stage)
{
	struct weir_executor *executor = stage->actor.executor;
	uint64_t begin_ns = weir_executor_now(executor);
	uint32_t n;
	bool all;

	stage->poked = true;
	stage->n_pokes++;
	(void)set_ask(stage, 0);
	n = stage->ask >> stage->batch_log2;
	all = drive(stage, stage->ask);
	weir__slice_learn(&stage->actor, all ? n : 0, n,
			  weir_executor_now(executor) - begin_ns);
}

static uint32_t turns(struct weir_actor *actor, uint32_t n)
{
	struct weir__island *stage = stage_of(actor);

	n = set_ask(stage, n);
	return drive(stage, (uint64_t)n << stage->batch_log2) ? n : 0;
}

static int ended(struct weir_actor *actor, struct weir_in *in,
		 struct weir_error *error)
{
	struct weir__inlet *inlet =
		weir_container_of(in, struct weir__inlet, in);

	weir__op_end(inlet->op, error);
	poke(stage_of(actor));
	return 0;
}

static int cancelled(struct weir_actor *actor, struct weir_out *out)
{
	struct weir__island *stage = stage_of(actor);

	if (stage->over || !stage->end->cancelled(stage, out))
		return 0;
	weir__op_cancel(stage->root);
	finish(stage, NULL);
	return 0;
}

static int signalled(struct weir_actor *actor)
{
	struct weir__island *stage = stage_of(actor);

	if (ck_pr_load_32(&stage->run->draining))
		stage->draining = true;
	poke(stage);
	return 0;
}

static void stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir__island *stage = stage_of(actor);

	if (!stage->over)
		weir__run_fail(stage->run, error && error->code != -ECANCELED
						   ? error
						   : &weir__run_cancelled);
	stage->over = true;
	if (stage->root)
		weir__op_cancel(stage->root);
	if (stage->end->close)
		stage->end->close(stage);
	weir__run_island_stopped(stage->run, stage);
}

static void released(struct weir_actor *actor)
{
	struct weir__island *stage = stage_of(actor);
	struct weir_flow_run *run = stage->run;
	struct weir__inlet *inlet;

	assert(stage->over);
	while ((inlet = stage->inlets)) {
		stage->inlets = inlet->next;
		weir__free(run->allocator, inlet, sizeof(*inlet));
	}
	if (stage->end->free)
		stage->end->free(stage);
	weir__tree_unref(stage->tree);
	weir__free(run->allocator, stage, sizeof(*stage));
	weir__run_island_released(run);
}

/* --- Setting it up -------------------------------------------------------- */

static uint32_t go_certain(struct weir_port *port)
{
	return GO_TURNS;
}

static void go_drain(struct weir_port *port)
{
	struct weir__island *stage = stage_of(port->actor);

	stage->draining = true;
	poke(stage);
}

static bool has_failed(const struct weir__island *stage)
{
	const struct weir__inlet *inlet;

	for (inlet = stage->inlets; inlet; inlet = inlet->next)
		if (!inlet->op->ended && weir__in_failed(&inlet->in))
			return true;
	return false;
}

/* An end or an error may have come in an in-port that takes no part, behind
 * items. */
static int go_signalled(struct weir_port *port)
{
	struct weir__island *stage = stage_of(port->actor);

	let_end(stage);
	if (has_failed(stage))
		poke(stage);
	return 0;
}

/* `takes`: a drain does not end the stage, but its sources. */
static const struct weir__port_ops go_ops = {
	.takes = true,
	.certain = go_certain,
	.signalled = go_signalled,
	.drain = go_drain,
};

struct weir__island *weir__island_new(struct weir_flow_run *run,
				      struct weir_executor *executor,
				      const struct weir__end *end)
{
	struct weir__island *stage =
		weir__alloc(run->allocator, sizeof(*stage));

	/* no stages may be added to a run that has begun: they would not be
	 * counted */
	assert(!run->begun);
	if (!stage)
		return NULL;
	stage->tree = weir__tree_new(run->allocator);
	if (!stage->tree) {
		weir__free(run->allocator, stage, sizeof(*stage));
		return NULL;
	}
	stage->ops = (struct weir_actor_ops){
		.name = "flow",
		.turns = turns,
		.ended = ended,
		.cancelled = cancelled,
		.signalled = signalled,
		.stopped = stopped,
		.released = released,
	};
	(void)weir_actor_init(&stage->actor, &stage->ops, executor);
	/* where the clock stands still, a batch is as large as can be from the
	 * first item on */
	if (executor->registry->stands_still) {
		stage->batch_log2 = WEIR__FIT_LOG2_MAX;
		weir__actor_set_fit(&stage->actor, 1);
	}
	stage->end = end;
	stage->linear = true;
	stage->run = run;
	stage->next = run->stages;
	run->stages = stage;
	stage->live = run->live;
	run->live = stage;
	run->n_alive++;
	return stage;
}

static int init_any(struct weir__island *stage)
{
	struct weir__inlet *inlet;
	int rc;

	if (!stage->any_input || stage->n_inlets < 2)
		return 0;
	rc = weir_any_init(&stage->any, &stage->actor);
	for (inlet = stage->inlets; inlet && rc == 0; inlet = inlet->next)
		rc = weir_any_add(&stage->any, &inlet->in.port);
	return rc;
}

int weir__island_ready(struct weir__island *stage, struct weir__op *root)
{
	bool fires;
	int rc = 0;

	assert(root->stage == stage && root->tree == stage->tree);
	stage->root = root;
	stage->ops.name = weir__op_name(root);
	if (stage->end == &weir__end_out) {
		rc = weir_out_init(&stage->out, &stage->actor, root->items);
		stage->has_out = true;
	}
	if (rc == 0)
		rc = init_any(stage);
	if (rc < 0)
		return rc;
	stage->linear = stage->linear && stage->n_inlets == 1;
	fires = stage->has_out || stage->linear;
	stage->going = !fires;
	stage->go.ops = &go_ops;
	weir__port_init(&stage->go.port, &stage->actor,
			fires ? WEIR__PORT_ATTENDANT : WEIR__PORT_OTHER);
	if (!stage->linear)
		require_input(stage, false, false);
	/* Drives the stage once when it starts, whatever its ports hold. */
	weir_actor_signal(&stage->actor);
	return 0;
}

/* --- How they end --------------------------------------------------------- */

/* Items come straight into the slots that they leave by. */
static enum weir__found out_drive(struct weir__island *stage, uint64_t n)
{
	struct weir_out *out = &stage->out;
	struct weir__op *root = stage->root;
	size_t ask, got, end;

	while (n > 0 && weir_out_room(out) > 0) {
		end = out->mask + 1 - (out->tail & out->mask);
		ask = weir__at_most(n, WEIR_FLOW_BATCH);
		ask = weir__at_most(ask, weir_out_room(out));
		ask = weir__at_most(ask, end);
		stage->again = false;
		got = weir__pull(root, &out->slots[out->tail & out->mask].item,
				 ask);
		out->tail += (uint32_t)got;
		if (root->ended)
			return WEIR__FOUND_OVER;
		if (got == 0 && !stage->again)
			return WEIR__FOUND_NONE;
		n -= ask;
	}
	if (n == 0)
		return WEIR__FOUND_MORE;
	weir__pull_none(root);
	return root->ended ? WEIR__FOUND_OVER : WEIR__FOUND_FULL;
}

static void out_over(struct weir__island *stage, struct weir_error *error)
{
	if (error)
		(void)weir_out_end(&stage->out, error);
}

static void out_require(struct weir__island *stage, bool room)
{
	weir__take_part(&stage->out.port, &stage->out_ignored, room);
}

static bool out_cancelled(struct weir__island *stage, struct weir_out *out)
{
	return true;
}

const struct weir__end weir__end_out = {
	.drive = out_drive,
	.over = out_over,
	.require = out_require,
	.cancelled = out_cancelled,
};

static void keep_last(struct weir__island *stage, void *const *items, size_t n)
{
	struct weir_flow_run *run = stage->run;

	if (n == 0)
		return;
	/* only one stage of a run gives the result */
	assert(stage->end == &weir__end_result);
	if (run->has_result)
		weir__op_drop_one(stage->root, run->result);
	weir__op_drop(stage->root, items, n - 1);
	run->result = items[n - 1];
	run->result_items = stage->root->items;
	run->has_result = true;
}

static enum weir__found result_drive(struct weir__island *stage, uint64_t n)
{
	struct weir__op *root = stage->root;
	void *items[WEIR_FLOW_BATCH];
	size_t ask, got;

	while (n > 0) {
		ask = weir__at_most(n, WEIR_FLOW_BATCH);
		stage->again = false;
		got = weir__pull(root, items, ask);
		keep_last(stage, items, got);
		if (root->ended)
			return WEIR__FOUND_OVER;
		if (got == 0 && !stage->again)
			return WEIR__FOUND_NONE;
		n -= ask;
		if (weir_actor_interrupted(&stage->actor))
			break;
	}
	return WEIR__FOUND_MORE;
}

static void result_over(struct weir__island *stage, struct weir_error *error)
{
	if (error)
		weir__run_fail(stage->run, error);
}

const struct weir__end weir__end_result = {
	.drive = result_drive,
	.over = result_over,
};
