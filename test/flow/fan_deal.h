/* SPDX-License-Identifier: BSD-2-Clause */
/* A fan that is fed by hand, and asked by hand at each of its outlets. */
#ifndef WEIR_TEST_FLOW_FAN_DEAL_H
#define WEIR_TEST_FLOW_FAN_DEAL_H

#include "flow/fan_kit.h"

/* --- Outlets that are asked by hand --------------------------------------- */

#define N 4

/* What a sink may take. */
struct valve {
	size_t open; /* so many items more */
	struct weir__op *op;
};

/* A run of a fan upon a tap; each outlet has a valve, a switch, and a sink. */
extern struct deal {
	struct tap tap;
	struct weir_flow *outlets[N];
	struct valve valves[N];
	struct weir_flow_switch *switches[N];
	struct got gots[N];
	struct trial trial;
	size_t n;
	size_t unfused;
} deal;

struct weir_flow *tapped(void);

/* The outlet asks for `max` of what its valve is open for, or as it likes. */
void deal_sink(size_t i, size_t max, size_t open);

/* With some seeds cut everywhere. */
void deal_begin(uint64_t seed);

/* The fan has asked for so many; links above it may have taken more. */
void assert_asked(size_t n);
void deal_give(intptr_t first, intptr_t last);
void open_valve(size_t i, size_t n);
void cancel_outlet(size_t i);

/* What is still to come goes where it goes. */
void deal_end(int code);
void assert_values(size_t i, size_t n, const intptr_t *expected);

#define ASSERT_VALUES(i, ...) \
	do { \
		static const intptr_t expected_[] = {__VA_ARGS__}; \
\
		assert_values(i, sizeof(expected_) / sizeof(*expected_), \
			      expected_); \
	} while (0)

#endif
