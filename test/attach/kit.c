/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/kit.h"

#include "attach/image.h"

#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void path_of(const char *program, char path[4096])
{
	char own[2048];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	assert_true(n > 0);
	own[n] = '\0';
	(void)snprintf(path, 4096, "%s/attach/%s", dirname(own), program);
}

/* All that it says until it closes its output. */
static void listen_to(struct stalled *stalled, int fd)
{
	size_t n = 0;
	ssize_t more;

	do {
		more = read(fd, stalled->said + n,
			    sizeof(stalled->said) - 1 - n);
		assert_true(more >= 0);
		n += (size_t)more;
	} while (more > 0);
	assert_true(n < sizeof(stalled->said) - 1);
	stalled->said[n] = '\0';
	if (n > 0)
		said_by_both(stalled->said);
	close(fd);
}

bool stalled_start(struct stalled *stalled, const char *program,
		   const char *way, const char *core)
{
	char path[4096];
	int ends[2];

	path_of(program, path);
	if (access(path, X_OK) < 0)
		return false;
	assert_int_equal(pipe(ends), 0);
	stalled->pid = fork();
	assert_true(stalled->pid >= 0);
	if (stalled->pid == 0) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		execl(path, path, way, core, NULL);
		_exit(127);
	}
	close(ends[1]);
	listen_to(stalled, ends[0]);
	return true;
}

void stalled_end(const struct stalled *stalled)
{
	int status;

	kill(stalled->pid, SIGKILL);
	assert_int_equal(waitpid(stalled->pid, &status, 0), stalled->pid);
}

const char *said_of(struct weir_snapshot *snapshot)
{
	static char text[1 << 15];
	size_t n;

	n = weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text, sizeof(text));
	assert_in_range(n, 1, sizeof(text) - 1);
	n += weir_snapshot_json(snapshot, text + n, sizeof(text) - n);
	assert_in_range(n, 1, sizeof(text) - 1);
	weir_snapshot_free(snapshot);
	said_by_both(text);
	return text;
}
