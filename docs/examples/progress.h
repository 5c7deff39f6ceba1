/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs that run for long share: --inspect, and a line on a terminal
 * that tells how far they are, and who is the bottleneck. Its state is that of
 * the program: a program includes it in one file.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weir/inspector.h>
#include <weir/sampler.h>
#include <weir/weir.h>

#define PROGRESS_EACH_NS 250000000L

/* --- --inspect ------------------------------------------------------------ */

static struct weir_inspector *look_inside_at;

static inline void look_no_more(void)
{
	weir_inspector_free(look_inside_at);
}

/* Takes --inspect out of the arguments. True: it was there, and the command
 * `weir` can ask at the path that stderr tells. */
static inline bool look_inside(int *argc, char **argv)
{
	int i = 1, rc;

	while (i < *argc && strcmp(argv[i], "--inspect") != 0)
		i++;
	if (i >= *argc)
		return false;
	for (; i < *argc; i++)
		argv[i] = argv[i + 1];
	--*argc;
	rc = weir_inspector_new(&look_inside_at, NULL, NULL);
	if (rc < 0) {
		fprintf(stderr, "--inspect: %s\n", weir_strerror(rc));
		exit(1);
	}
	fprintf(stderr, "weir top %s\n", weir_inspector_path(look_inside_at));
	return atexit(look_no_more) == 0;
}

/* --- Progress ------------------------------------------------------------- */

static struct {
	atomic_uint_least64_t done;
	uint64_t total; /* 0: nobody knows */
	const char *unit;
	struct weir_sampler *sampler;
	struct timespec began;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t over_now;
	bool shown, over;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER,
	      .over_now = PTHREAD_COND_INITIALIZER};

/* So much more is done. Any thread. */
static inline void progress_add(uint64_t n)
{
	atomic_fetch_add_explicit(&progress.done, n, memory_order_relaxed);
}

/* Who runs most of the time or, if all wait, waits most for others. */
static inline size_t progress_bottleneck(const struct weir_snapshot *snapshot,
					 bool *waits)
{
	size_t found = WEIR_NOWHERE, i;
	unsigned most = 199, share; /* thousandths: less says nothing */

	*waits = false;
	for (i = 0; i < 2 * snapshot->n_actors; i++) {
		size_t at = i % snapshot->n_actors;
		const struct weir_seen_actor *actor = &snapshot->actors[at];
		bool second = i >= snapshot->n_actors;

		if (second && found != WEIR_NOWHERE && !*waits)
			break;
		share = second ? actor->held + actor->blocked : actor->busy;
		if (share <= most)
			continue;
		most = share;
		found = at;
		*waits = second;
	}
	return found;
}

static inline int progress_say_bottleneck(char *text, size_t n)
{
	struct weir_snapshot *snapshot;
	size_t found;
	bool waits;
	int said = 0;

	if (!progress.sampler ||
	    weir_sampler_snapshot(progress.sampler, &snapshot) < 0)
		return 0;
	found = progress_bottleneck(snapshot, &waits);
	if (found != WEIR_NOWHERE)
		said = snprintf(
			text, n, waits ? "; %s waits %d%%" : "; %s runs %d%%",
			snapshot->actors[found].name,
			((waits ? snapshot->actors[found].held +
					  snapshot->actors[found].blocked
				: snapshot->actors[found].busy) +
			 5) / 10);
	weir_snapshot_free(snapshot);
	return said;
}

/* A line that is no longer than the terminal is wide. */
static inline void progress_draw(void)
{
	struct winsize size = {0};
	struct timespec now;
	uint64_t done = atomic_load(&progress.done);
	double seconds, rate;
	char line[512];
	int n, width;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (double)(now.tv_sec - progress.began.tv_sec) +
		  (double)(now.tv_nsec - progress.began.tv_nsec) / 1e9;
	rate = seconds > 0 ? (double)done / seconds : 0;
	n = snprintf(line, sizeof(line), "%" PRIu64 " %s, %.0f/s", done,
		     progress.unit, rate);
	if (progress.total)
		n += snprintf(
			line + n, sizeof(line) - (size_t)n, ", %d%%",
			(int)(100.0 * (double)done / (double)progress.total));
	if (progress.total > done && rate > 0)
		n += snprintf(line + n, sizeof(line) - (size_t)n,
			      ", %.0f s left",
			      (double)(progress.total - done) / rate);
	(void)progress_say_bottleneck(line + n, sizeof(line) - (size_t)n);
	(void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	width = size.ws_col ? size.ws_col - 1 : 79;
	fprintf(stderr, "\r%.*s\033[K", width, line);
	(void)fflush(stderr);
}

static inline void *progress_run(void *context)
{
	struct timespec until;

	(void)pthread_mutex_lock(&progress.lock);
	while (!progress.over) {
		progress_draw();
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PROGRESS_EACH_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		(void)pthread_cond_timedwait(&progress.over_now, &progress.lock,
					     &until);
	}
	(void)pthread_mutex_unlock(&progress.lock);
	return context;
}

/* Others are about to print to the terminal. False: there is no such line. */
static inline bool progress_clear(void)
{
	if (!progress.shown)
		return false;
	(void)pthread_mutex_lock(&progress.lock);
	fprintf(stderr, "\r\033[K");
	(void)pthread_mutex_unlock(&progress.lock);
	return true;
}

/* Of a file; 0: it is something else, or nobody knows. */
static inline uint64_t file_size(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	return (uint64_t)status.st_size;
}

/* Shows it from now on, if stderr is a terminal: what progress_add() has told,
 * of so much in total, or 0; and who is the bottleneck of these executors,
 * which are not freed before progress_end(). */
static inline void progress_begin(const char *unit, uint64_t total,
				  struct weir_executor *const *executors,
				  size_t n)
{
	static const struct weir_sampler_options options = {.hz = 20};

	if (!isatty(STDERR_FILENO))
		return;
	progress.unit = unit;
	progress.total = total;
	(void)clock_gettime(CLOCK_MONOTONIC, &progress.began);
	/* there is a line without it, too */
	if (weir_sampler_new(&progress.sampler, executors, n, &options) < 0)
		progress.sampler = NULL;
	progress.shown =
		pthread_create(&progress.thread, NULL, progress_run, NULL) == 0;
}

/* The line goes. */
static inline void progress_end(void)
{
	if (progress.shown) {
		(void)pthread_mutex_lock(&progress.lock);
		progress.over = true;
		(void)pthread_cond_signal(&progress.over_now);
		(void)pthread_mutex_unlock(&progress.lock);
		(void)pthread_join(progress.thread, NULL);
		progress.shown = false;
		fprintf(stderr, "\r\033[K");
	}
	if (weir_sampler_free(progress.sampler) < 0)
		abort();
	progress.sampler = NULL;
}

#endif
