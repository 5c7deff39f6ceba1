/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows that end in subscribers. The out-port of the island above the end
 * becomes a publisher (reactive.h) with one subscriber. A weir_flow_publisher
 * starts a run for each subscriber; the last operator of the run finds its
 * subscriber in the run.
 */
#include <weir/flow_bridge.h>

#include <errno.h>

#include <ck_pr.h>

#include "actor/out.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/exit.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "flow/engine/run.h"
#include "flow/engine/start.h"
#include "stream/reactive.h"

/*
 * *told: from here on the publisher sends the subscriber its signals, also if
 * it rejects it.
 */
static int join(struct weir_out *out, struct weir_reactive_out *reactive,
		struct weir_subscriber *subscriber, bool *told)
{
	const struct weir_reactive_out_options options = {
		.capacity = WEIR_FLOW_BATCH,
	};
	int rc = weir_reactive_out_init(reactive, out, &options);

	/* now, so that no allocation is needed later */
	if (rc == 0 && !weir__reactive_in_of(subscriber, out))
		rc = weir__reactive_out_ring(reactive);
	if (rc == 0)
		rc = weir_publisher_subscribe(&reactive->publisher, subscriber);
	if (rc < 0)
		return rc;
	*told = true;
	return weir__out_sinks(out) || ck_pr_load_ptr(&reactive->pending)
		       ? 0
		       : -ENOMEM;
}

/* --- One subscriber ------------------------------------------------------- */

static int into_join(struct weir__island *island, const struct weir_flow *flow,
		     struct weir_reactive_out *reactive)
{
	struct weir_subscriber *const *args = (const void *)flow->args;
	struct weir_reactive_in *in;
	bool told;
	int rc;

	in = weir__reactive_in_of(*args, &island->out);
	rc = join(&island->out, reactive, *args, &told);
	if (rc == 0 && in)
		weir__exit_linked(island, in->in);
	return rc;
}

static struct weir__op *into_build(struct weir__build *build,
				   const struct weir_flow *flow)
{
	return weir__exit_build(build, flow, into_join);
}

static const struct weir__kind into_kind = {
	.name = "into",
	.build = into_build,
	.needs_island = true,
	.makes = true,
};

struct weir_flow *weir_flow_into(struct weir_flow *flow,
				 struct weir_subscriber *subscriber)
{
	return weir__flow_upon(&into_kind, flow, &subscriber,
			       sizeof(subscriber),
			       subscriber && subscriber->ops);
}

/* --- Many ----------------------------------------------------------------- */

struct weir_flow_publisher {
	struct weir_publisher publisher;
	struct weir_flow *flow;
	struct weir_executor *executor;
	struct weir_flow_run_options options;
	uint32_t refs; /* atomic: its maker, runs */
};

/* How a run finds its subscriber. */
struct service {
	struct weir_flow_publisher *publisher;
	struct weir_subscriber *subscriber; /* while the run is made */
	bool told;			    /* as above */
};

static int serve_join(struct weir__island *island, const struct weir_flow *flow,
		      struct weir_reactive_out *reactive)
{
	struct service *service = island->run->options.context;

	return join(&island->out, reactive, service->subscriber,
		    &service->told);
}

static struct weir__op *serve_build(struct weir__build *build,
				    const struct weir_flow *flow)
{
	return weir__exit_build(build, flow, serve_join);
}

static const struct weir__kind serve_kind = {
	.name = "publisher",
	.build = serve_build,
	.makes = true,
};

static void publisher_unref(struct weir_flow_publisher *publisher)
{
	if (!weir__unref(&publisher->refs))
		return;
	weir_flow_free(publisher->flow);
	weir__free(weir_allocator_default(), publisher, sizeof(*publisher));
}

static struct weir_flow_publisher *service_free(struct service *service)
{
	struct weir_flow_publisher *publisher = service->publisher;

	weir__free(publisher->executor->options.allocator, service,
		   sizeof(*service));
	return publisher;
}

static void run_over(struct weir_error *error, void *result, void *context)
{
	struct weir_flow_publisher *publisher = service_free(context);

	if (publisher->options.done)
		publisher->options.done(error, result,
					publisher->options.context);
	publisher_unref(publisher);
}

/* Starts a run for the subscriber, of which the caller holds a reference; *told
 * as above. */
static int serve(struct weir_flow_publisher *publisher,
		 struct weir_subscriber *subscriber, bool *told)
{
	struct weir_flow_run_options options = publisher->options;
	struct service *service;
	int rc;

	service = weir__alloc(publisher->executor->options.allocator,
			      sizeof(*service));
	if (!service)
		return -ENOMEM;
	service->publisher = publisher;
	service->subscriber = subscriber;
	options.done = run_over;
	options.context = service;
	/* the thread that subscribes keeps the publisher alive */
	weir__ref(&publisher->refs);
	rc = weir_flow_start(publisher->flow, publisher->executor, &options,
			     NULL);
	if (rc == 0)
		return 0;
	*told = service->told;
	publisher_unref(service_free(service));
	return rc;
}

static int subscribe(struct weir_publisher *base,
		     struct weir_subscriber *subscriber)
{
	struct weir_flow_publisher *publisher;
	bool told = false;
	int rc;

	if (!base || !subscriber)
		return -EINVAL;
	publisher =
		weir_container_of(base, struct weir_flow_publisher, publisher);
	/* keeps the subscriber alive for a rejection and a report */
	weir_subscriber_ref(subscriber);
	rc = serve(publisher, subscriber, &told);
	if (rc < 0 && !told)
		weir__reject(publisher->executor, subscriber,
			     weir_error_of(rc));
	weir_subscriber_unref(subscriber);
	return 0;
}

static const struct weir_publisher_ops publisher_ops = {
	.subscribe = subscribe,
};

static int publisher_make(struct weir_flow_publisher **publisher,
			  struct weir_flow *flow,
			  struct weir_executor *executor,
			  const struct weir_flow_run_options *options)
{
	int rc = weir__flow_check(flow, NULL, NULL);
	struct weir__misfit misfit;

	if (rc == 0 && weir__flow_misfit(flow, &misfit))
		rc = -EINVAL;
	if (rc == 0 && !weir__run_options_valid(options))
		rc = -EINVAL;
	if (rc < 0)
		return rc;
	*publisher = weir__alloc(weir_allocator_default(), sizeof(**publisher));
	if (!*publisher)
		return -ENOMEM;
	(*publisher)->publisher.ops = &publisher_ops;
	(*publisher)->flow = flow;
	(*publisher)->executor = executor;
	if (options)
		(*publisher)->options = *options;
	(*publisher)->refs = 1;
	return 0;
}

int weir_flow_publisher_new(struct weir_flow_publisher **publisher,
			    struct weir_flow *flow,
			    struct weir_executor *executor,
			    const struct weir_flow_run_options *options)
{
	int rc = -EINVAL;

	if (publisher)
		*publisher = NULL;
	flow = weir__flow_upon(&serve_kind, flow, NULL, 0, true);
	if (publisher && executor && executor->registry)
		rc = publisher_make(publisher, flow, executor, options);
	if (rc < 0)
		weir_flow_free(flow);
	return rc;
}

struct weir_publisher *weir_flow_publisher_base(
	struct weir_flow_publisher *publisher)
{
	return publisher ? &publisher->publisher : NULL;
}

void weir_flow_publisher_free(struct weir_flow_publisher *publisher)
{
	if (publisher)
		publisher_unref(publisher);
}
