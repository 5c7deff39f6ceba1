/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tests of processors: a publisher in front, subscribers behind, all in the
 * hand of the test. Most tests are those of publishers and of subscribers, on
 * its two sides.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "testkit/sides.h"
#include "testkit/verify.h"

/* What a test works with. */
struct stage {
	struct weir_processor_factory *factory;
	struct weir_processor processor;
	struct weir_publisher_probe *front;
	struct weir_error *error;
	int64_t sent; /* numbers from 0 */
	bool over;    /* the end was sent */
};

static struct stage *stage_of(struct weir__verify *verify)
{
	return verify->state;
}

static struct weir_publisher_probe_counts front_of(struct weir__verify *verify)
{
	return weir_publisher_probe_counts(stage_of(verify)->front);
}

/* --- Steps ---------------------------------------------------------------- */

/* A processor with its publisher, and nobody behind it. */
static bool start(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;
	struct stage *stage = calloc(1, sizeof(*stage));
	int rc;

	if (!stage)
		return weir__verify_fail(verify, "no memory");
	verify->state = stage;
	stage->factory = factory;
	stage->error =
		weir_error_new(NULL, -EIO, "testkit", "on purpose", NULL, NULL);
	if (!stage->error)
		return weir__verify_fail(verify, "no memory");
	stage->processor = factory->create(factory);
	if (!stage->processor.publisher || !stage->processor.subscriber)
		return weir__verify_fail(verify, "no processor was made");
	stage->front = weir__verify_publisher(verify, factory->items);
	if (!stage->front)
		return false;
	rc = weir_subscribe(weir_publisher_probe_publisher(stage->front),
			    stage->processor.subscriber);
	if (rc < 0)
		return weir__verify_fail(verify, "subscribe: %d", rc);
	return weir__verify_settle(verify);
}

/* One more subscriber; NULL: it could not be made. */
static struct weir_subscriber_probe *join(struct weir__verify *verify,
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
	rc = weir_subscribe(stage_of(verify)->processor.publisher,
			    weir_subscriber_probe_subscriber(probe));
	if (rc < 0)
		weir__verify_fail(verify, "1.9: subscribe returned %d", rc);
	weir__verify_settle(verify);
	return verify->verdict == WEIR_PASSED ? probe : NULL;
}

/* A processor that takes two; skips the test otherwise. */
static bool takes_two(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;

	return factory->max_subscribers != 1 ||
	       weir__verify_skip(verify, "takes one subscriber");
}

/* Sends what is requested, up to item `n`, once. */
static bool send_some(struct weir__verify *verify, int64_t n)
{
	struct stage *stage = stage_of(verify);
	struct weir_processor_factory *factory = stage->factory;
	int64_t requested = front_of(verify).requested;
	void *item;
	int rc;

	while (stage->sent < n && stage->sent < requested) {
		item = factory->item(factory, stage->sent);
		if (!item)
			return weir__verify_fail(verify, "no item was made");
		rc = weir_publisher_probe_send(stage->front, item);
		if (rc != 0) {
			if (factory->items && factory->items->drop)
				factory->items->drop(item,
						     factory->items->context);
			return weir__verify_fail(verify,
						 "item %" PRId64
						 " was not taken: %d",
						 stage->sent, rc);
		}
		stage->sent++;
	}
	return weir__verify_settle(verify);
}

/* Sends what is requested up to item `n`, until no more is. */
static bool send_up_to(struct weir__verify *verify, int64_t n)
{
	int64_t before;

	do {
		before = stage_of(verify)->sent;
		if (!send_some(verify, n))
			return false;
	} while (stage_of(verify)->sent > before);
	return true;
}

static bool got(struct weir__verify *verify,
		struct weir_subscriber_probe *behind, int64_t n)
{
	int64_t items = weir_subscriber_probe_counts(behind).items;

	return items == n ||
	       weir__verify_fail(verify,
				 "of %" PRId64 " items that were requested "
				 "%" PRId64 " have come",
				 n, items);
}

static bool in_order(struct weir__verify *verify,
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

static bool send_end(struct weir__verify *verify, struct weir_error *error)
{
	struct stage *stage = stage_of(verify);
	int rc = error ? weir_publisher_probe_error(stage->front, error)
		       : weir_publisher_probe_complete(stage->front);

	stage->over = true;
	if (rc != 0)
		return weir__verify_fail(verify, "%s was not taken: %d",
					 error ? "on_error" : "on_complete",
					 rc);
	if (!weir__verify_settle(verify))
		return false;
	return front_of(verify).in_end == 0 ||
	       weir__verify_fail(verify, "2.3: request or cancel was called "
					 "in reply to the last signal");
}

static bool got_end(struct weir__verify *verify,
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

/* --- Demand --------------------------------------------------------------- */

/*
 * It may have requested what it has room for and what was requested of it, and
 * is still to come.
 */
static bool not_too_much(struct weir__verify *verify,
			 struct weir_subscriber_probe *behind)
{
	struct weir_processor_factory *factory = verify->factory;
	struct weir_subscriber_probe_counts back =
		weir_subscriber_probe_counts(behind);
	int64_t most = factory->buffer + back.requested;
	int64_t requested = front_of(verify).requested;

	return requested <= most ||
	       weir__verify_fail(verify,
				 "has requested %" PRId64 ", was requested "
				 "%" PRId64 " and has room for %" PRId64,
				 requested, back.requested, factory->buffer);
}

/* Ten times as many items as it can hold, at the pace of who is behind it. */
static int64_t many(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;

	return factory->buffer > 0 ? 10 * factory->buffer : 1000;
}

static bool passes_many(struct weir__verify *verify,
			struct weir_subscriber_probe *behind, bool measured)
{
	int64_t step = many(verify) / 100 + 1, wanted = 0;

	while (wanted < many(verify)) {
		weir_subscriber_probe_request(behind, step);
		wanted += step;
		if (!weir__verify_settle(verify) ||
		    (measured && !not_too_much(verify, behind)) ||
		    !send_up_to(verify, 4 * many(verify)) ||
		    !got(verify, behind, wanted) ||
		    (measured && !not_too_much(verify, behind)))
			return false;
	}
	return in_order(verify, behind);
}

static void replenishes(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!start(verify))
		return;
	behind = join(verify, 0);
	if (!behind || !passes_many(verify, behind, false))
		return;
	weir_subscriber_probe_request(behind, INT64_MAX);
	if (send_end(verify, NULL) &&
	    got(verify, behind, stage_of(verify)->sent))
		got_end(verify, behind, NULL);
}

static void requests_no_more(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;
	struct weir_subscriber_probe *behind;

	if (factory->buffer == 0) {
		weir__verify_skip(verify, "it is not known what it can hold");
		return;
	}
	if (!start(verify))
		return;
	behind = join(verify, 0);
	if (behind && not_too_much(verify, behind) &&
	    send_up_to(verify, 4 * many(verify)) &&
	    not_too_much(verify, behind))
		passes_many(verify, behind, true);
}

/* One subscriber wants much, and another one leaves. */
static void long_ago(struct weir__verify *verify)
{
	struct weir_subscriber_probe *stays, *leaves;
	int64_t n = many(verify);

	if (!takes_two(verify) || !start(verify))
		return;
	stays = join(verify, 0);
	leaves = stays ? join(verify, 0) : NULL;
	if (!leaves)
		return;
	weir_subscriber_probe_request(stays, n);
	weir_subscriber_probe_request(leaves, 1);
	if (!weir__verify_settle(verify) ||
	    !send_up_to(verify, 4 * many(verify)))
		return;
	weir_subscriber_probe_cancel(leaves);
	if (weir__verify_settle(verify) && send_up_to(verify, 4 * many(verify)))
		got(verify, stays, n);
}

/* --- Ends ----------------------------------------------------------------- */

/* Can the error pass, and must it? */
static bool passes_errors(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;

	return !factory->recovers ||
	       weir__verify_skip(verify, "recovers from errors");
}

static void error_at_once(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!passes_errors(verify) || !start(verify))
		return;
	behind = join(verify, 0);
	if (behind && send_end(verify, stage_of(verify)->error))
		got_end(verify, behind, stage_of(verify)->error);
}

static void error_after_items(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!passes_errors(verify) || !start(verify))
		return;
	behind = join(verify, 3);
	if (behind && send_up_to(verify, 3) && got(verify, behind, 3) &&
	    send_end(verify, stage_of(verify)->error))
		got_end(verify, behind, stage_of(verify)->error);
}

static void error_recovered(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;
	struct weir_subscriber_probe *behind;

	if (!factory->recovers) {
		weir__verify_skip(verify, "passes errors on");
		return;
	}
	if (!start(verify))
		return;
	behind = join(verify, 3);
	if (behind && send_up_to(verify, 3) &&
	    send_end(verify, stage_of(verify)->error))
		WEIR__CHECK(verify,
			    weir_subscriber_probe_counts(behind).errors == 0,
			    "recovers, but the error was passed on");
}

static void error_for_all(struct weir__verify *verify)
{
	struct weir_subscriber_probe *one, *other;

	if (!passes_errors(verify) || !takes_two(verify) || !start(verify))
		return;
	one = join(verify, 1);
	other = one ? join(verify, 0) : NULL;
	if (other && send_end(verify, stage_of(verify)->error) &&
	    got_end(verify, one, stage_of(verify)->error))
		got_end(verify, other, stage_of(verify)->error);
}

/* Items it holds come first, and need demand; the end behind them does not. */
static void complete_behind(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;
	int64_t held;

	if (!start(verify))
		return;
	behind = join(verify, 0);
	if (!behind || !send_some(verify, 4))
		return;
	held = stage_of(verify)->sent;
	if (!send_end(verify, NULL))
		return;
	WEIR__CHECK(verify,
		    held == 0 ||
			    weir_subscriber_probe_counts(behind).completions ==
				    0,
		    "on_complete has overtaken items");
	weir_subscriber_probe_request(behind, held);
	if (weir__verify_settle(verify) && got(verify, behind, held) &&
	    in_order(verify, behind))
		got_end(verify, behind, NULL);
}

static void complete_at_once(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!start(verify))
		return;
	behind = join(verify, 0);
	if (behind && send_end(verify, NULL))
		got_end(verify, behind, NULL);
}

/* --- Subscribers ---------------------------------------------------------- */

static bool has_cancelled(struct weir__verify *verify, bool wanted)
{
	bool has = front_of(verify).cancels > 0;

	return has == wanted ||
	       weir__verify_fail(verify, "%s",
				 wanted ? "nobody is left, and it has not "
					  "cancelled"
					: "has cancelled, and somebody is "
					  "left");
}

/* Also with items that it holds: they are dropped, or have leaked. */
static void cancel_passes(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!start(verify))
		return;
	behind = join(verify, 0);
	if (!behind || !send_some(verify, 4) || !has_cancelled(verify, false))
		return;
	weir_subscriber_probe_cancel(behind);
	if (weir__verify_settle(verify))
		has_cancelled(verify, true);
}

static void last_cancel_passes(struct weir__verify *verify)
{
	struct weir_subscriber_probe *one, *other;

	if (!takes_two(verify) || !start(verify))
		return;
	one = join(verify, 1);
	other = one ? join(verify, 1) : NULL;
	if (!other || !send_some(verify, 4))
		return;
	weir_subscriber_probe_cancel(one);
	if (!weir__verify_settle(verify) || !has_cancelled(verify, false))
		return;
	weir_subscriber_probe_cancel(other);
	if (weir__verify_settle(verify))
		has_cancelled(verify, true);
}

/* Served or rejected, and the first one does not suffer from it. */
static void second_subscriber(struct weir__verify *verify)
{
	struct weir_subscriber_probe *first, *second;
	struct weir_subscriber_probe_counts counts;

	if (!start(verify))
		return;
	first = join(verify, 4);
	second = first ? join(verify, 4) : NULL;
	if (!second)
		return;
	counts = weir_subscriber_probe_counts(second);
	WEIR__CHECK(verify, counts.subscriptions == 1,
		    "1.9: a second subscriber got no on_subscribe");
	if (!send_up_to(verify, 4) || !send_end(verify, NULL))
		return;
	weir_subscriber_probe_request(first, INT64_MAX);
	weir_subscriber_probe_request(second, INT64_MAX);
	if (!weir__verify_settle(verify) || !got_end(verify, first, NULL))
		return;
	counts = weir_subscriber_probe_counts(second);
	WEIR__CHECK(verify, counts.errors + counts.completions == 1,
		    "a second subscriber was neither served nor rejected");
	WEIR__CHECK(verify,
		    weir_subscriber_probe_counts(first).items + counts.items >=
			    stage_of(verify)->sent,
		    "items were lost for a second subscriber");
}

/* --- The suite ------------------------------------------------------------ */

static const struct weir__verify_test tests[] = {
	{"spec_1_04_an_error_reaches_all_subscribers", error_for_all},
	{"spec_1_05_complete_needs_no_demand", complete_at_once},
	{"spec_2_01_requests_what_was_requested_long_ago", long_ago},
	{"spec_4_01_requests_again_as_items_leave", replenishes},
	{"spec_4_01_requests_no_more_than_it_can_hold", requests_no_more},
	{"spec_4_01_complete_comes_behind_the_items", complete_behind},
	{"spec_4_01_a_cancel_is_passed_on", cancel_passes},
	{"spec_4_01_the_last_cancel_is_passed_on", last_cancel_passes},
	{"spec_4_01_a_second_subscriber_is_served_or_rejected",
	 second_subscriber},
	{"spec_4_02_an_error_is_passed_on_without_demand", error_at_once},
	{"spec_4_02_an_error_is_passed_on_after_items", error_after_items},
	{"spec_4_02_a_recovered_error_is_not_passed_on", error_recovered},
};

static void end(struct weir__verify *verify)
{
	struct stage *stage = stage_of(verify);

	if (!stage)
		return;
	if (stage->front && !stage->over && front_of(verify).cancels == 0)
		(void)weir_publisher_probe_complete(stage->front);
	weir__verify_settle(verify);
	if (stage->processor.publisher && stage->processor.subscriber)
		stage->factory->release(stage->factory, stage->processor);
	weir_error_unref(stage->error);
	free(stage);
	verify->state = NULL;
}

static size_t live(const struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;

	return factory->live ? factory->live(factory) : 0;
}

int weir_verify_processor(struct weir_processor_factory *factory,
			  struct weir_verify_report *report)
{
	static const struct weir__verify_suite suite = {
		.tests = tests,
		.n_tests = sizeof(tests) / sizeof(*tests),
		.end = end,
		.live = live,
	};
	struct weir__sides sides;
	int failed;

	if (!factory || !report || !factory->create || !factory->release ||
	    !factory->item || !factory->is_item)
		return -EINVAL;
	weir__sides_init(&sides, factory);
	failed = weir__verify_run(&suite, factory, &factory->env, report);
	failed += weir_verify_subscriber(&sides.subscribers, report);
	failed += weir_verify_publisher(&sides.publishers, report);
	weir__sides_fini(&sides);
	return failed;
}
