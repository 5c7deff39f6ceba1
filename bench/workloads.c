/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workloads: their cells, and what must come out, in closed form. All sums
 * are modulo 2^64.
 */
#include "support.h"

/* 0 + 1 + ... + (n - 1); the even factor is halved, so nothing is lost. */
static uint64_t sum_below(uint64_t n)
{
	return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

/* The items 0 .. n - 1, each increased once by each transformer. */
static void expect_pipeline(const struct bench_cell *cell, uint64_t items,
			    struct bench_result *expected)
{
	expected->count = items;
	expected->sum = sum_below(items) + items * cell->stages;
	expected->last = items - 1 + cell->stages;
}

/* W6's scenes. */
static bool all(unsigned transformer, unsigned n)
{
	return true;
}

static bool alternate(unsigned transformer, unsigned n)
{
	return transformer % 2 == 0;
}

static bool behind(unsigned transformer, unsigned n)
{
	return transformer >= n / 2;
}

static bool one(unsigned transformer, unsigned n)
{
	return transformer == n / 2;
}

/*
 * A transformer makes factor * x + summand of x, whether it works or adds 1; so
 * does a chain of them.
 */
static void expect_spread(const struct bench_cell *cell, uint64_t items,
			  struct bench_result *expected)
{
	uint64_t factor = 1, summand = 0;

	for (unsigned s = 0; s < cell->stages; s++) {
		unsigned steps = bench_works(cell, s) ? bench_steps() : 0;

		if (steps == 0)
			summand++;
		for (; steps > 0; steps--) {
			factor *= BENCH_STEP_FACTOR;
			summand = summand * BENCH_STEP_FACTOR +
				  BENCH_STEP_SUMMAND;
		}
	}
	expected->count = items;
	expected->sum = factor * sum_below(items) + summand * items;
	expected->last = factor * (items - 1) + summand;
}

/*
 * One token that both actors increase. An item is one message, so the first
 * actor gets every second: 2, 4, ..., n.
 */
static void expect_ping_pong(const struct bench_cell *cell, uint64_t items,
			     struct bench_result *expected)
{
	expected->count = items;
	expected->sum = 2 * sum_below(items / 2 + 1);
	expected->last = items;
}

/* Each of 8 producers sends 0 .. n / 8 - 1; the order is open. */
static void expect_fan_in(const struct bench_cell *cell, uint64_t items,
			  struct bench_result *expected)
{
	expected->count = items;
	expected->sum = 8 * sum_below(items / 8);
}

/* Each of 4 producers sends 0 .. n / 4 - 1; the order is open. */
static void expect_merge(const struct bench_cell *cell, uint64_t items,
			 struct bench_result *expected)
{
	expected->count = items;
	expected->sum = 4 * sum_below(items / 4);
}

/* Actor i gets the token i. */
static void expect_create(const struct bench_cell *cell, uint64_t items,
			  struct bench_result *expected)
{
	expected->count = items;
	expected->sum = sum_below(items);
}

/* A job's result is its number. */
static void expect_jobs(const struct bench_cell *cell, uint64_t items,
			struct bench_result *expected)
{
	expected->count = items;
	expected->sum = sum_below(items);
}

/* Two of three stages increase each item's number. */
static void expect_latency(const struct bench_cell *cell, uint64_t items,
			   struct bench_result *expected)
{
	expected->count = items;
	expected->sum = sum_below(items) + 2 * items;
	expected->last = items + 1;
}

/* The sum is through how many stages tokens went, see scale.c. */
static void expect_length(const struct bench_cell *cell, uint64_t items,
			  struct bench_result *expected)
{
	expected->count = items;
	expected->sum = items;
	expected->last = 0;
}

/* W11: of 2 to 11 the odd ones are increased, and summed. */
static void expect_runs(const struct bench_cell *cell, uint64_t items,
			struct bench_result *expected)
{
	expected->count = items;
	expected->last = 4 + 6 + 8 + 10 + 12;
	expected->sum = items * expected->last;
}

static const unsigned w1_stages[] = {0, 1, 8, BENCH_END};
static const unsigned w1_windows[] = {1, 16, 256, 1024, BENCH_END};
static const unsigned fan_in_windows[] = {256, BENCH_END};
static const unsigned w2_windows[] = {16, 256, BENCH_END};
static const unsigned w4_windows[] = {64, BENCH_END};
static const unsigned w7_windows[] = {1, 64, BENCH_END};
static const unsigned w9_windows[] = {8, BENCH_END};
static const char *const child_columns[] = {"ns", "CPU ns", "own"};
static const char *const z_columns[] = {"CPU ns", "ns", "bytes"};
static const unsigned scale_stages[] = {8, BENCH_END};
static const unsigned scale_windows[] = {16, 256, BENCH_END};
static const unsigned memory_windows[] = {16, 256, 4096, BENCH_END};
static const unsigned one_worker[] = {1, BENCH_END};
static const unsigned workers[] = {1, 2, BENCH_END};
static const char *const overhead[] = {"overhead", "CPU ns", "work"};
static const char *const percentiles[] = {"p50", "p99", "p99.9"};
static const char *const bytes[] = {"peak", "slots", "ratio"};
static const char *const idleness[] = {"CPU ns/s", "to park", "calls"};
static const char *const traced[] = {"off", "on", "a slice"};
static const char *const sampled[] = {"off", "on", "ratio"};
static const char *const looked[] = {"look", "an actor", "p99"};
static const unsigned trace_windows[] = {1, 16, 64, 256, BENCH_END};
static const char *const net_columns[] = {"CPU ns", "ns", "calls"};
static const unsigned nats_windows[] = {64, 256, 1024, BENCH_END};
static const unsigned nats_members[] = {1, 2, 4, 8, BENCH_END};
static const char *const nats_columns[] = {"ns", "CPU ns", "server"};
static const char *const gap_columns[] = {"p50", "p90", "p99"};
static const char *const stopped_columns[] = {"taken", "bytes", "grown"};
static const unsigned few_windows[] = {1, 16, 256, BENCH_END};
static const char *const grown[] = {"to start", "to end", "bytes"};
static const unsigned w6_stages[] = {2, 4, 8, BENCH_END};
static const unsigned w6_windows[] = {16, 256, BENCH_END};
static const unsigned two_workers[] = {2, BENCH_END};

const struct bench_workload bench_workloads[] = {
	{"W1", NULL, "items/s", 1, 0, w1_stages, w1_windows, workers,
	 expect_pipeline, true,
	 "pipeline: producer, T transformers (x + 1), consumer (sum)"},
	{"W2", "flow", "items/s", 4, 0, NULL, w2_windows, workers, expect_merge,
	 false, "4 producers, merged, balanced over 4 consumers"},
	{"W3", "ping-pong", "messages/s", 2, 0, NULL, NULL, workers,
	 expect_ping_pong, true, "one token to and fro between two actors"},
	{"W3", "fan-in", "items/s", 8, 0, NULL, fan_in_windows, workers,
	 expect_fan_in, false, "8 producers into one actor"},
	{"W3", "create", "actors/s", 1, 1000000, NULL, NULL, workers,
	 expect_create, false, "create actors, send each one token"},
	{"W4", "jobs", "jobs/s", 1, 0, NULL, w4_windows, workers, expect_jobs,
	 false, "jobs of 1 us through a queue, 64 under way", NULL, "L1.ring1"},
	{"W4", "overhead", "CPU ns a job", 1, 0, NULL, w4_windows, workers,
	 expect_jobs, false, "the same: what a job costs beside its work",
	 overhead, "L1.ring1"},
	{"W4", "run", "ns until it runs", 1, 500, NULL, w4_windows, workers,
	 expect_jobs, false, "a job for a pool that has nothing to do",
	 percentiles},
	{"W5", "busy", "ns a hop", 1, 20000, NULL, NULL, workers,
	 expect_latency, true, "100,000 items/s through 3 stages", percentiles},
	{"W5", "parked", "ns a hop", 1, 500, NULL, NULL, workers,
	 expect_latency, true, "1,000 items/s: everybody sleeps", percentiles},
	{"scale", "beside", "items/s", 1, 0, scale_stages, scale_windows,
	 workers, expect_pipeline, true, "W1 with idle actors beside", NULL,
	 "idle.10"},
	{"scale", "length", "items/s a stage", 200, 0, NULL, scale_windows,
	 workers, expect_length, true, "pipelines of 8 and of 100 stages", NULL,
	 "stages.8"},
	{"growth", "workers", "items/s", 1, 0, scale_stages, few_windows,
	 two_workers, expect_pipeline, true,
	 "W1 with more workers than processors", NULL, "workers.2"},
	{"growth", "stages", "items/s a stage", 20000, 20000000, NULL,
	 scale_windows, one_worker, expect_length, true,
	 "pipelines of 100 to 10,000 stages", NULL, "stages.100"},
	{"growth", "actors", "actors/s", 1, 1000000, NULL, NULL, workers,
	 expect_create, false, "W3 create, so many at a time", NULL,
	 "actors.1000"},
	{"growth", "flows", "ns to start a flow, to end it, bytes", 1, 100000,
	 NULL, NULL, workers, expect_create, false,
	 "flows that wait for their end, so many at a time", grown,
	 "flows.1000"},
	{"memory", NULL, "bytes", 10, 1000000, scale_stages, memory_windows,
	 one_worker, expect_pipeline, true,
	 "most that is allocated for a pipeline, and what its slots take",
	 bytes},
	{"idle", NULL, "CPU ns/s, ns until all workers sleep, system calls", 1,
	 1000000, scale_stages, fan_in_windows, workers, expect_pipeline, true,
	 "a pool that has worked, with 1,000 actors that wait", idleness},
	{"inspect", "trace", "CPU ns an item off and on, more a slice", 1, 0,
	 w1_stages + 1, trace_windows, one_worker, expect_pipeline, true,
	 "W1 without and with a flight recorder", traced},
	{"inspect", "sampler", "CPU ns an item off and on, their ratio", 1, 0,
	 w1_stages + 1, trace_windows, one_worker, expect_pipeline, true,
	 "W1 without and with a sampler at 1 kHz", sampled},
	{"inspect", "stats", "CPU ns an item off and on, more a slice", 1, 0,
	 w1_stages + 1, trace_windows, one_worker, expect_pipeline, true,
	 "W1 without and with weir_stats of each actor", traced},
	{"inspect", "look", "CPU ns, an actor's, ns of 99 % of starts to ends",
	 1, 1, NULL, NULL, one_worker, expect_jobs, false,
	 "snapshots of actors in chains, beside one that starts others",
	 looked},
	{"W6", "all", "items/s", 1, 0, w6_stages, w6_windows, two_workers,
	 expect_spread, true, "W1 with work: each transformer takes 1 us", NULL,
	 "weir.alone", all},
	{"W6", "alternate", "items/s", 1, 0, w6_stages + 1, w6_windows,
	 two_workers, expect_spread, true, "every other one does", NULL,
	 "weir.alone", alternate},
	{"W6", "behind", "items/s", 1, 0, w6_stages + 1, w6_windows,
	 two_workers, expect_spread, true, "the second half does", NULL,
	 "weir.alone", behind},
	{"W6", "one", "items/s", 1, 0, w6_stages + 1, w6_windows, two_workers,
	 expect_spread, true, "one in the middle does", NULL, "weir.alone",
	 one},
	{"W7", "echo", "CPU ns of the server, ns, system calls a message", 64,
	 0, NULL, w7_windows, one_worker, expect_jobs, false,
	 "64 bytes to a server and back; window: connections", net_columns,
	 "bare"},
	{"W8", "lines", "CPU ns of the server, ns, system calls a line", 512, 0,
	 NULL, w4_windows, one_worker, expect_jobs, false,
	 "8 connections; window: lines of 100 bytes sent at once", net_columns,
	 "bare"},
	{"W9", "proxy", "CPU ns of the proxy, ns, system calls a message", 64,
	 0, NULL, w7_windows, one_worker, expect_jobs, false,
	 "64 bytes through a proxy, and back; window: connections", net_columns,
	 "bare"},
	{"W9", "bulk", "CPU ns of the proxy, ns, system calls a message", 64, 0,
	 NULL, w9_windows, one_worker, expect_jobs, false,
	 "64 KiB through a proxy, and back; window: connections", net_columns,
	 "bare"},
	{"W10", "child", "ns, CPU ns of all, of this process a 64 KiB", 1, 0,
	 NULL, NULL, one_worker, expect_length, false,
	 "blocks of 64 KiB through cat, and back", child_columns, "shell"},
	{"W10", "deflate", "CPU ns, ns, bytes out of 64 KiB", 1, 64, NULL, NULL,
	 one_worker, expect_length, false,
	 "weir_flow_deflate() beside zlib in a loop", z_columns, "bare"},
	{"W10", "inflate", "CPU ns, ns, bytes out of 64 KiB", 1, 64, NULL, NULL,
	 one_worker, expect_length, false, "weir_flow_inflate(), the same",
	 z_columns, "bare"},
	{"W10", "zstd", "CPU ns, ns, bytes out of 64 KiB", 1, 64, NULL, NULL,
	 one_worker, expect_length, false,
	 "weir_flow_zstd() beside libzstd in a loop", z_columns, "bare"},
	{"W10", "unzstd", "CPU ns, ns, bytes out of 64 KiB", 1, 64, NULL, NULL,
	 one_worker, expect_length, false, "weir_flow_unzstd(), the same",
	 z_columns, "bare"},
	{"W11", "runs", "runs/s", 1, 0, NULL, NULL, one_worker, expect_runs,
	 true, "ten items through five operators, on a loop"},
	{"nats", "source-file", "ns, CPU ns of this process, of the server", 1,
	 20000, NULL, nats_windows, one_worker, expect_pipeline, true,
	 "messages of a stream, settled one by one", nats_columns, "bare"},
	{"nats", "source-memory", "ns, CPU ns of this process, of the server",
	 1, 20000, NULL, nats_windows, one_worker, expect_pipeline, true,
	 "the same, streams in memory", nats_columns, "bare"},
	{"nats", "sink-file", "ns, CPU ns of this process, of the server", 1,
	 20000, NULL, nats_windows, one_worker, expect_jobs, false,
	 "messages to a stream, so many not acknowledged", nats_columns,
	 "bare"},
	{"nats", "sink-memory", "ns, CPU ns of this process, of the server", 1,
	 20000, NULL, nats_windows, one_worker, expect_jobs, false,
	 "the same, streams in memory", nats_columns, "bare"},
	{"nats", "process-file", "ns, CPU ns of this process, of the server", 1,
	 20000, NULL, nats_windows, one_worker, expect_jobs, false,
	 "messages of a stream to another one, exactly once", nats_columns,
	 "bare"},
	{"nats", "process-memory", "ns, CPU ns of this process, of the server",
	 1, 20000, NULL, nats_windows, one_worker, expect_jobs, false,
	 "the same, streams in memory", nats_columns, "bare"},
	{"nats", "request", "ns from one message to the next", 1, 2000, NULL,
	 NULL, one_worker, expect_jobs, false, "request(1), in lock step",
	 gap_columns, "bare"},
	{"nats", "members", "ns, CPU ns of this process, of the server", 1,
	 20000, NULL, nats_members, one_worker, expect_jobs, false,
	 "window: members of one consumer, a connection each", nats_columns,
	 "bare"},
	{"nats", "stopped", "messages, bytes, both that came later", 1, 100000,
	 NULL, nats_windows, one_worker, expect_jobs, false,
	 "what is made for a boundary whose consumer stands still",
	 stopped_columns},
	{0},
};
