/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subscriber by hand that wants the numbers 1, 2, 3 and so on, in batches. It
 * cancels or breaks where it is told to, and Java can ask what it has seen.
 */
#include "bridge.h"

#include <pthread.h>

/* Beside these only 0, nothing yet. As in Collector.java. */
enum { COMPLETE = 1, ERROR = 2, CANCELLED = 3, BROKEN = 4 };

struct collector {
	struct weir_subscriber subscriber;
	/* set up once; 0: never */
	int64_t batch, cancel_at, break_at;
	/* its publisher's thread */
	struct weir_subscription *subscription;
	const struct weir_items *items;
	int64_t requested;
	/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t received; /* -1: one came out of order */
	struct weir_error *error;
	int outcome;
};

static struct collector *collector(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct collector, subscriber);
}

/*
 * Lets go of the subscription (2.4): what it holds of Java's would otherwise
 * stay for as long as this does, and this with it if it is held there.
 */
static void collector_end(struct collector *self, int outcome,
			  struct weir_error *error)
{
	weir_subscription_unref(self->subscription);
	self->subscription = NULL;
	pthread_mutex_lock(&self->lock);
	if (!self->outcome) {
		self->outcome = outcome;
		self->error = weir_error_ref(error);
	}
	pthread_cond_broadcast(&self->changed);
	pthread_mutex_unlock(&self->lock);
}

static void collector_request(struct collector *self)
{
	/* It may end before `request` returns (3.11). */
	struct weir_subscription *from =
		weir_subscription_ref(self->subscription);

	self->requested += self->batch;
	weir_subscription_request(from, self->batch);
	weir_subscription_unref(from);
}

static int collector_on_subscribe(struct weir_subscriber *subscriber,
				  struct weir_subscription *subscription)
{
	struct collector *self = collector(subscriber);

	if (!subscription)
		return -EINVAL;
	if (self->requested) {
		weir_subscription_cancel(subscription);
		return 0;
	}
	self->subscription = weir_subscription_ref(subscription);
	self->items = subscription->items;
	collector_request(self);
	return 0;
}

/* Says how many there are now, or -1. */
static int64_t collector_count(struct collector *self, int64_t number)
{
	int64_t received;

	pthread_mutex_lock(&self->lock);
	if (self->received >= 0)
		self->received = number == self->received + 1 ? number : -1;
	received = self->received;
	pthread_mutex_unlock(&self->lock);
	return received;
}

static int collector_on_next(struct weir_subscriber *subscriber, void *item)
{
	struct collector *self = collector(subscriber);
	int64_t number, received;

	if (!item)
		return -EINVAL;
	number = bridge_item_number(self->items, item);
	if (number == self->break_at) {
		collector_end(self, BROKEN, NULL);
		return -EIO;
	}
	if (self->items)
		self->items->drop(item, self->items->context);
	if (self->outcome)
		return 0; /* was under way when this cancelled (2.8) */
	received = collector_count(self, number);
	if (received == self->cancel_at) {
		weir_subscription_cancel(self->subscription);
		collector_end(self, CANCELLED, NULL);
	} else if (received == self->requested) {
		collector_request(self);
	}
	return 0;
}

static int collector_on_error(struct weir_subscriber *subscriber,
			      struct weir_error *error)
{
	if (!error)
		return -EINVAL;
	collector_end(collector(subscriber), ERROR, error);
	return 0;
}

static int collector_on_complete(struct weir_subscriber *subscriber)
{
	collector_end(collector(subscriber), COMPLETE, NULL);
	return 0;
}

static void collector_released(struct weir_subscriber *subscriber)
{
	struct collector *self = collector(subscriber);

	weir_subscription_unref(self->subscription);
	weir_error_unref(self->error);
	pthread_cond_destroy(&self->changed);
	pthread_mutex_destroy(&self->lock);
	bridge_free(self);
}

static const struct weir_subscriber_ops collector_ops = {
	.on_subscribe = collector_on_subscribe,
	.on_next = collector_on_next,
	.on_error = collector_on_error,
	.on_complete = collector_on_complete,
	.released = collector_released,
};

JNIEXPORT jlong JNICALL Java_weir_Collector_make(JNIEnv *env, jclass class,
						 jlong batch, jlong cancel_at,
						 jlong break_at)
{
	struct collector *self = bridge_alloc(sizeof(*self));

	if (!self)
		return 0;
	weir_subscriber_init(&self->subscriber, &collector_ops);
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->changed, NULL);
	self->batch = batch;
	self->cancel_at = cancel_at;
	self->break_at = break_at;
	return bridge_held_subscriber(&self->subscriber);
}

JNIEXPORT jlong JNICALL Java_weir_Collector_received(JNIEnv *env, jobject java,
						     jlong held)
{
	struct collector *self = collector(bridge_held_object(held));
	int64_t received;

	pthread_mutex_lock(&self->lock);
	received = self->received;
	pthread_mutex_unlock(&self->lock);
	return received;
}

/* Waits for as long as it takes: who runs this has a timeout of its own. */
JNIEXPORT jint JNICALL Java_weir_Collector_end(JNIEnv *env, jobject java,
					       jlong held)
{
	struct collector *self = collector(bridge_held_object(held));
	int outcome;

	pthread_mutex_lock(&self->lock);
	while (!self->outcome)
		pthread_cond_wait(&self->changed, &self->lock);
	outcome = self->outcome;
	pthread_mutex_unlock(&self->lock);
	return outcome;
}

/* Of one whose outcome is ERROR. */
JNIEXPORT jthrowable JNICALL Java_weir_Collector_error(JNIEnv *env,
						       jobject java, jlong held)
{
	struct collector *self = collector(bridge_held_object(held));

	return bridge_throwable(env, self->error);
}

JNIEXPORT void JNICALL Java_weir_Collector_subscribe(JNIEnv *env, jobject java,
						     jobject publisher,
						     jlong held)
{
	struct weir_publisher *from = bridge_publisher_new(env, publisher);

	if (!from) {
		bridge_throw(env, -ENOMEM);
		return;
	}
	bridge_throw(env,
		     weir_publisher_subscribe(from, bridge_held_object(held)));
	bridge_publisher_free(from);
}
