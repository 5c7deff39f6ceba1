/* SPDX-License-Identifier: BSD-2-Clause */
/* Items whose keys have not come before. */
#include <weir/flow_element.h>

#include <assert.h>
#include <errno.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/element_each.h"
#include "flow/shared/keys.h"

struct unique {
	size_t n;
	int (*key)(void *item, uintptr_t *key, void *context);
	void *context;
	struct weir__keys keys;
};

/* A key that is remembered. */
struct known {
	struct known *next; /* in its bucket */
	uint64_t hash;
	uintptr_t key;
};

/* `all` is filled from its beginning to its end, again and again: so `at` is
 * the oldest when all are in use. */
struct uniques {
	struct known *all;
	struct known **buckets; /* as many as there are keys at least */
	size_t n, at;
	size_t mask;
};

/* The next power of two. */
static size_t n_buckets(size_t n)
{
	size_t buckets = 1;

	while (buckets < n)
		buckets *= 2;
	return buckets;
}

static void free_table(struct weir__op *op)
{
	const struct unique *args = weir__op_args(op);
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct uniques *self = weir__op_state(op);

	weir__free(allocator, self->all, args->n * sizeof(*self->all));
	weir__free(allocator, self->buckets,
		   n_buckets(args->n) * sizeof(*self->buckets));
	self->all = NULL;
	self->buckets = NULL;
}

static int distinct_open(struct weir__op *op)
{
	const struct unique *args = weir__op_args(op);
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct uniques *self = weir__op_state(op);

	self->mask = n_buckets(args->n) - 1;
	self->all = weir__alloc(allocator, args->n * sizeof(*self->all));
	self->buckets = weir__alloc(allocator,
				    (self->mask + 1) * sizeof(*self->buckets));
	if (self->all && self->buckets)
		return 0;
	free_table(op);
	return -ENOMEM;
}

static void distinct_close(struct weir__op *op)
{
	const struct unique *args = weir__op_args(op);
	struct uniques *self = weir__op_state(op);

	while (self->n > 0)
		weir__key_drop(&args->keys, self->all[--self->n].key);
	free_table(op);
}

static bool is_known(struct weir__op *op, uint64_t hash, uintptr_t key)
{
	const struct unique *args = weir__op_args(op);
	struct uniques *self = weir__op_state(op);
	const struct known *known = self->buckets[hash & self->mask];

	while (known && !(known->hash == hash &&
			  weir__key_equal(&args->keys, known->key, key)))
		known = known->next;
	return known;
}

static void forget(struct weir__op *op, struct known *known)
{
	const struct unique *args = weir__op_args(op);
	struct uniques *self = weir__op_state(op);
	struct known **link = &self->buckets[known->hash & self->mask];

	while (*link != known) {
		assert(*link);
		link = &(*link)->next;
	}
	*link = known->next;
	weir__key_drop(&args->keys, known->key);
}

/* Remembers a key, in place of the oldest if there are as many as may be. */
static void remember(struct weir__op *op, uint64_t hash, uintptr_t key)
{
	const struct unique *args = weir__op_args(op);
	struct uniques *self = weir__op_state(op);
	struct known **bucket = &self->buckets[hash & self->mask];
	struct known *known = &self->all[self->at];

	assert(self->n == args->n || self->n == self->at);
	if (self->n == args->n)
		forget(op, known);
	else
		self->n++;
	*known = (struct known){*bucket, hash, key};
	*bucket = known;
	self->at = self->at + 1 == args->n ? 0 : self->at + 1;
}

static int distinct_step(struct weir__op *op, void **item)
{
	const struct unique *args = weir__op_args(op);
	uintptr_t key = (uintptr_t)*item;
	uint64_t hash;
	int rc = args->key ? args->key(*item, &key, args->context) : 0;

	if (rc != 0)
		return rc < 0 ? rc : -EINVAL;
	hash = weir__key_hash(&args->keys, op, key);
	if (is_known(op, hash, key))
		return WEIR__EACH_DROP;
	rc = weir__key_keep(&args->keys, &key);
	if (rc < 0)
		return rc;
	remember(op, hash, key);
	return WEIR__EACH_PUT;
}

static size_t distinct_apply(struct weir__op *op, void **items, size_t n)
{
	return weir__each(op, items, n, distinct_step);
}

static const struct weir__kind distinct_kind = {
	.name = "distinct",
	.state_size = sizeof(struct uniques),
	.open = distinct_open,
	.pull = weir__apply_pull,
	.apply = distinct_apply,
	.close = distinct_close,
};

struct weir_flow *weir_flow_distinct(struct weir_flow *flow, size_t n,
				     int (*key)(void *item, uintptr_t *key,
						void *context),
				     void *context,
				     const struct weir_flow_key_functions *keys)
{
	struct unique args = {
		.n = n,
		.key = key,
		.context = context,
		.keys.context = context,
	};

	if (keys)
		args.keys.functions = *keys;
	flow = weir__flow_upon(&distinct_kind, flow, &args, sizeof(args),
			       weir__size_valid(n) && weir__keys_valid(keys));
	flow = weir__flow_wrong_size(flow, &distinct_kind, "n", n);
	return weir__flow_wrong(flow, &distinct_kind, "keys lacks a function");
}
