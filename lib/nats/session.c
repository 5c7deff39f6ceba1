/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections as users see them, and the writer. */

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nats/message.h"
#include "nats/nats_state.h"

#define CONNECT_NS UINT64_C(2000000000)
#define RECONNECT_NS UINT64_C(250000000)
#define WRITE_STALL_NS UINT64_C(5000000000)
#define FLUSH_NS UINT64_C(60000000000)
#define MS_NS UINT64_C(1000000)
#define DEFAULT_URL "nats://localhost:4222"

/* --- States; the lock is held --------------------------------------------- */

static void say_why(struct weir_nats *nats, const char *why)
{
	(void)snprintf(nats->why, sizeof(nats->why), "%s", why ? why : "");
}

static void set_state(struct weir_nats *nats, enum weir_nats_state state)
{
	struct weir__nats_client *client;
	bool connected = state == WEIR_NATS_STATE_CONNECTED;

	if (nats->state == state)
		return;
	if (nats->state == WEIR_NATS_STATE_CONNECTED)
		nats->was_cut = true;
	nats->state = state;
	nats->later_ns = 0;
	for (client = nats->clients; client; client = client->next) {
		client->ops->connection(client, connected);
		client->dirty = true;
	}
	weir__nats_wake(nats);
	weir__nats_moved(nats);
}

/* The writer's: the user hears of it, and of a cut that is over already. */
static void tell_state(struct weir_nats *nats)
{
	enum weir_nats_state state;
	char why[sizeof(nats->why)];

	while (nats->told != nats->state || nats->was_cut) {
		state = nats->state;
		if (nats->was_cut && state == WEIR_NATS_STATE_CONNECTED)
			state = WEIR_NATS_STATE_DISCONNECTED;
		nats->was_cut = false;
		nats->told = state;
		memcpy(why, nats->why, sizeof(why));
		if (!nats->options.on_state)
			continue;
		weir__nats_unlock(nats);
		nats->options.on_state(state, *why ? why : NULL,
				       nats->options.context);
		weir__nats_lock(nats);
	}
}

/* --- What libnats calls --------------------------------------------------- */

static void on_disconnected(natsConnection *connection, void *context)
{
	struct weir_nats *nats = context;
	const char *why = NULL;

	(void)natsConnection_GetLastError(connection, &why);
	weir__nats_lock(nats);
	say_why(nats, why);
	if (nats->state == WEIR_NATS_STATE_CONNECTED)
		set_state(nats, WEIR_NATS_STATE_DISCONNECTED);
	weir__nats_unlock(nats);
}

static void on_connected(natsConnection *connection, void *context)
{
	struct weir_nats *nats = context;

	weir__nats_lock(nats);
	if (nats->state == WEIR_NATS_STATE_DISCONNECTED)
		nats->stats.reconnects++;
	say_why(nats, NULL);
	set_state(nats, WEIR_NATS_STATE_CONNECTED);
	weir__nats_unlock(nats);
}

/* The last call of all. */
static void on_closed(natsConnection *connection, void *context)
{
	struct weir_nats *nats = context;

	weir__nats_lock(nats);
	nats->closed = true;
	set_state(nats, WEIR_NATS_STATE_CLOSED);
	(void)pthread_cond_broadcast(&nats->moved);
	weir__nats_unlock(nats);
}

/* --- The writer ----------------------------------------------------------- */

/* Connects, and is told how: retries are ours until there is one. */
static void connect(struct weir_nats *nats)
{
	natsConnection *connection = NULL;
	jsCtx *js = NULL;
	natsStatus s;

	weir__nats_unlock(nats);
	s = natsConnection_Connect(&connection, nats->nats_options);
	if (s == NATS_OK)
		s = natsConnection_JetStream(&js, connection, NULL);
	weir__nats_lock(nats);
	if (s == NATS_OK) {
		nats->connection = connection;
		nats->js = js;
		if (natsConnection_Status(connection) ==
		    NATS_CONN_STATUS_CONNECTED)
			set_state(nats, WEIR_NATS_STATE_CONNECTED);
		return;
	}
	natsConnection_Destroy(connection);
	nats->code = weir__nats_errno(s);
	say_why(nats, natsStatus_GetText(s));
	nats->n_tries++;
	if (nats->options.max_reconnects > 0 &&
	    nats->n_tries > nats->options.max_reconnects) {
		nats->closed = true;
		set_state(nats, WEIR_NATS_STATE_CLOSED);
	}
	weir__nats_moved(nats);
}

/* Frees what nobody has any more. */
static void free_clients(struct weir_nats *nats)
{
	struct weir__nats_client **at = &nats->clients, *client;

	while ((client = *at)) {
		if (client->refs > 0) {
			at = &client->next;
			continue;
		}
		*at = client->next;
		client->ops->free(client);
		weir__nats_moved(nats);
	}
}

/* False: nobody had any. *due_ns: when there is some. */
static bool work(struct weir_nats *nats, uint64_t *due_ns)
{
	uint64_t now_ns = weir__nats_now();
	struct weir__nats_client *client;
	bool found = false, gone = false;

	*due_ns = UINT64_MAX;
	for (client = nats->clients; client; client = client->next) {
		if (client->dirty || client->due_ns <= now_ns) {
			client->dirty = false;
			found = true;
			/* the writer alone removes any: so `next` is valid */
			client->due_ns = client->ops->work(client, now_ns);
		}
		gone = gone || client->refs == 0;
		if (client->due_ns < *due_ns)
			*due_ns = client->due_ns;
	}
	if (gone)
		free_clients(nats);
	return found;
}

/* It waits on the lock's condition. */
static void sleep_until(struct weir_nats *nats, pthread_cond_t *cond,
			uint64_t until_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / UINT64_C(1000000000)),
		.tv_nsec = (long)(until_ns % UINT64_C(1000000000)),
	};

	if (until_ns == UINT64_MAX)
		(void)pthread_cond_wait(cond, &nats->lock);
	else
		(void)pthread_cond_timedwait(cond, &nats->lock, &until);
}

static uint64_t reconnect_ns(const struct weir_nats *nats)
{
	return nats->options.reconnect_ns ? nats->options.reconnect_ns
					  : RECONNECT_NS;
}

static void *write_all(void *context)
{
	struct weir_nats *nats = context;
	uint64_t due_ns, connect_at_ns = 0;
	bool published;

	weir__nats_lock(nats);
	while (!nats->freeing || nats->clients || nats->first) {
		tell_state(nats);
		if (!nats->connection && !nats->closed && !nats->freeing &&
		    weir__nats_now() >= connect_at_ns) {
			connect(nats);
			connect_at_ns = weir__nats_now() + reconnect_ns(nats);
			continue;
		}
		if (nats->freeing && (!weir__nats_connected(nats) ||
				      weir__nats_now() >= nats->free_at_ns))
			weir__nats_abandon(nats);
		/* what is given back comes before what is asked for next */
		published = weir__nats_publish(nats);
		if (work(nats, &due_ns) || published)
			continue;
		if (!nats->connection && !nats->closed &&
		    connect_at_ns < due_ns)
			due_ns = connect_at_ns;
		if (nats->first && nats->later_ns < due_ns &&
		    weir__nats_connected(nats))
			due_ns = nats->later_ns;
		if (nats->freeing && nats->free_at_ns < due_ns)
			due_ns = nats->free_at_ns;
		nats->idle = true;
		sleep_until(nats, &nats->work, due_ns);
		nats->idle = false;
	}
	weir__nats_unlock(nats);
	nats_ReleaseThreadMemory();
	return NULL;
}

/* --- Making one ----------------------------------------------------------- */

static bool is_valid(const struct weir_nats_options *options)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (options->reserved[i] != 0)
			return false;
	return options->max_reconnects >= 0 &&
	       !options->cert == !options->key &&
	       (!options->url || *options->url);
}

static int64_t to_ms(uint64_t ns, uint64_t standard_ns)
{
	ns = ns ? ns : standard_ns;
	return ns < MS_NS ? 1 : (int64_t)(ns / MS_NS);
}

/* "a, b" as two. */
static natsStatus set_servers(natsOptions *to, const char *url)
{
	const char *servers[64];
	char *copy = strdup(url), *rest = NULL, *one;
	natsStatus s = NATS_OK;
	int n = 0;

	if (!copy)
		return NATS_NO_MEMORY;
	for (one = strtok_r(copy, ", ", &rest); one && n < 64;
	     one = strtok_r(NULL, ", ", &rest))
		servers[n++] = one;
	s = n > 0 ? natsOptions_SetServers(to, servers, n) : NATS_INVALID_ARG;
	free(copy);
	return s;
}

static natsStatus set_tls(natsOptions *to, const struct weir_nats_options *from)
{
	natsStatus s = NATS_OK;

	if (from->tls || from->ca || from->cert)
		s = natsOptions_SetSecure(to, true);
	if (s == NATS_OK && from->ca)
		s = natsOptions_LoadCATrustedCertificates(to, from->ca);
	if (s == NATS_OK && from->cert)
		s = natsOptions_LoadCertificatesChain(to, from->cert,
						      from->key);
	return s;
}

static natsStatus set_times(natsOptions *to,
			    const struct weir_nats_options *from)
{
	int tries = from->max_reconnects > 0 && from->max_reconnects < INT32_MAX
			    ? (int)from->max_reconnects
			    : -1;
	int64_t wait_ms = to_ms(from->reconnect_ns, RECONNECT_NS);
	natsStatus s;

	s = natsOptions_SetTimeout(to, to_ms(from->connect_ns, CONNECT_NS));
	if (s == NATS_OK)
		s = natsOptions_SetMaxReconnect(to, tries);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectWait(to, wait_ms);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectJitter(to, wait_ms / 4,
						   wait_ms / 4);
	if (s == NATS_OK)
		s = natsOptions_SetWriteDeadline(to, to_ms(from->write_stall_ns,
							   WRITE_STALL_NS));
	/* what is written while there is no connection would come before what
	 * was lost */
	if (s == NATS_OK)
		s = natsOptions_SetReconnectBufSize(to, 0);
	if (s == NATS_OK && from->asap)
		s = natsOptions_SetSendAsap(to, true);
	return s;
}

static natsStatus set_options(struct weir_nats *nats,
			      const struct weir_nats_options *from)
{
	natsOptions *to = NULL;
	natsStatus s;

	s = natsOptions_Create(&nats->nats_options);
	to = nats->nats_options;
	if (s == NATS_OK)
		s = set_servers(to, from->url ? from->url : DEFAULT_URL);
	if (s == NATS_OK && from->name)
		s = natsOptions_SetName(to, from->name);
	if (s == NATS_OK && from->credentials)
		s = natsOptions_SetUserCredentialsFromFiles(
			to, from->credentials, NULL);
	if (s == NATS_OK)
		s = set_tls(to, from);
	if (s == NATS_OK)
		s = set_times(to, from);
	if (s == NATS_OK)
		s = natsOptions_SetDisconnectedCB(to, on_disconnected, nats);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectedCB(to, on_connected, nats);
	if (s == NATS_OK)
		s = natsOptions_SetClosedCB(to, on_closed, nats);
	return s;
}

static void destroy(struct weir_nats *nats)
{
	const struct weir_allocator *allocator = nats->allocator;

	natsOptions_Destroy(nats->nats_options);
	(void)pthread_cond_destroy(&nats->moved);
	(void)pthread_cond_destroy(&nats->work);
	(void)pthread_mutex_destroy(&nats->lock);
	allocator->free(nats, sizeof(*nats), allocator->context);
}

static struct weir_nats *create(const struct weir_nats_options *options,
				const struct weir_allocator *allocator)
{
	struct weir_nats *nats;
	pthread_condattr_t attr;

	nats = allocator->alloc(sizeof(*nats), allocator->context);
	if (!nats)
		return NULL;
	memset(nats, 0, sizeof(*nats));
	nats->allocator = allocator;
	nats->options = *options;
	nats->last = &nats->first;
	(void)pthread_mutex_init(&nats->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&nats->work, &attr);
	(void)pthread_cond_init(&nats->moved, &attr);
	(void)pthread_condattr_destroy(&attr);
	return nats;
}

/* A thread that takes no signals but those of its own faults. */
static int start(struct weir_nats *nats)
{
	static const int faults[] = {SIGSEGV, SIGBUS,  SIGFPE,
				     SIGILL,  SIGTRAP, SIGSYS};
	sigset_t all, before;
	size_t i;
	int rc;

	(void)sigfillset(&all);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		(void)sigdelset(&all, faults[i]);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&nats->writer, NULL, write_all, nats);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

static uint64_t after(uint64_t timeout_ns)
{
	uint64_t now_ns = weir__nats_now();

	return timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns
						: UINT64_MAX;
}

/* Waits for the first connection. */
static int wait_connected(struct weir_nats *nats, uint64_t timeout_ns)
{
	uint64_t until_ns = after(timeout_ns);
	int code;

	weir__nats_lock(nats);
	nats->n_waiting++;
	while (nats->state == WEIR_NATS_STATE_CONNECTING &&
	       weir__nats_now() < until_ns)
		sleep_until(nats, &nats->moved, until_ns);
	nats->n_waiting--;
	code = nats->state == WEIR_NATS_STATE_CONNECTED ? 0
	       : nats->code				? nats->code
							: -ETIMEDOUT;
	weir__nats_unlock(nats);
	return code;
}

/* --- Calls ---------------------------------------------------------------- */

enum weir_nats_state weir_nats_state(struct weir_nats *nats)
{
	enum weir_nats_state state;

	if (!nats)
		return WEIR_NATS_STATE_CLOSED;
	weir__nats_lock(nats);
	state = nats->state;
	weir__nats_unlock(nats);
	return state;
}

int weir_nats_stats(struct weir_nats *nats, struct weir_nats_stats *stats)
{
	if (!nats || !stats)
		return -EINVAL;
	weir__nats_lock(nats);
	*stats = nats->stats;
	weir__nats_unlock(nats);
	return 0;
}

/* One that has not been asked to end: its operator, held. */
static struct weir_operator *end_next(struct weir_nats *nats)
{
	struct weir__nats_client *client;
	struct weir_operator *op = NULL;

	weir__nats_lock(nats);
	for (client = nats->clients; client && !op; client = client->next)
		op = client->ops->end(client);
	weir__nats_unlock(nats);
	return op;
}

static bool is_at_rest(const struct weir_nats *nats)
{
	return nats->n_runs == 0 && nats->n_open == 0 && nats->n_inboxes == 0;
}

/* What was published is the server's. */
static bool flush(struct weir_nats *nats, uint64_t until_ns)
{
	natsConnection *connection;
	uint64_t now_ns = weir__nats_now();

	weir__nats_lock(nats);
	connection = weir__nats_connected(nats) ? nats->connection : NULL;
	weir__nats_unlock(nats);
	/* a connection that is broken has nothing, or is flushed when it is
	 * made again */
	return !connection ||
	       natsConnection_FlushTimeout(
		       connection, until_ns > now_ns
					   ? to_ms(until_ns == UINT64_MAX
							   ? FLUSH_NS
							   : until_ns - now_ns,
						   0)
					   : 1) == NATS_OK;
}

int weir_nats_end_wait(struct weir_nats *nats, uint64_t timeout_ns)
{
	uint64_t until_ns = after(timeout_ns);
	struct weir_operator *op;
	bool rests;

	if (!nats)
		return -EINVAL;
	while ((op = end_next(nats))) {
		weir_operator_wake(op);
		weir_operator_unhold(op);
	}
	weir__nats_lock(nats);
	nats->n_waiting++;
	while (!is_at_rest(nats) && weir__nats_now() < until_ns)
		sleep_until(nats, &nats->moved, until_ns);
	nats->n_waiting--;
	rests = is_at_rest(nats);
	weir__nats_unlock(nats);
	return rests && flush(nats, until_ns) ? 0 : -ETIMEDOUT;
}

/* What was published is written, if the server takes it; then libnats calls
 * nothing any more. */
static void disconnect(struct weir_nats *nats)
{
	if (!nats->connection)
		return;
	if (natsConnection_Status(nats->connection) ==
	    NATS_CONN_STATUS_CONNECTED)
		(void)natsConnection_FlushTimeout(
			nats->connection,
			to_ms(nats->options.write_stall_ns, WRITE_STALL_NS));
	natsConnection_Close(nats->connection);
	weir__nats_lock(nats);
	nats->n_waiting++;
	while (!nats->closed)
		sleep_until(nats, &nats->moved, UINT64_MAX);
	weir__nats_unlock(nats);
	jsCtx_Destroy(nats->js);
	natsConnection_Destroy(nats->connection);
}

int weir_nats_free(struct weir_nats *nats)
{
	bool busy;

	if (!nats)
		return 0;
	weir__nats_lock(nats);
	busy = nats->n_runs > 0 || nats->n_held > 0;
	if (!busy) {
		nats->freeing = true;
		nats->free_at_ns = after(nats->options.write_stall_ns
						 ? nats->options.write_stall_ns
						 : WRITE_STALL_NS);
		weir__nats_wake(nats);
	}
	weir__nats_unlock(nats);
	if (busy)
		return -EBUSY;
	(void)pthread_join(nats->writer, NULL);
	nats->options.on_state = NULL;
	disconnect(nats);
	destroy(nats);
	return 0;
}

int weir_nats_new(struct weir_nats **nats,
		  const struct weir_nats_options *options,
		  const struct weir_allocator *allocator)
{
	static const struct weir_nats_options none;
	struct weir_nats *self;
	int rc;

	if (!nats)
		return -EINVAL;
	*nats = NULL;
	if (!options)
		options = &none;
	if (!is_valid(options))
		return -EINVAL;
	self = create(options,
		      allocator ? allocator : weir_allocator_default());
	if (!self)
		return -ENOMEM;
	rc = weir__nats_errno(set_options(self, options));
	if (rc == 0)
		rc = start(self);
	if (rc < 0) {
		destroy(self);
		return rc;
	}
	if (options->timeout_ns > 0)
		rc = wait_connected(self, options->timeout_ns);
	/* nobody uses it yet: so it is freed */
	if (rc < 0)
		return weir_nats_free(self) < 0 ? -EBUSY : rc;
	*nats = self;
	return 0;
}
