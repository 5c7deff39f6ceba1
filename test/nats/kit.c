/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

void await(bool (*is)(void *context), void *context)
{
	const struct timespec tick = {.tv_nsec = 2000000};
	size_t i;

	for (i = 0; i < 30000; i++) {
		if (is(context))
			return;
		(void)nanosleep(&tick, NULL);
	}
	fail_msg("nothing has happened for a minute");
}

/* --- The server ----------------------------------------------------------- */

static void launch(struct server *server, const char *port)
{
	char *arguments[] = {(char *)"nats-server",
			     (char *)"-a",
			     (char *)"127.0.0.1",
			     (char *)"-p",
			     (char *)port,
			     (char *)"--ports_file_dir",
			     server->directory,
			     (char *)"-js",
			     (char *)"-sd",
			     server->directory,
			     NULL};
	int nowhere;

	server->pid = fork();
	assert_true(server->pid >= 0);
	if (server->pid > 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	nowhere = open("/dev/null", O_RDWR);
	(void)dup2(nowhere, 1);
	(void)dup2(nowhere, 2);
	(void)execvp(arguments[0], arguments);
	_exit(127);
}

/* It has written down the port that it has. */
static bool has_port(void *context)
{
	struct server *server = context;
	char path[160], text[160] = "";
	FILE *file;
	char *url;

	if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
		server->pid = 0;
		return true;
	}
	(void)snprintf(path, sizeof(path), "%s/nats-server_%d.ports",
		       server->directory, (int)server->pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	(void)fgets(text, sizeof(text), file);
	(void)fclose(file);
	url = strstr(text, "nats://127.0.0.1:");
	return url &&
	       sscanf(url, "nats://127.0.0.1:%7[0-9]\"", server->port) == 1;
}

/* There is JetStream, too. */
static bool answers(void *context)
{
	struct server *server = context;
	jsAccountInfo *info = NULL;
	jsOptions options;
	natsStatus s;

	/* one that begins loses requests */
	s = jsOptions_Init(&options);
	options.Wait = 100;
	if (s == NATS_OK)
		s = js_GetAccountInfo(&info, server->js, &options, NULL);
	jsAccountInfo_Destroy(info);
	return s == NATS_OK;
}

static bool connects(void *context)
{
	struct server *server = context;

	return natsConnection_ConnectTo(&server->peer, server->url) == NATS_OK;
}

static void peer_begin(struct server *server)
{
	await(connects, server);
	assert_int_equal(natsConnection_JetStream(&server->js, server->peer,
						  NULL),
			 NATS_OK);
	await(answers, server);
}

static void peer_end(struct server *server)
{
	jsCtx_Destroy(server->js);
	natsConnection_Destroy(server->peer);
	server->js = NULL;
	server->peer = NULL;
}

static bool is_installed(void)
{
	return system("command -v nats-server >/dev/null") == 0;
}

void server_begin(struct server *server)
{
	*server = (struct server){.directory = "/tmp/weir-nats-XXXXXX"};
	if (!is_installed()) {
		print_message("nats-server is not installed\n");
		skip();
	}
	assert_non_null(mkdtemp(server->directory));
	launch(server, "-1");
	await(has_port, server);
	assert_true(server->pid > 0);
	(void)snprintf(server->url, sizeof(server->url), "nats://127.0.0.1:%s",
		       server->port);
	peer_begin(server);
}

void server_kill(struct server *server, int signal)
{
	int status;

	peer_end(server);
	assert_int_equal(kill(server->pid, signal), 0);
	assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
	server->pid = 0;
}

void server_again(struct server *server)
{
	char port[sizeof(server->port)];

	memcpy(port, server->port, sizeof(port));
	launch(server, port);
	peer_begin(server);
}

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *place)
{
	return remove(path);
}

void server_end(struct server *server)
{
	if (server->pid > 0)
		server_kill(server, SIGKILL);
	(void)nftw(server->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- What is on it -------------------------------------------------------- */

void server_stream(struct server *server, const char *name)
{
	char below[80];
	const char *subjects[2] = {name, below};
	jsStreamConfig config;

	(void)snprintf(below, sizeof(below), "%s.>", name);
	assert_int_equal(jsStreamConfig_Init(&config), NATS_OK);
	config.Name = name;
	config.Subjects = subjects;
	config.SubjectsLen = 2;
	assert_int_equal(js_AddStream(NULL, server->js, &config, NULL, NULL),
			 NATS_OK);
}

void server_consumer(struct server *server, const char *stream,
		     int64_t ack_wait_ns, int64_t max_deliver)
{
	jsConsumerConfig config;

	assert_int_equal(jsConsumerConfig_Init(&config), NATS_OK);
	config.Durable = "c";
	config.AckPolicy = js_AckExplicit;
	config.AckWait = ack_wait_ns;
	config.MaxDeliver = max_deliver;
	assert_int_equal(js_AddConsumer(NULL, server->js, stream, &config, NULL,
					NULL),
			 NATS_OK);
}

void server_publish(struct server *server, const char *subject, uint64_t first,
		    uint64_t last)
{
	char text[24];
	uint64_t i;
	int n;

	for (i = first; i <= last; i++) {
		n = snprintf(text, sizeof(text), "%" PRIu64, i);
		assert_int_equal(js_PublishAsync(server->js, subject, text, n,
						 NULL),
				 NATS_OK);
	}
	assert_int_equal(js_PublishAsyncComplete(server->js, NULL), NATS_OK);
}

uint64_t server_count(struct server *server, const char *stream)
{
	jsStreamInfo *info;
	uint64_t n;

	assert_int_equal(js_GetStreamInfo(&info, server->js, stream, NULL,
					  NULL),
			 NATS_OK);
	n = info->State.Msgs;
	jsStreamInfo_Destroy(info);
	return n;
}

static jsConsumerInfo *consumer(struct server *server, const char *stream)
{
	jsConsumerInfo *info;

	assert_int_equal(js_GetConsumerInfo(&info, server->js, stream, "c",
					    NULL, NULL),
			 NATS_OK);
	return info;
}

uint64_t server_left(struct server *server, const char *stream)
{
	jsConsumerInfo *info = consumer(server, stream);
	uint64_t n = info->NumPending;

	jsConsumerInfo_Destroy(info);
	return n;
}

uint64_t server_unsettled(struct server *server, const char *stream)
{
	jsConsumerInfo *info = consumer(server, stream);
	uint64_t n = (uint64_t)info->NumAckPending;

	jsConsumerInfo_Destroy(info);
	return n;
}

uint64_t server_waiting(struct server *server, const char *stream)
{
	jsConsumerInfo *info = consumer(server, stream);
	uint64_t n = (uint64_t)info->NumWaiting;

	jsConsumerInfo_Destroy(info);
	return n;
}

bool nothing_unsettled(void *server)
{
	return server_unsettled(server, "S") == 0;
}

/* --- The proxy ------------------------------------------------------------ */

#define PAIRS 8u
#define HELD (1u << 21)

/* A client's connection and the one to the server; what came of the server and is
 * not a whole message. */
struct pair {
	int client, server; /* -1: none */
	char *text;
	size_t n;
};

static struct sockaddr_in loopback(const char *port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static bool send_all(int fd, const char *text, size_t n)
{
	ssize_t sent;

	for (; n > 0; n -= (size_t)sent, text += sent) {
		sent = send(fd, text, n, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
	}
	return true;
}

static void pair_end(struct pair *pair)
{
	if (pair->client >= 0)
		(void)close(pair->client);
	if (pair->server >= 0)
		(void)close(pair->server);
	free(pair->text);
	*pair = (struct pair){.client = -1, .server = -1};
}

static void pair_begin(struct pair *pair, struct proxy *proxy, const char *port)
{
	struct sockaddr_in address = loopback(port);

	pair->client = accept(proxy->listener, NULL, NULL);
	pair->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pair->text = malloc(HELD);
	pair->n = 0;
	if (connect(pair->server, (struct sockaddr *)&address,
		    sizeof(address)) < 0)
		pair_end(pair);
}

/* How long the first thing of the protocol is; 0: it is not whole. */
static size_t first_length(const struct pair *pair, bool *is_408)
{
	char *end = memchr(pair->text, '\n', pair->n), *number;
	size_t n;

	if (!end)
		return 0;
	n = (size_t)(end - pair->text) + 1;
	*is_408 = false;
	if (strncmp(pair->text, "MSG ", 4) != 0 &&
	    strncmp(pair->text, "HMSG ", 5) != 0)
		return n;
	number = end - 1;
	while (number[-1] != ' ')
		number--;
	if (n + strtoull(number, NULL, 10) + 2 > pair->n)
		return 0;
	*is_408 = pair->text[0] == 'H' &&
		  strncmp(end + 1, "NATS/1.0 408", 12) == 0;
	return n + strtoull(number, NULL, 10) + 2;
}

static bool pass_down(struct proxy *proxy, struct pair *pair)
{
	ssize_t got =
		recv(pair->server, pair->text + pair->n, HELD - pair->n, 0);
	bool is_408 = false;
	size_t n;

	if (got <= 0)
		return false;
	pair->n += (size_t)got;
	while ((n = first_length(pair, &is_408)) > 0) {
		if (is_408 && __atomic_load_n(&proxy->eats, __ATOMIC_ACQUIRE))
			__atomic_fetch_add(&proxy->eaten, 1, __ATOMIC_RELEASE);
		else if (!send_all(pair->client, pair->text, n))
			return false;
		pair->n -= n;
		memmove(pair->text, pair->text + n, pair->n);
	}
	return true;
}

static bool pass_up(const struct pair *pair)
{
	char text[65536];
	ssize_t got = recv(pair->client, text, sizeof(text), 0);

	return got > 0 && send_all(pair->server, text, (size_t)got);
}

/* Each connection goes to the server whose port is in its own url. */
static void *proxy_run(void *context)
{
	struct proxy *proxy = context;
	struct pollfd fds[2 + 2 * PAIRS];
	struct pair pairs[PAIRS];
	uint32_t cuts;
	size_t i;

	for (i = 0; i < PAIRS; i++)
		pairs[i] = (struct pair){.client = -1, .server = -1};
	for (;;) {
		fds[0] = (struct pollfd){proxy->stop[0], POLLIN, 0};
		fds[1] = (struct pollfd){proxy->listener, POLLIN, 0};
		for (i = 0; i < PAIRS; i++) {
			fds[2 + 2 * i] =
				(struct pollfd){pairs[i].client, POLLIN, 0};
			fds[3 + 2 * i] =
				(struct pollfd){pairs[i].server, POLLIN, 0};
		}
		(void)poll(fds, 2 + 2 * PAIRS, 5);
		cuts = __atomic_load_n(&proxy->cuts, __ATOMIC_ACQUIRE);
		if (cuts != proxy->done) {
			for (i = 0; i < PAIRS; i++)
				pair_end(&pairs[i]);
			__atomic_store_n(&proxy->done, cuts, __ATOMIC_RELEASE);
			continue;
		}
		if (fds[0].revents)
			break;
		for (i = 0; i < PAIRS; i++)
			if ((fds[2 + 2 * i].revents && !pass_up(&pairs[i])) ||
			    (fds[3 + 2 * i].revents &&
			     !pass_down(proxy, &pairs[i])))
				pair_end(&pairs[i]);
		for (i = 0; i < PAIRS && fds[1].revents; i++) {
			if (pairs[i].client < 0) {
				pair_begin(&pairs[i], proxy, proxy->port);
				break;
			}
		}
	}
	for (i = 0; i < PAIRS; i++)
		pair_end(&pairs[i]);
	return NULL;
}

void proxy_begin(struct proxy *proxy, const struct server *server)
{
	struct sockaddr_in address = loopback("0");
	socklen_t size = sizeof(address);

	*proxy = (struct proxy){0};
	memcpy(proxy->port, server->port, sizeof(proxy->port));
	proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(proxy->listener, (struct sockaddr *)&address,
			      sizeof(address)),
			 0);
	assert_int_equal(listen(proxy->listener, 16), 0);
	assert_int_equal(getsockname(proxy->listener,
				     (struct sockaddr *)&address, &size),
			 0);
	(void)snprintf(proxy->url, sizeof(proxy->url), "nats://127.0.0.1:%u",
		       ntohs(address.sin_port));
	assert_int_equal(pipe2(proxy->stop, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&proxy->thread, NULL, proxy_run, proxy),
			 0);
}

void proxy_end(struct proxy *proxy)
{
	(void)close(proxy->stop[1]);
	assert_int_equal(pthread_join(proxy->thread, NULL), 0);
	(void)close(proxy->stop[0]);
	(void)close(proxy->listener);
}

static bool is_cut(void *context)
{
	struct proxy *proxy = context;

	return __atomic_load_n(&proxy->done, __ATOMIC_ACQUIRE) == proxy->cuts;
}

void proxy_cut(struct proxy *proxy)
{
	__atomic_fetch_add(&proxy->cuts, 1, __ATOMIC_RELEASE);
	await(is_cut, proxy);
}

void proxy_eat(struct proxy *proxy)
{
	__atomic_store_n(&proxy->eats, 1, __ATOMIC_RELEASE);
}

/* --- Worlds --------------------------------------------------------------- */

static void connect_world(struct nats_world *world,
			  const struct weir_nats_options *options,
			  const char *url)
{
	struct weir_nats_options own = *options;
	const struct weir_threads_options threads = {.workers = 1};

	if (!own.url)
		own.url = url;
	own.timeout_ns = LONG;
	own.reconnect_ns = SECOND / 100;
	assert_int_equal(weir_nats_new(&world->nats, &own, NULL), 0);
	assert_int_equal(weir_threads_new(&world->threads, &threads), 0);
	world->executor = weir_threads_executor(world->threads);
}

void nats_begin_with(struct nats_world *world,
		     const struct weir_nats_options *options)
{
	memset(world, 0, sizeof(*world));
	server_begin(&world->server);
	connect_world(world, options, world->server.url);
}

void nats_begin(struct nats_world *world)
{
	const struct weir_nats_options options = {.name = "test"};

	nats_begin_with(world, &options);
}

void nats_begin_behind(struct nats_world *world)
{
	const struct weir_nats_options options = {.name = "test"};

	memset(world, 0, sizeof(*world));
	server_begin(&world->server);
	proxy_begin(&world->proxy, &world->server);
	world->is_behind = true;
	connect_world(world, &options, world->proxy.url);
}

void nats_end(struct nats_world *world)
{
	assert_int_equal(weir_nats_free(world->nats), 0);
	assert_int_equal(weir_threads_free(world->threads), 0);
	if (world->is_behind)
		proxy_end(&world->proxy);
	server_end(&world->server);
}

struct weir_flow_run *nats_start(struct nats_world *world,
				 struct weir_flow *flow)
{
	struct weir_flow_run *run;

	assert_int_equal(weir_flow_start(flow, world->executor, NULL, &run), 0);
	return run;
}

int nats_wait(struct weir_flow_run *run, void **result)
{
	struct weir_error *error = NULL;
	int code;

	assert_int_equal(weir_flow_run_wait(run, LONG, result, &error), 0);
	code = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(run);
	return code;
}

int nats_run(struct nats_world *world, struct weir_flow *flow, void **result)
{
	int code = nats_wait(nats_start(world, flow), result);

	weir_flow_free(flow);
	return code;
}

uint64_t number_of(void *message)
{
	struct weir_flow_bytes *bytes = message;
	char text[24] = "";

	assert_true(bytes->n > 0 && bytes->n < sizeof(text));
	memcpy(text, bytes->data, bytes->n);
	return strtoull(text, NULL, 10);
}

struct weir_flow *nats_source(struct nats_world *world,
			      struct weir_nats_source_options options)
{
	options.stream = "S";
	options.durable = "c";
	return weir_flow_from_nats(world->nats, &options);
}

/* --- Memory --------------------------------------------------------------- */

static void *heap_take(size_t size, void *context)
{
	struct nats_heap *heap = context;
	void *memory = NULL;

	(void)pthread_mutex_lock(&heap->lock);
	if (++heap->calls != heap->fail) {
		memory = malloc(size);
		heap->live++;
	}
	(void)pthread_mutex_unlock(&heap->lock);
	return memory;
}

static void heap_give(void *memory, size_t size, void *context)
{
	struct nats_heap *heap = context;

	(void)pthread_mutex_lock(&heap->lock);
	heap->live--;
	(void)pthread_mutex_unlock(&heap->lock);
	free(memory);
}

void nats_heap_init(struct nats_heap *heap)
{
	*heap = (struct nats_heap){
		.allocator = {heap_take, heap_give, heap},
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
}
