/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The accounting of a sink: step by step, then against a fake server that forgets
 * what is on the wire, refuses, answers late or not at all, drawn from seeds. The
 * server has ids, and stores what has a new one.
 */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "nats/push.h"

#define SECOND UINT64_C(1000000000)
#define MS (SECOND / 1000)
#define WINDOW 8u

struct fixture {
	struct weir__nats_push push;
	struct weir__nats_push_item items[WINDOW];
};

static void begin(struct fixture *fixture, bool strict)
{
	weir__nats_push_init(&fixture->push, fixture->items, WINDOW,
			     30 * SECOND, strict);
	weir__nats_push_connected(&fixture->push, 0);
}

static void stored(struct fixture *fixture, uint64_t number, uint64_t now)
{
	assert_true(weir__nats_push_stored(&fixture->push, number, now));
	weir__nats_push_check(&fixture->push);
}

static void put(struct fixture *fixture, uint64_t n)
{
	while (n-- > 0)
		(void)weir__nats_push_put(&fixture->push, 0);
}

/* What is sent, up to when it waits. */
static void expect_sent(struct fixture *fixture, uint64_t first, uint64_t last,
			uint64_t now)
{
	uint64_t number;

	for (; first <= last; first++) {
		assert_true(weir__nats_push_next(&fixture->push, now, &number));
		assert_int_equal(number, first);
		weir__nats_push_check(&fixture->push);
	}
	assert_false(weir__nats_push_next(&fixture->push, now, &number));
	weir__nats_push_check(&fixture->push);
}

static void there_is_room_for_a_window_of_what_is_not_stored(void **state)
{
	struct fixture it;

	begin(&it, false);
	assert_int_equal(weir__nats_push_room(&it.push), WINDOW);
	put(&it, WINDOW);
	expect_sent(&it, 0, WINDOW - 1, 0);
	stored(&it, 1, 0);
	/* the oldest is not stored */
	assert_int_equal(weir__nats_push_room(&it.push), 0);
	stored(&it, 0, 0);
	assert_int_equal(weir__nats_push_room(&it.push), 2);
	assert_false(weir__nats_push_stored(&it.push, 0, 0));
	assert_false(weir__nats_push_stored(&it.push, WINDOW, 0));
}

static void behind_a_cut_the_first_goes_alone_and_then_the_others(void **state)
{
	struct fixture it;

	begin(&it, true);
	put(&it, 4);
	expect_sent(&it, 0, 0, 0);
	stored(&it, 0, 0);
	expect_sent(&it, 1, 3, 0);
	weir__nats_push_disconnected(&it.push);
	put(&it, 1);
	assert_int_equal(weir__nats_push_due(&it.push), UINT64_MAX);
	weir__nats_push_connected(&it.push, SECOND);
	expect_sent(&it, 1, 1, SECOND);
	stored(&it, 1, SECOND);
	expect_sent(&it, 2, 4, SECOND);
	assert_int_equal(it.push.n_resent, 3);
}

static void in_any_order_all_go_at_once(void **state)
{
	struct fixture it;

	begin(&it, false);
	put(&it, 4);
	expect_sent(&it, 0, 3, 0);
	stored(&it, 1, 0);
	weir__nats_push_disconnected(&it.push);
	weir__nats_push_connected(&it.push, SECOND);
	/* the second is stored */
	uint64_t number;
	assert_true(weir__nats_push_next(&it.push, SECOND, &number));
	assert_int_equal(number, 0);
	expect_sent(&it, 2, 3, SECOND);
}

static void what_is_not_answered_is_sent_again(void **state)
{
	struct fixture it;

	begin(&it, true);
	put(&it, 3);
	expect_sent(&it, 0, 0, 0);
	stored(&it, 0, 0);
	expect_sent(&it, 1, 2, 0);
	assert_int_equal(weir__nats_push_due(&it.push), WEIR__NATS_RETRY_NS);
	expect_sent(&it, 1, 1, WEIR__NATS_RETRY_NS);
	/* the answer to the first time is one, too */
	stored(&it, 1, WEIR__NATS_RETRY_NS);
	expect_sent(&it, 2, 2, WEIR__NATS_RETRY_NS);
}

static void the_first_on_a_connection_is_soon_sent_again_and_then_more_rarely(
	void **state)
{
	uint64_t now = 0, wait = WEIR__NATS_RETRY_MIN_NS, i, number;
	struct fixture it;

	begin(&it, true);
	put(&it, 1);
	for (i = 0; i < 8; i++) {
		assert_true(weir__nats_push_next(&it.push, now, &number));
		assert_int_equal(weir__nats_push_due(&it.push), now + wait);
		now += wait;
		wait = wait * 2 < WEIR__NATS_RETRY_NS ? wait * 2
						      : WEIR__NATS_RETRY_NS;
	}
	weir__nats_push_disconnected(&it.push);
	weir__nats_push_connected(&it.push, now);
	assert_true(weir__nats_push_next(&it.push, now, &number));
	assert_int_equal(weir__nats_push_due(&it.push),
			 now + WEIR__NATS_RETRY_MIN_NS);
}

static void behind_a_silence_the_first_goes_alone(void **state)
{
	struct fixture it;

	begin(&it, true);
	put(&it, 4);
	expect_sent(&it, 0, 0, 0);
	stored(&it, 0, 0);
	expect_sent(&it, 1, 3, 0);
	expect_sent(&it, 1, 1, WEIR__NATS_RETRY_NS);
}

static void an_answer_counts_once_and_only_to_what_was_sent(void **state)
{
	uint64_t number;
	struct fixture it;

	begin(&it, false);
	put(&it, 3);
	expect_sent(&it, 0, 2, 0);
	stored(&it, 1, 0);
	assert_false(weir__nats_push_stored(&it.push, 1, 0));
	/* a refusal of what is stored is none */
	weir__nats_push_refused(&it.push, 1, 0);
	assert_false(weir__nats_push_next(&it.push, 0, &number));
	assert_int_equal(weir__nats_push_due(&it.push), WEIR__NATS_RETRY_NS);
	/* behind another one it waits for a while: the shortest, behind an
	 * answer */
	weir__nats_push_refused(&it.push, 2, 0);
	assert_false(weir__nats_push_next(&it.push, 0, &number));
	assert_true(weir__nats_push_due(&it.push) > 0);
	assert_true(weir__nats_push_due(&it.push) < WEIR__NATS_RETRY_NS);
}

static void who_has_stored_something_has_time_again(void **state)
{
	uint64_t number;
	struct fixture it;

	begin(&it, false);
	/* without anything to be sent no time is over */
	assert_false(weir__nats_push_next(&it.push, 40 * SECOND, &number));
	(void)weir__nats_push_put(&it.push, 40 * SECOND);
	(void)weir__nats_push_put(&it.push, 40 * SECOND);
	expect_sent(&it, 0, 1, 40 * SECOND);
	assert_int_equal(it.push.code, 0);
	stored(&it, 0, 60 * SECOND);
	expect_sent(&it, 1, 1, 89 * SECOND);
	assert_int_equal(it.push.code, 0);
	assert_false(weir__nats_push_next(&it.push, 90 * SECOND, &number));
	assert_int_equal(it.push.code, -ETIMEDOUT);
}

static void what_nobody_takes_fails_in_the_end(void **state)
{
	uint64_t now = 0, number, n = 0;
	struct fixture it;

	begin(&it, true);
	put(&it, 1);
	while (it.push.code == 0) {
		if (weir__nats_push_next(&it.push, now, &number)) {
			weir__nats_push_refused(&it.push, number, now);
			n++;
		}
		if (it.push.code == 0)
			now = weir__nats_push_due(&it.push);
	}
	assert_int_equal(it.push.code, -EAGAIN);
	assert_int_equal(now, 30 * SECOND);
	assert_in_range(n, 15, 25);
}

static void who_does_not_answer_fails_in_the_end(void **state)
{
	uint64_t now = 0, number;
	struct fixture it;

	begin(&it, true);
	put(&it, 3);
	while (it.push.code == 0) {
		while (weir__nats_push_next(&it.push, now, &number))
			;
		if (it.push.code == 0)
			now = weir__nats_push_due(&it.push);
	}
	assert_int_equal(it.push.code, -ETIMEDOUT);
	assert_int_equal(now, 30 * SECOND);
}

/* --- A fake server -------------------------------------------------------- */

#define ITEMS 40u
#define ON_WIRE 4096u

struct wire {
	uint64_t numbers[ON_WIRE];
	bool refusals[ON_WIRE];
	size_t first, n;
};

struct fake {
	uint64_t random, now_ns;
	struct fixture it;
	struct wire up, down;
	bool chaos, ready;     /* ready: the stream takes messages */
	bool has[ITEMS];       /* the server, by id */
	uint64_t order[ITEMS]; /* in which they were stored */
	uint64_t n_stored, n_put, n_known;
};

static uint64_t draw(struct fake *fake, uint64_t below)
{
	fake->random ^= fake->random << 13;
	fake->random ^= fake->random >> 7;
	fake->random ^= fake->random << 17;
	return (fake->random >> 11) % below;
}

static void send(struct wire *wire, uint64_t number, bool refusal)
{
	size_t at = (wire->first + wire->n++) % ON_WIRE;

	assert_true(wire->n <= ON_WIRE);
	wire->numbers[at] = number;
	wire->refusals[at] = refusal;
}

static bool receive(struct wire *wire, uint64_t *number, bool *refusal)
{
	if (wire->n == 0)
		return false;
	*number = wire->numbers[wire->first];
	*refusal = wire->refusals[wire->first];
	wire->first = (wire->first + 1) % ON_WIRE;
	wire->n--;
	return true;
}

static void server_takes(struct fake *fake)
{
	uint64_t number;
	bool refusal;

	if (!receive(&fake->up, &number, &refusal))
		return;
	if (!fake->ready) {
		send(&fake->down, number, true);
		return;
	}
	if (!fake->has[number]) {
		fake->has[number] = true;
		fake->order[fake->n_stored++] = number;
	}
	send(&fake->down, number, false);
}

static void client_takes(struct fake *fake)
{
	uint64_t number;
	bool refusal;

	if (!receive(&fake->down, &number, &refusal))
		return;
	if (refusal)
		weir__nats_push_refused(&fake->it.push, number, fake->now_ns);
	else
		fake->n_known += weir__nats_push_stored(&fake->it.push, number,
							fake->now_ns);
	weir__nats_push_check(&fake->it.push);
}

static void client_sends(struct fake *fake)
{
	uint64_t number;

	if (fake->n_put < ITEMS && weir__nats_push_room(&fake->it.push) > 0 &&
	    draw(fake, 2) == 0)
		fake->n_put =
			weir__nats_push_put(&fake->it.push, fake->now_ns) + 1;
	if (weir__nats_push_next(&fake->it.push, fake->now_ns, &number)) {
		if (fake->chaos && draw(fake, 30) == 0)
			weir__nats_push_unsent(&fake->it.push, number,
					       fake->now_ns);
		else
			send(&fake->up, number, false);
	}
	weir__nats_push_check(&fake->it.push);
}

/* Of what was sent the server has got a beginning, and of what it has answered
 * the client. */
static void cut(struct fake *fake)
{
	uint64_t n = draw(fake, fake->up.n + 1);

	while (n-- > 0)
		server_takes(fake);
	n = draw(fake, fake->down.n + 1);
	while (n-- > 0)
		client_takes(fake);
	fake->up.n = fake->down.n = 0;
	weir__nats_push_disconnected(&fake->it.push);
	fake->ready = draw(fake, 2) == 0;
}

static void turn(struct fake *fake)
{
	if (!fake->chaos) {
		fake->ready = true;
	} else if (fake->it.push.connected) {
		if (draw(fake, 50) == 0)
			cut(fake);
	}
	/* from not ready to ready, with a connection, at any time */
	if (draw(fake, 10) == 0)
		fake->ready = true;
	if (!fake->it.push.connected && draw(fake, 5) == 0)
		weir__nats_push_connected(&fake->it.push, fake->now_ns);
	if (draw(fake, 2) == 0)
		server_takes(fake);
	if (draw(fake, 2) == 0)
		client_takes(fake);
	client_sends(fake);
	fake->now_ns += draw(fake, 200 * MS);
}

static void whatever_happens_each_is_stored_once_in_order(void **state)
{
	static struct fake fake;
	uint64_t i, strict;

	for_each_seed(seed, test_count(10000)) {
		strict = seed % 2;
		memset(&fake, 0, sizeof(fake));
		fake.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
		begin(&fake.it, strict);
		fake.it.push.timeout_ns = UINT64_MAX;
		fake.chaos = fake.ready = true;
		for (i = 0; i < 300; i++)
			turn(&fake);
		fake.chaos = false;
		for (i = 0; i < 20000 && fake.n_known < ITEMS; i++)
			turn(&fake);
		assert_int_equal(fake.n_known, ITEMS);
		assert_int_equal(fake.n_stored, ITEMS);
		for (i = 0; strict && i < ITEMS; i++)
			assert_int_equal(fake.order[i], i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			there_is_room_for_a_window_of_what_is_not_stored),
		cmocka_unit_test(
			behind_a_cut_the_first_goes_alone_and_then_the_others),
		cmocka_unit_test(in_any_order_all_go_at_once),
		cmocka_unit_test(what_is_not_answered_is_sent_again),
		cmocka_unit_test(
			the_first_on_a_connection_is_soon_sent_again_and_then_more_rarely),
		cmocka_unit_test(behind_a_silence_the_first_goes_alone),
		cmocka_unit_test(
			an_answer_counts_once_and_only_to_what_was_sent),
		cmocka_unit_test(who_has_stored_something_has_time_again),
		cmocka_unit_test(what_nobody_takes_fails_in_the_end),
		cmocka_unit_test(who_does_not_answer_fails_in_the_end),
		cmocka_unit_test(whatever_happens_each_is_stored_once_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
