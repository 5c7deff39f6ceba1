/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W7, W8 and W9 with the library, on a loop unless its name says otherwise:
 *
 * weir		a flow for each connection: weir_connection_run(); W9:
 *		weir_connection_pipe()
 * weir.threads the same on a pool of one worker
 * weir.anew	W8: on a loop, each answer in memory of its own
 * weir.actor	W7: an actor for each connection, with a descriptor port; it
 *		reads and writes in its turn
 * bare		the limit: epoll, read and write; W9: splice
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <weir/weir.h>

#include "net.h"
#include "support.h"
#include "w7.h"
#include "who.h"

int w7_run(const struct bench_cell *cell, uint64_t items,
	   int (*run)(struct net *net, const void *with), const void *with,
	   struct bench_result *result)
{
	struct net net;
	int rc;

	if (!net_set_up(&net, cell->workload->scene, cell->window, items))
		return -EINVAL;
	rc = run(&net, with);
	result->elapsed_ns = net.elapsed_ns;
	result->count = net.count;
	result->sum = net.sum;
	result->figures[0] = (double)net.cpu_ns / (double)items;
	result->figures[1] = (double)net.elapsed_ns / (double)items;
	result->figures[2] = (double)net.n_calls / (double)items;
	return rc;
}

struct served_by {
	int (*serve)(struct net *net);
};

static int run_here(struct net *net, const void *with)
{
	return net_run(net, ((const struct served_by *)with)->serve);
}

static int run(const struct bench_cell *cell, uint64_t items,
	       int (*serve)(struct net *net), struct bench_result *result)
{
	const struct served_by by = {serve};

	return w7_run(cell, items, run_here, &by, result);
}

int w7_bare(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return run(cell, items, net_bare, result);
}

int w9_bare(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return run(cell, items, net_bare_proxy, result);
}

/* --- Flows ---------------------------------------------------------------- */

struct served {
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

/* The answer to a line, in its place. The newline stands behind it. */
static int shout(void **item, void *context)
{
	struct weir_flow_bytes *line = *item;

	net_shout(line->data, line->data, line->n);
	line->n++;
	return 0;
}

/* The same in memory of its own, which answers of another length need. */
static int shout_anew(void **item, void *context)
{
	struct weir_flow_bytes *line = *item, *made;
	int rc = weir_flow_bytes_new(&made, line->n + 1, NULL);

	if (rc < 0)
		return rc;
	net_shout(made->data, line->data, line->n);
	made->data[line->n] = '\n';
	weir_flow_bytes_unref(line);
	*item = made;
	return 0;
}

static struct weir_flow *answers(struct weir_flow *flow, void *context)
{
	const struct net *net = context;

	flow = weir_flow_lines(flow, NET_BLOCK);
	flow = weir_flow_map(flow, net->anew ? shout_anew : shout, NULL);
	return weir_flow_same_items(flow);
}

/* The flow of a connection, or of the two that a proxy joins. */
static struct weir_flow *flow_of(struct net *net, unsigned i)
{
	struct weir_connection *connection = NULL, *up = NULL;
	struct weir_flow *flow;

	if (weir_connection_new(&connection, net->fds[i], NULL, NULL) < 0 ||
	    (net->proxy &&
	     weir_connection_new(&up, net->ups[i], NULL, NULL) < 0))
		return NULL;
	if (net->proxy)
		flow = weir_connection_pipe(connection, up, NULL);
	else
		flow = weir_connection_run(connection,
					   net->lines ? answers : NULL, net);
	weir_connection_unref(connection);
	weir_connection_unref(up);
	return flow;
}

static int begin(struct net *net, struct weir_executor *executor,
		 struct served *served, unsigned i)
{
	served->flow = flow_of(net, i);
	return weir_flow_start(served->flow, executor, NULL, &served->run);
}

static int serve_flows(struct net *net, struct weir_executor *executor)
{
	struct served *all = bench_alloc(net->n * sizeof(*all));
	struct weir_error *error = NULL;
	int rc = 0;

	for (unsigned i = 0; i < net->n && rc == 0; i++)
		rc = begin(net, executor, &all[i], i);
	if (rc < 0)
		return rc; /* the program ends */
	net_ready(net);
	for (unsigned i = 0; i < net->n && rc == 0; i++) {
		rc = weir_flow_run_wait(all[i].run, WEIR_FOREVER, NULL, &error);
		if (rc == 0 && error)
			rc = error->code;
		weir_error_unref(error);
		weir_flow_run_free(all[i].run);
		weir_flow_free(all[i].flow);
	}
	bench_free(all);
	return rc;
}

static int on_loop(struct net *net)
{
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	if (rc == 0)
		rc = serve_flows(net, weir_loop_executor(loop));
	return rc < 0 ? rc : weir_loop_free(loop);
}

static int on_loop_anew(struct net *net)
{
	net->anew = true;
	return on_loop(net);
}

static int on_threads(struct net *net)
{
	const struct weir_threads_options options = {.workers = 1};
	struct weir_threads *threads;
	int rc = weir_threads_new(&threads, &options);

	if (rc == 0)
		rc = serve_flows(net, weir_threads_executor(threads));
	return rc < 0 ? rc : weir_threads_free(threads);
}

int w7_loop(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return run(cell, items, on_loop, result);
}

int w8_anew(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return run(cell, items, on_loop_anew, result);
}

int w7_threads(const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result)
{
	return run(cell, items, on_threads, result);
}

/* --- Actors --------------------------------------------------------------- */

struct echo {
	struct weir_actor actor;
	struct weir_fd readable;
	int fd;
	char data[NET_BLOCK];
};

static inline int echo(struct weir_actor *actor)
{
	struct echo *self = weir_container_of(actor, struct echo, actor);
	ssize_t n = read(self->fd, self->data, sizeof(self->data));

	if (n == 0)
		return weir_actor_end(actor);
	if (n < 0)
		return errno == EAGAIN ? weir_fd_again(&self->readable)
				       : -errno;
	/* the socket has room for what a client sends at once */
	if (write(self->fd, self->data, (size_t)n) != n)
		return -EIO;
	return weir_fd_drained(&self->readable);
}
WEIR_TURN(echo)

static const struct weir_actor_ops echo_ops = {.name = "echo", .turns = echo_n};

static int actors_on_loop(struct net *net)
{
	struct echo *all = bench_alloc(net->n * sizeof(*all));
	struct weir_executor *executor;
	struct weir_loop *loop;
	int rc = weir_loop_new(&loop, NULL);

	executor = weir_loop_executor(loop);
	for (unsigned i = 0; i < net->n && rc == 0; i++) {
		all[i].fd = net->fds[i];
		rc = weir_actor_init(&all[i].actor, &echo_ops, executor);
		if (rc == 0)
			rc = weir_fd_init(&all[i].readable, &all[i].actor,
					  all[i].fd, POLLIN);
		if (rc == 0)
			rc = weir_actor_start(&all[i].actor);
	}
	if (rc < 0)
		return rc; /* the program ends */
	net_ready(net);
	while (weir_executor_alive(executor))
		(void)weir_loop_wait(loop, 64, WEIR_FOREVER);
	for (unsigned i = 0; i < net->n; i++)
		close(all[i].fd);
	bench_free(all);
	return weir_loop_free(loop);
}

int w7_actor(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	return run(cell, items, actors_on_loop, result);
}
