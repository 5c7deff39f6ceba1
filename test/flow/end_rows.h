/* SPDX-License-Identifier: BSD-2-Clause */
/* What end_behind.c goes through: operators that hold items, upon one tap or two. */
#ifndef WEIR_TEST_FLOW_END_ROWS_H
#define WEIR_TEST_FLOW_END_ROWS_H

#include "flow/fan_kit.h"
#include "flow/verify_operators.h"

#define ITEMS_MAX 6
#define WAIT_NS 1000
#define LONG_NS (4 * ITEMS_MAX * WAIT_NS)

/* The second one is a few rows'. */
extern struct tap end_taps[2];

/* Is there a second tap, does it end, and has it items? */
enum taps { ONE, TWO, ENDLESS, EMPTY };

/* Upon a tap: each of its items comes out `times` as one, behind `before`. */
struct end_row {
	const char *name;
	struct weir_flow *(*put_upon)(struct weir_flow *flow,
				      const struct weir_items *items);
	size_t before, times;
	int code; /* the first tap ends with */
	enum taps taps;
	size_t unfused;
};

extern const struct end_row end_rows[];
extern const size_t n_end_rows;

/* Groups that hold items back until their end; the first one may fail there. */
struct weir_flow *end_heavy_parts(struct weir_flow *flow,
				  const struct weir_items *items);
struct weir_flow *end_failing_parts(struct weir_flow *flow,
				    const struct weir_items *items);

#endif
