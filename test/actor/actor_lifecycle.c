/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls about an actor's life that meet, each in the order that a test wants.
 *
 * A start is met by a stop from another thread, at each place where that can be
 * told apart: while it registers, while it is submitted, while it is refused;
 * and likewise of weir_system_spawn(). The other thread runs to its end where
 * the start calls out; so does weir_publisher_subscribe(). Then: the end of an
 * open merge, and what is put before the start.
 */
#include "actor/kit.h"

#include <pthread.h>

struct scene {
	struct weir_executor executor;
	struct weir_allocator allocator;
	struct weir_task *head, **tail;
	size_t live;
	bool in_alloc, in_submit; /* where the other thread runs */
	bool refuse;		  /* submissions */
	bool fail;		  /* allocations */
	void (*other)(struct scene *scene);
	struct weir_ending drain;
	uint32_t drained;
	struct ledger ledger;
	struct sink sink;
};

static void *run_other(void *context)
{
	struct scene *scene = context;

	scene->other(scene);
	return NULL;
}

/* Once. */
static void meet(struct scene *scene, bool *here)
{
	pthread_t thread;

	if (!*here)
		return;
	*here = false;
	assert_int_equal(pthread_create(&thread, NULL, run_other, scene), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *alloc(size_t size, void *context)
{
	struct scene *scene = context;

	meet(scene, &scene->in_alloc);
	if (scene->fail)
		return NULL;
	scene->live++;
	return malloc(size);
}

static void release(void *memory, size_t size, void *context)
{
	((struct scene *)context)->live--;
	free(memory);
}

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	struct scene *scene =
		weir_container_of(executor, struct scene, executor);

	meet(scene, &scene->in_submit);
	if (scene->refuse)
		return -ENOSPC;
	task->next = NULL;
	*scene->tail = task;
	scene->tail = &task->next;
	return 0;
}

static uint64_t now(struct weir_executor *executor)
{
	return 0;
}

static void run(struct scene *scene)
{
	struct weir_task *task;

	while ((task = scene->head)) {
		scene->head = task->next;
		if (!scene->head)
			scene->tail = &scene->head;
		weir_task_run(task);
	}
}

static void stop(struct scene *scene)
{
	weir_actor_stop(&scene->sink.actor);
}

/* With a reference for the test, and one token in its in-port. */
static void open_scene(struct scene *scene)
{
	static const struct weir_executor_ops ops = {.submit = submit,
						     .now = now};
	const struct weir_executor_options options = {
		.allocator = &scene->allocator,
	};

	memset(scene, 0, sizeof(*scene));
	scene->tail = &scene->head;
	scene->other = stop;
	scene->allocator = (struct weir_allocator){alloc, release, scene};
	assert_int_equal(weir_executor_init(&scene->executor, &ops, &options),
			 0);
	ledger_init(&scene->ledger, 2);
	sink_init(&scene->sink, &scene->executor, &scene->ledger, 2);
	assert_int_equal(weir_in_put(&scene->sink.in,
				     ledger_make(&scene->ledger, 1)),
			 0);
	weir_actor_ref(&scene->sink.actor);
}

static void let_go(struct scene *scene)
{
	run(scene);
	weir_actor_unref(&scene->sink.actor);
	fate_check(&scene->sink.fate, -ECANCELED);
}

static void tear_down(struct scene *scene)
{
	ledger_check(&scene->ledger);
	ledger_fini(&scene->ledger);
	assert_int_equal(weir_executor_fini(&scene->executor), 0);
	assert_int_equal(scene->live, 0);
}

static void close_scene(struct scene *scene)
{
	let_go(scene);
	tear_down(scene);
}

/* --- weir_actor_start() --------------------------------------------------- */

static void a_stop_while_a_start_registers_ends_it_once(void **state)
{
	struct scene scene;

	open_scene(&scene);
	scene.in_alloc = true;
	assert_int_equal(weir_actor_start(&scene.sink.actor), 0);
	assert_int_equal(scene.sink.fate.stopped, 0);
	run(&scene);
	assert_int_equal(scene.sink.fate.stopped, 1);
	close_scene(&scene);
}

static void a_stop_while_a_start_has_no_memory_ends_it_once(void **state)
{
	struct scene scene;

	open_scene(&scene);
	scene.in_alloc = scene.fail = true;
	assert_int_equal(weir_actor_start(&scene.sink.actor), -ENOMEM);
	assert_int_equal(scene.sink.fate.stopped, 1);
	assert_int_equal(weir_actor_start(&scene.sink.actor), -EALREADY);
	close_scene(&scene);
}

static void a_stop_while_a_start_is_submitted_ends_it_once(void **state)
{
	struct scene scene;

	open_scene(&scene);
	scene.in_submit = true;
	assert_int_equal(weir_actor_start(&scene.sink.actor), 0);
	run(&scene);
	assert_int_equal(scene.sink.fate.stopped, 1);
	close_scene(&scene);
}

static void a_stop_while_a_start_is_refused_ends_it_once(void **state)
{
	struct scene scene;

	open_scene(&scene);
	scene.in_submit = scene.refuse = true;
	assert_int_equal(weir_actor_start(&scene.sink.actor), -ENOSPC);
	assert_int_equal(scene.sink.fate.stopped, 1);
	assert_int_equal(weir_executor_alive(&scene.executor), 0);
	weir_actor_stop(&scene.sink.actor);
	close_scene(&scene);
}

static void a_start_that_was_refused_may_be_tried_again(void **state)
{
	struct scene scene;

	open_scene(&scene);
	scene.refuse = true;
	assert_int_equal(weir_actor_start(&scene.sink.actor), -ENOSPC);
	assert_int_equal(scene.sink.fate.stopped, 0);
	scene.refuse = false;
	assert_int_equal(
		weir_in_put(&scene.sink.in, ledger_make(&scene.ledger, 2)), 0);
	assert_int_equal(weir_actor_start(&scene.sink.actor), 0);
	run(&scene);
	assert_int_equal(scene.sink.seen, 2);
	weir_actor_stop(&scene.sink.actor);
	close_scene(&scene);
}

static void drained(struct weir_ending *drain)
{
	weir_container_of(drain, struct scene, drain)->drained++;
}

static void abort_all(struct scene *scene)
{
	scene->drain.done = drained;
	assert_int_equal(weir_executor_stop_async(&scene->executor,
						  &scene->drain, WEIR_FOREVER),
			 0);
}

/* Who starts it holds no reference: it has to be there to be stopped. */
static void an_abort_leaves_an_actor_whose_start_is_refused(void **state)
{
	struct scene scene;

	open_scene(&scene);
	scene.other = abort_all;
	scene.in_submit = scene.refuse = true;
	assert_int_equal(weir_actor_start(&scene.sink.actor), -ENOSPC);
	assert_int_equal(scene.drained, 1);
	assert_int_equal(scene.sink.fate.stopped, 0);
	assert_int_equal(weir_actor_start(&scene.sink.actor), -ESHUTDOWN);
	assert_int_equal(scene.sink.fate.stopped, 0);
	weir_actor_stop(&scene.sink.actor);
	assert_int_equal(scene.sink.fate.stopped, 1);
	close_scene(&scene);
}

/* --- weir_system_spawn() -------------------------------------------------- */

static struct weir_system *system_new(struct scene *scene)
{
	struct weir_system *system;

	open_scene(scene);
	assert_int_equal(weir_system_new(&system, &scene->executor, NULL), 0);
	run(scene);
	return system;
}

static void system_free(struct scene *scene, struct weir_system *system)
{
	let_go(scene);
	weir_system_stop(system);
	run(scene);
	assert_int_equal(weir_system_free(system), 0);
	tear_down(scene);
}

static int spawn(struct scene *scene, struct weir_system *system)
{
	static const struct weir_spawn_options named = {.name = "sink"};
	struct weir_actor_id ref;

	return weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &scene->sink.actor,
				 &named, &ref);
}

static void a_stop_while_a_spawn_gives_it_a_name_ends_it_once(void **state)
{
	struct scene scene;
	struct weir_system *system = system_new(&scene);

	scene.in_alloc = true;
	assert_int_equal(spawn(&scene, system), 0);
	assert_false(scene.in_alloc);
	assert_int_equal(scene.sink.fate.stopped, 0);
	run(&scene);
	assert_int_equal(scene.sink.fate.stopped, 1);
	system_free(&scene, system);
}

static void a_stop_while_a_spawn_has_no_memory_ends_it_once(void **state)
{
	struct scene scene;
	struct weir_system *system = system_new(&scene);

	scene.in_alloc = scene.fail = true;
	assert_int_equal(spawn(&scene, system), -ENOMEM);
	scene.fail = false;
	assert_int_equal(scene.sink.fate.stopped, 1);
	assert_int_equal(spawn(&scene, system), -EALREADY);
	system_free(&scene, system);
}

static void a_stop_while_a_spawn_is_refused_ends_it_once(void **state)
{
	struct scene scene;
	struct weir_system *system = system_new(&scene);

	scene.in_submit = scene.refuse = true;
	assert_int_equal(spawn(&scene, system), -ENOSPC);
	scene.refuse = false;
	assert_int_equal(scene.sink.fate.stopped, 1);
	system_free(&scene, system);
}

static void a_spawn_that_was_refused_may_be_tried_again(void **state)
{
	struct scene scene;
	struct weir_system *system = system_new(&scene);

	scene.refuse = true;
	assert_int_equal(spawn(&scene, system), -ENOSPC);
	scene.refuse = false;
	assert_int_equal(scene.sink.fate.stopped, 0);
	assert_int_equal(spawn(&scene, system), 0);
	run(&scene);
	assert_int_equal(scene.sink.seen, 1);
	weir_actor_stop(&scene.sink.actor);
	system_free(&scene, system);
}

/* --- weir_publisher_subscribe() ------------------------------------------- */

static struct source *subscribed_to;

static void stop_source(struct scene *scene)
{
	weir_actor_stop(&subscribed_to->actor);
}

static void a_stop_while_it_is_subscribed_to_reaches_who_subscribes(
	void **state)
{
	struct weir_reactive_out out;
	struct weir_reactive_in in;
	struct source source;
	struct scene scene;
	struct sink sink;

	open_scene(&scene);
	stop(&scene);
	let_go(&scene);
	sink_init(&sink, &scene.executor, &scene.ledger, 2);
	assert_int_equal(weir_reactive_in_init(&in, &sink.in, NULL), 0);
	source_init(&source, &scene.executor, &scene.ledger, 2, 2);
	assert_int_equal(weir_out_fan(&source.out, WEIR_FAN_BROADCAST, 2), 0);
	assert_int_equal(weir_reactive_out_init(&out, &source.out, NULL), 0);
	weir_actor_ref(&source.actor);
	weir_actor_ref(&sink.actor);
	subscribed_to = &source;
	scene.other = stop_source;
	scene.in_alloc = true;
	assert_int_equal(
		weir_publisher_subscribe(&out.publisher, &in.subscriber), 0);
	assert_false(scene.in_alloc);
	assert_int_equal(source.fate.stopped, 1);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	run(&scene);
	assert_int_equal(sink.ended, 1);
	assert_int_equal(sink.end_code, -ECANCELED);
	weir_actor_unref(&sink.actor);
	weir_actor_unref(&source.actor);
	fate_check(&source.fate, -ECANCELED);
	fate_check(&sink.fate, 0);
	tear_down(&scene);
}

/* --- weir_in_end() and a producer's error --------------------------------- */

/*
 * scene->sink, yet to be started, merges what is put and a source that has
 * failed.
 */
struct merge {
	struct scene scene;
	struct source source;
	struct weir_error *error; /* for weir_in_end() */
};

static void open_merge(struct merge *merge)
{
	struct scene *scene = &merge->scene;

	open_scene(scene);
	weir_actor_stop(&scene->sink.actor);
	let_go(scene);
	sink_init(&scene->sink, &scene->executor, &scene->ledger, 2);
	assert_int_equal(weir_in_merge(&scene->sink.in, WEIR_MERGE_OPEN), 0);
	source_init(&merge->source, &scene->executor, &scene->ledger, 2, 2);
	merge->source.fail_at = 2;
	assert_int_equal(weir_out_link(&merge->source.out, &scene->sink.in), 0);
	weir_actor_ref(&scene->sink.actor);
	assert_int_equal(weir_error_new(&merge->error, -EPROTO, "test", "end",
					NULL, NULL, &scene->allocator),
			 0);
	assert_int_equal(weir_actor_start(&merge->source.actor), 0);
	run(scene);
	assert_int_equal(merge->source.fate.stopped, 1);
}

/* All memory goes, that of both errors as well. */
static void close_merge(struct merge *merge, int code)
{
	struct scene *scene = &merge->scene;

	run(scene);
	weir_error_unref(merge->error);
	fate_check(&merge->source.fate, -EIO);
	assert_int_equal(scene->sink.ended, 1);
	assert_int_equal(scene->sink.end_code, code);
	weir_actor_unref(&scene->sink.actor);
	fate_check(&scene->sink.fate, 0);
	tear_down(scene);
}

static void an_end_after_a_producers_error_is_too_late(void **state)
{
	struct merge merge;

	open_merge(&merge);
	assert_int_equal(weir_actor_start(&merge.scene.sink.actor), 0);
	run(&merge.scene);
	assert_int_equal(weir_in_end(&merge.scene.sink.in, merge.error),
			 -EALREADY);
	close_merge(&merge, -EIO);
}

static void a_producers_error_after_an_end_is_too_late(void **state)
{
	struct merge merge;

	open_merge(&merge);
	assert_int_equal(weir_in_end(&merge.scene.sink.in, merge.error), 0);
	assert_int_equal(weir_in_end(&merge.scene.sink.in, NULL), -EALREADY);
	assert_int_equal(weir_actor_start(&merge.scene.sink.actor), 0);
	close_merge(&merge, -EPROTO);
}

static void what_was_put_comes_before_an_end_that_was_first(void **state)
{
	struct merge merge;
	struct scene *scene = &merge.scene;

	open_merge(&merge);
	assert_int_equal(weir_in_put(&scene->sink.in,
				     ledger_make(&scene->ledger, 2)),
			 0);
	assert_int_equal(weir_in_end(&scene->sink.in, NULL), 0);
	assert_int_equal(weir_actor_start(&scene->sink.actor), 0);
	close_merge(&merge, 0);
	assert_int_equal(scene->sink.seen, 1);
}

/* --- weir_in_put() before the start --------------------------------------- */

#define PUTTERS 4
#define EACH 64

struct early {
	struct ledger ledger;
	struct sink sink;
	uint32_t go; /* threads that are ready */
};

struct putter {
	struct early *early;
	size_t first;
};

static void *put_each(void *context)
{
	struct putter *putter = context;
	struct early *early = putter->early;
	size_t i;

	/* all at once, as near as can be */
	ck_pr_inc_32(&early->go);
	while (ck_pr_load_32(&early->go) < PUTTERS)
		ck_pr_stall();
	for (i = putter->first; i < putter->first + EACH; i++)
		assert_int_equal(weir_in_put(&early->sink.in,
					     ledger_make(&early->ledger, i)),
				 0);
	return NULL;
}

static void what_several_threads_put_before_the_start_comes(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct putter putters[PUTTERS];
	pthread_t threads[PUTTERS];
	struct early early;
	uint64_t round;
	size_t i;

	for (round = 0; round < test_count(50); round++) {
		early.go = 0;
		ledger_init(&early.ledger, PUTTERS * EACH);
		sink_init(&early.sink, weir_sim_executor(sim), &early.ledger,
			  PUTTERS * EACH);
		for (i = 0; i < PUTTERS; i++) {
			putters[i] = (struct putter){&early, 1 + i * EACH};
			assert_int_equal(pthread_create(&threads[i], NULL,
							put_each, &putters[i]),
					 0);
		}
		for (i = 0; i < PUTTERS; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(weir_in_end(&early.sink.in, NULL), 0);
		assert_int_equal(weir_actor_start(&early.sink.actor), 0);
		weir_sim_run(sim);
		assert_int_equal(early.sink.seen, PUTTERS * EACH);
		fate_check(&early.sink.fate, 0);
		ledger_check(&early.ledger);
		ledger_fini(&early.ledger);
	}
	sim_free(sim);
}

static void a_port_that_was_put_to_does_not_merge(void **state)
{
	struct scene scene;

	open_scene(&scene);
	assert_int_equal(weir_in_merge(&scene.sink.in, WEIR_MERGE_OPEN),
			 -EBUSY);
	weir_actor_stop(&scene.sink.actor);
	close_scene(&scene);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_while_a_start_registers_ends_it_once),
		cmocka_unit_test(
			a_stop_while_a_start_has_no_memory_ends_it_once),
		cmocka_unit_test(
			a_stop_while_a_start_is_submitted_ends_it_once),
		cmocka_unit_test(a_stop_while_a_start_is_refused_ends_it_once),
		cmocka_unit_test(a_start_that_was_refused_may_be_tried_again),
		cmocka_unit_test(
			an_abort_leaves_an_actor_whose_start_is_refused),
		cmocka_unit_test(
			a_stop_while_a_spawn_gives_it_a_name_ends_it_once),
		cmocka_unit_test(
			a_stop_while_a_spawn_has_no_memory_ends_it_once),
		cmocka_unit_test(a_stop_while_a_spawn_is_refused_ends_it_once),
		cmocka_unit_test(a_spawn_that_was_refused_may_be_tried_again),
		cmocka_unit_test(
			a_stop_while_it_is_subscribed_to_reaches_who_subscribes),
		cmocka_unit_test(an_end_after_a_producers_error_is_too_late),
		cmocka_unit_test(a_producers_error_after_an_end_is_too_late),
		cmocka_unit_test(
			what_was_put_comes_before_an_end_that_was_first),
		cmocka_unit_test(
			what_several_threads_put_before_the_start_comes),
		cmocka_unit_test(a_port_that_was_put_to_does_not_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
