/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator: an executor on the calling thread with a virtual clock. The
 * order of turns and the length of slices are drawn from a seed, so hours
 * pass in milliseconds and a race found once is found again with its seed.
 * For tests, ours and yours. Everything about a simulator happens on the
 * thread that made it.
 *
 * A call that waits on that thread steps all simulators of it meanwhile, and
 * its timeout is virtual, of the last one made. It gets -EDEADLK when nothing is
 * left that could end the wait: what other threads might do does not count. For
 * descriptors that are watched it waits, in real time, if it has no timeout. On a
 * thread that owns a loop as well it waits as there: in real time, and for what
 * other threads do.
 *
 * A simulator runs in a turn of a blocking executor, too. In any other turn of
 * another executor it does nothing: weir_sim_step() is false, the others 0.
 */
#ifndef WEIR_SIM_H
#define WEIR_SIM_H

#include <weir/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_sim;

/*
 * A new simulator in *sim, its clock at 0. `options` is copied and may be
 * NULL; slices get budgets of 1 to options->budget_turns. -EINVAL: `sim` is
 * NULL, or what weir_executor_init refuses. -ENOMEM. Then *sim is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_sim_new(
	struct weir_sim **sim, uint64_t seed,
	const struct weir_executor_options *options);

/* The simulator as an executor; lives as long as the simulator. */
WEIR_API struct weir_executor *weir_sim_executor(struct weir_sim *sim);

/* The seed it was made with. */
WEIR_API uint64_t weir_sim_seed(const struct weir_sim *sim);

/*
 * Runs one slice, drawn from those that can run; if there are none, moves the
 * clock to the next timer and fires it. Timers fire in order of time, then of
 * arming; other slices may run between two of one time. True: something was
 * done; false: nothing is left to do (watched descriptors are looked at, but
 * not waited for). False too from one of its own turns, timers or watches.
 */
WEIR_API bool weir_sim_step(struct weir_sim *sim);

/*
 * Steps until nothing is left to do. Returns the slices run. A program that
 * never comes to rest never returns: use weir_sim_run_until.
 */
WEIR_API uint64_t weir_sim_run(struct weir_sim *sim);

/*
 * Steps until the clock would pass `deadline_ns`, then sets it to that time.
 * Returns the slices run. What is ready all the time never lets the clock
 * move; at most `slices` are run (UINT64_MAX: no limit).
 */
WEIR_API uint64_t weir_sim_run_until(struct weir_sim *sim, uint64_t deadline_ns,
				     uint64_t slices);

/* A number below `bound` (> 0) from the simulator's seed, for tests. */
WEIR_API uint64_t weir_sim_random(struct weir_sim *sim, uint64_t bound);

/*
 * 0, also for NULL. -EBUSY: an actor is still alive, see weir_executor_fini().
 * -EDEADLK: from one of its own turns, timers or watches, or inside a call that
 * waits and steps it meanwhile. Then nothing changes. Your own timers and
 * watches that are still armed never fire. In the child of a fork() by another
 * thread it is 0, whoever was alive.
 */
WEIR_API WEIR_MUST_CHECK int weir_sim_free(struct weir_sim *sim);

#ifdef __cplusplus
}
#endif

#endif
