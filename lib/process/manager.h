/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the files of the process manager: process_manager.c (commands come,
 * demand goes), process.c (processes that are actors), runner.c (those that are
 * calls).
 *
 * A process takes one of `max` places when it starts. It gives it back from
 * whatever thread releases it: the place goes into `returned` (calls have no
 * memory of their own and are counted only), and the manager is signalled; its
 * slice takes them all and then looks what it can ask for. So n_free, and all
 * that the demand is computed from, is the owner's.
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

/* The command has ended; it is its requester's again. */
void weir__manager_reply(struct weir_process_manager *manager,
			 struct weir_command *command,
			 enum weir_outcome outcome, struct weir_error *error);

/* --- process.c: in the manager's slice, unless told ------------------------- */

/* 0, -ENOMEM. Whoever sets it up. */
int weir__processes_init(struct weir_process_manager *manager);
/* None runs. Any thread. */
void weir__processes_fini(struct weir_process_manager *manager);

/* Starts or refuses it; there is a free place. */
void weir__process_start(struct weir_process_manager *manager,
			 struct weir_command *command);

/* Takes back the places of those that were released; how many. */
uint32_t weir__processes_returned(struct weir_process_manager *manager);

/* --- runner.c ------------------------------------------------------------------ */

/*
 * `n` of them, for up to `capacity` commands, a power of two. 0 or a negative
 * errno; then there are none. Whoever sets it up.
 */
int weir__runners_init(struct weir_process_manager *manager, uint32_t n,
		       uint32_t capacity);
/* Spawns them. In the manager's slice, once. */
int weir__runners_start(struct weir_process_manager *manager);
/*
 * Nothing is queued, and nothing will be: they end, also where nobody stops
 * them, as in a drain. Owner.
 */
void weir__runners_close(struct weir_process_manager *manager);
/* The manager has ended: they end, and what waits is refused. Owner. */
void weir__runners_stop(struct weir_process_manager *manager);
/* Adds what they count. Any thread. */
void weir__runners_count(const struct weir_process_manager *manager,
			 struct weir_process_counts *counts);
/* All were released. Any thread. */
void weir__runners_fini(struct weir_process_manager *manager);

/* Queues a command that has a place; seen when it is published. Owner. */
void weir__runners_put(struct weir_process_manager *manager,
		       struct weir_command *command);
void weir__runners_publish(struct weir_process_manager *manager);

/* True: they have all been stopped; what was queued is refused. Owner. */
bool weir__runners_gone(struct weir_process_manager *manager);

/*
 * True: the command, which has a credit, was offered by the reply to a call of
 * a runner's, which will put it. Any thread.
 */
bool weir__runners_keep(struct weir_process_manager *manager,
			struct weir_command *command);

#endif
