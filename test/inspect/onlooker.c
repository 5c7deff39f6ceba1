/* SPDX-License-Identifier: BSD-2-Clause */
/* When looks are taken, and what they know. */
#include "inspect/kit.h"

#include <errno.h>
#include <sched.h>

#include <ck_pr.h>

#include "actor/kit.h"
#include "inspect/onlooker.h"

enum { MS = 1000000 };

static const uint64_t SECOND = UINT64_C(1000) * MS;

const struct weir_allocator *__wrap_weir_allocator_default(void);
const struct weir_allocator *__real_weir_allocator_default(void);

static const struct weir_allocator *wanted; /* NULL: the real one */

/* What all executors of the process are looked at with. */
const struct weir_allocator *__wrap_weir_allocator_default(void)
{
	return wanted ? wanted : __real_weir_allocator_default();
}

/* An actor that waits for an hour. */
struct scene {
	struct weir_sim *sim;
	struct node node;
	struct weir__onlooker onlooker;
	uint64_t now_ns;
};

static void begin(struct scene *scene)
{
	*scene = (struct scene){.now_ns = SECOND};
	assert_int_equal(weir_sim_new(&scene->sim, 1, NULL), 0);
	node_init(&scene->node, weir_sim_executor(scene->sim), "one", 1, 0);
	node_start(&scene->node);
	weir_sim_run(scene->sim);
}

static void end(struct scene *scene)
{
	weir__onlooker_fini(&scene->onlooker);
	node_stop(&scene->node);
	weir_sim_run(scene->sim);
	assert_int_equal(weir_sim_free(scene->sim), 0);
}

/* Takes all steps of that time. */
static void pass(struct scene *scene, uint64_t ns)
{
	uint64_t until_ns = scene->now_ns + ns, left_ns;

	for (;;) {
		left_ns =
			weir__onlooker_left_ns(&scene->onlooker, scene->now_ns);
		if (left_ns > until_ns - scene->now_ns)
			break;
		scene->now_ns += left_ns;
		weir__onlooker_step(&scene->onlooker, scene->now_ns);
	}
	scene->now_ns = until_ns;
}

/* As somebody who asks. */
static struct weir_seen_actor ask(struct scene *scene)
{
	struct weir_snapshot *snapshot;
	struct weir_seen_actor seen;

	weir__onlooker_ask(&scene->onlooker, scene->now_ns);
	assert_int_equal(weir__onlooker_snapshot(&scene->onlooker,
						 scene->now_ns, &snapshot),
			 0);
	assert_int_equal(snapshot->n_actors, 1);
	seen = snapshot->actors[0];
	weir_snapshot_free(snapshot);
	return seen;
}

static bool rests(const struct scene *scene)
{
	return weir__onlooker_left_ns(&scene->onlooker, scene->now_ns) ==
		       UINT64_MAX &&
	       !scene->onlooker.scratch && !scene->onlooker.history.any;
}

static void nothing_is_looked_at_before_somebody_asks(void **state)
{
	struct scene scene;

	begin(&scene);
	assert_true(rests(&scene));
	weir__onlooker_step(&scene.onlooker, scene.now_ns);
	assert_true(rests(&scene));
	end(&scene);
}

static void a_second_question_is_told_shares_and_since_when(void **state)
{
	struct weir_seen_actor seen;
	struct scene scene;

	begin(&scene);
	seen = ask(&scene);
	assert_true(seen.since_ns == WEIR_UNKNOWN);
	assert_int_equal(seen.idle, 0);
	pass(&scene, SECOND);
	seen = ask(&scene);
	assert_true(seen.since_ns == SECOND);
	assert_int_equal(seen.idle, 1000);
	end(&scene);
}

static void it_rests_soon_after_one_question(void **state)
{
	struct scene scene;

	begin(&scene);
	(void)ask(&scene);
	pass(&scene, WEIR__ONLOOKER_ONCE_NS - 1);
	assert_false(rests(&scene));
	pass(&scene, 1);
	assert_true(rests(&scene));
	end(&scene);
}

static void it_looks_for_longer_when_it_is_asked_again(void **state)
{
	struct scene scene;

	begin(&scene);
	(void)ask(&scene);
	pass(&scene, WEIR__ONLOOKER_KEEP_NS - 1);
	assert_true(rests(&scene));
	(void)ask(&scene);
	pass(&scene, WEIR__ONLOOKER_KEEP_NS - 1);
	assert_false(rests(&scene));
	pass(&scene, 1);
	assert_true(rests(&scene));
	/* which was too long ago to be another question */
	(void)ask(&scene);
	pass(&scene, WEIR__ONLOOKER_ONCE_NS);
	assert_true(rests(&scene));
	end(&scene);
}

static uint32_t hangs, may_return;

static void hang(struct node *self)
{
	ck_pr_store_32(&hangs, 1);
	while (!ck_pr_load_32(&may_return))
		(void)sched_yield();
}

/* Not only the first one, which is given a snapshot of two looks. */
static void each_question_is_told_of_a_turn_that_does_not_return(void **state)
{
	const struct weir_threads_options one = {.workers = 1};
	struct weir_snapshot *snapshot;
	struct weir_threads *threads;
	struct weir_executor *of;
	struct scene scene = {.now_ns = SECOND};
	char text[256];
	int i;

	hangs = may_return = 0;
	assert_int_equal(weir_threads_new(&threads, &one), 0);
	of = weir_threads_executor(threads);
	node_init(&scene.node, of, "slow", 1, 0);
	scene.node.before = hang;
	node_start(&scene.node);
	node_put(&scene.node, 0);
	while (!ck_pr_load_32(&hangs))
		(void)sched_yield();
	for (i = 0; i < 3; i++) {
		weir__onlooker_ask(&scene.onlooker, scene.now_ns);
		assert_int_equal(weir__onlooker_snapshot(&scene.onlooker,
							 scene.now_ns,
							 &snapshot),
				 0);
		(void)weir_snapshot_why_text(snapshot, 0, text, sizeof(text));
		assert_non_null(strstr(text, "slow is in a turn that does not "
					     "return, on thread"));
		weir_snapshot_free(snapshot);
		pass(&scene, SECOND);
	}
	weir__onlooker_fini(&scene.onlooker);
	ck_pr_store_32(&may_return, 1);
	node_stop(&scene.node);
	while (weir_executor_alive(of) > 0)
		(void)sched_yield();
	assert_int_equal(weir_threads_free(threads), 0);
}

/* Whichever allocation fails, what was known still is, and nothing is left. */
static void without_memory_it_goes_on(void **state)
{
	struct weir_snapshot *snapshot;
	struct scene scene;
	struct heap heap;
	size_t n = 0;
	bool over;
	int rc;

	begin(&scene);
	do {
		heap_init(&heap, SIZE_MAX);
		wanted = &heap.allocator;
		weir__onlooker_ask(&scene.onlooker, scene.now_ns);
		heap.fail = ++n;
		pass(&scene, 3 * (uint64_t)20 * MS);
		rc = weir__onlooker_snapshot(&scene.onlooker, scene.now_ns,
					     &snapshot);
		over = heap.calls < heap.fail;
		assert_true(rc == 0 || (rc == -ENOMEM && !over && !snapshot));
		weir_snapshot_free(snapshot);
		heap.fail = SIZE_MAX;
		pass(&scene, SECOND);
		assert_true(ask(&scene).since_ns < scene.now_ns);
		weir__onlooker_fini(&scene.onlooker);
		scene.onlooker.asked_ns = 0;
		assert_int_equal(heap.live, 0);
	} while (!over);
	assert_in_range(n, 20, 60);
	wanted = NULL;
	end(&scene);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_looked_at_before_somebody_asks),
		cmocka_unit_test(
			a_second_question_is_told_shares_and_since_when),
		cmocka_unit_test(it_rests_soon_after_one_question),
		cmocka_unit_test(it_looks_for_longer_when_it_is_asked_again),
		cmocka_unit_test(
			each_question_is_told_of_a_turn_that_does_not_return),
		cmocka_unit_test(without_memory_it_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
