/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors of the library's own actors, whose memory is their executor's. */
#ifndef WEIR_BASE_ERROR_H
#define WEIR_BASE_ERROR_H

#include <weir/error.h>

/* As weir_error_format(), in memory of `allocator`, which is not NULL. */
struct weir_error *weir__error_format(const struct weir_allocator *allocator,
				      int code, const char *origin,
				      const char *format, ...)
	WEIR_PRINTF(4, 5);

#endif
