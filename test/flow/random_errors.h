/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of random_kinds.c: operators that do something about an error. */
#ifndef WEIR_TEST_FLOW_RANDOM_ERRORS_H
#define WEIR_TEST_FLOW_RANDOM_ERRORS_H

#include "flow/random_fans.h"

struct weir_flow *recover_make(struct weir_flow *up, struct step *step);
void recover_expected(const struct step *step, struct stream *stream);
struct weir_flow *map_error_make(struct weir_flow *up, struct step *step);
void map_error_expected(const struct step *step, struct stream *stream);
struct weir_flow *complete_make(struct weir_flow *up, struct step *step);
void complete_expected(const struct step *step, struct stream *stream);
struct weir_flow *resume_make(struct weir_flow *up, struct step *step);
void resume_expected(const struct step *step, struct stream *stream);
struct weir_flow *retry_make(struct weir_flow *up, struct step *step);
void retry_expected(const struct step *step, struct stream *stream);

#endif
