/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random flows under the simulator. A seed makes a plan, of a source and up to
 * eleven operators, with functions that fail, deciders, and boundaries; it is
 * run fused and cut, beside a gate that lets a few items out at a time, and
 * what comes out, and how it ends, is what the plan's steps make of lists of
 * numbers. A run that is cancelled gives the first of that; one that is drained,
 * or switched off, what becomes of the first items of its source, or of those
 * that have come to the switch. No item and no memory is left.
 *
 * Runs are made in child processes, so a crash is a failure as any other. A plan
 * that fails is made smaller for as long as it does, and is told.
 */
#include "flow/random_run.h"
#include "support.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 500 /* seeds in one process */

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
	plan_expect(trial->plan, &stream);
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

	for (k = 0; k < n_smaller_plans; k++) {
		for (i = 0; i < plan->n; i++) {
			less = *plan;
			if (!smaller_plans[k](&less, i))
				continue;
			plan_settle(&less);
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
	print_error("WEIR_TEST_SEED=%llu, in its smallest form:\n",
		    (unsigned long long)seed);
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
