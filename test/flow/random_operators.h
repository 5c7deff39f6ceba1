/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of random_kinds.c: an operator of the user's, which is a stateful_map. */
#ifndef WEIR_TEST_FLOW_RANDOM_OPERATORS_H
#define WEIR_TEST_FLOW_RANDOM_OPERATORS_H

#include "flow/random_model.h"

struct weir_flow *operator_make(struct weir_flow *up, struct step *step);
struct weir_flow *operator_inputs_make(struct weir_flow *up, struct step *step);

#endif
