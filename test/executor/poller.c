/* SPDX-License-Identifier: BSD-2-Clause */
/* Watches are tested in loop.c, which runs a poller as well. */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "executor/fake.h"
#include "executor/thread.h"
#include "executor/poller.h"

#define HOUR (3600 * WEIR__SECOND)

static struct weir__poller poller;
static struct weir__poller_thread service;
static int fired;

static int setup(void **state)
{
	fired = 0;
	return weir__poller_init(&poller, weir_allocator_default());
}

static int teardown(void **state)
{
	weir__poller_fini(&poller, false);
	return 0;
}

static void fire(struct weir_timer *timer)
{
	fired++;
}

static void run(uint64_t timeout_ns)
{
	bool woken;

	weir__poller_run(&poller, timeout_ns, &woken);
	weir__poller_settle(&poller);
}

static bool readable(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	return poll(&ready, 1, 0) == 1;
}

static void timer_fd_is_set_again_only_for_an_earlier_time(void **state)
{
	const uint64_t at_ns = weir__clock_ns() + HOUR;
	const uint64_t soon_ns = at_ns - HOUR + 60 * WEIR__SECOND;
	struct weir_timer a = {.fire = fire}, b = a, c = a, d = a;

	assert_true(poller.timer_ns == WEIR_FOREVER);
	weir__poller_timer_arm(&poller, &a, at_ns);
	assert_true(poller.timer_ns == at_ns);
	weir__poller_timer_arm(&poller, &b, at_ns + 1);
	assert_true(poller.timer_ns == at_ns);
	weir__poller_timer_arm(&poller, &c, soon_ns);
	assert_true(poller.timer_ns == soon_ns);
	assert_true(weir__poller_timer_cancel(&poller, &c));
	assert_true(poller.timer_ns == soon_ns);
	weir__poller_timer_arm(&poller, &d, at_ns + 2);
	assert_true(poller.timer_ns == soon_ns);
	run(0);
	assert_true(poller.timer_ns == soon_ns);
	assert_int_equal(fired, 0);
}

static void timer_fd_follows_when_its_time_has_passed(void **state)
{
	const uint64_t at_ns = weir__clock_ns() + HOUR;
	struct weir_timer past = {.fire = fire}, late = past;

	weir__poller_timer_arm(&poller, &late, at_ns);
	weir__poller_timer_arm(&poller, &past, 1);
	run(0);
	assert_int_equal(fired, 1);
	assert_true(poller.timer_ns == at_ns);
	assert_false(readable(poller.timer_fd));
	assert_true(weir__poller_timer_cancel(&poller, &late));
	weir__poller_timer_arm(&poller, &past, 1);
	run(0);
	assert_true(poller.timer_ns == WEIR_FOREVER);
	assert_false(readable(poller.timer_fd));
}

static void arming_in_a_run_is_set_when_it_settles(void **state)
{
	struct weir_timer timer = {.fire = fire};
	bool woken;

	weir__poller_run(&poller, 0, &woken);
	weir__poller_timer_arm(&poller, &timer, 1);
	assert_false(readable(poller.timer_fd));
	weir__poller_settle(&poller);
	assert_true(readable(poller.timer_fd));
	run(WEIR_FOREVER);
	assert_int_equal(fired, 1);
}

static void wake_is_seen_until_taken_back(void **state)
{
	bool woken;

	weir__poller_wake(&poller);
	weir__poller_wake(&poller);
	weir__poller_run(&poller, WEIR_FOREVER, &woken);
	assert_true(woken);
	weir__poller_unwake(&poller);
	weir__poller_run(&poller, 0, &woken);
	assert_false(woken);
	weir__poller_unwake(&poller);
	weir__poller_settle(&poller);
}

/* A timer's due list is emptied one by one: a fire may cancel the next. */
static struct weir_timer *victim;

static void fire_cancels(struct weir_timer *timer)
{
	fired++;
	assert_true(weir__poller_timer_cancel(&poller, victim));
}

static void fire_may_cancel_what_is_due_as_well(void **state)
{
	struct weir_timer a = {.fire = fire_cancels}, b = {.fire = fire};

	victim = &b;
	weir__poller_timer_arm(&poller, &a, 1);
	weir__poller_timer_arm(&poller, &b, 1);
	run(0);
	assert_int_equal(fired, 1);
}

/* From here on with a thread. */

static uint32_t done; /* atomic; slept on */
static bool was_self, was_worker;
static char name[16];

static void raise_done(void)
{
	ck_pr_fence_release();
	ck_pr_inc_32(&done);
	weir__futex_wake(&done, 1);
}

static void wait_done(uint32_t value)
{
	uint32_t seen;

	while ((seen = ck_pr_load_32(&done)) < value)
		weir__futex_wait(&done, seen, UINT64_MAX);
	ck_pr_fence_acquire();
}

static void fire_looks_around(struct weir_timer *timer)
{
	was_self = weir__poller_thread_self(&service);
	was_worker = weir__thread.worker;
	pthread_getname_np(pthread_self(), name, sizeof(name));
	raise_done();
}

static void fire_watch(struct weir_watch *watch, short events)
{
	assert_int_equal(events, POLLIN);
	raise_done();
}

static void start_service(void)
{
	ck_pr_store_32(&done, 0);
	weir__poller_thread_init(&service, weir_allocator_default(),
				 "a-long-name");
}

static void unused_thread_is_not_started(void **state)
{
	struct weir_timer timer = {.fire = fire};
	struct weir_watch watch = {.fire = fire_watch};

	start_service();
	assert_false(weir__poller_thread_timer_cancel(&service, &timer));
	assert_false(weir__poller_thread_watch_cancel(&service, &watch));
	assert_false(weir__poller_thread_self(&service));
	assert_int_equal(service.started, 0);
	weir__poller_thread_fini(&service, false);
}

static void thread_fires_timers_and_may_not_wait(void **state)
{
	struct weir_timer timer = {.fire = fire_looks_around};
	uint64_t at_ns = weir__clock_ns() + 1000000;

	start_service();
	assert_int_equal(weir__poller_thread_timer_arm(&service, &timer, at_ns),
			 0);
	wait_done(1);
	assert_true(weir__clock_ns() >= at_ns);
	assert_true(was_self);
	assert_true(was_worker);
	assert_string_equal(name, "a-long-na-timer");
	assert_false(weir__poller_thread_self(&service));
	weir__poller_thread_fini(&service, false);
}

static void earlier_timer_overtakes_a_later_one(void **state)
{
	struct weir_timer early = {.fire = fire_looks_around};
	struct weir_timer late = {.fire = fire};
	uint64_t now_ns = weir__clock_ns();

	start_service();
	weir__poller_thread_timer_arm(&service, &late, now_ns + HOUR);
	weir__poller_thread_timer_arm(&service, &early, now_ns + 1000000);
	wait_done(1);
	assert_true(weir__poller_thread_timer_cancel(&service, &late));
	weir__poller_thread_fini(&service, false);
}

static void thread_fires_watches(void **state)
{
	struct weir_watch watch = {.fire = fire_watch, .events = POLLIN};
	int fds[2];

	start_service();
	assert_int_equal(pipe(fds), 0);
	watch.fd = fds[0];
	assert_int_equal(weir__poller_thread_watch_arm(&service, &watch), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	wait_done(1);
	assert_int_equal(weir__poller_thread_watch_arm(&service, &watch), 0);
	wait_done(2);
	weir__poller_thread_fini(&service, false);
	close(fds[0]);
	close(fds[1]);
}

static void what_is_armed_at_the_end_never_fires(void **state)
{
	struct weir_timer timer = {.fire = fire};

	start_service();
	weir__poller_thread_timer_arm(&service, &timer,
				      weir__clock_ns() + HOUR);
	weir__poller_thread_fini(&service, false);
	assert_int_equal(fired, 0);
}

static void without_descriptors_arming_fails_and_can_be_tried_again(
	void **state)
{
	struct weir_timer timer = {.fire = fire_looks_around};
	struct rlimit limit, none;
	int n_free, rc;

	start_service();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	/* One more each time: epoll's, eventfd's and timerfd's is missing. */
	n_free = dup(0);
	assert_true(n_free >= 0);
	close(n_free);
	for (none.rlim_cur = (rlim_t)n_free;; none.rlim_cur++) {
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		rc = weir__poller_thread_timer_arm(&service, &timer, 0);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -EMFILE);
		assert_null(timer.link);
		rc = dup(0);
		assert_int_equal(rc, n_free);
		close(rc);
	}
	assert_int_equal(none.rlim_cur, n_free + 3);
	wait_done(1);
	weir__poller_thread_fini(&service, false);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(timer_fd_is_set_again_only_for_an_earlier_time),
		test(timer_fd_follows_when_its_time_has_passed),
		test(arming_in_a_run_is_set_when_it_settles),
		test(wake_is_seen_until_taken_back),
		test(fire_may_cancel_what_is_due_as_well),
		test(unused_thread_is_not_started),
		test(thread_fires_timers_and_may_not_wait),
		test(earlier_timer_overtakes_a_later_one),
		test(thread_fires_watches),
		test(what_is_armed_at_the_end_never_fires),
		test(without_descriptors_arming_fails_and_can_be_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
