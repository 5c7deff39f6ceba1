/* SPDX-License-Identifier: BSD-2-Clause */
/* On the thread that runs the tests. */
#include "testkit/publisher_steps.h"

#include <assert.h>
#include <stdlib.h>

#define MANY 10000   /* items of a stream that is long */
#define LEAST 6	     /* of those: a test may cancel at the fifth */
#define PUBLISHERS 4 /* in one test */

/* What a test has made. */
struct made {
	struct weir_publisher *publishers[PUBLISHERS];
	uint32_t n;
};

struct weir_publisher_factory *weir__pub_factory(
	const struct weir__verify *verify)
{
	return verify->factory;
}

static struct weir_publisher *keep(struct weir__verify *verify,
				   struct weir_publisher *publisher)
{
	struct made *made = verify->state;

	assert(made->n < PUBLISHERS);
	if (!publisher)
		weir__verify_fail(verify, "the factory made no publisher");
	else
		made->publishers[made->n++] = publisher;
	return publisher;
}

/* Room for one publisher more. */
static bool can_keep(struct weir__verify *verify)
{
	struct made *made = verify->state;

	if (!made)
		made = verify->state = calloc(1, sizeof(*made));
	return (made && made->n < PUBLISHERS) ||
	       weir__verify_fail(verify, "no memory for a publisher");
}

struct weir_publisher *weir__pub_make(struct weir__verify *verify, int64_t n)
{
	struct weir_publisher_factory *factory = weir__pub_factory(verify);

	if (factory->max_items && n > factory->max_items) {
		weir__verify_skip(verify, "too many items for the factory");
		return NULL;
	}
	return can_keep(verify) ? keep(verify, factory->create(factory, n))
				: NULL;
}

struct weir_publisher *weir__pub_make_rejecting(struct weir__verify *verify)
{
	struct weir_publisher_factory *factory = weir__pub_factory(verify);

	if (!factory->create_rejecting) {
		weir__verify_skip(verify,
				  "the factory has no create_rejecting");
		return NULL;
	}
	return can_keep(verify)
		       ? keep(verify, factory->create_rejecting(factory))
		       : NULL;
}

struct weir_publisher *weir__pub_make_failing(struct weir__verify *verify,
					      int64_t n)
{
	struct weir_publisher_factory *factory = weir__pub_factory(verify);

	if (!factory->create_failing) {
		weir__verify_skip(verify, "the factory has no create_failing");
		return NULL;
	}
	return can_keep(verify)
		       ? keep(verify, factory->create_failing(factory, n))
		       : NULL;
}

int64_t weir__pub_many(const struct weir__verify *verify)
{
	int64_t most = weir__pub_factory(verify)->max_items;

	if (!most || most > MANY)
		return MANY;
	return most > LEAST ? most : LEAST;
}

struct weir_subscriber_probe *weir__pub_subscribe(
	struct weir__verify *verify, struct weir_publisher *publisher,
	const struct weir_subscriber_probe_options *options)
{
	struct weir_subscriber_probe *probe =
		weir__verify_subscriber(verify, options);
	int rc;

	if (!probe)
		return NULL;
	rc = weir_publisher_subscribe(publisher,
				      weir_subscriber_probe_base(probe));
	if (rc != 0)
		weir__verify_fail(verify, "1.9: subscribe returned %d", rc);
	else if (weir__verify_settle(verify) &&
		 !weir_subscriber_probe_counts(probe).subscriptions)
		weir__verify_fail(verify, "1.9: on_subscribe has not come");
	return verify->verdict == WEIR_VERDICT_FAILED ? NULL : probe;
}

struct weir_subscriber_probe *weir__pub_stream(
	struct weir__verify *verify, int64_t n,
	const struct weir_subscriber_probe_options *options)
{
	struct weir_publisher *publisher = weir__pub_make(verify, n);

	return publisher ? weir__pub_subscribe(verify, publisher, options)
			 : NULL;
}

bool weir__pub_gets(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe, int64_t n)
{
	return weir__verify_expected(
		verify, probe,
		weir_subscriber_probe_expect_next_n(probe, n) &&
			weir_subscriber_probe_expect_nothing(probe));
}

bool weir__pub_completes(struct weir__verify *verify,
			 struct weir_subscriber_probe *probe)
{
	return weir__verify_expected(
		verify, probe, weir_subscriber_probe_expect_complete(probe));
}

bool weir__pub_fails(struct weir__verify *verify,
		     struct weir_subscriber_probe *probe, int code)
{
	return weir__verify_expected(
		verify, probe, weir_subscriber_probe_expect_error(probe, code));
}

bool weir__pub_silent(struct weir__verify *verify,
		      struct weir_subscriber_probe *probe)
{
	return weir__verify_expected(
		verify, probe, weir_subscriber_probe_expect_nothing(probe));
}

bool weir__pub_released(struct weir__verify *verify,
			struct weir_subscriber_probe *probe)
{
	return weir__verify_expected(
		verify, probe, weir_subscriber_probe_expect_released(probe));
}

bool weir__pub_gets_all(struct weir__verify *verify,
			struct weir_subscriber_probe *probe, int64_t n)
{
	return weir__verify_expected(verify, probe,
				     weir_subscriber_probe_expect_next_n(probe,
									 n)) &&
	       weir__pub_completes(verify, probe) &&
	       weir__pub_silent(verify, probe);
}

bool weir__pub_in_order(struct weir__verify *verify,
			struct weir_subscriber_probe *probe)
{
	struct weir_publisher_factory *factory = weir__pub_factory(verify);
	int64_t n = weir_subscriber_probe_counts(probe).items, i;

	for (i = 0; i < n; i++) {
		if (!factory->is_item(factory,
				      weir_subscriber_probe_item(probe, i), i))
			return weir__verify_fail(
				verify, "item number %lld is another one",
				(long long)i);
	}
	return true;
}

void weir__pub_over(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe)
{
	weir_subscriber_probe_request(probe, 1);
	weir_subscriber_probe_request(probe, 0);
	weir_subscriber_probe_request(probe, -1);
	if (!weir__pub_silent(verify, probe))
		return;
	weir_subscriber_probe_cancel(probe);
	weir_subscriber_probe_request(probe, INT64_MAX);
	weir_subscriber_probe_cancel(probe);
	if (weir__pub_silent(verify, probe))
		weir__pub_released(verify, probe);
}

void weir__pub_end(struct weir__verify *verify)
{
	struct weir_publisher_factory *factory = weir__pub_factory(verify);
	struct made *made = verify->state;
	uint32_t i;

	for (i = 0; made && i < made->n; i++)
		factory->release(factory, made->publishers[i]);
	free(made);
	verify->state = NULL;
}

size_t weir__pub_live(const struct weir__verify *verify)
{
	struct weir_publisher_factory *factory = weir__pub_factory(verify);

	return factory->live ? factory->live(factory) : 0;
}
