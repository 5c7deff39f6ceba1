/* SPDX-License-Identifier: BSD-2-Clause */
/* Blueprints: nodes, their ownership, and errors while composing. */
#include "flow/engine/blueprint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"

/* The arguments of a failed flow: its error. */
struct failure {
	int code;
	const char *origin, *message;
	/* Where the message is, in the flow's own memory. */
	char text[104];
};

/* The first message of a bad argument; the operator may replace it by one that
 * says which argument. */
static const char bad_argument[] =
	"a null argument, or one that is out of range";

static const struct weir__kind failed_kind = {.name = "failed flow"};

/* The failed flow when there is no memory even for a failed flow. Shared and
 * never changed. */
static struct weir_flow no_memory = {.kind = &failed_kind};

/* The taker of flows that are being taken over, until the real taker is
 * made. */
static struct weir_flow taking;

static bool has_failed(const struct weir_flow *flow)
{
	return flow->kind == &failed_kind;
}

static struct failure failure_of(const struct weir_flow *flow)
{
	if (flow == &no_memory)
		return (struct failure){
			.code = -ENOMEM,
			.origin = "flow",
			.message = "no memory",
		};
	return *(const struct failure *)(const void *)flow->args;
}

static struct weir_flow *allocate(const struct weir__kind *kind, uint32_t n,
				  const void *args, size_t size)
{
	/* the arguments, then the pointers to the flows above */
	size_t at = (size + sizeof(void *) - 1) / sizeof(void *) *
		    sizeof(void *);
	size_t all = sizeof(struct weir_flow) + at + n * sizeof(void *);
	struct weir_flow *flow = weir__alloc(weir_allocator_default(), all);

	if (!flow)
		return NULL;
	flow->kind = kind;
	flow->size = all;
	flow->depth = 1;
	flow->n_up = n;
	flow->up = (struct weir_flow **)(void *)(flow->args + at);
	if (size)
		memcpy(flow->args, args, size);
	return flow;
}

struct weir_flow *weir__flow_failed(int code, const char *origin,
				    const char *message)
{
	struct failure failure = {.code = code, .origin = origin};
	struct weir_flow *flow =
		allocate(&failed_kind, 0, &failure, sizeof(failure));
	struct failure *kept;

	if (!flow)
		return &no_memory;
	kept = (struct failure *)(void *)flow->args;
	(void)snprintf(kept->text, sizeof(kept->text), "%s", message);
	kept->message = kept->text;
	return flow;
}

struct weir_flow *weir__flow_wrong(struct weir_flow *flow,
				   const struct weir__kind *kind,
				   const char *format, ...)
{
	struct failure *failure = (struct failure *)(void *)flow->args;
	va_list list;

	if (!has_failed(flow) || flow == &no_memory ||
	    failure->origin != kind->name ||
	    strcmp(failure->message, bad_argument) != 0)
		return flow;
	va_start(list, format);
	(void)vsnprintf(failure->text, sizeof(failure->text), format, list);
	va_end(list);
	return flow;
}

struct weir_flow *weir__flow_wrong_as(struct weir_flow *flow,
				      const struct weir__kind *kind,
				      const char *why)
{
	return why ? weir__flow_wrong(flow, kind, "%s", why) : flow;
}

struct weir_flow *weir__flow_wrong_size(struct weir_flow *flow,
					const struct weir__kind *kind,
					const char *what, size_t n)
{
	if (weir__size_valid(n))
		return flow;
	return weir__flow_wrong(flow, kind, "%s %zu is not 1 to %u", what, n,
				WEIR_CAPACITY_MAX);
}

struct weir_flow *weir__flow_wrong_power(struct weir_flow *flow,
					 const struct weir__kind *kind,
					 const char *what, size_t n)
{
	if (weir__power_valid(n))
		return flow;
	return weir__flow_wrong(flow, kind,
				"%s %zu is no power of two up to %u", what, n,
				WEIR_CAPACITY_MAX);
}

/* Takes `up` over. NULL: it was taken over; else a failed flow that says why
 * not. */
static struct weir_flow *take_over(const struct weir__kind *kind,
				   struct weir_flow *up)
{
	if (!up)
		return weir__flow_failed(-EINVAL, kind->name,
					 "no flow to be put upon");
	if (up->taken)
		return weir__flow_failed(-EBUSY, kind->name,
					 "a flow that is used twice");
	if (up->depth >= WEIR_FLOW_DEPTH_MAX)
		return weir__flow_failed(-E2BIG, kind->name,
					 "too many flows upon each other");
	up->taken = true;
	up->taker = &taking;
	return NULL;
}

/* NULL: all of them are taken over. */
static struct weir_flow *why_not(const struct weir__kind *kind,
				 struct weir_flow *const *up, uint32_t n)
{
	struct weir_flow *failed = NULL;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (up[i] && has_failed(up[i]))
			return up[i];
	for (i = 0; i < n && !failed; i++)
		failed = take_over(kind, up[i]);
	return failed;
}

/* True: the flow is to be freed with the other arguments, because no other flow
 * has taken it over. */
static bool goes(const struct weir_flow *flow)
{
	return flow && flow != &no_memory &&
	       (!flow->taken || flow->taker == &taking);
}

/*
 * The flow could not be made: frees the flows that were given, each once,
 * except `but` and those that another flow has taken over. The list of the
 * flows to be freed is linked through their `taker`.
 */
static void give_up(struct weir_flow *const *up, uint32_t n,
		    const struct weir_flow *but)
{
	struct weir_flow *list = NULL, *flow;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!goes(up[i]) || up[i] == but)
			continue;
		up[i]->taken = true;
		up[i]->taker = list;
		list = up[i];
	}
	while ((flow = list)) {
		list = flow->taker;
		weir_flow_free(flow);
	}
}

/* They are the ups of the flow. */
static void join(struct weir_flow *flow, struct weir_flow *const *up)
{
	uint32_t i;

	for (i = 0; i < flow->n_up; i++) {
		flow->up[i] = up[i];
		up[i]->taker = flow;
		if (flow->depth <= up[i]->depth)
			flow->depth = up[i]->depth + 1;
	}
}

struct weir_flow *weir__flow_new(const struct weir__kind *kind,
				 struct weir_flow *const *up, uint32_t n,
				 const void *args, size_t size, bool valid)
{
	struct weir_flow *failed = why_not(kind, up, n), *flow = NULL;

	if (!failed && !valid)
		failed = weir__flow_failed(-EINVAL, kind->name, bad_argument);
	if (!failed) {
		flow = allocate(kind, n, args, size);
		if (flow) {
			join(flow, up);
			return flow;
		}
		failed = &no_memory;
	}
	give_up(up, n, failed);
	return failed;
}

/* Recursion is bounded: take_over() sees to the depth.
 * NOLINTNEXTLINE(misc-no-recursion) */
void weir_flow_free(struct weir_flow *flow)
{
	uint32_t i;

	if (!flow || flow == &no_memory)
		return;
	for (i = 0; i < flow->n_up; i++)
		weir_flow_free(flow->up[i]);
	if (flow->kind->free)
		flow->kind->free(flow);
	weir__free(weir_allocator_default(), flow, flow->size);
}

int weir__flow_check(const struct weir_flow *flow, const char **origin,
		     const char **message)
{
	struct failure failure = {0};

	if (!flow)
		failure = (struct failure){
			.code = -EINVAL,
			.origin = "flow",
			.message = "no flow",
		};
	else if (has_failed(flow))
		failure = failure_of(flow);
	if (failure.code && origin)
		*origin = failure.origin;
	if (failure.code && message)
		*message = failure.message;
	return failure.code;
}

/* Recursion is bounded: take_over() sees to the depth.
 * NOLINTNEXTLINE(misc-no-recursion) */
const struct weir_flow *weir__flow_lacking(const struct weir_flow *flow)
{
	const struct weir_flow *lacking = NULL;
	uint32_t i;

	if (flow->kind->lacking)
		lacking = flow->kind->lacking(flow);
	for (i = 0; i < flow->n_up && !lacking; i++)
		lacking = weir__flow_lacking(flow->up[i]);
	return lacking;
}

/* Recursion is bounded: see struct weir_flow.
 * NOLINTNEXTLINE(misc-no-recursion) */
void weir__flow_unclaim(struct weir_flow *flow)
{
	uint32_t i;

	for (i = 0; i < flow->n_up; i++)
		weir__flow_unclaim(flow->up[i]);
	if (flow->kind->unclaim)
		flow->kind->unclaim(flow);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
int weir__flow_claim(struct weir_flow *flow)
{
	uint32_t n = 0; /* the flows above that are claimed */
	int rc = 0;

	while (n < flow->n_up && (rc = weir__flow_claim(flow->up[n])) == 0)
		n++;
	if (rc == 0 && flow->kind->claim)
		rc = flow->kind->claim(flow);
	while (rc != 0 && n > 0)
		weir__flow_unclaim(flow->up[--n]);
	return rc;
}

int weir_flow_check(const struct weir_flow *flow, const char **origin,
		    const char **message)
{
	/* not in the flow, which others may look at, and run */
	static __thread struct weir__misfit misfit;
	int rc = weir__flow_check(flow, origin, message);
	const char *name = NULL, *why = "an outlet is missing in this flow";
	const struct weir_flow *lacking;

	/* a flow that another has taken over is checked with that one */
	if (rc < 0 || flow->taken)
		return rc;
	lacking = weir__flow_lacking(flow);
	if (lacking) {
		name = lacking->kind->name;
	} else if (weir__flow_misfit(flow, &misfit)) {
		name = weir__flow_called(misfit.flow);
		why = misfit.text;
	}
	if (name && origin)
		*origin = name;
	if (name && message)
		*message = why;
	return name ? -EINVAL : 0;
}

/* True: the flow is not NULL and has not failed, so it may be given
 * settings. */
static bool can_set(const struct weir_flow *flow)
{
	return flow && !has_failed(flow);
}

static struct weir_flow *no_flow(struct weir_flow *flow, const char *origin)
{
	return flow ? flow : weir__flow_failed(-EINVAL, origin, "no flow");
}

struct weir_flow *weir_flow_name(struct weir_flow *flow, const char *name)
{
	if (!can_set(flow))
		return no_flow(flow, "name");
	flow->name = name;
	return flow;
}

/* The node of which is said what `flow` emits. A boundary emits the items of
 * the flow above; but what has been said of that flow stands. */
static struct weir_flow *maker_of(struct weir_flow *flow)
{
	struct weir_flow *maker = flow;

	while ((maker->kind->boundary || maker->kind->cuts ||
		maker->kind->passes) &&
	       maker->n_up == 1)
		maker = maker->up[0];
	return maker->has_items || maker->same_items ? flow : maker;
}

struct weir_flow *weir_flow_items(struct weir_flow *flow,
				  const struct weir_items *items)
{
	struct weir_flow *maker;

	if (!can_set(flow))
		return no_flow(flow, "items");
	maker = maker_of(flow);
	maker->items = items;
	maker->has_items = true;
	maker->same_items = false;
	return flow;
}

struct weir_flow *weir_flow_same_items(struct weir_flow *flow)
{
	struct weir_flow *maker;

	if (!can_set(flow))
		return no_flow(flow, "same_items");
	maker = maker_of(flow);
	maker->has_items = false;
	maker->same_items = true;
	return flow;
}

/* A setting cannot be made for the flow, which is freed unless another has
 * taken it over. */
static struct weir_flow *unset(struct weir_flow *flow, const char *setting,
			       const char *why)
{
	if (flow->taken)
		return weir__flow_failed(-EBUSY, setting,
					 "a flow that is used twice");
	weir_flow_free(flow);
	return weir__flow_failed(-EINVAL, setting, why);
}

struct weir_flow *weir_flow_supervise(
	struct weir_flow *flow,
	enum weir_directive (*decide)(struct weir_error *error, void *context),
	void *context)
{
	if (!can_set(flow))
		return no_flow(flow, "supervise");
	if (!decide)
		return unset(flow, "supervise", "no function");
	flow->decide = decide;
	flow->decide_context = context;
	return flow;
}

struct weir_flow *weir_flow_delay_errors(
	struct weir_flow *flow,
	void (*failed)(struct weir_error *error, void *context), void *context)
{
	char why[80];

	if (!can_set(flow))
		return no_flow(flow, "delay_errors");
	if (!flow->kind->delays) {
		(void)snprintf(why, sizeof(why), "%s has no errors to delay",
			       flow->kind->name);
		return unset(flow, "delay_errors", why);
	}
	flow->delays_errors = true;
	flow->failed = failed;
	flow->failed_context = context;
	return flow;
}
