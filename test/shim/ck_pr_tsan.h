/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bodies for ThreadSanitizer: every operation sequentially consistent. A fence
 * alone means nothing to ThreadSanitizer (and gcc says so), hence a compiler
 * barrier; the order comes from the operations.
 */
#ifndef WEIR_SHIM_CK_PR_TSAN_H
#define WEIR_SHIM_CK_PR_TSAN_H

#define WEIR_SHIM "tsan"

#define SHIM_AT
#define SHIM_ONLY_AT void

#define SHIM_LOAD(T, p) __atomic_load_n((const T *)(p), __ATOMIC_SEQ_CST)
#define SHIM_STORE(T, p, v) __atomic_store_n((T *)(p), (v), __ATOMIC_SEQ_CST)
#define SHIM_RMW(T, p, OP, v) SHIM_RMW_##OP(T, p, v)
#define SHIM_RMW_FAS(T, p, v) \
	__atomic_exchange_n((T *)(p), (v), __ATOMIC_SEQ_CST)
#define SHIM_RMW_ADD(T, p, v) \
	__atomic_fetch_add((T *)(p), (v), __ATOMIC_SEQ_CST)
#define SHIM_RMW_SUB(T, p, v) \
	__atomic_fetch_sub((T *)(p), (v), __ATOMIC_SEQ_CST)
#define SHIM_RMW_AND(T, p, v) \
	__atomic_fetch_and((T *)(p), (v), __ATOMIC_SEQ_CST)
#define SHIM_RMW_OR(T, p, v) __atomic_fetch_or((T *)(p), (v), __ATOMIC_SEQ_CST)
#define SHIM_RMW_XOR(T, p, v) \
	__atomic_fetch_xor((T *)(p), (v), __ATOMIC_SEQ_CST)
#define SHIM_RMW_NEG(T, p, v) \
	__extension__({ \
		T old_ = __atomic_load_n((T *)(p), __ATOMIC_SEQ_CST); \
\
		(void)(v); \
		while (!__atomic_compare_exchange_n((T *)(p), &old_, (T)-old_, \
						    0, __ATOMIC_SEQ_CST, \
						    __ATOMIC_SEQ_CST)) \
			; \
		old_; \
	})
#define SHIM_CAS(T, p, compare, set, found) \
	(*(found) = (compare), \
	 __atomic_compare_exchange_n((T *)(p), (found), (set), 0, \
				     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define SHIM_FENCE(OP) __asm__ __volatile__("" ::: "memory")

CK_CC_INLINE static void ck_pr_stall(void)
{
#if defined(__x86_64__)
	__asm__ __volatile__("pause" ::: "memory");
#else
	__asm__ __volatile__("" ::: "memory");
#endif
}

#endif
