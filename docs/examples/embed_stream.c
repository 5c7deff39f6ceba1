/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with a main loop of its own offers a table as a stream and reads it
 * as one. Publisher and subscriber are written by hand, by the rules of
 * stream.h; there is no actor and no executor.
 *
 * table   sends rows inside request(), on the thread that requests: any thread
 * reader  prints the rows; it has no lock, so its publisher has to send on the
 *         thread of the main loop, as this one does when asked there
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/weir.h>

#define ORDER __ATOMIC_SEQ_CST

/* --- The publisher -------------------------------------------------------- */

struct table {
	struct weir_publisher publisher;
	const char *const *rows;
	size_t n;
};

/* One subscriber at the table. */
struct cursor {
	struct weir_subscription subscription;
	struct weir_subscriber *subscriber;
	const struct table *table;
	int64_t demand; /* atomically; 0: nobody sends, < 0: it is over */
	size_t next;	/* row; who sends */
};
enum { CANCELLED = -1, REFUSED = -2 };

/*
 * Who changes the demand from 0 sends, until it is used up or all is over. Who
 * requests meanwhile, in on_next for one, only adds to it: this loop sees that,
 * and the stack does not grow. `sent` is what was used up of the demand, `rc`
 * what the last signal has returned.
 */
static void send_rows(struct cursor *self, int64_t sent, int rc)
{
	struct weir_subscriber *to = self->subscriber;
	int64_t demand = 0;

	while (rc == 0 && demand >= 0 && self->next < self->table->n) {
		demand = __atomic_load_n(&self->demand, ORDER);
		if (demand > sent) {
			sent++;
			rc = to->ops->on_next(
				to, (void *)self->table->rows[self->next++]);
		} else if (demand == sent &&
			   __atomic_compare_exchange_n(&self->demand, &demand,
						       0, 0, ORDER, ORDER)) {
			return;
		}
	}
	demand = __atomic_exchange_n(&self->demand, CANCELLED, ORDER);
	if (rc == 0 && demand == REFUSED)
		rc = to->ops->on_error(to, weir_error_of(-EINVAL));
	else if (rc == 0 && demand >= 0)
		rc = to->ops->on_complete(to);
	if (rc != 0)
		fprintf(stderr, "table: a broken subscriber: %d\n", rc);
	weir_subscriber_unref(to);
	weir_subscription_unref(&self->subscription);
}

/* n > 0: that many rows more; else why it is over. */
static void change_demand(struct weir_subscription *subscription, int64_t n)
{
	struct cursor *self =
		weir_container_of(subscription, struct cursor, subscription);
	int64_t old = __atomic_load_n(&self->demand, ORDER), demand;

	do {
		if (old < 0)
			return;
		demand = n < 0 ? n : old > INT64_MAX - n ? INT64_MAX : old + n;
	} while (!__atomic_compare_exchange_n(&self->demand, &old, demand, 0,
					      ORDER, ORDER));
	if (old == 0)
		send_rows(self, 0, 0);
}

static void cursor_request(struct weir_subscription *subscription, int64_t n)
{
	change_demand(subscription, n > 0 ? n : REFUSED);
}

static void cursor_cancel(struct weir_subscription *subscription)
{
	change_demand(subscription, CANCELLED);
}

static void cursor_released(struct weir_subscription *subscription)
{
	free(weir_container_of(subscription, struct cursor, subscription));
}

static const struct weir_subscription_ops cursor_ops = {
	cursor_request, cursor_cancel, cursor_released};

static int table_subscribe(struct weir_publisher *publisher,
			   struct weir_subscriber *subscriber)
{
	struct cursor *self;
	int rc;

	if (!publisher || !subscriber)
		return -EINVAL;
	self = calloc(1, sizeof(*self));
	if (!self) {
		(void)weir_subscriber_reject(subscriber,
					     weir_error_of(-ENOMEM));
		return 0;
	}
	(void)weir_subscription_init(&self->subscription, &cursor_ops, NULL);
	self->subscriber = weir_subscriber_ref(subscriber);
	self->table = weir_container_of(publisher, struct table, publisher);
	self->demand = 1; /* we are sending: this pays for on_subscribe */
	rc = subscriber->ops->on_subscribe(subscriber, &self->subscription);
	send_rows(self, 1, rc);
	return 0;
}

static const struct weir_publisher_ops table_ops = {table_subscribe};

/* --- The subscriber ------------------------------------------------------- */

struct reader {
	struct weir_subscriber subscriber;
	struct weir_subscription *subscription; /* NULL: none any more */
	int64_t remaining; /* requested, and not here yet */
	int64_t wanted;	   /* rows, then it cancels */
	bool released;	   /* nobody calls it any more */
};

static struct reader *reader_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct reader, subscriber);
}

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	struct reader *self = reader_of(subscriber);

	if (!subscription)
		return -EINVAL;
	if (self->subscription) /* it stays with the first one */
		weir_subscription_cancel(subscription);
	else
		self->subscription = weir_subscription_ref(subscription);
	return 0;
}

static int end(struct reader *self, const char *why)
{
	printf("%s\n", why);
	weir_subscription_unref(self->subscription);
	self->subscription = NULL;
	return 0;
}

static int on_next(struct weir_subscriber *subscriber, void *item)
{
	struct reader *self = reader_of(subscriber);

	if (!item)
		return -EINVAL;
	if (!self->subscription)
		return 0; /* it was under way when we cancelled */
	self->remaining--;
	printf("%s\n", (const char *)item);
	if (--self->wanted > 0)
		return 0;
	weir_subscription_cancel(self->subscription);
	return end(self, "enough");
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	return error ? end(reader_of(subscriber), strerror(-error->code))
		     : -EINVAL;
}

static int on_complete(struct weir_subscriber *subscriber)
{
	return end(reader_of(subscriber), "complete");
}

static void released(struct weir_subscriber *subscriber)
{
	reader_of(subscriber)->released = true;
}

static const struct weir_subscriber_ops reader_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_error = on_error,
	.on_complete = on_complete,
	.released = released,
};

/* --- The program ---------------------------------------------------------- */

/* Its main loop, which has time for `n` rows a turn. */
static void read_table(struct table *table, int64_t wanted, int64_t n)
{
	struct reader self = {.wanted = wanted};

	(void)weir_subscriber_init(&self.subscriber, &reader_ops);
	(void)weir_publisher_subscribe(&table->publisher, &self.subscriber);
	while (!self.released) {
		printf("turn\n"); /* and whatever else it has to do */
		if (!self.subscription || self.remaining > 0)
			continue;
		self.remaining += n;
		weir_subscription_request(self.subscription, n);
	}
}

int main(void)
{
	static const char *const rows[] = {"apple", "pear", "plum"};
	struct table table = {{&table_ops}, rows, 3};

	read_table(&table, INT64_MAX, 2);
	read_table(&table, 1, 2);
	read_table(&table, 1, 0); /* which must not be requested (3.9) */
	return 0;
}
