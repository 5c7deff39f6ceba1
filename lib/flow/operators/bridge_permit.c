/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators for items that need permits, and for actors that acknowledge their
 * items. */
#include <weir/flow_bridge.h>

#include <assert.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/engine/start.h"
#include "flow/operators/bridge_ask.h"

struct permit {
	struct weir_semaphore *semaphore;
	void *first; /* the `init` item: passes first, without a permit; or
		      * NULL */
	bool acked;  /* the end waits until all permits are back */
};

struct gate {
	struct weir__ask ask;
	struct weir_acquire acquire;
	struct weir_semaphore *semaphore;
	bool begun; /* `first` has gone */
	/* At the end: how many permits there are when every item sent has been
	 * acknowledged, and how many of them we have got back. */
	int64_t owed, back;
};

static void granted(struct weir_acquire *acquire)
{
	struct gate *gate = weir_container_of(acquire, struct gate, acquire);
	struct weir_semaphore *semaphore = gate->semaphore;
	struct weir__op *op = gate->ask.op;

	if (!weir__ask_answer(&gate->ask))
		(void)weir_semaphore_release(semaphore, 1);
	weir__ask_done(op);
}

/* Acquires up to `n` permits, and returns how many. 0: the operator is woken
 * when there is one. */
static size_t acquire(struct weir__op *op, size_t n)
{
	struct gate *gate = weir__op_state(op);
	int64_t there;

	assert(n > 0);
	switch (weir__ask_state(&gate->ask)) {
	case WEIR__ASK_ANSWERED:
		weir__ask_taken(&gate->ask);
		return 1;
	case WEIR__ASK_ASKED:
		return 0;
	default:
		break;
	}
	there = weir_semaphore_permits(gate->semaphore);
	if (there > 0 && (uint64_t)there < n)
		n = (size_t)there;
	if (weir_semaphore_try_acquire(gate->semaphore,
				       there > 0 ? (int64_t)n : 1) == 0)
		return there > 0 ? n : 1;
	weir__ask_begin(&gate->ask, op);
	gate->acquire.granted = granted;
	(void)weir_semaphore_acquire_async(gate->semaphore, &gate->acquire, 1);
	return 0;
}

/* Emits `init`. It does not look upstream, though rule 8 asks for that: the
 * actor that takes `init` from the link brings another pull. */
static size_t put_first(struct weir__op *op, void **items, size_t room)
{
	const struct permit *args = weir__op_args(op);
	struct gate *gate = weir__op_state(op);

	if (room == 0)
		return 0;
	gate->begun = true;
	items[0] = args->first;
	return 1;
}

/* Upstream has ended: the operator ends, too, but not before the last
 * acknowledgement. */
static void finish(struct weir__op *op)
{
	const struct permit *args = weir__op_args(op);
	struct gate *gate = weir__op_state(op);
	size_t got = 1;

	while (args->acked && !op->up[0]->error && gate->back < gate->owed &&
	       got > 0) {
		got = acquire(op, (size_t)(gate->owed - gate->back));
		gate->back += (int64_t)got;
	}
	if (got > 0)
		(void)weir__op_follow(op);
}

/* Its turns ask for permits only when upstream may have items. */
static size_t permit_pull(struct weir__op *op, void **items, size_t room)
{
	const struct permit *args = weir__op_args(op);
	struct gate *gate = weir__op_state(op);
	size_t got, n;

	if (args->first && !gate->begun)
		return put_first(op, items, room);
	got = room && !op->up[0]->ended ? acquire(op, room) : 0;
	n = weir__pull(op->up[0], items, got);
	if (got > n)
		(void)weir_semaphore_release(gate->semaphore,
					     (int64_t)(got - n));
	if (op->up[0]->ended)
		finish(op);
	return n;
}

static int permit_open(struct weir__op *op)
{
	const struct permit *args = weir__op_args(op);
	struct gate *gate = weir__op_state(op);

	gate->semaphore = args->semaphore;
	if (args->acked)
		gate->owed = weir_semaphore_permits(gate->semaphore) +
			     (args->first ? 1 : 0);
	return 0;
}

static void permit_close(struct weir__op *op)
{
	const struct permit *args = weir__op_args(op);
	struct gate *gate = weir__op_state(op);

	if (args->first && !gate->begun && weir__op_begun(op))
		weir__op_drop_one(op, args->first);
	if (gate->back > 0)
		(void)weir_semaphore_release(gate->semaphore, gate->back);
	gate->back = 0;
	if (weir__ask_state(&gate->ask) == WEIR__ASK_ASKED &&
	    weir_semaphore_cancel(gate->semaphore, &gate->acquire))
		weir__ask_withdraw(&gate->ask);
	else if (weir__ask_close(&gate->ask))
		(void)weir_semaphore_release(gate->semaphore, 1);
}

static const struct weir__kind permit_kind = {
	.name = "acquire",
	.state_size = sizeof(struct gate),
	.pull = permit_pull,
	.open = permit_open,
	.close = permit_close,
	.holds = true,
	.awaits = WEIR_WAIT_PERMIT,
};

struct weir_flow *weir_flow_acquire(struct weir_flow *flow,
				    struct weir_semaphore *semaphore)
{
	struct permit args = {semaphore, NULL, false};

	return weir__flow_upon(&permit_kind, flow, &args, sizeof(args),
			       semaphore);
}

struct weir_flow *weir_flow_to_actor(struct weir_flow *flow, struct weir_in *in,
				     struct weir_semaphore *acks, void *init)
{
	struct permit args = {acks, init, true};

	flow = weir__flow_upon(&permit_kind, flow, &args, sizeof(args), acks);
	return weir_flow_into_in(flow, in);
}
