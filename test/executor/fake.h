/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks without actors, for tests of executors alone: their table takes the
 * place of the actor layer's. Included by one file per program. Also an
 * allocator that counts, and fails when told to.
 */
#ifndef WEIR_TEST_EXECUTOR_FAKE_H
#define WEIR_TEST_EXECUTOR_FAKE_H

#include <stdlib.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/executor.h>

#include "executor/registry.h"

struct fake_task {
	struct weir_task task;
	void (*run)(struct fake_task *fake); /* may submit it again */
	struct weir_executor *executor;
	uint64_t runs;	/* plain: the executor orders them */
	uint64_t left;	/* for those who count down */
	uint64_t again; /* how often it asks to be submitted again */
};

int fake_submit(struct weir_executor *executor, struct fake_task *fake);

/* As if an actor were alive on it, or no more; one at a time. */
void fake_alive(struct weir_executor *executor, bool alive);

struct fake_memory {
	struct weir_allocator allocator;
	uint32_t blocks; /* atomic: allocated and not freed */
	uint32_t fail;	 /* atomic: that many allocations succeed yet, */
};			 /* UINT32_MAX: all */

void fake_memory_init(struct fake_memory *memory);

/* A count that threads raise, and wait for. Both order what they do. */
void fake_raise(uint32_t *count);
void fake_wait(uint32_t *count, uint32_t value);

#endif
