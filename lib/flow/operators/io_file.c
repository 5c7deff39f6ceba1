/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that appear when they are whole. All names are looked up in a directory
 * that is kept open: so the file appears there, even if the working directory
 * changes meanwhile or the directory is moved.
 */
#include "flow/operators/io_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void weir__new_file_init(struct weir__new_file *self)
{
	*self = (struct weir__new_file){.directory = -1, .fd = -1};
}

static int failed(struct weir__new_file *self, const char *what)
{
	self->failed = what;
	return -errno;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A signal may interrupt it where files are behind a network. */
static int open_at(int directory, const char *name, int flags)
{
	int fd;

	do
		fd = openat(directory, name, flags | O_CLOEXEC, 0666);
	while (fd < 0 && errno == EINTR);
	return fd;
}

static int open_directory(const char *path)
{
	size_t n = (size_t)(base_of(path) - path);
	char name[PATH_MAX] = ".";

	if (n >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (n)
		memcpy(name, path, n);
	return open_at(AT_FDCWD, name, O_RDONLY | O_DIRECTORY);
}

int weir__new_file_open(struct weir__new_file *self, const char *path)
{
	uint64_t number;

	self->directory = open_directory(path);
	if (self->directory < 0)
		return failed(self, "has a directory that cannot be opened");
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return failed(self, "got no temporary name");
	snprintf(self->temporary, sizeof(self->temporary), ".weir-%016" PRIx64,
		 number);
	self->fd = open_at(self->directory, self->temporary,
			   O_WRONLY | O_CREAT | O_EXCL);
	if (self->fd >= 0)
		return 0;
	self->temporary[0] = '\0';
	return failed(self, "could not be created");
}

static int sync_one(int fd)
{
	int rc;

	do
		rc = fsync(fd);
	while (rc < 0 && errno == EINTR);
	return rc;
}

int weir__new_file_appear(struct weir__new_file *self, const char *path,
			  enum weir_flow_sync sync)
{
	int fd = self->fd;

	if (sync != WEIR_FLOW_SYNC_NONE && sync_one(fd) < 0)
		return failed(self, "could not be synced");
	self->fd = -1;
	/* some file systems say only here what could not be written */
	if (close(fd) < 0)
		return failed(self, "could not be closed");
	if (renameat(self->directory, self->temporary, self->directory,
		     base_of(path)) < 0)
		return failed(self, "could not be replaced");
	self->temporary[0] = '\0';
	if (sync == WEIR_FLOW_SYNC_ALL && sync_one(self->directory) < 0)
		return failed(self, "has a directory that cannot be synced");
	return 0;
}

void weir__new_file_fini(struct weir__new_file *self)
{
	if (self->temporary[0])
		(void)unlinkat(self->directory, self->temporary, 0);
	if (self->fd >= 0)
		(void)close(self->fd);
	if (self->directory >= 0)
		(void)close(self->directory);
	weir__new_file_init(self);
}
