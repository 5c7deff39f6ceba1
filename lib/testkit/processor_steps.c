/* SPDX-License-Identifier: BSD-2-Clause */
/* On the thread that runs the tests. */
#include "testkit/processor_steps.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct weir__proc *weir__proc_of(struct weir__verify *verify)
{
	return verify->state;
}

struct weir_publisher_probe_counts weir__proc_counts(
	struct weir__verify *verify)
{
	return weir_publisher_probe_counts(weir__proc_of(verify)->front);
}

bool weir__proc_start(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;
	struct weir__proc *proc = calloc(1, sizeof(*proc));
	int rc;

	if (!proc)
		return weir__verify_fail(verify, "no memory");
	verify->state = proc;
	proc->factory = factory;
	proc->error = weir_error_format(-EIO, "testkit", "on purpose");
	proc->processor = factory->create(factory);
	if (!proc->processor.publisher || !proc->processor.subscriber)
		return weir__verify_fail(verify, "no processor was made");
	proc->front = weir__verify_publisher(verify, factory->items);
	if (!proc->front)
		return false;
	rc = weir_publisher_subscribe(weir_publisher_probe_base(proc->front),
				      proc->processor.subscriber);
	if (rc < 0)
		return weir__verify_fail(verify, "subscribe: %d", rc);
	return weir__verify_settle(verify);
}

struct weir_subscriber_probe *weir__proc_join(struct weir__verify *verify,
					      int64_t n)
{
	const struct weir_subscriber_probe_options options = {
		.request_first = n,
	};
	struct weir_subscriber_probe *probe =
		weir__verify_subscriber(verify, &options);
	int rc;

	if (!probe)
		return NULL;
	rc = weir_publisher_subscribe(
		weir__proc_of(verify)->processor.publisher,
		weir_subscriber_probe_base(probe));
	if (rc < 0)
		weir__verify_fail(verify, "1.9: subscribe returned %d", rc);
	weir__verify_settle(verify);
	return verify->verdict == WEIR_VERDICT_PASSED ? probe : NULL;
}

bool weir__proc_takes_two(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;

	return factory->max_subscribers != 1 ||
	       weir__verify_skip(verify, "takes one subscriber");
}

bool weir__proc_send_some(struct weir__verify *verify, int64_t n)
{
	struct weir__proc *proc = weir__proc_of(verify);
	struct weir_processor_factory *factory = proc->factory;
	int64_t requested = weir__proc_counts(verify).requested;
	void *item;
	int rc;

	while (proc->sent < n && proc->sent < requested) {
		item = factory->item(factory, proc->sent);
		if (!item)
			return weir__verify_fail(verify, "no item was made");
		rc = weir_publisher_probe_send(proc->front, item);
		if (rc != 0) {
			if (factory->items && factory->items->drop)
				factory->items->drop(item,
						     factory->items->context);
			return weir__verify_fail(verify,
						 "item %" PRId64
						 " was not taken: %d",
						 proc->sent, rc);
		}
		proc->sent++;
	}
	return weir__verify_settle(verify);
}

bool weir__proc_send_up_to(struct weir__verify *verify, int64_t n)
{
	int64_t before;

	do {
		before = weir__proc_of(verify)->sent;
		if (!weir__proc_send_some(verify, n))
			return false;
	} while (weir__proc_of(verify)->sent > before);
	return true;
}

bool weir__proc_got(struct weir__verify *verify,
		    struct weir_subscriber_probe *behind, int64_t n)
{
	int64_t items = weir_subscriber_probe_counts(behind).items;

	return items == n ||
	       weir__verify_fail(verify,
				 "of %" PRId64 " items that were requested "
				 "%" PRId64 " have come",
				 n, items);
}

bool weir__proc_in_order(struct weir__verify *verify,
			 struct weir_subscriber_probe *behind)
{
	struct weir_processor_factory *factory = verify->factory;
	int64_t i, n = weir_subscriber_probe_counts(behind).items;

	for (i = 0; i < n; i++)
		if (!factory->is_item(factory,
				      weir_subscriber_probe_item(behind, i), i))
			return weir__verify_fail(
				verify, "item %" PRId64 " is another one", i);
	return true;
}

bool weir__proc_send_end(struct weir__verify *verify, struct weir_error *error)
{
	struct weir__proc *proc = weir__proc_of(verify);
	int rc = error ? weir_publisher_probe_error(proc->front, error)
		       : weir_publisher_probe_complete(proc->front);

	assert(!proc->over);
	proc->over = true;
	if (rc != 0)
		return weir__verify_fail(verify, "%s was not taken: %d",
					 error ? "on_error" : "on_complete",
					 rc);
	if (!weir__verify_settle(verify))
		return false;
	return weir__proc_counts(verify).in_end == 0 ||
	       weir__verify_fail(verify, "2.3: request or cancel was called "
					 "in reply to the last signal");
}

bool weir__proc_got_end(struct weir__verify *verify,
			struct weir_subscriber_probe *behind,
			struct weir_error *error)
{
	struct weir_subscriber_probe_counts counts =
		weir_subscriber_probe_counts(behind);

	if (counts.errors + counts.completions == 0)
		return weir__verify_fail(verify, "%s was not passed on",
					 error ? "on_error" : "on_complete");
	return weir_subscriber_probe_error(behind) == error ||
	       weir__verify_fail(verify, "the end was passed on as another");
}

void weir__proc_end(struct weir__verify *verify)
{
	struct weir__proc *proc = weir__proc_of(verify);

	if (!proc)
		return;
	if (proc->front && !proc->over &&
	    weir__proc_counts(verify).cancels == 0)
		(void)weir_publisher_probe_complete(proc->front);
	weir__verify_settle(verify);
	if (proc->processor.publisher && proc->processor.subscriber)
		proc->factory->release(proc->factory, proc->processor);
	weir_error_unref(proc->error);
	free(proc);
	verify->state = NULL;
}

size_t weir__proc_live(const struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;

	return factory->live ? factory->live(factory) : 0;
}
