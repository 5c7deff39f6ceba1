/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the shim calls in the model build: one function per kind of operation,
 * each with the call site it comes from. The explorer implements them; library
 * code never sees this header, it only sees ck_pr_* and the futex.
 *
 * A site is a static object, one per use of a ck_pr name in the source. An
 * inline function in a header makes one object per translation unit; the
 * explorer merges them by file, line and operation when it first meets them.
 */
#ifndef WEIR_SHIM_EXPLORER_OPS_H
#define WEIR_SHIM_EXPLORER_OPS_H

#include <stdbool.h>
#include <stdint.h>

struct explorer_site {
	const char *file;
	const char *function;
	const char *operation;
	int line;
	int id; /* 0 until first met; written by the explorer only */
};

/* __func__ has static storage, so its address is a constant. */
#define EXPLORER_SITE(name) \
	__extension__({ \
		static struct explorer_site site_ = {__FILE__, __func__, name, \
						     __LINE__, 0}; \
		&site_; \
	})

enum explorer_rmw {
	EXPLORER_FAS,
	EXPLORER_ADD,
	EXPLORER_SUB,
	EXPLORER_AND,
	EXPLORER_OR,
	EXPLORER_XOR,
	EXPLORER_NEG,
};

/* Named as in ck_pr_fence_*. */
enum explorer_fence {
	EXPLORER_FENCE_ATOMIC,
	EXPLORER_FENCE_ATOMIC_LOAD,
	EXPLORER_FENCE_ATOMIC_STORE,
	EXPLORER_FENCE_STORE_ATOMIC,
	EXPLORER_FENCE_LOAD_ATOMIC,
	EXPLORER_FENCE_LOAD_STORE,
	EXPLORER_FENCE_STORE_LOAD,
	EXPLORER_FENCE_LOAD,
	EXPLORER_FENCE_LOAD_DEPENDS,
	EXPLORER_FENCE_STORE,
	EXPLORER_FENCE_MEMORY,
	EXPLORER_FENCE_ACQUIRE,
	EXPLORER_FENCE_RELEASE,
	EXPLORER_FENCE_ACQREL,
	EXPLORER_FENCE_LOCK,
	EXPLORER_FENCE_UNLOCK,
	EXPLORER_N_FENCES
};

uint64_t explorer_op_load(const void *target, unsigned int size,
			  struct explorer_site *site);
void explorer_op_store(void *target, unsigned int size, uint64_t value,
		       struct explorer_site *site);
/* Returns the value before. */
uint64_t explorer_op_rmw(void *target, unsigned int size, enum explorer_rmw op,
			 uint64_t operand, struct explorer_site *site);
/* Stores the value found in *found, also on success. */
bool explorer_op_cas(void *target, unsigned int size, uint64_t compare,
		     uint64_t set, uint64_t *found, struct explorer_site *site);
void explorer_op_fence(enum explorer_fence fence, struct explorer_site *site);
void explorer_op_stall(struct explorer_site *site);
int explorer_op_futex_wait(const uint32_t *word, uint32_t expected,
			   uint64_t timeout_ns, struct explorer_site *site);
void explorer_op_futex_wake(uint32_t *word, int n, struct explorer_site *site);

#endif
