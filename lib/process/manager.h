/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the process manager: process_manager.c (commands and
 * demand), process.c (processes that are actors), runner.c (processes that are
 * calls).
 *
 * A process takes one of `max` places when it starts. The thread that releases
 * the process gives the place back: it puts the place into `returned` (calls
 * have no memory of their own and are only counted), and signals the manager.
 * The manager's slice takes all returned places, and then computes what it can
 * ask for. So n_free, and everything else that the demand is computed from, is
 * the owner's.
 */
#ifndef WEIR_PROCESS_MANAGER_INTERNAL_H
#define WEIR_PROCESS_MANAGER_INTERNAL_H

#include <stdbool.h>

#include <weir/process_manager.h>

static inline struct weir_process_manager *weir__manager_of(
	struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_process_manager, actor);
}

/* The command has ended: replies, after which it is the sender's again. */
void weir__manager_reply(struct weir_process_manager *manager,
			 struct weir_command *command,
			 enum weir_outcome outcome, struct weir_error *error);

/* --- process.c: in the manager's slice, unless told ----------------------- */

/* 0, -ENOMEM. Whoever sets it up. */
int weir__processes_init(struct weir_process_manager *manager);
/* None runs. Any thread. */
void weir__processes_fini(struct weir_process_manager *manager);

/* Starts or refuses the command; there is a free place. */
void weir__process_start(struct weir_process_manager *manager,
			 struct weir_command *command);

/* Takes back the places of processes that were released; returns how many. */
uint32_t weir__processes_returned(struct weir_process_manager *manager);

/* --- runner.c ------------------------------------------------------------- */

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

/*
 * Keeps a command that has a credit, if it was offered in the reply to a call
 * of a runner. True: that runner will put it. Any thread.
 */
bool weir__runners_keep(struct weir_process_manager *manager,
			struct weir_command *command);

#endif
