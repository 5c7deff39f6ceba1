/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The expectations of a publisher probe. All functions but the counts are for
 * the test's thread.
 */
#include "testkit/publisher_probe.h"

#include <stdarg.h>
#include <stdio.h>

/* Under the lock. False. */
static bool __attribute__((format(printf, 2, 3)))
miss(struct weir_publisher_probe *probe, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(probe->wanted, sizeof(probe->wanted), format,
			arguments);
	va_end(arguments);
	return false;
}

/* Begins an expectation: takes the lock. */
static bool begin(struct weir_publisher_probe *probe)
{
	int rc = weir_test_settle(probe->env);

	pthread_mutex_lock(&probe->lock);
	probe->wanted[0] = '\0';
	return rc == 0 || miss(probe, "it does not come to rest (%d)", rc);
}

static bool done(struct weir_publisher_probe *probe, bool met)
{
	pthread_mutex_unlock(&probe->lock);
	return met;
}

bool weir_publisher_probe_expect_subscriber(struct weir_publisher_probe *probe)
{
	bool met = begin(probe);

	if (met && !probe->counts.subscribers)
		met = miss(probe, "nobody has subscribed");
	return done(probe, met);
}

bool weir_publisher_probe_expect_request(struct weir_publisher_probe *probe,
					 int64_t n)
{
	bool met = begin(probe);

	if (met && probe->unmet != n)
		met = miss(probe, "expected requests of %lld in sum, got %lld",
			   (long long)n, (long long)probe->unmet);
	if (met)
		probe->unmet = 0;
	return done(probe, met);
}

bool weir_publisher_probe_expect_request_min(struct weir_publisher_probe *probe,
					     int64_t n, int64_t *got)
{
	bool met = begin(probe);

	if (met && probe->unmet < n)
		met = miss(probe, "expected requests of %lld or more, got %lld",
			   (long long)n, (long long)probe->unmet);
	if (met && got)
		*got = probe->unmet;
	if (met)
		probe->unmet = 0;
	return done(probe, met);
}

bool weir_publisher_probe_expect_cancel(struct weir_publisher_probe *probe)
{
	bool met = begin(probe);

	if (met && !probe->counts.cancels)
		met = miss(probe, "the subscriber has not cancelled");
	return done(probe, met);
}

bool weir_publisher_probe_expect_no_cancel(struct weir_publisher_probe *probe)
{
	bool met = begin(probe);

	if (met && probe->counts.cancels)
		met = miss(probe, "the subscriber has cancelled");
	return done(probe, met);
}

struct weir_publisher_probe_counts weir_publisher_probe_counts(
	struct weir_publisher_probe *probe)
{
	struct weir_publisher_probe_counts counts;

	pthread_mutex_lock(&probe->lock);
	counts = probe->counts;
	counts.references = weir__publisher_probe_held(probe);
	pthread_mutex_unlock(&probe->lock);
	return counts;
}

const char *weir_publisher_probe_failure(struct weir_publisher_probe *probe)
{
	const char *text;

	pthread_mutex_lock(&probe->lock);
	text = probe->wanted[0] ? probe->wanted : NULL;
	pthread_mutex_unlock(&probe->lock);
	return text;
}
