/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of programs that do not listen: a process that runs, whose memory is
 * read without stopping it, and one that has died and left a core file.
 */
#ifndef WEIR_ATTACH_ATTACH_H
#define WEIR_ATTACH_ATTACH_H

#include <sys/types.h>

#include "attach/reader.h"

/*
 * Of a process, which may be the calling one. Its executors go on; one that is
 * stopped, as by a debugger, is read as a core file is. As
 * weir__reader_snapshot(); besides -ESRCH: there is no such process, or it has
 * ended meanwhile; -EPERM: its memory may not be read.
 */
int weir__attach_process(struct weir_snapshot **snapshot, pid_t pid,
			 const struct weir__reader_options *options,
			 char message[WEIR__READER_MESSAGE]);

/*
 * Of a core file. What the core has not got, as it was mapped from a file, is
 * read from that file, if it is of the same build. `exe`: the program, if it is
 * not where it was; it is believed if the core has no build id; NULL: as the
 * core says. As weir__reader_snapshot(); besides -ENOEXEC: no core of such a
 * machine, and errors of open(2).
 */
int weir__attach_core(struct weir_snapshot **snapshot, const char *path,
		      const char *exe,
		      const struct weir__reader_options *options,
		      char message[WEIR__READER_MESSAGE]);

#endif
