/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks again and again, and so knows what one snapshot cannot: since when each
 * actor waits, which shares of its time it runs and waits, how fast items go
 * through each link, how full it was, and that nothing moves any more.
 *
 * Actors, ports and links do nothing for it. A sampler has a thread that looks
 * at them as weir_snapshot_new() does; or it is stepped by hand, as in a
 * simulator, where a step after each thing that happens makes all of it exact.
 */
#ifndef WEIR_SAMPLER_H
#define WEIR_SAMPLER_H

#include <weir/inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_executor;
struct weir_sampler;

struct weir_sampler_options {
	/* Looks in a second, 1 to 1000; 0: 100. When looks take more than 5 % of
	 * a CPU there are fewer: weir_snapshot.period_ns tells. */
	size_t hz;
	/* It has no thread: weir_sampler_step(). */
	bool by_hand;
	/* How long shares and rates are added up before they are told; 0: 1 s. */
	uint64_t window_ns;
	/*
	 * A stall is that an actor holds others up, and has not moved for so
	 * long; 0: nobody is told of stalls. Who waits until a time that is set,
	 * as a restart in back-off does, stalls when it has not moved so long
	 * after that time. A program that is idle does not stall.
	 */
	uint64_t stall_ns;
	/*
	 * Is told of a stall: once, and again when that actor has moved and
	 * stalls anew, or when another one does. The snapshot is borrowed for
	 * the call. On the sampler's thread, or in the step; it may block, and
	 * the sampler does not look meanwhile. NULL: who holds up whom is
	 * written to stderr.
	 */
	void (*on_stall)(const struct weir_snapshot *snapshot, void *context);
	void *context;
	uint64_t reserved[4];
};

/*
 * A new sampler of `n` executors in *sampler, which looks at them until
 * weir_sampler_free(); meanwhile they are not freed: that is -EBUSY. An executor
 * may have several samplers. `options` is copied and may be NULL. Its clock, and
 * that of all times it tells, is the first executor's, as is the allocator.
 * -EINVAL: a null argument, no executor, hz above 1000, a simulator but not by
 * hand, reserved fields. -ENOMEM, or what pthread_create(3) reports: *sampler is
 * NULL. -EDEADLK: in a `released` of an actor. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_sampler_new(
	struct weir_sampler **sampler, struct weir_executor *const *executors,
	size_t n, const struct weir_sampler_options *options);

/*
 * Looks once, and tells of a stall. -EINVAL: NULL, or it has a thread. -ENOMEM:
 * it is as if nobody had looked. -EDEADLK: in `on_stall`, or in a `released` of
 * an actor. On one thread at a time.
 */
WEIR_API int weir_sampler_step(struct weir_sampler *sampler);

/*
 * Looks now, and makes a snapshot with all that the sampler knows: see
 * weir_snapshot_new(). It is settled if the look before found the same, and
 * nothing has moved for 1/hz of a second since, or, by hand, at all. Frees with
 * weir_snapshot_free(), also after the sampler. -EINVAL: a null argument.
 * -ENOMEM. -EDEADLK: in a `released` of an actor. -ESHUTDOWN: in the child of a
 * fork(), where its thread is not. Any thread, also in `on_stall`.
 */
WEIR_API WEIR_MUST_CHECK int weir_sampler_snapshot(
	struct weir_sampler *sampler, struct weir_snapshot **snapshot);

/*
 * Waits until a look and `on_stall` are over, and frees the sampler. 0, also for
 * NULL. -EDEADLK: in `on_stall`, or in a `released` of an actor; nothing
 * changes. In the child of a fork() it waits for nobody. While no other call of
 * the sampler is under way.
 */
WEIR_API WEIR_MUST_CHECK int weir_sampler_free(struct weir_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif
