/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of random_kinds.c: operators that take several flows, make several, or
 * nest them. What else they take is a few numbers, which a drain may cut off.
 */
#ifndef WEIR_TEST_FLOW_RANDOM_FANS_H
#define WEIR_TEST_FLOW_RANDOM_FANS_H

#include "flow/random_rates.h"

/* --- Beside another flow -------------------------------------------------- */

struct weir_flow *other_numbers(const struct step *step);

/* Puts them at this place of the stream. */
void add_other_numbers(const struct step *step, struct stream *stream,
		       size_t at);
struct weir_flow *prepend_make(struct weir_flow *up, struct step *step);
void prepend_expected(const struct step *step, struct stream *stream);
struct weir_flow *concat_make(struct weir_flow *up, struct step *step);
struct weir_flow *concat_delayed_make(struct weir_flow *up, struct step *step);
void concat_delayed_expected(const struct step *step, struct stream *stream);
void concat_expected(const struct step *step, struct stream *stream);
struct weir_flow *or_else_make(struct weir_flow *up, struct step *step);
void or_else_expected(const struct step *step, struct stream *stream);
struct weir_flow *merge_make(struct weir_flow *up, struct step *step);
struct weir_flow *merge_eager_make(struct weir_flow *up, struct step *step);

/* It is over at once when a drain ends the other. */
void merge_eager_expected(const struct step *step, struct stream *stream);

/* --- zip ------------------------------------------------------------------ */

int zip_combine(void *const *items, size_t n, void **result, void *context);
struct weir_flow *zip_make(struct weir_flow *up, struct step *step);

/* Who ends first ends it: where they meet, that may be either. */
void zip_expected(const struct step *step, struct stream *stream);
struct weir_flow *zip_all_make(struct weir_flow *up, struct step *step);
void zip_all_expected(const struct step *step, struct stream *stream);

/* --- The newest ----------------------------------------------------------- */

struct weir_flow *interleave_make(struct weir_flow *up, struct step *step);
void interleave_expected(const struct step *step, struct stream *stream);
struct weir_flow *sorted_make(struct weir_flow *up, struct step *step);
void sorted_expected(const struct step *step, struct stream *stream);
struct weir_flow *prioritized_make(struct weir_flow *up, struct step *step);
struct weir_flow *amb_make(struct weir_flow *up, struct step *step);
struct weir_flow *until_make(struct weir_flow *up, struct step *step);
struct weir_flow *skip_make(struct weir_flow *up, struct step *step);
struct weir_flow *latest_make(struct weir_flow *up, struct step *step);
void latest_expected(const struct step *step, struct stream *stream);
struct weir_flow *join_make(struct weir_flow *up, struct step *step);
void join_expected(const struct step *step, struct stream *stream);
struct weir_flow *group_join_make(struct weir_flow *up, struct step *step);
struct weir_flow *with_make(struct weir_flow *up, struct step *step);

/* --- Apart, and together again -------------------------------------------- */

struct weir_flow *also_to_make(struct weir_flow *up, struct step *step);
struct weir_flow *wire_tap_make(struct weir_flow *up, struct step *step);
struct weir_flow *then_make(struct weir_flow *up, struct step *step);
struct weir_flow *broadcast_make(struct weir_flow *up, struct step *step);
void broadcast_expected(const struct step *step, struct stream *stream);
struct weir_flow *partition_make(struct weir_flow *up, struct step *step);

/* The other outlet has an error earlier. */
void partition_expected(const struct step *step, struct stream *stream);
struct weir_flow *sequence_make(struct weir_flow *up, struct step *step);
void sequence_expected(const struct step *step, struct stream *stream);
struct weir_flow *balance_make(struct weir_flow *up, struct step *step);

/* As a partition, and as a balance. */
struct weir_flow *outlets_make(struct weir_flow *up, struct step *step);
struct weir_flow *dealer_make(struct weir_flow *up, struct step *step);

/* --- Several at once ------------------------------------------------------ */

#define NESTED_MAX 3

struct weir_flow *flat_map_make(struct weir_flow *up, struct step *step);

/* An error from above does not wait for those that are open. */
void flat_map_expected(const struct step *step, struct stream *stream);
struct weir_flow *ordered_make(struct weir_flow *up, struct step *step);
void ordered_expected(const struct step *step, struct stream *stream);
struct weir_flow *flat_map_many_make(struct weir_flow *up, struct step *step);
struct weir_flow *switch_map_make(struct weir_flow *up, struct step *step);

/* As many, or more, in any order. */
void nested_expected(const struct step *step, struct stream *stream);
struct weir_flow *parallel_make(struct weir_flow *up, struct step *step);
struct weir_flow *partitioned_make(struct weir_flow *up, struct step *step);

/* A failure is told before the results of those in front. */
void parallel_expected(const struct step *step, struct stream *stream);
struct weir_flow *unordered_make(struct weir_flow *up, struct step *step);
void unordered_expected(const struct step *step, struct stream *stream);

/* --- Switches ------------------------------------------------------------- */

struct weir_flow *switch_make(struct weir_flow *up, struct step *step);

#endif
