/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over large families while others change them: children fail, with whom
 * all restart, end, and are spawned by two threads, so that a walk is held up
 * wherever it may let go of the lock. When all is quiet everybody is suspended
 * as often as there are reasons.
 */
#include "kit/world.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <weir/completion.h>
#include <weir/threads.h>

#include "base/random.h"
#include "supervision/branch.h"

enum { N = 900, BELOW = 4 };

struct node {
	struct weir_actor actor;
	struct weir_actor_id ref;
	uint32_t fails; /* atomic: it is to */
	uint32_t free;	/* atomic: nobody has it */
};

static struct weir_system *systm;
static struct weir_executor *executor;
static struct node tops[3], middles[3][N], leaves[3][N][BELOW];

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static int signalled(struct weir_actor *actor)
{
	struct node *node = weir_container_of(actor, struct node, actor);

	return ck_pr_fas_32(&node->fails, 0) ? -EIO : 0;
}

static void released(struct weir_actor *actor)
{
	struct node *node = weir_container_of(actor, struct node, actor);

	/* release: it is done with; pairs with the acquire in take() */
	ck_pr_fence_release();
	ck_pr_store_32(&node->free, 1);
}

/* Children are kept: they restart, too. */
static int pre_restart(struct weir_actor *actor, struct weir_error *error)
{
	(void)actor;
	(void)error;
	return 0;
}

static const struct weir_rule restart = {.directive = WEIR_DIRECTIVE_RESTART};
static const struct weir_strategy all = {.rules = &restart,
					 .n_rules = 1,
					 .scope = WEIR_SCOPE_ALL_FOR_ONE};
static const struct weir_strategy rest_in_order = {
	.rules = &restart,
	.n_rules = 1,
	.scope = WEIR_SCOPE_REST_FOR_ONE,
	.ordered = true,
};
static const struct weir_lifecycle lives[] = {
	{.pre_restart = pre_restart, .strategy = &all},
	{.pre_restart = pre_restart, .strategy = &rest_in_order},
	{.strategy = &all},
};
static const struct weir_actor_ops ops[] = {
	{.turns = no_turns,
	 .signalled = signalled,
	 .released = released,
	 .lifecycle = &lives[0]},
	{.turns = no_turns,
	 .signalled = signalled,
	 .released = released,
	 .lifecycle = &lives[1]},
	{.turns = no_turns,
	 .signalled = signalled,
	 .released = released,
	 .lifecycle = &lives[2]},
};

/* False: somebody has it. */
static bool take(struct node *node)
{
	if (ck_pr_fas_32(&node->free, 0) == 0)
		return false;
	/* acquire: pairs with the release in released() */
	ck_pr_fence_acquire();
	return true;
}

static void grow(struct weir_actor_id parent, struct node *node, size_t kind)
{
	struct weir_actor_id ref;

	if (!take(node))
		return;
	assert_int_equal(weir_actor_init(&node->actor, &ops[kind], executor),
			 0);
	/* its parent may have ended, or stop */
	if (weir_system_spawn(systm, parent, &node->actor, NULL, &ref) != 0) {
		weir_actor_stop(&node->actor);
		return;
	}
	weir__lock(&systm->lock.plain);
	node->ref = ref;
	weir__unlock(&systm->lock.plain);
}

static struct weir_actor_id ref_of(const struct node *node)
{
	struct weir_actor_id ref;

	weir__lock(&systm->lock.plain);
	ref = node->ref;
	weir__unlock(&systm->lock.plain);
	return ref;
}

static void fail_one(struct node *node)
{
	struct weir_actor *actor = weir_system_actor(systm, ref_of(node));

	if (!actor)
		return;
	ck_pr_store_32(&node->fails, 1);
	weir_actor_signal(actor);
	weir_actor_unref(actor);
}

static void disturb(uint64_t *random)
{
	uint64_t draw = weir__splitmix(random);
	size_t i = draw % 3, j = draw / 3 % N, k = draw / 7 % BELOW;
	struct node *middle = &middles[i][j], *leaf = &leaves[i][j][k];

	switch (draw >> 32 & 15) {
	case 0:
		fail_one(draw >> 60 ? middle : &tops[i]);
		break;
	case 1:
	case 2:
		fail_one(leaf);
		break;
	case 3:
		(void)weir_system_stop_actor(systm, ref_of(middle));
		break;
	case 4:
	case 5:
		(void)weir_system_stop_actor(systm, ref_of(leaf));
		break;
	case 6:
	case 7:
	case 8:
		grow(ref_of(&tops[i]), middle, i);
		break;
	default:
		grow(ref_of(middle), leaf, i);
	}
}

static void *disturber(void *data)
{
	uint64_t random = (uint64_t)(uintptr_t)data, n = test_count(400000);

	while (n-- > 0)
		disturb(&random);
	return NULL;
}

static void plant(void)
{
	size_t i, j, k;

	for (i = 0; i < 3; i++) {
		tops[i].free = 1;
		grow(WEIR_ACTOR_ID_NONE, &tops[i], i);
		for (j = 0; j < N; j++) {
			middles[i][j].free = 1;
			grow(ref_of(&tops[i]), &middles[i][j], i);
			for (k = 0; k < BELOW; k++) {
				leaves[i][j][k].free = 1;
				grow(ref_of(&middles[i][j]), &leaves[i][j][k],
				     i);
			}
		}
	}
}

static void who_comes_and_goes_is_as_its_parent_is(void **state)
{
	const struct weir_threads_options two = {.workers = 2};
	const struct weir_system_options options = {
		.strategy = &all, .event = weir_supervision_event_ignore};
	struct weir_threads *threads;
	pthread_t others[2];
	size_t i;

	(void)state;
	assert_int_equal(weir_threads_new(&threads, &two), 0);
	executor = weir_threads_executor(threads);
	assert_int_equal(weir_system_new(&systm, executor, &options), 0);
	plant();
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&others[i], NULL, disturber,
						(void *)(uintptr_t)(i + 1)),
				 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(others[i], NULL), 0);
	while (!weir_threads_idle(threads))
		sched_yield();
	assert_true(weir__system_check(systm));
	assert_null(systm->walks.first);
	end_system(systm);
	assert_int_equal(weir_threads_free(threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_comes_and_goes_is_as_its_parent_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
