/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kill switches: who throws one against runs that are made, begin, rest, take,
 * and end; and who is the last to have it.
 */
#include <weir/flow_switch.h>

#include <errno.h>

#include <ck_pr.h>

#include "crossing.h"

struct switching {
	struct crossing crossing; /* first */
	struct weir_flow_switch *swtch;
	uint32_t shutdowns, aborts; /* that counted */
};

static struct switching switching;

/* --- Setups --------------------------------------------------------------- */

static struct switching *with_switch(void *context)
{
	struct switching *s = context;

	(void)crossing_open(&s->crossing);
	explorer_name(s, sizeof(*s), "switching");
	explorer_assert(weir_flow_switch_new(&s->swtch) == 0);
	return s;
}

/* From a queue that has not ended. */
static struct weir_flow *guarded(struct switching *s)
{
	return weir_flow_kill_switch(crossing_queue(&s->crossing, 0), s->swtch);
}

static void composed(void *context)
{
	struct switching *s = with_switch(context);

	s->crossing.flow = crossing_sink(&s->crossing, guarded(s));
}

static void starting(void *context)
{
	struct switching *s = with_switch(context);

	crossing_start(&s->crossing, crossing_sink(&s->crossing, guarded(s)));
}

/* Who wakes it runs it. */
static void at_once(void *context)
{
	struct switching *s = with_switch(context);

	s->crossing.scene.at_once = true;
	crossing_start(&s->crossing, crossing_sink(&s->crossing, guarded(s)));
}

static void resting(void *context)
{
	starting(context);
	scene_settle(context);
}

static void offer(void *context)
{
	struct crossing *c = context;
	struct token *token = crossing_token(c, 0);
	int rc = weir_flow_queue_offer(c->queue, token);

	explorer_assert(rc == 0 || rc == -EPIPE);
	token->accepted = rc == 0;
}

/* It has been woken to take an item. */
static void taking(void *context)
{
	struct switching *s = context;

	resting(s);
	offer(&s->crossing);
}

static void ending(void *context)
{
	struct switching *s = context;

	taking(s);
	explorer_assert(weir_flow_queue_end(s->crossing.queue, NULL) == 0);
}

/* Two islands have the same switch. */
static void two_guarded(void *context)
{
	struct switching *s = with_switch(context);
	struct weir_flow *flow = weir_flow_async(guarded(s), 2, NULL);

	flow = weir_flow_kill_switch(flow, s->swtch);
	crossing_start(&s->crossing, crossing_sink(&s->crossing, flow));
	scene_settle(&s->crossing.scene);
	offer(&s->crossing);
}

/* --- What threads do ------------------------------------------------------ */

static void shut_down(void *context)
{
	struct switching *s = context;
	int rc = weir_flow_switch_end(s->swtch);

	explorer_assert(rc == 0 || rc == -EALREADY);
	s->shutdowns += rc == 0;
}

static void fail(void *context)
{
	struct switching *s = context;
	struct weir_error *error;
	int rc;

	explorer_assert(
		weir_error_new(&error, -EIO, "test", "aborted", NULL, NULL,
			       s->crossing.scene.executor.options.allocator) ==
		0);
	rc = weir_flow_switch_stop(s->swtch, error);
	explorer_assert(rc == 0 || rc == -EALREADY);
	s->aborts += rc == 0;
	weir_error_unref(error);
}

static void shut_down_and_work(void *context)
{
	shut_down(context);
	work_below(context);
}

static void fail_and_work_above(void *context)
{
	fail(context);
	work_above(context);
}

static void cancel_and_work(void *context)
{
	cancel(context);
	work_below(context);
}

static void start_and_work(void *context)
{
	struct crossing *c = context;

	crossing_start(c, c->flow);
	work_below(c);
}

/* Its maker has done with it. */
static void free_switch(struct switching *s)
{
	weir_flow_switch_free(s->swtch);
	s->swtch = NULL;
}

static void fail_and_free(void *context)
{
	fail(context);
	free_switch(context);
}

/* Another flow gets it, in vain. */
static void compose_and_free(void *context)
{
	struct switching *s = context;
	struct weir_flow *flow =
		weir_flow_kill_switch(weir_flow_empty(), s->swtch);

	explorer_assert(weir_flow_check(flow, NULL, NULL) == 0);
	weir_flow_free(flow);
	free_switch(s);
}

/* If the run is over, its flow goes. */
static void work_and_free_flow(void *context)
{
	struct crossing *c = context;

	work_below(c);
	if (!ck_pr_load_32(&c->over))
		return;
	ck_pr_fence_acquire();
	weir_flow_free(c->flow);
	c->flow = NULL;
}

/* --- Checks --------------------------------------------------------------- */

/* It is over although nothing else has ended it. */
static int code_at_end(struct switching *s)
{
	scene_settle(&s->crossing.scene);
	weir_flow_switch_free(s->swtch);
	crossing_is_over(&s->crossing);
	return s->crossing.code;
}

static void thrown(void *context)
{
	struct switching *s = context;
	int code = code_at_end(s);

	explorer_assert(s->shutdowns + s->aborts == 1);
	explorer_assert(code == (s->aborts ? -EIO : 0));
}

static void thrown_or_cancelled(void *context)
{
	int code = code_at_end(context);

	explorer_assert(code == -EIO || code == -ECANCELED);
}

/* It ended before, or then. */
static void thrown_or_ended(void *context)
{
	struct switching *s = context;
	int code = code_at_end(s);

	explorer_assert(code == -EIO ||
			(code == 0 && s->crossing.delivered == 1));
}

static void ended(void *context)
{
	struct switching *s = context;

	explorer_assert(code_at_end(s) == 0);
	explorer_assert(s->crossing.delivered == 1);
}

#define SWITCHING(...) \
	{ \
		.context = &switching, .context_size = sizeof(switching), \
		__VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SWITCHING(.name = "a switch is thrown as a run is made",
		  .setup = composed, .thread = {fail, start_and_work},
		  .check = thrown),
	SWITCHING(.name = "a switch is thrown as a run begins",
		  .setup = starting, .thread = {fail, work_below},
		  .check = thrown),
	SWITCHING(.name = "a switch is thrown as an item is taken",
		  .setup = taking, .thread = {shut_down, work_below},
		  .check = thrown),
	SWITCHING(.name = "two throw a switch", .setup = resting,
		  .thread = {fail, shut_down_and_work}, .check = thrown),
	SWITCHING(.name = "two throw a switch as an item is taken",
		  .setup = taking, .thread = {fail, shut_down, work_below},
		  .check = thrown),
	SWITCHING(.name = "a switch of two islands is thrown",
		  .setup = two_guarded,
		  .thread = {fail_and_work_above, work_below}, .check = thrown),
	SWITCHING(.name = "a switch is thrown by who runs it or another",
		  .setup = at_once, .thread = {fail, offer}, .check = thrown),
	SWITCHING(.name = "a switch is thrown as the run is cancelled",
		  .setup = taking, .thread = {fail, cancel_and_work},
		  .check = thrown_or_cancelled),
	SWITCHING(.name = "a switch is thrown and freed as the run ends",
		  .setup = ending,
		  .thread = {fail_and_free, work_and_free_flow},
		  .check = thrown_or_ended),
	SWITCHING(.name = "another flow has the switch as the run ends",
		  .setup = ending,
		  .thread = {compose_and_free, work_and_free_flow},
		  .check = ended),
};

const struct scene_group switches = SCENE_GROUP(scenarios);

static const struct explorer_scenario long_scenarios[] = {
	SWITCHING(.name = "a switch of two islands is thrown, and two work",
		  .setup = two_guarded,
		  .thread = {fail, work_above, work_below}, .check = thrown),
	SWITCHING(.name = "a switch is thrown, a run is cancelled and works",
		  .setup = taking, .thread = {fail, cancel, work_below},
		  .check = thrown_or_cancelled),
};

const struct scene_group long_switches = SCENE_GROUP(long_scenarios);
