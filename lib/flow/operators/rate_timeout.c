/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams that fail when they take too long. */
#include <weir/flow_rate.h>

#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

struct timing {
	struct weir__op_timer timer; /* must be first */
	uint64_t due_ns;
	bool is_over; /* nothing is late any more */
	bool asked;   /* downstream has, for more than it was given */
};

static void begin(struct weir__op *op)
{
	struct timing *self = weir__op_state(op);
	uint64_t timeout_ns = *(const uint64_t *)weir__op_args(op);

	self->due_ns = weir__later(weir__op_now(op), timeout_ns);
}

static int timeout_open(struct weir__op *op)
{
	begin(op);
	return 0;
}

static void timeout_close(struct weir__op *op)
{
	struct timing *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
}

/* After a pull in which upstream has not ended: fails if it is too late, else
 * sets the timer. */
static void wait_until_due(struct weir__op *op, const char *message)
{
	struct timing *self = weir__op_state(op);
	int rc;

	if (weir__op_now(op) >= self->due_ns) {
		weir__op_fail(op, -ETIMEDOUT, message);
		return;
	}
	rc = weir__op_timer_at(&self->timer, op, self->due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

static size_t idle_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = weir__pull(op->up[0], items, room);

	if (n > 0)
		begin(op);
	if (!weir__op_follow(op))
		wait_until_due(op, "no item for too long");
	return n;
}

static size_t completion_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = weir__pull(op->up[0], items, room);

	if (!weir__op_follow(op))
		wait_until_due(op, "not completed in time");
	return n;
}

static size_t initial_pull(struct weir__op *op, void **items, size_t room)
{
	struct timing *self = weir__op_state(op);
	size_t n = weir__pull(op->up[0], items, room);

	if (n > 0 && !self->is_over) {
		self->is_over = true;
		weir__op_timer_off(&self->timer);
	}
	if (!weir__op_follow(op) && !self->is_over)
		wait_until_due(op, "no first item in time");
	return n;
}

/* Being asked ends the wait for that; the last item that was asked for, or a
 * pull without room, begins it anew. */
static size_t backpressure_pull(struct weir__op *op, void **items, size_t room)
{
	struct timing *self = weir__op_state(op);
	size_t n = weir__pull(op->up[0], items, room);
	bool asked = n < room;

	if (!asked && (self->asked || n > 0))
		begin(op);
	self->asked = asked;
	if (!weir__op_follow(op) && !asked)
		wait_until_due(op, "not asked for too long");
	return n;
}

#define TIMEOUT_KIND(kind) \
	static const struct weir__kind kind##_kind = { \
		.name = #kind "_timeout", \
		.state_size = sizeof(struct timing), \
		.open = timeout_open, \
		.pull = kind##_pull, \
		.close = timeout_close, \
		.keeps = sizeof(struct weir__op_timer), \
		.awaits = WEIR_WAIT_TIME, \
		.holds = true, \
	}
TIMEOUT_KIND(idle);
TIMEOUT_KIND(completion);
TIMEOUT_KIND(initial);
TIMEOUT_KIND(backpressure);

static struct weir_flow *timeout(const struct weir__kind *kind,
				 struct weir_flow *flow, uint64_t timeout_ns)
{
	return weir__flow_upon(kind, flow, &timeout_ns, sizeof(timeout_ns),
			       true);
}

struct weir_flow *weir_flow_idle_timeout(struct weir_flow *flow,
					 uint64_t timeout_ns)
{
	return timeout(&idle_kind, flow, timeout_ns);
}

struct weir_flow *weir_flow_completion_timeout(struct weir_flow *flow,
					       uint64_t timeout_ns)
{
	return timeout(&completion_kind, flow, timeout_ns);
}

struct weir_flow *weir_flow_initial_timeout(struct weir_flow *flow,
					    uint64_t timeout_ns)
{
	return timeout(&initial_kind, flow, timeout_ns);
}

struct weir_flow *weir_flow_backpressure_timeout(struct weir_flow *flow,
						 uint64_t timeout_ns)
{
	return timeout(&backpressure_kind, flow, timeout_ns);
}
