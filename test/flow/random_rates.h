/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of random_kinds.c: operators about rates and time. */
#ifndef WEIR_TEST_FLOW_RANDOM_RATES_H
#define WEIR_TEST_FLOW_RANDOM_RATES_H

#include "flow/random_model.h"

void loose_expected(const struct step *step, struct stream *stream);
struct weir_flow *buffer_make(struct weir_flow *up, struct step *step);
struct weir_flow *lossy_make(struct weir_flow *up, struct step *step);
struct weir_flow *demand_make(struct weir_flow *up, struct step *step);
struct weir_flow *conflate_make(struct weir_flow *up, struct step *step);
struct weir_flow *batch_make(struct weir_flow *up, struct step *step);
void conflate_expected(const struct step *step, struct stream *stream);
struct weir_flow *throttle_make(struct weir_flow *up, struct step *step);
struct weir_flow *sample_make(struct weir_flow *up, struct step *step);
struct weir_flow *within_time_make(struct weir_flow *up, struct step *step);
struct weir_flow *keep_alive_make(struct weir_flow *up, struct step *step);
struct weir_flow *extrapolate_make(struct weir_flow *up, struct step *step);
struct weir_flow *delay_make(struct weir_flow *up, struct step *step);

/* An error does not wait for those before it. */
struct weir_flow *delay_with_make(struct weir_flow *up, struct step *step);
void delay_with_expected(const struct step *step, struct stream *stream);
struct weir_flow *delay_until_make(struct weir_flow *up, struct step *step);

/* Here it does. */
void until_expected(const struct step *step, struct stream *stream);
struct weir_flow *lossy_delay_make(struct weir_flow *up, struct step *step);
void delay_expected(const struct step *step, struct stream *stream);
struct weir_flow *timeouts_make(struct weir_flow *up, struct step *step);

#endif
