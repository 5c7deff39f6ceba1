/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches that stay, on a loop, whose descriptor is the epoll set itself. Those
 * that fire once are tested in loop.c. Calls of epoll_ctl are counted.
 */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/loop.h>

#include "executor/fake.h"

static size_t n_controls;

int __real_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	n_controls++;
	return __real_epoll_ctl(set, op, fd, event);
}

static struct fake_memory memory;
static struct weir_loop *loop;
static struct weir_executor *executor;
static int ends[2];

static int setup(void **state)
{
	struct weir_executor_options options = {.allocator = &memory.allocator};

	fake_memory_init(&memory);
	assert_int_equal(weir_loop_new(&loop, &options), 0);
	executor = weir_loop_executor(loop);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	return 0;
}

static int teardown(void **state)
{
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	assert_int_equal(weir_loop_free(loop), 0);
	assert_int_equal(memory.blocks, 0);
	return 0;
}

struct who {
	struct weir_watch watch;
	uint32_t fired;
	short events;	   /* of the last firing */
	struct who *other; /* cancelled in the next firing */
	bool cancelled;	   /* what that said */
	bool over;	   /* has fired its last */
};

static bool unwatch(struct who *who)
{
	return executor->ops->watch_cancel(executor, &who->watch);
}

static void who_fire(struct weir_watch *watch, short events)
{
	struct who *self = weir_container_of(watch, struct who, watch);

	assert_false(self->over);
	self->over = !events;
	if (self->over) {
		/* the memory is ours again */
		memset(&self->watch, 0xee, sizeof(self->watch));
		return;
	}
	self->fired++;
	self->events = events;
	if (self->other)
		self->other->cancelled = unwatch(self->other);
	self->other = NULL;
}

static struct who stays(void)
{
	return (struct who){.watch = {.fire = who_fire, .edges = true}};
}

static struct who once(void)
{
	return (struct who){.watch.fire = who_fire};
}

static int watch(struct who *who, int fd, short events)
{
	who->watch.fd = fd;
	who->watch.events = events;
	return executor->ops->watch_arm(executor, &who->watch);
}

static void loop_look(void)
{
	assert_int_equal(weir_loop_run(loop, 1), 0);
}

static bool loop_readable(void)
{
	struct pollfd ready = {.fd = weir_loop_fd(loop), .events = POLLIN};

	return poll(&ready, 1, 0) == 1;
}

static void come(const char *bytes)
{
	ssize_t n = (ssize_t)strlen(bytes);

	assert_int_equal(write(ends[1], bytes, (size_t)n), n);
}

static void hang_up(void)
{
	close(ends[1]);
	ends[1] = -1;
}

static void it_fires_for_what_is_there_and_for_what_comes(void **state)
{
	struct who r = stays();

	come("a");
	assert_int_equal(watch(&r, ends[0], POLLIN), 0);
	assert_int_equal(watch(&r, ends[0], POLLIN), -EALREADY);
	assert_true(loop_readable());
	loop_look();
	assert_int_equal(r.fired, 1);
	assert_int_equal(r.events, POLLIN);
	/* not again for what it was told of */
	assert_false(loop_readable());
	loop_look();
	assert_int_equal(r.fired, 1);
	come("b");
	assert_true(loop_readable());
	loop_look();
	assert_int_equal(r.fired, 2);
	assert_true(unwatch(&r));
	assert_false(unwatch(&r));
	come("c");
	assert_false(loop_readable());
	loop_look();
	assert_int_equal(r.fired, 2);
}

static void a_descriptor_is_registered_once(void **state)
{
	struct who r = stays();
	char byte;
	int i;

	assert_int_equal(watch(&r, ends[0], POLLIN), 0);
	n_controls = 0;
	for (i = 1; i <= 100; i++) {
		come("x");
		loop_look();
		assert_int_equal(r.fired, i);
		assert_int_equal(read(ends[0], &byte, 1), 1);
	}
	assert_int_equal(n_controls, 0);
	assert_true(unwatch(&r));
}

static void a_hang_up_is_told_to_who_waits_for_something_else(void **state)
{
	struct who r = stays(), w = stays(), none = stays();
	char byte;

	assert_int_equal(watch(&r, ends[0], POLLIN), 0);
	assert_int_equal(watch(&none, ends[0], 0), 0);
	loop_look();
	assert_int_equal(r.fired + none.fired, 0);
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	loop_look();
	assert_int_equal(r.events, POLLIN | POLLRDHUP);
	assert_int_equal(none.events, POLLRDHUP);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	assert_int_equal(watch(&w, ends[0], POLLOUT), 0);
	hang_up();
	loop_look();
	assert_int_equal(r.events, POLLIN | POLLRDHUP | POLLHUP);
	assert_int_equal(w.events, POLLOUT | POLLRDHUP | POLLHUP);
	assert_int_equal(none.events, POLLRDHUP | POLLHUP);
	assert_true(unwatch(&r) && unwatch(&w) && unwatch(&none));
}

static void reader_and_writer_are_told_what_they_want(void **state)
{
	struct who r = stays(), w = stays();
	char bytes[4096] = "";
	uint32_t fired;

	assert_int_equal(watch(&r, ends[0], POLLIN), 0);
	assert_int_equal(watch(&w, ends[0], POLLOUT), 0);
	loop_look();
	assert_int_equal(r.fired, 0);
	assert_int_equal(w.fired, 1);
	while (write(ends[0], bytes, sizeof(bytes)) > 0)
		;
	assert_int_equal(errno, EAGAIN);
	loop_look();
	fired = w.fired;
	come("x");
	loop_look();
	assert_int_equal(r.fired, 1);
	assert_int_equal(w.fired, fired);
	while (read(ends[1], bytes, sizeof(bytes)) > 0)
		;
	loop_look();
	assert_int_equal(w.fired, fired + 1);
	assert_int_equal(w.events, POLLOUT);
	/* the other one stays */
	assert_true(unwatch(&w));
	fired = r.fired;
	come("y");
	loop_look();
	assert_true(r.fired > fired);
	assert_true(unwatch(&r));
}

/* Both on the same descriptor: to be armed again is to be told again. */
static void who_asks_once_is_told_what_is_there(void **state)
{
	struct who r = stays(), o = once();
	uint32_t i;

	assert_int_equal(watch(&r, ends[0], POLLIN), 0);
	come("x");
	loop_look();
	assert_int_equal(r.fired, 1);
	for (i = 1; i <= 3; i++) {
		assert_int_equal(watch(&o, ends[0], POLLIN), 0);
		loop_look();
		assert_int_equal(o.fired, i);
	}
	come("y");
	i = r.fired;
	loop_look();
	assert_int_equal(o.fired, 3);
	assert_int_equal(r.fired, i + 1);
	assert_int_equal(watch(&o, ends[0], POLLOUT), 0);
	assert_true(unwatch(&r));
	loop_look();
	assert_int_equal(o.events, POLLOUT);
	assert_int_equal(o.fired, 4);
	assert_false(loop_readable());
}

static void cancelled_while_it_fires_it_fires_a_last_time(void **state)
{
	struct who r = stays(), w = stays();

	r.other = &r;
	r.cancelled = true;
	assert_int_equal(watch(&r, ends[0], POLLIN), 0);
	assert_int_equal(watch(&w, ends[0], POLLIN), 0);
	come("x");
	loop_look();
	assert_int_equal(r.fired, 1);
	assert_false(r.cancelled);
	assert_true(r.over);
	/* who else watches is told, of this and of what comes later */
	loop_look();
	assert_true(w.fired > 0);
	w.fired = 0;
	come("y");
	loop_look();
	assert_int_equal(w.fired, 1);
	assert_true(unwatch(&w));
}

/* Until then it is armed. */
static void fire_again(struct weir_watch *watch, short events)
{
	struct who *self = weir_container_of(watch, struct who, watch);

	self->over = !events;
	self->fired++;
	if (self->over)
		return;
	assert_false(unwatch(self));
	assert_false(unwatch(self));
	assert_int_equal(executor->ops->watch_arm(executor, watch), -EALREADY);
}

static void who_has_fired_a_last_time_may_be_armed_again(void **state)
{
	struct who r = stays();

	r.watch.fire = fire_again;
	assert_int_equal(watch(&r, ends[0], POLLIN), 0);
	come("x");
	loop_look();
	assert_true(r.over);
	assert_int_equal(r.fired, 2);
	assert_false(unwatch(&r));
	r.watch.fire = who_fire;
	r.over = false;
	assert_int_equal(watch(&r, ends[0], POLLIN), 0);
	loop_look();
	assert_int_equal(r.fired, 3);
	assert_true(unwatch(&r));
}

static void who_is_cancelled_by_another_does_not_fire(void **state)
{
	struct who a = stays(), b = stays();

	a.other = &b;
	b.other = &a;
	assert_int_equal(watch(&a, ends[0], POLLIN), 0);
	assert_int_equal(watch(&b, ends[0], POLLIN), 0);
	come("x");
	loop_look();
	loop_look();
	assert_true(a.cancelled || b.cancelled);
	assert_false(a.fired && b.fired);
	assert_true(unwatch(a.fired ? &a : &b));
}

/* Of two descriptors that have hung up, whichever is told first gives the
 * number of the other one to a socket that has not. */
struct thief {
	struct who who;
	struct thief *other;
	int fd, peer;
};

static void fire_replaces(struct weir_watch *watch, short events)
{
	struct thief *self = weir_container_of(watch, struct thief, who.watch);
	struct thief *other = self->other;
	int fds[2];

	self->who.fired++;
	self->who.events = events;
	if (self->who.fired + other->who.fired > 1)
		return;
	assert_true(unwatch(&other->who));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(dup2(fds[0], other->fd), other->fd);
	close(fds[0]);
	close(other->peer);
	other->peer = fds[1];
	assert_int_equal(executor->ops->watch_arm(executor, watch), -EALREADY);
	assert_int_equal(executor->ops->watch_arm(executor, &other->who.watch),
			 0);
}

static void a_hang_up_does_not_reach_the_next_of_that_number(void **state)
{
	struct thief thieves[2] = {{.who = stays()}, {.who = stays()}}, *late;
	int i, fds[2];

	for (i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		thieves[i].fd = fds[0];
		thieves[i].peer = fds[1];
		thieves[i].other = &thieves[1 - i];
		thieves[i].who.watch.fire = fire_replaces;
		assert_int_equal(watch(&thieves[i].who, fds[0], POLLIN), 0);
		assert_int_equal(shutdown(fds[1], SHUT_WR), 0);
	}
	loop_look();
	loop_look();
	late = thieves[0].who.fired ? &thieves[1] : &thieves[0];
	assert_int_equal(late->other->who.fired, 1);
	assert_int_equal(late->who.fired, 0);
	assert_int_equal(write(late->peer, "x", 1), 1);
	loop_look();
	assert_int_equal(late->who.events, POLLIN);
	for (i = 0; i < 2; i++) {
		assert_true(unwatch(&thieves[i].who));
		close(thieves[i].fd);
		close(thieves[i].peer);
	}
}

static void numbers_that_come_back_are_registered_again(void **state)
{
	struct who r = stays();
	uint32_t i;
	int fds[2];

	for (i = 1; i <= 100; i++) {
		assert_int_equal(pipe(fds), 0);
		assert_int_equal(watch(&r, fds[0], POLLIN), 0);
		assert_int_equal(write(fds[1], "x", 1), 1);
		loop_look();
		assert_int_equal(r.fired, i);
		assert_true(unwatch(&r));
		close(fds[0]);
		close(fds[1]);
	}
}

static void what_cannot_be_watched_is_refused(void **state)
{
	struct who r = stays();
	char name[] = "/tmp/weir-test-XXXXXX";
	int file = mkstemp(name), rc;
	uint32_t fail = 0;

	assert_true(file >= 0);
	unlink(name);
	assert_int_equal(watch(&r, -1, POLLIN), -EBADF);
	do {
		memory.fail = fail++;
		rc = watch(&r, file, POLLIN);
		assert_false(unwatch(&r));
	} while (rc == -ENOMEM);
	assert_int_equal(rc, -EPERM);
	assert_int_equal(fail, 3);
	memory.fail = UINT32_MAX;
	close(file);
	assert_int_equal(watch(&r, file, POLLIN), -EBADF);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(it_fires_for_what_is_there_and_for_what_comes),
		test(a_descriptor_is_registered_once),
		test(a_hang_up_is_told_to_who_waits_for_something_else),
		test(reader_and_writer_are_told_what_they_want),
		test(who_asks_once_is_told_what_is_there),
		test(cancelled_while_it_fires_it_fires_a_last_time),
		test(who_has_fired_a_last_time_may_be_armed_again),
		test(who_is_cancelled_by_another_does_not_fire),
		test(a_hang_up_does_not_reach_the_next_of_that_number),
		test(numbers_that_come_back_are_registered_again),
		test(what_cannot_be_watched_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
