/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The expectations of a subscriber probe. All functions but the counts and the
 * subscription are for the test's thread.
 */
#include "testkit/subscriber_probe.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ck_pr.h>

/* Under the lock. False. */
static bool __attribute__((format(printf, 2, 3)))
miss(struct weir_subscriber_probe *probe, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(probe->wanted, sizeof(probe->wanted), format,
			arguments);
	va_end(arguments);
	return false;
}

/* Begins an expectation: takes the lock. False: nothing more to be said. */
static bool begin(struct weir_subscriber_probe *probe)
{
	int rc = weir_test_settle(probe->env);

	pthread_mutex_lock(&probe->lock);
	probe->wanted[0] = '\0';
	if (rc < 0)
		return miss(probe, "it does not come to rest (%d)", rc);
	return !probe->broken[0];
}

static bool done(struct weir_subscriber_probe *probe, bool met)
{
	pthread_mutex_unlock(&probe->lock);
	return met;
}

/* The first signal that was not met, in words. */
static void next_signal(const struct weir_subscriber_probe *probe, char *text,
			size_t size)
{
	if (probe->items_met < probe->counts.items)
		(void)snprintf(text, size, "item %p",
			       probe->items[probe->items_met]);
	else if (probe->ended && !probe->end_met && probe->error)
		(void)snprintf(text, size, "on_error(%d)", probe->error->code);
	else if (probe->ended && !probe->end_met)
		(void)snprintf(text, size, "on_complete");
	else
		(void)snprintf(text, size, "nothing");
}

/* An expectation is not met: another signal has come, or none. */
static bool miss_signal(struct weir_subscriber_probe *probe, const char *wanted)
{
	char found[64];

	next_signal(probe, found, sizeof(found));
	return miss(probe, "expected %s, got %s", wanted, found);
}

/* Meets the next `n` items. An expectation of a later signal also meets
 * on_subscribe. */
static bool expect_take(struct weir_subscriber_probe *probe, int64_t n)
{
	assert(probe->items_met <= probe->counts.items);
	probe->subscription_met = true;
	if (probe->counts.items - probe->items_met < n)
		return miss(
			probe, "expected %lld items, got %lld", (long long)n,
			(long long)(probe->counts.items - probe->items_met));
	probe->items_met += n;
	return true;
}

static bool take_end(struct weir_subscriber_probe *probe, const char *wanted,
		     bool came)
{
	probe->subscription_met = true;
	if (!came || probe->end_met || probe->items_met < probe->counts.items)
		return miss_signal(probe, wanted);
	probe->end_met = true;
	return true;
}

bool weir_subscriber_probe_expect_subscription(
	struct weir_subscriber_probe *probe)
{
	bool met = begin(probe);

	if (met && (!probe->subscription || probe->subscription_met))
		met = miss_signal(probe, "on_subscribe");
	if (met)
		probe->subscription_met = true;
	return done(probe, met);
}

bool weir_subscriber_probe_expect_items(struct weir_subscriber_probe *probe,
					void *const *items, size_t n)
{
	int64_t first = probe->items_met;
	bool met = begin(probe) && expect_take(probe, (int64_t)n);
	size_t i;

	for (i = 0; i < n && met; i++) {
		if (probe->items[first + (int64_t)i] != items[i])
			met = miss(probe, "expected item %p, got %p", items[i],
				   probe->items[first + (int64_t)i]);
	}
	return done(probe, met);
}

bool weir_subscriber_probe_expect_next(struct weir_subscriber_probe *probe,
				       const void *item)
{
	/* Only compared. */
	void *const items[] = {(void *)(uintptr_t)item};

	return weir_subscriber_probe_expect_items(probe, items, 1);
}

static int compare(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (void *const *)a;
	uintptr_t y = (uintptr_t) * (void *const *)b;

	return (x > y) - (x < y);
}

static bool same(void *const *a, void *const *b, size_t n)
{
	void **sorted = malloc(2 * n * sizeof(*sorted));
	bool equal;

	if (!sorted)
		return false;
	memcpy(sorted, a, n * sizeof(*sorted));
	memcpy(sorted + n, b, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	qsort(sorted + n, n, sizeof(*sorted), compare);
	equal = memcmp(sorted, sorted + n, n * sizeof(*sorted)) == 0;
	free(sorted);
	return equal;
}

bool weir_subscriber_probe_expect_in_any_order(
	struct weir_subscriber_probe *probe, void *const *items, size_t n)
{
	int64_t first = probe->items_met;
	bool met = begin(probe) && expect_take(probe, (int64_t)n);

	if (met && n > 0 && !same(probe->items + first, items, n))
		met = miss(probe, "the next %zu items are others than expected",
			   n);
	return done(probe, met);
}

bool weir_subscriber_probe_expect_next_n(struct weir_subscriber_probe *probe,
					 int64_t n)
{
	return done(probe, begin(probe) && expect_take(probe, n));
}

bool weir_subscriber_probe_expect_error(struct weir_subscriber_probe *probe,
					int code)
{
	bool met = begin(probe);
	char wanted[32];

	(void)snprintf(wanted, sizeof(wanted), "on_error(%d)", code);
	met = met &&
	      take_end(probe, code ? wanted : "on_error",
		       probe->error && (!code || probe->error->code == code));
	return done(probe, met);
}

bool weir_subscriber_probe_expect_complete(struct weir_subscriber_probe *probe)
{
	bool met = begin(probe);

	met = met &&
	      take_end(probe, "on_complete", probe->counts.completions > 0);
	return done(probe, met);
}

bool weir_subscriber_probe_expect_nothing(struct weir_subscriber_probe *probe)
{
	bool met = begin(probe);

	if (met && probe->subscription && !probe->subscription_met)
		met = miss(probe, "expected nothing, got on_subscribe");
	if (met && (probe->items_met < probe->counts.items ||
		    (probe->ended && !probe->end_met)))
		met = miss_signal(probe, "nothing");
	return done(probe, met);
}

bool weir_subscriber_probe_expect_released(struct weir_subscriber_probe *probe)
{
	bool met = begin(probe);

	uint32_t refs = ck_pr_load_32(&probe->subscriber.refs);

	if (met && refs > INT32_MAX)
		met = miss(probe, "3.13: the publisher has let go of its "
				  "subscriber more often than it held it");
	else if (met && (refs || !probe->counts.released))
		met = miss(probe, "3.13: the publisher still holds its "
				  "subscriber");
	return done(probe, met);
}

struct weir_subscriber_probe_counts weir_subscriber_probe_counts(
	struct weir_subscriber_probe *probe)
{
	struct weir_subscriber_probe_counts counts;

	pthread_mutex_lock(&probe->lock);
	counts = probe->counts;
	pthread_mutex_unlock(&probe->lock);
	return counts;
}

void *weir_subscriber_probe_item(struct weir_subscriber_probe *probe, int64_t i)
{
	void *item = NULL;

	pthread_mutex_lock(&probe->lock);
	if (i >= 0 && i < probe->counts.items)
		item = probe->items[i];
	pthread_mutex_unlock(&probe->lock);
	return item;
}

struct weir_error *weir_subscriber_probe_error(
	struct weir_subscriber_probe *probe)
{
	struct weir_error *error;

	pthread_mutex_lock(&probe->lock);
	error = probe->error;
	pthread_mutex_unlock(&probe->lock);
	return error;
}

struct weir_subscription *weir_subscriber_probe_subscription(
	struct weir_subscriber_probe *probe)
{
	struct weir_subscription *subscription;

	pthread_mutex_lock(&probe->lock);
	subscription = probe->subscription;
	pthread_mutex_unlock(&probe->lock);
	return subscription;
}

const char *weir_subscriber_probe_failure(struct weir_subscriber_probe *probe)
{
	const char *text = NULL;

	pthread_mutex_lock(&probe->lock);
	if (probe->broken[0])
		text = probe->broken;
	else if (probe->wanted[0])
		text = probe->wanted;
	pthread_mutex_unlock(&probe->lock);
	return text;
}
