/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of items: numbers, or what functions of the user's make of them. */
#ifndef WEIR_FLOW_SHARED_KEYS_H
#define WEIR_FLOW_SHARED_KEYS_H

#include <errno.h>

#include <weir/flow_substream.h>

#include "executor/registry.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"

/* Keys are numbers if `functions` are NULL all. */
struct weir__keys {
	struct weir_flow_key_functions functions;
	void *context;
};

static inline bool weir__keys_valid(const struct weir_flow_key_functions *keys)
{
	return !keys ||
	       (keys->hash && keys->equal && (keys->keep || !keys->drop));
}

static inline uint64_t weir__key_hash(const struct weir__keys *keys,
				      const struct weir__op *op, uintptr_t key)
{
	if (keys->functions.hash)
		return keys->functions.hash(key, keys->context);
	return weir__hash_word(weir__executor_key(op->island->actor.executor),
			       key);
}

static inline bool weir__key_equal(const struct weir__keys *keys, uintptr_t a,
				   uintptr_t b)
{
	return keys->functions.equal
		       ? keys->functions.equal(a, b, keys->context)
		       : a == b;
}

/* 0; or a negative errno, and the key is not kept. */
static inline int weir__key_keep(const struct weir__keys *keys, uintptr_t *key)
{
	int rc = keys->functions.keep ? keys->functions.keep(key, keys->context)
				      : 0;

	return rc > 0 ? -EINVAL : rc;
}

static inline void weir__key_drop(const struct weir__keys *keys, uintptr_t key)
{
	if (keys->functions.drop)
		keys->functions.drop(key, keys->context);
}

#endif
