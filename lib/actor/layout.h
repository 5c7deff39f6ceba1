/* SPDX-License-Identifier: BSD-2-Clause */
/* Where actors are, for readers of this process's memory: base/fields.h. */
#ifndef WEIR_ACTOR_LAYOUT_H
#define WEIR_ACTOR_LAYOUT_H

#include "base/fields.h"

extern const struct weir__layout weir__layout
	__attribute__((visibility("hidden")));

#endif
