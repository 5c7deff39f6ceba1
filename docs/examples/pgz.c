/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgz [--inspect] [-p N] [-b KIB] [FILE]: gzip with N threads (one for each
 * CPU), in blocks of KIB * 1024 bytes (128). Makes FILE.gz and leaves FILE alone; without FILE,
 * or with -, compresses the standard input to the standard output.
 *
 *	read ──> compress, N at once, in order ──> write
 *
 * A block is compressed with the 32 KiB before it as its dictionary and ends at
 * a byte, so that the blocks, one behind the other, are one gzip stream.
 * Reading and writing are actors that may block. Whatever the size of the input
 * there are at most 4 N + 7 jobs of two blocks and 32 KiB each, and N times 260
 * KiB that deflate needs: 5 MiB for N = 2.
 *
 * FILE.gz gets its name when it is whole; an error, or a SIGINT, SIGTERM,
 * SIGHUP that ends the program, leaves nothing. Exit status: 0, or 1 with a
 * message. cc pgz.c $(pkg-config --cflags --libs weir zlib)
 */
#define _GNU_SOURCE 1 /* mkostemp */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/weir.h>
#include <zlib.h>

#include "progress.h"

#define NAME_SIZE 4096
#define WINDOW 32768 /* as far back as deflate can refer */

/* What flows: a block, and what has become of it. */
struct job {
	size_t n_before, n, n_out;
	uLong crc;
	bool last;
	unsigned char *out, before[WINDOW], text[];
};

struct pgz {
	uint32_t n_threads;
	size_t block, out_size; /* out_size: for such a block */
	const char *in_name, *out_name;
	int in, out;
	sigset_t signals; /* that are waited for */
	char *temporary;  /* name of what is written; NULL: it has none */
	/* the reader's */
	bool at_end;
	size_t n_before;
	unsigned char before[WINDOW];
	/* the writer's */
	uLong crc;
	uint64_t total;
};

static int failed(const char *what, int code)
{
	fprintf(stderr, "pgz: %s: %s\n", what, strerror(-code));
	return 1;
}

/* --- read ----------------------------------------------------------------- */

/* Less than `size` only at the end of the file. */
static ssize_t read_all(int fd, unsigned char *bytes, size_t size)
{
	size_t n = 0;
	ssize_t got = 1;

	while (n < size && got != 0) {
		got = read(fd, bytes + n, size - n);
		if (got < 0 && errno != EINTR)
			return -errno;
		n += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)n;
}

/* The last block is not a full one: it is empty if it has to be. */
static int read_job(void **state, void **item, void *context)
{
	struct pgz *self = context;
	struct job *job;
	ssize_t n;

	(void)state;
	if (self->at_end)
		return 0;
	job = malloc(sizeof(*job) + self->block + self->out_size);
	if (!job)
		return -ENOMEM;
	job->out = job->text + self->block;
	n = read_all(self->in, job->text, self->block);
	if (n < 0) {
		free(job);
		return (int)n;
	}
	job->n = (size_t)n;
	job->n_before = self->n_before;
	memcpy(job->before, self->before, self->n_before);
	job->last = self->at_end = job->n < self->block;
	if (!job->last) {
		self->n_before = WINDOW; /* a block is not smaller */
		memcpy(self->before, job->text + job->n - WINDOW, WINDOW);
	}
	*item = job;
	return 1;
}

/* --- compress, on any thread; write --------------------------------------- */

/* A failure is one of memory. */
static int compress_job(void **item, void *context)
{
	const struct pgz *self = context;
	struct job *job = *item;
	z_stream stream = {
		.next_in = job->text,
		.avail_in = (uInt)job->n,
		.next_out = job->out,
		.avail_out = (uInt)self->out_size,
	};
	/* negative: no header, no check sum; they are for all blocks */
	int rc = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			      -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);

	if (rc == Z_OK)
		rc = deflateSetDictionary(&stream, job->before,
					  (uInt)job->n_before);
	if (rc == Z_OK)
		rc = deflate(&stream, job->last ? Z_FINISH : Z_SYNC_FLUSH);
	job->n_out = self->out_size - stream.avail_out;
	job->crc = crc32_z(0, job->text, job->n);
	(void)deflateEnd(&stream);
	if (rc != (job->last ? Z_STREAM_END : Z_OK) || stream.avail_out == 0)
		return -ENOMEM;
	return 0;
}

static int write_all(int fd, const unsigned char *bytes, size_t size)
{
	size_t n = 0;
	ssize_t done;

	while (n < size) {
		done = write(fd, bytes + n, size - n);
		if (done < 0 && errno != EINTR)
			return -errno;
		n += done > 0 ? (size_t)done : 0;
	}
	return 0;
}

static int write_job(void *item, void *context)
{
	struct pgz *self = context;
	struct job *job = item;
	int rc = write_all(self->out, job->out, job->n_out);

	if (rc < 0)
		return rc;
	self->crc = crc32_combine(self->crc, job->crc, (z_off_t)job->n);
	self->total += job->n;
	progress_add(job->n);
	free(job);
	return 0;
}

/* --- The flow ------------------------------------------------------------- */

static void job_drop(void *item, void *context)
{
	(void)context;
	free(item);
}

static const struct weir_items jobs = {.drop = job_drop};

/* Reads and writes where it is run, in two actors, and compresses there. */
static struct weir_flow *pgz_flow(struct pgz *self,
				  struct weir_executor *compressing)
{
	struct weir_flow_parallel_options options = {.executor = compressing};
	struct weir_flow *flow = weir_flow_unfold(NULL, read_job, self);

	flow = weir_flow_items(flow, &jobs);
	flow = weir_flow_name(flow, self->in_name);
	flow = weir_flow_async(flow, 4, NULL);
	flow = weir_flow_map_parallel(flow, 4 * self->n_threads,
				      WEIR_ORDER_KEPT, compress_job, self,
				      &options);
	flow = weir_flow_same_items(flow);
	flow = weir_flow_for_each(flow, write_job, self);
	return weir_flow_name(flow, self->out_name);
}

/*
 * From here on signals wait for wait_for_signal(), in threads to come as well;
 * those that are ignored, as by nohup, stay so. SIGUSR1 says that a run is
 * over.
 */
static void hold_signals(struct pgz *self)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;
	size_t i;

	(void)sigemptyset(&self->signals);
	(void)sigaddset(&self->signals, SIGUSR1);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			(void)sigaddset(&self->signals, numbers[i]);
	(void)sigprocmask(SIG_BLOCK, &self->signals, NULL);
}

static void tell(struct weir_error *error, void *result, void *context)
{
	(void)context;
	(void)error;
	(void)result;
	(void)kill(getpid(), SIGUSR1);
}

/* A signal to end us leaves no file either. */
static void wait_for_signal(const struct pgz *self)
{
	int number;

	if (sigwait(&self->signals, &number) != 0 || number == SIGUSR1)
		return;
	if (self->temporary)
		(void)unlink(self->temporary);
	(void)sigprocmask(SIG_UNBLOCK, &self->signals, NULL);
	(void)raise(number);
}

/* The exit status, as of those below. */
static int run(struct pgz *self, struct weir_executor *blocking,
	       struct weir_executor *compressing)
{
	struct weir_flow_run_options options = {.done = tell};
	struct weir_flow *flow = pgz_flow(self, compressing);
	struct weir_error *error = NULL;
	struct weir_flow_run *flow_run;
	int rc = weir_flow_start(flow, blocking, &options, &flow_run);

	if (rc == 0) {
		wait_for_signal(self);
		rc = weir_flow_run_wait(flow_run, WEIR_FOREVER, NULL, &error);
		weir_flow_run_free(flow_run);
	}
	if (rc < 0)
		rc = failed("the flow", rc);
	else if (error)
		rc = failed(error->origin, error->code);
	weir_error_unref(error);
	weir_flow_free(flow);
	return rc;
}

static int run_on_threads(struct pgz *self)
{
	struct weir_threads_options options = {.workers = self->n_threads};
	struct weir_blocking *blocking = NULL;
	struct weir_threads *threads = NULL;
	struct weir_executor *executors[2];
	int rc = weir_blocking_new(&blocking, NULL);

	if (rc == 0)
		rc = weir_threads_new(&threads, &options);
	if (rc < 0) {
		rc = failed("threads", rc);
	} else {
		executors[0] = weir_threads_executor(threads);
		executors[1] = weir_blocking_executor(blocking);
		progress_begin("bytes", file_size(self->in), executors, 2);
		rc = run(self, executors[1], executors[0]);
		progress_end();
	}
	if (weir_threads_free(threads) < 0 || weir_blocking_free(blocking) < 0)
		rc = failed("threads", -EBUSY);
	return rc;
}

static int compress_all(struct pgz *self)
{
	/* deflate; no name, no time; Unix */
	static const unsigned char header[10] = {0x1f, 0x8b, 8, [9] = 3};
	unsigned char trailer[8];
	uint64_t both;
	int i, rc = write_all(self->out, header, sizeof(header));

	if (rc == 0 && run_on_threads(self) != 0)
		return 1;
	both = self->crc | self->total << 32;
	for (i = 0; i < 8; i++)
		trailer[i] = (unsigned char)(both >> 8 * i);
	if (rc == 0)
		rc = write_all(self->out, trailer, sizeof(trailer));
	return rc < 0 ? failed(self->out_name, rc) : 0;
}

/* Under a temporary name, in the same folder, until it is whole. */
static int compress_file(struct pgz *self)
{
	struct stat status;
	int rc;

	self->in = open(self->in_name, O_RDONLY | O_CLOEXEC);
	if (self->in < 0 || fstat(self->in, &status) < 0)
		return failed(self->in_name, -errno);
	hold_signals(self);
	self->out = mkostemp(self->temporary, O_CLOEXEC);
	if (self->out < 0)
		return failed(self->temporary, -errno);
	rc = compress_all(self);
	if (rc == 0 && (fchmod(self->out, status.st_mode & 0777) < 0 ||
			close(self->out) < 0 ||
			rename(self->temporary, self->out_name) < 0))
		rc = failed(self->out_name, -errno);
	if (rc)
		(void)unlink(self->temporary);
	return rc;
}

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!*end && n >= least && n <= most)
		return (uint32_t)n;
	exit(failed(text, -ERANGE));
}

int main(int argc, char **argv)
{
	struct pgz self = {
		.n_threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.block = 128 * 1024,
		.in_name = "standard input",
		.out_name = "standard output",
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
	};
	char name[NAME_SIZE], temporary[NAME_SIZE];
	int option;

	(void)look_inside(&argc, argv);
	while ((option = getopt(argc, argv, "p:b:")) != -1) {
		if (option == 'p')
			self.n_threads = number(optarg, 1, 1024);
		else if (option == 'b')
			self.block = 1024 * number(optarg, 32, 65536);
		else
			return 1;
	}
	/* and an empty block behind it, which ends at a byte */
	self.out_size = compressBound(self.block) + 16;
	/* Then writing fails, and we say so. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (optind == argc || strcmp(argv[optind], "-") == 0) {
		hold_signals(&self);
		return compress_all(&self);
	}
	self.in_name = argv[optind];
	self.out_name = name;
	self.temporary = temporary;
	if (argc - optind > 1 ||
	    snprintf(name, NAME_SIZE, "%s.gz", self.in_name) >= NAME_SIZE ||
	    snprintf(temporary, NAME_SIZE, "%s.XXXXXX", name) >= NAME_SIZE)
		return failed(self.in_name, -E2BIG);
	return compress_file(&self);
}
