/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logstat [--inspect] [--simulate] [FILE]: how an access log (combined format) of a web
 * server goes on, from FILE or the standard input: each second a report of the
 * requests by the first digit of their status, with progress on the standard
 * error, and all of it at the end; so, too, when a signal ends it.
 *
 *	         ┌──> count ──┐
 *	lines ───┼──> count ──┼──> report
 *	         └──> count ──┘
 *
 * There is a worker for each digit, and a clock is merged into its lines: when
 * that ticks, the worker hands in what it has counted. With --simulate a line
 * comes when its own time says, on a clock that is virtual: hours of a log take
 * seconds, with the same reports. Memory is bounded whatever the size.
 * cc logstat.c $(pkg-config --cflags --libs weir)
 */
#define _GNU_SOURCE 1 /* strptime, timegm */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <weir/weir.h>

#include "progress.h"

#define CLASSES 6 /* 1xx to 5xx; 0: malformed lines */
#define LINE_SIZE 65536
#define SECOND UINT64_C(1000000000)

/* What was counted in a while. */
struct window {
	uint64_t lines[CLASSES], bytes;
};

struct logstat {
	struct weir_executor *executor;
	uint64_t start_ns; /* on its clock */
	struct weir_flow_switch *stop;
	struct window now, total;
	uint64_t second; /* that was reported */
	/* of a simulation */
	FILE *file;
	char *line; /* read ahead, of n bytes; 0: none */
	size_t capacity;
	ssize_t n;
	time_t first, last; /* first: of the log; last: of the line */
};

/* The exit status. */
static int failed(const char *what, int code)
{
	fprintf(stderr, "logstat: %s: %s\n", what, strerror(-code));
	return 1;
}

/* As memmem(3), which looks at each byte by itself. */
static const char *find(const char *at, const char *end, const char *what)
{
	size_t n = strlen(what);

	for (; (size_t)(end - at) >= n; at++) {
		at = memchr(at, *what, (size_t)(end - at) - n + 1);
		if (!at || memcmp(at, what, n) == 0)
			return at;
	}
	return NULL;
}

/* host - user [time] "GET / HTTP/1.1" status bytes "from" "agent"; the class */
static size_t parse(const struct weir_flow_bytes *line, uint64_t *bytes)
{
	const char *at = line->data, *end = at + line->n;

	*bytes = 0;
	at = find(at, end, "] \"");
	if (at)
		at = find(at + 3, end, "\" ");
	if (!at || end - at < 8 || end[-1] != '"' || at[5] != ' ' ||
	    at[2] < '1' || at[2] > '5')
		return 0;
	end = at + 6; /* the number of bytes, or - */
	while (*end >= '0' && *end <= '9')
		*bytes = 10 * *bytes + (uint64_t)(*end++ - '0');
	return (size_t)(at[2] - '0');
}

static int choose(void *item, size_t *outlet, void *context)
{
	uint64_t bytes;

	(void)context;
	*outlet = parse(item, &bytes);
	return 0;
}

/* If something was counted. */
static int hand_in(void **state, void **item, void *context)
{
	(void)context;
	*item = *state;
	*state = NULL;
	return *item != NULL;
}

/* A line; or NULL, the clock ticks. */
static int count(void **state, void **item, void *context)
{
	struct window *window = *state;
	uint64_t bytes;

	if (!*item)
		return hand_in(state, item, context);
	if (!window)
		*state = window = calloc(1, sizeof(*window));
	if (!window)
		return -ENOMEM;
	window->lines[parse(*item, &bytes)]++;
	window->bytes += bytes;
	progress_add(((struct weir_flow_bytes *)*item)->n + 1);
	weir_flow_bytes_unref(*item);
	return 0;
}

static void destroy(void *window, void *context)
{
	(void)context;
	free(window);
}

/* --- report --------------------------------------------------------------- */

/* All lines that it comes to. */
static uint64_t add(struct window *to, const struct window *window)
{
	uint64_t lines = 0;
	size_t i;

	to->bytes += window->bytes;
	for (i = 0; i < CLASSES; i++)
		lines += to->lines[i] += window->lines[i];
	return lines;
}

static int print(const char *name, uint64_t n, const struct window *window)
{
	size_t i;

	printf("%s %" PRIu64 ":", name, n);
	for (i = 1; i < CLASSES; i++)
		printf(" %zuxx %" PRIu64, i, window->lines[i]);
	printf(" bytes %" PRIu64 " malformed %" PRIu64 "\n", window->bytes,
	       window->lines[0]);
	return fflush(stdout) < 0 ? -errno : 0;
}

static int print_second(struct logstat *self)
{
	uint64_t ns = weir_executor_now(self->executor) - self->start_ns;
	uint64_t lines = add(&self->total, &self->now);
	bool on_terminal = progress_clear();
	int rc;

	/* what comes behind the last tick is of the next one */
	self->second++;
	if (self->second < (ns + SECOND / 2) / SECOND)
		self->second = (ns + SECOND / 2) / SECOND;
	rc = print("second", self->second, &self->now);
	if (!on_terminal)
		fprintf(stderr, "logstat: %" PRIu64 " s, %" PRIu64 " lines\n",
			self->second, lines);
	self->now = (struct window){.bytes = 0};
	return rc;
}

/* A window; or NULL, the clock ticks. */
static int report(void *window, void *context)
{
	struct logstat *self = context;

	if (!window)
		return print_second(self);
	(void)add(&self->now, window);
	free(window);
	return 0;
}

static const struct weir_items windows = {.drop = destroy};

/* The flow, and NULL each second until it has ended. */
static struct weir_flow *clocked(struct weir_flow *flow, uint64_t first_ns,
				 const struct weir_items *items)
{
	struct weir_flow *ticks = weir_flow_tick(first_ns, SECOND, NULL);

	ticks = weir_flow_items(ticks, items);
	return weir_flow_merge_eager((struct weir_flow *[]){flow, ticks}, 2);
}

static struct weir_flow *logstat_flow(struct logstat *self,
				      struct weir_flow *lines)
{
	struct weir_flow_stateful_map_functions counts = {
		.step = count, .flush = hand_in, .destroy = destroy};
	struct weir_flow *flow, *workers[CLASSES];
	size_t i;

	(void)weir_flow_partition(lines, CLASSES, choose, NULL, workers, NULL);
	for (i = 0; i < CLASSES; i++) {
		flow = clocked(workers[i], SECOND, weir_flow_bytes_items());
		flow = weir_flow_stateful_map(flow, &counts, NULL);
		workers[i] = weir_flow_items(flow, &windows);
	}
	flow = weir_flow_merge(workers, CLASSES);
	/* when the workers have handed in */
	flow = clocked(flow, SECOND + SECOND / 4, &windows);
	flow = weir_flow_for_each(flow, report, self);
	return weir_flow_name(flow, "standard output");
}

/* What has come behind the last tick, and all; the exit status. */
static int report_total(struct logstat *self)
{
	int rc = print_second(self);

	if (rc == 0)
		rc = print("total", add(&self->total, &self->now),
			   &self->total);
	return rc < 0 ? failed("standard output", rc) : 0;
}

/* A drain would end the clocks as well, and lines behind them be lost. */
static int stop(void *item, void *context)
{
	weir_flow_bytes_unref(item);
	(void)weir_flow_switch_end(((struct logstat *)context)->stop);
	return 0;
}

static int run(struct logstat *self, struct weir_flow *lines, int signals)
{
	struct weir_flow *flow = logstat_flow(self, lines);
	struct weir_flow *stops = weir_flow_read(signals, 128);
	struct weir_flow_run *run = NULL, *watch = NULL;
	struct weir_error *error = NULL;
	int rc;

	stops = weir_flow_for_each(stops, stop, self);
	self->start_ns = weir_executor_now(self->executor);
	rc = weir_flow_start(stops, self->executor, NULL, &watch);
	if (rc == 0)
		rc = weir_flow_start(flow, self->executor, NULL, &run);
	if (rc == 0)
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error);
	weir_flow_run_stop(watch, NULL);
	if (watch && weir_flow_run_wait(watch, WEIR_FOREVER, NULL, NULL) < 0)
		rc = -ECANCELED;
	if (error)
		rc = failed(error->origin, error->code);
	else if (rc < 0)
		rc = failed("the flow", rc);
	else
		rc = report_total(self);
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_run_free(watch);
	weir_flow_free(flow);
	weir_flow_free(stops);
	return rc;
}

static int run_live(struct logstat *self, int fd, int signals)
{
	struct weir_blocking *blocking = NULL;
	struct weir_threads *threads = NULL;
	struct weir_executor *executors[2];
	struct weir_flow *flow;
	int rc = weir_blocking_new(&blocking, NULL);

	if (rc == 0)
		rc = weir_threads_new(&threads, NULL);
	if (rc == 0) {
		/*
		 * A pipe is waited for; where that cannot be, reading blocks.
		 */
		(void)fcntl(fd, F_SETFL, O_NONBLOCK);
		self->executor = weir_threads_executor(threads);
		flow = weir_flow_read(fd, LINE_SIZE);
		flow = weir_flow_kill_switch(flow, self->stop);
		flow = weir_flow_async(flow, 8,
				       weir_blocking_executor(blocking));
		flow = weir_flow_lines(flow, LINE_SIZE);
		executors[0] = self->executor;
		executors[1] = weir_blocking_executor(blocking);
		progress_begin("bytes", file_size(fd), executors, 2);
		rc = run(self, flow, signals);
		progress_end();
	}
	if (weir_threads_free(threads) < 0 || weir_blocking_free(blocking) < 0)
		rc = -EBUSY;
	return rc < 0 ? failed("threads", rc) : rc;
}

/* When the line ahead came; one that does not say comes with that before it. */
static int64_t line_ns(struct logstat *self)
{
	const char *at = strchr(self->line, '[');
	struct tm tm = {0};

	if (at && strptime(at + 1, "%d/%b/%Y:%T %z", &tm))
		self->last = timegm(&tm) - tm.tm_gmtoff;
	if (!self->first)
		self->first = self->last;
	return (self->last - self->first) * (int64_t)SECOND;
}

/* A line that is due now; the end of the log is the switch's as well. */
static int next_line(void *tick, uint64_t i, void **line, void *context)
{
	struct logstat *self = context;
	struct weir_flow_bytes *bytes;
	ssize_t n = self->n;
	int rc;

	(void)tick;
	(void)i;
	if (n == 0)
		n = getline(&self->line, &self->capacity, self->file);
	if (n <= 0 && ferror(self->file))
		return -EIO;
	if (n <= 0)
		return stop(NULL, self);
	self->n = n;
	if (line_ns(self) > (int64_t)weir_executor_now(self->executor))
		return 0;
	self->n = 0;
	n -= self->line[n - 1] == '\n';
	rc = weir_flow_bytes_new(&bytes, (size_t)n, NULL);
	if (rc < 0)
		return rc;
	memcpy(bytes->data, self->line, (size_t)n);
	*line = bytes;
	return 1;
}

static int run_simulated(struct logstat *self, int fd, int signals)
{
	struct weir_flow *flow = weir_flow_tick(SECOND / 2, SECOND, NULL);
	struct weir_sim *sim;
	int rc;

	self->file = fdopen(fd, "r");
	if (!self->file || weir_sim_new(&sim, 1, NULL) < 0)
		return failed("the simulator", -ENOMEM);
	self->executor = weir_sim_executor(sim);
	flow = weir_flow_map_concat(flow, next_line, self);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_kill_switch(flow, self->stop);
	rc = run(self, flow, signals);
	free(self->line);
	(void)fclose(self->file);
	return weir_sim_free(sim) < 0 ? failed("the simulator", -EBUSY) : rc;
}

int main(int argc, char **argv)
{
	(void)look_inside(&argc, argv);

	bool simulate = argc > 1 && strcmp(argv[1], "--simulate") == 0;
	const char *name = argv[1 + simulate] ? argv[1 + simulate]
					      : "/dev/stdin";
	struct logstat self = {.executor = NULL};
	sigset_t set;
	int fd, signals, rc;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (signals < 0 || fd < 0)
		return failed(name, -errno);
	if (weir_flow_switch_new(&self.stop) < 0)
		return failed("the switch", -ENOMEM);
	rc = simulate ? run_simulated(&self, fd, signals)
		      : run_live(&self, fd, signals);
	weir_flow_switch_free(self.stop);
	return rc;
}
