/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/event_kit.h"

#include "kit/world.h"

#include <ck_pr.h>

static int keep(void *item, void *context)
{
	struct told *told = context;
	uint32_t n = told->n;

	assert_true(n < TOLD_MAX);
	told->items[n] = item;
	ck_pr_fence_store();
	ck_pr_store_32(&told->n, n + 1);
	return 0;
}

struct weir_flow *tell_of(struct weir_flow *flow, struct told *told,
			  const struct weir_items *kind)
{
	told->n = 0;
	told->kind = kind;
	return weir_flow_for_each(flow, keep, told);
}

void await_told(struct net *net, struct told *told, uint32_t n)
{
	while (ck_pr_load_32(&told->n) < n) {
		assert_false(net_is_over(net));
		net_drive(net);
	}
	ck_pr_fence_load();
}

void settle(struct net *net)
{
	if (net->place.sim)
		net_drive(net);
	else if (net->place.loop)
		while (weir_loop_run(net->place.loop, 64) > 0)
			;
}

void drop_told(struct told *told)
{
	uint32_t i;

	for (i = 0; told->kind && i < told->n; i++)
		told->kind->drop(told->items[i], told->kind->context);
	told->n = 0;
}

struct weir_error *error_over(struct net *net)
{
	struct weir_error *error;

	assert_int_equal(
		weir_flow_run_wait(net->run, WEIR_FOREVER, NULL, &error), 0);
	weir_flow_run_free(net->run);
	weir_flow_free(net->flow);
	net->run = NULL;
	net->flow = NULL;
	return error;
}

void assert_told_why(struct weir_flow *(*make)(void *context), void *context,
		     int code, const char *message)
{
	struct weir_error *error;
	struct net net;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_start(&net, weir_flow_ignore(make(context)));
		error = error_over(&net);
		assert_non_null(error);
		assert_int_equal(error->code, code);
		if (!strstr(error->message, message))
			fail_msg("%s: no \"%s\"", error->message, message);
		weir_error_unref(error);
		net_end(&net);
	}
}

/* --- What fails in turn --------------------------------------------------- */

static struct told told;

/* The code of the run, or of its start. */
static int feed_run(struct world *world, const struct fallible *fallible,
		    struct weir_flow *flow)
{
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	uint32_t step = 0;
	bool more;
	int rc = weir_flow_start(flow, world->executor, NULL, &run);

	if (rc < 0)
		return rc;
	do {
		world_settle(world);
		(void)calls_end();
		more = fallible->feed(fallible->context, step++);
		calls_go_on();
	} while (more);
	world_settle(world);
	weir_flow_run_stop(run, NULL);
	world_settle(world);
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, &error), 0);
	rc = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(run);
	return rc;
}

/* Which allocation, or which call; 0: none of these. True: it failed. */
static bool try_once(const struct fallible *fallible, uint32_t allocation,
		     uint32_t call, uint32_t *n)
{
	static struct descriptors before;
	struct weir_flow *flow;
	struct world world;
	int rc;

	descriptors_note(&before);
	world_init(&world, 1, 0);
	flow = tell_of(fallible->make(fallible->context), &told,
		       fallible->kind);
	if (allocation)
		world.heap.fail = world.heap.calls + allocation;
	calls_begin(call);
	rc = feed_run(&world, fallible, flow);
	*n = calls_end();
	if (allocation)
		*n = world.heap.calls >= world.heap.fail ? allocation : 0;
	assert_true(rc == 0 || rc == -ECANCELED || rc == -ENOMEM || rc == -EIO);
	drop_told(&told);
	weir_flow_free(flow);
	world_fini(&world);
	descriptors_check(&before);
	return rc == (allocation ? -ENOMEM : -EIO);
}

void fail_each_allocation(const struct fallible *fallible)
{
	uint32_t i = 0, n, n_failed = 0;

	do
		n_failed += try_once(fallible, ++i, 0, &n);
	while (n);
	assert_true(n_failed > 1);
}

void fail_each_call(const struct fallible *fallible)
{
	uint32_t i = 0, n, n_failed = 0;

	do
		n_failed += try_once(fallible, 0, ++i, &n);
	while (n >= i);
	assert_true(n_failed > 1);
}
