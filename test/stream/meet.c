/* SPDX-License-Identifier: BSD-2-Clause */
#include "stream/meet.h"

void ends_init_on(struct ends *ends, size_t capacity, uint32_t flags,
		  const struct weir_executor_options *executor)
{
	struct weir_reactive_out_options options = {.flags = flags};

	assert_int_equal(weir_sim_new(&ends->sim, 1, executor), 0);
	ends->executor = weir_sim_executor(ends->sim);
	ledger_init(&ends->ledger, N);
	source_init(&ends->source, ends->executor, &ends->ledger, 1, N);
	sink_init(&ends->sink, ends->executor, &ends->ledger, capacity);
	ends->sink.ordered = true;
	assert_int_equal(weir_reactive_out_init(&ends->out, &ends->source.out,
						&options),
			 0);
	assert_int_equal(weir_reactive_in_init(&ends->in, &ends->sink.in, NULL),
			 0);
}

void ends_init(struct ends *ends, size_t capacity, uint32_t flags)
{
	ends_init_on(ends, capacity, flags, NULL);
}

void subscribe(struct weir_reactive_out *out,
	       struct weir_subscriber *subscriber)
{
	assert_int_equal(weir_publisher_subscribe(&out->publisher, subscriber),
			 0);
}

void ends_start(struct ends *ends)
{
	assert_int_equal(weir_actor_start(&ends->sink.actor), 0);
	assert_int_equal(weir_actor_start(&ends->source.actor), 0);
	weir_sim_run(ends->sim);
}

void ends_fini(struct ends *ends)
{
	if (!ends->source.fate.stopped)
		weir_actor_stop(&ends->source.actor);
	if (!ends->sink.fate.stopped)
		weir_actor_stop(&ends->sink.actor);
	weir_sim_run(ends->sim);
	assert_int_equal(ends->source.fate.released, 1);
	assert_int_equal(ends->sink.fate.released, 1);
	ledger_check(&ends->ledger);
	ledger_fini(&ends->ledger);
	sim_free(ends->sim);
}
