/* SPDX-License-Identifier: BSD-2-Clause */
/* A node of the hierarchy (hierarchy_kit.h): its hooks, turns, end and nature. */
#ifndef WEIR_TEST_SUPERVISION_HIERARCHY_NODE_H
#define WEIR_TEST_SUPERVISION_HIERARCHY_NODE_H

#include "scenario/hierarchy_acts.h"

/* --- What they are like --------------------------------------------------- */

extern const struct weir_rule node_rules[];
/* But for the last, which is for /user. */
extern const size_t n_node_rules;

void member_init(struct node *self, struct hierarchy *hierarchy,
		 uint64_t *random, uint32_t depth);

#endif
