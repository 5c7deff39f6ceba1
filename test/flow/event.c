/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals and readiness as items. */
#include "flow/event_kit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

static struct told told;
static struct net net;

/* --- Signals -------------------------------------------------------------- */

static sigset_t set_of(int a, int b)
{
	sigset_t set;

	assert_int_equal(sigemptyset(&set), 0);
	assert_int_equal(sigaddset(&set, a), 0);
	assert_int_equal(sigaddset(&set, b), 0);
	return set;
}

/* Threads that are started from here on do so, too. */
static int block_signals(void **state)
{
	sigset_t set = set_of(SIGUSR1, SIGRTMIN);

	return sigprocmask(SIG_BLOCK, &set, NULL);
}

static struct weir_flow *both(void)
{
	sigset_t set = set_of(SIGUSR1, SIGRTMIN);

	return weir_flow_signals(&set);
}

static const struct signalfd_siginfo *signal_at(uint32_t i)
{
	const struct weir_flow_bytes *bytes = told.items[i];

	assert_int_equal(bytes->n, sizeof(struct signalfd_siginfo));
	return (const void *)bytes->data;
}

static void queue_value(int value)
{
	assert_int_equal(sigqueue(getpid(), SIGRTMIN,
				  (union sigval){.sival_int = value}),
			 0);
}

static void a_signal_comes_with_its_number_and_sender(void **state)
{
	uint32_t i;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_start(&net, tell_of(weir_flow_take(both(), 10), &told,
					weir_flow_bytes_items()));
		settle(&net);
		for (i = 0; i < 10; i++) {
			assert_int_equal(kill(getpid(), SIGUSR1), 0);
			await_told(&net, &told, i + 1);
			assert_int_equal(signal_at(i)->ssi_signo, SIGUSR1);
			assert_int_equal(signal_at(i)->ssi_pid, getpid());
			assert_int_equal(signal_at(i)->ssi_uid, getuid());
		}
		net_over(&net, 0, 0);
		drop_told(&told);
		net_end(&net);
	}
}

/* The kernel makes one of equal ones; real-time signals it keeps. */
static void what_was_pending_at_the_start_comes(void **state)
{
	int i;

	for_each_kind(kind)
	{
		assert_int_equal(kill(getpid(), SIGUSR1), 0);
		assert_int_equal(kill(getpid(), SIGUSR1), 0);
		for (i = 0; i < 3; i++)
			queue_value(i);
		net_begin(&net, *kind);
		net_start(&net, tell_of(weir_flow_take(both(), 4), &told,
					weir_flow_bytes_items()));
		net_over(&net, 0, 0);
		assert_int_equal(told.n, 4);
		assert_int_equal(signal_at(0)->ssi_signo, SIGUSR1);
		for (i = 0; i < 3; i++)
			assert_int_equal(signal_at(1 + i)->ssi_int, i);
		drop_told(&told);
		net_end(&net);
	}
}

static void what_was_not_asked_for_stays_pending(void **state)
{
	const struct timespec now = {0};
	sigset_t set = set_of(SIGUSR1, SIGRTMIN);
	siginfo_t info;
	int i;

	for_each_kind(kind)
	{
		for (i = 0; i < 3; i++)
			queue_value(i);
		net_begin(&net, *kind);
		net_start(&net, tell_of(weir_flow_take(both(), 1), &told,
					weir_flow_bytes_items()));
		net_over(&net, 0, 0);
		assert_int_equal(signal_at(0)->ssi_int, 0);
		drop_told(&told);
		net_end(&net);
		for (i = 1; i < 3; i++) {
			assert_int_equal(sigtimedwait(&set, &info, &now),
					 SIGRTMIN);
			assert_int_equal(info.si_value.sival_int, i);
		}
		assert_int_equal(sigtimedwait(&set, &info, &now), -1);
	}
}

static struct weir_flow *unblocked_signal(void *context)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR2);

	return weir_flow_signals(&set);
}

/* Otherwise it would end the process. */
static void a_signal_that_is_not_blocked_fails_the_flow(void **state)
{
	char message[64];

	snprintf(message, sizeof(message), "signal %d is not blocked", SIGUSR2);
	assert_told_why(unblocked_signal, NULL, -EPERM, message);
}

static struct rlimit limit;

static struct weir_flow *without_descriptors(void *context)
{
	return both();
}

static void no_descriptor_fails_the_flow(void **state)
{
	struct weir_error *error;
	struct rlimit none;

	net_begin(&net, &sim);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	net_start(&net, weir_flow_ignore(without_descriptors(NULL)));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	error = error_over(&net);
	assert_int_equal(error->code, -EMFILE);
	assert_string_equal(error->origin, "signals");
	weir_error_unref(error);
	net_end(&net);
}

static void assert_wrong(struct weir_flow *flow, const char *origin)
{
	const char *from = NULL, *message = NULL;

	assert_int_equal(weir_flow_check(flow, &from, &message), -EINVAL);
	assert_string_equal(from, origin);
	assert_true(strlen(message) > 5);
	weir_flow_free(flow);
}

static void sets_that_cannot_be_are_refused(void **state)
{
	sigset_t set;

	assert_wrong(weir_flow_signals(NULL), "signals");
	assert_int_equal(sigemptyset(&set), 0);
	assert_wrong(weir_flow_signals(&set), "signals");
	set = set_of(SIGUSR1, SIGKILL);
	assert_wrong(weir_flow_signals(&set), "signals");
	set = set_of(SIGUSR1, SIGSTOP);
	assert_wrong(weir_flow_signals(&set), "signals");
}

static struct weir_flow *signals_of(void *context)
{
	return both();
}

static bool feed_signal(void *context, uint32_t step)
{
	queue_value((int)step);
	return step < 3;
}

static void discard_signals(void)
{
	const struct timespec now = {0};
	sigset_t set = set_of(SIGUSR1, SIGRTMIN);

	while (sigtimedwait(&set, NULL, &now) > 0)
		;
}

static void signals_may_fail_anywhere(void **state)
{
	const struct fallible fallible = {signals_of, feed_signal, NULL,
					  weir_flow_bytes_items()};

	fail_each_allocation(&fallible);
	fail_each_call(&fallible);
	discard_signals();
}

/* --- Readiness ------------------------------------------------------------ */

/* One byte, which is there. */
static int read_one(void **item, void *context)
{
	uint16_t events = (uint16_t)(uintptr_t)*item;
	ssize_t n;
	char c;

	assert_true(events & POLLIN);
	n = read(*(int *)context, &c, 1);
	if (n < 0)
		return -errno;
	assert_int_equal(n, 1);
	*item = (void *)(intptr_t)c;
	return 0;
}

static void make_pipe(int fds[2])
{
	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* One byte is read for each item: for those that are left there is another. */
static void what_is_not_read_is_told_again(void **state)
{
	struct weir_flow *flow;
	int fds[2];

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		make_pipe(fds);
		put(fds[1], "abc");
		flow = weir_flow_map(weir_flow_fd(fds[0], POLLIN), read_one,
				     &fds[0]);
		net_start(&net, tell_of(flow, &told, NULL));
		await_told(&net, &told, 3);
		settle(&net);
		put(fds[1], "d");
		await_told(&net, &told, 4);
		put(fds[1], "e");
		assert_int_equal(close(fds[1]), 0);
		net_over(&net, 0, 0);
		assert_int_equal(told.n, 5);
		assert_int_equal((intptr_t)told.items[0], 'a');
		assert_int_equal((intptr_t)told.items[4], 'e');
		assert_int_equal(close(fds[0]), 0);
		net_end(&net);
	}
}

/* Of a pipe that nobody reads; after a stop nothing is watched any more. */
static void a_flow_at_rest_can_be_stopped(void **state)
{
	struct weir_error *error;
	int fds[2];

	for_each_kind(kind)
	{
		make_pipe(fds);
		net_begin(&net, *kind);
		net_start(&net,
			  tell_of(weir_flow_fd(fds[0], POLLIN), &told, NULL));
		settle(&net);
		weir_flow_run_stop(net.run, NULL);
		error = error_over(&net);
		assert_int_equal(error->code, -ECANCELED);
		weir_error_unref(error);
		assert_int_equal(told.n, 0);
		net_end(&net);
		assert_int_equal(close(fds[0]), 0);
		assert_int_equal(close(fds[1]), 0);
	}
}

/* What is ready at once, without an end. */
static void one_item_is_told_for_each_demand(void **state)
{
	int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
	struct weir_flow *flow;
	uint32_t i;

	assert_true(fd >= 0);
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		flow = weir_flow_fd(fd, POLLIN | POLLOUT | POLLPRI);
		net_start(&net, tell_of(weir_flow_take(flow, 5), &told, NULL));
		net_over(&net, 0, 0);
		assert_int_equal(told.n, 5);
		for (i = 0; i < 5; i++)
			assert_int_equal((uintptr_t)told.items[i],
					 POLLIN | POLLOUT);
		net_end(&net);
	}
	assert_int_equal(close(fd), 0);
}

static struct weir_flow *ready_of(void *context)
{
	int *fd = context;

	return weir_flow_fd(fd[0], (short)fd[1]);
}

/* Of what is behind, all is told first: it is the reader who reads it. */
static void the_end_of_the_other_side_ends_the_flow(void **state)
{
	struct weir_flow *flow;
	int i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			net_begin(&net, *kind);
			net_connect(&net, i ? AF_INET : AF_UNIX, NULL);
			put(net.peer, "xy");
			assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
			int fd = weir_connection_fd(net.connection);

			flow = weir_flow_map(weir_flow_fd(fd, POLLIN), read_one,
					     &fd);
			net_start(&net, tell_of(flow, &told, NULL));
			net_over(&net, 0, 0);
			assert_int_equal(told.n, 2);
			net_end(&net);
		}
	}
}

/* Who writes may go on. */
static void a_half_closed_peer_is_no_end_for_a_writer(void **state)
{
	struct weir_flow *flow;

	net_begin(&net, &loop);
	net_connect(&net, AF_INET, NULL);
	assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
	flow = weir_flow_fd(weir_connection_fd(net.connection),
			    POLLIN | POLLOUT);
	net_start(&net, tell_of(weir_flow_take(flow, 3), &told, NULL));
	net_over(&net, 0, 0);
	assert_int_equal(told.n, 3);
	assert_true((uintptr_t)told.items[2] & POLLOUT);
	net_end(&net);
}

static void a_reset_fails_the_flow(void **state)
{
	struct weir_error *error;
	static const short events[] = {POLLIN, POLLOUT, POLLIN | POLLOUT};
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 3; i++) {
			net_begin(&net, *kind);
			net_connect(&net, AF_INET, NULL);
			reset(net.peer);
			net.peer = -1;
			net_start(&net,
				  weir_flow_ignore(weir_flow_fd(
					  weir_connection_fd(net.connection),
					  events[i])));
			error = error_over(&net);
			assert_non_null(error);
			assert_int_equal(error->code, -ECONNRESET);
			weir_error_unref(error);
			net_end(&net);
		}
	}
}

static void a_pipe_that_nobody_reads_fails_the_flow(void **state)
{
	int fds[2], wanted[2];

	make_pipe(fds);
	assert_int_equal(close(fds[0]), 0);
	wanted[0] = fds[1];
	wanted[1] = POLLOUT;
	assert_told_why(ready_of, wanted, -EPIPE, "descriptor");
	assert_int_equal(close(fds[1]), 0);
}

static void what_cannot_be_watched_fails_the_flow(void **state)
{
	int file[2] = {memfd_create("file", MFD_CLOEXEC), POLLIN};
	int closed[2] = {1 << 20, POLLIN};

	assert_told_why(ready_of, file, -EPERM, "cannot be waited for");
	assert_told_why(ready_of, closed, -EBADF, "cannot be waited for");
	assert_int_equal(close(file[0]), 0);
}

static void bad_events_are_refused(void **state)
{
	assert_wrong(weir_flow_fd(-1, POLLIN), "fd");
	assert_wrong(weir_flow_fd(0, 0), "fd");
	assert_wrong(weir_flow_fd(0, POLLIN | POLLHUP), "fd");
}

static bool feed_pipe(void *context, uint32_t step)
{
	put(((int *)context)[2], "x");
	return step < 2;
}

static struct weir_flow *read_ready(void *context)
{
	return weir_flow_map(ready_of(context), read_one, context);
}

static void readiness_may_fail_anywhere(void **state)
{
	int fds[2], wanted[3];
	struct fallible fallible = {read_ready, feed_pipe, wanted, NULL};

	make_pipe(fds);
	wanted[0] = fds[0];
	wanted[1] = POLLIN;
	wanted[2] = fds[1];
	fail_each_allocation(&fallible);
	fail_each_call(&fallible);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_comes_with_its_number_and_sender),
		cmocka_unit_test(what_was_pending_at_the_start_comes),
		cmocka_unit_test(what_was_not_asked_for_stays_pending),
		cmocka_unit_test(a_signal_that_is_not_blocked_fails_the_flow),
		cmocka_unit_test(no_descriptor_fails_the_flow),
		cmocka_unit_test(sets_that_cannot_be_are_refused),
		cmocka_unit_test(signals_may_fail_anywhere),
		cmocka_unit_test(what_is_not_read_is_told_again),
		cmocka_unit_test(a_flow_at_rest_can_be_stopped),
		cmocka_unit_test(one_item_is_told_for_each_demand),
		cmocka_unit_test(the_end_of_the_other_side_ends_the_flow),
		cmocka_unit_test(a_half_closed_peer_is_no_end_for_a_writer),
		cmocka_unit_test(a_reset_fails_the_flow),
		cmocka_unit_test(a_pipe_that_nobody_reads_fails_the_flow),
		cmocka_unit_test(what_cannot_be_watched_fails_the_flow),
		cmocka_unit_test(bad_events_are_refused),
		cmocka_unit_test(readiness_may_fail_anywhere),
	};

	return cmocka_run_group_tests(tests, block_signals, NULL);
}
