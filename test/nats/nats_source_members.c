/* SPDX-License-Identifier: BSD-2-Clause */
/* Several sources of one consumer: who asks gets, and who dies is stood in for.
 * Members are slow here as a channel that nobody takes from is. */
#include "nats/kit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMBERS 3u
#define MOST 400u

/* What has come, and how often, to all members. */
struct seen {
	uint32_t n;
	uint8_t times[MOST + 1], deliveries[MOST + 1];
};

static int see(void **item, void *context)
{
	struct seen *seen = context;
	struct weir_nats_message *message = *item;
	uint64_t number = number_of(message);

	assert_true(number >= 1 && number <= MOST);
	seen->times[number]++;
	seen->deliveries[number] =
		(uint8_t)weir_nats_message_deliveries(message);
	__atomic_fetch_add(&seen->n, 1, __ATOMIC_RELEASE);
	return 0;
}

struct goal {
	struct seen *seen;
	uint32_t n;
};

static bool is_reached(void *context)
{
	struct goal *goal = context;

	return __atomic_load_n(&goal->seen->n, __ATOMIC_ACQUIRE) >= goal->n;
}

static void await_seen(struct seen *seen, uint32_t n)
{
	struct goal goal = {seen, n};

	await(is_reached, &goal);
}

/* --- Members ---------------------------------------------------------------- */

struct member {
	struct weir_flow *flow;
	struct weir_flow_run *run;
	struct weir_channel *channel; /* NULL: it is fast */
};

static void start(struct nats_world *world, struct member *member,
		  size_t window, struct seen *seen)
{
	struct weir_flow *flow;

	flow = nats_source(world, (struct weir_nats_source_options){
					  .window = window,
					  .refill = 1,
				  });
	if (seen) {
		flow = weir_flow_map(flow, see, seen);
		flow = weir_flow_nats_done(weir_flow_same_items(flow));
		member->channel = NULL;
		member->flow = weir_flow_ignore(flow);
	} else {
		assert_int_equal(weir_channel_new(&member->channel, 1,
						  weir_flow_bytes_items(),
						  NULL),
				 0);
		member->flow = weir_flow_into_channel(flow, member->channel);
	}
	member->run = nats_start(world, member->flow);
}

/* A slow one that is taken from now, till it has `n` more. */
static void hurry(struct member *member, struct seen *seen, uint64_t n)
{
	void *item;

	for (; n > 0; n--) {
		assert_int_equal(weir_channel_take_wait(member->channel, &item,
							LONG),
				 0);
		(void)see(&item, seen);
		assert_int_equal(weir_nats_message_done(item), 0);
		weir_flow_bytes_unref(item);
	}
}

static void end(struct member *member)
{
	weir_flow_run_stop(member->run, NULL);
	assert_int_equal(nats_wait(member->run, NULL), -ECANCELED);
	weir_flow_free(member->flow);
	assert_int_equal(weir_channel_free(member->channel), 0);
}

static uint64_t received(struct nats_world *world)
{
	struct weir_nats_stats stats;

	assert_int_equal(weir_nats_stats(world->nats, &stats), 0);
	return stats.received;
}

struct arrival {
	struct nats_world *world;
	uint64_t n;
};

static bool has_arrived(void *context)
{
	struct arrival *arrival = context;

	return received(arrival->world) >= arrival->n;
}

static bool all_wait(void *server)
{
	return server_waiting(server, "S") == MEMBERS;
}

static void begin(struct nats_world *world, int64_t ack_wait_ns)
{
	nats_begin(world);
	server_stream(&world->server, "S");
	server_consumer(&world->server, "S", ack_wait_ns, -1);
}

/* --- Load ------------------------------------------------------------------- */

/* How many a slow member takes without anybody taking from it: those it asks for,
 * one in the operator that holds it, and one in the channel. */
static void who_asks_gets_and_who_is_slow_holds_a_window(void **state)
{
	const size_t window = 8;
	struct member members[MEMBERS];
	struct seen seen = {0};
	struct nats_world world;
	uint32_t i, held;

	begin(&world, 30 * (int64_t)SECOND);
	start(&world, &members[0], window, NULL);
	start(&world, &members[1], window, &seen);
	start(&world, &members[2], window, &seen);
	await(all_wait, &world.server);
	server_publish(&world.server, "S", 1, MOST);
	await_seen(&seen, MOST - (uint32_t)window - 2);
	while ((held = (uint32_t)server_unsettled(&world.server, "S")) +
		       __atomic_load_n(&seen.n, __ATOMIC_ACQUIRE) >
	       MOST)
		; /* settled, and the server has not read it */
	assert_true(held <= window + 2);
	assert_int_equal(server_left(&world.server, "S"), 0);
	/* now it is fast */
	hurry(&members[0], &seen, held);
	await_seen(&seen, MOST);
	for (i = 1; i <= MOST; i++)
		assert_int_equal(seen.times[i], 1);
	await(nothing_unsettled, &world.server);
	for (i = 0; i < MEMBERS; i++)
		end(&members[i]);
	nats_end(&world);
}

/* In turn, one message each, as long as it wants one. */
static void members_get_as_many_as_they_ask_for(void **state)
{
	static const size_t windows[MEMBERS] = {4, 4, 2};
	struct member members[MEMBERS];
	struct nats_world world;
	struct arrival arrival = {&world, 10};
	uint64_t number, last;
	size_t i, j, turns = 0;
	void *item;

	begin(&world, 30 * (int64_t)SECOND);
	for (i = 0; i < MEMBERS; i++)
		start(&world, &members[i], windows[i], NULL);
	await(all_wait, &world.server);
	server_publish(&world.server, "S", 1, 10);
	await(has_arrived, &arrival);
	for (i = 0; i < MEMBERS; i++) {
		for (j = 0, last = 0; j < windows[i]; j++, last = number) {
			assert_int_equal(
				weir_channel_take_wait(members[i].channel,
						       &item, LONG),
				0);
			number = number_of(item);
			assert_true(number > last);
			/* each has one of the first three, and of the next */
			if (j < 2)
				assert_int_equal((number - 1) / MEMBERS, j);
			turns += number - last;
			assert_int_equal(weir_nats_message_done(item), 0);
			weir_flow_bytes_unref(item);
		}
	}
	/* the last of the three are 10, 9 and at most 6 */
	assert_true(turns >= 10 + 9 + 4 && turns <= 10 + 9 + 6);
	for (i = 0; i < MEMBERS; i++)
		end(&members[i]);
	nats_end(&world);
}

/* --- A member dies ---------------------------------------------------------- */

static uint32_t n_kept;

/* The first is done, and the others are kept. */
static int keep(void *item, void *context)
{
	const int *to = context;

	if (++n_kept == 1) {
		(void)weir_nats_message_done(item);
		weir_flow_bytes_unref(item);
	}
	if (n_kept == 5)
		(void)write(*to, "5", 1);
	return 0;
}

/* Another program: it gets to know the server's place by `from`. */
static void member_program(int from, int to)
{
	const struct weir_nats_source_options source = {"S", "c", .window = 8};
	struct weir_nats_options options = {.timeout_ns = LONG};
	struct weir_flow *flow;
	struct weir_loop *loop;
	struct weir_nats *nats;
	char url[64] = "";

	if (read(from, url, sizeof(url) - 1) <= 0)
		_exit(1);
	options.url = url;
	if (weir_nats_new(&nats, &options, NULL) < 0 ||
	    weir_loop_new(&loop, NULL) < 0)
		_exit(1);
	flow = weir_flow_for_each(weir_flow_from_nats(nats, &source), keep,
				  &to);
	_exit(weir_flow_run(flow, weir_loop_executor(loop), NULL) < 0);
}

static bool four_unsettled(void *server)
{
	return server_unsettled(server, "S") == 4;
}

static void what_a_dead_member_had_appears_elsewhere_once(void **state)
{
	int to[2], from[2], status;
	struct member member;
	struct seen seen = {0};
	struct nats_world world;
	pid_t pid;
	uint32_t i;
	char five;

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
	begin(&world, (int64_t)SECOND / 2);
	server_publish(&world.server, "S", 1, 5);
	assert_int_equal(write(to[1], world.server.url,
			       strlen(world.server.url)),
			 strlen(world.server.url));
	assert_int_equal(read(from[0], &five, 1), 1);
	await(four_unsettled, &world.server);
	start(&world, &member, 8, &seen);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	server_publish(&world.server, "S", 6, 20);
	await_seen(&seen, 19);
	await(nothing_unsettled, &world.server);
	assert_int_equal(seen.n, 19);
	assert_int_equal(seen.times[1], 0); /* it was done */
	for (i = 2; i <= 20; i++)
		assert_int_equal(seen.times[i], 1);
	for (i = 2; i <= 5; i++)
		assert_int_equal(seen.deliveries[i], 2);
	end(&member);
	nats_end(&world);
	(void)close(to[1]);
	(void)close(from[0]);
}

/* --- Slow downstream -------------------------------------------------------- */

#define WINDOW 16

/* At any time the server has given a window at most that was not taken. */
static void a_slow_downstream_is_never_given_more_than_a_window(void **state)
{
	struct weir_nats_stats stats;
	struct member member;
	struct seen seen = {0};
	struct nats_world world;
	struct arrival arrival = {&world, 0};
	uint64_t taken = 0, left;

	begin(&world, 30 * (int64_t)SECOND);
	server_publish(&world.server, "S", 1, MOST);
	start(&world, &member, WINDOW, NULL);
	for (taken = 0; taken < 200; taken += 20) {
		/* it fills all there is: one is with the operator, one in the
		 * channel, and nothing else is asked for */
		arrival.n = taken + WINDOW + 1;
		await(has_arrived, &arrival);
		assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
		assert_true(stats.asked <= taken + WINDOW + 2);
		assert_int_equal(stats.excess, 0);
		/* one that is given meanwhile counts twice */
		left = server_left(&world.server, "S");
		assert_true(left + server_unsettled(&world.server, "S") >=
			    MOST - taken);
		assert_true(left >= MOST - taken - WINDOW - 2);
		hurry(&member, &seen, 20);
	}
	end(&member);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_dead_member_had_appears_elsewhere_once),
		cmocka_unit_test(who_asks_gets_and_who_is_slow_holds_a_window),
		cmocka_unit_test(members_get_as_many_as_they_ask_for),
		cmocka_unit_test(
			a_slow_downstream_is_never_given_more_than_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
