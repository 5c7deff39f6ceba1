/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libuv, whose work queue has threads that work and leaves to the thread of its
 * loop who does next: that one starts a job whenever one has ended, as many as
 * the window has room for. The workers are the threads that work; the loop's
 * is one more.
 *
 * Their number is that of a process from its first request on, so each run is
 * a process of its own. For W7 to W9 see uv_net.hpp.
 */
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <csignal>
#include <cstdlib>
#include <deque>
#include <string>

#include "jobs.hpp"
#include "peer.hpp"
#include "uv_net.hpp"

using peer::answer;
using peer::request;

struct manager;

struct process {
	uv_work_t work; /* first: what libuv hands back */
	manager *of;
	peer::job *job;
};

struct manager {
	explicit manager(const request &r) : jobs(r), processes(r.window)
	{
		for (peer::job &j : jobs.all)
			queue.push_back(&j);
	}

	peer::jobs jobs;
	std::deque<peer::job *> queue;
	std::deque<process> processes;
};

static void work(uv_work_t *request)
{
	auto *p = reinterpret_cast<process *>(request);

	p->of->jobs.work(*p->job);
}

static void begin_next(process *p);

static void worked(uv_work_t *request, int)
{
	auto *p = reinterpret_cast<process *>(request);

	if (p->of->jobs.again(*p->job))
		p->of->queue.push_back(p->job);
	begin_next(p);
}

/* Without a job it has had its last: who ends one brings one. */
static void begin_next(process *p)
{
	auto &queue = p->of->queue;

	if (queue.empty())
		return;
	p->job = queue.front();
	queue.pop_front();
	uv_queue_work(uv_default_loop(), &p->work, work, worked);
}

/* The threads run before the clock does. */
static void warm()
{
	uv_work_t nothing;

	uv_queue_work(
		uv_default_loop(), &nothing, [](uv_work_t *) {},
		[](uv_work_t *, int) {});
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

static void run_jobs(const request &r, answer &a)
{
	manager m(r);

	setenv("UV_THREADPOOL_SIZE", std::to_string(r.workers).c_str(), 1);
	warm();
	m.jobs.start();
	for (process &p : m.processes) {
		p.of = &m;
		begin_next(&p);
	}
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	m.jobs.finish(a);
}

/* In the child, which ends if its parent is killed. */
[[noreturn]] static void run_and_tell(const request &r, int pipe)
{
	answer a = {};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_jobs(r, a);
	_exit(write(pipe, &a, sizeof(a)) == sizeof(a) ? 0 : 1);
}

using server = int(net *);

static server *server_of(const std::string &who, const net &n)
{
	if (who == "libuv.each")
		return uv_net::serve_each;
	return n.proxy ? uv_net::relay : uv_net::serve;
}

static bool run_net(const request &r, answer &a)
{
	net n;

	if (!net_set_up(&n, r.scene.c_str(), r.window, r.items) ||
	    net_run(&n, server_of(r.who, n)) != 0)
		return false;
	a = {n.elapsed_ns, n.count, n.sum, 0, 0, n.cpu_ns, n.n_calls};
	return true;
}

static bool run(const request &r, answer &a)
{
	int ends[2], status;
	pid_t child;
	bool ok;

	if (r.scene != "jobs")
		return run_net(r, a);
	if (r.who != "libuv" || pipe(ends) != 0)
		return false;
	child = fork();
	if (child == 0)
		run_and_tell(r, ends[1]);
	close(ends[1]);
	ok = read(ends[0], &a, sizeof(a)) == sizeof(a);
	close(ends[0]);
	return child > 0 && waitpid(child, &status, 0) == child && ok;
}

int main()
{
	return peer::serve("peer-uv", run);
}
