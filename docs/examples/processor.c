/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher, a processor and a subscriber. The first two are stages with
 * publishers and subscribers over their ports, the last one is written by hand.
 * Items are allocated: each is delivered or dropped once, also when the reader
 * has enough. All of it on the thread that runs the loop.
 *
 * numbers  1 to 1000, if anybody asks for so many
 * squares  a transformer: a subscriber of numbers, and a publisher
 * reader   adds up as many squares as it wants, then cancels
 */
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

#define ITEMS 1000

static size_t alive; /* items */

static void drop(void *item, void *context)
{
	(void)context;
	free(item);
	alive--;
}

static const struct weir_items items = {.drop = drop};

/* --- The publisher -------------------------------------------------------- */

struct numbers {
	struct weir_producer stage;
	struct weir_reactive_out out;
	uint64_t n;
};

/* The last item and the end in one call: another one would wait for demand. */
static int make(void **item, void *context)
{
	struct numbers *self = context;
	uint64_t *n = malloc(sizeof(*n));

	if (!n)
		return -ENOMEM;
	alive++;
	*n = ++self->n;
	*item = n;
	if (*n == ITEMS)
		(void)weir_actor_end(&self->stage.actor);
	return 1;
}

static int numbers_init(struct numbers *self, struct weir_executor *executor)
{
	struct weir_producer_options options = {
		.context = self, .produce = make, .makes = &items};
	int rc = weir_producer_init(&self->stage, executor, &options);

	if (rc == 0)
		rc = weir_reactive_out_init(&self->out, &self->stage.out, NULL);
	return rc;
}

/* --- The processor -------------------------------------------------------- */

struct squares {
	struct weir_transformer stage;
	struct weir_reactive_in in;   /* has a subscriber */
	struct weir_reactive_out out; /* has a publisher */
};

static int square(void *item, struct weir_out *out, void *context)
{
	uint64_t *n = item;

	(void)context;
	*n *= *n;
	return weir_out_put(out, n);
}

static int squares_init(struct squares *self, struct weir_executor *executor)
{
	struct weir_transformer_options options = {
		.transform = square, .takes = &items, .makes = &items};
	int rc = weir_transformer_init(&self->stage, executor, &options);

	if (rc == 0)
		rc = weir_reactive_in_init(&self->in, &self->stage.in, NULL);
	if (rc == 0)
		rc = weir_reactive_out_init(&self->out, &self->stage.out, NULL);
	return rc;
}

/* --- The subscriber ------------------------------------------------------- */

struct reader {
	struct weir_subscriber subscriber;
	struct weir_subscription *subscription; /* NULL: none any more */
	struct weir_watermark watermark;
	int64_t remaining; /* requested, and not here yet */
	uint64_t wanted, received, sum;
	const char *why;
};

static struct reader *reader_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct reader, subscriber);
}

static void request(struct reader *self)
{
	int64_t n = weir_demand_watermark(self->remaining, &self->watermark);

	self->remaining += n; /* first: items may come before it returns */
	if (n > 0)
		weir_subscription_request(self->subscription, n);
}

static int end(struct reader *self, const char *why)
{
	self->why = why;
	weir_subscription_unref(self->subscription);
	self->subscription = NULL;
	return 0;
}

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	struct reader *self = reader_of(subscriber);

	if (!subscription)
		return -EINVAL;
	if (self->subscription) {
		weir_subscription_cancel(subscription);
		return 0;
	}
	self->subscription = weir_subscription_ref(subscription);
	request(self);
	return 0;
}

static int on_next(struct weir_subscriber *subscriber, void *item)
{
	struct reader *self = reader_of(subscriber);

	if (!item)
		return -EINVAL;
	if (self->subscription) { /* else it was under way at the cancel */
		self->remaining--;
		self->sum += *(uint64_t *)item;
		if (++self->received < self->wanted) {
			request(self);
		} else {
			weir_subscription_cancel(self->subscription);
			end(self, "enough");
		}
	}
	drop(item, NULL);
	return 0;
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	return error ? end(reader_of(subscriber), "failed") : -EINVAL;
}

static int on_complete(struct weir_subscriber *subscriber)
{
	return end(reader_of(subscriber), "complete");
}

static const struct weir_subscriber_ops reader_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_error = on_error,
	.on_complete = on_complete,
};

/* --- The program ---------------------------------------------------------- */

static int start(struct numbers *numbers, struct squares *squares,
		 struct reader *reader)
{
	int rc = weir_publisher_subscribe(&numbers->out.publisher,
					  &squares->in.subscriber);

	if (rc == 0)
		rc = weir_publisher_subscribe(&squares->out.publisher,
					      &reader->subscriber);
	if (rc == 0)
		rc = weir_actor_start(&squares->stage.actor);
	if (rc == 0)
		rc = weir_actor_start(&numbers->stage.actor);
	return rc;
}

/* All of it stays until both actors, and so the reader, are released. */
static int run(struct weir_loop *loop, uint64_t wanted)
{
	struct weir_executor *executor = weir_loop_executor(loop);
	struct reader reader = {.wanted = wanted};
	struct numbers numbers = {.n = 0};
	struct squares squares;

	if (weir_watermark_init(&reader.watermark, 8, 4) < 0 ||
	    weir_subscriber_init(&reader.subscriber, &reader_ops) < 0 ||
	    numbers_init(&numbers, executor) < 0 ||
	    squares_init(&squares, executor) < 0 ||
	    start(&numbers, &squares, &reader) < 0)
		return 1;
	while (weir_executor_alive(executor))
		weir_loop_wait(loop, 64, WEIR_FOREVER);
	printf("%zu squares, %zu in all: %s; items alive: %zu\n",
	       (size_t)reader.received, (size_t)reader.sum, reader.why, alive);
	return 0;
}

int main(void)
{
	struct weir_loop *loop;

	if (weir_loop_new(&loop, NULL) < 0)
		return 1;
	if (run(loop, 4) != 0 || run(loop, UINT64_MAX) != 0)
		return 1;
	return weir_loop_free(loop) < 0;
}
