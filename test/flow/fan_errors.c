/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fan fails: every outlet hears of it, whoever hears first. Who is behind one
 * has all items that were dealt to it, in order, as far as it has requested
 * them, and then that very error. On many seeds, and between threads.
 */
#include "flow/kit.h"

#include "stream/verify.h"

#define OUTLETS 4
#define N 40 /* fewer than an outlet has room for */

enum fan { BROADCAST, BALANCE, PARTITION, N_FANS };

/* What is behind an outlet. */
enum behind {
	SUBSCRIBER,	  /* in an actor of its own */
	ASYNC_SUBSCRIBER, /* with one more between */
	FUNCTION,
	ASYNC_FUNCTION,
};

/* What one of them has heard. */
struct way {
	enum behind behind;
	int64_t wish; /* of a subscriber */
	struct weir_subscriber_probe *probe;
	intptr_t values[N];
	size_t n;
	uint32_t n_failed, n_others;
	struct weir_error *error;
};

struct scene {
	struct place *place;
	enum fan fan;
	size_t n; /* ways */
	struct way ways[OUTLETS];
	struct weir_publisher_probe *front;
	struct weir_flow *flow;
	struct weir_flow_run *run;
	struct weir_error *error;
};

static int by_value(void *item, size_t *outlet, void *context)
{
	const struct scene *scene = context;

	*outlet = (size_t)((struct item *)item)->value % scene->n;
	return 0;
}

static int note(void *item, void *context)
{
	struct way *way = context;

	assert_in_range(way->n, 0, N - 1);
	way->values[way->n++] = ((struct item *)item)->value;
	item_drop(item, NULL);
	return 0;
}

static void note_failure(struct weir_error *error, void *context)
{
	struct way *way = context;

	way->n_failed++;
	way->error = error;
}

static void note_other(void *context)
{
	((struct way *)context)->n_others++;
}

static const struct weir_flow_peek_functions hooks = {
	.failed = note_failure,
	.completed = note_other,
	.cancelled = note_other,
};

static struct weir_flow *compose(struct scene *scene, struct way *way,
				 struct weir_flow *flow)
{
	bool async = way->behind == ASYNC_SUBSCRIBER ||
		     way->behind == ASYNC_FUNCTION;

	if (async)
		flow = weir_flow_async(weir_flow_drop(flow, 0), 4, NULL);
	if (way->behind == FUNCTION || way->behind == ASYNC_FUNCTION) {
		flow = weir_flow_peek(flow, &hooks, way);
		return weir_flow_for_each(flow, note, way);
	}
	assert_int_equal(weir_subscriber_probe_new(&way->probe,
						   &scene->place->env, NULL),
			 0);
	return weir_flow_into(flow, weir_subscriber_probe_base(way->probe));
}

static void make_outlets(struct scene *scene, struct weir_flow *flow,
			 struct weir_flow **outlets)
{
	switch (scene->fan) {
	case BROADCAST:
		weir_flow_broadcast(flow, scene->n, outlets, NULL);
		break;
	case BALANCE:
		weir_flow_balance(flow, scene->n, outlets, NULL);
		break;
	default:
		weir_flow_partition(flow, scene->n, by_value, scene, outlets,
				    NULL);
	}
}

static void settle(struct scene *scene)
{
	assert_int_equal(weir_test_settle(&scene->place->env), 0);
}

static void scene_begin(struct scene *scene, struct place *place)
{
	struct weir_flow *outlets[OUTLETS], *flow;

	scene->place = place;
	scene->error = weir_error_format(-EIO, "test", "on purpose");
	assert_int_equal(weir_publisher_probe_new(&scene->front, &place->env,
						  &counted_items),
			 0);
	flow = weir_flow_from_publisher(weir_publisher_probe_base(scene->front),
					N, 0);
	make_outlets(scene, weir_flow_items(flow, &counted_items), outlets);
	for (size_t i = 0; i < scene->n; i++)
		outlets[i] = compose(scene, &scene->ways[i], outlets[i]);
	scene->flow = weir_flow_all(outlets, scene->n);
	assert_int_equal(weir_flow_start(scene->flow, place->executor, NULL,
					 &scene->run),
			 0);
	settle(scene);
	for (size_t i = 0; i < scene->n; i++)
		if (scene->ways[i].probe && scene->ways[i].wish > 0)
			weir_subscriber_probe_request(scene->ways[i].probe,
						      scene->ways[i].wish);
	settle(scene);
}

static void scene_fail(struct scene *scene, int n)
{
	for (int i = 1; i <= n; i++)
		assert_int_equal(weir_publisher_probe_send(scene->front,
							   item_new(i)),
				 0);
	assert_int_equal(weir_publisher_probe_error(scene->front, scene->error),
			 0);
	settle(scene);
}

/* What a probe has is what a function would have noted. */
static void read_probe(struct way *way)
{
	struct weir_subscriber_probe_counts counts =
		weir_subscriber_probe_counts(way->probe);

	for (; way->n < (size_t)counts.items; way->n++)
		way->values[way->n] =
			((struct item *)weir_subscriber_probe_item(
				 way->probe, (int64_t)way->n))
				->value;
	way->n_failed = counts.errors;
	way->n_others = counts.completions;
	way->error = weir_subscriber_probe_error(way->probe);
}

static void check_way(struct scene *scene, struct way *way, size_t i, int n)
{
	size_t step = scene->fan == PARTITION ? scene->n : 1;
	size_t value = scene->fan == PARTITION && i > 0 ? i : step, at = 0;

	if (way->n_failed != 1 || way->n_others != 0 ||
	    way->error != scene->error)
		fail_msg("fan %d, outlet %zu: %u failures, %u other ends",
			 scene->fan, i, way->n_failed, way->n_others);
	if (scene->fan == BALANCE) {
		for (at = 1; at < way->n; at++)
			assert_true(way->values[at - 1] < way->values[at]);
		return;
	}
	for (; value <= (size_t)n; value += step, at++) {
		if (way->probe && at == (size_t)way->wish)
			break;
		assert_true(at < way->n);
		assert_int_equal(way->values[at], value);
	}
	assert_int_equal(way->n, at);
}

static void scene_end(struct scene *scene, int n)
{
	size_t sum = 0, i;

	for (i = 0; i < scene->n; i++) {
		if (scene->ways[i].probe)
			read_probe(&scene->ways[i]);
		check_way(scene, &scene->ways[i], i, n);
		sum += scene->ways[i].n;
	}
	if (scene->fan != BROADCAST && scene->ways[0].wish >= N)
		assert_int_equal(sum, n);
	for (i = 0; i < scene->n; i++)
		if (scene->ways[i].probe)
			assert_int_equal(weir_subscriber_probe_free(
						 scene->ways[i].probe),
					 0);
	settle(scene);
	assert_true(weir_completion_done(weir_flow_run_over(scene->run)));
	assert_ptr_equal(weir_completion_error(weir_flow_run_over(scene->run)),
			 scene->error);
	weir_flow_run_free(scene->run);
	weir_flow_free(scene->flow);
	assert_int_equal(weir_publisher_probe_free(scene->front), 0);
	weir_error_unref(scene->error);
	settle(scene);
	assert_int_equal(n_live, 0);
}

/* --- Tests ---------------------------------------------------------------- */

static void fail_fan(struct place *place, enum fan fan, uint64_t seed,
		     const int64_t *wishes, int n)
{
	struct scene scene = {.fan = fan, .n = 2 + seed % (OUTLETS - 1)};

	for (size_t i = 0; i < scene.n; i++) {
		scene.ways[i].behind = (enum behind)((seed / 3 + i) % 4);
		scene.ways[i].wish = wishes ? wishes[(seed + i) % 3] : N;
	}
	scene_begin(&scene, place);
	scene_fail(&scene, n);
	scene_end(&scene, n);
}

static void each_outlet_hears_of_it_on_the_simulator(void **state)
{
	struct place place;

	for_each_seed(seed, test_count(150)) {
		place_sim(&place, seed);
		for (int fan = 0; fan < N_FANS; fan++) {
			fail_fan(&place, (enum fan)fan, seed, NULL, N);
			fail_fan(&place, (enum fan)fan, seed, NULL, 3);
		}
		place_fini(&place);
	}
}

static void each_outlet_hears_of_it_on_threads(void **state)
{
	struct place place;

	place_threads(&place);
	for_each_seed(seed, test_count(60))
		for (int fan = 0; fan < N_FANS; fan++)
			fail_fan(&place, (enum fan)fan, seed, NULL, N);
	place_fini(&place);
}

/* Direct ones alone: what waits on a link between actors waits for them. */
static void subscribers_have_what_they_have_requested(void **state)
{
	static const int64_t wishes[] = {0, 5, N};
	struct place place;

	for_each_seed(seed, test_count(100)) {
		struct scene scene = {.fan = BROADCAST, .n = 3};

		place_sim(&place, seed);
		for (size_t i = 0; i < 3; i++)
			scene.ways[i].wish = wishes[(seed + i) % 3];
		scene_begin(&scene, &place);
		scene_fail(&scene, 16);
		scene_end(&scene, 16);
		place_fini(&place);
	}
}

/* One asks for all; the others for nothing, and they hear of it no later. */
static void subscribers_without_demand_hear_of_it(void **state)
{
	struct place place;

	for_each_seed(seed, test_count(100)) {
		struct scene scene = {.fan = BROADCAST, .n = OUTLETS};

		place_sim(&place, seed);
		scene.ways[seed % OUTLETS].wish = N;
		scene_begin(&scene, &place);
		scene_fail(&scene, 16);
		scene_end(&scene, 16);
		place_fini(&place);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_outlet_hears_of_it_on_the_simulator),
		cmocka_unit_test(each_outlet_hears_of_it_on_threads),
		cmocka_unit_test(subscribers_have_what_they_have_requested),
		cmocka_unit_test(subscribers_without_demand_hear_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
