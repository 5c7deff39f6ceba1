/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one fence that costs something everywhere: all stores before it are
 * visible before any load after it is done (store -> load). On x86-64 a
 * locked operation on the own stack does that for a quarter of what mfence
 * costs. test/shim/base/fence.h takes this header's place in builds whose
 * tools must see the fence by its name.
 */
#ifndef WEIR_BASE_FENCE_H
#define WEIR_BASE_FENCE_H

#include <ck_pr.h>

/*
 * CK's ck_md.h is made for one machine, and on a machine that orders less than
 * x86 that of x86 turns nearly all fences into nothing, without a word: a
 * cross compiler finds it in /usr/include.
 */
#if !defined(__x86_64__) && !defined(__i386__) && !defined(CK_MD_RMO)
#error "CK's headers are those of another machine: no CK_MD_RMO in ck_md.h"
#endif

#if defined(__x86_64__)
static inline void weir__fence_full(void)
{
	__asm__ __volatile__("lock; orl $0, (%%rsp)" ::: "memory", "cc");
}
#else
#define weir__fence_full() ck_pr_fence_store_load()
#endif

#endif
