/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

/* Everything a program may use. Each header also stands alone. */

#include <weir/api.h>
#include <weir/version.h>

#endif
