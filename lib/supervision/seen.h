/* SPDX-License-Identifier: BSD-2-Clause */
/* As weir__child_ops.look. */
#ifndef WEIR_SUPERVISION_SEEN_H
#define WEIR_SUPERVISION_SEEN_H

#include "supervision/cell.h"

bool weir__child_look(const struct weir_actor *actor,
		      struct weir__child_look *look);

#endif
