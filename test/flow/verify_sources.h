/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sources that the suite of publishers holds to the rules, and ownership.c
 * to their items: one line each, at the end. Each makes a flow of the goods 0
 * to n - 1. Operators that make one item of many are among them, with something
 * behind that makes n items of that one.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_SOURCES_H
#define WEIR_TEST_FLOW_VERIFY_SOURCES_H

#include "flow/verify_bridges.h"

/* --- The table ------------------------------------------------------------ */

/* name, make, max_items, sharing, timed, waits */
extern const struct source_row sources[];
extern const size_t n_sources;

#endif
