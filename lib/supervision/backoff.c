/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The laws of back-off, in whole numbers but for the product with the random
 * factor. No state; any thread.
 */
#include "supervision/backoff.h"

#include <assert.h>

#include "base/clock.h"

#define LINEAR_JITTER_MS 500u

static const uint64_t ms = 1000000;

/* floor(a * b / 2^64): uniform below `b` if `a` is over 64 bits. */
static uint64_t scaled(uint64_t a, uint64_t b)
{
	uint64_t a_high = a >> 32, a_low = (uint32_t)a;
	uint64_t b_high = b >> 32, b_low = (uint32_t)b;
	uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
	uint64_t other = a_low * b_high + (uint32_t)middle;

	return a_high * b_high + (middle >> 32) + (other >> 32);
}

/* The sum of `delay_ns` and `more_ns`, less than WEIR_FOREVER. */
static uint64_t sum(uint64_t delay_ns, uint64_t more_ns)
{
	uint64_t all_ns = weir__clock_after(delay_ns, more_ns);

	return all_ns == WEIR_FOREVER ? WEIR_FOREVER - 1 : all_ns;
}

static uint64_t exponential(const struct weir_backoff *backoff, uint32_t k,
			    uint64_t random)
{
	uint64_t delay_ns = backoff->max_ns, jitter_ns = 0;

	if (k < 64 && backoff->min_ns <= backoff->max_ns >> k)
		delay_ns = backoff->min_ns << k;
	/* The product is below 2^64 only if the factor is below 1. */
	if (backoff->random_factor >= 1)
		jitter_ns = delay_ns;
	else if (backoff->random_factor > 0)
		jitter_ns =
			(uint64_t)((double)delay_ns * backoff->random_factor);
	return sum(delay_ns, scaled(random, jitter_ns));
}

static uint64_t linear(const struct weir_backoff *backoff, uint32_t k,
		       uint64_t random)
{
	uint64_t failures = (uint64_t)k + 1, delay_ns = WEIR_FOREVER;

	if (backoff->min_ns <= WEIR_FOREVER / failures)
		delay_ns = failures * backoff->min_ns;
	return sum(delay_ns, scaled(random, LINEAR_JITTER_MS + 1) * ms);
}

uint64_t weir_backoff_delay(const struct weir_backoff *backoff, uint32_t k,
			    uint64_t random)
{
	if (!backoff)
		return 0;
	return backoff->law == WEIR_BACKOFF_LINEAR
		       ? linear(backoff, k, random)
		       : exponential(backoff, k, random);
}

bool weir__backoff_valid(const struct weir_backoff *backoff)
{
	uint64_t reset_ns = backoff->reset_ns;

	if ((unsigned int)backoff->law > WEIR_BACKOFF_LINEAR ||
	    backoff->min_ns == 0)
		return false;
	if (backoff->law == WEIR_BACKOFF_LINEAR)
		return true;
	if (reset_ns != 0 && reset_ns != WEIR_FOREVER &&
	    (reset_ns < backoff->min_ns || reset_ns > backoff->max_ns))
		return false;
	/* Written so that NaN is refused. */
	return backoff->max_ns >= backoff->min_ns &&
	       backoff->random_factor >= 0 && backoff->random_factor <= 1;
}

/* 0: not set. The source of the linear law takes that for no window at all. */
static uint64_t reset_of(const struct weir_backoff *backoff)
{
	if (backoff->reset_ns != 0)
		return backoff->reset_ns;
	return backoff->law == WEIR_BACKOFF_LINEAR ? WEIR_FOREVER
						   : backoff->min_ns;
}

uint64_t weir__backoff_next(const struct weir_backoff *backoff, uint32_t *count,
			    uint64_t *last_ns, uint64_t now, uint64_t random)
{
	uint64_t reset_ns = reset_of(backoff), delay_ns;
	/* A restart that is still to come has been followed by no quiet. */
	uint64_t quiet_ns = now > *last_ns ? now - *last_ns : 0;

	/*
	 * Linear: only the newest failure is looked at: if it is outside the
	 * window, so are all others.
	 */
	if (reset_ns != WEIR_FOREVER && quiet_ns >= reset_ns)
		*count = 0;
	delay_ns = weir_backoff_delay(backoff, *count, random);
	/* else the actor would never be restarted */
	assert(delay_ns < WEIR_FOREVER);
	if (*count < UINT32_MAX)
		++*count;
	*last_ns = backoff->law == WEIR_BACKOFF_LINEAR
			   ? now
			   : weir__clock_after(now, delay_ns);
	return delay_ns;
}

void weir__backoff_restarted(const struct weir_backoff *backoff,
			     uint64_t *last_ns, uint64_t now)
{
	if (backoff->law != WEIR_BACKOFF_LINEAR)
		*last_ns = now;
}
