/* SPDX-License-Identifier: BSD-2-Clause */
/* The workload nats by the library: flows on a pool of one worker. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/nats.h>
#include <weir/weir.h>

#include <ck_pr.h>

#include "natsd.h"
#include "support.h"
#include "who.h"

#define MEMBERS_MAX 8u
#define WAIT_NS UINT64_C(60000000000)

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "weir-bench: nats: %s: %s\n", what, strerror(-rc));
	exit(1);
}

static struct weir_nats *connect(bool asap)
{
	const struct weir_nats_options options = {
		.url = natsd_url(), .timeout_ns = WAIT_NS, .asap = asap};
	struct weir_nats *nats;

	must(weir_nats_new(&nats, &options, NULL), "connection");
	return nats;
}

static struct weir_threads *threads_new(void)
{
	const struct weir_threads_options options = {.workers = 1};
	struct weir_threads *threads;

	must(weir_threads_new(&threads, &options), "threads");
	return threads;
}

static struct weir_flow_run *start(struct weir_flow *flow,
				   struct weir_threads *threads)
{
	struct weir_flow_run *run;

	must(weir_flow_start(flow, weir_threads_executor(threads), NULL, &run),
	     "run");
	return run;
}

static void wait(struct weir_flow_run *run, void **result)
{
	struct weir_error *error = NULL;

	must(weir_flow_run_wait(run, WAIT_NS, result, &error), "wait");
	if (error)
		fprintf(stderr, "weir-bench: nats: %s\n", error->message);
	must(error ? error->code : 0, "flow");
	weir_flow_run_free(run);
}

/* --- Sources --------------------------------------------------------------- */

struct source {
	struct natsd_tally tally;
	struct natsd_gaps gaps;
	bool has_gaps;
};

static int take(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;
	struct source *source = context;

	if (source->has_gaps)
		natsd_gaps_add(&source->gaps);
	natsd_tally_add(&source->tally, natsd_number(bytes->data));
	weir_flow_bytes_unref(bytes);
	return 0;
}

/* Of at most `items` messages. */
static struct weir_flow *source_flow(struct weir_nats *nats, unsigned window,
				     uint64_t items, struct source *source)
{
	const struct weir_nats_source_options options = {
		.stream = "IN", .durable = NATSD_CONSUMER, .window = window};
	struct weir_flow *flow = weir_flow_from_nats(nats, &options);

	flow = weir_flow_take(weir_flow_nats_done(flow), items);
	return weir_flow_for_each(flow, take, source);
}

static void tell(const struct natsd_tally *tally, struct bench_result *result)
{
	result->count = tally->count;
	result->sum = tally->sum;
	result->last = tally->last;
}

/* Several members have a connection each. */
static void pull(unsigned window, unsigned members, bool asap,
		 struct source *source, struct bench_result *result)
{
	struct weir_threads *threads = threads_new();
	struct weir_flow_run *runs[MEMBERS_MAX];
	struct weir_flow *flows[MEMBERS_MAX];
	struct weir_nats *nats[MEMBERS_MAX];
	struct natsd_watch watch;
	unsigned i;

	for (i = 0; i < members; i++) {
		nats[i] = connect(asap);
		flows[i] = source_flow(nats[i], window, source->tally.items,
				       source);
	}
	natsd_watch_begin(&watch);
	for (i = 0; i < members; i++)
		runs[i] = start(flows[i], threads);
	natsd_tally_wait(&source->tally);
	for (i = 0; i < members; i++)
		must(weir_nats_end_wait(nats[i], WAIT_NS), "end");
	natsd_watch_end(&watch, source->tally.items, result);
	for (i = 0; i < members; i++) {
		wait(runs[i], NULL);
		weir_flow_free(flows[i]);
		must(weir_nats_free(nats[i]), "free");
	}
	must(weir_threads_free(threads), "threads");
	tell(&source->tally, result);
}

int nats_weir_source(const struct bench_cell *cell, uint64_t items,
		     struct bench_result *result)
{
	struct source source = {.tally.items = items};

	natsd_fill(cell, "IN", items);
	pull(cell->window, 1, false, &source, result);
	natsd_drop("IN");
	return 0;
}

/* On a loop, which does not wait by spinning, in the main thread. */
int nats_weir_source_loop(const struct bench_cell *cell, uint64_t items,
			  struct bench_result *result)
{
	struct source source = {.tally.items = items};
	struct weir_nats *nats = connect(false);
	struct natsd_watch watch;
	struct weir_flow *flow;
	struct weir_loop *loop;

	natsd_fill(cell, "IN", items);
	must(weir_loop_new(&loop, NULL), "loop");
	flow = source_flow(nats, cell->window, items, &source);
	natsd_watch_begin(&watch);
	must(weir_flow_run(flow, weir_loop_executor(loop), NULL), "flow");
	must(weir_nats_end_wait(nats, WAIT_NS), "end");
	natsd_watch_end(&watch, items, result);
	weir_flow_free(flow);
	must(weir_loop_free(loop), "loop");
	must(weir_nats_free(nats), "free");
	natsd_drop("IN");
	tell(&source.tally, result);
	return 0;
}

int nats_weir_members(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	struct source source = {.tally.items = items};

	natsd_fill(cell, "IN", items);
	pull(NATSD_MEMBERS_WINDOW, cell->window, false, &source, result);
	natsd_drop("IN");
	return 0;
}

int nats_weir_request(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	struct source source = {.tally.items = items, .has_gaps = true};

	natsd_fill(cell, "IN", items);
	pull(1, 1, true, &source, result);
	natsd_drop("IN");
	natsd_gaps_result(&source.gaps, result);
	return 0;
}

/* --- Sinks ------------------------------------------------------------------ */

struct numbers {
	uint64_t next, end; /* `next` is read by who waits */
};

static int next_number(void **state, void **item, void *context)
{
	struct numbers *numbers = context;
	struct weir_flow_bytes *bytes;
	int rc;

	(void)state;
	if (numbers->next == numbers->end)
		return 0;
	rc = weir_flow_bytes_new(&bytes, NATSD_SIZE, NULL);
	if (rc < 0)
		return rc;
	natsd_write(bytes->data, numbers->next);
	ck_pr_store_64(&numbers->next, numbers->next + 1);
	*item = bytes;
	return 1;
}

static struct weir_flow *numbers_flow(struct numbers *numbers)
{
	return weir_flow_items(weir_flow_unfold(NULL, next_number, numbers),
			       weir_flow_bytes_items());
}

/* Runs it, and looks at what is stored. */
static int publish(struct weir_flow *flow, struct weir_nats *nats,
		   uint64_t items, struct bench_result *result)
{
	struct weir_threads *threads = threads_new();
	struct natsd_watch watch;
	void *stored = NULL;

	natsd_watch_begin(&watch);
	wait(start(flow, threads), &stored);
	must(weir_nats_end_wait(nats, WAIT_NS), "end");
	natsd_watch_end(&watch, items, result);
	weir_flow_free(flow);
	must(weir_nats_free(nats), "free");
	must(weir_threads_free(threads), "threads");
	natsd_read("OUT", result);
	return (uintptr_t)stored == items ? 0 : -EIO;
}

int nats_weir_sink(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	const struct weir_nats_sink_options options = {.subject = "OUT",
						       .window = cell->window};
	struct numbers numbers = {.end = items};
	struct weir_nats *nats = connect(false);
	int rc;

	natsd_stream(cell, "OUT");
	rc = publish(weir_flow_into_nats(numbers_flow(&numbers), nats,
					 &options),
		     nats, items, result);
	natsd_drop("OUT");
	return rc;
}

/* The letters become others, the number does not. */
static int make(struct weir_nats_message *message, uint64_t i,
		struct weir_flow_bytes **out, void *context)
{
	struct weir_flow_bytes *in = (struct weir_flow_bytes *)message;
	int rc = weir_flow_bytes_new(out, in->n, NULL);
	size_t at;

	(void)i;
	(void)context;
	if (rc < 0)
		return rc;
	memcpy((*out)->data, in->data, in->n);
	for (at = sizeof(uint64_t); at < in->n; at++)
		(*out)->data[at] ^= 0x20;
	return WEIR_NEXT_LAST;
}

int nats_weir_process(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	const struct weir_nats_source_options from = {.stream = "IN",
						      .durable = NATSD_CONSUMER,
						      .window = cell->window};
	const struct weir_nats_sink_options to = {.subject = "OUT",
						  .window = cell->window};
	struct weir_nats *nats = connect(false);
	struct weir_flow *flow;
	int rc;

	natsd_fill(cell, "IN", items);
	natsd_stream(cell, "OUT");
	flow = weir_flow_take(weir_flow_from_nats(nats, &from), items);
	flow = weir_flow_nats_process(flow, make, NULL, nats, &to);
	rc = publish(flow, nats, items, result);
	natsd_drop("OUT");
	natsd_drop("IN");
	return rc;
}

/* --- A boundary whose consumer stands still ---------------------------------- */

#define LOOK_NS 50000000
#define LOOKS 5

/* Returns what was read when it has not grown for a while. */
static uint64_t await_still(const uint64_t *number)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	uint64_t now = 0, before;
	int same = 0;

	while (same < LOOKS) {
		before = now;
		(void)nanosleep(&look, NULL);
		now = ck_pr_load_64(number);
		same = now == before && now > 0 ? same + 1 : 0;
	}
	return now;
}

/* What is allocated, by all. */
static double allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return (double)(info.uordblks + info.hblkhd);
}

int nats_weir_stopped(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	const struct weir_nats_boundary boundary = {
		.name = "CUT", .capacity = 4 * (size_t)cell->window};
	struct numbers numbers = {.end = items};
	struct source source = {.tally.items = items};
	struct weir_nats *above = connect(false), *below = connect(false);
	struct weir_threads *threads = threads_new();
	struct weir_flow_run *giving, *taking;
	struct weir_flow *give, *takes;
	double before, still;
	void *stored = NULL;

	must(weir_nats_boundary_ensure_wait(above, &boundary, WAIT_NS, NULL),
	     "boundary");
	before = allocated();
	give = weir_flow_nats_give(numbers_flow(&numbers), above, &boundary);
	giving = start(give, threads);
	result->figures[0] = (double)await_still(&numbers.next);
	still = allocated();
	result->figures[1] = still - before;
	result->figures[2] = (double)await_still(&numbers.next) -
			     result->figures[0] + allocated() - still;
	takes = weir_flow_nats_take(below, &boundary);
	takes = weir_flow_for_each(weir_flow_nats_done(takes), take, &source);
	taking = start(takes, threads);
	wait(taking, NULL);
	wait(giving, &stored);
	weir_flow_free(takes);
	weir_flow_free(give);
	must(weir_nats_end_wait(below, WAIT_NS), "end");
	must(weir_nats_free(below), "free");
	must(weir_nats_free(above), "free");
	must(weir_threads_free(threads), "threads");
	natsd_drop("CUT");
	result->elapsed_ns = 1;
	tell(&source.tally, result);
	return (uintptr_t)stored == items ? 0 : -EIO;
}
