/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hashes of what comes from outside, by a secret key, so that nobody can choose
 * keys that meet in one bucket: SipHash-1-3, after J.-P. Aumasson and D. J.
 * Bernstein, "SipHash: a fast short-input PRF" (2012), with fewer rounds.
 */
#ifndef WEIR_BASE_HASH_H
#define WEIR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct weir__hash_key {
	uint64_t words[2];
};

/*
 * A key from the kernel; where the kernel has none yet, from the time and
 * addresses.
 */
struct weir__hash_key weir__hash_key_random(void);
/* A key from a seed: the same key for the same seed. */
struct weir__hash_key weir__hash_key_of(uint64_t seed);

uint64_t weir__hash_bytes(const struct weir__hash_key *key, const void *bytes,
			  size_t n);

struct weir__sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t weir__rotated(uint64_t word, int by)
{
	return word << by | word >> (64 - by);
}

static inline void weir__sip_round(struct weir__sip *sip)
{
	sip->v0 += sip->v1;
	sip->v2 += sip->v3;
	sip->v1 = weir__rotated(sip->v1, 13) ^ sip->v0;
	sip->v3 = weir__rotated(sip->v3, 16) ^ sip->v2;
	sip->v0 = weir__rotated(sip->v0, 32);
	sip->v2 += sip->v1;
	sip->v0 += sip->v3;
	sip->v1 = weir__rotated(sip->v1, 17) ^ sip->v2;
	sip->v3 = weir__rotated(sip->v3, 21) ^ sip->v0;
	sip->v2 = weir__rotated(sip->v2, 32);
}

static inline struct weir__sip weir__sip_begin(const struct weir__hash_key *key)
{
	return (struct weir__sip){
		key->words[0] ^ 0x736f6d6570736575u,
		key->words[1] ^ 0x646f72616e646f6du,
		key->words[0] ^ 0x6c7967656e657261u,
		key->words[1] ^ 0x7465646279746573u,
	};
}

static inline void weir__sip_add(struct weir__sip *sip, uint64_t word)
{
	sip->v3 ^= word;
	weir__sip_round(sip);
	sip->v0 ^= word;
}

static inline uint64_t weir__sip_end(struct weir__sip *sip)
{
	sip->v2 ^= 0xff;
	weir__sip_round(sip);
	weir__sip_round(sip);
	weir__sip_round(sip);
	return sip->v0 ^ sip->v1 ^ sip->v2 ^ sip->v3;
}

/* As of its eight bytes, the lowest first. */
static inline uint64_t weir__hash_word(const struct weir__hash_key *key,
				       uint64_t word)
{
	struct weir__sip sip = weir__sip_begin(key);

	weir__sip_add(&sip, word);
	weir__sip_add(&sip, (uint64_t)sizeof(word) << 56);
	return weir__sip_end(&sip);
}

#endif
