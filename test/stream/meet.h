/* SPDX-License-Identifier: BSD-2-Clause */
/* A publisher over a source and a subscriber over a sink, on a simulator. */
#ifndef WEIR_TEST_STREAM_MEET_H
#define WEIR_TEST_STREAM_MEET_H

#include "stream/ends.h"

#include <weir/weir.h>

#define N 100

/* A source that publishes, a sink that subscribes, and what runs them. */
struct ends {
	struct weir_sim *sim;
	struct weir_executor *executor;
	struct ledger ledger;
	struct source source;
	struct sink sink;
	struct weir_reactive_out out;
	struct weir_reactive_in in;
};

void ends_init_on(struct ends *ends, size_t capacity, uint32_t flags,
		  const struct weir_executor_options *executor);
void ends_init(struct ends *ends, size_t capacity, uint32_t flags);
void subscribe(struct weir_reactive_out *out,
	       struct weir_subscriber *subscriber);

/* The source starts, the sink has started; both rest. */
void ends_start(struct ends *ends);
void ends_fini(struct ends *ends);

#endif
