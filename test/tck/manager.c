/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process manager as a subscriber: each object of Java's is a command,
 * whose process is a call that hands it on to a subscriber of Java's. In front
 * of the manager's subscriber is one that makes commands of objects.
 */
#include "bridge.h"

#include <ck_pr.h>

#define PROCESSES 16

/* Until its system is over, which waits for all who hold its actor. */
struct managing {
	struct weir_process_manager manager;
	struct weir_subscriber *subscriber; /* the manager's */
	struct weir_subscriber front;
	struct weir_subscription subscription; /* that `to` has */
	struct weir_subscriber *to;
	struct weir_system *system;
	struct weir_watcher watcher;
	struct weir_await over;
	uint32_t cancelled; /* any thread */
};

/* --- Commands ------------------------------------------------------------- */

struct order {
	struct weir_command command;
	void *item; /* of bridge_items; NULL: it was handed on */
};

static int order_run(struct weir_command *command, void *context)
{
	struct order *order = weir_container_of(command, struct order, command);
	struct managing *self = context;
	int rc = self->to->ops->on_next(self->to, order->item);

	if (rc == 0)
		order->item = NULL;
	return rc;
}

static void order_reply(struct weir_command *command, enum weir_outcome outcome,
			struct weir_error *error)
{
	struct order *order = weir_container_of(command, struct order, command);

	if (order->item)
		bridge_items.drop(order->item, NULL);
	bridge_free(order);
}

/* --- The subscription that the manager has -------------------------------- */

struct passed_on {
	struct weir_subscription subscription;
	struct weir_subscription *from;
};

static struct weir_subscription *from(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct passed_on, subscription)
		->from;
}

static void passed_request(struct weir_subscription *subscription, int64_t n)
{
	weir_subscription_request(from(subscription), n);
}

static void passed_cancel(struct weir_subscription *subscription)
{
	weir_subscription_cancel(from(subscription));
}

static void passed_released(struct weir_subscription *subscription)
{
	weir_subscription_unref(from(subscription));
	bridge_free(weir_container_of(subscription, struct passed_on,
				      subscription));
}

static const struct weir_subscription_ops passed_ops = {
	.request = passed_request,
	.cancel = passed_cancel,
	.released = passed_released,
};

/* --- In front of it ------------------------------------------------------- */

static struct managing *managing(struct weir_subscriber *front)
{
	return weir_container_of(front, struct managing, front);
}

static int front_on_subscribe(struct weir_subscriber *front,
			      struct weir_subscription *subscription)
{
	struct weir_subscriber *to = managing(front)->subscriber;
	struct passed_on *passed = NULL;
	int rc;

	if (!subscription)
		return to->ops->on_subscribe(to, NULL);
	passed = bridge_alloc(sizeof(*passed));
	if (!passed)
		return -ENOMEM;
	passed->from = weir_subscription_ref(subscription);
	weir_subscription_init(&passed->subscription, &passed_ops,
			       weir_command_items());
	rc = to->ops->on_subscribe(to, &passed->subscription);
	weir_subscription_unref(&passed->subscription);
	return rc;
}

static int front_on_next(struct weir_subscriber *front, void *item)
{
	struct weir_subscriber *to = managing(front)->subscriber;
	struct order *order;
	int rc;

	if (!item)
		return to->ops->on_next(to, NULL);
	order = bridge_alloc(sizeof(*order));
	if (!order)
		return -ENOMEM;
	order->command.reply = order_reply;
	order->item = item;
	rc = to->ops->on_next(to, &order->command);
	if (rc < 0)
		bridge_free(order);
	return rc;
}

static int front_on_error(struct weir_subscriber *front,
			  struct weir_error *error)
{
	struct weir_subscriber *to = managing(front)->subscriber;

	return to->ops->on_error(to, error);
}

static int front_on_complete(struct weir_subscriber *front)
{
	struct weir_subscriber *to = managing(front)->subscriber;

	return to->ops->on_complete(to);
}

static void front_released(struct weir_subscriber *front)
{
	weir_subscriber_unref(managing(front)->subscriber);
}

static const struct weir_subscriber_ops front_ops = {
	.on_subscribe = front_on_subscribe,
	.on_next = front_on_next,
	.on_error = front_on_error,
	.on_complete = front_on_complete,
	.released = front_released,
};

/* --- The subscription that Java's subscriber has -------------------------- */

/* The manager asks for what it can start, and for nothing else. */
static void no_request(struct weir_subscription *subscription, int64_t n)
{
}

static void close_it(struct weir_subscription *subscription)
{
	struct managing *self =
		weir_container_of(subscription, struct managing, subscription);

	ck_pr_store_32(&self->cancelled, 1);
	weir_process_manager_end(&self->manager);
}

static void unheld(struct weir_subscription *subscription)
{
	struct managing *self =
		weir_container_of(subscription, struct managing, subscription);

	weir_actor_unref(&self->manager.actor);
}

static const struct weir_subscription_ops subscription_ops = {
	.request = no_request,
	.cancel = close_it,
	.released = unheld,
};

/* --- The whole ------------------------------------------------------------ */

/*
 * Java's subscriber goes now: it has the subscription, which holds the actor.
 */
static void terminated(struct weir_watcher *watcher,
		       const struct weir_terminated *notice)
{
	struct managing *self =
		weir_container_of(watcher, struct managing, watcher);

	if (notice->error)
		(void)self->to->ops->on_error(self->to, notice->error);
	else if (!ck_pr_load_32(&self->cancelled))
		(void)self->to->ops->on_complete(self->to);
	weir_subscriber_unref(self->to);
	weir_system_stop(self->system);
}

static void over(struct weir_await *await, struct weir_completion *completion)
{
	struct managing *self = weir_container_of(await, struct managing, over);

	if (weir_system_free(self->system) == 0)
		bridge_free(self);
}

/* Its actor is spawned and watched, and holds nobody of Java's but `to`. */
static int spawn(struct managing *self)
{
	struct weir_actor_id ref;
	int rc;

	self->watcher.terminated = terminated;
	self->over.done = over;
	weir_actor_ref(&self->manager.actor);
	weir_subscription_init(&self->subscription, &subscription_ops,
			       &bridge_items);
	rc = self->to->ops->on_subscribe(self->to, &self->subscription);
	weir_subscription_unref(&self->subscription);
	if (rc == 0)
		rc = weir_system_spawn(self->system, WEIR_ACTOR_ID_NONE,
				       &self->manager.actor, NULL, &ref);
	if (rc == 0)
		rc = weir_watcher_add(self->system, ref, &self->watcher);
	if (rc == 0)
		rc = weir_completion_wait_async(
			weir_system_terminated(self->system), &self->over);
	return rc;
}

static int set_up(struct managing *self)
{
	const struct weir_process_manager_options options = {
		.context = self,
		.run = order_run,
		.runners = 1, /* Java gets one after another */
		.max = PROCESSES,
	};
	int rc = weir_system_new(&self->system, bridge_executor(), NULL);

	if (rc == 0)
		rc = weir_process_manager_init(&self->manager,
					       bridge_executor(), &options);
	if (rc < 0)
		return rc;
	self->subscriber = weir_subscriber_ref(
		weir_process_manager_subscriber(&self->manager));
	return weir_subscriber_init(&self->front, &front_ops);
}

JNIEXPORT jlong JNICALL Java_weir_Subjects_newManager(JNIEnv *env, jclass class,
						      jobject subscriber)
{
	struct managing *self = bridge_alloc(sizeof(*self));
	jlong held = 0;
	int rc = -ENOMEM;

	if (self)
		self->to = weir_subscriber_ref(
			bridge_subscriber_new(env, subscriber));
	if (self && self->to)
		rc = set_up(self);
	if (rc == 0)
		held = bridge_held_subscriber(&self->front);
	if (held)
		rc = spawn(self);
	bridge_throw(env, rc); /* and what there is stays: Java gives up */
	return held;
}
