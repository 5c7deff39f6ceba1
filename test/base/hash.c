/* SPDX-License-Identifier: BSD-2-Clause */
/* Hashes by a secret key. */
#include "support.h"

#include <string.h>

#include "base/hash.h"

static const struct weir__hash_key zero;

static uint64_t hash(const struct weir__hash_key *key, const char *text)
{
	return weir__hash_bytes(key, text, strlen(text));
}

/* As CPython 3.11 says with PYTHONHASHSEED=0, which is this key. */
static void it_is_what_others_call_siphash_1_3(void **state)
{
	assert_true(hash(&zero, "a") == 0x407448d2b89b1813u);
	assert_true(hash(&zero, "abcdefg") == 0x6db12aae9070f506u);
	assert_true(hash(&zero, "abcdefgh") == 0x3f7b849c0b8e35eau);
	assert_true(hash(&zero, "abcdefghijklmnopqrst") == 0xcad1d77b2c973cd5u);
}

static void a_number_is_its_eight_bytes(void **state)
{
	const struct weir__hash_key key = weir__hash_key_of(7);
	const unsigned char bytes[] = {8, 7, 6, 5, 4, 3, 2, 1};

	assert_true(weir__hash_word(&key, 0x0102030405060708u) ==
		    weir__hash_bytes(&key, bytes, sizeof(bytes)));
}

static void keys_are_the_same_for_the_same_seed_alone(void **state)
{
	const struct weir__hash_key seven = weir__hash_key_of(7);
	const struct weir__hash_key again = weir__hash_key_of(7);
	const struct weir__hash_key eight = weir__hash_key_of(8);
	const struct weir__hash_key any = weir__hash_key_random();
	const struct weir__hash_key other = weir__hash_key_random();

	assert_memory_equal(&seven, &again, sizeof(seven));
	assert_memory_not_equal(&seven, &eight, sizeof(seven));
	assert_memory_not_equal(&any, &other, sizeof(any));
	assert_true(hash(&seven, "a") != hash(&eight, "a"));
	assert_true(hash(&any, "a") != hash(&other, "a"));
}

/* --- Chosen ones ------------------------------------------------------------- */

#define BUCKETS 4096u

static uint32_t loads[BUCKETS];

static void add(uint64_t hash)
{
	loads[hash & (BUCKETS - 1)]++;
}

static uint32_t longest(void)
{
	uint32_t most = 0, i;

	for (i = 0; i < BUCKETS; i++)
		most = loads[i] > most ? loads[i] : most;
	memset(loads, 0, sizeof(loads));
	return most;
}

/* FNV-1a, which everybody can compute. */
static uint32_t open_hash(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

/* The next text from *n on that falls into the first bucket of an open hash. */
static void next_chosen(char *text, uint32_t *n)
{
	int i;

	do {
		for (i = 0; i < 8; i++)
			text[i] = (char)('a' + (*n >> 4 * i) % 16);
		text[8] = '\0';
		++*n;
	} while (open_hash(text) & (BUCKETS - 1));
}

static void texts_that_are_chosen_to_meet_do_not(void **state)
{
	const struct weir__hash_key key = weir__hash_key_random();
	uint32_t n = 0, i;
	char text[9];

	for (i = 0; i < 400; i++) {
		next_chosen(text, &n);
		add(hash(&key, text));
	}
	assert_in_range(longest(), 1, 8);
}

static void numbers_in_a_row_are_spread(void **state)
{
	const struct weir__hash_key key = weir__hash_key_random();
	uint32_t i;

	for (i = 0; i < BUCKETS; i++)
		add(weir__hash_word(&key, i));
	assert_in_range(longest(), 3, 16);
	for (i = 0; i < BUCKETS; i++)
		add(weir__hash_word(&key, (uint64_t)i << 52));
	assert_in_range(longest(), 3, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_others_call_siphash_1_3),
		cmocka_unit_test(a_number_is_its_eight_bytes),
		cmocka_unit_test(keys_are_the_same_for_the_same_seed_alone),
		cmocka_unit_test(texts_that_are_chosen_to_meet_do_not),
		cmocka_unit_test(numbers_in_a_row_are_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
