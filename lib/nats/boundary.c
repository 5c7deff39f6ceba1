/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A boundary of a flow that goes through a stream. Above it are two operators:
 * `giver`, which lets items pass while the consumers of all partitions lag less
 * than `capacity` behind, and puts an end for each partition behind them; then a
 * sink. Below it there are, for each partition, a source and `taker`, which ends
 * when the ends have come and its consumer has nothing that the taker has not
 * passed on.
 *
 * Both ask the server by a *probe*, which is a client of the connection: it sums up
 * what consumers have neither given nor been told the end of.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/flow_element.h>
#include <weir/flow_fan.h>
#include <weir/flow_operator.h>
#include <weir/flow_source.h>

#include "nats/boundary.h"
#include "nats/mark.h"
#include "nats/message.h"
#include "nats/nats_state.h"

#define CAPACITY 1024u
#define WINDOW 256u
/* libnats does not tell the server of -1 */
#define PENDING_MAX 1000000
#define PARTITIONS_MAX 1024u
#define NAME_SIZE 128u
#define AGAIN_NS UINT64_C(1000000000)
#define LOOK_MIN_NS UINT64_C(1000000)
#define LOOK_MAX_NS UINT64_C(100000000)

/* --- Probes --------------------------------------------------------------- */

struct probe {
	struct weir__nats_client client; /* first */
	struct weir_operator *op;	 /* NULL: it has closed */
	struct weir__nats_inbox *inbox;
	const char *stream;
	uint32_t first, n;  /* partitions */
	uint64_t round;	    /* of questions; answers to others do not count */
	uint64_t ask_at_ns; /* UINT64_MAX: nothing is asked */
	uint32_t n_answers;
	uint64_t sum, lag, backoff_ns;
	bool answered; /* and the operator has not looked */
	int code;
	size_t size;
	char rest[]; /* `stream` */
};

static struct probe *of(struct weir__nats_client *client)
{
	return (struct probe *)client;
}

/* The lock is held. The operator, held. */
static struct weir_operator *to_wake(struct probe *self)
{
	if (self->op)
		weir_operator_hold(self->op);
	return self->op;
}

static void wake(struct weir_operator *op)
{
	if (!op)
		return;
	weir_operator_wake(op);
	weir_operator_unhold(op);
}

static bool find_number(const char *text, const char *key, uint64_t *value)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	*value = strtoull(at + strlen(key), NULL, 10);
	return true;
}

/* {..., "num_ack_pending":1, ..., "num_pending":2, ...} */
static void answer(struct probe *self, const char *text)
{
	uint64_t unsettled, pending;

	if (strstr(text, "\"error\":{")) {
		self->code = -ENOENT;
		return;
	}
	if (!find_number(text, "\"num_ack_pending\":", &unsettled) ||
	    !find_number(text, "\"num_pending\":", &pending))
		return; /* it is asked again */
	self->sum += unsettled + pending;
	if (++self->n_answers < self->n)
		return;
	self->lag = self->sum;
	self->answered = true;
	self->ask_at_ns = UINT64_MAX;
}

static void take_answer(struct weir__nats_inbox *inbox, natsMsg *msg,
			const char *rest)
{
	struct probe *self = of(inbox->client);
	struct weir_operator *op = NULL;
	char text[8192];

	(void)snprintf(text, sizeof(text), "%.*s", natsMsg_GetDataLength(msg),
		       natsMsg_GetData(msg));
	weir__nats_lock(self->client.nats);
	if (rest && strtoull(rest, NULL, 10) == self->round &&
	    !self->answered && self->code == 0 && !natsMsg_IsNoResponders(msg))
		answer(self, text);
	if (self->answered || self->code < 0)
		op = to_wake(self);
	weir__nats_unlock(self->client.nats);
	natsMsg_Destroy(msg);
	wake(op);
}

/* The writer's, without the lock. Those that are lost are asked for again. */
static void ask_all(struct probe *self, uint64_t round)
{
	natsConnection *connection = self->client.nats->connection;
	char subject[NAME_SIZE + 64], reply[sizeof(self->inbox->name) + 32];
	uint32_t i;

	(void)snprintf(reply, sizeof(reply), "%s.%" PRIu64, self->inbox->name,
		       round);
	for (i = self->first; i < self->first + self->n; i++) {
		(void)snprintf(subject, sizeof(subject),
			       "$JS.API.CONSUMER.INFO.%s.p%" PRIu32,
			       self->stream, i);
		(void)natsConnection_PublishRequestString(connection, subject,
							  reply, "");
	}
}

static uint64_t probe_work(struct weir__nats_client *client, uint64_t now_ns)
{
	struct probe *self = of(client);
	struct weir_nats *nats = client->nats;
	struct weir__nats_inbox *inbox = self->inbox;
	bool connected = weir__nats_connected(nats);
	struct weir_operator *op;

	if (!self->op && inbox) {
		self->inbox = NULL;
		weir__nats_unlock(nats);
		weir__nats_inbox_close(inbox, connected);
		weir__nats_lock(nats);
	}
	if (self->op && self->code < 0) {
		op = to_wake(self);
		weir__nats_unlock(nats);
		wake(op);
		weir__nats_lock(nats);
	}
	if (!self->op || self->code < 0 || !connected ||
	    now_ns < self->ask_at_ns)
		return connected && self->op ? self->ask_at_ns : UINT64_MAX;
	self->round++;
	self->n_answers = 0;
	self->sum = 0;
	self->ask_at_ns = now_ns + AGAIN_NS;
	weir__nats_unlock(nats);
	if (inbox || weir__nats_inbox_open(&inbox, client, 0, take_answer) == 0)
		self->inbox = inbox;
	if (inbox)
		ask_all(self, self->round);
	weir__nats_lock(nats);
	if (!self->op)
		weir__nats_soon(client);
	return now_ns + AGAIN_NS;
}

static void probe_connection(struct weir__nats_client *client, bool connected)
{
	struct probe *self = of(client);

	/* what was asked on the old one is not answered */
	if (connected && self->ask_at_ns != UINT64_MAX)
		self->ask_at_ns = 0;
	if (client->nats->state == WEIR_NATS_STATE_CLOSED)
		self->code = -ENOTCONN;
}

static struct weir_operator *probe_end(struct weir__nats_client *client)
{
	return NULL;
}

static void probe_free(struct weir__nats_client *client)
{
	const struct weir_allocator *allocator = client->nats->allocator;

	allocator->free(client, of(client)->size, allocator->context);
}

static const struct weir__nats_client_ops probe_ops = {
	.connection = probe_connection,
	.work = probe_work,
	.end = probe_end,
	.free = probe_free,
};

static struct probe *probe_new(struct weir_operator *op, struct weir_nats *nats,
			       const char *stream, uint32_t first, uint32_t n)
{
	size_t size = sizeof(struct probe) + strlen(stream) + 1;
	struct probe *self;

	self = nats->allocator->alloc(size, nats->allocator->context);
	if (!self)
		return NULL;
	memset(self, 0, size);
	self->size = size;
	self->stream = memcpy(self->rest, stream, strlen(stream) + 1);
	self->first = first;
	self->n = n;
	self->ask_at_ns = UINT64_MAX;
	self->op = op;
	weir_operator_hold(op);
	weir__nats_lock(nats);
	weir__nats_add(nats, &self->client, &probe_ops);
	nats->n_runs++;
	if (nats->state == WEIR_NATS_STATE_CLOSED)
		probe_connection(&self->client, false);
	weir__nats_unlock(nats);
	return self;
}

static void probe_close(struct probe *self)
{
	struct weir_nats *nats = self->client.nats;
	struct weir_operator *op = self->op;

	weir__nats_lock(nats);
	self->op = NULL;
	nats->n_runs--;
	weir__nats_soon(&self->client);
	weir__nats_moved(nats);
	weir__nats_unref(&self->client);
	weir__nats_unlock(nats);
	weir_operator_unhold(op);
}

/* The lock is held. At once, or ever more rarely. */
static void ask(struct probe *self, bool at_once)
{
	if (self->ask_at_ns != UINT64_MAX || self->answered)
		return;
	if (at_once)
		self->backoff_ns = 0;
	self->ask_at_ns = weir__nats_now() + self->backoff_ns;
	self->backoff_ns = self->backoff_ns == 0 ? LOOK_MIN_NS
						 : self->backoff_ns * 2;
	if (self->backoff_ns > LOOK_MAX_NS)
		self->backoff_ns = LOOK_MAX_NS;
	weir__nats_soon(&self->client);
}

static int fail_of(struct weir_operator *op, int code)
{
	return weir_operator_fail(
		op, code,
		code == -ENOENT ? "there is no such stream or consumer"
				: "the connection has given up");
}

/* --- Giving --------------------------------------------------------------- */

uint32_t weir_nats_partition(const void *key, size_t n, uint32_t partitions)
{
	const unsigned char *at = key;
	uint32_t hash = 2166136261u;
	size_t i;

	for (i = 0; at && i < n; i++)
		hash = (hash ^ at[i]) * 16777619u;
	return partitions > 0 ? hash % partitions : 0;
}

static uint32_t partitions_of(const struct weir_nats_boundary *boundary)
{
	return boundary->partitions ? boundary->partitions : 1;
}

static uint64_t capacity_of(const struct weir_nats_boundary *boundary)
{
	return boundary->capacity ? boundary->capacity : CAPACITY;
}

/* Of the sink: what is under way to the stream, and not seen by a probe. */
static uint64_t on_way(const struct weir_nats_boundary *boundary)
{
	uint64_t half = capacity_of(boundary) / 2;

	return half < WINDOW ? half : WINDOW;
}

static int subject_of(void *item, char *subject, size_t size, void *context)
{
	const struct weir_nats_boundary *boundary = context;
	const struct weir__nats_mark *mark = weir__nats_mark_of(item);
	uint32_t n = partitions_of(boundary);
	const void *key = NULL;
	size_t length = 0;
	int rc = 0;

	if (!mark && boundary->key_of)
		rc = boundary->key_of(item, &key, &length, boundary->context);
	if (rc < 0)
		return rc;
	(void)snprintf(subject, size, "%s.%" PRIu32, boundary->name,
		       mark ? mark->partition
			    : weir_nats_partition(key, length, n));
	return 0;
}

static int id_of(void *item, char *id, size_t size, void *context)
{
	const struct weir_nats_boundary *boundary = context;
	const struct weir__nats_mark *mark = weir__nats_mark_of(item);

	if (!mark)
		return boundary->id_of(item, id, size, boundary->context);
	(void)snprintf(id, size, "%s.end.%" PRIu32, mark->from,
		       mark->partition);
	return 0;
}

struct give_args {
	struct weir_nats *nats;
	const struct weir_nats_boundary *boundary;
};

struct give_state {
	struct probe *probe;
	uint64_t credit; /* items that may pass */
	uint32_t n_ends;
	bool pulled, ended;
	struct weir_error *error;
};

static int give_open(struct weir_operator *op)
{
	const struct give_args *args = weir_operator_context(op);
	struct give_state *state = weir_operator_state(op);

	state->probe = probe_new(op, args->nats, args->boundary->name, 0,
				 partitions_of(args->boundary));
	return state->probe ? 0 : -ENOMEM;
}

static void give_close(struct weir_operator *op)
{
	struct give_state *state = weir_operator_state(op);

	probe_close(state->probe);
	weir_error_unref(state->error);
}

/* Some at once: a quarter of what there may be. */
static uint64_t credit_of(const struct weir_nats_boundary *boundary,
			  uint64_t lag)
{
	uint64_t all = capacity_of(boundary) - on_way(boundary);
	uint64_t room = lag < all ? all - lag : 0;

	return room > 0 && room >= all / 4 ? room : 0;
}

/* Takes an answer, or asks. 0 or a negative errno. */
static int find_credit(struct give_state *state,
		       const struct weir_nats_boundary *boundary)
{
	struct probe *probe = state->probe;
	bool answered;
	int code;

	weir__nats_lock(probe->client.nats);
	answered = probe->answered;
	code = probe->code;
	if (answered) {
		probe->answered = false;
		state->credit = credit_of(boundary, probe->lag);
	}
	if (code == 0 && state->credit == 0)
		ask(probe, !answered);
	weir__nats_unlock(probe->client.nats);
	return code;
}

static int push_end(struct weir_operator *op)
{
	const struct give_args *args = weir_operator_context(op);
	struct give_state *state = weir_operator_state(op);
	struct weir_flow_bytes *bytes;

	if (state->n_ends == partitions_of(args->boundary))
		return weir_operator_end(op, state->error);
	bytes = weir__nats_mark_new(args->boundary->from, state->n_ends,
				    state->error);
	if (!bytes)
		return -ENOMEM;
	state->n_ends++;
	if (weir_operator_push(op, bytes) < 0)
		weir_flow_bytes_unref(bytes);
	return 0;
}

static int give_on(struct weir_operator *op)
{
	const struct give_args *args = weir_operator_context(op);
	struct give_state *state = weir_operator_state(op);
	int rc;

	if (!weir_operator_wanted(op))
		return 0;
	if (state->ended)
		return push_end(op);
	if (state->pulled)
		return 0;
	if (state->credit == 0) {
		rc = find_credit(state, args->boundary);
		if (rc < 0)
			return fail_of(op, rc);
	}
	if (state->credit > 0)
		state->pulled = weir_operator_pull(op) == 0;
	return 0;
}

static int give_push(struct weir_operator *op, void *item)
{
	struct give_state *state = weir_operator_state(op);

	state->pulled = false;
	state->credit--;
	if (weir_operator_push(op, item) < 0)
		weir_operator_drop(op, item);
	return 0;
}

static int give_end(struct weir_operator *op, struct weir_error *error)
{
	struct give_state *state = weir_operator_state(op);

	state->ended = true;
	state->error = error ? weir_error_ref(error) : NULL;
	return give_on(op);
}

static const struct weir_operator_ops give_ops = {
	.name = "nats_give",
	.state_size = sizeof(struct give_state),
	.context_size = sizeof(struct give_args),
	.open = give_open,
	.close = give_close,
	.on_pull = give_on,
	.on_push = give_push,
	.on_end = give_end,
	.on_wake = give_on,
};

/* --- Taking --------------------------------------------------------------- */

struct take_args {
	struct weir_nats *nats;
	const struct weir_nats_boundary *boundary;
	uint32_t partition;
};

struct take_state {
	struct probe *probe;
	struct weir_nats_message *ends; /* held, by `lane` */
	uint64_t n_ends;		/* of different publishers */
};

static int take_open(struct weir_operator *op)
{
	const struct take_args *args = weir_operator_context(op);
	struct take_state *state = weir_operator_state(op);

	state->probe = probe_new(op, args->nats, args->boundary->name,
				 args->partition, 1);
	return state->probe ? 0 : -ENOMEM;
}

static void drop_ends(struct take_state *state)
{
	struct weir_nats_message *message;

	while ((message = state->ends)) {
		state->ends = message->lane;
		weir_flow_bytes_unref(&message->bytes);
	}
}

static void take_close(struct weir_operator *op)
{
	struct take_state *state = weir_operator_state(op);

	drop_ends(state);
	probe_close(state->probe);
}

static const char *from_of(struct weir_nats_message *message)
{
	const char *from = weir_nats_message_header(message, "Weir-From");

	return from ? from : "";
}

static void keep_end(struct take_state *state,
		     struct weir_nats_message *message)
{
	struct weir_nats_message *other;

	for (other = state->ends; other; other = other->lane)
		if (strcmp(from_of(other), from_of(message)) == 0)
			break;
	state->n_ends += !other;
	message->lane = state->ends;
	state->ends = message;
}

static bool all_ended(const struct take_state *state,
		      const struct weir_nats_boundary *boundary)
{
	uint64_t n = boundary->publishers ? boundary->publishers : 1;

	return state->n_ends >= n;
}

static void ask_whether_over(struct take_state *state, bool at_once)
{
	weir__nats_lock(state->probe->client.nats);
	ask(state->probe, at_once);
	weir__nats_unlock(state->probe->client.nats);
}

static int take_push(struct weir_operator *op, void *item)
{
	const struct take_args *args = weir_operator_context(op);
	struct take_state *state = weir_operator_state(op);
	struct weir_nats_message *message = item;

	weir__nats_lock(args->nats);
	message->passed = true;
	weir__nats_unlock(args->nats);
	if (message->bytes.n == 0 &&
	    (weir_nats_message_header(message, "Weir-End") ||
	     weir_nats_message_header(message, "Weir-Error"))) {
		keep_end(state, message);
		if (all_ended(state, args->boundary))
			ask_whether_over(state, true);
		(void)weir_operator_pull(op);
	} else if (weir_operator_push(op, item) < 0) {
		weir_operator_drop(op, item);
	}
	return 0;
}

static int order(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/* How many messages were passed on and are not settled; each once, also if it
 * was given twice. Without memory: none. */
static uint64_t n_unsettled(struct weir_nats *nats,
			    const struct weir__nats_origin *origin)
{
	const struct weir_nats_message *message;
	uint64_t *numbers, n = 0, different = 0, i;

	weir__nats_lock(nats);
	numbers = malloc((origin->n_unsettled + 1) * sizeof(*numbers));
	for (message = origin->first; message && numbers;
	     message = message->after)
		if (message->passed)
			numbers[n++] = message->meta.sequence;
	weir__nats_unlock(nats);
	if (numbers)
		qsort(numbers, n, sizeof(*numbers), order);
	for (i = 0; i < n; i++)
		different += i == 0 || numbers[i] != numbers[i - 1];
	free(numbers);
	return different;
}

/* The ends are given back: who takes later is told, too. */
static void finish(struct weir_operator *op)
{
	struct take_state *state = weir_operator_state(op);
	struct weir_nats_message *message;
	struct weir_error *error = NULL;
	const char *text;

	for (message = state->ends; message && !error;
	     message = message->lane) {
		text = weir_nats_message_header(message, "Weir-Error");
		error = text ? weir__nats_mark_error(text) : NULL;
	}
	(void)weir_operator_end(op, error);
	weir_error_unref(error);
}

/* There is an answer: the consumer has so many, of which we may have all. */
static int take_wake(struct weir_operator *op)
{
	const struct take_args *args = weir_operator_context(op);
	struct take_state *state = weir_operator_state(op);
	struct probe *probe = state->probe;
	uint64_t lag;
	bool answered;
	int code;

	weir__nats_lock(args->nats);
	answered = probe->answered;
	probe->answered = false;
	lag = probe->lag;
	code = probe->code;
	weir__nats_unlock(args->nats);
	if (code < 0)
		return fail_of(op, code);
	if (!answered || !all_ended(state, args->boundary))
		return 0;
	if (lag <= n_unsettled(args->nats, state->ends->origin))
		finish(op);
	else
		ask_whether_over(state, false);
	return 0;
}

static const struct weir_operator_ops take_ops = {
	.name = "nats_take",
	.state_size = sizeof(struct take_state),
	.context_size = sizeof(struct take_args),
	.open = take_open,
	.close = take_close,
	.on_push = take_push,
	.on_wake = take_wake,
};

/* --- Flows ---------------------------------------------------------------- */

static const char *wrong(const struct weir_nats_boundary *boundary)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (boundary->reserved[i] != 0)
			return "`reserved` is not zero";
	if (!boundary->name || !*boundary->name ||
	    strlen(boundary->name) >= NAME_SIZE ||
	    strpbrk(boundary->name, " \t\r\n.*>/\\"))
		return "`name` is no name of a stream";
	if (boundary->partitions > PARTITIONS_MAX)
		return "`partitions` is too large";
	if (boundary->capacity == 1 || boundary->capacity > WEIR_CAPACITY_MAX)
		return "`capacity` is out of range";
	if (boundary->from && (strlen(boundary->from) >= WEIR__NATS_FROM_SIZE ||
			       strpbrk(boundary->from, "\r\n")))
		return "`from` is too long";
	if (boundary->members > partitions_of(boundary) ||
	    boundary->member >= (boundary->members ? boundary->members : 1))
		return "`member` and `members` do not fit `partitions`";
	return NULL;
}

/* The ends are no items. */
static int without_ends(void **item, void *context)
{
	const struct weir_nats_boundary *boundary = context;

	*item = (void *)((uintptr_t)*item - partitions_of(boundary));
	return 0;
}

struct weir_flow *weir_flow_nats_give(struct weir_flow *flow,
				      struct weir_nats *nats,
				      const struct weir_nats_boundary *boundary)
{
	struct give_args args = {nats, boundary};
	const char *message = nats && boundary ? wrong(boundary) : "null";
	struct weir_nats_sink_options sink = {.subject_of = subject_of};
	struct weir_operator_ops ops = give_ops;

	if (message)
		return weir_flow_invalid(flow, "nats_give", message);
	sink.context = (void *)(uintptr_t)boundary;
	sink.window = on_way(boundary);
	sink.settle = boundary->settle;
	if (boundary->id_of)
		sink.id_of = id_of;
	ops.takes = weir_flow_bytes_items();
	flow = weir_flow_same_items(weir_flow_operator(flow, &ops, &args));
	flow = weir_flow_into_nats(flow, nats, &sink);
	return weir_flow_map(flow, without_ends, sink.context);
}

/* One partition. */
static struct weir_flow *take_one(struct weir_nats *nats,
				  const struct weir_nats_boundary *boundary,
				  uint32_t partition)
{
	struct take_args args = {nats, boundary, partition};
	struct weir_operator_ops ops = take_ops;
	char durable[24];
	struct weir_nats_source_options source = {
		.stream = boundary->name,
		.durable = durable,
		.window = boundary->window,
	};
	struct weir_flow *flow;

	(void)snprintf(durable, sizeof(durable), "p%" PRIu32, partition);
	flow = weir__nats_from_copy(nats, &source);
	ops.takes = weir_flow_bytes_items();
	return weir_flow_same_items(weir_flow_operator(flow, &ops, &args));
}

struct weir_flow *weir_flow_nats_take(struct weir_nats *nats,
				      const struct weir_nats_boundary *boundary)
{
	const char *message = nats && boundary ? wrong(boundary) : "null";
	struct weir_flow *flows[PARTITIONS_MAX];
	uint32_t i, step;
	size_t n = 0;

	if (message)
		return weir_flow_invalid(weir_flow_empty(), "nats_take",
					 message);
	step = boundary->members ? boundary->members : 1;
	for (i = boundary->member; i < partitions_of(boundary); i += step)
		flows[n++] = take_one(nats, boundary, i);
	return n == 1 ? flows[0]
		      : weir_flow_same_items(weir_flow_merge(flows, n));
}

/* --- Making --------------------------------------------------------------- */

int weir_nats_boundary_ensure_wait(struct weir_nats *nats,
				   const struct weir_nats_boundary *boundary,
				   uint64_t timeout_ns, const char **field)
{
	char subjects[NAME_SIZE + 4], durable[24], filter[NAME_SIZE + 16];
	const char *const all[] = {subjects};
	struct weir_nats_stream stream = {.subjects = all, .n_subjects = 1};
	struct weir_nats_consumer consumer = {.max_ack_pending = PENDING_MAX};
	uint32_t i;
	int rc;

	if (field)
		*field = NULL;
	if (!nats || !boundary || wrong(boundary))
		return -EINVAL;
	(void)snprintf(subjects, sizeof(subjects), "%s.*", boundary->name);
	stream.name = boundary->name;
	stream.retention = boundary->keep ? WEIR_NATS_RETENTION_LIMITS
					  : WEIR_NATS_RETENTION_WORK;
	stream.duplicates_ns = boundary->duplicates_ns;
	stream.storage = boundary->storage;
	rc = weir_nats_stream_ensure_wait(nats, &stream, timeout_ns, field);
	consumer.stream = boundary->name;
	consumer.durable = durable;
	consumer.filter = filter;
	consumer.ack_wait_ns = boundary->ack_wait_ns;
	for (i = 0; i < partitions_of(boundary) && rc == 0; i++) {
		(void)snprintf(durable, sizeof(durable), "p%" PRIu32, i);
		(void)snprintf(filter, sizeof(filter), "%s.%" PRIu32,
			       boundary->name, i);
		rc = weir_nats_consumer_ensure_wait(nats, &consumer, timeout_ns,
						    field);
	}
	return rc;
}
