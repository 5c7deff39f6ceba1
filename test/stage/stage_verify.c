/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ready-made stages as publisher, subscriber and processor are held to the
 * rules, on all executors.
 */
#include "stream/verify.h"

#include <weir/weir.h>

#define CAPACITY 16
#define RECORDS 2048

/* --- A producer ----------------------------------------------------------- */

struct making {
	struct weir_producer producer;
	struct weir_reactive_out reactive;
	struct base *base;
	int64_t next, n;
	int code;
};

static int make_next(void **item, void *context)
{
	struct making *self = context;

	*item = goods_make(&self->base->goods, self->next++);
	if (self->next < self->n)
		return 1;
	if (!self->code)
		return WEIR_PRODUCE_LAST;
	assert_int_equal(weir_actor_fail(&self->producer.actor,
					 weir_error_of(self->code)),
			 0);
	return 1;
}

static void making_released(void *context)
{
	struct making *self = context;

	ck_pr_dec_32(&self->base->alive);
	free(self);
}

static struct weir_publisher *make(struct weir_publisher_factory *factory,
				   int64_t n, int code)
{
	struct making *self = calloc(1, sizeof(*self));
	struct weir_actor *actor;

	assert_non_null(self);
	self->base = weir_container_of(factory, struct base, publisher);
	self->n = n;
	self->code = code;
	actor = &self->producer.actor;
	assert_int_equal(
		weir_producer_init(&self->producer, self->base->place->executor,
				   &(struct weir_producer_options){
					   .produce = make_next,
					   .released = making_released,
					   .makes = &self->base->goods.items,
					   .context = self,
				   }),
		0);
	assert_int_equal(weir_reactive_out_init(&self->reactive,
						&self->producer.out, NULL),
			 0);
	ck_pr_inc_32(&self->base->alive);
	weir_actor_ref(actor);
	if (n == 0 && code)
		assert_int_equal(weir_actor_fail(actor, weir_error_of(code)),
				 0);
	else if (n == 0)
		assert_int_equal(weir_actor_end(actor), 0);
	assert_int_equal(weir_actor_start(actor), 0);
	return &self->reactive.publisher;
}

static struct weir_publisher *create_publisher(
	struct weir_publisher_factory *factory, int64_t n)
{
	return make(factory, n, 0);
}

static struct weir_publisher *create_failing(
	struct weir_publisher_factory *factory, int64_t n)
{
	return make(factory, n, -EIO);
}

static void release_publisher(struct weir_publisher_factory *factory,
			      struct weir_publisher *publisher)
{
	struct making *self =
		weir_container_of(publisher, struct making, reactive.publisher);

	weir_actor_stop(&self->producer.actor);
	weir_actor_unref(&self->producer.actor);
}

static void verify_producer(struct place *place)
{
	struct base base = {
		.publisher =
			{
				.create = create_publisher,
				.create_failing = create_failing,
				.release = release_publisher,
				.max_subscribers = 1,
			},
	};

	verify_publisher(&base, place, "producer", 38);
}

/* --- A consumer ----------------------------------------------------------- */

struct taking {
	struct weir_consumer consumer;
	struct weir_reactive_in reactive;
	struct base *base;
	int64_t record[RECORDS];
	size_t n;
	struct weir_error *error;
	bool done, cancelled;
	uint32_t released; /* any thread */
};

static int take_next(void *item, void *context)
{
	struct taking *self = context;

	self->record[self->n++ % RECORDS] = ((struct good *)item)->number;
	goods_drop(item, &self->base->goods);
	return 0;
}

static void taking_done(struct weir_error *error, void *context)
{
	struct taking *self = context;

	self->done = true;
	self->error = weir_error_ref(error);
}

static void taking_released(void *context)
{
	struct taking *self = context;

	ck_pr_dec_32(&self->base->alive);
	ck_pr_inc_32(&self->released);
}

static struct taking *taking_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct taking,
				 reactive.subscriber);
}

static struct weir_subscriber *create_subscriber(
	struct weir_subscriber_factory *factory)
{
	struct taking *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->base = weir_container_of(factory, struct base, subscriber);
	assert_int_equal(
		weir_consumer_init(&self->consumer, self->base->place->executor,
				   &(struct weir_consumer_options){
					   .consume = take_next,
					   .done = taking_done,
					   .released = taking_released,
					   .capacity = CAPACITY,
					   .takes = &self->base->goods.items,
					   .context = self,
				   }),
		0);
	assert_int_equal(weir_reactive_in_init(&self->reactive,
					       &self->consumer.in, NULL),
			 0);
	ck_pr_inc_32(&self->base->alive);
	assert_int_equal(weir_actor_start(&self->consumer.actor), 0);
	return &self->reactive.subscriber;
}

static void release_subscriber(struct weir_subscriber_factory *factory,
			       struct weir_subscriber *subscriber)
{
	struct taking *self = taking_of(subscriber);

	weir_error_unref(self->error);
	if (ck_pr_load_32(&self->released))
		free(self);
}

static void cancel(struct weir_subscriber_factory *factory,
		   struct weir_subscriber *subscriber)
{
	struct taking *self = taking_of(subscriber);

	self->cancelled = true;
	if (!self->done)
		weir_actor_stop(&self->consumer.actor);
}

static int64_t received(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber)
{
	return (int64_t)taking_of(subscriber)->n;
}

static bool is_taken(struct weir_subscriber_factory *factory,
		     struct weir_subscriber *subscriber, int64_t at, int64_t i)
{
	return taking_of(subscriber)->record[at] == i;
}

static bool ended(struct weir_subscriber_factory *factory,
		  struct weir_subscriber *subscriber, struct weir_error **error)
{
	struct taking *self = taking_of(subscriber);

	*error = self->error;
	return self->done && !self->cancelled;
}

static bool released(struct weir_subscriber_factory *factory,
		     struct weir_subscriber *subscriber)
{
	return ck_pr_load_32(&taking_of(subscriber)->released) == 1;
}

static void verify_consumer(struct place *place)
{
	struct base base = {
		.subscriber =
			{
				.create = create_subscriber,
				.release = release_subscriber,
				.cancel = cancel,
				.received = received,
				.is_item = is_taken,
				.ended = ended,
				.released = released,
			},
	};

	verify_subscriber(&base, place, "consumer", 29);
}

/* --- A transformer -------------------------------------------------------- */

struct passing {
	struct weir_transformer transformer;
	struct weir_reactive_in in;
	struct weir_reactive_out out;
	struct base *base;
};

static int pass_on(void *item, struct weir_out *out, void *context)
{
	(void)context;
	return weir_out_put(out, item);
}

static void passing_released(void *context)
{
	struct passing *self = context;

	ck_pr_dec_32(&self->base->alive);
	free(self);
}

static struct weir_processor create_processor(
	struct weir_processor_factory *factory)
{
	struct passing *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->base = weir_container_of(factory, struct base, processor);
	assert_int_equal(
		weir_transformer_init(&self->transformer,
				      self->base->place->executor,
				      &(struct weir_transformer_options){
					      .transform = pass_on,
					      .released = passing_released,
					      .capacity = CAPACITY,
					      .takes = &self->base->goods.items,
					      .makes = &self->base->goods.items,
					      .context = self,
				      }),
		0);
	assert_int_equal(weir_reactive_in_init(&self->in, &self->transformer.in,
					       NULL),
			 0);
	assert_int_equal(weir_reactive_out_init(&self->out,
						&self->transformer.out, NULL),
			 0);
	ck_pr_inc_32(&self->base->alive);
	weir_actor_ref(&self->transformer.actor);
	assert_int_equal(weir_actor_start(&self->transformer.actor), 0);
	return (struct weir_processor){
		.subscriber = &self->in.subscriber,
		.publisher = &self->out.publisher,
	};
}

static void release_processor(struct weir_processor_factory *factory,
			      struct weir_processor processor)
{
	weir_actor_unref(&weir_container_of(processor.subscriber,
					    struct passing, in.subscriber)
				  ->transformer.actor);
}

static void verify_transformer(struct place *place)
{
	struct base base = {
		.processor =
			{
				.create = create_processor,
				.release = release_processor,
				.max_subscribers = 1,
				.buffer = CAPACITY + 64,
			},
	};

	verify_processor(&base, place, "transformer", 60);
}

/* --- Tests ---------------------------------------------------------------- */

static void verify_all(struct place *place)
{
	verify_producer(place);
	verify_consumer(place);
	verify_transformer(place);
}

int main(void)
{
	const struct suite suite = {"ready_made_stages_keep", verify_all,
				    test_count(10), test_count(5)};

	return verify_everywhere(&suite, 1);
}
