/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a publisher of publishers.h sends. Of each subscription one thread at a
 * time is at work: who has counted `work` up from 0. Others only count, and it
 * goes round again.
 */
#ifndef WEIR_TEST_TESTKIT_RANGE_SEND_H
#define WEIR_TEST_TESTKIT_RANGE_SEND_H

#include "testkit/range.h"

#include "base/demand.h"

/* The stream is over; `mistake` keeps the subscriber. */
void range_let_go(struct range *range, enum broken_publisher mistake);

/* Until nobody has counted `work` any more. */
void range_drain(struct range *range);
void range_work(struct range *range);

#endif
