/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Concurrency Kit's ck_pr.h under other bodies. First on the include path in
 * two builds, so CK's own inline headers and the library go through it:
 *
 *   -DWEIR_SHIM_TSAN   sequentially consistent __atomic operations, which
 *                      ThreadSanitizer follows (CK's inline assembly it does
 *                      not). It finds unordered plain accesses, not missing
 *                      fences.
 *   -DWEIR_SHIM_MODEL  each operation is a step of the explorer in test/model.
 *
 * Names, types and results are CK 0.7.1's. Left out, so that an unexpected use
 * fails to compile: double, the two-word cas and load, restricted transactional
 * memory. The feature macros tell CK's headers the same.
 */
#ifndef CK_PR_H
#define CK_PR_H

#include <ck_cc.h>
#include <ck_limits.h>
#include <ck_md.h>
#include <ck_stdbool.h>
#include <ck_stdint.h>

/* Headers that depend on the order must take their weakest form. */
#undef CK_MD_TSO
#undef CK_MD_PSO
#undef CK_MD_RMO
#define CK_MD_RMO

#define CK_F_PR
#include "ck_pr_features.h"

#if defined(WEIR_SHIM_TSAN)
#include "ck_pr_tsan.h"
#elif defined(WEIR_SHIM_MODEL)
#include "ck_pr_model.h"
#else
#error "choose -DWEIR_SHIM_TSAN or -DWEIR_SHIM_MODEL"
#endif

/*
 * From here on one text for both builds. A mode has defined, for each type
 * name S, its value type T and its pointee M as CK declares it:
 *   SHIM_LOAD(T, p) SHIM_STORE(T, p, v) SHIM_RMW(T, p, OP, v)
 *   SHIM_CAS(T, p, compare, set, found) SHIM_FENCE(OP)
 * and SHIM_AT, SHIM_ONLY_AT: the call site as a last or only parameter.
 */

CK_CC_INLINE static void ck_pr_barrier(void)
{
	__asm__ __volatile__("" ::: "memory");
}

CK_CC_INLINE static void ck_pr_rfo(const void *m)
{
	(void)m;
}

#define SHIM_FENCES(N, OP) \
	CK_CC_INLINE static void ck_pr_fence_##N(SHIM_ONLY_AT) \
	{ \
		SHIM_FENCE(OP); \
	} \
	CK_CC_INLINE static void ck_pr_fence_strict_##N(SHIM_ONLY_AT) \
	{ \
		SHIM_FENCE(OP); \
	}

SHIM_FENCES(atomic, ATOMIC)
SHIM_FENCES(atomic_load, ATOMIC_LOAD)
SHIM_FENCES(atomic_store, ATOMIC_STORE)
SHIM_FENCES(store_atomic, STORE_ATOMIC)
SHIM_FENCES(load_atomic, LOAD_ATOMIC)
SHIM_FENCES(load_store, LOAD_STORE)
SHIM_FENCES(store_load, STORE_LOAD)
SHIM_FENCES(load, LOAD)
SHIM_FENCES(load_depends, LOAD_DEPENDS)
SHIM_FENCES(store, STORE)
SHIM_FENCES(memory, MEMORY)
SHIM_FENCES(acquire, ACQUIRE)
SHIM_FENCES(release, RELEASE)
SHIM_FENCES(acqrel, ACQREL)
SHIM_FENCES(lock, LOCK)
SHIM_FENCES(unlock, UNLOCK)

/*
 * S name, M pointee, T word the work is done in, C type of the values in
 * CK's signatures of load, store, fas and cas. T and C differ for ptr only.
 */
#define SHIM_ACCESS(S, M, T, C) \
	CK_CC_INLINE static C ck_pr_md_load_##S(const M *target SHIM_AT) \
	{ \
		return (C)SHIM_LOAD(T, target); \
	} \
	CK_CC_INLINE static C ck_pr_fas_##S(M *target, C update SHIM_AT) \
	{ \
		return (C)SHIM_RMW(T, target, FAS, (T)update); \
	} \
	CK_CC_INLINE static bool ck_pr_cas_##S(M *target, C compare, \
					       C set SHIM_AT) \
	{ \
		T found_; \
\
		return SHIM_CAS(T, target, (T)compare, (T)set, &found_); \
	} \
	CK_CC_INLINE static bool ck_pr_cas_##S##_value( \
		M *target, C compare, C set, M *value SHIM_AT) \
	{ \
		T found_; \
		bool done = SHIM_CAS(T, target, (T)compare, (T)set, &found_); \
\
		*(C *)value = (C)found_; \
		return done; \
	}

#define SHIM_BINARY(K, S, M, T, OP) \
	CK_CC_INLINE static void ck_pr_##K##_##S(M *target, T d SHIM_AT) \
	{ \
		(void)SHIM_RMW(T, target, OP, d); \
	}

/* Z: the value before which makes the value after zero. */
#define SHIM_UNARY(K, S, M, T, OP, V, Z) \
	CK_CC_INLINE static void ck_pr_##K##_##S(M *target SHIM_AT) \
	{ \
		(void)SHIM_RMW(T, target, OP, (T)(V)); \
	} \
	CK_CC_INLINE static bool ck_pr_##K##_##S##_is_zero(M *target SHIM_AT) \
	{ \
		return (T)SHIM_RMW(T, target, OP, (T)(V)) == (T)(Z); \
	} \
	CK_CC_INLINE static void ck_pr_##K##_##S##_zero(M *target, \
							bool *zero SHIM_AT) \
	{ \
		*zero = (T)SHIM_RMW(T, target, OP, (T)(V)) == (T)(Z); \
	}

/* MASK is applied to the bit: empty, or ~ for btr. */
#define SHIM_BIT(K, S, M, T, OP, MASK) \
	CK_CC_INLINE static bool ck_pr_##K##_##S(M *target, \
						 unsigned int bit SHIM_AT) \
	{ \
		T bit_ = (T)((T)1 << bit); \
\
		return (SHIM_RMW(T, target, OP, (T)(MASK bit_)) & bit_) != 0; \
	}

#define SHIM_TYPE(S, M, T, C) \
	SHIM_ACCESS(S, M, T, C) \
	CK_CC_INLINE static T ck_pr_faa_##S(M *target, T delta SHIM_AT) \
	{ \
		return (T)SHIM_RMW(T, target, ADD, delta); \
	} \
	SHIM_BINARY(add, S, M, T, ADD) \
	SHIM_BINARY(sub, S, M, T, SUB) \
	SHIM_BINARY(and, S, M, T, AND) \
	SHIM_BINARY(or, S, M, T, OR) \
	SHIM_BINARY(xor, S, M, T, XOR) \
	SHIM_UNARY(inc, S, M, T, ADD, 1, -1) \
	SHIM_UNARY(dec, S, M, T, SUB, 1, 1) \
	SHIM_UNARY(neg, S, M, T, NEG, 0, 0) \
	CK_CC_INLINE static void ck_pr_not_##S(M *target SHIM_AT) \
	{ \
		(void)SHIM_RMW(T, target, XOR, (T) ~(T)0); \
	} \
	SHIM_BIT(btc, S, M, T, XOR, ) \
	SHIM_BIT(bts, S, M, T, OR, ) \
	SHIM_BIT(btr, S, M, T, AND, ~)

#define SHIM_STORES(S, M, T, C) \
	CK_CC_INLINE static void ck_pr_md_store_##S(M *target, C v SHIM_AT) \
	{ \
		SHIM_STORE(T, target, (T)v); \
	}

#define SHIM_SCALAR(S, T) \
	SHIM_TYPE(S, T, T, T) \
	SHIM_STORES(S, T, T, T)

SHIM_SCALAR(8, uint8_t)
SHIM_SCALAR(16, uint16_t)
SHIM_SCALAR(32, uint32_t)
SHIM_SCALAR(64, uint64_t)
SHIM_SCALAR(int, int)
SHIM_SCALAR(uint, unsigned int)
SHIM_SCALAR(char, char)
SHIM_TYPE(ptr, void, uintptr_t, void *)
SHIM_STORES(ptr, void, uintptr_t, const void *)

/* CK's own check: a store that would not compile as an assignment does not. */
#define CK_PR_STORE_SAFE(DST, VAL, TYPE) \
	ck_pr_md_store_##TYPE(((void)sizeof(*(DST) = (VAL)), (DST)), (VAL))

#define ck_pr_store_ptr(DST, VAL) CK_PR_STORE_SAFE((DST), (VAL), ptr)
#define ck_pr_store_ptr_unsafe(DST, VAL) ck_pr_md_store_ptr((DST), (VAL))
#define ck_pr_store_char(DST, VAL) CK_PR_STORE_SAFE((DST), (VAL), char)
#define ck_pr_store_uint(DST, VAL) CK_PR_STORE_SAFE((DST), (VAL), uint)
#define ck_pr_store_int(DST, VAL) CK_PR_STORE_SAFE((DST), (VAL), int)
#define ck_pr_store_64(DST, VAL) CK_PR_STORE_SAFE((DST), (VAL), 64)
#define ck_pr_store_32(DST, VAL) CK_PR_STORE_SAFE((DST), (VAL), 32)
#define ck_pr_store_16(DST, VAL) CK_PR_STORE_SAFE((DST), (VAL), 16)
#define ck_pr_store_8(DST, VAL) CK_PR_STORE_SAFE((DST), (VAL), 8)

#define ck_pr_load_ptr(SRC) \
	((CK_CC_TYPEOF(*(SRC), (void *)))ck_pr_md_load_ptr((SRC)))
#define ck_pr_load_char(SRC) ck_pr_md_load_char((SRC))
#define ck_pr_load_uint(SRC) ck_pr_md_load_uint((SRC))
#define ck_pr_load_int(SRC) ck_pr_md_load_int((SRC))
#define ck_pr_load_64(SRC) ck_pr_md_load_64((SRC))
#define ck_pr_load_32(SRC) ck_pr_md_load_32((SRC))
#define ck_pr_load_16(SRC) ck_pr_md_load_16((SRC))
#define ck_pr_load_8(SRC) ck_pr_md_load_8((SRC))

#if defined(WEIR_SHIM_MODEL)
#include "ck_pr_sites.h"
#endif

#endif
