/* SPDX-License-Identifier: BSD-2-Clause */
/* Every measured program; each is described in the file it is named for. */
#ifndef WEIR_BENCH_WHO_H
#define WEIR_BENCH_WHO_H

#include "bench.h"

typedef int bench_run(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result);

/* W1, limits */
bench_run limits_calls;
bench_run limits_turns;
bench_run limits_batch;
bench_run limits_staged;
bench_run limits_ring1;
bench_run limits_park;
bench_run limits_park0;
bench_run limits_mutex;
bench_run bare_pipeline;

/* W1, the library */
bench_run w1_actors;
bench_run w1_actors_call;

/* Its operators: one actor, two, one for each. */
bench_run w1_flow_fused;
bench_run w1_flow_fused_arrays;
bench_run w1_flow_one;
bench_run w1_flow_one_arrays;
bench_run w1_flow_async;
bench_run w1_flow_async_arrays;

/* W2: a limit, the library */
bench_run w2_batch;
bench_run w2_weir;

/* Its actors are publishers and subscribers: links, or request messages. */
bench_run w1_streams;
bench_run w1_requests;

/* The same with 1 worker, whatever the cell has. */
bench_run w1_alone;
bench_run w1_alone_call;

/* W3, limits */
bench_run limits_spin;
bench_run limits_lanes;
bench_run limits_slab;
bench_run bare_ping_pong;
bench_run bare_ping_pong_together;
bench_run bare_fan_in;

/* W3, the library */
bench_run w3_ping_pong;
bench_run w3_ping_pong_apart;
bench_run w3_fan_in;
bench_run w3_create;

/* Scale, memory and idleness of the library */
bench_run scale_beside_10;
bench_run scale_beside_1000;
bench_run scale_beside_100000;
bench_run scale_length_8;
bench_run scale_length_100;
bench_run scale_length_1000;
bench_run scale_length_10000;
bench_run growth_workers_4;
bench_run growth_workers_8;
bench_run growth_workers_16;
bench_run growth_workers_32;
bench_run growth_workers_64;
bench_run growth_actors_1000;
bench_run growth_actors_1000000;
bench_run growth_flows_1000;
bench_run growth_flows_100000;
bench_run memory_pipeline;
bench_run idle_after_work;
bench_run inspect_trace;
bench_run inspect_sampler;
bench_run inspect_stats;
bench_run inspect_look_1000;
bench_run inspect_look_10000;
bench_run inspect_look_100000;

/* W4, limits */
bench_run w4_calls;
bench_run w4_ring1;
bench_run w4_park;
bench_run w4_mutex;
bench_run w4_run_park0;

/* W4, the library */
bench_run w4_weir;
bench_run w4_weir_later;
bench_run w4_weir_actors;
bench_run w4_weir_pool;
bench_run w4_run_parked;
bench_run w4_run_awake;

/* W5, limits */
bench_run w5_spin;
bench_run w5_cross;
bench_run w5_park0;

/* W5, the library */
bench_run w5_busy;
bench_run w5_awake;
bench_run w5_parked;

/* W7, W8, W9: limits, the library */
bench_run w7_bare;
bench_run w9_bare;
bench_run w7_loop;
bench_run w7_threads;
bench_run w8_anew;
bench_run w7_actor;

/* W10: a child, beside a shell's; compression, beside its library alone (in a
 * build that has it) */
bench_run w10_child;
bench_run w10_shell;
bench_run w10_alone;
bench_run w10_weir;

/* W11: short flows */
bench_run w11_runs;
bench_run w11_runs_composed;
bench_run w11_runs_one;

/* nats: libnats alone, the library (in a build that has it) */
bool natsd_here(const struct bench_cell *cell);
bench_run nats_core;
bench_run nats_bare_source;
bench_run nats_bare_members;
bench_run nats_bare_request;
bench_run nats_bare_sink;
bench_run nats_bare_sink_any;
bench_run nats_weir_source;
bench_run nats_weir_source_loop;
bench_run nats_weir_members;
bench_run nats_weir_request;
bench_run nats_weir_sink;
bench_run nats_weir_process;
bench_run nats_weir_stopped;

/* Peers */
bench_run tbb_pipeline;
bench_run tbb_serial;
bench_run tbb_flow;
bench_run caf_actors;
bench_run caf_stream;
bench_run erlang_processes;
bench_run erlang_lists;
bench_run erlang_pool;
bench_run uv_work;
bench_run uv_net;
bench_run uv_net_each;
bench_run haproxy_copies;
bench_run haproxy_splices;

#endif
