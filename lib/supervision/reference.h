/* SPDX-License-Identifier: BSD-2-Clause */
/* The path that an actor had when it ended, which notices of its end share. In
 * reference.c. */
#ifndef WEIR_SUPERVISION_REFERENCE_H
#define WEIR_SUPERVISION_REFERENCE_H

#include "supervision/cell.h"

struct weir__path {
	uint32_t refs;
	uint32_t size; /* of its memory */
	char text[];
};

/* With a reference; NULL: no memory. Under the lock. */
struct weir__path *weir__path_make(struct weir_system *system,
				   struct weir__cell *cell);
/* NULL is fine. */
struct weir__path *weir__path_ref(struct weir__path *path);
void weir__path_unref(const struct weir_system *system,
		      struct weir__path *path);

static inline const char *weir__path_text(const struct weir__path *path)
{
	return path ? path->text : NULL;
}

#endif
