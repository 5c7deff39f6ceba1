/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of files, as inotify(7) tells them. */
#include "flow/operators/event_inotify.h"

#include <weir/flow_event.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/shared/bytes.h"

/* --- An instance ---------------------------------------------------------- */

int weir__inotify_open(struct weir__inotify *self)
{
	self->at = self->n = 0;
	self->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return self->fd < 0 ? -errno : 0;
}

void weir__inotify_close(struct weir__inotify *self, struct weir__op *op)
{
	weir__op_fd_off(&self->wait, op);
	if (self->fd >= 0)
		(void)close(self->fd);
	self->fd = -1;
	self->at = self->n = 0;
}

/* More events. False: there are none, or the operator has failed. */
static bool read_events(struct weir__inotify *self, struct weir__op *op)
{
	int waits;
	ssize_t n;

	if (weir__op_fd_waits(&self->wait))
		return false;
	for (;;) {
		n = read(self->fd, self->events, sizeof(self->events));
		if (n > 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 || errno != EAGAIN) {
			weir__op_fail_code(op, n < 0 ? -errno : -EIO,
					   "changes cannot be read");
			return false;
		}
		waits = weir__op_fd_again(&self->wait, op, self->fd, POLLIN);
		if (waits < 0)
			weir__op_fail_code(op, waits,
					   "changes cannot be waited for");
		if (waits != 0)
			return false;
	}
	self->at = 0;
	self->n = (size_t)n;
	return true;
}

const struct inotify_event *weir__inotify_next(struct weir__inotify *self,
					       struct weir__op *op)
{
	const struct inotify_event *event;

	if (self->at == self->n && !read_events(self, op))
		return NULL;
	/* the kernel puts only whole events there, each aligned */
	event = (const void *)(self->events + self->at);
	self->at += sizeof(*event) + event->len;
	return event;
}

/* --- Changes -------------------------------------------------------------- */

#define EVENTS ((uint32_t)IN_ALL_EVENTS)
#define FLAGS ((uint32_t)(IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK))

/* Memory of its own: the paths, and their characters. */
struct changes_of {
	const char **paths;
	size_t n, size;
	uint32_t mask;
};

struct changes {
	struct weir__inotify inotify; /* must be first */
	int *watches;		      /* of each path; -1: no more */
	size_t n_left;		      /* that are watched */
	int code;   /* why it could not begin: it fails when it is pulled */
	size_t bad; /* that path, or the number of all: the instance */
};

static void changes_close(struct weir__op *op)
{
	const struct changes_of *args = weir__op_args(op);
	struct changes *self = weir__op_state(op);

	weir__inotify_close(&self->inotify, op);
	weir__free(weir__op_allocator(op), self->watches,
		   args->n * sizeof(*self->watches));
	self->watches = NULL;
}

static int watch_all(struct changes *self, const struct changes_of *args)
{
	int fd = self->inotify.fd;

	for (self->bad = 0; self->bad < args->n; self->bad++) {
		self->watches[self->bad] =
			inotify_add_watch(fd, args->paths[self->bad],
					  args->mask | IN_MASK_CREATE);
		if (self->watches[self->bad] < 0)
			return -errno;
	}
	self->n_left = args->n;
	return 0;
}

static int changes_open(struct weir__op *op)
{
	const struct changes_of *args = weir__op_args(op);
	struct changes *self = weir__op_state(op);

	self->inotify.fd = -1;
	self->bad = args->n;
	self->watches = weir__alloc(weir__op_allocator(op),
				    args->n * sizeof(*self->watches));
	if (!self->watches)
		return -ENOMEM;
	self->code = weir__inotify_open(&self->inotify);
	if (self->code == 0)
		self->code = watch_all(self, args);
	return 0;
}

static void changes_fail(struct weir__op *op)
{
	const struct changes_of *args = weir__op_args(op);
	struct changes *self = weir__op_state(op);
	struct weir_error *error;

	if (self->bad == args->n) {
		weir__op_fail_code(op, self->code, "no inotify instance");
		return;
	}
	error = weir__error_format(weir__op_allocator(op), self->code,
				   weir__op_name(op), "%s %s",
				   args->paths[self->bad],
				   self->code == -EEXIST
					   ? "is the same file as another path"
					   : weir_strerror(self->code));
	weir__op_end(op, error);
	weir_error_unref(error);
}

/* The index of the path, or the number of all. */
static size_t path_of(const struct changes *self, size_t n, int watch)
{
	size_t i;

	/* the kernel counts from 1 */
	if (watch > 0 && (size_t)watch <= n &&
	    self->watches[watch - 1] == watch)
		return (size_t)watch - 1;
	for (i = 0; i < n && self->watches[i] != watch; i++)
		;
	return i;
}

/* An item, or NULL: no memory. */
static struct weir_flow_bytes *change_of(struct weir__op *op,
					 const struct inotify_event *event,
					 const char *path, size_t index)
{
	const char *name = event->len > 0 ? event->name : "";
	size_t length = strlen(path);
	bool slash = name[0] && path[0] && path[length - 1] != '/';
	struct weir_flow_change *change;
	struct weir_flow_bytes *bytes;

	length += slash + strlen(name) + 1;
	if (weir_flow_bytes_new(&bytes, sizeof(*change) + length,
				weir__op_allocator(op)) < 0)
		return NULL;
	change = (void *)bytes->data;
	*change = (struct weir_flow_change){
		.mask = event->mask & ~(uint32_t)IN_ISDIR,
		.cookie = event->cookie,
		.watched = index,
		.path = (char *)(change + 1),
		.directory = event->mask & IN_ISDIR,
		.rescan = event->mask & IN_Q_OVERFLOW,
	};
	(void)snprintf((char *)(change + 1), length, "%s%s%s", path,
		       slash ? "/" : "", name);
	return bytes;
}

/* The item of the event, or NULL: it has none, or the operator has failed. */
static struct weir_flow_bytes *take_change(struct weir__op *op,
					   const struct inotify_event *event)
{
	const struct changes_of *args = weir__op_args(op);
	struct changes *self = weir__op_state(op);
	bool rescan = event->mask & IN_Q_OVERFLOW;
	size_t i = rescan ? 0 : path_of(self, args->n, event->wd);
	struct weir_flow_bytes *bytes;

	if (i == args->n)
		return NULL;
	bytes = change_of(op, event, rescan ? "" : args->paths[i], i);
	if (!bytes) {
		weir__op_fail(op, -ENOMEM, "no memory for a change");
		return NULL;
	}
	if (event->mask & IN_IGNORED) {
		self->watches[i] = -1;
		self->n_left--;
	}
	return bytes;
}

static size_t changes_pull(struct weir__op *op, void **items, size_t room)
{
	struct changes *self = weir__op_state(op);
	const struct inotify_event *event;
	size_t n = 0;

	if (self->code < 0) {
		changes_fail(op);
		return 0;
	}
	while (n < room && !op->ended && self->n_left > 0 &&
	       (event = weir__inotify_next(&self->inotify, op))) {
		items[n] = take_change(op, event);
		n += items[n] != NULL;
	}
	if (room > 0 && !op->ended && self->n_left == 0)
		weir__op_end(op, NULL);
	return n;
}

static void changes_free(struct weir_flow *flow)
{
	struct changes_of *args = (void *)flow->args;

	weir__free(weir_allocator_default(), args->paths, args->size);
}

static const struct weir__kind inotify_kind = {
	.name = "inotify",
	.state_size = sizeof(struct changes),
	.items = weir__gives_bytes,
	.open = changes_open,
	.pull = changes_pull,
	.close = changes_close,
	.free = changes_free,
	.keeps = sizeof(struct weir__op_fd),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

/* --- Composing ------------------------------------------------------------ */

static const char *wrong(const char *const *paths, size_t n, uint32_t mask)
{
	size_t i;

	if (!paths || n == 0 || n > WEIR_CAPACITY_MAX)
		return "there are no paths, or too many";
	for (i = 0; i < n; i++)
		if (!paths[i] || !paths[i][0])
			return "a path is NULL or empty";
	if (!(mask & EVENTS) || (mask & ~(EVENTS | FLAGS)))
		return "mask has no events, or what is not known here";
	return NULL;
}

/* Copies the paths into memory of its own. */
static int keep(struct changes_of *args, const char *const *paths)
{
	size_t n = args->n, i, length;
	char *to;

	args->size = n * sizeof(*paths);
	for (i = 0; i < n; i++)
		args->size += strlen(paths[i]) + 1;
	args->paths = weir__alloc(weir_allocator_default(), args->size);
	if (!args->paths)
		return -ENOMEM;
	to = (char *)(args->paths + n);
	for (i = 0; i < n; i++, to += length) {
		length = strlen(paths[i]) + 1;
		args->paths[i] = memcpy(to, paths[i], length);
	}
	return 0;
}

struct weir_flow *weir_flow_inotify(const char *const *paths, size_t n,
				    uint32_t mask)
{
	struct changes_of args = {.n = n, .mask = mask};
	const char *why = wrong(paths, n, mask);
	struct weir_flow *flow =
		weir__flow_source(&inotify_kind, &args, sizeof(args), !why);

	if (weir__flow_check(flow, NULL, NULL) < 0)
		return weir__flow_wrong_as(flow, &inotify_kind, why);
	if (keep((struct changes_of *)(void *)flow->args, paths) == 0)
		return flow;
	weir_flow_free(flow);
	return weir__flow_failed(-ENOMEM, inotify_kind.name, "no memory");
}
