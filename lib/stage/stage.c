/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ready-made actors. Each has a copy of its options and an ops table of its
 * own, so that every stage can have its own name. A token costs one indirect
 * call, that of the user's function.
 *
 * An item is consumed only when the user's function has taken it: an item that
 * the function fails with is still in the in-port, and is dropped there.
 */
#include <weir/stage.h>

#include <errno.h>

#include "actor/ending.h"
#include "actor/gate.h"
#include "actor/in.h"
#include "actor/out.h"
#include "actor/port.h"
#include "base/options.h"

static const char *name_of(const char *name, const char *otherwise)
{
	return name ? name : otherwise;
}

static int set_stats(struct weir_actor *actor, struct weir_stats *stats)
{
	return stats ? weir_actor_set_stats(actor, stats) : 0;
}

/* --- Producer ------------------------------------------------------------- */

static struct weir_producer *producer_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_producer, actor);
}

/* Drops the item of a call by which the function has ended the stream, too. */
static int unwanted(const struct weir_producer *self, void *item, int rc)
{
	const struct weir_items *items = self->options.makes;

	if (items && items->drop)
		items->drop(item, items->context);
	return rc;
}

static inline int produce(struct weir_actor *actor)
{
	struct weir_producer *self = producer_of(actor);
	void *item = NULL;
	int rc = self->options.produce(&item, self->options.context);
	int then = 0;

	if (WEIR_UNLIKELY(rc != 1)) {
		if (rc != WEIR_PRODUCE_LAST)
			return rc ? rc : weir_actor_end(actor);
		then = WEIR_TURN_END;
	}
	rc = weir_out_put(&self->out, item);
	return WEIR_LIKELY(rc == 0) ? then : unwanted(self, item, rc);
}
WEIR_TURN(produce)

static uint32_t produce_permitted(struct weir_actor *actor, uint32_t n)
{
	struct weir_producer *self = producer_of(actor);
	uint32_t tail = weir__out_cursor(&self->out),
		 done = produce_n(actor, n);

	/* A turn that fails has made nothing that would give one back. */
	(void)weir_permits_use(&self->permits,
			       weir__out_cursor(&self->out) - tail);
	return done;
}

static void producer_stopped(struct weir_actor *actor, struct weir_error *error)
{
	const struct weir_producer_options *options =
		&producer_of(actor)->options;

	if (options->done)
		options->done(error, options->context);
}

static void producer_released(struct weir_actor *actor)
{
	const struct weir_producer_options *options =
		&producer_of(actor)->options;

	if (options->released)
		options->released(options->context);
}

static int producer_set_up(struct weir_producer *self,
			   struct weir_executor *executor)
{
	const struct weir_producer_options *options = &self->options;
	int rc;

	self->ops = (struct weir_actor_ops){
		.name = name_of(options->name, "producer"),
		.turns = options->permits ? produce_permitted : produce_n,
		.stopped = producer_stopped,
		.released = producer_released,
		.lifecycle = options->lifecycle,
	};
	self->permits = (struct weir_permits){.port.actor = NULL};
	rc = weir_actor_init(&self->actor, &self->ops, executor);
	if (rc == 0)
		rc = weir_out_init(&self->out, &self->actor, options->makes);
	if (rc == 0 && options->permits)
		rc = weir_permits_init(&self->permits, &self->actor,
				       options->permits);
	return rc < 0 ? rc : set_stats(&self->actor, options->stats);
}

int weir_producer_init(struct weir_producer *producer,
		       struct weir_executor *executor,
		       const struct weir_producer_options *options)
{
	struct weir_producer before;
	int rc;

	if (!producer || !options || !options->produce ||
	    options->permits < 0 || !weir__reserved_zero(options->reserved))
		return -EINVAL;
	before = *producer;
	producer->options = *options;
	rc = producer_set_up(producer, executor);
	if (rc < 0)
		*producer = before;
	return rc;
}

/* --- Transformer ---------------------------------------------------------- */

static struct weir_transformer *transformer_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_transformer, actor);
}

/*
 * Checks how much a function of the user's has put since `tail` was the next
 * slot.
 */
static inline int check_most(const struct weir_transformer *self, uint32_t tail)
{
	if (WEIR_UNLIKELY(weir__out_cursor(&self->out) - tail >
			  self->options.most))
		return -EOVERFLOW;
	return 0;
}

/* The item stays in the in-port. Not in the loop, which is faster without. */
static __attribute__((noinline)) int not_done(struct weir_transformer *self,
					      int rc, uint32_t tail)
{
	weir__in_left(&self->in);
	return rc == WEIR_TRANSFORM_MORE ? check_most(self, tail) : rc;
}

static inline int transform(struct weir_actor *actor)
{
	struct weir_transformer *self = transformer_of(actor);
	uint32_t tail = weir__out_cursor(&self->out);
	int rc = self->options.transform(weir__in_first(&self->in), &self->out,
					 self->options.context);

	if (WEIR_LIKELY(rc == 0)) {
		weir_in_consume(&self->in);
		return check_most(self, tail);
	}
	return not_done(self, rc, tail);
}
WEIR_TURN(transform)

static inline int flush(struct weir_actor *actor)
{
	struct weir_transformer *self = transformer_of(actor);
	uint32_t tail = weir__out_cursor(&self->out);
	int rc = self->options.flush(&self->out, self->options.context);

	if (rc != 0 && rc != WEIR_TRANSFORM_MORE)
		return rc;
	if (check_most(self, tail) < 0)
		return -EOVERFLOW;
	return rc == 0 ? WEIR_TURN_END : 0;
}
WEIR_TURN(flush)

/* Only if there is something to flush: it waits for room alone from now on. */
static int transformer_ended(struct weir_actor *actor, struct weir_in *in,
			     struct weir_error *error)
{
	struct weir_transformer *self = transformer_of(actor);
	struct weir_port *const ports[] = {&self->out.port};

	if (error) {
		weir__actor_end(actor, weir_error_ref(error), false);
		return 0;
	}
	if (self->out.port.flags & WEIR__PORT_ENDED)
		return weir_actor_end(actor);
	return weir_actor_become(actor, flush_n, ports, 1);
}

static void transformer_stopped(struct weir_actor *actor,
				struct weir_error *error)
{
	const struct weir_transformer_options *options =
		&transformer_of(actor)->options;

	if (options->done)
		options->done(error, options->context);
}

static void transformer_released(struct weir_actor *actor)
{
	const struct weir_transformer_options *options =
		&transformer_of(actor)->options;

	if (options->released)
		options->released(options->context);
}

static int transformer_set_up(struct weir_transformer *self,
			      struct weir_executor *executor)
{
	struct weir_transformer_options *options = &self->options;
	int rc;

	self->ops = (struct weir_actor_ops){
		.name = name_of(options->name, "transformer"),
		.turns = transform_n,
		.ended = options->flush ? transformer_ended : NULL,
		.stopped = transformer_stopped,
		.released = transformer_released,
		.lifecycle = options->lifecycle,
	};
	if (!options->capacity)
		options->capacity = WEIR_STAGE_CAPACITY;
	if (!options->most)
		options->most = 1;
	rc = weir_actor_init(&self->actor, &self->ops, executor);
	if (rc == 0)
		rc = weir_out_init(&self->out, &self->actor, options->makes);
	if (rc == 0)
		rc = weir_port_set_burst(&self->out.port, options->most);
	if (rc == 0)
		rc = set_stats(&self->actor, options->stats);
	/* Last, for it takes memory. */
	return rc < 0 ? rc
		      : weir_in_init(&self->in, &self->actor, options->capacity,
				     options->takes);
}

int weir_transformer_init(struct weir_transformer *transformer,
			  struct weir_executor *executor,
			  const struct weir_transformer_options *options)
{
	struct weir_transformer before;
	int rc;

	if (!transformer || !options || !options->transform ||
	    !weir__reserved_zero(options->reserved))
		return -EINVAL;
	before = *transformer;
	transformer->options = *options;
	rc = transformer_set_up(transformer, executor);
	if (rc < 0)
		*transformer = before;
	return rc;
}

/* --- Consumer ------------------------------------------------------------- */

static struct weir_consumer *consumer_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct weir_consumer, actor);
}

static inline int consume(struct weir_actor *actor)
{
	struct weir_consumer *self = consumer_of(actor);
	int rc = self->options.consume(weir__in_first(&self->in),
				       self->options.context);

	if (WEIR_LIKELY(rc == 0)) {
		weir_in_consume(&self->in);
		return 0;
	}
	weir__in_left(&self->in);
	/* a turn that returns 1 would finish (WEIR_TURN_END) */
	return rc < 0 ? rc : -EINVAL;
}
WEIR_TURN(consume)

static uint32_t consume_releasing(struct weir_actor *actor, uint32_t n)
{
	uint32_t done = consume_n(actor, n);

	(void)weir_permits_release(consumer_of(actor)->options.permits, done);
	return done;
}

static void consumer_stopped(struct weir_actor *actor, struct weir_error *error)
{
	const struct weir_consumer_options *options =
		&consumer_of(actor)->options;

	if (options->done)
		options->done(error, options->context);
	if (options->permits)
		weir_actor_unref(options->permits->port.actor);
}

static void consumer_released(struct weir_actor *actor)
{
	const struct weir_consumer_options *options =
		&consumer_of(actor)->options;

	if (options->released)
		options->released(options->context);
}

static int consumer_set_up(struct weir_consumer *self,
			   struct weir_executor *executor)
{
	struct weir_consumer_options *options = &self->options;
	int rc;

	self->ops = (struct weir_actor_ops){
		.name = name_of(options->name, "consumer"),
		.turns = options->permits ? consume_releasing : consume_n,
		.stopped = consumer_stopped,
		.released = consumer_released,
		.lifecycle = options->lifecycle,
	};
	if (!options->capacity)
		options->capacity = WEIR_STAGE_CAPACITY;
	rc = weir_actor_init(&self->actor, &self->ops, executor);
	if (rc == 0)
		rc = set_stats(&self->actor, options->stats);
	/* Last, for it takes memory. */
	return rc < 0 ? rc
		      : weir_in_init(&self->in, &self->actor, options->capacity,
				     options->takes);
}

int weir_consumer_init(struct weir_consumer *consumer,
		       struct weir_executor *executor,
		       const struct weir_consumer_options *options)
{
	struct weir_consumer before;
	int rc;

	if (!consumer || !options || !options->consume ||
	    !weir__reserved_zero(options->reserved) ||
	    (options->permits && !options->permits->port.actor))
		return -EINVAL;
	before = *consumer;
	consumer->options = *options;
	rc = consumer_set_up(consumer, executor);
	if (rc < 0)
		*consumer = before;
	else if (options->permits)
		weir_actor_ref(options->permits->port.actor);
	return rc;
}

/* --- Chains --------------------------------------------------------------- */

/* The actor's only out-port, or NULL. */
static struct weir_out *out_of(const struct weir_actor *actor)
{
	struct weir_out *out = NULL;
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		if (!weir__out_of(port))
			continue;
		if (out)
			return NULL;
		out = weir__out_of(port);
	}
	return out;
}

/* The actor's only in-port, or NULL. */
static struct weir_in *in_of(const struct weir_actor *actor)
{
	struct weir_in *in = NULL;
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		if (!weir__in_of(port))
			continue;
		if (in)
			return NULL;
		in = weir__in_of(port);
	}
	return in;
}

/* Each of them new, and there once: a new actor's index is nobody's yet. */
static int check_actors(struct weir_actor *const *actors, size_t n)
{
	size_t i;

	if (!actors || n == 0 || n > UINT32_MAX)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (!actors[i] || !actors[i]->executor)
			return -EINVAL;
		if (!weir__is_new(actors[i]))
			return -EALREADY;
	}
	for (i = 0; i < n; i++)
		actors[i]->index = (uint32_t)i;
	for (i = 0; i < n; i++)
		if (actors[i]->index != i)
			return -EINVAL;
	return 0;
}

static int check_chain(struct weir_actor *const *actors, size_t n)
{
	int rc = check_actors(actors, n);
	size_t i;

	for (i = 1; rc == 0 && i < n; i++)
		rc = weir__link_check(out_of(actors[i - 1]), in_of(actors[i]));
	return rc;
}

static int link_and_start(struct weir_actor *const *actors, size_t n)
{
	int rc = 0;
	size_t i;

	for (i = 1; rc == 0 && i < n; i++)
		rc = weir_out_link(out_of(actors[i - 1]), in_of(actors[i]));
	for (i = n; rc == 0 && i > 0; i--)
		rc = weir_actor_start(actors[i - 1]);
	return rc;
}

int weir_chain_start(struct weir_actor *const *actors, size_t n_actors)
{
	int rc = check_chain(actors, n_actors);
	size_t i;

	if (rc < 0)
		return rc;
	/* Actors that run may end at any time: a reference keeps them until we
	 * are done. */
	for (i = 0; i < n_actors; i++)
		weir_actor_ref(actors[i]);
	rc = link_and_start(actors, n_actors);
	for (i = 0; rc < 0 && i < n_actors; i++)
		weir_actor_stop(actors[i]);
	for (i = 0; i < n_actors; i++)
		weir_actor_unref(actors[i]);
	return rc;
}
