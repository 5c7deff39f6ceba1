/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The publisher probe sends the signals that the test tells it to, counts the
 * calls of its subscriber, and keeps the rules unless told otherwise. request
 * and cancel come on any thread. No lock is held during a signal.
 */
#include "testkit/publisher_probe.h"

#include <errno.h>
#include <assert.h>
#include <stdlib.h>

#include <ck_pr.h>

static int64_t sum(int64_t a, int64_t n)
{
	return a > INT64_MAX - n ? INT64_MAX : a + n;
}

/*
 * The subscriber to be released now, or NULL. It is not released while it
 * handles a signal. Under the lock.
 */
static struct weir_subscriber *take_leave(struct weir_publisher_probe *probe)
{
	struct weir_subscriber *subscriber = probe->subscriber;

	if (probe->sending || probe->misbehaves ||
	    !(probe->ended || probe->cancelled))
		return NULL;
	probe->subscriber = NULL;
	return subscriber;
}

/* Begins request and cancel: takes the lock. */
static struct weir_publisher_probe *enter(struct weir__grant *grant)
{
	struct weir_publisher_probe *probe = grant->probe;
	bool others;

	grant->serial++;
	/* relaxed, as any order would hide calls that have none */
	others = ck_pr_faa_32(&grant->inside, 1) > 0;
	pthread_mutex_lock(&probe->lock);
	if (others)
		probe->counts.overlaps++;
	if (probe->ended)
		probe->counts.in_end++;
	return probe;
}

static void leave(struct weir__grant *grant)
{
	struct weir_publisher_probe *probe = grant->probe;
	struct weir_subscriber *subscriber = take_leave(probe);

	pthread_mutex_unlock(&probe->lock);
	ck_pr_dec_32(&grant->inside);
	weir_subscriber_unref(subscriber);
}

static void request(struct weir_subscription *subscription, int64_t n)
{
	struct weir__grant *grant = weir_container_of(
		subscription, struct weir__grant, subscription);
	struct weir_publisher_probe *probe = enter(grant);

	if (grant->extra) {
		probe->counts.extra_requests++;
		leave(grant);
		return;
	}
	probe->counts.requests++;
	if (n <= 0) {
		probe->counts.bad++;
	} else {
		probe->counts.requested = sum(probe->counts.requested, n);
		probe->left = sum(probe->left, n);
		probe->unmet = sum(probe->unmet, n);
	}
	leave(grant);
}

static void cancel(struct weir_subscription *subscription)
{
	struct weir__grant *grant = weir_container_of(
		subscription, struct weir__grant, subscription);
	struct weir_publisher_probe *probe = enter(grant);

	if (grant->extra) {
		probe->counts.extra_cancels++;
	} else {
		probe->counts.cancels++;
		probe->cancelled = true;
	}
	leave(grant);
}

static const struct weir_subscription_ops grant_ops = {
	.request = request,
	.cancel = cancel,
};

/* Sends one signal; `n` items for on_next. */
struct message {
	int (*send)(struct weir_subscriber *subscriber,
		    const struct message *message, size_t *taken);
	void *const *items;
	size_t n;
	struct weir_error *error;
	bool last;
};

/* Under the lock: 0, or why the signal would break a rule. */
static int allowed(const struct weir_publisher_probe *probe,
		   const struct message *message)
{
	if (probe->cancelled && !probe->ended)
		return -ECANCELED;
	if (probe->ended || !probe->grants)
		return -ENOTCONN;
	return probe->left < (int64_t)message->n ? -EAGAIN : 0;
}

static int deliver(struct weir_publisher_probe *probe,
		   const struct message *message, size_t *taken)
{
	struct weir_subscriber *subscriber;
	int rc;

	*taken = 0;
	pthread_mutex_lock(&probe->lock);
	subscriber = probe->subscriber;
	rc = probe->misbehaves ? 0 : allowed(probe, message);
	if (rc == 0 && !subscriber)
		rc = -ENOTCONN;
	if (rc == 0) {
		probe->sending++;
		probe->ended |= message->last;
		if (probe->left < INT64_MAX)
			probe->left -= (int64_t)message->n;
	}
	pthread_mutex_unlock(&probe->lock);
	if (rc < 0)
		return rc;
	rc = message->send(subscriber, message, taken);
	pthread_mutex_lock(&probe->lock);
	assert(probe->sending > 0);
	probe->sending--;
	probe->counts.sent += (int64_t)*taken;
	if (rc != 0)
		probe->cancelled = true;
	subscriber = take_leave(probe);
	pthread_mutex_unlock(&probe->lock);
	weir_subscriber_unref(subscriber);
	return rc;
}

static int send_items(struct weir_subscriber *subscriber,
		      const struct message *message, size_t *taken)
{
	int rc = 0;

	if (message->n > 1 && subscriber->ops->on_next_n)
		rc = subscriber->ops->on_next_n(subscriber, message->items,
						message->n, taken);
	else
		for (; *taken < message->n && rc == 0; *taken += rc == 0)
			rc = subscriber->ops->on_next(subscriber,
						      message->items[*taken]);
	if (rc == 0)
		*taken = message->n;
	return rc;
}

static int send_error(struct weir_subscriber *subscriber,
		      const struct message *message, size_t *taken)
{
	return subscriber->ops->on_error(subscriber, message->error);
}

static int send_complete(struct weir_subscriber *subscriber,
			 const struct message *message, size_t *taken)
{
	return subscriber->ops->on_complete(subscriber);
}

static bool misbehaves(struct weir_publisher_probe *probe)
{
	bool it_does;

	pthread_mutex_lock(&probe->lock);
	it_does = probe->misbehaves;
	pthread_mutex_unlock(&probe->lock);
	return it_does;
}

int weir_publisher_probe_send_n(struct weir_publisher_probe *probe,
				void *const *items, size_t n, size_t *taken)
{
	struct message message = {send_items, items, n};
	size_t i;

	*taken = 0;
	if (!items || !n)
		return -EINVAL;
	for (i = 0; i < n && !misbehaves(probe); i++) {
		if (!items[i])
			return -EINVAL;
	}
	return deliver(probe, &message, taken);
}

int weir_publisher_probe_send(struct weir_publisher_probe *probe, void *item)
{
	size_t taken;

	return weir_publisher_probe_send_n(probe, &item, 1, &taken);
}

int weir_publisher_probe_complete(struct weir_publisher_probe *probe)
{
	struct message message = {send_complete, .last = true};
	size_t taken;

	return deliver(probe, &message, &taken);
}

int weir_publisher_probe_error(struct weir_publisher_probe *probe,
			       struct weir_error *error)
{
	struct message message = {send_error, .error = error, .last = true};
	size_t taken;

	if (!error && !misbehaves(probe))
		return -EINVAL;
	return deliver(probe, &message, &taken);
}

static int send_grant(struct weir_subscriber *subscriber,
		      struct weir_publisher_probe *probe)
{
	struct weir__grant *grant = calloc(1, sizeof(*grant));
	int rc;

	if (!grant)
		return -ENOMEM;
	weir_subscription_init(&grant->subscription, &grant_ops, probe->items);
	grant->probe = probe;
	pthread_mutex_lock(&probe->lock);
	grant->extra = probe->grants != NULL;
	grant->next = probe->grants;
	probe->grants = grant;
	probe->sending++;
	pthread_mutex_unlock(&probe->lock);
	rc = subscriber->ops->on_subscribe(subscriber, &grant->subscription);
	pthread_mutex_lock(&probe->lock);
	assert(probe->sending > 0);
	probe->sending--;
	if (rc != 0)
		probe->cancelled = true;
	subscriber = take_leave(probe);
	pthread_mutex_unlock(&probe->lock);
	weir_subscriber_unref(subscriber);
	return rc;
}

int weir_publisher_probe_on_subscribe(struct weir_publisher_probe *probe)
{
	struct weir_subscriber *subscriber;

	pthread_mutex_lock(&probe->lock);
	subscriber = probe->subscriber;
	pthread_mutex_unlock(&probe->lock);
	return subscriber ? send_grant(subscriber, probe) : -ENOTCONN;
}

static int subscribe(struct weir_publisher *publisher,
		     struct weir_subscriber *subscriber)
{
	struct weir_publisher_probe *probe = weir_container_of(
		publisher, struct weir_publisher_probe, publisher);
	bool first, holds;

	if (!subscriber)
		return -EINVAL;
	pthread_mutex_lock(&probe->lock);
	first = probe->counts.subscribers == 0;
	holds = probe->holds;
	if (first) {
		probe->counts.subscribers = 1;
		probe->subscriber = weir_subscriber_ref(subscriber);
	}
	pthread_mutex_unlock(&probe->lock);
	if (!first)
		(void)weir_subscriber_reject(subscriber,
					     weir_error_of(-EISCONN));
	else if (!holds && send_grant(subscriber, probe) == -ENOMEM)
		(void)weir_subscriber_reject(subscriber,
					     weir_error_of(-ENOMEM));
	return 0;
}

static const struct weir_publisher_ops ops = {.subscribe = subscribe};

int weir_publisher_probe_new(struct weir_publisher_probe **probe,
			     const struct weir_test_env *env,
			     const struct weir_items *items)
{
	struct weir_publisher_probe *made;

	if (!probe)
		return -EINVAL;
	*probe = made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->publisher.ops = &ops;
	made->env = env;
	made->items = items;
	pthread_mutex_init(&made->lock, NULL);
	return 0;
}

/* Subscriptions that others hold. Under the lock. */
uint32_t weir__publisher_probe_held(const struct weir_publisher_probe *probe)
{
	const struct weir__grant *grant;
	uint32_t n = 0;

	for (grant = probe->grants; grant; grant = grant->next)
		n += ck_pr_load_32(&grant->subscription.refs) > 1;
	return n;
}

int weir_publisher_probe_free(struct weir_publisher_probe *probe)
{
	struct weir_subscriber *subscriber;
	struct weir__grant *grant;
	uint32_t held;

	if (!probe)
		return 0;
	pthread_mutex_lock(&probe->lock);
	subscriber = probe->subscriber;
	probe->subscriber = NULL;
	pthread_mutex_unlock(&probe->lock);
	weir_subscriber_unref(subscriber);
	(void)weir_test_settle(probe->env);
	pthread_mutex_lock(&probe->lock);
	held = weir__publisher_probe_held(probe);
	pthread_mutex_unlock(&probe->lock);
	if (held)
		return -EBUSY;
	/* acquire: the writes before references were dropped; pairs with the
	 * release in weir_subscription_unref() */
	ck_pr_fence_acquire();
	while ((grant = probe->grants) != NULL) {
		probe->grants = grant->next;
		free(grant);
	}
	assert(probe->sending == 0);
	pthread_mutex_destroy(&probe->lock);
	free(probe);
	return 0;
}

struct weir_publisher *weir_publisher_probe_base(
	struct weir_publisher_probe *probe)
{
	return &probe->publisher;
}

void weir_publisher_probe_misbehave(struct weir_publisher_probe *probe)
{
	pthread_mutex_lock(&probe->lock);
	probe->misbehaves = true;
	pthread_mutex_unlock(&probe->lock);
}

void weir_publisher_probe_hold(struct weir_publisher_probe *probe)
{
	pthread_mutex_lock(&probe->lock);
	probe->holds = true;
	pthread_mutex_unlock(&probe->lock);
}
