/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Poison and kill against tokens, ends and each other; references of actors
 * that end; the end of a system.
 */
#include "supervision_kit.h"

#include <errno.h>

#include <ck_pr.h>

static struct family *one(void *context, uint32_t lent)
{
	struct family *f = family_open(context, &restarting);

	family_child(f, USER, 0, NULL);
	family_lend(f, 0, lent);
	return f;
}

static void one_lent(void *context)
{
	one(context, 1);
}

static void one_lent_twice(void *context)
{
	one(context, 2);
}

static void one_that_finishes(void *context)
{
	one(context, 1)->deeds[0] = FINISHES;
}

static void one_that_fails(void *context)
{
	one(context, 1)->deeds[0] = FAILS;
}

static void one_that_adds_a_port(void *context)
{
	one(context, 1)->deeds[0] = ADDS_PORT;
}

static void one_alone(void *context)
{
	one(context, 0);
}

static void put_0(void *context)
{
	family_put(context, 0, 0);
}

static void put_1(void *context)
{
	family_put(context, 0, 1);
}

static void stop(void *context)
{
	family_stop(context, 0);
}

static void poison(void *context)
{
	const struct family *f = context;
	int rc = weir_system_poison(f->system, f->refs[0]);

	explorer_assert(rc == 0 || rc == -ESRCH || rc == -EALREADY);
}

static void kill(void *context)
{
	const struct family *f = context;
	int rc = weir_system_kill(f->system, f->refs[0]);

	explorer_assert(rc == 0 || rc == -ESRCH || rc == -EALREADY);
}

/* A token, and then poison: the one comes before the other. */
static void put_and_poison(void *context)
{
	put_0(context);
	poison(context);
}

static void ended(void *context)
{
	const struct family *f = context;

	explorer_assert(!family_alive(f, 0));
	family_is_over(context);
}

static void ended_behind_token(void *context)
{
	const struct family *f = context;

	explorer_assert(f->scene.tokens[0].accepted &&
			f->scene.tokens[0].value == DELIVERED);
	ended(context);
}

static void restarted(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0) && family_begun(f, 0) == 2);
	explorer_assert(f->scene.tokens[0].value == DELIVERED);
	family_is_over(context);
}

/* By the failure, by the kill, or by both. */
static void restarted_or_twice(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 0));
	explorer_assert(family_begun(f, 0) == 2 || family_begun(f, 0) == 3);
	family_is_over(context);
}

/* --- Tokens over a link --------------------------------------------------- */

/* Node 1 sends to node 0, which restarts when it is killed. */
static void linked(void *context)
{
	struct family *f = family_open(context, &restarting);

	family_node(f, USER, 0, NULL);
	family_node(f, USER, 0, NULL);
	family_link(f, 1, 0);
	family_spawn(f, 0);
	family_spawn(f, 1);
	family_lend(f, 1, 2);
}

static void send_0(void *context)
{
	family_put(context, 1, 0);
}

static void send_1(void *context)
{
	family_put(context, 1, 1);
}

static void kill_and_let_go(void *context)
{
	struct family *f = context;

	kill(f);
	weir_actor_unref(&f->scene.nodes[1]->actor);
}

static void poison_and_let_go(void *context)
{
	struct family *f = context;

	poison(f);
	weir_actor_unref(&f->scene.nodes[1]->actor);
}

static void restarted_with_both(void *context)
{
	const struct family *f = context;

	explorer_assert(f->scene.tokens[1].value == DELIVERED);
	restarted(context);
}

/* --- References ----------------------------------------------------------- */

static void get_and_put(void *context)
{
	struct family *f = context;
	struct weir_actor *actor = weir_system_actor(f->system, f->refs[0]);

	if (!actor)
		return;
	scene_put(f->scene.nodes[0], 0, (uint32_t)explorer_thread());
	weir_actor_unref(actor);
}

/* Who is there, or nobody: never half of it. */
static void ask(void *context)
{
	struct family *f = context;
	struct weir_actor_id found = weir_system_lookup(f->system, "/user/one");
	struct weir_actor_id child;
	char path[16] = "";
	int n = weir_system_path(f->system, f->refs[0], path, sizeof(path));

	explorer_assert(weir_actor_id_equal(found, f->refs[0]) ||
			weir_actor_id_equal(found, WEIR_ACTOR_ID_NONE));
	explorer_assert(n == -ESRCH || (n == 9 && path[8] == 'e'));
	n = weir_system_children(
		f->system, weir_system_user_guardian(f->system), &child, 1);
	explorer_assert(n == 0 ||
			(n == 1 && weir_actor_id_equal(child, f->refs[0])));
	(void)weir_system_is_alive(f->system, f->refs[0]);
	(void)weir_system_parent(f->system, f->refs[0]);
	(void)weir_system_restarts(f->system, f->refs[0]);
}

static void one_named(void *context)
{
	struct family *f = family_open(context, &restarting);

	f->options.name = "one";
	family_child(f, USER, 0, NULL);
}

/* Its name is free when it has ended, and taken until then. */
static void a_namesake(void *context)
{
	one_named(context);
	family_node(context, USER, 0, NULL);
}

static void spawn_namesake(void *context)
{
	struct family *f = context;
	struct weir_actor *actor = &f->scene.nodes[1]->actor;
	int rc = weir_system_spawn(f->system, WEIR_ACTOR_ID_NONE, actor,
				   &f->options, &f->refs[1]);

	explorer_assert(rc == 0 || rc == -EEXIST);
	if (rc < 0)
		weir_actor_stop(actor);
	f->lives[1].rc = rc;
}

static void name_is_right(void *context)
{
	const struct family *f = context;

	explorer_assert(family_alive(f, 1) == (f->lives[1].rc == 0));
	ended(context);
}

/* --- Dead letters --------------------------------------------------------- */

static void dead_letter(void *context)
{
	struct family *f = context;

	weir_system_dead_letter(f->system, f->refs[0], NULL, NULL);
}

static void two_are_dead(void *context)
{
	const struct family *f = context;

	explorer_assert(weir_system_dead_letter_count(f->system) == 2);
	family_is_over(context);
}

/* --- The end of a system -------------------------------------------------- */

static void end_runs(struct weir_system_hook *hook)
{
	struct family *f = weir_container_of(hook, struct family, end_hook);

	explorer_assert(f->before_end++ == 0 && !f->at_termination);
	weir_system_hook_done(hook);
}

static void termination_runs(struct weir_system_hook *hook)
{
	struct family *f =
		weir_container_of(hook, struct family, termination_hook);

	explorer_assert(f->at_termination++ == 0);
}

static void add_hooks(void *context)
{
	struct family *f = context;

	f->end_hook.run = end_runs;
	f->termination_hook.run = termination_runs;
	f->lives[0].rc = weir_system_before_end(f->system, &f->end_hook);
	f->lives[1].rc =
		weir_system_at_termination(f->system, &f->termination_hook);
}

static void nobody(void *context)
{
	family_open(context, NULL);
}

static void one_and_hooks(void *context)
{
	one(context, 1)->deeds[0] = FINISHES;
	add_hooks(context);
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

static void hooks_ran(void *context)
{
	struct family *f = context;

	explorer_assert(
		weir_completion_done(weir_system_terminated(f->system)));
	explorer_assert(f->before_end == (f->lives[0].rc == 0));
	explorer_assert(f->at_termination == (f->lives[1].rc == 0));
	family_is_over(context);
}

static const struct explorer_scenario scenarios[] = {
	FAMILY(.name = "poison and a put", .setup = one_lent,
	       .thread = {put_0, poison}, .check = ended),
	FAMILY(.name = "poison behind a put, and a put",
	       .setup = one_lent_twice, .thread = {put_and_poison, put_1},
	       .check = ended_behind_token),
	FAMILY(.name = "poison and poison", .setup = one_alone,
	       .thread = {poison, poison}, .check = ended),
	FAMILY(.name = "poison, kill and a put", .setup = one_lent,
	       .thread = {put_0, poison, kill}, .check = ended),
	FAMILY(.name = "poison and a stop", .setup = one_alone,
	       .thread = {poison, stop}, .check = ended),
	FAMILY(.name = "poison and a restart", .setup = one_that_fails,
	       .thread = {put_0, poison}, .check = ended),
	FAMILY(.name = "poison and another port", .setup = one_that_adds_a_port,
	       .thread = {put_0, poison}, .check = ended),
	FAMILY(.name = "kill and a finish", .setup = one_that_finishes,
	       .thread = {put_0, kill}, .check = ended),
	FAMILY(.name = "kill and a put", .setup = one_lent,
	       .thread = {put_0, kill}, .check = restarted),
	FAMILY(.name = "kill and a failure", .setup = one_that_fails,
	       .thread = {put_0, kill}, .check = restarted_or_twice),
	FAMILY(.name = "kill and a stop", .setup = one_alone,
	       .thread = {kill, stop}, .check = ended),
	FAMILY(.name = "kill and a token over a link", .setup = linked,
	       .thread = {send_0, kill_and_let_go}, .check = restarted),
	FAMILY(.name = "kill and two tokens over a link", .setup = linked,
	       .thread = {send_0, send_1, kill}, .check = restarted_with_both),
	FAMILY(.name = "poison and a token over a link", .setup = linked,
	       .thread = {send_0, poison_and_let_go}, .check = ended),
	FAMILY(.name = "a reference is got from one who ends",
	       .setup = one_alone, .thread = {get_and_put, stop},
	       .check = ended),
	FAMILY(.name = "two get a reference from one who ends",
	       .setup = one_alone, .thread = {get_and_put, get_and_put, stop},
	       .check = ended),
	FAMILY(.name = "one who ends is asked for", .setup = one_named,
	       .thread = {ask, stop}, .check = ended),
	FAMILY(.name = "one who ends has a namesake", .setup = a_namesake,
	       .thread = {spawn_namesake, stop}, .check = name_is_right),
	FAMILY(.name = "a finish and a shutdown", .setup = one_and_hooks,
	       .thread = {put_0, shut_down}, .check = hooks_ran),
	FAMILY(.name = "an abort and a shutdown", .setup = one_and_hooks,
	       .thread = {put_0, shut_down, abort_executor},
	       .check = hooks_ran),
	FAMILY(.name = "two dead letters", .setup = nobody,
	       .thread = {dead_letter, dead_letter}, .check = two_are_dead),
	FAMILY(.name = "hooks are added to a system that ends", .setup = nobody,
	       .thread = {add_hooks, shut_down}, .check = hooks_ran),
};

const struct scene_group pending_messages = SCENE_GROUP(scenarios);
