/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections over stream sockets: TCP and Unix domain. A listener is a source
 * of connections, and a connection is a pair of byte flows whose demand reaches
 * the kernel both ways: who takes nothing is not read from, and the peer that
 * takes nothing holds its sender up. (Pekko: Tcp; tokio: TcpStream.)
 *
 * An echo server:
 *
 *	static struct weir_flow *echo(struct weir_connection *connection,
 *				      void *context)
 *	{
 *		return weir_connection_run(connection, NULL, NULL);
 *	}
 *
 *	flow = weir_flow_listen("127.0.0.1:7000", NULL);
 *	flow = weir_flow_each_connection(flow, 1000, echo, NULL);
 *	rc = weir_flow_run(flow, executor, NULL);
 *
 * An address is text:
 *
 *	127.0.0.1:80	IPv4, and a port; port 0 to listen at any that is free
 *	[::1]:80	IPv6; [::] for all
 *	unix:/path	a Unix domain socket with a name in the file system
 *	unix:@name	one with a name of its own (Linux: abstract)
 *	fd:3		a listening socket that the process was started with;
 *			weir_flow_listen() only
 *	host:80		a name; weir_flow_connect() only
 */
#ifndef WEIR_CONNECTION_H
#define WEIR_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

#include <weir/flow_io.h>

#ifdef __cplusplus
extern "C" {
#endif

struct iovec;
struct weir_connection;

/* --- Options -------------------------------------------------------------- */

/* 0 is the default of each. */
struct weir_connection_options {
	/*
	 * The read flow fails with -ETIMEDOUT when downstream has asked and the
	 * peer has sent nothing for that long. No limit.
	 */
	uint64_t read_idle_ns;
	/* The write flow fails with -ETIMEDOUT when the peer has taken nothing
	 * for that long of what is to be sent. No limit. */
	uint64_t write_stall_ns;
	/*
	 * When the read flow was cancelled, and the write flow has ended well:
	 * the write flow first takes in what the peer still sends and drops it,
	 * until the peer ends, at most that long (5 s) and that many bytes
	 * (256 KiB). A socket that is closed with bytes unread resets the
	 * connection, and the peer would lose the answer.
	 */
	uint64_t linger_ns;
	size_t linger_bytes;
	/* Of TCP: so many bytes may wait in the kernel that are not sent yet
	 * (TCP_NOTSENT_LOWAT), 128 KiB. */
	size_t unsent_bytes;
	size_t rcvbuf; /* SO_RCVBUF and SO_SNDBUF; the kernel's own choice */
	size_t sndbuf;
	bool nagle;	/* of TCP: small writes wait (TCP_NODELAY is off) */
	bool keepalive; /* SO_KEEPALIVE */
	/*
	 * The end of the write flow ends the read flow, too: well, and what the
	 * peer still sends is dropped as `linger_ns` has it. Else the peer may
	 * go on sending (a half-close).
	 */
	bool no_half_close;
	uint64_t reserved[4]; /* zero */
};

/* --- The object ----------------------------------------------------------- */

/*
 * A connection in *connection, with one reference, over the connected stream
 * socket `fd`, which it takes over: it is set to non-blocking mode, and closed
 * when both flows are over and the last reference is gone. `options` is copied
 * and may be NULL; of these it sets in the kernel what is not 0. -EINVAL: null,
 * not a stream socket, something in `reserved`. -EBADF, -ENOTSOCK, -ENOTCONN.
 * -ENOMEM. Then *connection is NULL, and `fd` is the caller's, as it was.
 */
WEIR_API WEIR_MUST_CHECK int weir_connection_new(
	struct weir_connection **connection, int fd,
	const struct weir_connection_options *options,
	const struct weir_allocator *allocator);

/*
 * One reference more, or one less; NULL is fine. ref returns its argument. The
 * flows of weir_connection_read() and _write() have references of their own,
 * until they are over or are freed. Any thread.
 */
WEIR_API struct weir_connection *weir_connection_ref(
	struct weir_connection *connection);
WEIR_API void weir_connection_unref(struct weir_connection *connection);

/* How connections are dropped (by weir_connection_unref()) and shared, for
 * weir_flow_items() in flows of your own. Lives for ever. */
WEIR_API const struct weir_items *weir_connection_items(void);

/*
 * Ends both directions now: what is not sent yet is dropped, the peer gets a
 * reset (over a Unix domain socket: an end), and both flows fail with
 * -ECONNRESET. The descriptor is closed as otherwise. NULL is fine. Any thread.
 */
WEIR_API void weir_connection_stop(struct weir_connection *connection);

/* The descriptor, which stays the connection's: to set options of its own. Do
 * not read, write or close it. -EINVAL: null. Any thread that has a reference.
 */
WEIR_API int weir_connection_fd(const struct weir_connection *connection);

/* The longest address, with its end. */
#define WEIR_CONNECTION_ADDRESS_MAX 128u

/*
 * The address of the peer, or the own one, as text in `text`: at most `n`
 * bytes, with its end. A Unix domain socket without a name is "unix:". -EINVAL:
 * null. -ENOSPC: `n` is too small. What getsockname(2) reports. Then `text` is
 * as it was. Any thread that has a reference.
 */
WEIR_API int weir_connection_peer(const struct weir_connection *connection,
				  char *text, size_t n);
WEIR_API int weir_connection_local(const struct weir_connection *connection,
				   char *text, size_t n);

/* Who has connected, at that time. */
struct weir_connection_credentials {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* Of the peer of a Unix domain socket (SO_PEERCRED). -EINVAL: null. -ENOTSUP:
 * another socket. Any thread that has a reference. */
WEIR_API int weir_connection_peer_credentials(
	const struct weir_connection *connection,
	struct weir_connection_credentials *credentials);

struct weir_connection_counts {
	uint64_t bytes_in;  /* that the read flow has read */
	uint64_t bytes_out; /* that the write flow has given to the kernel */
	size_t unsent; /* of these: that the peer has not confirmed (SIOCOUTQ)
			*/
	int error;     /* 0, or how the connection has failed */
};

/* A snapshot. -EINVAL: null. Any thread that has a reference. */
WEIR_API int weir_connection_count(const struct weir_connection *connection,
				   struct weir_connection_counts *counts);

/* --- The two flows -------------------------------------------------------- */

/*
 * What the peer sends, in blocks of up to `block` bytes. Only one run can read
 * a connection: starting another one is -EALREADY. -EINVAL: null, `block` 0 or
 * above 1 GiB.
 *
 * 1. The peer's end (FIN) ends the flow well; the write flow goes on.
 * 2. A reset fails both flows with -ECONNRESET, also while there is no demand.
 *    What has come before and was not taken is lost, as it is in the kernel.
 * 3. When downstream cancels, see linger_ns. A drain of the run ends it so,
 *    too.
 *
 * Emits: the bytes of one read, at most `block`. Completes: at the peer's end.
 * Cancels: it has no upstream. Holds: one block while it reads, none while it
 * waits.
 */
WEIR_API struct weir_flow *weir_connection_read(
	struct weir_connection *connection, size_t block);

/*
 * Sends bytes to the peer. Only one run can write a connection: starting
 * another one is -EALREADY. -EINVAL: null.
 *
 * 1. The items that are there are sent by one call, up to 64. None is kept
 *    back to make a larger one. SIGPIPE is never raised.
 * 2. When upstream has completed and all is given to the kernel, the peer is
 *    told so (a FIN): see no_half_close.
 * 3. When upstream fails or downstream cancels, the connection is stopped as by
 *    weir_connection_stop(): no peer takes half of an answer for all of it.
 * 4. A peer that is gone fails it with -ECONNRESET.
 *
 * Emits: the number of bytes sent, as (void *)(uintptr_t), when upstream has
 * completed. Completes: behind the number. Cancels: when sending fails, or when
 * downstream does. Holds: 64 items.
 */
WEIR_API struct weir_flow *weir_connection_write(
	struct weir_flow *flow, struct weir_connection *connection);

/*
 * Both flows around operators: weir_connection_write() of what `operators`
 * makes of weir_connection_read(), in blocks of 64 KiB. `operators` gets a flow
 * of bytes, which it takes over, and returns one of bytes. NULL: what comes is
 * sent back. -EINVAL: null.
 *
 * Emits: the number of bytes sent, as weir_connection_write(). Completes:
 * behind the number. Cancels: it has no upstream. Holds: as both.
 */
WEIR_API struct weir_flow *weir_connection_run(
	struct weir_connection *connection,
	struct weir_flow *(*operators)(struct weir_flow *flow, void *context),
	void *context);

/* 0 is the default of each. */
struct weir_connection_pipe_options {
	/* Fails with -ETIMEDOUT when nothing has come or gone for that long,
	 * either way. No limit. */
	uint64_t idle_ns;
	/* The same from the first end of a peer on, and from a drain of the run
	 * on. 60 s. */
	uint64_t half_close_ns;
	uint64_t reserved[4]; /* zero */
};

/*
 * Joins two connections: what the peer of one sends goes to the peer of the
 * other, both ways at once. Up to 4 KiB at a time are copied; more goes through
 * pipes of the kernel's (splice(2)), uncopied. It takes the place of all four flows of the two: if one of
 * these runs, or has run, starting this one is -EALREADY. `options` is copied
 * and may be NULL. -EINVAL: null, twice the same connection, something in
 * `reserved`. (tokio: copy_bidirectional; HAProxy.)
 *
 * 1. Each way holds one block of up to 64 KiB, and takes the next when that is
 *    gone: so a peer that takes nothing holds up the other peer, and nothing
 *    else.
 * 2. A peer's end (FIN) is told to the other peer behind all bytes, and the
 *    other way goes on. When both have ended, so does the flow. `half_close_ns`
 *    is for a peer that never does.
 * 3. A reset of one, a limit, weir_connection_stop() of either, a cancel and a
 *    stop of the run stop both as by weir_connection_stop(). The flow fails
 *    with the error of the one that has failed.
 * 4. A drain lets it go on to its end; see half_close_ns.
 * 5. Of the connections' own options these have no effect: read_idle_ns,
 *    write_stall_ns, no_half_close, and those of lingering, as all is read.
 * 6. Each way has two more descriptors, from the first time that more than 4 KiB
 *    come, to its end. If there are none left, or a socket cannot be spliced, it
 *    has a buffer of 64 KiB.
 *
 * Emits: the number of bytes carried, both ways together, as (void
 * *)(uintptr_t), when both peers have ended. Completes: behind the number.
 * Cancels: it has no upstream. Holds: one block each way.
 */
WEIR_API struct weir_flow *weir_connection_pipe(
	struct weir_connection *a, struct weir_connection *b,
	const struct weir_connection_pipe_options *options);

/* --- Clients ------------------------------------------------------------- */

/* 0 is the default of each. */
struct weir_connect_options {
	struct weir_connection_options connection;
	/* From the first demand on, with the look-up of a name; the kernel's
	 * own limit. */
	uint64_t connect_ns;
	uint64_t reserved[4]; /* zero */
};

/*
 * A connection to `address`, which is copied, as is `options`; it may be NULL.
 * Each run connects, when it is first asked. -EINVAL: null, no such address,
 * something in `reserved`.
 *
 * 1. A name is looked up by getaddrinfo(3) on a thread of its own; on a
 *    blocking executor and a simulator, by the turn. That cannot be
 *    interrupted: when the run is over before, the thread ends later.
 * 2. The addresses of a name are tried as RFC 8305 has it ("happy eyeballs"):
 *    up to 16, the families in turn; another one begins when one has failed,
 *    or has not connected within 250 ms. The first that connects is taken.
 * 3. If none does, the stream fails with the error of the last one, such as
 *    -ECONNREFUSED; after `connect_ns` with -ETIMEDOUT. -ENOENT: there is no
 *    such name. -EAGAIN: the look-up has failed for now, or the backlog of a
 *    Unix domain socket is full.
 *
 * Emits: the connection, whose reference is the receiver's. Completes: behind
 * it. Cancels: it has no upstream; what has begun is closed. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_connect(
	const char *address, const struct weir_connect_options *options);

/* --- Servers -------------------------------------------------------------- */

/* 0 or NULL is the default of each. */
struct weir_listen_options {
	struct weir_connection_options connection; /* of each connection */
	/*
	 * The flow listens at `address`, which is valid during the call: with
	 * the port that it has got, where port 0 was asked for. Called once in
	 * each run, where the run is started.
	 */
	void (*listens)(const char *address, void *context);
	void *context;
	size_t backlog; /* connections that wait in the kernel, SOMAXCONN */
	/*
	 * When the process or the system has no descriptor left, the flow
	 * pauses, and connections wait in the kernel. After that long without
	 * one the flow fails. 60 s.
	 */
	uint64_t accept_retry_ns;
	bool reuse_port;      /* SO_REUSEPORT: several listeners at one port */
	uint64_t reserved[4]; /* zero */
};

/*
 * The connections that come to `address`, which is copied, as is `options`; it
 * may be NULL. Each run listens anew, from its start to its end; an address
 * that is in use or not to be had is what its start returns, and so is a path
 * that is there (-EADDRINUSE): it is never replaced. "fd:3" stays open at the
 * end, and is set to non-blocking mode. -EINVAL: null, no such address,
 * something in `reserved`.
 *
 * 1. Each demand accepts one connection, so the rest wait in the backlog of the
 *    kernel: this is the back-pressure.
 * 2. A connection that is gone before it is accepted is left out.
 * 3. Items are dropped by weir_connection_items(): a connection that nobody
 *    takes is closed.
 *
 * Emits: a connection, whose reference is the receiver's. Completes: never,
 * unless the run is drained. Cancels: it has no upstream; the socket is closed,
 * and a path that it has made is removed. Holds: nothing, beside a descriptor
 * that it keeps back for when there is no other.
 */
WEIR_API struct weir_flow *weir_flow_listen(
	const char *address, const struct weir_listen_options *options);

/*
 * Serves each connection by a run of its own, on the same executor, at most
 * `max` at a time. `serve` makes its flow, as by weir_connection_run(). The
 * connection is borrowed until that run is over; then the flow is freed.
 *
 * 1. While `max` are served, no connection is taken from upstream.
 * 2. If a run fails, that connection is over and the others go on, unless
 *    weir_flow_supervise() says WEIR_DIRECTIVE_STOP of its error; so if
 *    `serve` returns NULL or a failed flow, and if the run cannot be started.
 * 3. When this flow ends by an error or a cancel, the runs are stopped. They
 *    may be over a little later than the flow's own run.
 * 4. When the run is drained, each of the runs is.
 *
 * -EINVAL: null, `max` 0 or above WEIR_CAPACITY_MAX.
 *
 * Emits: the number of connections that were served, as (void *)(uintptr_t),
 * when upstream has completed and all are over. Completes: behind the number.
 * Cancels: when downstream does. Holds: `max` connections.
 */
WEIR_API struct weir_flow *weir_flow_each_connection(
	struct weir_flow *flow, size_t max,
	struct weir_flow *(*serve)(struct weir_connection *connection,
				   void *context),
	void *context);

/* --- Layers --------------------------------------------------------------- */

/*
 * What stands between the flows of a connection and its socket, such as TLS
 * (tls.h): the flows read and write bytes, and the layer makes of them those
 * that the socket carries. (OpenSSL: a filter BIO; Netty: SslHandler.)
 *
 * 1. The functions are called by both flows, which may run on two threads: the
 *    layer locks. Each makes what calls of the socket `fd` it needs, in
 *    non-blocking mode, with MSG_NOSIGNAL.
 * 2. A function that can do nothing more because a call of the socket gave
 *    EAGAIN sets *events, which is 0 before, to what poll(2) has for what it
 *    waits for, and returns -EAGAIN. It is called again behind such an event,
 *    and now and then besides.
 * 3. Another negative errno fails both flows with it. If reason() has a text
 *    then, the layer has failed and the socket has not: end() is called, the
 *    peer is told of the end (a FIN) and is given the time of `linger_ns` to
 *    take what was sent. Otherwise the socket is reset.
 */
struct weir_connection_layer_ops {
	/*
	 * Before anything else, by both flows, also without demand: 0 when the
	 * layer can carry bytes, such as behind a handshake. NULL: it can.
	 */
	int (*open)(int fd, short *events, void *context);
	/*
	 * Reads up to `n` bytes into `to`, and returns how many. 0: the peer
	 * has ended. If *events is set, nothing was left to be read. `n` 0:
	 * downstream wants nothing; the layer may take in what needs no
	 * room, and returns 0.
	 */
	ssize_t (*read)(void *to, size_t n, int fd, short *events,
			void *context);
	/*
	 * Takes bytes of `n` parts, and returns how many, at least one. It
	 * takes the last byte of what it has made into bytes of the socket only
	 * when the kernel has all of these: so -EAGAIN with nothing taken, and
	 * a next call that has the same bytes first, are how it waits.
	 */
	ssize_t (*write)(const struct iovec *parts, int n, int fd,
			 short *events, void *context);
	/* Nothing more is to be written: 0 when the kernel has all that tells
	 * the peer so. Behind a failure: it has what tells of that. NULL:
	 * nothing tells. */
	int (*end)(int fd, short *events, void *context);
	/* Why the layer has failed, or NULL: it has not. The text lives as long
	 * as the layer. */
	const char *(*reason)(void *context);
	/* The last call, when the connection is freed, before its socket is
	 * closed. */
	void (*free)(void *context);
};

/*
 * Puts a layer upon a connection that no flow has read or written yet, which
 * owns `context` from then on; `layer` lives for ever. If open() takes longer
 * than `open_ns` both flows fail with -ETIMEDOUT; WEIR_FOREVER: no limit. Of
 * weir_connection_count() the bytes are those of the flows then. A connection
 * with a layer cannot be joined by weir_connection_pipe(). 0. -EINVAL: null,
 * also a function that must not be. -EALREADY: it has a layer, or was read or
 * written. An error changes nothing. Who calls this has the connection to
 * itself.
 */
WEIR_API WEIR_MUST_CHECK int weir_connection_put_layer(
	struct weir_connection *connection,
	const struct weir_connection_layer_ops *layer, void *context,
	uint64_t open_ns);

/* The `context` of that layer. NULL: the connection has none, or another one.
 * Any thread that has a reference. */
WEIR_API void *weir_connection_layer(
	const struct weir_connection *connection,
	const struct weir_connection_layer_ops *layer);

#ifdef __cplusplus
}
#endif

#endif
