/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/membarrier.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/costs.h"

static bool call(int command)
{
	int kept = errno;
	long rc;

	weir__costs_kernel_call();
	rc = syscall(SYS_membarrier, command, 0, 0);
	errno = kept;
	return rc == 0;
}

bool weir__membarrier_register(void)
{
	return call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool weir__membarrier(void)
{
	return call(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
