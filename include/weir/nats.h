/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows over NATS JetStream: a source whose demand is the demand of a consumer of
 * the server's, and a sink whose demand is what the server has not acknowledged
 * yet. This is a library of its own, libweir-nats, over libnats: weir.h does not
 * include it.
 *
 * A message that a source has given is to be settled once: it is done, is to be
 * given again, or is dead. One that is dropped by its last holder without that
 * is given again. So a cancelled or failed flow loses nothing; each message is
 * delivered at least once.
 */
#ifndef WEIR_NATS_H
#define WEIR_NATS_H

#include <weir/flow_io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Connections ---------------------------------------------------------- */

/* A connection to a server, or a cluster, which is made again when it breaks. */
struct weir_nats;

enum weir_nats_state {
	WEIR_NATS_STATE_CONNECTING, /* for the first time */
	WEIR_NATS_STATE_CONNECTED,
	WEIR_NATS_STATE_DISCONNECTED, /* it tries to connect again */
	WEIR_NATS_STATE_CLOSED,	      /* it has given up */
};

/* 0 or NULL is the default of each. Strings are copied. */
struct weir_nats_options {
	/* One server, or several with commas between them, such as
	 * "nats://user:password@host:4222". NULL: nats://localhost:4222. */
	const char *url;
	const char *name;	 /* told to the server, which shows it */
	const char *credentials; /* a file with a JWT and a seed */
	/* Files of TLS, which is used if one is given, or with tls:// or `tls`.
	 * `ca`: whom to trust; `cert` and `key` go together. */
	const char *ca, *cert, *key;
	bool tls;
	/* How often it tries to connect again before it gives up; 0: for ever. */
	int64_t max_reconnects;
	uint64_t connect_ns;   /* for one try: 2 s */
	uint64_t reconnect_ns; /* between two tries: 250 ms */
	/* How long the server may take nothing before it is disconnected:
	 * 5 s. No thread of an executor waits for that. */
	uint64_t write_stall_ns;
	/* weir_nats_new() waits that long for the first connection. 0: it does
	 * not wait, and connects for ever. */
	uint64_t timeout_ns;
	/* Each message is written at once. For requests of few messages: it is
	 * some 1 ms faster, and costs a call of the kernel for each. */
	bool asap;
	/* The state has changed; `why` is borrowed, or NULL. A thread of the
	 * connection's own calls it. It must not free the connection. */
	void (*on_state)(enum weir_nats_state state, const char *why,
			 void *context);
	void *context;
	uint64_t reserved[4]; /* zero */
};

/*
 * A new connection in *nats. It has threads of its own, which start here. -EINVAL:
 * null, bad options. -ENOMEM. With `timeout_ns` also -ECONNREFUSED: no server;
 * -EACCES: a server refuses; -EPROTO: TLS has failed; -ETIMEDOUT. Then *nats is
 * NULL. Any thread that may block.
 */
WEIR_API WEIR_MUST_CHECK int weir_nats_new(
	struct weir_nats **nats, const struct weir_nats_options *options,
	const struct weir_allocator *allocator);

/* WEIR_NATS_STATE_CLOSED if `nats` is NULL. Any thread. */
WEIR_API enum weir_nats_state weir_nats_state(struct weir_nats *nats);

/*
 * Ends the sources, as weir_flow_run_end() does of one, and waits until no flow
 * uses the connection, and all messages are settled and the server was told: 0.
 * -ETIMEDOUT: not yet; it goes on, and may be waited for again. -EINVAL: null. Any
 * thread that may block.
 */
WEIR_API int weir_nats_end_wait(struct weir_nats *nats, uint64_t timeout_ns);

/*
 * Frees the connection, behind all that messages were settled with; if the server
 * does not take that within write_stall_ns, it is lost. 0. NULL is fine. -EBUSY:
 * a run uses it, or a message is held by somebody. Any thread that may block.
 */
WEIR_API WEIR_MUST_CHECK int weir_nats_free(struct weir_nats *nats);

/* Counted since weir_nats_new(). */
struct weir_nats_stats {
	uint64_t reconnects;
	uint64_t requests;    /* of all sources */
	uint64_t asked;	      /* messages, by these */
	uint64_t received;    /* of those that were asked for */
	uint64_t redelivered; /* of these not for the first time */
	uint64_t excess;      /* came, though nobody asked, and were refused */
	uint64_t expired;     /* were asked for, and did not come in time */
	uint64_t lost;	      /* the same, and nobody has said so */
	uint64_t done, retried, dead; /* settled */
	uint64_t dropped;   /* came, and there was no memory for them */
	uint64_t published; /* by sinks, and acknowledged */
	uint64_t resent;    /* by sinks, again */
	uint64_t duplicate; /* the server had it already */
	uint64_t reserved[4];
};

/* 0. -EINVAL: null. Any thread. */
WEIR_API int weir_nats_stats(struct weir_nats *nats,
			     struct weir_nats_stats *stats);

/* --- Streams and consumers ------------------------------------------------ */

enum weir_nats_storage {
	WEIR_NATS_STORAGE_FILE,
	WEIR_NATS_STORAGE_MEMORY,
};

enum weir_nats_retention {
	WEIR_NATS_RETENTION_LIMITS,   /* till it is too old, or too much */
	WEIR_NATS_RETENTION_INTEREST, /* till all consumers are done with it */
	WEIR_NATS_RETENTION_WORK,     /* till one consumer is done with it */
};

/* What a stream is to be; 0 or NULL is the server's default of each. */
struct weir_nats_stream {
	const char *name;	     /* needed */
	const char *const *subjects; /* what it stores; none: its name */
	size_t n_subjects;
	enum weir_nats_storage storage;
	enum weir_nats_retention retention;
	int64_t max_messages, max_bytes; /* 0: no limit */
	uint64_t max_age_ns;
	/* How long ids of messages are remembered: 2 minutes. */
	uint64_t duplicates_ns;
	int64_t replicas;     /* 0: 1 */
	uint64_t reserved[4]; /* zero */
};

/*
 * Makes the stream if there is none of that name: 0. -EEXIST: there is one, and
 * the field of `stream` whose name *field gets (`field` may be NULL) says
 * otherwise; fields that are 0 fit any. Nothing has changed then. -EINVAL: null,
 * what the server refuses. -ETIMEDOUT: it does not answer. -ENOTCONN. -ENOTSUP:
 * it has no JetStream. -ENOMEM. Any thread that may block.
 */
WEIR_API int weir_nats_stream_ensure_wait(struct weir_nats *nats,
					  const struct weir_nats_stream *stream,
					  uint64_t timeout_ns,
					  const char **field);

enum weir_nats_acks {
	/* Each message is given until it is settled: at least once. */
	WEIR_NATS_ACKS_EACH,
	/* Each is settled when it is sent: at most once. */
	WEIR_NATS_ACKS_NONE,
};

/* A durable consumer of a stream, which is pulled from; 0 or NULL is the server's
 * default of each. */
struct weir_nats_consumer {
	const char *stream, *durable; /* needed; durable: its name */
	const char *filter;	      /* a subject; NULL: all of the stream's */
	uint64_t ack_wait_ns;	      /* then a message is given again: 30 s */
	int64_t max_deliver; /* how often one is given at most; 0: no limit */
	/* How many may be unsettled; 1000. libnats cannot say "any number". */
	int64_t max_ack_pending;
	enum weir_nats_acks acks;
	uint64_t reserved[3]; /* zero */
};

/* As weir_nats_stream_ensure_wait(), of a consumer. -ENOENT: no such stream;
 * -EINVAL also: `max_deliver` or `max_ack_pending` is less than 0. */
WEIR_API int weir_nats_consumer_ensure_wait(
	struct weir_nats *nats, const struct weir_nats_consumer *consumer,
	uint64_t timeout_ns, const char **field);

/* --- Messages ------------------------------------------------------------- */

/*
 * The item of a source. It begins with a struct weir_flow_bytes, is counted as one
 * and may be used as one: `(struct weir_flow_bytes *)message` has the payload.
 * Operators that take bytes take it; lines and frames of it are views, which keep
 * it. It is valid for who holds a reference.
 */
struct weir_nats_message;

/*
 * Settle a message. 0: the server is told, when there is a connection again at
 * the latest. -EALREADY: it is settled. -EINVAL: null. Any thread; a short lock.
 *
 * _done: it is not given again, unless the server dies before it has written
 * that down. _retry: it is given again, `delay_ns` later. _dead: it is published
 * to the source's dead_subject, with a header "Weir-Reason" if `reason` (copied,
 * up to 119 bytes) is not NULL, and when that is stored it is not given again;
 * without a dead_subject it is not given again. What cannot be stored there is
 * given again.
 */
WEIR_API int weir_nats_message_done(struct weir_nats_message *message);
WEIR_API int weir_nats_message_retry(struct weir_nats_message *message,
				     uint64_t delay_ns);
WEIR_API int weir_nats_message_dead(struct weir_nats_message *message,
				    const char *reason);

/* Tells the server that somebody works on it: it is not given again before
 * ack_wait_ns from now. A source with `no_hold` needs that. The rest as above. */
WEIR_API int weir_nats_message_progress(struct weir_nats_message *message);

/* The message that `bytes` are, or are a view of, or NULL. Any thread that holds
 * `bytes`. */
WEIR_API struct weir_nats_message *weir_nats_message_of(
	struct weir_flow_bytes *bytes);

/* Its number in its stream, from 1 on; how often it was given, this time
 * included, as far as the server knows; how many for the consumer were behind it
 * then; when it was stored, in nanoseconds since 1970; its subject. 0 or NULL if
 * `message` is NULL. */
WEIR_API uint64_t
weir_nats_message_sequence(const struct weir_nats_message *message);
WEIR_API uint64_t
weir_nats_message_deliveries(const struct weir_nats_message *message);
WEIR_API uint64_t
weir_nats_message_pending(const struct weir_nats_message *message);
WEIR_API int64_t
weir_nats_message_time(const struct weir_nats_message *message);
WEIR_API const char *weir_nats_message_subject(
	const struct weir_nats_message *message);

/* The first value of a header, whose case counts; NULL: it has none. It lives as
 * long as the message. Any thread; a short lock. */
WEIR_API const char *weir_nats_message_header(struct weir_nats_message *message,
					      const char *name);

/* --- Sources -------------------------------------------------------------- */

/* 0 or NULL is the default of each. What is pointed to is borrowed as long as the
 * flow exists. */
struct weir_nats_source_options {
	const char *stream, *durable; /* needed */
	/* At most that many messages are asked for and not taken yet: 256. */
	size_t window;
	/* Asked for at once, at least: half of the window, or a sixteenth with
	 * `until_settled`. */
	size_t refill;
	/* How many messages that were taken may be unsettled: as `window`. The
	 * consumer's max_ack_pending must have room for these, too. */
	size_t in_flight;
	uint64_t expires_ns; /* of a request: 30 s; at least 1 s */
	/* How long a run that is drained waits for the messages that were given
	 * to be settled: 30 s. */
	uint64_t drain_ns;
	/* For how long a message that is dropped unsettled is given back: the
	 * first time for the first of these, and so on; then for the last. None:
	 * it is given again at once. */
	const uint64_t *backoff;
	size_t n_backoff;
	/* A message that was given so often, and is to be given again, is dead
	 * instead. 0: no limit. The consumer's must be larger, or none. */
	int64_t max_deliver;
	/* Where dead ones are published; a stream must store that. */
	const char *dead_subject;
	/* Messages are given again after the consumer's ack_wait, even if they
	 * are held still. Otherwise the server is told of them, each half of
	 * that time. */
	bool no_hold;
	/* A message counts in `window` until it is settled and the server was
	 * told, and not until it is taken: so this source never has more. Then
	 * `in_flight` is ignored. */
	bool until_settled;
	/* As the consumer's. With WEIR_NATS_ACKS_NONE messages are settled when
	 * they come, and what is dropped is lost, also what was on its way when
	 * the connection broke or the run was over. Then there is nothing to be
	 * said of what is given again, or of dead ones. */
	enum weir_nats_acks acks;
	uint64_t reserved[4]; /* zero */
};

/*
 * The messages of a durable consumer, as struct weir_nats_message, which
 * weir_flow_bytes_items() drops.
 *
 * 1. With the first demand the consumer is looked at, and messages are asked for.
 *    What was asked for and has not come, and what has come and was not taken,
 *    or with `until_settled` not settled, is `window` at most, always. Without
 *    demand nothing more is asked for.
 * 2. Messages come in the order of the stream, but for those that are given
 *    again.
 * 3. When the connection breaks the source waits for the next one. What was
 *    asked for on the old one is asked for again.
 * 4. A message that is unsettled when it is dropped is given back, also one that
 *    downstream has not got when the run is over.
 * 5. When the run is drained no more is asked for; what was sent flows through,
 *    the stream ends, and the run is over when all messages that were given are
 *    settled, or drain_ns later.
 *
 * The connection must live as long as the flow. Fails: -EINVAL, null, a bad
 * option; or when it has been looked at, the consumer's max_ack_pending is less
 * than `window` and `in_flight` together, its max_deliver is not above that of the
 * source, or messages are acknowledged otherwise. -ENOENT: no such stream or
 * consumer, also when it was deleted. -EPROTOTYPE: the consumer pushes. -ENOTCONN:
 * the connection has given up.
 *
 * Emits: each message. Completes: when the run is drained. Cancels: it has no
 * upstream; the messages that were not taken are given back. Holds: `window`
 * messages.
 */
WEIR_API struct weir_flow *weir_flow_from_nats(
	struct weir_nats *nats, const struct weir_nats_source_options *options);

/*
 * Settles each message that passes as done: put it behind what works on them.
 * Items that are other bytes pass.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_nats_done(struct weir_flow *flow);

/* --- Sinks ---------------------------------------------------------------- */

enum weir_nats_order {
	/* Messages are stored in the order in which they come, also when they
	 * are sent again. */
	WEIR_NATS_ORDER_STRICT,
	/* What was lost is sent again, and may be stored behind later ones. */
	WEIR_NATS_ORDER_ANY,
};

/* 0 or NULL is the default of each. `subject` is borrowed as long as the flow
 * exists. */
struct weir_nats_sink_options {
	/* Where messages are published; or a function that writes the subject
	 * of an item, with its NUL, into `size` (256) bytes, and returns 0 or a
	 * negative errno. One of the two is needed. */
	const char *subject;
	int (*subject_of)(void *item, char *subject, size_t size,
			  void *context);
	/* The same for the id by which the server knows a message that it has
	 * already. NULL: "<stream>.<sequence>" of an item that is a message,
	 * with ".<i>" behind it where it was made of one; else one that no other
	 * message has. */
	int (*id_of)(void *item, char *id, size_t size, void *context);
	void *context;
	/* At most that many are published and not acknowledged: 256. */
	size_t window;
	enum weir_nats_order order;
	/* Items that are messages of a source are done when they are stored. */
	bool settle;
	/* The stream fails when there is a connection, and the server has
	 * acknowledged nothing for that long: 30 s. */
	uint64_t timeout_ns;
	uint64_t reserved[4]; /* zero */
};

/*
 * Publishes bytes to a stream of the server's.
 *
 * 1. An item is held until the server says that it is stored. No more than
 *    `window` are: that is the demand.
 * 2. When the connection breaks, or nothing is acknowledged for 2 s (0.25 s on a
 *    new connection, then twice that), what is not acknowledged is published
 *    again, with the same ids. So each is stored once, as long as the stream
 *    remembers its id (`duplicates_ns`).
 * 3. An item that is a message of a source, and is not settled, is given back
 *    when it is dropped, also behind its publication: settle it, with `settle`.
 *
 * Fails: -EINVAL, null, a bad option, or the server refuses the message. -EAGAIN:
 * no stream has the subject. -ETIMEDOUT: the server does not answer. -EMSGSIZE:
 * an item is larger than it takes. -ENOSPC: the stream is full, or cannot be
 * written. -ENOTCONN: the connection has given up.
 *
 * Emits: the number of messages stored, as (void *)(uintptr_t), when upstream has
 * completed. Completes: behind the number. Cancels: when publishing fails, or
 * when downstream does. Holds: `window` items.
 */
WEIR_API struct weir_flow *weir_flow_into_nats(
	struct weir_flow *flow, struct weir_nats *nats,
	const struct weir_nats_sink_options *options);

/*
 * Makes messages of messages, and settles each as done when all that was made of
 * it is stored. As weir_flow_into_nats(); `make` is called with i = 0, 1, ... for
 * the same message, and makes the bytes that are published. It returns 1 with
 * one more in *out; WEIR_NEXT_LAST (flow_element.h) with the last; or 0, if there
 * are no more; or a negative errno: the stream fails, and the message is given
 * back. Ids are made of the message's: so whatever dies meanwhile, each output is
 * stored once, if `make` makes the same of the same, and its stream remembers
 * ids for longer than that takes.
 *
 * Items are messages of a weir_flow_from_nats(): other bytes fail the stream with
 * -EINVAL. `settle` and `id_of` are ignored.
 *
 * Emits: the number of messages stored, when upstream has completed. Completes:
 * behind the number. Cancels: when publishing fails, or when downstream does.
 * Holds: one message, and what `window` outputs were made of.
 */
WEIR_API struct weir_flow *weir_flow_nats_process(
	struct weir_flow *flow,
	int (*make)(struct weir_nats_message *message, uint64_t i,
		    struct weir_flow_bytes **out, void *context),
	void *context, struct weir_nats *nats,
	const struct weir_nats_sink_options *options);

/* --- Boundaries ------------------------------------------------------------ */

/*
 * A boundary of a flow, as weir_flow_async() is one, with a stream in the place of
 * the link: the part above and the part below run in different programs, on
 * different machines. Both describe it alike. 0 or NULL is the default of each.
 */
struct weir_nats_boundary {
	/* Of the stream, needed. Items of partition 3 have the subject NAME.3,
	 * and the durable consumer "p3". */
	const char *name;
	/* Items with the same key are in the same partition, in order. 1. */
	uint32_t partitions;
	/* At most that many are stored and not settled below, of a publisher:
	 * 1024; at least 2. An end counts as one in each partition. */
	size_t capacity;
	/* For ensure. Settled items stay in the stream, which so knows their
	 * ids also when the server was started again. */
	bool keep;
	enum weir_nats_storage storage;
	uint64_t ack_wait_ns, duplicates_ns;
	/* Above: the key of an item, which is borrowed as long as the item.
	 * 0 or a negative errno. NULL: all have the same. */
	int (*key_of)(void *item, const void **key, size_t *n, void *context);
	/* As that of a sink. */
	int (*id_of)(void *item, char *id, size_t size, void *context);
	void *context;
	/* Items that are messages of a source are done when they are stored. */
	bool settle;
	/* Who gives, up to 63 bytes; NULL: "". Others have other names. */
	const char *from;
	/* Below: how many publishers have to end; 1. */
	size_t publishers;
	/* Partitions member, member + members, ... are taken; members: 1. */
	uint32_t member, members;
	size_t window;	      /* of the source of each partition */
	uint64_t reserved[4]; /* zero */
};

/* Makes the stream and its consumers, as weir_nats_stream_ensure_wait(). -EINVAL:
 * also a bad description. Any thread that may block. */
WEIR_API int weir_nats_boundary_ensure_wait(
	struct weir_nats *nats, const struct weir_nats_boundary *boundary,
	uint64_t timeout_ns, const char **field);

/* The partition of a key of `n` bytes: FNV-1a of 32 bits, modulo `partitions`, as
 * a server's `partition()` has it. 0 if there are none. Any thread. */
WEIR_API uint32_t weir_nats_partition(const void *key, size_t n,
				      uint32_t partitions);

/*
 * The lower end of the part above: publishes bytes to the boundary (borrowed as
 * long as the flow), as weir_flow_into_nats() in strict order. When `capacity`
 * items are not settled below, upstream is asked for nothing. When upstream ends,
 * or fails, each partition gets an end, which stays in the stream: also who
 * takes later gets it. A run that is cancelled or dies gives no end, and
 * another may go on.
 *
 * Fails: -EINVAL, null, a bad description. -ENOENT: no such stream or consumer.
 * As weir_flow_into_nats(). With the error of upstream, when that is stored.
 *
 * Emits: the number of items stored, when upstream has completed. Completes:
 * behind the number. Cancels: when publishing fails, or when downstream does.
 * Holds: up to 256 items, half of `capacity` at most.
 */
WEIR_API struct weir_flow *weir_flow_nats_give(
	struct weir_flow *flow, struct weir_nats *nats,
	const struct weir_nats_boundary *boundary);

/*
 * The upper end of the part below: the messages of the partitions of a member, as
 * weir_flow_from_nats(); each is to be settled. It ends as the part above has:
 * when all `publishers` have ended, and all items of a partition were settled,
 * or were given here and are held. So what a member that died had comes first.
 * With an error above it fails with that code; the message says whose it is.
 *
 * Fails: -EINVAL, null, a bad description. As weir_flow_from_nats().
 *
 * Emits: each message. Completes: when the part above has. Cancels: it has no
 * upstream; the messages that were not taken are given back. Holds: `window`
 * messages for each partition.
 */
WEIR_API struct weir_flow *weir_flow_nats_take(
	struct weir_nats *nats, const struct weir_nats_boundary *boundary);

#ifdef __cplusplus
}
#endif

#endif
