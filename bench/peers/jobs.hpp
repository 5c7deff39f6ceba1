/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the peers in C++ share in W4: the jobs, which are those of ../w4.h. How
 * they queue and how few are under way is the peer's own.
 */
#ifndef WEIR_BENCH_PEERS_JOBS_HPP
#define WEIR_BENCH_PEERS_JOBS_HPP

#include <atomic>
#include <cstdint>
#include <vector>

#include "../w4_work.h"
#include "peer.hpp"

namespace peer
{

/* A line of its own: two workers have neighbours. One at a time has it. */
struct alignas(64) job {
	std::uint64_t next, count, sum;
};

struct jobs {
	/* Measures the work. */
	explicit jobs(const request &r)
	    : all(r.items < W4_QUEUE ? r.items : W4_QUEUE),
	      left(unsigned(all.size())), items(r.items), steps(r.steps),
	      work_ns(w4_work_ns(r.steps, r.workers))
	{
		for (std::uint64_t i = 0; i < all.size(); i++)
			all[i].next = i;
	}

	/* Before the first one queues. */
	void start()
	{
		cpu_ns = w4_all_threads_ns();
		start_ns = now_ns();
	}

	/* Does an item of it. */
	void work(job &j)
	{
		j.sum += w4_work(j.next, steps);
		j.count++;
		j.next += W4_QUEUE;
	}

	/* After that: whether it queues again. The last one stops the clock. */
	bool again(const job &j)
	{
		if (j.next < items)
			return true;
		if (--left == 0) {
			elapsed_ns = now_ns() - start_ns;
			cpu_ns = w4_all_threads_ns() - cpu_ns;
		}
		return false;
	}

	bool over() const
	{
		return left == 0;
	}

	/* Once it is over. */
	void finish(answer &a) const
	{
		a.elapsed_ns = elapsed_ns;
		a.cpu_ns = cpu_ns;
		a.work_ns = std::uint64_t(work_ns * double(items));
		for (const job &j : all) {
			a.count += j.count;
			a.sum += j.sum;
		}
	}

	std::vector<job> all;

	/* its own */
	std::atomic<unsigned> left;
	std::uint64_t items;
	unsigned steps;
	double work_ns; /* of an item */
	std::uint64_t start_ns = 0, elapsed_ns = 0, cpu_ns = 0;
};

} // namespace peer

#endif
