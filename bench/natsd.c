/* SPDX-License-Identifier: BSD-2-Clause */
#include "natsd.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ck_pr.h>

#include "support.h"

#define TRIES 5000 /* of 2 ms */
#define EXPIRES_NS INT64_C(30000000000)
/* libnats does not tell the server of -1 */
#define PENDING_MAX 1000000

static struct {
	pid_t pid; /* 0: it was not started */
	bool absent;
	char directory[32], url[48];
	natsConnection *peer;
	jsCtx *js;
} server;

static void die(const char *what)
{
	fprintf(stderr, "weir-bench: nats: %s\n", what);
	exit(1);
}

static void must(natsStatus s, const char *what)
{
	if (s == NATS_OK)
		return;
	fprintf(stderr, "weir-bench: nats: %s: %s\n", what,
		natsStatus_GetText(s));
	exit(1);
}

static void tick(void)
{
	const struct timespec two_ms = {.tv_nsec = 2000000};

	(void)nanosleep(&two_ms, NULL);
}

/* --- The server ------------------------------------------------------------ */

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *place)
{
	return remove(path);
}

static void stop(void)
{
	if (server.pid == 0)
		return;
	(void)kill(server.pid, SIGKILL);
	(void)waitpid(server.pid, NULL, 0);
	(void)nftw(server.directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void launch(void)
{
	char *arguments[] = {(char *)"nats-server",
			     (char *)"-a",
			     (char *)"127.0.0.1",
			     (char *)"-p",
			     (char *)"-1",
			     (char *)"--ports_file_dir",
			     server.directory,
			     (char *)"-js",
			     (char *)"-sd",
			     server.directory,
			     NULL};
	int nowhere;

	server.pid = fork();
	if (server.pid != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	(void)dup2(nowhere, 1);
	(void)dup2(nowhere, 2);
	(void)execvp(arguments[0], arguments);
	_exit(127);
}

/* It has written down its port. */
static bool has_port(void)
{
	char path[96], text[160] = "";
	unsigned port = 0;
	const char *url;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/nats-server_%d.ports",
		       server.directory, (int)server.pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		*text = '\0';
	(void)fclose(file);
	url = strstr(text, "nats://127.0.0.1:");
	if (url)
		port = (unsigned)strtoul(url + strlen("nats://127.0.0.1:"),
					 NULL, 10);
	(void)snprintf(server.url, sizeof(server.url), "nats://127.0.0.1:%u",
		       port);
	return port > 0;
}

/* One that begins loses requests. */
static bool answers(void)
{
	jsAccountInfo *info = NULL;
	jsOptions options;

	must(jsOptions_Init(&options), "options");
	options.Wait = 100;
	if (js_GetAccountInfo(&info, server.js, &options, NULL) != NATS_OK)
		return false;
	jsAccountInfo_Destroy(info);
	return true;
}

static bool start(void)
{
	int i;

	(void)snprintf(server.directory, sizeof(server.directory), "%s",
		       "/tmp/weir-bench-XXXXXX");
	if (!mkdtemp(server.directory))
		die("no directory");
	launch();
	if (server.pid < 0)
		die("no process");
	(void)atexit(stop);
	for (i = 0; i < TRIES && !has_port(); i++) {
		if (waitpid(server.pid, NULL, WNOHANG) == server.pid) {
			server.pid = 0;
			(void)rmdir(server.directory);
			return false;
		}
		tick();
	}
	server.peer = natsd_connect(false);
	must(natsConnection_JetStream(&server.js, server.peer, NULL), "js");
	for (; i < TRIES && !answers(); i++)
		;
	if (i == TRIES)
		die("the server does not begin");
	return true;
}

bool natsd_here(const struct bench_cell *cell)
{
	if (server.pid > 0)
		return true;
	if (!server.absent && !start()) {
		server.absent = true;
		fprintf(stderr, "weir-bench: nats: there is no nats-server; "
				"its cells are left out\n");
	}
	return !server.absent;
}

const char *natsd_url(void)
{
	return server.url;
}

uint64_t natsd_cpu_ns(void)
{
	struct timespec now = {0};
	clockid_t clock;

	if (clock_getcpuclockid(server.pid, &clock) != 0 ||
	    clock_gettime(clock, &now) != 0)
		die("no clock");
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

natsConnection *natsd_connect(bool asap)
{
	natsConnection *connection = NULL;
	natsOptions *options = NULL;

	must(natsOptions_Create(&options), "options");
	must(natsOptions_SetURL(options, server.url), "url");
	must(natsOptions_SetSendAsap(options, asap), "options");
	must(natsConnection_Connect(&connection, options), "connection");
	natsOptions_Destroy(options);
	return connection;
}

void natsd_disconnect(natsConnection *connection)
{
	natsConnection_Destroy(connection);
}

/* --- Messages --------------------------------------------------------------- */

void natsd_write(char text[NATSD_SIZE], uint64_t number)
{
	memset(text, 'a', NATSD_SIZE);
	memcpy(text, &number, sizeof(number));
}

uint64_t natsd_number(const char *text)
{
	uint64_t number;

	memcpy(&number, text, sizeof(number));
	return number;
}

/* --- Streams ---------------------------------------------------------------- */

void natsd_stream(const struct bench_cell *cell, const char *name)
{
	const char *scene = cell->workload->scene;
	jsStreamConfig config;

	must(jsStreamConfig_Init(&config), "stream");
	config.Name = name;
	config.Subjects = &name;
	config.SubjectsLen = 1;
	config.Storage = strstr(scene, "memory") ? js_MemoryStorage
						 : js_FileStorage;
	must(js_AddStream(NULL, server.js, &config, NULL, NULL), "stream");
}

static void add_consumer(const char *name)
{
	jsConsumerConfig config;

	must(jsConsumerConfig_Init(&config), "consumer");
	config.Durable = NATSD_CONSUMER;
	config.AckPolicy = js_AckExplicit;
	config.MaxAckPending = PENDING_MAX;
	must(js_AddConsumer(NULL, server.js, name, &config, NULL, NULL),
	     "consumer");
}

void natsd_fill(const struct bench_cell *cell, const char *name, uint64_t items)
{
	char text[NATSD_SIZE];
	uint64_t i;

	natsd_stream(cell, name);
	for (i = 0; i < items; i++) {
		natsd_write(text, i);
		must(js_PublishAsync(server.js, name, text, NATSD_SIZE, NULL),
		     "publish");
	}
	must(js_PublishAsyncComplete(server.js, NULL), "publish");
	add_consumer(name);
}

void natsd_drop(const char *name)
{
	must(js_DeleteStream(server.js, name, NULL, NULL), "delete");
}

static void add_one(struct natsd_loop *loop, natsMsg *msg)
{
	natsd_tally_add(loop->context, natsd_number(natsMsg_GetData(msg)));
}

void natsd_read(const char *name, struct bench_result *result)
{
	struct natsd_tally tally = {0};
	struct natsd_loop loop = {
		.window = 1024, .take = add_one, .context = &tally};
	jsStreamInfo *info = NULL;

	must(js_GetStreamInfo(&info, server.js, name, NULL, NULL), "stream");
	tally.items = info->State.Msgs;
	jsStreamInfo_Destroy(info);
	if (tally.items > 0) {
		add_consumer(name);
		natsd_loop_begin(&loop, server.peer, name);
		natsd_tally_wait(&tally);
		natsd_loop_end(&loop);
	}
	result->count = tally.count;
	result->sum = tally.sum;
	result->last = tally.last;
}

/* --- What is measured ------------------------------------------------------- */

void natsd_watch_begin(struct natsd_watch *self)
{
	self->server_ns = natsd_cpu_ns();
	self->own_ns = bench_cpu_ns();
	self->real_ns = bench_real_ns();
}

void natsd_watch_end(const struct natsd_watch *self, uint64_t items,
		     struct bench_result *result)
{
	double n = (double)items;

	result->elapsed_ns = bench_real_ns() - self->real_ns;
	result->figures[0] = (double)result->elapsed_ns / n;
	result->figures[1] = (double)(bench_cpu_ns() - self->own_ns) / n;
	result->figures[2] = (double)(natsd_cpu_ns() - self->server_ns) / n;
}

void natsd_gaps_add(struct natsd_gaps *self)
{
	uint64_t now_ns = bench_real_ns();

	if (self->begin_ns == 0)
		self->begin_ns = now_ns;
	else
		histogram_add(&self->gaps, now_ns - self->last_ns);
	self->last_ns = now_ns;
}

void natsd_gaps_result(const struct natsd_gaps *self,
		       struct bench_result *result)
{
	result->elapsed_ns = self->last_ns - self->begin_ns;
	result->figures[0] = histogram_percentile(&self->gaps, 0.5);
	result->figures[1] = histogram_percentile(&self->gaps, 0.9);
	result->figures[2] = histogram_percentile(&self->gaps, 0.99);
}

/* --- Waiting ---------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

static void set(bool *is)
{
	(void)pthread_mutex_lock(&lock);
	*is = true;
	(void)pthread_cond_broadcast(&moved);
	(void)pthread_mutex_unlock(&lock);
}

static void wait_for(const bool *is)
{
	(void)pthread_mutex_lock(&lock);
	while (!*is)
		(void)pthread_cond_wait(&moved, &lock);
	(void)pthread_mutex_unlock(&lock);
}

void natsd_tally_add(struct natsd_tally *self, uint64_t number)
{
	ck_pr_add_64(&self->sum, number);
	ck_pr_store_64(&self->last, number);
	/* the lock orders these before who waits reads them */
	if (ck_pr_faa_64(&self->count, 1) + 1 == self->items)
		set(&self->full);
}

void natsd_tally_wait(struct natsd_tally *self)
{
	wait_for(&self->full);
}

/* --- The loop --------------------------------------------------------------- */

static void ask(struct natsd_loop *self)
{
	uint64_t n = self->window - self->asked;
	char text[128];

	self->asked += n;
	(void)snprintf(text, sizeof(text),
		       "{\"batch\":%" PRIu64 ",\"expires\":%" PRId64
		       ",\"idle_heartbeat\":%" PRId64 "}",
		       n, EXPIRES_NS, EXPIRES_NS / 6);
	must(natsConnection_PublishRequestString(self->connection, self->next,
						 self->inbox, text),
	     "request");
}

static void on_message(natsConnection *connection,
		       natsSubscription *subscription, natsMsg *msg,
		       void *context)
{
	struct natsd_loop *self = context;

	/* a status has no data: this loop ends before requests do */
	if (natsMsg_GetDataLength(msg) == NATSD_SIZE) {
		self->asked--;
		self->take(self, msg);
		if (self->asked <= self->window / 2)
			ask(self);
	}
	natsMsg_Destroy(msg);
}

static void on_complete(void *context)
{
	set(&((struct natsd_loop *)context)->complete);
}

void natsd_loop_begin(struct natsd_loop *self, natsConnection *connection,
		      const char *stream)
{
	self->connection = connection;
	self->asked = 0;
	self->complete = false;
	(void)snprintf(self->next, sizeof(self->next),
		       "$JS.API.CONSUMER.MSG.NEXT.%s.%s", stream,
		       NATSD_CONSUMER);
	must(natsInbox_Create(&self->inbox), "inbox");
	must(natsConnection_Subscribe(&self->subscription, connection,
				      self->inbox, on_message, self),
	     "subscribe");
	must(natsSubscription_SetPendingLimits(self->subscription, -1, -1),
	     "limits");
	must(natsSubscription_SetOnCompleteCB(self->subscription, on_complete,
					      self),
	     "complete");
	ask(self);
}

void natsd_loop_end(struct natsd_loop *self)
{
	must(natsSubscription_Unsubscribe(self->subscription), "unsubscribe");
	must(natsConnection_Flush(self->connection), "flush");
	wait_for(&self->complete);
	natsSubscription_Destroy(self->subscription);
	natsInbox_Destroy(self->inbox);
}
