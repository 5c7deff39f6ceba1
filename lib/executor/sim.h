/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rest of the library needs to know of simulators. */
#ifndef WEIR_EXECUTOR_SIM_H
#define WEIR_EXECUTOR_SIM_H

#include <stdbool.h>

#include <weir/sim.h>

/*
 * *seed: the seed that a simulator draws all chance from. False: another
 * executor.
 */
bool weir__sim_seed_of(const struct weir_executor *executor, uint64_t *seed);

#endif
