/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which CPUs the process may use, and how many of them it is worth using:
 * affinity masks, CPU lists as taskset(1) has them, and cgroup quotas.
 */
#ifndef WEIR_EXECUTOR_CPUS_H
#define WEIR_EXECUTOR_CPUS_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

/* More CPUs than any Linux supports so far (8192), as a fixed size. */
#define WEIR__CPUS_MAX 8192u

struct weir__cpus {
	cpu_set_t sets[WEIR__CPUS_MAX / CPU_SETSIZE];
};

/*
 * Parses "0-3,8,16-31:2". -EINVAL: not a list, empty, a range that runs
 * backwards, a stride of 0, or a CPU >= WEIR__CPUS_MAX.
 */
int weir__cpus_parse(struct weir__cpus *cpus, const char *list);

/* The CPUs that the calling thread may run on. A negative errno: not known. */
int weir__cpus_allowed(struct weir__cpus *cpus);

/* Only those that both have; returns how many that are. */
uint32_t weir__cpus_intersect(struct weir__cpus *cpus,
			      const struct weir__cpus *other);

uint32_t weir__cpus_count(const struct weir__cpus *cpus);

/*
 * How many CPUs' worth of time the process's control groups grant, rounded up:
 * the smallest quota from its own group up to the root, of version 2 (cpu.max)
 * or 1 (cpu.cfs_quota_us). UINT32_MAX: no limit, or none that can be read.
 * `root` is put before every path: "" but for tests.
 */
uint32_t weir__cpus_quota(const char *root);

/* min(allowed CPUs, quota), at least 1. */
uint32_t weir__cpus_default(void);

#endif
