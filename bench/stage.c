/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The transformer's work, x + 1, behind a pointer that is read from a volatile:
 * neither inlining nor link-time optimisation can fold a chain of them.
 */
#include "support.h"

static uintptr_t add_one(uintptr_t x)
{
	return x + 1;
}

static bench_stage_fn *volatile stage = add_one;

bench_stage_fn **bench_stages_new(unsigned n)
{
	bench_stage_fn **stages = bench_alloc((n + 1) * sizeof(*stages));

	for (unsigned i = 0; i < n; i++)
		stages[i] = stage;
	return stages;
}
