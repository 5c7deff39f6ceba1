/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hash.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"

struct weir__hash_key weir__hash_key_of(uint64_t seed)
{
	struct weir__hash_key key;

	key.words[0] = weir__splitmix(&seed);
	key.words[1] = weir__splitmix(&seed);
	return key;
}

static uint64_t some_seed(void)
{
	struct timespec real = {0}, since = {0};
	uint64_t seed = (uintptr_t)&seed; /* where the stack is */

	(void)clock_gettime(CLOCK_REALTIME, &real);
	(void)clock_gettime(CLOCK_MONOTONIC, &since);
	seed ^= weir__splitmix(&seed) ^ (uint64_t)real.tv_nsec;
	seed ^= weir__splitmix(&seed) ^ (uint64_t)real.tv_sec;
	seed ^= weir__splitmix(&seed) ^ (uint64_t)since.tv_nsec;
	seed ^= weir__splitmix(&seed) ^ (uint64_t)getpid();
	return seed;
}

struct weir__hash_key weir__hash_key_random(void)
{
	struct weir__hash_key key;

	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) == sizeof(key))
		return key;
	return weir__hash_key_of(some_seed());
}

/* Up to eight, the first one lowest. */
static uint64_t word_of(const unsigned char *bytes, size_t n)
{
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < n; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

uint64_t weir__hash_bytes(const struct weir__hash_key *key, const void *bytes,
			  size_t n)
{
	struct weir__sip sip = weir__sip_begin(key);
	const unsigned char *at = bytes;
	uint64_t last = (uint64_t)n << 56;

	for (; n >= 8; n -= 8, at += 8)
		weir__sip_add(&sip, word_of(at, 8));
	weir__sip_add(&sip, last | word_of(at, n));
	return weir__sip_end(&sip);
}
