/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is alive on an executor: needed to reach every actor when the executor
 * drains or aborts, and to say -EBUSY. Touched when an actor starts and when
 * it is released, never per turn.
 *
 * Every living actor has a slot. Threads that are the executor's own have a
 * share each, from which they register and remove without a lock; all others
 * do it under the lock.
 *
 *  1. A slot's index is spare (in `free` or in a share) or an actor's. The
 *     slot is written by who registers or removes that actor, and read under
 *     the lock and not while running: by weir__registry_collect(), and by
 *     weir__registry_await(), which only asks whether it is empty.
 *  2. The phase is changed under the lock, followed by a full fence. A thread
 *     with a share writes a slot or a count, passes a fence, and reads the
 *     phase: so it reads the new phase, or whoever changed the phase sees what
 *     it has written.
 *  3. Registering: who reads "running" is found by any collect. Else it looks
 *     again under the lock, and the actor is removed if the intake is closed.
 *  4. Removing: who reads "running" is not found any more. Else a collect may
 *     be under way and about to touch the actor: taking the lock once waits
 *     for that.
 *  5. Done: who reads "running" is seen by who begins a drain, and by those
 *     who take the lock after that. Else it looks itself, under the lock,
 *     whether it was the last. A thread with a share is joined before the
 *     registry is freed, so it may do that after it has counted.
 *  6. Between "removed" and "done" an actor is *leaving*: its `released` runs,
 *     and whoever waits for that may have seen it already. Who frees the
 *     executor waits for those that leave, if nobody else is alive. It sets
 *     AWAITED, which is a change of the phase: so whoever is done either has
 *     been seen by it, or takes the lock and wakes it. Whom one that leaves
 *     has registered is seen then.
 *  7. The thread on which an actor leaves *holds* the executor and must not
 *     wait for itself; nor may two threads for each other, so who holds any
 *     executor waits for none.
 *  8. Who completes drains, or wakes the thread that steps the executor when
 *     its last actor is done, is a *visitor* meanwhile: it has begun under the
 *     lock, with what made it necessary, and the free waits for it as for
 *     those that leave. It holds the executor.
 *  9. Who submits an actor has a reference of it until that call has returned
 *     (weir_actor_start() takes one for that, but on a thread with a share), so
 *     the actor is alive as long. Of one that has none to give, the submitter
 *     counts itself: weir__registry_hold().
 */
#ifndef WEIR_EXECUTOR_REGISTRY_H
#define WEIR_EXECUTOR_REGISTRY_H

#include <weir/executor.h>

#include "base/hash.h"
#include "base/lock.h"
#include "base/membarrier.h"
#include "base/memory.h"
#include "base/thread.h"

#ifndef WEIR__SPARES /* the explorer's are fewer */
#define WEIR__SPARES 64u
#endif
#define WEIR__BLOCKS 26u

/*
 * States, and who moves them: running -> draining -> aborting, also running
 * -> aborting, by weir_executor_drain() and weir_executor_abort(); never back.
 */
enum weir__phase { WEIR__RUNNING, WEIR__DRAINING, WEIR__ABORTING };

/* In the same word, while weir__registry_await() waits: nobody is "running". */
#define WEIR__AWAITED 4u

/* One thread's; it alone writes it while it runs. */
struct weir__share {
	/* constant */
	struct weir__registry *registry __attribute__((aligned(WEIR__LINE)));
	struct weir__share *next;
	/* atomic: read by others */
	uint64_t started, done;
	/* read by nobody else */
	uint32_t n_spare;
	uint32_t spare[WEIR__SPARES];
};

struct weir__registry {
	struct weir__lock lock;	   /* over what has no other comment */
	uint32_t phase;		   /* atomic; enum weir__phase, WEIR__AWAITED */
	uint32_t departures;	   /* while AWAITED; also slept on */
	struct weir__hash_key key; /* constant: for keys from outside */
	/* constant: weir__membarrier() makes the fences of claim 2 */
	bool remote;
	/* constant: its clock does not go while a turn runs */
	bool stands_still;
	struct weir__share *shares; /* constant while their threads run */
	/*
	 * The slots; atomic. Block i has 64 << i of them and never moves: a
	 * thread with a share holds no lock when it uses one.
	 */
	struct weir_task **blocks[WEIR__BLOCKS];
	uint32_t n_blocks;
	uint32_t n_tasks; /* indices given out so far */
	uint32_t *free;	  /* stack of spare indices, n_free of them */
	uint32_t n_free;
	size_t alive;	 /* those added less those done, without the shares' */
	size_t visitors; /* claim 8 */
	struct weir_drain *drains;
	uint64_t dropped; /* atomic: items dropped undelivered */
};

/* What tables of those that run there are hashed by. */
static inline const struct weir__hash_key *weir__executor_key(
	const struct weir_executor *executor)
{
	return &executor->registry->key;
}

/* The calling thread's share, or NULL. */
static inline struct weir__share *weir__share_of(
	const struct weir__registry *registry)
{
	struct weir__share *share = weir__thread.share;

	return share && share->registry == registry ? share : NULL;
}

/* NULL: no memory. */
struct weir__registry *weir__registry_new(
	const struct weir_allocator *allocator);
void weir__registry_free(const struct weir_allocator *allocator,
			 struct weir__registry *registry);

/*
 * The same in a child process, where other threads of the parent may have been
 * in the middle of something at the fork: what was being changed is left alone.
 */
void weir__registry_free_forked(const struct weir_allocator *allocator,
				struct weir__registry *registry);

/* Before the share's thread runs, which sets weir__thread.share. */
void weir__registry_share(struct weir__registry *registry,
			  struct weir__share *share);

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
	return ck_pr_load_32(&registry->phase) & ~WEIR__AWAITED;
}

/*
 * Before the executor is freed: 0, nobody is alive. -EBUSY: somebody is; or
 * actors that are leaving are all there is, but the calling thread may not wait
 * for them (claim 7; inside a turn; a worker).
 */
int weir__registry_await(struct weir_executor *executor);

/* `n` who are not counted in a share; completes drains if they were the last. */
void weir__registry_done_locked(struct weir_executor *executor, size_t n);

/*
 * The calling thread holds the executor, as one that leaves it, until
 * weir__registry_done(). An actor of it that is not leaving is known.
 */
void weir__registry_hold(struct weir_executor *executor);

/* It is released: may complete a drain. The executor may be gone after. */
static inline void weir__registry_done(struct weir_executor *executor)
{
	struct weir__share *share = weir__share_of(executor->registry);

	weir__thread.holds--;
	if (WEIR_UNLIKELY(!share)) {
		weir__registry_done_locked(executor, 1);
		return;
	}
	/* release: what has led to this; pairs with the acquire in
	 * weir__registry_alive() */
	ck_pr_fence_release();
	ck_pr_store_64(&share->done, share->done + 1);
	if (WEIR_UNLIKELY(!weir__registry_running(executor->registry)))
		weir__registry_done_locked(executor, 0);
}

void weir__registry_dropped(struct weir_executor *executor, uint64_t n_items);

/* Those added and not done. Under the lock. */
size_t weir__registry_alive(const struct weir__registry *registry);

/* Claim 2: after a change of the phase. */
void weir__registry_fence(const struct weir__registry *registry);

#define WEIR__COLLECTED 32u

/* Up to WEIR__COLLECTED referenced tasks from *index on; returns how many. */
uint32_t weir__registry_collect(struct weir__registry *registry,
				uint32_t *index, struct weir_task **tasks);

/*
 * What tasks are is the actor layer's business, which defines these four.
 * run: as weir_task_run(), on a thread that does nothing else and has set
 * weir__thread.running; true: the caller submits the task again.
 * tryref: false when the task is on its way out.
 */
bool weir__task_run(struct weir_task *task);
bool weir__task_tryref(struct weir_task *task);
void weir__task_unref(struct weir_task *task);
void weir__task_end(struct weir_task *task, enum weir__phase phase);

#endif
