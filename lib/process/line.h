/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that wait for a place, in line: a list for each priority. Only of
 * managers that have priorities, or of which a command that waits was
 * cancelled; see process_manager.c. All in the manager's slice.
 */
#ifndef WEIR_PROCESS_LINE_H
#define WEIR_PROCESS_LINE_H

#include <weir/process_manager.h>

/* Behind those of its priority. */
void weir__line_add(struct weir_process_manager *self,
		    struct weir_command *command);
void weir__line_remove(struct weir_process_manager *self,
		       struct weir_command *command);
/* The next to start, or NULL. */
struct weir_command *weir__line_first(const struct weir_process_manager *self);

#endif
