/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of weir_flow_delay_errors() share. */
#ifndef WEIR_TEST_FLOW_OP_DELAY_KIT_H
#define WEIR_TEST_FLOW_OP_DELAY_KIT_H

#include "flow/fan_kit.h"
#include "flow/memory_kit.h"

struct heard {
	size_t n;
	int codes[64];
};

/* The value of a counted item. */
intptr_t number(void *item);

/* Of an operator that delays errors: hears them. */
void hear(struct weir_error *error, void *context);
struct weir_flow *delayed(struct weir_flow *flow);
struct weir_flow *heard_by(struct weir_flow *flow, struct heard *heard);

#define ASSERT_HEARD(heard, ...) \
	do { \
		static const int codes_[] = {__VA_ARGS__}; \
\
		assert_int_equal((heard)->n, \
				 sizeof(codes_) / sizeof(*codes_)); \
		assert_memory_equal((heard)->codes, codes_, sizeof(codes_)); \
	} while (0)

struct weir_flow *failure(int code);

/* Taps of which `b` fails with 33, and `c` with 71. */
void tell_apart(struct weir_flow *const *taps, struct weir_flow **flows);

struct weir_flow *as_it_is(struct weir_flow *up, void *context);

#endif
