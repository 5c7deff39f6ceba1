/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that pick some items by when they come. Their upstream is always
 * asked for more: each is the root of an island that writes into a pipe for one
 * item, in which a newer item takes the place of an older one.
 */
#include <weir/flow_rate.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/op.h"
#include "flow/shared/pipe.h"
#include "flow/shared/array.h"

struct picking {
	uint64_t span_ns;
	bool emit_last; /* the item that waits when upstream completes */
};

struct picker {
	struct weir__op_timer timer; /* must be first */
	void *newest;		     /* it waits for its time */
	bool has_newest;
	uint64_t due_ns; /* that time; of throttles, when the next may pass */
	uint64_t begin_ns;
};

static uint64_t span_of(const struct weir__op *op)
{
	return ((const struct picking *)weir__op_args(op))->span_ns;
}

static int pick_open(struct weir__op *op)
{
	struct picker *self = weir__op_state(op);

	self->begin_ns = weir__op_now(op);
	return 0;
}

static void drop_newest(struct weir__op *op)
{
	struct picker *self = weir__op_state(op);

	if (self->has_newest)
		weir__op_drop_one(op->up[0], self->newest);
	self->has_newest = false;
}

static void pick_close(struct weir__op *op)
{
	struct picker *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
	drop_newest(op);
}

static bool is_due(const struct picker *self, uint64_t now_ns)
{
	return self->has_newest && now_ns >= self->due_ns;
}

static size_t emit(struct picker *self, void **items)
{
	items[0] = self->newest;
	self->has_newest = false;
	return 1;
}

/* Takes the items that are there, and keeps the newest of them. False: there
 * are none. */
static bool take_newest(struct weir__op *op, void **items, size_t room)
{
	struct picker *self = weir__op_state(op);
	struct weir__array batch;
	size_t n;

	weir__array_init(&batch, op, items, room);
	n = weir__array_take(&batch, op->up[0]);
	if (n > 0) {
		drop_newest(op);
		weir__op_drop(op->up[0], batch.items, n - 1);
		self->newest = batch.items[n - 1];
		self->has_newest = true;
	}
	weir__array_done(&batch, op);
	return n > 0;
}

/* When upstream has completed, the item that waits need not wait longer. */
static size_t finish(struct weir__op *op, void **items, size_t room)
{
	const struct picking *args = weir__op_args(op);
	struct picker *self = weir__op_state(op);
	bool emits = self->has_newest && args->emit_last && !op->up[0]->error;

	if (emits && room == 0)
		return 0;
	if (emits)
		(void)emit(self, items);
	weir__op_end(op, op->up[0]->error);
	return emits;
}

/*
 * Emits the item that is due, and takes newer ones. The one that waits then is
 * due at `due_ns`.
 */
static size_t pick(struct weir__op *op, void **items, size_t room,
		   uint64_t now_ns, uint64_t due_ns)
{
	struct picker *self = weir__op_state(op);
	size_t n = 0;
	int rc = 0;

	if (room > 0 && is_due(self, now_ns)) {
		n = emit(self, items);
		self->due_ns = due_ns;
	} else if (take_newest(op, items, room)) {
		self->due_ns = due_ns;
	}
	if (op->up[0]->ended)
		return n + finish(op, items + n, room - n);
	if (self->has_newest && self->due_ns > now_ns)
		rc = weir__op_timer_at(&self->timer, op, self->due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
	return n;
}

static size_t debounce_pull(struct weir__op *op, void **items, size_t room)
{
	uint64_t now_ns = weir__op_now(op);

	return pick(op, items, room, now_ns, weir__later(now_ns, span_of(op)));
}

/* Times are `span_ns` apart; an item that comes at such a time waits for the
 * next one. */
static size_t sample_pull(struct weir__op *op, void **items, size_t room)
{
	const struct picker *self = weir__op_state(op);
	uint64_t now_ns = weir__op_now(op), span_ns = span_of(op);
	uint64_t since_ns = (now_ns - self->begin_ns) % span_ns;

	return pick(op, items, room, now_ns,
		    weir__later(now_ns - since_ns, span_ns));
}

/* Lets an item pass, and no other within `span_ns`. */
static size_t pass_one(struct weir__op *op, void **items, size_t room,
		       uint64_t now_ns)
{
	struct picker *self = weir__op_state(op);
	size_t n = weir__pull(op->up[0], items, weir__at_most(1, room));

	if (n > 0)
		self->due_ns = weir__later(now_ns, span_of(op));
	(void)weir__op_follow(op);
	return n;
}

static size_t throttle_first_pull(struct weir__op *op, void **items,
				  size_t room)
{
	const struct picker *self = weir__op_state(op);
	uint64_t now_ns = weir__op_now(op);
	size_t n;

	if (now_ns >= self->due_ns)
		return pass_one(op, items, room, now_ns);
	n = weir__pull(op->up[0], items, room);
	weir__op_drop(op->up[0], items, n);
	(void)weir__op_follow(op);
	return 0;
}

static size_t throttle_latest_pull(struct weir__op *op, void **items,
				   size_t room)
{
	const struct picker *self = weir__op_state(op);
	uint64_t now_ns = weir__op_now(op);

	if (!self->has_newest && now_ns >= self->due_ns)
		return pass_one(op, items, room, now_ns);
	return pick(op, items, room, now_ns,
		    is_due(self, now_ns) ? weir__later(now_ns, span_of(op))
					 : self->due_ns);
}

/* --- Making them ---------------------------------------------------------- */

static struct weir__op *pick_build(struct weir__build *build,
				   const struct weir_flow *flow)
{
	return weir__pipe_build(build, flow, 1, WEIR_OVERFLOW_DROP_HEAD,
				weir__op_new);
}

#define PICKING(called) \
	static const struct weir__kind called##_kind = { \
		.name = #called, \
		.state_size = sizeof(struct picker), \
		.open = pick_open, \
		.pull = called##_pull, \
		.close = pick_close, \
		.build = pick_build, \
		.keeps = sizeof(struct weir__op_timer), \
		.awaits = WEIR_WAIT_TIME, \
		.needs_island = true, \
		.holds = true, \
	}
PICKING(debounce);
PICKING(sample);
PICKING(throttle_first);
PICKING(throttle_latest);

static struct weir_flow *picking(const struct weir__kind *kind,
				 struct weir_flow *flow, uint64_t span_ns,
				 bool emit_last, const char *wrong)
{
	struct picking args = {span_ns, emit_last};

	flow = weir__flow_upon(kind, flow, &args, sizeof(args), span_ns > 0);
	return weir__flow_wrong_as(flow, kind, wrong);
}

struct weir_flow *weir_flow_debounce(struct weir_flow *flow, uint64_t quiet_ns)
{
	return picking(&debounce_kind, flow, quiet_ns, true, "quiet_ns is 0");
}

struct weir_flow *weir_flow_sample(struct weir_flow *flow, uint64_t every_ns,
				   bool emit_last)
{
	return picking(&sample_kind, flow, every_ns, emit_last,
		       "every_ns is 0");
}

struct weir_flow *weir_flow_throttle_first(struct weir_flow *flow,
					   uint64_t within_ns)
{
	return picking(&throttle_first_kind, flow, within_ns, false,
		       "within_ns is 0");
}

struct weir_flow *weir_flow_throttle_latest(struct weir_flow *flow,
					    uint64_t within_ns, bool emit_last)
{
	return picking(&throttle_latest_kind, flow, within_ns, emit_last,
		       "within_ns is 0");
}
