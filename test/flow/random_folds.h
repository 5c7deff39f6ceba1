/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of random_kinds.c: operators that make one value of all. */
#ifndef WEIR_TEST_FLOW_RANDOM_FOLDS_H
#define WEIR_TEST_FLOW_RANDOM_FOLDS_H

#include "flow/random_model.h"

extern const struct weir_flow_fold_functions folding;

/* --- fold, scan, reduce --------------------------------------------------- */

struct weir_flow *fold_make(struct weir_flow *up, struct step *step);
void fold_expected(const struct step *step, struct stream *stream);
struct weir_flow *fold_n_make(struct weir_flow *up, struct step *step);
void fold_n_expected(const struct step *step, struct stream *stream);
struct weir_flow *scan_make(struct weir_flow *up, struct step *step);
void scan_expected(const struct step *step, struct stream *stream);
struct weir_flow *reduce_make(struct weir_flow *up, struct step *step);
void reduce_expected(const struct step *step, struct stream *stream);

/* --- Which, how many, all ------------------------------------------------- */

struct weir_flow *last_make(struct weir_flow *up, struct step *step);
void last_expected(const struct step *step, struct stream *stream);
struct weir_flow *count_make(struct weir_flow *up, struct step *step);
void count_expected(const struct step *step, struct stream *stream);
struct weir_flow *ignore_make(struct weir_flow *up, struct step *step);
void ignore_expected(const struct step *step, struct stream *stream);

/* --- Lists, as numbers ---------------------------------------------------- */

struct weir_flow *collect_make(struct weir_flow *up, struct step *step);
void collect_expected(const struct step *step, struct stream *stream);
struct weir_flow *grouped_make(struct weir_flow *up, struct step *step);
void grouped_expected(const struct step *step, struct stream *stream);
struct weir_flow *sliding_make(struct weir_flow *up, struct step *step);
void sliding_expected(const struct step *step, struct stream *stream);
struct weir_flow *weighted_make(struct weir_flow *up, struct step *step);
struct weir_flow *up_to_make(struct weir_flow *up, struct step *step);

/* A group ends before the item that would make it too heavy, too. */
void up_to_expected(const struct step *step, struct stream *stream);
void weighted_expected(const struct step *step, struct stream *stream);
struct weir_flow *within_make(struct weir_flow *up, struct step *step);

#endif
