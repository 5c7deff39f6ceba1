/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers and subscribers over ports: a source of numbers, a stage that
 * passes everything on, and a sink that tells a subscriber of Java's what has
 * come and requests what that says, or what it has room for. Source and stage
 * may have a fan, to which all of their subscribers get every item.
 */
#include "bridge.h"

#include <ck_pr.h>

/* --- Source --------------------------------------------------------------- */

struct source {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_reactive_out reactive;
	int64_t next, last;
	struct weir_error *error; /* behind the last; NULL: it ends well */
};

static inline int source_turn(struct weir_actor *actor)
{
	struct source *self = weir_container_of(actor, struct source, actor);

	if (self->next <= self->last)
		weir_out_put(&self->out, (void *)(intptr_t)self->next++);
	if (self->next <= self->last)
		return 0;
	(void)weir_out_end(&self->out, self->error);
	return WEIR_TURN_END;
}
WEIR_TURN(source_turn)

static void source_released(struct weir_actor *actor)
{
	struct source *self = weir_container_of(actor, struct source, actor);

	weir_error_unref(self->error);
	bridge_free(self);
}

static const struct weir_actor_ops source_ops = {
	.name = "source",
	.turns = source_turn_n,
	.released = source_released,
};

/* What Java holds of a publisher. */
static void publisher_drop(void *publisher)
{
	struct weir_reactive_out *reactive =
		weir_container_of((struct weir_publisher *)publisher,
				  struct weir_reactive_out, publisher);

	weir_actor_unref(reactive->out->port.actor);
}

static jlong publisher_hold(struct weir_reactive_out *reactive)
{
	weir_actor_ref(reactive->out->port.actor);
	return bridge_held_new(&reactive->publisher, publisher_drop);
}

/* Starts it, if Java could be given what it holds of it; 0: it has ended. */
static jlong start(struct weir_actor *actor, jlong held)
{
	if (held && weir_actor_start(actor) == 0)
		return held;
	weir_actor_stop(actor);
	bridge_held_free(held);
	return 0;
}

/* A publisher of the out-port; with `fan` items of room: for many. */
static int publish(struct weir_reactive_out *reactive, struct weir_out *out,
		   jint fan)
{
	int rc = fan ? weir_out_fan(out, WEIR_FAN_BROADCAST, (size_t)fan) : 0;

	return rc < 0 ? rc : weir_reactive_out_init(reactive, out, NULL);
}

JNIEXPORT jlong JNICALL Java_weir_Subjects_newSource(JNIEnv *env, jclass class,
						     jlong n, jthrowable error,
						     jint fan)
{
	struct source *self = bridge_alloc(sizeof(*self));
	int rc;

	if (!self)
		return 0;
	self->next = 1;
	self->last = n;
	self->error = bridge_error_new(env, error);
	weir_actor_init(&self->actor, &source_ops, bridge_executor());
	weir_out_init(&self->out, &self->actor, NULL);
	rc = publish(&self->reactive, &self->out, fan);
	if (rc == 0 && n == 0) { /* needs no demand (1.5) */
		(void)weir_out_end(&self->out, self->error);
		rc = weir_actor_end(&self->actor);
	}
	return start(&self->actor,
		     rc == 0 ? publisher_hold(&self->reactive) : 0);
}

/* --- Stage ---------------------------------------------------------------- */

struct stage {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_in takes;
	struct weir_reactive_out gives;
};

static inline int stage_turn(struct weir_actor *actor)
{
	struct stage *self = weir_container_of(actor, struct stage, actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(stage_turn)

static void stage_released(struct weir_actor *actor)
{
	bridge_free(weir_container_of(actor, struct stage, actor));
}

static const struct weir_actor_ops stage_ops = {
	.name = "stage",
	.turns = stage_turn_n,
	.released = stage_released,
};

/* The publisher; Java gets the subscriber from subscriberOf(). */
JNIEXPORT jlong JNICALL Java_weir_Subjects_newStage(JNIEnv *env, jclass class,
						    jint capacity, jint fan)
{
	struct stage *self = bridge_alloc(sizeof(*self));
	int rc;

	if (!self)
		return 0;
	weir_actor_init(&self->actor, &stage_ops, bridge_executor());
	rc = weir_in_init(&self->in, &self->actor, (size_t)capacity,
			  &bridge_items);
	if (rc == 0)
		rc = weir_reactive_in_init(&self->takes, &self->in, NULL);
	weir_out_init(&self->out, &self->actor, &bridge_items);
	if (rc == 0)
		rc = publish(&self->gives, &self->out, fan);
	return start(&self->actor, rc == 0 ? publisher_hold(&self->gives) : 0);
}

JNIEXPORT jlong JNICALL Java_weir_Subjects_subscriberOf(JNIEnv *env,
							jclass class,
							jlong stage)
{
	struct stage *self = weir_container_of(
		(struct weir_publisher *)bridge_held_object(stage),
		struct stage, gives.publisher);

	return bridge_held_subscriber(&self->takes.subscriber);
}

/* --- Sink ----------------------------------------------------------------- */

#define SINK_CAPACITY 64

/*
 * Hands on to a subscriber of Java's, one item a turn, and requests upstream
 * what that requests (by hand), or what it has room for. Its subscription holds
 * the actor.
 */
struct sink {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_reactive_in reactive;
	struct weir_subscriber *to;
	struct weir_subscription subscription;
	bool by_hand;
	/* any thread */
	uint64_t wanted;
	uint32_t cancelled;
};

static inline int sink_turn(struct weir_actor *actor)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);
	void *item = weir_in_take(&self->in);
	int rc = self->to->ops->on_next(self->to, item);

	if (rc < 0)
		bridge_items.drop(item, NULL);
	return rc;
}
WEIR_TURN(sink_turn)

static int sink_ended(struct weir_actor *actor, struct weir_in *in,
		      struct weir_error *error)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);

	if (error)
		(void)self->to->ops->on_error(self->to, error);
	else
		(void)self->to->ops->on_complete(self->to);
	return weir_actor_end(actor);
}

static int sink_signalled(struct weir_actor *actor)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);
	uint64_t n = ck_pr_fas_64(&self->wanted, 0);

	if (ck_pr_load_32(&self->cancelled))
		return weir_actor_end(actor);
	return n ? weir_reactive_in_request(&self->reactive, (int64_t)n) : 0;
}

static void sink_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);

	weir_subscriber_unref(self->to);
	weir_subscription_unref(&self->subscription);
}

static void sink_released(struct weir_actor *actor)
{
	bridge_free(weir_container_of(actor, struct sink, actor));
}

static const struct weir_actor_ops sink_ops = {
	.name = "sink",
	.turns = sink_turn_n,
	.ended = sink_ended,
	.signalled = sink_signalled,
	.stopped = sink_stopped,
	.released = sink_released,
};

/* Not more than SINK_CAPACITY at once, or the sink fails. */
static void sink_request(struct weir_subscription *subscription, int64_t n)
{
	struct sink *self =
		weir_container_of(subscription, struct sink, subscription);

	if (!self->by_hand)
		return;
	ck_pr_add_64(&self->wanted, (uint64_t)n);
	weir_actor_signal(&self->actor);
}

static void sink_cancel(struct weir_subscription *subscription)
{
	struct sink *self =
		weir_container_of(subscription, struct sink, subscription);

	ck_pr_store_32(&self->cancelled, 1);
	weir_actor_signal(&self->actor);
}

static void sink_unheld(struct weir_subscription *subscription)
{
	weir_actor_unref(
		&weir_container_of(subscription, struct sink, subscription)
			 ->actor);
}

static const struct weir_subscription_ops sink_subscription_ops = {
	.request = sink_request,
	.cancel = sink_cancel,
	.released = sink_unheld,
};

static int sink_init(struct sink *self)
{
	struct weir_reactive_in_options by_hand = {.demand = weir_demand_zero};
	int rc = weir_in_init(&self->in, &self->actor, SINK_CAPACITY,
			      &bridge_items);

	if (rc == 0)
		rc = weir_reactive_in_init(&self->reactive, &self->in,
					   self->by_hand ? &by_hand : NULL);
	if (rc == 0)
		rc = self->to->ops->on_subscribe(self->to, &self->subscription);
	return rc;
}

JNIEXPORT jlong JNICALL Java_weir_Subjects_newSink(JNIEnv *env, jclass class,
						   jobject subscriber,
						   jboolean by_hand)
{
	struct sink *self = bridge_alloc(sizeof(*self));
	jlong held = 0;
	int rc;

	if (!self)
		return 0;
	self->to = weir_subscriber_ref(bridge_subscriber_new(env, subscriber));
	if (!self->to) {
		bridge_free(self);
		return 0;
	}
	self->by_hand = by_hand;
	weir_actor_init(&self->actor, &sink_ops, bridge_executor());
	weir_actor_ref(&self->actor);
	weir_subscription_init(&self->subscription, &sink_subscription_ops,
			       &bridge_items);
	rc = sink_init(self);
	if (rc == 0)
		held = bridge_held_subscriber(&self->reactive.subscriber);
	return start(&self->actor, held);
}
