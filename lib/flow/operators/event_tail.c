/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Following a file by its name. The directory is watched for what gets the name
 * and loses it, the file for what is written. The watch of a file is made by the
 * name, so it may be that of another file than was opened: but then the
 * directory has told of the name, and it is looked at again.
 *
 * When another file has the name, the old one is read until that one has bytes:
 * who writes to the new file has done with the old one. Only then is the rest of
 * the old one read, and the new one begun.
 */
#include <weir/flow_event.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "flow/operators/event_inotify.h"
#include "flow/shared/bytes.h"

#define BLOCK (64u * 1024)
#define MOST_EVENTS 64u /* in one pull */

struct tail_of {
	const char *path; /* borrowed */
	struct weir_flow_tail_options options;
};

struct tail_file {
	int fd;	   /* or -1 */
	int watch; /* or -1 */
	dev_t device;
	ino_t inode;
	off_t at; /* bytes that were read */
};

struct tail {
	struct weir__inotify inotify; /* must be first */
	struct tail_file now;
	struct tail_file next; /* it has got the name since */
	int directory_watch;
	int code; /* why it could not begin: it fails when it is pulled */
	const char *failed;
	bool more;  /* the file may have bytes to be read */
	bool look;  /* the name may be another file's */
	bool turns; /* the next file is read when this one is at its end */
	struct weir_flow_bytes *block; /* to read into, or NULL */
};

static const struct weir_flow_tail_options *options_of(
	const struct weir__op *op)
{
	return &((const struct tail_of *)weir__op_args(op))->options;
}

static const char *path_of(const struct weir__op *op)
{
	return ((const struct tail_of *)weir__op_args(op))->path;
}

/* The name in its directory. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* With the path in front. */
static void tail_fail(struct weir__op *op, int code, const char *message)
{
	struct weir_error *error = weir__error_format(
		weir__op_allocator(op), code, weir__op_name(op), "%s %s: %s",
		path_of(op), message, weir_strerror(code));

	weir__op_end(op, error);
	weir_error_unref(error);
}

static void tell(struct weir__op *op, enum weir_flow_tail_change change)
{
	const struct weir_flow_tail_options *options = options_of(op);

	if (options->changed)
		options->changed(change, options->context);
}

/* --- Files ---------------------------------------------------------------- */

static const struct tail_file no_file = {.fd = -1, .watch = -1};

static void unwatch(struct tail *self, int *watch)
{
	if (*watch >= 0)
		(void)inotify_rm_watch(self->inotify.fd, *watch);
	*watch = -1;
}

static void file_close(struct tail *self, struct tail_file *file)
{
	unwatch(self, &file->watch);
	if (file->fd >= 0)
		(void)close(file->fd);
	*file = no_file;
}

/* What has the name is opened and watched. 0, or a negative errno, with
 * self->failed. */
static int file_open(struct tail *self, struct tail_file *file,
		     const char *path, off_t *size)
{
	struct stat status;

	*file = no_file;
	self->failed = "could not be opened";
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0)
		return -errno;
	self->failed = "could not be watched";
	file->watch = inotify_add_watch(self->inotify.fd, path, IN_MODIFY);
	if (file->watch < 0)
		return -errno;
	/* behind the watch: what is written now is seen, or told */
	if (fstat(file->fd, &status) < 0)
		return -errno;
	self->failed = "is no regular file";
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	*size = status.st_size;
	return 0;
}

static bool same(const struct tail_file *a, const struct tail_file *b)
{
	return a->fd >= 0 && a->device == b->device && a->inode == b->inode;
}

/* --- The name ------------------------------------------------------------- */

/* The file was opened before: of what is new, the watch is kept. */
static void known_file(struct tail *self, struct tail_file *known,
		       struct tail_file *file)
{
	if (known->watch != file->watch)
		unwatch(self, &known->watch);
	known->watch = file->watch;
	file->watch = -1;
	file_close(self, file);
}

/* Another file has the name. */
static void new_file(struct tail *self, struct tail_file *file, off_t size)
{
	if (self->now.fd < 0) {
		self->now = *file;
		self->more = true;
		return;
	}
	file_close(self, &self->next);
	self->next = *file;
	self->turns = size > 0;
	self->more = self->more || self->turns;
}

/* True: the next file has bytes, which are not to be lost. */
static bool next_has_bytes(struct tail *self)
{
	struct stat status;

	self->turns = self->next.fd >= 0 &&
		      fstat(self->next.fd, &status) == 0 && status.st_size > 0;
	self->more = self->more || self->turns;
	return self->turns;
}

/* Looks what has the name. 0, or a negative errno with self->failed. */
static int look(struct tail *self, const char *path)
{
	struct tail_file file;
	off_t size = 0;
	int rc;

	if (next_has_bytes(self))
		return 0;
	self->look = false;
	rc = file_open(self, &file, path, &size);
	if (rc < 0) {
		file_close(self, &file);
		/* there is news when it gets the name again */
		return rc == -ENOENT ? 0 : rc;
	}
	if (same(&self->next, &file)) {
		known_file(self, &self->next, &file);
		(void)next_has_bytes(self);
	} else if (same(&self->now, &file)) {
		known_file(self, &self->now, &file);
		file_close(self, &self->next);
	} else {
		new_file(self, &file, size);
	}
	return 0;
}

/* The old file is at its end, and the next one has bytes. */
static void go_on_with_next(struct weir__op *op)
{
	struct tail *self = weir__op_state(op);

	file_close(self, &self->now);
	self->now = self->next;
	self->next = no_file;
	self->turns = false;
	self->more = true;
	tell(op, WEIR_FLOW_TAIL_CHANGE_ROTATED);
}

/* --- Its life ------------------------------------------------------------- */

/* Watches the directory of the path. */
static int watch_directory(struct tail *self, const char *path)
{
	const char *name = name_of(path);
	size_t n = (size_t)(name - path);
	char directory[PATH_MAX] = ".";

	self->failed = "has a directory that could not be watched";
	if (n >= sizeof(directory))
		return -ENAMETOOLONG;
	if (n > 0) {
		memcpy(directory, path, n);
		directory[n] = '\0';
	}
	self->directory_watch = inotify_add_watch(
		self->inotify.fd, directory,
		IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
			IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
	return self->directory_watch < 0 ? -errno : 0;
}

/* The file that is there at the start. */
static int first_file(struct tail *self, const struct tail_of *args)
{
	int rc = look(self, args->path);

	if (rc < 0)
		return rc;
	if (self->now.fd < 0 && !args->options.wait) {
		self->failed = "could not be opened";
		return -ENOENT;
	}
	if (self->now.fd < 0 || args->options.beginning)
		return 0;
	self->failed = "could not be read";
	self->now.at = lseek(self->now.fd, 0, SEEK_END);
	return self->now.at < 0 ? -errno : 0;
}

static int tail_open(struct weir__op *op)
{
	const struct tail_of *args = weir__op_args(op);
	struct tail *self = weir__op_state(op);

	self->now = self->next = no_file;
	self->directory_watch = -1;
	self->failed = "could not be watched";
	self->code = weir__inotify_open(&self->inotify);
	if (self->code == 0)
		self->code = watch_directory(self, args->path);
	if (self->code == 0)
		self->code = first_file(self, args);
	return 0;
}

static void tail_close(struct weir__op *op)
{
	struct tail *self = weir__op_state(op);

	/* the watches end with the instance */
	self->now.watch = self->next.watch = -1;
	file_close(self, &self->now);
	file_close(self, &self->next);
	weir__inotify_close(&self->inotify, op);
	weir_flow_bytes_unref(self->block);
	self->block = NULL;
}

/* --- Reading -------------------------------------------------------------- */

/* At its end. True: there is more, since it has become shorter. */
static bool truncated(struct weir__op *op)
{
	struct tail *self = weir__op_state(op);
	struct stat status;

	if (fstat(self->now.fd, &status) < 0) {
		tail_fail(op, -errno, "could not be read");
		return false;
	}
	if (status.st_size >= self->now.at)
		return false;
	if (!options_of(op)->restart) {
		tail_fail(op, -ESTALE, "has become shorter");
		return false;
	}
	self->now.at = lseek(self->now.fd, 0, SEEK_SET);
	tell(op, WEIR_FLOW_TAIL_CHANGE_TRUNCATED);
	return true;
}

/* A block; or NULL: none now, or the operator has failed. */
static struct weir_flow_bytes *read_more(struct weir__op *op)
{
	struct tail *self = weir__op_state(op);
	struct weir_flow_bytes *bytes = NULL;
	int rc;

	rc = weir__bytes_read(&bytes, &self->block, self->now.fd,
			      options_of(op)->block, weir__op_allocator(op));
	if (rc > 0) {
		self->now.at += (off_t)bytes->n;
		return bytes;
	}
	if (rc < 0 && !self->block)
		weir__op_fail(op, rc, "no memory for a block");
	else if (rc < 0)
		tail_fail(op, rc, "could not be read");
	else if (!truncated(op) && !op->ended) {
		self->more = false;
		weir_flow_bytes_unref(self->block);
		self->block = NULL;
	}
	return NULL;
}

/* What the event says. */
static void heed(struct weir__op *op, const struct inotify_event *event)
{
	const uint32_t gone = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT |
			      IN_IGNORED;
	struct tail *self = weir__op_state(op);
	bool directory = event->wd == self->directory_watch;

	if (directory && (event->mask & gone))
		tail_fail(op, -ENOENT, "has a directory that is gone");
	else if (event->mask & IN_Q_OVERFLOW)
		self->more = self->look = true;
	else if (directory)
		self->look = self->look || !event->len ||
			     strcmp(event->name, name_of(path_of(op))) == 0;
	else if (event->mask & IN_MODIFY)
		self->more = true;
	if (self->next.fd >= 0 && event->wd == self->next.watch)
		self->look = true;
}

/* Looks what has the name now, unless a file that had it is still to be read. */
static void look_again(struct weir__op *op)
{
	struct tail *self = weir__op_state(op);
	int rc = look(self, path_of(op));

	if (rc < 0)
		tail_fail(op, rc, self->failed);
}

static size_t tail_pull(struct weir__op *op, void **items, size_t room)
{
	struct tail *self = weir__op_state(op);
	const struct inotify_event *event;
	uint32_t left = MOST_EVENTS;

	if (self->code < 0)
		tail_fail(op, self->code, self->failed);
	while (room > 0 && !op->ended && left > 0) {
		if (self->more && self->now.fd >= 0) {
			items[0] = read_more(op);
			if (items[0])
				return 1;
		} else if (self->turns) {
			go_on_with_next(op);
		} else if (self->look) {
			look_again(op);
		} else if ((event = weir__inotify_next(&self->inotify, op))) {
			heed(op, event);
			left--;
		} else {
			return 0;
		}
	}
	if (left == 0 && !op->ended)
		weir__op_again(op);
	return 0;
}

static const struct weir__kind tail_kind = {
	.name = "tail",
	.state_size = sizeof(struct tail),
	.items = weir__gives_bytes,
	.open = tail_open,
	.pull = tail_pull,
	.close = tail_close,
	.keeps = sizeof(struct weir__op_fd),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

static const char *wrong(const struct tail_of *args)
{
	if (!args->path || !name_of(args->path)[0])
		return "path names no file";
	if (!weir__reserved_zero(args->options.reserved))
		return "reserved is not zero";
	return args->options.block > WEIR__BYTES_MAX ? "block is above 1 GiB"
						     : NULL;
}

struct weir_flow *weir_flow_tail(const char *path,
				 const struct weir_flow_tail_options *options)
{
	struct tail_of args = {.path = path};
	const char *why;
	struct weir_flow *flow;

	if (options)
		args.options = *options;
	if (args.options.block == 0)
		args.options.block = BLOCK;
	why = wrong(&args);
	flow = weir__flow_source(&tail_kind, &args, sizeof(args), !why);
	return weir__flow_wrong_as(flow, &tail_kind, why);
}
