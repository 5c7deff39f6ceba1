/* SPDX-License-Identifier: BSD-2-Clause */
/* What all public structs of options have in common. */
#ifndef WEIR_BASE_OPTIONS_H
#define WEIR_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True: nothing is set of what the struct ends with. A program compiled for a
 * later library, which has a field there, is told so instead of ignored.
 */
static inline bool weir__reserved_zero(const uint64_t reserved[static 4])
{
	return !(reserved[0] | reserved[1] | reserved[2] | reserved[3]);
}

#endif
