/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A processor's two sides, as the suites of publishers and of subscribers take
 * them: with a publisher probe in front of it, it is a publisher; with a
 * subscriber probe behind it, a subscriber. All on the thread of the test.
 */
#ifndef WEIR_TESTKIT_SIDES_H
#define WEIR_TESTKIT_SIDES_H

#include <weir/testkit.h>

/* One processor that is being tested, with its probe; in a list. */
struct weir__side;

struct weir__sides {
	struct weir_publisher_factory publishers;
	struct weir_subscriber_factory subscribers;
	struct weir_processor_factory *processors;
	struct weir__side *made; /* and not gone yet */
};

/* Fills in the first two; `processors` is borrowed. */
void weir__sides_init(struct weir__sides *sides,
		      struct weir_processor_factory *processors);

/* When the suites have run. */
void weir__sides_fini(struct weir__sides *sides);

#endif
