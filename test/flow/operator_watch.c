/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators of the user's that watch descriptors. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "flow/memory_kit.h"
#include "flow/world.h"

/* --- A source that reads a pipe ------------------------------------------- */

struct reader {
	int fds[2], other[2];
	int readies;
	short events; /* of the last */
	bool never_reads;
	struct weir_operator *op;
};

static void reader_init(struct reader *reader)
{
	*reader = (struct reader){.op = NULL};
	assert_int_equal(pipe2(reader->fds, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(pipe2(reader->other, O_NONBLOCK | O_CLOEXEC), 0);
}

static void reader_fini(struct reader *reader)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (reader->fds[i] >= 0)
			assert_int_equal(close(reader->fds[i]), 0);
		if (reader->other[i] >= 0)
			assert_int_equal(close(reader->other[i]), 0);
	}
}

static void feed(int fd, unsigned char byte)
{
	assert_int_equal(write(fd, &byte, 1), 1);
}

static int reader_open(struct weir_operator *op)
{
	struct reader *reader = weir_operator_context(op);

	reader->op = op;
	return 0;
}

/* One byte of the pipe is one item. */
static int read_on(struct weir_operator *op)
{
	const struct reader *reader = weir_operator_context(op);
	unsigned char byte;
	ssize_t n = read(reader->fds[0], &byte, 1);

	if (n == 1)
		return weir_operator_push(op, (void *)(intptr_t)byte);
	if (n == 0)
		return weir_operator_end(op, NULL);
	assert(errno == EAGAIN);
	return weir_operator_watch(op, reader->fds[0], POLLIN);
}

static int read_ready(struct weir_operator *op, short events)
{
	struct reader *reader = weir_operator_context(op);

	reader->readies++;
	reader->events = events;
	if (reader->never_reads)
		return weir_operator_watch(op, reader->fds[0], POLLIN);
	return weir_operator_wanted(op) ? read_on(op) : 0;
}

static const struct weir_operator_ops reads = {
	.name = "reads",
	.open = reader_open,
	.on_pull = read_on,
	.on_ready = read_ready,
};

static struct flow_world *begin_reading(const struct weir_operator_ops *ops,
					struct reader *reader)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	weir_flow_free(world.flow);
	reader_init(reader);
	world.flow = weir_flow_operator_source(ops, reader);
	world_start(&world, OPEN);
	until(&world, 1 * MS);
	return &world;
}

static void bytes_come_when_they_are_there(void **state)
{
	struct reader reader;
	struct flow_world *world = begin_reading(&reads, &reader);

	assert_int_equal(reader.readies, 0);
	feed(reader.fds[1], 7);
	until(world, 2 * MS);
	ASSERT_OUT(world, 7);
	feed(reader.fds[1], 8);
	feed(reader.fds[1], 9);
	until(world, 3 * MS);
	ASSERT_OUT(world, 7, 8, 9);
	assert_int_equal(reader.readies, 2);
	assert_true(reader.events & POLLIN);
	/* a hang-up is told, whatever was asked for */
	assert_int_equal(close(reader.fds[1]), 0);
	reader.fds[1] = -1;
	until(world, 4 * MS);
	assert_true(reader.events & POLLHUP);
	flow_world_end(world, 0);
	reader_fini(&reader);
}

static void what_is_still_ready_is_told_again(void **state)
{
	struct reader reader;
	struct flow_world *world = begin_reading(&reads, &reader);
	int i;

	reader.never_reads = true;
	feed(reader.fds[1], 7);
	for (i = 0; i < 1000 && reader.readies < 5; i++)
		assert_true(weir_sim_step(world->base.sim));
	assert_int_equal(reader.readies, 5);
	reader.never_reads = false;
	until(world, 2 * MS);
	ASSERT_OUT(world, 7);
	weir_flow_run_stop(world->run, NULL);
	flow_world_end(world, -ECANCELED);
	reader_fini(&reader);
}

/* --- What is watched, and what not ---------------------------------------- */

/* A wake moves it to the other one, or to none. */
static int watch_first(struct weir_operator *op)
{
	const struct reader *reader = weir_operator_context(op);

	return weir_operator_watch(op, reader->fds[0], POLLIN);
}

static int watch_other(struct weir_operator *op)
{
	const struct reader *reader = weir_operator_context(op);

	assert_int_equal(weir_operator_watch(op, reader->fds[0], POLLPRI),
			 -EINVAL);
	assert_int_equal(weir_operator_watch(op, reader->fds[0], 0), -EINVAL);
	return weir_operator_watch(
		op, reader->never_reads ? -1 : reader->other[0], POLLIN);
}

static int note_ready(struct weir_operator *op, short events)
{
	struct reader *reader = weir_operator_context(op);

	reader->readies++;
	reader->events = events;
	return 0;
}

static const struct weir_operator_ops moves = {
	.open = reader_open,
	.on_pull = watch_first,
	.on_wake = watch_other,
	.on_ready = note_ready,
};

static void nothing_is_heard_of_what_was_watched_before(void **state)
{
	struct reader reader;
	struct flow_world *world = begin_reading(&moves, &reader);

	weir_operator_wake(reader.op);
	until(world, 2 * MS);
	feed(reader.fds[1], 1);
	until(world, 3 * MS);
	assert_int_equal(reader.readies, 0);
	feed(reader.other[1], 1);
	until(world, 4 * MS);
	assert_int_equal(reader.readies, 1);
	/* once: nothing is watched now, though it is still ready */
	until(world, 5 * MS);
	assert_int_equal(reader.readies, 1);
	/* both are ready when it changes its mind */
	weir_operator_wake(reader.op);
	until(world, 6 * MS);
	assert_int_equal(reader.readies, 2);
	reader.never_reads = true;
	weir_operator_wake(reader.op);
	until(world, 7 * MS);
	assert_int_equal(reader.readies, 2);
	weir_flow_run_stop(world->run, NULL);
	flow_world_end(world, -ECANCELED);
	reader_fini(&reader);
}

static void close_first(struct weir_operator *op)
{
	struct reader *reader = weir_operator_context(op);

	assert(close(reader->fds[0]) == 0);
	reader->fds[0] = -1;
}

/* In close() nothing is watched any more, and no thread holds the run. */
static void one_that_waits_is_cancelled_and_may_close_it(void **state)
{
	static const struct weir_operator_ops ops = {
		.open = reader_open,
		.close = close_first,
		.on_pull = read_on,
		.on_ready = read_ready,
	};
	struct reader reader;
	struct flow_world *world = begin_reading(&ops, &reader);

	weir_flow_run_stop(world->run, NULL);
	flow_world_end(world, -ECANCELED);
	assert_int_equal(reader.fds[0], -1);
	assert_int_equal(reader.readies, 0);
	reader_fini(&reader);
}

static int watch_out(struct weir_operator *op)
{
	const struct reader *reader = weir_operator_context(op);

	return weir_operator_watch(op, reader->fds[1], POLLOUT);
}

static int push_events(struct weir_operator *op, short events)
{
	assert_int_equal(weir_operator_push(op, (void *)(intptr_t)events), 0);
	return weir_operator_end(op, NULL);
}

static void room_to_write_is_told(void **state)
{
	static const struct weir_operator_ops ops = {.on_pull = watch_out,
						     .on_ready = push_events};
	struct reader reader;

	reader_init(&reader);
	ASSERT_FLOW(weir_flow_operator_source(&ops, &reader), 0, POLLOUT);
	reader_fini(&reader);
}

/* --- What cannot be watched ----------------------------------------------- */

static int watch_file(struct weir_operator *op)
{
	assert_int_equal(weir_operator_watch(
				 op, *(int *)weir_operator_context(op), POLLIN),
			 0);
	return 0;
}

static int never_ready(struct weir_operator *op, short events)
{
	return -EDOM;
}

static const struct weir_operator_ops files = {
	.name = "files",
	.on_pull = watch_file,
	.on_ready = never_ready,
};

static void a_regular_file_fails_the_stream(void **state)
{
	FILE *file = tmpfile();
	int fd, none = 1000000;

	assert_non_null(file);
	fd = fileno(file);
	assert_flow(weir_flow_operator_source(&files, &fd), false, NULL, 0,
		    -EPERM);
	assert_flow(weir_flow_operator_source(&files, &none), false, NULL, 0,
		    -EBADF);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(weir_operator_watch(NULL, 0, POLLIN), -EINVAL);
}

/* An executor of one's own, whose descriptors are ready when a test says so. */
static struct bare {
	struct weir_executor executor;
	struct weir_task *tasks[8];
	size_t n;
	struct weir_timer *timer;
	struct weir_watch *watch;
	uint64_t now_ns;
} bare;

static int bare_submit(struct weir_executor *executor, struct weir_task *task)
{
	bare.tasks[bare.n++] = task;
	return 0;
}

static uint64_t bare_now(struct weir_executor *executor)
{
	return bare.now_ns;
}

static int bare_timer_arm(struct weir_executor *executor,
			  struct weir_timer *timer, uint64_t at_ns)
{
	bare.timer = timer;
	return 0;
}

static bool bare_timer_cancel(struct weir_executor *executor,
			      struct weir_timer *timer)
{
	bare.timer = NULL;
	return true;
}

static int bare_watch_arm(struct weir_executor *executor,
			  struct weir_watch *watch)
{
	assert_null(bare.watch);
	bare.watch = watch;
	return 0;
}

/* As if another thread were about to fire it. */
static bool bare_watch_cancel(struct weir_executor *executor,
			      struct weir_watch *watch)
{
	return false;
}

static void run_bare(void)
{
	while (bare.n > 0)
		weir_task_run(bare.tasks[--bare.n]);
}

static void fire_bare(short events)
{
	struct weir_watch *watch = bare.watch;

	bare.watch = NULL;
	watch->fire(watch, events);
}

static void where_no_descriptor_is_watched_the_stream_fails(void **state)
{
	static const struct weir_executor_ops ops = {.submit = bare_submit,
						     .now = bare_now};
	struct weir_flow *flow;
	struct weir_error *error;
	struct weir_flow_run *run;
	int fd = 0;

	bare.n = 0;
	assert_int_equal(weir_executor_init(&bare.executor, &ops, NULL), 0);
	flow = weir_flow_ignore(weir_flow_operator_source(&files, &fd));
	assert_int_equal(weir_flow_start(flow, &bare.executor, NULL, &run), 0);
	run_bare();
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, &error), 0);
	assert_int_equal(error->code, -ENOTSUP);
	assert_string_equal(error->origin, "files");
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&bare.executor), 0);
}

/* --- When ------------------------------------------------------------------ */

struct order {
	struct weir_operator *op, *below;
	char log[32];
	size_t n;
	int fd; /* that is watched next */
};

static int note(struct weir_operator *op, char letter)
{
	struct order *order = weir_operator_context(op);

	order->log[order->n++] = letter;
	return 0;
}

static int order_open(struct weir_operator *op)
{
	struct order *order = weir_operator_context(op);

	order->op = op;
	weir_operator_timer_at(op, 1);
	return weir_operator_watch(op, order->fd, POLLIN);
}

static int order_pull(struct weir_operator *op)
{
	return note(op, 'p');
}

static int order_timer(struct weir_operator *op)
{
	return note(op, 't');
}

/* To another one, of which the last is told. */
static int order_wake(struct weir_operator *op)
{
	const struct order *order = weir_operator_context(op);

	(void)note(op, 'w');
	return order->fd > 3 ? weir_operator_watch(op, order->fd, POLLIN) : 0;
}

static int order_ready(struct weir_operator *op, short events)
{
	(void)note(op, 'r');
	return weir_operator_wanted(op)
		       ? weir_operator_push(op, (void *)(intptr_t)events)
		       : 0;
}

/* One below it, which asks for nothing until it is woken. */
static int below_open(struct weir_operator *op)
{
	struct order *order = weir_operator_context(op);

	order->below = op;
	return 0;
}

static int below_pull(struct weir_operator *op)
{
	return 0;
}

static int below_wake(struct weir_operator *op)
{
	return weir_operator_pull(op);
}

static void it_is_told_behind_a_wake_and_before_a_pull(void **state)
{
	static const struct weir_executor_ops on = {
		.submit = bare_submit,
		.now = bare_now,
		.timer_arm = bare_timer_arm,
		.timer_cancel = bare_timer_cancel,
		.watch_arm = bare_watch_arm,
		.watch_cancel = bare_watch_cancel,
	};
	static const struct weir_operator_ops ops = {
		.open = order_open,
		.on_pull = order_pull,
		.on_timer = order_timer,
		.on_wake = order_wake,
		.on_ready = order_ready,
	};
	static const struct weir_operator_ops below = {
		.open = below_open,
		.on_pull = below_pull,
		.on_wake = below_wake,
	};
	struct order order = {.fd = 3};
	struct weir_flow *flow;
	struct weir_flow_run *run;

	bare.n = 0;
	assert_int_equal(weir_executor_init(&bare.executor, &on, NULL), 0);
	flow = weir_flow_operator_source(&ops, &order);
	flow = weir_flow_ignore(weir_flow_operator(flow, &below, &order));
	assert_int_equal(weir_flow_start(flow, &bare.executor, NULL, &run), 0);
	run_bare();
	assert_string_equal(order.log, "");
	assert_int_equal(bare.watch->fd, 3);
	weir_operator_wake(order.op);
	weir_operator_wake(order.below);
	bare.now_ns = 1;
	fire_bare(POLLIN);
	run_bare();
	assert_string_equal(order.log, "wtrp");
	/* watched anew while the one before is about to fire */
	order.fd = 4;
	weir_operator_wake(order.op);
	run_bare();
	assert_int_equal(bare.watch->fd, 4);
	order.fd = 5;
	weir_operator_wake(order.op);
	run_bare();
	assert_int_equal(bare.watch->fd, 4);
	order.fd = 3;
	fire_bare(POLLIN);
	run_bare();
	assert_string_equal(order.log, "wtrpww");
	assert_int_equal(bare.watch->fd, 5);
	fire_bare(POLLIN);
	run_bare();
	assert_string_equal(order.log, "wtrpwwr");
	weir_flow_run_stop(run, NULL);
	run_bare();
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, NULL), 0);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&bare.executor), 0);
}

/* --- Threads -------------------------------------------------------------- */

#define BYTES 2000

static void *write_bytes(void *context)
{
	const struct reader *reader = context;
	unsigned char byte;
	int i;

	for (i = 0; i < BYTES; i++) {
		byte = (unsigned char)i;
		while (write(reader->fds[1], &byte, 1) != 1)
			sched_yield();
		if (i % 16 == 0)
			sched_yield();
	}
	assert(close(reader->fds[1]) == 0);
	return NULL;
}

/* Each in its place, on executors of all kinds. */
static int take_byte(void *item, void *context)
{
	intptr_t *n = context;

	assert((intptr_t)item == (unsigned char)(*n)++);
	return 0;
}

static void run_reading(struct weir_executor *executor)
{
	struct reader reader;
	struct weir_flow *flow;
	pthread_t thread;
	intptr_t n = 0;

	reader_init(&reader);
	assert_int_equal(pthread_create(&thread, NULL, write_bytes, &reader),
			 0);
	flow = weir_flow_operator_source(&reads, &reader);
	flow = weir_flow_for_each(flow, take_byte, &n);
	assert_int_equal(weir_flow_run(flow, executor, NULL), 0);
	assert_int_equal(n, BYTES);
	assert_int_equal(pthread_join(thread, NULL), 0);
	reader.fds[1] = -1;
	weir_flow_free(flow);
	reader_fini(&reader);
}

static void all_executors_that_poll_tell_of_each_byte(void **state)
{
	struct weir_threads_options options = {.workers = 2};
	struct weir_blocking *blocking;
	struct weir_threads *threads;
	struct weir_loop *loop;
	uint64_t i;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	for (i = test_count(20); i > 0; i--)
		run_reading(weir_threads_executor(threads));
	while (weir_threads_free(threads) == -EBUSY)
		sched_yield();
	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	run_reading(weir_loop_executor(loop));
	assert_int_equal(weir_loop_free(loop), 0);
	assert_int_equal(weir_blocking_new(&blocking, NULL), 0);
	run_reading(weir_blocking_executor(blocking));
	while (weir_blocking_free(blocking) == -EBUSY)
		sched_yield();
}

/* --- Memory --------------------------------------------------------------- */

static void without_memory_nothing_is_lost(void **state)
{
	static const struct weir_operator_ops ops = {.on_pull = watch_out,
						     .on_ready = push_events};
	static struct got got;
	struct reader reader;
	struct weir_flow *flow;

	reader_init(&reader);
	flow = into(weir_flow_operator_source(&ops, &reader), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
	reader_fini(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_when_they_are_there),
		cmocka_unit_test(what_is_still_ready_is_told_again),
		cmocka_unit_test(nothing_is_heard_of_what_was_watched_before),
		cmocka_unit_test(one_that_waits_is_cancelled_and_may_close_it),
		cmocka_unit_test(room_to_write_is_told),
		cmocka_unit_test(a_regular_file_fails_the_stream),
		cmocka_unit_test(
			where_no_descriptor_is_watched_the_stream_fails),
		cmocka_unit_test(it_is_told_behind_a_wake_and_before_a_pull),
		cmocka_unit_test(all_executors_that_poll_tell_of_each_byte),
		cmocka_unit_test(without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
