/* SPDX-License-Identifier: BSD-2-Clause */
/* The table and the JSON lines. Ratios only compare rows of one cell. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_of(const struct report_row *row, unsigned figure)
{
	const double *values = row->values[figure];
	unsigned n = row->n_rounds;

	if (n == 0)
		return 0;
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

static double median(const struct report_row *row)
{
	return median_of(row, 0);
}

/* The best of the rows whose names begin so, 0 if there is none. */
static double best_of(const struct report_row *rows, unsigned n_rows,
		      const char *prefix, bool less_is_better)
{
	double best = 0;

	for (unsigned i = 0; i < n_rows; i++) {
		double value = median(&rows[i]);

		if (strncmp(rows[i].who->name, prefix, strlen(prefix)) != 0)
			continue;
		if (best == 0 || (value < best) == less_is_better)
			best = value;
	}
	return best;
}

/* What the rows are compared with; 0 if it did not take part. */
static double reference(const struct bench_workload *workload,
			const struct report_row *rows, unsigned n_rows)
{
	bool less = workload->columns != NULL;
	double best;

	for (unsigned i = 0; workload->base && i < n_rows; i++)
		if (strcmp(rows[i].who->name, workload->base) == 0)
			return median(&rows[i]);
	best = best_of(rows, n_rows, "L1.", less);
	return best > 0 ? best : best_of(rows, n_rows, "bare", less);
}

/* Three significant digits and a unit, as "1.56G". */
static const char *human(double rate, char text[16])
{
	static const char units[] = " kMG";
	unsigned unit = 0;

	while (rate >= 999.5 && unit < 3) {
		rate /= 1000;
		unit++;
	}
	snprintf(text, 16, "%.*f%c",
		 rate < 9.995	? 2
		 : rate < 99.95 ? 1
				: 0,
		 rate, units[unit]);
	return text;
}

static const char *const *columns_of(const struct bench_workload *workload)
{
	static const char *const rates[BENCH_FIGURES] = {"median", "min",
							 "max"};

	return workload->columns ? workload->columns : rates;
}

/* What is printed in the columns. */
static void summary(const struct bench_workload *workload,
		    const struct report_row *row, double out[BENCH_FIGURES])
{
	const double *values = row->values[0];

	for (unsigned f = 0; f < BENCH_FIGURES; f++)
		out[f] = median_of(row, f);
	if (workload->columns)
		return;
	out[1] = row->n_rounds ? values[0] : 0;
	out[2] = row->n_rounds ? values[row->n_rounds - 1] : 0;
}

static void print_heading(const struct bench_cell *cell)
{
	const struct bench_workload *workload = cell->workload;

	printf("\n%s", workload->name);
	if (workload->scene)
		printf(" %s", workload->scene);
	if (workload->stages)
		printf(", %u stages", cell->stages);
	if (workload->windows)
		printf(", window %u", cell->window);
	printf(", %u worker%s (%s)\n", cell->workers,
	       cell->workers == 1 ? "" : "s", workload->unit);
	printf("  %-16s %-12s %8s %8s %8s of %s\n", "who", "style",
	       columns_of(workload)[0], columns_of(workload)[1],
	       columns_of(workload)[2], workload->base ? workload->base : "L1");
}

static double per_million(const struct report_row *row, uint64_t n)
{
	return (double)n * 1e6 / (double)row->items;
}

static void print_counters(const struct report_row *row)
{
	const struct bench_counters *c = &row->counters;

	printf("  %-16s per million: %.1f slices, %.2f parks, %.2f wakes, "
	       "%.2f steals, %.2f kernel calls, %.2f locks, "
	       "%.2f allocations\n",
	       "", per_million(row, c->slices), per_million(row, c->parks),
	       per_million(row, c->wakes), per_million(row, c->steals),
	       per_million(row, c->kernel_calls), per_million(row, c->locks),
	       per_million(row, c->allocations));
}

static void print_json_counters(const struct report_row *row)
{
	const struct bench_counters *c = &row->counters;

	printf("\"per_million\": {\"slices\": %.1f, \"parks\": %.3f, "
	       "\"wakes\": %.3f, \"steals\": %.3f, "
	       "\"kernel_calls\": %.3f, \"locks\": %.3f, "
	       "\"allocations\": %.3f}, ",
	       per_million(row, c->slices), per_million(row, c->parks),
	       per_million(row, c->wakes), per_million(row, c->steals),
	       per_million(row, c->kernel_calls), per_million(row, c->locks),
	       per_million(row, c->allocations));
}

static void print_row(const struct bench_workload *workload,
		      const struct report_row *row, double best)
{
	char texts[BENCH_FIGURES][16], ratio[16] = "-";
	double values[BENCH_FIGURES];

	if (best > 0)
		snprintf(ratio, sizeof(ratio), "%.3f", median(row) / best);
	summary(workload, row, values);
	printf("  %-16s %-12s %8s %8s %8s %8s", row->who->name, row->who->style,
	       human(values[0], texts[0]), human(values[1], texts[1]),
	       human(values[2], texts[2]), ratio);
	if (row->bytes > 0)
		printf("  %llu bytes each", (unsigned long long)row->bytes);
	printf("%s\n", row->ok ? "" : "  WRONG");
	if (row->counted)
		print_counters(row);
}

static void print_json(const struct bench_cell *cell,
		       const struct report_row *row)
{
	const struct bench_workload *workload = cell->workload;
	const char *const *columns = columns_of(workload);
	double values[BENCH_FIGURES];
	int digits = workload->columns ? 1 : 0;

	summary(workload, row, values);
	printf("{\"workload\": \"%s\", \"style\": \"%s\", \"who\": \"%s\", "
	       "\"stages\": %u, \"window\": %u, \"workers\": %u, "
	       "\"unit\": \"%s\", \"%s\": %.*f, \"%s\": %.*f, "
	       "\"%s\": %.*f, \"rounds\": %u, ",
	       workload->name, row->who->style, row->who->name, cell->stages,
	       cell->window, cell->workers, workload->unit, columns[0], digits,
	       values[0], columns[1], digits, values[1], columns[2], digits,
	       values[2], row->n_rounds);
	if (row->bytes > 0)
		printf("\"bytes\": %llu, ", (unsigned long long)row->bytes);
	if (row->counted)
		print_json_counters(row);
	printf("\"ok\": %s}\n", row->ok ? "true" : "false");
}

void report_cell(const struct bench_cell *cell, struct report_row *rows,
		 unsigned n_rows, bool json)
{
	double best;

	for (unsigned i = 0; i < n_rows; i++)
		for (unsigned f = 0; f < BENCH_FIGURES; f++)
			qsort(rows[i].values[f], rows[i].n_rounds,
			      sizeof(double), compare_values);
	best = reference(cell->workload, rows, n_rows);
	if (!json)
		print_heading(cell);
	for (unsigned i = 0; i < n_rows; i++) {
		if (json)
			print_json(cell, &rows[i]);
		else
			print_row(cell->workload, &rows[i], best);
	}
	fflush(stdout);
}

static void list_settings(const char *name, const unsigned *values)
{
	if (!values)
		return;
	printf("; %s", name);
	for (; *values != BENCH_END; values++)
		printf(" %u", *values);
}

void report_list(void)
{
	for (const struct bench_workload *w = bench_workloads; w->name; w++) {
		printf("%s%s%s: %s", w->name, w->scene ? " " : "",
		       w->scene ? w->scene : "", w->what);
		list_settings("stages", w->stages);
		list_settings("window", w->windows);
		list_settings("workers", w->workers);
		printf("\n");
		for (const struct bench_who *who = bench_whos; who->name; who++)
			if (strcmp(who->workload, w->name) == 0 &&
			    (!w->scene || strcmp(who->style, w->scene) == 0))
				printf("  %-16s %s\n", who->name, who->style);
	}
}

void report_wrong(const struct bench_cell *cell, const struct bench_who *who,
		  const char *what, uint64_t got, uint64_t expected)
{
	fprintf(stderr,
		"weir-bench: %s %s %s, %u stages, window %u, "
		"%u workers: %s is %lld, not %lld\n",
		who->workload, who->style, who->name, cell->stages,
		cell->window, cell->workers, what, (long long)got,
		(long long)expected);
}
