/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/wire.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

/* Memory of this size stays while it is not needed: records of few bytes take
 * none anew. */
#define SMALL 2048u

/* --- To the socket -------------------------------------------------------- */

static void give_back(struct weir__tls_wire *wire)
{
	if (wire->bytes)
		wire->allocator->free(wire->bytes, wire->capacity,
				      wire->allocator->context);
	wire->bytes = NULL;
	wire->capacity = 0;
}

int weir__tls_wire_reserve(struct weir__tls_wire *wire, size_t n)
{
	size_t held = wire->n - wire->at, capacity = SMALL;
	char *bytes;

	if (wire->capacity - wire->n >= n)
		return 0;
	if (held + n > capacity)
		capacity = held + n;
	bytes = wire->allocator->alloc(capacity, wire->allocator->context);
	if (!bytes) {
		wire->code = -ENOMEM;
		return -ENOMEM;
	}
	if (held > 0)
		memcpy(bytes, wire->bytes + wire->at, held);
	give_back(wire);
	wire->bytes = bytes;
	wire->capacity = capacity;
	wire->at = 0;
	wire->n = held;
	return 0;
}

int weir__tls_wire_flush(struct weir__tls_wire *wire, size_t *sent)
{
	ssize_t n;

	while (wire->at < wire->n && wire->code == 0) {
		n = send(wire->fd, wire->bytes + wire->at, wire->n - wire->at,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			wire->at += (size_t)n;
			*sent += (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			return -EAGAIN;
		} else if (errno != EINTR) {
			wire->code = -errno;
		}
	}
	wire->at = wire->n = 0;
	if (wire->capacity > SMALL)
		give_back(wire);
	return wire->code;
}

void weir__tls_wire_fini(struct weir__tls_wire *wire)
{
	give_back(wire);
}

/* --- The BIO -------------------------------------------------------------- */

static int wire_write(BIO *bio, const char *bytes, size_t n, size_t *written)
{
	struct weir__tls_wire *wire = BIO_get_data(bio);

	BIO_clear_retry_flags(bio);
	if (wire->code < 0 || weir__tls_wire_reserve(wire, n) < 0)
		return 0;
	memcpy(wire->bytes + wire->n, bytes, n);
	wire->n += n;
	*written = n;
	return 1;
}

static int read_fails(BIO *bio, struct weir__tls_wire *wire)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		BIO_set_retry_read(bio);
	else
		wire->code = -errno;
	return 0;
}

static int wire_read(BIO *bio, char *to, size_t n, size_t *got)
{
	struct weir__tls_wire *wire = BIO_get_data(bio);
	ssize_t taken;

	BIO_clear_retry_flags(bio);
	if (wire->code < 0)
		return 0;
	if (wire->blind && wire->empty) {
		BIO_set_retry_read(bio);
		return 0;
	}
	do
		taken = recv(wire->fd, to, n, MSG_DONTWAIT);
	while (taken < 0 && errno == EINTR);
	if (taken < 0)
		return read_fails(bio, wire);
	wire->empty = (size_t)taken < n;
	wire->ended = taken == 0;
	*got = (size_t)taken;
	return taken > 0;
}

static long wire_ctrl(BIO *bio, int command, long number, void *pointer)
{
	const struct weir__tls_wire *wire = BIO_get_data(bio);

	(void)number;
	(void)pointer;
	switch (command) {
	case BIO_CTRL_FLUSH:
		return 1;
	case BIO_CTRL_EOF:
		return wire->ended;
	default:
		return 0;
	}
}

static BIO_METHOD *method;

static void make_method(void)
{
	BIO_METHOD *made = BIO_meth_new(
		BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "weir");

	if (made && BIO_meth_set_write_ex(made, wire_write) &&
	    BIO_meth_set_read_ex(made, wire_read) &&
	    BIO_meth_set_ctrl(made, wire_ctrl))
		method = made;
	else
		BIO_meth_free(made);
}

/* Made once, for ever; again, if there was no memory. */
static const BIO_METHOD *the_method(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const BIO_METHOD *made;

	(void)pthread_mutex_lock(&lock);
	if (!method)
		make_method();
	made = method;
	(void)pthread_mutex_unlock(&lock);
	return made;
}

BIO *weir__tls_wire_bio(struct weir__tls_wire *wire)
{
	const BIO_METHOD *made = the_method();
	BIO *bio = made ? BIO_new(made) : NULL;

	if (!bio)
		return NULL;
	BIO_set_data(bio, wire);
	BIO_set_init(bio, 1);
	return bio;
}
