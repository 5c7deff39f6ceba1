/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry of the actors that are alive on an executor. In it a drain and
 * an abort find every actor, and a free of the executor that comes too early
 * sees that and is refused (-EBUSY). The registry is touched when an actor
 * starts and when an actor is released, never per turn.
 *
 * Every living actor has a slot. A thread of the executor's own has a shard of
 * the registry, from which it registers and removes actors without a lock; any
 * other thread does so under the lock.
 *
 *  1. A slot's index is spare (in `free` or in a shard) or an actor's. The
 *     thread that registers or removes the actor writes the slot. It is read
 *     under the lock, and not while running: by weir__registry_collect(), and
 *     by weir__registry_await(), which only asks whether the slot is empty.
 *  2. The phase is changed under the lock, and a full fence follows. A thread
 *     with a shard writes a slot or a count, passes a fence, and reads the
 *     phase. So it reads the new phase, or the thread that changed the phase
 *     sees what it wrote.
 *  3. Registering. If the registering thread reads "running", any collect finds
 *     the actor. If not, the thread looks again under the lock, and removes the
 *     actor if the intake is closed.
 *  4. Removing. If the removing thread reads "running", no collect finds the
 *     actor any more. If not, a collect may be under way and about to touch the
 *     actor: the thread takes the lock once, which waits for that.
 *  5. Done. If the thread that counts an actor as done reads "running", then a
 *     thread that begins a drain, or takes the lock later, sees the count. If
 *     not, the counting thread itself looks, under the lock, whether the actor
 *     was the last. It may do so after it has counted, since a thread with a
 *     shard is joined before the registry is freed.
 *  6. Between "removed" and "done" an actor is *leaving*: its `released` runs,
 *     and a thread that waits for `released` may have seen it already. If only
 *     leaving actors are left, a free of the executor waits for them. The free
 *     sets AWAITED, which is a change of the phase: so it sees that an actor is
 *     done, or the thread that is done takes the lock and wakes the free. An
 *     actor that a leaving actor has registered is seen then, too.
 *  7. The thread on which an actor leaves *holds* the executor. A holder must
 *     not wait for itself, nor two holders for each other; so a thread that
 *     holds any executor waits for none.
 *  8. A thread that completes drains, or that wakes the thread which steps the
 *     executor when its last actor is done, is a *visitor* meanwhile. It
 *     becomes one under the lock, together with what made the visit necessary.
 *     The free waits for visitors as for leaving actors. A visitor holds the
 *     executor.
 *  9. A thread that looks at all actors of the executor from outside
 *     (weir__registry_look()) has LOOKED set meanwhile, which is a change of the
 *     phase, and touches an actor under the lock only. So by claim 4 no actor
 *     is released under it. Whoever frees something that an actor had and a
 *     look might find takes it out first, and then waits in the same way:
 *     weir__registry_await_look().
 * 10. A submitter has a reference of the actor until the submission has
 *     returned (weir_actor_start() takes one for that, but on a thread with a
 *     shard), so the actor is alive as long. A submitter without such a
 *     reference counts itself: weir__registry_hold().
 */
#ifndef WEIR_EXECUTOR_REGISTRY_H
#define WEIR_EXECUTOR_REGISTRY_H

#include <weir/executor.h>

#include "base/fields.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/membarrier.h"
#include "base/memory.h"
#include "executor/living.h"
#include "executor/look.h"
#include "executor/registry_done.h"
#include "executor/task.h"

#ifndef WEIR__SPARES /* the explorer's are fewer */
#define WEIR__SPARES 64u
#endif
#define WEIR__BLOCKS 26u

/*
 * A bit beside the phase, in the same word. It is set while
 * weir__registry_await() waits, so that no thread reads "running" then.
 */
#define WEIR__AWAITED 4u
/* Another, while somebody looks: claim 9. */
#define WEIR__LOOKED 8u
#define WEIR__PHASE_BITS (WEIR__AWAITED | WEIR__LOOKED)

/* One thread's; it alone writes it while it runs. */
struct weir__shard {
	/* constant */
	struct weir__registry *registry __attribute__((aligned(WEIR__LINE)));
	struct weir__shard *next;
	/* atomic: read by others */
	uint64_t started, done;
	/* read by nobody else */
	uint32_t n_spare;
	uint32_t spare[WEIR__SPARES];
};

struct weir__registry {
	struct weir__lock lock;	   /* over fields without a comment */
	uint32_t phase;		   /* atomic; enum weir__phase, the bits */
	uint32_t n_looks;	   /* not 0: LOOKED is set */
	uint32_t n_samplers;	   /* of this executor */
	uint32_t departures;	   /* while AWAITED; also slept on */
	struct weir__hash_key key; /* constant: for keys from outside */
	/* constant: weir__membarrier() makes the fences of claim 2 */
	bool remote;
	/* constant, NULL: an executor of the user's; see look.h */
	void (*look)(struct weir_executor *executor,
		     struct weir__executor_look *look);
	/* constant: its clock does not go while a turn runs */
	bool stands_still;
	struct weir__shard *shards; /* constant while their threads run */
	/*
	 * The slots; atomic. Block i has 64 << i of them and never moves: a
	 * thread with a shard holds no lock when it uses one. Behind them, for
	 * each, how many tasks it has had, written as the slot is.
	 */
	struct weir_task **blocks[WEIR__BLOCKS];
	uint32_t n_blocks;
	uint32_t n_tasks; /* indices given out so far */
	uint32_t *free;	  /* stack of spare indices, n_free of them */
	uint32_t n_free;
	size_t alive;	 /* added less done, without the shards */
	size_t visitors; /* claim 8 */
	struct weir_ending *drains;
	uint64_t dropped; /* atomic: items dropped undelivered */
	struct weir__living living;
	/* constant: where it has its threads, for readers of memory; NULL */
	const struct weir__layout_of *layout;
};

/* The key by which the tables of this executor's actors are hashed. */
static inline const struct weir__hash_key *weir__executor_key(
	const struct weir_executor *executor)
{
	return &executor->registry->key;
}

/* The calling thread's shard, or NULL. */
static inline struct weir__shard *weir__shard_of(
	const struct weir__registry *registry)
{
	struct weir__shard *shard = weir__thread.shard;

	return shard && shard->registry == registry ? shard : NULL;
}

/* As weir_executor_init(), but the executor is moved yet, and then to be added
 * to those that are living. */
int weir__executor_init(struct weir_executor *executor,
			const struct weir_executor_ops *ops,
			const struct weir_executor_options *options);

static inline void weir__executor_living(struct weir_executor *executor)
{
	weir__living_add(&executor->registry->living, executor);
}

/* NULL: no memory. */
struct weir__registry *weir__registry_new(
	const struct weir_allocator *allocator);
void weir__registry_free(const struct weir_allocator *allocator,
			 struct weir__registry *registry);

/*
 * Frees the registry in a child process after fork(). Other threads of the
 * parent may have been changing something at the fork; that is left alone.
 */
void weir__registry_free_forked(const struct weir_allocator *allocator,
				struct weir__registry *registry);

/* Before the shard's thread runs, which sets weir__thread.shard. */
void weir__registry_add_shard(struct weir__registry *registry,
			      struct weir__shard *shard);

/*
 * The task is alive from here on; its index in *index. -ESHUTDOWN: the
 * executor takes no more. -ENOMEM.
 */
int weir__registry_add(struct weir_executor *executor, struct weir_task *task,
		       uint32_t *index);

/*
 * No collect finds the task any more. Before its memory goes. The calling
 * thread holds the executor until weir__registry_done().
 */
void weir__registry_remove(struct weir_executor *executor, uint32_t index);

/* The thread's side of claim 2. */
static inline bool weir__registry_running(const struct weir__registry *registry)
{
	/* store -> load; pairs with the one in weir__registry_fence() */
	weir__fence_light(registry->remote);
	return ck_pr_load_32(&registry->phase) == WEIR__RUNNING;
}

static inline enum weir__phase weir__registry_phase(
	const struct weir__registry *registry)
{
	return ck_pr_load_32(&registry->phase) & ~WEIR__PHASE_BITS;
}

/*
 * Before the executor is freed. 0: no actor is alive. -EBUSY: one is alive, or a
 * sampler looks at it; or
 * all that are left are leaving, but the calling thread may not wait for them
 * (claim 7; inside a turn; a worker).
 */
int weir__registry_await(struct weir_executor *executor);

/*
 * An actor is released: may complete a drain. The executor may be gone on
 * return.
 */
static inline void weir__registry_done(struct weir_executor *executor)
{
	struct weir__shard *shard = weir__shard_of(executor->registry);

	weir__thread.holds--;
	if (WEIR_UNLIKELY(!shard)) {
		weir__registry_done_locked(executor, 1);
		return;
	}
	/* release: the actor's life; pairs with the acquire in
	 * weir__registry_alive() */
	ck_pr_fence_release();
	ck_pr_store_64(&shard->done, shard->done + 1);
	if (WEIR_UNLIKELY(!weir__registry_running(executor->registry)))
		weir__registry_done_locked(executor, 0);
}

/* Claim 2: after a change of the phase. */
void weir__registry_fence(const struct weir__registry *registry);

#define WEIR__COLLECTED 32u

/* Up to WEIR__COLLECTED referenced tasks from *index on; returns how many. */
uint32_t weir__registry_collect(struct weir__registry *registry,
				uint32_t *index, struct weir_task **tasks);

/*
 * A look at all tasks, from any thread, but not from one that holds the
 * executor. Between begin and end, each call shows `see` up to WEIR__COLLECTED
 * of them from *index on, under the lock, and says whether there are more. An
 * `id` is a slot and, above 2^32, how many tasks it has had.
 * `see` may read what the task's actor has, and calls nothing; if it returns
 * false, the call is over, and the next one shows the same task again. A task
 * that starts or ends meanwhile may be left out.
 */
void weir__registry_look_begin(struct weir__registry *registry);
bool weir__registry_look(struct weir__registry *registry, uint32_t *index,
			 bool (*see)(struct weir_task *task, uint64_t id,
				     void *context),
			 void *context);
void weir__registry_look_end(struct weir__registry *registry);

/* A sampler more, or less: with one, the executor is not freed (-EBUSY). */
void weir__registry_sample(struct weir__registry *registry, bool more);

/* No look touches any more what the calling thread has taken out. On a thread
 * that may touch the executor. */
void weir__registry_await_look(struct weir_executor *executor);

#endif
