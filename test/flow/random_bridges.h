/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of random_kinds.c: operators about what is not a flow, graphs, and
 * bytes.
 */
#ifndef WEIR_TEST_FLOW_RANDOM_BRIDGES_H
#define WEIR_TEST_FLOW_RANDOM_BRIDGES_H

#include "flow/random_fans.h"

/* --- Publishers and permits ----------------------------------------------- */

/* What is above becomes a publisher, with a run of its own. */
struct weir_flow *publisher_make(struct weir_flow *up, struct step *step);

/* A drain ends it here. */
void publisher_expected(const struct step *step, struct stream *stream);
struct weir_flow *acquire_make(struct weir_flow *up, struct step *step);

/* --- Graphs --------------------------------------------------------------- */

/* A diamond, with room on one side and none on the other. */
struct weir_flow *diamond_make(struct weir_flow *up, struct step *step);

/* --- Bytes ---------------------------------------------------------------- */

struct weir_flow *frames_make(struct weir_flow *up, struct step *step);

#endif
