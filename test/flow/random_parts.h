/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of random_kinds.c: operators that send their items through flows which
 * they make. Those have an index, maybe of the first few alone, or a fold; a
 * function of the operator fails, or one of the flows does.
 */
#ifndef WEIR_TEST_FLOW_RANDOM_PARTS_H
#define WEIR_TEST_FLOW_RANDOM_PARTS_H

#include "flow/random_errors.h"

/* --- group_by ------------------------------------------------------------- */

struct weir_flow *group_by_make(struct weir_flow *up, struct step *step);
void group_by_expected(const struct step *step, struct stream *stream);

/* --- split_when, split_after ---------------------------------------------- */

struct weir_flow *split_when_make(struct weir_flow *up, struct step *step);
struct weir_flow *split_after_make(struct weir_flow *up, struct step *step);
void split_when_expected(const struct step *step, struct stream *stream);
void split_after_expected(const struct step *step, struct stream *stream);

/* --- window, window_by ---------------------------------------------------- */

struct weir_flow *window_make(struct weir_flow *up, struct step *step);
struct weir_flow *window_time_make(struct weir_flow *up, struct step *step);
struct weir_flow *window_by_make(struct weir_flow *up, struct step *step);
void window_expected(const struct step *step, struct stream *stream);

/* --- prefix_and_tail ------------------------------------------------------ */

struct weir_flow *prefix_make(struct weir_flow *up, struct step *step);
void prefix_expected(const struct step *step, struct stream *stream);

/* --- restart_around ------------------------------------------------------- */

struct weir_flow *around_make(struct weir_flow *up, struct step *step);
void around_expected(const struct step *step, struct stream *stream);

#endif
