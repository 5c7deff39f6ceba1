/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names, each given under a parent, in names.c. Both the parent and who is
 * named are numbers here. All under the lock of who has the names.
 */
#ifndef WEIR_SUPERVISION_NAMES_H
#define WEIR_SUPERVISION_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/allocator.h>

#include "base/hash.h"

#define WEIR__NAME_DIGITS 4u /* of its hash, each as many values */

/* A name, and its place in the tree of names. */
struct weir__name {
	struct weir__name *below[WEIR__NAME_DIGITS];
	uint32_t hash;	 /* of the parent it was given under, and the text */
	uint32_t parent; /* under which it is found */
	uint32_t slot;	 /* of who is named */
	bool hidden;	 /* it is not in the tree any more */
	char text[];
};

struct weir__names {
	struct weir__name *root; /* of a tree, or NULL */
	const struct weir__hash_key *key;
	const struct weir_allocator *allocator;
};

/* 0, with the name in *made; -EEXIST, -ENOMEM. */
int weir__names_add(struct weir__names *names, uint32_t parent, uint32_t slot,
		    const char *text, struct weir__name **made);
void weir__names_remove(struct weir__names *names, struct weir__name *name);
/* The name is not found any more, and is free to be given again; its memory
 * stays until it is removed. Harmless when repeated. */
void weir__names_hide(struct weir__names *names, struct weir__name *name);
/* The name of `n` bytes under that parent, or NULL. */
const struct weir__name *weir__names_find(const struct weir__names *names,
					  uint32_t parent, const char *text,
					  size_t n);

#endif
