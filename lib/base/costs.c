/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/costs.h"

__thread struct weir__costs *weir__costs
	__attribute__((tls_model("initial-exec")));
