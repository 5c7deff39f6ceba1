/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel tells as flows: signals, readiness of descriptors, changes of
 * files; and datagrams. Nothing is polled: the executor waits for descriptors. Ticks of a clock
 * are weir_flow_tick(). (Pekko: FileTailSource, DirectoryChangesSource; libuv:
 * uv_signal_t, uv_poll_t, uv_fs_event_t.)
 */
#ifndef WEIR_FLOW_EVENT_H
#define WEIR_FLOW_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/select.h> /* sigset_t */

#include <weir/flow_io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Signals -------------------------------------------------------------- */

/*
 * The signals of `set`, which is copied, as signalfd(2) tells them. They must be
 * blocked by all threads of the process: block them in main() before any thread
 * is started, as a thread inherits what is blocked, and those of the library
 * block all. What is blocked is not changed here.
 *
 * 1. Each run takes signals from its start on; what was pending then comes, too.
 *    What it has not taken stays pending. Of several runs, one gets a signal.
 * 2. A signal that is pending already is not queued again, unless it is a
 *    real-time signal: one item may stand for several. How many, the kernel
 *    says of POSIX timers only (ssi_overrun).
 * 3. Signals that are sent to one thread (pthread_kill(3)) may not be told.
 *
 * The stream fails with -EPERM if the thread that starts the run does not block
 * one of them; the message says which. Else with what signalfd(2) reports.
 * -ENOTSUP: the executor watches no descriptors. -EINVAL: null, an empty set,
 * SIGKILL or SIGSTOP in it.
 *
 * Emits: a signal, as a struct weir_flow_bytes whose data is one struct
 * signalfd_siginfo: ssi_signo, ssi_pid, ssi_uid and so on. Completes: never.
 * Cancels: it has no upstream. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_signals(const sigset_t *set);

/* --- Descriptors ---------------------------------------------------------- */

/*
 * Tells when `fd` is ready, as poll(2) does, for what no other flow reads or
 * writes: the descriptor of another library, a device, a timerfd. `events` is
 * of POLLIN, POLLOUT and POLLPRI. `fd` stays the caller's, who keeps it open as
 * long as the flow runs.
 *
 * 1. For each demand the executor waits until one of `events` is there. So
 *    nothing is missed: who has not read all is told again. Who asks ahead, as
 *    weir_flow_async(), may be told of what he has read since: let the
 *    descriptor not block.
 * 2. The end of the other side ends the flow: POLLHUP, or POLLRDHUP where
 *    `events` is POLLIN alone. Bytes that came before are told first. An error
 *    (POLLERR) fails it, with SO_ERROR of a socket, with -EPIPE of a pipe that
 *    nobody reads, else with -EIO. Both are told upon demand.
 * 3. With POLLPRI, as of files in /sys, POLLERR may come beside it: that is no
 *    error; nor is a message in the error queue of a socket, of which the item
 *    says POLLERR.
 *
 * -EBADF, -EPERM: a file that cannot be waited for. -ENOTSUP: the executor
 * watches no descriptors. -EINVAL: fd < 0, no events, or others.
 *
 * Emits: the events that are there, as (void *)(uintptr_t): those of `events`,
 * POLLERR, POLLHUP and POLLRDHUP. Completes: at the end of the other side.
 * Cancels: it has no upstream. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_fd(int fd, short events);

/* --- Files ---------------------------------------------------------------- */

/* What has happened to a path, as inotify(7) says it. */
struct weir_flow_change {
	uint32_t mask;	  /* IN_CREATE, IN_MOVED_TO and so on */
	uint32_t cookie;  /* the same of the two halves of a rename, else 0 */
	size_t watched;	  /* the index of the path that is watched */
	const char *path; /* that path, or an entry of it: "path/name" */
	bool directory;	  /* it is about a directory (IN_ISDIR) */
	/* Changes were lost (IN_Q_OVERFLOW): look at all of the paths again. The
	 * path is "", and nothing else is said. */
	bool rescan;
};

/*
 * What happens to `n` paths, of files or directories, which are copied. `mask` is
 * of the events of inotify(7), such as IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE,
 * with IN_ONLYDIR, IN_DONT_FOLLOW and IN_EXCL_UNLINK. What is in subdirectories
 * is not watched.
 *
 * 1. Each run watches from its start on, and no longer than it is wanted.
 * 2. While downstream does not ask, changes wait in the kernel, which makes one
 *    of equal ones behind each other, and keeps max_queued_events of
 *    /proc/sys/fs/inotify. If it has lost some, an item says so: `rescan`.
 * 3. A path that is gone, or whose file system is, is told last by IN_IGNORED,
 *    whatever the mask. It is not watched again if it comes back: watch its
 *    directory for that.
 *
 * The stream fails if one of the paths cannot be watched; the message names it:
 * -ENOENT, -EACCES, -ENOTDIR, -ENOSPC (max_user_watches); -EEXIST: two paths are
 * the same file. -EMFILE: max_user_instances, or no descriptor. -ENOTSUP: the
 * executor watches no descriptors. -EINVAL: no paths, one that is null or empty,
 * no events in `mask`, or something else.
 *
 * Emits: a change, as a struct weir_flow_bytes whose data is one struct
 * weir_flow_change, and its path. Completes: when all paths are gone. Cancels:
 * it has no upstream. Holds: the changes of one read, 4 KiB.
 */
WEIR_API struct weir_flow *weir_flow_inotify(const char *const *paths, size_t n,
					     uint32_t mask);

/* What has become of a file that is followed. */
enum weir_flow_tail_change {
	WEIR_FLOW_TAIL_CHANGE_ROTATED,	 /* another file has the name */
	WEIR_FLOW_TAIL_CHANGE_TRUNCATED, /* it has become shorter */
};

/* 0 and NULL are the default of each. */
struct weir_flow_tail_options {
	size_t block;	/* most bytes of an item, at most 1 GiB; 64 KiB */
	bool beginning; /* the first file is read from there, not its end on */
	/* A file that has become shorter is read from its beginning again, as
	 * after "copytruncate". Else the stream fails with -ESTALE. */
	bool restart;
	bool wait; /* until there is a file; else the stream fails with -ENOENT */
	/* Bytes from now on are of another file, or of its beginning. Called in
	 * a turn, in front of them. */
	void (*changed)(enum weir_flow_tail_change change, void *context);
	void *context;
	uint64_t reserved[4]; /* zero */
};

/*
 * What is appended to the file that has the name `path`, as `tail -F` prints it.
 * Each run begins at the end that the file has at its start. `path` is borrowed,
 * `options` is copied and may be NULL.
 *
 * 1. The kernel tells of changes (inotify): nothing is polled, and no wake-ups
 *    are had while nothing is written. Not all network file systems tell of what
 *    others write.
 * 2. When the file is renamed or removed, it is read on until another one has
 *    the name, and bytes; then the rest of the old one is read, and the new one
 *    from its beginning. So nothing is lost if writers have done with the old
 *    one when they begin the new one. A file that had the name for so short a
 *    time that it was not looked at meanwhile is not read.
 * 3. A file that has become shorter than what was read of it is noticed when its
 *    end is reached. One that has been longer again before that is not.
 * 4. Reading a file may block: put a weir_flow_async() with a blocking executor
 *    behind, if the disk is slow.
 *
 * The stream fails, with the path in the message: -ENOENT, there is no file at
 * the start, or its directory is gone, or was moved; -EINVAL, it is no regular
 * file; -EACCES and what else open(2), read(2) or inotify_add_watch(2) reports.
 * -ENOTSUP: the executor watches no descriptors. -EINVAL: null, a path that ends
 * in a slash, a `block` that is too large, something in `reserved`.
 *
 * Emits: the bytes of one read, at most options->block. Completes: never.
 * Cancels: it has no upstream. Holds: the file, the next one, and one block.
 */
WEIR_API struct weir_flow *weir_flow_tail(
	const char *path, const struct weir_flow_tail_options *options);

/* --- Datagrams ------------------------------------------------------------ */

struct weir_flow_datagram {
	/* As of bytes: read-only; a receiver that has not shared it may change
	 * the bytes, and make `n` smaller. */
	char *data;
	size_t n;
	size_t size; /* as it was sent: above `n` if the end was cut off */
	/* That the kernel has dropped between the one before and this one,
	 * because the socket's buffer was full (SO_RXQ_OVFL); of the first: since
	 * the socket was made. Sockets of AF_UNIX drop none. 0 where the system
	 * does not count them, as qemu's user mode. */
	uint32_t lost;
	/*
	 * Who has sent it, or whom it is sent to: so many bytes of a struct
	 * sockaddr are in `address`. 0: it has no name, or the socket is
	 * connected.
	 */
	uint32_t address_length;
	uint64_t address[16]; /* as large as a struct sockaddr_storage */
	struct {
		const struct weir_allocator *allocator;
		size_t capacity;
		uint32_t refs;
	} WEIR_PRIVATE;
};

/*
 * A new one in *datagram with one reference, without an address, and with
 * uninitialized memory for `n` bytes behind it. `allocator` NULL means the
 * default one. -EINVAL: null. -ENOMEM. Then *datagram is NULL. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_datagram_new(
	struct weir_flow_datagram **datagram, size_t n,
	const struct weir_allocator *allocator);

/* One reference more, or one less; NULL is fine. ref returns its argument. Any
 * thread. */
WEIR_API struct weir_flow_datagram *weir_flow_datagram_ref(
	struct weir_flow_datagram *datagram);
WEIR_API void weir_flow_datagram_unref(struct weir_flow_datagram *datagram);

/* How datagrams are dropped and shared, for weir_flow_items() in flows of your
 * own. Lives for ever. */
WEIR_API const struct weir_items *weir_flow_datagram_items(void);

/* 0 is the default of each. */
struct weir_flow_datagrams_options {
	size_t size; /* of the longest datagram, at most 1 GiB; 64 KiB */
	/* A longer one is an item all the same, without its end. Else the
	 * stream fails with -EMSGSIZE. */
	bool truncate;
	uint64_t reserved[4]; /* zero */
};

/*
 * The datagrams that come to the socket `fd`, of SOCK_DGRAM or SOCK_RAW. It stays
 * the caller's, who keeps it open as long as the flow runs; its mode is not
 * changed, and it need not be non-blocking. SO_RXQ_OVFL is set. `options` is
 * copied and may be NULL.
 *
 * 1. As many as are asked for are received by one call, up to 32. While
 *    downstream does not ask, they wait in the kernel, which drops what is more
 *    than SO_RCVBUF: the next item says how many.
 * 2. An empty datagram is an item like any other.
 *
 * The stream fails with what recvmmsg(2) reports, as -ECONNREFUSED of a socket
 * that is connected to nobody; with -ENOTSOCK, or -EPROTOTYPE: another socket;
 * -ENOMEM. Behind it nothing is received, and nothing that was is lost, but with
 * -EMSGSIZE what came by the same call. -ENOTSUP: the executor watches no
 * descriptors. -EINVAL: fd < 0, `size` too large, something in `reserved`.
 *
 * Emits: a datagram, whose reference is the receiver's. Completes: when the socket
 * is shut down for reading. Cancels: it has no upstream. Holds: memory for as many
 * as came by the last call, while it receives; none while it waits.
 */
WEIR_API struct weir_flow *weir_flow_datagrams(
	int fd, const struct weir_flow_datagrams_options *options);

/*
 * Sends datagrams by the socket `fd`, with the rules of weir_flow_datagrams()
 * for its owner, each to its address, or where the socket is connected to.
 *
 * 1. Those that are there are sent by one call, up to 32. None is kept back.
 *    SIGPIPE is not raised.
 * 2. While the socket has no room the flow waits. The room of a receiver of
 *    AF_UNIX that is sent to by its address cannot be waited for: that is tried
 *    each 5 ms.
 * 3. One that cannot be sent fails the stream with what sendmmsg(2) reports, as
 *    -ECONNREFUSED, -ENETUNREACH, -EMSGSIZE. With weir_flow_supervise() it may
 *    be dropped instead (WEIR_DIRECTIVE_RESUME). A peer may have refused an
 *    earlier one than that which fails.
 *
 * -ENOTSOCK, -EPROTOTYPE, -ENOTSUP: as there. -EINVAL: fd < 0.
 *
 * Emits: the number of datagrams sent, as (void *)(uintptr_t), when upstream has
 * completed. Completes: behind the number. Cancels: when sending fails, or when
 * downstream does. Holds: 32 items.
 */
WEIR_API struct weir_flow *weir_flow_datagrams_send(struct weir_flow *flow,
						    int fd);

#ifdef __cplusplus
}
#endif

#endif
