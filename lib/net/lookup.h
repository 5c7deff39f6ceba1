/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking a name up, by getaddrinfo(3), which blocks: on a thread of its own,
 * that ends with the answer, unless the caller may block. The thread cannot be stopped: so it and the
 * operator share what it works on, and the last of the two frees it.
 */
#ifndef WEIR_NET_LOOKUP_H
#define WEIR_NET_LOOKUP_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir__lookup;
struct weir__op;

/*
 * Begins, and wakes the operator when there is an answer. `host` has `n` bytes.
 * 0, -ENOMEM, or what pthread_create(3) reports. Owner.
 */
int weir__lookup_start(struct weir__lookup **lookup, struct weir__op *op,
		       const char *host, size_t n, uint16_t port);

/*
 * True: there is an answer: *list, which stays the lookup's; or *code, a
 * negative errno, with *message, which stands for ever. Owner.
 */
bool weir__lookup_done(struct weir__lookup *lookup,
		       const struct addrinfo **list, int *code,
		       const char **message);

/* Nobody waits for it any more; NULL is fine. Owner. */
void weir__lookup_leave(struct weir__lookup *lookup);

#endif
