/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators of the user's with outlets. The fan of the outlets is the operator,
 * and the end of its island drives it: a drive looks for room, calls what is
 * due, and says what to wait for. That is a token of an input that was pulled,
 * or room in an outlet that wants nothing because it had none: in-ports and
 * out-ports are in one group. An outlet that wants an item has room for it,
 * since nobody else puts there.
 */
#include <weir/flow_operator.h>

#include <assert.h>
#include <errno.h>

#include "actor/out.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/operators/operator.h"
#include "flow/shared/fan.h"

/* The arguments of the fan. */
struct outlets_args {
	struct weir__fan_args fan;
	struct weir__operator_args own;
};

static struct weir__op *op_of(const struct weir_operator *self)
{
	return weir_container_of(self, struct weir__op, state);
}

static uint32_t n_outlets(const struct weir_operator *self)
{
	return weir__operator_args(op_of(self))->n_outlets;
}

/* --- What is due ---------------------------------------------------------- */

/* The operator wants items as long as an outlet does. */
static void set_wanted(struct weir_operator *self, uint32_t i, bool wanted)
{
	if (self->outlets[i].wanted == wanted)
		return;
	self->outlets[i].wanted = wanted;
	self->n_wanted += wanted ? 1 : -1u;
	self->wanted = self->n_wanted > 0;
	self->room = self->wanted;
}

/* Room is certain until the slice is over; of outlets that were cancelled
 * nothing is wanted any more. */
static void look_for_room(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);
	struct weir__outlet *outlets = weir__fan_of(op->island)->outlets;
	uint32_t n = n_outlets(self), i;

	for (i = 0; i < n; i++)
		if (outlets[i].gone)
			set_wanted(self, i, false);
		else
			(void)weir__outlet_room(&outlets[i]);
}

static void call_cancel(struct weir__op *op, uint32_t i)
{
	struct weir_operator *self = weir__op_state(op);
	void (*on_cancel)(struct weir_operator *) =
		weir__operator_args(op)->ops.on_cancel;

	self->outlets[i].told = true;
	self->outlet = i;
	if (on_cancel)
		on_cancel(self);
	self->outlet = 0;
}

static void cancel_all(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);
	uint32_t n = n_outlets(self), i;

	for (i = 0; i < n; i++)
		if (!self->outlets[i].told)
			call_cancel(op, i);
}

/* Before any other function: so the operator knows why a push is refused. None
 * is cancelled within a pull. */
static void tell_cancels(struct weir__op *op)
{
	const struct weir_operator *self = weir__op_state(op);
	const struct weir__outlet *outlets = weir__fan_of(op->island)->outlets;
	uint32_t n = n_outlets(self), i;

	for (i = 0; i < n && !weir__operator_over(op); i++)
		if (outlets[i].gone && !self->outlets[i].told)
			call_cancel(op, i);
}

static bool tell_wish(struct weir__op *op, uint32_t i)
{
	struct weir_operator *self = weir__op_state(op);
	const struct weir__outlet *outlet =
		&weir__fan_of(op->island)->outlets[i];
	int (*on_pull)(struct weir_operator *) =
		weir__operator_args(op)->ops.on_pull;

	if (self->outlets[i].wanted || outlet->gone ||
	    weir_out_room(&outlet->out) == 0 || weir__operator_over(op))
		return false;
	set_wanted(self, i, true);
	self->outlet = i;
	if (on_pull)
		weir__operator_judge(op, on_pull(self));
	else
		weir__operator_pull_all(op);
	self->outlet = 0;
	return true;
}

static bool tell_wishes(struct weir__op *op)
{
	uint32_t n = weir__operator_args(op)->n_outlets, i;
	bool did = false;

	for (i = 0; i < n; i++)
		did |= tell_wish(op, i);
	return did;
}

static size_t outlets_pull(struct weir__op *op, void **items, size_t room)
{
	look_for_room(op);
	tell_cancels(op);
	if (weir__operator_go(op))
		weir__op_again(op);
	return 0;
}

/* The next in turn. */
static int deal(struct weir_operator *self, void *item)
{
	uint32_t n = n_outlets(self), at = self->next;
	int rc;

	assert(self->n_wanted > 0);
	while (!self->outlets[at].wanted)
		at = at + 1 < n ? at + 1 : 0;
	self->next = at + 1 < n ? at + 1 : 0;
	rc = weir_operator_push_outlet(self, at, item);
	if (self->wanted)
		(void)weir_operator_pull_input(self, self->input);
	return rc;
}

static int push_first(struct weir_operator *self, void *item)
{
	return weir_operator_push_outlet(self, 0, item);
}

static const struct weir__operator_outlets with_outlets = {
	.tell = tell_wishes,
	.cancel = cancel_all,
	.deal = deal,
	.push = push_first,
};

static void outlets_free(struct weir_flow *fan)
{
	struct outlets_args *args = (void *)fan->args;

	weir__operator_free_context(&args->own);
	weir__fan_free(fan);
}

static const struct weir__kind outlets_kind = {
	.name = "operator_outlets",
	.state_size = sizeof(struct weir_operator),
	.open = weir__operator_open,
	.pull = outlets_pull,
	.close = weir__operator_close,
	.free = outlets_free,
	.refuses = weir__operator_refuses,
	.keeps = offsetof(struct weir_operator, due_ns),
	.holds = true,
	.makes = true,
};

/* --- The end of its island ------------------------------------------------ */

static enum weir__found outlets_drive(struct weir__island *island, uint64_t n)
{
	struct weir__op *root = island->root;

	weir__fan_of(island)->more = false;
	while (n > 0) {
		island->again = false;
		weir__pull_none(root);
		if (root->ended)
			return WEIR__FOUND_OVER;
		if (!island->again)
			return WEIR__FOUND_NONE;
		n -= weir__at_most(n, island->ask);
		if (weir_actor_interrupted(&island->actor))
			break;
	}
	weir__fan_of(island)->more = true;
	return WEIR__FOUND_MORE;
}

/* Where there is more to do at once, it fires by `go`. */
static void outlets_require(struct weir__island *island, bool room)
{
	struct weir__fan_out *fan = weir__fan_of(island);
	const struct weir_operator *self = weir__op_state(island->root);
	bool any = !island->any_ignored, waits;
	size_t i;

	for (i = 0; i < fan->args->n; i++) {
		waits = !fan->more && !fan->outlets[i].gone &&
			!self->outlets[i].wanted;
		weir__take_member(&fan->outlets[i].out.port,
				  &fan->outlets[i].ignored, waits);
		any = any || waits;
	}
	weir__take_part(&island->any.port, &island->any_ignored, any);
}

static const struct weir__end outlets_end = {
	.drive = outlets_drive,
	.over = weir__fan_over,
	.require = outlets_require,
	.cancelled = weir__fan_cancelled,
	.free = weir__fan_end_free,
};

/* --- Composing ------------------------------------------------------------ */

static bool is_source(const struct weir_operator_ops *ops)
{
	return !ops->on_push &&
	       (ops->on_pull || ops->on_timer || ops->on_wake || ops->on_ready);
}

/* Of what was copied: 0, or -ENOMEM, and the outlets are failed flows. */
static int become_own(size_t n, struct weir_flow **outlets)
{
	bool *seen;
	struct weir_flow *fan = weir__fan_above(outlets[0], &seen);
	struct outlets_args *args = (void *)fan->args;
	size_t i;

	if (weir__operator_keep_context(&args->own)) {
		fan->kind = &args->own.kind;
		return 0;
	}
	for (i = 0; i < n; i++) {
		weir_flow_free(outlets[i]);
		outlets[i] = weir__flow_failed(-ENOMEM, outlets_kind.name,
					       "no memory");
	}
	return -ENOMEM;
}

int weir_flow_operator_outlets(struct weir_flow *const *flows, size_t n_flows,
			       const struct weir_operator_ops *ops,
			       void *context, size_t n,
			       struct weir_flow **outlets,
			       const struct weir_flow_fan_options *options)
{
	struct outlets_args args = {
		.fan = {.end = &outlets_end, .own = true},
	};
	bool valid = (flows || n_flows == 0) && n_flows <= UINT32_MAX &&
		     n <= UINT32_MAX / sizeof(struct weir__operator_outlet);
	uint32_t n_up = valid ? (uint32_t)n_flows : 0, n_down;
	int rc;

	n_down = valid ? (uint32_t)n : 0;
	valid = weir__fan_take_options(&args.fan, options) && valid;
	valid = weir__operator_args_init(&args.own, &outlets_kind, n_up, n_down,
					 ops, context) &&
		valid && (n_up > 0 || is_source(ops));
	args.own.with = &with_outlets;
	rc = weir__fan_new(&outlets_kind, flows, n_up, &args.fan, sizeof(args),
			   n, outlets, valid);
	return rc < 0 ? rc : become_own(n, outlets);
}

/* --- What their functions do ---------------------------------------------- */

size_t weir_operator_outlet(const struct weir_operator *self)
{
	return self->outlet;
}

int weir_operator_push_outlet(struct weir_operator *self, size_t outlet,
			      void *item)
{
	struct weir__fan_out *fan;
	int rc;

	if (self && !self->outlets && outlet == 0)
		return weir_operator_push(self, item);
	if (!self || !self->outlets || outlet >= n_outlets(self))
		return -EINVAL;
	/* NULL: open() has not returned */
	fan = weir__fan_of(op_of(self)->island);
	if (self->ending || (fan && fan->outlets[outlet].gone))
		return -EPIPE;
	if (!fan || !self->outlets[outlet].wanted)
		return -EAGAIN;
	set_wanted(self, (uint32_t)outlet, false);
	rc = weir_out_put(&fan->outlets[outlet].out, item);
	assert(rc == 0);
	return rc;
}

bool weir_operator_wanted_outlet(const struct weir_operator *self,
				 size_t outlet)
{
	if (!self->outlets)
		return outlet == 0 && weir_operator_wanted(self);
	return outlet < n_outlets(self) && self->outlets[outlet].wanted &&
	       !self->ending;
}

int weir_operator_end_outlet(struct weir_operator *self, size_t outlet,
			     struct weir_error *error)
{
	struct weir__fan_out *fan;

	if (self && !self->outlets && outlet == 0)
		return weir_operator_end(self, error);
	if (!self || !self->outlets || outlet >= n_outlets(self))
		return -EINVAL;
	if (self->ending)
		return -EALREADY;
	if (!op_of(self)->open)
		return -EPERM;
	fan = weir__fan_of(op_of(self)->island);
	if (fan->outlets[outlet].gone)
		return -EALREADY;
	set_wanted(self, (uint32_t)outlet, false);
	self->outlets[outlet].told = true;
	fan->outlets[outlet].gone = true;
	fan->n_alive--;
	(void)weir_out_end(&fan->outlets[outlet].out, error);
	return fan->n_alive > 0 ? 0 : weir_operator_end(self, NULL);
}
