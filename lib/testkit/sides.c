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
#include "testkit/sides.h"

#include <assert.h>
#include <stdlib.h>

#define BURST 1024  /* items sent before the next look */
#define BURSTS 4096 /* after these it does not come to rest */

struct weir__side {
	struct weir__side *next;
	struct weir_processor processor;
	struct weir_subscriber_probe *behind; /* one of the two */
	struct weir_publisher_probe *front;
	/* The publisher in front sends items `sent` to `n` - 1, then the
	 * end. */
	int64_t sent, n;
	struct weir_error *error; /* NULL: on_complete */
	bool over;		  /* the end was sent, or is not wanted */
};

static struct weir__side *side_new(struct weir__sides *sides)
{
	struct weir__side *side = calloc(1, sizeof(*side));

	if (!side)
		return NULL;
	side->processor = sides->processors->create(sides->processors);
	if (!side->processor.publisher || !side->processor.subscriber) {
		free(side);
		return NULL;
	}
	side->next = sides->made;
	sides->made = side;
	return side;
}

/* The processor is gone. Frees the side, if its probe is not held. */
static void side_free(struct weir__sides *sides, struct weir__side *side)
{
	struct weir__side **link = &sides->made;

	(void)weir_test_settle(&sides->processors->env);
	if ((side->front && weir_publisher_probe_free(side->front) < 0) ||
	    (side->behind && weir_subscriber_probe_free(side->behind) < 0)) {
		side->processor = (struct weir_processor){NULL, NULL};
		side->over = true;
		return;
	}
	while (*link != side) {
		assert(*link);
		link = &(*link)->next;
	}
	*link = side->next;
	free(side);
}

static struct weir__side *side_of(const struct weir__sides *sides,
				  const struct weir_publisher *publisher,
				  const struct weir_subscriber *subscriber)
{
	struct weir__side *side = sides->made;

	while (side && !(publisher && side->processor.publisher == publisher) &&
	       !(subscriber && side->processor.subscriber == subscriber))
		side = side->next;
	return side;
}

static size_t count_live(const struct weir__sides *sides)
{
	struct weir_processor_factory *processors = sides->processors;
	const struct weir__side *side;
	size_t n = processors->live ? processors->live(processors) : 0;

	for (side = sides->made; side; side = side->next)
		n++;
	return n;
}

/* --- As a publisher ------------------------------------------------------- */

static struct weir__sides *sides_of_publishers(
	const struct weir_publisher_factory *factory)
{
	return weir_container_of(factory, struct weir__sides, publishers);
}

static void send_end(struct weir__side *side)
{
	side->over = true;
	if (side->error)
		(void)weir_publisher_probe_error(side->front, side->error);
	else
		(void)weir_publisher_probe_complete(side->front);
}

/* Sends the items that are requested. True: there were some. */
static bool feed(struct weir__sides *sides, struct weir__side *side)
{
	struct weir_processor_factory *factory = sides->processors;
	struct weir_publisher_probe_counts counts;
	int64_t before = side->sent;
	void *item;

	assert(side->sent <= side->n);
	if (!side->front || side->over)
		return false;
	counts = weir_publisher_probe_counts(side->front);
	while (side->sent < side->n && side->sent - before < BURST &&
	       side->sent < counts.requested && !counts.cancels) {
		item = factory->item(factory, side->sent);
		if (weir_publisher_probe_send(side->front, item) < 0) {
			if (factory->items && factory->items->drop)
				factory->items->drop(item,
						     factory->items->context);
			side->over = true;
			return true;
		}
		side->sent++;
	}
	side->over = counts.cancels > 0;
	if (!side->over && side->sent == side->n)
		send_end(side);
	return side->over || side->sent > before;
}

static bool feed_all(struct weir__sides *sides)
{
	struct weir__side *side;
	bool fed = false;

	for (side = sides->made; side; side = side->next)
		fed |= feed(sides, side);
	return fed;
}

static int settle(void *context)
{
	struct weir__sides *sides = context;
	uint32_t bursts;
	int rc;

	for (bursts = 0; bursts < BURSTS; bursts++) {
		rc = weir_test_settle(&sides->processors->env);
		if (rc < 0 || !feed_all(sides))
			return rc;
	}
	return -ETIMEDOUT;
}

static int advance(uint64_t ns, void *context)
{
	struct weir__sides *sides = context;
	int rc = weir_test_advance(&sides->processors->env, ns);

	return rc < 0 ? rc : settle(sides);
}

/* A processor that gets `n` items and that end. */
static struct weir_publisher *create_fed(struct weir__sides *sides, int64_t n,
					 struct weir_error *error)
{
	struct weir_processor_factory *factory = sides->processors;
	struct weir__side *side = side_new(sides);

	if (!side)
		return NULL;
	side->n = n;
	side->error = error;
	if (weir_publisher_probe_new(&side->front, &factory->env,
				     factory->items) < 0 ||
	    weir_publisher_subscribe(weir_publisher_probe_base(side->front),
				     side->processor.subscriber) < 0) {
		factory->release(factory, side->processor);
		side_free(sides, side);
		return NULL;
	}
	return side->processor.publisher;
}

static struct weir_publisher *create(struct weir_publisher_factory *factory,
				     int64_t n)
{
	return create_fed(sides_of_publishers(factory), n, NULL);
}

/* Makes a publisher whose stream has failed already. */
static struct weir_publisher *create_rejecting(
	struct weir_publisher_factory *factory)
{
	struct weir__sides *sides = sides_of_publishers(factory);
	struct weir_publisher *publisher =
		create_fed(sides, 0, weir_error_of(-EIO));

	(void)settle(sides);
	return publisher;
}

static void release_publisher(struct weir_publisher_factory *factory,
			      struct weir_publisher *publisher)
{
	struct weir__sides *sides = sides_of_publishers(factory);
	struct weir__side *side = side_of(sides, publisher, NULL);

	if (!side->over)
		send_end(side);
	(void)weir_test_settle(&sides->processors->env);
	sides->processors->release(sides->processors, side->processor);
	side_free(sides, side);
}

static bool publisher_is_item(struct weir_publisher_factory *factory,
			      const void *item, int64_t i)
{
	struct weir__sides *sides = sides_of_publishers(factory);

	return sides->processors->is_item(sides->processors, item, i);
}

static size_t publishers_live(struct weir_publisher_factory *factory)
{
	return count_live(sides_of_publishers(factory));
}

/* --- As a subscriber ------------------------------------------------------ */

static struct weir__sides *sides_of_subscribers(
	const struct weir_subscriber_factory *factory)
{
	return weir_container_of(factory, struct weir__sides, subscribers);
}

static struct weir__side *side_of_subscriber(
	const struct weir_subscriber_factory *factory,
	const struct weir_subscriber *subscriber)
{
	return side_of(sides_of_subscribers(factory), NULL, subscriber);
}

/* Makes a subscriber with a probe behind it that requests all items. */
static struct weir_subscriber *create_drained(
	struct weir_subscriber_factory *factory)
{
	static const struct weir_subscriber_probe_options options = {
		.request_first = INT64_MAX,
	};
	struct weir__sides *sides = sides_of_subscribers(factory);
	struct weir__side *side = side_new(sides);

	if (!side)
		return NULL;
	if (weir_subscriber_probe_new(&side->behind, &sides->processors->env,
				      &options) < 0 ||
	    weir_publisher_subscribe(side->processor.publisher,
				     weir_subscriber_probe_base(side->behind)) <
		    0) {
		sides->processors->release(sides->processors, side->processor);
		side_free(sides, side);
		return NULL;
	}
	return side->processor.subscriber;
}

static void release_subscriber(struct weir_subscriber_factory *factory,
			       struct weir_subscriber *subscriber)
{
	struct weir__sides *sides = sides_of_subscribers(factory);
	struct weir__side *side = side_of_subscriber(factory, subscriber);

	weir_subscriber_probe_cancel(side->behind);
	(void)weir_test_settle(&sides->processors->env);
	sides->processors->release(sides->processors, side->processor);
	side_free(sides, side);
}

static void cancel(struct weir_subscriber_factory *factory,
		   struct weir_subscriber *subscriber)
{
	weir_subscriber_probe_cancel(
		side_of_subscriber(factory, subscriber)->behind);
}

static void *item(struct weir_subscriber_factory *factory, int64_t i)
{
	struct weir__sides *sides = sides_of_subscribers(factory);

	return sides->processors->item(sides->processors, i);
}

static int64_t received(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber)
{
	struct weir__side *side = side_of_subscriber(factory, subscriber);

	return weir_subscriber_probe_counts(side->behind).items;
}

static bool subscriber_is_item(struct weir_subscriber_factory *factory,
			       struct weir_subscriber *subscriber, int64_t at,
			       int64_t i)
{
	struct weir__sides *sides = sides_of_subscribers(factory);
	struct weir__side *side = side_of_subscriber(factory, subscriber);

	return sides->processors->is_item(
		sides->processors, weir_subscriber_probe_item(side->behind, at),
		i);
}

static bool ended(struct weir_subscriber_factory *factory,
		  struct weir_subscriber *subscriber, struct weir_error **error)
{
	struct weir__side *side = side_of_subscriber(factory, subscriber);
	struct weir_subscriber_probe_counts counts =
		weir_subscriber_probe_counts(side->behind);

	*error = weir_subscriber_probe_error(side->behind);
	return counts.errors + counts.completions > 0;
}

static size_t subscribers_live(struct weir_subscriber_factory *factory)
{
	return count_live(sides_of_subscribers(factory));
}

/* -------------------------------------------------------------------------- */

void weir__sides_init(struct weir__sides *sides,
		      struct weir_processor_factory *processors)
{
	*sides = (struct weir__sides){
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
						.context = sides,
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
				.ended = ended,
				.live = subscribers_live,
				.items = processors->items,
				.env = processors->env,
				.recovers = processors->recovers,
			},
	};
	if (!processors->env.advance)
		sides->publishers.env.advance = NULL;
}

void weir__sides_fini(struct weir__sides *sides)
{
	struct weir__side *side;

	/* Frees our records of the sides that are left; their probes are held,
	 * and stay. */
	while ((side = sides->made) != NULL) {
		sides->made = side->next;
		free(side);
	}
}
