/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two halves of a connection, each a run of its own on a thread of its own,
 * over a socket of the kernel's: one fails, ends or is cancelled while the other
 * does something else, or somebody stops the connection. Both are told, and the
 * socket is closed once.
 */
#include <weir/connection.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crossing.h"
#include "net/connection.h"

enum { READS, WRITES };

struct halves {
	struct crossing crossing; /* first; of which the scene is used */
	struct weir_connection *connection;
	int fd;
	struct {
		struct weir_flow *flow;
		struct weir_flow_run *run;
		uint32_t over; /* atomic */
		int code;      /* before that */
	} half[2];
	uint32_t closed; /* how often the socket was */
};

static struct halves halves;

/* Open: of an execution that is left early nobody closes the sockets, until the
 * next one begins. */
static int opened[2] = {-1, -1};

/* NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	if (fd == halves.fd) {
		halves.closed++;
		opened[0] = -1;
	}
	return __real_close(fd);
}
/* NOLINTEND(bugprone-reserved-identifier) */

static void close_peer(void)
{
	explorer_assert(__real_close(opened[1]) == 0);
	opened[1] = -1;
}

/* --- What threads do ------------------------------------------------------ */

static void slices(void *context, uint32_t place)
{
	while (scene_run(context, SCENE_ACTORS + place))
		;
}

static void read_half(void *context)
{
	slices(context, READS);
}

static void write_half(void *context)
{
	slices(context, WRITES);
}

static void both_halves(void *context)
{
	read_half(context);
	write_half(context);
	read_half(context);
}

static void stop_connection(void *context)
{
	struct halves *h = context;

	weir_connection_stop(h->connection);
}

static void stop_reading(void *context)
{
	struct halves *h = context;

	weir_flow_run_stop(h->half[READS].run, NULL);
}

static void stop_writing(void *context)
{
	struct halves *h = context;

	weir_flow_run_stop(h->half[WRITES].run, NULL);
}

static void fail_and_read(void *context)
{
	weir__connection_fail(((struct halves *)context)->connection, -EIO);
	read_half(context);
}

static void fail_and_write(void *context)
{
	weir__connection_fail(((struct halves *)context)->connection, -ETIME);
	write_half(context);
}

static void stop_writing_and_work(void *context)
{
	stop_writing(context);
	write_half(context);
}

static void stop_reading_and_work(void *context)
{
	stop_reading(context);
	read_half(context);
}

/* --- Setups --------------------------------------------------------------- */

/* No descriptor ever fires: whoever waits is woken by the other half. */
static int watch_arm(struct weir_executor *executor, struct weir_watch *watch)
{
	explorer_assert(watch->edges && watch->fd == halves.fd);
	return 0;
}

static bool watch_cancel(struct weir_executor *executor,
			 struct weir_watch *watch)
{
	return true;
}

static struct halves *open_halves(void *context)
{
	static struct weir_executor_ops ops;
	struct halves *h = context;
	struct weir_executor *executor;

	if (opened[0] >= 0)
		(void)__real_close(opened[0]);
	if (opened[1] >= 0)
		close_peer();
	explorer_name(h, sizeof(*h), "halves");
	executor = &crossing_open(&h->crossing)->scene.executor;
	ops = *executor->ops;
	ops.watch_arm = watch_arm;
	ops.watch_cancel = watch_cancel;
	executor->ops = &ops;
	explorer_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				   opened) == 0);
	h->fd = opened[0];
	explorer_assert(weir_connection_new(&h->connection, h->fd, NULL,
					    executor->options.allocator) == 0);
	return h;
}

static int drop_bytes(void *item, void *context)
{
	weir_flow_bytes_unref(item);
	return 0;
}

/* One byte, then the end. */
static int next_byte(void **state, void **item, void *context)
{
	struct halves *h = context;
	struct weir_flow_bytes *bytes;

	if (*state)
		return 0;
	*state = h;
	explorer_assert(weir_flow_bytes_new(
				&bytes, 1,
				h->crossing.scene.executor.options.allocator) ==
			0);
	bytes->data[0] = 'x';
	*item = bytes;
	return 1;
}

static void is_over(struct halves *h, int half, struct weir_error *error)
{
	h->half[half].code = error ? error->code : 0;
	ck_pr_fence_release();
	explorer_assert(ck_pr_faa_32(&h->half[half].over, 1) == 0);
}

static void reading_over(struct weir_error *error, void *result, void *context)
{
	is_over(context, READS, error);
}

static void writing_over(struct weir_error *error, void *result, void *context)
{
	is_over(context, WRITES, error);
}

static void start(struct halves *h, int half, struct weir_flow *flow)
{
	const struct weir_flow_run_options options = {
		.done = half == READS ? reading_over : writing_over,
		.context = h,
	};

	h->half[half].flow = flow;
	explorer_assert(weir_flow_start(flow, &h->crossing.scene.executor,
					&options, &h->half[half].run) == 0);
}

/* `made`: what is written. The user has given up the connection. */
static void start_both(struct halves *h, struct weir_flow *made)
{
	made = weir_flow_items(made, weir_flow_bytes_items());
	start(h, READS,
	      weir_flow_for_each(weir_connection_read(h->connection, 16),
				 drop_bytes, NULL));
	start(h, WRITES,
	      weir_flow_ignore(weir_connection_write(made, h->connection)));
}

/* One byte is to be written, and then the end. */
static void to_be_written(void *context)
{
	struct halves *h = open_halves(context);

	start_both(h, weir_flow_unfold(NULL, next_byte, h));
}

/* The peer is gone, and has left a byte unread. */
static void peer_has_reset(void *context)
{
	struct halves *h = context;

	to_be_written(h);
	explorer_assert(send(h->fd, "y", 1, 0) == 1);
	close_peer();
}

/* The peer has sent what nobody will take: who reads has waited for it. */
static void peer_has_said_more(void *context)
{
	to_be_written(context);
	read_half(context);
	explorer_assert(send(opened[1], "zzz", 3, 0) == 3);
	explorer_assert(shutdown(opened[1], SHUT_WR) == 0);
}

/* The peer has nothing more to say. */
static void peer_has_ended(void *context)
{
	struct halves *h = context;

	to_be_written(h);
	explorer_assert(shutdown(opened[1], SHUT_WR) == 0);
}

/* Both wait: for the peer, and for something to write. */
static void both_wait(void *context)
{
	struct halves *h = open_halves(context);

	start_both(h, weir_flow_never());
	scene_settle(&h->crossing.scene);
	explorer_assert(!h->half[READS].over && !h->half[WRITES].over);
}

/* The same, and nobody but the runs has the connection. */
static void both_wait_alone(void *context)
{
	struct halves *h = context;

	both_wait(h);
	weir_connection_unref(h->connection);
	h->connection = NULL;
}

/* --- Checks --------------------------------------------------------------- */

static struct halves *over_and_closed(void *context)
{
	struct halves *h = context;
	int i;

	scene_settle(&h->crossing.scene);
	for (i = 0; i < 2; i++) {
		explorer_assert(h->half[i].over == 1);
		weir_flow_run_free(h->half[i].run);
		weir_flow_free(h->half[i].flow);
	}
	if (h->connection) {
		explorer_assert(h->closed == 0);
		weir_connection_unref(h->connection);
	}
	explorer_assert(h->closed == 1);
	if (opened[1] >= 0)
		close_peer();
	scene_is_over(&h->crossing.scene);
	return h;
}

static void both_were_reset(void *context)
{
	const struct halves *h = over_and_closed(context);

	explorer_assert(h->half[READS].code == -ECONNRESET);
	explorer_assert(h->half[WRITES].code == -ECONNRESET);
}

static void both_ended_well(void *context)
{
	const struct halves *h = over_and_closed(context);

	explorer_assert(h->half[READS].code == 0);
	explorer_assert(h->half[WRITES].code == 0);
}

/* Who was stopped may have come to its end before. */
static void reader_was_stopped(void *context)
{
	const struct halves *h = over_and_closed(context);
	int code = h->half[READS].code;

	explorer_assert(code == -ECANCELED || code == 0);
	explorer_assert(h->half[WRITES].code == 0);
}

/* What was written has come, and no reset behind it. */
static void nothing_was_cut_off(void *context)
{
	const struct halves *h = context;
	char got;
	int peer;

	scene_settle(&((struct halves *)context)->crossing.scene);
	peer = dup(opened[1]);
	reader_was_stopped(context);
	explorer_assert(h->half[WRITES].code == 0);
	explorer_assert(recv(peer, &got, 1, MSG_DONTWAIT) == 1 && got == 'x');
	explorer_assert(recv(peer, &got, 1, MSG_DONTWAIT) == 0);
	explorer_assert(__real_close(peer) == 0);
}

/* Of the first error. */
static void both_were_told_the_same(void *context)
{
	const struct halves *h = over_and_closed(context);
	int code = h->half[READS].code;

	explorer_assert(code == -EIO || code == -ETIME);
	explorer_assert(h->half[WRITES].code == code);
}

static void writer_was_stopped(void *context)
{
	const struct halves *h = over_and_closed(context);

	explorer_assert(h->half[READS].code == -ECONNRESET);
	explorer_assert(h->half[WRITES].code == -ECANCELED);
}

/* Both by their users; or the reader by the end of the writer. */
static void both_were_stopped(void *context)
{
	const struct halves *h = over_and_closed(context);
	int code = h->half[READS].code;

	explorer_assert(code == -ECANCELED || code == -ECONNRESET);
	explorer_assert(h->half[WRITES].code == -ECANCELED);
}

#define HALVES(...) \
	{ \
		.context = &halves, .context_size = sizeof(halves), \
		__VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	HALVES(.name = "one reads, one writes, the peer has ended",
	       .setup = peer_has_ended, .thread = {read_half, write_half},
	       .check = both_ended_well),
	HALVES(.name = "one reads, one writes, the peer has reset",
	       .setup = peer_has_reset, .thread = {read_half, write_half},
	       .check = both_were_reset),
	HALVES(.name = "the reader is stopped as the writer ends",
	       .setup = peer_has_ended,
	       .thread = {stop_reading_and_work, write_half},
	       .check = reader_was_stopped),
	HALVES(.name = "the writer is stopped as the reader waits",
	       .setup = both_wait, .thread = {stop_writing_and_work, read_half},
	       .check = writer_was_stopped),
	HALVES(.name = "the connection is stopped as both wait",
	       .setup = both_wait, .thread = {stop_connection, both_halves},
	       .check = both_were_reset),
	HALVES(.name = "the connection is stopped, and two work",
	       .setup = both_wait,
	       .thread = {stop_connection, read_half, write_half},
	       .check = both_were_reset),
	HALVES(.name = "the reader is stopped, and leaves bytes",
	       .setup = peer_has_said_more,
	       .thread = {stop_reading_and_work, write_half},
	       .check = nothing_was_cut_off),
	HALVES(.name = "two find different errors", .setup = both_wait,
	       .thread = {fail_and_read, fail_and_write},
	       .check = both_were_told_the_same),
	HALVES(.name = "both are stopped", .setup = both_wait_alone,
	       .thread = {stop_reading_and_work, stop_writing_and_work},
	       .check = both_were_stopped),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

static const struct explorer_exception exceptions[] = {
	{"read.c", "read_end", "ck_pr_or_32", 0,
	 "the end that is forgotten is read again by who discards, and behind "
	 "it nothing is left to discard"},
	{"connection.c", "weir__connection_discard", "ck_pr_or_32", 0,
	 "as in read_end(); what the other half sets was set before"},
};

const struct model_case model_cases[] = {
	{.name = "both_halves_are_told", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/net/",
	 EXCEPTIONS(exceptions)},
};
const size_t n_model_cases = N_OF(model_cases);
