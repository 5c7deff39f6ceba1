/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each struct whose memory is a program's takes. A size that changes here
 * breaks programs that were compiled before: raise the soversion, and say so in
 * docs/changes.md. test/spec/conventions.py holds this list to the headers.
 */
#include <weir/flow_compress.h>
#include <weir/inspect_http.h>
#include <weir/nats.h>
#include <weir/tls.h>
#include <weir/testkit.h>
#include <weir/weir.h>

#define SIZE(name, size) \
	_Static_assert(sizeof(struct name) == (size), #name " has another size")

#if __SIZEOF_POINTER__ == 8

/* actor.h */
SIZE(weir_actor_ops, 88);
SIZE(weir_port_name, 16);
SIZE(weir_stats, 80);
SIZE(weir_actor, 72);

/* allocator.h */
SIZE(weir_allocator, 24);

/* any.h */
SIZE(weir_any, 40);

/* backoff_supervisor.h */
SIZE(weir_backoff_supervisor_options, 232);
SIZE(weir_backoff_supervisor, 696);

/* blocking.h */
SIZE(weir_blocking_options, 144);

/* channel.h */
SIZE(weir_put, 72);
SIZE(weir_take, 72);
SIZE(weir_channel_in, 136);
SIZE(weir_channel_out, 136);

/* completion.h */
SIZE(weir_completion, 40);
SIZE(weir_await, 48);
SIZE(weir_completion_port, 88);
SIZE(weir_latch, 48);
SIZE(weir_member, 64);
SIZE(weir_join, 88);

/* death_watch.h */
SIZE(weir_watcher, 40);
SIZE(weir_graceful_stop, 104);

/* delay.h */
SIZE(weir_delay, 96);

/* error.h */
SIZE(weir_error, 56);

/* executor.h */
SIZE(weir_task, 8);
SIZE(weir_timer, 40);
SIZE(weir_watch, 24);
SIZE(weir_executor_ops, 64);
SIZE(weir_executor_options, 88);
SIZE(weir_executor, 104);
SIZE(weir_ending, 88);

/* fd.h */
SIZE(weir_fd, 72);

/* connection.h */
SIZE(weir_connection_options, 96);
SIZE(weir_connection_credentials, 12);
SIZE(weir_connection_counts, 32);
SIZE(weir_connection_pipe_options, 48);
SIZE(weir_connection_layer_ops, 48);
SIZE(weir_listen_options, 168);
SIZE(weir_connect_options, 136);

/* flow.h */
SIZE(weir_flow_run_options, 56);

/* flow_async.h */
SIZE(weir_flow_parallel_options, 40);

/* flow_combine.h */
SIZE(weir_flow_join_options, 64);

/* flow_compress.h */
SIZE(weir_flow_deflate_options, 56);
SIZE(weir_flow_inflate_options, 72);
SIZE(weir_flow_zstd_options, 56);
SIZE(weir_flow_unzstd_options, 72);

/* flow_element.h */
SIZE(weir_flow_intersperse_functions, 24);
SIZE(weir_flow_stateful_map_functions, 32);
SIZE(weir_flow_peek_functions, 56);

/* flow_child.h */
SIZE(weir_flow_child_options, 80);

/* flow_error.h */
SIZE(weir_flow_restart_options, 72);
SIZE(weir_flow_signal, 40);

/* flow_event.h */
SIZE(weir_flow_change, 32);
SIZE(weir_flow_datagram, 184);
SIZE(weir_flow_datagrams_options, 48);
SIZE(weir_flow_tail_options, 64);

/* flow_fan.h */
SIZE(weir_flow_fan_options, 88);

/* flow_hub.h */
SIZE(weir_hub_options, 112);
SIZE(weir_flow_share_options, 208);

/* flow_io.h */
SIZE(weir_flow_bytes, 48);
SIZE(weir_flow_length_field_options, 56);

/* flow_operator.h */
SIZE(weir_operator_ops, 112);

/* flow_rate.h */
SIZE(weir_flow_conflate_functions, 16);
SIZE(weir_flow_rate, 48);
SIZE(weir_flow_delay_options, 72);

/* flow_sink.h */
SIZE(weir_flow_fold_functions, 16);
SIZE(weir_flow_list, 40);

/* flow_source.h */
SIZE(weir_flow_resource_functions, 24);

/* flow_substream.h */
SIZE(weir_flow_key_functions, 32);
SIZE(weir_flow_group_options, 56);
SIZE(weir_flow_window_options, 56);

/* in.h */
SIZE(weir__slot, 8);
SIZE(weir__lane, 48);
SIZE(weir__taker, 24);
SIZE(weir_in, 120);

/* inspect.h */
SIZE(weir_seen_actor, 232);
SIZE(weir_seen_child, 208);
SIZE(weir_seen_pool, 120);
SIZE(weir_seen_executor, 112);
SIZE(weir_seen_thread, 56);
SIZE(weir_seen_port, 120);
SIZE(weir_seen_link, 64);
SIZE(weir_seen_demand, 56);
SIZE(weir_seen_object, 48);
SIZE(weir_snapshot, 192);
SIZE(weir_reason, 40);

/* inspect_http.h */
SIZE(weir_inspect_http_options, 80);

/* inspector.h */
SIZE(weir_inspector_options, 40);

/* items.h */
SIZE(weir_items, 32);

/* nats.h */
SIZE(weir_nats_options, 152);
SIZE(weir_nats_stats, 152);
SIZE(weir_nats_stream, 104);
SIZE(weir_nats_consumer, 80);
SIZE(weir_nats_source_options, 128);
SIZE(weir_nats_sink_options, 88);
SIZE(weir_nats_boundary, 144);

/* out.h */
SIZE(weir__putter, 40);
SIZE(weir_out, 96);

/* permits.h */
SIZE(weir_permits, 56);

/* port.h */
SIZE(weir_port, 32);

/* private.h */
SIZE(weir__waiter, 32);
SIZE(weir__node, 8);
SIZE(weir__mailbox, 8);
SIZE(weir__waiters, 16);
SIZE(weir__claim, 56);
SIZE(weir__grant_port, 120);

/* process_manager.h */
SIZE(weir_command, 112);
SIZE(weir_process, 160);
SIZE(weir_process_manager_options, 192);
SIZE(weir_process_manager, 1392);
SIZE(weir_process_counts, 112);

/* reactive.h */
SIZE(weir_reactive_out_options, 56);
SIZE(weir__port_adapter, 40);
SIZE(weir_reactive_out, 160);
SIZE(weir_reactive_in_options, 64);
SIZE(weir_reactive_in, 200);

/* request.h */
SIZE(weir_watermark, 16);
SIZE(weir_max_in_flight, 32);

/* sampler.h */
SIZE(weir_sampler_options, 80);

/* semaphore.h */
SIZE(weir_semaphore, 32);
SIZE(weir_acquire, 64);
SIZE(weir_semaphore_port, 128);

/* stage.h */
SIZE(weir_producer_options, 104);
SIZE(weir_producer, 416);
SIZE(weir_transformer_options, 128);
SIZE(weir_transformer, 504);
SIZE(weir_consumer_options, 112);
SIZE(weir_consumer, 392);

/* stream.h */
SIZE(weir_subscription_ops, 24);
SIZE(weir_subscription, 24);
SIZE(weir_subscriber_ops, 56);
SIZE(weir_subscriber, 16);
SIZE(weir_publisher_ops, 8);
SIZE(weir_publisher, 8);
SIZE(weir_processor, 16);

/* supervision.h */
SIZE(weir_actor_id, 8);
SIZE(weir_failure, 40);
SIZE(weir_rule, 24);
SIZE(weir_limit, 24);
SIZE(weir_backoff, 40);
SIZE(weir_strategy, 80);
SIZE(weir_terminated, 48);
SIZE(weir_lifecycle, 72);

/* supervisor.h */
SIZE(weir_child_spec, 64);
SIZE(weir_supervisor, 256);

/* system.h */
SIZE(weir_supervision_event, 56);
SIZE(weir_system_options, 80);
SIZE(weir_system_hook, 24);
SIZE(weir_spawn_options, 56);

/* tell.h */
SIZE(weir_ask, 112);
SIZE(weir_ask_in, 128);

/* testkit.h */
SIZE(weir_test_env, 32);
SIZE(weir_subscriber_probe_options, 96);
SIZE(weir_subscriber_probe_counts, 64);
SIZE(weir_publisher_probe_counts, 56);
SIZE(weir_verify_report, 32);
SIZE(weir_publisher_factory, 104);
SIZE(weir_subscriber_factory, 128);
SIZE(weir_processor_factory, 112);

/* threads.h */
SIZE(weir_threads_options, 160);
SIZE(weir_threads_counters, 56);

/* tls.h */
SIZE(weir_tls_options, 48);

/* trace.h */
SIZE(weir_trace_options, 64);
SIZE(weir_trace_counts, 24);

/* worker_pool.h */
SIZE(weir_pools_options, 56);
SIZE(weir_pool_options, 120);
SIZE(weir_pool_request, 128);
SIZE(weir_pool_result, 16);
SIZE(weir_pool_counts, 72);
SIZE(weir_pool_worker, 32);
SIZE(weir_pool_check_out, 240);

#endif
