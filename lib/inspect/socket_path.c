/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/socket_path.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int weir__socket_path_set(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	memcpy(address->sun_path, path, strlen(path));
	return 0;
}

/* It is a socket of this user's, and who connects to it is refused. A link is not
 * followed. */
static bool is_left_over(const struct sockaddr_un *address)
{
	struct stat is;
	bool refused;
	int fd;

	if (lstat(address->sun_path, &is) < 0 || !S_ISSOCK(is.st_mode) ||
	    is.st_uid != geteuid())
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	refused = connect(fd, (const struct sockaddr *)address,
			  sizeof(*address)) < 0 &&
		  errno == ECONNREFUSED;
	(void)close(fd);
	return refused;
}

int weir__socket_path_bind(int fd, const struct sockaddr_un *address)
{
	const struct sockaddr *at = (const struct sockaddr *)address;

	/* the socket's file has the mode of the descriptor */
	if (fchmod(fd, 0600) < 0)
		return -errno;
	if (bind(fd, at, sizeof(*address)) == 0)
		return 0;
	if (errno != EADDRINUSE || !is_left_over(address))
		return -errno;
	if (unlink(address->sun_path) < 0 && errno != ENOENT)
		return -errno;
	return bind(fd, at, sizeof(*address)) < 0 ? -errno : 0;
}

/* As PID.sock. */
static bool names_process(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits > 0 && strcmp(name + digits, ".sock") == 0;
}

static void remove_left_over(const char *folder)
{
	DIR *all = opendir(folder);
	struct sockaddr_un address;
	const struct dirent *one;
	char path[sizeof(address.sun_path) + sizeof(one->d_name)];

	while (all && (one = readdir(all))) {
		if (!names_process(one->d_name))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder,
			       one->d_name);
		if (weir__socket_path_set(&address, path) == 0 &&
		    is_left_over(&address))
			(void)unlink(path);
	}
	if (all)
		(void)closedir(all);
}

/* Nobody else can put anything into it. */
static int make_folder(const char *folder)
{
	struct stat is;

	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(folder, &is) < 0)
		return -errno;
	return S_ISDIR(is.st_mode) && is.st_uid == geteuid() &&
			       !(is.st_mode & 077)
		       ? 0
		       : -EACCES;
}

int weir__socket_path_default(struct sockaddr_un *address)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	char folder[sizeof(address->sun_path)];
	char path[sizeof(folder) + 32];
	int n, rc;

	if (runtime && runtime[0] == '/')
		n = snprintf(folder, sizeof(folder), "%s/weir", runtime);
	else
		n = snprintf(folder, sizeof(folder), "/tmp/weir-%u",
			     (unsigned)geteuid());
	if ((size_t)n >= sizeof(folder))
		return -ENAMETOOLONG;
	(void)snprintf(path, sizeof(path), "%s/%ld.sock", folder,
		       (long)getpid());
	rc = weir__socket_path_set(address, path);
	if (rc == 0)
		rc = make_folder(folder);
	if (rc == 0)
		remove_left_over(folder);
	return rc;
}
