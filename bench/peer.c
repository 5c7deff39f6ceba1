/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "w4.h"
#include "who.h"

/* The program, and our end of the socket that is its stdin and stdout. */
struct peer {
	const char *name;
	pid_t pid; /* 0: does not run */
	FILE *socket;
	const char *argv[20]; /* "" first: not built */
};

/* The paths come from meson.build. */
static struct peer peers[] = {
	{.name = "oneTBB", .argv = {PEER_TBB}},
	{.name = "CAF 0.17", .argv = {PEER_CAF}},
	{.name = "libuv", .argv = {PEER_UV}},
	/* off_heap: its processes get many messages */
	{.name = "Erlang",
	 .argv = {PEER_ERL, "-noshell", "-pa", PEER_ERL_PATH, "+S", "2:2",
		  "+hmqd", "off_heap", "+P", "2000000", "+Bd", "-s",
		  "weir_peer"}},
};

#define N_PEERS (sizeof(peers) / sizeof(peers[0]))

static struct peer *const tbb = &peers[0];
static struct peer *const caf = &peers[1];
static struct peer *const uv = &peers[2];
static struct peer *const erlang = &peers[3];

static bool is_built(const struct peer *peer)
{
	return peer->argv[0][0] != '\0';
}

bool peer_any_built(void)
{
	bool any = false;

	for (size_t i = 0; i < N_PEERS; i++) {
		any = any || is_built(&peers[i]);
		if (!is_built(&peers[i]))
			fprintf(stderr,
				"weir-bench: peers: %s was not found "
				"when this was built\n",
				peers[i].name);
	}
	return any;
}

void peer_kill_all(void)
{
	for (size_t i = 0; i < N_PEERS; i++)
		if (peers[i].pid > 0)
			kill(peers[i].pid, SIGKILL);
}

static int spawn(struct peer *peer, int socket)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc != 0)
		return -rc;
	rc = posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, socket,
						      STDOUT_FILENO);
	/* the strings are not written to, whatever the type says */
	if (rc == 0)
		rc = posix_spawn(&peer->pid, peer->argv[0], &actions, NULL,
				 (char *const *)peer->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

static int start(struct peer *peer)
{
	static bool ends_at_exit;
	int ends[2], rc;

	if (!ends_at_exit && atexit(peer_kill_all) != 0)
		return -ENOMEM;
	ends_at_exit = true;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	rc = spawn(peer, ends[1]);
	close(ends[1]);
	if (rc == 0) {
		peer->socket = fdopen(ends[0], "r");
		if (!peer->socket)
			rc = -errno;
	}
	if (rc < 0)
		close(ends[0]);
	return rc;
}

/* It has closed its end or talks nonsense; the next run starts it anew. */
static int lost(struct peer *peer, const char *what)
{
	int status = 0;

	kill(peer->pid, SIGKILL);
	waitpid(peer->pid, &status, 0);
	fclose(peer->socket);
	peer->pid = 0;
	fprintf(stderr, "weir-bench: %s: %s %s\n", peer->name, peer->argv[0],
		what);
	return -EPIPE;
}

/* See peers/peer.hpp. */
static bool read_answer(const char *line, struct bench_result *result,
			struct w4 *w4)
{
	uint64_t work_ns;
	uint64_t *const values[] = {&result->elapsed_ns,
				    &result->count,
				    &result->sum,
				    &result->last,
				    &result->bytes,
				    &w4->cpu_ns,
				    &work_ns};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char *end;

		*values[i] = strtoull(line, &end, 10);
		if (end == line)
			return false;
		line = end;
	}
	w4->work_ns = (double)work_ns / (double)w4->items;
	return true;
}

/* W4's two scenes are the same to whoever runs them. */
static const char *scene_of(const struct bench_cell *cell)
{
	const char *scene = cell->workload->scene;

	if (!scene)
		return "pipeline";
	return strcmp(scene, "overhead") == 0 ? "jobs" : scene;
}

static int ask(struct peer *peer, const char *who,
	       const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result)
{
	struct w4 w4 = {.items = items};
	char line[160];
	const char *clock = bench_uses_cpu_clock() ? "cpu" : "wall";
	int length = snprintf(line, sizeof(line),
			      "%s %s %s %u %u %u %" PRIu64 " %u\n", clock, who,
			      scene_of(cell), cell->stages, cell->window,
			      cell->workers, items, bench_steps());
	int rc = peer->pid > 0 ? 0 : start(peer);

	if (rc < 0) {
		fprintf(stderr, "weir-bench: %s: cannot start %s: %s\n",
			peer->name, peer->argv[0], strerror(-rc));
		return rc;
	}
	if (send(fileno(peer->socket), line, (size_t)length, MSG_NOSIGNAL) !=
		    length ||
	    !fgets(line, sizeof(line), peer->socket))
		return lost(peer, "has ended");
	if (!read_answer(line, result, &w4))
		return lost(peer, "gave no answer");
	w4_figures(&w4, result);
	return 0;
}

/* W7 to W9: what else it has counted are system calls. */
static int ask_net(struct peer *peer, const char *who,
		   const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	int rc = ask(peer, who, cell, items, result);
	double calls = result->figures[2];

	result->figures[0] = result->figures[1];
	result->figures[1] = (double)result->elapsed_ns / (double)items;
	result->figures[2] = calls;
	return rc;
}

/* --- Who they are --------------------------------------------------------- */

bool peer_has_tbb(const struct bench_cell *cell)
{
	return is_built(tbb);
}

bool peer_has_caf(const struct bench_cell *cell)
{
	return is_built(caf);
}

/* It has no window; what it takes is nearest to the largest. */
bool peer_has_caf_stream(const struct bench_cell *cell)
{
	return is_built(caf) && cell->window >= 1024;
}

bool peer_has_uv(const struct bench_cell *cell)
{
	return is_built(uv);
}

bool peer_has_uv_net(const struct bench_cell *cell)
{
	return is_built(uv) && bench_small_window(cell);
}

bool peer_has_erlang(const struct bench_cell *cell)
{
	return is_built(erlang);
}

int tbb_pipeline(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	return ask(tbb, "tbb.pipeline", cell, items, result);
}

int tbb_serial(const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result)
{
	return ask(tbb, "tbb.serial", cell, items, result);
}

int tbb_flow(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	return ask(tbb, "tbb.flow", cell, items, result);
}

int caf_actors(const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result)
{
	return ask(caf, "caf.actors", cell, items, result);
}

int caf_stream(const struct bench_cell *cell, uint64_t items,
	       struct bench_result *result)
{
	return ask(caf, "caf.stream", cell, items, result);
}

int erlang_processes(const struct bench_cell *cell, uint64_t items,
		     struct bench_result *result)
{
	return ask(erlang, "erlang", cell, items, result);
}

int erlang_lists(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	return ask(erlang, "erlang.lists", cell, items, result);
}

int erlang_pool(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result)
{
	return ask(erlang, "erlang.pool", cell, items, result);
}

int uv_work(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return ask(uv, "libuv", cell, items, result);
}

int uv_net(const struct bench_cell *cell, uint64_t items,
	   struct bench_result *result)
{
	return ask_net(uv, "libuv", cell, items, result);
}

int uv_net_each(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result)
{
	return ask_net(uv, "libuv.each", cell, items, result);
}
