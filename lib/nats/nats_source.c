/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source: an operator of a flow, and a client of the connection. libnats'
 * delivery thread puts messages into the lane and wakes the operator, if that
 * waits; the operator takes all of the lane at once, and tells of what it has
 * given on when that makes room for a request. The writer does what the
 * accounting says (pull.h), and tells the server of messages that are held.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/flow_operator.h>
#include <weir/flow_source.h>

#include "nats/boundary.h"
#include "nats/message.h"
#include "nats/nats_state.h"
#include "nats/pull.h"

#define WINDOW 256u
#define EXPIRES_NS UINT64_C(30000000000)
#define HEARTBEAT_NS UINT64_C(5000000000)
#define DRAIN_NS UINT64_C(30000000000)
#define MS_NS UINT64_C(1000000)
#define NAME_SIZE 256u
#define SUBJECT_SIZE 640u

/* What the user has said; copied with the flow. */
struct args {
	struct weir_nats *nats;
	struct weir_nats_source_options options;
	char durable[24]; /* a copy, or "" */
};

struct intake {
	struct weir__nats_client client; /* first */
	struct weir__nats_origin origin;
	struct weir__nats_pull pull;
	struct weir_operator *op;		 /* NULL: it has closed */
	struct weir_nats_message *first, **last; /* the lane */
	/* the writer's */
	struct weir__nats_inbox *inbox;
	/* `op`, held, behind its end while the run waits for us */
	struct weir_operator *held;
	bool waits; /* the operator wants to be woken */
	bool no_hold, until_settled, asked_to_end, draining;
	bool well; /* the stream has ended */
	uint64_t drain_ns, drained_at_ns, in_flight;
	/* what of the accounting's counts is in the connection's */
	struct weir__nats_pull counted;
	size_t size;
	_Alignas(uint64_t) char rest[]; /* the back-off, and names */
};

/* The operator's own; no lock. */
struct state {
	struct intake *source;
	struct weir_nats_message *first; /* taken from the lane */
	uint64_t n_given;		 /* and not told */
};

static struct intake *of(struct weir__nats_client *client)
{
	return (struct intake *)client;
}

/* --- The lock is held ----------------------------------------------------- */

/* The operator, held, if it is to be woken. */
static struct weir_operator *to_wake(struct intake *self)
{
	if (!self->waits || !self->op)
		return NULL;
	self->waits = false;
	weir_operator_hold(self->op);
	return self->op;
}

/* Not under the lock: a wake may run the operator at once. */
static void wake(struct weir_operator *op)
{
	if (!op)
		return;
	weir_operator_wake(op);
	weir_operator_unhold(op);
}

/* Nothing comes any more, or nobody wants it. */
static bool is_over(const struct intake *self)
{
	return self->pull.state == WEIR__NATS_PULL_ENDED &&
	       (self->pull.code < 0 || self->client.n_inboxes == 0);
}

static void count(struct intake *self)
{
	struct weir_nats_stats *stats = &self->client.nats->stats;
	struct weir__nats_pull *old = &self->counted, *now = &self->pull;

	stats->requests += now->n_requests - old->n_requests;
	stats->asked += now->n_asked - old->n_asked;
	stats->received += now->n_received - old->n_received;
	stats->excess += now->n_excess - old->n_excess;
	stats->expired += now->n_expired - old->n_expired;
	/* one that came late is not lost */
	stats->lost += now->n_lost - old->n_lost;
	stats->lost -= now->n_late - old->n_late;
	*old = *now;
}

/* --- What comes; libnats' delivery thread --------------------------------- */

static uint64_t token(const char **at)
{
	uint64_t value = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++)
		value = value * 10 + (uint64_t)(**at - '0');
	if (**at == '.')
		(*at)++;
	return value;
}

/* A status, on the reply subject of its request: inbox.id.n */
static void take_status(struct intake *self, uint64_t epoch, natsMsg *msg,
			const char *at)
{
	struct weir__nats_status status = {0};
	struct weir_operator *op;
	const char *value;

	status.id = token(&at);
	status.n = token(&at);
	if (natsMsgHeader_Get(msg, "Status", &value) == NATS_OK)
		status.code = (int)strtol(value, NULL, 10);
	if (natsMsgHeader_Get(msg, "Description", &value) == NATS_OK)
		status.description = value;
	if (natsMsgHeader_Get(msg, "Nats-Pending-Messages", &value) ==
	    NATS_OK) {
		status.tells = true;
		status.pending = strtoull(value, NULL, 10);
	}
	weir__nats_lock(self->client.nats);
	weir__nats_pull_status(&self->pull, epoch, &status, weir__nats_now());
	op = self->pull.code < 0 ? to_wake(self) : NULL;
	count(self);
	weir__nats_soon(&self->client);
	weir__nats_unlock(self->client.nats);
	natsMsg_Destroy(msg);
	wake(op);
}

/* Nobody gets it: it is given back, or it was given too often. */
static void refuse(struct weir_nats_message *message, bool is_poison)
{
	(void)weir__nats_message_settle(
		message, is_poison ? WEIR__NATS_DEAD : WEIR__NATS_RETRY, 0);
}

static struct weir_operator *put(struct intake *self,
				 struct weir_nats_message *message)
{
	message->lane = NULL;
	*self->last = message;
	self->last = &message->lane;
	return to_wake(self);
}

static void take_message(struct intake *self, uint64_t epoch, natsMsg *msg)
{
	struct weir_nats *nats = self->client.nats;
	struct weir_nats_message *message;
	struct weir_operator *op = NULL;
	uint64_t now_ns = weir__nats_now();
	bool accepted, is_poison, given;

	message = weir__nats_message_new(&self->origin, msg);
	weir__nats_lock(nats);
	accepted = weir__nats_pull_message(&self->pull, epoch, now_ns);
	count(self);
	is_poison = message && self->origin.max_deliver > 0 &&
		    message->meta.deliveries >
			    (uint64_t)self->origin.max_deliver;
	given = accepted && message && !is_poison && self->op;
	if (message) {
		message->counted = accepted && self->until_settled;
		nats->stats.redelivered += message->meta.deliveries > 1;
		weir__nats_message_open(message, now_ns, given);
	} else {
		nats->stats.dropped++;
	}
	if (given) {
		op = put(self, message);
	} else if (accepted && !(message && message->counted)) {
		weir__nats_pull_taken(&self->pull, 1);
		weir__nats_soon(&self->client);
	}
	if (message && !given)
		refuse(message, is_poison);
	weir__nats_unlock(nats);
	if (message && !given)
		weir_flow_bytes_unref(&message->bytes);
	wake(op);
}

static void take(struct weir__nats_inbox *inbox, natsMsg *msg, const char *rest)
{
	if (rest)
		take_status(of(inbox->client), inbox->epoch, msg, rest);
	else
		take_message(of(inbox->client), inbox->epoch, msg);
}

/* --- Steps of the accounting; the writer, without the lock ---------------- */

/* What a look at the consumer says. */
struct verdict {
	int code;
	const char *message;
	uint64_t ack_wait_ns;
};

static struct verdict judge_config(const struct intake *self,
				   const jsConsumerConfig *config)
{
	int64_t needs = (int64_t)(self->pull.window + self->in_flight);
	int64_t ack_wait_ns = config->BackOffLen > 0 ? config->BackOff[0]
						     : config->AckWait;

	if (config->DeliverSubject && *config->DeliverSubject)
		return (struct verdict){-EPROTOTYPE,
					"the consumer is push based", 0};
	if (config->AckPolicy !=
	    (self->origin.no_acks ? js_AckNone : js_AckExplicit))
		return (struct verdict){-EINVAL,
					"the consumer's `acks` are others", 0};
	if (!self->origin.no_acks && config->MaxAckPending > 0 &&
	    config->MaxAckPending < needs)
		return (struct verdict){-EINVAL,
					"max_ack_pending of the consumer is "
					"below window and in_flight",
					0};
	if (self->origin.max_deliver > 0 && config->MaxDeliver > 0 &&
	    config->MaxDeliver <= self->origin.max_deliver)
		return (struct verdict){-EINVAL,
					"max_deliver of the consumer is not "
					"above that of the source",
					0};
	if (config->MaxRequestBatch > 0 &&
	    config->MaxRequestBatch < (int64_t)self->pull.window)
		return (struct verdict){
			-EINVAL,
			"the consumer's requests may not be as large as window",
			0};
	return (struct verdict){0, NULL, (uint64_t)ack_wait_ns};
}

static struct verdict look(const struct intake *self, uint64_t wait_ns)
{
	struct weir_nats *nats = self->client.nats;
	struct verdict verdict;
	jsConsumerInfo *info = NULL;
	jsOptions options;
	jsErrCode code = 0;
	natsStatus s;

	s = jsOptions_Init(&options);
	options.Wait = (int64_t)(wait_ns / MS_NS);
	if (s == NATS_OK)
		s = js_GetConsumerInfo(&info, nats->js, self->origin.stream,
				       self->origin.durable, &options, &code);
	if (s == NATS_NOT_FOUND || code == JSStreamNotFoundErr)
		return (struct verdict){-ENOENT,
					code == JSStreamNotFoundErr
						? "there is no such stream"
						: "there is no such consumer",
					0};
	if (s == NATS_NOT_PERMITTED)
		return (struct verdict){-EACCES, "the server refuses", 0};
	if (s != NATS_OK)
		return (struct verdict){-EAGAIN, NULL, 0};
	verdict = judge_config(self, info->Config);
	jsConsumerInfo_Destroy(info);
	return verdict;
}

static bool request(struct intake *self, uint64_t id, uint64_t n)
{
	char subject[SUBJECT_SIZE], reply[sizeof(self->inbox->name) + 48];
	char text[160];
	natsStatus s;

	(void)snprintf(subject, sizeof(subject),
		       "$JS.API.CONSUMER.MSG.NEXT.%s.%s", self->origin.stream,
		       self->origin.durable);
	(void)snprintf(reply, sizeof(reply), "%s.%" PRIu64 ".%" PRIu64,
		       self->inbox->name, id, n);
	(void)snprintf(text, sizeof(text),
		       "{\"batch\":%" PRIu64 ",\"expires\":%" PRIu64
		       ",\"idle_heartbeat\":%" PRIu64 "}",
		       n, self->pull.expires_ns, self->pull.heartbeat_ns);
	s = natsConnection_PublishRequestString(self->client.nats->connection,
						subject, reply, text);
	return s == NATS_OK;
}

/* --- The writer; the lock is held ----------------------------------------- */

static void check(struct intake *self, uint64_t wait_ns)
{
	struct weir_nats *nats = self->client.nats;
	struct verdict verdict;

	weir__nats_unlock(nats);
	verdict = look(self, wait_ns);
	weir__nats_lock(nats);
	if (verdict.code == 0)
		self->origin.ack_wait_ns = self->no_hold ? 0
							 : verdict.ack_wait_ns;
	weir__nats_pull_checked(&self->pull, verdict.code, verdict.message,
				weir__nats_now());
}

/* False: there is nothing to do. */
static bool step(struct intake *self)
{
	struct weir_nats *nats = self->client.nats;
	struct weir__nats_todo todo =
		weir__nats_pull_next(&self->pull, weir__nats_now());
	bool connected = weir__nats_connected(nats), sent;
	int rc;

	switch (todo.step) {
	case WEIR__NATS_STEP_CHECK:
		check(self, todo.wait_ns);
		return true;
	case WEIR__NATS_STEP_OPEN:
		weir__nats_unlock(nats);
		rc = weir__nats_inbox_open(&self->inbox, &self->client,
					   todo.epoch, take);
		weir__nats_lock(nats);
		weir__nats_pull_opened(&self->pull, rc, weir__nats_now());
		return true;
	case WEIR__NATS_STEP_CLOSE:
		weir__nats_unlock(nats);
		weir__nats_inbox_close(self->inbox, connected);
		weir__nats_lock(nats);
		weir__nats_pull_closed(&self->pull);
		return true;
	case WEIR__NATS_STEP_REQUEST:
		weir__nats_unlock(nats);
		sent = request(self, todo.id, todo.n);
		weir__nats_lock(nats);
		if (!sent)
			weir__nats_pull_unsent(&self->pull, todo.n,
					       weir__nats_now());
		return true;
	default:
		return false;
	}
}

/* The operator, if the run need not wait for us any more. */
static struct weir_operator *to_release(struct intake *self)
{
	struct weir_operator *held = self->held;

	if (self->op || !held ||
	    (self->origin.n_unsettled > 0 &&
	     weir__nats_now() < self->drained_at_ns))
		return NULL;
	self->held = NULL;
	return held;
}

static uint64_t work(struct weir__nats_client *client, uint64_t now_ns)
{
	struct intake *self = of(client);
	struct weir_operator *op = NULL, *held;
	uint64_t due_ns, hold_ns;

	weir__nats_pull_taken(&self->pull, self->origin.n_told);
	self->origin.n_told = 0;
	while (step(self))
		;
	count(self);
	hold_ns = weir__nats_origin_hold(&self->origin, weir__nats_now());
	if (is_over(self))
		op = to_wake(self);
	held = to_release(self);
	due_ns = weir__nats_pull_due(&self->pull);
	if (hold_ns < due_ns)
		due_ns = hold_ns;
	if (self->held && !self->op && self->drained_at_ns < due_ns)
		due_ns = self->drained_at_ns;
	if (op || held) {
		weir__nats_unlock(client->nats);
		wake(op);
		if (held)
			weir_operator_unhold(held);
		weir__nats_lock(client->nats);
	}
	return due_ns;
}

static void connection(struct weir__nats_client *client, bool connected)
{
	struct intake *self = of(client);

	if (connected)
		weir__nats_pull_connected(&self->pull);
	else
		weir__nats_pull_disconnected(&self->pull);
	if (client->nats->state == WEIR_NATS_STATE_CLOSED)
		weir__nats_pull_fail(&self->pull, -ENOTCONN,
				     "the connection has given up");
}

/* The lock is held: no more is asked for. */
static void begin_drain(struct intake *self)
{
	uint64_t now_ns = weir__nats_now();

	if (self->draining)
		return;
	self->draining = true;
	self->drained_at_ns = self->drain_ns < UINT64_MAX - now_ns
				      ? now_ns + self->drain_ns
				      : UINT64_MAX;
	weir__nats_pull_end(&self->pull);
	weir__nats_soon(&self->client);
}

static struct weir_operator *end(struct weir__nats_client *client)
{
	struct intake *self = of(client);

	if (!self->op || self->asked_to_end)
		return NULL;
	self->asked_to_end = true;
	begin_drain(self);
	weir_operator_hold(self->op);
	return self->op;
}

static void source_free(struct weir__nats_client *client)
{
	const struct weir_allocator *allocator = client->nats->allocator;

	allocator->free(client, of(client)->size, allocator->context);
}

static const struct weir__nats_client_ops client_ops = {
	.connection = connection,
	.work = work,
	.end = end,
	.free = source_free,
};

/* --- The operator --------------------------------------------------------- */

static void tell_given(struct intake *self, struct state *state)
{
	if (state->n_given == 0)
		return;
	weir__nats_pull_taken(&self->pull, state->n_given);
	state->n_given = 0;
	weir__nats_soon(&self->client);
}

/* Takes what has come. Returns whether nothing comes any more. */
static bool fetch(struct intake *self, struct state *state)
{
	bool over;

	weir__nats_lock(self->client.nats);
	tell_given(self, state);
	state->first = self->first;
	self->first = NULL;
	self->last = &self->first;
	if (!self->pull.wanted) {
		weir__nats_pull_begin(&self->pull);
		weir__nats_soon(&self->client);
	}
	over = !state->first && is_over(self);
	self->waits = !state->first && !over;
	weir__nats_unlock(self->client.nats);
	return over;
}

static void finish(struct weir_operator *op)
{
	struct intake *self = ((struct state *)weir_operator_state(op))->source;

	if (self->pull.code < 0) {
		(void)weir_operator_fail(op, self->pull.code,
					 self->pull.message);
	} else {
		self->well = true;
		(void)weir_operator_end(op, NULL);
	}
}

static int give(struct weir_operator *op)
{
	struct state *state = weir_operator_state(op);
	struct intake *self = state->source;
	struct weir_nats_message *message;
	int rc;

	if (!state->first && fetch(self, state)) {
		finish(op);
		return 0;
	}
	message = state->first;
	if (!message || !weir_operator_wanted(op))
		return 0;
	state->first = message->lane;
	/* it may be anybody's from then on */
	rc = weir_operator_push(op, message);
	if (rc < 0) {
		message->lane = state->first;
		state->first = message;
		return 0;
	}
	if (!self->until_settled && ++state->n_given >= self->pull.refill) {
		weir__nats_lock(self->client.nats);
		tell_given(self, state);
		weir__nats_unlock(self->client.nats);
	}
	return 0;
}

/* The run is drained: it waits for what is unsettled. */
static int drain(struct weir_operator *op)
{
	struct state *state = weir_operator_state(op);
	struct intake *self = state->source;
	bool over;

	weir__nats_lock(self->client.nats);
	begin_drain(self);
	over = !state->first && !self->first && is_over(self);
	self->waits = !over;
	weir__nats_unlock(self->client.nats);
	if (over)
		finish(op);
	return 0;
}

static int on_end(struct weir_operator *op, struct weir_error *error)
{
	return drain(op);
}

static int on_wake(struct weir_operator *op)
{
	struct intake *self = ((struct state *)weir_operator_state(op))->source;
	bool drains;

	weir__nats_lock(self->client.nats);
	drains = self->asked_to_end || self->draining ||
		 self->pull.state == WEIR__NATS_PULL_ENDED;
	weir__nats_unlock(self->client.nats);
	if (weir_operator_wanted(op))
		return give(op);
	return drains ? drain(op) : 0;
}

/* --- Runs ----------------------------------------------------------------- */

static const struct args *args_of(struct weir_operator *op)
{
	return weir_operator_context(op);
}

/* Copies behind the struct; messages may outlive the flow. */
static const char *copy_name(char **to, const char *name)
{
	char *copy = *to;

	if (!name)
		return NULL;
	memcpy(copy, name, strlen(name) + 1);
	*to += strlen(name) + 1;
	return copy;
}

static size_t length(const char *name)
{
	return name ? strlen(name) + 1 : 0;
}

static void set_up(struct intake *self,
		   const struct weir_nats_source_options *options)
{
	struct weir__nats_origin *origin = &self->origin;
	uint64_t *backoff = (uint64_t *)(void *)self->rest;
	char *names = (char *)(backoff + options->n_backoff);
	uint64_t beat_ns = options->expires_ns / 3;

	weir__nats_origin_init(origin, &self->client);
	if (options->n_backoff > 0)
		memcpy(backoff, options->backoff,
		       options->n_backoff * sizeof(*backoff));
	origin->backoff = backoff;
	origin->n_backoff = options->n_backoff;
	origin->stream = copy_name(&names, options->stream);
	origin->durable = copy_name(&names, options->durable);
	origin->dead_subject = copy_name(&names, options->dead_subject);
	origin->max_deliver = options->max_deliver;
	origin->no_acks = options->acks == WEIR_NATS_ACKS_NONE;
	weir__nats_pull_init(&self->pull, options->window, options->refill,
			     options->expires_ns,
			     beat_ns < HEARTBEAT_NS ? beat_ns : HEARTBEAT_NS);
	self->counted = self->pull;
	self->last = &self->first;
	self->drain_ns = options->drain_ns;
	self->in_flight = options->in_flight;
	self->no_hold = options->no_hold;
	self->until_settled = options->until_settled;
}

static int open(struct weir_operator *op)
{
	const struct args *args = args_of(op);
	struct weir_nats_source_options own = args->options;
	const struct weir_nats_source_options *options = &own;
	struct state *state = weir_operator_state(op);
	struct weir_nats *nats = args->nats;
	struct intake *self;
	size_t size;

	if (args->durable[0])
		own.durable = args->durable;
	size = sizeof(*self) + options->n_backoff * sizeof(uint64_t) +
	       length(options->stream) + length(options->durable) +
	       length(options->dead_subject);
	self = nats->allocator->alloc(size, nats->allocator->context);
	if (!self)
		return -ENOMEM;
	memset(self, 0, size);
	self->size = size;
	set_up(self, options);
	weir_operator_hold(op);
	self->op = self->held = op;
	state->source = self;
	weir__nats_lock(nats);
	weir__nats_add(nats, &self->client, &client_ops);
	nats->n_runs++;
	if (weir__nats_connected(nats) || nats->state == WEIR_NATS_STATE_CLOSED)
		connection(&self->client, weir__nats_connected(nats));
	weir__nats_unlock(nats);
	return 0;
}

/* With the lock: they go back, and nobody has seen them. */
static void give_back(struct weir_nats_message *list)
{
	for (; list; list = list->lane)
		refuse(list, false);
}

static void drop(struct weir_nats_message *list)
{
	struct weir_nats_message *next;

	for (; list; list = next) {
		next = list->lane;
		weir_flow_bytes_unref(&list->bytes);
	}
}

static void close(struct weir_operator *op)
{
	struct state *state = weir_operator_state(op);
	struct intake *self = state->source;
	struct weir_nats *nats = self->client.nats;
	struct weir_nats_message *lane;
	bool waits;

	weir__nats_lock(nats);
	lane = self->first;
	self->first = NULL;
	self->last = &self->first;
	give_back(state->first);
	give_back(lane);
	weir__nats_pull_end(&self->pull);
	self->op = NULL;
	/* a run that was drained is over when all is settled */
	waits = self->well && self->draining && self->origin.n_unsettled > 0;
	self->origin.draining = waits;
	if (!waits)
		self->held = NULL;
	nats->n_runs--;
	weir__nats_soon(&self->client);
	weir__nats_moved(nats);
	weir__nats_unlock(nats);
	drop(state->first);
	drop(lane);
	weir__nats_lock(nats);
	weir__nats_unref(&self->client);
	weir__nats_unlock(nats);
	if (!waits)
		weir_operator_unhold(op);
}

static const struct weir_operator_ops ops = {
	.name = "from_nats",
	.state_size = sizeof(struct state),
	.context_size = sizeof(struct args),
	.open = open,
	.close = close,
	.on_pull = give,
	.on_end = on_end,
	.on_wake = on_wake,
};

/* --- The flow ------------------------------------------------------------- */

/* Of a stream or a consumer: a token of a subject. */
static bool is_name(const char *name)
{
	return name && *name && strlen(name) < NAME_SIZE &&
	       !strpbrk(name, " \t\r\n.*>/\\");
}

static const char *wrong(const struct weir_nats_source_options *options)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (options->reserved[i] != 0)
			return "`reserved` is not zero";
	if (!is_name(options->stream))
		return "`stream` is no name of a stream";
	if (!is_name(options->durable))
		return "`durable` is no name of a consumer";
	if (options->window > WEIR_CAPACITY_MAX ||
	    options->in_flight > WEIR_CAPACITY_MAX)
		return "`window` or `in_flight` is too large";
	if (options->refill > (options->window ? options->window : WINDOW))
		return "`refill` is above `window`";
	if (options->expires_ns > 0 && options->expires_ns < WEIR__NATS_SECOND)
		return "`expires_ns` is below a second";
	if (options->max_deliver < 0)
		return "`max_deliver` is negative";
	if (!options->backoff != !options->n_backoff)
		return "`backoff` and `n_backoff` do not fit";
	if ((unsigned)options->acks > WEIR_NATS_ACKS_NONE)
		return "no such `acks`";
	if (options->acks == WEIR_NATS_ACKS_NONE &&
	    (options->until_settled || options->backoff ||
	     options->max_deliver > 0 || options->dead_subject))
		return "without `acks` nothing is given again";
	return NULL;
}

static void set_defaults(struct weir_nats_source_options *options)
{
	if (!options->window)
		options->window = WINDOW;
	if (!options->refill)
		options->refill = options->until_settled
					  ? (options->window + 15) / 16
					  : (options->window + 1) / 2;
	if (options->until_settled)
		options->in_flight = 0;
	else if (!options->in_flight)
		options->in_flight = options->window;
	if (!options->expires_ns)
		options->expires_ns = EXPIRES_NS;
	if (!options->drain_ns)
		options->drain_ns = DRAIN_NS;
}

/* With the name of the consumer borrowed, or copied. */
static struct weir_flow *from(struct weir_nats *nats,
			      const struct weir_nats_source_options *options,
			      const char *durable)
{
	struct args args = {.nats = nats};
	const char *message;

	message = nats && options ? wrong(options) : "null";
	if (message)
		return weir_flow_invalid(weir_flow_empty(), "from_nats",
					 message);
	args.options = *options;
	set_defaults(&args.options);
	(void)snprintf(args.durable, sizeof(args.durable), "%s", durable);
	return weir_flow_items(weir_flow_operator_source(&ops, &args),
			       weir_flow_bytes_items());
}

struct weir_flow *weir_flow_from_nats(
	struct weir_nats *nats, const struct weir_nats_source_options *options)
{
	return from(nats, options, "");
}

struct weir_flow *weir__nats_from_copy(
	struct weir_nats *nats, const struct weir_nats_source_options *options)
{
	return from(nats, options, options->durable);
}

/* --- Done ------------------------------------------------------------------ */

static int on_push(struct weir_operator *op, void *item)
{
	int rc;

	/* the item is downstream's when it is pushed */
	(void)weir_nats_message_done(weir_nats_message_of(item));
	rc = weir_operator_push(op, item);
	if (rc < 0)
		weir_operator_drop(op, item);
	return 0;
}

struct weir_flow *weir_flow_nats_done(struct weir_flow *flow)
{
	const struct weir_operator_ops done = {
		.name = "nats_done",
		.on_push = on_push,
		.takes = weir_flow_bytes_items(),
	};

	return weir_flow_same_items(weir_flow_operator(flow, &done, NULL));
}
