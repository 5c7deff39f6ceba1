/* SPDX-License-Identifier: BSD-2-Clause */
/* Broadcasts for operators that are made of one. */
#ifndef WEIR_FLOW_OPERATORS_FAN_OUT_H
#define WEIR_FLOW_OPERATORS_FAN_OUT_H

#include <stdbool.h>

#include <weir/flow_fan.h>

#include "flow/engine/kind.h"

/*
 * As weir_flow_broadcast(), with two outlets, for an operator of that kind, the
 * fan's own, which builds the first outlet first. The fan runs where the
 * operator does. With `taps` the second outlet gets an item only if it has room
 * then.
 */
int weir__fan_double(const struct weir__kind *kind, struct weir_flow *flow,
		     size_t capacity, struct weir_flow *outlets[2], bool taps);

#endif
