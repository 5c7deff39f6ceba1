/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams, several by one call. */
#include <weir/flow_event.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/refcount.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/shared/bytes.h"
#include "flow/shared/op_fd.h"

#define AT_ONCE 32u /* of a call */
#define SIZE (64u * 1024)
#define SPARSE 4u /* times as large as what was received is too large */
#define RETRY_NS UINT64_C(5000000)

_Static_assert(sizeof(((struct weir_flow_datagram *)0)->address) ==
		       sizeof(struct sockaddr_storage),
	       "as large");

/* --- Datagrams ------------------------------------------------------------ */

int weir_flow_datagram_new(struct weir_flow_datagram **datagram, size_t n,
			   const struct weir_allocator *allocator)
{
	struct weir_flow_datagram *made = NULL;

	if (!datagram)
		return -EINVAL;
	if (!allocator)
		allocator = weir_allocator_default();
	/* the bytes are not zeroed: allocated as they are */
	if (n <= SIZE_MAX / 2)
		made = allocator->alloc(sizeof(*made) + n, allocator->context);
	*datagram = made;
	if (!made)
		return -ENOMEM;
	memset(made, 0, sizeof(*made));
	made->data = (char *)(made + 1);
	made->n = made->size = n;
	made->allocator = allocator;
	made->capacity = n;
	made->refs = 1;
	return 0;
}

struct weir_flow_datagram *weir_flow_datagram_ref(
	struct weir_flow_datagram *datagram)
{
	if (datagram)
		weir__ref(&datagram->refs);
	return datagram;
}

void weir_flow_datagram_unref(struct weir_flow_datagram *datagram)
{
	if (datagram && weir__unref(&datagram->refs))
		weir__free(datagram->allocator, datagram,
			   sizeof(*datagram) + datagram->capacity);
}

static void datagram_drop(void *item, void *context)
{
	weir_flow_datagram_unref(item);
}

static int datagram_share(void *item, void *context)
{
	(void)weir_flow_datagram_ref(item);
	return 0;
}

const struct weir_items *weir_flow_datagram_items(void)
{
	static const struct weir_items items = {
		.drop = datagram_drop,
		.share = datagram_share,
		.name = "datagrams",
	};

	return &items;
}

static const struct weir_items *gives_datagrams(const struct weir_flow *flow)
{
	return weir_flow_datagram_items();
}

static const char *takes_datagrams(const struct weir_flow *flow)
{
	const struct weir_items *given = weir__flow_items(flow->up[0]);

	if (given == &weir__items_any ||
	    (given && given->drop == datagram_drop))
		return NULL;
	return "takes datagrams, see weir_flow_datagram_items()";
}

/* What is no socket of datagrams: a negative errno. */
static int check_socket(int fd)
{
	socklen_t length = sizeof(int);
	int type;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0)
		return -errno;
	return type == SOCK_DGRAM || type == SOCK_RAW ? 0 : -EPROTOTYPE;
}

/* --- Receiving ------------------------------------------------------------ */

struct receive_of {
	int fd;
	struct weir_flow_datagrams_options options;
};

/* Room for SO_RXQ_OVFL, and aligned. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(uint32_t))];
};

/* The arguments of a call. */
struct receive_call {
	struct mmsghdr messages[AT_ONCE];
	struct iovec parts[AT_ONCE];
	union control control[AT_ONCE];
};

struct receiving {
	struct weir__op_fd wait; /* must be first */
	int code;      /* why it could not begin: it fails when it is pulled */
	uint32_t lost; /* that the kernel has counted so far */
	/* How many were there last, and are likely to be. */
	uint32_t likely;
	uint32_t n_spare;
	struct weir_flow_datagram *spare[AT_ONCE]; /* to receive into */
};

static void drop_spare(struct receiving *self)
{
	while (self->n_spare > 0)
		weir_flow_datagram_unref(self->spare[--self->n_spare]);
}

static void receiving_close(struct weir__op *op)
{
	struct receiving *self = weir__op_state(op);

	weir__op_fd_off(&self->wait, op);
	drop_spare(self);
}

static int receiving_open(struct weir__op *op)
{
	const struct receive_of *args = weir__op_args(op);
	struct receiving *self = weir__op_state(op);
	int on = 1;

	self->likely = 1;
	self->code = check_socket(args->fd);
	/* not each system counts (ENOPROTOOPT) */
	if (self->code == 0 &&
	    setsockopt(args->fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on)) <
		    0 &&
	    errno != ENOPROTOOPT)
		self->code = -errno;
	return 0;
}

/* Has as many as are likely, or as there is memory for. False: none. */
static bool have_spare(struct weir__op *op, size_t room)
{
	const struct receive_of *args = weir__op_args(op);
	struct receiving *self = weir__op_state(op);
	uint32_t most = (uint32_t)weir__at_most(self->likely, room);
	struct weir_flow_datagram *made;

	while (self->n_spare < most &&
	       weir_flow_datagram_new(&made, args->options.size,
				      weir__op_allocator(op)) == 0)
		self->spare[self->n_spare++] = made;
	return self->n_spare > 0;
}

static void set_up(struct receive_call *call, const struct receiving *self,
		   uint32_t n)
{
	struct weir_flow_datagram *to;
	uint32_t i;

	for (i = 0; i < n; i++) {
		to = self->spare[i];
		call->parts[i] = (struct iovec){to->data, to->capacity};
		call->messages[i] = (struct mmsghdr){
			.msg_hdr = {
				.msg_name = to->address,
				.msg_namelen = sizeof(to->address),
				.msg_iov = &call->parts[i],
				.msg_iovlen = 1,
				.msg_control = &call->control[i],
				.msg_controllen = sizeof(call->control[i]),
			}};
	}
}

/* How many were lost in front of it. */
static uint32_t lost_before(struct receiving *self, struct msghdr *header)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(header);
	uint32_t all, lost;

	for (; control; control = CMSG_NXTHDR(header, control)) {
		if (control->cmsg_level != SOL_SOCKET ||
		    control->cmsg_type != SO_RXQ_OVFL)
			continue;
		memcpy(&all, CMSG_DATA(control), sizeof(all));
		lost = all - self->lost;
		self->lost = all;
		return lost;
	}
	return 0;
}

/* Who keeps a short one should not keep memory for a long one. NULL: it is given
 * as it is. */
static struct weir_flow_datagram *copy_short(
	struct weir__op *op, const struct weir_flow_datagram *one)
{
	struct weir_flow_datagram *copy;

	if (one->n >= one->capacity / SPARSE ||
	    weir_flow_datagram_new(&copy, one->n, weir__op_allocator(op)) < 0)
		return NULL;
	memcpy(copy->data, one->data, one->n);
	copy->lost = one->lost;
	copy->address_length = one->address_length;
	memcpy(copy->address, one->address, sizeof(copy->address));
	return copy;
}

/* What the call says of it. */
static void describe(struct receiving *self, struct weir_flow_datagram *one,
		     struct mmsghdr *message)
{
	one->size = message->msg_len;
	one->n = one->size < one->capacity ? one->size : one->capacity;
	one->address_length = message->msg_hdr.msg_namelen;
	one->lost = lost_before(self, &message->msg_hdr);
}

/* `n` were received into the first of the spare ones. Returns how many are
 * items; the operator may have ended behind these. */
static size_t take(struct weir__op *op, struct receive_call *call, uint32_t n,
		   void **items)
{
	const struct receive_of *args = weir__op_args(op);
	struct receiving *self = weir__op_state(op);
	struct weir_flow_datagram *one;
	bool failed = false;
	uint32_t i, left = 0;
	size_t taken = 0;

	for (i = 0; i < self->n_spare; i++) {
		one = self->spare[i];
		if (i < n && !failed) {
			describe(self, one, &call->messages[i]);
			failed = one->n < one->size && !args->options.truncate;
		}
		if (i >= n || failed) {
			self->spare[left++] = one;
		} else if ((items[taken] = copy_short(op, one))) {
			taken++;
			self->spare[left++] = one;
		} else {
			items[taken++] = one;
		}
	}
	self->n_spare = left;
	if (failed)
		weir__op_fail_code(op, -EMSGSIZE, "a datagram is longer");
	return taken;
}

/* The result of the call: a number, or a negative errno. */
static int receive(struct receiving *self, int fd, struct receive_call *call,
		   uint32_t n)
{
	int rc;

	do {
		set_up(call, self, n);
		rc = recvmmsg(fd, call->messages, n, MSG_DONTWAIT | MSG_TRUNC,
			      NULL);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : rc;
}

/* The kernel says that nothing comes any more only where it is waited for. */
static bool is_shut_down(const struct receiving *self)
{
	return weir__op_fd_armed(&self->wait) &&
	       (ck_pr_load_32(&self->wait.ready) & (POLLHUP | POLLRDHUP));
}

static size_t receive_some(struct weir__op *op, void **items, size_t room)
{
	const struct receive_of *args = weir__op_args(op);
	struct receiving *self = weir__op_state(op);
	uint32_t n = (uint32_t)weir__at_most(self->n_spare, room);
	struct receive_call call;
	int rc, waits;

	do {
		waits = 1;
		rc = receive(self, args->fd, &call, n);
		if (rc == -EAGAIN && !is_shut_down(self))
			waits = weir__op_fd_again(&self->wait, op, args->fd,
						  POLLIN);
		else if (rc == -EAGAIN)
			weir__op_end(op, NULL);
	} while (waits == 0);
	if (rc > 0) {
		/* twice as many where there may be more */
		self->likely = (uint32_t)rc < n ? (uint32_t)rc : 2 * n;
		if (self->likely > AT_ONCE)
			self->likely = AT_ONCE;
		return take(op, &call, (uint32_t)rc, items);
	}
	/* who waits has none */
	drop_spare(self);
	if (op->ended)
		return 0;
	if (waits < 0)
		weir__op_fail_code(op, waits,
				   "the socket cannot be waited for");
	else if (rc != -EAGAIN)
		weir__op_fail_code(op, rc, "datagrams cannot be received");
	return 0;
}

static size_t receiving_pull(struct weir__op *op, void **items, size_t room)
{
	struct receiving *self = weir__op_state(op);

	if (self->code < 0) {
		weir__op_fail_code(op, self->code, "no socket of datagrams");
		return 0;
	}
	if (room == 0 || weir__op_fd_waits(&self->wait))
		return 0;
	if (have_spare(op, room))
		return receive_some(op, items, room);
	weir__op_fail(op, -ENOMEM, "no memory for a datagram");
	return 0;
}

static const struct weir__kind datagrams_kind = {
	.name = "datagrams",
	.state_size = sizeof(struct receiving),
	.items = gives_datagrams,
	.open = receiving_open,
	.pull = receiving_pull,
	.close = receiving_close,
	.keeps = sizeof(struct weir__op_fd),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

struct weir_flow *weir_flow_datagrams(
	int fd, const struct weir_flow_datagrams_options *options)
{
	struct receive_of args = {.fd = fd};
	const char *wrong = NULL;
	struct weir_flow *flow;

	if (options)
		args.options = *options;
	if (args.options.size == 0)
		args.options.size = SIZE;
	if (fd < 0)
		wrong = "fd is no descriptor";
	else if (args.options.size > WEIR__BYTES_MAX)
		wrong = "size is above 1 GiB";
	else if (!weir__reserved_zero(args.options.reserved))
		wrong = "reserved is not zero";
	flow = weir__flow_source(&datagrams_kind, &args, sizeof(args), !wrong);
	return weir__flow_wrong_as(flow, &datagrams_kind, wrong);
}

/* --- Sending -------------------------------------------------------------- */

struct send_to {
	int fd;
};

struct sending {
	/* survive a restart */
	struct weir__op_fd wait;
	struct weir__op_timer timer;
	/* do not */
	uint32_t first, n;
	struct weir_flow_datagram *held[AT_ONCE];
	uintptr_t sent;
	uint64_t pause_end_ns; /* 0: it does not pause */
	int code; /* why it could not begin: it fails when it is pulled */
};

static void sending_close(struct weir__op *op)
{
	struct sending *self = weir__op_state(op);

	weir__op_fd_off(&self->wait, op);
	weir__op_timer_off(&self->timer);
	weir__op_drop(op->up[0], (void *const *)self->held + self->first,
		      self->n - self->first);
	self->first = self->n = 0;
}

static int sending_open(struct weir__op *op)
{
	const struct send_to *args = weir__op_args(op);
	struct sending *self = weir__op_state(op);

	self->code = check_socket(args->fd);
	return 0;
}

/* As many as one call sends. The result is as that of receive(). */
static int send_held(const struct sending *self, int fd)
{
	struct mmsghdr messages[AT_ONCE];
	struct iovec parts[AT_ONCE];
	struct weir_flow_datagram *one;
	uint32_t n = self->n - self->first, i;
	int rc;

	for (i = 0; i < n; i++) {
		one = self->held[self->first + i];
		parts[i] = (struct iovec){one->data, one->n};
		messages[i] = (struct mmsghdr){
			.msg_hdr = {
				.msg_name = one->address_length ? one->address
								: NULL,
				.msg_namelen = one->address_length,
				.msg_iov = &parts[i],
				.msg_iovlen = 1,
			}};
	}
	do
		rc = sendmmsg(fd, messages, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : rc;
}

/*
 * A socket of AF_UNIX is ready to write while it has room itself, whatever the
 * one has that is sent to by its address: there nothing can be waited for.
 */
static bool may_wait(const struct sending *self)
{
	const struct weir_flow_datagram *one = self->held[self->first];
	sa_family_t family;

	/* what every struct sockaddr begins with */
	memcpy(&family, one->address, sizeof(family));
	return one->address_length == 0 || family != AF_UNIX;
}

/* It waits, or has failed. False: to be tried again. */
static bool sending_waits(struct weir__op *op)
{
	const struct send_to *args = weir__op_args(op);
	struct sending *self = weir__op_state(op);
	int rc;

	if (may_wait(self)) {
		rc = weir__op_fd_again(&self->wait, op, args->fd, POLLOUT);
	} else {
		self->pause_end_ns = weir__later(weir__op_now(op), RETRY_NS);
		rc = weir__op_timer_at(&self->timer, op, self->pause_end_ns);
		rc = rc < 0 ? rc : 1;
	}
	if (rc < 0)
		weir__op_fail_code(op, rc, "the socket cannot be waited for");
	return rc != 0;
}

/* The first one cannot be sent. False: the operator has failed. */
static bool send_failed(struct weir__op *op, int code)
{
	struct sending *self = weir__op_state(op);
	struct weir_flow_datagram *one = self->held[self->first++];
	bool survives =
		weir__op_survives_as(op, code, "a datagram cannot be sent");

	weir__op_drop_one(op->up[0], one);
	return survives;
}

/* True: all that were held are sent. */
static bool send_all(struct weir__op *op)
{
	const struct send_to *args = weir__op_args(op);
	struct sending *self = weir__op_state(op);
	int rc;

	while (self->first < self->n) {
		rc = send_held(self, args->fd);
		if (rc > 0) {
			weir__op_drop(op->up[0],
				      (void *const *)self->held + self->first,
				      (size_t)rc);
			self->first += (uint32_t)rc;
			self->sent += (uintptr_t)rc;
		} else if (rc == -EAGAIN) {
			if (sending_waits(op))
				return false;
		} else if (!send_failed(op, rc)) {
			return false;
		}
	}
	return true;
}

/* True: it waits for the socket. */
static bool pauses(struct weir__op *op)
{
	struct sending *self = weir__op_state(op);

	if (weir__op_fd_waits(&self->wait))
		return true;
	if (self->pause_end_ns == 0 || weir__op_now(op) >= self->pause_end_ns) {
		self->pause_end_ns = 0;
		return false;
	}
	/* the timer may have fired for an earlier pause */
	(void)weir__op_timer_at(&self->timer, op, self->pause_end_ns);
	return true;
}

static void send_more(struct weir__op *op)
{
	struct sending *self = weir__op_state(op);

	if (self->first == self->n) {
		self->first = 0;
		self->n = (uint32_t)weir__pull(op->up[0], (void **)self->held,
					       AT_ONCE);
	}
	/* the failed item may be one that was taken before */
	if (self->first < self->n && send_all(op))
		weir__op_again(op);
}

static size_t sending_pull(struct weir__op *op, void **items, size_t room)
{
	struct sending *self = weir__op_state(op);
	struct weir__op *up = op->up[0];

	if (self->code < 0) {
		weir__op_fail_code(op, self->code, "no socket of datagrams");
		return 0;
	}
	if (room == 0)
		weir__pull_none(up);
	else if (!pauses(op))
		send_more(op);
	if (op->ended || self->first < self->n || !up->ended)
		return 0;
	if (up->error) {
		weir__op_end(op, up->error);
		return 0;
	}
	if (room == 0)
		return 0;
	items[0] = (void *)self->sent;
	weir__op_end(op, NULL);
	return 1;
}

static const struct weir__kind datagrams_send_kind = {
	.name = "datagrams_send",
	.state_size = sizeof(struct sending),
	.refuses = takes_datagrams,
	.open = sending_open,
	.pull = sending_pull,
	.close = sending_close,
	.keeps = offsetof(struct sending, first),
	.holds = true,
	.makes = true,
};

struct weir_flow *weir_flow_datagrams_send(struct weir_flow *flow, int fd)
{
	struct send_to args = {fd};

	flow = weir__flow_upon(&datagrams_send_kind, flow, &args, sizeof(args),
			       fd >= 0);
	return weir__flow_wrong(flow, &datagrams_send_kind,
				"%d is no descriptor", fd);
}
