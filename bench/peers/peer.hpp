/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a peer's program is: it reads a line for each run,
 *
 *   CLOCK WHO SCENE STAGES WINDOW WORKERS ITEMS STEPS
 *
 * from stdin, runs it, and writes what came out to stdout:
 *
 *   ELAPSED_NS COUNT SUM LAST BYTES CPU_NS WORK_NS
 *
 * A program may be several who: they differ in how they use their library. It
 * clocks itself from the first start to when the consumer has got everything;
 * setting up and tearing down are left out. By the clock "cpu" it counts the
 * time it has computed. The end of stdin ends it.
 *
 * In W4 a job's work has that many steps, and CPU_NS is the CPU time of all
 * threads, WORK_NS that of the work alone. In W7 to W9 CPU_NS is that of the
 * server, and WORK_NS the number of its system calls. They are 0 elsewhere.
 */
#ifndef WEIR_BENCH_PEERS_PEER_HPP
#define WEIR_BENCH_PEERS_PEER_HPP

#include <cstdint>
#include <ctime>
#include <iostream>
#include <string>

namespace peer
{

struct request {
	std::string clock, who, scene;
	unsigned stages, window, workers;
	std::uint64_t items;
	unsigned steps; /* W4: of a job */
};

struct answer {
	std::uint64_t elapsed_ns, count, sum, last;
	std::uint64_t bytes;	       /* an actor's; 0 = not measured */
	std::uint64_t cpu_ns, work_ns; /* W4; W7 to W9 */
};

/* The fan-in's, and what each has of the window. */
constexpr unsigned n_producers = 8;

inline unsigned share(unsigned window)
{
	return window > n_producers ? window / n_producers : 1;
}

inline clockid_t the_clock = CLOCK_MONOTONIC;

inline std::uint64_t now_ns()
{
	timespec t;

	clock_gettime(the_clock, &t);
	return std::uint64_t(t.tv_sec) * 1000000000u + std::uint64_t(t.tv_nsec);
}

/* One more item has come. */
inline void got(answer &answer, std::uint64_t x)
{
	answer.count++;
	answer.sum += x;
	answer.last = x;
}

/* What has been used up is asked for again in halves of the window. */
inline unsigned batch(unsigned window)
{
	return window > 1 ? window / 2 : 1;
}

/* run(request, answer) is false for what it does not know. */
template <typename Run> int serve(const char *name, Run run)
{
	request r;

	while (std::cin >> r.clock >> r.who >> r.scene >> r.stages >>
	       r.window >> r.workers >> r.items >> r.steps) {
		answer a = {};

		the_clock = r.clock == "cpu" ? CLOCK_PROCESS_CPUTIME_ID
					     : CLOCK_MONOTONIC;
		if (!run(r, a)) {
			std::cerr << name << ": cannot run " << r.who << " "
				  << r.scene << std::endl;
			return 1;
		}
		std::cout << a.elapsed_ns << " " << a.count << " " << a.sum
			  << " " << a.last << " " << a.bytes << " " << a.cpu_ns
			  << " " << a.work_ns << std::endl;
	}
	return 0;
}

} // namespace peer

#endif
