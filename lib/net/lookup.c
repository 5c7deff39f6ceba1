/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/lookup.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/memory.h"
#include "base/own_thread.h"
#include "base/refcount.h"
#include "executor/registry.h"
#include "executor/thread.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"

/* From the default allocator: it may outlive the executor. */
struct weir__lookup {
	uint32_t refs;		/* atomic: the operator, the thread */
	struct weir__lock lock; /* over the rest, but `host` and `port` */
	struct weir__op *op;	/* NULL: it has left */
	bool done;
	int gai;   /* of getaddrinfo(3) */
	int error; /* the errno for EAI_SYSTEM */
	struct addrinfo *list;
	size_t n;
	char port[8];
	char host[];
};

static size_t size_of(size_t n)
{
	return sizeof(struct weir__lookup) + n + 1;
}

static void lookup_unref(struct weir__lookup *lookup)
{
	if (!weir__unref(&lookup->refs))
		return;
	if (lookup->list)
		freeaddrinfo(lookup->list);
	weir__free(weir_allocator_default(), lookup, size_of(lookup->n));
}

static void *look_up(void *context)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct weir__lookup *lookup = context;
	struct addrinfo *list = NULL;
	struct weir__op *op;
	int gai = getaddrinfo(lookup->host, lookup->port, &hints, &list);
	int error = errno;

	weir__lock(&lookup->lock);
	lookup->done = true;
	lookup->gai = gai;
	lookup->error = error;
	lookup->list = gai == 0 ? list : NULL;
	op = lookup->op;
	/* it is there until it has left */
	if (op)
		weir__op_hold(op);
	weir__unlock(&lookup->lock);
	if (op) {
		weir__op_wake(op);
		weir__op_unhold(op);
	}
	lookup_unref(lookup);
	return NULL;
}

/* The caller may do it itself: it may block, or it is a simulator's, where no
 * other thread may wake anybody. */
static bool is_ours(const struct weir__op *op)
{
	return weir__thread.may_block ||
	       op->island->actor.executor->registry->stands_still;
}

static int start_thread(struct weir__lookup *lookup)
{
	pthread_t thread;
	int rc =
		weir__own_thread_start(&thread, "weir-lookup", look_up, lookup);

	if (rc == 0)
		(void)pthread_detach(thread);
	return rc;
}

int weir__lookup_start(struct weir__lookup **lookup, struct weir__op *op,
		       const char *host, size_t n, uint16_t port)
{
	struct weir__lookup *made =
		weir__alloc(weir_allocator_default(), size_of(n));
	int rc = 0;

	if (!made)
		return -ENOMEM;
	made->refs = 2;
	made->op = op;
	made->n = n;
	memcpy(made->host, host, n);
	(void)snprintf(made->port, sizeof(made->port), "%u", (unsigned)port);
	if (is_ours(op))
		(void)look_up(made);
	else
		rc = start_thread(made);
	if (rc < 0) {
		weir__free(weir_allocator_default(), made, size_of(n));
		return rc;
	}
	*lookup = made;
	return 0;
}

static int errno_of(int gai, int error)
{
	switch (gai) {
	case EAI_SYSTEM:
		return error > 0 ? -error : -EIO;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_NONAME:
	case EAI_NODATA:
		return -ENOENT;
	default:
		return -EIO;
	}
}

bool weir__lookup_done(struct weir__lookup *lookup,
		       const struct addrinfo **list, int *code,
		       const char **message)
{
	bool done;

	weir__lock(&lookup->lock);
	done = lookup->done;
	weir__unlock(&lookup->lock);
	if (!done)
		return false;
	*list = lookup->list;
	*code = lookup->gai ? errno_of(lookup->gai, lookup->error) : 0;
	*message = lookup->gai ? gai_strerror(lookup->gai) : "";
	return true;
}

void weir__lookup_leave(struct weir__lookup *lookup)
{
	if (!lookup)
		return;
	weir__lock(&lookup->lock);
	lookup->op = NULL;
	weir__unlock(&lookup->lock);
	lookup_unref(lookup);
}
