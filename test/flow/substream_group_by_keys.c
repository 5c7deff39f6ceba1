/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys that somebody outside has chosen; looks into the table of groups. */
#include "flow/kit.h"

#include "../../lib/flow/operators/substream_group_by.c"
#include "base/random.h"

#define KEYS 2000

struct keys {
	uintptr_t at[KEYS];
	const struct weir__op *op; /* once it has groups */
};

static struct weir_flow *note_op(struct weir_flow *upstream, uintptr_t key,
				 void *context)
{
	struct keys *keys = context;

	keys->op = (*(struct weir__inner *const *)(const void *)upstream->args)
			   ->around;
	return upstream;
}

static size_t longest_chain(const struct groups *groups)
{
	const struct group *group;
	size_t longest = 0, n, i;

	for (i = 0; i < groups->n_buckets; i++) {
		n = 0;
		for (group = groups->buckets[i]; group; group = group->next)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* Of the last item it is asked when all others have their groups. */
static int key_of(void *item, uintptr_t *key, void *context)
{
	const struct keys *keys = context;
	const struct groups *groups;

	*key = keys->at[(intptr_t)item - 1];
	if ((intptr_t)item < KEYS)
		return 0;
	groups = (const void *)keys->op->state;
	assert_int_equal(groups->n, KEYS - 1);
	assert_in_range(longest_chain(groups), 1, 16);
	return 0;
}

static void group(struct keys *keys)
{
	struct weir_flow *flow = weir_flow_group_by(
		weir_flow_range(1, KEYS), KEYS, key_of, note_op, keys, NULL);
	struct weir_loop *loop;

	flow = weir_flow_ignore(flow);
	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	assert_int_equal(weir_flow_run(flow, weir_loop_executor(loop), NULL),
			 0);
	assert_non_null(keys->op);
	weir_flow_free(flow);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void ordinary_keys_are_spread(void **state)
{
	struct keys keys = {0};
	int i;

	for (i = 0; i < KEYS; i++)
		keys.at[i] = (uintptr_t)i;
	group(&keys);
}

static uint64_t unshift(uint64_t z, int by)
{
	uint64_t x = z;
	int i;

	for (i = 0; i < 64; i += by)
		x = z ^ x >> by;
	return x;
}

static uint64_t inverse(uint64_t of)
{
	uint64_t x = of;
	int i;

	for (i = 0; i < 6; i++)
		x *= 2 - of * x;
	return x;
}

/* What splitmix64 makes `z` of. */
static uint64_t unmixed(uint64_t z)
{
	z = unshift(z, 31) * inverse(0x94d049bb133111ebu);
	z = unshift(z, 27) * inverse(0xbf58476d1ce4e5b9u);
	return unshift(z, 30) - 0x9e3779b97f4a7c15u;
}

static void so_are_those_that_were_chosen_to_meet(void **state)
{
	struct keys keys = {0};
	uint64_t hash = (uint64_t)1 << 32, number = unmixed(hash);
	int i;

	assert_true(weir__splitmix(&number) == hash);
	for (i = 0; i < KEYS; i++)
		keys.at[i] = unmixed((uint64_t)i << 32);
	group(&keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_keys_are_spread),
		cmocka_unit_test(so_are_those_that_were_chosen_to_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
