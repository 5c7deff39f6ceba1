/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-off supervisor is an ordinary actor of a system, with a delay port
 * and a child. It learns of the child's end by the hook `child_ended`. When the
 * delay is over, its turn makes the next child. No timer resets the count: the
 * code that reads it sees by the clock whether it still holds.
 *
 * Rule numbers like B8.5 are those of docs/conformance/supervision.md.
 */
#include "supervision/backoff_supervisor.h"

#include <assert.h>
#include <errno.h>

#include "actor/ending.h"
#include "actor/gate.h"
#include "base/clock.h"
#include "base/options.h"
#include "supervision/spawn.h"
#include "supervision/strategy.h"

/* supervisor->undecided, the owner's: a decision that waits until `finals` is
 * 0. */
enum {
	NOTHING,
	WHETHER, /* there is to be another child */
	NEXT,	 /* to make it */
};

static struct weir_backoff_supervisor *supervisor_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_backoff_supervisor, actor);
}

static void set_phase(struct weir_backoff_supervisor *self, uint8_t phase)
{
	weir__backoff_lock(self);
	self->phase = phase;
	weir__backoff_unlock(self);
}

/* The child is no more, or not ours any more. Owner. */
static void let_go(struct weir_backoff_supervisor *self)
{
	struct weir_actor *child;

	weir__backoff_lock(self);
	child = self->child;
	self->child = NULL;
	self->input = NULL;
	self->id = WEIR_ACTOR_ID_NONE;
	weir__backoff_unlock(self);
	weir_actor_unref(child);
}

/* --- The next child. Owner. ----------------------------------------------- */

static void set_error(struct weir_backoff_supervisor *self,
		      struct weir_error *error)
{
	weir_error_unref(self->error);
	self->error = weir_error_ref(error);
}

/*
 * Ends the supervisor, with the child's error if there is one, for its
 * watchers. That is not a failure: its own supervisor does not answer it with a
 * restart.
 */
static int backoff_end(struct weir_backoff_supervisor *self)
{
	struct weir_error *error = self->error;

	self->error = NULL;
	weir__actor_end(&self->actor, error, false);
	return 0;
}

static int wait_for_next(struct weir_backoff_supervisor *self, uint32_t k)
{
	struct weir_system *system = weir_actor_system(&self->actor);
	bool held = weir__enter(&system->lock);
	uint64_t random = weir__random(system);

	weir__leave(&system->lock, held);
	return weir_delay_for(&self->delay,
			      weir_backoff_delay(&self->options.backoff, k,
						 random));
}

/* There is no child: sets the delay before the next one, or ends. 0 or a
 * negative errno. */
static int decide_whether(struct weir_backoff_supervisor *self)
{
	const struct weir_backoff_supervisor_options *options = &self->options;
	uint64_t now = weir__backoff_now(self);
	bool final, last;
	uint32_t count;

	assert(!self->child);
	weir__backoff_lock(self);
	/* A final item is on its way, and will say: then we are signalled. */
	if (self->finals) {
		weir__backoff_unlock(self);
		self->undecided = WHETHER;
		return 0;
	}
	final = self->final;
	self->final = false; /* the final item is done with, in case a
			      * permanent supervisor restarts */
	count = weir__backoff_count(self, now);
	last = final || !self->again ||
	       (options->max_retries >= 0 &&
		(int64_t)count >= options->max_retries);
	if (!last) {
		if (count < UINT32_MAX)
			self->count++;
		self->reset_at_ns = WEIR_FOREVER; /* another count now */
	}
	weir__backoff_unlock(self);
	self->undecided = NOTHING;
	if (final)
		set_error(self, NULL);
	return last ? backoff_end(self) : wait_for_next(self, count);
}

/* The child has ended, or none could be made. */
static int child_gone(struct weir_backoff_supervisor *self,
		      struct weir_error *error)
{
	set_error(self, error);
	return decide_whether(self);
}

static int spawn(struct weir_backoff_supervisor *self, struct weir_actor *child,
		 struct weir_in *input)
{
	struct weir_system *system = weir_actor_system(&self->actor);
	uint64_t now = weir__backoff_now(self);
	struct weir_actor_id id;
	bool final;
	int rc;

	/* our reference, until let_go(): other threads may put into the child
	 * meanwhile */
	weir_actor_ref(child);
	rc = weir_system_spawn(system, weir_actor_self(&self->actor), child,
			       &self->options.child, &id);
	if (rc < 0) {
		weir_actor_stop(child);
		weir_actor_unref(child);
		return rc;
	}
	weir__backoff_lock(self);
	self->child = child;
	self->input = input;
	self->id = id;
	self->reset_at_ns =
		weir__clock_after(now, self->options.backoff.reset_ns);
	final = self->final;
	weir__backoff_unlock(self);
	/* The thread that put the final item found no child. */
	if (final)
		(void)weir_system_stop_actor(system, id);
	return 0;
}

static int make(struct weir_backoff_supervisor *self)
{
	const struct weir_backoff_supervisor_options *options = &self->options;
	struct weir_actor *child = NULL;
	struct weir_in *input = NULL;
	int rc = options->make(&child, &input, options->context);

	if (rc != 0 || !child)
		return rc < 0 ? rc : -EINVAL;
	/* The user's `make` has given us a wrong in-port: we stop the child. */
	if (input && input->port.actor != child) {
		weir_actor_stop(child);
		return -EINVAL;
	}
	return spawn(self, child, input);
}

/* Makes the next child, unless there would be too many. 0 or a negative
 * errno. */
static int next(struct weir_backoff_supervisor *self)
{
	bool final, wait;
	int rc;

	weir__backoff_lock(self);
	final = self->final;
	wait = self->finals;
	weir__backoff_unlock(self);
	self->undecided = wait ? NEXT : NOTHING;
	if (wait)
		return 0;
	if (final)
		return decide_whether(self);
	self->again = self->options.mode == WEIR_BACKOFF_ON_STOP;
	rc = make(self);
	if (rc == 0)
		return 0;
	/* a child that cannot be spawned now may be later, unless the system
	 * stops */
	self->again = rc != -ESHUTDOWN;
	return child_gone(self, weir_error_of(rc));
}

/* --- What the actor does -------------------------------------------------- */

/* The delay is over. */
static inline int turn(struct weir_actor *actor)
{
	struct weir_backoff_supervisor *self = supervisor_of(actor);
	int rc = weir_delay_until(&self->delay, WEIR_FOREVER);

	return rc < 0 ? rc : next(self);
}
WEIR_TURN(turn)

/* weir_backoff_supervisor_end() was called, or the last put of a final item is
 * over. */
static int signalled(struct weir_actor *actor)
{
	struct weir_backoff_supervisor *self = supervisor_of(actor);
	bool look;

	weir__backoff_lock(self);
	look = !self->child && (self->final || self->undecided);
	weir__backoff_unlock(self);
	if (!look)
		return 0;
	return self->undecided == NEXT ? next(self) : decide_whether(self);
}

static int pre_start(struct weir_actor *actor)
{
	struct weir_backoff_supervisor *self = supervisor_of(actor);

	set_phase(self, WEIR__BACKOFF_RUNNING);
	return next(self);
}

/* All children have ended. child_ended() is called for them later. */
static int reset(struct weir_actor *actor)
{
	struct weir_backoff_supervisor *self = supervisor_of(actor);

	let_go(self);
	set_error(self, NULL);
	weir__backoff_lock(self);
	self->count = 0;
	self->reset_at_ns = WEIR_FOREVER;
	weir__backoff_unlock(self);
	return weir_delay_until(&self->delay, WEIR_FOREVER);
}

static int child_ended(struct weir_actor *actor,
		       const struct weir_terminated *notice)
{
	struct weir_backoff_supervisor *self = supervisor_of(actor);

	/* A child from before a restart, or one that is not ours. */
	if (!weir_actor_id_equal(notice->who, self->id))
		return 0;
	let_go(self);
	return child_gone(self, notice->error);
}

static void backoff_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir_backoff_supervisor *self = supervisor_of(actor);

	set_phase(self, WEIR__BACKOFF_OVER);
	let_go(self);
	set_error(self, NULL);
	if (self->options.done)
		self->options.done(error, self->options.context);
	if (self->options.up)
		weir_actor_unref(self->options.up->port.actor);
}

static void backoff_released(struct weir_actor *actor)
{
	const struct weir_backoff_supervisor_options *options =
		&supervisor_of(actor)->options;

	if (options->released)
		options->released(options->context);
}

/* As the strategy of the options, but for rules of which none matches. */
static int answer(const struct weir_strategy *strategy,
		  struct weir_actor *actor, const struct weir_failure *failure)
{
	if (strategy && !strategy->decide &&
	    !weir__rule_find(strategy, failure))
		strategy = NULL;
	return weir__strategy_decide(strategy, actor, failure);
}

static int decide(struct weir_actor *actor, const struct weir_failure *failure,
		  void *context)
{
	struct weir_backoff_supervisor *self = context;
	int directive = answer(self->options.strategy, actor, failure);

	if (self->options.mode != WEIR_BACKOFF_ON_FAILURE ||
	    directive != WEIR_DIRECTIVE_RESTART ||
	    !weir_actor_id_equal(failure->child, self->id))
		return directive;
	/* When this child has ended, another one is made after the delay. */
	self->again = true;
	return WEIR_DIRECTIVE_STOP;
}

/* --- Setting up ----------------------------------------------------------- */

static bool strategy_valid(
	const struct weir_backoff_supervisor_options *options)
{
	const struct weir_strategy *strategy = options->strategy;

	if (!strategy)
		return true;
	if (options->mode == WEIR_BACKOFF_ON_FAILURE &&
	    (strategy->each || strategy->all || strategy->backoff))
		return false;
	return weir_strategy_check(strategy) == 0;
}

/* A child with another restart type would restart without our delays (B8.5). */
static bool valid(const struct weir_backoff_supervisor_options *options)
{
	const struct weir_strategy backoff = {.backoff = &options->backoff};

	return weir__reserved_zero(options->reserved) && options->make &&
	       (unsigned int)options->mode <= WEIR_BACKOFF_ON_FAILURE &&
	       options->backoff.law == WEIR_BACKOFF_EXPONENTIAL &&
	       weir_strategy_check(&backoff) == 0 && strategy_valid(options) &&
	       options->child.restart == WEIR_RESTART_TRANSIENT &&
	       weir__spawn_options_valid(&options->child) &&
	       options->absent_code <= 0;
}

static int set_up(struct weir_backoff_supervisor *self,
		  struct weir_executor *executor)
{
	struct weir_backoff_supervisor_options *options = &self->options;
	int rc;

	if (!options->name)
		options->name = "backoff supervisor";
	if (!options->child.name)
		options->child.name = "child";
	if (!options->backoff.reset_ns)
		options->backoff.reset_ns = options->backoff.min_ns;
	if (options->strategy)
		self->strategy = *options->strategy;
	self->strategy.decide = decide;
	self->strategy.context = self;
	self->lifecycle = (struct weir_lifecycle){
		.pre_start = pre_start,
		.reset = reset,
		.child_ended = child_ended,
		.strategy = &self->strategy,
	};
	self->ops = (struct weir_actor_ops){
		.name = options->name,
		.turns = turn_n,
		.signalled = signalled,
		.stopped = backoff_stopped,
		.released = backoff_released,
		.lifecycle = &self->lifecycle,
	};
	self->reset_at_ns = WEIR_FOREVER;
	rc = weir_actor_init(&self->actor, &self->ops, executor);
	return rc < 0 ? rc : weir_delay_init(&self->delay, &self->actor);
}

int weir_backoff_supervisor_init(
	struct weir_backoff_supervisor *supervisor,
	struct weir_executor *executor,
	const struct weir_backoff_supervisor_options *options)
{
	struct weir_backoff_supervisor before;
	int rc;

	if (!supervisor || !options || !valid(options))
		return -EINVAL;
	before = *supervisor;
	*supervisor = (struct weir_backoff_supervisor){.options = *options};
	rc = set_up(supervisor, executor);
	if (rc < 0)
		*supervisor = before;
	else if (options->up)
		weir_actor_ref(options->up->port.actor);
	return rc;
}
