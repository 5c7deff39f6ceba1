/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests see of an inspector. */
#ifndef WEIR_INSPECT_INSPECTOR_H
#define WEIR_INSPECT_INSPECTOR_H

#include <stdint.h>

extern uint64_t weir__inspector_patience_ns
	__attribute__((visibility("hidden")));

#endif
