/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W7, W8 and W9: a server, on a thread of its own, and its clients, which are a
 * part of the harness and the same for whoever serves. The connections are
 * there before: TCP over the loopback device.
 *
 * A client sends so many records at once (W7: one of 64 bytes; W8: 64 lines of
 * 100 bytes), waits until as many have come back, compares each byte, and goes
 * on. W7's server sends back what has come, W8's each line in capitals. W9's is a
 * proxy: what sends back is behind it, on the thread of the clients; records
 * have 64 bytes or 64 KiB.
 *
 * Counted is from the first record to the last: the CPU time of all threads but
 * the clients', and the system calls by which they read, write and wait. Of a
 * proxy that is a program of its own (net_run_outside()): the CPU time of its
 * process.
 */
#ifndef WEIR_BENCH_NET_H
#define WEIR_BENCH_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NET_BLOCK 65536 /* of a server's reads */
#define NET_ECHO_SIZE 64
#define NET_LINE_SIZE 100
#define NET_BULK_SIZE 65536
#define NET_LINES_CLIENTS 8 /* connections of W8 */
#define NET_MAX 64

struct net {
	/* what to do */
	bool lines, proxy;
	bool anew;	  /* answers are allocated, if the server can do both */
	unsigned n;	  /* connections */
	unsigned at_once; /* records */
	size_t size;	  /* of a record */
	uint64_t items;	  /* of all: a multiple of n * at_once */
	int fds[NET_MAX]; /* the server's, which closes them; do not block */
	int ups[NET_MAX]; /* of a proxy: to what is behind it; the same */
	/* what was found */
	uint64_t elapsed_ns, cpu_ns, n_calls, count, sum;
	/* the harness's */
	int clients[NET_MAX], behind[NET_MAX];
	pid_t outside; /* the process that is measured; 0: this one */
	bool ready;
	int rc;
	int (*serve)(struct net *net);
};

/* What to do in that scene: "echo", "lines", "proxy" or "bulk". False: there is
 * none, or it has not so many. */
bool net_set_up(struct net *net, const char *scene, unsigned window,
		uint64_t items);

/*
 * Runs serve(net) on a thread: it calls net_ready() when it is set up, serves
 * until each client has ended, and returns 0 or a negative errno; so does this.
 */
int net_run(struct net *net, int (*serve)(struct net *net));
void net_ready(struct net *net);

/*
 * The same of a process: start() gives it a listening socket, and the port of
 * what is behind it, and sets `outside`. It is killed at the end.
 */
int net_run_outside(struct net *net,
		    int (*start)(struct net *net, int listener, unsigned port));

/* The servers with a loop of their own and nothing else. */
int net_bare(struct net *net);
int net_bare_proxy(struct net *net);

/*
 * By hand: answers all whole lines in data[0..*n) into `out`, and moves the rest
 * to the front; returns how many bytes are in `out`, as large as `data`.
 */
size_t net_answer_lines(char *data, size_t *n, char *out);

/* The letters of a line in capitals. */
static inline void net_shout(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] >= 'a' && from[i] <= 'z' ? (char)(from[i] - 32)
							 : from[i];
}

/* Not those of this thread. */
void net_calls_leave_out(bool leave_out);
uint64_t net_calls(void);

#ifdef __cplusplus
}
#endif

#endif
