/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators of the user's. A pull calls each function that is due, one after
 * the other, until none is. A push or pull of a function is only noted, so no
 * function is called inside another one, and nothing recurses.
 *
 * Once on_pull() was called the wish for an item stands, even if the next pull
 * comes without room: an item that is pushed then is held (`late`) until there
 * is room.
 *
 * One that runs ahead is the root of an island that writes into a pipe, on
 * demand. So it is driven without room, too, and takes items then. But upstream
 * may block: what has used up all room goes into the pipe before upstream is
 * asked again, and the next pull goes on where this one has stopped.
 */
#include <weir/flow_operator.h>

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/operators/operator.h"
#include "flow/shared/op_fd.h"
#include "flow/shared/pipe.h"

#define STATE_MAX (SIZE_MAX / 2)

/* Holds between the calls of its functions, before it has closed. */
static __attribute__((unused)) bool is_consistent(
	const struct weir_operator *self)
{
	return self->n <= self->room && !(self->has_late && self->wanted);
}

static struct weir__op *op_of(const struct weir_operator *self)
{
	return weir_container_of(self, struct weir__op, state);
}

static const struct weir_operator_ops *ops_of(const struct weir__op *op)
{
	return &weir__operator_args(op)->ops;
}

static uint32_t n_inputs(const struct weir__op *op)
{
	return op->n_up ? op->n_up : 1;
}

/* --- What is due ---------------------------------------------------------- */

void weir__operator_judge(struct weir__op *op, int rc)
{
	struct weir_error *error;

	if (WEIR_LIKELY(rc == 0))
		return;
	error = weir__op_error_code(op, rc, "a function failed");
	(void)weir_operator_end(weir__op_state(op), error);
	weir_error_unref(error);
}

static bool tell_wake(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);

	if (WEIR_LIKELY(!ck_pr_load_32(&self->woken)) ||
	    weir__operator_over(op))
		return false;
	(void)ck_pr_fas_32(&self->woken, 0);
	/* acquire: the waker's writes before the wake; pairs with the release
	 * in weir_operator_wake() */
	ck_pr_fence_acquire();
	if (ops_of(op)->on_wake)
		weir__operator_judge(op, ops_of(op)->on_wake(self));
	return true;
}

static bool tell_time(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);

	if (WEIR_LIKELY(self->due_ns == WEIR_FOREVER) ||
	    weir__operator_over(op) || weir__op_now(op) < self->due_ns)
		return false;
	self->due_ns = WEIR_FOREVER;
	if (ops_of(op)->on_timer)
		weir__operator_judge(op, ops_of(op)->on_timer(self));
	return true;
}

static bool tell_ready(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);

	if (WEIR_LIKELY(!self->armed) || weir__op_fd_armed(&self->watch) ||
	    weir__operator_over(op))
		return false;
	self->armed = false;
	self->fd = -1;
	if (ops_of(op)->on_ready)
		weir__operator_judge(
			op, ops_of(op)->on_ready(
				    self, weir__op_fd_fired(&self->watch)));
	return true;
}

void weir__operator_pull_all(struct weir__op *op)
{
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		(void)weir_operator_pull_input(weir__op_state(op), i);
}

static bool tell_wish(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);

	if (self->wanted || self->n == self->room || weir__operator_over(op))
		return false;
	self->wanted = true;
	if (ops_of(op)->on_pull)
		weir__operator_judge(op, ops_of(op)->on_pull(self));
	else
		weir__operator_pull_all(op);
	return true;
}

/* What on_push() does if there is none. */
static int push_it(struct weir_operator *self, void *item)
{
	return self->outlets ? weir__operator_args(op_of(self))
				       ->with->deal(self, item)
			     : weir_operator_push(self, item);
}

static void operator_give(struct weir__op *op, uint32_t i, void *item)
{
	int (*on_push)(struct weir_operator *, void *) = ops_of(op)->on_push;
	struct weir_operator *self = weir__op_state(op);
	int rc;

	/* rule 2 of the documentation: one item for each pull */
	assert(self->inputs[i].asked && (self->wanted || ops_of(op)->ahead));
	self->inputs[i].asked = false;
	self->input = i;
	rc = on_push ? on_push(self, item) : push_it(self, item);
	self->input = 0;
	if (WEIR_LIKELY(rc == 0))
		return;
	weir__op_drop_one(op->up[i], item);
	if (weir__operator_over(op))
		return;
	/* the pull has not been answered, unless the function has cancelled the
	 * input; a restart forgets it */
	self->inputs[i].asked = !self->inputs[i].told;
	(void)weir__op_survives(op, rc);
}

/*
 * Without room it only looks whether the input has ended (rule 1), unless it
 * runs ahead; but not if the input was pulled already in this pull. A look goes
 * all the way up: if each of k operators took an item and then looked, that
 * would be k * k calls.
 */
static bool tell_item(struct weir__op *op, uint32_t i)
{
	struct weir_operator *self = weir__op_state(op);
	bool has_room = self->n < self->room, ahead = ops_of(op)->ahead;
	struct weir__operator_input *input = &self->inputs[i];
	bool looked = input->looked;
	void *item;

	if (weir__operator_over(op) || (has_room && !self->wanted && !ahead))
		return false;
	input->looked = true;
	if (!input->asked || (!has_room && !ahead)) {
		if (!looked)
			weir__pull_none(op->up[i]);
		return false;
	}
	if (weir__pull(op->up[i], &item, 1) == 0)
		return false;
	self->first = i + 1 < op->n_up ? i + 1 : 0;
	operator_give(op, i, item);
	return true;
}

/* True: what is pushed goes on first, and another pull follows. */
static bool gives_first(struct weir__op *op)
{
	const struct weir_operator *self = weir__op_state(op);

	return self->n > 0 && self->n == self->room && ops_of(op)->ahead;
}

/* Each input in turn: behind the one that gave the last item. */
static bool tell_items(struct weir__op *op)
{
	uint32_t at = ((struct weir_operator *)weir__op_state(op))->first, i;
	bool did = false;

	for (i = 0; i < op->n_up && !gives_first(op); i++) {
		did |= tell_item(op, at);
		at = at + 1 < op->n_up ? at + 1 : 0;
	}
	return did;
}

/* What on_end() does if there is none. */
static int end_with(struct weir__op *op, struct weir_error *error)
{
	struct weir_operator *self = weir__op_state(op);
	uint32_t i;

	/* one that has ended and was not told of may have failed */
	for (i = 0; i < op->n_up && !error; i++)
		if (!self->inputs[i].told)
			return 0;
	return weir_operator_end(self, error);
}

static bool tell_end(struct weir__op *op, uint32_t i)
{
	struct weir_operator *self = weir__op_state(op);
	struct weir__op *up = op->n_up ? op->up[i] : NULL;
	struct weir_error *error = up ? up->error : NULL;
	int rc;

	if (!(up ? up->ended : op->island->draining) || self->inputs[i].told ||
	    weir__operator_over(op))
		return false;
	self->inputs[i].told = true;
	self->input = i;
	rc = ops_of(op)->on_end ? ops_of(op)->on_end(self, error)
				: end_with(op, error);
	self->input = 0;
	weir__operator_judge(op, rc);
	return true;
}

static bool tell_ends(struct weir__op *op)
{
	uint32_t i;
	bool did = false;

	for (i = 0; i < n_inputs(op); i++)
		did |= tell_end(op, i);
	return did;
}

static bool end_round(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);
	bool did;

	self->paused = gives_first(op);
	if (self->paused)
		return true;
	did = tell_items(op);
	did |= tell_ends(op);
	return did;
}

/* False: nothing was due. */
static bool go_round(struct weir__op *op)
{
	const struct weir_operator *self = weir__op_state(op);
	bool did = tell_wake(op);

	did |= tell_time(op);
	did |= tell_ready(op);
	did |= self->outlets ? weir__operator_args(op)->with->tell(op)
			     : tell_wish(op);
	did |= end_round(op);
	return did;
}

/* --- Operators ------------------------------------------------------------ */

int weir__operator_open(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);
	char *at;
	int rc = 0;

	self->due_ns = WEIR_FOREVER;
	self->fd = -1;
	at = self->state + ops_of(op)->state_size;
	self->inputs = (struct weir__operator_input *)(void *)at;
	at += n_inputs(op) * sizeof(*self->inputs);
	if (weir__operator_args(op)->n_outlets > 0)
		self->outlets = (struct weir__operator_outlet *)(void *)at;
	if (ops_of(op)->open)
		rc = ops_of(op)->open(self);
	if (rc == 0)
		return 0;
	weir_error_unref(self->error);
	self->error = NULL;
	return rc < 0 ? rc : -EINVAL;
}

/* An end that is its own is noted before, or has an error. */
void weir__operator_close(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);
	bool is_cancelled = op->ended && !op->error && !self->ending;

	self->ending = true;
	weir__op_timer_off(&self->timer);
	weir__op_fd_off(&self->watch, op);
	if (is_cancelled && self->outlets)
		weir__operator_args(op)->with->cancel(op);
	else if (is_cancelled && ops_of(op)->on_cancel)
		ops_of(op)->on_cancel(self);
	if (ops_of(op)->close)
		ops_of(op)->close(self);
	if (self->has_late)
		weir__op_drop_one(op, self->late);
	weir_error_unref(self->error);
	self->error = NULL;
}

/*
 * Arms the watch for what is asked for. If a thread is firing it for what was
 * asked for before, that wakes us once more.
 */
static int arm_watch(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);
	int rc;

	if (WEIR_LIKELY(self->fd < 0) || self->armed || weir__operator_over(op))
		return 0;
	rc = weir__op_fd_arm(&self->watch, op, self->fd, self->events);
	self->armed = rc == 0;
	return rc == -EALREADY ? 0 : rc;
}

/* The last round is over: the operator waits, or ends when no item is late. */
static void settle(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);
	uint32_t i;
	int rc = 0;

	if (self->due_ns != WEIR_FOREVER && !weir__operator_over(op))
		rc = weir__op_timer_at(&self->timer, op, self->due_ns);
	if (rc < 0)
		(void)weir_operator_fail(self, rc, "no timer");
	rc = arm_watch(op);
	if (rc < 0)
		(void)weir_operator_fail(self, rc,
					 "the descriptor cannot be watched");
	if (!self->ending || op->ended)
		return;
	for (i = 0; i < op->n_up; i++)
		weir__op_cancel(op->up[i]);
	if (!self->has_late)
		weir__op_end(op, self->error);
}

/*
 * As many rounds as a pull may have. Work that is left for another round brings
 * us back by rule 2: the operator has taken or emitted an item, was woken, or
 * has a time to wait for. True: some may be left.
 */
static bool go_rounds(struct weir__op *op)
{
	const struct weir_operator *self = weir__op_state(op);
	/* what is taken, and perhaps kept, is bounded as what is given is */
	uint32_t left = op->island->ask;

	/* one that always has something to push still gets its items */
	if (self->paused)
		(void)end_round(op);
	while (left > 0 && !gives_first(op) && go_round(op))
		left--;
	return left == 0;
}

bool weir__operator_go(struct weir__op *op)
{
	struct weir_operator *self = weir__op_state(op);
	bool more;
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		self->inputs[i].looked = false;
	more = go_rounds(op);
	settle(op);
	assert(is_consistent(self));
	return more;
}

static size_t operator_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir_operator *self = weir__op_state(op);

	/* an operator that is ending has ended, unless an item is late */
	assert(!self->ending || self->has_late);
	self->items = items;
	self->room = room;
	self->n = 0;
	if (self->has_late && room > 0) {
		items[self->n++] = self->late;
		self->has_late = false;
	}
	(void)weir__operator_go(op);
	return self->n;
}

/* Not a `source`: a drain does not end it, but on_end() is called
 * (tell_end()). */
#define OPERATOR_KIND(called) \
	{ \
		.name = (called), .state_size = sizeof(struct weir_operator), \
		.open = weir__operator_open, .pull = operator_pull, \
		.close = weir__operator_close, \
		.keeps = offsetof(struct weir_operator, due_ns), \
		.holds = true, .makes = true, .remakes = true, \
		.refuses = weir__operator_refuses, \
	}

static const struct weir__kind operator_kind = OPERATOR_KIND("operator");
static const struct weir__kind inputs_kind = OPERATOR_KIND("operator_inputs");

static struct weir__op *build_ahead(struct weir__build *build,
				    const struct weir_flow *flow)
{
	return weir__pipe_build_on_demand(build, flow, weir__op_new);
}

bool weir__operator_args_init(struct weir__operator_args *args,
			      const struct weir__kind *kind, uint32_t n,
			      uint32_t outlets,
			      const struct weir_operator_ops *ops,
			      void *context)
{
	*args = (struct weir__operator_args){
		.kind = *kind,
		.context = context,
		.n_outlets = outlets,
	};
	if (!ops || ops->state_size > STATE_MAX ||
	    (n > 0 && ops->ahead && !ops->on_push) ||
	    ops->context_size > STATE_MAX || (ops->context_size && !context))
		return false;
	args->ops = *ops;
	args->kind.state_size += ops->state_size +
				 (n ? n : 1) *
					 sizeof(struct weir__operator_input) +
				 outlets * sizeof(struct weir__operator_outlet);
	args->kind.any_input = n > 1;
	if (ops->name)
		args->kind.name = ops->name;
	return true;
}

/* Items that are dropped alike are the same (is_belied() in items.c). */
const char *weir__operator_refuses(const struct weir_flow *flow)
{
	const struct weir__operator_args *args =
		weir_container_of(flow->kind, struct weir__operator_args, kind);
	const struct weir_items *takes = args->ops.takes, *given;
	uint32_t i;

	for (i = 0; i < flow->n_up && takes; i++) {
		given = weir__flow_items(flow->up[i]);
		if (given != &weir__items_any &&
		    (!given || given->drop != takes->drop))
			return "is given other items than it takes";
	}
	return NULL;
}

bool weir__operator_keep_context(struct weir__operator_args *args)
{
	size_t size = args->ops.context_size;

	if (size == 0)
		return true;
	args->copy = weir__alloc(weir_allocator_default(), size);
	if (!args->copy)
		return false;
	memcpy(args->copy, args->context, size);
	args->context = args->copy;
	return true;
}

void weir__operator_free_context(struct weir__operator_args *args)
{
	if (args->copy)
		weir__free(weir_allocator_default(), args->copy,
			   args->ops.context_size);
}

static void operator_free(struct weir_flow *flow)
{
	weir__operator_free_context((void *)flow->args);
}

static struct weir_flow *operator_new(const struct weir__kind *kind,
				      struct weir_flow *const *up, uint32_t n,
				      const struct weir_operator_ops *ops,
				      void *context, bool valid)
{
	struct weir__operator_args args, *own;
	struct weir_flow *flow;

	valid = weir__operator_args_init(&args, kind, n, 0, ops, context) &&
		valid;
	args.kind.needs_island = args.ops.ahead;
	args.kind.build = args.ops.ahead ? build_ahead : NULL;
	args.kind.free = operator_free;
	flow = weir__flow_new(kind, up, n, &args, sizeof(args), valid);
	if (weir__flow_check(flow, NULL, NULL) != 0)
		return flow;
	own = (void *)flow->args;
	if (!weir__operator_keep_context(own)) {
		weir_flow_free(flow);
		return weir__flow_failed(-ENOMEM, kind->name, "no memory");
	}
	flow->kind = &own->kind;
	return flow;
}

struct weir_flow *weir_flow_operator(struct weir_flow *flow,
				     const struct weir_operator_ops *ops,
				     void *context)
{
	return operator_new(&operator_kind, &flow, 1, ops, context, true);
}

struct weir_flow *weir_flow_operator_inputs(struct weir_flow *const *flows,
					    size_t n,
					    const struct weir_operator_ops *ops,
					    void *context)
{
	if (!flows || n == 0 || n > UINT32_MAX)
		return weir__flow_failed(-EINVAL, inputs_kind.name,
					 "no flows to be put upon");
	return operator_new(&inputs_kind, flows, (uint32_t)n, ops, context,
			    true);
}

struct weir_flow *weir_flow_operator_source(const struct weir_operator_ops *ops,
					    void *context)
{
	bool valid = ops && !ops->on_push &&
		     (ops->on_pull || ops->on_timer || ops->on_wake ||
		      ops->on_ready);

	return operator_new(&operator_kind, NULL, 0, ops, context, valid);
}

struct weir_flow *weir_flow_invalid(struct weir_flow *flow, const char *origin,
				    const char *message)
{
	const struct weir__kind kind = {.name = origin};

	flow = weir__flow_upon(&kind, flow, NULL, 0, false);
	return weir__flow_wrong_as(flow, &kind, message);
}

/* --- What their functions do ---------------------------------------------- */

size_t weir_operator_input(const struct weir_operator *self)
{
	return self->input;
}

int weir_operator_pull(struct weir_operator *self)
{
	if (self && op_of(self)->n_up == 0)
		return -EPIPE;
	return weir_operator_pull_input(self, 0);
}

int weir_operator_pull_input(struct weir_operator *self, size_t input)
{
	if (!self || input >= op_of(self)->n_up)
		return -EINVAL;
	/* if the input has ended and on_end() was not called, that answers the
	 * pull */
	if (self->ending || self->inputs[input].told)
		return -EPIPE;
	if (self->inputs[input].asked)
		return -EALREADY;
	self->inputs[input].asked = true;
	return 0;
}

int weir_operator_push(struct weir_operator *self, void *item)
{
	if (!self)
		return -EINVAL;
	if (WEIR_UNLIKELY(self->outlets != NULL))
		return weir__operator_args(op_of(self))->with->push(self, item);
	if (self->ending)
		return -EPIPE;
	if (!self->wanted)
		return -EAGAIN;
	self->wanted = false;
	/* no item was wanted as long as one was late */
	assert(!self->has_late);
	if (self->n < self->room) {
		self->items[self->n++] = item;
		return 0;
	}
	self->late = item;
	self->has_late = true;
	return 0;
}

bool weir_operator_wanted(const struct weir_operator *self)
{
	return self->wanted && !self->ending &&
	       (!self->outlets || self->outlets->wanted);
}

/* Of the input, which has not ended; or NULL. */
static struct weir__op *input_of(const struct weir_operator *self, size_t input)
{
	struct weir__op *op = op_of(self);

	if (self->ending || input >= op->n_up || op->up[input]->ended)
		return NULL;
	return op->up[input];
}

bool weir_operator_available(const struct weir_operator *self, size_t input)
{
	struct weir__op *up = input_of(self, input);

	return up && up->kind->has && up->kind->has(up);
}

bool weir_operator_ended(const struct weir_operator *self, size_t input)
{
	return !input_of(self, input);
}

void weir_operator_drop(struct weir_operator *self, void *item)
{
	struct weir__op *op = op_of(self);

	weir__op_drop_one(op->n_up ? op->up[0] : op, item);
}

void weir_operator_drop_input(struct weir_operator *self, size_t input,
			      void *item)
{
	assert(input < op_of(self)->n_up);
	weir__op_drop_one(op_of(self)->up[input], item);
}

int weir_operator_cancel_input(struct weir_operator *self, size_t input)
{
	if (!self || input >= op_of(self)->n_up)
		return -EINVAL;
	if (self->ending || self->inputs[input].told)
		return -EALREADY;
	self->inputs[input] =
		(struct weir__operator_input){.looked = true, .told = true};
	weir__op_cancel(op_of(self)->up[input]);
	return 0;
}

int weir_operator_end(struct weir_operator *self, struct weir_error *error)
{
	if (!self)
		return -EINVAL;
	if (self->ending)
		return -EALREADY;
	self->ending = true;
	self->error = weir_error_ref(error);
	return 0;
}

int weir_operator_fail(struct weir_operator *self, int code,
		       const char *message)
{
	struct weir_error *error;
	int rc;

	if (!self || code >= 0)
		return -EINVAL;
	error = weir__op_error(op_of(self), code, message);
	rc = weir_operator_end(self, error);
	weir_error_unref(error);
	return rc;
}

uint64_t weir_operator_now(const struct weir_operator *self)
{
	return weir__op_now(op_of(self));
}

void weir_operator_timer_at(struct weir_operator *self, uint64_t at_ns)
{
	self->due_ns = at_ns;
}

int weir_operator_watch(struct weir_operator *self, int fd, short events)
{
	if (!self ||
	    (fd >= 0 && (events == 0 || (events & ~(POLLIN | POLLOUT)))))
		return -EINVAL;
	if (self->ending)
		return -EPIPE;
	if (self->armed)
		weir__op_fd_off(&self->watch, op_of(self));
	self->armed = false;
	self->fd = fd < 0 ? -1 : fd;
	self->events = events;
	return 0;
}

void weir_operator_wake(struct weir_operator *self)
{
	struct weir__op *op = op_of(self);

	/* release: the caller's writes; pairs with the acquire in tell_wake().
	 * An exchange, so that one wake does not hide another. */
	ck_pr_fence_release();
	(void)ck_pr_fas_32(&self->woken, 1);
	/* our own signal would be handled in the same slice; that would go on
	 * for ever if on_wake() wakes again */
	if (weir__runs_here(&op->island->actor))
		weir__op_again(op);
	else
		weir__op_wake(op);
}

void weir_operator_hold(struct weir_operator *self)
{
	weir__op_hold(op_of(self));
}

void weir_operator_unhold(struct weir_operator *self)
{
	weir__op_unhold(op_of(self));
}

void *weir_operator_state(struct weir_operator *self)
{
	return self->state;
}

void *weir_operator_context(const struct weir_operator *self)
{
	return weir__operator_args(op_of(self))->context;
}

const struct weir_allocator *weir_operator_allocator(
	const struct weir_operator *self)
{
	return weir__op_allocator(op_of(self));
}
