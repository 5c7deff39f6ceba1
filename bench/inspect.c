/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it costs to look inside. `trace`, `sampler` and `stats` run W1 with and
 * without one of these, by turns; wrong is a trace that has lost an event, a
 * sampler that does not look, and stats that count other turns than there were.
 * `look` takes snapshots of actors that wait, while one runs all the time and
 * starts others; it is wrong if a snapshot has not seen them all.
 */
#include <errno.h>
#include <time.h>

#include "histogram.h"
#include "idlers.h"
#include "support.h"
#include "w1.h"
#include "who.h"

#define PAIRS 4 /* of runs, of which the best count */
#define LOOKS 16

/* --- W1 ------------------------------------------------------------------- */

/* What is there while W1 runs. */
struct tool {
	/* Before the actors are started; 0 or a negative errno. */
	int (*on)(struct tool *tool, const struct w1 *w1);
	/* When they have stopped; -EIO: it has not done what it is for. */
	int (*off)(struct tool *tool, const struct bench_result *result);
	struct weir_trace *trace;
	struct weir_sampler *sampler;
	struct weir_stats *stats;
	unsigned n_stats;
};

/*
 * The least CPU time of a run, with the end of its pool: the clock of a process
 * knows of a thread that runs on another CPU what it knew at the last tick, 4 ms
 * ago, so it is read where the workers sleep, and where they are no more.
 */
static int run_w1(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result, struct tool *tool, uint64_t *ns)
{
	uint64_t cpu_ns;
	struct w1 w1;
	int rc = w1_open(&w1, cell, items, W1_LINKS);

	if (rc == 0 && tool)
		rc = tool->on(tool, &w1);
	cpu_ns = bench_cpu_ns();
	if (rc == 0)
		rc = w1_run(&w1, result);
	if (rc == 0 && tool)
		rc = tool->off(tool, result);
	if (rc == 0)
		rc = w1_close(&w1);
	cpu_ns = bench_cpu_ns() - cpu_ns;
	if (cpu_ns < *ns)
		*ns = cpu_ns;
	return rc;
}

/* CPU ns of an item without and with the tool; how much longer a slice takes. */
static int run_pairs(const struct bench_cell *cell, uint64_t items,
		     struct bench_result *result, struct tool *tool)
{
	uint64_t off = UINT64_MAX, on = UINT64_MAX;
	int rc = 0, i;

	for (i = 0; i < PAIRS && rc == 0; i++) {
		rc = run_w1(cell, items, result, NULL, &off);
		if (rc == 0)
			rc = run_w1(cell, items, result, tool, &on);
	}
	result->figures[0] = (double)off / (double)items;
	result->figures[1] = (double)on / (double)items;
	result->figures[2] = ((double)on - (double)off) /
			     (double)result->counters.slices;
	return rc;
}

static int trace_on(struct tool *tool, const struct w1 *w1)
{
	return weir_trace_new(&tool->trace, NULL, NULL);
}

static int trace_off(struct tool *tool, const struct bench_result *result)
{
	struct weir_trace_counts counts;
	int rc = weir_trace_stop(tool->trace);

	if (rc == 0)
		rc = weir_trace_count(tool->trace, &counts);
	if (rc == 0 &&
	    (counts.lost || counts.events + 1 < result->counters.slices))
		rc = -EIO;
	if (rc == 0)
		weir_trace_free(tool->trace);
	return rc;
}

int inspect_trace(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	struct tool tool = {.on = trace_on, .off = trace_off};

	return run_pairs(cell, items, result, &tool);
}

/* Until it has looked twice by itself, and nobody runs. */
static int sampler_on(struct tool *tool, const struct w1 *w1)
{
	const struct weir_sampler_options fast = {.hz = 1000};
	const struct timespec moment = {.tv_nsec = 1000 * 1000};
	struct weir_snapshot *snapshot;
	bool looks = false;
	int rc =
		weir_sampler_new(&tool->sampler, &w1->pool->executor, 1, &fast);
	int i;

	for (i = 0; i < 10000 && rc == 0 && !looks; i++) {
		(void)nanosleep(&moment, NULL);
		rc = weir_sampler_snapshot(tool->sampler, &snapshot);
		if (rc == 0) {
			looks = snapshot->period_ns != WEIR_UNKNOWN;
			weir_snapshot_free(snapshot);
		}
	}
	return rc == 0 && !looks ? -EIO : rc;
}

static int sampler_off(struct tool *tool, const struct bench_result *result)
{
	return weir_sampler_free(tool->sampler);
}

/* The last figure: how many times as long an item takes. */
int inspect_sampler(const struct bench_cell *cell, uint64_t items,
		    struct bench_result *result)
{
	struct tool tool = {.on = sampler_on, .off = sampler_off};
	int rc = run_pairs(cell, items, result, &tool);

	result->figures[2] = result->figures[1] / result->figures[0];
	return rc;
}

static int stats_on(struct tool *tool, const struct w1 *w1)
{
	tool->n_stats = w1->n;
	tool->stats = bench_alloc(w1->n * sizeof(*tool->stats));
	return w1_count(w1, tool->stats);
}

/* Their actors are not released yet. */
static int stats_off(struct tool *tool, const struct bench_result *result)
{
	struct weir_stats stats;

	for (unsigned i = 0; i < tool->n_stats; i++) {
		weir_stats_read(&tool->stats[i], &stats);
		if (stats.turns != result->count)
			return -EIO;
	}
	return 0;
}

int inspect_stats(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	struct tool tool = {.on = stats_on, .off = stats_off};

	return run_pairs(cell, items, result, &tool);
}

/* --- Looks ---------------------------------------------------------------- */

#define CHAIN 10

/* One of ten in a row, which waits for the one before it. */
struct link {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
};

static inline int pass(struct weir_actor *actor)
{
	struct link *self = weir_container_of(actor, struct link, actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(pass)

static const struct weir_actor_ops link_ops = {.name = "link", .turns = pass_n};

static int links_start(struct link *links, struct pool *pool, unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++) {
		struct link *link = &links[i];

		rc = weir_actor_init(&link->actor, &link_ops, pool->executor);
		if (rc == 0)
			rc = weir_in_init(&link->in, &link->actor, 1, NULL);
		if (rc == 0)
			rc = weir_out_init(&link->out, &link->actor, NULL);
		if (rc == 0 && i % CHAIN)
			rc = weir_out_link(&links[i - 1].out, &link->in);
	}
	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = weir_actor_start(&links[i].actor);
	return rc < 0 ? rc : idlers_wait_parked(pool);
}

/*
 * Runs all the time, and starts another actor when the last one is no more: to
 * start and to end it takes the lock that looks take.
 */
struct ticker {
	struct weir_actor actor, other;
	bool starts; /* one worker runs both */
	uint64_t started_ns;
	struct histogram lives; /* of the others, with what they waited */
};

static void other_released(struct weir_actor *actor)
{
	struct ticker *self = weir_container_of(actor, struct ticker, other);

	histogram_add(&self->lives, bench_real_ns() - self->started_ns);
	self->starts = true;
}

static const struct weir_actor_ops other_ops = {.name = "other",
						.released = other_released};

static int start_other(struct ticker *self)
{
	int rc;

	self->starts = false;
	self->started_ns = bench_real_ns();
	rc = weir_actor_init(&self->other, &other_ops, self->actor.executor);
	if (rc == 0)
		rc = weir_actor_start(&self->other);
	if (rc == 0)
		weir_actor_stop(&self->other);
	return rc;
}

static int tick(struct weir_actor *actor)
{
	struct ticker *self = weir_container_of(actor, struct ticker, actor);

	weir_actor_signal(actor);
	return self->starts ? start_other(self) : 0;
}

static const struct weir_actor_ops ticker_ops = {.name = "ticker",
						 .signalled = tick};

/* The one that ticks is there, perhaps the one that it has started. */
static int look(struct pool *pool, unsigned n_actors, uint64_t *ns)
{
	struct weir_snapshot *snapshot;
	uint64_t start_ns = bench_thread_ns(), took_ns;
	int rc = weir_snapshot_new(&snapshot, &pool->executor, 1, 0);

	took_ns = bench_thread_ns() - start_ns;
	if (rc < 0)
		return rc;
	if (took_ns < *ns)
		*ns = took_ns;
	if (snapshot->n_actors - n_actors - 1 > 1 ||
	    snapshot->n_links != n_actors)
		rc = -EIO;
	weir_snapshot_free(snapshot);
	return rc;
}

static int look_at(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result, unsigned n)
{
	struct ticker *ticker = bench_alloc(sizeof(*ticker));
	struct link *links = bench_alloc(n * sizeof(*links));
	uint64_t ns = UINT64_MAX;
	struct pool pool;
	int rc = pool_open(&pool, cell->workers), i;

	if (rc == 0)
		rc = links_start(links, &pool, n);
	if (rc == 0)
		rc = weir_actor_init(&ticker->actor, &ticker_ops,
				     pool.executor);
	if (rc == 0)
		rc = weir_actor_start(&ticker->actor);
	if (rc < 0)
		return rc;
	ticker->starts = true;
	weir_actor_signal(&ticker->actor);
	for (i = 0; i < LOOKS && rc == 0; i++)
		rc = look(&pool, n, &ns);
	weir_actor_stop(&ticker->actor);
	if (rc == 0)
		rc = pool_close(&pool);
	if (rc < 0)
		return rc;
	bench_free(links);
	result->elapsed_ns = ns;
	result->count = items;
	result->figures[0] = (double)ns;
	result->figures[1] = (double)ns / n;
	result->figures[2] = histogram_percentile(&ticker->lives, 0.99);
	bench_free(ticker);
	return 0;
}

int inspect_look_1000(const struct bench_cell *cell, uint64_t items,
		      struct bench_result *result)
{
	return look_at(cell, items, result, 1000);
}

int inspect_look_10000(const struct bench_cell *cell, uint64_t items,
		       struct bench_result *result)
{
	return look_at(cell, items, result, 10000);
}

int inspect_look_100000(const struct bench_cell *cell, uint64_t items,
			struct bench_result *result)
{
	return look_at(cell, items, result, 100000);
}
