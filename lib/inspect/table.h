/* SPDX-License-Identifier: BSD-2-Clause */
/* As weir_snapshot_table(), with at most so many actors and links. */
#ifndef WEIR_INSPECT_TABLE_H
#define WEIR_INSPECT_TABLE_H

#include <weir/inspect.h>

#define WEIR__TABLE_ROWS 100u

size_t weir__snapshot_table(const struct weir_snapshot *snapshot, size_t rows,
			    char *at, size_t n);

#endif
