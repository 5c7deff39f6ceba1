/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A struct that is not where the hash of its address says is in one of the places
 * behind that, before the first empty one. The bits of the hash beside each spare
 * most looks at the array, which is far larger than a cache.
 */
#include "inspect/places.h"

#include <string.h>

#include <weir/inspect.h>

#include "base/memory.h"

static const void *address_at(const struct weir__places *places, size_t at)
{
	const void *address;

	memcpy(&address, places->array + at * places->size, sizeof(address));
	return address;
}

/* Where the address is, or would be put; its hash in *hash. */
static uint32_t *place_of(const struct weir__places *places,
			  const void *address, uint32_t *hash)
{
	uint32_t mask = places->mask, i, *place;

	*hash = (uint32_t)weir__hash_word(&places->key, (uintptr_t)address);
	for (i = *hash;; i++) {
		place = &places->all[i & mask];
		if (*place == 0 ||
		    (((*place ^ *hash) & ~mask) == 0 &&
		     address_at(places, (*place & mask) - 1) == address))
			return place;
	}
}

static size_t n_places(const struct weir__places *places)
{
	return (size_t)places->mask + 1;
}

bool weir__places_init(struct weir__places *places,
		       const struct weir_allocator *allocator,
		       const void *array, size_t size, size_t n)
{
	uint32_t hash, *place;
	size_t i;

	*places = (struct weir__places){
		.allocator = allocator,
		.array = array,
		.size = size,
		.key = weir__hash_key_random(),
		.mask = 1,
	};
	while (places->mask <= n + n / 2 && places->mask < UINT32_MAX)
		places->mask = 2 * places->mask + 1;
	places->all =
		n < places->mask
			? weir__alloc(allocator,
				      n_places(places) * sizeof(*places->all))
			: NULL;
	for (i = 0; i < n && places->all; i++) {
		place = place_of(places, address_at(places, i), &hash);
		if (*place == 0)
			*place = (hash & ~places->mask) | (uint32_t)(i + 1);
	}
	return places->all;
}

void weir__places_fini(struct weir__places *places)
{
	weir__free(places->allocator, places->all,
		   n_places(places) * sizeof(*places->all));
}

size_t weir__places_find(const struct weir__places *places, const void *address)
{
	uint32_t hash, place;

	if (!address)
		return WEIR_NOWHERE;
	place = *place_of(places, address, &hash);
	return place ? (place & places->mask) - 1 : WEIR_NOWHERE;
}
