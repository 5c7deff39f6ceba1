/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of verify_sources.c: what a source is made of, and sources that take
 * from what is not a flow.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_BRIDGES_H
#define WEIR_TEST_FLOW_VERIFY_BRIDGES_H

#include "flow/verify_kit.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define SOURCE_LONG 1000 /* items of a source that has them in store */

/* Who gets them, of several runs of one flow. */
enum sharing { EACH_GETS_ALL, THEY_SHARE, FIRST_GETS_ALL };

/* What a flow that was made is made of, and what it takes from. */
struct made {
	struct weir_executor *executor;
	const struct weir_items *items;
	int64_t n;
	void *array[SOURCE_LONG];
	struct weir_flow_publisher *publisher;
	struct weir_channel *channel;
	struct weir_hub *hub;
	struct weir_flow_share *share;
	struct beside feeder; /* of the channel or the hub */
	int fds[2];
	struct weir_connection *connections[2];
	char path[32];
	uint32_t begun; /* flows that restart has made; any thread */
	/* An actor that makes them. */
	struct weir_actor actor;
	struct weir_out out;
	int64_t next;
	bool has_actor;
	uint32_t gone; /* any thread */
};

struct source_row {
	const char *name; /* contains those of all operators in it */
	struct weir_flow *(*make)(struct made *made);
	int64_t max_items; /* 0: no limit */
	enum sharing sharing;
	bool timed; /* comes to rest as time passes only */
	/* Waits for the kernel, of which threads at rest have not heard yet. */
	bool waits;
};

struct made *made_new(struct weir_executor *executor,
		      const struct weir_items *items, int64_t n);

/* What it has made must not run any more, but for an actor. */
void made_let_go(struct made *made);

/* All has come to rest since. */
void made_free(struct made *made);
struct weir_flow *goods_of(struct weir_flow *numbers, struct made *made);
struct weir_flow *range_of(struct made *made);

/* Of a number: so many. */
struct weir_flow *grown(struct weir_flow *number, struct made *made);

/* Of blocks with a number each. */
struct weir_flow *goods_of_blocks(struct weir_flow *blocks, struct made *made);

/* --- Queues, publishers, channels ----------------------------------------- */

struct weir_flow *queue_of(struct made *made);
struct weir_flow *publisher_of(struct made *made);

/* Which is full most of the time, or empty. */
struct weir_flow *channel_of(struct made *made);

/* Which keeps all items for those that come late. */
struct weir_flow *hub_of(struct made *made);
struct weir_flow *share_of(struct made *made);

/* --- An actor ------------------------------------------------------------- */

struct weir_flow *out_of(struct made *made);

/* --- Files ---------------------------------------------------------------- */

/* Of a pipe, which holds them all. */
struct weir_flow *read_of(struct made *made);
struct weir_flow *read_file_of(struct made *made);
struct weir_flow *tail_of(struct made *made);
struct weir_flow *fd_of(struct made *made);
struct weir_flow *datagrams_of(struct made *made);

/* A socket of UDP that is connected to itself. */
int udp_to_itself(void);

#endif
