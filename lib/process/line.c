/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that wait in line; see line.h. */
#include "process/line.h"

#include <assert.h>
#include <stddef.h>

#include <ck_pr.h>

/* Of offers it is in range. */
static uint32_t priority_of(const struct weir_process_manager *self,
			    const struct weir_command *command)
{
	uint32_t lowest = (uint32_t)self->options.priorities - 1;

	return command->priority < lowest ? command->priority : lowest;
}

void weir__line_add(struct weir_process_manager *self,
		    struct weir_command *command)
{
	uint32_t priority = priority_of(self, command);

	command->in_line = true;
	command->next = NULL;
	command->previous = self->last[priority];
	if (command->previous)
		command->previous->next = command;
	else
		self->first[priority] = command;
	self->last[priority] = command;
	ck_pr_store_64(&self->n_in_line, self->n_in_line + 1);
}

void weir__line_remove(struct weir_process_manager *self,
		       struct weir_command *command)
{
	uint32_t priority = priority_of(self, command);

	assert(command->in_line && self->n_in_line > 0);
	command->in_line = false;
	if (command->previous)
		command->previous->next = command->next;
	else
		self->first[priority] = command->next;
	if (command->next)
		command->next->previous = command->previous;
	else
		self->last[priority] = command->previous;
	ck_pr_store_64(&self->n_in_line, self->n_in_line - 1);
}

struct weir_command *weir__line_first(const struct weir_process_manager *self)
{
	size_t i;

	for (i = 0; self->n_in_line > 0; i++)
		if (self->first[i])
			return self->first[i];
	return NULL;
}
