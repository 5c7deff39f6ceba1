/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything weir offers. Each header can also be included alone. */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <weir/actor.h>
#include <weir/allocator.h>
#include <weir/any.h>
#include <weir/api.h>
#include <weir/backoff_supervisor.h>
#include <weir/blocking.h>
#include <weir/channel.h>
#include <weir/completion.h>
#include <weir/connection.h>
#include <weir/death_watch.h>
#include <weir/delay.h>
#include <weir/error.h>
#include <weir/executor.h>
#include <weir/fd.h>
#include <weir/flow.h>
#include <weir/flow_async.h>
#include <weir/flow_bridge.h>
#include <weir/flow_combine.h>
#include <weir/flow_element.h>
#include <weir/flow_error.h>
#include <weir/flow_fan.h>
#include <weir/flow_graph.h>
#include <weir/flow_hub.h>
#include <weir/flow_io.h>
#include <weir/flow_operator.h>
#include <weir/flow_rate.h>
#include <weir/flow_sink.h>
#include <weir/flow_source.h>
#include <weir/flow_substream.h>
#include <weir/flow_switch.h>
#include <weir/in.h>
#include <weir/items.h>
#include <weir/loop.h>
#include <weir/out.h>
#include <weir/permits.h>
#include <weir/port.h>
#include <weir/private.h>
#include <weir/process_manager.h>
#include <weir/reactive.h>
#include <weir/request.h>
#include <weir/semaphore.h>
#include <weir/sim.h>
#include <weir/stage.h>
#include <weir/stream.h>
#include <weir/supervision.h>
#include <weir/supervisor.h>
#include <weir/system.h>
#include <weir/tell.h>
#include <weir/threads.h>
#include <weir/version.h>
#include <weir/worker_pool.h>

#endif
