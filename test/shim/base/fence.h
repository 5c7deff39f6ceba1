/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes the place of lib/base/fence.h where the fence must keep its name. */
#ifndef WEIR_BASE_FENCE_H
#define WEIR_BASE_FENCE_H

#include <ck_pr.h>

#define weir__fence_full() ck_pr_fence_store_load()

#endif
