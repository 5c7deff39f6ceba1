/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream of results: an actor below the manager, with an in-port of
 * commands that have ended and an out-port that has a publisher.
 *
 * 1. A command whose process has ended keeps its place until the actor has put
 *    it into the out-port, for which somebody must have requested it. So there
 *    are never more in the in-port than there are places, and results that
 *    nobody takes keep the manager from asking for commands.
 * 2. The manager holds the actor until the manager is released. So whoever
 *    holds the manager may put results. The actor holds the manager until the
 *    actor has stopped; what is dropped even later is only answered.
 * 3. Without the actor, or when it has ended, commands are answered at once.
 */
#ifndef WEIR_PROCESS_RESULTS_H
#define WEIR_PROCESS_RESULTS_H

#include <stdbool.h>

#include <weir/process_manager.h>

/* 0 or a negative errno. Whoever sets the manager up. */
int weir__results_init(struct weir_process_manager *manager);
/* Spawns the actor. In the manager's slice, once. */
int weir__results_start(struct weir_process_manager *manager);
/* No result will come any more. True: the actor has ended, or there is none.
 * Owner. */
bool weir__results_end(struct weir_process_manager *manager,
		       struct weir_error *error);
/* True: there was an actor, and it has stopped. Owner. */
bool weir__results_gone(const struct weir_process_manager *manager);
/* The manager has ended. Owner. */
void weir__results_stop(struct weir_process_manager *manager);
/* The manager is released. Any thread. */
void weir__results_fini(struct weir_process_manager *manager);

/* The process of a command has ended so: its id is free. Whoever has the
 * command. */
void weir__results_note(struct weir_process_manager *manager,
			struct weir_command *command, enum weir_outcome outcome,
			struct weir_error *error);
/*
 * A result that was noted goes into the stream: true, its place comes back
 * later. False: it was answered, as nobody takes results any more; the caller
 * gives its place back. Whoever has the command, and holds the manager.
 */
bool weir__results_put(struct weir_process_manager *manager,
		       struct weir_command *command);

#endif
