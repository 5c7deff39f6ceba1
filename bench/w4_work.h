/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job's work, and what it costs: the same code for whoever takes part in W4,
 * the peers' programs and their C++ among them.
 *
 * An item's work goes so many steps forth and the same steps back, and its
 * result is where it came from: the same however many steps are a microsecond.
 */
#ifndef WEIR_BENCH_W4_WORK_H
#define WEIR_BENCH_W4_WORK_H

#include <stdint.h>

#define W4_QUEUE 1024

#ifdef __cplusplus
extern "C" {
#endif

/* x, if all is well. */
uintptr_t w4_work(uintptr_t x, unsigned n_steps);
/* The work of an item where that many threads (1 or 2) work. */
double w4_work_ns(unsigned n_steps, unsigned n_threads);
/* CPU time of the calling thread, and of all that there are. */
uint64_t w4_thread_ns(void);
uint64_t w4_all_threads_ns(void);

#ifdef __cplusplus
}
#endif

#endif
