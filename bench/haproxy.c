/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W9 by HAProxy, in mode tcp on one thread: a process for each run, which gets
 * its listening socket from us. haproxy.splice may use splice(2), as
 * weir_connection_pipe() does. Its system calls are not counted.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net.h"
#include "peer.h"
#include "w7.h"
#include "who.h"

/* Of the child; descriptors that it gets. */
#define LISTENER 3
#define CONFIG 4

struct variant {
	const char *option; /* a line of the configuration */
};

static const struct variant copies = {""};
static const struct variant splices = {"option splice-auto"};
static const struct variant *variant;

bool peer_has_haproxy(const struct bench_cell *cell)
{
	return PEER_HAPROXY[0] != '\0';
}

/* A file that is only a descriptor, or -1. */
static int write_config(unsigned port)
{
	int fd = memfd_create("haproxy.cfg", MFD_CLOEXEC);

	if (fd >= 0)
		(void)dprintf(fd,
			      "global\n nbthread 1\n maxconn 1000\n"
			      "defaults\n mode tcp\n %s\n"
			      " timeout connect 60s\n timeout client 60s\n"
			      " timeout server 60s\n"
			      "listen proxy\n bind fd@%d\n"
			      " server behind 127.0.0.1:%u\n",
			      variant->option, LISTENER, port);
	return fd;
}

static int start(struct net *net, int listener, unsigned port)
{
	char config[32];
	const char *const argv[] = {PEER_HAPROXY, "-db",  "-q",
				    "-f",	  config, NULL};
	posix_spawn_file_actions_t actions;
	int fd = write_config(port), rc;
	pid_t pid;

	if (fd < 0)
		return -errno;
	(void)snprintf(config, sizeof(config), "/proc/self/fd/%d", CONFIG);
	rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, fd, 100);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, listener,
						      LISTENER);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, 100, CONFIG);
	if (rc == 0)
		/* the strings are not written to, whatever the type says */
		rc = posix_spawn(&pid, PEER_HAPROXY, &actions, NULL,
				 (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd);
	if (rc == 0)
		net->outside = pid;
	return -rc;
}

static int run_outside(struct net *net, const void *with)
{
	variant = with;
	return net_run_outside(net, start);
}

int haproxy_copies(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	return w7_run(cell, items, run_outside, &copies, result);
}

int haproxy_splices(const struct bench_cell *cell, uint64_t items,
		    struct bench_result *result)
{
	return w7_run(cell, items, run_outside, &splices, result);
}
