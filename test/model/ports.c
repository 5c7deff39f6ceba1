/* SPDX-License-Identifier: BSD-2-Clause */
/* Suspension, sets of ports that change, the other kinds of ports. */
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include <ck_pr.h>

static struct node *node_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct node, actor);
}

static struct node *two_ports(struct scene *s, weir_turns *turns)
{
	struct node *node = scene_node(s, turns);
	int i;

	for (i = 0; i < 2; i++)
		explorer_assert(weir_in_init(&node->in[i], &node->actor, 1,
					     &s->items) == 0);
	return node;
}

static void put_0(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 0, 0);
}

static void put_1(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 1, 1);
}

static void run(void *context)
{
	struct scene *s = context;

	while (scene_run(s, 0))
		;
}

static void signal(void *context)
{
	struct scene *s = context;

	ck_pr_store_32(&s->payload[0], 1);
	weir_actor_signal(&s->nodes[0]->actor);
}

static void signal_seen(void *context)
{
	struct scene *s = context;

	scene_at_rest(context);
	explorer_assert(s->fates[0].seen[0]);
}

/* --- Suspension ----------------------------------------------------------- */

static void sink_at_once(void *context)
{
	struct scene *s = scene_open(context, true);

	scene_sink(s, 1);
	scene_start(s);
}

static void sink_queued(void *context)
{
	struct scene *s = scene_open(context, false);

	scene_sink(s, 1);
	scene_start(s);
}

static void suspend_and_resume(void *context)
{
	struct scene *s = context;

	weir_actor_suspend(&s->nodes[0]->actor);
	weir_actor_resume(&s->nodes[0]->actor);
}

/* --- Any ------------------------------------------------------------------ */

static uint32_t any_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);
	uint32_t i, taken = 0;

	for (i = 0; i < 2; i++)
		if (weir_in_count(&node->in[i])) {
			scene_take(node, i);
			taken++;
		}
	explorer_assert(taken);
	return 1;
}

static void any(struct scene *s)
{
	struct node *node = two_ports(s, any_turn);
	int i;

	explorer_assert(weir_any_init(&node->any, &node->actor) == 0);
	for (i = 0; i < 2; i++)
		explorer_assert(weir_any_add(&node->any, &node->in[i].port) ==
				0);
	scene_start(s);
}

static void any_at_once(void *context)
{
	any(scene_open(context, true));
}

static void any_queued(void *context)
{
	any(scene_open(context, false));
}

/* --- Another set of ports ------------------------------------------------- */

/* From the first port to the second. */
static uint32_t switching_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);

	if (node->fate->delivered == 0) {
		scene_take(node, 0);
		weir_port_require(&node->in[1].port);
		weir_port_ignore(&node->in[0].port);
	} else {
		scene_take(node, 1);
	}
	return 1;
}

static void switching(struct scene *s)
{
	struct node *node = two_ports(s, switching_turn);

	weir_port_ignore(&node->in[1].port);
	scene_start(s);
}

static void switching_at_once(void *context)
{
	switching(scene_open(context, true));
}

static void switching_queued(void *context)
{
	switching(scene_open(context, false));
}

/* --- Delays --------------------------------------------------------------- */

static uint32_t delay_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);

	node->fate->delivered++;
	weir_delay_until(&node->delay,
			 node->fate->delivered == 1 ? 2 : WEIR_FOREVER);
	return 1;
}

static void delay(void *context, uint64_t early)
{
	struct scene *s = scene_open(context, true);
	struct node *node = scene_node(s, delay_turn);

	s->early = early;
	explorer_assert(weir_delay_init(&node->delay, &node->actor) == 0);
	weir_actor_ref(&node->actor);
	explorer_assert(weir_delay_until(&node->delay, 1) == 0);
	scene_start(s);
}

static void delay_at_once(void *context)
{
	delay(context, 0);
}

static void delay_by_its_timer(void *context)
{
	delay(context, 2);
}

/* The clock says that the first time has come, only a timer the second. */
static void delay_by_both(void *context)
{
	delay(context, 1);
}

static void pass_time(void *context)
{
	scene_pass_time(context, 1);
	scene_pass_time(context, 2);
}

static void signal_once(void *context)
{
	struct scene *s = context;

	weir_actor_signal(&s->nodes[0]->actor);
	weir_actor_unref(&s->nodes[0]->actor);
}

static void second_time(void *context)
{
	scene_pass_time(context, 2);
}

/* The slice may find the first timer fired, but its thread still in it. */
static void signal_and_pass_time(void *context)
{
	signal_once(context);
	second_time(context);
}

static void stop_once(void *context)
{
	struct scene *s = context;

	weir_actor_stop(&s->nodes[0]->actor);
	weir_actor_unref(&s->nodes[0]->actor);
}

static void both_times(void *context)
{
	struct scene *s = context;

	scene_pass_time(s, 2);
	scene_at_rest(context);
	explorer_assert(s->fates[0].delivered == 2);
}

/* --- Descriptors ---------------------------------------------------------- */

static uint32_t fd_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);
	uint32_t bytes = scene_read(actor->executor);

	explorer_assert(weir_fd_events(&node->fd) == POLLIN);
	node->fate->delivered += bytes;
	if (!bytes)
		weir_fd_again(&node->fd);
	return 1;
}

static void descriptor(void *context, bool at_once)
{
	static int fd = -1;
	struct scene *s = scene_open(context, at_once);
	struct node *node = scene_node(s, fd_turn);

	if (fd < 0)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	explorer_assert(weir_fd_init(&node->fd, &node->actor, fd, POLLIN) == 0);
	weir_actor_ref(&node->actor);
	scene_start(s);
}

static void descriptor_at_once(void *context)
{
	descriptor(context, true);
}

static void descriptor_queued(void *context)
{
	descriptor(context, false);
}

static void poll_once(void *context)
{
	scene_bytes_come(context);
	scene_poll(context);
}

static void poll_twice(void *context)
{
	poll_once(context);
	poll_once(context);
}

static void run_twice(void *context)
{
	run(context);
	run(context);
}

/* Nothing tells of bytes twice: those that the last read has missed stay. */
static void each_was_handled(void *context)
{
	struct scene *s = context;

	scene_settle(s);
	scene_poll(s); /* what came before it was armed */
	scene_at_rest(context);
	explorer_assert(s->watched == 1);
	explorer_assert(s->fates[0].delivered == s->came);
}

/* --- A port that is added ------------------------------------------------- */

/* Its first turn adds the in-port that the second takes from. */
static uint32_t adding_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);

	explorer_assert(weir_permits_use(&node->permits, 1) == 0);
	if (!node->in[0].port.actor)
		explorer_assert(weir_in_init(&node->in[0], actor, 1,
					     &node->scene->items) == 0);
	else
		scene_take(node, 0);
	return 1;
}

static void adding(void *context)
{
	struct scene *s = scene_open(context, false);
	struct node *node = scene_node(s, adding_turn);

	explorer_assert(weir_permits_init(&node->permits, &node->actor, 2) ==
			0);
	scene_start(s);
}

static void tell_0(void *context)
{
	struct scene *s = context;
	struct token *token = &s->tokens[0];
	int rc;

	token->value = MADE;
	rc = weir_actor_tell(&s->nodes[0]->actor, token);
	explorer_assert(rc == 0 || rc == -ENOTSUP);
	token->accepted = rc == 0;
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "suspension and a put", .setup = sink_at_once,
		 .thread = {suspend_and_resume, put_0}, .check = scene_at_rest),
	SCENARIO(.name = "suspension and a slice", .setup = sink_queued,
		 .thread = {run, suspend_and_resume, put_0},
		 .check = scene_at_rest),
	SCENARIO(.name = "any of two", .setup = any_at_once,
		 .thread = {put_0, put_1}, .check = scene_at_rest),
	SCENARIO(.name = "any of two and a slice", .setup = any_queued,
		 .thread = {run, put_0, put_1}, .check = scene_at_rest),
	SCENARIO(.name = "ports that change", .setup = switching_at_once,
		 .thread = {put_0, put_1}, .check = scene_at_rest),
	SCENARIO(.name = "ports that change and a signal",
		 .setup = switching_queued, .thread = {run, put_0, signal},
		 .check = signal_seen),
	SCENARIO(.name = "a port that is added and a tell", .setup = adding,
		 .thread = {run, tell_0}, .check = scene_at_rest),
	SCENARIO(.name = "a delay and a signal", .setup = delay_at_once,
		 .thread = {pass_time, signal_once}, .check = both_times),
	SCENARIO(.name = "a delay whose clock is read early and a signal",
		 .setup = delay_by_its_timer,
		 .thread = {pass_time, signal_once}, .check = both_times),
	SCENARIO(.name = "two timers of a delay at once",
		 .setup = delay_by_both,
		 .thread = {second_time, signal_and_pass_time},
		 .check = both_times),
	SCENARIO(.name = "a delay and a stop", .setup = delay_at_once,
		 .thread = {pass_time, stop_once}, .check = scene_is_over),
	SCENARIO(.name = "a descriptor and a slice", .setup = descriptor_queued,
		 .thread = {run, poll_once}, .check = each_was_handled),
	SCENARIO(.name = "a descriptor, a slice and more bytes",
		 .setup = descriptor_queued, .thread = {run_twice, poll_twice},
		 .check = each_was_handled),
	SCENARIO(.name = "a descriptor and a signal",
		 .setup = descriptor_at_once,
		 .thread = {poll_twice, signal_once},
		 .check = each_was_handled),
	SCENARIO(.name = "a descriptor and a stop", .setup = descriptor_at_once,
		 .thread = {poll_once, stop_once}, .check = scene_is_over),
};

const struct scene_group ports = SCENE_GROUP(scenarios);
