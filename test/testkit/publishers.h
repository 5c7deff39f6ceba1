/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher as somebody would write one by hand, and all the ways to get it
 * wrong: items 0 to n - 1, from the first on for each subscriber. Who requests
 * sends, on the calling thread, or a server thread does. `broken` says what is
 * wrong with it.
 */
#ifndef WEIR_TEST_TESTKIT_PUBLISHERS_H
#define WEIR_TEST_TESTKIT_PUBLISHERS_H

#include "testkit/range_send.h"

#include <sched.h>
#include <time.h>

/* --- The factory ---------------------------------------------------------- */

void ranges_init(struct ranges *ranges, enum broken_publisher broken,
		 bool served);

/* Frees what mistakes have leaked, too. */
void ranges_fini(struct ranges *ranges);

#endif
