/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in an array the struct stands that has an address in its first field.
 * Addresses may be those of another process, so they are hashed by a secret.
 */
#ifndef WEIR_INSPECT_PLACES_H
#define WEIR_INSPECT_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/allocator.h>

#include "base/hash.h"

struct weir__places {
	const struct weir_allocator *allocator; /* borrowed */
	const char *array;			/* borrowed */
	size_t size;				/* of a struct in it */
	struct weir__hash_key key;
	/*
	 * A power of two, at least one and a half times as many as the array
	 * has. Each is 0, or one more than a place in the array; in the bits
	 * above `mask` are those of the hash.
	 */
	uint32_t *all;
	uint32_t mask;
};

/* Of n structs of that size. Of an address that comes twice, the first counts.
 * False: no memory. */
bool weir__places_init(struct weir__places *places,
		       const struct weir_allocator *allocator,
		       const void *array, size_t size, size_t n);
void weir__places_fini(struct weir__places *places);

/* WEIR_NOWHERE: it is not there, or NULL. */
size_t weir__places_find(const struct weir__places *places,
			 const void *address);

#endif
