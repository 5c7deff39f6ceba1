/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kill switches end flows from outside: one flow, or as many as have the same
 * switch, each at the place where the switch stands in the flow.
 */
#ifndef WEIR_FLOW_SWITCH_H
#define WEIR_FLOW_SWITCH_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_flow_switch;

/*
 * A new switch in *swtch, not thrown; the caller frees it. -EINVAL: null.
 * -ENOMEM; then *swtch is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_switch_new(
	struct weir_flow_switch **swtch);

/*
 * Gives the caller's reference back; flows that have the switch keep it. NULL
 * is fine. No other call on the switch may be under way.
 */
WEIR_API void weir_flow_switch_free(struct weir_flow_switch *swtch);

/*
 * Throws the switch, once for ever: each flow that has it completes at its
 * place, and everything upstream is cancelled. -EINVAL: null. -EALREADY: thrown
 * before. Any thread.
 */
WEIR_API int weir_flow_switch_end(struct weir_flow_switch *swtch);

/*
 * As weir_flow_switch_end(), but the flows fail with `error` (borrowed;
 * NULL stands for -ECANCELED).
 */
WEIR_API int weir_flow_switch_stop(struct weir_flow_switch *swtch,
				   struct weir_error *error);

/*
 * Ends the stream here when the switch is thrown; if it was thrown before the
 * run, at once. Any number of flows and runs may have the same switch. Fails:
 * -EINVAL, no switch.
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
