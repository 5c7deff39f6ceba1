/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kill switches: they end flows from outside, one or as many as they are in,
 * each wherever it stands in a flow.
 */
#ifndef WEIR_FLOW_SWITCH_H
#define WEIR_FLOW_SWITCH_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_flow_switch;

/*
 * A switch, not thrown: *swtch gets it, to be freed. -EINVAL: null. -ENOMEM;
 * then *swtch is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_switch_new(
	struct weir_flow_switch **swtch);

/*
 * Gives it back; flows that have it keep it. NULL is fine. Not together with
 * another call on it.
 */
WEIR_API void weir_flow_switch_free(struct weir_flow_switch *swtch);

/*
 * Throws it, once for ever: flows that have it complete where it is, and what
 * is above is cancelled. -EINVAL: null. -EALREADY: thrown before. Any thread.
 */
WEIR_API int weir_flow_switch_end(struct weir_flow_switch *swtch);

/*
 * The same, but they fail with `error` (borrowed; NULL stands for -ECANCELED).
 */
WEIR_API int weir_flow_switch_stop(struct weir_flow_switch *swtch,
				   struct weir_error *error);

/*
 * What comes before ends when the switch is thrown; if it was before, a run
 * ends here at once. Any number of flows, and of runs, may have the same
 * switch. Fails: -EINVAL, no switch.
 *
 * Emits: each item. Completes: when upstream does, or by a shutdown. Cancels:
 * when downstream does, or the switch is thrown. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_kill_switch(
	struct weir_flow *flow, struct weir_flow_switch *swtch);

#ifdef __cplusplus
}
#endif

#endif
