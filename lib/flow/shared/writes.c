/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that are to be written: taken, gathered for a call, and dropped when
 * they are written. */
#include "flow/shared/writes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/refcount.h"
#include "executor/thread.h"
#include "flow/engine/island.h"
#include "flow/shared/bytes.h"

#define GATHERED_BYTES \
	(64u * 1024) /* from there on no more items are asked for */
#define MANY 8	     /* parts; more of them the kernel allocates memory for */

/* Drops items of the operator above, which are bytes whatever their table is. */
static void drop(struct weir__op *op, struct weir_flow_bytes *const *bytes,
		 uint32_t n)
{
	const struct weir_items *items = op->up[0]->items;

	if (items && items->drop == weir_flow_bytes_items()->drop)
		weir__bytes_drop(bytes, n);
}

/* What the bytes are a part of. */
static const struct weir_flow_bytes *root_of(
	const struct weir_flow_bytes *bytes)
{
	while (bytes->whole)
		bytes = bytes->whole;
	return bytes;
}

/* True: the bytes are right behind those of `last`, in the memory that this
 * holds, and nobody else has `last`: so it may have them, too. */
static bool joins(const struct weir_flow_bytes *last,
		  const struct weir_flow_bytes *bytes)
{
	return last->data + last->n == bytes->data &&
	       weir__ref_only(&last->refs) &&
	       (last->whole == bytes->whole || root_of(last) == root_of(bytes));
}

/* Items have come. Neighbours become one, if they may. */
static void put(struct weir__writes *writes, struct weir__op *op,
		struct weir_flow_bytes *const *items, size_t n)
{
	struct weir_flow_bytes *joined[WEIR__GATHERED], *last;
	uint32_t n_joined = 0;

	for (size_t i = 0; i < n; i++) {
		last = writes->n > 0 ? writes->bytes[writes->n - 1] : NULL;
		writes->n_bytes += items[i]->n;
		if (writes->joins && last && joins(last, items[i])) {
			last->n += items[i]->n;
			joined[n_joined++] = items[i];
		} else {
			writes->bytes[writes->n++] = items[i];
		}
	}
	drop(op, joined, n_joined);
}

/* Pulls for items, `most` of them where a run of turns has time for fewer.
 * Returns how many have come. */
static size_t take_some(struct weir__writes *writes, struct weir__op *op,
			uint32_t most)
{
	struct weir_flow_bytes *items[WEIR__GATHERED];
	struct weir__island *island = op->island;
	struct weir__op *up = op->up[0];
	uint32_t ask = island->ask;
	size_t n;

	if (most > ask)
		island->ask = most;
	n = weir__pull(up, (void **)items,
		       up->kind->ready ? 1 : WEIR__GATHERED - writes->n);
	island->ask = ask;
	put(writes, op, items, n);
	return n;
}

static bool has_room(const struct weir__writes *writes)
{
	return writes->n < WEIR__GATHERED && writes->n_bytes < GATHERED_BYTES;
}

/* Takes more, as long as they come quickly. */
static void take_quick(struct weir__writes *writes, struct weir__op *op,
		       uint64_t publish_ns)
{
	uint64_t begin_ns = weir__op_now(op), ns;
	size_t all = 0, n;

	do {
		n = take_some(writes, op, writes->quick);
		ns = weir__op_now(op) - begin_ns;
		all += n;
		if (all > 0)
			writes->quick = (uint32_t)weir__at_most(
				all * publish_ns / (ns | 1), WEIR__GATHERED);
	} while (n > 0 && has_room(writes) && ns < publish_ns);
}

/*
 * What one pull brings is as much as a run of turns has time for, which may be
 * one item, because a write takes longer than that. Others behind it may come
 * in no time, if it was read by a call together with them, so they are asked
 * for if those of the last time came quickly, or this one. Where turns may block
 * they are not: the peer wants the items that we have.
 */
void weir__writes_take(struct weir__writes *writes, struct weir__op *op)
{
	uint64_t publish_ns = op->island->actor.executor->options.publish_ns;
	bool ready = op->up[0]->kind->ready;
	uint64_t begin_ns = 0;

	assert(!weir__writes_any(writes));
	writes->first = writes->n = 0;
	writes->n_bytes = writes->at = 0;
	while (ready && take_some(writes, op, 1) > 0 && has_room(writes))
		;
	if (ready)
		return;
	if (writes->quick == 0)
		begin_ns = weir__op_now(op);
	if (take_some(writes, op, 1) == 0 || !has_room(writes) ||
	    weir__thread.may_block)
		return;
	if (writes->quick > 0 || weir__op_now(op) - begin_ns < publish_ns)
		take_quick(writes, op, publish_ns);
}

static const char *end_of(const struct iovec *part)
{
	return (const char *)part->iov_base + part->iov_len;
}

/* Copies all of them, if they are many and short. */
static int copy_parts(struct weir__gathered *gathered, int n)
{
	struct iovec *parts = &gathered->parts[0];
	size_t sum = 0, at = 0;
	int i;

	for (i = 0; i < n && sum <= WEIR__COPIED; i++)
		sum += parts[i].iov_len;
	if (n <= MANY || sum > WEIR__COPIED)
		return n;
	for (i = 0; i < n; at += parts[i++].iov_len)
		memcpy(gathered->copies + at, parts[i].iov_base,
		       parts[i].iov_len);
	parts[0] = (struct iovec){gathered->copies, sum};
	return 1;
}

int weir__writes_gather(const struct weir__writes *writes,
			struct weir__gathered *gathered, size_t most,
			bool alone)
{
	struct iovec *parts = &gathered->parts[0];
	const struct weir_flow_bytes *bytes;
	size_t at = writes->at, sum = 0;
	uint32_t i;
	int n = 0;

	for (i = writes->first; i < writes->n; i++, at = 0) {
		bytes = writes->bytes[i];
		if (n > 0 && (alone || bytes->n > most - sum))
			break;
		assert(at <= bytes->n);
		if (n > 0 && end_of(&parts[n - 1]) == bytes->data)
			parts[n - 1].iov_len += bytes->n;
		else
			parts[n++] =
				(struct iovec){bytes->data + at, bytes->n - at};
		sum += bytes->n - at < most - sum ? bytes->n - at : most - sum;
	}
	return copy_parts(gathered, n);
}

void weir__writes_wrote(struct weir__writes *writes, struct weir__op *op,
			size_t n)
{
	uint32_t first = writes->first;

	writes->at += n;
	for (; weir__writes_any(writes) &&
	       writes->at >= writes->bytes[writes->first]->n;
	     writes->first++)
		writes->at -= writes->bytes[writes->first]->n;
	drop(op, writes->bytes + first, writes->first - first);
	assert(weir__writes_any(writes) || writes->at == 0);
}

void weir__writes_drop(struct weir__writes *writes, struct weir__op *op)
{
	if (weir__writes_any(writes))
		weir__op_drop(op->up[0],
			      (void *const *)writes->bytes + writes->first,
			      writes->n - writes->first);
	writes->first = writes->n = 0;
	writes->at = 0;
}

/* What a call that may raise SIGPIPE is to leave as it was. */
struct quiet {
	sigset_t pipe, kept;
	bool quiet;  /* the thread belongs to the library: it blocks them all */
	bool others; /* one was pending before: the thread blocks it anyway */
};

/* SIGPIPE is blocked during the call. */
static void quiet_begin(struct quiet *self)
{
	sigset_t pending;

	self->quiet = weir__thread.worker || weir__thread.may_block;
	self->others = false;
	if (self->quiet)
		return;
	(void)sigemptyset(&self->pipe);
	(void)sigaddset(&self->pipe, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &self->pipe, &self->kept);
	if (sigismember(&self->kept, SIGPIPE) == 1 && sigpending(&pending) == 0)
		self->others = sigismember(&pending, SIGPIPE) == 1;
}

/* It is taken back if the call has raised it. Leaves errno. */
static void quiet_end(const struct quiet *self, ssize_t rc)
{
	const struct timespec now = {0};
	int error = errno;

	if (self->quiet)
		return;
	while (rc < 0 && error == EPIPE && !self->others &&
	       sigtimedwait(&self->pipe, NULL, &now) < 0 && errno == EINTR)
		;
	(void)pthread_sigmask(SIG_SETMASK, &self->kept, NULL);
	errno = error;
}

ssize_t weir__write_pipe(int fd, const struct iovec *parts, int n)
{
	struct quiet quiet;
	ssize_t rc;

	quiet_begin(&quiet);
	rc = writev(fd, parts, n);
	quiet_end(&quiet, rc);
	return rc;
}

ssize_t weir__splice_pipe(int pipe, int fd, size_t n)
{
	struct quiet quiet;
	ssize_t rc;

	quiet_begin(&quiet);
	rc = splice(pipe, NULL, fd, NULL, n, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	quiet_end(&quiet, rc);
	return rc;
}
