/* SPDX-License-Identifier: BSD-2-Clause */
#include "executor/thread.h"

__thread struct weir__thread weir__thread
	__attribute__((tls_model("initial-exec")));
