/* SPDX-License-Identifier: BSD-2-Clause */
/* Actors that wait for a token which never comes. */
#ifndef WEIR_BENCH_IDLERS_H
#define WEIR_BENCH_IDLERS_H

#include "pool.h"

struct idler;

/* Starts n of them; when it returns 0, all workers sleep. */
int idlers_start(struct idler **idlers, struct pool *pool, unsigned n);

/* After pool_close(), which stops them. */
void idlers_free(struct idler *idlers);

/*
 * Waits until all workers sleep, a second at most: then -ETIMEDOUT, and what
 * they do is not idleness.
 */
int idlers_wait_parked(const struct pool *pool);

#endif
