/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are actors: children of the manager, which has memory for
 * `max` of them. The manager's slice starts a process; it ends in its own
 * slice.
 *
 * process->holders counts the parties that may touch the process: its actor,
 * its timer, and the manager while it starts the process. The last holder gives
 * the memory back.
 *
 * Rule numbers like A5.8 are those of docs/conformance/process_manager.md.
 */
#include "process/process.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/ending.h"
#include "actor/in.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "process/command.h"
#include "process/ids.h"
#include "process/process_state.h"
#include "process/results.h"
#include "supervision/child.h"

static struct weir_process *process_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_process, actor);
}

/* --- Memory --------------------------------------------------------------- */

static const struct weir_allocator *allocator(
	const struct weir_process_manager *manager)
{
	return manager->actor.executor->options.allocator;
}

static struct weir_process *place(struct weir_process_manager *manager,
				  uint32_t i)
{
	assert(i < manager->options.max);
	return (struct weir_process *)(void *)(manager->processes +
					       i * manager->stride);
}

/* Drops a holder; the last one gives the memory back, and the place unless a
 * result keeps it. Any thread. */
static void let_go(struct weir_process *process)
{
	struct weir_process_manager *manager = process->manager;
	struct weir_command *result;
	bool first;

	if (!weir__unref_strong(&process->holders, 1))
		return;
	result = process->is_result ? process->command : NULL;
	first = weir__mailbox_push(&manager->returned, &process->node);
	/* behind the memory, of which there is one for each place */
	if (result && !weir__results_put(manager, result))
		weir__places_back(manager, 1);
	/* else who came first signals behind our push */
	if (first)
		weir_actor_signal(&manager->actor);
	weir_actor_unref(&manager->actor);
}

/* --- A process ends ------------------------------------------------------- */

static enum weir_outcome outcome_of(const struct weir_process *process,
				    uint32_t state,
				    const struct weir_error *error)
{
	if (!error)
		return WEIR_OUTCOME_DONE;
	if (state & WEIR__PROCESS_LATE)
		return WEIR_OUTCOME_TIMED_OUT;
	if (weir__child_killed(&process->actor))
		return WEIR_OUTCOME_KILLED;
	return error->code == -ECANCELED ? WEIR_OUTCOME_STOPPED
					 : WEIR_OUTCOME_CRASHED;
}

static void process_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct weir_process *process = process_of(actor);
	struct weir_process_manager *manager = process->manager;
	struct weir_command *command = process->command;
	enum weir_outcome outcome;
	uint32_t state;

	if (manager->options.process->stopped)
		manager->options.process->stopped(actor, error);
	/* the process has not ended by itself, so it is not done */
	if (!error && (process->cut || weir__child_drained(actor)))
		error = weir_error_of(-ECANCELED);
	state = weir__process_set(process, WEIR__PROCESS_ENDED);
	if (process->timed &&
	    weir_timer_cancel(manager->actor.executor, &process->timer))
		let_go(process);
	if (!process->replies)
		return;
	outcome = outcome_of(process, state, error);
	/* with the reply its id is free */
	if (command->id)
		weir__child_free_name(actor);
	if (!manager->results) {
		weir__command_reply(manager, command, outcome, error);
		return;
	}
	process->is_result = true;
	ck_pr_inc_64(&manager->outcomes[outcome]);
	weir__results_note(manager, command, outcome, error);
}

/*
 * As without a handler: the process ends. If the stream has ended because the
 * executor drains, which ends streams that weir_in_put() feeds, the process is
 * not done.
 */
static int process_ended(struct weir_actor *actor, struct weir_in *in,
			 struct weir_error *error)
{
	struct weir_process *process = process_of(actor);

	if (!weir__in_producer(in) && !weir__in_merges(in) &&
	    weir__child_drains(actor))
		process->cut = true;
	weir__actor_end(actor, weir_error_ref(error), false);
	return 0;
}

static void process_released(struct weir_actor *actor)
{
	struct weir_process *process = process_of(actor);

	if (process->manager->options.process->released)
		process->manager->options.process->released(actor);
	let_go(process);
}

static void stop(struct weir_process *process)
{
	(void)weir_system_stop_actor(process->manager->system, process->self);
}

/* Its time is up. */
static void deadline_fire(struct weir_timer *timer)
{
	struct weir_process *process =
		weir_container_of(timer, struct weir_process, timer);

	if ((weir__process_set(process, WEIR__PROCESS_LATE) &
	     (WEIR__PROCESS_SPAWNED | WEIR__PROCESS_ENDED)) ==
	    WEIR__PROCESS_SPAWNED)
		stop(process);
	let_go(process);
}

/* Puts the process into the list of free ones; the caller changes n_busy. */
static void put_back(struct weir_process_manager *manager,
		     struct weir_process *process)
{
	/* no thread touches the process any more */
	assert(process->manager == manager);
	process->node.next = manager->free;
	manager->free = &process->node;
}

uint32_t weir__processes_returned(struct weir_process_manager *manager)
{
	struct weir__node *node = weir__mailbox_take(&manager->returned), *next;
	uint32_t n = 0;

	struct weir_process *process;

	for (; node; node = next) {
		next = node->next;
		process = weir_container_of(node, struct weir_process, node);
		n += !process->is_result;
		put_back(manager, process);
	}
	return n;
}

/* --- A process starts ----------------------------------------------------- */

static struct weir_process *take_place(struct weir_process_manager *manager,
				       struct weir_command *command)
{
	struct weir_process *process =
		weir_container_of(manager->free, struct weir_process, node);

	assert(manager->free && manager->n_busy < manager->options.max);
	manager->free = manager->free->next;
	manager->n_busy++;
	memset(process, 0, manager->options.process_size);
	process->manager = manager;
	process->command = command;
	return process;
}

/* A5.8: no other actor has seen the process. */
static void give_place_back(struct weir_process *process)
{
	struct weir_process_manager *manager = process->manager;

	put_back(manager, process);
	assert(manager->n_busy > 0);
	manager->n_busy--;
}

static int spawn(struct weir_process_manager *manager,
		 struct weir_process *process)
{
	const struct weir_spawn_options options = {
		.name = process->command->id,
		.restart = manager->options.restarts ? WEIR_RESTART_TRANSIENT
						     : WEIR_RESTART_TEMPORARY,
		.shutdown_ns = manager->options.shutdown_ns,
	};
	int rc;

	process->replies = true;
	rc = weir_system_spawn(manager->system, manager->self, &process->actor,
			       &options, &process->self);
	if (rc < 0)
		process->replies = false;
	else if (weir__process_set(process, WEIR__PROCESS_SPAWNED) &
		 (WEIR__PROCESS_LATE | WEIR__PROCESS_CANCELLED))
		stop(process);
	return rc;
}

/* Before the process is spawned: it may be gone soon after. */
static int set_deadline(struct weir_process *process)
{
	struct weir_process_manager *manager = process->manager;
	struct weir_executor *executor = manager->actor.executor;
	uint64_t timeout_ns = process->command->timeout_ns, now;
	int rc;

	if (!timeout_ns)
		timeout_ns = manager->options.timeout_ns;
	if (!timeout_ns)
		return 0;
	now = weir_executor_now(executor);
	process->timer.fire = deadline_fire;
	process->timed = true;
	process->holders++;
	rc = weir_timer_arm(executor, &process->timer,
			    timeout_ns < UINT64_MAX - now ? now + timeout_ns
							  : UINT64_MAX);
	if (rc < 0) {
		process->timed = false;
		process->holders--;
	}
	return rc;
}

static int start(struct weir_process *process)
{
	struct weir_process_manager *manager = process->manager;
	int rc = 0;

	process->holders = 2;
	(void)weir_actor_ref(&manager->actor);
	(void)weir_actor_init(&process->actor, &manager->process_ops,
			      manager->actor.executor);
	if (manager->options.set_up)
		rc = manager->options.set_up(process, manager->options.context);
	if (rc >= 0)
		rc = set_deadline(process);
	if (rc >= 0)
		rc = spawn(manager, process);
	if (rc >= 0) {
		/* written by the owner; other threads read it */
		ck_pr_store_64(&manager->n_started, manager->n_started + 1);
		let_go(process);
		return 0;
	}
	weir_actor_stop(&process->actor);
	if (weir__unref_strong(&process->holders, 1)) {
		give_place_back(process);
		weir_actor_unref(&manager->actor);
	}
	return rc;
}

void weir__process_start(struct weir_process_manager *manager,
			 struct weir_command *command)
{
	struct weir_process *process = take_place(manager, command);
	int rc = weir__ids_begin(manager, command, process);

	if (rc < 0)
		give_place_back(process);
	else
		rc = start(process);
	if (rc < 0)
		weir__command_reply(manager, command, WEIR_OUTCOME_REFUSED,
				    weir_error_of(rc));
}

void weir__processes_stop(struct weir_process_manager *manager)
{
	struct weir_actor_id id;
	size_t i;

	for (i = 0; i < manager->options.max; i++) {
		id = weir__process_id(place(manager, (uint32_t)i));
		if (!weir_actor_id_equal(id, WEIR_ACTOR_ID_NONE))
			(void)weir_system_stop_actor(manager->system, id);
	}
}

/* --- Memory --------------------------------------------------------------- */

int weir__processes_init(struct weir_process_manager *manager)
{
	const size_t align = _Alignof(max_align_t);
	size_t max = manager->options.max, i;

	manager->stride = (manager->options.process_size + align - 1) / align *
			  align;
	manager->processes =
		weir__alloc(allocator(manager), max * manager->stride);
	if (!manager->processes)
		return -ENOMEM;
	for (i = max; i-- > 0;) {
		place(manager, i)->node.next = manager->free;
		manager->free = &place(manager, i)->node;
	}
	manager->process_ops = *manager->options.process;
	manager->process_ops.stopped = process_stopped;
	if (!manager->process_ops.ended)
		manager->process_ops.ended = process_ended;
	manager->process_ops.released = process_released;
	return 0;
}

void weir__processes_fini(struct weir_process_manager *manager)
{
	weir__free(allocator(manager), manager->processes,
		   manager->options.max * manager->stride);
	manager->processes = NULL;
}
