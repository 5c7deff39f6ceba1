/* SPDX-License-Identifier: BSD-2-Clause */
/* A question to the memory of a program, which need not listen, or live. */
#ifndef WEIR_COMMAND_REMAINS_H
#define WEIR_COMMAND_REMAINS_H

#include <sys/types.h>

#include "attach/reader.h"

/*
 * What is answered to the line is in *text, to be freed. Else errors of
 * attach/attach.h, and `message` says what is wrong.
 */
int ask_memory(pid_t pid, const char *line, char **text,
	       char message[WEIR__READER_MESSAGE]);

/* `exe`: the program, NULL: where it was. */
int ask_core(const char *core, const char *exe, const char *line, char **text,
	     char message[WEIR__READER_MESSAGE]);

#endif
