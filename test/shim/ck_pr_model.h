/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bodies for the model: each operation is handed to the explorer together with
 * the place it was written at.
 */
#ifndef WEIR_SHIM_CK_PR_MODEL_H
#define WEIR_SHIM_CK_PR_MODEL_H

#include "explorer_ops.h"

#define WEIR_SHIM "model"

#define SHIM_AT , struct explorer_site *site
#define SHIM_ONLY_AT struct explorer_site *site

/*
 * A value travels as 64 bits, a negative int sign-extended; the explorer cuts
 * each to the size of its word.
 */
#define SHIM_LOAD(T, p) ((T)explorer_op_load((p), sizeof(T), site))
#define SHIM_STORE(T, p, v) \
	explorer_op_store((p), sizeof(T), (uint64_t)(v), site)
#define SHIM_RMW(T, p, OP, v) \
	((T)explorer_op_rmw((p), sizeof(T), EXPLORER_##OP, (uint64_t)(v), site))
#define SHIM_CAS(T, p, compare, set, found) \
	__extension__({ \
		uint64_t value_; \
		bool done_ = explorer_op_cas((p), sizeof(T), \
					     (uint64_t)(compare), \
					     (uint64_t)(set), &value_, site); \
\
		*(found) = (T)value_; \
		done_; \
	})
#define SHIM_FENCE(OP) explorer_op_fence(EXPLORER_FENCE_##OP, site)

CK_CC_INLINE static void ck_pr_stall(struct explorer_site *site)
{
	explorer_op_stall(site);
}

#endif
