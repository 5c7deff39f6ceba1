/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The explorer leaves out executions that it holds to be equal to others. Here
 * small random programs are explored with and without that, and must have the
 * same outcomes. A failure prints the seed, which makes the same program.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include <ck_pr.h>

#include "base/futex.h"
#include "explorer.h"

enum { THREADS = 3, STEPS = 3, WORDS = 3, OUTCOMES = 4096, PROGRAMS = 150 };

enum operation {
	LOAD,
	STORE,
	ADD,
	SWAP,
	CAS,
	FENCE_FULL,
	FENCE_ATOMIC_LOAD,
	FENCE_RELEASE,
	FENCE_ACQUIRE,
	FENCE_STORE,
	FENCE_LOAD,
	STALL,
	WAKE,
	WAIT,
	N_OPERATIONS
};

struct step {
	enum operation operation;
	int word;
};

static struct step program[THREADS][STEPS];

static struct {
	uint32_t word[WORDS];
	uint32_t read[THREADS][STEPS];
} state;

struct outcomes {
	size_t n;
	uint64_t hash[OUTCOMES];
};

static struct outcomes reduced, all;
static struct outcomes *collecting;

static uint32_t random_seed;

static uint32_t random_below(uint32_t n)
{
	random_seed = random_seed * 1664525u + 1013904223u;
	return (random_seed >> 16) % n;
}

static void make_program(uint32_t seed)
{
	random_seed = seed;
	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < STEPS; i++) {
			program[t][i].operation =
				(enum operation)random_below(N_OPERATIONS);
			program[t][i].word = (int)random_below(WORDS);
		}
}

static uint32_t value_of(int t, int i)
{
	return (uint32_t)(1 + t * STEPS + i);
}

/* A second stall might wait for ever. */
static uint32_t stall_once(uint32_t *word)
{
	uint32_t seen = ck_pr_load_32(word);

	if (seen == 0)
		ck_pr_stall();
	return 2 * ck_pr_load_32(word) + seen;
}

static uint32_t run_step(const struct step *step, uint32_t value)
{
	uint32_t *word = &state.word[step->word];
	uint32_t seen = 0;

	switch (step->operation) {
	case LOAD:
		return ck_pr_load_32(word);
	case STORE:
		ck_pr_store_32(word, value);
		break;
	case ADD:
		return ck_pr_faa_32(word, 16);
	case SWAP:
		return ck_pr_fas_32(word, value);
	case CAS:
		ck_pr_cas_32_value(word, 0, value, &seen);
		return seen;
	case FENCE_FULL:
		ck_pr_fence_store_load();
		break;
	case FENCE_ATOMIC_LOAD:
		ck_pr_fence_atomic_load();
		break;
	case FENCE_RELEASE:
		ck_pr_fence_release();
		break;
	case FENCE_ACQUIRE:
		ck_pr_fence_acquire();
		break;
	case FENCE_STORE:
		ck_pr_fence_store();
		break;
	case FENCE_LOAD:
		ck_pr_fence_load();
		break;
	case STALL:
		return stall_once(word);
	case WAKE:
		weir__futex_wake(word, 1);
		break;
	case WAIT:
		return (uint32_t)weir__futex_wait(word, 0, 1);
	case N_OPERATIONS:
		break;
	}
	return 0;
}

static void run_thread(void *context)
{
	int t = explorer_thread();

	for (int i = 0; i < STEPS; i++)
		state.read[t][i] = run_step(&program[t][i], value_of(t, i));
}

static void ignore_state(void *context)
{
	explorer_ignore(&state.read, sizeof(state.read));
}

static uint64_t hash_state(void)
{
	const unsigned char *bytes = (const unsigned char *)&state;
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < sizeof(state); i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

static void collect(void *context)
{
	uint64_t hash = hash_state();

	for (size_t i = 0; i < collecting->n; i++)
		if (collecting->hash[i] == hash)
			return;
	explorer_assert(collecting->n < OUTCOMES);
	collecting->hash[collecting->n++] = hash;
}

static uint64_t explore(struct outcomes *outcomes, bool exhaustive, bool tso)
{
	const struct explorer_scenario scenario = {
		.name = "random program",
		.setup = ignore_state,
		.thread = {run_thread, run_thread, run_thread},
		.check = collect,
		.context = &state,
		.context_size = sizeof(state),
	};
	const struct explorer_options options = {
		.exhaustive = exhaustive,
		.tso = tso,
	};
	struct explorer_result result;

	collecting = outcomes;
	outcomes->n = 0;
	assert_int_equal(explorer_run(&scenario, &options, &result),
			 EXPLORER_PASSED);
	return result.executions;
}

static void compare(uint32_t seed, bool tso)
{
	uint64_t n_all, n_reduced;

	make_program(seed);
	n_all = explore(&all, true, tso);
	n_reduced = explore(&reduced, false, tso);
	if (reduced.n != all.n)
		fail_msg("seed %u: %zu outcomes of %zu", seed, reduced.n,
			 all.n);
	assert_true(n_reduced <= n_all);
}

static void reductions_lose_no_outcome(void **unused)
{
	for_each_seed(seed, test_count(PROGRAMS))
		compare(seed, false);
}

static void reductions_lose_no_outcome_on_x86(void **unused)
{
	for_each_seed(seed, test_count(PROGRAMS))
		compare(seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reductions_lose_no_outcome),
		cmocka_unit_test(reductions_lose_no_outcome_on_x86),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
