/* SPDX-License-Identifier: BSD-2-Clause */
/* The clients of W7 and W8, and the servers by hand. See net.h. */
#include "net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 8192 /* a client's records, at once */

struct client {
	int fd;
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

/* Of all threads but this one. */
static uint64_t others_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) -
	       clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* --- Connections ---------------------------------------------------------- */

static int connect_one(int listener, struct sockaddr_in *at, int *client,
		       int *server)
{
	socklen_t n = sizeof(*at);
	int one = 1;

	*client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*client < 0)
		return -errno;
	if (connect(*client, (struct sockaddr *)at, n) < 0 ||
	    setsockopt(*client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		return -errno;
	*server = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (*server < 0 ||
	    setsockopt(*server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		return -errno;
	return 0;
}

static int connect_all(struct net *net)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;
	socklen_t n = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, n) < 0 ||
	    listen(listener, NET_MAX) < 0 ||
	    getsockname(listener, (struct sockaddr *)&at, &n) < 0)
		return -errno;
	for (unsigned i = 0; i < net->n && rc == 0; i++)
		rc = connect_one(listener, &at, &net->clients[i], &net->fds[i]);
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
	if (!net->lines) {
		memset(to + 16, 'e', NET_ECHO_SIZE - 16);
		return;
	}
	memset(to + 16, 'l', NET_LINE_SIZE - 17);
	to[NET_LINE_SIZE - 1] = '\n';
}

static int client_send(const struct net *net, struct client *client)
{
	size_t size = net->lines ? NET_LINE_SIZE : NET_ECHO_SIZE;

	for (unsigned i = 0; i < net->at_once; i++)
		record(net, client->sent + i * size, client->next + i);
	client->size = size * net->at_once;
	client->got = 0;
	memcpy(client->expected, client->sent, client->size);
	if (net->lines)
		net_shout(client->expected, client->sent, client->size);
	if (send(client->fd, client->sent, client->size, MSG_NOSIGNAL) !=
	    (ssize_t)client->size)
		return -EIO;
	return 0;
}

/* 1: it has got all of its records. */
static int client_receive(struct net *net, struct client *client)
{
	ssize_t n = recv(client->fd, client->came + client->got,
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

static int clients_start(struct net *net, struct client *clients, int epoll)
{
	for (unsigned i = 0; i < net->n; i++) {
		struct epoll_event event = {.events = EPOLLIN,
					    .data.ptr = &clients[i]};

		clients[i].fd = net->clients[i];
		clients[i].next = net->items / net->n * i;
		clients[i].end = net->items / net->n * (i + 1);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &event) < 0)
			return -errno;
	}
	return 0;
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
	cpu_ns = others_cpu_ns();
	n_calls = net_calls();
	start_ns = clock_ns(CLOCK_MONOTONIC);
	rc = clients_run(net, clients, epoll);
	net->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
	net->cpu_ns = others_cpu_ns() - cpu_ns;
	net->n_calls = net_calls() - n_calls;
	return rc;
}

int net_run(struct net *net, int (*serve)(struct net *net))
{
	struct client *clients = calloc(net->n, sizeof(*clients));
	int epoll = epoll_create1(EPOLL_CLOEXEC), rc;
	pthread_t thread;

	net->serve = serve;
	if (!clients || epoll < 0)
		return -ENOMEM; /* the program ends */
	net_calls_leave_out(true);
	rc = connect_all(net);
	if (rc == 0)
		rc = clients_start(net, clients, epoll);
	if (rc == 0)
		rc = -pthread_create(&thread, NULL, server, net);
	if (rc < 0)
		return rc;
	rc = measure(net, clients, epoll);
	for (unsigned i = 0; i < net->n; i++)
		close(net->clients[i]);
	pthread_join(thread, NULL);
	net_calls_leave_out(false);
	close(epoll);
	free(clients);
	return rc < 0 ? rc : net->rc;
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
