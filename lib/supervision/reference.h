/* SPDX-License-Identifier: BSD-2-Clause */
/* In reference.c. */
#ifndef WEIR_SUPERVISION_REFERENCE_H
#define WEIR_SUPERVISION_REFERENCE_H

#include "supervision/cell.h"

/* The path of an actor that ends, with a reference; NULL: no memory. Under the
 * lock. */
struct weir__path *weir__path_make(struct weir_system *system,
				   struct weir__cell *cell);

/* As weir_system_path(), of a cell that is in the tree; returns the length.
 * Under the lock. */
size_t weir__path_put(struct weir_system *system, struct weir__cell *cell,
		      char *path, size_t size);

#endif
