/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with a poll(2) loop of its own runs a pipeline in it. There is no
 * other thread: weir_loop_fd() says when there is something to do, and
 * weir_loop_run() does it.
 *
 *	socket ──> receive ──> parse ──> add
 *
 * receive  an actor of our own: a descriptor port and an out-port
 * parse    a transformer: chunks of text in, the numbers in them out
 * add      a consumer
 *
 * The program also plays the peer that sends numbers, a line each. First it
 * holds `add` back: the stages fill up to their capacities, `receive` stops
 * reading, the socket fills up, and the peer has to wait. While nothing can
 * move, poll() sleeps, although the socket is readable. Then it lets `add` go
 * on. In a real program all of that would be somebody else's doing.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/weir.h>

#define NUMBERS 200000
#define CHUNK 256
#define CAPACITY 8
#define QUIET_MS 100

struct chunk {
	size_t length;
	char bytes[CHUNK];
};

struct receiver {
	struct weir_actor actor;
	struct weir_fd readable;
	struct weir_out out;
	int socket;
	uint64_t bytes;
};

struct program {
	struct weir_loop *loop;
	struct receiver receive;
	struct weir_transformer parse;
	struct weir_consumer add;
	size_t at;	  /* parse: in the chunk */
	uintptr_t number; /* and what it has read of a number */
	uint64_t sum, count;
	int code; /* how it ended */
	int peer; /* where numbers are sent, -1: no more */
	uint64_t next, sent;
	char text[4096]; /* what is to be sent next */
	size_t left;	 /* so many bytes of it */
};

static void chunk_drop(void *item, void *context)
{
	(void)context;
	free(item);
}

static const struct weir_items chunks = {.drop = chunk_drop};

/* --- The stages ----------------------------------------------------------- */

/* One turn: it runs when the socket is readable and `parse` has room. */
static inline int receive(struct weir_actor *actor)
{
	struct receiver *self =
		weir_container_of(actor, struct receiver, actor);
	struct chunk *chunk;
	char bytes[CHUNK];
	ssize_t n;

	n = recv(self->socket, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n == 0)
		return weir_actor_end(actor);
	if (n < 0 && errno == EAGAIN)
		return weir_fd_again(&self->readable);
	if (n < 0)
		return -errno;
	chunk = malloc(sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->length = (size_t)n;
	memcpy(chunk->bytes, bytes, (size_t)n);
	self->bytes += (uint64_t)n;
	return weir_out_put(&self->out, chunk);
}
WEIR_TURN(receive)

static const struct weir_actor_ops receive_ops = {
	.name = "receive",
	.turns = receive_n,
};

static int receiver_init(struct receiver *self, struct weir_executor *executor,
			 int fd)
{
	int rc = weir_actor_init(&self->actor, &receive_ops, executor);

	self->socket = fd;
	if (rc == 0)
		rc = weir_fd_init(&self->readable, &self->actor, fd, POLLIN);
	if (rc == 0)
		rc = weir_out_init(&self->out, &self->actor, &chunks);
	return rc;
}

/* A number a call, for there is room for one; plain values need no memory. */
static int parse(void *item, struct weir_out *out, void *context)
{
	struct program *self = context;
	struct chunk *chunk = item;
	uintptr_t number;

	while (self->at < chunk->length) {
		char c = chunk->bytes[self->at++];

		if (c != '\n') {
			self->number = self->number * 10 + (uintptr_t)(c - '0');
			continue;
		}
		number = self->number;
		self->number = 0;
		(void)weir_out_put(out, (void *)number);
		return WEIR_TRANSFORM_MORE;
	}
	self->at = 0;
	free(chunk);
	return 0;
}

static int add(void *item, void *context)
{
	struct program *self = context;

	self->sum += (uintptr_t)item;
	self->count++;
	return 0;
}

static void add_done(struct weir_error *error, void *context)
{
	((struct program *)context)->code = error ? error->code : 0;
}

static int start(struct program *self, int fd)
{
	struct weir_executor *executor = weir_loop_executor(self->loop);
	struct weir_actor *actors[] = {&self->receive.actor, &self->parse.actor,
				       &self->add.actor};
	int rc = receiver_init(&self->receive, executor, fd);

	if (rc == 0)
		rc = weir_transformer_init(&self->parse, executor,
					   &(struct weir_transformer_options){
						   .name = "parse",
						   .context = self,
						   .transform = parse,
						   .capacity = CAPACITY,
					   });
	if (rc == 0)
		rc = weir_consumer_init(&self->add, executor,
					&(struct weir_consumer_options){
						.name = "add",
						.context = self,
						.consume = add,
						.done = add_done,
						.capacity = CAPACITY,
					});
	return rc < 0 ? rc : weir_chain_start(actors, 3);
}

/* --- The peer ------------------------------------------------------------- */

static bool has_more(const struct program *self)
{
	return self->left || self->next < NUMBERS;
}

/* Some more lines, behind what could not be sent. */
static void write_lines(struct program *self)
{
	while (self->next < NUMBERS && self->left + 24 < sizeof(self->text))
		self->left += (size_t)snprintf(self->text + self->left, 24,
					       "%" PRIu64 "\n", ++self->next);
}

/* Sends as much as the socket takes. */
static void feed(struct program *self)
{
	ssize_t n;

	while (has_more(self)) {
		write_lines(self);
		n = send(self->peer, self->text, self->left,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			return;
		self->sent += (uint64_t)n;
		self->left -= (size_t)n;
		memmove(self->text, self->text + n, self->left);
	}
}

/* --- The program's own loop ----------------------------------------------- */

/* One turn of it. False: nothing has happened for that long. */
static bool turn(struct program *self, int timeout_ms)
{
	struct pollfd fds[] = {
		{.fd = weir_loop_fd(self->loop), .events = POLLIN},
		{.fd = has_more(self) ? self->peer : -1, .events = POLLOUT},
	};

	if (poll(fds, 2, timeout_ms) <= 0)
		return false;
	if (fds[0].revents)
		(void)weir_loop_run(self->loop, 16);
	if (fds[1].revents)
		feed(self);
	return true;
}

/* Until nothing can move; then how often poll() wakes up nevertheless. */
static unsigned int rest(struct program *self)
{
	unsigned int wakeups = 0;

	while (turn(self, 0))
		;
	while (turn(self, QUIET_MS))
		wakeups++;
	return wakeups;
}

static void run(struct program *self)
{
	unsigned int wakeups = rest(self);
	int size = 0;
	socklen_t length = sizeof(size);

	getsockopt(self->peer, SOL_SOCKET, SO_SNDBUF, &size, &length);
	printf("held: %" PRIu64 " bytes received, %d fit into the stages\n",
	       self->receive.bytes, CAPACITY * CHUNK);
	printf("held: %" PRIu64 " bytes in the socket, it takes %d\n",
	       self->sent - self->receive.bytes, size);
	printf("held: %u wake-ups\n", wakeups);
	weir_actor_resume(&self->add.actor);
	weir_actor_unref(&self->add.actor);
	wakeups = rest(self);
	printf("idle: %u wake-ups\n", wakeups);
	close(self->peer);
	while (weir_executor_alive(weir_loop_executor(self->loop)))
		turn(self, -1);
	printf("sum of %" PRIu64 " numbers: %" PRIu64 "\n", self->count,
	       self->sum);
}

int main(void)
{
	struct program self = {.next = 0};
	int ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) {
		perror("embed_poll: socketpair");
		return 1;
	}
	self.peer = ends[0];
	rc = weir_loop_new(&self.loop, NULL);
	if (rc == 0)
		rc = start(&self, ends[1]);
	if (rc == 0) {
		weir_actor_ref(&self.add.actor);
		weir_actor_suspend(&self.add.actor);
		run(&self);
		rc = self.code;
	}
	if (rc < 0)
		fprintf(stderr, "embed_poll: %s\n", strerror(-rc));
	close(ends[1]);
	return weir_loop_free(self.loop) < 0 || rc < 0;
}
