/* SPDX-License-Identifier: BSD-2-Clause */
/* Outlets of one flow, as the tests of them use them. */
#ifndef WEIR_TEST_FLOW_FAN_OUTLETS_H
#define WEIR_TEST_FLOW_FAN_OUTLETS_H

#include "flow/fan_kit.h"

/* By the remainder of 3; 7 to none, 99 to an outlet that is not there. */
static inline int by_three(void *item, size_t *outlet, void *context)
{
	intptr_t value = ((struct item *)item)->value;

	*outlet = value == 99 ? 3 : (size_t)value % 3;
	if (value == 8 && context)
		return -EDOM;
	return value == 7;
}

/* Each outlet into a collection of its own, all as one flow. */
static inline struct weir_flow *sinks(struct weir_flow **outlets,
				      struct got *gots, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		gots[i].n = 0;
		gots[i].counted = true;
		outlets[i] = into(outlets[i], &gots[i]);
	}
	return weir_flow_all(outlets, n);
}

static inline void assert_values(const struct got *got, size_t n, ...)
{
	va_list values;
	size_t i;

	assert_int_equal(got->n, n);
	va_start(values, n);
	for (i = 0; i < n; i++)
		assert_int_equal(got->values[i], va_arg(values, int));
	va_end(values);
}

static struct got gots[4];

#endif
