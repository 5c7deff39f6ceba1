/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/hierarchy_types.h"

/* --- Chance --------------------------------------------------------------- */

uint32_t below(uint64_t *random, uint32_t bound)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ z >> 31) >> 32) % bound;
}

bool strikes(struct hierarchy *hierarchy, uint64_t *random, uint32_t n)
{
	if (ck_pr_load_8((uint8_t *)&hierarchy->calm) || below(random, n))
		return false;
	if ((int32_t)ck_pr_faa_32(&hierarchy->faults, (uint32_t)-1) > 0)
		return true;
	ck_pr_inc_32(&hierarchy->faults);
	return false;
}

/* --- Memory --------------------------------------------------------------- */

static void *memory_alloc(size_t size, void *context)
{
	struct memory *memory = context;
	uint64_t random = ck_pr_faa_32(&memory->calls, 1);

	if (memory->fails && !below(&random, memory->fails))
		return NULL;
	ck_pr_inc_32(&memory->live);
	return malloc(size);
}

static void memory_free(void *block, size_t size, void *context)
{
	struct memory *memory = context;

	ck_pr_dec_32(&memory->live);
	free(block);
}

void memory_init(struct memory *memory)
{
	*memory = (struct memory){
		.allocator = {memory_alloc, memory_free, memory},
	};
}

/* --- Who there is --------------------------------------------------------- */

struct node *node_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct node, actor);
}

struct weir_actor_id any_ref(struct hierarchy *hierarchy, uint64_t *random)
{
	struct weir_actor_id ref;
	uint64_t packed;
	uint32_t n = 8;

	do {
		packed = ck_pr_load_64(
			&hierarchy->known[below(random, hierarchy->n_known)]);
		ref = (struct weir_actor_id){(uint32_t)packed,
					     (uint32_t)(packed >> 32)};
	} while (--n && !weir_system_is_alive(hierarchy->system, ref));
	return ref;
}

void make_known(struct hierarchy *hierarchy, uint64_t *random,
		struct weir_actor_id ref)
{
	ck_pr_store_64(&hierarchy->known[below(random, hierarchy->n_known)],
		       (uint64_t)ref.generation << 32 | ref.slot);
}

void register_node(struct node *self)
{
	struct node **slot = &self->hierarchy->slots[self->ref.slot], *first;

	assert_true(self->ref.slot < SLOTS);
	do {
		first = ck_pr_load_ptr(slot);
		self->next_in_slot = first;
		ck_pr_fence_release(); /* of all in it; partner: find_node() */
	} while (!ck_pr_cas_ptr(slot, first, self));
}

struct node *find_node(struct hierarchy *hierarchy, struct weir_actor_id ref)
{
	struct node *node = ck_pr_load_ptr(&hierarchy->slots[ref.slot]);

	ck_pr_fence_acquire(); /* partner: register_node() */
	while (node && !weir_actor_id_equal(node->ref, ref))
		node = node->next_in_slot;
	return node;
}
