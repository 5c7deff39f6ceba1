/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that are actors. In the manager's slice, unless told. */
#ifndef WEIR_PROCESS_PROCESS_H
#define WEIR_PROCESS_PROCESS_H

#include <stdint.h>

#include <weir/process_manager.h>

/* 0, -ENOMEM. Whoever sets it up. */
int weir__processes_init(struct weir_process_manager *manager);
/* None runs. Any thread. */
void weir__processes_fini(struct weir_process_manager *manager);

/* Starts or refuses the command; there is a free place. */
void weir__process_start(struct weir_process_manager *manager,
			 struct weir_command *command);

/* Takes back the memory of processes that were released; returns how many
 * places come back with it. */
uint32_t weir__processes_returned(struct weir_process_manager *manager);

/* Stops all that run. */
void weir__processes_stop(struct weir_process_manager *manager);

#endif
