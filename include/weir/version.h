/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

/*
 * Which weir this is: the macros say what a program was compiled against, the
 * functions what it runs with. The two may differ with the shared library.
 * Both functions may be called from any thread at any time.
 */

#include <weir/api.h>

#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION_PATCH 0

/* One number that grows with every version: 1.2.3 is 10203. */
#define WEIR_VERSION \
	(WEIR_VERSION_MAJOR * 10000 + WEIR_VERSION_MINOR * 100 + \
	 WEIR_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The version as "major.minor.patch", static, never NULL. */
WEIR_API const char *weir_version(void);

/* The version as WEIR_VERSION counts it. */
WEIR_API int weir_version_number(void);

#ifdef __cplusplus
}
#endif

#endif
