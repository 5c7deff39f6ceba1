/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process manager as an actor: commands come in, demand goes out.
 *
 * A process takes one of `max` places when it starts. The thread that releases
 * the process gives the place back: it puts the place into `returned` (calls
 * have no memory of their own and are only counted), and signals the manager.
 * The manager's slice takes all returned places, and then computes what it can
 * ask for. So n_busy, and everything else that the demand is computed from, is
 * the owner's.
 *
 * `may` has a permit for each command that may start. With a publisher there is
 * a permit for each free place, since no more commands come than were
 * requested. With offers there is a permit for each command that was asked for;
 * each also adds to `credit`, the number of offers that will be taken, which
 * starts with the buffer.
 *
 * Commands wait in the in-port. If one of those is cancelled, the manager takes
 * all out of the in-port and into a line, out of which the one is taken; from
 * then on the line comes first. So who cancels nothing has no line.
 *
 * Rule numbers like A4.7 are those of docs/conformance/process_manager.md.
 */
#include <weir/process_manager.h>

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/any.h>

#include "actor/ending.h"
#include "actor/gate.h"
#include "actor/in.h"
#include "actor/look.h"
#include "base/demand.h"
#include "base/options.h"
#include "executor/cpus.h"
#include "process/command.h"
#include "process/ids.h"
#include "process/line.h"
#include "process/process.h"
#include "process/results.h"
#include "process/runner.h"
#include "process/runners.h"
#include "stream/reactive.h"

#define BATCH 5u /* unless told */

static struct weir_process_manager *manager_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_process_manager, actor);
}

/* Refuses a command that was offered and taken. */
static void refuse(void *item, void *context)
{
	weir__command_refuse(context, item);
}

/* --- Demand --------------------------------------------------------------- */

static uint32_t processing(const struct weir_process_manager *self)
{
	assert(self->n_busy <= self->options.max);
	return self->n_busy;
}

/* Offers that were taken, or are about to be. Any thread. */
static uint64_t accepted(const struct weir_process_manager *self)
{
	uint64_t credit = ck_pr_load_64((const uint64_t *)&self->credit);

	/* pairs with the fence in permit(): no credit is seen without the
	 * permits that it comes from */
	ck_pr_fence_load();
	return ck_pr_load_64(&self->n_permitted) - credit;
}

/* Offers that were not asked for. */
static int64_t in_front(const struct weir_process_manager *self)
{
	int64_t waiting = (int64_t)(accepted(self) - self->n_taken);
	int64_t asked = weir_permits_count(&self->may);

	return waiting > asked ? waiting - asked : 0;
}

static int64_t in_flight(void *context)
{
	const struct weir_process_manager *self = context;
	const int64_t buffer = (int64_t)self->options.buffer;
	int64_t waiting;

	if (!self->options.count_buffer || self->subscribes)
		return processing(self);
	waiting = in_front(self);
	/* those above the buffer wait because `max` was lowered: they must not
	 * keep the manager from asking for them */
	return processing(self) + (waiting < buffer ? waiting : buffer);
}

/* Never more than there are places. */
static int64_t batch_of(const struct weir_process_manager *self, size_t max)
{
	size_t batch = self->options.batch;

	if (!batch)
		batch = self->subscribes ? BATCH : 1;
	return (int64_t)(batch < max ? batch : max);
}

/* How many commands to ask for, if `remaining` were asked for already. */
static int64_t demand(int64_t remaining, void *context)
{
	struct weir_process_manager *self = context;
	int64_t most = (int64_t)self->max - processing(self) - remaining;
	int64_t n;

	if (self->ends)
		return 0;
	n = self->options.demand(remaining, self->options.demand_context);
	if (n > most)
		n = most;
	return n > 0 ? n : 0;
}

/* `n` more offers will be taken, or fewer. */
static void permit(struct weir_process_manager *self, int64_t n)
{
	ck_pr_store_64(&self->n_permitted, self->n_permitted + (uint64_t)n);
	/* pairs with the fence in accepted() */
	ck_pr_fence_store_atomic();
	ck_pr_add_64((uint64_t *)&self->credit, (uint64_t)n);
}

/* With offers. */
static void manager_ask(struct weir_process_manager *self)
{
	int64_t n;

	if (self->subscribes)
		return;
	n = demand(weir_permits_count(&self->may), self);
	if (n == 0)
		return;
	(void)weir_permits_release(&self->may, n);
	permit(self, n);
}

/* --- Commands in line ----------------------------------------------------- */

static void took(struct weir_process_manager *self, uint64_t n)
{
	ck_pr_store_64(&self->n_taken, self->n_taken + n);
}

/* The manager ends: none of them starts any more. */
static void refuse_line(struct weir_process_manager *self)
{
	struct weir_command *command;

	while ((command = weir__line_first(self))) {
		weir__line_remove(self, command);
		weir__command_refuse(self, command);
	}
}

/* Those that were cancelled give their places in line to other offers. */
static void refuse_cancelled(struct weir_process_manager *self)
{
	struct weir_command *command, *next;

	if (!weir__ids_any_cancelled(self))
		return;
	while (!self->subscribes && weir_port_ready(&self->in.port))
		weir__line_add(self, weir_in_take(&self->in));
	for (command = weir__ids_cancelled(self); command; command = next) {
		next = command->next_cancelled;
		weir__line_remove(self, command);
		took(self, 1);
		permit(self, 1);
		weir__command_refuse(self, command);
	}
}

/* --- The actor ------------------------------------------------------------ */

static void begin_command(struct weir_process_manager *self,
			  struct weir_command *command)
{
	/* the command had a permit, which stands for a place */
	assert(self->n_busy < self->max);
	if (self->options.run) {
		self->n_busy++;
		weir__runners_put(self, command);
	} else {
		weir__process_start(self, command);
	}
}

static inline int begin(struct weir_actor *actor)
{
	struct weir_process_manager *self = manager_of(actor);
	struct weir_command *command = weir_in_take(&self->in);

	if (self->subscribes)
		weir__command_come(self, command); /* else it was offered */
	begin_command(self, command);
	return 0;
}
WEIR_TURN(begin)

/* For others to read. */
static void tell_processing(struct weir_process_manager *self)
{
	ck_pr_store_32(&self->n_processing, processing(self));
	if (processing(self) > self->peak)
		ck_pr_store_32(&self->peak, processing(self));
}

/* `done` commands have begun, with `before` places taken until then. */
static void began(struct weir_process_manager *self, uint32_t done,
		  uint32_t before)
{
	uint32_t started = self->n_busy - before;

	if (self->runners)
		weir__runners_publish(self);
	/* Commands that were refused have taken no place. */
	assert(self->n_busy >= before && started <= done);
	(void)weir_permits_use(&self->may, self->subscribes ? started : done);
	took(self, done);
	tell_processing(self);
	manager_ask(self);
}

/* Commands in line have come before those in the in-port. */
static void begin_line(struct weir_process_manager *self)
{
	struct weir_command *command;
	uint32_t done, before;
	int64_t may;

	while (self->n_in_line > 0 &&
	       (may = weir_permits_count(&self->may)) > 0) {
		before = self->n_busy;
		for (done = 0; done < may && (command = weir__line_first(self));
		     done++) {
			weir__line_remove(self, command);
			begin_command(self, command);
		}
		began(self, done, before);
	}
}

static uint32_t begins(struct weir_actor *actor, uint32_t n)
{
	struct weir_process_manager *self = manager_of(actor);
	uint32_t before = self->n_busy, done;

	/* whoever makes permits begins with the line */
	assert(self->n_in_line == 0);
	done = begin_n(actor, n);
	began(self, done, before);
	return done;
}

/* With priorities: all stand in line, also while nothing can start. */
static inline int come(struct weir_actor *actor)
{
	struct weir_process_manager *self = manager_of(actor);
	struct weir_command *command = weir_in_take(&self->in);

	if (self->subscribes)
		weir__command_come(self, command);
	weir__line_add(self, command);
	return 0;
}
WEIR_TURN(come)

static uint32_t comes(struct weir_actor *actor, uint32_t n)
{
	uint32_t done = come_n(actor, n);

	begin_line(manager_of(actor));
	return done;
}

static uint32_t nothing(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

/* No more commands come: the manager ends when its processes have ended. */
static int manager_end(struct weir_process_manager *self,
		       struct weir_error *error)
{
	assert(!self->ends && !self->error);
	self->ends = true;
	ck_pr_store_32(&self->closed, 1);
	self->error = weir_error_ref(error);
	refuse_line(self);
	return weir_actor_become(&self->actor, nothing, NULL, 0);
}

static void check_end(struct weir_process_manager *self)
{
	struct weir_error *error = self->error;

	if (!self->ends || processing(self) > 0)
		return;
	/* the stream of results ends first, and signals that */
	if (!weir__results_end(self, error))
		return;
	self->error = NULL;
	weir__runners_close(self);
	weir__actor_end(&self->actor, error, false);
}

static int manager_ended(struct weir_actor *actor, struct weir_in *in,
			 struct weir_error *error)
{
	struct weir_process_manager *self = manager_of(actor);
	int rc;

	(void)in;
	/* called again after a restart */
	if (self->ends)
		return 0;
	rc = manager_end(self, error);
	check_end(self);
	return rc;
}

static int close_in(struct weir_process_manager *self)
{
	if (self->ends)
		return 0;
	ck_pr_store_32(&self->closed, 1);
	(void)weir_in_cancel(&self->in);
	return manager_end(self, NULL);
}

/*
 * Of a publisher there is a permit for each place that is free, of offers for
 * each that was asked for: those above `max` are taken back, and their commands
 * wait.
 */
static void change_max(struct weir_process_manager *self)
{
	uint32_t max = ck_pr_load_32(&self->new_max);
	int64_t may = weir_permits_count(&self->may), less;

	if (max == self->max)
		return;
	if (self->subscribes) {
		less = (int64_t)self->max - max;
	} else {
		less = may + processing(self) - max;
		less = less < 0 ? 0 : less > may ? may : less;
		permit(self, -less);
	}
	(void)weir_permits_set(&self->may, may - less);
	self->max = max;
	self->in_flight.max = max;
	self->in_flight.batch = batch_of(self, max);
}

static int signalled(struct weir_actor *actor)
{
	struct weir_process_manager *self = manager_of(actor);
	bool gone = weir__runners_gone(self) || weir__results_gone(self);
	uint32_t n = ck_pr_fas_32(&self->n_returned, 0);
	int rc = 0;

	/* acquire: pairs with the release in weir__places_back() */
	ck_pr_fence_atomic_load();
	n += weir__processes_returned(self);
	assert(n <= self->n_busy);
	self->n_busy -= n;
	tell_processing(self);
	if (n && self->subscribes)
		(void)weir_permits_release(&self->may, n);
	change_max(self);
	refuse_cancelled(self);
	if (gone || ck_pr_load_32(&self->closed))
		rc = close_in(self);
	manager_ask(self);
	begin_line(self);
	check_end(self);
	return rc;
}

static void manager_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir_process_manager *self = manager_of(actor);

	(void)error;
	ck_pr_store_32(&self->closed, 1);
	/* processes that are actors have ended before the manager; calls may go
	 * on */
	if (self->options.process)
		ck_pr_store_32(&self->n_processing, 0);
	weir_error_unref(self->error);
	self->error = NULL;
	refuse_line(self);
	weir__runners_stop(self);
	weir__results_stop(self);
}

static void manager_released(struct weir_actor *actor)
{
	struct weir_process_manager *self = manager_of(actor);

	weir__processes_fini(self);
	weir__runners_fini(self);
	weir__results_fini(self);
	weir__ids_fini(self);
	if (self->options.released)
		self->options.released(self->options.context);
}

static int pre_start(struct weir_actor *actor)
{
	struct weir_process_manager *self = manager_of(actor);
	int rc;

	self->system = weir_actor_system(actor);
	self->self = weir_actor_self(actor);
	rc = weir__runners_start(self);
	return rc == 0 ? weir__results_start(self) : rc;
}

static int stopping(struct weir_actor *actor)
{
	struct weir_process_manager *self = manager_of(actor);

	(void)close_in(self);
	check_end(self);
	return 1;
}

/*
 * The manager restarts and keeps its state: commands that wait will start. Its
 * processes stop, and children that a program has spawned; runners, and the
 * stream of results, which have no state to lose, go on.
 */
static int pre_restart(struct weir_actor *actor, struct weir_error *cause)
{
	struct weir_process_manager *self = manager_of(actor);

	(void)cause;
	if (!self->options.process)
		return 0;
	if (!self->results)
		return weir_actor_stop_children(actor);
	weir__processes_stop(self);
	return 0;
}

/*
 * If the manager has taken its last command, it only waits for calls under way.
 * It must not fail, or its supervisor would restart it once more.
 */
static int post_restart(struct weir_actor *actor, struct weir_error *cause)
{
	struct weir_process_manager *self = manager_of(actor);
	int rc;

	(void)cause;
	if (!self->ends)
		return 0;
	rc = weir_actor_become(actor, nothing, NULL, 0);
	if (rc == 0)
		check_end(self);
	return rc;
}

/* A4.7: a process that fails stops, unless it may restart. */
static int decide(struct weir_actor *supervisor,
		  const struct weir_failure *failure, void *context)
{
	if (failure->error->code == WEIR_ERROR_FATAL ||
	    failure->kind == WEIR_FAILURE_KILLED)
		return weir_strategy_decide_stop(supervisor, failure, context);
	return WEIR_DIRECTIVE_RESTART;
}

static const struct weir_lifecycle lifecycle = {
	.pre_start = pre_start,
	.pre_restart = pre_restart,
	.post_restart = post_restart,
	.stopping = stopping,
};

/* --- Setting up ----------------------------------------------------------- */

/* Any thread that keeps the manager from being released. */
static WEIR__LOOKS void manager_look(const struct weir_actor *actor,
				     struct weir__look *look)
{
	const struct weir_process_manager *self = weir_container_of(
		actor, const struct weir_process_manager, actor);
	struct weir_process_counts counts;
	int64_t may = weir__demand_left(&self->may.granted, self->may.used);

	weir_process_manager_counts(self, &counts);
	look->pool(look, &(const struct weir_seen_pool){
				 .kind = WEIR_POOL_MANAGER,
				 .members_of = actor,
				 .max = ck_pr_load_32(&self->new_max),
				 .busy = counts.processing,
				 .queued = counts.queue + counts.waiting,
				 .requested = may > 0 ? (uint64_t)may : 0,
				 .refused = counts.overflowed,
			 });
}

/* True: commands that wait and are counted could keep it from asking. */
static bool wedges(const struct weir_process_manager_options *options,
		   size_t max)
{
	size_t batch = options->batch ? options->batch : 1;

	return options->count_buffer &&
	       options->buffer > max - (batch < max ? batch : max);
}

static struct weir_strategy strategy_of(
	const struct weir_process_manager_options *options)
{
	return (struct weir_strategy){
		.decide = options->restarts ? decide
					    : weir_strategy_decide_stop,
		.each = options->restarts,
		.backoff = options->restarts ? options->backoff : NULL,
	};
}

static int check(const struct weir_process_manager_options *options)
{
	const struct weir_strategy strategy = strategy_of(options);

	if (options->overflow != WEIR_OVERFLOW_BACK_PRESSURE &&
	    options->overflow != WEIR_OVERFLOW_DROP_NEW)
		return -EINVAL;
	if (!weir__reserved_zero(options->reserved) ||
	    !options->process == !options->run || options->max == 0 ||
	    options->max > WEIR_PROCESSES_MAX ||
	    options->buffer > WEIR_PROCESSES_MAX)
		return -EINVAL;
	if (options->process &&
	    (!options->process->turns ||
	     options->process_size < sizeof(struct weir_process) ||
	     options->process_size > SIZE_MAX / 2 / WEIR_PROCESSES_MAX))
		return -EINVAL;
	if (options->run && (options->timeout_ns || options->restarts))
		return -EINVAL;
	if (options->priorities > WEIR_PRIORITIES_MAX ||
	    (options->backoff && !options->restarts) ||
	    weir_strategy_check(&strategy) < 0)
		return -EINVAL;
	return wedges(options, options->max) ? -EINVAL : 0;
}

static void set_options(struct weir_process_manager *self)
{
	struct weir_process_manager_options *options = &self->options;

	self->in_flight = (struct weir_max_in_flight){
		.max = (int64_t)options->max,
		.batch = batch_of(self, options->max),
		.in_flight = in_flight,
		.context = self,
	};
	if (!options->demand) {
		options->demand = weir_demand_max_in_flight;
		options->demand_context = &self->in_flight;
	}
	if (!options->priorities)
		options->priorities = 1;
	self->max = self->new_max = (uint32_t)options->max;
	self->items = (struct weir_items){.drop = refuse, .context = self};
	self->ops = (struct weir_actor_ops){
		.name = options->name ? options->name : "manager",
		.turns = options->priorities > 1 ? comes : begins,
		.ended = manager_ended,
		.signalled = signalled,
		.stopped = manager_stopped,
		.released = manager_released,
		.lifecycle = &self->lifecycle,
		.look = manager_look,
	};
	self->lifecycle = lifecycle;
	self->lifecycle.strategy = &self->strategy;
	self->strategy = strategy_of(options);
}

static uint32_t n_runners(const struct weir_process_manager_options *options)
{
	size_t n = options->runners ? options->runners : weir__cpus_default();

	return (uint32_t)(n < options->max ? n : options->max);
}

static int set_ports(struct weir_process_manager *self,
		     struct weir_executor *executor)
{
	/*
	 * Room for every offer with credit: for commands that wait or were
	 * asked for; and for as many that a handler has taken, and a run behind
	 * it, which are not published yet and whose credit is others' already.
	 */
	uint64_t most = 3 *
			((uint64_t)self->options.max + self->options.buffer);
	int rc = weir_actor_init(&self->actor, &self->ops, executor);

	if (rc == 0)
		rc = weir_permits_init(&self->may, &self->actor, 0);
	if (rc == 0)
		rc = weir_in_init(&self->in, &self->actor,
				  weir__power_of_two(most), &self->items);
	/* then the turns only put commands in line */
	if (rc == 0 && self->options.priorities > 1)
		rc = weir_port_ignore(&self->may.port);
	if (rc == 0 && self->options.run)
		rc = weir__runners_init(self, n_runners(&self->options),
					weir__power_of_two(self->options.max));
	if (rc == 0 && self->options.process)
		rc = weir__processes_init(self);
	if (rc == 0 && self->options.results)
		rc = weir__results_init(self);
	if (rc == 0)
		rc = weir__ids_init(self);
	return rc;
}

int weir_process_manager_init(
	struct weir_process_manager *manager, struct weir_executor *executor,
	const struct weir_process_manager_options *options)
{
	struct weir_process_manager before;
	int rc;

	if (!manager || !executor || !executor->registry || !options)
		return -EINVAL;
	rc = check(options);
	if (rc < 0)
		return rc;
	if ((options->timeout_ns || options->backoff) &&
	    !executor->ops->timer_arm)
		return -ENOTSUP;
	before = *manager;
	memset(manager, 0, sizeof(*manager));
	manager->options = *options;
	set_options(manager);
	rc = set_ports(manager, executor);
	if (rc < 0) {
		/* `released` is called only if init has succeeded */
		manager->options.released = NULL;
		weir_actor_stop(&manager->actor);
		*manager = before;
		return rc;
	}
	permit(manager, (int64_t)options->buffer);
	manager_ask(manager);
	return 0;
}

/* It has started, and another publisher may come. Any thread. */
static bool comes_again(struct weir_process_manager *self)
{
	return self->options.stays && self->subscribes &&
	       !ck_pr_load_32(&self->closed) &&
	       weir__reactive_in_alone(&self->reactive);
}

struct weir_subscriber *weir_process_manager_subscriber(
	struct weir_process_manager *manager)
{
	struct weir_reactive_in_options options = {.demand = demand};

	if (!manager)
		return NULL;
	if (!weir__is_new(&manager->actor))
		return comes_again(manager) ? &manager->reactive.subscriber
					    : NULL;
	if (manager->subscribes)
		return &manager->reactive.subscriber;
	options.context = manager;
	if (accepted(manager))
		return NULL;
	manager->in.items = weir_command_items();
	if (weir_reactive_in_init(&manager->reactive, &manager->in, &options) <
	    0)
		return NULL;
	if (manager->options.stays)
		weir__reactive_in_stay(&manager->reactive);
	manager->subscribes = true;
	manager->in_flight.batch = batch_of(manager, manager->options.max);
	(void)weir_permits_set(&manager->may, (int64_t)manager->options.max);
	return &manager->reactive.subscriber;
}

/* --- For everybody -------------------------------------------------------- */

/* Takes one credit. False: there is none. */
static bool take_credit(struct weir_process_manager *self)
{
	uint64_t *credit = (uint64_t *)&self->credit;
	uint64_t old = ck_pr_load_64(credit);

	/* relaxed: a count; the in-port orders the commands */
	do {
		if ((int64_t)old <= 0)
			return false;
	} while (!ck_pr_cas_64_value(credit, old, old - 1, &old));
	return true;
}

/* There is no room for it. */
static int overflow(struct weir_process_manager *manager,
		    struct weir_command *command)
{
	if (manager->options.overflow != WEIR_OVERFLOW_DROP_NEW)
		return -ENOBUFS;
	/* the manager has never had it */
	ck_pr_inc_64(&manager->outcomes[WEIR_OUTCOME_REFUSED]);
	command->reply(command, WEIR_OUTCOME_REFUSED, weir_error_of(-ENOBUFS));
	return 0;
}

int weir_process_manager_offer(struct weir_process_manager *manager,
			       struct weir_command *command)
{
	int rc;

	if (!manager || !command || !command->reply ||
	    command->priority >= manager->options.priorities)
		return -EINVAL;
	if (manager->subscribes)
		return -EISCONN;
	if (ck_pr_load_32(&manager->closed))
		return -ESHUTDOWN;
	if (!take_credit(manager)) {
		/* relaxed: a figure for people */
		ck_pr_inc_64(&manager->overflowed);
		return overflow(manager, command);
	}
	weir__command_come(manager, command);
	if (weir__runners_keep(manager, command))
		return 0;
	rc = weir_in_put(&manager->in, command);
	if (rc == 0)
		return 0;
	assert(rc == -EPIPE);
	weir__ids_remove(manager, command);
	ck_pr_inc_64((uint64_t *)&manager->credit);
	return -ESHUTDOWN;
}

void weir_process_manager_end(struct weir_process_manager *manager)
{
	if (!manager)
		return;
	ck_pr_store_32(&manager->closed, 1);
	weir_actor_signal(&manager->actor);
}

int weir_process_manager_set_max(struct weir_process_manager *manager,
				 size_t max)
{
	if (!manager || max == 0 || max > manager->options.max ||
	    wedges(&manager->options, max))
		return -EINVAL;
	ck_pr_store_32(&manager->new_max, (uint32_t)max);
	weir_actor_signal(&manager->actor);
	return 0;
}

/* Commands that have come and are not taken. Any thread. */
static uint64_t received(const struct weir_process_manager *self)
{
	/* relaxed: figures for people; the smaller one is read first */
	uint32_t taken = weir__in_ever_taken(&self->in);

	ck_pr_fence_load();
	return weir__index_diff(weir__in_ever_put(&self->in), taken) +
	       ck_pr_load_64(&self->n_in_line);
}

void weir_process_manager_counts(const struct weir_process_manager *manager,
				 struct weir_process_counts *counts)
{
	uint64_t came, asked;
	int i;

	if (!manager || !counts)
		return;
	memset(counts, 0, sizeof(*counts));
	for (i = 0; i < WEIR_OUTCOME_COUNT; i++)
		counts->outcomes[i] = ck_pr_load_64(&manager->outcomes[i]);
	counts->started = ck_pr_load_64(&manager->n_started);
	weir__runners_count(manager, counts);
	counts->processing = ck_pr_load_32(&manager->n_processing);
	counts->peak = ck_pr_load_32(&manager->peak);
	counts->taken = ck_pr_load_64(&manager->n_taken);
	counts->overflowed = ck_pr_load_64(&manager->overflowed);
	came = received(manager);
	asked = ck_pr_load_64(&manager->n_permitted) - manager->options.buffer -
		counts->taken;
	if (manager->subscribes || came < asked)
		asked = came;
	counts->queue = asked;
	counts->waiting = came - asked;
	counts->accepted = manager->subscribes ? counts->taken + came
					       : accepted(manager);
}
