/* SPDX-License-Identifier: BSD-2-Clause */
#include "command/client.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "command/find.h"

#define PATIENCE_S 15
#define PIECE 65536u

static int find(const char *whom, struct sockaddr_un *address)
{
	char *end;
	long pid = strtol(whom, &end, 10);

	if (strchr(whom, '/')) {
		*address = (struct sockaddr_un){.sun_family = AF_UNIX};
		if (strlen(whom) >= sizeof(address->sun_path))
			return -ENAMETOOLONG;
		memcpy(address->sun_path, whom, strlen(whom));
		return 0;
	}
	if (*end || pid <= 0)
		return -EINVAL;
	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return -ESRCH;
	return find_process((pid_t)pid, address);
}

static int send_all(int fd, const char *text, size_t n)
{
	ssize_t sent;

	while (n > 0) {
		sent = send(fd, text, n, MSG_NOSIGNAL);
		if (sent < 0)
			return -errno;
		text += sent;
		n -= (size_t)sent;
	}
	return 0;
}

/* Up to its end, and a 0. */
static int receive(int fd, char **text)
{
	size_t n = 0, room = 0;
	char *more;
	ssize_t got;

	for (;;) {
		if (room - n < PIECE) {
			room = 2 * room + 2 * PIECE;
			more = realloc(*text, room);
			if (!more)
				return -ENOMEM;
			*text = more;
		}
		got = recv(fd, *text + n, room - n - 1, 0);
		if (got < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	(*text)[n] = '\0';
	return n ? 0 : -EPIPE;
}

static int talk(int fd, const struct sockaddr_un *address, const char *line,
		unsigned takes_s, char **text)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S + takes_s};
	int rc;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			 sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
			 sizeof(patience));
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return errno == EAGAIN	       ? -ETIMEDOUT
		       : errno == ECONNREFUSED ? -ENOENT
					       : -errno;
	rc = send_all(fd, line, strlen(line));
	if (rc == 0)
		rc = send_all(fd, "\n", 1);
	/* what has hung up may have said why */
	return rc < 0 && rc != -EPIPE ? rc : receive(fd, text);
}

int ask(const char *whom, const char *line, unsigned takes_s, char **text)
{
	struct sockaddr_un address;
	int fd, rc = find(whom, &address);

	*text = NULL;
	if (rc < 0)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = talk(fd, &address, line, takes_s, text);
	(void)close(fd);
	if (rc < 0) {
		free(*text);
		*text = NULL;
	}
	return rc == -ECONNRESET ? -EPIPE : rc;
}
