/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ids of a manager's commands: which of them run and which wait. All under
 * one short lock, and nothing at all for a command without an id.
 *
 * 1. A command is in the table from when the manager has it until its reply.
 *    So whoever finds it there may touch it, under the lock.
 * 2. It waits, is cancelled, or runs. Whoever is about to run it asks
 *    weir__ids_begin(), and of the commands with one id no two run.
 * 3. A command that waits is cancelled by a note. Whoever comes to it refuses
 *    it. The manager's slice comes to all that wait in line; see
 *    weir__ids_cancelled().
 */
#ifndef WEIR_PROCESS_IDS_H
#define WEIR_PROCESS_IDS_H

#include <stdbool.h>

#include <weir/process_manager.h>

/* 0, -ENOMEM. Whoever sets the manager up. */
int weir__ids_init(struct weir_process_manager *manager);
/* Any thread. */
void weir__ids_fini(struct weir_process_manager *manager);

/* The manager gets the command, which waits. Whoever has it. */
void weir__ids_add(struct weir_process_manager *manager,
		   struct weir_command *command);
/* The command is answered, or stays its sender's. The same. */
void weir__ids_remove(struct weir_process_manager *manager,
		      struct weir_command *command);

/*
 * The command is about to run, as `process`, or as a call (NULL). 0; -EINVAL: a
 * bad id; -EEXIST: another one with its id runs; -ECANCELED. The same.
 */
int weir__ids_begin(struct weir_process_manager *manager,
		    struct weir_command *command, struct weir_process *process);

/* Some command waits that was cancelled. Relaxed: who cancels signals the
 * manager behind it. Owner. */
bool weir__ids_any_cancelled(const struct weir_process_manager *manager);
/*
 * Those of the cancelled commands that are in line, linked by next_cancelled;
 * others will be refused when somebody comes to them. Owner.
 */
struct weir_command *weir__ids_cancelled(struct weir_process_manager *manager);

#endif
