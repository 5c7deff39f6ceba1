/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptors that are open: at the end of a test as at its beginning. */
#ifndef WEIR_TEST_KIT_DESCRIPTORS_H
#define WEIR_TEST_KIT_DESCRIPTORS_H

#include "support.h"

#define DESCRIPTORS_MAX 65536

struct descriptors {
	bool open[DESCRIPTORS_MAX];
};

void descriptors_note(struct descriptors *descriptors);
/* None was left open since, and none closed. */
void descriptors_check(const struct descriptors *descriptors);
size_t descriptors_count(void);

#endif
