/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tools for tests of publishers, subscribers and processors, ours and yours.
 * They are a library of their own, weir-testkit, and not part of weir.h:
 *
 * - an environment lets pending work happen until none is left, so that
 *   "nothing came" is certain and no test sleeps;
 * - probes are a subscriber and a publisher that the test controls; they check
 *   that the other side keeps the rules, and can break the rules on purpose;
 * - verification runs a test for each rule of Reactive Streams 1.0.4 on the
 *   objects that a factory of yours makes.
 *
 * Nothing here aborts or prints: expectations return false, and have the reason
 * in words. So the tools work with any test framework.
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
 * Fill it in yourself for an executor of your own, or use one of those below.
 * All zero is right if everything happens inside the calls of the test. Used on
 * the thread that runs the test.
 */
struct weir_test_env {
	/*
	 * Returns when nothing can happen any more unless the test does
	 * something or time passes. 0; -ETIMEDOUT: it does not come to rest.
	 * NULL: everything is always at rest.
	 */
	int (*settle)(void *context);
	/* Lets `ns` pass, and settles. NULL: the test cannot control time. */
	int (*advance)(uint64_t ns, void *context);
	void *context; /* passed to both */
	/* Objects under test may be called on the test's thread only, such as
	 * those of a simulator: tests with threads are skipped. */
	bool one_thread;
};

/* `sim` lives as long as the environment. Time is virtual. */
WEIR_API struct weir_test_env weir_test_env_sim(struct weir_sim *sim);

/* Runs the loop, on the calling thread. Timers that are not due are left. */
WEIR_API struct weir_test_env weir_test_env_loop(struct weir_loop *loop);

/*
 * Waits until no worker has anything to do. Timers, watches, and tasks that
 * other threads are about to submit do not count.
 */
WEIR_API struct weir_test_env weir_test_env_threads(
	struct weir_threads *threads);

/* Calls `settle`. 0, or what it reports. */
WEIR_API int weir_test_settle(const struct weir_test_env *env);

/* Calls `advance`. 0, or what it reports. -ENOTSUP: it has none. */
WEIR_API int weir_test_advance(const struct weir_test_env *env, uint64_t ns);

/* --- Subscriber probe ----------------------------------------------------- */

/*
 * A subscriber that keeps the rules, records its signals, and checks that its
 * publisher keeps the rules too. The calls below are for the test's thread;
 * request, cancel, and the queries that say so are for any thread. Signals may
 * come from any thread.
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

/* How a probe behaves on its own; all 0: it does nothing, and takes all
 * items. */
struct weir_subscriber_probe_options {
	int64_t request_first; /* requested inside on_subscribe */
	int64_t request_each;  /* requested inside each on_next */
	/* Number of the item, from 1, inside whose on_next the probe cancels;
	 * -1: it cancels inside on_subscribe. */
	int64_t cancel_at;
	/* Number of the item, from 1, from whose on_next the probe returns
	 * -EIO, without taking the item; -1: from on_subscribe. */
	int64_t fail_at;
	/*
	 * After that many items the probe cancels and takes no more, so that a
	 * publisher that ignores the demand does not run for ever; default
	 * 1000000.
	 */
	int64_t limit;
	bool batches; /* has on_next_n */
	bool drops;   /* drops items as they come, instead of with itself */
	/*
	 * Called inside each signal, after the signal was recorded, holding no
	 * lock: so it may make all calls that a subscriber may make inside the
	 * signal.
	 */
	void (*signalled)(struct weir_subscriber_probe *probe,
			  enum weir_signal signal, void *context);
	void *context;	      /* passed to it */
	uint64_t reserved[4]; /* zero */
};

/*
 * A new probe in *probe. `env` is borrowed until the probe is freed; NULL
 * counts as all zero. `options` is copied and may be NULL. -EINVAL: null, or
 * something in `reserved`. -ENOMEM. Then *probe is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_subscriber_probe_new(
	struct weir_subscriber_probe **probe, const struct weir_test_env *env,
	const struct weir_subscriber_probe_options *options);

/*
 * Cancels, settles, drops the items, and frees the probe. NULL is fine. -EBUSY:
 * a publisher still holds the probe, and it is not freed.
 */
WEIR_API WEIR_MUST_CHECK int weir_subscriber_probe_free(
	struct weir_subscriber_probe *probe);

/* To be handed to weir_publisher_subscribe(). */
WEIR_API struct weir_subscriber *weir_subscriber_probe_base(
	struct weir_subscriber_probe *probe);

/*
 * As weir_subscription_request() and _cancel(); do nothing before on_subscribe.
 * `n` may break the rules. Any thread.
 */
WEIR_API void weir_subscriber_probe_request(struct weir_subscriber_probe *probe,
					    int64_t n);
WEIR_API void weir_subscriber_probe_cancel(struct weir_subscriber_probe *probe);

/*
 * An expectation settles, and then looks at the first signals that no
 * expectation has met yet. True: they are as expected, and are met now. False:
 * they are not, or the publisher has broken a rule before; failure() says
 * which.
 */
WEIR_API bool weir_subscriber_probe_expect_subscription(
	struct weir_subscriber_probe *probe);
WEIR_API bool weir_subscriber_probe_expect_next(
	struct weir_subscriber_probe *probe, const void *item);
/* Expects these `n` items, in this order, or in any order. */
WEIR_API bool weir_subscriber_probe_expect_items(
	struct weir_subscriber_probe *probe, void *const *items, size_t n);
WEIR_API bool weir_subscriber_probe_expect_in_any_order(
	struct weir_subscriber_probe *probe, void *const *items, size_t n);
/* Expects any `n` items; more may follow. */
WEIR_API bool weir_subscriber_probe_expect_next_n(
	struct weir_subscriber_probe *probe, int64_t n);
/* Expects an error of that code; 0: of any code. */
WEIR_API bool weir_subscriber_probe_expect_error(
	struct weir_subscriber_probe *probe, int code);
WEIR_API bool weir_subscriber_probe_expect_complete(
	struct weir_subscriber_probe *probe);
/* Expects nothing: every signal so far has been met. */
WEIR_API bool weir_subscriber_probe_expect_nothing(
	struct weir_subscriber_probe *probe);
/* No publisher holds the probe any more. */
WEIR_API bool weir_subscriber_probe_expect_released(
	struct weir_subscriber_probe *probe);

/* Counts of everything received so far, met or not; a snapshot. Any thread. */
struct weir_subscriber_probe_counts {
	int64_t requested; /* in sum, up to INT64_MAX */
	int64_t items;	   /* received by on_next and taken */
	int64_t refused;   /* received and not taken: by fail_at, or beyond
			    * the limit */
	uint32_t subscriptions, errors, completions;
	uint32_t released;    /* times that no publisher held it any more */
	int64_t after_cancel; /* signals that came when cancel had returned */
	int64_t after_fail;   /* signals that came when one had failed */
	size_t stack; /* bytes, from its deepest to its highest signal */
};

WEIR_API struct weir_subscriber_probe_counts weir_subscriber_probe_counts(
	struct weir_subscriber_probe *probe);

/* Item `i`, from 0, or NULL; borrowed; with `drops` only its address is
 * valid. */
WEIR_API void *weir_subscriber_probe_item(struct weir_subscriber_probe *probe,
					  int64_t i);

/* The error that the probe got, or NULL; borrowed until the probe is freed. */
WEIR_API struct weir_error *weir_subscriber_probe_error(
	struct weir_subscriber_probe *probe);

/* The subscription, or NULL; borrowed until the probe is freed. Any thread. */
WEIR_API struct weir_subscription *weir_subscriber_probe_subscription(
	struct weir_subscriber_probe *probe);

/*
 * The first rule that was broken, in words; if none was, what the last
 * expectation wanted and did not find; NULL: neither. Borrowed until the next
 * call.
 */
WEIR_API const char *weir_subscriber_probe_failure(
	struct weir_subscriber_probe *probe);

/* --- Publisher probe ------------------------------------------------------ */

/*
 * A publisher of the items that the test sends; it records the requests of its
 * subscriber. It takes one subscriber, and rejects others with -EISCONN. The
 * calling thread sends the signals, before the call returns.
 */
struct weir_publisher_probe;

/*
 * A new probe in *probe. `env` and `items` are borrowed until the probe is
 * freed. An `env` of NULL counts as all zero. `items` says what the items are;
 * NULL: plain values. -EINVAL: null. -ENOMEM. Then *probe is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_publisher_probe_new(
	struct weir_publisher_probe **probe, const struct weir_test_env *env,
	const struct weir_items *items);

/*
 * Releases the subscriber and frees the probe. NULL is fine. -EBUSY: the
 * subscriber still holds the subscription; the probe is not freed, and can be
 * freed when the subscription has been given back.
 */
WEIR_API WEIR_MUST_CHECK int weir_publisher_probe_free(
	struct weir_publisher_probe *probe);

/* To be handed to weir_publisher_subscribe(). */
WEIR_API struct weir_publisher *weir_publisher_probe_base(
	struct weir_publisher_probe *probe);

/*
 * Sends one item. 0: the item is the subscriber's. -ENOTCONN: there is no
 * subscriber, or the stream has ended. -ECANCELED: the subscriber has
 * cancelled. -EAGAIN: there is no demand. -EINVAL: null. Else the result of the
 * subscriber, which counts as a cancel. One thread at a time.
 */
WEIR_API int weir_publisher_probe_send(struct weir_publisher_probe *probe,
				       void *item);

/* Sends several items at once, by on_next_n if the subscriber has that; the
 * subscriber has taken the first *taken. */
WEIR_API int weir_publisher_probe_send_n(struct weir_publisher_probe *probe,
					 void *const *items, size_t n,
					 size_t *taken);

/* The last signal. Results as of send. `error` is borrowed. */
WEIR_API int weir_publisher_probe_complete(struct weir_publisher_probe *probe);
WEIR_API int weir_publisher_probe_error(struct weir_publisher_probe *probe,
					struct weir_error *error);

/*
 * Lets the probe break the rules from here on: send, send_n, complete and error
 * ignore the demand, and send also after cancel, after the last signal, null
 * arguments, and from several threads at once. The probe then releases its
 * subscriber in weir_publisher_probe_free() only, so that the subscriber's
 * memory stays.
 */
WEIR_API void weir_publisher_probe_misbehave(
	struct weir_publisher_probe *probe);

/*
 * hold(): the next subscriber does not get on_subscribe inside subscribe.
 * on_subscribe() sends it, at each call, each time with another subscription
 * (2.5, 2.12). Both misbehave. -ENOTCONN; -ENOMEM; else what the subscriber
 * returned.
 */
WEIR_API void weir_publisher_probe_hold(struct weir_publisher_probe *probe);
WEIR_API int weir_publisher_probe_on_subscribe(
	struct weir_publisher_probe *probe);

/*
 * An expectation settles first. True: it is met. False: it is not; failure()
 * says why.
 */
WEIR_API bool weir_publisher_probe_expect_subscriber(
	struct weir_publisher_probe *probe);
/* Expects that `n` items in sum were requested since the last such expectation,
 * in any number of requests; 0: none was. */
WEIR_API bool weir_publisher_probe_expect_request(
	struct weir_publisher_probe *probe, int64_t n);
/* The same for `n` items or more; *got is their number, if `got` is not
 * NULL. */
WEIR_API bool weir_publisher_probe_expect_request_min(
	struct weir_publisher_probe *probe, int64_t n, int64_t *got);
WEIR_API bool weir_publisher_probe_expect_cancel(
	struct weir_publisher_probe *probe);
WEIR_API bool weir_publisher_probe_expect_no_cancel(
	struct weir_publisher_probe *probe);

/* Counts of all calls so far; a snapshot. Any thread. */
struct weir_publisher_probe_counts {
	uint32_t subscribers; /* calls of subscribe that were not rejected */
	int64_t requested;    /* in sum, up to INT64_MAX; without n <= 0 */
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

/* Which tests to run, and their results. All zero is a good start. */
struct weir_verify_report {
	/* Runs only the test of that name; NULL: all tests. Set by the
	 * caller. */
	const char *only;
	/*
	 * Called after each test, on the calling thread. `test` begins with its
	 * rule: "spec_1_01_..."; `why` is NULL if the test passed. May be NULL.
	 * Set by the caller.
	 */
	void (*result)(struct weir_verify_report *report, const char *test,
		       enum weir_verdict verdict, const char *why);
	/* Counts of tests. */
	uint32_t passed, failed, skipped;
};

/*
 * Makes the publishers to be verified, for one test at a time, on the thread
 * that runs the tests. Embed it; functions that may be NULL say so. The tests
 * leave it unchanged.
 */
struct weir_publisher_factory {
	/*
	 * Makes a publisher of `n` items, number 0 to n - 1, then on_complete.
	 * The first subscriber gets the first item, also if it comes late. If
	 * it returns NULL, no publisher could be made, and the test fails.
	 */
	struct weir_publisher *(*create)(struct weir_publisher_factory *factory,
					 int64_t n);
	/* Makes a publisher that rejects every subscriber with on_error. May be
	 * NULL. */
	struct weir_publisher *(*create_rejecting)(
		struct weir_publisher_factory *factory);
	/* Makes a publisher that fails, with on_error, after `n` items. May be
	 * NULL. */
	struct weir_publisher *(*create_failing)(
		struct weir_publisher_factory *factory, int64_t n);
	/*
	 * The test is done with the publisher, and all its subscribers have
	 * ended or cancelled. Settled before and after.
	 */
	void (*release)(struct weir_publisher_factory *factory,
			struct weir_publisher *publisher);
	/* Whether `item` is number `i`. */
	bool (*is_item)(struct weir_publisher_factory *factory,
			const void *item, int64_t i);
	/*
	 * The number of objects that could leak and exist now: publishers,
	 * subscriptions, items. It must be the same before and after each test.
	 * May be NULL.
	 */
	size_t (*live)(struct weir_publisher_factory *factory);
	struct weir_test_env env;
	int64_t max_items;	/* that create can make; 0: no limit */
	size_t max_subscribers; /* at a time, of one publisher; 0: no limit */
	/*
	 * All subscribers that have subscribed before the first request get the
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
	 * Makes a subscriber, with demand of its own, or without demand until
	 * `request`. If it returns NULL, none could be made, and the test
	 * fails.
	 */
	struct weir_subscriber *(*create)(
		struct weir_subscriber_factory *factory);
	/* The test is done with the subscriber: its stream has ended, or it has
	 * cancelled. */
	void (*release)(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber);
	/*
	 * Makes the subscriber request `n` items or more; nothing when its
	 * stream is over. NULL: the subscriber requests on its own.
	 */
	void (*request)(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber, int64_t n);
	/* Makes the subscriber cancel, if its stream is not over. May be
	 * NULL. */
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
	 * Whether the subscriber has processed the end of its stream; if so,
	 * *error is the error, borrowed, or NULL.
	 */
	bool (*ended)(struct weir_subscriber_factory *factory,
		      struct weir_subscriber *subscriber,
		      struct weir_error **error);
	/* Whether `released` of the subscriber was called, and no function of
	 * it since. May be NULL. */
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
 * tests of 2.13 pass null: a subscriber that does not check for it crashes.
 */
WEIR_API int weir_verify_subscriber(struct weir_subscriber_factory *factory,
				    struct weir_verify_report *report);

/* As struct weir_publisher_factory. */
struct weir_processor_factory {
	/*
	 * Makes a processor that passes every item on. If both sides are NULL,
	 * none could be made, and the test fails.
	 */
	struct weir_processor (*create)(struct weir_processor_factory *factory);
	/* The test is done with the processor: both sides have ended or are
	 * cancelled. */
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
	int64_t max_items;	/* of a stream it is a publisher of; 0: any */
	size_t max_subscribers; /* at a time; 0: no limit */
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
