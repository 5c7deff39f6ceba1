/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many runs at once on threads, there and back, each part on another actor;
 * some are stopped in the middle by this thread.
 */
#include <sched.h>

#include "flow/kit.h"
#include "z/kit.h"

#include "base/random.h"

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define RUNS 6

struct trip {
	struct text text;
	size_t at, back; /* bytes that went in, that have come back */
	struct weir_flow *flow;
	struct weir_flow_run *run;
	bool stopped;
};

static int send(void **state, void **item, void *context)
{
	struct trip *trip = context;
	size_t n = trip->text.n - trip->at;
	struct weir_flow_bytes *bytes;

	if (n == 0)
		return 0;
	n = n < 333 ? n : 333;
	if (weir_flow_bytes_new(&bytes, n, NULL) < 0)
		return -ENOMEM;
	memcpy(bytes->data, trip->text.bytes + trip->at, n);
	trip->at += n;
	*item = bytes;
	return 1;
}

static int receive(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct trip *trip = context;

	assert(trip->back + bytes->n <= trip->text.n);
	assert(memcmp(trip->text.bytes + trip->back, bytes->data, bytes->n) ==
	       0);
	trip->back += bytes->n;
	weir_flow_bytes_unref(bytes);
	return 0;
}

static void set_out(struct trip *trip, uint64_t *random,
		    struct weir_executor *executor)
{
	const struct z_format *format =
		&z_formats[weir__splitmix(random) % Z_FORMATS];
	struct z_limits limits = {.block = 64 + weir__splitmix(random) % 999};
	size_t link = (size_t)1 << weir__splitmix(random) % 4;
	struct weir_flow *flow;

	*trip = (struct trip){
		.text = text_of_words(weir__splitmix(random) % 20000, *random),
		.stopped = weir__splitmix(random) % 3 == 0,
	};
	flow = weir_flow_unfold(NULL, send, trip);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_async(flow, link, NULL);
	flow = format->pack(flow, limits.block, weir__splitmix(random) % 2000);
	flow = weir_flow_async(flow, link, NULL);
	flow = weir_flow_async(format->unpack(flow, &limits), link, NULL);
	trip->flow = weir_flow_for_each(flow, receive, trip);
	assert_int_equal(
		weir_flow_start(trip->flow, executor, NULL, &trip->run), 0);
}

static void come_back(struct trip *trip)
{
	struct weir_error *error;

	assert_int_equal(
		weir_flow_run_wait(trip->run, WEIR_FOREVER, NULL, &error), 0);
	assert_true(!error || (trip->stopped && error->code == -ECANCELED));
	if (!error)
		assert_int_equal(trip->back, trip->text.n);
	weir_error_unref(error);
	weir_flow_run_free(trip->run);
	weir_flow_free(trip->flow);
	text_free(trip->text);
}

static void runs_on_threads_come_back(void **state)
{
	const struct weir_threads_options options = {.workers = 3};
	static struct trip trips[RUNS];
	struct weir_threads *threads;
	size_t i, waits;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	for_each_seed(seed, test_count(400)) {
		uint64_t random = seed;

		for (i = 0; i < RUNS; i++)
			set_out(&trips[i], &random,
				weir_threads_executor(threads));
		for (waits = weir__splitmix(&random) % 50; waits > 0; waits--)
			sched_yield();
		for (i = 0; i < RUNS; i++)
			if (trips[i].stopped)
				weir_flow_run_stop(trips[i].run, NULL);
		for (i = 0; i < RUNS; i++)
			come_back(&trips[i]);
	}
	assert_int_equal(weir_threads_free(threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_on_threads_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
