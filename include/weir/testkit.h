/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of publishers, subscribers and processors, ours and yours; a
 * library of its own, weir-testkit, and not part of weir.h:
 *
 * - an environment: how a test lets pending work happen until none is left, so
 *   that "nothing came" is certain and no test sleeps;
 * - probes: a subscriber and a publisher in the hand of the test, which check
 *   that the other side keeps the rules, and can break them on purpose;
 * - verification: a test for each rule of Reactive Streams 1.0.4, run against
 *   what a factory of yours makes.
 *
 * Nothing here aborts or prints: expectations return false, and say why when
 * asked; so it goes with any test framework.
 */
#ifndef WEIR_TESTKIT_H
#define WEIR_TESTKIT_H

#include <stdbool.h>

#include <weir/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_loop;
struct weir_sim;
struct weir_threads;

/* --- Environment ---------------------------------------------------------- */

/*
 * Fill it in yourself for an executor of your own, or use one of those below;
 * all zero is right for what happens inside the calls alone. Used on the thread
 * that runs the test.
 */
struct weir_test_env {
	/*
	 * Returns when nothing can happen any more unless the test does
	 * something or time passes. 0; -ETIMEDOUT: it does not come to rest.
	 * NULL: that is always so.
	 */
	int (*settle)(void *context);
	/* Lets `ns` pass, and settles. NULL: the test has no hold on time. */
	int (*advance)(uint64_t ns, void *context);
	void *context; /* passed to both */
	/* What is tested may be called on the test's thread alone, as all that
	 * belongs to a simulator: tests with threads are skipped. */
	bool one_thread;
};

/* `sim` lives as long as the environment. Time is virtual. */
WEIR_API struct weir_test_env weir_test_env_sim(struct weir_sim *sim);

/* Runs the loop, on the calling thread. Timers that are not due are left. */
WEIR_API struct weir_test_env weir_test_env_loop(struct weir_loop *loop);

/*
 * Waits until no worker has anything to do. Timers and watches do not count,
 * nor does what other threads are about to submit.
 */
WEIR_API struct weir_test_env weir_test_env_threads(
	struct weir_threads *threads);

/* Calls `settle`. 0, or what it reports. */
WEIR_API int weir_test_settle(const struct weir_test_env *env);

/* Calls `advance`. 0, or what it reports. -ENOTSUP: it has none. */
WEIR_API int weir_test_advance(const struct weir_test_env *env, uint64_t ns);

/* --- Subscriber probe ----------------------------------------------------- */

/*
 * A subscriber that keeps the rules, records what it gets, and checks that its
 * publisher keeps the rules too. The calls below are for the test's thread;
 * request, cancel, and the queries that say so, for any. Signals may come from
 * any thread.
 */
struct weir_subscriber_probe;

/* WEIR_SIGNAL_RELEASED: no publisher holds the probe any more. */
enum weir_signal {
	WEIR_SIGNAL_ON_SUBSCRIBE,
	WEIR_SIGNAL_ON_NEXT,
	WEIR_SIGNAL_ON_ERROR,
	WEIR_SIGNAL_ON_COMPLETE,
	WEIR_SIGNAL_RELEASED,
};

/* How a probe behaves on its own; 0 of each: it does nothing, and takes all. */
struct weir_subscriber_probe_options {
	int64_t request_first; /* requested inside on_subscribe */
	int64_t request_each;  /* requested inside each on_next */
	/* Cancels inside the on_next of that item, counted from 1; -1: inside
	 * on_subscribe. */
	int64_t cancel_at;
	/* Returns -EIO from the on_next of that item, counted from 1, and does
	 * not take it; -1: from on_subscribe. */
	int64_t fail_at;
	/*
	 * After that many items it cancels and takes no more, so that nobody
	 * who overruns the demand runs for ever; 1000000 by default.
	 */
	int64_t limit;
	bool batches; /* has on_next_n */
	bool drops;   /* drops items as they come, instead of with itself */
	/*
	 * Inside each signal, after it was recorded, holding no lock, so it may
	 * call all that the subscriber of this signal may call.
	 */
	void (*signalled)(struct weir_subscriber_probe *probe,
			  enum weir_signal signal, void *context);
	void *context; /* passed to it */
};

/*
 * A new probe, or NULL: no memory. `env` is borrowed until it is freed and may
 * be NULL, as all zero; `options` is copied and may be NULL.
 */
WEIR_API WEIR_MUST_CHECK struct weir_subscriber_probe *
weir_subscriber_probe_new(const struct weir_test_env *env,
			  const struct weir_subscriber_probe_options *options);

/*
 * Cancels, settles, drops the items, and frees the probe. NULL is fine. -EBUSY:
 * a publisher still holds it. Then it is still there.
 */
WEIR_API WEIR_MUST_CHECK int weir_subscriber_probe_free(
	struct weir_subscriber_probe *probe);

/* To be handed to weir_publisher_subscribe(). */
WEIR_API struct weir_subscriber *weir_subscriber_probe_base(
	struct weir_subscriber_probe *probe);

/*
 * As weir_subscription_request() and _cancel(); nothing before on_subscribe.
 * Any `n`, also one that breaks the rules. Any thread.
 */
WEIR_API void weir_subscriber_probe_request(struct weir_subscriber_probe *probe,
					    int64_t n);
WEIR_API void weir_subscriber_probe_cancel(struct weir_subscriber_probe *probe);

/*
 * Expectations settle, and then look at the first signals that no expectation
 * has met yet. True: they are as expected, and have been met now. False: they
 * are not, or the publisher has broken a rule so far; failure() says what.
 */
WEIR_API bool weir_subscriber_probe_expect_subscription(
	struct weir_subscriber_probe *probe);
WEIR_API bool weir_subscriber_probe_expect_next(
	struct weir_subscriber_probe *probe, const void *item);
/* These `n` items, in this order, or in any. */
WEIR_API bool weir_subscriber_probe_expect_items(
	struct weir_subscriber_probe *probe, void *const *items, size_t n);
WEIR_API bool weir_subscriber_probe_expect_in_any_order(
	struct weir_subscriber_probe *probe, void *const *items, size_t n);
/* Any `n` items; there may be more. */
WEIR_API bool weir_subscriber_probe_expect_next_n(
	struct weir_subscriber_probe *probe, int64_t n);
/* An error of that code; 0: of any. */
WEIR_API bool weir_subscriber_probe_expect_error(
	struct weir_subscriber_probe *probe, int code);
WEIR_API bool weir_subscriber_probe_expect_complete(
	struct weir_subscriber_probe *probe);
/* Every signal so far has been met. */
WEIR_API bool weir_subscriber_probe_expect_nothing(
	struct weir_subscriber_probe *probe);
/* No publisher holds the probe any more. */
WEIR_API bool weir_subscriber_probe_expect_released(
	struct weir_subscriber_probe *probe);

/* What all was received so far, met or not; a snapshot. Any thread. */
struct weir_subscriber_probe_counts {
	int64_t requested; /* in sum, up to INT64_MAX */
	int64_t items;	   /* received by on_next and taken */
	int64_t refused;   /* and not taken: by fail_at, or beyond the limit */
	uint32_t subscriptions, errors, completions;
	uint32_t released;    /* times that nobody held it any more */
	int64_t after_cancel; /* signals that came when cancel had returned */
	int64_t after_fail;   /* signals that came when one had failed */
	size_t stack; /* bytes, from its deepest to its highest signal */
};

WEIR_API struct weir_subscriber_probe_counts weir_subscriber_probe_counts(
	struct weir_subscriber_probe *probe);

/* Item `i` from 0 on, or NULL; borrowed, and with `drops` a mere address. */
WEIR_API void *weir_subscriber_probe_item(struct weir_subscriber_probe *probe,
					  int64_t i);

/* The error it got, or NULL; borrowed until the probe is freed. */
WEIR_API struct weir_error *weir_subscriber_probe_error(
	struct weir_subscriber_probe *probe);

/* The subscription, or NULL; borrowed until the probe is freed. Any thread. */
WEIR_API struct weir_subscription *weir_subscriber_probe_subscription(
	struct weir_subscriber_probe *probe);

/*
 * The first rule that was broken, or else what the last expectation wanted and
 * did not find, in words; NULL: neither. Borrowed until the next call.
 */
WEIR_API const char *weir_subscriber_probe_failure(
	struct weir_subscriber_probe *probe);

/* --- Publisher probe ------------------------------------------------------ */

/*
 * A publisher of what the test sends, which records what its subscriber
 * requests. It takes one subscriber; a further one is rejected with -EISCONN.
 * Signals are sent by the calling thread, before the call returns.
 */
struct weir_publisher_probe;

/*
 * A new probe, or NULL: no memory. `env` is borrowed until it is freed and may
 * be NULL, as all zero; so is `items`: what it sends, NULL: plain values.
 */
WEIR_API WEIR_MUST_CHECK struct weir_publisher_probe *weir_publisher_probe_new(
	const struct weir_test_env *env, const struct weir_items *items);

/*
 * Lets go of the subscriber and frees the probe. NULL is fine. -EBUSY: the
 * subscriber still holds the subscription. Then the probe is still there, and
 * can be freed when that has been given back.
 */
WEIR_API WEIR_MUST_CHECK int weir_publisher_probe_free(
	struct weir_publisher_probe *probe);

/* To be handed to weir_publisher_subscribe(). */
WEIR_API struct weir_publisher *weir_publisher_probe_base(
	struct weir_publisher_probe *probe);

/*
 * Sends one item; on 0 it is the subscriber's. -ENOTCONN: there is no
 * subscriber, or the stream has ended. -ECANCELED: it has cancelled. -EAGAIN:
 * there is no demand. -EINVAL: null. Else what the subscriber returned, which
 * counts as a cancel. One thread at a time.
 */
WEIR_API int weir_publisher_probe_send(struct weir_publisher_probe *probe,
				       void *item);

/* The same for several at once, by on_next_n if it has that; *taken of them. */
WEIR_API int weir_publisher_probe_send_n(struct weir_publisher_probe *probe,
					 void *const *items, size_t n,
					 size_t *taken);

/* The last signal. Results as of send. `error` is borrowed. */
WEIR_API int weir_publisher_probe_complete(struct weir_publisher_probe *probe);
WEIR_API int weir_publisher_probe_error(struct weir_publisher_probe *probe,
					struct weir_error *error);

/*
 * From here on it breaks the rules when told to: send, send_n, complete and
 * error send whatever the demand, after cancel, after the last signal, and null
 * arguments; from several threads at once. A subscriber is then given
 * up by weir_publisher_probe_free() alone, so that its memory stays.
 */
WEIR_API void weir_publisher_probe_misbehave(
	struct weir_publisher_probe *probe);

/*
 * Misbehaves: the next subscriber does not get on_subscribe inside subscribe,
 * but here, as often as this is called, each time with another subscription
 * (2.5, 2.12). -ENOTCONN; -ENOMEM; else what the subscriber returned.
 */
WEIR_API void weir_publisher_probe_hold(struct weir_publisher_probe *probe);
WEIR_API int weir_publisher_probe_on_subscribe(
	struct weir_publisher_probe *probe);

/*
 * Expectations settle first. True: it is so. False: it is not; failure() says
 * why.
 */
WEIR_API bool weir_publisher_probe_expect_subscriber(
	struct weir_publisher_probe *probe);
/* Since the last such expectation `n` were requested in sum, in any number of
 * requests; 0: none was. */
WEIR_API bool weir_publisher_probe_expect_request(
	struct weir_publisher_probe *probe, int64_t n);
/* The same, `n` or more; *got of them if it is not NULL. */
WEIR_API bool weir_publisher_probe_expect_request_min(
	struct weir_publisher_probe *probe, int64_t n, int64_t *got);
WEIR_API bool weir_publisher_probe_expect_cancel(
	struct weir_publisher_probe *probe);
WEIR_API bool weir_publisher_probe_expect_no_cancel(
	struct weir_publisher_probe *probe);

/* What was called so far; a snapshot. Any thread. */
struct weir_publisher_probe_counts {
	uint32_t subscribers; /* calls of subscribe that were not rejected */
	int64_t requested;    /* in sum, up to INT64_MAX; n <= 0 is not */
	int64_t sent;	      /* items taken by the subscriber */
	uint32_t requests;    /* calls of request */
	uint32_t bad;	      /* and those with n <= 0 (3.9) */
	uint32_t cancels;     /* calls of cancel, first subscription */
	uint32_t extra_requests,
		extra_cancels; /* further subscriptions (2.5) */
	uint32_t in_end;     /* either, inside or after the last signal (2.3) */
	uint32_t overlaps;   /* either, while another was being made (2.7) */
	uint32_t references; /* subscriptions that the subscriber holds */
};

WEIR_API struct weir_publisher_probe_counts weir_publisher_probe_counts(
	struct weir_publisher_probe *probe);

/* As of the subscriber probe. */
WEIR_API const char *weir_publisher_probe_failure(
	struct weir_publisher_probe *probe);

/* --- Verification --------------------------------------------------------- */

enum weir_verdict {
	WEIR_VERDICT_PASSED,
	WEIR_VERDICT_FAILED,
	WEIR_VERDICT_SKIPPED, /* the factory cannot make what the test needs */
};

/* What to run and how it went. All zero is a good start. */
struct weir_verify_report {
	/* Runs the test of that name alone; NULL: all. Set by the caller. */
	const char *only;
	/*
	 * After each test, on the calling thread. `test` begins with its rule:
	 * "spec_1_01_..."; `why` is NULL if it passed. May be NULL. Set by the
	 * caller.
	 */
	void (*result)(struct weir_verify_report *report, const char *test,
		       enum weir_verdict verdict, const char *why);
	/* Counts of tests. */
	uint32_t passed, failed, skipped;
};

/*
 * Makes what is to be verified, for one test at a time, on the thread that
 * runs the tests. Embed it; what may be NULL says so. The tests leave it
 * unchanged.
 */
struct weir_publisher_factory {
	/*
	 * A publisher of `n` items, number 0 to n - 1, then on_complete; the
	 * first subscriber gets the first item, also if it comes late. NULL:
	 * none could be made, and the test fails.
	 */
	struct weir_publisher *(*create)(struct weir_publisher_factory *factory,
					 int64_t n);
	/* One that rejects every subscriber with on_error. May be NULL. */
	struct weir_publisher *(*create_rejecting)(
		struct weir_publisher_factory *factory);
	/* One that fails, with on_error, after `n` items. May be NULL. */
	struct weir_publisher *(*create_failing)(
		struct weir_publisher_factory *factory, int64_t n);
	/*
	 * The test is done with it, and all its subscribers have ended or
	 * cancelled. Settled before and after.
	 */
	void (*release)(struct weir_publisher_factory *factory,
			struct weir_publisher *publisher);
	/* Whether `item` is number `i`. */
	bool (*is_item)(struct weir_publisher_factory *factory,
			const void *item, int64_t i);
	/*
	 * Whatever can leak: publishers, subscriptions, items, that are there
	 * now. The same before and after each test. May be NULL.
	 */
	size_t (*live)(struct weir_publisher_factory *factory);
	struct weir_test_env env;
	int64_t max_items;	  /* that create can make; 0: no limit */
	uint32_t max_subscribers; /* at a time, of one publisher; 0: no limit */
	/*
	 * Subscribers that have subscribed before the first request get the
	 * same items.
	 */
	bool multicast;
};

/*
 * Runs the tests of section 1, and of those of section 3 that concern
 * publishers. A test stops at the first thing that is wrong. Returns how many
 * failed. -EINVAL: null, or something is missing in the factory.
 */
WEIR_API int weir_verify_publisher(struct weir_publisher_factory *factory,
				   struct weir_verify_report *report);

/* As struct weir_publisher_factory. */
struct weir_subscriber_factory {
	/*
	 * A subscriber, with demand of its own, or with none until `request`.
	 * NULL: none could be made, and the test fails.
	 */
	struct weir_subscriber *(*create)(
		struct weir_subscriber_factory *factory);
	/* The test is done with it; its stream has ended or it has cancelled.
	 */
	void (*release)(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber);
	/*
	 * Makes it request `n` or more, and nothing once its stream is over;
	 * NULL: it does so on its own.
	 */
	void (*request)(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber, int64_t n);
	/* Makes it cancel, if its stream is not over. May be NULL. */
	void (*cancel)(struct weir_subscriber_factory *factory,
		       struct weir_subscriber *subscriber);
	/* A new item number `i`, to be sent to it, of what `items` says. */
	void *(*item)(struct weir_subscriber_factory *factory, int64_t i);
	/* How many items it has processed. */
	int64_t (*received)(struct weir_subscriber_factory *factory,
			    struct weir_subscriber *subscriber);
	/* Whether the one processed as number `at` was item number `i`. */
	bool (*is_item)(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber, int64_t at,
			int64_t i);
	/*
	 * Whether it has processed the end of its stream, and then the error in
	 * *error, borrowed, or NULL.
	 */
	bool (*ended)(struct weir_subscriber_factory *factory,
		      struct weir_subscriber *subscriber,
		      struct weir_error **error);
	/* Whether its `released` has been called, and nothing since. May be
	 * NULL. */
	bool (*released)(struct weir_subscriber_factory *factory,
			 struct weir_subscriber *subscriber);
	/* As that of publishers. */
	size_t (*live)(struct weir_subscriber_factory *factory);
	const struct weir_items *items; /* NULL: plain values */
	struct weir_test_env env;
	bool recovers; /* `ended` need not tell an error as such (4.2) */
};

/*
 * Runs the tests of sections 2 and 3; otherwise as weir_verify_publisher(). The
 * tests of 2.13 pass null: a subscriber that does not look dies of it.
 */
WEIR_API int weir_verify_subscriber(struct weir_subscriber_factory *factory,
				    struct weir_verify_report *report);

/* As struct weir_publisher_factory. */
struct weir_processor_factory {
	/*
	 * A processor that passes every item on. Both NULL: none could be made,
	 * and the test fails.
	 */
	struct weir_processor (*create)(struct weir_processor_factory *factory);
	/* The test is done with it: both sides have ended or are cancelled. */
	void (*release)(struct weir_processor_factory *factory,
			struct weir_processor processor);
	/* A new item number `i`, to be sent to it, of what `items` says. */
	void *(*item)(struct weir_processor_factory *factory, int64_t i);
	/* Whether `item` is number `i`. */
	bool (*is_item)(struct weir_processor_factory *factory,
			const void *item, int64_t i);
	/* As that of publishers. */
	size_t (*live)(struct weir_processor_factory *factory);
	const struct weir_items *items; /* NULL: plain values */
	struct weir_test_env env;
	int64_t max_items;	  /* of a stream it is a publisher of; 0: any */
	uint32_t max_subscribers; /* at a time; 0: no limit */
	/* Most items it may hold between its two sides; 0: not known. */
	int64_t buffer;
	bool multicast; /* As that of publishers. */
	bool recovers;	/* its subscribers do not get upstream's error (4.2) */
};

/*
 * Runs the tests of section 4, and the suites of publishers and of subscribers
 * on its two sides; otherwise as weir_verify_publisher().
 */
WEIR_API int weir_verify_processor(struct weir_processor_factory *factory,
				   struct weir_verify_report *report);

#ifdef __cplusplus
}
#endif

#endif
