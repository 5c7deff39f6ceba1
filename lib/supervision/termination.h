/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a system, in termination.c. No lock is held. */
#ifndef WEIR_SUPERVISION_TERMINATION_H
#define WEIR_SUPERVISION_TERMINATION_H

#include "supervision/cell.h"

/* The `unused` of its lock. The system may be freed in it. */
void weir__system_unused(struct weir__system_lock *lock);

/* What used the system, and is no cell, does so no longer. As above. */
void weir__system_let_go(struct weir_system *system);

/* One more of the answers that `n_answers` counts is there. */
void weir__system_answered(struct weir_system *system);

/* /user has ended and been released, which is an answer. */
void weir__system_before_end(struct weir_system *system);

#endif
