/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of registry.h that counts. */
#ifndef WEIR_EXECUTOR_REGISTRY_DONE_H
#define WEIR_EXECUTOR_REGISTRY_DONE_H

#include <stddef.h>
#include <stdint.h>

#include <weir/executor.h>

#include "executor/task.h"

struct weir__registry;

/*
 * Counts `n` actors as done that no shard counts; completes drains if these
 * were the last.
 */
void weir__registry_done_locked(struct weir_executor *executor, size_t n);

/*
 * The calling thread holds the executor until weir__registry_done(), as a
 * leaving actor does. The caller knows an actor of the executor that is not
 * leaving.
 */
void weir__registry_hold(struct weir_executor *executor);

void weir__registry_dropped(struct weir_executor *executor, uint64_t n_items);

/* Those added and not done. Under the lock. */
size_t weir__registry_alive(const struct weir__registry *registry);

/*
 * Begins a drain, or an abort: adds it to the drains, and moves the phase. The
 * caller counts as one more living actor until weir__registry_done(), so that
 * the executor cannot be done, and gone, meanwhile; and holds the executor. 0
 * or what arming the timer returns: nothing has changed.
 */
int weir__registry_end(struct weir_executor *executor,
		       struct weir_ending *drain, uint64_t deadline_ns,
		       enum weir__phase phase);

#endif
