/* SPDX-License-Identifier: BSD-2-Clause */
#include "idlers.h"

#include <errno.h>
#include <time.h>

#include "support.h"

struct idler {
	struct weir_actor actor;
	struct weir_in in;
};

static inline int turn(struct weir_actor *actor)
{
	struct idler *idler = weir_container_of(actor, struct idler, actor);

	(void)weir_in_take(&idler->in);
	return 0;
}
WEIR_TURN(turn)

static const struct weir_actor_ops ops = {.name = "idler", .turns = turn_n};

int idlers_wait_parked(const struct pool *pool)
{
	const struct timespec moment = {.tv_nsec = 10000};
	uint64_t end_ns = bench_real_ns() + UINT64_C(1000000000);
	struct weir_threads_counters counters;

	for (;;) {
		weir_threads_counters(pool->threads, &counters);
		if (counters.parked == weir_threads_workers(pool->threads))
			return 0;
		if (bench_real_ns() >= end_ns)
			return -ETIMEDOUT;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	}
}

int idlers_start(struct idler **idlers, struct pool *pool, unsigned n)
{
	int rc = 0;

	*idlers = bench_alloc(n * sizeof(**idlers));
	for (unsigned i = 0; i < n && rc == 0; i++) {
		struct idler *idler = &(*idlers)[i];

		rc = weir_actor_init(&idler->actor, &ops, pool->executor);
		if (rc == 0)
			rc = weir_in_init(&idler->in, &idler->actor, 1, NULL);
		if (rc == 0)
			rc = weir_actor_start(&idler->actor);
	}
	return rc < 0 ? rc : idlers_wait_parked(pool);
}

void idlers_free(struct idler *idlers)
{
	bench_free(idlers);
}
