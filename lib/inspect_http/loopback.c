/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of the loopback device, and paths. */
#include "inspect_http/loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG 16

/* --- From text ------------------------------------------------------------ */

static int parse_path(struct weir__loopback *address, const char *path)
{
	struct sockaddr_un *un = &address->at.un;
	size_t n = strlen(path);

	/* "@" is a name without permissions */
	if (n == 0 || n >= sizeof(un->sun_path) || path[0] == '@')
		return -EINVAL;
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, n + 1);
	address->length =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	return 0;
}

/* A number of up to five digits that is a port, in the order of the network; or
 * -1. */
static int parse_port(const char *text)
{
	int value = 0, digits = 0;

	for (; *text >= '0' && *text <= '9' && digits < 5; text++, digits++)
		value = value * 10 + (*text - '0');
	return *text == '\0' && digits > 0 && value <= UINT16_MAX
		       ? htons((uint16_t)value)
		       : -1;
}

/* A host, without its port, to an address of the loopback device. */
static bool parse_host(struct weir__loopback *address, const char *host)
{
	struct sockaddr_in *in = &address->at.in;
	struct sockaddr_in6 *in6 = &address->at.in6;

	if (strcasecmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		address->length = sizeof(*in);
		return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	if (strcmp(host, "[::1]") != 0)
		return false;
	in6->sin6_family = AF_INET6;
	in6->sin6_addr = in6addr_loopback;
	address->length = sizeof(*in6);
	return true;
}

/* The host of "host:port" in `host`; the port, or NULL: there is no such host. */
static const char *split(const char *text, char host[static 16])
{
	const char *end = *text == '[' ? strchr(text, ']') : strchr(text, ':');

	if (end && *text == '[')
		end++;
	if (!end)
		end = text + strlen(text);
	if (end - text >= 16 || (*end != ':' && *end != '\0'))
		return NULL;
	memcpy(host, text, (size_t)(end - text));
	host[end - text] = '\0';
	return end;
}

int weir__loopback_parse(struct weir__loopback *address, const char *text)
{
	char host[16];
	const char *colon;
	int port;

	*address = (struct weir__loopback){0};
	if (strncmp(text, "unix:", 5) == 0)
		return parse_path(address, text + 5);
	colon = split(text, host);
	port = colon && *colon ? parse_port(colon + 1) : -1;
	if (port < 0 || !parse_host(address, host))
		return -EINVAL;
	/* at the same place in both */
	address->at.in.sin_port = (in_port_t)port;
	return 0;
}

bool weir__loopback_is_host(const char *host)
{
	struct weir__loopback address = {0};
	char name[16];
	const char *colon = host ? split(host, name) : NULL;

	return colon && (!*colon || parse_port(colon + 1) >= 0) &&
	       parse_host(&address, name);
}

/* --- Listening ------------------------------------------------------------ */

static void format(struct weir__loopback *address)
{
	char host[INET6_ADDRSTRLEN] = "";
	bool is_in6 = address->at.any.sa_family == AF_INET6;

	if (address->at.any.sa_family == AF_UNIX) {
		(void)snprintf(address->text, sizeof(address->text), "unix:%s",
			       address->at.un.sun_path);
		return;
	}
	(void)inet_ntop(address->at.any.sa_family,
			is_in6 ? (const void *)&address->at.in6.sin6_addr
			       : (const void *)&address->at.in.sin_addr,
			host, sizeof(host));
	(void)snprintf(address->text, sizeof(address->text),
		       is_in6 ? "[%s]:%u" : "%s:%u", host,
		       (unsigned int)ntohs(address->at.in.sin_port));
}

static int bind_path(struct weir__loopback *address, int fd)
{
	struct stat made;

	/* the path has the permissions of the socket: for nobody else, from the
	 * first moment on */
	if (fchmod(fd, S_IRUSR | S_IWUSR) < 0 ||
	    bind(fd, &address->at.any, address->length) < 0)
		return -errno;
	if (lstat(address->at.un.sun_path, &made) == 0) {
		address->dev = made.st_dev;
		address->ino = made.st_ino;
	}
	return 0;
}

static int bind_port(struct weir__loopback *address, int fd)
{
	int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &address->at.any, address->length) < 0 ||
	    getsockname(fd, &address->at.any, &address->length) < 0)
		return -errno;
	return 0;
}

int weir__loopback_listen(struct weir__loopback *address)
{
	int family = address->at.any.sa_family, rc;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	rc = family == AF_UNIX ? bind_path(address, fd)
			       : bind_port(address, fd);
	if (rc == 0 && listen(fd, BACKLOG) < 0) {
		rc = -errno;
		weir__loopback_forget(address);
	}
	if (rc < 0) {
		(void)close(fd);
		return rc;
	}
	format(address);
	return fd;
}

void weir__loopback_forget(const struct weir__loopback *address)
{
	struct stat there;

	if (address->at.any.sa_family == AF_UNIX &&
	    lstat(address->at.un.sun_path, &there) == 0 &&
	    there.st_dev == address->dev && there.st_ino == address->ino)
		(void)unlink(address->at.un.sun_path);
}

bool weir__loopback_may_look(const struct weir__loopback *address, int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (address->at.any.sa_family != AF_UNIX)
		return true;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}
