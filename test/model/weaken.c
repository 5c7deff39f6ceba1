/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Automatic weakening: the driver. A mutant is an index into known_sites; the
 * operations look at explorer.weakened when they come to a site.
 *
 * A mutant is run in the scenarios that met its site, first all of them with
 * small bounds, where most die, then with the full ones, which for one that is
 * listed can only show that it need not be. A scenario that does
 * not reach the site unweakened cannot reach it weakened either.
 */
#include "explorer_state.h"
#include "sites.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

enum { SCENARIOS = 128 };

struct driver {
	const struct explorer_scenario *const *scenarios;
	size_t n;
	struct explorer_options full, quick, unweakened;
	const char *files, *more_files;
	bool doubt, quiet;
	const struct explorer_exception *exceptions;
	size_t n_exceptions;
	struct explorer_weaken_result *result;
	unsigned __int128 met[MAX_SITES]; /* bit per scenario */
	bool matched[SCENARIOS * 4]; /* exceptions that a survivor needed */
};

static struct driver driver;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool is_chosen(const struct driver *d, int id)
{
	const char *file = known_sites[id].site->file;

	if (d->met[id] == 0)
		return false;
	if (d->more_files != NULL && strstr(file, d->more_files) != NULL)
		return true;
	if (d->files != NULL)
		return strstr(file, d->files) != NULL;
	return strstr(file, "lib/") != NULL && strstr(file, "test/") == NULL;
}

static bool is_same_kind(const struct explorer_site *a,
			 const struct explorer_site *b)
{
	return strcmp(a->file, b->file) == 0 &&
	       strcmp(a->function, b->function) == 0 &&
	       strcmp(a->operation, b->operation) == 0;
}

/* How many like it come before it in its function. */
static int nth_of(const struct driver *d, int id)
{
	const struct explorer_site *site = known_sites[id].site;
	int n = 0;

	for (int i = 1; i <= n_known_sites; i++)
		n += d->met[i] != 0 && known_sites[i].site->line < site->line &&
		     is_same_kind(known_sites[i].site, site);
	return n;
}

/* The number of the exception for it, or -1. */
static int exception_of(const struct driver *d, int id)
{
	const struct explorer_site *site = known_sites[id].site;

	for (size_t i = 0; i < d->n_exceptions; i++) {
		const struct explorer_exception *e = &d->exceptions[i];

		if (strcmp(e->file, base_name(site->file)) != 0 ||
		    strcmp(e->function, site->function) != 0 ||
		    strcmp(e->operation, site->operation) != 0 ||
		    e->nth != nth_of(d, id))
			continue;
		return (int)i;
	}
	return -1;
}

static void report(const struct driver *d, const char *what, int id)
{
	const struct explorer_site *site = known_sites[id].site;

	if (!d->quiet)
		fprintf(stderr, "%s: %s:%d %s: %s, nth %d\n", what,
			trace_file(site->file), site->line, site->function,
			site->operation, nth_of(d, id));
}

static void run_unweakened(struct driver *d)
{
	struct explorer_result result;

	for (size_t s = 0; s < d->n; s++) {
		explorer_run(d->scenarios[s], &d->unweakened, &result);
		d->result->executions += result.executions + result.pruned;
		d->result->failed += result.status == EXPLORER_FAILED;
		d->result->incomplete += result.status == EXPLORER_INCOMPLETE;
		for (int id = 1; id <= n_known_sites; id++)
			if (site_was_met(id))
				d->met[id] |= (unsigned __int128)1 << s;
	}
}

static bool is_killed_with(struct driver *d, int id,
			   const struct explorer_options *options,
			   bool *incomplete)
{
	struct explorer_options quiet = *options;
	struct explorer_result result;

	quiet.quiet = true;
	for (size_t s = 0; s < d->n; s++) {
		if (!(d->met[id] & ((unsigned __int128)1 << s)))
			continue;
		explorer_run(d->scenarios[s], &quiet, &result);
		d->result->executions += result.executions + result.pruned;
		if (result.status == EXPLORER_FAILED)
			return true;
		*incomplete |= result.status == EXPLORER_INCOMPLETE;
	}
	return false;
}

/* The full bounds are the small ones. */
static bool is_quick(const struct driver *d)
{
	return d->full.preemptions == d->quick.preemptions &&
	       d->full.stale == d->quick.stale;
}

static void judge(struct driver *d, int id)
{
	int exception = exception_of(d, id);
	bool incomplete = false, killed;

	explorer.weakened = id;
	killed = is_killed_with(d, id, &d->quick, &incomplete);
	if (!killed && !is_quick(d) && (exception < 0 || d->doubt)) {
		incomplete = false;
		killed = is_killed_with(d, id, &d->full, &incomplete);
	}
	explorer.weakened = 0;
	d->result->sites++;
	if (killed) {
		d->result->killed++;
		return;
	}
	d->result->incomplete += incomplete;
	if (exception >= 0) {
		d->matched[exception] = true;
		d->result->excepted++;
		return;
	}
	d->result->survivors++;
	report(d, incomplete ? "survivor, incomplete" : "survivor", id);
}

static void report_stale(struct driver *d)
{
	for (size_t i = 0; i < d->n_exceptions; i++) {
		const struct explorer_exception *e = &d->exceptions[i];

		if (d->matched[i])
			continue;
		d->result->stale++;
		if (!d->quiet)
			fprintf(stderr,
				"stale exception, not met or killed: "
				"%s %s: %s, nth %d\n",
				e->file, e->function, e->operation, e->nth);
	}
}

/*
 * In a quick run one site of four or so, and each until one is killed, which shows
 * that the scenarios can; who is stale shows with all of them. Not of the
 * explorer's own tests, which are quiet.
 */
static void judge_all(struct driver *d)
{
	int step = d->quiet ? 1 : (int)(12 / test_count(12)), n = 0;

	for (int id = 1; id <= n_known_sites; id++)
		if (is_chosen(d, id) &&
		    (n++ % step == 0 || d->result->killed == 0))
			judge(d, id);
	if (step == 1)
		report_stale(d);
}

static void start(struct driver *d,
		  const struct explorer_scenario *const *scenarios, size_t n,
		  const struct explorer_weaken_options *options)
{
	memset(d, 0, sizeof(*d));
	d->scenarios = scenarios;
	d->n = n < SCENARIOS ? n : SCENARIOS;
	if (options != NULL) {
		d->full = options->run;
		d->files = options->files;
		d->more_files = options->more_files;
		d->doubt = options->doubt;
		d->quiet = options->quiet;
	}
	d->full.replay = NULL;
	d->full.quiet |= d->quiet;
	d->quick = d->unweakened = d->full;
	if (options != NULL && options->shallow && d->full.stale == 0)
		d->unweakened.stale = 1;
	if (d->quick.preemptions >= 0)
		d->quick.preemptions = 1;
	if (d->quick.stale >= 0)
		d->quick.stale = 1;
}

static void report_all(const struct driver *d)
{
	const struct explorer_weaken_result *r = d->result;

	if (!d->quiet)
		fprintf(stderr,
			"%d sites weakened: %d killed, %d excepted, "
			"%d survivors, %d stale exceptions, %d scenarios "
			"failed, %d runs incomplete, %llu executions\n",
			r->sites, r->killed, r->excepted, r->survivors,
			r->stale, r->failed, r->incomplete,
			(unsigned long long)r->executions);
}

bool explorer_weaken(const struct explorer_scenario *const *scenarios, size_t n,
		     const struct explorer_weaken_options *options,
		     const struct explorer_exception *exceptions,
		     size_t n_exceptions, struct explorer_weaken_result *result)
{
	struct driver *d = &driver;

	memset(result, 0, sizeof(*result));
	start(d, scenarios, n, options);
	d->exceptions = exceptions;
	d->n_exceptions = n_exceptions < sizeof(d->matched)
				  ? n_exceptions
				  : sizeof(d->matched);
	d->result = result;
	if (n > SCENARIOS)
		result->failed = (int)(n - SCENARIOS);
	run_unweakened(d);
	if (result->failed == 0)
		judge_all(d);
	report_all(d);
	return result->failed == 0 && result->survivors == 0 &&
	       result->stale == 0 && result->incomplete == 0;
}
