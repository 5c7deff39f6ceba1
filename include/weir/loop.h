/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An executor without a thread, for programs that have their own event loop:
 * watch weir_loop_fd() for POLLIN with poll, epoll, libuv, GLib or sd-event
 * and call weir_loop_run() when it is readable. Anyone may submit from any
 * thread; turns run in weir_loop_run() only.
 */
#ifndef WEIR_LOOP_H
#define WEIR_LOOP_H

#include <weir/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_loop;

/*
 * A new loop in *loop, owned by the calling thread: calls that wait there run
 * the loop meanwhile, with all other loops and simulators of that thread; with
 * more than 64 loops such a call is -EDEADLK. `options` is copied and may be NULL. -EINVAL: `loop` is
 * NULL, or what weir_executor_init refuses. -ENOMEM, or what epoll_create1,
 * eventfd and timerfd_create report. On an error *loop is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_loop_new(
	struct weir_loop **loop, const struct weir_executor_options *options);

/* The loop as an executor; lives as long as the loop. Any thread. */
WEIR_API struct weir_executor *weir_loop_executor(struct weir_loop *loop);

/*
 * A descriptor that is readable when weir_loop_run() has something to do:
 * work, a timer that is due, a watched descriptor that is ready. Also once when
 * its last actor has been released, or a drain of it is over, on another thread:
 * so who has seen weir_executor_alive() above 0 may wait for the descriptor. It
 * may be so once for nothing (a timer it was set to has been cancelled), but
 * does not stay so: an idle loop uses no CPU. The loop's: do not read or close
 * it. Any thread.
 */
WEIR_API int weir_loop_fd(const struct weir_loop *loop);

/*
 * Handles due timers and ready descriptors, then runs at most `budget`
 * slices, without waiting; first come, first served. Returns how many it ran;
 * when work is left over the descriptor stays readable. -EINVAL: null or a
 * budget of 0. -EDEADLK: called from one of its own turns, timers or watches, or
 * from a turn of another executor that may not block. In a turn of a blocking
 * executor it runs; its own turns may not wait even there. On one thread at a
 * time.
 */
WEIR_API int weir_loop_run(struct weir_loop *loop, uint32_t budget);

/*
 * Waits for at most `timeout_ns` (WEIR_FOREVER: no end) until there is
 * something to do, then as weir_loop_run. -ETIMEDOUT: nothing came. 0 too when
 * it was woken for what is not a slice, see weir_loop_fd(). A signal does not
 * end the wait.
 */
WEIR_API int weir_loop_wait(struct weir_loop *loop, uint32_t budget,
			    uint64_t timeout_ns);

/*
 * 0, also for NULL. -EBUSY: an actor is still alive; those that are leaving,
 * on other threads, are waited for as by weir_executor_fini(). -EDEADLK: from
 * one of its own turns, timers or watches, or inside a call that waits and runs
 * it meanwhile. Then the loop goes on. Your own timers and
 * watches that are still armed never fire. On the owner's thread. In a child
 * process after fork(), which can do nothing else with it, 0 on any thread, whoever
 * was alive: the child's descriptors are closed.
 */
WEIR_API WEIR_MUST_CHECK int weir_loop_free(struct weir_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
