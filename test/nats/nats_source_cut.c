/* SPDX-License-Identifier: BSD-2-Clause */
/* A source whose server is killed, or stands still, while messages come. */
#include "nats/kit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <weir/flow_element.h>

#define AT_ONCE 500u
#define MOST (20 * AT_ONCE)

/* Which numbers have come; at `fatal` the server is signalled. */
struct met {
	pid_t server;
	int signal;
	uint32_t fatal, n_different; /* n_different: for others to read */
	bool struck;
	unsigned char times[MOST + 1];
};

static uint32_t n_met(struct met *met)
{
	return __atomic_load_n(&met->n_different, __ATOMIC_ACQUIRE);
}

static bool is_struck(void *context)
{
	return __atomic_load_n(&((struct met *)context)->struck,
			       __ATOMIC_ACQUIRE);
}

static void strike(struct met *met)
{
	met->fatal = 0;
	assert_int_equal(kill(met->server, met->signal), 0);
	if (met->signal == SIGSTOP)
		assert_int_equal(waitpid(met->server, NULL, WUNTRACED),
				 met->server);
}

static int meet(void **item, void *context)
{
	struct met *met = context;
	uint64_t number = number_of(*item);

	assert_true(number >= 1 && number <= MOST);
	if (met->times[number] < UINT8_MAX)
		met->times[number]++;
	if (met->times[number] == 1)
		__atomic_store_n(&met->n_different, met->n_different + 1,
				 __ATOMIC_RELEASE);
	return 0;
}

static int meet_and_kill(void **item, void *context)
{
	struct met *met = context;

	(void)meet(item, met);
	if (met->fatal > 0 && met->n_different >= met->fatal) {
		strike(met);
		__atomic_store_n(&met->struck, true, __ATOMIC_RELEASE);
	}
	return 0;
}

struct goal {
	struct met *met;
	uint32_t n;
};

static bool is_reached(void *context)
{
	struct goal *goal = context;

	return n_met(goal->met) >= goal->n;
}

static bool is_empty(void *server)
{
	return server_unsettled(server, "S") == 0 &&
	       server_left(server, "S") == 0;
}

static void begin(struct nats_world *world)
{
	nats_begin(world);
	server_stream(&world->server, "S");
	server_consumer(&world->server, "S", (int64_t)SECOND, -1);
}

/* The messages of each round are stored before it, and the server dies by the
 * hand of the one that is drawn. */
static void each_message_comes_though_the_server_is_killed(void **state)
{
	uint32_t n = (uint32_t)test_count(20), i, first;
	struct met *met = calloc(1, sizeof(*met));
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct goal goal = {met, 0};

	assert_non_null(met);
	begin(&world);
	met->signal = SIGKILL;
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_same_items(weir_flow_map(flow, meet_and_kill, met));
	flow = weir_flow_ignore(weir_flow_nats_done(flow));
	for (i = 0; i < n; i++) {
		first = i * AT_ONCE + 1;
		goal.n = first + AT_ONCE - 1;
		server_publish(&world.server, "S", first, goal.n);
		met->server = world.server.pid;
		met->fatal = first + (i * 7919 + 137) % AT_ONCE;
		met->struck = false;
		run = nats_start(&world, flow);
		await(is_struck, met);
		server_kill(&world.server, SIGKILL);
		server_again(&world.server);
		await(is_reached, &goal);
		/* also what it had forgotten to be done */
		await(is_empty, &world.server);
		weir_flow_run_end(run);
		assert_int_equal(nats_wait(run, NULL), 0);
	}
	for (i = 1; i <= n * AT_ONCE; i++)
		assert_true(met->times[i] > 0);
	weir_flow_free(flow);
	nats_end(&world);
	free(met);
}

/* When the consumer's state was written, in ns; 0: never. */
static uint64_t written_ns(const struct server *server)
{
	struct stat status;
	char path[160];

	(void)snprintf(path, sizeof(path),
		       "%s/jetstream/$G/streams/S/obs/c/o.dat",
		       server->directory);
	if (stat(path, &status) != 0)
		return 0;
	return (uint64_t)status.st_mtim.tv_sec * SECOND +
	       (uint64_t)status.st_mtim.tv_nsec;
}

struct diary {
	struct server *server;
	struct goal goal;
	uint64_t before_ns; /* as `written_ns` */
};

/* One more is published each time, which is done and so is to be written. */
static bool is_written(void *context)
{
	struct diary *diary = context;

	if (written_ns(diary->server) > diary->before_ns)
		return true;
	diary->goal.n++;
	server_publish(diary->server, "S", diary->goal.n, diary->goal.n);
	await(is_reached, &diary->goal);
	return false;
}

/* The server writes down what is done each 100 ms. What it forgets it has not
 * given either, so it says that this is the first time. */
static void what_was_written_down_as_done_does_not_come_again(void **state)
{
	struct met *met = calloc(1, sizeof(*met));
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct diary diary = {.goal = {met, AT_ONCE}};
	uint32_t i;

	assert_non_null(met);
	begin(&world);
	diary.server = &world.server;
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_same_items(weir_flow_map(flow, meet, met));
	flow = weir_flow_ignore(weir_flow_nats_done(flow));
	run = nats_start(&world, flow);
	server_publish(&world.server, "S", 1, AT_ONCE);
	await(is_reached, &diary.goal);
	await(is_empty, &world.server);
	/* the first one may have begun before; the last one must have ended */
	for (i = 0; i < 3; i++) {
		diary.before_ns = written_ns(&world.server);
		await(is_written, &diary);
	}
	server_kill(&world.server, SIGKILL);
	server_again(&world.server);
	server_publish(&world.server, "S", MOST, MOST);
	diary.goal.n++;
	await(is_reached, &diary.goal);
	await(is_empty, &world.server);
	weir_flow_run_end(run);
	assert_int_equal(nats_wait(run, NULL), 0);
	for (i = 1; i <= AT_ONCE; i++)
		assert_int_equal(met->times[i], 1);
	for (; i < diary.goal.n; i++)
		assert_in_range(met->times[i], 1, 2);
	weir_flow_free(flow);
	nats_end(&world);
	free(met);
}

/* One of each. */
static int copy(struct weir_nats_message *message, uint64_t i,
		struct weir_flow_bytes **out, void *context)
{
	struct weir_flow_bytes *in = (struct weir_flow_bytes *)message;
	void *item = message;
	int rc = weir_flow_bytes_new(out, in->n, NULL);

	if (rc < 0)
		return rc;
	memcpy((*out)->data, in->data, in->n);
	(void)meet_and_kill(&item, context);
	return WEIR_NEXT_LAST;
}

/* What was made again is a duplicate for the server, and it says so. */
static void what_is_made_again_is_known_to_be_a_duplicate(void **state)
{
	const struct weir_nats_sink_options options = {.subject = "T"};
	uint32_t n = (uint32_t)test_count(8), i, first;
	struct met *met = calloc(1, sizeof(*met));
	struct nats_world world;
	struct weir_nats_stats stats;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct goal goal = {met, 0};

	assert_non_null(met);
	begin(&world);
	server_stream(&world.server, "T");
	met->signal = SIGKILL;
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_nats_process(flow, copy, met, world.nats, &options);
	for (i = 0; i < n; i++) {
		first = i * AT_ONCE + 1;
		goal.n = first + AT_ONCE - 1;
		server_publish(&world.server, "S", first, goal.n);
		met->server = world.server.pid;
		met->fatal = first + (i * 7919 + 137) % AT_ONCE;
		met->struck = false;
		run = nats_start(&world, flow);
		await(is_struck, met);
		server_kill(&world.server, SIGKILL);
		server_again(&world.server);
		await(is_reached, &goal);
		await(is_empty, &world.server);
		weir_flow_run_end(run);
		assert_int_equal(nats_wait(run, NULL), 0);
	}
	assert_int_equal(server_count(&world.server, "T"), n * AT_ONCE);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_true(stats.published >= n * AT_ONCE);
	assert_true(stats.published - stats.duplicate <= n * AT_ONCE);
	weir_flow_free(flow);
	nats_end(&world);
	free(met);
}

#define MANY_PROGRESS 200000

/* More is told to the server than sockets have room for, so that whoever writes
 * it waits for the server. */
static int meet_and_stop(void **item, void *context)
{
	struct met *met = context;
	size_t i;

	(void)meet(item, met);
	if (met->fatal == 0 || met->n_different < met->fatal)
		return 0;
	strike(met);
	for (i = 0; i < MANY_PROGRESS; i++)
		assert_int_equal(weir_nats_message_progress(*item), 0);
	__atomic_store_n(&met->struck, true, __ATOMIC_RELEASE);
	return 0;
}

static int count(void *item, void *context)
{
	++*(uint64_t *)context;
	return 0;
}

static void a_server_that_stands_still_blocks_no_worker(void **state)
{
	struct met *met = calloc(1, sizeof(*met));
	struct weir_nats_options options = {.write_stall_ns = 2 * LONG};
	struct weir_nats_stats stats;
	struct goal goal = {met, 1000};
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow, *other;
	uint64_t n = 0;

	assert_non_null(met);
	nats_begin_with(&world, &options);
	server_stream(&world.server, "S");
	server_consumer(&world.server, "S", 30 * (int64_t)SECOND, -1);
	server_publish(&world.server, "S", 1, goal.n);
	met->server = world.server.pid;
	met->signal = SIGSTOP;
	met->fatal = 10;
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_same_items(weir_flow_map(flow, meet_and_stop, met));
	flow = weir_flow_ignore(weir_flow_nats_done(flow));
	run = nats_start(&world, flow);
	await(is_struck, met);
	/* the only worker there is */
	other = weir_flow_for_each(weir_flow_range(1, 10000), count, &n);
	assert_int_equal(nats_run(&world, other, NULL), 0);
	assert_int_equal(n, 10000);
	assert_int_equal(weir_nats_state(world.nats),
			 WEIR_NATS_STATE_CONNECTED);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_true(n_met(met) < goal.n);
	assert_int_equal(kill(met->server, SIGCONT), 0);
	await(is_reached, &goal);
	weir_flow_run_end(run);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	nats_end(&world);
	free(met);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_message_comes_though_the_server_is_killed),
		cmocka_unit_test(
			what_was_written_down_as_done_does_not_come_again),
		cmocka_unit_test(what_is_made_again_is_known_to_be_a_duplicate),
		cmocka_unit_test(a_server_that_stands_still_blocks_no_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
