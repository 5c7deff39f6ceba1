/* SPDX-License-Identifier: BSD-2-Clause */
/* Watches over another table than epoll's: one that the test plays. */
#include "support.h"

#include <errno.h>
#include <poll.h>

#include "executor/fake.h"
#include "executor/pollset.h"
#include "executor/watches.h"

enum { FD = 5 };

/* What the table was asked for last. */
struct played {
	struct weir__pollset set;
	uint32_t n_set, n_removed;
	struct epoll_event event;
	bool known;
	int code; /* that `set` returns */
};

static int play_set(struct weir__pollset *set, int fd,
		    const struct epoll_event *event, bool known)
{
	struct played *self = weir_container_of(set, struct played, set);

	assert_int_equal(fd, FD);
	self->n_set++;
	if (self->code < 0)
		return self->code;
	self->event = *event;
	self->known = known;
	return 0;
}

static int play_remove(struct weir__pollset *set, int fd)
{
	assert_int_equal(fd, FD);
	weir_container_of(set, struct played, set)->n_removed++;
	return 0;
}

static const struct weir__pollset_ops ops = {
	.set = play_set,
	.remove = play_remove,
};

static struct played played;
static struct fake_memory memory;
static struct weir__watches watches;

static int setup(void **state)
{
	fake_memory_init(&memory);
	played = (struct played){.set = {&ops, -1}};
	weir__watches_init(&watches, &memory.allocator, &played.set);
	return 0;
}

static int teardown(void **state)
{
	weir__watches_fini(&watches);
	assert_int_equal(memory.blocks, 0);
	return 0;
}

/* The watch that an event with that data concerns. */
static struct weir_watch *told(uint64_t data, short *events)
{
	struct weir_watch *watch =
		weir__watches_take(&watches, data, EPOLLIN, events);
	short none;

	if (watch)
		assert_null(weir__watches_take(&watches, data, EPOLLIN, &none));
	return watch;
}

static void a_watch_is_set_told_of_and_set_again(void **state)
{
	struct weir_watch watch = {.fd = FD, .events = POLLIN};
	short events;

	assert_int_equal(weir__watches_arm(&watches, &watch), 0);
	assert_false(played.known);
	assert_int_equal(played.event.events,
			 EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLONESHOT);
	assert_ptr_equal(told(played.event.data.u64, &events), &watch);
	assert_int_equal(events, POLLIN);
	assert_int_equal(weir__watches_arm(&watches, &watch), 0);
	assert_true(played.known);
	assert_true(weir__watches_cancel(&watches, &watch));
	assert_int_equal(played.n_set, 2);
	assert_int_equal(played.n_removed, 1);
}

static void one_that_stays_is_set_once(void **state)
{
	struct weir_watch watch = {.fd = FD, .events = POLLIN, .edges = true};
	short events;
	int i;

	assert_int_equal(weir__watches_arm(&watches, &watch), 0);
	assert_true(played.event.events & EPOLLET);
	assert_false(played.event.events & EPOLLONESHOT);
	for (i = 0; i < 3; i++)
		assert_ptr_equal(told(played.event.data.u64, &events), &watch);
	assert_int_equal(played.n_set, 1);
	assert_true(weir__watches_cancel(&watches, &watch));
	assert_int_equal(played.n_removed, 1);
}

static void what_was_told_before_it_was_set_again_says_nothing(void **state)
{
	struct weir_watch watch = {.fd = FD, .events = POLLIN};
	uint64_t before;
	short events;

	assert_int_equal(weir__watches_arm(&watches, &watch), 0);
	before = played.event.data.u64;
	assert_true(weir__watches_cancel(&watches, &watch));
	assert_int_equal(weir__watches_arm(&watches, &watch), 0);
	assert_null(told(before, &events));
	assert_ptr_equal(told(played.event.data.u64, &events), &watch);
}

static void what_is_not_set_is_not_armed(void **state)
{
	struct weir_watch watch = {.fd = FD, .events = POLLIN};

	played.code = -EPERM;
	assert_int_equal(weir__watches_arm(&watches, &watch), -EPERM);
	assert_false(weir__watches_cancel(&watches, &watch));
	assert_int_equal(played.n_removed, 0);
	played.code = 0;
	assert_int_equal(weir__watches_arm(&watches, &watch), 0);
	assert_true(weir__watches_cancel(&watches, &watch));
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(a_watch_is_set_told_of_and_set_again),
		test(one_that_stays_is_set_once),
		test(what_was_told_before_it_was_set_again_says_nothing),
		test(what_is_not_set_is_not_armed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
