/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workload nats by libnats alone: a loop that asks for messages and settles
 * each, publishing with so many under way, and a core subscription, without
 * JetStream.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "histogram.h"
#include "natsd.h"
#include "support.h"
#include "who.h"

#define MEMBERS_MAX 8u

static void must(natsStatus s)
{
	if (s == NATS_OK)
		return;
	fprintf(stderr, "weir-bench: nats: %s\n", natsStatus_GetText(s));
	exit(1);
}

/* --- Asking ---------------------------------------------------------------- */

static void settle(struct natsd_loop *loop, natsMsg *msg)
{
	must(natsConnection_PublishString(loop->connection,
					  natsMsg_GetReply(msg), "+ACK"));
	natsd_tally_add(loop->context, natsd_number(natsMsg_GetData(msg)));
}

static int pull(const struct bench_cell *cell, unsigned window,
		unsigned members, uint64_t items, struct bench_result *result)
{
	struct natsd_tally tally = {.items = items};
	struct natsd_loop loops[MEMBERS_MAX];
	natsConnection *connections[MEMBERS_MAX];
	struct natsd_watch watch;
	unsigned i;

	natsd_fill(cell, "IN", items);
	for (i = 0; i < members; i++)
		connections[i] = natsd_connect(false);
	natsd_watch_begin(&watch);
	for (i = 0; i < members; i++) {
		loops[i] = (struct natsd_loop){
			.window = window, .take = settle, .context = &tally};
		natsd_loop_begin(&loops[i], connections[i], "IN");
	}
	natsd_tally_wait(&tally);
	for (i = 0; i < members; i++)
		natsd_loop_end(&loops[i]);
	natsd_watch_end(&watch, items, result);
	for (i = 0; i < members; i++)
		natsd_disconnect(connections[i]);
	natsd_drop("IN");
	result->count = tally.count;
	result->sum = tally.sum;
	result->last = tally.last;
	return 0;
}

int nats_bare_source(const struct bench_cell *cell, uint64_t items,
		     struct bench_result *result)
{
	return pull(cell, cell->window, 1, items, result);
}

int nats_bare_members(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return pull(cell, NATSD_MEMBERS_WINDOW, cell->window, items, result);
}

/* --- One at a time --------------------------------------------------------- */

struct one {
	struct natsd_tally tally; /* first */
	struct natsd_gaps gaps;
};

static void settle_one(struct natsd_loop *loop, natsMsg *msg)
{
	struct one *one = loop->context;

	natsd_gaps_add(&one->gaps);
	settle(loop, msg);
}

int nats_bare_request(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	struct one one = {.tally.items = items};
	struct natsd_loop loop = {
		.window = 1, .take = settle_one, .context = &one};
	natsConnection *connection = natsd_connect(true);

	natsd_fill(cell, "IN", items);
	natsd_loop_begin(&loop, connection, "IN");
	natsd_tally_wait(&one.tally);
	natsd_loop_end(&loop);
	natsd_disconnect(connection);
	natsd_drop("IN");
	natsd_gaps_result(&one.gaps, result);
	result->count = one.tally.count;
	result->sum = one.tally.sum;
	result->last = one.tally.last;
	return 0;
}

/* --- Publishing ------------------------------------------------------------- */

static void publish(jsCtx *js, uint64_t items, bool has_ids)
{
	char text[NATSD_SIZE], id[32];
	jsPubOptions options;
	uint64_t i;

	must(jsPubOptions_Init(&options));
	options.MsgId = has_ids ? id : NULL;
	for (i = 0; i < items; i++) {
		natsd_write(text, i);
		(void)snprintf(id, sizeof(id), "bench.%" PRIu64, i);
		must(js_PublishAsync(js, "OUT", text, NATSD_SIZE, &options));
	}
	must(js_PublishAsyncComplete(js, NULL));
}

static int sink(const struct bench_cell *cell, uint64_t items, bool has_ids,
		struct bench_result *result)
{
	natsConnection *connection = natsd_connect(false);
	struct natsd_watch watch;
	jsOptions options;
	jsCtx *js;

	must(jsOptions_Init(&options));
	options.PublishAsync.MaxPending = cell->window;
	options.PublishAsync.StallWait = 30000;
	must(natsConnection_JetStream(&js, connection, &options));
	natsd_stream(cell, "OUT");
	natsd_watch_begin(&watch);
	publish(js, items, has_ids);
	natsd_watch_end(&watch, items, result);
	natsd_read("OUT", result);
	natsd_drop("OUT");
	jsCtx_Destroy(js);
	natsd_disconnect(connection);
	return 0;
}

int nats_bare_sink(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	return sink(cell, items, true, result);
}

int nats_bare_sink_any(const struct bench_cell *cell, uint64_t items,
		       struct bench_result *result)
{
	return sink(cell, items, false, result);
}

/* --- Without JetStream ------------------------------------------------------ */

static void on_message(natsConnection *connection,
		       natsSubscription *subscription, natsMsg *msg,
		       void *context)
{
	natsd_tally_add(context, natsd_number(natsMsg_GetData(msg)));
	natsMsg_Destroy(msg);
}

int nats_core(const struct bench_cell *cell, uint64_t items,
	      struct bench_result *result)
{
	struct natsd_tally tally = {.items = items};
	natsConnection *from = natsd_connect(false), *to = natsd_connect(false);
	natsSubscription *subscription = NULL;
	struct natsd_watch watch;
	char text[NATSD_SIZE];
	uint64_t i;

	must(natsConnection_Subscribe(&subscription, to, "core", on_message,
				      &tally));
	must(natsSubscription_SetPendingLimits(subscription, -1, -1));
	must(natsConnection_Flush(to));
	natsd_watch_begin(&watch);
	for (i = 0; i < items; i++) {
		natsd_write(text, i);
		must(natsConnection_Publish(from, "core", text, NATSD_SIZE));
	}
	natsd_tally_wait(&tally);
	natsd_watch_end(&watch, items, result);
	natsSubscription_Destroy(subscription);
	natsd_disconnect(to);
	natsd_disconnect(from);
	result->count = tally.count;
	result->sum = tally.sum;
	result->last = tally.last;
	return 0;
}
