/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink: an operator of a flow, and a client of the connection. The operator
 * puts parcels into a ring, and the writer publishes them as the accounting says
 * (push.h). The server's answers come to an inbox, on subjects that end in the
 * parcel's number.
 *
 * An *origin* is a message of which parcels are made: it is done when all of
 * these are stored.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/flow_element.h>
#include <weir/flow_operator.h>

#include "nats/mark.h"
#include "nats/message.h"
#include "nats/nats_state.h"
#include "nats/push.h"

#define WINDOW 256u
#define TIMEOUT_NS UINT64_C(30000000000)
#define TEXT_SIZE 256u
#define AT_ONCE 64u

struct sink_args {
	struct weir_nats *nats;
	struct weir_nats_sink_options options;
	int (*make)(struct weir_nats_message *message, uint64_t i,
		    struct weir_flow_bytes **out, void *context);
	void *context;
};

/* A message, and how many of its parcels are not stored. */
struct cause {
	struct weir_nats_message *message; /* NULL: none */
	uint64_t n;
	bool whole; /* no more is made of it */
};

struct parcel {
	struct weir_flow_bytes *bytes;
	struct cause *cause; /* or NULL */
	char *text;	     /* subject, id, each with its NUL */
	size_t size;
};

struct dispatch {
	struct weir__nats_client client; /* first */
	struct weir__nats_push push;
	struct weir_operator *op; /* NULL: it has closed */
	/* the operator wants to be woken when there is room for so many */
	uint64_t needs; /* 0: it does not */
	struct weir__nats_inbox *inbox;
	bool told; /* the operator knows that it has failed */
	uint64_t n_stored, n_resent;
	size_t size, next_cause;
	struct parcel *parcels;
	struct cause *causes; /* `window` + 1 of them */
	char why[120];	      /* of a refusal */
	char name[64];	      /* of ids */
};

/* The operator's own; no lock. */
struct sink_state {
	struct dispatch *dispatch;
	struct weir_nats_message *message; /* of which parcels are made */
	struct cause *cause;
	uint64_t i, n_ids;
	uint64_t room; /* at least, as only this thread puts */
	bool pulled, ended;
	struct weir_error *error;
};

static struct dispatch *of(struct weir__nats_client *client)
{
	return (struct dispatch *)client;
}

static const struct sink_args *args_of(struct weir_operator *op)
{
	return weir_operator_context(op);
}

/* The lock is held: the operator, held, or NULL when it has closed. Its run is not
 * over before this thread has let go of what it holds of the run. */
static struct weir_operator *hold(struct dispatch *self)
{
	if (self->op)
		weir_operator_hold(self->op);
	return self->op;
}

static void unhold(struct weir_operator *op)
{
	if (op)
		weir_operator_unhold(op);
}

/* The lock is held: the operator is to be woken, which is told once. */
static bool is_due(struct dispatch *self)
{
	bool is = self->push.code < 0 ||
		  (self->needs > 0 &&
		   weir__nats_push_room(&self->push) >= self->needs);

	if (is)
		self->needs = 0;
	return is;
}

static struct parcel *parcel_of(struct dispatch *self, uint64_t number)
{
	return &self->parcels[number % self->push.window];
}

/* --- Answers; libnats' delivery thread ------------------------------------ */

/* The lock is held. Returns the message, if nobody needs it any more. */
static struct weir_nats_message *finish_cause(struct cause *cause)
{
	struct weir_nats_message *message = cause->message;

	if (cause->n > 0 || !cause->whole)
		return NULL;
	(void)weir__nats_message_settle(message, WEIR__NATS_DONE, 0);
	cause->message = NULL;
	return message;
}

static void drop_message(struct weir_nats_message *message)
{
	if (message)
		weir_flow_bytes_unref(&message->bytes);
}

static void stored(struct dispatch *self, uint64_t number, bool duplicate)
{
	struct weir_nats *nats = self->client.nats;
	struct weir_nats_message *message = NULL;
	struct weir_flow_bytes *bytes = NULL;
	struct weir_operator *op;
	uint64_t now_ns = weir__nats_now();
	struct parcel *parcel;
	bool wakes = false;

	weir__nats_lock(nats);
	op = hold(self);
	if (op && weir__nats_push_stored(&self->push, number, now_ns)) {
		parcel = parcel_of(self, number);
		bytes = parcel->bytes;
		parcel->bytes = NULL;
		self->n_stored++;
		nats->stats.published++;
		nats->stats.duplicate += duplicate;
		if (parcel->cause) {
			parcel->cause->n--;
			message = finish_cause(parcel->cause);
		}
		wakes = is_due(self);
		/* others have waited for it */
		if (weir__nats_push_due(&self->push) <= now_ns)
			weir__nats_soon(&self->client);
	}
	weir__nats_unlock(nats);
	weir_flow_bytes_unref(bytes);
	drop_message(message);
	if (wakes)
		weir_operator_wake(op);
	unhold(op);
}

static int code_of(long code)
{
	switch (code) {
	case 10047: /* insufficient resources */
	case 10077: /* it could not be stored */
		return -ENOSPC;
	case 10054: /* message size exceeds the maximum */
		return -EMSGSIZE;
	default:
		return -EINVAL;
	}
}

/* {"error":{...,"err_code":N,"description":"..."},...} */
static void failed(struct dispatch *self, const char *text)
{
	const char *code = strstr(text, "\"err_code\":");
	const char *why = strstr(text, "\"description\":\"");

	weir__nats_lock(self->client.nats);
	if (self->push.code == 0) {
		why = why ? why + strlen("\"description\":\"") : "refused\"";
		(void)snprintf(self->why, sizeof(self->why), "%.*s",
			       (int)strcspn(why, "\""), why);
		weir__nats_push_fail(
			&self->push,
			code_of(code ? strtol(code + strlen("\"err_code\":"),
					      NULL, 10)
				     : 0),
			self->why);
	}
	weir__nats_soon(&self->client);
	weir__nats_unlock(self->client.nats);
}

static void refused(struct dispatch *self, uint64_t number)
{
	weir__nats_lock(self->client.nats);
	weir__nats_push_refused(&self->push, number, weir__nats_now());
	weir__nats_soon(&self->client);
	weir__nats_unlock(self->client.nats);
}

/* {"stream":"S","seq":1,"duplicate":true}, with or without spaces. */
static bool says_duplicate(const char *text)
{
	const char *at = strstr(text, "\"duplicate\":");

	return at && strncmp(at + strlen("\"duplicate\":") +
				     strspn(at + strlen("\"duplicate\":"), " "),
			     "true", 4) == 0;
}

static void take(struct weir__nats_inbox *inbox, natsMsg *msg, const char *rest)
{
	struct dispatch *self = of(inbox->client);
	/* libnats puts a NUL behind it */
	const char *text = natsMsg_GetData(msg);

	text = text ? text : "";
	if (!rest)
		;
	else if (natsMsg_IsNoResponders(msg))
		refused(self, strtoull(rest, NULL, 10));
	else if (strstr(text, "\"error\":{"))
		failed(self, text);
	else if (strstr(text, "\"stream\":"))
		stored(self, strtoull(rest, NULL, 10), says_duplicate(text));
	natsMsg_Destroy(msg);
}

/* --- Publishing; the writer ----------------------------------------------- */

static natsStatus publish(struct dispatch *self, uint64_t number,
			  const struct weir_flow_bytes *bytes,
			  const char *subject, const char *id)
{
	char reply[sizeof(self->inbox->name) + 24];
	natsMsg *msg = NULL;
	natsStatus s;

	(void)weir__nats_join(reply, sizeof(reply), self->inbox->name, number);
	s = natsMsg_Create(&msg, subject, reply, bytes->data, (int)bytes->n);
	if (s == NATS_OK)
		s = natsMsgHeader_Set(msg, "Nats-Msg-Id", id);
	if (s == NATS_OK)
		s = weir__nats_mark_headers(bytes, msg);
	if (s == NATS_OK)
		s = natsConnection_PublishMsg(self->client.nats->connection,
					      msg);
	natsMsg_Destroy(msg);
	return s;
}

/* The lock is held, and let go of. The operator has not closed. */
static void send(struct dispatch *self, uint64_t number)
{
	struct parcel *parcel = parcel_of(self, number);
	struct weir_nats *nats = self->client.nats;
	struct weir_flow_bytes *bytes = weir_flow_bytes_ref(parcel->bytes);
	struct weir_operator *op = hold(self);
	char text[2 * TEXT_SIZE];
	natsStatus s;

	/* the place may be another one's meanwhile */
	memcpy(text, parcel->text, parcel->size);
	weir__nats_unlock(nats);
	s = publish(self, number, bytes, text, text + strlen(text) + 1);
	weir_flow_bytes_unref(bytes);
	unhold(op);
	weir__nats_lock(nats);
	if (s == NATS_MAX_PAYLOAD)
		weir__nats_push_fail(&self->push, -EMSGSIZE,
				     "larger than the server takes");
	else if (s == NATS_INVALID_SUBJECT)
		weir__nats_push_fail(&self->push, -EINVAL,
				     "this is no subject");
	else if (s != NATS_OK)
		weir__nats_push_unsent(&self->push, number, weir__nats_now());
}

/* False: there is none. */
static bool have_inbox(struct dispatch *self, bool connected)
{
	struct weir__nats_inbox *inbox = NULL;

	if (self->inbox || !connected || !self->op)
		return self->inbox && self->op;
	weir__nats_unlock(self->client.nats);
	(void)weir__nats_inbox_open(&inbox, &self->client, 0, take);
	weir__nats_lock(self->client.nats);
	self->inbox = inbox;
	return inbox && self->op;
}

static void close_inbox(struct dispatch *self, bool connected)
{
	struct weir__nats_inbox *inbox = self->inbox;

	if (!inbox)
		return;
	self->inbox = NULL;
	weir__nats_unlock(self->client.nats);
	weir__nats_inbox_close(inbox, connected);
	weir__nats_lock(self->client.nats);
}

static uint64_t work(struct weir__nats_client *client, uint64_t now_ns)
{
	struct dispatch *self = of(client);
	struct weir_nats *nats = client->nats;
	bool connected = weir__nats_connected(nats);
	struct weir_operator *op;
	uint64_t number;
	int i;

	if (!self->op) {
		close_inbox(self, connected);
		return UINT64_MAX;
	}
	if (!have_inbox(self, connected))
		return connected && self->op ? now_ns + WEIR__NATS_RETRY_NS
					     : UINT64_MAX;
	for (i = 0;
	     i < (int)AT_ONCE && self->op &&
	     weir__nats_push_next(&self->push, weir__nats_now(), &number);
	     i++)
		send(self, number);
	nats->stats.resent += self->push.n_resent - self->n_resent;
	self->n_resent = self->push.n_resent;
	/* others want to write, too */
	if (i == (int)AT_ONCE)
		weir__nats_soon(client);
	/* it has failed here, or was told so */
	op = self->push.code < 0 && !self->told ? hold(self) : NULL;
	self->told = self->told || op;
	if (op) {
		weir__nats_unlock(nats);
		weir_operator_wake(op);
		weir_operator_unhold(op);
		weir__nats_lock(nats);
	}
	if (!self->op)
		weir__nats_soon(client);
	return weir__nats_push_due(&self->push);
}

static void connection(struct weir__nats_client *client, bool connected)
{
	struct dispatch *self = of(client);

	if (connected)
		weir__nats_push_connected(&self->push, weir__nats_now());
	else
		weir__nats_push_disconnected(&self->push);
	if (client->nats->state == WEIR_NATS_STATE_CLOSED)
		weir__nats_push_fail(&self->push, -ENOTCONN,
				     "the connection has given up");
}

/* A sink ends when its upstream does. */
static struct weir_operator *end(struct weir__nats_client *client)
{
	return NULL;
}

static void dispatch_free(struct weir__nats_client *client)
{
	const struct weir_allocator *allocator = client->nats->allocator;
	struct dispatch *self = of(client);
	uint64_t i;

	for (i = 0; i < self->push.window; i++)
		if (self->parcels[i].text)
			allocator->free(self->parcels[i].text, 2 * TEXT_SIZE,
					allocator->context);
	allocator->free(self, self->size, allocator->context);
}

static const struct weir__nats_client_ops client_ops = {
	.connection = connection,
	.work = work,
	.end = end,
	.free = dispatch_free,
};

/* --- Putting parcels; the operator ---------------------------------------- */

/* Writes a text with its NUL. */
static int write_subject(const struct sink_args *args,
			 struct weir_flow_bytes *bytes, char *to)
{
	const struct weir_nats_sink_options *options = &args->options;

	if (options->subject_of)
		return options->subject_of(bytes, to, TEXT_SIZE,
					   options->context);
	memcpy(to, options->subject, strlen(options->subject) + 1);
	return 0;
}

static int write_id(struct weir_operator *op, struct weir_flow_bytes *bytes,
		    char *to)
{
	const struct weir_nats_sink_options *options = &args_of(op)->options;
	struct sink_state *state = weir_operator_state(op);
	struct weir_nats_message *message;
	size_t n;

	if (args_of(op)->make) {
		message = state->message;
		n = weir__nats_join(to, TEXT_SIZE, message->origin->stream,
				    message->meta.sequence);
		(void)weir__nats_join(to + n, TEXT_SIZE - n, "", state->i);
		return 0;
	}
	if (options->id_of)
		return options->id_of(bytes, to, TEXT_SIZE, options->context);
	message = weir_nats_message_of(bytes);
	/* several views of one message have no id of their own */
	if (message && &message->bytes == bytes)
		(void)weir__nats_join(to, TEXT_SIZE, message->origin->stream,
				      message->meta.sequence);
	else
		(void)weir__nats_join(to, TEXT_SIZE, state->dispatch->name,
				      state->n_ids++);
	return 0;
}

/* Its place is free, and nobody else's: only this thread puts. */
static int address(struct weir_operator *op, struct weir_flow_bytes *bytes,
		   struct parcel *parcel)
{
	const struct weir_allocator *allocator = args_of(op)->nats->allocator;
	size_t n;
	int rc;

	if (!parcel->text)
		parcel->text =
			allocator->alloc(2 * TEXT_SIZE, allocator->context);
	if (!parcel->text)
		return -ENOMEM;
	rc = write_subject(args_of(op), bytes, parcel->text);
	if (rc < 0)
		return rc;
	n = strnlen(parcel->text, TEXT_SIZE);
	if (n == 0 || n == TEXT_SIZE)
		return -EINVAL;
	rc = write_id(op, bytes, parcel->text + n + 1);
	if (rc < 0)
		return rc;
	parcel->size = n + strnlen(parcel->text + n + 1, TEXT_SIZE) + 2;
	return parcel->size <= n + TEXT_SIZE + 1 ? 0 : -EINVAL;
}

/* 0, and the bytes are ours; or a negative errno. There is room. */
static int put(struct weir_operator *op, struct weir_flow_bytes *bytes,
	       struct cause *cause)
{
	struct dispatch *self =
		((struct sink_state *)weir_operator_state(op))->dispatch;
	struct weir_nats *nats = self->client.nats;
	struct parcel *parcel = parcel_of(self, self->push.last);
	int rc = address(op, bytes, parcel);

	if (rc < 0)
		return rc;
	weir__nats_lock(nats);
	parcel->bytes = bytes;
	parcel->cause = cause;
	if (cause)
		cause->n++;
	(void)weir__nats_push_put(&self->push, weir__nats_now());
	weir__nats_soon(&self->client);
	weir__nats_unlock(nats);
	return 0;
}

/* A free one; there is: each that is not free has a parcel, but for one. */
static struct cause *cause_new(struct dispatch *self,
			       struct weir_nats_message *message)
{
	size_t n = self->push.window + 1;
	struct cause *cause;

	weir__nats_lock(self->client.nats);
	do
		cause = &self->causes[self->next_cause++ % n];
	while (cause->message);
	*cause = (struct cause){.message = message};
	weir__nats_unlock(self->client.nats);
	return cause;
}

/* No more is made of it. */
static void cause_end(struct dispatch *self, struct cause *cause)
{
	struct weir_nats_message *message;

	weir__nats_lock(self->client.nats);
	cause->whole = true;
	message = finish_cause(cause);
	weir__nats_unlock(self->client.nats);
	drop_message(message);
}

/* One parcel of the message, or the stream fails. There is room. */
static void make_one(struct weir_operator *op)
{
	const struct sink_args *args = args_of(op);
	struct sink_state *state = weir_operator_state(op);
	struct dispatch *self = state->dispatch;
	struct weir_flow_bytes *out = NULL;
	int rc, more;

	more = args->make(state->message, state->i, &out, args->context);
	rc = more < 0					   ? more
	     : more > WEIR_NEXT_LAST || (more > 0 && !out) ? -EINVAL
							   : 0;
	if (rc == 0 && more > 0)
		rc = put(op, out, state->cause);
	if (rc < 0) {
		weir_flow_bytes_unref(more > 0 ? out : NULL);
		weir__nats_lock(self->client.nats);
		weir__nats_push_fail(&self->push, rc, "no message is made");
		weir__nats_unlock(self->client.nats);
		return;
	}
	state->i++;
	if (more != 1) {
		cause_end(self, state->cause);
		state->message = NULL;
		state->cause = NULL;
	}
}

/* What the accounting says. */
struct look {
	uint64_t room;
	bool empty;
	int code;
};

static struct look look(struct dispatch *self, bool ended)
{
	uint64_t window = self->push.window;
	struct look look;

	weir__nats_lock(self->client.nats);
	look = (struct look){
		.room = weir__nats_push_room(&self->push),
		.empty = self->push.first == self->push.last,
		.code = self->push.code,
	};
	/* some at once, or the end */
	self->needs = 0;
	if (ended)
		self->needs = window;
	else if (look.room == 0)
		self->needs = window / 4 + 1;
	weir__nats_unlock(self->client.nats);
	return look;
}

static void fail(struct weir_operator *op)
{
	struct dispatch *self =
		((struct sink_state *)weir_operator_state(op))->dispatch;
	struct weir_error *error;

	/* it has failed for ever: it is not changed any more */
	error = weir_error_format(self->push.code, "into_nats", "%s",
				  self->push.message);
	(void)weir_operator_end(op, error);
	weir_error_unref(error);
}

static void end_well(struct weir_operator *op)
{
	struct sink_state *state = weir_operator_state(op);

	if (!state->error && weir_operator_wanted(op))
		(void)weir_operator_push(
			op, (void *)(uintptr_t)state->dispatch->n_stored);
	else if (!state->error)
		return; /* the number waits for demand */
	(void)weir_operator_end(op, state->error);
}

/* Does what can be done now; the operator is woken when there is more. */
static int go_on(struct weir_operator *op)
{
	struct sink_state *state = weir_operator_state(op);
	bool ended = state->ended && !state->message;
	struct look now = look(state->dispatch, ended);

	state->room = now.room;
	while (state->message && now.room > 0 && now.code == 0) {
		make_one(op);
		ended = state->ended && !state->message;
		now = look(state->dispatch, ended);
	}
	if (now.code < 0) {
		fail(op);
	} else if (ended) {
		if (now.empty)
			end_well(op);
	} else if (!state->message && now.room > 0 && !state->pulled &&
		   !state->ended) {
		state->pulled = weir_operator_pull(op) == 0;
	}
	return 0;
}

static int on_push(struct weir_operator *op, void *item)
{
	const struct sink_args *args = args_of(op);
	struct sink_state *state = weir_operator_state(op);
	struct weir_nats_message *message = weir_nats_message_of(item);
	struct cause *cause = NULL;
	bool is_one = message && (void *)message == item;
	int rc;

	state->pulled = false;
	if (args->make) {
		if (!is_one)
			return -EINVAL;
		state->message = message;
		state->i = 0;
		state->cause = cause_new(state->dispatch, message);
		return go_on(op);
	}
	if (args->options.settle && is_one) {
		(void)weir_flow_bytes_ref(item);
		cause = cause_new(state->dispatch, message);
	}
	rc = put(op, item, cause);
	if (rc < 0) {
		if (cause) {
			cause->message = NULL;
			weir_flow_bytes_unref(item);
		}
		return rc;
	}
	if (cause)
		cause_end(state->dispatch, cause);
	if (--state->room == 0)
		return go_on(op);
	state->pulled = weir_operator_pull(op) == 0;
	return 0;
}

static int on_end(struct weir_operator *op, struct weir_error *error)
{
	struct sink_state *state = weir_operator_state(op);

	state->ended = true;
	state->error = error ? weir_error_ref(error) : NULL;
	return go_on(op);
}

/* --- Runs ----------------------------------------------------------------- */

static void *reserve(size_t *size, size_t n, size_t of_each)
{
	size_t at = *size;

	*size += n * of_each;
	return (void *)(uintptr_t)at;
}

/* All in one piece of memory. */
static struct dispatch *create(const struct sink_args *args)
{
	const struct weir_allocator *allocator = args->nats->allocator;
	size_t window = args->options.window, size = sizeof(struct dispatch);
	size_t parcels, causes, items;
	struct weir__nats_push_item *of_push;
	struct dispatch *self;
	natsInbox *name = NULL;

	parcels = (uintptr_t)reserve(&size, window, sizeof(struct parcel));
	causes = (uintptr_t)reserve(&size, window + 1, sizeof(struct cause));
	items = (uintptr_t)reserve(&size, window,
				   sizeof(struct weir__nats_push_item));
	self = allocator->alloc(size, allocator->context);
	if (!self)
		return NULL;
	memset(self, 0, size);
	self->size = size;
	self->parcels = (struct parcel *)(void *)((char *)self + parcels);
	self->causes = (struct cause *)(void *)((char *)self + causes);
	of_push = (struct weir__nats_push_item *)(void *)((char *)self + items);
	weir__nats_push_init(&self->push, of_push, window,
			     args->options.timeout_ns,
			     args->options.order == WEIR_NATS_ORDER_STRICT);
	/* what nobody else has */
	if (natsInbox_Create(&name) != NATS_OK) {
		allocator->free(self, size, allocator->context);
		return NULL;
	}
	(void)snprintf(self->name, sizeof(self->name), "%s",
		       name + strcspn(name, ".") + 1);
	natsInbox_Destroy(name);
	return self;
}

static int open(struct weir_operator *op)
{
	struct weir_nats *nats = args_of(op)->nats;
	struct sink_state *state = weir_operator_state(op);
	struct dispatch *self = create(args_of(op));

	if (!self)
		return -ENOMEM;
	weir_operator_hold(op);
	self->op = op;
	state->dispatch = self;
	weir__nats_lock(nats);
	weir__nats_add(nats, &self->client, &client_ops);
	nats->n_runs++;
	if (weir__nats_connected(nats) || nats->state == WEIR_NATS_STATE_CLOSED)
		connection(&self->client, weir__nats_connected(nats));
	weir__nats_soon(&self->client);
	weir__nats_unlock(nats);
	return 0;
}

/* Nobody puts or takes any more. */
static void drop_all(struct dispatch *self)
{
	uint64_t i;

	for (i = 0; i < self->push.window; i++) {
		weir_flow_bytes_unref(self->parcels[i].bytes);
		self->parcels[i].bytes = NULL;
	}
	for (i = 0; i <= self->push.window; i++) {
		drop_message(self->causes[i].message);
		self->causes[i].message = NULL;
	}
}

static void close(struct weir_operator *op)
{
	struct sink_state *state = weir_operator_state(op);
	struct dispatch *self = state->dispatch;
	struct weir_nats *nats = self->client.nats;

	weir__nats_lock(nats);
	self->op = NULL;
	weir__nats_push_fail(&self->push, -ECANCELED, "cancelled");
	nats->n_runs--;
	weir__nats_soon(&self->client);
	weir__nats_moved(nats);
	weir__nats_unlock(nats);
	drop_all(self);
	weir_error_unref(state->error);
	weir__nats_lock(nats);
	weir__nats_unref(&self->client);
	weir__nats_unlock(nats);
	weir_operator_unhold(op);
}

static const struct weir_operator_ops ops = {
	.name = "into_nats",
	.state_size = sizeof(struct sink_state),
	.context_size = sizeof(struct sink_args),
	.open = open,
	.close = close,
	.on_pull = go_on,
	.on_push = on_push,
	.on_end = on_end,
	.on_wake = go_on,
};

/* --- Flows ---------------------------------------------------------------- */

static const char *wrong(const struct weir_nats_sink_options *options)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (options->reserved[i] != 0)
			return "`reserved` is not zero";
	if (!options->subject == !options->subject_of)
		return "one of `subject` and `subject_of` is needed";
	if (options->subject && (strlen(options->subject) >= TEXT_SIZE ||
				 options->subject[0] == '\0' ||
				 strpbrk(options->subject, " \t\r\n*>")))
		return "`subject` is no subject";
	if (options->window > WEIR_CAPACITY_MAX)
		return "`window` is too large";
	if (options->order != WEIR_NATS_ORDER_STRICT &&
	    options->order != WEIR_NATS_ORDER_ANY)
		return "no such `order`";
	return NULL;
}

/* The operator upon `flow`, named so. */
static struct weir_flow *upon(struct weir_flow *flow, const char *name,
			      struct sink_args *args,
			      const struct weir_nats_sink_options *options)
{
	struct weir_operator_ops own = ops;
	const char *message = args->nats && options ? wrong(options) : "null";

	if (message)
		return weir_flow_invalid(flow, name, message);
	args->options = *options;
	if (!args->options.window)
		args->options.window = WINDOW;
	if (!args->options.timeout_ns)
		args->options.timeout_ns = TIMEOUT_NS;
	own.name = name;
	own.takes = weir_flow_bytes_items();
	return weir_flow_items(weir_flow_operator(flow, &own, args), NULL);
}

struct weir_flow *weir_flow_into_nats(
	struct weir_flow *flow, struct weir_nats *nats,
	const struct weir_nats_sink_options *options)
{
	struct sink_args args = {.nats = nats};

	return upon(flow, "into_nats", &args, options);
}

struct weir_flow *weir_flow_nats_process(
	struct weir_flow *flow,
	int (*make)(struct weir_nats_message *message, uint64_t i,
		    struct weir_flow_bytes **out, void *context),
	void *context, struct weir_nats *nats,
	const struct weir_nats_sink_options *options)
{
	struct sink_args args = {
		.nats = nats, .make = make, .context = context};

	if (!make)
		return weir_flow_invalid(flow, "nats_process", "no `make`");
	return upon(flow, "nats_process", &args, options);
}
