/* SPDX-License-Identifier: BSD-2-Clause */
/* A question to a program that listens. */
#ifndef WEIR_COMMAND_CLIENT_H
#define WEIR_COMMAND_CLIENT_H

/*
 * Who is asked: a process, or a path. What is answered to the line, which takes
 * so many seconds by itself, is in *text, to be freed. -ESRCH: there is no such
 * process. -ENOENT: it does not listen. -EACCES: it is not this user's.
 * -ETIMEDOUT: nothing comes. -EPIPE: it hangs up without an answer. -ENOMEM.
 */
int ask(const char *whom, const char *line, unsigned takes_s, char **text);

#endif
