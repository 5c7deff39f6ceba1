/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The publisher and the subscriber that the example embeds keep the rules: the
 * suites pass, and the table stands many rows, requests and cancels from two
 * threads, and the last signal of each kind.
 */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <weir/testkit.h>

#define N_LINES 5000

/* What the reader prints. */
static struct {
	char lines[N_LINES][32];
	size_t n;
} printed;

__attribute__((format(printf, 1, 2))) static int print(const char *format, ...)
{
	va_list arguments;

	assert(printed.n < N_LINES);
	va_start(arguments, format);
	vsnprintf(printed.lines[printed.n++], 32, format, arguments);
	va_end(arguments);
	return 0;
}

int embed_stream_main(void);
#define main embed_stream_main
#define printf print
#include "../../docs/examples/embed_stream.c"
#undef printf
#undef main

/* --- The reader ----------------------------------------------------------- */

static char names[N_LINES][8];

static struct weir_subscriber *create(struct weir_subscriber_factory *factory)
{
	struct reader *self = calloc(1, sizeof(*self));

	printed.n = 0;
	assert_non_null(self);
	self->wanted = INT64_MAX;
	assert_int_equal(weir_subscriber_init(&self->subscriber, &reader_ops),
			 0);
	return &self->subscriber;
}

static void release(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber)
{
	assert_null(reader_of(subscriber)->subscription);
	free(reader_of(subscriber));
}

static void request(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber, int64_t n)
{
	reader_of(subscriber)->remaining += n;
	weir_subscription_request(reader_of(subscriber)->subscription, n);
}

static void *item(struct weir_subscriber_factory *factory, int64_t i)
{
	assert_in_range(i, 0, N_LINES - 1);
	snprintf(names[i], sizeof(names[i]), "%d", (int)i);
	return names[i];
}

/* As the reader itself does when it has enough. */
static void cancel(struct weir_subscriber_factory *factory,
		   struct weir_subscriber *subscriber)
{
	weir_subscription_cancel(reader_of(subscriber)->subscription);
	end(reader_of(subscriber), "enough");
}

/* Every line is an item but the last, which may say why it ended; or "". */
static const char *last_words(void)
{
	const char *last = printed.n ? printed.lines[printed.n - 1] : "";

	return *last >= '0' && *last <= '9' ? "" : last;
}

static bool ended(struct weir_subscriber_factory *factory,
		  struct weir_subscriber *subscriber, struct weir_error **error)
{
	*error = NULL;
	return *last_words() && strcmp(last_words(), "enough\n") != 0;
}

static int64_t received(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber)
{
	return (int64_t)printed.n - (*last_words() != 0);
}

static bool is_item(struct weir_subscriber_factory *factory,
		    struct weir_subscriber *subscriber, int64_t at, int64_t i)
{
	char line[32];

	snprintf(line, sizeof(line), "%d\n", (int)i);
	return strcmp(printed.lines[at], line) == 0;
}

static bool is_released(struct weir_subscriber_factory *factory,
			struct weir_subscriber *subscriber)
{
	return reader_of(subscriber)->released;
}

static void tell(struct weir_verify_report *report, const char *test,
		 enum weir_verdict verdict, const char *why)
{
	if (verdict != WEIR_VERDICT_PASSED)
		print_message("%s: %s\n", test, why);
}

static void the_reader_passes_the_suite_of_subscribers(void **state)
{
	struct weir_verify_report report = {.result = tell};
	struct weir_subscriber_factory factory = {
		.create = create,
		.release = release,
		.request = request,
		.cancel = cancel,
		.item = item,
		.received = received,
		.is_item = is_item,
		.ended = ended,
		.released = is_released,
		.recovers = true, /* it prints the error, and that is all */
	};

	assert_int_equal(weir_verify_subscriber(&factory, &report), 0);
	assert_int_equal(report.skipped, 1); /* it has no on_next_n */
	assert_true(report.passed > 20);
}

/* --- The table ------------------------------------------------------------ */

static size_t n_tables;

static struct weir_publisher *create_table(
	struct weir_publisher_factory *factory, int64_t n)
{
	static const char *rows[N_LINES];
	struct table *self = malloc(sizeof(*self));

	assert_non_null(self);
	for (int i = 0; i < N_LINES; i++)
		rows[i] = names[i];
	*self = (struct table){{&table_ops}, rows, (size_t)n};
	n_tables++;
	return &self->publisher;
}

static void release_table(struct weir_publisher_factory *factory,
			  struct weir_publisher *publisher)
{
	free(weir_container_of(publisher, struct table, publisher));
	n_tables--;
}

static bool is_row(struct weir_publisher_factory *factory, const void *row,
		   int64_t i)
{
	return row == names[i];
}

static size_t live(struct weir_publisher_factory *factory)
{
	return n_tables;
}

static void the_table_passes_the_suite_of_publishers(void **state)
{
	struct weir_verify_report report = {.result = tell};
	struct weir_publisher_factory factory = {
		.create = create_table,
		.release = release_table,
		.is_item = is_row,
		.live = live,
		.max_items = N_LINES,
		.multicast = true, /* each gets all the rows */
	};

	assert_int_equal(weir_verify_publisher(&factory, &report), 0);
	assert_true(report.passed > 30);
}

struct probe {
	struct weir_subscriber subscriber;
	struct weir_subscription *subscription;
	bool requests; /* one in each on_next */
	int64_t got, completed, failed;
	int depth, depth_max;
	uint32_t released; /* any thread, atomically */
};

static struct probe *probe_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct probe, subscriber);
}

static int probe_on_subscribe(struct weir_subscriber *subscriber,
			      struct weir_subscription *subscription)
{
	probe_of(subscriber)->subscription =
		weir_subscription_ref(subscription);
	return 0;
}

static int probe_on_next(struct weir_subscriber *subscriber, void *row)
{
	struct probe *self = probe_of(subscriber);

	assert(!self->completed && !self->failed);
	if (++self->depth > self->depth_max)
		self->depth_max = self->depth;
	self->got++;
	if (self->requests)
		weir_subscription_request(self->subscription, 1);
	self->depth--;
	return 0;
}

static int probe_on_error(struct weir_subscriber *subscriber,
			  struct weir_error *error)
{
	assert(error->code == -EINVAL);
	probe_of(subscriber)->failed++;
	return 0;
}

static int probe_on_complete(struct weir_subscriber *subscriber)
{
	probe_of(subscriber)->completed++;
	return 0;
}

static void probe_released(struct weir_subscriber *subscriber)
{
	__atomic_add_fetch(&probe_of(subscriber)->released, 1, ORDER);
}

static const struct weir_subscriber_ops probe_ops = {
	.on_subscribe = probe_on_subscribe,
	.on_next = probe_on_next,
	.on_error = probe_on_error,
	.on_complete = probe_on_complete,
	.released = probe_released,
};

static const char *const row = "row";

/* A table of so many rows, all the same one. */
static struct table table_of(size_t n)
{
	static const char *rows[100000];

	assert(n <= sizeof(rows) / sizeof(rows[0]));
	for (size_t i = 0; i < n; i++)
		rows[i] = row;
	return (struct table){{&table_ops}, rows, n};
}

static void subscribe(struct table *table, struct probe *probe)
{
	assert_int_equal(weir_subscriber_init(&probe->subscriber, &probe_ops),
			 0);
	assert_int_equal(weir_publisher_subscribe(&table->publisher,
						  &probe->subscriber),
			 0);
}

static void spec_3_03_the_stack_does_not_grow_with_the_rows(void **state)
{
	struct table table = table_of(100000);
	struct probe probe = {.requests = true};

	subscribe(&table, &probe);
	weir_subscription_request(probe.subscription, 1);
	assert_int_equal(probe.got, 100000);
	assert_int_equal(probe.depth_max, 1);
	assert_int_equal(probe.completed, 1);
	weir_subscription_unref(probe.subscription);
}

static void spec_1_05_a_table_without_rows_completes(void **state)
{
	struct table table = table_of(0);
	struct probe probe = {.requests = false};

	subscribe(&table, &probe);
	assert_int_equal(probe.completed, 1);
	assert_int_equal(probe.released, 1);
	weir_subscription_request(probe.subscription, -1);
	assert_int_equal(probe.failed, 0);
	weir_subscription_unref(probe.subscription);
}

static void spec_3_17_the_demand_is_without_bound_from_there_on(void **state)
{
	struct table table = table_of(1000);
	struct probe probe = {.requests = true};

	subscribe(&table, &probe);
	weir_subscription_request(probe.subscription, INT64_MAX);
	assert_int_equal(probe.got, 1000);
	assert_int_equal(probe.completed, 1);
	weir_subscription_unref(probe.subscription);
}

/* --- From two threads ----------------------------------------------------- */

#define REQUESTS 300

static void *request_some(void *argument)
{
	struct weir_subscription *subscription = argument;

	for (int i = 0; i < REQUESTS; i++)
		weir_subscription_request(subscription, 1);
	weir_subscription_unref(subscription);
	return NULL;
}

static void *request_and_cancel(void *argument)
{
	weir_subscription_ref(argument);
	request_some(argument);
	weir_subscription_cancel(argument);
	weir_subscription_unref(argument);
	return NULL;
}

static void *request_none(void *argument)
{
	weir_subscription_ref(argument);
	request_some(argument);
	weir_subscription_request(argument, 0);
	weir_subscription_unref(argument);
	return NULL;
}

/* One that requests, and that one beside it; what the subscriber got. */
static struct probe race(struct table *table, void *(*other)(void *))
{
	struct probe probe = {.requests = false};
	pthread_t threads[2];

	subscribe(table, &probe);
	weir_subscription_ref(probe.subscription);
	assert_int_equal(pthread_create(&threads[0], NULL, request_some,
					probe.subscription),
			 0);
	assert_int_equal(pthread_create(&threads[1], NULL, other,
					probe.subscription),
			 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return probe;
}

static void spec_3_08_no_request_is_lost_between_threads(void **state)
{
	struct table table = table_of(2 * REQUESTS);

	for (uint64_t i = test_count(3000); i; i--) {
		struct probe probe = race(&table, request_some);

		assert_int_equal(probe.got, 2 * REQUESTS);
		assert_int_equal(probe.completed, 1);
		assert_int_equal(probe.released, 1);
	}
}

static void spec_3_13_a_cancel_lets_go_of_the_subscriber(void **state)
{
	struct table table = table_of(3 * REQUESTS);

	for (uint64_t i = test_count(3000); i; i--) {
		struct probe probe = race(&table, request_and_cancel);

		assert_in_range(probe.got, 0, 2 * REQUESTS);
		assert_int_equal(probe.completed + probe.failed, 0);
		assert_int_equal(probe.released, 1);
	}
}

static void spec_3_09_a_request_of_none_fails_between_others(void **state)
{
	struct table table = table_of(3 * REQUESTS);

	for (uint64_t i = test_count(3000); i; i--) {
		struct probe probe = race(&table, request_none);

		assert_in_range(probe.got, 0, 2 * REQUESTS);
		assert_int_equal(probe.completed, 0);
		assert_int_equal(probe.failed, 1);
		assert_int_equal(probe.released, 1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reader_passes_the_suite_of_subscribers),
		cmocka_unit_test(the_table_passes_the_suite_of_publishers),
		cmocka_unit_test(
			spec_3_03_the_stack_does_not_grow_with_the_rows),
		cmocka_unit_test(spec_1_05_a_table_without_rows_completes),
		cmocka_unit_test(
			spec_3_17_the_demand_is_without_bound_from_there_on),
		cmocka_unit_test(spec_3_08_no_request_is_lost_between_threads),
		cmocka_unit_test(spec_3_13_a_cancel_lets_go_of_the_subscriber),
		cmocka_unit_test(
			spec_3_09_a_request_of_none_fails_between_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
