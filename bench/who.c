/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of measured programs, in the order they are printed. What compares
 * best of the rows named L1.* is the cell's reference; bare is it where a cell
 * has none.
 */
#include "peer.h"
#include "who.h"

#define LIMIT BENCH_STYLE_LIMIT
#define PEER BENCH_STYLE_PEER
#define ANY bench_any_cell
#define ONE bench_one_worker
#define TWO bench_two_workers
#define CPUS bench_two_cpus
#define TBB peer_has_tbb
#define CAF peer_has_caf
#define CAF_STREAM peer_has_caf_stream
#define SMALL bench_small_window
#define UV peer_has_uv
#define UV_NET peer_has_uv_net
#define HAPROXY peer_has_haproxy
#define ERLANG peer_has_erlang
#define NATS natsd_here

const struct bench_who bench_whos[] = {
	{"W1", LIMIT, "L0.calls", ONE, limits_calls},
	{"W1", LIMIT, "L0.turns", ONE, limits_turns},
	{"W1", LIMIT, "L1.batch", ANY, limits_batch},
	{"W1", LIMIT, "L1.staged", ANY, limits_staged},
	{"W1", LIMIT, "L1.ring1", ANY, limits_ring1},
	{"W1", LIMIT, "L1.park", TWO, limits_park},
	{"W1", LIMIT, "L1.park0", TWO, limits_park0},
	{"W1", LIMIT, "mutex+condvar", ANY, limits_mutex},
	{"W1", LIMIT, "bare", ANY, bare_pipeline},
	{"W1", "actors", "weir", ANY, w1_actors},
	{"W1", "actors", "weir.streams", ANY, w1_streams},
	{"W1", "actors", "weir.requests", ANY, w1_requests},
	{"W1", "actors", "weir.alone", TWO, w1_alone},
	{"W1", "actors-call", "weir", ANY, w1_actors_call},
	{"W1", "actors-call", "weir.alone", TWO, w1_alone_call},
	{"W1", "flow-fused", "weir", ANY, w1_flow_fused},
	{"W1", "flow-fused", "weir.arrays", ANY, w1_flow_fused_arrays},
	{"W1", "flow-one", "weir", ANY, w1_flow_one},
	{"W1", "flow-one", "weir.arrays", ANY, w1_flow_one_arrays},
	{"W1", "flow-async", "weir", ANY, w1_flow_async},
	{"W1", "flow-async", "weir.arrays", ANY, w1_flow_async_arrays},
	{"W1", PEER, "tbb.pipeline", TBB, tbb_pipeline, true},
	{"W1", PEER, "tbb.serial", TBB, tbb_serial, true},
	{"W1", PEER, "tbb.flow", TBB, tbb_flow, true},
	{"W1", PEER, "caf.actors", CAF, caf_actors, true},
	{"W1", PEER, "caf.stream", CAF_STREAM, caf_stream, true},
	{"W1", PEER, "erlang", ERLANG, erlang_processes, true},
	{"W1", PEER, "erlang.lists", ERLANG, erlang_lists, true},

	{"W2", "flow", "L1.batch", ANY, w2_batch},
	{"W2", "flow", "weir", ANY, w2_weir},

	{"W3", "ping-pong", "L1.spin", TWO, limits_spin},
	{"W3", "ping-pong", "bare", ANY, bare_ping_pong},
	{"W3", "ping-pong", "bare.together", TWO, bare_ping_pong_together},
	{"W3", "ping-pong", "weir", ANY, w3_ping_pong},
	{"W3", "ping-pong", "weir.apart", TWO, w3_ping_pong_apart},
	{"W3", "ping-pong", "tbb.flow", TBB, tbb_flow, true},
	{"W3", "ping-pong", "caf.actors", CAF, caf_actors, true},
	{"W3", "ping-pong", "erlang", ERLANG, erlang_processes, true},

	{"W3", "fan-in", "L1.lanes", ANY, limits_lanes},
	{"W3", "fan-in", "bare", ANY, bare_fan_in},
	{"W3", "fan-in", "weir", ANY, w3_fan_in},
	{"W3", "fan-in", "tbb.flow", TBB, tbb_flow, true},
	{"W3", "fan-in", "caf.actors", CAF, caf_actors, true},
	{"W3", "fan-in", "erlang", ERLANG, erlang_processes, true},

	{"W3", "create", "L1.slab", ONE, limits_slab},
	{"W3", "create", "weir", ANY, w3_create},
	{"W3", "create", "caf.actors", CAF, caf_actors, true},
	{"W3", "create", "erlang", ERLANG, erlang_processes, true},

	{"W4", "jobs", "L0.calls", ANY, w4_calls},
	{"W4", "jobs", "L1.ring1", ANY, w4_ring1},
	{"W4", "jobs", "L1.park", ANY, w4_park},
	{"W4", "jobs", "mutex+condvar", ANY, w4_mutex},
	{"W4", "jobs", "weir", ANY, w4_weir},
	{"W4", "jobs", "weir.later", ANY, w4_weir_later},
	{"W4", "jobs", "weir.actors", ANY, w4_weir_actors},
	{"W4", "jobs", "weir.pool", ANY, w4_weir_pool},
	{"W4", "jobs", "tbb.flow", TBB, tbb_flow, true},
	{"W4", "jobs", "caf.actors", CAF, caf_actors, true},
	{"W4", "jobs", "libuv", UV, uv_work, true},
	{"W4", "jobs", "erlang", ERLANG, erlang_processes, true},
	{"W4", "jobs", "erlang.pool", ERLANG, erlang_pool, true},

	{"W4", "overhead", "L0.calls", ANY, w4_calls},
	{"W4", "overhead", "L1.ring1", ANY, w4_ring1},
	{"W4", "overhead", "L1.park", ANY, w4_park},
	{"W4", "overhead", "mutex+condvar", ANY, w4_mutex},
	{"W4", "overhead", "weir", ANY, w4_weir},
	{"W4", "overhead", "weir.later", ANY, w4_weir_later},
	{"W4", "overhead", "weir.actors", ANY, w4_weir_actors},
	{"W4", "overhead", "weir.pool", ANY, w4_weir_pool},
	{"W4", "overhead", "tbb.flow", TBB, tbb_flow, true},
	{"W4", "overhead", "caf.actors", CAF, caf_actors, true},
	{"W4", "overhead", "libuv", UV, uv_work, true},
	{"W4", "overhead", "erlang", ERLANG, erlang_processes, true},
	{"W4", "overhead", "erlang.pool", ERLANG, erlang_pool, true},

	{"W4", "run", "L1.park0", CPUS, w4_run_park0},
	{"W4", "run", "weir", CPUS, w4_run_parked},
	{"W4", "run", "weir.awake", CPUS, w4_run_awake},

	{"W5", "busy", "L1.spin", CPUS, w5_spin},
	{"W5", "busy", "L1.cross", CPUS, w5_cross},
	{"W5", "busy", "weir", CPUS, w5_busy},
	{"W5", "busy", "weir.awake", CPUS, w5_awake},

	{"W5", "parked", "L1.park0", CPUS, w5_park0},
	{"W5", "parked", "weir", CPUS, w5_parked},

	{"scale", "beside", "idle.10", ANY, scale_beside_10},
	{"scale", "beside", "idle.1000", ANY, scale_beside_1000},
	{"scale", "beside", "idle.100000", ANY, scale_beside_100000},
	{"scale", "length", "stages.8", ANY, scale_length_8},
	{"scale", "length", "stages.100", ANY, scale_length_100},

	{"growth", "workers", "workers.2", ANY, w1_actors},
	{"growth", "workers", "workers.4", ANY, growth_workers_4},
	{"growth", "workers", "workers.8", ANY, growth_workers_8},
	{"growth", "workers", "workers.16", ANY, growth_workers_16},
	{"growth", "workers", "workers.32", ANY, growth_workers_32},
	{"growth", "workers", "workers.64", ANY, growth_workers_64},
	{"growth", "stages", "stages.100", ANY, scale_length_100},
	{"growth", "stages", "stages.1000", ANY, scale_length_1000},
	{"growth", "stages", "stages.10000", ANY, scale_length_10000},
	{"growth", "actors", "actors.1000", ANY, growth_actors_1000},
	{"growth", "actors", "actors.1000000", ANY, growth_actors_1000000},
	{"growth", "flows", "flows.1000", ANY, growth_flows_1000},
	{"growth", "flows", "flows.100000", ANY, growth_flows_100000},

	{"memory", "actors", "weir", ANY, memory_pipeline},

	{"idle", "actors", "weir", ANY, idle_after_work},

	{"inspect", "trace", "weir", ANY, inspect_trace},
	{"inspect", "sampler", "weir", ANY, inspect_sampler},
	{"inspect", "stats", "weir", ANY, inspect_stats},
	{"inspect", "look", "actors.1000", ANY, inspect_look_1000},
	{"inspect", "look", "actors.10000", ANY, inspect_look_10000},
	{"inspect", "look", "actors.100000", ANY, inspect_look_100000},

	{"W6", "all", "L1.batch", ANY, limits_batch},
	{"W6", "all", "weir", ANY, w1_actors},
	{"W6", "all", "weir.alone", ANY, w1_alone},

	{"W6", "alternate", "L1.batch", ANY, limits_batch},
	{"W6", "alternate", "weir", ANY, w1_actors},
	{"W6", "alternate", "weir.alone", ANY, w1_alone},

	{"W6", "behind", "L1.batch", ANY, limits_batch},
	{"W6", "behind", "weir", ANY, w1_actors},
	{"W6", "behind", "weir.alone", ANY, w1_alone},

	{"W6", "one", "L1.batch", ANY, limits_batch},
	{"W6", "one", "weir", ANY, w1_actors},
	{"W6", "one", "weir.alone", ANY, w1_alone},

	{"W7", "echo", "bare", SMALL, w7_bare},
	{"W7", "echo", "weir", SMALL, w7_loop},
	{"W7", "echo", "weir.actor", SMALL, w7_actor},
	{"W7", "echo", "weir.threads", SMALL, w7_threads},
	{"W7", "echo", "libuv", UV_NET, uv_net, true},

	{"W8", "lines", "bare", SMALL, w7_bare},
	{"W8", "lines", "weir", SMALL, w7_loop},
	{"W8", "lines", "weir.anew", SMALL, w8_anew},
	{"W8", "lines", "weir.threads", SMALL, w7_threads},
	{"W8", "lines", "libuv", UV_NET, uv_net, true},
	{"W8", "lines", "libuv.each", UV_NET, uv_net_each, true},

	{"W9", "proxy", "bare", SMALL, w9_bare},
	{"W9", "proxy", "weir", SMALL, w7_loop},
	{"W9", "proxy", "weir.threads", SMALL, w7_threads},
	{"W9", "proxy", "libuv", UV_NET, uv_net, true},
	{"W9", "proxy", "haproxy", HAPROXY, haproxy_copies, true},
	{"W9", "proxy", "haproxy.splice", HAPROXY, haproxy_splices, true},

	{"W9", "bulk", "bare", SMALL, w9_bare},
	{"W9", "bulk", "weir", SMALL, w7_loop},
	{"W9", "bulk", "weir.threads", SMALL, w7_threads},
	{"W9", "bulk", "libuv", UV_NET, uv_net, true},
	{"W9", "bulk", "haproxy", HAPROXY, haproxy_copies, true},
	{"W9", "bulk", "haproxy.splice", HAPROXY, haproxy_splices, true},

	{"W10", "child", "shell", ANY, w10_shell},
	{"W10", "child", "weir", ANY, w10_child},
#if BENCH_Z
	{"W10", "deflate", "bare", ANY, w10_alone},
	{"W10", "deflate", "weir", ANY, w10_weir},
	{"W10", "inflate", "bare", ANY, w10_alone},
	{"W10", "inflate", "weir", ANY, w10_weir},
	{"W10", "zstd", "bare", ANY, w10_alone},
	{"W10", "zstd", "weir", ANY, w10_weir},
	{"W10", "unzstd", "bare", ANY, w10_alone},
	{"W10", "unzstd", "weir", ANY, w10_weir},
#endif

	{"W11", "runs", "weir", ANY, w11_runs},
	{"W11", "runs", "weir.composed", ANY, w11_runs_composed},
	{"W11", "runs", "weir.one", ANY, w11_runs_one},

#if BENCH_NATS
	{"nats", "source-file", "bare", NATS, nats_bare_source},
	{"nats", "source-file", "core", NATS, nats_core},
	{"nats", "source-file", "weir", NATS, nats_weir_source},
	{"nats", "source-file", "weir.loop", NATS, nats_weir_source_loop},
	{"nats", "source-memory", "bare", NATS, nats_bare_source},
	{"nats", "source-memory", "core", NATS, nats_core},
	{"nats", "source-memory", "weir", NATS, nats_weir_source},
	{"nats", "source-memory", "weir.loop", NATS, nats_weir_source_loop},
	{"nats", "sink-file", "bare", NATS, nats_bare_sink},
	{"nats", "sink-file", "bare.noids", NATS, nats_bare_sink_any},
	{"nats", "sink-file", "weir", NATS, nats_weir_sink},
	{"nats", "sink-memory", "bare", NATS, nats_bare_sink},
	{"nats", "sink-memory", "bare.noids", NATS, nats_bare_sink_any},
	{"nats", "sink-memory", "weir", NATS, nats_weir_sink},
	{"nats", "process-file", "bare", NATS, nats_bare_source},
	{"nats", "process-file", "weir", NATS, nats_weir_process},
	{"nats", "process-memory", "bare", NATS, nats_bare_source},
	{"nats", "process-memory", "weir", NATS, nats_weir_process},
	{"nats", "request", "bare", NATS, nats_bare_request},
	{"nats", "request", "weir", NATS, nats_weir_request},
	{"nats", "members", "bare", NATS, nats_bare_members},
	{"nats", "members", "weir", NATS, nats_weir_members},
	{"nats", "stopped", "weir", NATS, nats_weir_stopped},
#endif

	{0},
};
