/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks without actors, for tests of executors alone: this program's own
 * weir_task_run() takes the place of the actor layer's, which the linker then
 * leaves in the archive. Included by one file per program. Also an allocator
 * that counts, and fails when told to.
 */
#ifndef WEIR_TEST_EXECUTOR_FAKE_H
#define WEIR_TEST_EXECUTOR_FAKE_H

#include <stdlib.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/executor.h>

#include "base/thread.h"
#include "executor/registry.h"

struct fake_task {
	struct weir_task task;
	void (*run)(struct fake_task *fake); /* may submit it again */
	struct weir_executor *executor;
	uint64_t runs;	/* plain: the executor orders them */
	uint64_t left;	/* for those who count down */
	uint64_t again; /* how often it asks to be submitted again */
};

/* Tells apart inside and outside of a turn; never looked into. */
static char fake_actor;

bool weir__task_run(struct weir_task *task)
{
	struct fake_task *fake =
		weir_container_of(task, struct fake_task, task);
	bool again = fake->again > 0;

	weir__thread.actor = (struct weir_actor *)(void *)&fake_actor;
	fake->again -= again;
	fake->runs++;
	fake->run(fake); /* unless it asks again, it may be gone after this */
	weir__thread.actor = NULL;
	return again;
}

void weir_task_run(struct weir_task *task)
{
	(void)weir__task_run(task);
}

static inline int fake_submit(struct weir_executor *executor,
			      struct fake_task *fake)
{
	fake->executor = executor;
	return executor->ops->submit(executor, &fake->task);
}

/* As if an actor were alive on it, or no more; one at a time. */
static inline void fake_alive(struct weir_executor *executor, bool alive)
{
	static struct weir_task task;
	static uint32_t index;

	if (alive) {
		(void)weir__registry_add(executor, &task, &index);
		return;
	}
	weir__registry_remove(executor, index);
	weir__registry_done(executor);
}

struct fake_memory {
	struct weir_allocator allocator;
	uint32_t blocks; /* atomic: allocated and not freed */
	uint32_t fail;	 /* atomic: that many allocations succeed yet, */
};			 /* UINT32_MAX: all */

static void *fake_alloc(size_t size, void *context)
{
	struct fake_memory *memory = context;

	if (ck_pr_load_32(&memory->fail) != UINT32_MAX) {
		if (ck_pr_load_32(&memory->fail) == 0)
			return NULL;
		ck_pr_dec_32(&memory->fail);
	}
	ck_pr_inc_32(&memory->blocks);
	return malloc(size);
}

static void fake_free(void *block, size_t size, void *context)
{
	struct fake_memory *memory = context;

	/* The size is right: under a sanitizer, wrong ones are found. */
	memset(block, 0xdd, size);
	ck_pr_dec_32(&memory->blocks);
	free(block);
}

static inline void fake_memory_init(struct fake_memory *memory)
{
	*memory = (struct fake_memory){
		.allocator = {fake_alloc, fake_free, memory},
		.fail = UINT32_MAX,
	};
}

#endif
