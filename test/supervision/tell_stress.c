/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads tell actors by their ids while other threads stop these and spawn
 * others in the same cells. Every item is taken, dropped by the library, or
 * refused and the caller's: the three counts add up.
 */
#include "kit/world.h"

#include <errno.h>
#include <pthread.h>

#include <ck_pr.h>

#include <weir/death_watch.h>
#include <weir/tell.h>
#include <weir/threads.h>

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define TELLERS 2
#define TARGETS 4

struct target {
	struct weir_actor actor;
	struct weir_in in;
	struct scene *scene;
};

struct scene {
	struct weir_threads *pool;
	struct weir_system *system;
	uint64_t ids[TARGETS];	 /* slot and generation in one word, atomic */
	uint32_t taken, dropped; /* any thread */
	uint32_t spawned, released;
};

struct teller {
	struct scene *scene;
	uint64_t rounds, told, sent, refused;
};

static void drop(void *item, void *context)
{
	struct scene *scene = context;

	ck_pr_inc_32(&scene->dropped);
}

static inline int take(struct weir_actor *actor)
{
	struct target *self = weir_container_of(actor, struct target, actor);

	(void)weir_in_take(&self->in);
	ck_pr_inc_32(&self->scene->taken);
	return 0;
}

WEIR_TURN(take)

static void target_released(struct weir_actor *actor)
{
	struct target *self = weir_container_of(actor, struct target, actor);

	ck_pr_inc_32(&self->scene->released);
	free(self);
}

static const struct weir_actor_ops target_ops = {.name = "target",
						 .turns = take_n,
						 .released = target_released};

static uint64_t pack(struct weir_actor_id id)
{
	return (uint64_t)id.generation << 32 | id.slot;
}

static struct weir_actor_id unpack(uint64_t word)
{
	return (struct weir_actor_id){(uint32_t)word, (uint32_t)(word >> 32)};
}

static void spawn(struct scene *scene, const struct weir_items *items, size_t i)
{
	struct target *target = calloc(1, sizeof(*target));
	struct weir_actor_id id;

	assert(target);
	target->scene = scene;
	assert(weir_actor_init(&target->actor, &target_ops,
			       weir_threads_executor(scene->pool)) == 0);
	assert(weir_in_init(&target->in, &target->actor, 4, items) == 0);
	assert(weir_system_spawn(scene->system, WEIR_ACTOR_ID_NONE,
				 &target->actor, NULL, &id) == 0);
	scene->spawned++;
	ck_pr_store_64(&scene->ids[i], pack(id));
}

/* Some are waited for, for too short a time or until they have ended. */
static void stop(struct scene *scene, uint64_t i)
{
	struct weir_actor_id id = unpack(scene->ids[i % TARGETS]);
	int rc;

	assert_int_equal(weir_system_stop_actor(scene->system, id), 0);
	if (i % 8)
		return;
	rc = weir_system_actor_end_wait(scene->system, id,
					i % 16 ? 2000 : WEIR_FOREVER);
	assert_true(rc == 0 || (rc == -ETIMEDOUT && i % 16));
}

static void *tell_all(void *arg)
{
	struct teller *self = arg;
	struct scene *scene = self->scene;
	const struct weir_items items = {.drop = drop, .context = scene};
	struct weir_actor_id to;
	uint64_t i;
	int rc;

	for (i = 0; i < self->rounds; i++) {
		to = unpack(ck_pr_load_64(&scene->ids[i % TARGETS]));
		if (i % 3 == 0) {
			weir_system_send(scene->system, to, &items, scene);
			self->sent++;
			continue;
		}
		rc = weir_system_tell(scene->system, to, scene);
		assert(rc == 0 || rc == -EAGAIN || rc == -ESRCH ||
		       rc == -EPIPE);
		if (rc == 0)
			self->told++;
		else
			self->refused++;
	}
	return NULL;
}

static void scene_open(struct scene *scene)
{
	struct weir_threads_options options = {.workers = 2};

	*scene = (struct scene){.pool = NULL};
	assert_int_equal(weir_threads_new(&scene->pool, &options), 0);
	assert_int_equal(weir_system_new(&scene->system,
					 weir_threads_executor(scene->pool),
					 NULL),
			 0);
}

static void scene_close(struct scene *scene)
{
	end_system(scene->system);
	assert_int_equal(weir_threads_free(scene->pool), 0);
}

static void every_item_has_one_fate_while_ids_are_reused(void **state)
{
	struct scene scene;
	const struct weir_items items = {.drop = drop, .context = &scene};
	struct teller tellers[TELLERS] = {{NULL}};
	pthread_t threads[TELLERS];
	uint64_t rounds = test_count(60000), i, told = 0;

	scene_open(&scene);
	for (i = 0; i < TARGETS; i++)
		spawn(&scene, &items, i);
	for (i = 0; i < TELLERS; i++) {
		tellers[i] =
			(struct teller){.scene = &scene, .rounds = rounds * 4};
		assert_int_equal(pthread_create(&threads[i], NULL, tell_all,
						&tellers[i]),
				 0);
	}
	for (i = 0; i < rounds; i++) {
		stop(&scene, i);
		spawn(&scene, &items, i % TARGETS);
	}
	for (i = 0; i < TELLERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		told += tellers[i].told + tellers[i].sent;
		assert_int_equal(tellers[i].told + tellers[i].sent +
					 tellers[i].refused,
				 tellers[i].rounds);
	}
	scene_close(&scene);
	assert_int_equal(scene.taken + scene.dropped, told);
	assert_int_equal(scene.released, scene.spawned);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_item_has_one_fate_while_ids_are_reused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
