/* SPDX-License-Identifier: BSD-2-Clause */
#include "kit/leftovers.h"

#include "kit/descriptors.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

void leftovers_note(struct leftovers *leftovers)
{
	/* The emulator knows no subreapers (EINVAL). */
	assert_true(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ||
		    errno == EINVAL);
	leftovers->n_fds = descriptors_count();
}

void leftovers_check(const struct leftovers *leftovers)
{
	siginfo_t info;

	assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT),
			 -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(descriptors_count(), leftovers->n_fds);
}

void leftovers_killed(size_t n)
{
	int status;

	for (; n > 0; n--) {
		assert_true(waitpid(-1, &status, 0) > 0);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGKILL);
	}
}
