/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of a process that runs, by process_vm_readv(2). */
#include "attach/attach.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/memory.h"

#define REGIONS 4096u
#define LARGEST (UINT64_C(1) << 30) /* of a region */

struct process {
	struct weir__memory memory; /* first */
	pid_t pid;
	struct weir__region regions[REGIONS];
};

static bool read_process(struct weir__memory *memory, uint64_t at, void *bytes,
			 size_t n)
{
	const struct process *self = (const struct process *)memory;
	struct iovec here = {bytes, n}, there = {(void *)(uintptr_t)at, n};

	return process_vm_readv(self->pid, &here, 1, &there, 1, 0) ==
	       (ssize_t)n;
}

/* --- What it has mapped --------------------------------------------------- */

/* A line of /proc/PID/maps. */
struct span {
	uint64_t begin, end, offset;
	uint64_t inode;
	char flags[5];
};

/* A number, and the byte that follows it. */
static bool take(const char **at, int base, char follows, uint64_t *number)
{
	char *end;

	*number = strtoull(*at, &end, base);
	if (end == *at || *end != follows)
		return false;
	*at = end + 1;
	return true;
}

static bool parse(const char *line, struct span *span)
{
	const char *at = line;
	uint64_t device;

	if (!take(&at, 16, '-', &span->begin) ||
	    !take(&at, 16, ' ', &span->end) || strlen(at) < sizeof(span->flags))
		return false;
	memcpy(span->flags, at, sizeof(span->flags) - 1);
	at += sizeof(span->flags);
	return take(&at, 16, ' ', &span->offset) &&
	       take(&at, 16, ':', &device) && take(&at, 16, ' ', &device) &&
	       take(&at, 10, ' ', &span->inode);
}

static bool is_elf(struct process *self, uint64_t at)
{
	char bytes[4];

	return read_process(&self->memory, at, bytes, sizeof(bytes)) &&
	       memcmp(bytes, "\177ELF", sizeof(bytes)) == 0;
}

/* Data of programs and libraries: not code, and no other files. */
static void find_regions(struct process *self, FILE *maps)
{
	uint64_t elf = 0;
	struct span it;
	char line[512];
	bool begins = true;

	while (self->memory.n_regions < REGIONS &&
	       fgets(line, sizeof(line), maps)) {
		/* the rest of a long line */
		if (begins && parse(line, &it) && it.inode) {
			if (it.offset == 0)
				elf = is_elf(self, it.begin) ? it.inode : 0;
			if (it.inode == elf && it.flags[0] == 'r' &&
			    it.flags[2] != 'x' && it.end - it.begin <= LARGEST)
				self->regions[self->memory.n_regions++] =
					(struct weir__region){it.begin, it.end};
		}
		begins = strchr(line, '\n') != NULL;
	}
}

/* --- What is not allowed -------------------------------------------------- */

static bool has_ptrace_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope;

	if (!file)
		return false;
	scope = fgetc(file);
	(void)fclose(file);
	return scope != EOF && scope != '0';
}

/* Why, and what to do. */
static int refused(pid_t pid, char *message)
{
	char path[32];
	struct stat status;
	const char *why = "it does not let itself be read: be root, or let it"
			  " listen";

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &status) == 0 && status.st_uid != geteuid())
		why = "it may be another user's: be that user, or root";
	else if (has_ptrace_scope())
		why = "be root (CAP_SYS_PTRACE), or write 0 into"
		      " /proc/sys/kernel/yama/ptrace_scope, or let it listen";
	(void)snprintf(message, WEIR__READER_MESSAGE,
		       "the memory of process %d may not be read: %s", (int)pid,
		       why);
	return -EPERM;
}

static int gone(pid_t pid, char *message)
{
	(void)snprintf(message, WEIR__READER_MESSAGE, "no process %d",
		       (int)pid);
	return -ESRCH;
}

/* One of its bytes can be read. 0, -EPERM or -ESRCH. */
static int try(pid_t pid, FILE *maps, char *message)
{
	struct span it;
	char line[512], byte;
	struct iovec here = {&byte, 1}, there = {NULL, 1};

	if (!fgets(line, sizeof(line), maps) || !parse(line, &it))
		return gone(pid, message);
	there.iov_base = (void *)(uintptr_t)it.begin;
	if (process_vm_readv(pid, &here, 1, &there, 1, 0) == 1)
		return 0;
	if (errno == ESRCH)
		return gone(pid, message);
	if (errno == EPERM || errno == ENOSYS)
		return refused(pid, message);
	return 0;
}

/* --- Looking -------------------------------------------------------------- */

static int open_process(struct process *self, char *message)
{
	char path[32];
	FILE *maps;
	int rc;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)self->pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == EACCES || errno == EPERM
			       ? refused(self->pid, message)
			       : gone(self->pid, message);
	rc = try(self->pid, maps, message);
	rewind(maps);
	if (rc == 0)
		find_regions(self, maps);
	(void)fclose(maps);
	return rc;
}

/* -1: it is not known whether it ends. */
static int watch(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool has_ended(int fd, pid_t pid)
{
	struct pollfd ends = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		return kill(pid, 0) < 0 && errno == ESRCH;
	return poll(&ends, 1, 0) == 1;
}

/* It ends: its memory goes before it is said to have ended. */
static bool is_empty(pid_t pid)
{
	char path[32], byte;
	FILE *maps;
	bool empty;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	empty = !maps || fread(&byte, 1, 1, maps) == 0;
	if (maps)
		(void)fclose(maps);
	return empty;
}

/* As in a debugger: that nothing moves says nothing then. */
static bool is_stopped(pid_t pid)
{
	char path[32], line[128], state = 'R';
	const char *name_end;
	FILE *stat;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "re");
	if (!stat)
		return false;
	name_end = fgets(line, sizeof(line), stat) ? strrchr(line, ')') : NULL;
	if (name_end && name_end[1] == ' ')
		state = name_end[2];
	(void)fclose(stat);
	return state == 'T' || state == 't';
}

int weir__attach_process(struct weir_snapshot **snapshot, pid_t pid,
			 const struct weir__reader_options *options,
			 char message[WEIR__READER_MESSAGE])
{
	const struct weir_allocator *allocator =
		options->allocator ? options->allocator
				   : weir_allocator_default();
	struct process *self = weir__alloc(allocator, sizeof(*self));
	struct weir__reader_options looks = *options;
	int fd, rc;

	*snapshot = NULL;
	if (!self) {
		(void)snprintf(message, WEIR__READER_MESSAGE, "no memory");
		return -ENOMEM;
	}
	self->pid = pid;
	self->memory.read = read_process;
	self->memory.regions = self->regions;
	fd = watch(pid);
	rc = open_process(self, message);
	if (is_stopped(pid))
		looks.settle_ns = 0;
	if (rc == 0)
		rc = weir__reader_snapshot(snapshot, &self->memory, &looks,
					   message);
	/* what it has read of one that ends is worth nothing */
	if (rc != -EPERM && (has_ended(fd, pid) || (rc < 0 && is_empty(pid)))) {
		weir_snapshot_free(*snapshot);
		*snapshot = NULL;
		rc = gone(pid, message);
	}
	if (fd >= 0)
		(void)close(fd);
	weir__free(allocator, self, sizeof(*self));
	return rc;
}
