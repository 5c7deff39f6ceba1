/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of a system's actors, in names.c. All under the lock. */
#ifndef WEIR_SUPERVISION_NAMES_H
#define WEIR_SUPERVISION_NAMES_H

#include "supervision/cell.h"

#define WEIR__NAME_DIGITS 4u /* of its hash, each as many values */

/* A name, and its place in the tree of the system's names. */
struct weir__name {
	struct weir__name *below[WEIR__NAME_DIGITS];
	uint32_t hash; /* of the parent it was given under, and the text */
	uint32_t slot; /* of the actor */
	char text[];
};

/* 0, -EEXIST, -ENOMEM. `cell` has a record and no name yet. */
int weir__name_set(struct weir_system *system, struct weir__cell *cell,
		   uint32_t parent, const char *text);
/* Frees the name of the cell. Harmless if it has none. */
void weir__name_clear(struct weir_system *system, struct weir__cell *cell);

#endif
