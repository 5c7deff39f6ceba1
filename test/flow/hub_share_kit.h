/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of shares have in common: a share on one simulator, and
 * subscribers of it, there and on another one. */
#ifndef WEIR_TEST_FLOW_HUB_SHARE_KIT_H
#define WEIR_TEST_FLOW_HUB_SHARE_KIT_H

#include "flow/hub_kit.h"
#include "actor/kit.h"

#define MANY 1000

extern struct weir_sim *here, *elsewhere;
extern struct weir_executor *executor; /* of here */
extern struct weir_flow_share *share;
extern struct weir_semaphore fed; /* a permit for each item of a run */
extern struct hub_subscriber first, second, late;
/* Runs of the share. */
extern int n_started, n_completed, n_failed, n_cancelled, n_ended, n_over;
/* They count. */
extern const struct weir_flow_peek_functions share_hooks;

int share_set_up(void **state);
int share_tear_down(void **state);

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, share_set_up, share_tear_down)

/* Its items are 1 to `n`, in each run. */
struct weir_flow *share_source(int64_t n);
/* The share, which takes the flow over. */
void share_of(struct weir_flow *flow, const struct weir_hub_options *options);
/* `n` subscribers connect it; the last item is kept. */
void share_of_many(struct weir_flow *flow, size_t n, uint64_t linger_ns);
void share_subscribe(struct hub_subscriber *which);
void share_subscribe_on(struct hub_subscriber *which, struct weir_sim *on,
			int64_t permits);
void share_leave(struct hub_subscriber *which);
/* It has had the items `from` to `to`, and has ended with `code`. */
void assert_share_over(struct hub_subscriber *which, intptr_t from, intptr_t to,
		       int code);

/* All that can be done now; a wait that spins is found here. */
void share_settle(void);
void share_feed(int64_t n);
void share_pass(uint64_t ns);

#endif
