/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of a system's actors, in names.c. All under the lock. */
#ifndef WEIR_SUPERVISION_NAMES_H
#define WEIR_SUPERVISION_NAMES_H

#include "supervision/cell.h"

/* 0, -EEXIST, -ENOMEM. `cell` has a record and no name yet. */
int weir__name_set(struct weir_system *system, struct weir__cell *cell,
		   uint32_t parent, const char *name);
/* Its name is free again. Harmless if it has none. */
void weir__name_clear(struct weir_system *system, struct weir__cell *cell);
void weir__names_fini(struct weir_system *system);

#endif
