/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches against deaths: whichever comes first, one notice follows, or none
 * if the watch was taken back.
 */
#include "supervision_kit.h"

#include <errno.h>

#include "actor/firing.h"
#include "actor/gate.h"

/*
 * Node 0 watches node 1 when it takes token 0, and takes that back at token 1.
 */
static struct family *watcher_and_watched(void *context)
{
	struct family *f = family_open(context, NULL);

	family_child(f, USER, TERMINATED, NULL);
	family_child(f, USER, 0, NULL);
	f->watched = 1;
	f->deeds[0] = WATCHES;
	f->deeds[1] = UNWATCHES;
	return f;
}

static void both_alive(void *context)
{
	family_lend(watcher_and_watched(context), 0, 1);
}

static void one_watches(void *context)
{
	struct family *f = watcher_and_watched(context);

	family_lend(f, 0, 2);
	family_put(f, 0, 0);
	explorer_assert(f->lives[0].rc == 0);
}

static void put_0(void *context)
{
	family_put(context, 0, 0);
}

static void put_1(void *context)
{
	family_put(context, 0, 1);
}

static void stop_0(void *context)
{
	struct family *f = context;

	family_stop(f, 0);
	weir_actor_unref(&f->scene.nodes[0]->actor);
}

static void stop_1(void *context)
{
	family_stop(context, 1);
}

static void told_once(void *context)
{
	const struct family *f = context;

	explorer_assert(f->lives[0].rc == 0 && f->lives[0].terminated == 1);
	family_is_over(context);
}

static void told_unless_unwatched(void *context)
{
	const struct family *f = context;

	explorer_assert(f->lives[0].rc == 0 || f->lives[0].rc == -ENOENT);
	explorer_assert(f->lives[0].terminated == (f->lives[0].rc != 0));
	family_is_over(context);
}

static void told_at_most_once(void *context)
{
	const struct family *f = context;

	explorer_assert(!family_alive(f, 0) && !family_alive(f, 1));
	explorer_assert(f->lives[0].terminated <= 1);
	family_is_over(context);
}

/* It has no hook: it dies with whom it watches. */
static void one_in_a_pact(void *context)
{
	struct family *f = family_open(context, NULL);

	family_child(f, USER, 0, NULL);
	family_child(f, USER, 0, NULL);
	f->watched = 1;
	f->deeds[0] = WATCHES;
	f->deeds[1] = UNWATCHES;
	family_lend(f, 0, 2);
	family_put(f, 0, 0);
}

static void alive_if_unwatched(void *context)
{
	const struct family *f = context;
	bool unwatched = f->scene.fates[0].delivered == 2 &&
			 f->lives[0].rc == 0;

	explorer_assert(family_alive(f, 0) == unwatched);
	family_is_over(context);
}

/* --- A parent that wants to know ------------------------------------------ */

static void parent_asks(void *context)
{
	struct family *f = family_open(context, NULL);

	family_child(f, USER, CHILD_ENDED, NULL);
	family_child(f, 0, 0, NULL);
	family_lend(f, 0, 1);
}

static void parent_told(void *context)
{
	const struct family *f = context;

	explorer_assert(f->lives[0].child_ended == 1);
	explorer_assert(f->scene.tokens[0].value == DELIVERED);
	family_is_over(context);
}

static void parent_told_at_most_once(void *context)
{
	const struct family *f = context;

	explorer_assert(f->lives[0].child_ended <= 1);
	told_at_most_once(context);
}

/* --- Watchers that are no actors ------------------------------------------ */

static void is_told(struct weir_watcher *watcher,
		    const struct weir_terminated *notice)
{
	struct family *f = weir_container_of(watcher, struct family, watcher);

	explorer_assert(weir_actor_id_equal(notice->who, f->refs[0]));
	f->watcher_told++;
}

static void add_watcher(void *context)
{
	struct family *f = context;

	f->watcher.terminated = is_told;
	explorer_assert(weir_watcher_add(f->system, f->refs[0], &f->watcher) ==
			0);
}

static void remove_watcher(void *context)
{
	struct family *f = context;

	f->watcher_removed = weir_watcher_remove(f->system, &f->watcher);
}

static void add_and_remove_watcher(void *context)
{
	add_watcher(context);
	remove_watcher(context);
}

static void one(void *context)
{
	family_child(family_open(context, NULL), USER, 0, NULL);
}

static void one_watched(void *context)
{
	one(context);
	add_watcher(context);
}

static void stop_it(void *context)
{
	family_stop(context, 0);
}

/* By its id: nobody holds the actor but the library. */
static void tell_it(void *context)
{
	struct family *f = context;
	struct token *token = &f->scene.tokens[0];
	int rc;

	token->value = MADE;
	rc = weir_system_tell(f->system, f->refs[0], token);
	explorer_assert(rc == 0 || rc == -ESRCH || rc == -EPIPE);
	token->accepted = rc == 0;
}

static void told_unless_removed(void *context)
{
	const struct family *f = context;

	explorer_assert(f->watcher_told == !f->watcher_removed);
	family_is_over(context);
}

/* --- A stop that is waited for -------------------------------------------- */

static void is_done(struct weir_graceful_stop *stop, int rc)
{
	struct graceful *graceful =
		weir_container_of(stop, struct graceful, stop);
	struct family *f = graceful->family;

	f->done++;
	f->done_rc = rc;
	explorer_free(graceful);
}

/* Until time 1. */
static void stop_gracefully(void *context)
{
	struct family *f = context;

	f->graceful->stop.done = is_done;
	explorer_assert(weir_system_stop_actor_async(f->system, f->refs[0],
						     false, &f->graceful->stop,
						     1) == 0);
}

static void make_graceful(struct family *f)
{
	f->graceful = explorer_alloc(sizeof(*f->graceful));
	f->graceful->family = f;
	explorer_name(f->graceful, sizeof(*f->graceful), "graceful stop");
}

static void one_to_be_stopped(void *context)
{
	one(context);
	make_graceful(context);
}

static void one_that_is_asked(void *context)
{
	struct family *f = family_open(context, NULL);

	family_child(f, USER, STOPPING | SIGNALLED_FINISHES, NULL);
	make_graceful(f);
	family_lend(f, 0, 1);
}

/* It is waited for, and finishes when it is signalled. */
static void one_that_is_waited_for(void *context)
{
	one_that_is_asked(context);
	stop_gracefully(context);
}

static void signal_it(void *context)
{
	family_signal(context, 0);
}

static void pass_time(void *context)
{
	scene_pass_time(context, 1);
}

static void is_done_once(void *context)
{
	struct family *f = context;

	scene_pass_time(context, 1); /* if it came too early */
	explorer_assert(f->done == 1);
	explorer_assert(f->done_rc == 0 || f->done_rc == -ETIMEDOUT);
	explorer_assert(f->done_rc < 0 || !family_alive(f, 0));
	if (family_alive(f, 0)) /* it was asked when it was signalled */
		weir__actor_signal(&f->scene.nodes[0]->actor,
				   WEIR__SIGNAL_USER);
	family_is_over(context);
}

/* Its actor ends, and the system with it; the deadline may be under way. */
static void end_and_free(void *context)
{
	struct family *f = context;

	signal_it(f);
	weir_system_stop(f->system);
	if (weir_system_free(f->system) == 0)
		f->system = NULL;
}

static void is_done_before_the_end(void *context)
{
	const struct family *f = context;

	explorer_assert(f->done == 1);
	if (f->system)
		family_is_over(context);
	else
		scene_is_over(context);
}

static const struct explorer_scenario scenarios[] = {
	FAMILY(.name = "watch and death", .setup = both_alive,
	       .thread = {put_0, stop_1}, .check = told_once),
	FAMILY(.name = "unwatch and death", .setup = one_watches,
	       .thread = {put_1, stop_1}, .check = told_unless_unwatched),
	FAMILY(.name = "the watcher and the watched end", .setup = one_watches,
	       .thread = {stop_0, stop_1}, .check = told_at_most_once),
	FAMILY(.name = "watch, and both end", .setup = both_alive,
	       .thread = {put_0, stop_1, stop_it}, .check = told_at_most_once),
	FAMILY(.name = "a death pact and an unwatch", .setup = one_in_a_pact,
	       .thread = {put_1, stop_1}, .check = alive_if_unwatched),
	FAMILY(.name = "a child ends while its parent takes a token",
	       .setup = parent_asks, .thread = {put_0, stop_1},
	       .check = parent_told),
	FAMILY(.name = "a child and its parent end", .setup = parent_asks,
	       .thread = {stop_0, stop_1}, .check = parent_told_at_most_once),
	FAMILY(.name = "a watcher is added to one who ends", .setup = one,
	       .thread = {add_watcher, stop_it}, .check = told_unless_removed),
	FAMILY(.name = "a watcher is added, removed and told", .setup = one,
	       .thread = {add_and_remove_watcher, stop_it},
	       .check = told_unless_removed),
	FAMILY(.name = "a watcher is removed and told", .setup = one_watched,
	       .thread = {remove_watcher, stop_it},
	       .check = told_unless_removed),
	FAMILY(.name = "one who ends is told by its id", .setup = one,
	       .thread = {tell_it, stop_it}, .check = family_is_over),
	FAMILY(.name = "a deadline and an end", .setup = one_that_is_waited_for,
	       .thread = {pass_time, signal_it}, .check = is_done_once),
	FAMILY(.name = "a deadline and the end of the system",
	       .setup = one_that_is_waited_for,
	       .thread = {pass_time, end_and_free},
	       .check = is_done_before_the_end),
	FAMILY(.name = "a graceful stop and its deadline",
	       .setup = one_that_is_asked,
	       .thread = {stop_gracefully, pass_time, signal_it},
	       .check = is_done_once),
	FAMILY(.name = "a graceful stop and another",
	       .setup = one_to_be_stopped, .thread = {stop_gracefully, stop_it},
	       .check = is_done_once),
};

const struct scene_group deaths = SCENE_GROUP(scenarios);
