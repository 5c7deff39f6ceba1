/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random flows under the simulator. A seed makes a plan, of a source and up to
 * eleven operators, with functions that fail, deciders, and boundaries; it is
 * run fused and cut, beside a gate that lets a few items out at a time, and
 * what comes out, and how it ends, is what the plan's steps make of lists of
 * numbers. A run that is cancelled gives the first of that, a drained one what
 * becomes of the first items of the source. No item and no memory is left.
 *
 * Runs are made in child processes, so a crash is a failure as any other. A plan
 * that fails is made smaller for as long as it does, and is told.
 */
#include "flow/random_plan.h"
#include "seeds.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX 300000 /* of the simulator, in a run */
#define AT_ONCE 500	 /* seeds in one process */

/* A run of it. */
struct trial {
	struct plan *plan;
	struct world world;
	struct heap heap;
	uint64_t random;
	enum disturbance disturbed; /* that it has been */
	int code;
};

/* --- What is expected ----------------------------------------------------------- */

static bool begins_with(const struct stream *stream, const struct got *got)
{
	return got->n <= stream->n &&
	       memcmp(stream->values, got->values,
		      got->n * sizeof(*got->values)) == 0;
}

static bool is_expected(const struct stream *stream, const struct trial *trial)
{
	return trial->code == stream->code && trial->world.got.n == stream->n &&
	       begins_with(stream, &trial->world.got);
}

/* It is what becomes of some of what step `at` puts out. */
static bool was_cut(const struct trial *trial, size_t at)
{
	static struct stream stream;
	struct plan above = *trial->plan;
	size_t n, i;

	above.n = at + 1;
	expect(&above, &stream);
	n = stream.n;
	if (stream.loose)
		return true;
	for (i = 0; i <= n + 1; i++) {
		expect_cut(trial->plan, at, i, &stream);
		if (stream.loose || is_expected(&stream, trial))
			return true;
	}
	return false;
}

static bool has_gone_well(const struct trial *trial)
{
	static struct stream stream;

	expect(trial->plan, &stream);
	if (stream.loose || is_expected(&stream, trial))
		return true;
	switch (trial->disturbed) {
	case CANCEL:
		return trial->code == -ECANCELED &&
		       begins_with(&stream, &trial->world.got);
	case DRAIN:
		return was_cut(trial, 0);
	case THROW:
		return was_cut(trial, find_switch(trial->plan));
	default:
		return false;
	}
}

/* --- Running a plan ---------------------------------------------------------------- */

static enum weir_directive decide(struct weir_error *error, void *context)
{
	const struct step *step = context;

	assert_int_equal(error->code, -EDOM);
	return step->directive;
}

static struct weir_flow *compose(struct plan *plan)
{
	struct weir_flow *flow = NULL;
	struct step *step;
	size_t i;

	for (i = 0; i < plan->n; i++) {
		step = &plan->steps[i];
		step->queue = NULL;
		step->swtch = NULL;
		step->fed = 0;
		step->opened = step->started = step->ends = step->ended = 0;
		flow = step->row->make(flow, step);
		if (step->supervises)
			flow = weir_flow_supervise(flow, decide, step);
		if (step->async)
			flow = weir_flow_async(flow, step->async, NULL);
	}
	return flow;
}

static uint64_t draw(struct trial *trial, uint64_t bound)
{
	return draw_from(&trial->random, bound);
}

static bool open_gate(struct trial *trial)
{
	struct world *world = &trial->world;

	if (!world->gate || world->open > 0)
		return false;
	world->open = 1 + draw(trial, 5);
	weir__op_wake(world->gate);
	return true;
}

/* Somebody gives or takes something. False: all that can be has been. */
static bool push(struct trial *trial)
{
	struct step *source = &trial->plan->steps[0];

	if (draw(trial, 2))
		return feed(source, draw(trial, 6)) || open_gate(trial);
	return open_gate(trial) || feed(source, draw(trial, 6));
}

static void disturb(struct trial *trial)
{
	const struct plan *plan = trial->plan;

	trial->disturbed = plan->disturbance;
	if (plan->disturbance == CANCEL)
		weir_flow_run_cancel(trial->world.run, NULL);
	else if (plan->disturbance == DRAIN)
		weir_flow_run_drain(trial->world.run);
	else if (find_switch(plan) != SIZE_MAX)
		(void)weir_flow_switch_shutdown(
			plan->steps[find_switch(plan)].swtch);
}

static bool is_restless(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n; i++)
		if (plan->steps[i].row->restless)
			return true;
	return false;
}

/* NULL, or what went wrong. */
static const char *run_to_its_end(struct trial *trial, bool disturbed)
{
	struct weir_completion *over = weir_flow_run_over(trial->world.run);
	const struct plan *plan = trial->plan;
	bool patient = plan->patient && !is_restless(plan);
	uint64_t steps;

	for (steps = 0; !weir_completion_done(over); steps++) {
		if (steps == STEPS_MAX)
			return "it does not come to rest";
		if (disturbed && steps == plan->after)
			disturb(trial);
		if (!patient && draw(trial, 8) == 0)
			(void)push(trial);
		if (!weir_sim_step(trial->world.sim) && !push(trial) &&
		    (!disturbed || steps >= plan->after))
			return "it waits for ever";
	}
	return NULL;
}

static const char *finish(struct trial *trial)
{
	struct world *world = &trial->world;
	struct weir_error *error = NULL;
	size_t i;

	if (weir_flow_run_wait(world->run, 0, NULL, &error) != 0)
		return "it is not over";
	trial->code = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(world->run);
	weir_flow_free(world->flow);
	weir_flow_queue_free(trial->plan->steps[0].queue);
	for (i = 0; i < trial->plan->n; i++)
		weir_flow_switch_free(trial->plan->steps[i].swtch);
	weir_sim_run(world->sim);
	if (weir_sim_free(world->sim) != 0)
		return "an actor is left";
	if (trial->heap.live > 0)
		return "memory is left";
	if (n_live != 0)
		return "items are left";
	for (i = 0; i < trial->plan->n; i++)
		if (trial->plan->steps[i].started !=
		    trial->plan->steps[i].ended)
			return "a hook was not told of the end";
	return has_gone_well(trial) ? NULL : "something else came out";
}

static const char *run_once(struct trial *trial, uint64_t seed, size_t unfused,
			    bool disturbed)
{
	struct weir_flow_run_options options = {.unfused = unfused};
	struct world *world = &trial->world;
	struct weir_executor_options on = {
		.allocator = &trial->heap.allocator,
	};
	const char *wrong;

	heap_init(&trial->heap, 0);
	trial->random = seed;
	trial->disturbed = NOTHING;
	world->got.n = 0;
	world->got.counted = trial->plan->steps[trial->plan->n - 1].puts_items;
	world->open = trial->plan->gated ? 0 : OPEN;
	world->gate = NULL;
	assert_int_equal(weir_sim_new(&world->sim, seed, &on), 0);
	world->flow = compose(trial->plan);
	world->flow = weir__flow_upon(&gate_kind, world->flow, &world,
				      sizeof(world), true);
	world->flow = weir_flow_for_each(world->flow, out_of_world, world);
	assert_int_equal(weir_flow_start(world->flow,
					 weir_sim_executor(world->sim),
					 &options, &world->run),
			 0);
	wrong = run_to_its_end(trial, disturbed);
	return wrong ? wrong : finish(trial);
}

static void tell(const struct trial *trial, const char *wrong, size_t unfused);

/* Fused, cut, and disturbed. True: all is well. */
static bool run_plan(struct plan *plan, bool tells)
{
	static struct trial trial;
	const size_t unfused[] = {0, plan->unfused,
				  plan->third_cut ? plan->unfused : 0};
	const char *wrong;
	size_t i;

	trial.plan = plan;
	for (i = 0; i < 2 + (plan->disturbance != NOTHING); i++) {
		wrong = run_once(&trial, plan->seed + i, unfused[i], i == 2);
		if (!wrong)
			continue;
		if (tells)
			tell(&trial, wrong, unfused[i]);
		return false;
	}
	return true;
}

/* --- Telling of it -------------------------------------------------------------------- */

static void tell_values(const char *who, const intptr_t *values, size_t n,
			int code)
{
	size_t i;

	print_error("%s:", who);
	for (i = 0; i < n; i++)
		print_error(" %d", (int)values[i]);
	print_error("; ends with %d\n", code);
}

static void tell(const struct trial *trial, const char *wrong, size_t unfused)
{
	static struct stream stream;

	print_error("%s; unfused %zu%s\n", wrong, unfused,
		    trial->disturbed ? ", disturbed" : "");
	expect(trial->plan, &stream);
	tell_values(stream.loose ? "maybe" : "expected", stream.values,
		    stream.n, stream.code);
	tell_values("came", trial->world.got.values, trial->world.got.n,
		    trial->code);
}

/* --- In a child ------------------------------------------------------------------------- */

/* True: it has returned true, and not crashed or gone on for ever. */
static bool in_child(bool (*run)(void *context), void *context)
{
	int status = 1;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setenv("CMOCKA_TEST_ABORT", "1", 1);
		(void)signal(SIGABRT, SIG_DFL);
		exit(run(context) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status == 0;
}

static bool run_quietly(void *context)
{
	assert_non_null(freopen("/dev/null", "w", stderr));
	assert_non_null(freopen("/dev/null", "w", stdout));
	(void)alarm(60);
	return run_plan(context, false);
}

static bool run_and_tell(void *context)
{
	return run_plan(context, true);
}

/* --- Making it smaller -------------------------------------------------------------------- */

/* True: one of them was made, and it still fails. */
static bool shrink_once(struct plan *plan)
{
	static struct plan less;
	size_t i, k;

	for (k = 0; k < sizeof(smaller) / sizeof(*smaller); k++) {
		for (i = 0; i < plan->n; i++) {
			less = *plan;
			if (!smaller[k](&less, i))
				continue;
			settle(&less);
			if (in_child(run_quietly, &less))
				continue;
			*plan = less;
			return true;
		}
	}
	return false;
}

static void try_seed(uint64_t seed)
{
	static struct plan plan;

	draw_plan(&plan, seed);
	if (in_child(run_quietly, &plan))
		return;
	while (shrink_once(&plan))
		;
	tell_plan(&plan);
	(void)in_child(run_and_tell, &plan);
	fail_msg("a random flow does not do what it should");
}

/* --- Many -------------------------------------------------------------------------------- */

/* The seeds of one process; `at` is told to the one that waits for it. */
struct some {
	uint64_t first, last;
	uint64_t *at; /* in memory that they share */
};

static bool run_some(void *context)
{
	static struct plan plan;
	const struct some *some = context;

	for (*some->at = some->first; *some->at <= some->last; (*some->at)++) {
		draw_plan(&plan, *some->at);
		if (!run_plan(&plan, false))
			return false;
	}
	return true;
}

static void try_many(uint64_t n)
{
	uint64_t *at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct some some = {.at = at};

	assert_ptr_not_equal(at, MAP_FAILED);
	for (some.first = 1; some.first <= n; some.first = some.last + 1) {
		some.last = some.first + AT_ONCE - 1;
		if (some.last > n)
			some.last = n;
		if (in_child(run_some, &some))
			continue;
		try_seed(*at);
		fail_msg("seed %llu fails behind others only",
			 (unsigned long long)*at);
	}
	(void)munmap(at, sizeof(*at));
}

static void a_random_flow_does_what_its_operators_do_to_lists(void **state)
{
	const char *only = getenv("WEIR_TEST_SEED");

	if (only)
		try_seed(strtoull(only, NULL, 10));
	else
		try_many(test_count(test_soak() ? 400000 : 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_random_flow_does_what_its_operators_do_to_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
