/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: every argument is checked before anything is measured. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: weir-bench [OPTION]...\n"
	"Measures the library beside what the machine can do; checks every result.\n"
	"\n"
	"  --list             list workloads, styles and who takes part, and exit\n"
	"  --workload NAME,.. only these workloads\n"
	"  --style NAME,..    only these styles; limits and peers always take part\n"
	"  --who NAME,..      only these\n"
	"  --stages N,..      numbers of transformers (W1)\n"
	"  --window N,..      capacities, powers of two\n"
	"  --workers N,..     numbers of workers, 1 or 2\n"
	"  --rounds N         rounds counted, after one for warming up (7)\n"
	"  --items N          items in a round, instead of as many as fit into\n"
	"  --round-ms N       this time (60)\n"
	"  --peers            other libraries take part: oneTBB, CAF, Erlang, as far\n"
	"                     as they were found when this was built\n"
	"  --cpu-time         count CPU time, for busy machines; 1 worker only\n"
	"  --inspect          the command weir can look inside meanwhile\n"
	"  --counters         what the library did per million items: slices,\n"
	"                     parks, wakes, steals, kernel calls, locks,\n"
	"                     allocations\n"
	"  --json             one JSON object a line instead of the table\n"
	"  --help             this text\n";

enum {
	HELP,
	LIST,
	WORKLOAD,
	STYLE,
	WHO,
	STAGES,
	WINDOW,
	WORKERS,
	ROUNDS,
	ITEMS,
	ROUND_MS,
	JSON,
	COUNTERS,
	CPU_TIME,
	PEERS
};

static const struct option longs[] = {
	{"help", no_argument, NULL, HELP},
	{"list", no_argument, NULL, LIST},
	{"workload", required_argument, NULL, WORKLOAD},
	{"style", required_argument, NULL, STYLE},
	{"who", required_argument, NULL, WHO},
	{"stages", required_argument, NULL, STAGES},
	{"window", required_argument, NULL, WINDOW},
	{"workers", required_argument, NULL, WORKERS},
	{"rounds", required_argument, NULL, ROUNDS},
	{"items", required_argument, NULL, ITEMS},
	{"round-ms", required_argument, NULL, ROUND_MS},
	{"json", no_argument, NULL, JSON},
	{"counters", no_argument, NULL, COUNTERS},
	{"cpu-time", no_argument, NULL, CPU_TIME},
	{"peers", no_argument, NULL, PEERS},
	{0},
};

static void bad(const char *option, const char *argument, const char *what)
{
	fprintf(stderr, "weir-bench: --%s: '%s' %s\n", option, argument, what);
	exit(2);
}

static uint64_t number(const char *option, const char *argument, uint64_t min,
		       uint64_t max)
{
	char *end;
	unsigned long long n;
	char what[80];

	errno = 0;
	n = strtoull(argument, &end, 10);
	if (argument[0] >= '0' && argument[0] <= '9' && *end == '\0' &&
	    errno == 0 && n >= min && n <= max)
		return n;
	snprintf(what, sizeof(what), "is not a number from %llu to %llu",
		 (unsigned long long)min, (unsigned long long)max);
	bad(option, argument, what);
	return 0;
}

/* Cuts argument at its commas, in place. */
static void names(struct options_names *names, const char *option,
		  char *argument, bool (*known)(const char *name))
{
	names->n = 0;
	for (char *name; (name = strsep(&argument, ","));) {
		if (!known(name))
			bad(option, name, "is unknown, see --list");
		if (names->n == OPTIONS_MAX_LIST)
			bad(option, name, "is one too many");
		names->names[names->n++] = name;
	}
}

static void numbers(struct options_numbers *numbers, const char *option,
		    char *argument, unsigned min, unsigned max)
{
	numbers->n = 0;
	for (char *one; (one = strsep(&argument, ","));) {
		unsigned value = (unsigned)number(option, one, min, max);

		if (numbers->n == OPTIONS_MAX_LIST)
			bad(option, one, "is one too many");
		numbers->values[numbers->n++] = value;
	}
}

static bool known_workload(const char *name)
{
	for (const struct bench_workload *w = bench_workloads; w->name; w++)
		if (strcmp(w->name, name) == 0)
			return true;
	return false;
}

static bool known_style(const char *name)
{
	for (const struct bench_who *who = bench_whos; who->name; who++)
		if (strcmp(who->style, name) == 0)
			return true;
	return false;
}

static bool known_who(const char *name)
{
	for (const struct bench_who *who = bench_whos; who->name; who++)
		if (strcmp(who->name, name) == 0)
			return true;
	return false;
}

static void windows(struct options *options, char *argument)
{
	numbers(&options->windows, "window", argument, 1, BENCH_MAX_WINDOW);
	for (unsigned i = 0; i < options->windows.n; i++) {
		unsigned window = options->windows.values[i];
		char text[16];

		if ((window & (window - 1)) == 0)
			continue;
		snprintf(text, sizeof(text), "%u", window);
		bad("window", text, "is not a power of two");
	}
}

static void set(struct options *o, int option, char *argument)
{
	switch (option) {
	case HELP:
		fputs(usage, stdout);
		exit(0);
	case LIST:
		o->list = true;
		break;
	case WORKLOAD:
		names(&o->workloads, "workload", argument, known_workload);
		break;
	case STYLE:
		names(&o->styles, "style", argument, known_style);
		break;
	case WHO:
		names(&o->whos, "who", argument, known_who);
		break;
	case STAGES:
		numbers(&o->stages, "stages", argument, 0, BENCH_MAX_STAGES);
		break;
	case WINDOW:
		windows(o, argument);
		break;
	case WORKERS:
		numbers(&o->workers, "workers", argument, 1, BENCH_MAX_WORKERS);
		break;
	case ROUNDS:
		o->rounds = (unsigned)number("rounds", argument, 1, 1000);
		break;
	case ITEMS:
		o->items = number("items", argument, 1, UINT64_C(1) << 40);
		break;
	case ROUND_MS:
		o->round_ms = (unsigned)number("round-ms", argument, 1, 60000);
		break;
	case JSON:
		o->json = true;
		break;
	case COUNTERS:
		o->counters = true;
		break;
	case CPU_TIME:
		o->cpu_time = true;
		break;
	case PEERS:
		o->peers = true;
		break;
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	int option;

	*options = (struct options){.rounds = 7, .round_ms = 60};
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		if (option == '?' || option == ':') {
			fprintf(stderr, "weir-bench: %s: %s, see --help\n",
				argv[optind - 1],
				option == '?' ? "no such option"
					      : "its argument is missing");
			exit(2);
		}
		set(options, option, optarg);
	}
	if (optind < argc) {
		fprintf(stderr, "weir-bench: %s: not an option, see --help\n",
			argv[optind]);
		exit(2);
	}
}

bool options_has(const struct options_names *names, const char *name)
{
	for (unsigned i = 0; i < names->n; i++)
		if (strcmp(names->names[i], name) == 0)
			return true;
	return names->n == 0;
}
