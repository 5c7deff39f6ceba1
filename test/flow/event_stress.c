/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals, readiness, changes, followed files and datagrams on a pool of two
 * threads and on a blocking executor at once: runs start and are stopped by two
 * threads, again and again, while a third one makes what they tell. What is told
 * is told once, in its order.
 */
#include "flow/event_kit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <ck_pr.h>

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define RUNS 4u
#define FED_MAX 4096u

/* A run, and what it was told. */
struct one {
	struct weir_flow *flow;
	struct weir_flow_run *run;
	uint64_t n;    /* items, or bytes */
	uint32_t next; /* what comes next, if any has come */
};

/* What is told. */
struct told_of {
	void (*begin)(void);
	struct weir_flow *(*make)(struct one *one);
	void (*feed)(uint32_t i); /* by a thread of its own */
	/* Takes what nobody was told of, and closes all. */
	void (*end)(void);
	uint32_t n; /* are fed, over all rounds */
	bool all;   /* none is lost by a stop */
};

static const struct told_of *what;
static uint32_t seen[FED_MAX]; /* atomic: how often it was told */
static uint32_t fed_all;       /* atomic: the feeder is done */
static uint32_t n_fed;

static void see(uint32_t i)
{
	assert(i < n_fed);
	assert(ck_pr_faa_32(&seen[i], 1) == 0);
}

static void *feed_all(void *context)
{
	uint32_t i;

	for (i = 0; i < n_fed; i++) {
		what->feed(i);
		if (i % 8 == 0)
			(void)sched_yield();
	}
	ck_pr_fence_release();
	ck_pr_store_32(&fed_all, 1);
	return NULL;
}

/* --- Runs ----------------------------------------------------------------- */

/* To be stopped by the other thread; atomic. */
static struct weir_flow_run *victims[RUNS];
static uint32_t over; /* atomic */

static void *stops(void *context)
{
	struct weir_flow_run *run;
	uint32_t i;

	while (!ck_pr_load_32(&over)) {
		for (i = 0; i < RUNS; i++) {
			run = ck_pr_load_ptr(&victims[i]);
			ck_pr_fence_acquire();
			if (!run)
				continue;
			weir_flow_run_stop(run, NULL);
			ck_pr_fence_release();
			ck_pr_store_ptr(&victims[i], NULL);
		}
		(void)sched_yield();
	}
	return NULL;
}

static void start(struct one *one, struct weir_executor *executor)
{
	*one = (struct one){0};
	one->flow = what->make(one);
	assert_int_equal(weir_flow_start(one->flow, executor, NULL, &one->run),
			 0);
}

/* Two of them are stopped by the other thread, one by both. */
static void stop_all(struct one *all)
{
	uint32_t i;

	ck_pr_fence_release();
	for (i = 0; i < 3; i++)
		ck_pr_store_ptr(&victims[i], all[i].run);
	for (i = 2; i < RUNS; i++)
		weir_flow_run_stop(all[i].run, NULL);
	for (i = 0; i < 3; i++)
		while (ck_pr_load_ptr(&victims[i]))
			(void)sched_yield();
	ck_pr_fence_acquire();
}

static uint64_t finish(struct one *one)
{
	struct weir_error *error;

	assert_int_equal(
		weir_flow_run_wait(one->run, WEIR_FOREVER, NULL, &error), 0);
	assert_non_null(error);
	assert_int_equal(error->code, -ECANCELED);
	weir_error_unref(error);
	weir_flow_run_free(one->run);
	weir_flow_free(one->flow);
	return one->n;
}

/* Until all is fed, and at least that often. Returns how many were told. */
static uint64_t churn(struct place *places, uint64_t rounds)
{
	struct one all[RUNS];
	uint64_t told = 0, round;
	uint32_t i;

	for (round = 0; round < rounds || !ck_pr_load_32(&fed_all); round++) {
		for (i = 0; i < RUNS; i++)
			start(&all[i], places[i % 2].executor);
		/* so that more or less is done */
		for (i = 0; i < round % 50; i++)
			(void)sched_yield();
		stop_all(all);
		for (i = 0; i < RUNS; i++)
			told += finish(&all[i]);
	}
	return told;
}

static void tell_while_runs_come_and_go(const struct told_of *of)
{
	static struct descriptors before;
	struct place places[2];
	pthread_t feeder, stopper;
	uint32_t i, n_seen = 0;
	uint64_t told;

	descriptors_note(&before);
	what = of;
	n_fed = (uint32_t)test_count(of->n);
	assert_true(n_fed <= FED_MAX);
	memset(seen, 0, sizeof(seen));
	over = fed_all = 0;
	place_make(&places[0], &threads);
	place_make(&places[1], &blocking);
	of->begin();
	assert_int_equal(pthread_create(&stopper, NULL, stops, NULL), 0);
	assert_int_equal(pthread_create(&feeder, NULL, feed_all, NULL), 0);
	told = churn(places, test_count(200));
	assert_int_equal(pthread_join(feeder, NULL), 0);
	ck_pr_store_32(&over, 1);
	assert_int_equal(pthread_join(stopper, NULL), 0);
	assert_int_equal(threads.free(&places[0]), 0);
	assert_int_equal(blocking.free(&places[1]), 0);
	of->end();
	for (i = 0; i < n_fed; i++)
		n_seen += seen[i];
	if (of->all)
		assert_int_equal(n_seen, n_fed);
	else /* of few, all may come while no run is there */
		assert_true(told > 0 || n_fed < of->n);
	descriptors_check(&before);
}

static void drop_bytes(struct weir_flow_bytes *bytes)
{
	weir_flow_bytes_unref(bytes);
}

/* --- Signals -------------------------------------------------------------- */

static void no_begin(void)
{
}

static void raise_one(uint32_t i)
{
	const union sigval value = {.sival_int = (int)i};

	/* so many may be queued */
	while (sigqueue(getpid(), SIGRTMIN, value) < 0) {
		assert(errno == EAGAIN);
		(void)sched_yield();
	}
}

static int hear_signal(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct signalfd_siginfo info;
	struct one *one = context;

	assert(bytes->n == sizeof(info));
	memcpy(&info, bytes->data, sizeof(info));
	see((uint32_t)info.ssi_int);
	one->n++;
	drop_bytes(bytes);
	return 0;
}

static void set_of(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGRTMIN);
}

static struct weir_flow *signals(struct one *one)
{
	sigset_t set;

	set_of(&set);
	return weir_flow_for_each(weir_flow_signals(&set), hear_signal, one);
}

static void take_signals(void)
{
	const struct timespec now = {0};
	siginfo_t info;
	sigset_t set;

	set_of(&set);
	while (sigtimedwait(&set, &info, &now) > 0)
		see((uint32_t)info.si_value.sival_int);
}

/* What a run has not taken stays pending, for the next one. */
static void no_signal_is_lost_or_told_twice(void **state)
{
	const struct told_of of = {.begin = no_begin,
				   .make = signals,
				   .feed = raise_one,
				   .end = take_signals,
				   .n = 4000,
				   .all = true};

	tell_while_runs_come_and_go(&of);
}

/* --- Descriptors ---------------------------------------------------------- */

static int fds[2];

static void open_pipe(void)
{
	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
}

static void write_one(uint32_t i)
{
	while (write(fds[1], &i, sizeof(i)) < 0) {
		assert(errno == EAGAIN);
		(void)sched_yield();
	}
}

static bool read_one(void)
{
	uint32_t i;
	ssize_t n = read(fds[0], &i, sizeof(i));

	assert(n == sizeof(i) || (n < 0 && errno == EAGAIN));
	if (n > 0)
		see(i);
	return n > 0;
}

static int is_ready(void *item, void *context)
{
	struct one *one = context;

	assert((uintptr_t)item == POLLIN);
	one->n += read_one();
	return 0;
}

static struct weir_flow *readiness(struct one *one)
{
	return weir_flow_for_each(weir_flow_fd(fds[0], POLLIN), is_ready, one);
}

static void empty_pipe(void)
{
	while (read_one())
		;
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

static void several_may_be_told_of_one_descriptor(void **state)
{
	const struct told_of of = {.begin = open_pipe,
				   .make = readiness,
				   .feed = write_one,
				   .end = empty_pipe,
				   .n = 4000,
				   .all = true};

	tell_while_runs_come_and_go(&of);
}

/* --- Changes -------------------------------------------------------------- */

static char directory[64], path[80];

static void make_directory(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/weir-event-%d",
		       (int)getpid());
	assert_int_equal(mkdir(directory, 0700), 0);
}

static void create_one(uint32_t i)
{
	char name[96];
	int fd;

	(void)snprintf(name, sizeof(name), "%s/%u", directory, i);
	fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert(fd >= 0);
	assert(close(fd) == 0);
	assert(unlink(name) == 0);
}

/* From its start on a run is told of all. */
static int hear_change(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct weir_flow_change *change = (void *)bytes->data;
	struct one *one = context;
	uint32_t i;

	assert(!change->rescan && change->mask == IN_CREATE);
	i = (uint32_t)strtoul(strrchr(change->path, '/') + 1, NULL, 10);
	assert(one->n == 0 || i == one->next);
	one->next = i + 1;
	one->n++;
	drop_bytes(bytes);
	return 0;
}

static struct weir_flow *changes(struct one *one)
{
	const char *const paths[] = {directory};

	return weir_flow_for_each(weir_flow_inotify(paths, 1, IN_CREATE),
				  hear_change, one);
}

static void remove_directory(void)
{
	assert_int_equal(rmdir(directory), 0);
}

static void a_run_is_told_of_each_change_from_its_start_on(void **state)
{
	const struct told_of of = {.begin = make_directory,
				   .make = changes,
				   .feed = create_one,
				   .end = remove_directory,
				   .n = 3000};

	tell_while_runs_come_and_go(&of);
}

/* --- Files ---------------------------------------------------------------- */

#define LINE 8u

static void make_file(void)
{
	(void)snprintf(path, sizeof(path), "/tmp/weir-tail-%d", (int)getpid());
	fds[1] = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fds[1] >= 0);
}

static void line_of(char *line, uint32_t i)
{
	(void)snprintf(line, LINE + 1, "%07u\n", i);
}

static void append_one(uint32_t i)
{
	char line[LINE + 1];

	line_of(line, i);
	assert(write(fds[1], line, LINE) == LINE);
}

/* What was read is a beginning of the file. */
static int hear_bytes(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct one *one = context;
	char line[LINE + 1];
	size_t i;

	for (i = 0; i < bytes->n; i++, one->n++) {
		line_of(line, (uint32_t)(one->n / LINE));
		assert(bytes->data[i] == line[one->n % LINE]);
	}
	drop_bytes(bytes);
	return 0;
}

static struct weir_flow *tails(struct one *one)
{
	const struct weir_flow_tail_options options = {.beginning = true};

	return weir_flow_for_each(weir_flow_tail(path, &options), hear_bytes,
				  one);
}

static void remove_file(void)
{
	assert_int_equal(close(fds[1]), 0);
	assert_int_equal(unlink(path), 0);
}

static void what_is_followed_is_a_beginning_of_the_file(void **state)
{
	const struct told_of of = {.begin = make_file,
				   .make = tails,
				   .feed = append_one,
				   .end = remove_file,
				   .n = 3000};

	tell_while_runs_come_and_go(&of);
}

/* --- Datagrams ------------------------------------------------------------ */

static int passed[2]; /* what is received is sent on there */

static void open_sockets(void)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds),
			 0);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, passed), 0);
}

static bool take_passed(void)
{
	uint32_t i;
	ssize_t n = recv(passed[0], &i, sizeof(i), MSG_DONTWAIT);

	assert(n == sizeof(i) || (n < 0 && errno == EAGAIN));
	if (n > 0)
		see(i);
	return n > 0;
}

/* The feeder empties the other end, too. */
static void send_one(uint32_t i)
{
	(void)take_passed();
	while (send(fds[1], &i, sizeof(i), MSG_DONTWAIT) < 0) {
		assert(errno == EAGAIN);
		(void)take_passed();
		(void)sched_yield();
	}
}

static int look_at_one(void **item, void *context)
{
	struct weir_flow_datagram *datagram = *item;
	struct one *one = context;
	uint32_t i;

	assert(datagram->n == sizeof(i) && datagram->lost == 0);
	memcpy(&i, datagram->data, sizeof(i));
	assert(one->n == 0 || i >= one->next);
	one->next = i + 1;
	one->n++;
	return 0;
}

/* Half of them in two actors. */
static struct weir_flow *datagrams(struct one *one)
{
	static uint32_t made;
	struct weir_flow *flow = weir_flow_datagrams(fds[0], NULL);

	flow = weir_flow_same_items(weir_flow_map(flow, look_at_one, one));
	if (made++ % 2)
		flow = weir_flow_async(flow, 4, NULL);
	return weir_flow_ignore(weir_flow_datagrams_send(flow, passed[1]));
}

static void close_sockets(void)
{
	size_t i;

	while (take_passed())
		;
	for (i = 0; i < 2; i++) {
		assert_int_equal(close(fds[i]), 0);
		assert_int_equal(close(passed[i]), 0);
	}
}

static void no_datagram_is_passed_on_twice(void **state)
{
	const struct told_of of = {.begin = open_sockets,
				   .make = datagrams,
				   .feed = send_one,
				   .end = close_sockets,
				   .n = 4000};

	tell_while_runs_come_and_go(&of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_signal_is_lost_or_told_twice),
		cmocka_unit_test(several_may_be_told_of_one_descriptor),
		cmocka_unit_test(
			a_run_is_told_of_each_change_from_its_start_on),
		cmocka_unit_test(what_is_followed_is_a_beginning_of_the_file),
		cmocka_unit_test(no_datagram_is_passed_on_twice),
	};
	sigset_t set;

	/* by all threads that come */
	set_of(&set);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
