/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two sides of a processor, for the suites of publishers and of
 * subscribers: with a publisher probe in front of it a processor is a
 * publisher; with a subscriber probe behind it, a subscriber. All on the test's
 * thread.
 */
#ifndef WEIR_TESTKIT_PROCESSOR_HARNESS_H
#define WEIR_TESTKIT_PROCESSOR_HARNESS_H

#include <weir/testkit.h>

/* A processor under test with its probe; in a list. */
struct weir__subject;

struct weir__harness {
	struct weir_publisher_factory publishers;
	struct weir_subscriber_factory subscribers;
	struct weir_processor_factory *processors;
	struct weir__subject *made; /* and not gone yet */
};

/* Fills in the first two; `processors` is borrowed. */
void weir__harness_init(struct weir__harness *harness,
			struct weir_processor_factory *processors);

/* When the suites have run. */
void weir__harness_fini(struct weir__harness *harness);

#endif
