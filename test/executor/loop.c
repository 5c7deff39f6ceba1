/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/loop.h>

#include "base/clock.h"
#include "base/costs.h"
#include "executor/fake.h"
#include "executor/thread.h"

#define HOUR (3600 * WEIR__SECOND)

static struct fake_memory memory;
static struct weir_loop *loop;
static struct weir_executor *executor;

static char trace[256];
static size_t traced;

static int setup(void **state)
{
	struct weir_executor_options options = {.allocator = &memory.allocator};

	fake_memory_init(&memory);
	memset(trace, 0, sizeof(trace));
	traced = 0;
	assert_int_equal(weir_loop_new(&loop, &options), 0);
	executor = weir_loop_executor(loop);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(weir_loop_free(loop), 0);
	assert_int_equal(memory.blocks, 0);
	return 0;
}

static void note(char what)
{
	assert_true(traced < sizeof(trace) - 1);
	trace[traced++] = what;
}

/* Whether the descriptor is readable now, or becomes so in `timeout_ms`. */
static bool readable(int timeout_ms)
{
	struct pollfd fd = {.fd = weir_loop_fd(loop), .events = POLLIN};

	return poll(&fd, 1, timeout_ms) == 1;
}

struct letter {
	struct fake_task fake;
	struct weir_timer timer;
	struct weir_watch watch;
	struct letter *other;
	char name;
	short events;
	int fd;
};

static void letter_run(struct fake_task *fake)
{
	struct letter *self = weir_container_of(fake, struct letter, fake);

	note(self->name);
	if (fake->left) {
		fake->left--;
		fake_submit(executor, fake);
	}
}

static void letter_fire(struct weir_timer *timer)
{
	struct letter *self = weir_container_of(timer, struct letter, timer);

	assert_true(weir_executor_now(executor) >= timer->at_ns);
	note(self->name);
}

static void letter_ready(struct weir_watch *watch, short events)
{
	struct letter *self = weir_container_of(watch, struct letter, watch);

	note(self->name);
	self->events = events;
}

static struct letter letter(char name)
{
	return (struct letter){
		.fake.run = letter_run,
		.timer.fire = letter_fire,
		.watch.fire = letter_ready,
		.name = name,
	};
}

static int watch(struct letter *self, int fd, short events)
{
	self->watch.fd = fd;
	self->watch.events = events;
	return executor->ops->watch_arm(executor, &self->watch);
}

static bool unwatch(struct letter *self)
{
	return executor->ops->watch_cancel(executor, &self->watch);
}

static void arguments_are_checked(void **state)
{
	const struct weir_executor_options options = {
		.budget_turns = WEIR_BUDGET_MAX + 1};
	struct weir_loop *other = loop;

	assert_int_equal(weir_loop_new(NULL, NULL), -EINVAL);
	assert_int_equal(weir_loop_new(&other, &options), -EINVAL);
	assert_null(other);
	assert_int_equal(weir_loop_run(NULL, 1), -EINVAL);
	assert_int_equal(weir_loop_run(loop, 0), -EINVAL);
	assert_int_equal(weir_loop_wait(loop, 0, 0), -EINVAL);
	assert_int_equal(weir_loop_free(NULL), 0);
}

static void no_memory_leaves_nothing_behind(void **state)
{
	const struct weir_executor_options options = {
		.allocator = &memory.allocator};
	const uint32_t blocks = memory.blocks;
	struct weir_loop *other;
	uint32_t fail = 0;
	int rc;

	do {
		memory.fail = fail++;
		other = loop;
		rc = weir_loop_new(&other, &options);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(other);
			assert_int_equal(memory.blocks, blocks);
		}
	} while (rc < 0);
	assert_int_equal(fail, 3);
	memory.fail = UINT32_MAX;
	assert_int_equal(weir_loop_free(other), 0);
}

static void idle_loop_is_not_readable(void **state)
{
	assert_false(readable(0));
	assert_int_equal(weir_loop_run(loop, 10), 0);
	assert_false(readable(0));
}

static void submission_makes_it_readable_until_run(void **state)
{
	struct letter a = letter('a'), b = letter('b');

	fake_submit(executor, &a.fake);
	fake_submit(executor, &b.fake);
	assert_true(readable(0));
	assert_int_equal(weir_loop_run(loop, 10), 2);
	assert_string_equal(trace, "ab");
	assert_false(readable(0));
	fake_submit(executor, &a.fake);
	assert_true(readable(0));
	assert_int_equal(weir_loop_run(loop, 10), 1);
	assert_false(readable(0));
}

static void left_over_work_keeps_it_readable(void **state)
{
	struct letter a = letter('a'), b = letter('b');

	a.fake.left = 2;
	fake_submit(executor, &a.fake);
	fake_submit(executor, &b.fake);
	assert_int_equal(weir_loop_run(loop, 1), 1);
	assert_true(readable(0));
	assert_int_equal(weir_loop_run(loop, 2), 2);
	assert_true(readable(0));
	/* From outside, while work is left. */
	fake_submit(executor, &b.fake);
	assert_int_equal(weir_loop_run(loop, 100), 2);
	assert_string_equal(trace, "abaab");
	assert_false(readable(0));
}

static void fire_submits(struct weir_timer *timer)
{
	struct letter *self = weir_container_of(timer, struct letter, timer);

	fake_submit(executor, &self->fake);
}

/* Only the end of a run can make it readable then. */
static void work_from_within_that_is_left_makes_it_readable(void **state)
{
	struct letter a = letter('a');

	a.timer.fire = fire_submits;
	a.fake.left = 1;
	weir_timer_arm(executor, &a.timer, 0);
	assert_int_equal(weir_loop_run(loop, 1), 1);
	assert_true(readable(0));
	assert_int_equal(weir_loop_wait(loop, 9, WEIR_FOREVER), 1);
	assert_false(readable(0));
}

static void run_from_a_turn(struct fake_task *fake)
{
	assert_int_equal(weir_loop_run(loop, 1), -EDEADLK);
	assert_int_equal(weir_loop_wait(loop, 1, 1), -EDEADLK);
	assert_int_equal(weir_loop_free(loop), -EDEADLK);
}

static void turns_cannot_run_or_free_it(void **state)
{
	struct fake_task fake = {.run = run_from_a_turn};

	fake_submit(executor, &fake);
	assert_int_equal(weir_loop_run(loop, 1), 1);
}

static void busy_loop_is_not_freed(void **state)
{
	fake_alive(executor, true);
	assert_int_equal(weir_loop_free(loop), -EBUSY);
	fake_alive(executor, false);
}

static void past_timer_fires_in_the_next_run(void **state)
{
	struct letter a = letter('a'), b = letter('b');

	weir_timer_arm(executor, &a.timer, weir_executor_now(executor));
	weir_timer_arm(executor, &b.timer, 0);
	assert_true(readable(-1));
	assert_int_equal(weir_loop_run(loop, 1), 0);
	assert_int_equal(traced, 2);
	assert_false(readable(0));
}

static void timer_makes_it_readable_when_due(void **state)
{
	struct letter a = letter('a'), b = letter('b');
	uint64_t now_ns = weir_executor_now(executor);

	weir_timer_arm(executor, &a.timer, now_ns + HOUR);
	assert_false(readable(0));
	weir_timer_arm(executor, &b.timer, now_ns + 2000000);
	assert_true(readable(-1));
	assert_true(weir_executor_now(executor) >= now_ns + 2000000);
	assert_int_equal(weir_loop_run(loop, 1), 0);
	assert_string_equal(trace, "b");
	assert_false(readable(0));
	assert_true(weir_timer_cancel(executor, &a.timer));
}

/* A turn arms a timer: the descriptor is set when the run ends. */
static void arm_in_a_turn(struct fake_task *fake)
{
	struct letter *self = weir_container_of(fake, struct letter, fake);

	weir_timer_arm(executor, &self->timer,
		       weir_executor_now(executor) + fake->left);
}

static void timer_armed_in_a_turn_is_not_forgotten(void **state)
{
	struct letter a = letter('a');

	a.fake.run = arm_in_a_turn;
	a.fake.left = 1000000;
	fake_submit(executor, &a.fake);
	assert_int_equal(weir_loop_run(loop, 1), 1);
	assert_string_equal(trace, "");
	assert_true(readable(-1));
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "a");
}

static void fire_arms_itself(struct weir_timer *timer)
{
	letter_fire(timer);
	weir_timer_arm(executor, timer, 0);
}

static void timer_that_arms_itself_does_not_hold_up_a_run(void **state)
{
	struct letter a = letter('a'), b = letter('b');

	a.timer.fire = fire_arms_itself;
	weir_timer_arm(executor, &a.timer, 0);
	fake_submit(executor, &b.fake);
	assert_int_equal(weir_loop_run(loop, 10), 1);
	assert_string_equal(trace, "ab");
	assert_true(readable(-1));
	weir_loop_run(loop, 10);
	assert_string_equal(trace, "aba");
	assert_true(weir_timer_cancel(executor, &a.timer));
}

/* Wakes once for nothing, then not again. */
static void cancelled_timer_does_not_fire(void **state)
{
	struct letter a = letter('a');

	weir_timer_arm(executor, &a.timer, 1);
	assert_true(weir_timer_cancel(executor, &a.timer));
	assert_false(weir_timer_cancel(executor, &a.timer));
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "");
	assert_false(readable(0));
}

static void wait_returns_when_a_timer_has_fired(void **state)
{
	struct letter a = letter('a');

	weir_timer_arm(executor, &a.timer, weir_executor_now(executor) + 1000);
	assert_int_equal(weir_loop_wait(loop, 1, WEIR_FOREVER), 0);
	assert_string_equal(trace, "a");
}

static void wait_ends_at_its_timeout(void **state)
{
	struct letter a = letter('a');
	uint64_t now_ns = weir_executor_now(executor);

	assert_int_equal(weir_loop_wait(loop, 1, 1000000), -ETIMEDOUT);
	assert_true(weir_executor_now(executor) >= now_ns + 1000000);
	assert_int_equal(weir_loop_wait(loop, 1, 0), -ETIMEDOUT);
	/* A timer that woke it for nothing does not end it early. */
	now_ns = weir_executor_now(executor);
	weir_timer_arm(executor, &a.timer, now_ns + 100000);
	weir_timer_cancel(executor, &a.timer);
	assert_int_equal(weir_loop_wait(loop, 1, 1000000), -ETIMEDOUT);
	assert_true(weir_executor_now(executor) >= now_ns + 1000000);
}

static void wait_does_not_wait_while_work_is_left(void **state)
{
	struct letter a = letter('a');

	a.fake.left = 3;
	fake_submit(executor, &a.fake);
	assert_int_equal(weir_loop_wait(loop, 1, WEIR_FOREVER), 1);
	assert_int_equal(weir_loop_wait(loop, 1, WEIR_FOREVER), 1);
	assert_int_equal(weir_loop_wait(loop, 5, WEIR_FOREVER), 2);
	assert_int_equal(weir_loop_wait(loop, 5, 0), -ETIMEDOUT);
}

static void watch_fires_once_per_arming(void **state)
{
	struct letter a = letter('a');
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(watch(&a, fds[0], POLLIN), 0);
	assert_int_equal(watch(&a, fds[0], POLLIN), -EALREADY);
	assert_false(readable(0));
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_true(readable(0));
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "a");
	assert_int_equal(a.events, POLLIN);
	assert_false(readable(0));
	assert_false(unwatch(&a));
	/* Still ready: a new arming says so at once. */
	assert_int_equal(watch(&a, fds[0], POLLIN), 0);
	assert_true(readable(0));
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "aa");
	close(fds[0]);
	close(fds[1]);
}

static void hang_up_is_reported(void **state)
{
	struct letter a = letter('a');
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(watch(&a, fds[0], POLLIN), 0);
	close(fds[1]);
	weir_loop_run(loop, 1);
	assert_int_equal(a.events, POLLHUP);
	close(fds[0]);
}

static void what_cannot_be_watched_is_refused(void **state)
{
	struct letter a = letter('a');
	int file = open("/proc/self/exe", O_RDONLY);

	assert_true(file >= 0);
	assert_int_equal(watch(&a, file, POLLIN), -EPERM);
	close(file);
	assert_int_equal(watch(&a, file, POLLIN), -EBADF);
	assert_int_equal(watch(&a, -1, POLLIN), -EBADF);
	assert_false(unwatch(&a));
}

static void no_memory_for_a_watch_changes_nothing(void **state)
{
	struct letter a = letter('a');
	int fds[2], rc;
	uint32_t fail = 0;

	assert_int_equal(pipe(fds), 0);
	do {
		memory.fail = fail++;
		rc = watch(&a, fds[1], POLLOUT);
		assert_true(rc == 0 || rc == -ENOMEM);
		if (rc < 0)
			assert_false(unwatch(&a));
	} while (rc < 0);
	assert_int_equal(fail, 3);
	memory.fail = UINT32_MAX;
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "a");
	close(fds[0]);
	close(fds[1]);
}

static void reader_and_writer_share_a_descriptor(void **state)
{
	struct letter r = letter('r'), w = letter('w');
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(watch(&r, fds[0], POLLIN), 0);
	assert_int_equal(watch(&w, fds[0], POLLOUT), 0);
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "w");
	assert_false(readable(0));
	/* The reader is registered again, without being asked. */
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_true(readable(0));
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "wr");
	assert_int_equal(r.events, POLLIN);
	/* A hang-up is for both. */
	assert_int_equal(watch(&r, fds[0], 0), 0);
	assert_int_equal(watch(&w, fds[0], POLLOUT), 0);
	close(fds[1]);
	weir_loop_run(loop, 1);
	assert_int_equal(r.events, POLLHUP);
	assert_int_equal(w.events, POLLHUP | POLLOUT);
	close(fds[0]);
}

static void cancelled_watch_does_not_make_it_readable(void **state)
{
	struct letter a = letter('a');
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(watch(&a, fds[1], POLLOUT), 0);
	assert_true(readable(0));
	assert_true(unwatch(&a));
	assert_false(readable(0));
	close(fds[0]);
	close(fds[1]);
}

static void cancelling_one_leaves_the_other(void **state)
{
	struct letter r = letter('r'), w = letter('w');
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(watch(&r, fds[0], POLLIN), 0);
	assert_int_equal(watch(&w, fds[0], POLLOUT), 0);
	assert_true(unwatch(&w));
	assert_false(readable(0));
	assert_int_equal(write(fds[1], "x", 1), 1);
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "r");
	close(fds[0]);
	close(fds[1]);
}

/* Whichever of two that are ready comes first cancels the other. */
static void ready_cancels_the_other(struct weir_watch *ready, short events)
{
	struct letter *self = weir_container_of(ready, struct letter, watch);

	letter_ready(ready, events);
	assert_true(unwatch(self->other));
	/* Its memory may be used for something else. */
	memset(&self->other->watch, 0xee, sizeof(self->other->watch));
}

static void harvested_event_of_a_cancelled_watch_is_dropped(void **state)
{
	struct letter a = letter('a'), b = letter('b');
	int fds[2], more[2];

	a.other = &b;
	b.other = &a;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(more), 0);
	a.watch.fire = b.watch.fire = ready_cancels_the_other;
	assert_int_equal(watch(&a, fds[1], POLLOUT), 0);
	assert_int_equal(watch(&b, more[1], POLLOUT), 0);
	weir_loop_run(loop, 1);
	assert_int_equal(traced, 1);
	assert_false(readable(0));
	close(fds[0]);
	close(fds[1]);
	close(more[0]);
	close(more[1]);
}

/* Also puts another pipe, which is not ready, under the other's number. */
static void ready_replaces_the_other(struct weir_watch *ready, short events)
{
	struct letter *self = weir_container_of(ready, struct letter, watch);
	struct letter *other = self->other;
	int fd = other->watch.fd;
	int fds[2];

	letter_ready(ready, events);
	assert_true(unwatch(other));
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(dup2(fds[0], fd), fd);
	close(fds[0]);
	self->fd = fds[1];
	assert_int_equal(watch(other, fd, POLLIN), 0);
}

static void harvested_event_does_not_reach_the_next_watch(void **state)
{
	struct letter a = letter('a'), b = letter('b');
	int fds[2], more[2];

	a.other = &b;
	b.other = &a;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(more), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(write(more[1], "x", 1), 1);
	a.watch.fire = b.watch.fire = ready_replaces_the_other;
	assert_int_equal(watch(&a, fds[0], POLLIN), 0);
	assert_int_equal(watch(&b, more[0], POLLIN), 0);
	weir_loop_run(loop, 1);
	assert_int_equal(traced, 1);
	assert_true(unwatch(trace[0] == 'a' ? &b : &a));
	close(trace[0] == 'a' ? a.fd : b.fd);
	close(fds[0]);
	close(fds[1]);
	close(more[0]);
	close(more[1]);
}

static void closed_descriptor_can_come_back(void **state)
{
	struct letter a = letter('a');
	int fds[2], i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(pipe(fds), 0);
		assert_int_equal(watch(&a, fds[1], POLLOUT), 0);
		weir_loop_run(loop, 1);
		assert_int_equal(traced, i + 1);
		close(fds[0]);
		close(fds[1]);
	}
}

static void ready_closes(struct weir_watch *ready, short events)
{
	letter_ready(ready, events);
	close(ready->fd);
}

static void closing_what_others_watch_is_told_them(void **state)
{
	struct letter r = letter('r'), w = letter('w');
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	w.watch.fire = ready_closes;
	assert_int_equal(watch(&r, fds[0], POLLIN), 0);
	assert_int_equal(watch(&w, fds[0], POLLOUT), 0);
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "wr");
	assert_int_equal(r.events, POLLNVAL);
	close(fds[1]);
}

static void many_watches_are_all_reported(void **state)
{
	enum { MANY = 200 };
	static struct letter letters[MANY];
	int fds[2], i, runs;

	assert_int_equal(pipe(fds), 0);
	for (i = 0; i < MANY; i++) {
		letters[i] = letter('x');
		letters[i].fd = dup(fds[1]);
		assert_int_equal(watch(&letters[i], letters[i].fd, POLLOUT), 0);
	}
	for (runs = 0; readable(0); runs++)
		weir_loop_run(loop, 1);
	assert_true(runs < 10);
	assert_int_equal(traced, MANY);
	for (i = 0; i < MANY; i++)
		close(letters[i].fd);
	close(fds[0]);
	close(fds[1]);
}

static void *submit_it(void *argument)
{
	fake_submit(executor, argument);
	return NULL;
}

static void submission_ends_a_wait(void **state)
{
	struct letter a = letter('a');
	pthread_t thread;
	int n;

	assert_int_equal(pthread_create(&thread, NULL, submit_it, &a.fake), 0);
	/* A write of the eventfd that is late may end one for nothing. */
	do {
		n = weir_loop_wait(loop, 1, WEIR_FOREVER);
	} while (n == 0);
	assert_int_equal(n, 1);
	assert_string_equal(trace, "a");
	pthread_join(thread, NULL);
}

static void *wake_it(void *argument)
{
	executor->ops->wake(executor);
	return NULL;
}

static void wake_ends_a_step(void **state)
{
	pthread_t thread;

	assert_int_equal(executor->ops->step(executor, 0), -ETIMEDOUT);
	assert_int_equal(pthread_create(&thread, NULL, wake_it, NULL), 0);
	assert_int_equal(executor->ops->step(executor, WEIR_FOREVER), 0);
	pthread_join(thread, NULL);
	assert_int_equal(executor->ops->step(executor, 0), -ETIMEDOUT);
}

/* As a call does that will wait, on the thread that owns the loop. */
static void submit_soon(struct letter *self)
{
	weir__thread.runs_soon = executor;
	fake_submit(executor, &self->fake);
	weir__thread.runs_soon = NULL;
}

static void owner_that_will_run_it_makes_no_system_call(void **state)
{
	struct weir__costs costs = {0};
	struct letter a = letter('a');

	weir__costs = &costs;
	submit_soon(&a);
	assert_int_equal(executor->ops->step(executor, WEIR_FOREVER), 0);
	weir__costs = NULL;
	assert_int_equal(costs.kernel_calls, 0);
	assert_string_equal(trace, "a");
	assert_int_equal(executor->ops->step(executor, 0), -ETIMEDOUT);
}

static void owner_that_does_not_run_it_is_told_by_a_wake(void **state)
{
	struct letter a = letter('a');

	submit_soon(&a);
	executor->ops->wake(executor);
	assert_true(readable(0));
	assert_int_equal(weir_loop_run(loop, 2), 1);
	assert_false(readable(0));
}

static void steps_that_find_work_do_not_hold_up_a_timer(void **state)
{
	struct letter a = letter('a'), b = letter('b');
	int i;

	assert_int_equal(weir_timer_arm(executor, &b.timer, 1), 0);
	for (i = 0; i < 17 && !strchr(trace, 'b'); i++) {
		submit_soon(&a);
		assert_int_equal(executor->ops->step(executor, WEIR_FOREVER),
				 0);
	}
	assert_non_null(strchr(trace, 'b'));
}

static void loop_can_be_watched_by_epoll(void **state)
{
	struct letter a = letter('a');
	struct epoll_event event = {.events = EPOLLIN};
	int outer = epoll_create1(EPOLL_CLOEXEC);

	assert_int_equal(
		epoll_ctl(outer, EPOLL_CTL_ADD, weir_loop_fd(loop), &event), 0);
	assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
	fake_submit(executor, &a.fake);
	assert_int_equal(epoll_wait(outer, &event, 1, 0), 1);
	weir_loop_run(loop, 1);
	assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
	weir_timer_arm(executor, &a.timer, 1);
	assert_int_equal(epoll_wait(outer, &event, 1, -1), 1);
	weir_loop_run(loop, 1);
	assert_string_equal(trace, "aa");
	assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
	close(outer);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(arguments_are_checked),
		test(no_memory_leaves_nothing_behind),
		test(idle_loop_is_not_readable),
		test(submission_makes_it_readable_until_run),
		test(left_over_work_keeps_it_readable),
		test(work_from_within_that_is_left_makes_it_readable),
		test(turns_cannot_run_or_free_it),
		test(busy_loop_is_not_freed),
		test(past_timer_fires_in_the_next_run),
		test(timer_makes_it_readable_when_due),
		test(timer_armed_in_a_turn_is_not_forgotten),
		test(timer_that_arms_itself_does_not_hold_up_a_run),
		test(cancelled_timer_does_not_fire),
		test(wait_returns_when_a_timer_has_fired),
		test(wait_ends_at_its_timeout),
		test(wait_does_not_wait_while_work_is_left),
		test(watch_fires_once_per_arming),
		test(hang_up_is_reported),
		test(what_cannot_be_watched_is_refused),
		test(no_memory_for_a_watch_changes_nothing),
		test(reader_and_writer_share_a_descriptor),
		test(cancelled_watch_does_not_make_it_readable),
		test(cancelling_one_leaves_the_other),
		test(harvested_event_of_a_cancelled_watch_is_dropped),
		test(harvested_event_does_not_reach_the_next_watch),
		test(closed_descriptor_can_come_back),
		test(closing_what_others_watch_is_told_them),
		test(many_watches_are_all_reported),
		test(submission_ends_a_wait),
		test(wake_ends_a_step),
		test(owner_that_will_run_it_makes_no_system_call),
		test(owner_that_does_not_run_it_is_told_by_a_wake),
		test(steps_that_find_work_do_not_hold_up_a_timer),
		test(loop_can_be_watched_by_epoll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
