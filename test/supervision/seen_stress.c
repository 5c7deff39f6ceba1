/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshots while actors of a system start, restart and end on other threads. */
#include "inspect/kit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

#include "kit/world.h"

enum { MOST = 64, LOOKERS = 2 };

static uint32_t over, released;
static uint64_t n_looks;
static struct weir_executor *executor;

static void end_it(struct node *self)
{
	assert(weir_actor_end(&self->actor) == 0);
}

static void fail_first(struct node *self)
{
	self->before = end_it;
	assert(weir_actor_fail_code(&self->actor, -EIO) == 0);
}

static void free_it(struct weir_actor *actor)
{
	free(weir_container_of(actor, struct node, actor));
	ck_pr_inc_32(&released);
}

/* What refers to something refers to what is there. A thread cannot fail a
 * test. */
static void check(const struct weir_snapshot *snapshot)
{
	const struct weir_seen_child *child;
	struct weir_reason reasons[4];
	size_t i, n;

	for (i = 0; i < snapshot->n_children; i++) {
		child = &snapshot->children[i];
		assert(child->actor < snapshot->n_actors);
		assert(snapshot->actors[child->actor].child == i);
		assert(child->parent == WEIR_NOWHERE ||
		       child->parent < snapshot->n_actors);
		assert(!child->path[0] || child->path[0] == '/');
		assert(child->error == 0 || child->error == -EIO ||
		       child->error == -ECANCELED);
		assert(child->error == 0 || child->message[0]);
	}
	for (i = 0; i < snapshot->n_actors; i++) {
		n = weir_snapshot_why(snapshot, i, reasons, 4);
		assert(n >= 1 && n <= snapshot->n_actors);
	}
}

static void *look_on(void *context)
{
	struct weir_snapshot *snapshot;

	while (!ck_pr_load_32(&over)) {
		assert(weir_snapshot_new(&snapshot, &executor, 1, 0) == 0);
		check(snapshot);
		weir_snapshot_free(snapshot);
		ck_pr_inc_64(&n_looks);
	}
	return NULL;
}

/* It fails, restarts and ends by itself; each third is stopped instead. */
static void spawn_one(struct weir_system *system, struct weir_actor_id parent,
		      uint64_t i)
{
	const struct weir_spawn_options options = {.name = i % 2 ? "odd"
								 : NULL};
	struct node *node = malloc(sizeof(*node));
	struct weir_actor_id id;
	int rc;

	assert_non_null(node);
	node_init(node, executor, "short", 1, 0);
	node->ops.released = free_it;
	node->before = fail_first;
	node_put(node, 0);
	node_put(node, 0);
	rc = weir_system_spawn(system, parent, &node->actor, &options, &id);
	if (rc < 0) { /* the name is taken still */
		assert_int_equal(rc, -EEXIST);
		weir_actor_stop(&node->actor);
	} else if (i % 3 == 0) {
		(void)weir_system_stop_actor(system, id);
	}
}

static void what_starts_restarts_and_ends_can_be_looked_at(void **state)
{
	const struct weir_threads_options one = {.workers = 1};
	const struct weir_system_options options = {
		.event = weir_supervision_event_ignore};
	uint64_t i, n = test_count(250000);
	pthread_t lookers[LOOKERS];
	struct weir_threads *threads;
	struct weir_system *system;
	struct weir_actor_id id;
	struct node top;

	ck_pr_store_32(&over, 0);
	assert_int_equal(weir_threads_new(&threads, &one), 0);
	executor = weir_threads_executor(threads);
	assert_int_equal(weir_system_new(&system, executor, &options), 0);
	node_init(&top, executor, "top", 0, 0);
	assert_int_equal(weir_system_spawn(system, WEIR_ACTOR_ID_NONE,
					   &top.actor, NULL, &id),
			 0);
	for (i = 0; i < LOOKERS; i++)
		assert_int_equal(
			pthread_create(&lookers[i], NULL, look_on, NULL), 0);
	for (i = 0; i < n; i++) {
		while (i - ck_pr_load_32(&released) > MOST)
			(void)sched_yield();
		spawn_one(system, id, i);
	}
	end_system(system);
	ck_pr_store_32(&over, 1);
	for (i = 0; i < LOOKERS; i++)
		assert_int_equal(pthread_join(lookers[i], NULL), 0);
	while (weir_executor_alive(executor) > 0)
		(void)sched_yield();
	assert_int_equal(ck_pr_load_32(&released), n);
	assert_true(n_looks > 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_starts_restarts_and_ends_can_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
