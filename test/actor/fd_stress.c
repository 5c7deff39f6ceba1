/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors on every kind of executor: bytes that come one message at a time,
 * so that a wake that is lost would be the end; connections that come and go,
 * whose numbers are used again at once; peers that go away while the actor is
 * held back. Several threads at once where the executor has threads.
 */
#include "executor/places.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ck_pr.h>

#define THREADS 3
#define BYTES 64

static const struct kind *const kinds[] = {&threads, &blocking, &loop, &sim};

/* --- An echo -------------------------------------------------------------- */

struct echo {
	struct weir_actor actor;
	struct weir_fd fd;
	bool drains;	   /* a short read is the last, for now */
	uint32_t released; /* atomic */
	int hung_up;	   /* events */
};

static int send_back(int fd, const char *bytes, size_t n)
{
	ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

	return sent == (ssize_t)n ? 0 : -EIO;
}

static inline int echo_turn(struct weir_actor *actor)
{
	struct echo *self = weir_container_of(actor, struct echo, actor);
	char bytes[BYTES];
	ssize_t n = recv(self->fd.watch.fd, bytes, sizeof(bytes), 0);

	if (n == 0)
		return weir_actor_end(actor);
	if (n < 0)
		return errno == EAGAIN ? weir_fd_again(&self->fd) : -errno;
	if (self->drains && n < BYTES)
		(void)weir_fd_drained(&self->fd);
	return send_back(self->fd.watch.fd, bytes, (size_t)n);
}
WEIR_TURN(echo_turn)

static int echo_hung_up(struct weir_actor *actor, struct weir_fd *fd,
			short events)
{
	struct echo *self = weir_container_of(actor, struct echo, actor);

	assert_ptr_equal(fd, &self->fd);
	assert_true(events & (POLLRDHUP | POLLHUP | POLLERR));
	self->hung_up |= events;
	return 0;
}

static void echo_released(struct weir_actor *actor)
{
	struct echo *self = weir_container_of(actor, struct echo, actor);

	ck_pr_fence_release();
	ck_pr_store_32(&self->released, 1);
}

static const struct weir_actor_ops echo_ops = {
	.turns = echo_turn_n,
	.hung_up = echo_hung_up,
	.released = echo_released,
};

static void echo_start(struct echo *self, const struct place *place, int fd)
{
	assert_int_equal(
		weir_actor_init(&self->actor, &echo_ops, place->executor), 0);
	assert_int_equal(weir_fd_init(&self->fd, &self->actor, fd, POLLIN), 0);
	assert_int_equal(weir_actor_start(&self->actor), 0);
}

static void drive(struct place *place)
{
	place->kind->drive(place);
	if (place->kind->has_threads)
		sched_yield();
}

static void wait_released(struct place *place, struct echo *self)
{
	while (!ck_pr_load_32(&self->released))
		drive(place);
	ck_pr_fence_acquire();
}

/* --- A client ------------------------------------------------------------- */

static void receive(struct place *place, int fd, char *bytes, size_t n)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	ssize_t got;

	while (n > 0) {
		while (poll(&ready, 1, place->kind->has_threads ? -1 : 0) == 0)
			drive(place);
		got = recv(fd, bytes, n, 0);
		assert_true(got > 0);
		bytes += got;
		n -= (size_t)got;
	}
}

/* Messages of 1 to 2 * BYTES, of which some are a whole number of reads. */
static void talk(struct place *place, int fd, size_t rounds)
{
	char sent[2 * BYTES], got[2 * BYTES];
	size_t i, n;

	for (i = 0; i < rounds; i++) {
		n = i % 5 ? 1 + i * 7 % sizeof(sent) : BYTES;
		memset(sent, 'a' + (int)(i % 26), n);
		assert_int_equal(send(fd, sent, n, 0), n);
		receive(place, fd, got, n);
		assert_memory_equal(sent, got, n);
	}
}

/* The peer's last bytes come with its end, or before it, or there are none. */
static void converse(struct place *place, bool drains, size_t rounds)
{
	struct echo echo = {.drains = drains};
	char byte;
	int ends[2];

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	echo_start(&echo, place, ends[0]);
	talk(place, ends[1], rounds);
	if (rounds % 3 == 1)
		assert_int_equal(send(ends[1], "x", 1, 0), 1);
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	if (rounds % 3 == 1)
		receive(place, ends[1], &byte, 1);
	wait_released(place, &echo);
	close(ends[0]);
	close(ends[1]);
}

struct talker {
	struct place *place;
	pthread_t thread;
};

static void *talker_main(void *argument)
{
	struct talker *self = argument;
	size_t n = test_count(300), i;

	for (i = 0; i < n; i++)
		converse(self->place, i % 2, i % 10);
	return NULL;
}

static void converse_at_once(struct place *place)
{
	struct talker talkers[THREADS];
	size_t i;

	for (i = 0; i < THREADS; i++) {
		talkers[i].place = place;
		assert_int_equal(pthread_create(&talkers[i].thread, NULL,
						talker_main, &talkers[i]),
				 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(talkers[i].thread, NULL);
}

static void each_message_comes_back(void **state)
{
	struct place place;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		place_make(&place, kinds[i]);
		converse(&place, false, test_count(3000));
		converse(&place, true, test_count(3000));
		while (place.kind->free(&place) == -EBUSY)
			drive(&place);
	}
}

static void connections_come_and_go(void **state)
{
	struct place place;
	size_t i, j, n = test_count(300);

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		place_make(&place, kinds[i]);
		if (place.kind->has_threads)
			converse_at_once(&place);
		for (j = 0; !place.kind->has_threads && j < n; j++)
			converse(&place, j % 2, j % 10);
		while (place.kind->free(&place) == -EBUSY)
			drive(&place);
	}
}

/* --- Peers that go away --------------------------------------------------- */

/* An actor that never runs, for it waits for a permit as well. */
struct held {
	struct weir_actor actor;
	struct weir_fd in, out;
	struct weir_permits permits;
	uint32_t told;	   /* atomic: events, by either port */
	uint32_t released; /* atomic */
};

static int held_hung_up(struct weir_actor *actor, struct weir_fd *fd,
			short events)
{
	struct held *self = weir_container_of(actor, struct held, actor);

	ck_pr_or_32(&self->told, (uint16_t)events);
	return events & POLLHUP ? weir_actor_end(actor) : 0;
}

static void held_released(struct weir_actor *actor)
{
	struct held *self = weir_container_of(actor, struct held, actor);

	ck_pr_fence_release();
	ck_pr_store_32(&self->released, 1);
}

static uint32_t held_turns(struct weir_actor *actor, uint32_t n)
{
	fail();
	return n;
}

static const struct weir_actor_ops held_ops = {
	.turns = held_turns,
	.hung_up = held_hung_up,
	.released = held_released,
};

static void held_start(struct held *self, const struct place *place, int fd)
{
	*self = (struct held){0};
	assert_int_equal(
		weir_actor_init(&self->actor, &held_ops, place->executor), 0);
	assert_int_equal(weir_permits_init(&self->permits, &self->actor, 0), 0);
	assert_int_equal(weir_fd_init(&self->in, &self->actor, fd, POLLIN), 0);
	assert_int_equal(weir_fd_init(&self->out, &self->actor, fd, POLLOUT),
			 0);
	assert_int_equal(weir_actor_start(&self->actor), 0);
}

static void wait_told(struct place *place, struct held *self, uint32_t events)
{
	while ((ck_pr_load_32(&self->told) & events) != events)
		drive(place);
}

static void who_is_held_back_hears_that_the_peer_has_gone(void **state)
{
	struct place place;
	struct held held;
	size_t i, j, n = test_count(100);
	int ends[2];

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		place_make(&place, kinds[i]);
		for (j = 0; j < n; j++) {
			assert_int_equal(
				socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
			held_start(&held, &place, ends[0]);
			/* bytes that nobody reads hold nothing back */
			assert_int_equal(write(ends[1], "x", 1), 1);
			if (j % 2) {
				assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
				wait_told(&place, &held, POLLRDHUP);
				assert_false(ck_pr_load_32(&held.told) &
					     POLLHUP);
			}
			close(ends[1]);
			wait_told(&place, &held, POLLHUP | POLLRDHUP);
			while (!ck_pr_load_32(&held.released))
				drive(&place);
			close(ends[0]);
		}
		while (place.kind->free(&place) == -EBUSY)
			drive(&place);
	}
}

static void a_stop_may_meet_what_comes(void **state)
{
	struct place place;
	struct held held;
	size_t i, j, n = test_count(1000);
	int ends[2];

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		place_make(&place, kinds[i]);
		for (j = 0; j < n; j++) {
			assert_int_equal(
				socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
			held_start(&held, &place, ends[0]);
			if (j % 3)
				drive(&place);
			assert_int_equal(write(ends[1], "x", 1), 1);
			weir_actor_stop(&held.actor);
			while (!ck_pr_load_32(&held.released))
				drive(&place);
			close(ends[0]);
			close(ends[1]);
		}
		while (place.kind->free(&place) == -EBUSY)
			drive(&place);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_message_comes_back),
		cmocka_unit_test(connections_come_and_go),
		cmocka_unit_test(who_is_held_back_hears_that_the_peer_has_gone),
		cmocka_unit_test(a_stop_may_meet_what_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
