/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that appears under its name when it is whole. Until then it has a
 * temporary name in the same directory.
 */
#ifndef WEIR_FLOW_OPERATORS_IO_FILE_H
#define WEIR_FLOW_OPERATORS_IO_FILE_H

#include <weir/flow_io.h>

struct weir__new_file {
	int directory, fd;				  /* -1: not open */
	char temporary[sizeof(".weir-0123456789abcdef")]; /* "": no such file */
	const char *failed; /* what the last call that failed could not do */
};

void weir__new_file_init(struct weir__new_file *self);
/* Makes the file under its temporary name. 0, or a negative errno. */
int weir__new_file_open(struct weir__new_file *self, const char *path);
/*
 * The file takes the name `path`, the same as before. 0, or a negative errno.
 */
int weir__new_file_appear(struct weir__new_file *self, const char *path,
			  enum weir_flow_sync sync);
/* Removes a file that has not appeared. */
void weir__new_file_fini(struct weir__new_file *self);

#endif
