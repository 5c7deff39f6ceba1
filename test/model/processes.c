/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process manager whose processes are actors: commands that come, places
 * that are given back and ends of all kinds, of several threads at once. Then
 * the weakening of its code, over these and those of calls.c.
 *
 * A process waits until it is told to end.
 */
#include <errno.h>

#include "process_kit.h"

/* --- Processes ------------------------------------------------------------ */

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static int told(struct weir_actor *actor)
{
	const struct weir_process *process =
		weir_container_of(actor, struct weir_process, actor);

	if (world.courses[order_index(process->command)].fails)
		return -EIO;
	return weir_actor_end(actor);
}

static const struct weir_actor_ops process_ops = {
	.name = "process",
	.turns = no_turns,
	.signalled = told,
};

static int set_up(struct weir_process *process, void *context)
{
	struct world *w = context;
	struct course *course = &w->courses[order_index(process->command)];

	explorer_assert(!course->process);
	course->process = process;
	if (course->vain)
		w->family.scene.refused = &process->actor.task;
	return 0;
}

/* Whoever tells it holds a reference, and lets go of it. */
static void tell(struct world *w, uint32_t i)
{
	struct weir_actor *actor = &w->courses[i].process->actor;

	weir_actor_signal(actor);
	weir_actor_unref(actor);
}

static void tell_0(void *context)
{
	tell(context, 0);
}

static void tell_1(void *context)
{
	tell(context, 1);
}

static void stop_0(void *context)
{
	const struct world *w = context;
	int rc = weir_system_stop_actor(w->family.system, w->courses[0].ref);

	explorer_assert(rc == 0 || rc == -ESRCH);
}

static void kill_0(void *context)
{
	const struct world *w = context;
	int rc = weir_system_kill(w->family.system, w->courses[0].ref);

	explorer_assert(rc == 0 || rc == -ESRCH || rc == -EALREADY);
}

/* The time of the first that was started is up. */
static void pass_time(void *context)
{
	scene_pass_time(context, 1);
}

static void offer_two(void *context)
{
	struct world *w = context;

	orders_offer(w, 0);
	w->family.scene.refused = NULL;
	orders_offer(w, 1);
}

static void offer_3(void *context)
{
	orders_offer(context, 3);
}

/* --- With so many places, seats in front, and commands taken -------------- */

static struct world *manager(void *context, uint32_t max, uint32_t buffer,
			     uint64_t timeout_ns)
{
	return orders_open(context,
			   (struct weir_process_manager_options){
				   .process = &process_ops,
				   .process_size = sizeof(struct weir_process),
				   .set_up = set_up,
				   .max = max,
				   .buffer = buffer,
				   .timeout_ns = timeout_ns,
			   });
}

static void take(struct world *w, uint32_t i)
{
	struct course *course = &w->courses[i];

	orders_offer(w, i);
	explorer_assert(course->rc == 0);
	if (course->process)
		course->ref = course->process->self;
}

/* To who will tell it. */
static void take_and_lend(struct world *w, uint32_t i)
{
	take(w, i);
	weir_actor_ref(&w->courses[i].process->actor);
}

static void one_place(void *context)
{
	manager(context, 1, 0, 0);
}

/* Which the first command does not get. */
static void one_place_in_vain(void *context)
{
	manager(context, 1, 1, 1)->courses[0].vain = true;
	explorer_ignore(&world.family.scene.refused,
			sizeof(struct weir_task *));
}

static void one_place_in_time(void *context)
{
	manager(context, 1, 0, 1);
}

static void two_places(void *context)
{
	manager(context, 2, 0, 0);
}

/* It is lent to who offers. */
static void one_place_lent(void *context)
{
	one_place(context);
	world.kept = false;
}

static void one_runs(void *context)
{
	take_and_lend(manager(context, 1, 0, 0), 0);
}

static void one_runs_untold(void *context)
{
	take(manager(context, 1, 0, 0), 0);
}

static void one_runs_alone(void *context)
{
	one_runs(context);
	orders_let_go(context);
}

static void one_runs_and_a_seat(void *context)
{
	take_and_lend(manager(context, 1, 1, 0), 0);
}

static void one_runs_in_time(void *context)
{
	take_and_lend(manager(context, 1, 1, 1), 0);
}

static void one_runs_in_time_and_one_waits(void *context)
{
	one_runs_in_time(context);
	take(context, 1);
}

static void one_runs_untold_in_time(void *context)
{
	take(manager(context, 1, 1, 1), 0);
}

static void one_runs_and_one_waits(void *context)
{
	one_runs_and_a_seat(context);
	take(context, 1);
}

/* With seats left; when the one that waits is refused another is offered. */
static void one_waits_before_another(void *context)
{
	struct world *w = manager(context, 1, 3, 0);

	take(w, 0);
	take(w, 1);
	w->courses[1].next = 2;
}

static void two_run(void *context)
{
	take_and_lend(manager(context, 2, 2, 0), 0);
	take_and_lend(context, 1);
}

static void two_run_alone(void *context)
{
	two_run(context);
	orders_let_go(context);
}

static void two_run_and_two_wait(void *context)
{
	two_run(context);
	take(context, 2);
	take(context, 3);
}

static void two_crash(void *context)
{
	two_run(context);
	world.courses[0].fails = true;
	world.courses[1].fails = true;
}

/* Command 1 has the id of the one that runs. */
static void one_runs_by_name(void *context)
{
	struct world *w = manager(context, 2, 0, 0);

	w->orders[0]->command.id = "id";
	w->orders[1]->command.id = "id";
	take_and_lend(w, 0);
}

/* Command 1 has the id that is cancelled, and waits. */
static void one_waits_untold(void *context)
{
	struct world *w = manager(context, 1, 2, 0);

	w->orders[1]->command.id = "id";
	take(w, 0);
	take(w, 1);
}

static void one_waits_by_name(void *context)
{
	struct world *w = context;

	one_waits_untold(w);
	weir_actor_ref(&w->courses[0].process->actor);
}

/* Command 0 has it, and runs; command 1 waits. */
static void one_runs_to_be_cancelled(void *context)
{
	struct world *w = manager(context, 1, 2, 0);

	w->orders[0]->command.id = "id";
	take_and_lend(w, 0);
	take(w, 1);
}

static void one_place_and_an_id(void *context)
{
	manager(context, 1, 1, 0)->orders[0]->command.id = "id";
}

static void one_of_two_runs(void *context)
{
	struct world *w = manager(context, 2, 2, 0);

	take_and_lend(w, 0);
	limit_to_1(w);
	take(w, 1);
}

static void cancel_as_well(void *context)
{
	const struct world *w = context;
	int rc = weir_process_manager_cancel(w->manager, "id");

	explorer_assert(rc == 0 || rc == -ESRCH);
}

/* Who is found has not ended, or has by now. */
static void find_0(void *context)
{
	const struct world *w = context;
	struct weir_actor_id id = weir_process_manager_find(w->manager, "id");
	struct weir_actor_id ref = w->courses[0].ref;

	explorer_assert(weir_actor_id_equal(id, WEIR_ACTOR_ID_NONE) ||
			weir_actor_id_equal(id, ref));
}

/* It is asked for once it is known. */
static void find_any(void *context)
{
	const struct world *w = context;
	struct weir_actor_id id = weir_process_manager_find(w->manager, "id");

	explorer_assert(weir_actor_id_equal(id, WEIR_ACTOR_ID_NONE) ||
			weir_system_is_alive(w->family.system, id));
}

/* --- Checks --------------------------------------------------------------- */

static void ended_with(const struct world *w, uint32_t i,
		       enum weir_outcome first, enum weir_outcome second)
{
	const struct course *course = &w->courses[i];

	explorer_assert(course->replies == 1);
	explorer_assert(course->outcome == first || course->outcome == second);
}

static void done_or_stopped(void *context)
{
	ended_with(context, 0, WEIR_OUTCOME_DONE, WEIR_OUTCOME_STOPPED);
	orders_are_over(context);
}

static void done_or_killed(void *context)
{
	ended_with(context, 0, WEIR_OUTCOME_DONE, WEIR_OUTCOME_KILLED);
	orders_are_over(context);
}

static void done_or_late(void *context)
{
	ended_with(context, 0, WEIR_OUTCOME_DONE, WEIR_OUTCOME_TIMED_OUT);
	orders_are_over(context);
}

static void stopped_or_late(void *context)
{
	ended_with(context, 0, WEIR_OUTCOME_STOPPED, WEIR_OUTCOME_TIMED_OUT);
	orders_are_over(context);
}

/* It was cancelled while it waited or ran, or it had begun to end. */
static void cancelled_is_stopped(void *context)
{
	const struct world *w = context;

	if (w->cancelled == 0)
		ended_with(w, 0, WEIR_OUTCOME_DONE, WEIR_OUTCOME_STOPPED);
	else
		ended_with(w, 0, WEIR_OUTCOME_DONE, WEIR_OUTCOME_DONE);
	orders_are_over(context);
}

/* If it waited it is refused by now; it has been replied to, or runs. */
static void cancelled_is_answered(void *context)
{
	const struct world *w = context;
	const struct course *course = &w->courses[1];

	if (w->cancelled == 0 && !course->process)
		ended_with(w, 1, WEIR_OUTCOME_REFUSED, WEIR_OUTCOME_REFUSED);
	if (w->cancelled == 0 && course->process)
		ended_with(w, 1, WEIR_OUTCOME_STOPPED, WEIR_OUTCOME_REFUSED);
	orders_are_over(context);
}

/* Offered it was cancelled, or else not known yet. */
static void offered_or_cancelled(void *context)
{
	const struct world *w = context;

	if (w->cancelled == 0)
		ended_with(w, 0, WEIR_OUTCOME_STOPPED, WEIR_OUTCOME_REFUSED);
	else
		explorer_assert(w->courses[0].process);
	orders_are_over(context);
}

/* Both run in the end, if the limit lets them. */
static void as_many_run_as_may(void *context)
{
	const struct world *w = context;

	explorer_assert(!w->courses[1].process ==
			(w->manager->max == 1 && !w->courses[0].replies));
	orders_are_over(context);
}

/* The timer has fired, or it is still to fire. */
static void stopped_if_late(void *context)
{
	const struct world *w = context;

	explorer_assert(w->courses[0].replies || w->family.scene.armed > 0);
	orders_are_over(context);
}

/* It had the place of the first, once that was free. */
static void second_runs(void *context)
{
	const struct world *w = context;

	explorer_assert(w->courses[1].rc == 0 && w->courses[1].process);
	explorer_assert(w->courses[1].replies == 0);
	orders_are_over(context);
}

/*
 * The first was refused; so the timer is the other's, if it is still to fire.
 */
static void second_runs_if_in_time(void *context)
{
	const struct world *w = context;

	ended_with(w, 0, WEIR_OUTCOME_REFUSED, WEIR_OUTCOME_REFUSED);
	explorer_assert(!w->courses[1].replies == (w->family.scene.armed > 0));
	orders_are_over(context);
}

static void others_run(void *context)
{
	const struct world *w = context;

	explorer_assert(w->courses[2].process && w->courses[3].process);
	explorer_assert(w->courses[2].process != w->courses[3].process);
	ended_with(w, 0, WEIR_OUTCOME_DONE, WEIR_OUTCOME_STOPPED);
	ended_with(w, 1, WEIR_OUTCOME_DONE, WEIR_OUTCOME_DONE);
	orders_are_over(context);
}

static void both_crashed(void *context)
{
	ended_with(context, 0, WEIR_OUTCOME_CRASHED, WEIR_OUTCOME_CRASHED);
	ended_with(context, 1, WEIR_OUTCOME_CRASHED, WEIR_OUTCOME_CRASHED);
	orders_are_over(context);
}

/* The smallest, in which all fences are weakened. */
static const struct explorer_scenario scenarios[] = {
	ORDERED(.name = "two offers for one place", .setup = one_place,
		.thread = {offer_0, offer_1}, .check = one_was_taken),
	ORDERED(.name = "two offers for two places", .setup = two_places,
		.thread = {offer_0, offer_1}, .check = both_were_taken),
	ORDERED(.name = "two offers overflow", .setup = one_runs_untold,
		.thread = {offer_1, offer_2}, .check = orders_are_over),
	ORDERED(.name = "an offer and its figures", .setup = two_places,
		.thread = {offer_0, look}, .check = orders_are_over),
	ORDERED(.name = "a place is given back and offered for",
		.setup = one_runs, .thread = {tell_0, offer_1},
		.check = orders_are_over),
	ORDERED(.name = "a place is given back and looked at",
		.setup = one_runs_and_one_waits, .thread = {tell_0, look},
		.check = second_runs),
	ORDERED(.name = "an offer and a close", .setup = one_place,
		.thread = {offer_0, close_manager}, .check = orders_are_over),
	ORDERED(.name = "an offer and a stop", .setup = one_place,
		.thread = {offer_0, stop_manager}, .check = orders_are_over),
	ORDERED(.name = "an offer and a stop as an actor", .setup = one_place,
		.thread = {offer_0, stop_actor}, .check = orders_are_over),
	ORDERED(.name = "two offers come as it stops",
		.setup = one_waits_before_another,
		.thread = {stop_actor, offer_3}, .check = orders_are_over),
	ORDERED(.name = "a process ends and its time is up",
		.setup = one_runs_in_time_and_one_waits,
		.thread = {tell_0, pass_time}, .check = done_or_late),
	ORDERED(.name = "two places are given back", .setup = two_run,
		.thread = {tell_0, tell_1}, .check = both_were_taken),
	ORDERED(.name = "a process is stopped and its time is up",
		.setup = one_runs_untold_in_time, .thread = {stop_0, pass_time},
		.check = stopped_or_late),
	ORDERED(.name = "a process starts and its time is up",
		.setup = one_place_in_time, .thread = {offer_0, pass_time},
		.check = stopped_if_late),
	ORDERED(.name = "a process ends and its command is cancelled",
		.setup = one_runs_to_be_cancelled, .thread = {tell_0, cancel},
		.check = cancelled_is_stopped),
	ORDERED(.name = "a command starts and is cancelled",
		.setup = one_waits_by_name, .thread = {tell_0, cancel},
		.check = cancelled_is_answered),
	ORDERED(.name = "a command is offered and cancelled",
		.setup = one_place_and_an_id, .thread = {offer_0, cancel},
		.check = offered_or_cancelled),
	ORDERED(.name = "a process ends and is looked for",
		.setup = one_runs_to_be_cancelled, .thread = {tell_0, find_0},
		.check = second_runs),
	ORDERED(.name = "a process starts and is looked for",
		.setup = one_place_and_an_id, .thread = {offer_0, find_any},
		.check = orders_are_over),
	ORDERED(.name = "a place is given back and may not be taken",
		.setup = one_of_two_runs, .thread = {tell_0, limit_to_2},
		.check = as_many_run_as_may),
	ORDERED(.name = "an offer and a lower limit", .setup = two_places,
		.thread = {offer_0, limit_to_1}, .check = orders_are_over),
	ORDERED(.name = "a process cannot start and its time is up",
		.setup = one_place_in_vain, .thread = {offer_two, pass_time},
		.check = second_runs_if_in_time),
};

const struct scene_group processes = SCENE_GROUP(scenarios);

static const struct explorer_scenario more[] = {
	ORDERED(.name = "a command starts, is cancelled, and another comes",
		.setup = one_waits_by_name, .thread = {tell_0, cancel, offer_2},
		.check = cancelled_is_answered),
	ORDERED(.name = "a command is cancelled twice",
		.setup = one_waits_untold, .thread = {cancel, cancel_as_well},
		.check = orders_are_over),
	ORDERED(.name = "a command is cancelled as the manager stops",
		.setup = one_waits_untold, .thread = {cancel, stop_actor},
		.check = orders_are_over),
	ORDERED(.name = "a command is offered and cancelled as it stops",
		.setup = one_place_and_an_id,
		.thread = {offer_0, cancel, stop_actor},
		.check = orders_are_over),
	ORDERED(.name = "two offers and a lower limit", .setup = two_places,
		.thread = {offer_0, offer_1, limit_to_1},
		.check = orders_are_over),
	ORDERED(.name = "the last reference is an offer's",
		.setup = one_place_lent,
		.thread = {offer_0_and_let_go, stop_manager},
		.check = orders_are_over),
	ORDERED(.name = "a process ends and is the manager's last",
		.setup = one_runs_alone, .thread = {tell_0, stop_manager},
		.check = orders_are_over),
	ORDERED(.name = "a process ends and the manager stops",
		.setup = one_runs_and_one_waits,
		.thread = {tell_0, stop_manager}, .check = orders_are_over),
	ORDERED(.name = "a place is given back and two offers come",
		.setup = one_runs_and_a_seat,
		.thread = {tell_0, offer_1, offer_2}, .check = orders_are_over),
	ORDERED(.name = "an offer and a restart", .setup = one_place,
		.thread = {offer_0, kill_manager}, .check = orders_are_over),
	ORDERED(.name = "an offer and an abort", .setup = one_place,
		.thread = {offer_0, abort_executor}, .check = orders_are_over),
	ORDERED(.name = "two offers and a stop", .setup = two_places,
		.thread = {offer_0, offer_1, stop_actor},
		.check = orders_are_over),
	ORDERED(.name = "a process ends and is stopped",
		.setup = one_runs_and_one_waits, .thread = {tell_0, stop_0},
		.check = done_or_stopped),
	ORDERED(.name = "a process ends, is stopped, and another comes",
		.setup = one_runs_and_a_seat,
		.thread = {tell_0, stop_0, offer_1}, .check = second_runs),
	ORDERED(.name = "a process ends and is killed",
		.setup = one_runs_and_one_waits, .thread = {tell_0, kill_0},
		.check = done_or_killed),
	ORDERED(.name = "two processes end", .setup = two_run_and_two_wait,
		.thread = {tell_0, tell_1}, .check = others_run),
	ORDERED(.name = "two processes end and one is stopped",
		.setup = two_run_and_two_wait,
		.thread = {tell_0, tell_1, stop_0}, .check = others_run),
	ORDERED(.name = "two processes crash", .setup = two_crash,
		.thread = {tell_0, tell_1}, .check = both_crashed),
	ORDERED(.name = "two processes end and another comes", .setup = two_run,
		.thread = {tell_0, tell_1, offer_2}, .check = orders_are_over),
	ORDERED(.name = "a process ends and its namesake comes",
		.setup = one_runs_by_name, .thread = {tell_0, offer_1},
		.check = both_were_taken),
	ORDERED(.name = "time is up, and another comes",
		.setup = one_runs_in_time,
		.thread = {tell_0, pass_time, offer_1}, .check = done_or_late),
	ORDERED(.name = "a process ends and the manager restarts",
		.setup = one_runs_and_one_waits,
		.thread = {tell_0, kill_manager}, .check = orders_are_over),
	ORDERED(.name = "two processes end and the manager stops",
		.setup = two_run_alone,
		.thread = {tell_0, tell_1, stop_manager},
		.check = orders_are_over),
};

const struct scene_group more_processes = SCENE_GROUP(more);

static const struct scene_group *const small[] = {
	&processes,
	&calls,
	&results,
	NULL,
};

static const struct scene_group *const large[] = {
	&more_processes,
	&more_calls,
	&more_results,
	NULL,
};

static const struct explorer_exception exceptions[] = {
	{"process_state.h", "weir__process_set", "ck_pr_fence_release", 0,
	 "the ref was written under the system's lock, whose unlock "
	 "orders as much"},
	{"process_manager.c", "signalled", "ck_pr_fence_atomic_load", 0,
	 "a call begins behind a look at what came and at the queue, "
	 "whose fences order as much"},
};

/* The small ones, with few preemptions, are in every_fence_is_needed. */
const struct model_case model_cases[] = {
	{.name = "each_is_replied_to_once",
	 .groups = large,
	 .run = {.preemptions = 1, .stale = -1},
	 .deepens = true},
	{.name = "each_is_replied_to_once_if_stale",
	 .groups = small,
	 .in_soak = true,
	 .run = {.preemptions = 1, .stale = 1},
	 .deepens = true},
	{.name = "each_is_replied_to_once_under_tso",
	 .groups = small,
	 .in_soak = true,
	 .run = {.preemptions = 1, .stale = 1, .tso = true},
	 .deepens = true},
	{.name = "every_fence_is_needed",
	 .groups = small,
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/process/process",
	 .more_files = "lib/process/runner",
	 EXCEPTIONS(exceptions)},
	{.name = "so_is_every_fence_of_commands",
	 .groups = small,
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/process/command"},
};
const size_t n_model_cases = N_OF(model_cases);
