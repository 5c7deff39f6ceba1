/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traced MODE FILE: a program that is traced, for traced.py: flows on two
 * workers and a loop, actors that restart, a subscriber that requests.
 * MODE is `recorder`, which is written in the end; `running`, which is written
 * while the program runs; or `file`, which is written as it goes.
 */
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <weir/weir.h>

enum { ITEMS = 20000 };

static int add_one(void **item, void *context)
{
	*item = (void *)((uintptr_t)*item + 1);
	return 0;
}

static void run_flow(struct weir_executor *executor)
{
	struct weir_flow *flow = weir_flow_range(1, ITEMS);
	void *n;

	flow = weir_flow_async(weir_flow_map(flow, add_one, NULL), 16, NULL);
	flow = weir_flow_map(flow, add_one, NULL);
	flow = weir_flow_name(flow, "say \"\xff\"");
	flow = weir_flow_async(flow, 64, NULL);
	flow = weir_flow_count(flow);
	assert(weir_flow_run(flow, executor, &n) == 0);
	assert((uintptr_t)n == ITEMS);
	weir_flow_free(flow);
}

static void *run_loop(void *context)
{
	struct weir_loop *loop;

	assert(weir_loop_new(&loop, NULL) == 0);
	run_flow(weir_loop_executor(loop));
	assert(weir_loop_free(loop) == 0);
	return NULL;
}

/* --- One that fails three times ------------------------------------------- */

struct failing {
	struct weir_actor actor;
	struct weir_in in;
	int left;
};

static struct failing failing;

static uint32_t fail_turns(struct weir_actor *actor, uint32_t n)
{
	(void)weir_in_take(&failing.in);
	if (failing.left-- > 0)
		(void)weir_actor_fail_code(actor, -EIO);
	else
		(void)weir_actor_end(actor);
	return 1;
}

static void run_failing(struct weir_executor *executor)
{
	static const struct weir_actor_ops ops = {.name = "failing",
						  .turns = fail_turns};
	struct weir_system *system;
	struct weir_actor_id id;
	int i;

	failing.left = 3;
	assert(weir_system_new(&system, executor, NULL) == 0);
	assert(weir_actor_init(&failing.actor, &ops, executor) == 0);
	assert(weir_in_init(&failing.in, &failing.actor, 8, NULL) == 0);
	for (i = 0; i < 4; i++)
		assert(weir_in_put(&failing.in, NULL) == 0);
	assert(weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &failing.actor,
				 NULL, &id) == 0);
	while (weir_system_is_alive(system, id))
		(void)sched_yield();
	assert(weir_system_end_wait(system, WEIR_FOREVER) == 0);
	assert(weir_system_free(system) == 0);
}

/* --- A publisher of somebody else's ----------------------------------------- */

struct foreign {
	struct weir_publisher publisher;
	struct weir_subscription subscription;
	struct weir_subscriber *subscriber;
	int64_t left, requested;
	bool sends;
};

/* Sends at once; what is requested meanwhile is sent by the first call. */
static void request(struct weir_subscription *subscription, int64_t n)
{
	struct foreign *self =
		weir_container_of(subscription, struct foreign, subscription);

	self->requested += n;
	if (self->sends)
		return;
	self->sends = true;
	for (; self->requested > 0 && self->left > 0; self->requested--) {
		self->left--;
		assert(self->subscriber->ops->on_next(self->subscriber,
						      &failing) == 0);
	}
	self->sends = false;
	if (self->left > 0 || !self->subscriber)
		return;
	(void)self->subscriber->ops->on_complete(self->subscriber);
	weir_subscriber_unref(self->subscriber);
	self->subscriber = NULL;
	weir_subscription_unref(subscription);
}

static void cancel(struct weir_subscription *subscription)
{
	(void)subscription;
}

static int subscribe(struct weir_publisher *publisher,
		     struct weir_subscriber *subscriber)
{
	static const struct weir_subscription_ops ops = {.request = request,
							 .cancel = cancel};
	struct foreign *self =
		weir_container_of(publisher, struct foreign, publisher);

	self->subscriber = weir_subscriber_ref(subscriber);
	assert(weir_subscription_init(&self->subscription, &ops, NULL) == 0);
	(void)subscriber->ops->on_subscribe(subscriber, &self->subscription);
	return 0;
}

static void run_foreign(struct weir_executor *executor)
{
	static const struct weir_publisher_ops ops = {.subscribe = subscribe};
	struct foreign foreign = {.publisher = {&ops}, .left = 100};
	struct weir_flow *flow =
		weir_flow_from_publisher(&foreign.publisher, 16, 8);
	void *n;

	flow = weir_flow_count(flow);
	assert(weir_flow_run(flow, executor, &n) == 0);
	assert((uintptr_t)n == 100);
	weir_flow_free(flow);
}

/* --- The program ---------------------------------------------------------- */

static void write_to(struct weir_trace *trace, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert(fd >= 0 && weir_trace_write(trace, fd) == 0);
	assert(close(fd) == 0);
}

int main(int argc, char **argv)
{
	const struct weir_threads_options two = {.workers = 2};
	struct weir_trace_options options = {0};
	struct weir_executor *executor;
	struct weir_threads *threads;
	struct weir_trace *trace;
	pthread_t thread;

	assert(argc == 3);
	if (strcmp(argv[1], "file") == 0)
		options.path = argv[2];
	assert(weir_threads_new(&threads, &two) == 0);
	executor = weir_threads_executor(threads);
	assert(weir_trace_new(&trace, &options, NULL) == 0);
	assert(pthread_create(&thread, NULL, run_loop, NULL) == 0);
	run_flow(executor);
	run_failing(executor);
	run_foreign(executor);
	if (strcmp(argv[1], "running") == 0)
		write_to(trace, argv[2]);
	assert(pthread_join(thread, NULL) == 0);
	assert(weir_trace_stop(trace) == 0);
	if (strcmp(argv[1], "recorder") == 0)
		write_to(trace, argv[2]);
	weir_trace_free(trace);
	assert(weir_threads_free(threads) == 0);
	return 0;
}
