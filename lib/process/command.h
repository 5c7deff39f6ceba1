/* SPDX-License-Identifier: BSD-2-Clause */
/* How commands are answered. */
#ifndef WEIR_PROCESS_COMMAND_H
#define WEIR_PROCESS_COMMAND_H

#include <weir/process_manager.h>

/* Of an in-port that holds so many. */
static inline uint32_t weir__power_of_two(uint64_t n)
{
	uint32_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/* The manager has the command from now on. Whoever has it. */
void weir__command_come(struct weir_process_manager *manager,
			struct weir_command *command);

/* Gives `n` places back. Any thread. */
void weir__places_back(struct weir_process_manager *manager, uint32_t n);

/* The command has ended: replies, after which it is the sender's again. Any
 * thread. */
void weir__command_reply(struct weir_process_manager *manager,
			 struct weir_command *command,
			 enum weir_outcome outcome, struct weir_error *error);

/* Replies that nothing starts. Any thread. */
void weir__command_refuse(struct weir_process_manager *manager,
			  struct weir_command *command);

#endif
