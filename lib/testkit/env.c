/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a test comes to rest on each of the executors. The limits are only for
 * tests that never come to rest.
 */
#include <weir/testkit.h>

#include <sched.h>
#include <time.h>

#include <weir/loop.h>
#include <weir/sim.h>
#include <weir/threads.h>

#define SLICES_MAX (UINT64_C(1) << 22)
#define BUDGET 1024u /* slices in one call of weir_loop_run() */
#define SECONDS_MAX 60
#define YIELDS 1024u /* between two looks at the clock */

static int run_until(struct weir_sim *sim, uint64_t deadline_ns)
{
	return weir_sim_run_until(sim, deadline_ns, SLICES_MAX) < SLICES_MAX
		       ? 0
		       : -ETIMEDOUT;
}

static int settle_sim(void *context)
{
	return run_until(context,
			 weir_executor_now(weir_sim_executor(context)));
}

static int advance_sim(uint64_t ns, void *context)
{
	uint64_t now = weir_executor_now(weir_sim_executor(context));

	return run_until(context,
			 ns < WEIR_FOREVER - now ? now + ns : WEIR_FOREVER - 1);
}

static int settle_loop(void *context)
{
	uint64_t slices = 0;
	int rc;

	do {
		rc = weir_loop_run(context, BUDGET);
		if (rc > 0)
			slices += (uint64_t)rc;
	} while (rc > 0 && slices < SLICES_MAX);
	return rc > 0 ? -ETIMEDOUT : rc;
}

static int settle_threads(void *context)
{
	struct timespec now, start;
	uint32_t i;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (i = 0; i < YIELDS; i++) {
			if (weir_threads_idle(context))
				return 0;
			sched_yield();
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec < SECONDS_MAX);
	return -ETIMEDOUT;
}

struct weir_test_env weir_test_env_sim(struct weir_sim *sim)
{
	return (struct weir_test_env){
		.settle = settle_sim,
		.advance = advance_sim,
		.context = sim,
		.one_thread = true,
	};
}

struct weir_test_env weir_test_env_loop(struct weir_loop *loop)
{
	return (struct weir_test_env){.settle = settle_loop, .context = loop};
}

struct weir_test_env weir_test_env_threads(struct weir_threads *threads)
{
	return (struct weir_test_env){
		.settle = settle_threads,
		.context = threads,
	};
}

int weir_test_settle(const struct weir_test_env *env)
{
	return env && env->settle ? env->settle(env->context) : 0;
}

int weir_test_advance(const struct weir_test_env *env, uint64_t ns)
{
	return env && env->advance ? env->advance(ns, env->context) : -ENOTSUP;
}
