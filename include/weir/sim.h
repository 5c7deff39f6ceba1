/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator: an executor on the calling thread with a virtual clock. The
 * order of turns and the length of slices are drawn from a seed, so hours
 * pass in milliseconds and a race found once is found again with its seed.
 * For tests, ours and yours. Everything about a simulator happens on the
 * thread that made it.
 *
 * A call that waits on that thread steps all simulators of the thread
 * meanwhile.
 *
 * - Its timeout is virtual: it counts on the clock of the simulator made last.
 * - It returns -EDEADLK when nothing is left that could end the wait; other
 *   threads do not count.
 * - For watched descriptors it waits in real time, if it has no timeout.
 * - On a thread that also owns a loop, it waits as for the loop: in real time,
 *   and also for other threads.
 *
 * A simulator may also be run in a turn of a blocking executor. In any other
 * turn of another executor it does nothing: weir_sim_step() returns false, the
 * other calls return 0.
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
 * Runs one slice, drawn from the slices that can run; if there is none, moves
 * the clock to the next timer and fires it. Timers fire in the order of their
 * times; timers of equal time in the order of arming, perhaps with slices
 * between them. True: something was done. False: nothing is left to do (watched
 * descriptors are looked at, but not waited for), or the call was made from one
 * of the simulator's own turns, timers or watches.
 */
WEIR_API bool weir_sim_step(struct weir_sim *sim);

/*
 * Steps until nothing is left to do. Returns the number of slices run. If the
 * program never comes to rest, the call does not return: use
 * weir_sim_run_until().
 */
WEIR_API uint64_t weir_sim_run(struct weir_sim *sim);

/*
 * Steps until the clock would pass `deadline_ns`, then sets it to that time.
 * Returns the number of slices run, at most `slices` (UINT64_MAX: no limit).
 * The limit is for actors that are always ready, with which the clock never
 * moves.
 */
WEIR_API uint64_t weir_sim_run_until(struct weir_sim *sim, uint64_t deadline_ns,
				     uint64_t slices);

/* A number below `bound` (> 0) from the simulator's seed, for tests. */
WEIR_API uint64_t weir_sim_random(struct weir_sim *sim, uint64_t bound);

/*
 * Frees the simulator. 0, also for NULL. -EBUSY: an actor is still alive, see
 * weir_executor_fini(). -EDEADLK: called from one of the simulator's own turns,
 * timers or watches, or inside a call that waits and steps it meanwhile. On an
 * error nothing changes. Your own timers and watches that are still armed never
 * fire. In the child of a fork() by another thread it returns 0, even if actors
 * were alive.
 */
WEIR_API WEIR_MUST_CHECK int weir_sim_free(struct weir_sim *sim);

#ifdef __cplusplus
}
#endif

#endif
