/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows: as a publisher, a run for each subscriber; and as a subscriber, by a
 * run that has subscribed and sends what it gets to another subscriber. With a
 * stage as that other one it is a processor.
 */
#include "bridge.h"

#include <semaphore.h>

static int pass(void **item, void *context)
{
	return 0;
}

/* --- Publisher ------------------------------------------------------------ */

struct flow_source {
	struct weir_publisher publisher;
	struct weir_flow_publisher *runs;
};

static struct flow_source *flow_source(struct weir_publisher *publisher)
{
	return weir_container_of(publisher, struct flow_source, publisher);
}

/* Whom it refuses, and with what, is the flow's to say. */
static int flow_source_subscribe(struct weir_publisher *publisher,
				 struct weir_subscriber *subscriber)
{
	struct weir_publisher *runs =
		weir_flow_publisher_base(flow_source(publisher)->runs);

	return runs->ops->subscribe(runs, subscriber);
}

static const struct weir_publisher_ops flow_source_ops = {
	.subscribe = flow_source_subscribe,
};

static void flow_source_drop(void *publisher)
{
	struct flow_source *self = flow_source(publisher);

	weir_flow_publisher_free(self->runs);
	bridge_free(self);
}

/* The numbers 1 to n; `code`, if it is one: instead of them that error. */
JNIEXPORT jlong JNICALL Java_weir_Subjects_newFlowSource(JNIEnv *env,
							 jclass class, jlong n,
							 jint code)
{
	struct flow_source *self = bridge_alloc(sizeof(*self));
	struct weir_flow *flow;

	if (!self)
		return 0;
	self->publisher.ops = &flow_source_ops;
	flow = code ? weir_flow_fail(code, "as told") : weir_flow_range(1, n);
	flow = weir_flow_map(flow, pass, NULL);
	if (weir_flow_publisher_new(&self->runs, flow, bridge_executor(),
				    NULL) < 0) {
		bridge_free(self);
		return 0;
	}
	return bridge_held_new(&self->publisher, flow_source_drop);
}

/* --- Subscriber ----------------------------------------------------------- */

/* A run, and whom it has subscribed with; until it is over. */
struct flow_run {
	struct weir_publisher publisher;
	struct weir_subscriber *subscriber; /* a reference, when it has come */
	sem_t come;
	struct weir_flow *flow;
};

static int flow_run_subscribe(struct weir_publisher *publisher,
			      struct weir_subscriber *subscriber)
{
	struct flow_run *self =
		weir_container_of(publisher, struct flow_run, publisher);

	self->subscriber = weir_subscriber_ref(subscriber);
	sem_post(&self->come);
	return 0;
}

static const struct weir_publisher_ops flow_run_ops = {
	.subscribe = flow_run_subscribe,
};

static void flow_run_free(struct flow_run *self)
{
	weir_flow_free(self->flow);
	sem_destroy(&self->come);
	bridge_free(self);
}

static void flow_run_over(struct weir_error *error, void *result, void *context)
{
	flow_run_free(context);
}

/* The subscriber; its reference keeps the run from being over. */
static jlong flow_run_hold(struct flow_run *self)
{
	struct weir_subscriber *subscriber;
	jlong held;

	while (sem_wait(&self->come) != 0)
		;
	subscriber = self->subscriber;
	held = bridge_held_subscriber(subscriber);
	weir_subscriber_unref(subscriber);
	return held;
}

/* What comes goes to the subscriber that `to` holds. */
JNIEXPORT jlong JNICALL Java_weir_Subjects_newFlow(JNIEnv *env, jclass class,
						   jlong to)
{
	struct flow_run *self = bridge_alloc(sizeof(*self));
	const struct weir_flow_run_options options = {
		.done = flow_run_over,
		.context = self,
	};
	struct weir_flow *flow;

	if (!self)
		return 0;
	self->publisher.ops = &flow_run_ops;
	sem_init(&self->come, 0, 0);
	flow = weir_flow_from_publisher(&self->publisher, 0, 0);
	flow = weir_flow_items(flow, &bridge_items);
	flow = weir_flow_same_items(weir_flow_map(flow, pass, NULL));
	self->flow = weir_flow_into(flow, bridge_held_object(to));
	if (weir_flow_start(self->flow, bridge_executor(), &options, NULL) <
	    0) {
		flow_run_free(self);
		return 0;
	}
	return flow_run_hold(self);
}

/* A subscriber of Java's as C has it. */
JNIEXPORT jlong JNICALL Java_weir_Subjects_newSubscriber(JNIEnv *env,
							 jclass class,
							 jobject subscriber)
{
	struct weir_subscriber *self = bridge_subscriber_new(env, subscriber);

	return self ? bridge_held_subscriber(self) : 0;
}
