/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses, to and fro. */
#include "net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weir/connection.h>

/* --- From text ------------------------------------------------------------ */

/* A number of up to five digits that is at most `max`; or -1. */
static int number(const char *text, int max)
{
	int value = 0, digits = 0;

	for (; *text >= '0' && *text <= '9' && digits < 5; text++, digits++)
		value = value * 10 + (*text - '0');
	return *text == '\0' && digits > 0 && value <= max ? value : -1;
}

int weir__address_split(const char *text, size_t *host, uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	int value = colon ? number(colon + 1, UINT16_MAX) : -1;

	if (value < 0 || colon == text)
		return -EINVAL;
	*host = (size_t)(colon - text);
	*port = (uint16_t)value;
	return 0;
}

static int parse_path(struct weir__address *address, const char *path)
{
	struct sockaddr_un *un = &address->at.un;
	size_t n = strlen(path);

	/* a name of its own begins with a 0 and has none at its end */
	if (n == 0 || n >= sizeof(un->sun_path) || strcmp(path, "@") == 0)
		return -EINVAL;
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, n + 1);
	address->length =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	if (path[0] == '@') {
		un->sun_path[0] = '\0';
		address->length--;
	}
	return 0;
}

static int parse_numeric(struct weir__address *address, const char *text)
{
	char host[INET6_ADDRSTRLEN + 2];
	uint16_t port;
	size_t n;

	if (weir__address_split(text, &n, &port) < 0 || n >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, n);
	host[n] = '\0';
	if (host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = '\0';
		address->at.in6.sin6_family = AF_INET6;
		address->at.in6.sin6_port = htons(port);
		address->length = sizeof(address->at.in6);
		return inet_pton(AF_INET6, host + 1,
				 &address->at.in6.sin6_addr) == 1
			       ? 0
			       : -EINVAL;
	}
	address->at.in.sin_family = AF_INET;
	address->at.in.sin_port = htons(port);
	address->length = sizeof(address->at.in);
	return inet_pton(AF_INET, host, &address->at.in.sin_addr) == 1
		       ? 0
		       : -EINVAL;
}

int weir__address_parse(struct weir__address *address, const char *text)
{
	*address = (struct weir__address){.fd = -1};
	if (strncmp(text, "unix:", 5) == 0)
		return parse_path(address, text + 5);
	if (strncmp(text, "fd:", 3) != 0)
		return parse_numeric(address, text);
	address->fd = number(text + 3, 99999);
	return address->fd >= 0 ? 0 : -EINVAL;
}

/* --- To text -------------------------------------------------------------- */

static void format_path(const struct weir__address *address, char *text,
			size_t n)
{
	const char *path = address->at.un.sun_path;
	int length = (int)address->length -
		     (int)offsetof(struct sockaddr_un, sun_path);

	if (length <= 0)
		(void)snprintf(text, n, "unix:");
	else if (path[0] == '\0')
		(void)snprintf(text, n, "unix:@%.*s", length - 1, path + 1);
	else
		(void)snprintf(text, n, "unix:%.*s", length, path);
}

int weir__address_format(const struct weir__address *address, char *text,
			 size_t n)
{
	char whole[WEIR_CONNECTION_ADDRESS_MAX], host[INET6_ADDRSTRLEN] = "";

	switch (address->at.any.sa_family) {
	case AF_INET:
		(void)inet_ntop(AF_INET, &address->at.in.sin_addr, host,
				sizeof(host));
		(void)snprintf(whole, sizeof(whole), "%s:%d", host,
			       ntohs(address->at.in.sin_port));
		break;
	case AF_INET6:
		(void)inet_ntop(AF_INET6, &address->at.in6.sin6_addr, host,
				sizeof(host));
		(void)snprintf(whole, sizeof(whole), "[%s]:%d", host,
			       ntohs(address->at.in6.sin6_port));
		break;
	case AF_UNIX:
		format_path(address, whole, sizeof(whole));
		break;
	default:
		return -EAFNOSUPPORT;
	}
	if (strlen(whole) >= n)
		return -ENOSPC;
	memcpy(text, whole, strlen(whole) + 1);
	return 0;
}

int weir__address_of(struct weir__address *address, int fd, bool peer)
{
	int rc;

	*address = (struct weir__address){.fd = -1};
	address->length = sizeof(address->at);
	rc = peer ? getpeername(fd, &address->at.any, &address->length)
		  : getsockname(fd, &address->at.any, &address->length);
	return rc < 0 ? -errno : 0;
}
