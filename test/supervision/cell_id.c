/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids of another system: whatever is called with one finds nobody, though an
 * actor of this system has the same slot.
 */
#include "support.h"

#include <errno.h>

#include <weir/weir.h>

#include "kit/world.h"
#include "supervision/cell.h"

static struct world here;
static struct weir_system *there;

struct someone {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_actor_id id, watched;
	uint32_t took, notices, dead; /* dead: watched that have not existed */
};

static struct someone local, stranger;

/* --- Actors --------------------------------------------------------------- */

static struct someone *someone_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct someone, actor);
}

static int take(struct weir_actor *actor)
{
	struct someone *self = someone_of(actor);

	(void)weir_in_take(&self->in);
	self->took++;
	return 0;
}
WEIR_TURN(take)

static int watch(struct weir_actor *actor)
{
	struct someone *self = someone_of(actor);

	if (weir_actor_id_equal(self->watched, WEIR_ACTOR_ID_NONE))
		return 0;
	return weir_actor_watch(actor, self->watched, self);
}

static int notice(struct weir_actor *actor,
		  const struct weir_terminated *terminated)
{
	someone_of(actor)->notices++;
	someone_of(actor)->dead += !terminated->existed;
	return 0;
}

static const struct weir_lifecycle lifecycle = {
	.pre_start = watch,
	.terminated = notice,
};

static const struct weir_actor_ops ops = {
	.name = "someone",
	.turns = take_n,
	.lifecycle = &lifecycle,
};

static int join(struct someone *self, struct weir_system *system,
		struct weir_actor_id parent)
{
	assert_int_equal(weir_actor_init(&self->actor, &ops, here.executor), 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, 2, NULL), 0);
	return weir_system_spawn(system, parent, &self->actor, NULL, &self->id);
}

/* One actor here, one in the same slot there. */
static void open_both(void)
{
	local = stranger = (struct someone){0};
	world_init(&here, 1, 0);
	world_system(&here, NULL);
	assert_int_equal(weir_system_new(&there, here.executor, NULL), 0);
	assert_int_equal(join(&local, here.system, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(join(&stranger, there, WEIR_ACTOR_ID_NONE), 0);
	world_settle(&here);
	assert_int_equal(local.id.slot, stranger.id.slot);
	assert_false(weir_actor_id_equal(local.id, stranger.id));
}

static void close_both(void)
{
	assert_true(weir_system_is_alive(here.system, local.id));
	assert_true(weir_system_is_alive(there, stranger.id));
	weir_system_stop(there);
	world_stop(&here);
	assert_int_equal(weir_system_free(there), 0);
	world_fini(&here);
}

/* --- Calls ---------------------------------------------------------------- */

static void who_asks_about_it_hears_of_nobody(void **state)
{
	struct weir_actor_id children[4], parent;
	char path[40];

	(void)state;
	open_both();
	assert_false(weir_system_is_alive(here.system, stranger.id));
	assert_null(weir_system_actor(here.system, stranger.id));
	assert_int_equal(weir_system_children(here.system, stranger.id,
					      children, 4),
			 -ESRCH);
	assert_int_equal(weir_system_restarts(here.system, stranger.id),
			 -ESRCH);
	assert_int_equal(weir_system_path(here.system, stranger.id, path,
					  sizeof(path)),
			 -ESRCH);
	parent = weir_system_parent(here.system, stranger.id);
	assert_true(weir_actor_id_equal(parent, WEIR_ACTOR_ID_NONE));
	close_both();
}

static void nobody_ends_by_it(void **state)
{
	struct weir_actor_id user;

	(void)state;
	open_both();
	assert_int_equal(weir_system_stop_actor(here.system, stranger.id),
			 -ESRCH);
	assert_int_equal(weir_system_poison(here.system, stranger.id), -ESRCH);
	assert_int_equal(weir_system_kill(here.system, stranger.id), -ESRCH);
	/* nor is a guardian one of ours, which would be -EPERM */
	user = weir_system_lookup(there, "/user");
	assert_int_equal(weir_system_stop_actor(there, user), -EPERM);
	assert_int_equal(weir_system_stop_actor(here.system, user), -ESRCH);
	close_both();
}

static void nobody_is_its_child(void **state)
{
	static struct someone child;

	(void)state;
	open_both();
	child = (struct someone){0};
	assert_int_equal(join(&child, here.system, stranger.id), -ESRCH);
	weir_actor_stop(&child.actor);
	close_both();
}

static void what_is_sent_to_it_is_not_taken(void **state)
{
	struct weir_ask ask = {.released = NULL};

	(void)state;
	open_both();
	assert_int_equal(weir_system_tell(here.system, stranger.id, &local),
			 -ESRCH);
	assert_int_equal(weir_system_ask(here.system, stranger.id, &ask,
					 WEIR_FOREVER),
			 0);
	assert_int_equal(weir_completion_error(&ask.answer)->code, -ESRCH);
	weir_ask_unref(&ask);
	weir_system_send(here.system, stranger.id, NULL, &local);
	assert_int_equal(weir_system_dead_letter_count(here.system), 1);
	world_settle(&here);
	assert_int_equal(local.took + stranger.took, 0);
	assert_int_equal(weir_system_tell(there, stranger.id, &local), 0);
	world_settle(&here);
	assert_int_equal(stranger.took, 1);
	close_both();
}

/* As any actor that has ended. */
static uint32_t n_told;

static void told(struct weir_watcher *watcher,
		 const struct weir_terminated *notice_)
{
	(void)watcher;
	assert_false(notice_->existed);
	n_told++;
}

static void has_ended(struct weir_graceful_stop *stop, int rc)
{
	(void)stop;
	assert_int_equal(rc, 0);
	n_told++;
}

static void who_watches_it_hears_that_it_is_dead(void **state)
{
	struct weir_watcher watcher = {.terminated = told};
	struct weir_graceful_stop stop = {.done = has_ended};
	struct someone watching = {.notices = 0};

	(void)state;
	open_both();
	n_told = 0;
	assert_int_equal(weir_watcher_add(here.system, stranger.id, &watcher),
			 0);
	assert_int_equal(weir_system_stop_actor_async(here.system, stranger.id,
						      true, &stop,
						      WEIR_FOREVER),
			 0);
	assert_int_equal(weir_system_actor_end_wait(here.system, stranger.id,
						    WEIR_FOREVER),
			 0);
	watching.watched = stranger.id;
	assert_int_equal(join(&watching, here.system, WEIR_ACTOR_ID_NONE), 0);
	world_settle(&here);
	assert_int_equal(n_told, 2);
	assert_int_equal(watching.notices, 1);
	assert_int_equal(watching.dead, 1);
	assert_int_equal(weir_system_stop_actor(here.system, watching.id), 0);
	world_settle(&here);
	close_both();
}

/* --- Many systems --------------------------------------------------------- */

/* In a slot that both have used often. */
static void also_when_actors_have_come_and_gone(void **state)
{
	struct weir_actor_id old;
	size_t i;

	(void)state;
	open_both();
	for (i = 0; i < 1000; i++) {
		old = i % 2 ? local.id : stranger.id;
		assert_int_equal(weir_system_stop_actor(
					 i % 2 ? here.system : there, old),
				 0);
		world_settle(&here);
		assert_int_equal(
			i % 2 ? join(&local, here.system, WEIR_ACTOR_ID_NONE)
			      : join(&stranger, there, WEIR_ACTOR_ID_NONE),
			0);
		world_settle(&here);
		assert_int_equal(local.id.slot, stranger.id.slot);
		assert_false(weir_system_is_alive(here.system, stranger.id));
		assert_false(weir_system_is_alive(there, local.id));
		assert_false(weir_system_is_alive(here.system, old));
		assert_false(weir_system_is_alive(there, old));
	}
	close_both();
}

#define SYSTEMS 300u

static void any_two_systems_begin_far_from_each_other(void **state)
{
	uint32_t first[SYSTEMS], apart;
	size_t i, k;

	(void)state;
	for (i = 0; i < SYSTEMS; i++) {
		world_init(&here, 1, 0);
		world_system(&here, NULL);
		first[i] = weir_system_lookup(here.system, "/user").generation;
		world_stop(&here);
		world_fini(&here);
		assert_int_not_equal(first[i], 0);
		for (k = 0; k < i; k++) {
			apart = first[i] - first[k];
			assert_in_range(apart, UINT32_MAX / (3 * SYSTEMS),
					UINT32_MAX -
						UINT32_MAX / (3 * SYSTEMS));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_asks_about_it_hears_of_nobody),
		cmocka_unit_test(nobody_ends_by_it),
		cmocka_unit_test(nobody_is_its_child),
		cmocka_unit_test(what_is_sent_to_it_is_not_taken),
		cmocka_unit_test(who_watches_it_hears_that_it_is_dead),
		cmocka_unit_test(also_when_actors_have_come_and_gone),
		cmocka_unit_test(any_two_systems_begin_far_from_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
