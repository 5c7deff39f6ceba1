/* SPDX-License-Identifier: BSD-2-Clause */
/* The claims are in registry.h. */
#include "executor/registry.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include <ck_pr.h>

#include "executor/wait.h"

#define FIRST 64u /* slots of the first block */
#define AHEAD 4u  /* of the actor that is looked at */

/* Slots of the first n blocks. */
static uint32_t slots_before(uint32_t n)
{
	return FIRST * ((1u << n) - 1);
}

static struct weir_task **slot(const struct weir__registry *registry,
			       uint32_t index)
{
	uint32_t block = 31u - (uint32_t)__builtin_clz(index / FIRST + 1);

	assert(block < WEIR__BLOCKS);
	return &registry->blocks[block][index - slots_before(block)];
}

/* How many tasks have been in the slot; they are behind the block's slots. */
static uint32_t *lives(const struct weir__registry *registry, uint32_t index)
{
	uint32_t block = 31u - (uint32_t)__builtin_clz(index / FIRST + 1);
	struct weir_task **slots = registry->blocks[block];

	return (uint32_t *)(slots + (FIRST << block)) +
	       (index - slots_before(block));
}

/* Of the block with that number. */
static size_t block_size(uint32_t block)
{
	return ((size_t)FIRST << block) *
	       (sizeof(struct weir_task *) + sizeof(uint32_t));
}

/* A spare slot gets its task. */
static void settle_in(struct weir__registry *registry, uint32_t index,
		      struct weir_task *task)
{
	++*lives(registry, index);
	/* release: the task and its number before its slot; pairs with the
	 * acquire in weir__registry_collect() */
	ck_pr_fence_release();
	ck_pr_store_ptr(slot(registry, index), task);
}

struct weir__registry *weir__registry_new(
	const struct weir_allocator *allocator)
{
	struct weir__registry *registry =
		weir__alloc_lines(allocator, sizeof(*registry));

	if (registry)
		registry->key = weir__hash_key_random();
	return registry;
}

void weir__registry_free(const struct weir_allocator *allocator,
			 struct weir__registry *registry)
{
	uint32_t i;

	for (i = 0; i < registry->n_blocks; i++)
		weir__free(allocator, registry->blocks[i], block_size(i));
	weir__free(allocator, registry->free,
		   slots_before(registry->n_blocks) * sizeof(*registry->free));
	weir__free_lines(allocator, registry, sizeof(*registry));
}

void weir__registry_free_forked(const struct weir_allocator *allocator,
				struct weir__registry *registry)
{
	/* where the kernel has not emptied the list */
	weir__living_remove(&registry->living);
	if (registry->lock.word == 0)
		weir__registry_free(allocator, registry);
}

void weir__registry_add_shard(struct weir__registry *registry,
			      struct weir__shard *shard)
{
	shard->registry = registry;
	shard->next = registry->shards;
	registry->shards = shard;
}

/* Under the lock: one block more, or nothing has changed. */
static int grow(struct weir__registry *registry,
		const struct weir_allocator *allocator)
{
	uint32_t n = registry->n_blocks, *free;
	size_t size = slots_before(n) * sizeof(*free);
	size_t more = slots_before(n + 1) * sizeof(*free);
	struct weir_task **block;

	if (n == WEIR__BLOCKS)
		return -ENOMEM;
	block = weir__alloc(allocator, block_size(n));
	if (!block)
		return -ENOMEM;
	free = weir__alloc(allocator, more);
	if (!free) {
		weir__free(allocator, block, block_size(n));
		return -ENOMEM;
	}
	if (n)
		memcpy(free, registry->free, registry->n_free * sizeof(*free));
	weir__free(allocator, registry->free, size);
	registry->free = free;
	registry->blocks[n] = block;
	registry->n_blocks++;
	return 0;
}

/* Under the lock: a spare index. */
static int take_index(struct weir_executor *executor, uint32_t *index)
{
	struct weir__registry *registry = executor->registry;
	int rc;

	assert(registry->n_free <= registry->n_tasks);
	if (registry->n_free) {
		*index = registry->free[--registry->n_free];
		return 0;
	}
	if (registry->n_tasks == slots_before(registry->n_blocks)) {
		rc = grow(registry, executor->options.allocator);
		if (rc < 0)
			return rc;
	}
	*index = registry->n_tasks++;
	return 0;
}

/*
 * What is seldom done is kept out of line: a worker adds and removes an actor
 * in a few dozen instructions, and saving registers would be many of them.
 */
static __attribute__((noinline)) int add_locked(struct weir_executor *executor,
						struct weir_task *task,
						uint32_t *index)
{
	struct weir__registry *registry = executor->registry;
	int rc = -ESHUTDOWN;

	weir__lock(&registry->lock);
	if (weir__registry_phase(registry) == WEIR__RUNNING)
		rc = take_index(executor, index);
	if (rc == 0) {
		settle_in(registry, *index, task);
		registry->alive++;
	}
	weir__unlock(&registry->lock);
	return rc;
}

/* As many as half of what a shard can hold, or what there is memory for. */
static __attribute__((noinline)) int take_spares(struct weir_executor *executor,
						 struct weir__shard *shard)
{
	struct weir__registry *registry = executor->registry;
	int rc = 0;

	weir__lock(&registry->lock);
	while (shard->n_spare < WEIR__SPARES / 2 && rc == 0) {
		rc = take_index(executor, &shard->spare[shard->n_spare]);
		shard->n_spare += rc == 0;
	}
	weir__unlock(&registry->lock);
	return shard->n_spare ? 0 : rc;
}

static __attribute__((noinline)) void give_spares(
	struct weir__registry *registry, struct weir__shard *shard)
{
	weir__lock(&registry->lock);
	assert(shard->n_spare <= WEIR__SPARES);
	while (shard->n_spare > WEIR__SPARES / 2)
		registry->free[registry->n_free++] =
			shard->spare[--shard->n_spare];
	weir__unlock(&registry->lock);
}

static __attribute__((noinline)) void remove_locked(
	struct weir__registry *registry, uint32_t index)
{
	weir__lock(&registry->lock);
	assert(registry->n_free < slots_before(registry->n_blocks));
	ck_pr_store_ptr(slot(registry, index), NULL);
	registry->free[registry->n_free++] = index;
	weir__unlock(&registry->lock);
}

/* Claim 4. */
static __attribute__((noinline)) void await_collect(
	struct weir__registry *registry)
{
	weir__lock(&registry->lock);
	weir__unlock(&registry->lock);
}

void weir__registry_remove(struct weir_executor *executor, uint32_t index)
{
	struct weir__registry *registry = executor->registry;
	struct weir__shard *shard = weir__shard_of(registry);

	weir__thread.holds++;
	if (WEIR_UNLIKELY(!shard)) {
		remove_locked(registry, index);
		return;
	}
	ck_pr_store_ptr(slot(registry, index), NULL);
	if (WEIR_UNLIKELY(!weir__registry_running(registry)))
		await_collect(registry);
	/* acquire: what a look that is over has read; pairs with the release in
	 * weir__registry_look_end() */
	ck_pr_fence_acquire();
	if (WEIR_UNLIKELY(shard->n_spare == WEIR__SPARES))
		give_spares(registry, shard);
	shard->spare[shard->n_spare++] = index;
}

/* Claim 3, for a thread that has not read "running". */
static __attribute__((noinline)) int add_late(struct weir_executor *executor,
					      uint32_t index)
{
	struct weir__registry *registry = executor->registry;
	enum weir__phase phase;

	weir__lock(&registry->lock);
	phase = weir__registry_phase(registry);
	weir__unlock(&registry->lock);
	if (phase == WEIR__RUNNING)
		return 0;
	weir__registry_remove(executor, index);
	weir__registry_done(executor);
	return -ESHUTDOWN;
}

int weir__registry_add(struct weir_executor *executor, struct weir_task *task,
		       uint32_t *index)
{
	struct weir__registry *registry = executor->registry;
	struct weir__shard *shard = weir__shard_of(registry);
	int rc;

	if (WEIR_UNLIKELY(!shard))
		return add_locked(executor, task, index);
	if (WEIR_UNLIKELY(!shard->n_spare)) {
		rc = take_spares(executor, shard);
		if (rc < 0)
			return rc;
	}
	*index = shard->spare[--shard->n_spare];
	ck_pr_store_64(&shard->started, shard->started + 1);
	settle_in(registry, *index, task);
	if (WEIR_LIKELY(weir__registry_running(registry)))
		return 0;
	return add_late(executor, *index);
}

void weir__registry_fence(const struct weir__registry *registry)
{
	const struct timespec long_enough = {.tv_nsec = 1000 * 1000};

	/* store -> load; pairs with the ones in weir__registry_running() */
	if (!registry->remote)
		weir__fence_full();
	else if (!weir__membarrier())
		/* It could be had once. No store waits for that long. */
		nanosleep(&long_enough, NULL);
}

uint32_t weir__registry_collect(struct weir__registry *registry,
				uint32_t *index, struct weir_task **tasks)
{
	uint32_t n = 0;

	weir__lock(&registry->lock);
	for (; *index < registry->n_tasks && n < WEIR__COLLECTED; ++*index) {
		struct weir_task *task = ck_pr_load_ptr(slot(registry, *index));

		/* acquire: the task; pairs with the release in
		 * weir__registry_add() */
		ck_pr_fence_acquire();
		if (task && weir__task_ops()->tryref(task))
			tasks[n++] = task;
	}
	weir__unlock(&registry->lock);
	return n;
}

/* --- Looks: claim 9 ------------------------------------------------------- */

void weir__registry_look_begin(struct weir__registry *registry)
{
	weir__lock(&registry->lock);
	registry->n_looks++;
	ck_pr_store_32(&registry->phase, registry->phase | WEIR__LOOKED);
	weir__unlock(&registry->lock);
	weir__registry_fence(registry);
}

void weir__registry_look_end(struct weir__registry *registry)
{
	weir__lock(&registry->lock);
	assert(registry->n_looks > 0);
	/* What was read of actors is behind the release fence of the unlock in
	 * weir__registry_look(), which pairs with the acquire in
	 * weir__registry_remove(). */
	if (--registry->n_looks == 0)
		ck_pr_store_32(&registry->phase,
			       registry->phase & ~WEIR__LOOKED);
	weir__unlock(&registry->lock);
}

/* Of the task in the slot. No other task of the executor has had it, or will. */
static uint64_t id_of(const struct weir__registry *registry, uint32_t index)
{
	return (uint64_t)*lives(registry, index) << 32 | index;
}

void weir__registry_sample(struct weir__registry *registry, bool more)
{
	weir__lock(&registry->lock);
	registry->n_samplers += more ? 1 : UINT32_MAX;
	weir__unlock(&registry->lock);
}

bool weir__registry_look(struct weir__registry *registry, uint32_t *index,
			 bool (*see)(struct weir_task *task, uint64_t id,
				     void *context),
			 void *context)
{
	uint32_t n = 0, end;
	bool more;

	weir__lock(&registry->lock);
	assert(registry->n_looks > 0);
	/* empty slots take their time, too */
	end = registry->n_tasks - *index < 8 * WEIR__COLLECTED
		      ? registry->n_tasks
		      : *index + 8 * WEIR__COLLECTED;
	for (; *index < end && n < WEIR__COLLECTED; ++*index) {
		struct weir_task *task = ck_pr_load_ptr(slot(registry, *index));

		/* acquire: the task; pairs with the release in
		 * weir__registry_add() */
		ck_pr_fence_acquire();
		/* another comes into the cache meanwhile */
		if (*index + AHEAD < end)
			__builtin_prefetch(
				ck_pr_load_ptr(slot(registry, *index + AHEAD)));
		if (task && !see(task, id_of(registry, *index), context))
			break;
		n += task != NULL;
	}
	more = *index < registry->n_tasks;
	weir__unlock(&registry->lock);
	return more;
}

void weir__registry_await_look(struct weir_executor *executor)
{
	if (WEIR_UNLIKELY(!weir__registry_running(executor->registry)))
		await_collect(executor->registry);
	/* acquire: as in weir__registry_remove() */
	ck_pr_fence_acquire();
}

/* --- Freeing the executor ------------------------------------------------- */

/* Under the lock: somebody is alive and not leaving. */
static bool somebody_stays(const struct weir__registry *registry)
{
	uint32_t i;

	for (i = 0; i < registry->n_tasks; i++) {
		if (ck_pr_load_ptr(slot(registry, i)))
			return true;
	}
	return false;
}

/*
 * Sleeps until an actor is done. Called under the lock, which is given up
 * meanwhile, with AWAITED set.
 */
static void sleep_until_done(struct weir__registry *registry)
{
	uint32_t seen = registry->departures;

	weir__unlock(&registry->lock);
	(void)weir__futex_wait(&registry->departures, seen, UINT64_MAX);
	weir__lock(&registry->lock);
}

/* Under the lock. */
static void set_awaited(struct weir__registry *registry, bool awaited)
{
	uint32_t others = registry->phase & ~WEIR__AWAITED;

	ck_pr_store_32(&registry->phase,
		       awaited ? others | WEIR__AWAITED : others);
}

/* Under the lock: how many keep the executor from being freed. */
static size_t n_keepers(const struct weir__registry *registry)
{
	return weir__registry_alive(registry) + registry->visitors;
}

int weir__registry_await(struct weir_executor *executor)
{
	struct weir__registry *registry = executor->registry;
	bool waits = !weir__thread.holds && weir__wait_allowed() == 0;
	size_t n;

	weir__lock(&registry->lock);
	n = n_keepers(registry);
	waits = waits && !registry->n_samplers;
	if (n && waits && !somebody_stays(registry)) {
		set_awaited(registry, true);
		weir__unlock(&registry->lock);
		weir__registry_fence(registry);
		weir__lock(&registry->lock);
		while ((n = n_keepers(registry)) && !somebody_stays(registry))
			sleep_until_done(registry);
		set_awaited(registry, false);
	}
	n += registry->n_samplers;
	weir__unlock(&registry->lock);
	return n ? -EBUSY : 0;
}
