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
		assert_int_equal(weir_delay_for(&self->delay, self->wait_ns),
				 0);
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
		.wait_ns = HOUR_NS,
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

/* --- Outsiders ------------------------------------------------------------ */

static struct outsider *as_subscriber(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct outsider, subscriber);
}

static void requested(struct weir_subscription *subscription, int64_t n)
{
	weir_container_of(subscription, struct outsider, subscription)
		->requested += n;
}

static void cancelled(struct weir_subscription *subscription)
{
	struct outsider *self =
		weir_container_of(subscription, struct outsider, subscription);

	weir_subscriber_unref(self->to);
	self->to = NULL;
	weir_subscription_unref(subscription);
}

static const struct weir_subscription_ops subscription_ops = {
	.request = requested,
	.cancel = cancelled,
};

static int subscribed(struct weir_publisher *publisher,
		      struct weir_subscriber *subscriber)
{
	struct outsider *self =
		weir_container_of(publisher, struct outsider, publisher);

	assert_null(self->to);
	assert_int_equal(weir_subscription_init(&self->subscription,
						&subscription_ops, NULL),
			 0);
	self->to = weir_subscriber_ref(subscriber);
	return subscriber->ops->on_subscribe(subscriber, &self->subscription);
}

static const struct weir_publisher_ops publisher_ops = {
	.subscribe = subscribed,
};

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	as_subscriber(subscriber)->from = weir_subscription_ref(subscription);
	return 0;
}

static int on_next(struct weir_subscriber *subscriber, void *it)
{
	as_subscriber(subscriber)->received++;
	return 0;
}

static int on_complete(struct weir_subscriber *subscriber)
{
	weir_subscription_unref(as_subscriber(subscriber)->from);
	as_subscriber(subscriber)->from = NULL;
	return 0;
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	return on_complete(subscriber);
}

static const struct weir_subscriber_ops subscriber_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_error = on_error,
	.on_complete = on_complete,
};

void outsider_init(struct outsider *outsider)
{
	*outsider = (struct outsider){.publisher.ops = &publisher_ops};
	assert_int_equal(weir_subscriber_init(&outsider->subscriber,
					      &subscriber_ops),
			 0);
}

void outsider_send(struct outsider *outsider, size_t n)
{
	for (; n > 0; n--)
		assert_int_equal(
			outsider->to->ops->on_next(outsider->to, &item), 0);
}

void outsider_complete(struct outsider *outsider)
{
	assert_int_equal(outsider->to->ops->on_complete(outsider->to), 0);
	weir_subscriber_unref(outsider->to);
	outsider->to = NULL;
	weir_subscription_unref(&outsider->subscription);
}

void outsider_request(struct outsider *outsider, int64_t n)
{
	weir_subscription_request(outsider->from, n);
}

void outsider_cancel(struct outsider *outsider)
{
	weir_subscription_cancel(outsider->from);
	weir_subscription_unref(outsider->from);
	outsider->from = NULL;
}

/* --- Looks ---------------------------------------------------------------- */

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
