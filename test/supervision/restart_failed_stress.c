/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads put into an actor that fails again and again, and tries the failed
 * items again, queues them behind, puts them aside or leaves them. Each item is
 * handled or dropped once.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

#include <weir/tell.h>
#include <weir/threads.h>

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define PUTTERS 2

struct worker {
	struct weir_actor actor;
	struct weir_in in;
	uint64_t random;
	uint64_t handled, failed; /* its own */
	uint64_t dropped;	  /* any thread */
	uint8_t *ended;		  /* of each item, how often */
};

struct stage {
	struct weir_threads *pool;
	struct weir_system *system;
	struct weir_items items;
	struct worker worker;
};

struct putter {
	struct stage *stage;
	uint64_t first, n;
};

static uint64_t draw(struct worker *self, uint64_t below)
{
	self->random = self->random * 6364136223846793005u +
		       1442695040888963407u;
	return (self->random >> 33) % below;
}

/* Whoever has the item last writes here: a race if there are two. */
static void end_item(struct worker *self, void *item)
{
	assert(self->ended[(uintptr_t)item]++ == 0);
}

static void drop(void *item, void *context)
{
	struct worker *self = context;

	end_item(self, item);
	ck_pr_inc_64(&self->dropped);
}

static inline int work(struct weir_actor *actor)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);
	void *item = weir_in_peek(&self->in);

	if (!draw(self, 8)) {
		self->failed++;
		return draw(self, 2) ? -EIO : -EAGAIN;
	}
	weir_in_consume(&self->in);
	if (!draw(self, 4) && weir_in_stash(&self->in, item) == 0)
		return 0;
	end_item(self, item);
	self->handled++;
	return draw(self, 16) ? 0 : weir_in_unstash_all(&self->in);
}

WEIR_TURN(work)

static int save(struct weir_actor *actor, struct weir_error *cause)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);
	uint64_t what = draw(self, 4);
	void *item;

	if (what == 0)
		return 0;
	if (what == 1) {
		assert(weir_in_retry_failed(&self->in) == 0);
		return 0;
	}
	assert(weir_in_take_failed(&self->in, &item) == 0);
	if ((what == 2 ? weir_in_put(&self->in, item)
		       : weir_in_stash(&self->in, item)) < 0)
		drop(item, self);
	return 0;
}

static const struct weir_lifecycle life = {.pre_restart = save};
static const struct weir_actor_ops ops = {.turns = work_n, .lifecycle = &life};

static const struct weir_rule rules[] = {
	{.code = -EAGAIN, .directive = WEIR_DIRECTIVE_RESUME},
	{.directive = WEIR_DIRECTIVE_RESTART},
};
static const struct weir_strategy strategy = {.rules = rules, .n_rules = 2};

static void *put_all(void *arg)
{
	struct putter *self = arg;
	struct worker *worker = &self->stage->worker;
	uint64_t i;
	int rc;

	for (i = self->first; i < self->first + self->n; i++)
		while ((rc = weir_actor_tell(&worker->actor, (void *)i)) < 0) {
			assert(rc == -EAGAIN);
			sched_yield();
		}
	weir_actor_unref(&worker->actor);
	return NULL;
}

static void stage_open(struct stage *stage, uint64_t n)
{
	const struct weir_system_options options = {
		.strategy = &strategy, .event = weir_supervision_event_ignore};
	struct weir_threads_options workers = {.workers = 1};
	struct worker *worker = &stage->worker;
	struct weir_executor *executor;

	*stage = (struct stage){.items = {.drop = drop, .context = worker}};
	assert_int_equal(weir_threads_new(&stage->pool, &workers), 0);
	executor = weir_threads_executor(stage->pool);
	assert_int_equal(weir_system_new(&stage->system, executor, &options),
			 0);
	worker->ended = calloc(n + 1, 1);
	assert_non_null(worker->ended);
	assert_int_equal(weir_actor_init(&worker->actor, &ops, executor), 0);
	assert_int_equal(
		weir_in_init(&worker->in, &worker->actor, 8, &stage->items), 0);
	assert_int_equal(weir_in_stash_init(&worker->in), 0);
	assert_int_equal(weir_system_spawn(stage->system, WEIR_ACTOR_ID_NONE,
					   &worker->actor, NULL, NULL),
			 0);
}

static void each_item_is_handled_or_dropped_once(void **state)
{
	uint64_t n = test_count(200000), i;
	struct putter putters[PUTTERS];
	pthread_t threads[PUTTERS];
	struct stage stage;

	stage_open(&stage, n * PUTTERS);
	for (i = 0; i < PUTTERS; i++) {
		putters[i] = (struct putter){&stage, i * n + 1, n};
		weir_actor_ref(&stage.worker.actor);
		assert_int_equal(pthread_create(&threads[i], NULL, put_all,
						&putters[i]),
				 0);
	}
	for (i = 0; i < PUTTERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	weir_system_stop(stage.system);
	assert_int_equal(
		weir_completion_wait(weir_system_terminated(stage.system),
				     WEIR_FOREVER),
		0);
	assert_int_equal(weir_system_free(stage.system), 0);
	assert_int_equal(weir_threads_free(stage.pool), 0);
	assert_int_equal(stage.worker.handled + stage.worker.dropped,
			 n * PUTTERS);
	assert_true(stage.worker.failed > 0);
	print_message("%ju failed, %ju dropped\n",
		      (uintmax_t)stage.worker.failed,
		      (uintmax_t)stage.worker.dropped);
	free(stage.worker.ended);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_item_is_handled_or_dropped_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
