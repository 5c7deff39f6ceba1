/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A full fence between two sides, of which one passes it all the time and the
 * other hardly ever. The rare side makes every running thread of the process
 * pass a full fence (membarrier(2)), so the frequent side needs none. Where the
 * kernel has no such call each side makes its own fence. That is also what the
 * explorer sees and checks; the kernel's promise replaces it.
 */
#ifndef WEIR_BASE_MEMBARRIER_H
#define WEIR_BASE_MEMBARRIER_H

#include <stdbool.h>

#include <ck_pr.h>

#include <weir/api.h>

#include "base/fence.h"

/*
 * True: weir__membarrier() can make other threads pass a fence, from now on,
 * in this process.
 */
bool weir__membarrier_register(void);

/*
 * The rare side's fence, where registering succeeded. False: the fence cannot
 * be had now.
 */
bool weir__membarrier(void);

/* The frequent side's fence; `remote` is what registering returned. */
static inline void weir__fence_light(bool remote)
{
	if (WEIR_LIKELY(remote))
		ck_pr_barrier();
	else
		weir__fence_full();
}

#endif
