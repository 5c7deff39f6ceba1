/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over a family that let others have the lock behind each step, while one
 * of the family leaves, fails or comes: the first, the last, one with a child,
 * one without, and who stands at the top. A third thread may look: at any time
 * each is suspended as often as its parent, but for the walks to come.
 */
#include "supervision_kit.h"

#include "supervision/branch.h"

/* --- Setups: 0 is a child of /user and fails first ------------------------ */

static struct family *open(void *context, const struct weir_strategy *top,
			   const struct weir_strategy *strategy, uint32_t hooks)
{
	struct family *f = family_open(context, top);
	uint32_t i;

	family_child(f, USER, hooks, strategy);
	for (i = 0; i < 3; i++)
		f->deeds[i] = FAILS;
	return f;
}

/* Two children, or a child and a grandchild; all three are lent once. */
static void lend_three(struct family *f, bool deep, uint32_t hooks,
		       const struct weir_strategy *strategy)
{
	uint32_t i;

	family_child(f, 0, hooks, strategy);
	family_child(f, deep ? 1 : 0, 0, NULL);
	for (i = 0; i < 3; i++)
		family_lend(f, i, 1);
}

static void two_resume(void *context)
{
	lend_three(open(context, &resuming, &restarting, 0), false, 0, NULL);
}

/* They survive. */
static void two_restart(void *context)
{
	lend_three(open(context, &restarting, &restarting, PRE_RESTART), false,
		   0, NULL);
}

static void two_stop(void *context)
{
	lend_three(open(context, &restarting, &restarting, 0), false, 0, NULL);
}

/* The child's failure is all its siblings'. */
static void all_of_two_restart(void *context)
{
	lend_three(open(context, &resuming, &restarting_all, 0), false, 0,
		   NULL);
}

static void below_resumes(void *context)
{
	lend_three(open(context, &resuming, &restarting, 0), true, PRE_RESTART,
		   &restarting);
}

static void below_restarts(void *context)
{
	lend_three(open(context, &restarting, &restarting, PRE_RESTART), true,
		   PRE_RESTART, &restarting);
}

/* 2 is not there yet, and is spawned below 0 or 1. */
static void one_comes(void *context, const struct weir_strategy *top,
		      uint32_t parent)
{
	struct family *f = open(context, top, &restarting, PRE_RESTART);

	family_child(f, 0, PRE_RESTART, NULL);
	family_node(f, parent, 0, NULL);
	family_lend(f, 0, 1);
}

static void sibling_comes_to_resume(void *context)
{
	one_comes(context, &resuming, 0);
}

static void sibling_comes_to_restart(void *context)
{
	one_comes(context, &restarting, 0);
}

static void grandchild_comes_to_resume(void *context)
{
	one_comes(context, &resuming, 1);
}

static void grandchild_comes_to_restart(void *context)
{
	one_comes(context, &restarting, 1);
}

/* 0 and 1 share their fate; the next slice of 1, which has 2, is refused. */
static void refused(void *context, const struct weir_strategy *strategy)
{
	struct family *f = open(context, strategy, &restarting, PRE_RESTART);

	family_child(f, USER, PRE_RESTART, &restarting);
	family_child(f, 1, 0, NULL);
	family_lend(f, 0, 1);
	family_lend(f, 1, 1);
	f->scene.refused = &f->scene.nodes[1]->actor.task;
}

static void refused_to_restart(void *context)
{
	refused(context, &restarting_all);
}

static void refused_to_stop(void *context)
{
	refused(context, &stopping_all);
}

/* --- Threads -------------------------------------------------------------- */

/* A thread has no more than it uses. */
static void let_go(struct family *f, uint32_t i)
{
	weir_actor_unref(&f->scene.nodes[i]->actor);
}

static void put_0(void *context)
{
	family_put(context, 0, 0);
}

static void put_1(void *context)
{
	let_go(context, 2);
	family_put(context, 1, 1);
}

static void put_2(void *context)
{
	let_go(context, 1);
	family_put(context, 2, 2);
}

static void put_both(void *context)
{
	family_put(context, 1, 1);
	family_put(context, 2, 2);
}

static void put_2_first(void *context)
{
	family_put(context, 2, 2);
	family_put(context, 1, 1);
}

static void stop_1(void *context)
{
	family_stop(context, 1);
	let_go(context, 1);
	let_go(context, 2);
}

static void stop_2(void *context)
{
	family_stop(context, 2);
	let_go(context, 1);
	let_go(context, 2);
}

static void stop_both(void *context)
{
	family_stop(context, 1);
	stop_2(context);
}

static void stop_0_alone(void *context)
{
	family_stop(context, 0);
	let_go(context, 1);
	let_go(context, 2);
}

/* Where 1 is the one that fails first. */
static void stop_2_of_all(void *context)
{
	family_stop(context, 2);
	let_go(context, 0);
}

static void stop_0_of_all(void *context)
{
	family_stop(context, 0);
	let_go(context, 0);
}

static void signal_1(void *context)
{
	family_signal(context, 1);
}

static void spawn_2(void *context)
{
	family_spawn(context, 2);
}

static void look(void *context)
{
	struct family *f = context;
	uint32_t i;

	for (i = 0; i < 3; i++)
		explorer_assert(weir__system_check(f->system));
}

/* --- Checks --------------------------------------------------------------- */

static void are_alive(const struct family *f, bool first, bool last)
{
	explorer_assert(family_alive(f, 0));
	explorer_assert(family_alive(f, 1) == first);
	explorer_assert(family_alive(f, 2) == last);
}

static void three_go_on(void *context)
{
	are_alive(context, true, true);
	family_is_over(context);
}

static void first_has_gone(void *context)
{
	are_alive(context, false, true);
	family_is_over(context);
}

static void last_has_gone(void *context)
{
	are_alive(context, true, false);
	family_is_over(context);
}

static void one_is_left(void *context)
{
	are_alive(context, false, false);
	family_is_over(context);
}

static void none_is_left(void *context)
{
	explorer_assert(!family_alive(context, 0));
	explorer_assert(!family_alive(context, 1));
	explorer_assert(!family_alive(context, 2));
	family_is_over(context);
}

static const struct explorer_scenario scenarios[] = {
	FAMILY(.name = "the first leaves where its parent resumes",
	       .setup = two_resume, .thread = {put_0, stop_1},
	       .check = first_has_gone),
	FAMILY(.name = "the last leaves where its parent resumes",
	       .setup = two_resume, .thread = {put_0, stop_2},
	       .check = last_has_gone),
	FAMILY(.name = "both leave where their parent resumes",
	       .setup = two_resume, .thread = {put_0, stop_both},
	       .check = one_is_left),
	FAMILY(.name = "the first leaves where its parent restarts",
	       .setup = two_restart, .thread = {put_0, stop_1},
	       .check = first_has_gone),
	FAMILY(.name = "the last leaves where its parent restarts",
	       .setup = two_restart, .thread = {put_0, stop_2},
	       .check = last_has_gone),
	FAMILY(.name = "both leave where their parent restarts",
	       .setup = two_restart, .thread = {put_0, stop_both},
	       .check = one_is_left),
	FAMILY(.name = "the last leaves where its parent stops all",
	       .setup = two_stop, .thread = {put_0, stop_2},
	       .check = one_is_left),
	FAMILY(.name = "one leaves where all restart",
	       .setup = all_of_two_restart, .thread = {put_1, stop_2_of_all},
	       .check = last_has_gone),
	FAMILY(.name = "their parent leaves where all restart",
	       .setup = all_of_two_restart, .thread = {put_1, stop_0_of_all},
	       .check = none_is_left),
	FAMILY(.name = "both fail where their parent resumes",
	       .setup = two_resume, .thread = {put_0, put_both},
	       .check = three_go_on),
	FAMILY(.name = "both fail where their parent restarts",
	       .setup = two_restart, .thread = {put_0, put_both},
	       .check = three_go_on),
	FAMILY(.name = "a grandchild leaves where all above resume",
	       .setup = below_resumes, .thread = {put_0, stop_2},
	       .check = last_has_gone),
	FAMILY(.name = "a child leaves with its own where its parent resumes",
	       .setup = below_resumes, .thread = {put_0, stop_1},
	       .check = one_is_left),
	FAMILY(.name = "a grandchild leaves where all above restart",
	       .setup = below_restarts, .thread = {put_0, stop_2},
	       .check = last_has_gone),
	FAMILY(.name = "a child leaves with its own where its parent restarts",
	       .setup = below_restarts, .thread = {put_0, stop_1},
	       .check = one_is_left),
	FAMILY(.name = "a child and a grandchild fail where all resume",
	       .setup = below_resumes, .thread = {put_0, put_both},
	       .check = three_go_on),
	FAMILY(.name = "a grandchild and a child fail where all restart",
	       .setup = below_restarts, .thread = {put_0, put_2_first},
	       .check = three_go_on),
	FAMILY(.name = "the top leaves with all below", .setup = below_restarts,
	       .thread = {put_0, stop_0_alone}, .check = none_is_left),
	FAMILY(.name = "a sibling comes where their parent resumes",
	       .setup = sibling_comes_to_resume, .thread = {put_0, spawn_2},
	       .check = three_go_on),
	FAMILY(.name = "a sibling comes where their parent restarts",
	       .setup = sibling_comes_to_restart, .thread = {put_0, spawn_2},
	       .check = three_go_on),
	FAMILY(.name = "a grandchild comes where all above resume",
	       .setup = grandchild_comes_to_resume, .thread = {put_0, spawn_2},
	       .check = three_go_on),
	FAMILY(.name = "a grandchild comes where all above restart",
	       .setup = grandchild_comes_to_restart, .thread = {put_0, spawn_2},
	       .check = three_go_on),
	FAMILY(.name = "one is refused where all restart",
	       .setup = refused_to_restart, .thread = {put_0, signal_1},
	       .check = one_is_left),
	FAMILY(.name = "one is refused where all stop",
	       .setup = refused_to_stop, .thread = {put_0, signal_1},
	       .check = none_is_left),
	FAMILY(.name = "the last leaves and all are looked at",
	       .setup = two_restart, .thread = {put_0, stop_2, look},
	       .check = last_has_gone),
	FAMILY(.name = "the first fails and all are looked at",
	       .setup = two_restart, .thread = {put_0, put_1, look},
	       .check = three_go_on),
	FAMILY(.name = "a grandchild fails and all are looked at",
	       .setup = below_restarts, .thread = {put_0, put_2, look},
	       .check = three_go_on),
	FAMILY(.name = "a grandchild comes and all are looked at",
	       .setup = grandchild_comes_to_restart,
	       .thread = {put_0, spawn_2, look}, .check = three_go_on),
};

const struct scene_group walks = SCENE_GROUP(scenarios);
