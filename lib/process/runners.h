/* SPDX-License-Identifier: BSD-2-Clause */
/* The manager's side of its runners, see runner.h. */
#ifndef WEIR_PROCESS_RUNNERS_H
#define WEIR_PROCESS_RUNNERS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/process_manager.h>

/*
 * Sets up `n` runners, for up to `capacity` commands, a power of two. 0 or a
 * negative errno; then there are none. For the code that sets the manager up.
 */
int weir__runners_init(struct weir_process_manager *manager, uint32_t n,
		       uint32_t capacity);
/* Spawns them. In the manager's slice, once. */
int weir__runners_start(struct weir_process_manager *manager);
/*
 * No command is queued, and none will be: the runners end, also if no order
 * stops them, as in a drain. Owner.
 */
void weir__runners_close(struct weir_process_manager *manager);
/* The manager has ended: the runners end, and commands that wait are refused.
 * Owner. */
void weir__runners_stop(struct weir_process_manager *manager);
/* Adds the runners' counts. Any thread. */
void weir__runners_count(const struct weir_process_manager *manager,
			 struct weir_process_counts *counts);
/* All were released. Any thread. */
void weir__runners_fini(struct weir_process_manager *manager);

/* Queues a command that has a place; runners see it when it is published.
 * Owner. */
void weir__runners_put(struct weir_process_manager *manager,
		       struct weir_command *command);
void weir__runners_publish(struct weir_process_manager *manager);

/* True: all runners have been stopped; commands that were queued are refused.
 * Owner. */
bool weir__runners_gone(struct weir_process_manager *manager);

#endif
