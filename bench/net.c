/* SPDX-License-Identifier: BSD-2-Clause */
/* The clients of W7, W8 and W9, and the servers by hand. See net.h. */
#include "net.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHUNK NET_BULK_SIZE /* a client's records, at once */
#define ROOM (1 << 18)	    /* of a harness's socket: for a chunk */
#define PATIENCE_MS 10000

struct client {
	int fd;
	bool behind;	    /* the proxy: it sends back what comes */
	uint64_t next, end; /* its records */
	size_t size, got;
	char sent[CHUNK], expected[CHUNK], came[CHUNK];
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of all threads but this one, or of the process outside. */
static uint64_t others_cpu_ns(const struct net *net)
{
	clockid_t clock;

	if (net->outside)
		return clock_getcpuclockid(net->outside, &clock) == 0
			       ? clock_ns(clock)
			       : 0;
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) -
	       clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* --- Connections ---------------------------------------------------------- */

static int without_delay(int fd)
{
	int one = 1;

	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0
		       ? -errno
		       : 0;
}

/* A listener at a port that is free. */
static int listen_at(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET};
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)at, n) < 0 ||
	    listen(fd, NET_MAX) < 0 ||
	    getsockname(fd, (struct sockaddr *)at, &n) < 0)
		return -errno;
	return fd;
}

/* What the harness sends never waits for who reads it: it has one thread. */
static int make_room(int fd)
{
	int room = ROOM;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) < 0)
		return -errno;
	return 0;
}

/* A socket of the harness, connected; or a negative errno. */
static int connect_to(const struct net *net, const struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;

	if (fd < 0)
		return -errno;
	if (net->proxy)
		rc = make_room(fd);
	if (rc == 0 &&
	    connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0)
		rc = -errno;
	if (rc == 0)
		rc = without_delay(fd);
	return rc < 0 ? rc : fd;
}

/* Both ends of a connection: the harness's, and the server's. */
static int connect_one(const struct net *net, int listener,
		       const struct sockaddr_in *at, int *ours, int *theirs)
{
	*ours = connect_to(net, at);
	if (*ours < 0)
		return *ours;
	*theirs = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return *theirs < 0 ? -errno : without_delay(*theirs);
}

static int connect_all(struct net *net)
{
	struct sockaddr_in at;
	int listener = listen_at(&at), rc = listener < 0 ? listener : 0;

	for (unsigned i = 0; i < net->n && rc == 0; i++) {
		rc = connect_one(net, listener, &at, &net->clients[i],
				 &net->fds[i]);
		if (rc == 0 && net->proxy)
			rc = connect_one(net, listener, &at, &net->behind[i],
					 &net->ups[i]);
	}
	close(listener);
	return rc;
}

/* --- Clients -------------------------------------------------------------- */

/* A number, letters, and of a line its end. */
static void record(const struct net *net, char *to, uint64_t number)
{
	char digits[17];

	snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)number);
	memcpy(to, digits, 16);
	memset(to + 16, 'l', net->size - 16);
	if (net->lines)
		to[net->size - 1] = '\n';
}

static int client_send(const struct net *net, struct client *client)
{
	for (unsigned i = 0; i < net->at_once; i++)
		record(net, client->sent + i * net->size, client->next + i);
	client->size = net->size * net->at_once;
	client->got = 0;
	memcpy(client->expected, client->sent, client->size);
	if (net->lines)
		net_shout(client->expected, client->sent, client->size);
	if (send(client->fd, client->sent, client->size, MSG_NOSIGNAL) !=
	    (ssize_t)client->size)
		return -EIO;
	return 0;
}

/* What is behind the proxy: it has room for what a client sends at once. */
static int send_back(struct client *client)
{
	ssize_t n = recv(client->fd, client->came, CHUNK, 0);

	if (n <= 0)
		return -EPIPE;
	return send(client->fd, client->came, (size_t)n, MSG_NOSIGNAL) == n
		       ? 0
		       : -EIO;
}

/* 1: it has got all of its records. */
static int client_receive(struct net *net, struct client *client)
{
	ssize_t n;

	if (client->behind)
		return send_back(client);
	n = recv(client->fd, client->came + client->got,
		 client->size - client->got, 0);
	if (n <= 0)
		return -EPIPE;
	client->got += (size_t)n;
	if (client->got < client->size)
		return 0;
	if (memcmp(client->came, client->expected, client->size) != 0)
		return -EBADMSG;
	for (unsigned i = 0; i < net->at_once; i++)
		net->sum += client->next + i;
	net->count += net->at_once;
	client->next += net->at_once;
	if (client->next == client->end)
		return 1;
	return client_send(net, client);
}

static int clients_run(struct net *net, struct client *clients, int epoll)
{
	struct epoll_event events[NET_MAX];
	unsigned left = net->n;
	int rc = 0, n;

	for (unsigned i = 0; i < net->n && rc == 0; i++)
		rc = client_send(net, &clients[i]);
	while (left > 0 && rc >= 0) {
		n = epoll_wait(epoll, events, NET_MAX, -1);
		for (int i = 0; i < n && rc >= 0; i++) {
			rc = client_receive(net, events[i].data.ptr);
			left -= rc == 1;
		}
	}
	return rc < 0 ? rc : 0;
}

static int watch(int epoll, struct client *client, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};

	client->fd = fd;
	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Behind all clients are those that send back. */
static int clients_start(struct net *net, struct client *clients, int epoll)
{
	int rc = 0;

	for (unsigned i = 0; i < net->n && rc == 0; i++) {
		clients[i].next = net->items / net->n * i;
		clients[i].end = net->items / net->n * (i + 1);
		rc = watch(epoll, &clients[i], net->clients[i]);
		if (rc < 0 || !net->proxy)
			continue;
		clients[net->n + i].behind = true;
		rc = watch(epoll, &clients[net->n + i], net->behind[i]);
	}
	return rc;
}

/* --- A run ---------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void net_ready(struct net *net)
{
	pthread_mutex_lock(&lock);
	net->ready = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void *server(void *argument)
{
	struct net *net = argument;

	net->rc = net->serve(net);
	net_ready(net); /* or it has failed before */
	return NULL;
}

static void wait_until_ready(struct net *net)
{
	pthread_mutex_lock(&lock);
	while (!net->ready)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static int measure(struct net *net, struct client *clients, int epoll)
{
	uint64_t cpu_ns, n_calls, start_ns;
	int rc;

	wait_until_ready(net);
	cpu_ns = others_cpu_ns(net);
	n_calls = net_calls();
	start_ns = clock_ns(CLOCK_MONOTONIC);
	rc = clients_run(net, clients, epoll);
	net->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
	net->cpu_ns = others_cpu_ns(net) - cpu_ns;
	net->n_calls = net_calls() - n_calls;
	return rc;
}

/* Between clients and a server that are all connected. */
static int run(struct net *net)
{
	struct client *clients = calloc(2 * net->n, sizeof(*clients));
	int epoll = epoll_create1(EPOLL_CLOEXEC), rc;
	pthread_t thread;

	if (!clients || epoll < 0)
		return -ENOMEM; /* the program ends */
	rc = clients_start(net, clients, epoll);
	if (rc == 0 && net->outside)
		net->ready = true;
	else if (rc == 0)
		rc = -pthread_create(&thread, NULL, server, net);
	if (rc < 0)
		return rc;
	rc = measure(net, clients, epoll);
	for (unsigned i = 0; i < net->n; i++) {
		close(net->clients[i]);
		if (net->proxy)
			close(net->behind[i]);
	}
	if (!net->outside)
		pthread_join(thread, NULL);
	close(epoll);
	free(clients);
	return rc < 0 ? rc : net->rc;
}

int net_run(struct net *net, int (*serve)(struct net *net))
{
	int rc;

	net->serve = serve;
	net_calls_leave_out(true);
	rc = connect_all(net);
	if (rc == 0)
		rc = run(net);
	net_calls_leave_out(false);
	return rc;
}

/* The process connects to what is behind it when somebody has come. */
static int connect_through(struct net *net, const struct sockaddr_in *front,
			   int back)
{
	struct pollfd comes = {.fd = back, .events = POLLIN};
	int rc = 0;

	for (unsigned i = 0; i < net->n && rc == 0; i++) {
		net->clients[i] = connect_to(net, front);
		if (net->clients[i] < 0)
			return net->clients[i];
		if (poll(&comes, 1, PATIENCE_MS) != 1)
			return -ETIMEDOUT;
		net->behind[i] = accept4(back, NULL, NULL, SOCK_CLOEXEC);
		rc = net->behind[i] < 0 ? -errno
					: without_delay(net->behind[i]);
	}
	return rc;
}

int net_run_outside(struct net *net,
		    int (*start)(struct net *net, int listener, unsigned port))
{
	struct sockaddr_in front_at, back_at;
	int front = listen_at(&front_at), back = listen_at(&back_at), rc;

	if (front < 0 || back < 0 || make_room(back) < 0)
		return -EIO; /* the program ends */
	net_calls_leave_out(true);
	rc = start(net, front, ntohs(back_at.sin_port));
	if (rc == 0)
		rc = connect_through(net, &front_at, back);
	close(front);
	close(back);
	if (rc == 0)
		rc = run(net);
	if (net->outside > 0) {
		(void)kill(net->outside, SIGKILL);
		(void)waitpid(net->outside, NULL, 0);
	}
	net_calls_leave_out(false);
	return rc;
}

bool net_set_up(struct net *net, const char *scene, unsigned window,
		uint64_t items)
{
	bool bulk = strcmp(scene, "bulk") == 0;

	*net = (struct net){.n = window, .at_once = 1, .items = items};
	net->size = bulk ? NET_BULK_SIZE : NET_ECHO_SIZE;
	net->proxy = bulk || strcmp(scene, "proxy") == 0;
	net->lines = strcmp(scene, "lines") == 0;
	if (net->lines) {
		net->n = NET_LINES_CLIENTS;
		net->at_once = window;
		net->size = NET_LINE_SIZE;
	} else if (!net->proxy && strcmp(scene, "echo") != 0) {
		return false;
	}
	return net->n <= NET_MAX && net->at_once <= NET_MAX &&
	       items % (net->n * net->at_once) == 0;
}

/* --- By hand -------------------------------------------------------------- */

size_t net_answer_lines(char *data, size_t *n, char *out)
{
	size_t at = 0, left = *n;
	char *end;

	while ((end = memchr(data + at, '\n', left))) {
		size_t length = (size_t)(end - (data + at)) + 1;

		net_shout(out + at, data + at, length);
		at += length;
		left -= length;
	}
	memmove(data, data + at, left);
	*n = left;
	return at;
}

struct bare {
	int fd;
	size_t n;
	char data[NET_BLOCK];
};

/* True: the client has ended. */
static bool bare_serve(struct net *net, struct bare *bare)
{
	static __thread char out[NET_BLOCK];
	ssize_t n = read(bare->fd, bare->data + bare->n, NET_BLOCK - bare->n);
	const char *answer = bare->data;
	size_t size;

	if (n <= 0)
		return true;
	size = bare->n + (size_t)n;
	if (net->lines) {
		bare->n += (size_t)n;
		size = net_answer_lines(bare->data, &bare->n, out);
		answer = out;
	}
	/* the socket has room for what a client sends at once */
	return write(bare->fd, answer, size) != (ssize_t)size;
}

int net_bare(struct net *net)
{
	struct bare *all = calloc(net->n, sizeof(*all));
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event events[NET_MAX];
	unsigned left = net->n;

	if (!all || epoll < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < net->n; i++) {
		struct epoll_event event = {.events = EPOLLIN,
					    .data.ptr = &all[i]};

		all[i].fd = net->fds[i];
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, all[i].fd, &event) < 0)
			return -errno;
	}
	net_ready(net);
	while (left > 0) {
		int n = epoll_wait(epoll, events, NET_MAX, -1);

		for (int i = 0; i < n; i++) {
			struct bare *bare = events[i].data.ptr;

			if (!bare_serve(net, bare))
				continue;
			close(bare->fd);
			left--;
		}
	}
	close(epoll);
	free(all);
	return 0;
}

/* --- A proxy by hand ------------------------------------------------------ */

struct relay {
	int from, to;
	int pipe[2];
	bool *over; /* of both ways */
};

/* What the harness's socket has no room for waits for room. */
static bool relay_out(const struct relay *relay, ssize_t left)
{
	struct pollfd room = {.fd = relay->to, .events = POLLOUT};
	ssize_t n;

	while (left > 0) {
		n = splice(relay->pipe[0], NULL, relay->to, NULL, (size_t)left,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && (errno != EAGAIN || poll(&room, 1, -1) < 0))
			return false;
		left -= n > 0 ? n : 0;
	}
	return true;
}

/* True: one of both has ended. */
static bool relay_once(const struct relay *relay)
{
	ssize_t n = splice(relay->from, NULL, relay->pipe[1], NULL, NET_BLOCK,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (n < 0 && errno == EAGAIN)
		return false;
	return n <= 0 || !relay_out(relay, n);
}

static int relay_begin(int epoll, struct relay *relay, int from, int to)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = relay};

	relay->from = from;
	relay->to = to;
	if (pipe2(relay->pipe, O_CLOEXEC | O_NONBLOCK) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, from, &event) < 0)
		return -errno;
	return 0;
}

static void relay_run(int epoll, unsigned left)
{
	struct epoll_event events[NET_MAX];

	while (left > 0) {
		int n = epoll_wait(epoll, events, NET_MAX, -1);

		for (int i = 0; i < n; i++) {
			struct relay *relay = events[i].data.ptr;

			if (*relay->over || !relay_once(relay))
				continue;
			*relay->over = true;
			close(relay->from);
			close(relay->to);
			left--;
		}
	}
}

int net_bare_proxy(struct net *net)
{
	struct relay *all = calloc(2 * net->n, sizeof(*all));
	int epoll = epoll_create1(EPOLL_CLOEXEC), rc = 0;
	bool over[NET_MAX] = {false};

	if (!all || epoll < 0)
		return -ENOMEM; /* the program ends */
	for (unsigned i = 0; i < net->n && rc == 0; i++) {
		all[2 * i].over = all[2 * i + 1].over = &over[i];
		rc = relay_begin(epoll, &all[2 * i], net->fds[i], net->ups[i]);
		if (rc == 0)
			rc = relay_begin(epoll, &all[2 * i + 1], net->ups[i],
					 net->fds[i]);
	}
	if (rc < 0)
		return rc;
	net_ready(net);
	relay_run(epoll, net->n);
	for (unsigned i = 0; i < 2 * net->n; i++) {
		close(all[i].pipe[0]);
		close(all[i].pipe[1]);
	}
	close(epoll);
	free(all);
	return 0;
}
