/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of looks that are made up: two actors, `from` and `to`, with a
 * port each, and a link between them. */
#include "inspect/kit.h"

#include "actor/kit.h"

#include <errno.h>
#include <poll.h>

#include "base/memory.h"
#include "inspect/history.h"

static struct heap heap;
static struct weir__snapshot *made;
static struct weir__history history;
/* whose addresses count, and nothing else */
static char actors[2], ports[2];

static int setup(void **state)
{
	heap_init(&heap, SIZE_MAX);
	made = weir__snapshot_new(&heap.allocator, 4);
	made->actors[0] = (struct weir_seen_actor){
		.actor = (const void *)&actors[0],
		.name = "from",
		.wait = WEIR_WAIT_ROOM,
		.id = 1,
		.n_ports = 1,
	};
	made->actors[1] = (struct weir_seen_actor){
		.actor = (const void *)&actors[1],
		.name = "to",
		.wait = WEIR_WAIT_NONE,
		.id = 2,
		.port = 1,
		.n_ports = 1,
	};
	made->ports[0] = (struct weir_seen_port){
		.port = (const void *)&ports[0],
		.wait = WEIR_WAIT_ROOM,
		.takes_part = true,
		.blocked = true,
		.group = WEIR_NOWHERE,
		.at_ns = WEIR_FOREVER,
		.fd = -1,
		.burst = 1,
	};
	made->ports[1] = made->ports[0];
	made->ports[1].port = (const void *)&ports[1];
	made->ports[1].actor = 1;
	made->ports[1].wait = WEIR_WAIT_INPUT;
	made->ports[1].blocked = false;
	made->links[0] = (struct weir_seen_link){
		.from = WEIR_NOWHERE,
		.to = 1,
		.from_port = (const void *)&ports[0],
		.capacity = 4,
		.fill = 4,
		.items = 10,
	};
	made->seen.n_actors = made->seen.n_ports = 2;
	made->seen.n_links = 1;
	weir__history_init(&history, &heap.allocator, 1000);
	return 0;
}

static int teardown(void **state)
{
	weir__history_fini(&history);
	weir_snapshot_free(&made->seen);
	assert_int_equal(heap.live, 0);
	return 0;
}

static void feed(uint64_t now_ns)
{
	made->joined = false;
	assert_int_equal(weir__history_feed(&history, made, now_ns), 0);
	weir__history_tell(&history, made);
}

static void links_find_where_they_come_from(void **state)
{
	feed(0);
	assert_int_equal(made->links[0].from, 0);
	made->links[0].from = WEIR_NOWHERE;
	/* nobody has come or gone */
	feed(1);
	assert_int_equal(made->links[0].from, 0);
}

static void who_takes_or_puts_has_moved(void **state)
{
	feed(0);
	feed(5);
	assert_int_equal(made->seen.moved_ns, 0);
	made->links[0].fill = 3; /* taken */
	feed(10);
	assert_int_equal(made->actors[0].since_ns, 0);
	assert_int_equal(made->ports[0].since_ns, 0);
	assert_int_equal(made->actors[1].since_ns, 10);
	assert_int_equal(made->ports[1].since_ns, 10);
	assert_int_equal(made->seen.moved_ns, 10);
	made->links[0].fill = 4; /* put */
	made->links[0].items++;
	feed(20);
	assert_int_equal(made->actors[0].since_ns, 20);
	assert_int_equal(made->actors[1].since_ns, 10);
	assert_int_equal(made->seen.moved_ns, 20);
}

static void another_reason_to_wait_is_new(void **state)
{
	feed(0);
	made->actors[0].wait = WEIR_WAIT_RESUME;
	feed(10);
	assert_int_equal(made->actors[0].since_ns, 10);
	assert_int_equal(made->ports[0].since_ns, 0);
	/* which has nothing to do with its ports */
	made->ports[0].blocked = false;
	feed(20);
	assert_int_equal(made->actors[0].since_ns, 10);
	assert_int_equal(made->ports[0].since_ns, 20);
}

static void another_time_to_wait_for_is_new(void **state)
{
	made->actors[0].wait = made->ports[0].wait = WEIR_WAIT_TIME;
	made->ports[0].at_ns = 100;
	feed(0);
	feed(99);
	assert_int_equal(made->actors[0].since_ns, 0);
	made->ports[0].at_ns = 200;
	feed(100);
	assert_int_equal(made->actors[0].since_ns, 100);
}

static void another_id_is_another_actor(void **state)
{
	feed(0);
	feed(10);
	made->actors[0].id = UINT64_C(1) << 32 | 1;
	feed(20);
	assert_int_equal(made->actors[0].since_ns, 20);
	assert_int_equal(made->ports[0].since_ns, 20);
	assert_int_equal(made->actors[1].since_ns, 0);
	/* the link is its consumer's */
	assert_int_equal(made->links[0].items_ever, 10);
}

static void order_does_not_matter(void **state)
{
	struct weir_seen_actor actor = made->actors[0];
	struct weir_seen_port port = made->ports[0];

	feed(0);
	made->actors[0] = made->actors[1];
	made->actors[1] = actor;
	made->actors[0].port = 0;
	made->actors[1].port = 1;
	made->ports[0] = made->ports[1];
	made->ports[1] = port;
	made->ports[0].actor = 0;
	made->ports[1].actor = 1;
	made->links[0].to = 0;
	made->links[0].items += 5;
	feed(10);
	assert_int_equal(made->links[0].from, 1);
	made->links[0].from = WEIR_NOWHERE;
	feed(10);
	assert_int_equal(made->links[0].from, 1);
	assert_int_equal(made->links[0].items_ever, 15);
	assert_int_equal(made->actors[0].since_ns, 10);
	assert_int_equal(made->ports[0].since_ns, 10);
}

static void counts_go_on_beyond_31_bits(void **state)
{
	made->links[0].items = UINT32_C(0x7ffffff0);
	feed(0);
	made->links[0].items = 5;
	feed(10);
	assert_int_equal(made->links[0].items_ever, UINT64_C(0x80000005));
	made->links[0].items = UINT32_C(0x3fffffff);
	feed(20);
	made->links[0].items = UINT32_C(0x7ffffffe);
	feed(30);
	made->links[0].items = 1;
	feed(40);
	assert_int_equal(made->links[0].items_ever, UINT64_C(0x100000001));
}

static void a_link_that_is_made_anew_counts_anew(void **state)
{
	made->links[0].items = 1000;
	feed(0);
	made->links[0].items = 2;
	made->links[0].fill = 1;
	feed(10);
	assert_int_equal(made->links[0].items_ever, 2);
	assert_int_equal(made->links[0].high, 1);
	made->links[0].items = 4;
	made->links[0].fill = 3;
	feed(20);
	assert_int_equal(made->links[0].items_ever, 4);
	assert_int_equal(made->links[0].high, 3);
	/* 2 in 10 ns */
	assert_int_equal(made->links[0].rate, UINT64_C(200000000000));
}

static void shares_make_a_thousand(void **state)
{
	const struct weir_seen_actor *from = &made->actors[0];

	feed(0);
	assert_int_equal(from->busy + from->held + from->idle + from->blocked,
			 0);
	feed(1);
	made->actors[0].wait = WEIR_WAIT_NONE;
	made->ports[0].blocked = false;
	feed(2);
	made->actors[0].wait = WEIR_WAIT_RESUME;
	feed(3);
	assert_int_equal(from->busy, 333);
	assert_int_equal(from->held, 667);
	assert_int_equal(from->busy + from->held + from->idle + from->blocked,
			 1000);
}

static void who_waits_to_write_is_held_and_to_read_is_idle(void **state)
{
	struct weir_seen_actor *from = &made->actors[0];

	from->wait = WEIR_WAIT_WAKE;
	from->wakers = 1u << WEIR_WAIT_FD;
	from->asked_for = WEIR_WAIT_FD;
	from->fd = 5;
	from->events = POLLOUT;
	feed(0);
	from->events = POLLIN;
	feed(1);
	feed(4);
	assert_int_equal(from->held, 250);
	assert_int_equal(from->idle, 750);
}

/* Of 500 years. */
static void shares_do_not_overflow(void **state)
{
	const struct weir_seen_actor *from = &made->actors[0];

	history.window_ns = UINT64_MAX;
	feed(0);
	made->actors[0].wait = WEIR_WAIT_NONE;
	feed(UINT64_C(1) << 62);
	feed(UINT64_C(1) << 63);
	feed(UINT64_MAX - 1);
	assert_int_equal(from->busy, 749);
	assert_int_equal(from->held, 251);
}

static void time_does_not_go_back(void **state)
{
	feed(100);
	made->links[0].items++;
	feed(50);
	assert_int_equal(made->seen.now_ns, 100);
	assert_int_equal(made->actors[0].since_ns, 100);
}

/* Of `to`, which holds `from` up; whether that is told at each time. */
static bool stalls_at(uint64_t now_ns)
{
	bool stalls;

	feed(now_ns);
	if (!weir__history_asks(&history, 10))
		return false;
	assert_int_equal(weir__snapshot_causes(made), 0);
	stalls = weir__history_stalls(&history, made, 10);
	weir__free(&heap.allocator, made->causes,
		   made->room_actors * sizeof(*made->causes));
	made->causes = NULL;
	return stalls;
}

static void to_waits_for(enum weir_wait wait)
{
	made->actors[1].wait = wait;
	made->actors[1].holder = made->actors[0].holder = WEIR_NOWHERE;
	made->actors[1].other = made->actors[0].other = WEIR_NOWHERE;
	made->actors[1].at_ns = WEIR_FOREVER;
	made->ports[0].shared = made->ports[1].shared = WEIR_NOWHERE;
}

static void who_restarts_later_stalls_when_it_does_not(void **state)
{
	const struct weir__rooms rooms = {1, 1, 1, 1};

	to_waits_for(WEIR_WAIT_BACKOFF);
	assert_true(weir__snapshot_make_room(made, &rooms));
	made->children[0] = (struct weir_seen_child){
		.actor = 1,
		.parent = WEIR_NOWHERE,
		.culprit = WEIR_NOWHERE,
		.until_ns = 100,
	};
	made->seen.n_children = 1;
	assert_false(stalls_at(0));
	assert_false(stalls_at(20));
	assert_false(stalls_at(109));
	assert_true(stalls_at(110));
	assert_false(stalls_at(200));
	/* or at once, if no time is set */
	made->children[0].until_ns = WEIR_FOREVER;
	made->links[0].items++; /* and one was taken */
	assert_false(stalls_at(300));
	assert_true(stalls_at(310));
}

static void an_operator_stalls_when_its_time_has_passed(void **state)
{
	to_waits_for(WEIR_WAIT_WAKE);
	made->actors[1].wakers = 1u << WEIR_WAIT_TIME;
	made->actors[1].asked_for = WEIR_WAIT_TIME;
	made->actors[1].at_ns = 100;
	assert_false(stalls_at(0));
	assert_false(stalls_at(20));
	assert_false(stalls_at(109));
	assert_true(stalls_at(110));
	/* what is nested in it may have one that nobody knows */
	made->links[0].items++;
	made->actors[1].at_ns = WEIR_FOREVER;
	assert_false(stalls_at(200));
	assert_false(stalls_at(300));
}

static void without_memory_nobody_has_looked(void **state)
{
	size_t n;
	int rc;

	for (n = 1;; n++) {
		heap.fail = heap.calls + n;
		rc = weir__history_feed(&history, made, 10);
		heap.fail = SIZE_MAX;
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_false(history.any);
	}
	assert_int_equal(n, 5);
	made->actors[0].id++;
	for (n = 1;; n++) {
		heap.fail = heap.calls + n;
		rc = weir__history_feed(&history, made, 20);
		heap.fail = SIZE_MAX;
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(history.now_ns, 10);
	}
	weir__history_tell(&history, made);
	assert_int_equal(made->actors[0].since_ns, 20);
	assert_int_equal(made->actors[1].since_ns, 10);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(links_find_where_they_come_from),
		test(who_takes_or_puts_has_moved),
		test(another_reason_to_wait_is_new),
		test(another_time_to_wait_for_is_new),
		test(another_id_is_another_actor),
		test(order_does_not_matter),
		test(counts_go_on_beyond_31_bits),
		test(a_link_that_is_made_anew_counts_anew),
		test(shares_make_a_thousand),
		test(who_waits_to_write_is_held_and_to_read_is_idle),
		test(shares_do_not_overflow),
		test(time_does_not_go_back),
		test(who_restarts_later_stalls_when_it_does_not),
		test(an_operator_stalls_when_its_time_has_passed),
		test(without_memory_nobody_has_looked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
