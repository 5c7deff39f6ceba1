/* SPDX-License-Identifier: BSD-2-Clause */
/* The replies to commands. */
#include "process/command.h"

#include <errno.h>

#include <ck_pr.h>

#include "process/ids.h"

void weir__command_come(struct weir_process_manager *manager,
			struct weir_command *command)
{
	command->manager = manager;
	weir__ids_add(manager, command);
}

void weir__places_back(struct weir_process_manager *manager, uint32_t n)
{
	/*
	 * release: the writes of the calls; the signal's fences order the rest
	 */
	ck_pr_fence_release();
	ck_pr_add_32(&manager->n_returned, n);
	weir_actor_signal(&manager->actor);
}

void weir__command_reply(struct weir_process_manager *manager,
			 struct weir_command *command,
			 enum weir_outcome outcome, struct weir_error *error)
{
	/* relaxed: a figure for people */
	ck_pr_inc_64(&manager->outcomes[outcome]);
	weir__ids_remove(manager, command);
	command->reply(command, outcome, error);
}

void weir__command_refuse(struct weir_process_manager *manager,
			  struct weir_command *command)
{
	weir__command_reply(manager, command, WEIR_OUTCOME_REFUSED,
			    weir_error_of(-ECANCELED));
}

/* Drops a command of a stream that no manager has taken. */
static void command_drop(void *item, void *context)
{
	struct weir_command *command = item;

	(void)context;
	command->reply(command, WEIR_OUTCOME_REFUSED,
		       weir_error_of(-ECANCELED));
}

const struct weir_items *weir_command_items(void)
{
	static const struct weir_items items = {.drop = command_drop};

	return &items;
}
