/* SPDX-License-Identifier: BSD-2-Clause */
/* Rule numbers like B2.5 are those of docs/conformance/supervision.md. */
#include "scenario/hierarchy_node.h"

/* --- Hooks, in order ------------------------------------------------------ */

static int node_begins(struct node *self)
{
	int rc;

	assert_false(self->begun);
	assert_int_equal(self->fate.stopped, 0);
	self->became = false;
	rc = act(self);
	if (self->fails)
		return rc;
	self->begun = true;
	self->starts++;
	return rc;
}

static void node_ends(struct node *self)
{
	assert_true(self->begun);
	assert_int_equal(self->fate.stopped, 0);
	self->begun = false;
	self->ends++;
	if (!self->nature.pre_restart)
		loosen_watches(self); /* this may be the default */
}

static int node_pre_start(struct weir_actor *actor)
{
	struct node *self = node_of(actor);

	if (!find_node(self->hierarchy, self->ref))
		register_node(self);
	return node_begins(self);
}

static int node_post_restart(struct weir_actor *actor, struct weir_error *cause)
{
	struct node *self = node_of(actor);

	/* one that is permanent may just have finished */
	assert_true(cause || self->options.restart == WEIR_RESTART_PERMANENT);
	return node_begins(self);
}

static int node_pre_restart(struct weir_actor *actor, struct weir_error *cause)
{
	struct node *self = node_of(actor);

	node_ends(self);
	if (!below(&self->random, 4))
		assert_int_equal(weir_actor_stop_children(actor), 0);
	return act(self);
}

static int node_reset(struct weir_actor *actor)
{
	struct node *self = node_of(actor);

	assert_false(self->begun);
	return act(self);
}

static int node_post_stop(struct weir_actor *actor, struct weir_error *error)
{
	node_ends(node_of(actor));
	return act(node_of(actor));
}

static void node_has_time(struct weir_timer *timer)
{
	struct node *self = weir_container_of(timer, struct node, timer);

	weir_actor_signal(&self->actor);
	weir_actor_unref(&self->actor);
}

/* It will finish by itself, before it has to or not. */
static int node_stopping(struct weir_actor *actor)
{
	struct node *self = node_of(actor);
	uint64_t at;

	assert_true(self->begun);
	(void)act(self);
	if (self->fails || below(&self->random, 2))
		return 0;
	self->asked = true;
	self->timer.fire = node_has_time;
	weir_actor_ref(actor);
	at = weir_executor_now(self->hierarchy->executor) +
	     below(&self->random, 10) * MS;
	assert_int_equal(
		weir_timer_arm(self->hierarchy->executor, &self->timer, at), 0);
	return 1;
}

static int node_signalled(struct weir_actor *actor)
{
	struct node *self = node_of(actor);

	assert_true(self->begun);
	return self->asked ? weir_actor_end(actor) : act(self);
}

static int node_terminated(struct weir_actor *actor,
			   const struct weir_terminated *notice)
{
	struct node *self = node_of(actor);
	struct node_watch *watch = notice->token;

	assert_true(self->begun);
	assert_true(watch >= self->watches && watch < self->watches + WATCHES);
	assert_true(watch->set && weir_actor_id_equal(watch->who, notice->who));
	assert_false(
		weir_system_is_alive(self->hierarchy->system, notice->who));
	watch->set = false;
	return act(self);
}

static int node_child_ended(struct weir_actor *actor,
			    const struct weir_terminated *notice)
{
	struct node *self = node_of(actor);
	struct node *child = find_node(self->hierarchy, notice->who);

	assert_true(self->begun);
	assert_non_null(child);
	assert_int_equal(child->depth, self->depth + 1);
	assert_int_equal(child->told++, 0);
	return act(self);
}

/* B2.5, too: what is no directive fails the supervisor. */
static int node_decide(struct weir_actor *actor,
		       const struct weir_failure *failure, void *context)
{
	struct node *self = node_of(actor);

	assert_true(self->begun);
	assert_int_equal(failure->error->code < 0, 1);
	(void)act(self);
	if (self->fails)
		return WEIR_DIRECTIVE_STOP;
	if (strikes(self->hierarchy, &self->random, 16))
		return below(&self->random, 2) ? -EPROTO : 99;
	return (int)below(&self->random, 9) % 4;
}

/* --- Turns ---------------------------------------------------------------- */

/* B1.2, B1.3: it and all above it are well. */
static void check_may_run(struct node *self)
{
	struct weir_system *system = self->hierarchy->system;
	struct weir__cell *cell = weir__cell_of(&self->actor);
	bool held = weir__enter(&system->lock),
	     may = weir__life_runs(cell->state);

	for (; cell; cell = weir__cell_parent(system, cell))
		may = may && !cell->own && !weir__life_failed(cell->state) &&
		      cell->state != WEIR__CELL_RESTARTING &&
		      cell->state != WEIR__CELL_HALTED &&
		      cell->state != WEIR__CELL_RENEWING;
	weir__leave(&system->lock, held);
	assert_true(may);
}

static int node_turn(struct weir_actor *actor)
{
	struct node *self = node_of(actor);
	struct ledger *ledger = &self->hierarchy->ledger;
	int rc;

	assert_true(self->begun);
	assert_int_equal(self->fate.stopped, 0);
	if (self->hierarchy->alone)
		check_may_run(self);
	self->taken++;
	if (!self->nature.peeks) {
		ledger_deliver(ledger, weir_in_take(&self->in));
		return act(self);
	}
	(void)weir_in_peek(&self->in);
	rc = act(self);
	if (!self->fails)
		ledger_deliver(ledger, weir_in_take(&self->in));
	return rc;
}

static weir_turns node_other_n;

static int node_first(struct weir_actor *actor)
{
	struct node *self = node_of(actor);
	struct weir_port *port = &self->in.port;

	assert_false(self->became);
	if (strikes(self->hierarchy, &self->random, 8)) {
		self->became = true;
		assert_int_equal(
			weir_actor_become(actor, node_other_n, &port, 1), 0);
	}
	return node_turn(actor);
}

/* What it has become: until it begins anew. */
static int node_other(struct weir_actor *actor)
{
	assert_true(node_of(actor)->became);
	return node_turn(actor);
}
WEIR_TURN(node_first)
WEIR_TURN(node_other)

/* --- The end of one ------------------------------------------------------- */

static void node_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct node *self = node_of(actor);

	fate_stopped(&self->fate, error);
	assert_false(self->begun);
	assert_int_equal(self->starts, self->ends);
	if (actor->flags & WEIR__ACTOR_CHILD)
		assert_int_equal(weir_system_children(self->hierarchy->system,
						      self->ref, NULL, 0),
				 0);
}

static void node_released(struct weir_actor *actor)
{
	struct node *self = node_of(actor);

	fate_released(&self->fate);
	ck_pr_inc_32(&self->hierarchy->released);
}

/* --- What they are like --------------------------------------------------- */

static const struct weir_limit *draw_limit(struct weir_limit *limit,
					   uint64_t *random)
{
	static const uint64_t within[] = {0, MS, 1000 * MS, WEIR_FOREVER};

	*limit = (struct weir_limit){
		.max = (int32_t)below(random, 6) - 1,
		.window = (enum weir_window)below(random, 3),
		.within_ns = within[below(random, 4)],
	};
	return below(random, 6) ? NULL : limit;
}

const struct weir_rule node_rules[] = {
	{.code = -EAGAIN, .directive = WEIR_DIRECTIVE_RESUME},
	{.code = -EIO, .directive = WEIR_DIRECTIVE_RESTART},
	{.code = -ENOENT, .directive = WEIR_DIRECTIVE_STOP},
	{.kind = WEIR_FAILURE_START, .directive = WEIR_DIRECTIVE_RESTART},
	{.kind = WEIR_FAILURE_KILLED, .directive = WEIR_DIRECTIVE_RESTART},
	{.directive = WEIR_DIRECTIVE_RESTART}, /* for /user, so that it lives */
};

const size_t n_node_rules = sizeof(node_rules) / sizeof(*node_rules) - 1;

static void draw_strategy(struct node *self, uint64_t *random)
{
	struct weir_strategy *strategy = &self->strategy;

	*strategy = (struct weir_strategy){
		.scope = (enum weir_scope)below(random, 3),
		.decide = self->nature.rules ? NULL : node_decide,
		.rules = node_rules,
		.n_rules = n_node_rules,
		.each = draw_limit(&self->each, random),
		.all = draw_limit(&self->all, random),
		.past_limit = (enum weir_past_limit)below(random, 3),
		.ordered = below(random, 2),
	};
	self->backoff = (struct weir_backoff){
		.law = (enum weir_backoff_law)below(random, 2),
		.min_ns = 1000 + below(random, 2) * MS,
		.max_ns = 2 * MS,
		.random_factor = 0.5,
	};
	if (!below(random, 4) &&
	    (self->hierarchy->alone ||
	     self->backoff.law == WEIR_BACKOFF_EXPONENTIAL))
		strategy->backoff = &self->backoff;
}

static void draw_nature(struct node *self, uint64_t *random)
{
	struct nature *nature = &self->nature;
	struct weir_lifecycle *life = &self->life;

	*nature = (struct nature){
		.pre_restart = below(random, 4),
		.reset = below(random, 2),
		.post_restart = below(random, 2),
		.stopping = below(random, 2),
		.terminated = below(random, 8),
		.child_ended = below(random, 2),
		.strategy = below(random, 8),
		.rules = below(random, 2),
		.peeks = below(random, 2),
	};
	draw_strategy(self, random);
	life->pre_start = node_pre_start;
	life->pre_restart = nature->pre_restart ? node_pre_restart : NULL;
	life->reset = nature->reset ? node_reset : NULL;
	life->post_restart = nature->post_restart ? node_post_restart : NULL;
	life->stopping = nature->stopping ? node_stopping : NULL;
	life->post_stop = node_post_stop;
	life->terminated = nature->terminated ? node_terminated : NULL;
	life->child_ended = nature->child_ended ? node_child_ended : NULL;
	life->strategy = nature->strategy ? &self->strategy : NULL;
}

static void draw_options(struct node *self, uint64_t *random)
{
	static const enum weir_restart_type types[] = {
		WEIR_RESTART_TRANSIENT, WEIR_RESTART_TRANSIENT,
		WEIR_RESTART_TRANSIENT, WEIR_RESTART_PERMANENT,
		WEIR_RESTART_PERMANENT, WEIR_RESTART_TEMPORARY};
	static const uint64_t shutdowns[] = {0, 0, 5 * MS, WEIR_FOREVER,
					     WEIR_SHUTDOWN_BRUTAL};

	snprintf(self->name, sizeof(self->name), "%u", below(random, BREADTH));
	self->options = (struct weir_spawn_options){
		.name = below(random, 2) ? self->name : NULL,
		.restart = types[below(random, 6)],
		.shutdown_ns = shutdowns[below(random, 5)],
	};
}

void member_init(struct node *self, struct hierarchy *hierarchy,
		 uint64_t *random, uint32_t depth)
{
	self->hierarchy = hierarchy;
	self->depth = depth;
	self->random = (uint64_t)below(random, UINT32_MAX) << 32 |
		       below(random, UINT32_MAX);
	draw_nature(self, random);
	draw_options(self, random);
	self->ops = (struct weir_actor_ops){
		.name = "node",
		.turns = node_first_n,
		.signalled = node_signalled,
		.stopped = node_stopped,
		.released = node_released,
		.lifecycle = &self->life,
	};
	assert_int_equal(weir_actor_init(&self->actor, &self->ops,
					 hierarchy->executor),
			 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor,
				      (size_t)1 << below(random, 4),
				      &hierarchy->ledger.items),
			 0);
}
