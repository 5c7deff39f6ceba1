/* SPDX-License-Identifier: BSD-2-Clause */
#include "w4.h"

void w4_init(struct w4 *w4, const struct bench_cell *cell, uint64_t items)
{
	*w4 = (struct w4){.items = items, .n_steps = bench_steps()};
	w4->work_ns = w4_work_ns(w4->n_steps, cell->workers);
}

bool w4_job_init(struct w4_job *job, struct w4 *w4, unsigned i)
{
	*job = (struct w4_job){.w4 = w4, .next = i};
	if (i >= w4->items)
		return false;
	w4->left++;
	return true;
}

void w4_start(struct w4 *w4)
{
	w4->cpu_ns = w4_all_threads_ns();
}

void w4_end(struct w4 *w4)
{
	w4->cpu_ns = w4_all_threads_ns() - w4->cpu_ns;
}

void w4_add(const struct w4_job *job, struct bench_result *result)
{
	result->count += job->count;
	result->sum += job->sum;
}

void w4_figures(const struct w4 *w4, struct bench_result *result)
{
	double cpu_ns = (double)w4->cpu_ns / (double)w4->items;

	result->figures[0] = cpu_ns - w4->work_ns;
	result->figures[1] = cpu_ns;
	result->figures[2] = w4->work_ns;
}
