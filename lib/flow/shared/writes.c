/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that are to be written: taken, gathered for a call, and dropped when
 * they are written. */
#include "flow/shared/writes.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "executor/thread.h"
#include "flow/engine/island.h"

#define GATHERED_BYTES \
	(64u * 1024) /* from there on no more items are asked for */

uint64_t weir__writes_until(const struct weir__op *op)
{
	if (op->up[0]->kind->ready)
		return WEIR_FOREVER;
	if (weir__thread.may_block)
		return 0;
	return weir__op_now(op) +
	       op->island->actor.executor->options.publish_ns;
}

void weir__writes_take(struct weir__writes *writes, struct weir__op *op)
{
	struct weir__op *up = op->up[0];
	uint64_t until_ns = weir__writes_until(op);
	size_t n_bytes = 0, n, i;

	assert(!weir__writes_any(writes));
	writes->first = writes->n = 0;
	writes->at = 0;
	do {
		n = weir__pull(up, (void **)writes->bytes + writes->n,
			       up->kind->ready ? 1
					       : WEIR__GATHERED - writes->n);
		for (i = 0; i < n; i++)
			n_bytes += writes->bytes[writes->n++]->n;
	} while (n > 0 && writes->n < WEIR__GATHERED &&
		 n_bytes < GATHERED_BYTES && weir__writes_early(op, until_ns));
}

int weir__writes_gather(const struct weir__writes *writes, struct iovec *parts,
			size_t most, bool alone)
{
	const struct weir_flow_bytes *bytes;
	size_t at = writes->at, sum = 0;
	uint32_t i;
	int n = 0;

	for (i = writes->first; i < writes->n; i++, at = 0) {
		bytes = writes->bytes[i];
		if (n > 0 && (alone || bytes->n > most - sum))
			break;
		assert(at <= bytes->n);
		parts[n++] = (struct iovec){bytes->data + at, bytes->n - at};
		sum += bytes->n - at < most - sum ? bytes->n - at : most - sum;
	}
	return n;
}

void weir__writes_wrote(struct weir__writes *writes, struct weir__op *op,
			size_t n)
{
	struct weir_flow_bytes *bytes;

	writes->at += n;
	while (weir__writes_any(writes) &&
	       writes->at >= (bytes = writes->bytes[writes->first])->n) {
		writes->at -= bytes->n;
		writes->first++;
		weir__op_drop_one(op->up[0], bytes);
	}
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

/*
 * SIGPIPE is blocked during the call, and taken back if the call has raised it.
 * A SIGPIPE that was pending before, because the thread blocks it anyway, is
 * left.
 */
static ssize_t write_quietly(int fd, const struct iovec *parts, int n)
{
	const struct timespec now = {0};
	sigset_t pipe, kept, pending;
	bool others = false;
	ssize_t rc;
	int error;

	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe, &kept);
	if (sigismember(&kept, SIGPIPE) == 1 && sigpending(&pending) == 0)
		others = sigismember(&pending, SIGPIPE) == 1;
	rc = writev(fd, parts, n);
	error = errno;
	while (rc < 0 && error == EPIPE && !others &&
	       sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR)
		;
	(void)pthread_sigmask(SIG_SETMASK, &kept, NULL);
	errno = error;
	return rc;
}

/* Threads that belong to the library block all signals. */
ssize_t weir__write_pipe(int fd, const struct iovec *parts, int n)
{
	if (weir__thread.worker || weir__thread.may_block)
		return writev(fd, parts, n);
	return write_quietly(fd, parts, n);
}
