/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CAF, the C++ Actor Framework, 0.17.
 *
 * caf.actors: mailboxes have no bound, so the actors bound by messages what is
 * under way: each lets the one above send a window, and another half of it
 * whenever it has passed on that many. What a transformer gets while it may
 * not send is held back.
 *
 * caf.stream: a stream from source to sink. Batches and credit are chosen by
 * CAF from the time that items take; nothing sets a window.
 *
 * The number of workers is scheduler.max-threads; the main thread sleeps.
 */
#include <caf/all.hpp>
#include <malloc.h>

#include <atomic>
#include <deque>
#include <future>
#include <numeric>

#include "jobs.hpp"
#include "peer.hpp"

using caf::actor;
using caf::behavior;
using caf::event_based_actor;
using peer::answer;
using peer::request;
using token = std::uint64_t;

using more_atom = caf::atom_constant<caf::atom("more")>;
using go_atom = caf::atom_constant<caf::atom("go")>;

struct run;

/* The other end of a link, as the receiving side sees it. */
struct upstream {
	actor who;
	unsigned n_passed; /* since it was allowed to send more */
};

struct stage {
	run *of;
	actor self, down;
	upstream up[peer::n_producers]; /* one, but for the fan-in's sink */
	unsigned index;			/* which of them it is to `down` */
	token next, items;
	unsigned batch;
	unsigned n_allowed; /* may be sent down */
	std::deque<token> held;
};

struct run {
	run(const ::request &r, answer &a) : request(r), got(a)
	{
	}

	const ::request &request;
	answer &got;
	std::deque<stage> stages;
	std::uint64_t start_ns = 0;
	std::promise<void> ended;

	void end()
	{
		got.elapsed_ns = peer::now_ns() - start_ns;
		ended.set_value();
	}
};

/* --- Actors --------------------------------------------------------------- */

static behavior producer(stage *s)
{
	return {
		[=](more_atom, unsigned n) {
			for (; n > 0 && s->next < s->items; n--)
				caf::anon_send(s->down, s->next++);
		},
	};
}

/* Tells which it is. */
static behavior fan_producer(stage *s)
{
	return {
		[=](more_atom, unsigned n) {
			for (; n > 0 && s->next < s->items; n--)
				caf::anon_send(s->down, s->index, s->next++);
		},
	};
}

static void passed(const stage *s, upstream &up)
{
	if (++up.n_passed < s->batch)
		return;
	caf::anon_send(up.who, more_atom::value, up.n_passed);
	up.n_passed = 0;
}

static void pass(stage *s, token x)
{
	s->n_allowed--;
	caf::anon_send(s->down, x + 1);
	passed(s, s->up[0]);
}

static behavior transformer(stage *s)
{
	return {
		[=](token x) {
			if (s->n_allowed > 0)
				pass(s, x);
			else
				s->held.push_back(x);
		},
		[=](more_atom, unsigned n) {
			s->n_allowed += n;
			while (s->n_allowed > 0 && !s->held.empty()) {
				pass(s, s->held.front());
				s->held.pop_front();
			}
		},
	};
}

static void consume(stage *s, unsigned from, token x)
{
	peer::got(s->of->got, x);
	if (s->of->got.count == s->of->request.items)
		s->of->end();
	else
		passed(s, s->up[from]);
}

static behavior consumer(stage *s)
{
	return {
		[=](token x) { consume(s, 0, x); },
		[=](unsigned from, token x) { consume(s, from, x); },
	};
}

static behavior ping(stage *s)
{
	return {
		[=](token x) {
			answer &got = s->of->got;

			if (x > 0) {
				peer::got(got, x);
				got.count++;
			}
			if (got.count < s->of->request.items)
				caf::anon_send(s->down, x + 1);
			else
				s->of->end();
		},
	};
}

static behavior pong(stage *s)
{
	return {
		[=](token x) { caf::anon_send(s->down, x + 1); },
	};
}

static stage &add(caf::actor_system &system, run &run, token items,
		  unsigned window, behavior (*body)(stage *s))
{
	stage &s = run.stages.emplace_back();

	s.of = &run;
	s.items = items;
	s.n_allowed = window;
	s.batch = peer::batch(window);
	s.self = system.spawn([&s, body] { return body(&s); });
	return s;
}

static void link(stage &from, stage &to, unsigned index)
{
	from.down = to.self;
	from.index = index;
	to.up[index].who = from.self;
}

/* The first message has been sent; waits for the end, and for the actors'. */
static void finish(caf::actor_system &system, run &run)
{
	run.ended.get_future().wait();
	for (stage &s : run.stages)
		caf::anon_send_exit(s.self, caf::exit_reason::user_shutdown);
	system.await_all_actors_done();
}

static void pipeline(caf::actor_system &system, run &run)
{
	const request &r = run.request;

	add(system, run, r.items, r.window, producer);
	for (unsigned i = 0; i <= r.stages; i++) {
		auto body = i < r.stages ? transformer : consumer;
		stage &last = run.stages.back();

		link(last, add(system, run, 0, r.window, body), 0);
	}
	run.start_ns = peer::now_ns();
	caf::anon_send(run.stages[0].self, more_atom::value, r.window);
	finish(system, run);
}

/* Each producer has its part of the window. */
static void fan_in(caf::actor_system &system, run &run)
{
	unsigned share = peer::share(run.request.window);
	token items = run.request.items / peer::n_producers;
	stage &sink = add(system, run, 0, share, consumer);

	for (unsigned i = 0; i < peer::n_producers; i++)
		link(add(system, run, items, share, fan_producer), sink, i);
	run.start_ns = peer::now_ns();
	for (const upstream &up : sink.up)
		caf::anon_send(up.who, more_atom::value, share);
	finish(system, run);
}

static void ping_pong(caf::actor_system &system, run &run)
{
	stage &a = add(system, run, 0, 1, ping);
	stage &b = add(system, run, 0, 1, pong);

	link(a, b, 0);
	link(b, a, 0);
	run.start_ns = peer::now_ns();
	caf::anon_send(a.self, token(0));
	finish(system, run);
}

/* --- Jobs ----------------------------------------------------------------- */

/* Has as many workers as jobs may be under way. */
struct manager {
	explicit manager(::run &run)
	    : of(run), jobs(run.request), queue(jobs.all.size())
	{
		std::iota(queue.begin(), queue.end(), 0);
	}

	::run &of;
	peer::jobs jobs;
	std::deque<token> queue;
	actor self;
	std::deque<actor> workers;
};

/* Without a job the worker has had its last: who ends one brings one. */
static void employ(manager *m, unsigned worker)
{
	if (m->queue.empty())
		return;
	caf::anon_send(m->workers[worker], m->queue.front());
	m->queue.pop_front();
}

static behavior manage(manager *m)
{
	return {
		[=](go_atom) {
			m->jobs.start();
			for (unsigned i = 0; i < m->workers.size(); i++)
				employ(m, i);
		},
		[=](unsigned worker, token job) {
			if (m->jobs.again(m->jobs.all[job]))
				m->queue.push_back(job);
			else if (m->jobs.over())
				m->of.ended.set_value();
			employ(m, worker);
		},
	};
}

static behavior worker(manager *m, unsigned index)
{
	return {
		[=](token job) {
			m->jobs.work(m->jobs.all[job]);
			caf::anon_send(m->self, index, job);
		},
	};
}

static void manage_jobs(caf::actor_system &system, run &run)
{
	manager m(run);

	m.self = system.spawn([&m] { return manage(&m); });
	for (unsigned i = 0; i < run.request.window; i++)
		m.workers.push_back(
			system.spawn([&m, i] { return worker(&m, i); }));
	caf::anon_send(m.self, go_atom::value);
	run.ended.get_future().wait();
	m.jobs.finish(run.got);
	for (const actor &a : m.workers)
		caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
	caf::anon_send_exit(m.self, caf::exit_reason::user_shutdown);
	system.await_all_actors_done();
}

/* --- Create --------------------------------------------------------------- */

struct nursery {
	explicit nursery(::run &run) : of(run)
	{
	}

	::run &of;
	token n_created = 0;
	std::atomic<token> count{0}, sum{0};
};

static behavior child(event_based_actor *self, nursery *n)
{
	return {
		[=](token x) {
			n->sum += x;
			if (++n->count == n->of.request.items)
				n->of.end();
			self->quit();
		},
	};
}

/* A message creates some, so that others run between. */
static behavior creator(event_based_actor *self, nursery *n)
{
	return {
		[=](go_atom) {
			token items = n->of.request.items;

			for (unsigned i = 0; i < 256 && n->n_created < items;
			     i++) {
				auto a = self->spawn<caf::lazy_init>(child, n);

				caf::anon_send(a, n->n_created++);
			}
			if (n->n_created < items)
				self->send(self, go_atom::value);
			else
				self->quit();
		},
	};
}

/* What an actor that waits has taken from the heap. */
static token weigh(caf::actor_system &system, nursery *n)
{
	constexpr size_t n_weighed = 1000;
	std::deque<actor> actors;
	auto before = mallinfo2().uordblks;

	for (size_t i = 0; i < n_weighed; i++)
		actors.push_back(system.spawn<caf::lazy_init>(child, n));
	return (mallinfo2().uordblks - before) / n_weighed;
}

static void create(caf::actor_system &system, run &run)
{
	nursery n(run);

	run.got.bytes = weigh(system, &n);
	system.await_all_actors_done();

	auto first = system.spawn(creator, &n);

	run.start_ns = peer::now_ns();
	caf::anon_send(first, go_atom::value);
	first = nullptr;
	finish(system, run);
	run.got.count = n.count;
	run.got.sum = n.sum;
}

/* --- Streams -------------------------------------------------------------- */

static behavior source(event_based_actor *self, run *run)
{
	token items = run->request.items;

	return {
		[=](go_atom) {
			return caf::attach_stream_source(
				self, [](token &next) { next = 0; },
				[=](token &next, caf::downstream<token> &out,
				    size_t n) {
					for (; n > 0 && next < items; n--)
						out.push(next++);
				},
				[=](const token &next) {
					return next == items;
				});
		},
	};
}

static behavior map(event_based_actor *self)
{
	return {
		[=](caf::stream<token> in) {
			return caf::attach_stream_stage(
				self, in, [](caf::unit_t &) {},
				[](caf::unit_t &, caf::downstream<token> &out,
				   token x) { out.push(x + 1); });
		},
	};
}

static behavior sink(event_based_actor *self, run *run)
{
	return {
		[=](caf::stream<token> in) {
			return caf::attach_stream_sink(
				self, in, [](caf::unit_t &) {},
				[=](caf::unit_t &, token x) {
					peer::got(run->got, x);
					if (run->got.count ==
					    run->request.items)
						run->end();
				});
		},
	};
}

static void stream(caf::actor_system &system, run &run)
{
	auto chain = system.spawn(source, &run);

	for (unsigned i = 0; i < run.request.stages; i++)
		chain = system.spawn(map) * chain;
	chain = system.spawn(sink, &run) * chain;
	run.start_ns = peer::now_ns();
	caf::anon_send(chain, go_atom::value);
	chain = nullptr;
	finish(system, run);
}

/* --- Requests ------------------------------------------------------------- */

static const struct {
	const char *who, *scene;
	void (*run)(caf::actor_system &system, run &run);
} scenes[] = {
	{"caf.actors", "pipeline", pipeline},
	{"caf.actors", "ping-pong", ping_pong},
	{"caf.actors", "fan-in", fan_in},
	{"caf.actors", "create", create},
	{"caf.actors", "jobs", manage_jobs},
	{"caf.stream", "pipeline", stream},
};

static bool run_request(const request &r, answer &a)
{
	for (const auto &scene : scenes) {
		caf::actor_system_config config;

		if (r.who != scene.who || r.scene != scene.scene)
			continue;
		config.set("scheduler.max-threads", r.workers);
		/* a tenth of the defaults: streams get going sooner */
		config.stream_credit_round_interval =
			std::chrono::milliseconds(1);
		config.stream_max_batch_delay = std::chrono::microseconds(100);

		caf::actor_system system(config);
		run run(r, a);

		/* its threads run when the first actor has gone */
		system.spawn([] {});
		system.await_all_actors_done();
		scene.run(system, run);
		return true;
	}
	return false;
}

int main()
{
	return peer::serve("peer-caf", run_request);
}
