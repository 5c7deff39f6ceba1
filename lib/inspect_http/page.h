/* SPDX-License-Identifier: BSD-2-Clause */
/* The page, which embed.py makes of page.html. */
#ifndef WEIR_INSPECT_HTTP_PAGE_H
#define WEIR_INSPECT_HTTP_PAGE_H

#include <stddef.h>

extern const char weir__http_page[];
extern const size_t weir__http_page_size;
/* What it may do, the value of a Content-Security-Policy: run its own script,
 * have its own style, and ask who has sent it. */
extern const char weir__http_page_policy[];

#endif
