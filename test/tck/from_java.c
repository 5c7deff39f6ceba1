/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Java's as ours: a subscriber, a subscription and a publisher that call a Java
 * object. Each holds a global reference of it, which goes when nobody holds
 * ours any more: a subscriber's when its publisher has sent the last signal or
 * seen the cancel, so that Java can collect it (3.13).
 */
#include "bridge.h"

/* --- Subscription --------------------------------------------------------- */

struct java_subscription {
	struct weir_subscription subscription;
	jobject object;
};

static void java_request(struct weir_subscription *subscription, int64_t n)
{
	struct java_subscription *self = weir_container_of(
		subscription, struct java_subscription, subscription);
	JNIEnv *env = bridge_enter();

	if (!env)
		return;
	(*env)->CallVoidMethod(env, self->object, bridge_java.request,
			       (jlong)n);
	(void)bridge_leave(env);
}

static void java_cancel(struct weir_subscription *subscription)
{
	struct java_subscription *self = weir_container_of(
		subscription, struct java_subscription, subscription);
	JNIEnv *env = bridge_enter();

	if (!env)
		return;
	(*env)->CallVoidMethod(env, self->object, bridge_java.cancel);
	(void)bridge_leave(env);
}

static void java_subscription_released(struct weir_subscription *subscription)
{
	struct java_subscription *self = weir_container_of(
		subscription, struct java_subscription, subscription);
	JNIEnv *env = bridge_env();

	if (env)
		bridge_drop(env, self->object);
	bridge_free(self);
}

static const struct weir_subscription_ops java_subscription_ops = {
	.request = java_request,
	.cancel = java_cancel,
	.released = java_subscription_released,
};

struct weir_subscription *bridge_subscription_new(JNIEnv *env,
						  jobject subscription)
{
	struct java_subscription *self = bridge_alloc(sizeof(*self));

	if (!self)
		return NULL;
	self->object = bridge_hold(env, subscription);
	if (!self->object) {
		bridge_free(self);
		return NULL;
	}
	weir_subscription_init(&self->subscription, &java_subscription_ops,
			       &bridge_items);
	return &self->subscription;
}

/* --- Subscriber ----------------------------------------------------------- */

struct java_subscriber {
	struct weir_subscriber subscriber;
	jobject object;
	const struct weir_items *items; /* of its stream */
};

static struct java_subscriber *java_subscriber(
	struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct java_subscriber,
				 subscriber);
}

static void subscription_drop(void *subscription)
{
	weir_subscription_unref(subscription);
}

/* A local reference, or NULL. */
static jobject wrap(JNIEnv *env, struct weir_subscription *subscription)
{
	jlong held = bridge_held_new(weir_subscription_ref(subscription),
				     subscription_drop);

	if (!held)
		return NULL;
	return (*env)->NewObject(env, bridge_java.subscription,
				 bridge_java.new_subscription, held);
}

static int java_on_subscribe(struct weir_subscriber *subscriber,
			     struct weir_subscription *subscription)
{
	struct java_subscriber *self = java_subscriber(subscriber);
	jobject object;
	JNIEnv *env;

	if (!subscription)
		return -EINVAL;
	/* Items that Java could not hold. */
	if (subscription->items && subscription->items != &bridge_items)
		return -ENOTSUP;
	env = bridge_enter();
	if (!env)
		return -ENOMEM;
	self->items = subscription->items;
	object = wrap(env, subscription);
	if (object)
		(*env)->CallVoidMethod(env, self->object,
				       bridge_java.on_subscribe, object);
	return bridge_leave(env) < 0 ? -EPROTO : object ? 0 : -ENOMEM;
}

static int java_on_next(struct weir_subscriber *subscriber, void *item)
{
	struct java_subscriber *self = java_subscriber(subscriber);
	jobject object;
	JNIEnv *env;
	int rc;

	if (!item)
		return -EINVAL;
	env = bridge_enter();
	if (!env)
		return -ENOMEM;
	object = bridge_item_object(env, self->items, item);
	if (object)
		(*env)->CallVoidMethod(env, self->object, bridge_java.on_next,
				       object);
	rc = bridge_leave(env);
	if (rc == 0 && !object)
		rc = -ENOMEM;
	if (rc == 0 && self->items)
		self->items->drop(item, self->items->context);
	return rc;
}

static int java_on_error(struct weir_subscriber *subscriber,
			 struct weir_error *error)
{
	struct java_subscriber *self = java_subscriber(subscriber);
	jthrowable throwable;
	JNIEnv *env;

	if (!error)
		return -EINVAL;
	env = bridge_enter();
	if (!env)
		return -ENOMEM;
	throwable = bridge_throwable(env, error);
	if (throwable)
		(*env)->CallVoidMethod(env, self->object, bridge_java.on_error,
				       throwable);
	return bridge_leave(env) < 0 ? -EPROTO : throwable ? 0 : -ENOMEM;
}

static int java_on_complete(struct weir_subscriber *subscriber)
{
	struct java_subscriber *self = java_subscriber(subscriber);
	JNIEnv *env = bridge_enter();

	if (!env)
		return -ENOMEM;
	(*env)->CallVoidMethod(env, self->object, bridge_java.on_complete);
	return bridge_leave(env);
}

static void java_subscriber_released(struct weir_subscriber *subscriber)
{
	struct java_subscriber *self = java_subscriber(subscriber);
	JNIEnv *env = bridge_env();

	if (env)
		bridge_drop(env, self->object);
	bridge_free(self);
}

static const struct weir_subscriber_ops java_subscriber_ops = {
	.on_subscribe = java_on_subscribe,
	.on_next = java_on_next,
	.on_error = java_on_error,
	.on_complete = java_on_complete,
	.released = java_subscriber_released,
};

struct weir_subscriber *bridge_subscriber_new(JNIEnv *env, jobject subscriber)
{
	struct java_subscriber *self = bridge_alloc(sizeof(*self));

	if (!self)
		return NULL;
	self->object = bridge_hold(env, subscriber);
	if (!self->object) {
		bridge_free(self);
		return NULL;
	}
	weir_subscriber_init(&self->subscriber, &java_subscriber_ops);
	return &self->subscriber;
}

/* --- Publisher ------------------------------------------------------------ */

struct java_publisher {
	struct weir_publisher publisher;
	jobject object;
};

/* Java's part is Bridge.subscribe(): what is thrown there becomes on_error. */
static int java_subscribe(struct weir_publisher *publisher,
			  struct weir_subscriber *subscriber)
{
	struct java_publisher *self =
		weir_container_of(publisher, struct java_publisher, publisher);
	JNIEnv *env;
	jlong held;

	if (!subscriber)
		return -EINVAL;
	held = bridge_held_subscriber(subscriber);
	env = held ? bridge_enter() : NULL;
	if (!env) {
		bridge_held_free(held);
		(void)weir_subscriber_reject(subscriber,
					     weir_error_of(-ENOMEM));
		return 0;
	}
	(*env)->CallStaticVoidMethod(env, bridge_java.bridge,
				     bridge_java.subscribe, self->object, held);
	(void)bridge_leave(env);
	return 0;
}

static const struct weir_publisher_ops java_publisher_ops = {
	.subscribe = java_subscribe,
};

struct weir_publisher *bridge_publisher_new(JNIEnv *env, jobject publisher)
{
	struct java_publisher *self = bridge_alloc(sizeof(*self));

	if (!self)
		return NULL;
	self->object = bridge_hold(env, publisher);
	if (!self->object) {
		bridge_free(self);
		return NULL;
	}
	self->publisher.ops = &java_publisher_ops;
	return &self->publisher;
}

void bridge_publisher_free(struct weir_publisher *publisher)
{
	struct java_publisher *self =
		weir_container_of(publisher, struct java_publisher, publisher);
	JNIEnv *env = bridge_env();

	if (env)
		bridge_drop(env, self->object);
	bridge_free(self);
}
