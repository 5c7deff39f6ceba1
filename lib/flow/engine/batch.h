/* SPDX-License-Identifier: BSD-2-Clause */
/* Many items at once, into and out of the ports of an island. */
#ifndef WEIR_FLOW_ENGINE_BATCH_H
#define WEIR_FLOW_ENGINE_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weir/in.h>
#include <weir/out.h>

#define WEIR__TAKE_FEW 16u

/* Two items, as one store. */
typedef uintptr_t weir__pair __attribute__((
	vector_size(2 * sizeof(void *)), aligned(sizeof(void *)), may_alias));

/*
 * Takes `n` items that are available, as `n` calls of weir_in_take(). Some
 * items may have been put a moment ago, and are used a moment later. A load
 * waits until all its bytes are in the cache, unless a single store under way
 * has all of them: so items are loaded one by one (volatile: the compiler does
 * not join them), as they may have been stored, and stored in pairs, for loops
 * that take two at a time.
 */
static inline void weir__in_take_n(struct weir_in *in, void **items, size_t n)
{
	size_t at = in->head & in->mask, first = in->mask + (size_t)1 - at, i;
	const volatile struct weir__slot *slots = &in->slots[at];

	in->head += (uint32_t)n;
	if (n <= WEIR__TAKE_FEW && n <= first) {
		for (i = 0; i + 1 < n; i += 2)
			*(weir__pair *)(void *)&items[i] =
				(weir__pair){(uintptr_t)slots[i].item,
					     (uintptr_t)slots[i + 1].item};
		if (i < n)
			items[i] = slots[i].item;
		return;
	}
	if (first > n)
		first = n;
	memcpy(items, &in->slots[at], first * sizeof(*items));
	if (WEIR_UNLIKELY(first < n))
		memcpy(items + first, in->slots, (n - first) * sizeof(*items));
}

/* Puts `n` items that there is room for, as `n` calls of weir_out_put(). */
static inline void weir__out_put_n(struct weir_out *out, void *const *items,
				   size_t n)
{
	size_t at = out->tail & out->mask, first = out->mask + (size_t)1 - at;

	if (first > n)
		first = n;
	memcpy(&out->slots[at], items, first * sizeof(*items));
	if (WEIR_UNLIKELY(first < n))
		memcpy(out->slots, items + first, (n - first) * sizeof(*items));
	out->tail += (uint32_t)n;
}

#endif
