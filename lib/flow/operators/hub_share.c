/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow that runs once for all its subscribers, while there are any. Each of
 * its runs has a hub of its own: the two are a connection. Who is the last of
 * those that it takes to connect starts the run. When the last subscriber
 * leaves, the hub ends, at once or when the run has lingered, and so does the
 * run, in its own time: who finds a hub that has ended makes the next
 * connection, and waits for nothing.
 */
#include "flow/operators/hub_flow.h"

#include <assert.h>
#include <errno.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/refcount.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/start.h"

struct connection {
	struct weir_flow_share *share;
	struct weir_hub *hub;
	uint32_t refs; /* atomic: its run, subscribers, who looks at it */
};

struct weir_flow_share {
	struct weir_flow *flow; /* into the hub of the run */
	struct weir_executor *executor;
	struct weir_flow_share_options options;
	uint32_t refs; /* atomic: its maker, flows from it, runs */
	struct weir__lock lock;
	/* Under the lock: the newest connection, or NULL. Its run or one of
	 * its subscribers holds it, and takes it off before it lets go. */
	struct connection *newest;
};

struct subscriber {
	struct weir__from_hub from;
	struct connection *at; /* NULL: it has not joined it yet */
};

static void share_unref(struct weir_flow_share *share)
{
	if (!weir__unref(&share->refs))
		return;
	assert(!share->newest);
	weir_flow_free(share->flow);
	weir__free(weir_allocator_default(), share, sizeof(*share));
}

/* --- Connections ---------------------------------------------------------- */

static const struct weir_allocator *allocator_of(
	const struct weir_flow_share *share)
{
	return share->executor->options.allocator;
}

static int hub_new(const struct weir_flow_share *share, struct weir_hub **hub)
{
	return weir_hub_new(hub, weir__flow_items(share->flow->up[0]),
			    &share->options.hub, allocator_of(share));
}

static int connection_new(struct weir_flow_share *share,
			  struct connection **made)
{
	struct connection *self =
		weir__alloc(allocator_of(share), sizeof(*self));
	int rc;

	if (!self)
		return -ENOMEM;
	rc = hub_new(share, &self->hub);
	if (rc < 0) {
		weir__free(allocator_of(share), self, sizeof(*self));
		return rc;
	}
	weir__hub_set_shared(self->hub, share->options.linger_ns > 0);
	self->share = share;
	self->refs = 1;
	*made = self;
	return 0;
}

static void connection_unref(struct connection *self)
{
	if (!self || !weir__unref(&self->refs))
		return;
	weir__not_refused(weir_hub_free(self->hub));
	weir__free(allocator_of(self->share), self, sizeof(*self));
}

/* With a reference; or NULL. */
static struct connection *newest_of(struct weir_flow_share *share)
{
	struct connection *newest;

	weir__lock(&share->lock);
	newest = share->newest;
	if (newest)
		weir__ref(&newest->refs);
	weir__unlock(&share->lock);
	return newest;
}

/* False: there is another one than `ended`, which the caller holds. */
static bool put_in_place(struct weir_flow_share *share,
			 const struct connection *ended,
			 struct connection *made)
{
	bool puts;

	weir__lock(&share->lock);
	puts = !share->newest || share->newest == ended;
	if (puts)
		share->newest = made;
	weir__unlock(&share->lock);
	return puts;
}

static void take_off(const struct connection *at)
{
	struct weir_flow_share *share = at->share;

	weir__lock(&share->lock);
	if (share->newest == at)
		share->newest = NULL;
	weir__unlock(&share->lock);
}

/* --- Runs ----------------------------------------------------------------- */

struct sharing {
	struct weir__into_hub into;
	struct weir__op_timer timer;
	uint64_t changes;  /* of the hub, when it was found idle */
	uint64_t until_ns; /* when it ends, if it is so till then */
};

static int share_open(struct weir__op *op)
{
	const struct connection *at = op->island->run->options.context;

	weir__into_hub_open(op, at->hub);
	return 0;
}

static const struct weir_flow_share *shared_by(const struct weir__op *op)
{
	const struct connection *at = op->island->run->options.context;

	return at->share;
}

/* Ends the hub when it has been idle for long enough. */
static int linger(struct weir__op *op, uint64_t linger_ns)
{
	struct sharing *self = weir__op_state(op);
	struct weir_hub *hub = self->into.hub;
	uint64_t now_ns = weir__op_now(op), changes;

	if (!weir__hub_is_idle(hub, &changes))
		return 0;
	if (changes != self->changes) {
		self->changes = changes;
		self->until_ns = weir__later(now_ns, linger_ns);
	}
	if (now_ns < self->until_ns)
		return weir__op_timer_at(&self->timer, op, self->until_ns);
	weir__hub_end_idle(hub, changes);
	return 0;
}

static size_t share_pull(struct weir__op *op, void **items, size_t room)
{
	uint64_t linger_ns = shared_by(op)->options.linger_ns;
	int rc;

	(void)weir__into_hub_pull(op, items, room);
	if (op->ended || linger_ns == 0)
		return 0;
	/* behind the pull, from which on the last who leaves wakes it */
	rc = linger(op, linger_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "the timer could not be set");
	return 0;
}

static void share_close(struct weir__op *op)
{
	struct sharing *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
	weir__into_hub_close(op);
}

static const struct weir__kind share_kind = {
	.name = "share",
	.state_size = sizeof(struct sharing),
	.open = share_open,
	.pull = share_pull,
	.close = share_close,
	.makes = true,
	.holds = true,
};

/* Of the run. Its hub has ended. */
static void let_go(struct connection *at)
{
	struct weir_flow_share *share = at->share;

	take_off(at);
	connection_unref(at);
	share_unref(share);
}

static void run_over(struct weir_error *error, void *result, void *context)
{
	struct connection *at = context;
	const struct weir_flow_run_options run = at->share->options.run;

	let_go(at);
	if (run.done)
		run.done(error, result, run.context);
}

/* A start that fails is how the flow ends. */
static void start_run(struct connection *at)
{
	struct weir_flow_share *share = at->share;
	struct weir_flow_run_options options = share->options.run;
	struct weir_error *error;
	int rc;

	weir__ref(&at->refs);
	weir__ref(&share->refs);
	options.done = run_over;
	options.context = at;
	rc = weir_flow_start(share->flow, share->executor, &options, NULL);
	if (rc == 0)
		return;
	error = weir__error_format(allocator_of(share), rc, "from_share",
				   "the flow could not start: %s",
				   weir_strerror(rc));
	(void)weir_hub_end(at->hub, error);
	weir_error_unref(error);
	let_go(at);
}

/* --- Subscribers ---------------------------------------------------------- */

static struct weir_flow_share *share_of(const struct weir_flow *flow)
{
	return *(struct weir_flow_share *const *)(const void *)flow->args;
}

static int join(struct weir__op *op, struct connection *at)
{
	struct subscriber *self = weir__op_state(op);
	int rc;

	weir__hub_use(at->hub);
	rc = weir__from_hub_join(op, at->hub, false);
	if (rc < 0) {
		weir__hub_unuse(at->hub);
		return rc;
	}
	weir__ref(&at->refs);
	self->at = at;
	return 0;
}

static bool leave(struct weir__op *op)
{
	struct subscriber *self = weir__op_state(op);
	bool ended = weir__from_hub_leave(op);

	weir__hub_unuse(self->at->hub);
	connection_unref(self->at);
	self->at = NULL;
	return ended;
}

/* -EAGAIN: somebody else was quicker. */
static int connect(struct weir__op *op, const struct connection *ended)
{
	struct weir_flow_share *share = share_of(op->flow);
	struct connection *made = NULL;
	int rc = connection_new(share, &made);

	if (rc < 0)
		return rc;
	/* before anybody else can come, and leave it as the last */
	rc = join(op, made);
	assert(rc == 0);
	if (!put_in_place(share, ended, made)) {
		(void)leave(op);
		rc = -EAGAIN;
	}
	connection_unref(made);
	return rc;
}

static int subscribe(struct weir__op *op)
{
	const struct subscriber *self = weir__op_state(op);
	struct weir_flow_share *share = share_of(op->flow);
	struct connection *newest;
	int rc;

	/* making a run takes stack, as a nested flow does */
	if (op->island->n_pulling + share->flow->depth > WEIR_FLOW_DEPTH_MAX)
		return -E2BIG;
	do {
		newest = newest_of(share);
		rc = newest ? join(op, newest) : -EPIPE;
		if (rc == -EPIPE)
			rc = connect(op, newest);
		connection_unref(newest);
	} while (rc == -EAGAIN);
	if (rc == 0 && self->from.reader.connects)
		start_run(self->at);
	return rc;
}

static size_t from_pull(struct weir__op *op, void **items, size_t room)
{
	const struct subscriber *self = weir__op_state(op);
	int rc = self->at ? 0 : subscribe(op);

	if (rc == 0)
		return weir__from_hub_pull(op, items, room);
	weir__op_fail_code(op, rc, "could not subscribe");
	return 0;
}

static void from_close(struct weir__op *op)
{
	const struct subscriber *self = weir__op_state(op);
	struct connection *at = self->at;

	if (!at)
		return;
	weir__ref(&at->refs);
	if (leave(op))
		take_off(at);
	connection_unref(at);
}

static const struct weir_items *from_items(const struct weir_flow *flow)
{
	return weir__flow_items(share_of(flow)->flow->up[0]);
}

static void from_free(struct weir_flow *flow)
{
	share_unref(share_of(flow));
}

static const struct weir__kind from_kind = {
	.name = "from_share",
	.state_size = sizeof(struct subscriber),
	.items = from_items,
	.pull = from_pull,
	.close = from_close,
	.free = from_free,
	.source = true,
	.drain = weir__from_hub_drain,
	.holds = true,
	.nests = true,
};

struct weir_flow *weir_flow_from_share(struct weir_flow_share *share)
{
	struct weir_flow *flow =
		weir__flow_source(&from_kind, &share, sizeof(share), share);

	if (flow->kind == &from_kind)
		weir__ref(&share->refs);
	return flow;
}

/* --- The share ------------------------------------------------------------ */

/* What a share sets by itself must not be in the options. */
static bool options_valid(const struct weir_flow_share_options *options)
{
	const struct weir_hub_options *hub = &options->hub;

	return hub->idle == WEIR_HUB_IDLE_WAIT && !hub->stays &&
	       weir__run_options_valid(&options->run) &&
	       weir__reserved_zero(options->reserved);
}

/* Whether the flow may run, and into such a hub. */
static int check(const struct weir_flow_share *share)
{
	int rc = weir_flow_check(share->flow, NULL, NULL);
	struct weir_hub *hub = NULL;

	if (rc == 0 && share->options.linger_ns > 0 &&
	    !share->executor->ops->timer_arm)
		rc = -ENOTSUP;
	if (rc == 0)
		rc = hub_new(share, &hub);
	return rc < 0 ? rc : weir_hub_free(hub);
}

int weir_flow_share_new(struct weir_flow_share **share, struct weir_flow *flow,
			struct weir_executor *executor,
			const struct weir_flow_share_options *options)
{
	static const struct weir_flow_share_options none;
	struct weir_flow_share made = {.executor = executor, .refs = 1};
	int rc = -EINVAL;

	if (share)
		*share = NULL;
	made.flow = weir__flow_upon(&share_kind, flow, NULL, 0, true);
	made.options = options ? *options : none;
	if (share && executor && executor->registry &&
	    options_valid(&made.options)) {
		made.options.hub.idle = WEIR_HUB_IDLE_END;
		if (made.options.hub.connect_after == 0)
			made.options.hub.connect_after = 1;
		rc = check(&made);
	}
	if (rc == 0) {
		*share = weir__alloc(weir_allocator_default(), sizeof(made));
		rc = *share ? 0 : -ENOMEM;
	}
	if (rc == 0)
		**share = made;
	else
		weir_flow_free(made.flow);
	return rc;
}

void weir_flow_share_free(struct weir_flow_share *share)
{
	if (share)
		share_unref(share);
}
