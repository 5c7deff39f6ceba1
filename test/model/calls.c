/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process manager whose processes are calls: batches of them, of which some
 * go on when they have returned and are ended by other threads, also before
 * that.
 */
#include "process_kit.h"

#include <errno.h>

#include <ck_pr.h>

#include "process/runner.h"

/* --- Calls ---------------------------------------------------------------- */

/* The last to begin has a place of the first ones, which have all ended: what
 * they did is done. */
static void follow(struct world *w, uint32_t i)
{
	uint32_t max = w->manager->options.max;

	if (i == 2 * max - 1)
		while (max-- > 0)
			w->courses[max].traces++;
}

static int run(struct weir_command *command, void *context)
{
	struct world *w = context;
	struct course *course = &w->courses[order_index(command)];

	explorer_assert(!course->called);
	course->called = true;
	follow(w, order_index(command));
	if (!course->later)
		return course->fails ? -EIO : 0;
	ck_pr_fence_release();
	ck_pr_store_ptr(&course->handed, command);
	return WEIR_RUN_LATER;
}

/* If it goes on. */
static void end(struct world *w, uint32_t i)
{
	struct weir_command *command =
		ck_pr_fas_ptr(&w->courses[i].handed, NULL);

	ck_pr_fence_acquire();
	if (!command)
		return;
	w->courses[i].traces++;
	weir_command_end(command, w->courses[i].fails ? -EIO : 0);
}

static void end_0(void *context)
{
	end(context, 0);
}

static void end_1(void *context)
{
	end(context, 1);
}

/* --- With so many places, seats in front and runners ---------------------- */

static struct world *manager(void *context, uint32_t max, uint32_t buffer,
			     uint32_t runners)
{
	struct world *w =
		orders_open(context, (struct weir_process_manager_options){
					     .run = run,
					     .max = max,
					     .buffer = buffer,
					     .runners = runners,
				     });

	w->courses[0].later = true;
	return w;
}

static void one_place(void *context)
{
	manager(context, 1, 0, 1);
}

static void two_runners(void *context)
{
	manager(context, 2, 0, 2)->courses[0].later = false;
}

/* One reference more, for who gives it back. */
static void one_place_lent(void *context)
{
	weir_actor_ref(&manager(context, 1, 0, 1)->manager->actor);
}

static void give_back(void *context)
{
	struct world *w = context;

	weir_actor_unref(&w->manager->actor);
}

static void two_runners_fail(void *context)
{
	two_runners(context);
	world.courses[0].fails = true;
	world.courses[1].fails = true;
}

static void one_goes_on(void *context)
{
	orders_offer(manager(context, 1, 0, 1), 0);
}

static void one_goes_on_alone(void *context)
{
	one_goes_on(context);
	orders_let_go(context);
}

static void one_goes_on_and_a_seat(void *context)
{
	orders_offer(manager(context, 1, 1, 1), 0);
}

static void one_goes_on_and_one_waits(void *context)
{
	one_goes_on_and_a_seat(context);
	orders_offer(context, 1);
}

static void two_go_on(void *context)
{
	struct world *w = manager(context, 2, 2, 1);
	uint32_t i;

	w->courses[1].later = true;
	w->courses[2].later = true;
	for (i = 0; i < ORDERS; i++)
		orders_offer(w, i);
}

static void two_go_on_and_fail(void *context)
{
	two_go_on(context);
	world.courses[0].fails = true;
	world.courses[1].fails = true;
}

static void two_go_on_alone(void *context)
{
	two_go_on(context);
	orders_let_go(context);
}

/* Both will be one run of turns of the runner; the first goes on. */
static void a_batch(void *context)
{
	struct world *w = manager(context, 2, 0, 1);

	weir_actor_suspend(&w->manager->actor);
	orders_offer(w, 0);
	orders_offer(w, 1);
}

static void a_batch_that_goes_on(void *context)
{
	a_batch(context);
	world.courses[1].later = true;
}

/* Command 1, which waits or waits for a runner, has the id that is
 * cancelled. */
static void a_batch_by_name(void *context)
{
	struct world *w = manager(context, 2, 0, 1);

	w->courses[0].later = false;
	w->orders[1]->command.id = "id";
	weir_actor_suspend(&w->manager->actor);
	orders_offer(w, 0);
	orders_offer(w, 1);
}

/* Command 1 waits for the runner, and has the id that is cancelled. */
static void one_waits_for_its_runner(void *context)
{
	struct world *w = manager(context, 1, 0, 1);

	w->orders[1]->command.id = "id";
	weir_actor_suspend(&w->manager->runners->runner[0].actor);
	orders_offer(w, 1);
}

static void resume_runner(void *context)
{
	struct world *w = context;

	weir_actor_resume(&w->manager->runners->runner[0].actor);
}

static void resume(void *context)
{
	struct world *w = context;

	weir_actor_resume(&w->manager->actor);
}

/* It is theirs alone: what lets the calls begin is the last to let go. */
static void a_batch_alone(void *context)
{
	a_batch(context);
	world.kept = false;
}

static void resume_and_let_go(void *context)
{
	resume(context);
	orders_let_go(context);
}

static void stop_runner(struct world *w, uint32_t i)
{
	weir_actor_stop(&w->manager->runners->runner[i].actor);
}

static void stop_runner_0(void *context)
{
	stop_runner(context, 0);
}

static void stop_runner_1(void *context)
{
	stop_runner(context, 1);
}

/* Without runners a manager ends. */
static void manager_has_ended(void *context)
{
	const struct world *w = context;

	explorer_assert(!weir_system_is_alive(w->family.system, w->ref));
	orders_are_over(context);
}

/* The runner that is left does not sleep; the other one's reference is gone. */
static void another_is_called(void *context)
{
	struct world *w = context;

	w->refs--;
	orders_offer(w, 1);
	explorer_assert(w->courses[0].called && w->courses[1].called);
	orders_are_over(context);
}

/* It was called, or it was cancelled. */
static void called_or_cancelled(void *context)
{
	const struct world *w = context;

	explorer_assert(w->courses[1].replies == 1);
	explorer_assert(w->courses[1].called == (w->cancelled != 0));
	orders_are_over(context);
}

static void all_called(void *context)
{
	const struct world *w = context;
	uint32_t i;

	for (i = 0; i < ORDERS; i++)
		explorer_assert(w->courses[i].called);
	orders_are_over(context);
}

/* The smallest, in which all fences are weakened. */
static const struct explorer_scenario scenarios[] = {
	ORDERED(.name = "a call ends before it has returned",
		.setup = one_place, .thread = {offer_0, end_0},
		.check = orders_are_over),
	ORDERED(.name = "a call ends and another comes", .setup = one_goes_on,
		.thread = {end_0, offer_1}, .check = orders_are_over),
	ORDERED(.name = "a call ends and is looked at",
		.setup = one_goes_on_and_one_waits, .thread = {end_0, look},
		.check = orders_are_over),
	ORDERED(.name = "two calls end", .setup = two_go_on,
		.thread = {end_0, end_1}, .check = all_called),
	ORDERED(.name = "two offers to two runners", .setup = two_runners,
		.thread = {offer_0, offer_1}, .check = both_were_taken),
	ORDERED(.name = "a call begins and a reference is given back",
		.setup = one_place_lent, .thread = {offer_0, give_back},
		.check = orders_are_over),
	ORDERED(.name = "two runners are stopped", .setup = two_runners,
		.thread = {stop_runner_0, stop_runner_1},
		.check = manager_has_ended),
	ORDERED(.name = "a runner rests as another is stopped",
		.setup = two_runners, .thread = {offer_0, stop_runner_1},
		.check = another_is_called),
	ORDERED(.name = "one of a batch ends early", .setup = a_batch,
		.thread = {resume, end_0}, .check = both_were_taken),
	ORDERED(.name = "a batch and a stop", .setup = a_batch,
		.thread = {resume, stop_manager}, .check = both_were_taken),
	ORDERED(.name = "one of a batch is cancelled", .setup = a_batch_by_name,
		.thread = {resume, cancel}, .check = called_or_cancelled),
	ORDERED(.name = "a call begins as it is cancelled",
		.setup = one_waits_for_its_runner,
		.thread = {resume_runner, cancel},
		.check = called_or_cancelled),
	ORDERED(.name = "a call and a stop", .setup = one_place,
		.thread = {offer_0, stop_manager}, .check = orders_are_over),
	ORDERED(.name = "a call ends and a stop comes",
		.setup = one_goes_on_alone, .thread = {end_0, stop_manager},
		.check = orders_are_over),
};

const struct scene_group calls = SCENE_GROUP(scenarios);

static const struct explorer_scenario more[] = {
	ORDERED(.name = "two calls fail", .setup = two_go_on_and_fail,
		.thread = {end_0, end_1}, .check = all_called),
	ORDERED(.name = "two calls fail of two runners",
		.setup = two_runners_fail, .thread = {offer_0, offer_1},
		.check = both_were_taken),
	ORDERED(.name = "a call ends, and two others come",
		.setup = one_goes_on_and_a_seat,
		.thread = {end_0, offer_1, offer_2}, .check = orders_are_over),
	ORDERED(.name = "both of a batch end early",
		.setup = a_batch_that_goes_on, .thread = {resume, end_0, end_1},
		.check = both_were_taken),
	ORDERED(.name = "a batch and a restart", .setup = a_batch,
		.thread = {resume, kill_manager}, .check = both_were_taken),
	ORDERED(.name = "a batch and an abort", .setup = a_batch,
		.thread = {resume, abort_executor}, .check = both_were_taken),
	ORDERED(.name = "a batch is the manager's last", .setup = a_batch_alone,
		.thread = {resume_and_let_go, end_0, stop_manager},
		.check = both_were_taken),
	ORDERED(.name = "two calls end and a stop comes",
		.setup = two_go_on_alone,
		.thread = {end_0, end_1, stop_manager},
		.check = orders_are_over),
};

const struct scene_group more_calls = SCENE_GROUP(more);
