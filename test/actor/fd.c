/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports that wait for a descriptor. */
#include "actor/kit.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* Reads a pipe until it is empty or at its end. */
struct reader {
	struct weir_actor actor;
	struct weir_fd fd;
	size_t bytes, turns;
	bool ended;
};

static inline int reader_turn(struct weir_actor *actor)
{
	struct reader *self = weir_container_of(actor, struct reader, actor);
	char buffer[3];
	ssize_t n = read(self->fd.watch.fd, buffer, sizeof(buffer));

	self->turns++;
	if (n > 0) {
		self->bytes += (size_t)n;
		return 0;
	}
	if (n < 0)
		return errno == EAGAIN ? weir_fd_again(&self->fd) : -errno;
	self->ended = true;
	return weir_actor_end(actor);
}
WEIR_TURN(reader_turn)

static const struct weir_actor_ops reader_ops = {.turns = reader_turn_n};

static void a_descriptor_unblocks_when_it_is_ready(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct reader reader = {0};
	size_t turns;
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	weir_actor_init(&reader.actor, &reader_ops, weir_sim_executor(sim));
	assert_int_equal(
		weir_fd_init(&reader.fd, &reader.actor, ends[0], POLLIN), 0);
	assert_int_equal(weir_actor_start(&reader.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(reader.turns, 0);
	assert_int_equal(write(ends[1], "0123456789", 10), 10);
	weir_sim_run(sim);
	assert_int_equal(reader.bytes, 10);
	turns = reader.turns;
	weir_sim_run(sim);
	assert_int_equal(reader.turns, turns);
	assert_int_equal(write(ends[1], "ab", 2), 2);
	weir_sim_run(sim);
	assert_int_equal(reader.bytes, 12);
	close(ends[1]);
	weir_sim_run(sim);
	assert_true(reader.ended);
	close(ends[0]);
	sim_free(sim);
}

static void an_actor_that_waits_for_a_descriptor_can_be_stopped(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct reader reader = {0};
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	weir_actor_init(&reader.actor, &reader_ops, weir_sim_executor(sim));
	weir_fd_init(&reader.fd, &reader.actor, ends[0], POLLIN);
	assert_int_equal(weir_actor_start(&reader.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(reader.actor.refs, 2);
	/* it may be looked at meanwhile */
	weir_actor_signal(&reader.actor);
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 1);
	assert_int_equal(reader.actor.refs, 2);
	weir_actor_stop(&reader.actor);
	weir_sim_run(sim);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 0);
	close(ends[0]);
	close(ends[1]);
	sim_free(sim);
}

static void descriptors_that_cannot_be_waited_for_are_refused(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct reader reader = {0};
	char name[] = "/tmp/weir-test-XXXXXX";
	int file = mkstemp(name);

	assert_true(file >= 0);
	unlink(name);
	weir_actor_init(&reader.actor, &reader_ops, weir_sim_executor(sim));
	assert_int_equal(weir_fd_init(NULL, &reader.actor, 0, POLLIN), -EINVAL);
	assert_int_equal(weir_fd_init(&reader.fd, &reader.actor, 0, 0),
			 -EINVAL);
	assert_int_equal(weir_fd_init(&reader.fd, &reader.actor, 0, POLLPRI),
			 -EINVAL);
	assert_int_equal(weir_fd_init(&reader.fd, &reader.actor, -1, POLLIN),
			 -EBADF);
	assert_int_equal(weir_fd_init(&reader.fd, &reader.actor, file, POLLIN),
			 -EPERM);
	assert_null(reader.actor.ports);
	close(file);
	sim_free(sim);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_descriptor_unblocks_when_it_is_ready),
		cmocka_unit_test(
			an_actor_that_waits_for_a_descriptor_can_be_stopped),
		cmocka_unit_test(
			descriptors_that_cannot_be_waited_for_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
