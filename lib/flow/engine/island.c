/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actors that drive operators. An island fires when driving it may make
 * progress:
 *
 * - An island with one in-port and no operator that holds items passes through:
 *   it fires when there are tokens and room, as any other actor; its set of
 *   ports never changes. If each of its operators can be applied to items, they
 *   are, and nothing is pulled while all goes well (`hands_on`).
 * - For any other island the last drive says what is missing. If it is room,
 *   the out-ports take part. If it is tokens, the in-ports that the operators
 *   found empty take part (all of them, or any of them, which the operator with
 *   several inputs says). If it is a timer or another thread, no port takes
 *   part until the island is woken.
 *
 * An in-port that has only its end left to tell always takes part, because an
 * end waits for nothing.
 *
 * An island without out-port that waits for nothing fires by its port `go`. A
 * drain of the executor is also told to `go`.
 */
#include "flow/engine/island.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "actor/in.h"
#include "actor/out.h"
#include "actor/port_set.h"
#include "actor/fit.h"
#include "base/memory.h"
#include "executor/registry.h"
#include "flow/engine/op.h"
#include "flow/engine/run.h"

#define GO_TURNS 256u  /* available, while an island goes */
#define GO_FIT_LOG2 2u /* turns of a run then, before they become longer */

static struct weir__island *island_of(struct weir_actor *actor)
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

void weir__take_member(struct weir_port *port, bool *ignored, bool want)
{
	if (want != *ignored)
		return;
	*ignored = !want;
	if (!want) {
		weir__port_switch_off(port, WEIR__PORT_IGNORED);
		return;
	}
	port->flags &= (uint8_t)~WEIR__PORT_IGNORED;
	weir__actor_break(port->actor);
}

static void take_inlet(struct weir__inlet *inlet, bool want)
{
	weir__take_member(&inlet->in.port, &inlet->ignored, want);
}

static void require_input(struct weir__island *island, bool passes_through,
			  bool waits)
{
	struct weir__inlet *inlet;

	if (island->any.port.actor) {
		weir__take_part(&island->any.port, &island->any_ignored, waits);
		/* without tokens to wait for, the group may still take part,
		 * for room */
		for (inlet = island->inlets;
		     inlet && (waits || island->any_out); inlet = inlet->next)
			take_inlet(inlet, waits && inlet->waiting);
		return;
	}
	for (inlet = island->inlets; inlet; inlet = inlet->next)
		weir__take_part(&inlet->in.port, &inlet->ignored,
				waits ? inlet->waiting : passes_through);
}

/* True: the stream has ended and all its tokens are taken, but the end has not
 * been told. */
static bool ends(const struct weir_in *in)
{
	return !(in->port.flags & WEIR__PORT_ENDED) && weir__in_is_over(in);
}

static void let_end(struct weir__island *island)
{
	struct weir__inlet *inlet;

	for (inlet = island->inlets; inlet; inlet = inlet->next) {
		if (!ends(&inlet->in))
			continue;
		if (island->any.port.actor) {
			weir__take_part(&island->any.port, &island->any_ignored,
					true);
			take_inlet(inlet, true);
			continue;
		}
		weir__take_part(&inlet->in.port, &inlet->ignored, true);
	}
}

static bool input_waits(const struct weir__island *island)
{
	const struct weir__inlet *inlet;

	for (inlet = island->inlets; inlet; inlet = inlet->next)
		if (inlet->waiting)
			return true;
	return false;
}

static void set_going(struct weir__island *island, bool going)
{
	bool ignored = !island->going;

	if (weir__port_adapts(&island->go.port))
		return;
	weir__take_part(&island->go.port, &ignored, going);
	island->going = !ignored;
}

/*
 * While it gets on, what takes part stays as it is: of an island whose in-port,
 * if it has any, does so all the time.
 */
static bool is_steady(const struct weir__island *island, bool passes_through)
{
	return (passes_through || !island->inlets) &&
	       (island->end == &weir__end_out || !island->end->require);
}

static void choose_ports(struct weir__island *island, enum weir__found found)
{
	bool passes_through = island->passes_through && !island->woken;
	bool none = found == WEIR__FOUND_NONE;
	bool waits;

	if (WEIR_LIKELY(island->steady && !none &&
			passes_through == island->passes_through))
		return;
	island->steady = !none && is_steady(island, passes_through);
	waits = none && input_waits(island);
	if (!none || waits)
		require_input(island, passes_through, waits);
	else
		require_input(island, false, false);
	let_end(island);
	if (island->end->require)
		island->end->require(island, !none || waits);
	set_going(island, !island->has_out && !none && !passes_through);
}

/* --- Driving it ----------------------------------------------------------- */

static void finish(struct weir__island *island, struct weir_error *error)
{
	/* the end is told only once */
	assert(!island->over);
	island->over = true;
	island->end->over(island, error);
	(void)weir_actor_end(&island->actor);
}

/* Looks for tokens in an in-port that takes no part in firing: the slice does
 * not. */
static void island_look(struct weir__inlet *inlet)
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

/* Drives the island once. True: it did as much as it was asked to. */
static bool drive(struct weir__island *island, uint64_t n)
{
	void *scratch[WEIR_FLOW_BATCH];
	struct weir__inlet *inlet;
	enum weir__found found;

	if (island->over)
		return false;
	for (inlet = island->inlets; inlet; inlet = inlet->next)
		island_look(inlet);
	island->scratch = scratch;
	found = island->end->drive(island, n);
	assert(island->scratch == scratch);
	island->scratch = NULL;
	if (found == WEIR__FOUND_OVER) {
		assert(island->root->ended);
		finish(island, island->root->error);
		return false;
	}
	if (found != WEIR__FOUND_FULL)
		island->woken = false;
	choose_ports(island, found);
	return found == WEIR__FOUND_MORE;
}

/*
 * Sets how many items are asked for at once. As for runs of turns, time is the
 * bound: no operator gets more room than a run has items. A turn is one item;
 * but an island that fires by `go` has no port that bounds its run, so one of
 * its turns is 2^batch_log2 items: cheap items come in batches, and a run has
 * enough turns to be timed. When turns per run and items per turn change, their
 * product stays. If one turn takes too long, batches begin anew with one item.
 * Turns stay so short that this does not happen to a run that has just taken a
 * little longer than others.
 */
static void set_batch(struct weir__island *island)
{
	uint32_t fit = weir__actor_fit_log2(&island->actor);
	uint32_t batch = fit ? island->batch_log2 : 0;

	while (island->going && fit > GO_FIT_LOG2 &&
	       batch < WEIR__FIT_LOG2_MAX) {
		fit--;
		batch++;
	}
	while (!island->going && batch > 0) {
		fit += fit < WEIR__FIT_LOG2_MAX;
		batch--;
	}
	island->batch_log2 = batch;
	weir__actor_set_fit(&island->actor, fit);
	island->ask = 1u << weir__at_most(batch + fit, WEIR__FIT_LOG2_MAX);
}

/* And `n` turns, which fit into a run, still do. */
static inline uint32_t set_ask(struct weir__island *island, uint32_t n)
{
	if (WEIR_LIKELY(!island->going && !island->batch_log2)) {
		island->ask = 1u << weir__actor_fit_log2(&island->actor);
		return n;
	}
	set_batch(island);
	return (uint32_t)weir__at_most(
		n, 1u << weir__actor_fit_log2(&island->actor));
}

/* Handles a wake. (Slices measure no time for signals.) */
static void island_woken(struct weir__island *island)
{
	struct weir_executor *executor = island->actor.executor;
	uint64_t begin_ns = weir_executor_now(executor);
	uint32_t n;
	bool all;

	island->woken = true;
	island->n_wakes++;
	(void)set_ask(island, 0);
	n = island->ask >> island->batch_log2;
	all = drive(island, island->ask);
	weir__actor_learn_fit(&island->actor, all ? n : 0, n,
			      weir_executor_now(executor) - begin_ns);
}

/* Tokens and room for `n` items are there. */
static uint32_t hand_on(struct weir__island *island, uint32_t n)
{
	struct weir__inlet *inlet = island->inlets;
	struct weir__op *root = island->root;
	size_t left = n, part;
	void **span;

	assert(n <= weir_in_count(&inlet->in) &&
	       n <= weir_out_room(&island->out));
	for (; left > 0 && !root->ended; left -= part) {
		part = left;
		span = weir__out_span(&island->out, &part);
		weir__in_take_n(&inlet->in, span, part);
		weir__out_filled(&island->out, weir__apply(inlet->op->next,
							   root, span, part));
	}
	if (WEIR_LIKELY(!root->ended))
		return n;
	finish(island, root->error);
	return 0;
}

static uint32_t turns(struct weir_actor *actor, uint32_t n)
{
	struct weir__island *island = island_of(actor);

	if (WEIR_LIKELY(island->hands_on && island->steady &&
			!island->batch_log2))
		return hand_on(island, n);
	n = set_ask(island, n);
	return drive(island, (uint64_t)n << island->batch_log2) ? n : 0;
}

static int island_ended(struct weir_actor *actor, struct weir_in *in,
			struct weir_error *error)
{
	struct weir__inlet *inlet =
		weir_container_of(in, struct weir__inlet, in);

	weir__op_end(inlet->op, error);
	island_woken(island_of(actor));
	return 0;
}

static int cancelled(struct weir_actor *actor, struct weir_out *out)
{
	struct weir__island *island = island_of(actor);

	if (island->over || !island->end->cancelled(island, out))
		return 0;
	weir__op_cancel(island->root);
	finish(island, NULL);
	return 0;
}

static int signalled(struct weir_actor *actor)
{
	struct weir__island *island = island_of(actor);

	if (ck_pr_load_32(&island->run->draining))
		island->draining = true;
	island_woken(island);
	return 0;
}

static void island_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir__island *island = island_of(actor);

	if (!island->over)
		weir__run_fail(island->run, error && error->code != -ECANCELED
						    ? error
						    : &weir__run_cancelled);
	island->over = true;
	if (island->root)
		weir__op_cancel(island->root);
	if (island->end->close)
		island->end->close(island);
	weir__run_island_stopped(island->run, island);
}

static void island_released(struct weir_actor *actor)
{
	struct weir__island *island = island_of(actor);
	struct weir_flow_run *run = island->run;
	struct weir__inlet *inlet;

	assert(island->over);
	while ((inlet = island->inlets)) {
		island->inlets = inlet->next;
		weir__free(run->allocator, inlet, sizeof(*inlet));
	}
	if (island->end->free)
		island->end->free(island);
	weir__tree_unref(island->tree);
	weir__free(run->allocator, island, sizeof(*island));
	weir__run_island_released(run);
}

/* --- Setting it up -------------------------------------------------------- */

static uint32_t go_available(struct weir_port *port)
{
	return GO_TURNS;
}

static void go_drain(struct weir_port *port)
{
	struct weir__island *island = island_of(port->actor);

	island->draining = true;
	island_woken(island);
}

static bool has_failed(const struct weir__island *island)
{
	const struct weir__inlet *inlet;

	for (inlet = island->inlets; inlet; inlet = inlet->next)
		if (!inlet->op->ended && weir__in_failed(&inlet->in))
			return true;
	return false;
}

/* An end or an error may have come in an in-port that takes no part, behind
 * items. */
static int go_signalled(struct weir_port *port)
{
	struct weir__island *island = island_of(port->actor);

	let_end(island);
	if (has_failed(island))
		island_woken(island);
	return 0;
}

/* How sure it is that the island waits for an operator. One that waits to write
 * has something to write, whoever was asked behind it. */
enum surely {
	SURELY_NOT,
	PERHAPS,
	PERHAPS_ASKED,
	SURELY,
	SURELY_ASKED,
	SURELY_HOLDS,
};

static WEIR__LOOKS enum surely timer_waits(const struct weir__op_timer *timer,
					   struct weir__asked *part)
{
	part->at_ns = timer->at_ns;
	return ck_pr_load_32(&timer->armed) ? SURELY : SURELY_NOT;
}

static WEIR__LOOKS enum surely fd_waits(const struct weir__op_fd *fd,
					struct weir__asked *part)
{
	part->fd = fd->watch.fd;
	part->events = fd->watch.events;
	if (!ck_pr_load_32(&fd->armed) ||
	    ck_pr_load_32(&fd->ready) & UINT16_MAX)
		return SURELY_NOT;
	return part->events & POLLIN ? SURELY : SURELY_HOLDS;
}

/* What the operator waits for, and whether it does now. */
static WEIR__LOOKS enum surely op_waits(const struct weir__op *op,
					struct weir__asked *part)
{
	const struct weir__kind *kind = op->kind;
	const void *state = op->state;

	part->wait = kind->awaits;
	if (op->ended || !op->open)
		return SURELY_NOT;
	if (kind->waits)
		return kind->waits(op, part) ? SURELY : SURELY_NOT;
	switch (kind->awaits) {
	case WEIR_WAIT_NONE:
		return SURELY_NOT;
	case WEIR_WAIT_TIME:
		return timer_waits(state, part);
	case WEIR_WAIT_FD:
		return fd_waits(state, part);
	default:
		return PERHAPS;
	}
}

/* What the operator that has asked waits for: the best guess where those that
 * can be seen wait for nothing, as it is a nested one. */
static WEIR__LOOKS void guess(const struct weir__island *island,
			      struct weir__asked *part)
{
	const struct weir__kind *asked = ck_pr_load_ptr(&island->asked);

	*part = (struct weir__asked){.at_ns = WEIR_FOREVER, .fd = -1};
	if (!asked)
		return;
	part->name = asked->name;
	part->wait = asked->awaits;
}

/* The operators, the last one first; of one with several inputs no further.
 * Nested ones, which may be freed before, are above none of these. */
static WEIR__LOOKS void go_look(const struct weir_port *port,
				struct weir__look *look)
{
	const struct weir__island *island =
		weir_container_of(port, struct weir__island, go.port);
	const struct weir__kind *asked = ck_pr_load_ptr(&island->asked);
	const struct weir__op *op = island->root;
	struct weir__asked best, part;
	enum surely sure = SURELY_NOT, now;
	uint32_t n;

	guess(island, &best);
	/* what an in-port feeds has the name of what is behind it */
	for (n = 0; op && n < 16; n++) {
		if (n > 0 && op->n_up == 0 && island->n_inlets)
			break;
		part = (struct weir__asked){.name = weir__op_name(op),
					    .at_ns = WEIR_FOREVER,
					    .fd = -1};
		look->part(look, part.name, op->kind->awaits);
		now = op_waits(op, &part);
		if ((now == PERHAPS || now == SURELY) && op->kind == asked)
			now++;
		if (now > sure) {
			best = part;
			sure = now;
		}
		op = op->n_up == 1 ? op->up[0] : NULL;
	}
	look->waits(look, &best);
}

#define FROM_GO(number, member) \
	{ \
		.what = WEIR__IS_##number, \
		.size = sizeof(((struct weir__island *)0)->member), \
		.at = (int32_t)offsetof(struct weir__island, member) - \
		      (int32_t)offsetof(struct weir__island, go.port) \
	}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			FROM_GO(ISLAND_ROOT, root),
			FROM_GO(ISLAND_N_INLETS, n_inlets),
			WEIR__FIELD(OP_KIND, struct weir__op, kind),
			WEIR__FIELD(OP_FLOW, struct weir__op, flow),
			WEIR__FIELD(OP_N_UP, struct weir__op, n_up),
			WEIR__FIELD(OP_UP, struct weir__op, up),
			WEIR__FIELD(FLOW_NAME, struct weir_flow, name),
			WEIR__FIELD(KIND_NAME, struct weir__kind, name),
			WEIR__FIELD(KIND_AWAITS, struct weir__kind, awaits),
			FROM_GO(ISLAND_ASKED, asked),
			WEIR__FIELD(OP_ENDED, struct weir__op, ended),
			WEIR__FIELD(OP_OPEN, struct weir__op, open),
			WEIR__PLACE(OP_STATE, struct weir__op, state),
			WEIR__FIELD(TIMER_AT_NS, struct weir__op_timer, at_ns),
			WEIR__FIELD(TIMER_ARMED, struct weir__op_timer, armed),
			WEIR__FIELD(WATCH_FD, struct weir__op_fd, watch.fd),
			WEIR__FIELD(WATCH_EVENTS, struct weir__op_fd,
				    watch.events),
			WEIR__FIELD(WATCH_READY, struct weir__op_fd, ready),
			WEIR__FIELD(WATCH_ARMED, struct weir__op_fd, armed),
			{0},
		},
};

/* `takes`: a drain does not end the island, but its sources. */
static const struct weir__port_ops go_ops = {
	.takes = true,
	.awaits = WEIR_WAIT_OTHER,
	.look = go_look,
	.layout = &layout,
	.available = go_available,
	.signalled = go_signalled,
	.drain = go_drain,
};

struct weir__island *weir__island_new(struct weir_flow_run *run,
				      struct weir_executor *executor,
				      const struct weir__end *end)
{
	struct weir__island *island =
		weir__alloc(run->allocator, sizeof(*island));

	/* no islands may be added to a run that has begun: they would not be
	 * counted */
	assert(!run->begun);
	if (!island)
		return NULL;
	island->tree = weir__tree_new(run->allocator);
	if (!island->tree) {
		weir__free(run->allocator, island, sizeof(*island));
		return NULL;
	}
	island->ops = (struct weir_actor_ops){
		.name = "flow",
		.turns = turns,
		.ended = island_ended,
		.cancelled = cancelled,
		.signalled = signalled,
		.stopped = island_stopped,
		.released = island_released,
	};
	(void)weir_actor_init(&island->actor, &island->ops, executor);
	/* where the clock stands still, a batch is as large as can be from the
	 * first item on */
	if (executor->registry->stands_still) {
		island->batch_log2 = WEIR__FIT_LOG2_MAX;
		weir__actor_set_fit(&island->actor, 1);
	}
	island->end = end;
	island->passes_through = true;
	island->run = run;
	island->next = run->islands;
	run->islands = island;
	island->live = run->live;
	run->live = island;
	run->n_alive++;
	return island;
}

static int init_any(struct weir__island *island)
{
	struct weir__inlet *inlet;
	int rc;

	if (!island->any_out && (!island->any_input || island->n_inlets < 2))
		return 0;
	rc = weir_any_init(&island->any, &island->actor);
	for (inlet = island->inlets; inlet && rc == 0; inlet = inlet->next)
		rc = weir_any_add(&island->any, &inlet->in.port);
	return rc;
}

/* Below its one in-port, which no drain ends, there are only operators that can
 * be applied. */
static bool hands_on(const struct weir__island *island)
{
	const struct weir__op *op = island->root;

	if (!island->has_out || !island->passes_through || island->nests)
		return false;
	while (op->n_up == 1 && weir__applies_below(op->up[0], op))
		op = op->up[0];
	return op != island->root && op == island->inlets->op &&
	       !op->kind->source;
}

int weir__island_ready(struct weir__island *island, struct weir__op *root)
{
	bool fires;
	int rc = 0;

	assert(root->island == island && root->tree == island->tree);
	island->root = root;
	island->ops.name = weir__op_name(root);
	if (island->end == &weir__end_out) {
		rc = weir_out_init(&island->out, &island->actor, root->items);
		island->has_out = true;
	}
	if (rc == 0)
		rc = init_any(island);
	if (rc < 0)
		return rc;
	island->passes_through = island->passes_through &&
				 island->n_inlets == 1;
	island->hands_on = hands_on(island);
	fires = island->has_out || island->passes_through;
	island->going = !fires;
	island->go.ops = &go_ops;
	weir__port_init(&island->go.port, &island->actor,
			fires ? WEIR__PORT_ADAPTER : WEIR__PORT_OTHER);
	if (!island->passes_through)
		require_input(island, false, false);
	/* Drives the island once when it starts, whatever its ports hold. */
	weir_actor_signal(&island->actor);
	return 0;
}

/* --- How they end --------------------------------------------------------- */

/* Items come straight into the slots that they leave by. */
static enum weir__found out_drive(struct weir__island *island, uint64_t n)
{
	struct weir_out *out = &island->out;
	struct weir__op *root = island->root;
	size_t ask, got;
	void **span;

	while (n > 0 && weir_out_room(out) > 0) {
		ask = weir__at_most(n, WEIR_FLOW_BATCH);
		ask = weir__at_most(ask, weir_out_room(out));
		span = weir__out_span(out, &ask);
		island->again = false;
		got = weir__pull(root, span, ask);
		weir__out_filled(out, got);
		if (root->ended)
			return WEIR__FOUND_OVER;
		if (got == 0 && !island->again)
			return WEIR__FOUND_NONE;
		n -= ask;
	}
	if (n == 0)
		return WEIR__FOUND_MORE;
	weir__pull_none(root);
	return root->ended ? WEIR__FOUND_OVER : WEIR__FOUND_FULL;
}

static void out_over(struct weir__island *island, struct weir_error *error)
{
	if (error)
		(void)weir_out_end(&island->out, error);
}

static void out_require(struct weir__island *island, bool room)
{
	weir__take_part(&island->out.port, &island->out_ignored, room);
}

static bool out_cancelled(struct weir__island *island, struct weir_out *out)
{
	return true;
}

const struct weir__end weir__end_out = {
	.drive = out_drive,
	.over = out_over,
	.require = out_require,
	.cancelled = out_cancelled,
};

static void keep_last(struct weir__island *island, void *const *items, size_t n)
{
	struct weir_flow_run *run = island->run;

	if (n == 0)
		return;
	/* only one island of a run gives the result */
	assert(island->end == &weir__end_result);
	if (run->has_result)
		weir__op_drop_one(island->root, run->result);
	weir__op_drop(island->root, items, n - 1);
	run->result = items[n - 1];
	run->result_items = island->root->items;
	run->has_result = true;
}

static enum weir__found result_drive(struct weir__island *island, uint64_t n)
{
	struct weir__op *root = island->root;
	/* so that copies of whole lines do not straddle two: 5 % */
	_Alignas(WEIR__LINE) void *items[WEIR_FLOW_BATCH];
	size_t ask, got;

	while (n > 0) {
		ask = weir__at_most(n, WEIR_FLOW_BATCH);
		island->again = false;
		got = weir__pull(root, items, ask);
		keep_last(island, items, got);
		if (root->ended)
			return WEIR__FOUND_OVER;
		if (got == 0 && !island->again)
			return WEIR__FOUND_NONE;
		n -= ask;
		if (weir_actor_interrupted(&island->actor))
			break;
	}
	return WEIR__FOUND_MORE;
}

static void result_over(struct weir__island *island, struct weir_error *error)
{
	if (error)
		weir__run_fail(island->run, error);
}

const struct weir__end weir__end_result = {
	.drive = result_drive,
	.over = result_over,
};
