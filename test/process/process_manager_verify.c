/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager as a subscriber is held to the rules of Reactive Streams, with
 * processes that are actors and with calls, on all executors.
 */
#include "stream/verify.h"

#include <weir/death_watch.h>
#include <weir/process_manager.h>
#include <weir/weir.h>

#include "process/kit.h"

#define MAX 16
#define RECORDS 2048

struct maker {
	struct base base; /* managers and commands are what is alive */
	bool calls;
};

/* An item. */
struct order {
	struct weir_command command;
	struct maker *maker;
	int64_t number;
};

struct managing {
	struct weir_process_manager manager;
	struct weir_watcher watcher;
	struct weir_system *system;
	struct maker *maker;
	/* written in the slice that begins them, read at rest */
	int64_t record[RECORDS];
	size_t n;
	struct weir_error *error;
	bool closed, terminated;
	uint32_t released; /* any thread */
};

static struct managing *mine(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct managing,
				 manager.reactive.subscriber);
}

static struct maker *maker_of(struct weir_subscriber_factory *factory)
{
	return weir_container_of(factory, struct maker, base.subscriber);
}

/* --- Processes ------------------------------------------------------------ */

static void note(struct managing *self, struct weir_command *command)
{
	self->record[self->n++ % RECORDS] =
		weir_container_of(command, struct order, command)->number;
}

static int set_up(struct weir_process *process, void *context)
{
	note(context, process->command);
	return brief_set_up(process, NULL);
}

static int call(struct weir_command *command, void *context)
{
	note(context, command);
	return 0;
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct order *order = weir_container_of(command, struct order, command);

	(void)outcome;
	(void)error;
	ck_pr_dec_32(&order->maker->base.alive);
	free(order);
}

/* --- The factory ---------------------------------------------------------- */

static void terminated(struct weir_watcher *watcher,
		       const struct weir_terminated *notice)
{
	struct managing *self =
		weir_container_of(watcher, struct managing, watcher);

	self->error = weir_error_ref(notice->error);
	self->terminated = true;
}

static void released_now(void *context)
{
	ck_pr_inc_32(&((struct managing *)context)->released);
}

static struct weir_subscriber *create(struct weir_subscriber_factory *factory)
{
	struct maker *maker = maker_of(factory);
	struct managing *self = calloc(1, sizeof(*self));
	struct weir_executor *executor = maker->base.place->executor;
	struct weir_process_manager_options options = {
		.context = self,
		.process = maker->calls ? NULL : &brief_ops,
		.process_size = sizeof(struct brief),
		.set_up = maker->calls ? NULL : set_up,
		.run = maker->calls ? call : NULL,
		.runners = 1,
		.max = MAX,
		.released = released_now,
	};
	struct weir_subscriber *subscriber;
	struct weir_actor_id ref;

	assert_non_null(self);
	self->maker = maker;
	ck_pr_inc_32(&maker->base.alive);
	assert_int_equal(weir_system_new(&self->system, executor, NULL), 0);
	assert_int_equal(weir_process_manager_init(&self->manager, executor,
						   &options),
			 0);
	subscriber = weir_process_manager_subscriber(&self->manager);
	assert_int_equal(weir_system_spawn(self->system, WEIR_ACTOR_ID_NONE,
					   &self->manager.actor, NULL, &ref),
			 0);
	self->watcher.terminated = terminated;
	assert_int_equal(weir_watcher_add(self->system, ref, &self->watcher),
			 0);
	return subscriber;
}

/* Its stream is over, or the publisher is not its own: it ends anyhow. */
static void release(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber)
{
	struct managing *self = mine(subscriber);
	struct maker *maker = self->maker;

	weir_system_stop(self->system);
	assert_int_equal(weir_test_settle(&factory->env), 0);
	weir_error_unref(self->error);
	if (weir_system_free(self->system) == 0) {
		ck_pr_dec_32(&maker->base.alive);
		free(self);
	}
}

static void cancel(struct weir_subscriber_factory *factory,
		   struct weir_subscriber *subscriber)
{
	(void)factory;
	if (mine(subscriber)->terminated)
		return;
	mine(subscriber)->closed = true;
	weir_process_manager_end(&mine(subscriber)->manager);
}

static void *item(struct weir_subscriber_factory *factory, int64_t i)
{
	struct order *order = calloc(1, sizeof(*order));

	assert_non_null(order);
	order->command.reply = reply;
	order->maker = maker_of(factory);
	order->number = i;
	ck_pr_inc_32(&order->maker->base.alive);
	return &order->command;
}

static int64_t received(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber)
{
	(void)factory;
	return (int64_t)mine(subscriber)->n;
}

static bool is_item(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber, int64_t at, int64_t i)
{
	(void)factory;
	return mine(subscriber)->record[at] == i;
}

static bool ended(struct weir_subscriber_factory *factory,
		  struct weir_subscriber *subscriber, struct weir_error **error)
{
	(void)factory;
	*error = mine(subscriber)->error;
	return mine(subscriber)->terminated && !mine(subscriber)->closed;
}

static bool released(struct weir_subscriber_factory *factory,
		     struct weir_subscriber *subscriber)
{
	(void)factory;
	return ck_pr_load_32(&mine(subscriber)->released) == 1;
}

/* --- Tests ---------------------------------------------------------------- */

static void verify(struct place *place, bool calls)
{
	struct maker maker = {
		.base.subscriber =
			{
				.create = create,
				.release = release,
				.cancel = cancel,
				.item = item,
				.items = weir_command_items(),
				.received = received,
				.is_item = is_item,
				.ended = ended,
				.released = released,
			},
		.calls = calls,
	};

	verify_subscriber(&maker.base, place, calls ? "calls" : "jobs", 30);
}

static void verify_both(struct place *place)
{
	verify(place, false);
	verify(place, true);
}

int main(void)
{
	const struct suite suite = {"it_keeps", verify_both, test_count(50), 1};

	return verify_everywhere(&suite, 1);
}
