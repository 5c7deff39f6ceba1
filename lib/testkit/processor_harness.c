/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The publisher in front of a processor sends the items that are requested when
 * the test settles; so factories make items on the test's thread only.
 *
 * There is no create_failing: a processor may let an error overtake items
 * (4.2), so no item surely comes before the error.
 *
 * A probe that is still held when its processor is gone stays in the list, and
 * counts as live: so the suite finds it.
 */
#include "testkit/processor_harness.h"

#include <assert.h>
#include <stdlib.h>

#define BURST 1024  /* items sent before the next look */
#define BURSTS 4096 /* after these it does not come to rest */

struct weir__subject {
	struct weir__subject *next;
	struct weir_processor processor;
	struct weir_subscriber_probe *behind; /* one of the two */
	struct weir_publisher_probe *front;
	/* The publisher in front sends items `sent` to `n` - 1, then the
	 * end. */
	int64_t sent, n;
	struct weir_error *error; /* NULL: on_complete */
	bool over;		  /* the end was sent, or is not wanted */
};

static struct weir__subject *subject_new(struct weir__harness *harness)
{
	struct weir__subject *subject = calloc(1, sizeof(*subject));

	if (!subject)
		return NULL;
	subject->processor = harness->processors->create(harness->processors);
	if (!subject->processor.publisher || !subject->processor.subscriber) {
		free(subject);
		return NULL;
	}
	subject->next = harness->made;
	harness->made = subject;
	return subject;
}

/* The processor is gone. Frees the subject, if its probe is not held. */
static void subject_free(struct weir__harness *harness,
			 struct weir__subject *subject)
{
	struct weir__subject **link = &harness->made;

	(void)weir_test_settle(&harness->processors->env);
	if ((subject->front && weir_publisher_probe_free(subject->front) < 0) ||
	    (subject->behind &&
	     weir_subscriber_probe_free(subject->behind) < 0)) {
		subject->processor = (struct weir_processor){NULL, NULL};
		subject->over = true;
		return;
	}
	while (*link != subject) {
		assert(*link);
		link = &(*link)->next;
	}
	*link = subject->next;
	free(subject);
}

static struct weir__subject *subject_of(
	const struct weir__harness *harness,
	const struct weir_publisher *publisher,
	const struct weir_subscriber *subscriber)
{
	struct weir__subject *subject = harness->made;

	while (subject &&
	       !(publisher && subject->processor.publisher == publisher) &&
	       !(subscriber && subject->processor.subscriber == subscriber))
		subject = subject->next;
	return subject;
}

static size_t count_live(const struct weir__harness *harness)
{
	struct weir_processor_factory *processors = harness->processors;
	const struct weir__subject *subject;
	size_t n = processors->live ? processors->live(processors) : 0;

	for (subject = harness->made; subject; subject = subject->next)
		n++;
	return n;
}

/* --- As a publisher ------------------------------------------------------- */

static struct weir__harness *harness_of_publishers(
	const struct weir_publisher_factory *factory)
{
	return weir_container_of(factory, struct weir__harness, publishers);
}

static void send_end(struct weir__subject *subject)
{
	subject->over = true;
	if (subject->error)
		(void)weir_publisher_probe_error(subject->front,
						 subject->error);
	else
		(void)weir_publisher_probe_complete(subject->front);
}

/* Sends the items that are requested. True: there were some. */
static bool feed(struct weir__harness *harness, struct weir__subject *subject)
{
	struct weir_processor_factory *factory = harness->processors;
	struct weir_publisher_probe_counts counts;
	int64_t before = subject->sent;
	void *item;

	assert(subject->sent <= subject->n);
	if (!subject->front || subject->over)
		return false;
	counts = weir_publisher_probe_counts(subject->front);
	while (subject->sent < subject->n && subject->sent - before < BURST &&
	       subject->sent < counts.requested && !counts.cancels) {
		item = factory->item(factory, subject->sent);
		if (weir_publisher_probe_send(subject->front, item) < 0) {
			if (factory->items && factory->items->drop)
				factory->items->drop(item,
						     factory->items->context);
			subject->over = true;
			return true;
		}
		subject->sent++;
	}
	subject->over = counts.cancels > 0;
	if (!subject->over && subject->sent == subject->n)
		send_end(subject);
	return subject->over || subject->sent > before;
}

static bool feed_all(struct weir__harness *harness)
{
	struct weir__subject *subject;
	bool fed = false;

	for (subject = harness->made; subject; subject = subject->next)
		fed |= feed(harness, subject);
	return fed;
}

static int settle(void *context)
{
	struct weir__harness *harness = context;
	uint32_t bursts;
	int rc;

	for (bursts = 0; bursts < BURSTS; bursts++) {
		rc = weir_test_settle(&harness->processors->env);
		if (rc < 0 || !feed_all(harness))
			return rc;
	}
	return -ETIMEDOUT;
}

static int advance(uint64_t ns, void *context)
{
	struct weir__harness *harness = context;
	int rc = weir_test_advance(&harness->processors->env, ns);

	return rc < 0 ? rc : settle(harness);
}

/* A processor that gets `n` items and that end. */
static struct weir_publisher *create_fed(struct weir__harness *harness,
					 int64_t n, struct weir_error *error)
{
	struct weir_processor_factory *factory = harness->processors;
	struct weir__subject *subject = subject_new(harness);

	if (!subject)
		return NULL;
	subject->n = n;
	subject->error = error;
	if (weir_publisher_probe_new(&subject->front, &factory->env,
				     factory->items) < 0 ||
	    weir_publisher_subscribe(weir_publisher_probe_base(subject->front),
				     subject->processor.subscriber) < 0) {
		factory->release(factory, subject->processor);
		subject_free(harness, subject);
		return NULL;
	}
	return subject->processor.publisher;
}

static struct weir_publisher *create(struct weir_publisher_factory *factory,
				     int64_t n)
{
	return create_fed(harness_of_publishers(factory), n, NULL);
}

/* Makes a publisher whose stream has failed already. */
static struct weir_publisher *create_rejecting(
	struct weir_publisher_factory *factory)
{
	struct weir__harness *harness = harness_of_publishers(factory);
	struct weir_publisher *publisher =
		create_fed(harness, 0, weir_error_of(-EIO));

	(void)settle(harness);
	return publisher;
}

static void release_publisher(struct weir_publisher_factory *factory,
			      struct weir_publisher *publisher)
{
	struct weir__harness *harness = harness_of_publishers(factory);
	struct weir__subject *subject = subject_of(harness, publisher, NULL);

	if (!subject->over)
		send_end(subject);
	(void)weir_test_settle(&harness->processors->env);
	harness->processors->release(harness->processors, subject->processor);
	subject_free(harness, subject);
}

static bool publisher_is_item(struct weir_publisher_factory *factory,
			      const void *item, int64_t i)
{
	struct weir__harness *harness = harness_of_publishers(factory);

	return harness->processors->is_item(harness->processors, item, i);
}

static size_t publishers_live(struct weir_publisher_factory *factory)
{
	return count_live(harness_of_publishers(factory));
}

/* --- As a subscriber ------------------------------------------------------ */

static struct weir__harness *harness_of_subscribers(
	const struct weir_subscriber_factory *factory)
{
	return weir_container_of(factory, struct weir__harness, subscribers);
}

static struct weir__subject *subject_of_subscriber(
	const struct weir_subscriber_factory *factory,
	const struct weir_subscriber *subscriber)
{
	return subject_of(harness_of_subscribers(factory), NULL, subscriber);
}

/* Makes a subscriber with a probe behind it that requests all items. */
static struct weir_subscriber *create_drained(
	struct weir_subscriber_factory *factory)
{
	static const struct weir_subscriber_probe_options options = {
		.request_first = INT64_MAX,
	};
	struct weir__harness *harness = harness_of_subscribers(factory);
	struct weir__subject *subject = subject_new(harness);

	if (!subject)
		return NULL;
	if (weir_subscriber_probe_new(&subject->behind,
				      &harness->processors->env,
				      &options) < 0 ||
	    weir_publisher_subscribe(
		    subject->processor.publisher,
		    weir_subscriber_probe_base(subject->behind)) < 0) {
		harness->processors->release(harness->processors,
					     subject->processor);
		subject_free(harness, subject);
		return NULL;
	}
	return subject->processor.subscriber;
}

static void release_subscriber(struct weir_subscriber_factory *factory,
			       struct weir_subscriber *subscriber)
{
	struct weir__harness *harness = harness_of_subscribers(factory);
	struct weir__subject *subject =
		subject_of_subscriber(factory, subscriber);

	weir_subscriber_probe_cancel(subject->behind);
	(void)weir_test_settle(&harness->processors->env);
	harness->processors->release(harness->processors, subject->processor);
	subject_free(harness, subject);
}

static void cancel(struct weir_subscriber_factory *factory,
		   struct weir_subscriber *subscriber)
{
	weir_subscriber_probe_cancel(
		subject_of_subscriber(factory, subscriber)->behind);
}

static void *item(struct weir_subscriber_factory *factory, int64_t i)
{
	struct weir__harness *harness = harness_of_subscribers(factory);

	return harness->processors->item(harness->processors, i);
}

static int64_t received(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber)
{
	struct weir__subject *subject =
		subject_of_subscriber(factory, subscriber);

	return weir_subscriber_probe_counts(subject->behind).items;
}

static bool subscriber_is_item(struct weir_subscriber_factory *factory,
			       struct weir_subscriber *subscriber, int64_t at,
			       int64_t i)
{
	struct weir__harness *harness = harness_of_subscribers(factory);
	struct weir__subject *subject =
		subject_of_subscriber(factory, subscriber);

	return harness->processors->is_item(
		harness->processors,
		weir_subscriber_probe_item(subject->behind, at), i);
}

static bool harness_ended(struct weir_subscriber_factory *factory,
			  struct weir_subscriber *subscriber,
			  struct weir_error **error)
{
	struct weir__subject *subject =
		subject_of_subscriber(factory, subscriber);
	struct weir_subscriber_probe_counts counts =
		weir_subscriber_probe_counts(subject->behind);

	*error = weir_subscriber_probe_error(subject->behind);
	return counts.errors + counts.completions > 0;
}

static size_t subscribers_live(struct weir_subscriber_factory *factory)
{
	return count_live(harness_of_subscribers(factory));
}

/* -------------------------------------------------------------------------- */

void weir__harness_init(struct weir__harness *harness,
			struct weir_processor_factory *processors)
{
	*harness = (struct weir__harness){
		.processors = processors,
		.publishers =
			{
				.create = create,
				.create_rejecting = processors->recovers
							    ? NULL
							    : create_rejecting,
				.release = release_publisher,
				.is_item = publisher_is_item,
				.live = publishers_live,
				.env =
					{
						.settle = settle,
						.advance = advance,
						.context = harness,
						.one_thread =
							processors->env
								.one_thread,
					},
				.max_items = processors->max_items,
				.max_subscribers = processors->max_subscribers,
				.multicast = processors->multicast,
			},
		.subscribers =
			{
				.create = create_drained,
				.release = release_subscriber,
				.cancel = cancel,
				.item = item,
				.received = received,
				.is_item = subscriber_is_item,
				.ended = harness_ended,
				.live = subscribers_live,
				.items = processors->items,
				.env = processors->env,
				.recovers = processors->recovers,
			},
	};
	if (!processors->env.advance)
		harness->publishers.env.advance = NULL;
}

void weir__harness_fini(struct weir__harness *harness)
{
	struct weir__subject *subject;

	/* Frees our records of the subjects that are left; their probes are
	 * held, and stay. */
	while ((subject = harness->made) != NULL) {
		harness->made = subject->next;
		free(subject);
	}
}
