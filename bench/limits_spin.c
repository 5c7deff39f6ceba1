/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L1.spin: the token is a word that two threads on two cores watch; who sees
 * its parity increases it. A round trip is the journey of one line to and fro,
 * which nothing that crosses cores can beat.
 */
#include "support.h"
#include "who.h"

struct table {
	_Alignas(BENCH_CACHELINE) uint64_t token;
	_Alignas(BENCH_CACHELINE) uint64_t items;
	_Alignas(BENCH_CACHELINE) struct bench_result got;
};

/* Until the token has the parity odd. */
static inline uint64_t await(struct table *table, uint64_t odd)
{
	unsigned n_looks = 0;
	uint64_t x;

	while (((x = ck_pr_load_64(&table->token)) & 1) != odd)
		if (++n_looks > 4096)
			ck_pr_stall();
	return x;
}

static void ping(void *argument)
{
	struct table *table = argument;
	struct bench_result got = {0};

	for (uint64_t i = 0; i < table->items; i += 2) {
		ck_pr_store_64(&table->token, got.last + 1);
		got.last = await(table, 0);
		got.count += 2;
		got.sum += got.last;
	}
	table->got = got;
}

static void pong(void *argument)
{
	struct table *table = argument;

	for (uint64_t i = 0; i < table->items; i += 2)
		ck_pr_store_64(&table->token, await(table, 1) + 1);
}

int limits_spin(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result)
{
	struct table table = {.items = items};
	uint64_t elapsed_ns = bench_pair(ping, pong, &table);

	*result = table.got;
	result->elapsed_ns = elapsed_ns;
	return 0;
}
