/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What TLS has between OpenSSL and the socket: a BIO that reads from the socket,
 * and writes into memory, which is given to the socket by one call for several
 * records.
 */
#ifndef WEIR_TLS_WIRE_H
#define WEIR_TLS_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/bio.h>

#include <weir/allocator.h>

struct weir__tls_wire {
	const struct weir_allocator *allocator;
	int fd;	    /* of the call under way */
	int code;   /* 0, or the negative errno with which it has failed */
	bool blind; /* what is read is all: the socket is not asked once more */
	bool empty; /* the last read took all that there was */
	bool ended; /* the peer has */
	/* Made, and not given to the kernel: from `at` to `n`. */
	char *bytes;
	size_t capacity, at, n;
};

/* A BIO around the wire, with one reference; NULL: no memory. */
BIO *weir__tls_wire_bio(struct weir__tls_wire *wire);

/* Room for `n` bytes more. 0 or -ENOMEM, and then the wire has failed. */
int weir__tls_wire_reserve(struct weir__tls_wire *wire, size_t n);
/* 0: the kernel has all; -EAGAIN; or as the wire has failed. *sent grows. */
int weir__tls_wire_flush(struct weir__tls_wire *wire, size_t *sent);
void weir__tls_wire_fini(struct weir__tls_wire *wire);

#endif
