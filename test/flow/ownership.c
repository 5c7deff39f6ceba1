/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has the items: for each source, operator and sink of the tables of the
 * suites (verify.h), fused and cut everywhere, what is produced and shared is
 * delivered or dropped exactly once, however the flow ends: completes, fails,
 * is cancelled from downstream or as a run at each step of it, times out, or
 * has a function of its own, or an allocation, that fails; each of them in
 * turn.
 */
#include "flow/verify_sinks.h"
#include "flow/verify_sources.h"

#define SEEDS 12
#define STEPS_MAX 100000 /* of the simulator, in a run */
#define CANCELS 80	 /* steps at which it is cancelled */
#define NEVER UINT64_MAX

/* How a flow is run, and ends. */
struct scene {
	const char *name;
	int64_t n;
	enum { ENDS, FAILS, STALLS } upstream; /* behind n items */
	int64_t take;			       /* from downstream; 0: all */
	bool times_out;
	uint64_t pace_ns; /* of operators about time */
	int code;	  /* that the run ends with */
};

/* What is run: a source, and one of the others upon it. */
struct row {
	const char *name;
	const struct source_row *source;
	const struct way *way;	     /* or NULL */
	const struct sink_row *sink; /* or NULL */
};

struct trial {
	const struct row *row;
	const struct scene *scene;
	uint64_t seed;
	size_t unfused;
	enum weir_directive directive; /* for functions that fail */
	uint64_t cancel_at;	       /* that step */
	size_t fail;		       /* that allocation; 0: none */
	/* of a run */
	struct heap heap;
	struct goods goods;
	struct weir_sim *sim;
	struct made *made;
	struct taker *taker;
	struct weir_flow *flow;
	struct weir_flow_run *run;
	int64_t n; /* items of the source */
	uint64_t steps;
	size_t delivered;
	bool disturbed, let_go;
	int code;
};

static struct trial trial;

/* --- What is run ---------------------------------------------------------- */

static int deliver(void *item, void *context)
{
	trial.delivered++;
	goods_drop(item, context);
	return 0;
}

static enum weir_directive decide(struct weir_error *error, void *context)
{
	return trial.directive;
}

static struct weir_flow *with_its_end(struct weir_flow *flow)
{
	struct weir_flow *rest = NULL;

	if (trial.scene->upstream == ENDS)
		return flow;
	rest = trial.scene->upstream == FAILS ? weir_flow_fail(-EIO, "here")
					      : weir_flow_never();
	rest = weir_flow_items(rest, &trial.goods.items);
	return weir_flow_concat((struct weir_flow *[]){flow, rest}, 2);
}

/* What comes out of it are goods. */
static bool is_plain(const struct row *row)
{
	return !row->sink && (!row->way || row->way->effect != CHANGES);
}

static struct weir_flow *compose(void)
{
	const struct row *row = trial.row;
	const struct scene *scene = trial.scene;
	struct weir_flow *flow = with_its_end(row->source->make(trial.made));

	if (row->way)
		flow = row->way->put_upon(flow, &trial.goods.items);
	if (row->sink)
		flow = row->sink->put_upon(flow, trial.taker);
	flow = weir_flow_supervise(flow, decide, NULL);
	if (scene->times_out)
		flow = weir_flow_idle_timeout(flow, 1000);
	if (scene->take)
		flow = weir_flow_take(flow, scene->take);
	return is_plain(row) ? weir_flow_for_each(flow, deliver, &trial.goods)
			     : flow;
}

/* --- A run ---------------------------------------------------------------- */

static void begin(void)
{
	const struct weir_flow_run_options options = {
		.unfused = trial.unfused,
	};
	struct weir_executor_options on = {.allocator = &trial.heap.allocator};
	int64_t most = trial.row->source->max_items, n = trial.scene->n;
	struct weir_executor *executor;

	heap_init(&trial.heap, 0);
	goods_init(&trial.goods);
	trial.steps = trial.delivered = 0;
	trial.disturbed = trial.let_go = false;
	assert_int_equal(weir_sim_new(&trial.sim, trial.seed, &on), 0);
	executor = weir_sim_executor(trial.sim);
	trial.n = most && most < n ? most : n;
	trial.made = made_new(executor, &trial.goods.items, trial.n);
	trial.taker = taker_new(executor, &trial.goods.items);
	pace_ns = trial.scene->pace_ns;
	memory = &trial.heap.allocator;
	trial.flow = compose();
	if (trial.fail)
		trial.heap.fail = trial.heap.calls + trial.fail;
	ck_pr_store_32(&calling.calls, 0);
	trial.code =
		weir_flow_start(trial.flow, executor, &options, &trial.run);
	if (trial.code == 0)
		taker_start(trial.taker);
}

static void cancel(void)
{
	trial.disturbed = true;
	weir_flow_run_stop(trial.run, NULL);
}

static void let_go(void)
{
	trial.let_go = true;
	taker_let_go(trial.taker);
}

/* NULL, or what went wrong. */
static const char *run_to_its_end(void)
{
	struct weir_completion *over = weir_flow_run_over(trial.run);
	struct weir_error *error = NULL;

	for (; !weir_completion_done(over); trial.steps++) {
		if (trial.steps == STEPS_MAX)
			return "it does not come to rest";
		if (trial.steps == trial.cancel_at)
			cancel();
		if (weir_sim_step(trial.sim))
			continue;
		if (trial.cancel_at != NEVER && !trial.disturbed)
			cancel();
		else if (!trial.let_go)
			let_go();
		else
			return "it waits for ever";
	}
	if (weir_flow_run_wait(trial.run, 0, NULL, &error) != 0)
		return "it is not over";
	trial.code = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(trial.run);
	return NULL;
}

static const char *finish(void)
{
	weir_flow_free(trial.flow);
	if (!trial.let_go)
		let_go();
	made_let_go(trial.made);
	weir_sim_run(trial.sim);
	made_free(trial.made);
	taker_free(trial.taker);
	if (weir_sim_free(trial.sim) != 0)
		return "an actor is left";
	if (trial.heap.live > 0)
		return "memory is left";
	if (trial.goods.made != trial.goods.gone)
		return "what was produced or shared is not what was delivered "
		       "or dropped";
	return NULL;
}

static void run_once(const char *(*look)(void))
{
	const char *wrong = NULL;

	begin();
	if (trial.code == 0)
		wrong = run_to_its_end();
	if (!wrong)
		wrong = finish();
	if (!wrong)
		wrong = look();
	if (wrong)
		fail_msg(
			"%s, %s, seed %u, unfused %zu: %s; code %d, cancelled at %lld, "
			"call %u or allocation %zu failing: %u produced and "
			"shared, %u delivered and dropped",
			trial.row->name, trial.scene->name,
			(unsigned)trial.seed, trial.unfused, wrong, trial.code,
			(long long)trial.cancel_at, calling.fail_at, trial.fail,
			trial.goods.made, trial.goods.gone);
}

/* --- All of them ---------------------------------------------------------- */

/* A slow build has each row in one scene of three or so. */
static void each_run(const struct row *row, const struct scene *scene,
		     void (*run)(void))
{
	static const size_t unfused[] = {0, 1, 4};
	static uint32_t n;

	if (test_count(80) == 1 && (++n * 2654435761u >> 16) % 3)
		return;
	for_each_seed(seed, test_count(SEEDS)) {
		trial = (struct trial){
			.row = row,
			.scene = scene,
			.seed = seed,
			.unfused = unfused[seed % 3],
			.cancel_at = NEVER,
		};
		calling.fail_at = 0;
		run();
	}
}

static void each_row(const struct scene *scene, void (*run)(void))
{
	struct row row;
	size_t i;

	for (i = 0; i < n_sources; i++) {
		row = (struct row){sources[i].name, &sources[i]};
		each_run(&row, scene, run);
	}
	for (i = 0; i < n_ways; i++) {
		row = (struct row){ways[i].name, sources, &ways[i]};
		each_run(&row, scene, run);
	}
	for (i = 0; i < n_sinks; i++) {
		row = (struct row){sinks[i].name, sources, NULL, &sinks[i]};
		each_run(&row, scene, run);
	}
}

/* --- Ends of the stream --------------------------------------------------- */

/* How many are to be delivered: but for errors that do not wait for them. */
static size_t expected(void)
{
	int64_t take = trial.scene->take;

	return (size_t)(take && take < trial.n ? take : trial.n);
}

/* It has done something about the error. */
static bool is_mended(void)
{
	const struct way *way = trial.row->way;

	return way && way->mends && trial.code == 0;
}

static const char *ended_as_it_should(void)
{
	const struct way *way = trial.row->way;

	if (trial.code != trial.scene->code && !is_mended())
		return "it ends in another way";
	if (!is_plain(trial.row) || trial.scene->pace_ns ||
	    (way && way->effect == OVERTAKEN && trial.scene->code == -EIO))
		return NULL;
	return trial.delivered == expected() ? NULL
					     : "it delivers more, or fewer";
}

static void run_scene(void)
{
	run_once(ended_as_it_should);
}

static void whatever_the_end_of_the_stream_nothing_is_lost(void **state)
{
	static const struct scene scenes[] = {
		{"completes", 12},
		{"completes with none", 0},
		{"is slow", 12, .pace_ns = 300},
		{"is long", 600},
		{"is cancelled behind the first", 600, .take = 1},
		{"is cancelled behind some", 600, .take = 300},
		{"fails", 12, FAILS, .code = -EIO},
		{"fails with none", 0, FAILS, .code = -EIO},
		{"fails late", 600, FAILS, .code = -EIO},
		{"times out", 12, STALLS, .times_out = true,
		 .code = -ETIMEDOUT},
		{"times out with items that wait", 12, STALLS,
		 .times_out = true, .pace_ns = 2000, .code = -ETIMEDOUT},
		{"times out late", 600, STALLS, .times_out = true,
		 .code = -ETIMEDOUT},
	};

	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++)
		each_row(&scenes[i], run_scene);
}

/* --- A cancel at each step ------------------------------------------------ */

static const char *is_cancelled(void)
{
	return trial.code == trial.scene->code || is_mended() ||
			       trial.code == -ECANCELED
		       ? NULL
		       : "it ends in another way";
}

static void cancel_at_each_step(void)
{
	trial.cancel_at = 0;
	do
		run_once(is_cancelled);
	while (trial.steps >= trial.cancel_at++ && trial.cancel_at < CANCELS);
}

static void wherever_a_run_is_cancelled_nothing_is_lost(void **state)
{
	static const struct scene ends = {"ends", 20, .pace_ns = 100};
	static const struct scene fails = {"fails", 12, FAILS, .code = -EIO};
	/* an hour later some have had enough */
	static const struct scene stalls = {"stalls", 12, STALLS,
					    .pace_ns = 100, .code = -ETIMEDOUT};

	each_row(&ends, cancel_at_each_step);
	each_row(&fails, cancel_at_each_step);
	each_row(&stalls, cancel_at_each_step);
}

/* --- A function fails in each call ---------------------------------------- */

/* flat_map has no flow then, reduce maybe no item */
static const char *fails_or_survives(void)
{
	return trial.code == 0 || trial.code == trial.scene->code ||
			       trial.code == -EDOM || trial.code == -EINVAL ||
			       trial.code == -ENODATA
		       ? NULL
		       : "it ends in another way";
}

static void fail_in_each_call(void)
{
	static const enum weir_directive directives[] = {
		WEIR_DIRECTIVE_STOP, WEIR_DIRECTIVE_RESUME,
		WEIR_DIRECTIVE_RESTART};
	size_t i;

	for (i = 0; i < 3; i++) {
		trial.directive = directives[i];
		calling.fail_at = 0;
		do {
			calling.fail_at++;
			run_once(fails_or_survives);
		} while (calling.calls >= calling.fail_at);
	}
}

static void whichever_call_fails_nothing_is_lost(void **state)
{
	static const struct scene ends = {"ends", 12};
	static const struct scene fails = {"fails", 12, FAILS, .code = -EIO};

	each_row(&ends, fail_in_each_call);
	each_row(&fails, fail_in_each_call);
}

/* --- No memory at each allocation ----------------------------------------- */

/* An actor of the test's that cannot be started is stopped. */
static const char *is_short_or_well(void)
{
	return trial.code == trial.scene->code || is_mended() ||
			       trial.code == -ENOMEM || trial.code == -ECANCELED
		       ? NULL
		       : "it ends in another way";
}

static void fail_each_allocation(void)
{
	size_t n_failed = 0;

	trial.fail = 0;
	do {
		trial.fail++;
		run_once(is_short_or_well);
		n_failed += trial.code == -ENOMEM;
	} while (trial.heap.calls >= trial.heap.fail);
	assert_true(n_failed > 0);
}

static void whatever_allocation_fails_nothing_is_lost(void **state)
{
	static const struct scene ends = {"ends", 12};
	static const struct scene fails = {"fails", 12, FAILS, .code = -EIO};

	each_row(&ends, fail_each_allocation);
	each_row(&fails, fail_each_allocation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			whatever_the_end_of_the_stream_nothing_is_lost),
		cmocka_unit_test(wherever_a_run_is_cancelled_nothing_is_lost),
		cmocka_unit_test(whichever_call_fails_nothing_is_lost),
		cmocka_unit_test(whatever_allocation_fails_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
