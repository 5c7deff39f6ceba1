/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that run short of memory. */
#ifndef WEIR_TEST_FLOW_MEMORY_H
#define WEIR_TEST_FLOW_MEMORY_H

#include "actor/kit.h"
#include "flow/kit.h"

/*
 * Runs the flow, which has a sink at its end that fills `got`, with each of its
 * allocations failing in turn: -ENOMEM, or what it ends with if that needs no
 * memory; nothing is lost. Returns how many allocations a run has.
 */
size_t assert_short_of_memory(struct weir_flow *flow, struct got *got,
			      int code);

#endif
