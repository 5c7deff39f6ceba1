/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The accounting of a source against a fake server and a fake wire between them,
 * under a clock of the test's: first what it does step by step, then with all
 * that may happen, drawn from seeds. The fake does as nats-server 2.9.10 does:
 * requests that wait are served in turn, one message each; one that has expired
 * is told so, or not at all; who does not listen gets nothing.
 */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "nats/pull.h"

#define SECOND WEIR__NATS_SECOND
#define MS (SECOND / 1000)
#define EXPIRES (30 * SECOND)
#define BEAT (5 * SECOND)

/* --- Step by step --------------------------------------------------------- */

static struct weir__nats_todo next(struct weir__nats_pull *pull, uint64_t now)
{
	struct weir__nats_todo todo = weir__nats_pull_next(pull, now);

	weir__nats_pull_check(pull);
	return todo;
}

/* Up to its first request, at time 0. */
static void open_with(struct weir__nats_pull *pull, uint64_t window,
		      uint64_t refill)
{
	weir__nats_pull_init(pull, window, refill, EXPIRES, BEAT);
	weir__nats_pull_begin(pull);
	weir__nats_pull_connected(pull);
	assert_int_equal(next(pull, 0).step, WEIR__NATS_STEP_CHECK);
	weir__nats_pull_checked(pull, 0, NULL, 0);
	assert_int_equal(next(pull, 0).step, WEIR__NATS_STEP_OPEN);
	weir__nats_pull_opened(pull, 0, 0);
}

static void expect_request(struct weir__nats_pull *pull, uint64_t n,
			   uint64_t now)
{
	struct weir__nats_todo todo = next(pull, now);

	assert_int_equal(todo.step, WEIR__NATS_STEP_REQUEST);
	assert_int_equal(todo.n, n);
}

static void expect_nothing(struct weir__nats_pull *pull, uint64_t now)
{
	assert_int_equal(next(pull, now).step, WEIR__NATS_STEP_NONE);
}

static void nothing_is_done_without_demand_or_connection(void **state)
{
	struct weir__nats_pull pull;

	weir__nats_pull_init(&pull, 4, 2, EXPIRES, BEAT);
	weir__nats_pull_connected(&pull);
	expect_nothing(&pull, 0);
	weir__nats_pull_disconnected(&pull);
	weir__nats_pull_begin(&pull);
	expect_nothing(&pull, 0);
	assert_true(weir__nats_pull_due(&pull) == WEIR__NATS_NEVER);
	weir__nats_pull_connected(&pull);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CHECK);
	expect_nothing(&pull, 0);
}

static void requests_are_gathered_until_refill(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	expect_nothing(&pull, 0);
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	expect_nothing(&pull, 0);
	weir__nats_pull_taken(&pull, 1);
	expect_nothing(&pull, 0);
	weir__nats_pull_taken(&pull, 1);
	expect_request(&pull, 2, 0);
}

static void more_than_was_asked_for_is_refused(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 2, 1);
	expect_request(&pull, 2, 0);
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	assert_false(weir__nats_pull_message(&pull, 1, 0));
	/* also if there is room, but nobody has asked */
	weir__nats_pull_taken(&pull, 2);
	assert_false(weir__nats_pull_message(&pull, 1, 0));
	assert_int_equal(pull.n_excess, 2);
}

static void status(struct weir__nats_pull *pull, int code, uint64_t id,
		   int pending, const char *description, uint64_t now)
{
	const struct weir__nats_status told = {
		.code = code,
		.description = description,
		.id = id,
		.n = pull->window,
		.tells = pending >= 0,
		.pending = (uint64_t)(pending >= 0 ? pending : 0),
	};

	weir__nats_pull_status(pull, pull->epoch, &told, now);
	weir__nats_pull_check(pull);
}

static void what_has_expired_is_asked_for_again(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	assert_true(weir__nats_pull_message(&pull, 1, EXPIRES - MS));
	weir__nats_pull_taken(&pull, 1);
	status(&pull, 408, 1, 3, "Request Timeout", EXPIRES);
	assert_int_equal(pull.n_expired, 3);
	expect_request(&pull, 4, EXPIRES);
}

static void a_408_counts_what_its_request_did_not_get(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	weir__nats_pull_taken(&pull, 2);
	expect_request(&pull, 2, 0);
	status(&pull, 408, 1, 1, "Request Timeout", 0);
	assert_int_equal(pull.asked, 3);
}

static void a_lost_408_is_over_a_second_behind_its_end(void **state)
{
	struct weir__nats_pull pull;
	uint64_t over = EXPIRES + SECOND;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	/* its heartbeats come */
	status(&pull, 100, 1, -1, "Idle Heartbeat", EXPIRES - MS);
	expect_nothing(&pull, over - 1);
	assert_int_equal(weir__nats_pull_due(&pull), over);
	expect_request(&pull, 4, over);
	assert_int_equal(pull.n_lost_replies, 1);
	assert_int_equal(pull.n_lost, 4);
	/* what it says now is too late: the next request stands */
	status(&pull, 408, 1, 4, "Request Timeout", over + MS);
	assert_int_equal(pull.asked, 4);
}

static void a_later_request_is_not_over_with_the_first(void **state)
{
	struct weir__nats_pull pull;
	uint64_t later = 20 * SECOND;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	assert_true(weir__nats_pull_message(&pull, 1, later));
	assert_true(weir__nats_pull_message(&pull, 1, later));
	weir__nats_pull_taken(&pull, 2);
	expect_request(&pull, 2, later);
	assert_int_equal(pull.asked, 4);
	status(&pull, 100, 2, -1, "Idle Heartbeat", EXPIRES);
	/* two of the four may come still, whichever these are */
	expect_request(&pull, 2, EXPIRES + SECOND);
	assert_int_equal(pull.n_lost, 2);
	/* and what the first says is known */
	status(&pull, 408, 1, 2, "Request Timeout", EXPIRES + SECOND);
	assert_int_equal(pull.asked, 4);
}

static void a_step_is_not_begun_twice(void **state)
{
	struct weir__nats_pull pull;

	weir__nats_pull_init(&pull, 4, 2, EXPIRES, BEAT);
	weir__nats_pull_begin(&pull);
	weir__nats_pull_connected(&pull);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CHECK);
	expect_nothing(&pull, 0);
	weir__nats_pull_checked(&pull, 0, NULL, 0);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_OPEN);
	expect_nothing(&pull, 0);
	weir__nats_pull_disconnected(&pull);
	expect_nothing(&pull, 0);
	weir__nats_pull_opened(&pull, 0, 0);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CLOSE);
	expect_nothing(&pull, 0);
}

static void a_message_is_a_sign_of_life(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 4, 4);
	expect_request(&pull, 4, 0);
	assert_true(weir__nats_pull_message(&pull, 1, 2 * BEAT));
	expect_nothing(&pull, 4 * BEAT);
	assert_int_equal(next(&pull, 5 * BEAT).step, WEIR__NATS_STEP_CLOSE);
}

static void what_an_old_inbox_says_counts_no_more(void **state)
{
	const struct weir__nats_status deleted = {
		.code = 409, .description = "Consumer Deleted", .id = 1};
	struct weir__nats_pull pull;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	weir__nats_pull_status(&pull, 0, &deleted, 0);
	assert_int_equal(pull.code, 0);
	weir__nats_pull_status(&pull, 1, &deleted, 0);
	assert_int_equal(pull.code, -ENOENT);
}

static void a_new_connection_is_not_waited_for(void **state)
{
	struct weir__nats_pull pull;

	weir__nats_pull_init(&pull, 4, 2, EXPIRES, BEAT);
	weir__nats_pull_begin(&pull);
	weir__nats_pull_connected(&pull);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CHECK);
	weir__nats_pull_checked(&pull, -EAGAIN, NULL, 0);
	expect_nothing(&pull, 0);
	weir__nats_pull_disconnected(&pull);
	weir__nats_pull_connected(&pull);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CHECK);
}

static void the_first_looks_on_a_connection_are_short(void **state)
{
	struct weir__nats_pull pull;
	struct weir__nats_todo todo;
	uint64_t now = 0, wait = 250 * MS, i;

	weir__nats_pull_init(&pull, 4, 2, EXPIRES, BEAT);
	weir__nats_pull_begin(&pull);
	weir__nats_pull_connected(&pull);
	for (i = 0; i < 6; i++) {
		todo = next(&pull, now);
		assert_int_equal(todo.step, WEIR__NATS_STEP_CHECK);
		assert_int_equal(todo.wait_ns, wait);
		now += wait;
		weir__nats_pull_checked(&pull, -EAGAIN, NULL, now);
		now = weir__nats_pull_due(&pull);
		wait = wait * 2 < 2 * SECOND ? wait * 2 : 2 * SECOND;
	}
	weir__nats_pull_disconnected(&pull);
	weir__nats_pull_connected(&pull);
	assert_int_equal(next(&pull, now).wait_ns, 250 * MS);
}

static void heartbeats_that_are_missed_cost_the_inbox(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	status(&pull, 100, 1, -1, "Idle Heartbeat", BEAT);
	expect_nothing(&pull, 3 * BEAT);
	assert_int_equal(next(&pull, BEAT + 2 * BEAT + BEAT / 2).step,
			 WEIR__NATS_STEP_CLOSE);
	weir__nats_pull_closed(&pull);
	assert_int_equal(next(&pull, 4 * BEAT).step, WEIR__NATS_STEP_CHECK);
	weir__nats_pull_checked(&pull, 0, NULL, 4 * BEAT);
	assert_int_equal(next(&pull, 4 * BEAT).epoch, 2);
	weir__nats_pull_opened(&pull, 0, 4 * BEAT);
	expect_request(&pull, 4, 4 * BEAT);
}

static void a_new_connection_has_a_new_inbox(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	weir__nats_pull_disconnected(&pull);
	assert_int_equal(pull.asked, 0);
	/* what had come before is read now: there is room */
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CLOSE);
	weir__nats_pull_closed(&pull);
	expect_nothing(&pull, 0);
	weir__nats_pull_connected(&pull);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CHECK);
	weir__nats_pull_checked(&pull, 0, NULL, 0);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_OPEN);
	weir__nats_pull_opened(&pull, 0, 0);
	expect_request(&pull, 3, 0);
	/* then there is none for the old inbox */
	assert_false(weir__nats_pull_message(&pull, 1, 0));
	assert_true(weir__nats_pull_message(&pull, 2, 0));
	assert_int_equal(pull.n_lost - pull.n_late, 3);
	weir__nats_pull_check(&pull);
}

static void some_refusals_end_the_stream(void **state)
{
	static const struct {
		int code;
		const char *description;
		int ends;
	} cases[] = {
		{409, "Consumer Deleted", -ENOENT},
		{409, "Consumer is push based", -EPROTOTYPE},
		{400, "Bad Request", -EPROTO},
		{409, "Exceeded MaxWaiting", 0},
		{409, "Leadership Change", 0},
		{404, "No Messages", 0},
		{503, NULL, 0},
	};
	struct weir__nats_pull pull;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_with(&pull, 4, 2);
		expect_request(&pull, 4, 0);
		status(&pull, cases[i].code, 1, -1, cases[i].description, 0);
		assert_int_equal(pull.code, cases[i].ends);
		assert_int_equal(pull.asked, 0);
		if (cases[i].ends < 0)
			assert_int_equal(next(&pull, 0).step,
					 WEIR__NATS_STEP_CLOSE);
	}
}

static void refused_requests_come_ever_more_rarely(void **state)
{
	struct weir__nats_pull pull;
	uint64_t now = 0, before, i;

	open_with(&pull, 4, 2);
	for (i = 1; i <= 10; i++) {
		before = now;
		expect_request(&pull, 4, now);
		status(&pull, 409, i, -1, "Exceeded MaxWaiting", now);
		expect_nothing(&pull, now);
		now = weir__nats_pull_due(&pull);
		expect_nothing(&pull, now - 1);
	}
	assert_int_equal(now - before, 5 * SECOND);
}

static void an_end_gives_up_the_inbox_and_takes_the_rest(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	weir__nats_pull_end(&pull);
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CLOSE);
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	weir__nats_pull_closed(&pull);
	assert_int_equal(pull.state, WEIR__NATS_PULL_ENDED);
	expect_nothing(&pull, 0);
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	assert_true(weir__nats_pull_message(&pull, 1, 0));
	/* more were not asked for */
	assert_false(weir__nats_pull_message(&pull, 1, 0));
	assert_int_equal(pull.held, 4);
	weir__nats_pull_check(&pull);
}

static void a_failure_refuses_the_rest(void **state)
{
	struct weir__nats_pull pull;

	open_with(&pull, 4, 2);
	expect_request(&pull, 4, 0);
	weir__nats_pull_fail(&pull, -EIO, "gone");
	assert_int_equal(next(&pull, 0).step, WEIR__NATS_STEP_CLOSE);
	assert_false(weir__nats_pull_message(&pull, 1, 0));
	weir__nats_pull_closed(&pull);
	assert_false(weir__nats_pull_message(&pull, 1, 0));
	assert_int_equal(pull.n_excess, 2);
}

static void an_end_behind_any_step_comes_to_an_end(void **state)
{
	struct weir__nats_pull pull;
	struct weir__nats_todo todo = {0};
	int steps, i;

	for (steps = 0; steps < 6; steps++) {
		weir__nats_pull_init(&pull, 4, 2, EXPIRES, BEAT);
		weir__nats_pull_begin(&pull);
		weir__nats_pull_connected(&pull);
		for (i = 0; i < 6; i++) {
			if (i == steps)
				weir__nats_pull_end(&pull);
			if (i % 2 == 0)
				todo = next(&pull, 0);
			else if (todo.step == WEIR__NATS_STEP_CHECK)
				weir__nats_pull_checked(&pull, 0, NULL, 0);
			else if (todo.step == WEIR__NATS_STEP_OPEN)
				weir__nats_pull_opened(&pull, 0, 0);
			else if (todo.step == WEIR__NATS_STEP_CLOSE)
				weir__nats_pull_closed(&pull);
		}
		if (pull.state != WEIR__NATS_PULL_ENDED) {
			assert_int_equal(next(&pull, 0).step,
					 WEIR__NATS_STEP_CLOSE);
			weir__nats_pull_closed(&pull);
		}
		assert_int_equal(pull.state, WEIR__NATS_PULL_ENDED);
	}
}

/* --- A fake server -------------------------------------------------------- */

#define MESSAGES 60u
#define ON_WIRE 4096u

enum kind { MESSAGE, STATUS, REQUEST, LISTEN, LEAVE, ACK, NAK };

struct packet {
	enum kind kind;
	uint64_t epoch, at_ns;
	uint64_t number; /* of a message; of a request: its id */
	uint64_t n;	 /* of a request; pending */
	int code;
	const char *description;
};

/* First in, first out, and each takes some time. */
struct wire {
	struct packet packets[ON_WIRE];
	size_t first, n;
	uint64_t last_ns;
};

struct waiting {
	uint64_t epoch, id, n, left, until_ns, beat_ns;
};

struct fake {
	uint64_t random, now_ns;
	bool chaos, lossy; /* 408s may be lost */
	/* the server */
	struct waiting waiting[64];
	size_t n_waiting, turn;
	uint64_t listens; /* to which epoch it sends; 0: none */
	enum { NEW, GIVEN, DONE } state[MESSAGES];
	uint64_t again_ns[MESSAGES];
	uint64_t n_published, ack_wait_ns, latency_ns;
	/* between them */
	bool connected;
	struct wire down, up;
	/* the client */
	struct weir__nats_pull pull;
	uint64_t held[MESSAGES * 8], n_held, worked[MESSAGES * 8], n_worked;
	uint64_t most;
	uint64_t n_late_answers; /* of requests that were over by our clock */
};

static uint64_t draw(struct fake *fake, uint64_t below)
{
	fake->random ^= fake->random << 13;
	fake->random ^= fake->random >> 7;
	fake->random ^= fake->random << 17;
	return (fake->random >> 11) % below;
}

static bool one_in(struct fake *fake, uint64_t n)
{
	return draw(fake, n) == 0;
}

static void send(struct fake *fake, struct wire *wire, struct packet packet)
{
	if (!fake->connected)
		return;
	assert_true(wire->n < ON_WIRE);
	packet.at_ns = fake->now_ns + draw(fake, fake->latency_ns + 1);
	if (packet.at_ns < wire->last_ns)
		packet.at_ns = wire->last_ns;
	wire->last_ns = packet.at_ns;
	wire->packets[(wire->first + wire->n++) % ON_WIRE] = packet;
}

static bool receive(struct fake *fake, struct wire *wire, struct packet *packet)
{
	if (wire->n == 0 || wire->packets[wire->first].at_ns > fake->now_ns)
		return false;
	*packet = wire->packets[wire->first];
	wire->first = (wire->first + 1) % ON_WIRE;
	wire->n--;
	return true;
}

static void tell(struct fake *fake, const struct waiting *waiting, int code,
		 const char *description)
{
	if (fake->listens == waiting->epoch)
		send(fake, &fake->down,
		     (struct packet){.kind = STATUS,
				     .epoch = waiting->epoch,
				     .number = waiting->id,
				     .n = waiting->left,
				     .code = code,
				     .description = description});
}

static void forget(struct fake *fake, size_t i)
{
	fake->n_waiting--;
	memmove(&fake->waiting[i], &fake->waiting[i + 1],
		(fake->n_waiting - i) * sizeof(fake->waiting[0]));
	if (fake->turn > i)
		fake->turn--;
}

static void expire(struct fake *fake)
{
	struct waiting *waiting;
	size_t i = 0;

	while (i < fake->n_waiting) {
		waiting = &fake->waiting[i];
		if (waiting->epoch != fake->listens) {
			forget(fake, i);
		} else if (waiting->until_ns <= fake->now_ns) {
			if (!fake->lossy || !one_in(fake, 3))
				tell(fake, waiting, 408, "Request Timeout");
			forget(fake, i);
		} else {
			if (waiting->beat_ns <= fake->now_ns) {
				tell(fake, waiting, 100, "Idle Heartbeat");
				waiting->beat_ns = fake->now_ns + BEAT;
			}
			i++;
		}
	}
}

/* The next message to be given, those that come again first; or MESSAGES. */
static uint64_t to_give(struct fake *fake)
{
	uint64_t i;

	for (i = 0; i < fake->n_published; i++)
		if (fake->state[i] == GIVEN &&
		    fake->again_ns[i] <= fake->now_ns)
			return i;
	for (i = 0; i < fake->n_published; i++)
		if (fake->state[i] == NEW)
			return i;
	return MESSAGES;
}

static void serve(struct fake *fake)
{
	struct waiting *waiting;
	uint64_t number;

	expire(fake);
	while (fake->n_waiting > 0 && (number = to_give(fake)) < MESSAGES) {
		fake->turn %= fake->n_waiting;
		waiting = &fake->waiting[fake->turn];
		send(fake, &fake->down,
		     (struct packet){.kind = MESSAGE,
				     .epoch = waiting->epoch,
				     .number = number});
		fake->state[number] = GIVEN;
		fake->again_ns[number] = fake->now_ns + fake->ack_wait_ns;
		waiting->beat_ns = fake->now_ns + BEAT;
		if (--waiting->left == 0)
			forget(fake, fake->turn);
		else
			fake->turn++;
	}
}

static void enqueue(struct fake *fake, const struct packet *packet)
{
	const struct waiting waiting = {
		.epoch = packet->epoch,
		.id = packet->number,
		.n = packet->n,
		.left = packet->n,
		.until_ns = fake->now_ns + EXPIRES,
		.beat_ns = fake->now_ns + BEAT,
	};

	if (fake->n_waiting == 64 || (fake->chaos && one_in(fake, 20)))
		tell(fake, &waiting, 409, "Exceeded MaxWaiting");
	else if (fake->chaos && one_in(fake, 20))
		tell(fake, &waiting, 503, NULL);
	else
		fake->waiting[fake->n_waiting++] = waiting;
}

static void server_takes(struct fake *fake, const struct packet *packet)
{
	switch (packet->kind) {
	case LISTEN:
		fake->listens = packet->epoch;
		break;
	case LEAVE:
		if (fake->listens == packet->epoch)
			fake->listens = 0;
		break;
	case REQUEST:
		enqueue(fake, packet);
		break;
	case ACK:
		fake->state[packet->number] = DONE;
		break;
	default:
		if (fake->state[packet->number] == GIVEN)
			fake->again_ns[packet->number] = fake->now_ns;
		break;
	}
}

/* --- The client ----------------------------------------------------------- */

static void client_takes(struct fake *fake, const struct packet *packet)
{
	struct weir__nats_pull *pull = &fake->pull;
	const struct weir__nats_status status = {
		.code = packet->code,
		.description = packet->description,
		.id = packet->number,
		.n = packet->n,
		.tells = packet->code == 408,
		.pending = packet->n,
	};

	if (packet->kind == STATUS) {
		weir__nats_pull_status(pull, packet->epoch, &status,
				       fake->now_ns);
	} else if (weir__nats_pull_message(pull, packet->epoch, fake->now_ns)) {
		fake->held[fake->n_held++] = packet->number;
		if (fake->n_held > fake->most)
			fake->most = fake->n_held;
	} else {
		send(fake, &fake->up,
		     (struct packet){.kind = NAK, .number = packet->number});
	}
	weir__nats_pull_check(pull);
}

static bool client_acts(struct fake *fake)
{
	struct weir__nats_pull *pull = &fake->pull;
	struct weir__nats_todo todo = next(pull, fake->now_ns);
	bool fails = fake->chaos && one_in(fake, 20);

	switch (todo.step) {
	case WEIR__NATS_STEP_CHECK:
		weir__nats_pull_checked(pull,
					fails || !fake->connected ? -EAGAIN : 0,
					NULL, fake->now_ns);
		return true;
	case WEIR__NATS_STEP_OPEN:
		if (!fails)
			send(fake, &fake->up,
			     (struct packet){.kind = LISTEN,
					     .epoch = todo.epoch});
		weir__nats_pull_opened(pull, fails ? -ENOMEM : 0, fake->now_ns);
		return true;
	case WEIR__NATS_STEP_CLOSE:
		send(fake, &fake->up,
		     (struct packet){.kind = LEAVE, .epoch = todo.epoch});
		weir__nats_pull_closed(pull);
		return true;
	case WEIR__NATS_STEP_REQUEST:
		if (fails)
			weir__nats_pull_unsent(pull, todo.n, fake->now_ns);
		else
			send(fake, &fake->up,
			     (struct packet){.kind = REQUEST,
					     .epoch = todo.epoch,
					     .number = todo.id,
					     .n = todo.n});
		return true;
	default:
		return false;
	}
}

/* Downstream takes some, and settles some. */
static void client_works(struct fake *fake)
{
	uint64_t n = draw(fake, fake->n_held + 1), i;

	for (i = 0; i < n; i++)
		fake->worked[fake->n_worked++] = fake->held[i];
	fake->n_held -= n;
	memmove(fake->held, fake->held + n, fake->n_held * sizeof(uint64_t));
	weir__nats_pull_taken(&fake->pull, n);
	n = draw(fake, fake->n_worked + 1);
	for (i = 0; i < n; i++)
		send(fake, &fake->up,
		     (struct packet){.kind = fake->chaos && one_in(fake, 10)
						     ? NAK
						     : ACK,
				     .number = fake->worked[i]});
	fake->n_worked -= n;
	memmove(fake->worked, fake->worked + n,
		fake->n_worked * sizeof(uint64_t));
}

/* --- The world ------------------------------------------------------------- */

/* What was on the wire is lost, but for what the client has got already, which
 * it reads later. */
static void cut(struct fake *fake)
{
	struct packet packet;
	uint64_t keep = draw(fake, fake->down.n + 1);

	fake->connected = false;
	fake->listens = 0;
	fake->up.n = 0;
	fake->down.n = keep;
	if (one_in(fake, 2))
		while (receive(fake, &fake->down, &packet))
			client_takes(fake, &packet);
	weir__nats_pull_disconnected(&fake->pull);
	weir__nats_pull_check(&fake->pull);
}

static void reconnect(struct fake *fake)
{
	fake->connected = true;
	/* libnats may have subscribed to the old inbox again, by itself */
	if (fake->pull.state == WEIR__NATS_PULL_LOST && one_in(fake, 2))
		fake->listens = fake->pull.epoch;
	weir__nats_pull_connected(&fake->pull);
}

static void happen(struct fake *fake)
{
	if (!fake->connected && (!fake->chaos || one_in(fake, 5)))
		reconnect(fake);
	if (!fake->chaos)
		return;
	if (fake->connected && one_in(fake, 60))
		cut(fake);
	/* the leader goes, and forgets who waits */
	if (one_in(fake, 100)) {
		while (fake->n_waiting > 0) {
			tell(fake, &fake->waiting[0], 409, "Leadership Change");
			forget(fake, 0);
		}
	}
	/* the server forgets, and says nothing */
	if (one_in(fake, 100))
		fake->n_waiting = 0;
}

static void turn(struct fake *fake)
{
	struct packet packet;
	uint64_t due;

	happen(fake);
	while (receive(fake, &fake->up, &packet))
		server_takes(fake, &packet);
	serve(fake);
	while (receive(fake, &fake->down, &packet))
		client_takes(fake, &packet);
	if (one_in(fake, 2))
		client_works(fake);
	while (client_acts(fake))
		;
	if (fake->n_published < MESSAGES && one_in(fake, 3))
		fake->n_published += draw(fake, MESSAGES - fake->n_published) +
				     1;
	due = weir__nats_pull_due(&fake->pull);
	/* the server has to have its turn, too */
	if (one_in(fake, 4) && due != WEIR__NATS_NEVER && due > fake->now_ns)
		fake->now_ns = due < fake->now_ns + SECOND
				       ? due
				       : fake->now_ns + SECOND;
	else
		fake->now_ns += draw(fake, 2 * fake->latency_ns + 1);
}

static bool all_done(const struct fake *fake)
{
	size_t i;

	for (i = 0; i < MESSAGES; i++)
		if (fake->state[i] != DONE)
			return false;
	return true;
}

static void fake_begin(struct fake *fake, uint64_t seed)
{
	uint64_t window;

	memset(fake, 0, sizeof(*fake));
	fake->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	window = 1 + draw(fake, 20);
	fake->latency_ns = (1 + draw(fake, 1000)) * MS;
	fake->ack_wait_ns = (1 + draw(fake, 60)) * SECOND;
	fake->lossy = one_in(fake, 2);
	weir__nats_pull_init(&fake->pull, window, 1 + draw(fake, window),
			     EXPIRES, BEAT);
	weir__nats_pull_begin(&fake->pull);
}

static void whatever_happens_all_messages_are_done(void **state)
{
	static struct fake fake;
	size_t i;

	for_each_seed(seed, test_count(10000)) {
		fake_begin(&fake, seed);
		fake.chaos = true;
		for (i = 0; i < 300; i++)
			turn(&fake);
		fake.chaos = fake.lossy = false;
		for (i = 0; i < 20000 && !all_done(&fake); i++)
			turn(&fake);
		assert_true(all_done(&fake));
		assert_true(fake.most <= fake.pull.window);
	}
}

/* Nothing is lost, and so nothing comes that nobody has asked for. */
static void without_faults_as_many_come_as_were_asked_for(void **state)
{
	static struct fake fake;
	size_t i;

	for_each_seed(seed, test_count(2000)) {
		fake_begin(&fake, seed);
		fake.lossy = false;
		fake.latency_ns = 1 + draw(&fake, 400 * MS);
		fake.ack_wait_ns = 1000000 * SECOND;
		for (i = 0; i < 20000 && !all_done(&fake); i++)
			turn(&fake);
		assert_true(all_done(&fake));
		assert_int_equal(fake.pull.n_excess, 0);
		assert_int_equal(fake.pull.n_lost, 0);
		assert_int_equal(fake.pull.n_epochs, 1);
		assert_int_equal(fake.pull.n_received, MESSAGES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_done_without_demand_or_connection),
		cmocka_unit_test(requests_are_gathered_until_refill),
		cmocka_unit_test(more_than_was_asked_for_is_refused),
		cmocka_unit_test(what_has_expired_is_asked_for_again),
		cmocka_unit_test(a_408_counts_what_its_request_did_not_get),
		cmocka_unit_test(a_lost_408_is_over_a_second_behind_its_end),
		cmocka_unit_test(a_later_request_is_not_over_with_the_first),
		cmocka_unit_test(a_step_is_not_begun_twice),
		cmocka_unit_test(a_message_is_a_sign_of_life),
		cmocka_unit_test(what_an_old_inbox_says_counts_no_more),
		cmocka_unit_test(a_new_connection_is_not_waited_for),
		cmocka_unit_test(the_first_looks_on_a_connection_are_short),
		cmocka_unit_test(heartbeats_that_are_missed_cost_the_inbox),
		cmocka_unit_test(a_new_connection_has_a_new_inbox),
		cmocka_unit_test(some_refusals_end_the_stream),
		cmocka_unit_test(refused_requests_come_ever_more_rarely),
		cmocka_unit_test(an_end_gives_up_the_inbox_and_takes_the_rest),
		cmocka_unit_test(a_failure_refuses_the_rest),
		cmocka_unit_test(an_end_behind_any_step_comes_to_an_end),
		cmocka_unit_test(whatever_happens_all_messages_are_done),
		cmocka_unit_test(without_faults_as_many_come_as_were_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
