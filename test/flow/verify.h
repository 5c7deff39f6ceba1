/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the suites of flows at publishers and subscribers share: each goes
 * through tables of sources, operators and sinks on each executor. To hold one
 * more to the rules is to add its line to a table; test/spec/verified.py says
 * which are missing.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_H
#define WEIR_TEST_FLOW_VERIFY_H

#include "flow/verify_operators.h"

/* Items of the longest stream: all tests can do with these. */
#define LONG 2001

#endif
