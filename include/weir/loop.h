/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An executor without a thread, for programs that have their own event loop:
 * watch weir_loop_fd() for POLLIN with poll, epoll, libuv, GLib or sd-event,
 * and call weir_loop_run() when it is readable. Any thread may submit; turns
 * run in weir_loop_run() only.
 */
#ifndef WEIR_LOOP_H
#define WEIR_LOOP_H

#include <weir/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_loop;

/*
 * A new loop in *loop, owned by the calling thread. A call that waits on that
 * thread runs the loop meanwhile, together with all other loops and simulators
 * of the thread; with more than 64 loops such a call is -EDEADLK. `options` is
 * copied and may be NULL. -EINVAL: `loop` is NULL, or what weir_executor_init
 * refuses. -ENOMEM, or what epoll_create1, eventfd and timerfd_create report.
 * On an error *loop is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_loop_new(
	struct weir_loop **loop, const struct weir_executor_options *options);

/* The loop as an executor; lives as long as the loop. Any thread. */
WEIR_API struct weir_executor *weir_loop_executor(struct weir_loop *loop);

/*
 * A descriptor that is readable when weir_loop_run() has something to do: a
 * task to run, a timer that is due, a watched descriptor that is ready. It
 * becomes readable once also when the loop's last actor has been released, or a
 * drain of the loop is over, on another thread; so a thread that has seen
 * weir_executor_alive() above 0 may wait for the descriptor. It may become
 * readable once for nothing (its timer has been cancelled), but does not stay
 * readable: an idle loop uses no CPU. The descriptor is the loop's: do not read
 * or close it. Any thread.
 */
WEIR_API int weir_loop_fd(const struct weir_loop *loop);

/*
 * Handles due timers and ready descriptors, then runs at most `budget` slices,
 * first come, first served, without waiting. Returns the number of slices it
 * ran; if more are left to run, the descriptor stays readable. -EINVAL: null or
 * a budget of 0. -EDEADLK: called from one of the loop's own turns, timers or
 * watches, or from a turn of another executor whose turns may not block. In a
 * turn of a blocking executor it may be called, but the loop's own turns may
 * not wait even there. On one thread at a time.
 */
WEIR_API int weir_loop_run(struct weir_loop *loop, size_t budget);

/*
 * Waits for at most `timeout_ns` (WEIR_FOREVER: no limit) until there is
 * something to do, then does as weir_loop_run(). -ETIMEDOUT: nothing came. 0
 * also if the loop was woken for something that is not a slice, see
 * weir_loop_fd(). A signal does not end the wait.
 */
WEIR_API int weir_loop_wait(struct weir_loop *loop, size_t budget,
			    uint64_t timeout_ns);

/*
 * Frees the loop. 0, also for NULL. -EBUSY: an actor is still alive; actors
 * that are leaving, on other threads, are waited for as by
 * weir_executor_fini(). -EDEADLK: called from one of the loop's own turns,
 * timers or watches, or inside a call that waits and runs the loop meanwhile.
 * On an error the loop goes on. Your own timers and watches that are still
 * armed never fire. On the owner's thread. In a child process after fork() this
 * is the only call allowed: it returns 0 on any thread, even if actors were
 * alive, and closes the child's descriptors.
 */
WEIR_API WEIR_MUST_CHECK int weir_loop_free(struct weir_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
