/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A record of what a reader reads of this process, in which anything can be
 * changed: only what was read once is there.
 */
#ifndef WEIR_TEST_ATTACH_IMAGE_H
#define WEIR_TEST_ATTACH_IMAGE_H

#include "attach/readable.h"

enum { IMAGE_PAGE = 4096, IMAGE_PAGES = 256 };

struct image_page {
	uint64_t at;
	unsigned char *bytes, *kept;
};

struct image {
	struct weir__memory memory; /* first */
	struct weir__region region;
	struct image_page pages[IMAGE_PAGES];
	size_t n_pages;
	bool records;
};

/* Of a program that stands still meanwhile; `said`: its JSON. */
void image_record(struct image *image, char *said, size_t n);
/* Bytes at an address, which are there. */
void *image_at(struct image *image, uint64_t at, size_t n);
/* Changes some by a seed, and makes them again what they were. */
void image_tear(struct image *image, uint64_t seed);
void image_mend(struct image *image);
void image_free(struct image *image);

/* Cuts executors, threads, children and pools out of the JSON, which readers of
 * memory do not see. */
void said_by_both(char *text);

#endif
