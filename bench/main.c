/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weir-bench: runs the cells asked for. The rounds of all who of a cell are
 * interleaved (A B C A B C ...), so that a machine that slows down slows all of
 * them; every result is compared with its closed form.
 *
 * Status: 0, 1 if a result was wrong or a round did not end, 2 for bad
 * arguments.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "peer.h"
#include "report.h"
#include "support.h"

#include "../docs/examples/progress.h"

#define MAX_WHOS 64

/* A round takes well under a second; who takes this long has lost a wake. */
#define WATCHDOG_S 60

static char watched[128];

static void say(const char *text)
{
	/* There is nobody to tell if this fails. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void on_alarm(int signal)
{
	say("weir-bench: a round did not end: ");
	say(watched);
	peer_kill_all();
	_exit(1);
}

static void watch(const struct bench_cell *cell, const struct bench_who *who)
{
	snprintf(watched, sizeof(watched),
		 "%s %s %s, %u stages, window %u, "
		 "%u workers\n",
		 who->workload, who->style, who->name, cell->stages,
		 cell->window, cell->workers);
	alarm(WATCHDOG_S);
}

static void check(const struct bench_cell *cell, struct report_row *row,
		  const struct bench_result *got)
{
	struct bench_result expected = {0};
	const char *what = NULL;
	uint64_t is = 0, should = 0;

	cell->workload->expect(cell, row->items, &expected);
	if (got->count != expected.count) {
		what = "count";
		is = got->count;
		should = expected.count;
	} else if (got->sum != expected.sum) {
		what = "sum";
		is = got->sum;
		should = expected.sum;
	} else if (cell->workload->ordered && got->last != expected.last) {
		what = "last value";
		is = got->last;
		should = expected.last;
	}
	if (what) {
		row->ok = false;
		report_wrong(cell, row->who, what, is, should);
	}
}

/* Runs once and checks; returns the time, at least 1 ns. */
static uint64_t run_once(const struct bench_cell *cell, struct report_row *row,
			 const struct options *options)
{
	struct bench_result result = {0};
	int rc;

	if (options->items == 0)
		watch(cell, row->who);
	rc = row->who->run(cell, row->items, &result);
	alarm(0);
	if (rc != 0) {
		row->ok = false;
		report_wrong(cell, row->who, "return code",
			     (uint64_t)(int64_t)rc, 0);
	} else {
		check(cell, row, &result);
	}
	row->bytes = result.bytes;
	memcpy(row->figures, result.figures, sizeof(row->figures));
	row->counted = options->counters && result.counted;
	row->counters = result.counters;
	return result.elapsed_ns > 0 ? result.elapsed_ns : 1;
}

static uint64_t whole(const struct bench_cell *cell, double items)
{
	uint64_t granule = cell->workload->granule;
	uint64_t n = items > 1 ? (uint64_t)items : 1;

	return (n + granule - 1) / granule * granule;
}

/* As many items as fit into a round, found by trying; stops at a failure. */
static void calibrate(const struct bench_cell *cell, struct report_row *row,
		      const struct options *options)
{
	uint64_t aim_ns = options->round_ms * UINT64_C(1000000);
	uint64_t given = options->items;

	/* a million actors of a peer may take half a minute */
	if (given == 0 && !row->who->peer)
		given = cell->workload->fixed_items;
	if (given) {
		row->items = whole(cell, (double)given);
		return;
	}
	row->items = whole(cell, 1000);
	while (row->ok) {
		uint64_t ns = run_once(cell, row, options);
		double grow = (double)aim_ns / (double)ns;

		row->items = whole(cell, (double)row->items *
						 (grow > 10 ? 10 : grow));
		if (grow <= 10)
			break;
	}
}

static bool takes_part(const struct bench_who *who,
		       const struct bench_cell *cell,
		       const struct options *options)
{
	const struct bench_workload *workload = cell->workload;
	bool always = strcmp(who->style, BENCH_STYLE_LIMIT) == 0 ||
		      strcmp(who->style, BENCH_STYLE_PEER) == 0;

	if (strcmp(who->workload, workload->name) != 0)
		return false;
	if (workload->scene && strcmp(who->style, workload->scene) != 0)
		return false;
	if (who->peer && !options->peers)
		return false;
	if (!always && !options_has(&options->styles, who->style))
		return false;
	return options_has(&options->whos, who->name) && who->supports(cell);
}

/* What a round that took ns has found. */
static void note(const struct bench_cell *cell, struct report_row *row,
		 uint64_t ns)
{
	if (!cell->workload->columns)
		row->figures[0] = (double)row->items * 1e9 / (double)ns;
	for (unsigned f = 0; f < BENCH_FIGURES; f++)
		row->values[f][row->n_rounds] = row->figures[f];
	row->n_rounds++;
}

/* How many took part; *ok becomes false if one of them was wrong. */
static unsigned run_cell(const struct bench_cell *cell,
			 const struct options *options, bool *ok)
{
	struct report_row rows[MAX_WHOS];
	unsigned n = 0;

	for (const struct bench_who *who = bench_whos; who->name; who++) {
		if (n == MAX_WHOS || !takes_part(who, cell, options))
			continue;
		rows[n] = (struct report_row){.who = who, .ok = true};
		for (unsigned f = 0; f < BENCH_FIGURES; f++)
			rows[n].values[f] =
				bench_alloc(options->rounds * sizeof(double));
		calibrate(cell, &rows[n++], options);
	}
	/* Round 0 warms up. Who was wrong once is not run again. */
	for (unsigned round = 0; round <= options->rounds; round++) {
		for (unsigned i = 0; i < n; i++) {
			struct report_row *row = &rows[i];
			uint64_t ns;

			if (!row->ok)
				continue;
			ns = run_once(cell, row, options);
			if (round > 0)
				note(cell, row, ns);
		}
	}
	if (n > 0)
		report_cell(cell, rows, n, options->json);
	for (unsigned i = 0; i < n; i++) {
		*ok = *ok && rows[i].ok;
		for (unsigned f = 0; f < BENCH_FIGURES; f++)
			bench_free(rows[i].values[f]);
	}
	return n;
}

/* The settings asked for, or the workload's own, or the only one. */
static unsigned settings(const struct options_numbers *asked,
			 const unsigned *own, unsigned only,
			 unsigned values[OPTIONS_MAX_LIST])
{
	unsigned n = 0;

	if (!own) {
		values[n++] = only;
	} else if (asked->n > 0) {
		for (; n < asked->n; n++)
			values[n] = asked->values[n];
	} else {
		for (; own[n] != BENCH_END; n++)
			values[n] = own[n];
	}
	return n;
}

static unsigned max_workers(const struct options *options)
{
	unsigned n = options->cpu_time ? 1 : bench_n_cpus();

	return n < BENCH_MAX_WORKERS ? n : BENCH_MAX_WORKERS;
}

static unsigned run_workload(const struct bench_workload *workload,
			     const struct options *options, bool *ok)
{
	unsigned stages[OPTIONS_MAX_LIST], windows[OPTIONS_MAX_LIST];
	unsigned workers[OPTIONS_MAX_LIST], n_run = 0;
	unsigned n_stages =
		settings(&options->stages, workload->stages, 0, stages);
	unsigned n_windows =
		settings(&options->windows, workload->windows, 1, windows);
	unsigned n_workers =
		settings(&options->workers, workload->workers, 1, workers);

	for (unsigned k = 0; k < n_workers; k++) {
		if (workers[k] > max_workers(options))
			continue;
		for (unsigned s = 0; s < n_stages; s++) {
			for (unsigned w = 0; w < n_windows; w++) {
				struct bench_cell cell = {
					.workload = workload,
					.stages = stages[s],
					.window = windows[w],
					.workers = workers[k],
				};

				n_run += run_cell(&cell, options, ok);
			}
		}
	}
	return n_run;
}

int main(int argc, char **argv)
{
	struct options options;
	unsigned n_run = 0;
	bool ok = true;

	(void)look_inside(&argc, argv);
	options_parse(&options, argc, argv);
	if (options.list) {
		report_list();
		return 0;
	}
	if (options.peers && !peer_any_built())
		return 2;
	if (options.cpu_time)
		bench_use_cpu_clock();
	if (max_workers(&options) < BENCH_MAX_WORKERS)
		fprintf(stderr,
			"weir-bench: %u worker at most; cells with more "
			"are left out\n",
			max_workers(&options));
	signal(SIGALRM, on_alarm);
	for (const struct bench_workload *w = bench_workloads; w->name; w++)
		if (options_has(&options.workloads, w->name))
			n_run += run_workload(w, &options, &ok);
	if (n_run == 0) {
		fprintf(stderr, "weir-bench: nothing to measure: no one takes "
				"part with these options, see --list\n");
		return 2;
	}
	return ok ? 0 : 1;
}
