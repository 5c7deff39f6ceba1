/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logstat [--simulate] [FILE]: what goes on in an access log (combined format)
 * of a web server, from FILE or the standard input: a report each second on the
 * standard output, with progress on the standard error, and at the end all of it
 * and the paths asked for most. SIGINT and SIGTERM are such an end, behind what
 * has been read.
 *
 *	         ┌──> count ──┐
 *	lines ───┼──> count ──┼──> report
 *	         └──> count ──┘
 *
 * A path is always counted by the same worker, so nothing is shared. A clock is
 * merged into the lines of each worker: when it ticks, the worker hands in what
 * it has counted. With --simulate each line comes when its own time says, on a
 * clock that is virtual: hours of a log take seconds, with the same reports.
 * Memory is bounded, but for the table of paths.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <weir/weir.h>

#define WORKERS 4
#define LINE_MAX_BYTES 65536
#define SECOND UINT64_C(1000000000)
#define TOP 10

struct path {
	uint64_t count;
	size_t n;
	const char *name; /* not a string: n characters */
};

/* What was counted in a while; `requests` by the first digit of the status. */
struct window {
	uint64_t requests[10], bytes, malformed;
};

struct logstat {
	struct weir_executor *executor;
	uint64_t start_ns; /* on its clock */
	struct weir_flow_switch *stop;
	void *paths[WORKERS]; /* trees, each its worker's */
	struct window now, total;
	/* of a simulation */
	FILE *file;
	char *line; /* read ahead, of n bytes; 0: none */
	size_t capacity, n;
	time_t first, last; /* first: of the log; last: of the line */
};

static int failed(const char *what, int code)
{
	fprintf(stderr, "logstat: %s: %s\n", what, strerror(-code));
	return 1;
}

/* --- Lines ---------------------------------------------------------------- */

struct request {
	struct path path;
	uint64_t status, bytes;
};

/* Digits up to `end`, and what stands behind them. */
static const char *number(const char *at, const char *end, uint64_t *value)
{
	for (*value = 0; at < end && isdigit((unsigned char)*at); at++)
		*value = 10 * *value + (uint64_t)(*at - '0');
	return at;
}

/* host - user [time] "GET /path?query HTTP/1.1" status bytes "from" "agent" */
static bool parse(const struct weir_flow_bytes *line, struct request *request)
{
	const char *at = line->data, *end = at + line->n, *quote;

	at = memmem(at, line->n, "] \"", 3);
	if (!at || end[-1] != '"') /* it may be cut off */
		return false;
	at += 3;
	quote = memmem(at, (size_t)(end - at), "\" ", 2);
	at = quote ? memchr(at, ' ', (size_t)(quote - at)) : NULL;
	if (!at)
		return false;
	request->path.name = ++at;
	while (at < quote && *at != ' ' && *at != '?')
		at++;
	request->path.n = (size_t)(at - request->path.name);
	at = number(quote + 2, end, &request->status);
	(void)number(at + 1, end, &request->bytes); /* - is 0 */
	return request->status >= 100 && request->status <= 999 && *at == ' ';
}

/* --- The workers ---------------------------------------------------------- */

/* Which worker's it is. */
static int choose(void *item, size_t *outlet, void *context)
{
	struct request request;
	uint32_t hash = 2166136261u; /* FNV-1a */
	size_t i;

	*outlet = 0;
	if (!parse(item, &request))
		return 0;
	for (i = 0; i < request.path.n; i++)
		hash = (hash ^ (unsigned char)request.path.name[i]) * 16777619u;
	*outlet = (hash ^ hash >> 16) % WORKERS;
	return 0;
}

static int compare(const void *one, const void *other)
{
	const struct path *a = one, *b = other;

	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return memcmp(a->name, b->name, a->n);
}

static int count_path(void **tree, struct path *path)
{
	struct path **at = tsearch(path, tree, compare), *copy;

	if (!at)
		return -ENOMEM;
	if (*at == path) {
		copy = malloc(sizeof(*copy) + path->n);
		if (!copy) {
			(void)tdelete(path, tree, compare);
			return -ENOMEM;
		}
		*copy = (struct path){0, path->n, (char *)(copy + 1)};
		memcpy(copy + 1, path->name, path->n);
		*at = copy;
	}
	(*at)->count++;
	return 0;
}

/* Hands the window in, if something was counted. */
static int hand_in(void **state, void **item, void *context)
{
	*item = *state;
	*state = NULL;
	return *item != NULL;
}

/* A line, or the clock ticks. */
static int count(void **state, void **item, void *context)
{
	struct weir_flow_bytes *line = *item;
	struct request request = {{0}};
	struct window *window;

	if (!line)
		return hand_in(state, item, context);
	if (!*state)
		*state = calloc(1, sizeof(*window));
	window = *state;
	if (!window)
		return -ENOMEM;
	if (!parse(line, &request)) {
		window->malformed++;
	} else {
		if (count_path(context, &request.path) < 0)
			return -ENOMEM;
		window->requests[request.status / 100]++;
		window->bytes += request.bytes;
	}
	weir_flow_bytes_unref(line);
	return 0;
}

static void destroy(void *state, void *context)
{
	free(state);
}

/* --- The report ----------------------------------------------------------- */

static uint64_t add(struct window *to, const struct window *window)
{
	uint64_t lines = to->malformed += window->malformed;
	size_t i;

	to->bytes += window->bytes;
	for (i = 0; i < 10; i++)
		lines += to->requests[i] += window->requests[i];
	return lines;
}

static void print(const char *name, uint64_t n, const struct window *window)
{
	size_t i;

	printf("%s %" PRIu64 ":", name, n);
	for (i = 1; i < 6; i++)
		printf(" %zuxx %" PRIu64, i, window->requests[i]);
	printf(" bytes %" PRIu64 " malformed %" PRIu64 "\n", window->bytes,
	       window->malformed);
}

static void print_second(struct logstat *self, bool begun)
{
	uint64_t now_ns = weir_executor_now(self->executor) - self->start_ns;
	uint64_t second = now_ns / SECOND + begun;
	uint64_t lines = add(&self->total, &self->now);

	print("second", second, &self->now);
	(void)fflush(stdout);
	fprintf(stderr, "logstat: %" PRIu64 " s, %" PRIu64 " lines\n", second,
		lines);
	self->now = (struct window){{0}};
}

/* A window of a worker, or the clock ticks. */
static int report(void *item, void *context)
{
	struct logstat *self = context;

	if (item)
		(void)add(&self->now, item);
	else
		print_second(self, false);
	free(item);
	return 0;
}

/* Puts a path where it belongs among the first, which `context` has. */
static void rank(const void *node, VISIT visit, void *context)
{
	struct path **best = context, *path = *(struct path *const *)node;
	size_t i;

	if (visit != postorder && visit != leaf)
		return;
	for (i = TOP;
	     i > 0 && (!best[i - 1] || best[i - 1]->count < path->count ||
		       (best[i - 1]->count == path->count &&
			compare(best[i - 1], path) > 0));
	     i--)
		best[i] = best[i - 1];
	best[i] = path;
}

static void print_end(struct logstat *self)
{
	struct path *best[TOP + 1] = {NULL};
	size_t i;

	print_second(self, true);
	print("total", add(&self->total, &self->now), &self->total);
	for (i = 0; i < WORKERS; i++)
		twalk_r(self->paths[i], rank, best);
	for (i = 0; i < TOP && best[i]; i++)
		printf("%" PRIu64 " %.*s\n", best[i]->count, (int)best[i]->n,
		       best[i]->name);
}

/* --- The flow ------------------------------------------------------------- */

static const struct weir_items windows = {.drop = destroy};

/* The other flow and the seconds, as NULL, until that has ended. */
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
	struct weir_flow_state counts = {
		.step = count, .flush = hand_in, .destroy = destroy};
	struct weir_flow *flow, *workers[WORKERS];
	size_t i;

	(void)weir_flow_partition(lines, WORKERS, choose, NULL, workers, NULL);
	for (i = 0; i < WORKERS; i++) {
		flow = clocked(workers[i], SECOND, weir_flow_bytes_items());
		flow = weir_flow_stateful_map(flow, &counts, &self->paths[i]);
		workers[i] = weir_flow_items(flow, &windows);
	}
	flow = weir_flow_merge(workers, WORKERS);
	/* when the workers have handed in */
	flow = clocked(flow, SECOND + SECOND / 4, &windows);
	return weir_flow_for_each(flow, report, self);
}

/* Not a drain of the run, which would end the clocks and with them the workers
 * before their lines: the switch stands behind the source. */
static int stop(void *item, void *context)
{
	weir_flow_bytes_unref(item);
	(void)weir_flow_switch_shutdown(((struct logstat *)context)->stop);
	return 0;
}

/* --- The log, as it comes ------------------------------------------------- */

/* The exit status. */
static int run(struct logstat *self, struct weir_flow *lines, int signals)
{
	struct weir_flow *flow = logstat_flow(self, lines);
	struct weir_flow *stops = weir_flow_for_each(
		weir_flow_read(signals, sizeof(struct signalfd_siginfo)), stop,
		self);
	struct weir_flow_run *run = NULL, *watch = NULL;
	struct weir_error *error = NULL;
	int rc = weir_flow_start(stops, self->executor, NULL, &watch);

	self->start_ns = weir_executor_now(self->executor);
	if (rc == 0)
		rc = weir_flow_start(flow, self->executor, NULL, &run);
	if (rc == 0)
		rc = weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error);
	if (error)
		rc = error->code;
	weir_flow_run_cancel(watch, NULL);
	if (watch && weir_flow_run_wait(watch, WEIR_FOREVER, NULL, NULL) < 0)
		rc = -ECANCELED;
	if (rc < 0)
		rc = failed(error ? error->origin : "the flow", rc);
	else
		print_end(self);
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
	struct weir_flow *flow = weir_flow_read(fd, LINE_MAX_BYTES);
	int rc = weir_blocking_new(&blocking, NULL);

	/* A pipe is waited for; where that cannot be, reading blocks. */
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	flow = weir_flow_kill_switch(flow, self->stop);
	if (rc == 0)
		rc = weir_threads_new(&threads, NULL);
	if (rc == 0) {
		self->executor = weir_threads_executor(threads);
		flow = weir_flow_async(flow, 8,
				       weir_blocking_executor(blocking));
		flow = weir_flow_lines(flow, LINE_MAX_BYTES);
		rc = run(self, flow, signals);
	} else {
		rc = failed("threads", rc);
		weir_flow_free(flow);
	}
	/* Their last actors may still be on their way out. */
	while (weir_threads_free(threads) == -EBUSY)
		sched_yield();
	while (weir_blocking_free(blocking) == -EBUSY)
		sched_yield();
	return rc;
}

/* --- The log, as it came -------------------------------------------------- */

/* When the line ahead came; one that does not say comes with that before it. */
static uint64_t line_ns(struct logstat *self)
{
	const char *at = strchr(self->line, '[');
	struct tm tm = {0};

	if (at && strptime(at + 1, "%d/%b/%Y:%T %z", &tm))
		self->last = timegm(&tm) - tm.tm_gmtoff;
	if (!self->first)
		self->first = self->last;
	return self->last > self->first
		       ? (uint64_t)(self->last - self->first) * SECOND
		       : 0;
}

/* The lines that are due when the clock ticks; NULL: there are no more. */
static int next_line(void *tick, uint64_t i, void **line, void *context)
{
	struct logstat *self = context;
	struct weir_flow_bytes *bytes;
	ssize_t n;

	*line = NULL;
	if (!self->n) {
		n = getline(&self->line, &self->capacity, self->file);
		if (n <= 0)
			return ferror(self->file) ? -EIO : 1;
		self->n = (size_t)n;
	}
	if (line_ns(self) > weir_executor_now(self->executor))
		return 0;
	self->n -= self->line[self->n - 1] == '\n';
	bytes = weir_flow_bytes_new(NULL, self->n);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes->data, self->line, self->n);
	self->n = 0;
	*line = bytes;
	return 1;
}

static int is_line(void *line, void *context)
{
	return line != NULL;
}

static int run_simulated(struct logstat *self, int fd, int signals)
{
	struct weir_flow *flow = weir_flow_tick(SECOND / 2, SECOND, NULL);
	struct weir_sim *sim;
	int rc = weir_sim_new(&sim, 1, NULL);

	if (rc < 0)
		return failed("the simulator", rc);
	self->file = fdopen(fd, "r");
	self->executor = weir_sim_executor(sim);
	flow = weir_flow_expand(flow, next_line, self);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_take_while(flow, is_line, false, NULL);
	flow = weir_flow_kill_switch(flow, self->stop);
	rc = run(self, flow, signals);
	free(self->line);
	(void)weir_sim_free(sim);
	return rc;
}

/* --- The program ---------------------------------------------------------- */

int main(int argc, char **argv)
{
	bool simulate = argc > 1 && strcmp(argv[1], "--simulate") == 0;
	char **name = argv + 1 + simulate;
	struct logstat self = {.start_ns = 0};
	sigset_t set;
	int fd, signals, rc;
	size_t i;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	fd = open(*name ? *name : "/dev/stdin", O_RDONLY | O_CLOEXEC);
	if (signals < 0 || fd < 0)
		return failed(*name ? *name : "standard input", -errno);
	rc = weir_flow_switch_new(&self.stop);
	if (rc < 0)
		return failed("the switch", rc);
	rc = simulate ? run_simulated(&self, fd, signals)
		      : run_live(&self, fd, signals);
	weir_flow_switch_free(self.stop);
	for (i = 0; i < WORKERS; i++)
		tdestroy(self.paths[i], free);
	return rc;
}
