/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/kit.h"

#define HOUR_NS UINT64_C(3600000000000)

static char item;

static uint32_t turns(struct weir_actor *actor, uint32_t n)
{
	struct node *self = weir_container_of(actor, struct node, actor);
	uint32_t done;
	size_t i;

	for (done = 0; done < n && !weir_actor_interrupted(actor); done++) {
		if (self->before)
			self->before(self);
		for (i = 0; i < self->n_ins; i++)
			assert_ptr_equal(weir_in_take(&self->ins[i]), &item);
		for (i = 0; i < self->n_outs; i++)
			assert_int_equal(weir_out_put(&self->outs[i], &item),
					 0);
		if (self->permit.port.actor)
			assert_int_equal(
				weir_semaphore_port_take(&self->permit, 1), 0);
		if (!self->waits)
			continue;
		assert_int_equal(weir_delay_for(&self->delay, HOUR_NS), 0);
		return done + 1;
	}
	return done;
}

void node_init(struct node *node, struct weir_executor *executor,
	       const char *name, size_t n_ins, size_t n_outs)
{
	size_t i;

	*node = (struct node){
		.ops = {.name = name, .turns = turns},
		.n_ins = n_ins,
		.n_outs = n_outs,
	};
	assert_int_equal(weir_actor_init(&node->actor, &node->ops, executor),
			 0);
	for (i = 0; i < n_ins; i++)
		assert_int_equal(
			weir_in_init(&node->ins[i], &node->actor, 4, NULL), 0);
	for (i = 0; i < n_outs; i++)
		assert_int_equal(
			weir_out_init(&node->outs[i], &node->actor, NULL), 0);
}

void node_waits(struct node *node)
{
	node->waits = true;
	assert_int_equal(weir_delay_init(&node->delay, &node->actor), 0);
	assert_int_equal(weir_delay_until(&node->delay, 0), 0);
}

void node_link(struct node *from, size_t out, struct node *to, size_t in)
{
	assert_int_equal(weir_out_link(&from->outs[out], &to->ins[in]), 0);
}

void node_put(struct node *node, size_t in)
{
	assert_int_equal(weir_in_put(&node->ins[in], &item), 0);
}

void node_start(struct node *node)
{
	assert_int_equal(weir_actor_start(&node->actor), 0);
}

void node_stop(struct node *node)
{
	weir_actor_stop(&node->actor);
}

struct weir_snapshot *taken(struct weir_executor *executor)
{
	struct weir_snapshot *snapshot;

	assert_int_equal(weir_snapshot_new(&snapshot, &executor, 1, 1), 0);
	return snapshot;
}

const char *why(struct weir_executor *executor, const struct node *node)
{
	static char text[2048];
	struct weir_snapshot *snapshot = taken(executor);
	size_t actor = WEIR_NOWHERE;

	if (node) {
		actor = weir_snapshot_find(snapshot, &node->actor);
		assert_int_not_equal(actor, WEIR_NOWHERE);
	}
	assert_true(snapshot->settled);
	assert_in_range(weir_snapshot_why_text(snapshot, actor, text,
					       sizeof(text)),
			1, sizeof(text) - 1);
	weir_snapshot_free(snapshot);
	return text;
}
