/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of restarts.
 *
 * 1. Whatever the window, a restart is allowed iff fewer than `max` count now.
 * 2. In a sliding, finite window times fall out one by one. The times that
 *    count are in a ring, oldest first. The ring never needs more than `max`
 *    places, because by claim 1 no time is added while `max` count.
 * 3. In any other window either all restarts count or none: their number is
 *    enough, and for a tumbling window the time of the first restart, which
 *    opened it.
 *
 * Runs in the slice of the supervisor that asks; takes no lock.
 */
#include "supervision/limit.h"

#include <assert.h>
#include <errno.h>

#include "base/memory.h"

struct weir__restarts {
	uint32_t n;	     /* that count */
	uint32_t size;	     /* of times; > 0 */
	uint32_t first;	     /* the oldest in times; 0 if not a ring */
	uint64_t times_ns[]; /* a ring; or only the time of the first */
};

/* The room of a new record, if the limit allows so many restarts. */
enum { FEW = 4 };

static size_t bytes(uint32_t size)
{
	return sizeof(struct weir__restarts) + size * sizeof(uint64_t);
}

/* Restarts never stop to count. */
static bool is_endless(const struct weir_limit *limit)
{
	return limit->within_ns == WEIR_FOREVER ||
	       (limit->within_ns == 0 && limit->window != WEIR_WINDOW_TUMBLING);
}

static bool is_ring(const struct weir_limit *limit)
{
	return limit->window != WEIR_WINDOW_TUMBLING && !is_endless(limit);
}

static bool is_limited(const struct weir_limit *limit)
{
	if (!limit)
		return false;
	return limit->max >= 0 ||
	       (limit->window == WEIR_WINDOW_TUMBLING && !is_endless(limit));
}

static uint32_t max_of(const struct weir_limit *limit)
{
	return limit->max >= 0 ? (uint32_t)limit->max : 1;
}

bool weir__limit_valid(const struct weir_limit *limit)
{
	return (unsigned int)limit->window <= WEIR_WINDOW_TUMBLING &&
	       limit->max <= WEIR_RESTARTS_MAX;
}

/* True: the oldest restart does not count any more. */
static bool is_past(const struct weir_limit *limit,
		    const struct weir__restarts *record, uint64_t now)
{
	uint64_t then = record->times_ns[record->first];
	uint64_t age = now > then ? now - then : 0;

	if (is_endless(limit))
		return false;
	if (limit->window == WEIR_WINDOW_SLIDING_STRICT)
		return age >= limit->within_ns;
	return age > limit->within_ns;
}

static void forget(const struct weir_limit *limit,
		   struct weir__restarts *record, uint64_t now)
{
	assert(record->first < record->size);
	while (record->n > 0 && is_past(limit, record, now)) {
		record->n--;
		if (++record->first == record->size)
			record->first = 0;
	}
}

/* Moves the record into a larger one, with room for at least one more. */
static int grow(struct weir__restarts **record, uint32_t max,
		const struct weir_allocator *allocator)
{
	struct weir__restarts *old = *record, *made;
	uint32_t size = old ? 2 * old->size : FEW, i;

	if (size > max)
		size = max;
	/* weir__limit_ask() refuses before the record has `max` */
	assert(!old || old->n < size);
	made = weir__alloc(allocator, bytes(size));
	if (!made)
		return -ENOMEM;
	made->size = size;
	if (old) {
		made->n = old->n;
		for (i = 0; i < old->n; i++)
			made->times_ns[i] =
				old->times_ns[(old->first + i) % old->size];
		weir__restarts_free(old, allocator);
	}
	*record = made;
	return 1;
}

int weir__limit_ask(const struct weir_limit *limit,
		    struct weir__restarts **record,
		    const struct weir_allocator *allocator, uint64_t now)
{
	uint32_t max;

	if (!is_limited(limit))
		return 1;
	max = max_of(limit);
	if (max == 0)
		return 0;
	if (!*record)
		return grow(record, is_ring(limit) ? max : 1, allocator);
	forget(limit, *record, now);
	if ((*record)->n >= max) {
		if (limit->window == WEIR_WINDOW_SLIDING_STRICT)
			(*record)->n = 0;
		return 0;
	}
	if (!is_ring(limit) || (*record)->n < (*record)->size)
		return 1;
	return grow(record, max, allocator);
}

void weir__limit_count(const struct weir_limit *limit,
		       struct weir__restarts *record, uint64_t now)
{
	if (!is_limited(limit))
		return;
	assert(record && record->n < max_of(limit));
	if (is_ring(limit)) {
		assert(record->n < record->size);
		record->times_ns[(record->first + record->n) % record->size] =
			now;
	} else if (record->n == 0) {
		record->times_ns[0] = now;
	}
	record->n++;
}

void weir__restarts_free(struct weir__restarts *record,
			 const struct weir_allocator *allocator)
{
	if (record)
		weir__free(allocator, record, bytes(record->size));
}
