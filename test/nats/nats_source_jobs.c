/* SPDX-License-Identifier: BSD-2-Clause */
/* Process managers fed by sources of one consumer: a message is a command, whose
 * outcome settles it. Commands run until the test ends them. */
#include "nats/kit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 60u
#define DELAY_NS (3 * SECOND / 10)

struct member {
	struct weir_nats *nats;
	struct weir_system *system;
	struct weir_process_manager manager;
	struct weir_flow *flow;
	struct weir_flow_run *run;
	pthread_mutex_t lock;
	struct job *first; /* that run */
	uint32_t n, n_ended;
	int64_t most; /* that it had asked for and not settled */
	uint8_t times[MOST + 1], deliveries[MOST + 1];
};

struct job {
	struct weir_command command;
	struct weir_nats_message *message;
	struct job *next;
};

/* --- Commands --------------------------------------------------------------- */

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct job *job = weir_container_of(command, struct job, command);

	if (outcome == WEIR_OUTCOME_DONE)
		(void)weir_nats_message_done(job->message);
	else if (error->code == -EAGAIN)
		(void)weir_nats_message_retry(job->message, DELAY_NS);
	else if (outcome == WEIR_OUTCOME_CRASHED)
		(void)weir_nats_message_dead(job->message, "rotten");
	weir_flow_bytes_unref((struct weir_flow_bytes *)job->message);
	free(job);
}

static int make_job(void **item, void *context)
{
	struct job *job = calloc(1, sizeof(*job));

	(void)context;
	if (!job)
		return -ENOMEM;
	job->message = *item;
	job->command.reply = reply;
	*item = &job->command;
	return 0;
}

static int64_t unsettled(struct weir_nats *nats)
{
	struct weir_nats_stats stats;

	(void)weir_nats_stats(nats, &stats);
	return (int64_t)(stats.asked - stats.expired - stats.lost +
			 stats.excess - stats.done - stats.retried -
			 stats.dead);
}

static int start(struct weir_command *command, void *context)
{
	struct job *job = weir_container_of(command, struct job, command);
	uint64_t number = number_of(job->message);
	struct member *self = context;
	int64_t now = unsettled(self->nats);

	(void)pthread_mutex_lock(&self->lock);
	self->times[number]++;
	self->deliveries[number] =
		(uint8_t)weir_nats_message_deliveries(job->message);
	if (now > self->most)
		self->most = now;
	job->next = self->first;
	self->first = job;
	self->n++;
	(void)pthread_mutex_unlock(&self->lock);
	return WEIR_RUN_LATER;
}

/* Ends one that runs, if there is one. Returns its number, or 0. */
static uint64_t end_one(struct member *self, int code)
{
	struct job *job;
	uint64_t number;

	(void)pthread_mutex_lock(&self->lock);
	job = self->first;
	if (job) {
		self->first = job->next;
		self->n--;
		self->n_ended++;
	}
	(void)pthread_mutex_unlock(&self->lock);
	if (!job)
		return 0;
	number = number_of(job->message);
	weir_command_end(&job->command, code);
	return number;
}

/* --- Members ---------------------------------------------------------------- */

static void join(struct member *self, struct weir_executor *executor,
		 const char *url, size_t max)
{
	const struct weir_nats_options connection = {.url = url,
						     .timeout_ns = LONG};
	const struct weir_process_manager_options options = {
		.run = start, .context = self, .max = max, .batch = 1};
	const struct weir_nats_source_options source = {.stream = "S",
							.durable = "c",
							.window = max,
							.until_settled = true,
							.dead_subject = "DEAD"};

	memset(self, 0, sizeof(*self));
	(void)pthread_mutex_init(&self->lock, NULL);
	assert_int_equal(weir_nats_new(&self->nats, &connection, NULL), 0);
	assert_int_equal(weir_system_new(&self->system, executor, NULL), 0);
	assert_int_equal(weir_process_manager_init(&self->manager, executor,
						   &options),
			 0);
	self->flow = weir_flow_from_nats(self->nats, &source);
	self->flow = weir_flow_map(self->flow, make_job, NULL);
	self->flow = weir_flow_items(self->flow, weir_command_items());
	self->flow = weir_flow_into(
		self->flow, weir_process_manager_subscriber(&self->manager));
	assert_int_equal(weir_system_spawn(self->system, WEIR_ACTOR_ID_NONE,
					   &self->manager.actor, NULL, NULL),
			 0);
	assert_int_equal(
		weir_flow_start(self->flow, executor, NULL, &self->run), 0);
}

/* It is drained, and nothing of it runs. */
static void leave(struct member *self)
{
	weir_flow_run_end(self->run);
	assert_int_equal(nats_wait(self->run, NULL), 0);
	weir_flow_free(self->flow);
	assert_int_equal(weir_system_end_wait(self->system, LONG), 0);
	assert_int_equal(weir_system_free(self->system), 0);
	assert_int_equal(weir_nats_free(self->nats), 0);
	(void)pthread_mutex_destroy(&self->lock);
}

static uint32_t n_running(struct member *self)
{
	uint32_t n;

	(void)pthread_mutex_lock(&self->lock);
	n = self->n;
	(void)pthread_mutex_unlock(&self->lock);
	return n;
}

struct goal {
	struct member *member;
	uint32_t n;
};

static bool run_so_many(void *context)
{
	struct goal *goal = context;

	return n_running(goal->member) == goal->n;
}

static void await_running(struct member *self, uint32_t n)
{
	struct goal goal = {self, n};

	await(run_so_many, &goal);
}

static bool nothing_left(void *server)
{
	return server_left(server, "S") == 0 &&
	       server_unsettled(server, "S") == 0;
}

static bool three_unsettled(void *server)
{
	return server_unsettled(server, "S") == 3;
}

static void begin(struct nats_world *world, uint64_t ack_wait_ns)
{
	nats_begin(world);
	server_stream(&world->server, "S");
	server_stream(&world->server, "DEAD");
	server_consumer(&world->server, "S", (int64_t)ack_wait_ns, -1);
}

/* --- How many ---------------------------------------------------------------- */

static void no_member_has_more_than_its_share(void **state)
{
	struct member two, three;
	struct nats_world world;
	uint32_t i;

	begin(&world, 30 * SECOND);
	join(&two, world.executor, world.server.url, 2);
	join(&three, world.executor, world.server.url, 3);
	server_publish(&world.server, "S", 1, 40);
	for (i = 0; i + 5 < 40; i++) {
		await_running(&two, 2);
		await_running(&three, 3);
		assert_int_equal(server_left(&world.server, "S"), 35 - i);
		/* the next is for the one whose place is free */
		assert_int_not_equal(end_one(i % 3 ? &three : &two, 0), 0);
	}
	while (two.n_ended + three.n_ended < 40)
		if (!end_one(&two, 0))
			(void)end_one(&three, 0);
	await(nothing_left, &world.server);
	for (i = 1; i <= 40; i++)
		assert_int_equal(two.times[i] + three.times[i], 1);
	assert_int_equal(two.most, 2);
	assert_int_equal(three.most, 3);
	leave(&two);
	leave(&three);
	nats_end(&world);
}

static bool is_back(void *context)
{
	struct goal *goal = context;
	struct weir_nats_stats stats;

	(void)weir_nats_stats(goal->member->nats, &stats);
	return stats.reconnects == goal->n;
}

/* For those that run nothing is asked for. */
static void nor_has_it_behind_a_cut(void **state)
{
	struct nats_world world;
	struct member member;
	struct goal cut = {&member, 1};
	uint32_t i;

	nats_begin_behind(&world);
	server_stream(&world.server, "S");
	server_consumer(&world.server, "S", 30 * (int64_t)SECOND, -1);
	join(&member, world.executor, world.proxy.url, 3);
	server_publish(&world.server, "S", 1, 12);
	for (i = 0; i < 9; i++) {
		await_running(&member, 3);
		await(three_unsettled, &world.server);
		if (i % 4 == 0) {
			proxy_cut(&world.proxy);
			await(is_back, &cut);
			cut.n++;
		}
		assert_int_not_equal(end_one(&member, 0), 0);
	}
	while (member.n_ended < 12)
		(void)end_one(&member, 0);
	await(nothing_left, &world.server);
	for (i = 1; i <= 12; i++)
		assert_int_equal(member.times[i], 1);
	assert_int_equal(member.most, 3);
	leave(&member);
	nats_end(&world);
}

/* There is no more to be in flight than the window. */
static void its_share_is_all_that_the_consumer_must_have_room_for(void **state)
{
	struct weir_nats_source_options source = {.window = 8,
						  .until_settled = true};
	jsConsumerConfig config;
	struct weir_flow_run *run;
	struct nats_world world;
	struct weir_flow *flow;

	nats_begin(&world);
	server_stream(&world.server, "S");
	assert_int_equal(jsConsumerConfig_Init(&config), NATS_OK);
	config.Durable = "c";
	config.AckPolicy = js_AckExplicit;
	config.MaxAckPending = 8;
	assert_int_equal(js_AddConsumer(NULL, world.server.js, "S", &config,
					NULL, NULL),
			 NATS_OK);
	server_publish(&world.server, "S", 1, 1);
	flow = weir_flow_nats_done(nats_source(&world, source));
	flow = weir_flow_ignore(flow);
	run = nats_start(&world, flow);
	await(nothing_left, &world.server);
	weir_flow_run_end(run);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	source.window = 9;
	flow = weir_flow_ignore(nats_source(&world, source));
	assert_int_equal(nats_run(&world, flow, NULL), -EINVAL);
	nats_end(&world);
}

/* They came when nobody wanted them. */
static void what_is_refused_does_not_count(void **state)
{
	const struct weir_nats_source_options source = {.window = 3,
							.until_settled = true};
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow *flow;
	uint64_t i;

	begin(&world, 30 * SECOND);
	for (i = 1; i <= 20; i++) {
		server_publish(&world.server, "S", 1, 3);
		flow = weir_flow_nats_done(nats_source(&world, source));
		flow = weir_flow_ignore(weir_flow_take(flow, 1));
		assert_int_equal(nats_run(&world, flow, NULL), 0);
		assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
		assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
		assert_int_equal(stats.received + stats.excess,
				 stats.done + stats.retried);
	}
	assert_true(stats.retried > 0);
	nats_end(&world);
}

/* It comes again behind the server's wait; if it counted still, nothing would. */
static void one_for_which_there_is_no_memory_does_not_count(void **state)
{
	const struct weir_nats_source_options source = {.stream = "S",
							.durable = "c",
							.window = 1,
							.until_settled = true};
	struct weir_nats_options options = {.timeout_ns = LONG};
	struct weir_nats_stats stats = {.dropped = 0};
	struct nats_heap heap;
	struct nats_world world;
	struct weir_nats *nats;
	struct weir_flow *flow;
	uint64_t dropped = 0;
	size_t fail;
	int rc;

	begin(&world, SECOND / 10);
	options.url = world.server.url;
	nats_heap_init(&heap);
	for (fail = 1; fail == 1 || heap.calls >= heap.fail; fail++) {
		heap.fail = 0;
		assert_int_equal(
			weir_nats_new(&nats, &options, &heap.allocator), 0);
		server_publish(&world.server, "S", 1, 2);
		heap.calls = 0;
		heap.fail = fail;
		flow = weir_flow_nats_done(weir_flow_from_nats(nats, &source));
		flow = weir_flow_ignore(weir_flow_take(flow, 2));
		rc = weir_flow_run(flow, world.executor, NULL);
		assert_true(rc == 0 || rc == -ENOMEM);
		weir_flow_free(flow);
		assert_int_equal(weir_nats_stats(nats, &stats), 0);
		dropped += stats.dropped;
		assert_int_equal(weir_nats_free(nats), 0);
		assert_int_equal(heap.live, 0);
	}
	assert_true(dropped >= 2);
	nats_end(&world);
}

/* --- Outcomes ----------------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * SECOND + (uint64_t)at.tv_nsec;
}

static void one_that_fails_for_now_is_run_again_behind_its_delay(void **state)
{
	struct nats_world world;
	struct member member;
	uint64_t failed_ns;

	begin(&world, 30 * SECOND);
	join(&member, world.executor, world.server.url, 1);
	server_publish(&world.server, "S", 1, 2);
	await_running(&member, 1);
	failed_ns = now();
	assert_int_equal(end_one(&member, -EAGAIN), 1);
	/* meanwhile its place is another's */
	await_running(&member, 1);
	assert_int_equal(end_one(&member, 0), 2);
	await_running(&member, 1);
	assert_true(now() >= failed_ns + DELAY_NS);
	assert_int_equal(end_one(&member, 0), 1);
	await(nothing_left, &world.server);
	assert_int_equal(member.times[1], 2);
	assert_int_equal(member.deliveries[1], 2);
	assert_int_equal(member.times[2], 1);
	leave(&member);
	nats_end(&world);
}

static bool one_is_dead(void *server)
{
	return server_count(server, "DEAD") == 1;
}

static void one_that_fails_for_good_is_stored_with_the_dead(void **state)
{
	struct nats_world world;
	struct member member;
	const char *reason;
	natsMsg *msg;

	begin(&world, 30 * SECOND);
	join(&member, world.executor, world.server.url, 1);
	server_publish(&world.server, "S", 1, 2);
	await_running(&member, 1);
	assert_int_equal(end_one(&member, -EIO), 1);
	await_running(&member, 1);
	assert_int_equal(end_one(&member, 0), 2);
	await(nothing_left, &world.server);
	await(one_is_dead, &world.server);
	assert_int_equal(js_GetMsg(&msg, world.server.js, "DEAD", 1, NULL,
				   NULL),
			 NATS_OK);
	assert_int_equal(natsMsgHeader_Get(msg, "Weir-Reason", &reason),
			 NATS_OK);
	assert_string_equal(reason, "rotten");
	natsMsg_Destroy(msg);
	assert_int_equal(member.times[1], 1);
	leave(&member);
	nats_end(&world);
}

/* --- Members that go ---------------------------------------------------------- */

/* Another program: it gets to know the server's place by `from`. */
static void member_program(int from, int to)
{
	struct weir_threads *threads;
	struct member member;
	char url[64] = "";

	if (read(from, url, sizeof(url) - 1) <= 0 ||
	    weir_threads_new(&threads, NULL) < 0)
		_exit(1);
	join(&member, weir_threads_executor(threads), url, 3);
	await_running(&member, 3);
	(void)write(to, "3", 1);
	for (;;)
		(void)pause();
}

static void what_a_dead_member_had_is_run_by_another(void **state)
{
	int to[2], from[2], status;
	struct nats_world world;
	struct member member;
	uint32_t i;
	pid_t pid;
	char three;

	/* before there are threads */
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	pid = fork();
	if (pid == 0) {
		(void)close(to[1]);
		(void)close(from[0]);
		member_program(to[0], from[1]);
	}
	(void)close(to[0]);
	(void)close(from[1]);
	begin(&world, SECOND / 2);
	server_publish(&world.server, "S", 1, 3);
	assert_int_equal(write(to[1], world.server.url,
			       strlen(world.server.url)),
			 strlen(world.server.url));
	assert_int_equal(read(from[0], &three, 1), 1);
	await(three_unsettled, &world.server);
	/* this one lasts for longer than the server waits */
	join(&member, world.executor, world.server.url, 4);
	server_publish(&world.server, "S", 4, 4);
	await_running(&member, 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	await_running(&member, 4);
	for (i = 1; i <= 3; i++)
		assert_true(end_one(&member, 0) < 4);
	/* the delays of another one are the server's clock */
	server_publish(&world.server, "S", 5, 5);
	for (i = 0; i * DELAY_NS <= SECOND; i++) {
		await_running(&member, 2);
		assert_int_equal(end_one(&member, -EAGAIN), 5);
	}
	await_running(&member, 2);
	while (n_running(&member) > 0)
		(void)end_one(&member, 0);
	await(nothing_left, &world.server);
	for (i = 1; i <= 4; i++) {
		assert_int_equal(member.times[i], 1);
		assert_int_equal(member.deliveries[i], i < 4 ? 2 : 1);
	}
	leave(&member);
	nats_end(&world);
	(void)close(to[1]);
	(void)close(from[0]);
}

static void a_member_that_is_drained_loses_and_repeats_nothing(void **state)
{
	struct member goes, stays;
	struct nats_world world;
	uint32_t i;

	begin(&world, 30 * SECOND);
	join(&goes, world.executor, world.server.url, 3);
	server_publish(&world.server, "S", 1, MOST);
	await_running(&goes, 3);
	/* so that its next one is on its way */
	assert_int_not_equal(end_one(&goes, 0), 0);
	weir_flow_run_end(goes.run);
	join(&stays, world.executor, world.server.url, 2);
	while (goes.n_ended + n_running(&goes) + stays.n_ended < MOST)
		(void)end_one(&stays, 0);
	/* it waits for what it runs */
	assert_int_equal(weir_flow_run_wait(goes.run, 0, NULL, NULL),
			 -ETIMEDOUT);
	while (goes.n_ended + stays.n_ended < MOST)
		(void)end_one(&goes, 0);
	leave(&goes);
	await(nothing_left, &world.server);
	for (i = 1; i <= MOST; i++) {
		assert_int_equal(goes.times[i] + stays.times[i], 1);
		assert_int_equal(goes.deliveries[i] + stays.deliveries[i], 1);
	}
	leave(&stays);
	nats_end(&world);
}

static void purge(struct nats_world *world)
{
	assert_int_equal(js_PurgeStream(world->server.js, "S", NULL, NULL),
			 NATS_OK);
}

/* The first message of a run drains it, while others are sent. */
static int drain_at_first(void **item, void *context)
{
	struct weir_flow_run *run = __atomic_exchange_n(
		(struct weir_flow_run **)context, NULL, __ATOMIC_ACQUIRE);

	if (run)
		weir_flow_run_end(run);
	return 0;
}

static void what_was_sent_before_a_drain_is_taken(void **state)
{
	const struct weir_nats_source_options source = {.window = 64,
							.until_settled = true};
	struct weir_flow_run *run, *to_end;
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow *flow;
	uint64_t i;

	begin(&world, 30 * SECOND);
	for (i = 0; i < 10; i++) {
		flow = nats_source(&world, source);
		flow = weir_flow_map(flow, drain_at_first, &to_end);
		flow = weir_flow_nats_done(weir_flow_same_items(flow));
		flow = weir_flow_ignore(flow);
		run = nats_start(&world, flow);
		__atomic_store_n(&to_end, run, __ATOMIC_RELEASE);
		server_publish(&world.server, "S", 1, 50);
		assert_int_equal(nats_wait(run, NULL), 0);
		weir_flow_free(flow);
		assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
		assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
		assert_int_equal(stats.excess + stats.retried, 0);
		assert_int_equal(stats.received, stats.done);
		purge(&world);
	}
	assert_true(stats.done > 10);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_dead_member_had_is_run_by_another),
		cmocka_unit_test(no_member_has_more_than_its_share),
		cmocka_unit_test(nor_has_it_behind_a_cut),
		cmocka_unit_test(
			its_share_is_all_that_the_consumer_must_have_room_for),
		cmocka_unit_test(what_is_refused_does_not_count),
		cmocka_unit_test(
			one_for_which_there_is_no_memory_does_not_count),
		cmocka_unit_test(
			one_that_fails_for_now_is_run_again_behind_its_delay),
		cmocka_unit_test(
			one_that_fails_for_good_is_stored_with_the_dead),
		cmocka_unit_test(
			a_member_that_is_drained_loses_and_repeats_nothing),
		cmocka_unit_test(what_was_sent_before_a_drain_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
