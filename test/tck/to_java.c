/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ours as Java's: the native methods of the classes in java/weir. Each gets
 * the address of what its object holds, and that object itself, which keeps
 * that there until the method returns.
 */
#include "bridge.h"

jlong bridge_held_new(void *object, void (*drop)(void *object))
{
	struct bridge_held *held = bridge_alloc(sizeof(*held));

	if (!held) {
		drop(object);
		return 0;
	}
	held->object = object;
	held->drop = drop;
	return (jlong)(intptr_t)held;
}

static void subscriber_drop(void *subscriber)
{
	weir_subscriber_unref(subscriber);
}

jlong bridge_held_subscriber(struct weir_subscriber *subscriber)
{
	return bridge_held_new(weir_subscriber_ref(subscriber),
			       subscriber_drop);
}

void *bridge_held_object(jlong held)
{
	return ((struct bridge_held *)(intptr_t)held)->object;
}

void bridge_held_free(jlong address)
{
	struct bridge_held *held = (struct bridge_held *)(intptr_t)address;

	if (!held)
		return;
	held->drop(held->object);
	bridge_free(held);
}

JNIEXPORT void JNICALL Java_weir_Held_drop(JNIEnv *env, jclass class,
					   jlong held)
{
	bridge_held_free(held);
}

JNIEXPORT jlong JNICALL Java_weir_Held_object(JNIEnv *env, jobject self,
					      jlong held)
{
	return (jlong)(intptr_t)bridge_held_object(held);
}

/* --- Publisher ------------------------------------------------------------ */

JNIEXPORT void JNICALL Java_weir_WeirPublisher_subscribe(JNIEnv *env,
							 jobject self,
							 jlong held,
							 jobject subscriber)
{
	struct weir_publisher *from = bridge_held_object(held);
	struct weir_subscriber *to = NULL;

	if (subscriber) {
		to = bridge_subscriber_new(env, subscriber);
		if (!to) {
			bridge_throw(env, -ENOMEM);
			return;
		}
	}
	weir_subscriber_ref(to);
	/* not weir_publisher_subscribe(), which would refuse null for it */
	bridge_throw(env, from->ops->subscribe(from, to));
	weir_subscriber_unref(to);
}

/* --- Subscription --------------------------------------------------------- */

JNIEXPORT void JNICALL Java_weir_WeirSubscription_request(JNIEnv *env,
							  jobject self,
							  jlong held, jlong n)
{
	weir_subscription_request(bridge_held_object(held), n);
}

JNIEXPORT void JNICALL Java_weir_WeirSubscription_cancel(JNIEnv *env,
							 jobject self,
							 jlong held)
{
	weir_subscription_cancel(bridge_held_object(held));
}

/* --- Subscriber: what its signals return, Java deals with ----------------- */

JNIEXPORT jint JNICALL Java_weir_WeirSubscriber_onSubscribe(
	JNIEnv *env, jobject self, jlong held, jobject subscription)
{
	struct weir_subscriber *subscriber = bridge_held_object(held);
	struct weir_subscription *from = NULL;
	int rc;

	if (subscription) {
		from = bridge_subscription_new(env, subscription);
		if (!from)
			return -ENOMEM;
	}
	rc = subscriber->ops->on_subscribe(subscriber, from);
	/* Java's publisher keeps its own: ours is the subscriber's alone. */
	weir_subscription_unref(from);
	return rc;
}

JNIEXPORT jint JNICALL Java_weir_WeirSubscriber_onNext(JNIEnv *env,
						       jobject self, jlong held,
						       jobject object)
{
	struct weir_subscriber *subscriber = bridge_held_object(held);
	void *item = bridge_item_new(env, object);
	int rc;

	if (object && !item)
		return -ENOMEM;
	rc = subscriber->ops->on_next(subscriber, item);
	if (rc != 0 && item)
		bridge_items.drop(item, NULL);
	return rc;
}

JNIEXPORT jint JNICALL Java_weir_WeirSubscriber_onError(JNIEnv *env,
							jobject self,
							jlong held,
							jthrowable throwable)
{
	struct weir_subscriber *subscriber = bridge_held_object(held);
	struct weir_error *error = bridge_error_new(env, throwable);
	int rc = subscriber->ops->on_error(subscriber, error);

	weir_error_unref(error);
	return rc;
}

JNIEXPORT jint JNICALL Java_weir_WeirSubscriber_onComplete(JNIEnv *env,
							   jobject self,
							   jlong held)
{
	struct weir_subscriber *subscriber = bridge_held_object(held);

	return subscriber->ops->on_complete(subscriber);
}
