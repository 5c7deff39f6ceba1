/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oneTBB. tbb.pipeline: a parallel_pipeline, where a thread carries a token
 * through all stages; the window is the number of tokens. The transformers are
 * `parallel`, as its documentation advises for filters without state.
 * tbb.serial: each takes one token at a time and in order, as an actor does.
 *
 * tbb.flow: a flow graph. Nodes are `lightweight` with bodies that do not
 * throw, as its documentation advises for short ones: a node's body runs in
 * the task of who puts to it. The queues between nodes have no bound; the
 * consumer lets the producer put another half of the window when it has got
 * that many, which is much faster than a limiter_node that counts each item,
 * and keeps the order. In W4 a limiter_node says how many jobs are under way.
 */
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>
#include <tuple>

#include "jobs.hpp"
#include "peer.hpp"

using peer::answer;
using peer::request;
using token = std::uint64_t;

/* --- parallel_pipeline ---------------------------------------------------- */

static bool pipeline(const request &r, answer &a, tbb::filter_mode mode)
{
	using tbb::filter_mode;
	token next = 0;
	auto chain = tbb::make_filter<void, token>(
		filter_mode::serial_in_order, [&](tbb::flow_control &control) {
			if (next == r.items) {
				control.stop();
				return token(0);
			}
			return next++;
		});

	for (unsigned i = 0; i < r.stages; i++)
		chain = chain & tbb::make_filter<token, token>(
					mode, [](token x) { return x + 1; });

	auto whole = chain & tbb::make_filter<token, void>(
				     filter_mode::serial_in_order,
				     [&](token x) { peer::got(a, x); });
	auto start = peer::now_ns();

	tbb::parallel_pipeline(r.window, whole);
	a.elapsed_ns = peer::now_ns() - start;
	return true;
}

/* --- Flow graph ----------------------------------------------------------- */

namespace flow = tbb::flow;
using light = flow::queueing_lightweight;
template <typename T> using map_node = flow::function_node<T, token, light>;
template <typename T>
using sink_node = flow::function_node<T, flow::continue_msg, light>;
/* Gets permits and puts that many tokens; a task of its own. */
template <typename T>
using source_node =
	flow::multifunction_node<token, std::tuple<T>, flow::queueing>;

static token plus_one(const token &x) noexcept
{
	return x + 1;
}

static bool flow_pipeline(const request &r, answer &a)
{
	flow::graph graph;
	token next = 0, batch = peer::batch(r.window);
	source_node<token> source(graph, flow::serial, [&](token n, auto &out) {
		for (; n > 0 && next < r.items; n--)
			std::get<0>(out).try_put(next++);
	});
	sink_node<token> sink(graph, flow::serial, [&](token x) noexcept {
		peer::got(a, x);
		if (a.count % batch == 0)
			source.try_put(batch);
		return flow::continue_msg();
	});
	std::deque<map_node<token>> maps;
	flow::sender<token> *last = &flow::output_port<0>(source);

	for (unsigned i = 0; i < r.stages; i++) {
		maps.emplace_back(graph, flow::serial, plus_one);
		flow::make_edge(*last, maps.back());
		last = &maps.back();
	}
	flow::make_edge(*last, sink);

	auto start_ns = peer::now_ns();

	source.try_put(r.window);
	graph.wait_for_all();
	a.elapsed_ns = peer::now_ns() - start_ns;
	return true;
}

static bool flow_ping_pong(const request &r, answer &a)
{
	flow::graph graph;
	map_node<token> pong(graph, flow::serial, plus_one);
	sink_node<token> ping(graph, flow::serial, [&](token x) noexcept {
		if (x > 0) {
			peer::got(a, x);
			a.count++;
		}
		if (a.count < r.items)
			pong.try_put(x + 1);
		return flow::continue_msg();
	});

	flow::make_edge(pong, ping);

	auto start_ns = peer::now_ns();

	ping.try_put(0);
	graph.wait_for_all();
	a.elapsed_ns = peer::now_ns() - start_ns;
	return true;
}

/* Each producer has its part of the window, so a token says whose it is. */
struct labelled {
	unsigned producer;
	token x;
};

static bool flow_fan_in(const request &r, answer &a)
{
	flow::graph graph;
	unsigned share = peer::share(r.window);
	token batch = peer::batch(share);
	token n_got[peer::n_producers] = {}, next[peer::n_producers] = {};
	std::deque<source_node<labelled>> sources;
	sink_node<labelled> sink(graph, flow::serial, [&](labelled l) noexcept {
		peer::got(a, l.x);
		if (++n_got[l.producer] % batch == 0)
			sources[l.producer].try_put(batch);
		return flow::continue_msg();
	});

	for (unsigned i = 0; i < peer::n_producers; i++) {
		auto body = [&, i](token n, auto &out) {
			for (; n > 0 && next[i] < r.items / peer::n_producers;
			     n--)
				std::get<0>(out).try_put({i, next[i]++});
		};

		sources.emplace_back(graph, flow::serial, body);
		flow::make_edge(flow::output_port<0>(sources.back()), sink);
	}

	auto start_ns = peer::now_ns();

	for (auto &source : sources)
		source.try_put(share);
	graph.wait_for_all();
	a.elapsed_ns = peer::now_ns() - start_ns;
	return true;
}

/* A job that has ended lets the limiter pass the next one. */
static bool flow_jobs(const request &r, answer &a)
{
	using peer::job;
	peer::jobs jobs(r);
	flow::graph graph;
	flow::queue_node<job *> queue(graph);
	flow::limiter_node<job *> limiter(graph, r.window);
	flow::function_node<job *, flow::continue_msg> work(
		graph, flow::unlimited, [&](job *j) {
			jobs.work(*j);
			if (jobs.again(*j))
				queue.try_put(j);
			return flow::continue_msg();
		});

	flow::make_edge(queue, limiter);
	flow::make_edge(limiter, work);
	flow::make_edge(work, limiter.decrementer());
	jobs.start();
	for (job &j : jobs.all)
		queue.try_put(&j);
	graph.wait_for_all();
	jobs.finish(a);
	return true;
}

/* --- Requests ------------------------------------------------------------- */

static bool run(const request &r, answer &a)
{
	tbb::global_control control(
		tbb::global_control::max_allowed_parallelism, r.workers);
	tbb::task_arena arena(static_cast<int>(r.workers));

	return arena.execute([&] {
		if (r.who == "tbb.pipeline" && r.scene == "pipeline")
			return pipeline(r, a, tbb::filter_mode::parallel);
		if (r.who == "tbb.serial" && r.scene == "pipeline")
			return pipeline(r, a,
					tbb::filter_mode::serial_in_order);
		if (r.who != "tbb.flow")
			return false;
		if (r.scene == "pipeline")
			return flow_pipeline(r, a);
		if (r.scene == "ping-pong")
			return flow_ping_pong(r, a);
		if (r.scene == "jobs")
			return flow_jobs(r, a);
		return r.scene == "fan-in" && flow_fan_in(r, a);
	});
}

int main()
{
	return peer::serve("peer-tbb", run);
}
