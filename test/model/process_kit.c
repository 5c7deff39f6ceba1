/* SPDX-License-Identifier: BSD-2-Clause */
/* The manager, the commands and the checks of process_kit.h. */
#include "process_kit.h"

#include <errno.h>

#include <ck_pr.h>

#include "actor/check.h"
#include "actor/gate.h"
#include "process/runner.h"

struct world world;

/* --- Commands ------------------------------------------------------------- */

uint32_t order_index(const struct weir_command *command)
{
	return weir_container_of((struct weir_command *)command, struct order,
				 command)
		->i;
}

void orders_offer(struct world *w, uint32_t i)
{
	int rc = weir_process_manager_offer(w->manager, &w->orders[i]->command);

	w->courses[i].rc = rc;
	if (explorer_thread() == EXPLORER_THREADS)
		w->taken += rc == 0;
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	uint32_t i = order_index(command);
	struct course *course = &world.courses[i];

	explorer_assert(course->replies == 0);
	explorer_assert(!error == (outcome == WEIR_OUTCOME_DONE));
	course->replies++;
	course->outcome = outcome;
	explorer_free(world.orders[i]);
	if (course->next)
		orders_offer(&world, course->next);
}

void offer_0(void *context)
{
	orders_offer(context, 0);
}

void offer_1(void *context)
{
	orders_offer(context, 1);
}

void offer_2(void *context)
{
	orders_offer(context, 2);
}

void offer_0_and_let_go(void *context)
{
	struct world *w = context;

	orders_offer(w, 0);
	weir_actor_unref(&w->manager->actor);
}

/* --- The manager ---------------------------------------------------------- */

static void released(void *context)
{
	struct world *w = context;

	w->released++;
	explorer_free(w->manager);
}

struct world *orders_open(void *context,
			  struct weir_process_manager_options options)
{
	struct world *w = context;
	uint32_t i;

	family_open(&w->family, NULL);
	w->cancelled = 1;
	for (i = 0; i < ORDERS; i++) {
		w->orders[i] = explorer_alloc(sizeof(*w->orders[i]));
		w->orders[i]->command.reply = reply;
		w->orders[i]->i = i;
		w->courses[i].rc = 1;
	}
	options.context = w;
	options.released = released;
	options.batch = 1;
	w->manager = explorer_alloc(sizeof(*w->manager));
	explorer_name(w->manager, sizeof(*w->manager), "manager");
	explorer_assert(weir_process_manager_init(w->manager,
						  &w->family.scene.executor,
						  &options) == 0);
	explorer_assert(weir_system_spawn(w->family.system, WEIR_ACTOR_ID_NONE,
					  &w->manager->actor, NULL,
					  &w->ref) == 0);
	w->kept = true;
	weir_actor_ref(&w->manager->actor);
	w->refs = w->manager->actor.refs;
	return w;
}

void orders_let_go(struct world *w)
{
	w->kept = false;
	weir_actor_unref(&w->manager->actor);
}

void close_manager(void *context)
{
	struct world *w = context;

	weir_process_manager_end(w->manager);
}

void stop_manager(void *context)
{
	const struct world *w = context;
	int rc = weir_system_stop_actor(w->family.system, w->ref);

	explorer_assert(rc == 0 || rc == -ESRCH);
}

void kill_manager(void *context)
{
	const struct world *w = context;
	int rc = weir_system_kill(w->family.system, w->ref);

	explorer_assert(rc == 0 || rc == -ESRCH || rc == -EALREADY);
}

void stop_actor(void *context)
{
	struct world *w = context;

	weir_actor_stop(&w->manager->actor);
}

void abort_executor(void *context)
{
	scene_abort(context);
}

void cancel(void *context)
{
	struct world *w = context;

	w->cancelled = weir_process_manager_cancel(w->manager, "id");
	explorer_assert(w->cancelled == 0 || w->cancelled == -ESRCH ||
			w->cancelled == -EBUSY);
}

void limit_to_1(void *context)
{
	struct world *w = context;

	explorer_assert(weir_process_manager_set_max(w->manager, 1) == 0);
}

void limit_to_2(void *context)
{
	struct world *w = context;

	explorer_assert(weir_process_manager_set_max(w->manager, 2) == 0);
}

void look(void *context)
{
	const struct world *w = context;
	struct weir_process_counts counts;

	weir_process_manager_counts(w->manager, &counts);
	explorer_assert(counts.accepted >= w->taken);
	explorer_assert(counts.accepted <= ORDERS);
	explorer_assert(counts.waiting <= ORDERS);
	explorer_assert(counts.queue <= ORDERS);
	explorer_assert(counts.processing <= w->manager->options.max);
}

/* --- Checks --------------------------------------------------------------- */

/* True: something went on until now. */
static bool end(struct world *w, struct course *course)
{
	struct weir_command *command;

	if (course->replies)
		return false;
	if (course->process) {
		course->fails = false;
		weir_actor_signal(&course->process->actor);
		return true;
	}
	command = ck_pr_load_ptr(&course->handed);
	if (!command)
		return false;
	ck_pr_store_ptr(&course->handed, NULL);
	weir_command_end(command, 0);
	return true;
}

/* Also those that start in the place of others. */
static void end_all(struct world *w)
{
	uint32_t i = 0;

	while (i < ORDERS)
		i = end(w, &w->courses[i]) ? 0 : i + 1;
}

static uint32_t n_with(const struct world *w, enum weir_outcome outcome)
{
	uint32_t i, n = 0;

	for (i = 0; i < ORDERS; i++)
		n += w->courses[i].replies && w->courses[i].outcome == outcome;
	return n;
}

/* A process that is not spawned is refused. */
static bool has_begun(const struct course *course)
{
	return course->called ||
	       (course->process &&
		!(course->replies && course->outcome == WEIR_OUTCOME_REFUSED));
}

static void figures_are_exact(const struct world *w,
			      const struct weir_process_counts *counts)
{
	uint32_t i, taken = 0, full = 0, started = 0;

	for (i = 0; i < ORDERS; i++) {
		taken += w->courses[i].rc == 0;
		full += w->courses[i].rc == -ENOBUFS;
		started += has_begun(&w->courses[i]);
	}
	explorer_assert(counts->accepted == taken);
	explorer_assert(counts->overflowed == full);
	explorer_assert(counts->started == started);
	explorer_assert(counts->peak <= w->manager->options.max);
	for (i = 0; i < WEIR_OUTCOME_COUNT; i++)
		explorer_assert(counts->outcomes[i] == n_with(w, i));
}

/* References of the manager that its runners hold for calls to come. */
static uint32_t in_stock(const struct weir_process_manager *manager)
{
	const struct weir__runners *all = manager->runners;
	uint32_t i, n = 0;

	for (i = 0; all && i < all->n; i++)
		n += all->runner[i].refs;
	return n;
}

/* It has all of its places, and takes as many offers as there can be. */
static void is_ready(const struct world *w,
		     const struct weir_process_counts *counts)
{
	const struct weir_process_manager *manager = w->manager;
	uint32_t max = manager->max;

	explorer_assert(counts->queue == 0 && counts->waiting == 0);
	explorer_assert(counts->processing == 0 && manager->n_busy == 0);
	explorer_assert(!manager->returned.newest && manager->n_returned == 0);
	explorer_assert(weir_permits_count(&manager->may) == max);
	explorer_assert(manager->credit ==
			(int64_t)(max + manager->options.buffer));
	explorer_assert(manager->actor.refs == w->refs + in_stock(manager));
	explorer_assert(
		weir__actor_check((struct weir_actor *)&manager->actor));
}

static void are_replied_to(const struct world *w)
{
	uint32_t i;

	for (i = 0; i < ORDERS; i++)
		explorer_assert(w->courses[i].replies ==
				(w->courses[i].rc == 0));
}

static void manager_is_over(struct world *w)
{
	struct weir_process_counts counts;

	weir_process_manager_counts(w->manager, &counts);
	figures_are_exact(w, &counts);
	are_replied_to(w);
	if (weir_system_is_alive(w->family.system, w->ref))
		is_ready(w, &counts);
	weir_process_manager_end(w->manager);
	explorer_assert(w->released == 0);
	weir_actor_unref(&w->manager->actor);
}

void orders_are_over(void *context)
{
	struct world *w = context;
	uint32_t i;

	end_all(w);
	if (w->kept)
		manager_is_over(w);
	are_replied_to(w);
	for (i = 0; i < ORDERS; i++)
		if (w->courses[i].rc != 0)
			explorer_free(w->orders[i]);
	explorer_assert(!weir_system_is_alive(w->family.system, w->ref));
	explorer_assert(w->released == 1);
	family_is_over(&w->family);
}

void one_was_taken(void *context)
{
	const struct world *w = context;

	explorer_assert((w->courses[0].rc == 0) + (w->courses[1].rc == 0) == 1);
	orders_are_over(context);
}

void both_were_taken(void *context)
{
	const struct world *w = context;

	explorer_assert(w->courses[0].rc == 0 && w->courses[1].rc == 0);
	orders_are_over(context);
}
