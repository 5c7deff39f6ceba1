/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parents and children: failures, stops and spawns of several of a family at
 * once.
 */
#include "supervision_kit.h"

#include <errno.h>

#include <ck_pr.h>

#include "actor/child_ops.h"
#include "actor/gate.h"
#include "executor/registry.h"
#include "supervision/branch.h"

/* --- A parent, 0, and its child, 1; /user restarts or resumes the parent --- */

static struct family *two(void *context, const struct weir_strategy *top,
			  const struct weir_strategy *strategy, uint32_t hooks)
{
	struct family *f = family_open(context, top);

	family_child(f, USER, hooks, strategy);
	family_child(f, 0, 0, NULL);
	f->deeds[0] = FAILS;
	f->deeds[1] = FAILS;
	family_lend(f, 0, 1);
	family_lend(f, 1, 1);
	return f;
}

static void both_resume(void *context)
{
	two(context, &resuming, &resuming, 0);
}

static void parent_restarts(void *context)
{
	two(context, &restarting, &resuming, 0);
}

static void both_restart(void *context)
{
	two(context, &restarting, &restarting, PRE_RESTART);
}

static void child_escalates(void *context)
{
	struct family *f = two(context, &resuming, &escalating, 0);

	family_lend(f, 1, 1);
}

static void child_escalates_to_restart(void *context)
{
	two(context, &restarting, &escalating, PRE_RESTART);
}

static void put_0(void *context)
{
	family_put(context, 0, 0);
}

static void put_1(void *context)
{
	family_put(context, 1, 1);
}

static void stop_0(void *context)
{
	struct family *f = context;

	family_stop(f, 0);
	weir_actor_unref(&f->scene.nodes[0]->actor);
}

static void stop_1(void *context)
{
	struct family *f = context;

	family_stop(f, 1);
	weir_actor_unref(&f->scene.nodes[1]->actor);
}

/* The other one is lent to nobody. */
static void let_go(struct family *f, uint32_t i)
{
	weir_actor_unref(&f->scene.nodes[i]->actor);
}

static void put_1_alone(void *context)
{
	let_go(context, 0);
	put_1(context);
}

/* Claims 1 and 2 of the tree hold whenever nobody has its lock. */
static void look(void *context)
{
	struct family *f = context;

	explorer_assert(weir__system_check(f->system));
	explorer_assert(weir__system_check(f->system));
}

static bool see(struct weir_task *task, uint64_t id, void *context)
{
	const struct weir_actor *actor =
		weir_container_of(task, struct weir_actor, task);
	struct weir_seen_child seen = {.error = 0};
	struct weir__child_look look = {
		.seen = &seen, .names = true, .wait = WEIR_WAIT_PARENT};

	(void)id;
	(void)context;
	if (ck_pr_load_32(&actor->refs) == 0 ||
	    !(ck_pr_load_32(&actor->gate) & WEIR__GATE_CHILD))
		return true;
	/* what has the lock now is not waited for */
	if (!weir__child_ops(actor)->look(actor, &look))
		return true;
	explorer_assert(look.wait != WEIR_WAIT_PARENT || !seen.path[0]);
	explorer_assert(seen.error == 0 || seen.message[0]);
	return true;
}

/* As a snapshot does: the system's lock is tried under the registry's. */
static void see_all(void *context)
{
	struct family *f = context;
	struct weir__registry *seen = f->scene.executor.registry;
	uint32_t index = 0;

	weir__registry_look_begin(seen);
	while (weir__registry_look(seen, &index, see, f))
		;
	weir__registry_look_end(seen);
}

static void both_go_on(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0) && family_alive(f, 1));
	explorer_assert(family_begun(f, 0) == 1 && family_begun(f, 1) == 1);
	family_is_over(context);
}

/* The child ended with the old life of its parent. */
static void parent_alone(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0) && family_begun(f, 0) == 2);
	explorer_assert(!family_alive(f, 1));
	family_is_over(context);
}

/* The child restarted for itself, with its parent, or twice. */
static void both_began_anew(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0) && family_begun(f, 0) == 2);
	explorer_assert(family_alive(f, 1) && family_begun(f, 1) >= 2);
	explorer_assert(family_begun(f, 1) <= 3);
	family_is_over(context);
}

static void both_ended(void *context)
{
	const struct family *f = context;

	explorer_assert(!family_alive(f, 0) && !family_alive(f, 1));
	family_is_over(context);
}

static void child_ended_alone(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0) && family_begun(f, 0) <= 2);
	explorer_assert(!family_alive(f, 1));
	family_is_over(context);
}

static void parent_goes_on(void *context)
{
	explorer_assert(family_alive(context, 0));
	family_is_over(context);
}

/* --- A child that comes --------------------------------------------------- */

static struct family *one_and_another(void *context,
				      const struct weir_strategy *strategy,
				      uint32_t hooks)
{
	struct family *f = family_open(context, strategy);

	family_child(f, USER, hooks, NULL);
	family_node(f, 0, 0, NULL);
	f->deeds[0] = FAILS;
	family_lend(f, 0, 1);
	return f;
}

static void another_at_resume(void *context)
{
	one_and_another(context, &resuming, 0);
}

static void another_at_restart(void *context)
{
	one_and_another(context, &restarting, 0);
}

static void another_at_restart_by_hook(void *context)
{
	one_and_another(context, &restarting, PRE_RESTART);
}

static void another_signalled(void *context)
{
	family_lend(one_and_another(context, &waiting, PRE_RESTART), 1, 1);
	weir_actor_unref(&family.scene.nodes[0]->actor);
}

/* The parent waits for time 1. */
static void another_suspended(void *context)
{
	family_lend(one_and_another(context, &waiting, PRE_RESTART), 1, 1);
	family_put(context, 0, 0);
}

static void another_of_user(void *context)
{
	struct family *f = family_open(context, NULL);

	family_node(f, USER, 0, NULL);
}

static void spawn_0(void *context)
{
	family_spawn(context, 0);
}

static void spawn_1(void *context)
{
	family_spawn(context, 1);
}

/* Its executor does not take it. */
static void spawn_1_in_vain(void *context)
{
	struct family *f = context;
	struct weir_actor *actor = &f->scene.nodes[1]->actor;

	f->scene.refused = &actor->task;
	explorer_assert(weir_system_spawn(f->system, f->refs[0], actor, NULL,
					  &f->refs[1]) == -EAGAIN);
	f->scene.refused = NULL;
}

/* Which its spawn, at the same time, does not undo. */
static void suspend_and_signal_1(void *context)
{
	struct family *f = context;

	weir_actor_suspend(&f->scene.nodes[1]->actor);
	ck_pr_store_32(&f->scene.payload[0], 1);
	family_signal(f, 1);
}

static void shut_down(void *context)
{
	struct family *f = context;

	weir_system_stop(f->system);
}

static void abort_executor(void *context)
{
	scene_abort(context);
}

static void another_goes_on(void *context)
{
	const struct family *f = context;

	explorer_assert(f->lives[1].rc == 0 && family_begun(f, 1) == 1);
	both_go_on(context);
}

/* It was stopped with the old life, restarted with the new, or came after. */
static void another_perhaps(void *context)
{
	const struct family *f = context;

	explorer_assert(f->lives[1].rc == 0 && family_begun(f, 1) <= 2);
	parent_goes_on(context);
}

static void another_survives(void *context)
{
	explorer_assert(family_alive(context, 1));
	another_perhaps(context);
}

static void another_heard(void *context)
{
	const struct family *f = context;
	struct weir_actor *actor = &f->scene.nodes[1]->actor;

	scene_pass_time(context, 1);
	explorer_assert(f->scene.fates[1].seen[0] == 1);
	explorer_assert(actor->gate & WEIR__GATE_SUSPENDED);
	weir_actor_resume(actor);
	another_survives(context);
}

static void another_hears(void *context)
{
	spawn_1(context);
	another_heard(context);
}

static void none_is_left(void *context)
{
	const struct family *f = context;

	explorer_assert(!family_alive(f, 0) && !family_alive(f, 1));
	explorer_assert(family_begun(f, 1) <= 1);
	family_is_over(context);
}

static void user_has_ended(void *context)
{
	const struct family *f = context;

	explorer_assert(!family_alive(f, 0) && family_begun(f, 0) <= 1);
	explorer_assert(
		weir_completion_done(weir_system_terminated(f->system)));
	family_is_over(context);
}

/* --- Two children of /user ------------------------------------------------ */

static void twins(void *context, const struct weir_strategy *strategy)
{
	struct family *f = family_open(context, strategy);

	family_child(f, USER, 0, NULL);
	family_child(f, USER, 0, NULL);
	f->deeds[0] = FAILS;
	f->deeds[1] = FAILS;
	family_lend(f, 0, 1);
	family_lend(f, 1, 1);
}

static void all_restart(void *context)
{
	twins(context, &restarting_all);
}

static void all_restart_in_order(void *context)
{
	twins(context, &in_order);
}

static void all_stop(void *context)
{
	twins(context, &stopping_all);
}

/* Each failed once, and shared the other's fate or not. */
static void twins_began_anew(void *context)
{
	const struct family *f = context;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		explorer_assert(family_alive(f, i));
		explorer_assert(family_begun(f, i) >= 2);
		explorer_assert(family_begun(f, i) <= 3);
	}
	family_is_over(context);
}

static void first_began_anew(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0) && family_begun(f, 0) == 2);
	explorer_assert(!family_alive(f, 1));
	family_is_over(context);
}

/* --- A parent of two, which restart in order and with their parent -------- */

static void three_restart(void *context)
{
	struct family *f = family_open(context, &restarting);

	family_child(f, USER, PRE_RESTART, &in_order);
	family_child(f, 0, 0, NULL);
	family_child(f, 0, 0, NULL);
	f->deeds[0] = FAILS;
	f->deeds[1] = FAILS;
	family_lend(f, 0, 1);
	family_lend(f, 1, 1);
}

static void three_began_anew(void *context)
{
	const struct family *f = context;
	uint32_t i;

	explorer_assert(family_alive(f, 0) && family_begun(f, 0) == 2);
	for (i = 1; i < 3; i++)
		explorer_assert(family_alive(f, i) && family_begun(f, i) >= 2);
	family_is_over(context);
}

static const struct explorer_scenario scenarios[] = {
	FAMILY(.name = "a parent and its child fail and resume",
	       .setup = both_resume, .thread = {put_0, put_1},
	       .check = both_go_on),
	FAMILY(.name = "a parent and its child resume and are seen",
	       .setup = both_resume, .thread = {put_0, put_1, see_all},
	       .check = both_go_on),
	FAMILY(.name = "a parent stops, its child fails, both are seen",
	       .setup = both_resume, .thread = {stop_0, put_1, see_all},
	       .check = both_ended),
	FAMILY(.name = "a parent restarts while its child fails",
	       .setup = parent_restarts, .thread = {put_0, put_1},
	       .check = parent_alone),
	FAMILY(.name = "a parent and its child restart", .setup = both_restart,
	       .thread = {put_0, put_1}, .check = both_began_anew),
	FAMILY(.name = "a parent and its child restart and are looked at",
	       .setup = both_restart, .thread = {put_0, put_1, look},
	       .check = both_began_anew),
	FAMILY(.name = "a parent stops while its child fails",
	       .setup = both_resume, .thread = {stop_0, put_1},
	       .check = both_ended),
	FAMILY(.name = "a parent fails while its child stops",
	       .setup = both_restart, .thread = {put_0, stop_1},
	       .check = child_ended_alone),
	FAMILY(.name = "a parent fails while both stop", .setup = both_restart,
	       .thread = {put_0, stop_1, shut_down}, .check = both_ended),
	FAMILY(.name = "a parent fails, its child stops, both are looked at",
	       .setup = both_restart, .thread = {put_0, stop_1, look},
	       .check = child_ended_alone),
	FAMILY(.name = "an escalation and a stop of the parent",
	       .setup = child_escalates_to_restart, .thread = {put_1, stop_0},
	       .check = both_ended),
	FAMILY(.name = "an escalation and a stop of the child",
	       .setup = child_escalates, .thread = {put_1_alone, stop_1},
	       .check = child_ended_alone),
	FAMILY(.name = "an escalation and a failure of the parent",
	       .setup = child_escalates_to_restart, .thread = {put_0, put_1},
	       .check = parent_goes_on),
	FAMILY(.name = "spawn under one who resumes",
	       .setup = another_at_resume, .thread = {put_0, spawn_1},
	       .check = another_goes_on),
	FAMILY(.name = "spawn under one who restarts",
	       .setup = another_at_restart, .thread = {put_0, spawn_1},
	       .check = another_perhaps),
	FAMILY(.name = "spawn under one who restarts by hook",
	       .setup = another_at_restart_by_hook, .thread = {put_0, spawn_1},
	       .check = another_survives),
	FAMILY(.name = "spawn under one who restarts and is looked at",
	       .setup = another_at_restart, .thread = {put_0, spawn_1, look},
	       .check = another_perhaps),
	FAMILY(.name = "spawn under one who restarts and is seen",
	       .setup = another_at_restart, .thread = {put_0, spawn_1, see_all},
	       .check = another_perhaps),
	FAMILY(.name = "spawn under one who stops", .setup = another_at_resume,
	       .thread = {stop_0, spawn_1}, .check = none_is_left),
	FAMILY(.name = "spawn and a suspension", .setup = another_signalled,
	       .thread = {spawn_1, suspend_and_signal_1},
	       .check = another_heard),
	FAMILY(.name = "spawn under one suspended and a suspension",
	       .setup = another_suspended,
	       .thread = {spawn_1, suspend_and_signal_1},
	       .check = another_heard),
	FAMILY(.name = "a spawn that is refused and a suspension",
	       .setup = another_signalled,
	       .thread = {spawn_1_in_vain, suspend_and_signal_1},
	       .check = another_hears),
	FAMILY(.name = "a spawn that is refused under one suspended",
	       .setup = another_suspended,
	       .thread = {spawn_1_in_vain, suspend_and_signal_1},
	       .check = another_hears),
	FAMILY(.name = "spawn and shut down", .setup = another_of_user,
	       .thread = {spawn_0, shut_down}, .check = user_has_ended),
	FAMILY(.name = "spawn and abort", .setup = another_of_user,
	       .thread = {spawn_0, abort_executor}, .check = user_has_ended),
	FAMILY(.name = "two fail and all restart", .setup = all_restart,
	       .thread = {put_0, put_1}, .check = twins_began_anew),
	FAMILY(.name = "two fail and all restart in order",
	       .setup = all_restart_in_order, .thread = {put_0, put_1},
	       .check = twins_began_anew),
	FAMILY(.name = "two fail, all restart in order and are looked at",
	       .setup = all_restart_in_order, .thread = {put_0, put_1, look},
	       .check = twins_began_anew),
	FAMILY(.name = "two fail and all stop", .setup = all_stop,
	       .thread = {put_0, put_1}, .check = both_ended),
	FAMILY(.name = "one fails for all and another stops",
	       .setup = all_restart, .thread = {put_0, stop_1},
	       .check = first_began_anew),
	FAMILY(.name = "one fails for all in order and another stops",
	       .setup = all_restart_in_order, .thread = {put_0, stop_1},
	       .check = first_began_anew),
	FAMILY(.name = "a group and its parent restart", .setup = three_restart,
	       .thread = {put_0, put_1}, .check = three_began_anew),
	FAMILY(.name = "two fail for all and shut down", .setup = all_restart,
	       .thread = {put_0, put_1, shut_down}, .check = both_ended),
};

const struct scene_group supervision_trees = SCENE_GROUP(scenarios);
