/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a process, wherever it comes from. Its bytes may be anything:
 * who reads them trusts none.
 */
#ifndef WEIR_ATTACH_READABLE_H
#define WEIR_ATTACH_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses from `begin` to before `end`. */
struct weir__region {
	uint64_t begin, end;
};

struct weir__memory {
	/* Reads all `n` bytes, or returns false. */
	bool (*read)(struct weir__memory *memory, uint64_t at, void *bytes,
		     size_t n);
	/* Where a table of layouts may be: data that a linker has made. */
	const struct weir__region *regions;
	size_t n_regions;
};

#endif
