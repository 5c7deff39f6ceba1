/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A count of references: a word, which starts as the number of references that
 * the object is made with.
 *
 * 1. A thread adds a reference while it has one, or while something else keeps
 *    the object there. Adding orders nothing: whoever is given the reference
 *    learns of it in a way that does.
 * 2. The count changes by one swap at a time, so for each time that it comes to
 *    0 there is one drop that has brought it there.
 * 3. What a thread did with the object before its drop happens before what
 *    comes after the last drop. Each drop has a release in front of it. The
 *    last drop reads the count that the drops before it have made, each out of
 *    the one before, and has an acquire behind it.
 * 4. A thread that has no reference may try to get one, as long as something
 *    else keeps the count's memory there. A count that is 0 stays 0.
 * 5. Where nobody tries that, who has `n` references and reads `n` has all of
 *    them, and nobody else can add to them. So they are dropped without a swap:
 *    the read of `n` is the last drop's.
 */
#ifndef WEIR_BASE_REFCOUNT_H
#define WEIR_BASE_REFCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <ck_pr.h>

/* Adds a reference: claim 1. Any thread; wait-free. */
static inline void weir__ref(uint32_t *refs)
{
	/* relaxed: the caller keeps the object there */
	ck_pr_inc_32(refs);
}

/* Adds a reference, unless the last one has been dropped: claim 4. Any thread;
 * lock-free. */
static inline bool weir__tryref(uint32_t *refs)
{
	uint32_t now = ck_pr_load_32(refs);

	/* relaxed: as weir__ref() */
	while (now)
		if (ck_pr_cas_32_value(refs, now, now + 1, &now))
			return true;
	return false;
}

/* Drops a reference: the caller's last touch, unless this is true: then it was
 * the last reference, and the object is the caller's. Any thread; wait-free. */
static inline bool weir__unref(uint32_t *refs)
{
	bool last;

	/* release: the caller's last touch; pairs with the acquire below */
	ck_pr_fence_release();
	ck_pr_dec_32_zero(refs, &last);
	if (!last)
		return false;
	/* acquire: the last touch of all others; pairs with the release above */
	ck_pr_fence_acquire();
	return true;
}

/* True: the caller has the only reference, where weir__tryref() is not used:
 * claim 5. What all others did with the object happened before. Any thread. */
static inline bool weir__ref_only(const uint32_t *refs)
{
	if (ck_pr_load_32(refs) != 1)
		return false;
	/* acquire: the last touch of all others; pairs with the release in
	 * front of each drop */
	ck_pr_fence_acquire();
	return true;
}

/* Drops `n` references where weir__tryref() is not used: claim 5. */
static inline bool weir__unref_strong(uint32_t *refs, uint32_t n)
{
	if (ck_pr_load_32(refs) != n) {
		/* release: the caller's last touch; pairs with the acquire
		 * below */
		ck_pr_fence_release();
		if (ck_pr_faa_32(refs, (uint32_t)-n) != n)
			return false;
	}
	/* acquire: the last touch of all others; pairs with the release above */
	ck_pr_fence_acquire();
	return true;
}

#endif
