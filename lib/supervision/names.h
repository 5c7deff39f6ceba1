/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of a system's actors, in names.c. All under the lock. */
#ifndef WEIR_SUPERVISION_NAMES_H
#define WEIR_SUPERVISION_NAMES_H

#include "supervision/cell.h"

#define WEIR__NAME_DIGITS 4u /* of its hash, each as many values */

/* One name and its place among all of the system's. */
struct weir__name {
	struct weir__name *below[WEIR__NAME_DIGITS];
	uint32_t hash; /* of the parent that it was given under, and the text */
	uint32_t slot; /* whose it is */
	char text[];
};

/* 0, -EEXIST, -ENOMEM. `cell` has a record and no name yet. */
int weir__name_set(struct weir_system *system, struct weir__cell *cell,
		   uint32_t parent, const char *text);
/* Its name is free again. Harmless if it has none. */
void weir__name_clear(struct weir_system *system, struct weir__cell *cell);

#endif
