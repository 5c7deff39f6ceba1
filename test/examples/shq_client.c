/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shq_client PATH N: a client of docs/examples/shq.c at a Unix domain socket.
 * It sends N commands at once, and checks the status and the output of each.
 * Each command writes how many of them run into the file `seen`; the first four
 * wait until all four do.
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 4

/* Every seventh command kills itself. */
static int status_of(int i)
{
	return i % 7 == 6 ? 128 + 9 : i % 256;
}

static void command(FILE *server, int i)
{
	fprintf(server, ": >run.%d; ", i);
	if (i < AT_ONCE)
		fprintf(server,
			"while [ $(ls run.? | wc -l) -lt %d ]; do "
			"sleep 0.01; done; : >met.%d; while [ $(ls met.? "
			"| wc -l) -lt %d ]; do sleep 0.01; done; ",
			AT_ONCE, i, AT_ONCE);
	fprintf(server, "ls | grep -c ^run >>seen; rm run.%d; echo it is %d; ",
		i, i);
	if (i % 7 == 6)
		fprintf(server, "kill -9 $$\n");
	else
		fprintf(server, "exit %d\n", i % 256);
}

/* In a process of its own, as nobody promises that all of it fits. */
static pid_t send_all(int fd, int n)
{
	pid_t pid = fork();
	FILE *server;
	int i;

	if (pid != 0)
		return pid;
	server = fdopen(fd, "w");
	assert(server);
	for (i = 0; i < n; i++)
		command(server, i);
	assert(fflush(server) == 0 && shutdown(fd, SHUT_WR) == 0);
	_exit(0);
}

static int connect_to(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert(fd >= 0 && strlen(path) < sizeof(at.sun_path));
	memcpy(at.sun_path, path, strlen(path));
	assert(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	return fd;
}

/* The next line that is no dot. */
static char *line(FILE *server, char *text, int size)
{
	do
		if (!fgets(text, size, server))
			return NULL;
	while (strcmp(text, ".\n") == 0);
	return text;
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0, i, status, ended;
	char text[100], expected[100];
	FILE *server;
	pid_t pid;
	int fd;

	assert(n > AT_ONCE);
	fd = connect_to(argv[1]);
	pid = send_all(fd, n);
	server = fdopen(fd, "r");
	assert(pid > 0 && server);
	for (i = 0; i < n; i++) {
		size_t length;

		assert(line(server, text, sizeof(text)));
		assert(sscanf(text, "%d %zu\n", &status, &length) == 2);
		(void)snprintf(expected, sizeof(expected), "it is %d\n", i);
		if (status != status_of(i) || length != strlen(expected)) {
			printf("command %d: %s", i, text);
			return 1;
		}
		assert(fgets(text, sizeof(text), server));
		assert(strcmp(text, expected) == 0);
	}
	assert(!line(server, text, sizeof(text)));
	assert(waitpid(pid, &ended, 0) == pid && ended == 0);
	return 0;
}
